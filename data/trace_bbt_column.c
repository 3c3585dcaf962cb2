// SPDX-License-Identifier: Apache-2.0
// In: the numbers of one column. Out: their bytes, and back.
// Numbers are 64 bits and wrap; a range is that of signed numbers. Loops are made for each width,
// so that a number is one load or store of known size (frame of reference; Goldstein, Ramakrishnan
// and Shaft, Compressing Relations and Indexes, ICDE 1998).
#include "data/trace_bbt_column.h"

// How values[i] comes from the packed number p[i]:
enum {
    PLAIN,    // base + p[i]
    DELTA,    // values[i - 1] + base + p[i], where values[-1] is start
    NULLABLE, // base + p[i] - 1, absent where p[i] is 0
    TRANSFORMS,
};

typedef struct {
    gint64 min, max;
    bool absent, any; // is a value absent, is there any other
} Range;

static Range range_of(const guint64 *values, gsize count, guint64 absent)
{
    Range range = {.min = G_MAXINT64, .max = G_MININT64};
    for (gsize i = 0; i < count; i++) {
        gint64 value = (gint64)values[i];
        if (values[i] == absent) {
            range.absent = true;
            continue;
        }
        range.min = MIN(range.min, value);
        range.max = MAX(range.max, value);
    }
    range.any = range.min <= range.max;
    return range;
}

static Range range_of_deltas(const guint64 *values, gsize count)
{
    Range range = {.min = count > 1 ? G_MAXINT64 : 0, .max = count > 1 ? G_MININT64 : 0};
    for (gsize i = 1; i < count; i++) {
        gint64 delta = (gint64)(values[i] - values[i - 1]);
        range.min = MIN(range.min, delta);
        range.max = MAX(range.max, delta);
    }
    return range;
}

static guint64 span_of(Range range)
{
    return (guint64)range.max - (guint64)range.min;
}

// Bytes that hold numbers from 0 to span.
static guint8 width_of(guint64 span)
{
    return span == 0 ? 0 : (guint8)((64 - (guint)__builtin_clzll(span) + 7) / 8);
}

static inline __attribute__((always_inline)) void put_width(guint8 *out, const guint64 *values,
                                                            gsize count, const BbBbtColumn *column,
                                                            guint64 absent, gsize width)
{
    guint64 before = column->start;
    for (gsize i = 0; i < count; i++) {
        guint64 packed = values[i] - column->base;
        if (column->transform == DELTA)
            packed -= before;
        else if (column->transform == NULLABLE)
            packed = values[i] == absent ? 0 : packed + 1;
        before = values[i];
        packed = GUINT64_TO_LE(packed);
        memcpy(out + i * width, (const guint8 *)&packed, width);
    }
}

static void put_numbers(guint8 *out, const guint64 *values, gsize count, const BbBbtColumn *column,
                        guint64 absent)
{
    switch (column->width) {
    case 1:
        put_width(out, values, count, column, absent, 1);
        break;
    case 2:
        put_width(out, values, count, column, absent, 2);
        break;
    case 3:
        put_width(out, values, count, column, absent, 3);
        break;
    case 4:
        put_width(out, values, count, column, absent, 4);
        break;
    case 5:
        put_width(out, values, count, column, absent, 5);
        break;
    case 6:
        put_width(out, values, count, column, absent, 6);
        break;
    case 7:
        put_width(out, values, count, column, absent, 7);
        break;
    case 8:
        put_width(out, values, count, column, absent, 8);
        break;
    default:
        break;
    }
}

// Returns where the column's bytes go.
static guint8 *put_head(GByteArray *out, const BbBbtColumn *column)
{
    bb_bytes_append(out, column->id, 1);
    bb_bytes_append(out, column->transform, 1);
    bb_bytes_append(out, column->width, 1);
    bb_bytes_append(out, 0, 1);
    bb_bytes_append(out, column->size, 4);
    bb_bytes_append(out, column->base, 8);
    bb_bytes_append(out, column->start, 8);
    guint at = out->len;
    g_byte_array_set_size(out, at + (guint)column->size);
    return out->data + at;
}

