// SPDX-License-Identifier: Apache-2.0
// In: bytes of a gzip (RFC 1952), xz or Zstandard (RFC 8878) stream, in any portions.
// Out: the bytes that were packed, and where the stream ends or is damaged.
#include "data/unpack.h"

#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

// ---- gzip -------------------------------------------------------------------------------------

static bool gzip_begins(const guint8 *data, gsize length)
{
    return length >= 3 && data[0] == 0x1f && data[1] == 0x8b && data[2] == Z_DEFLATED;
}

static gpointer gzip_begin(void)
{
    z_stream *stream = g_new0(z_stream, 1);
    int status = inflateInit2(stream, MAX_WBITS + 16); // + 16: with the header of gzip
    g_assert(status == Z_OK);
    return stream;
}

static void gzip_restart(gpointer state)
{
    (void)inflateReset(state);
}

static BbUnpackStatus gzip_run(gpointer state, BbUnpackFlow *flow, const char **reason)
{
    z_stream *stream = state;
    uInt in = (uInt)MIN(flow->in_left, G_MAXUINT), out = (uInt)MIN(flow->out_left, G_MAXUINT);
    stream->next_in = (Bytef *)flow->in; // zlib's interface lacks the const; it only reads
    stream->avail_in = in;
    stream->next_out = flow->out;
    stream->avail_out = out;
    int status = inflate(stream, Z_NO_FLUSH);
    flow->in += in - stream->avail_in;
    flow->in_left -= in - stream->avail_in;
    flow->out += out - stream->avail_out;
    flow->out_left -= out - stream->avail_out;
    if (status == Z_STREAM_END)
        return BB_UNPACK_END;
    if (status == Z_OK || status == Z_BUF_ERROR)
        return BB_UNPACK_MORE;
    *reason = status == Z_NEED_DICT ? "preset dictionary" : stream->msg ? stream->msg : "bad data";
    return BB_UNPACK_BAD;
}

static void gzip_end(gpointer state)
{
    (void)inflateEnd(state);
    g_free(state);
}

// ---- xz ---------------------------------------------------------------------------------------

static bool xz_begins(const guint8 *data, gsize length)
{
    static const guint8 magic[6] = {0xfd, '7', 'z', 'X', 'Z', 0};
    return length >= sizeof magic && memcmp(data, magic, sizeof magic) == 0;
}

static void xz_restart(gpointer state)
{
    lzma_ret status = lzma_stream_decoder(state, BB_UNPACK_MEMORY, 0);
    g_assert(status == LZMA_OK);
}

static gpointer xz_begin(void)
{
    lzma_stream *stream = g_new(lzma_stream, 1);
    *stream = (lzma_stream)LZMA_STREAM_INIT;
    xz_restart(stream);
    return stream;
}

static const char *xz_reason(lzma_ret status)
{
    switch (status) {
    case LZMA_MEMLIMIT_ERROR:
    case LZMA_MEM_ERROR:
        return "needs more memory than is allowed here: unpack it with xz -d first";
    case LZMA_OPTIONS_ERROR:
        return "made with options this liblzma does not know";
    case LZMA_FORMAT_ERROR:
        return "bad header";
    default:
        return "checksum or structure is wrong";
    }
}

static BbUnpackStatus xz_run(gpointer state, BbUnpackFlow *flow, const char **reason)
{
    lzma_stream *stream = state;
    stream->next_in = flow->in;
    stream->avail_in = flow->in_left;
    stream->next_out = flow->out;
    stream->avail_out = flow->out_left;
    lzma_ret status = lzma_code(stream, LZMA_RUN);
    *flow = (BbUnpackFlow){stream->next_in, stream->avail_in, stream->next_out, stream->avail_out};
    if (status == LZMA_STREAM_END)
        return BB_UNPACK_END;
    if (status == LZMA_OK || status == LZMA_BUF_ERROR)
        return BB_UNPACK_MORE;
    *reason = xz_reason(status);
    return BB_UNPACK_BAD;
}

static void xz_end(gpointer state)
{
    lzma_end(state);
    g_free(state);
}

// ---- zstd -------------------------------------------------------------------------------------

// A frame, or a skippable frame (RFC 8878, 3.1.2: pzstd begins files with one).
static bool zstd_begins(const guint8 *data, gsize length)
{
    static const guint8 magic[4] = {0x28, 0xb5, 0x2f, 0xfd}, skippable[3] = {0x2a, 0x4d, 0x18};
    if (length < sizeof magic)
        return false;
    return memcmp(data, magic, sizeof magic) == 0 ||
           ((data[0] & 0xf0) == 0x50 && memcmp(data + 1, skippable, sizeof skippable) == 0);
}

static gpointer zstd_begin(void)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    g_assert(context);
    // The largest window that stays below BB_UNPACK_MEMORY with libzstd's own buffers.
    (void)ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 27);
    return context;
}

static void zstd_restart(gpointer state)
{
    (void)ZSTD_DCtx_reset(state, ZSTD_reset_session_only);
}

static BbUnpackStatus zstd_run(gpointer state, BbUnpackFlow *flow, const char **reason)
{
    ZSTD_inBuffer in = {flow->in, flow->in_left, 0};
    ZSTD_outBuffer out = {flow->out, flow->out_left, 0};
    gsize status = ZSTD_decompressStream(state, &out, &in);
    *flow = (BbUnpackFlow){flow->in + in.pos, flow->in_left - in.pos, flow->out + out.pos,
                           flow->out_left - out.pos};
    if (status == 0)
        return BB_UNPACK_END;
    if (!ZSTD_isError(status))
        return BB_UNPACK_MORE;
    bool large = ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge;
    *reason = large
                  ? "needs more memory than is allowed here: unpack it with zstd -d --long=31 first"
                  : ZSTD_getErrorName(status);
    return BB_UNPACK_BAD;
}

static void zstd_end(gpointer state)
{
    (void)ZSTD_freeDCtx(state);
}

// ---- table ------------------------------------------------------------------------------------

static const BbUnpacker unpackers[] = {
    {"gzip", gzip_begins, gzip_begin, gzip_restart, gzip_run, gzip_end},
    {"xz", xz_begins, xz_begin, xz_restart, xz_run, xz_end},
    {"zstd", zstd_begins, zstd_begin, zstd_restart, zstd_run, zstd_end},
};

const BbUnpacker *bb_unpacker_find(const guint8 *data, gsize length)
{
    for (gsize i = 0; i < G_N_ELEMENTS(unpackers); i++)
        if (unpackers[i].begins(data, length))
            return &unpackers[i];
    return NULL;
}
