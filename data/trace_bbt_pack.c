// SPDX-License-Identifier: Apache-2.0
// In: the numbers of one column. Out: their bytes, as narrow as the numbers allow.
// Numbers are 64 bits and wrap; ranges are those of signed numbers. Differences to the least one
// (frame of reference; Goldstein, Ramakrishnan and Shaft, ICDE 1998) are cut into planes, so that
// bytes of one place stand together: high ones pack well, low ones often not at all.
#include "data/trace_bbt.h"
#include "data/trace_bbt_column.h"

#include <zstd.h>

#define ZSTD_LEVEL 1
// Short matches gain nothing over coding bytes by their frequency, and cost time to read.
#define ZSTD_MATCH 7
// A plane that packing makes smaller by less than an eighth stays plain: it is read faster.
#define GAIN 8
// Where a plane of at least REST_SIZE was left plain, those of the next blocks are, too, without a
// try. Fewer bytes than TRY_SIZE hardly get smaller.
#define REST 7
#define REST_SIZE 1024
#define TRY_SIZE 64

struct BbBbtPacker {
    ZSTD_CCtx *zstd;
    guint64 *packed;
    guint8 *plane;
    guint8 rest[BB_BBT_COLUMNS][8]; // blocks without a try, by column and plane
};

typedef struct {
    gint64 min, max;
    bool absent, any; // is a value absent, is there any other
} Range;

BbBbtPacker *bb_bbt_packer_new(gsize most)
{
    BbBbtPacker *packer = g_new0(BbBbtPacker, 1);
    packer->zstd = ZSTD_createCCtx();
    (void)ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
    (void)ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_minMatch, ZSTD_MATCH);
    packer->packed = g_new(guint64, most);
    packer->plane = g_malloc(most);
    return packer;
}

void bb_bbt_packer_free(BbBbtPacker *packer)
{
    if (!packer)
        return;
    ZSTD_freeCCtx(packer->zstd);
    g_free(packer->packed);
    g_free(packer->plane);
    g_free(packer);
}

static bool are_all(const guint64 *values, gsize count, guint64 value)
{
    return count == 0 ||
           (values[0] == value && memcmp(values, values + 1, (count - 1) * sizeof *values) == 0);
}

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

static void append_plain(GByteArray *out, const guint8 *bytes, gsize size)
{
    bb_bytes_append(out, size, 4);
    g_byte_array_append(out, bytes, (guint)size);
}

// Packed if that helps. Returns whether it did.
static bool append_packed(BbBbtPacker *packer, GByteArray *out, const guint8 *bytes, gsize size)
{
    guint at = out->len;
    gsize bound = ZSTD_compressBound(size), stored = size;
    if (size >= TRY_SIZE) {
        g_byte_array_set_size(out, at + 4 + (guint)bound);
        stored = ZSTD_compress2(packer->zstd, out->data + at + 4, bound, bytes, size);
    }
    if (ZSTD_isError(stored) || stored + size / GAIN >= size) {
        g_byte_array_set_size(out, at);
        append_plain(out, bytes, size);
        return false;
    }
    bb_bytes_put_u32(out->data + at, (guint32)stored);
    g_byte_array_set_size(out, at + 4 + (guint)stored);
    return true;
}

static void append_plane(BbBbtPacker *packer, GByteArray *out, gsize count, guint8 *rest)
{
    if (*rest > 0) {
        --*rest;
        append_plain(out, packer->plane, count);
    } else if (!append_packed(packer, out, packer->plane, count) && count >= REST_SIZE) {
        *rest = REST;
    }
}

static guint append_head(GByteArray *out, const BbBbtColumn *column)
{
    bb_bytes_append(out, column->id, 1);
    bb_bytes_append(out, column->transform, 1);
    bb_bytes_append(out, column->width, 1);
    bb_bytes_append(out, 0, 1);
    bb_bytes_append(out, 0, 4); // size, for end_column
    bb_bytes_append(out, column->base, 8);
    bb_bytes_append(out, column->start, 8);
    return out->len;
}

