// SPDX-License-Identifier: Apache-2.0
// A column of a block of messages: numbers as differences to a base, as narrow as they allow
// (bbt(5), COLUMNS). Inside data/ only.
#pragma once

#include "data/bytes.h"

// What of it was not unpacked yet. The bytes are lent from the block.
typedef struct BbBbtColumn {
    guint8 id, transform, width;
    guint64 base, start;
    const guint8 *bytes;
    gsize size;
} BbBbtColumn;

// Appends the column of that id, or nothing where all values are absent.
void bb_bbt_column_pack(GByteArray *out, guint8 id, const guint64 *values, gsize count,
                        guint64 absent);

// Appends a column that is not numbers.
void bb_bbt_column_pack_bytes(GByteArray *out, guint8 id, const guint8 *bytes, gsize size);

// Takes the head and the bytes of a column. Returns false where the block ends within it.
bool bb_bbt_column_take(BbBytes *block, BbBbtColumn *column);

// Are these count numbers, by a transform that we know?
bool bb_bbt_column_is_numbers(const BbBbtColumn *column, gsize count);

// Is it one value, for all rows?
bool bb_bbt_column_is_constant(const BbBbtColumn *column);

// Puts its next count numbers into values, and steps over them. bb_bbt_column_is_numbers must have
// found that it has as many.
void bb_bbt_column_unpack(BbBbtColumn *column, guint64 *values, gsize count, guint64 absent);
