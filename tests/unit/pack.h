// SPDX-License-Identifier: Apache-2.0
// Bytes packed as gzip, xz or zstd, for tests of what unpacks them.
#pragma once

#include "tests/unit/test.h"

#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

typedef enum { PACK_PLAIN, PACK_GZIP, PACK_XZ, PACK_ZSTD, PACK_COUNT } PackForm;

static inline gsize pack_gzip(const guint8 *bytes, gsize size, guint8 *out, gsize room)
{
    z_stream stream = {.next_in = (Bytef *)bytes,
                       .avail_in = (uInt)size,
                       .next_out = out,
                       .avail_out = (uInt)room};
    ck_assert_int_eq(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY),
                     Z_OK);
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    gsize length = stream.total_out;
    deflateEnd(&stream);
    return length;
}

// With a checksum, as zstd(1) writes it.
static inline gsize pack_zstd(const guint8 *bytes, gsize size, guint8 *out, gsize room)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    (void)ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    gsize length = ZSTD_compress2(context, out, room, bytes, size);
    ck_assert(!ZSTD_isError(length));
    (void)ZSTD_freeCCtx(context);
    return length;
}

// Appends bytes, packed as one stream (member, frame), to out.
static inline void pack_append(GByteArray *out, PackForm form, const void *bytes, gsize size)
{
    gsize room = size + size / 2 + 4096, length = 0;
    g_autofree guint8 *packed = g_malloc(room);
    switch (form) {
    case PACK_GZIP:
        length = pack_gzip(bytes, size, packed, room);
        break;
    case PACK_XZ:
        ck_assert_int_eq(
            lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, bytes, size, packed, &length, room),
            LZMA_OK);
        break;
    case PACK_ZSTD:
        length = pack_zstd(bytes, size, packed, room);
        break;
    default:
        memcpy(packed, bytes, size);
        length = size;
    }
    g_byte_array_append(out, packed, (guint)length);
}