static void end_column(GByteArray *out, guint begin)
{
    bb_bytes_put_u32(out->data + begin - 20, out->len - begin);
}

static void compute_packed(guint64 *packed, const guint64 *values, gsize count,
                           const BbBbtColumn *column, guint64 absent)
{
    switch (column->transform) {
    case BB_BBT_PLAIN:
    case BB_BBT_STREAM:
        for (gsize i = 0; i < count; i++)
            packed[i] = values[i] - column->base;
        return;
    case BB_BBT_DELTA:
        packed[0] = values[0] - column->start - column->base;
        for (gsize i = 1; i < count; i++)
            packed[i] = values[i] - values[i - 1] - column->base;
        return;
    default:
        for (gsize i = 0; i < count; i++)
            packed[i] = values[i] == absent ? 0 : values[i] - column->base + 1;
    }
}

// The bytes of one place. Bytes may alias anything: restrict lets the compiler take many at a time.
static void cut_plane(guint8 *restrict bytes, const guint64 *restrict numbers, gsize count,
                      guint plane)
{
    for (gsize i = 0; i < count; i++)
        bytes[i] = (guint8)(numbers[i] >> 8 * plane);
}

static void append_column(BbBbtPacker *packer, GByteArray *out, const BbBbtColumn *column,
                          const guint64 *values, gsize count, guint64 absent)
{
    guint begin = append_head(out, column);
    if (column->width > 0)
        compute_packed(packer->packed, values, count, column, absent);
    for (guint plane = 0; plane < column->width; plane++) {
        cut_plane(packer->plane, packer->packed, count, plane);
        append_plane(packer, out, count, &packer->rest[column->id][plane]);
    }
    end_column(out, begin);
}

// The narrower one of the plain values and their deltas.
static void choose_delta(BbBbtColumn *column, Range range, const guint64 *values, gsize count)
{
    column->base = (guint64)range.min;
    column->width = width_of(span_of(range));
    if (column->width == 0)
        return;
    Range deltas = range_of_deltas(values, count);
    if (width_of(span_of(deltas)) >= column->width)
        return;
    column->transform = BB_BBT_DELTA;
    column->width = width_of(span_of(deltas));
    column->base = (guint64)deltas.min;
    column->start = values[0] - column->base;
}

void bb_bbt_packer_numbers(BbBbtPacker *packer, GByteArray *out, guint8 id, const guint64 *values,
                           gsize count, guint64 absent)
{
    if (are_all(values, count, absent))
        return;
    BbBbtColumn column = {.id = id};
    Range range = range_of(values, count, absent);
    if (!range.any)
        return;
    if (!range.absent) {
        choose_delta(&column, range, values, count);
    } else if (span_of(range) < G_MAXUINT64) {
        column.transform = BB_BBT_NULLABLE;
        column.base = (guint64)range.min;
        column.width = width_of(span_of(range) + 1);
    } else { // no number is left to stand for absent: the value of absent stands for itself
        column.width = 8;
    }
    append_column(packer, out, &column, values, count, absent);
}

void bb_bbt_packer_stream(BbBbtPacker *packer, GByteArray *out, guint8 id, const guint64 *values,
                          gsize count)
{
    Range range = {.min = G_MAXINT64, .max = G_MININT64};
    for (gsize i = 0; i < count; i++) {
        range.min = MIN(range.min, (gint64)values[i]);
        range.max = MAX(range.max, (gint64)values[i]);
    }
    BbBbtColumn column = {
        .id = id,
        .transform = BB_BBT_STREAM,
        .base = (guint64)range.min,
        .width = width_of(span_of(range)),
    };
    append_column(packer, out, &column, values, count, 0);
}

void bb_bbt_packer_bytes(BbBbtPacker *packer, GByteArray *out, guint8 id, const guint8 *bytes,
                         gsize size)
{
    guint begin = append_head(out, &(BbBbtColumn){.id = id, .start = size});
    (void)append_packed(packer, out, bytes, size);
    end_column(out, begin);
}
