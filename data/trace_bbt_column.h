// SPDX-License-Identifier: Apache-2.0
// A column of a block of messages: numbers as differences to what is expected, cut into planes of
// bytes, each packed where that helps (bbt(5), COLUMNS). Inside data/ only.
#pragma once

#include "data/bytes.h"

// How a number v[i] comes from the packed number p[i]:
typedef enum {
    BB_BBT_PLAIN,    // base + p[i]
    BB_BBT_DELTA,    // v[i - 1] + base + p[i], where v[-1] is start
    BB_BBT_NULLABLE, // base + p[i] - 1, absent where p[i] is 0
    BB_BBT_STREAM,   // next + base + p[i], where next is the end of the message before it in the
                     // same direction of the same connection
    BB_BBT_TRANSFORMS,
} BbBbtTransform;

// ---- packing

typedef struct BbBbtPacker BbBbtPacker;

// For columns of up to most numbers.
BbBbtPacker *bb_bbt_packer_new(gsize most);
void bb_bbt_packer_free(BbBbtPacker *packer);

// Appends the column of that id, or nothing where all values are absent.
void bb_bbt_packer_numbers(BbBbtPacker *packer, GByteArray *out, guint8 id, const guint64 *values,
                           gsize count, guint64 absent);

// Appends a column by BB_BBT_STREAM: values are less next.
void bb_bbt_packer_stream(BbBbtPacker *packer, GByteArray *out, guint8 id, const guint64 *values,
                          gsize count);

// Appends a column that is bytes.
void bb_bbt_packer_bytes(BbBbtPacker *packer, GByteArray *out, guint8 id, const guint8 *bytes,
                         gsize size);

// ---- unpacking

// What of a column was not unpacked yet.
typedef struct BbBbtColumn {
    guint8 id, transform, width;
    guint64 base, start;
    gsize count;
    BbBytes stored;          // lent from the block
    const guint8 *planes[8]; // the next byte of each
} BbBbtColumn;

typedef struct BbBbtUnpacker BbBbtUnpacker;

BbBbtUnpacker *bb_bbt_unpacker_new(void);
void bb_bbt_unpacker_free(BbBbtUnpacker *unpacker);

// Forgets the columns of the block before: their planes are lent until then.
void bb_bbt_unpacker_clear(BbBbtUnpacker *unpacker);

// Takes the next column of a block. Returns false where the block ends within it.
bool bb_bbt_column_take(BbBytes *block, BbBbtColumn *column);

// Unpacks its planes. Returns false where they are not count numbers by a transform that we know.
bool bb_bbt_column_open(BbBbtColumn *column, BbBbtUnpacker *unpacker, gsize count);

// Unpacks a column of bytes: *bytes is lent until the unpacker is cleared.
bool bb_bbt_column_open_bytes(BbBbtColumn *column, BbBbtUnpacker *unpacker, BbBytes *bytes);

// Puts its next count numbers into values, and steps over them. By BB_BBT_STREAM they are less
// next.
void bb_bbt_column_unpack(BbBbtColumn *column, guint64 *values, gsize count, guint64 absent);