void bb_bbt_column_pack(GByteArray *out, guint8 id, const guint64 *values, gsize count,
                        guint64 absent)
{
    Range range = range_of(values, count, absent);
    if (!range.any)
        return;
    guint64 span = span_of(range);
    BbBbtColumn column = {.id = id, .base = (guint64)range.min};
    if (!range.absent) {
        column.width = width_of(span);
        Range deltas = range_of_deltas(values, count);
        if (width_of(span_of(deltas)) < column.width) {
            column.transform = DELTA;
            column.width = width_of(span_of(deltas));
            column.base = (guint64)deltas.min;
            column.start = values[0] - column.base;
        }
    } else if (span < G_MAXUINT64) {
        column.transform = NULLABLE;
        column.width = width_of(span + 1);
    } else { // no number is left to stand for absent: the value of absent stands for itself
        column.base = 0;
        column.width = 8;
    }
    column.size = count * column.width;
    put_numbers(put_head(out, &column), values, count, &column, absent);
}

void bb_bbt_column_pack_bytes(GByteArray *out, guint8 id, const guint8 *bytes, gsize size)
{
    BbBbtColumn column = {.id = id, .size = size};
    memcpy(put_head(out, &column), bytes, size);
}

bool bb_bbt_column_take(BbBytes *block, BbBbtColumn *column)
{
    column->id = bb_bytes_u8(block);
    column->transform = bb_bytes_u8(block);
    column->width = bb_bytes_u8(block);
    (void)bb_bytes_u8(block);
    column->size = bb_bytes_u32(block);
    column->base = bb_bytes_u64(block);
    column->start = bb_bytes_u64(block);
    column->bytes = bb_bytes_take(block, column->size);
    return !block->failed;
}

bool bb_bbt_column_is_numbers(const BbBbtColumn *column, gsize count)
{
    return column->transform < TRANSFORMS && column->width <= 8 &&
           column->size == column->width * count;
}

bool bb_bbt_column_is_constant(const BbBbtColumn *column)
{
    return column->width == 0 && column->transform == PLAIN;
}

static inline guint64 load(const guint8 *in, gsize size)
{
    guint64 value = 0;
    memcpy((guint8 *)&value, in, size);
    return GUINT64_FROM_LE(value);
}

// By loads of 1, 2, 4 or 8 bytes: others would go through memory.
static inline __attribute__((always_inline)) guint64 load_width(const guint8 *in, gsize width)
{
    switch (width) {
    case 3:
        return load(in, 2) | load(in + 2, 1) << 16;
    case 5:
        return load(in, 4) | load(in + 4, 1) << 32;
    case 6:
        return load(in, 4) | load(in + 4, 2) << 32;
    case 7:
        return load(in, 4) | load(in + 3, 4) << 24;
    default:
        return load(in, width);
    }
}

static inline __attribute__((always_inline)) void take_width(const guint8 *in, guint64 *values,
                                                             gsize count, guint64 base, gsize width)
{
    for (gsize i = 0; i < count; i++)
        values[i] = base + load_width(in + i * width, width);
}

static void take_numbers(const BbBbtColumn *column, guint64 *values, gsize count, guint64 base)
{
    switch (column->width) {
    case 1:
        take_width(column->bytes, values, count, base, 1);
        break;
    case 2:
        take_width(column->bytes, values, count, base, 2);
        break;
    case 3:
        take_width(column->bytes, values, count, base, 3);
        break;
    case 4:
        take_width(column->bytes, values, count, base, 4);
        break;
    case 5:
        take_width(column->bytes, values, count, base, 5);
        break;
    case 6:
        take_width(column->bytes, values, count, base, 6);
        break;
    case 7:
        take_width(column->bytes, values, count, base, 7);
        break;
    case 8:
        take_width(column->bytes, values, count, base, 8);
        break;
    default:
        take_width(column->bytes, values, count, base, 0);
        break;
    }
}

void bb_bbt_column_unpack(BbBbtColumn *column, guint64 *values, gsize count, guint64 absent)
{
    guint64 base = column->base;
    if (column->transform == NULLABLE)
        base--; // the value of a packed 0
    take_numbers(column, values, count, base);
    column->bytes += count * column->width;
    column->size -= count * column->width;
    if (column->transform == DELTA) {
        for (gsize i = 0; i < count; i++)
            values[i] = column->start += values[i];
    } else if (column->transform == NULLABLE) {
        for (gsize i = 0; i < count; i++)
            values[i] = values[i] == base ? absent : values[i];
    }
}
