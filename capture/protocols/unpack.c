// SPDX-License-Identifier: Apache-2.0
// In: compressed bytes, possibly cut. Out: the beginning of what they stand for.
#include "capture/protocols/unpack.h"

#include "capture/cursor.h"

#include <zlib.h>
#include <zstd.h>

#define LZ4_LEAST 4u        // bytes of a match
#define ZSTD_WINDOW_BITS 21 // those of the usual levels

typedef struct Output {
    guint8 *bytes;
    gsize used, room;
    bool broken; // a copy of what was never written
} Output;

static bool goes_on(const Output *out, const BbCursor *c)
{
    return !out->broken && out->used < out->room && bb_cursor_ok(c) && c->left;
}

static void literals(Output *out, BbCursor *c, guint64 count)
{
    gsize seen = (gsize)MIN(count, c->left), kept = MIN(seen, out->room - out->used);
    if (kept)
        memcpy(out->bytes + out->used, c->at, kept);
    out->used += kept;
    bb_cursor_skip(c, seen);
}

// Byte by byte: a copy may overlap with what it writes.
static void copy(Output *out, gsize offset, guint64 count)
{
    gsize kept = (gsize)MIN(count, out->room - out->used);
    out->broken = offset == 0 || offset > out->used;
    for (gsize i = 0; i < kept && !out->broken; i++, out->used++)
        out->bytes[out->used] = out->bytes[out->used - offset];
}

// 15 is followed by bytes to be added, up to one that is not 255.
static guint64 lz4_count(BbCursor *c, guint8 nibble)
{
    guint64 count = nibble;
    guint8 more = nibble == 15 ? 255 : 0;
    while (more == 255 && bb_cursor_ok(c)) {
        more = bb_cursor_u8(c);
        count += more;
    }
    return count;
}

gsize bb_unpack_lz4(guint8 *out, gsize room, const guint8 *data, gsize length)
{
    BbCursor c = bb_cursor(data, length);
    Output output = {.bytes = out, .room = room};
    while (goes_on(&output, &c)) {
        guint8 token = bb_cursor_u8(&c);
        literals(&output, &c, lz4_count(&c, token >> 4));
        if (!goes_on(&output, &c))
            break;
        gsize offset = bb_cursor_le16(&c);
        guint64 count = lz4_count(&c, token & 15) + LZ4_LEAST;
        if (bb_cursor_ok(&c))
            copy(&output, offset, count);
    }
    return output.used;
}

// A number of `bytes` bytes, little-endian.
static guint32 snappy_number(BbCursor *c, guint bytes)
{
    guint32 value = 0;
    for (guint i = 0; i < bytes; i++)
        value |= (guint32)bb_cursor_u8(c) << 8 * i;
    return value;
}

static void snappy_element(Output *out, BbCursor *c)
{
    guint8 tag = bb_cursor_u8(c), high = tag >> 2;
    gsize offset;
    switch (tag & 3) {
    case 0:
        literals(out, c, (guint64)(high < 60 ? high : snappy_number(c, high - 59u)) + 1);
        return;
    case 1:
        offset = (gsize)(tag >> 5) << 8;
        offset |= bb_cursor_u8(c);
        high = (high & 7) + 3;
        break;
    case 2:
        offset = bb_cursor_le16(c);
        break;
    default:
        offset = bb_cursor_le32(c);
        break;
    }
    if (bb_cursor_ok(c))
        copy(out, offset, high + 1u);
}

gsize bb_unpack_snappy(guint8 *out, gsize room, const guint8 *data, gsize length)
{
    BbCursor c = bb_cursor(data, length);
    Output output = {.bytes = out, .room = room};
    while (bb_cursor_u8(&c) & 0x80 && bb_cursor_ok(&c)) // the length of the whole
        continue;
    while (goes_on(&output, &c))
        snappy_element(&output, &c);
    return output.used;
}

gsize bb_unpack_zlib(guint8 *out, gsize room, const guint8 *data, gsize length)
{
    z_stream stream = {
        .next_in = (Bytef *)(guintptr)data, // zlib does not write there
        .avail_in = (uInt)MIN(length, G_MAXUINT16),
        .next_out = out,
        .avail_out = (uInt)MIN(room, G_MAXUINT16),
    };
    if (inflateInit(&stream) != Z_OK)
        return 0;
    (void)inflate(&stream, Z_SYNC_FLUSH); // what was written before damage counts
    gsize used = stream.total_out;
    (void)inflateEnd(&stream);
    return used;
}

gsize bb_unpack_zstd(guint8 *out, gsize room, const guint8 *data, gsize length)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    ZSTD_inBuffer in = {.src = data, .size = length};
    ZSTD_outBuffer written = {.dst = out, .size = room};
    if (!stream)
        return 0;
    (void)ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, ZSTD_WINDOW_BITS);
    gsize left = 1; // 0: the end
    while (left && !ZSTD_isError(left) && in.pos < in.size && written.pos < room)
        left = ZSTD_decompressStream(stream, &written, &in);
    (void)ZSTD_freeDStream(stream);
    return written.pos;
}
