// SPDX-License-Identifier: Apache-2.0
// In: the bytes of one column. Out: its numbers, some rows at a time.
#include "data/trace_bbt.h"
#include "data/trace_bbt_column.h"

#include <zstd.h>

typedef struct {
    guint8 *bytes;
    gsize room;
} Plane;

struct BbBbtUnpacker {
    ZSTD_DCtx *zstd;
    Plane planes[BB_BBT_COLUMNS * 8];
    gsize used;
};

BbBbtUnpacker *bb_bbt_unpacker_new(void)
{
    BbBbtUnpacker *unpacker = g_new0(BbBbtUnpacker, 1);
    unpacker->zstd = ZSTD_createDCtx();
    return unpacker;
}

void bb_bbt_unpacker_free(BbBbtUnpacker *unpacker)
{
    if (!unpacker)
        return;
    ZSTD_freeDCtx(unpacker->zstd);
    for (gsize i = 0; i < G_N_ELEMENTS(unpacker->planes); i++)
        g_free(unpacker->planes[i].bytes);
    g_free(unpacker);
}

void bb_bbt_unpacker_clear(BbBbtUnpacker *unpacker)
{
    unpacker->used = 0;
}

// Returns size bytes: those in the block, or what they unpack to. NULL where that is not the size.
static const guint8 *open_bytes(BbBbtUnpacker *unpacker, BbBytes *stored, gsize size)
{
    gsize stored_size = bb_bytes_u32(stored);
    const guint8 *bytes = bb_bytes_take(stored, stored_size);
    if (!bytes || stored_size == size)
        return bytes;
    if (size > BB_BBT_BLOCK_MAX || unpacker->used == G_N_ELEMENTS(unpacker->planes))
        return NULL;
    Plane *plane = &unpacker->planes[unpacker->used++];
    if (size > plane->room) {
        g_free(plane->bytes);
        plane->bytes = g_malloc(size);
        plane->room = size;
    }
    gsize got = ZSTD_decompressDCtx(unpacker->zstd, plane->bytes, size, bytes, stored_size);
    return got == size ? plane->bytes : NULL;
}

bool bb_bbt_column_take(BbBytes *block, BbBbtColumn *column)
{
    *column = (BbBbtColumn){0};
    column->id = bb_bytes_u8(block);
    column->transform = bb_bytes_u8(block);
    column->width = bb_bytes_u8(block);
    (void)bb_bytes_u8(block);
    gsize size = bb_bytes_u32(block);
    column->base = bb_bytes_u64(block);
    column->start = bb_bytes_u64(block);
    column->stored = (BbBytes){.at = bb_bytes_take(block, size), .left = size};
    return !block->failed;
}

bool bb_bbt_column_open(BbBbtColumn *column, BbBbtUnpacker *unpacker, gsize count)
{
    if (column->transform >= BB_BBT_TRANSFORMS || column->width > G_N_ELEMENTS(column->planes))
        return false;
    for (guint i = 0; i < column->width; i++) {
        column->planes[i] = open_bytes(unpacker, &column->stored, count);
        if (!column->planes[i])
            return false;
    }
    column->count = count;
    return true;
}

bool bb_bbt_column_open_bytes(BbBbtColumn *column, BbBbtUnpacker *unpacker, BbBytes *bytes)
{
    const guint8 *at = open_bytes(unpacker, &column->stored, column->start);
    *bytes = (BbBytes){.at = at, .left = at ? column->start : 0};
    return at != NULL;
}

static inline __attribute__((always_inline)) void
join_planes(BbBbtColumn *column, guint64 *values, gsize count, guint64 base, guint width)
{
    const guint8 *planes[8];
    memcpy(planes, column->planes, sizeof planes);
    for (gsize i = 0; i < count; i++) {
        guint64 packed = 0;
        for (guint plane = 0; plane < width; plane++)
            packed |= (guint64)planes[plane][i] << 8 * plane;
        values[i] = base + packed;
    }
    for (guint plane = 0; plane < width; plane++)
        column->planes[plane] += count;
}

// A loop for each width, so that compilers unroll the inner one.
static void take_packed(BbBbtColumn *column, guint64 *values, gsize count, guint64 base)
{
    switch (column->width) {
    case 0:
        join_planes(column, values, count, base, 0);
        return;
    case 1:
        join_planes(column, values, count, base, 1);
        return;
    case 2:
        join_planes(column, values, count, base, 2);
        return;
    case 3:
        join_planes(column, values, count, base, 3);
        return;
    case 4:
        join_planes(column, values, count, base, 4);
        return;
    default:
        join_planes(column, values, count, base, column->width);
    }
}

void bb_bbt_column_unpack(BbBbtColumn *column, guint64 *values, gsize count, guint64 absent)
{
    g_assert(count <= column->count);
    column->count -= count;
    guint64 base = column->base;
    if (column->transform == BB_BBT_NULLABLE)
        base--; // what a packed 0 gives
    take_packed(column, values, count, base);
    if (column->transform == BB_BBT_DELTA) {
        guint64 sum = column->start;
        for (gsize i = 0; i < count; i++)
            values[i] = sum += values[i];
        column->start = sum;
    } else if (column->transform == BB_BBT_NULLABLE) {
        for (gsize i = 0; i < count; i++)
            values[i] = values[i] == base ? absent : values[i];
    }
}
