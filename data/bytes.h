// SPDX-License-Identifier: Apache-2.0
// Little-endian numbers out of and into bytes. A reader that runs over the end fails once and for
// all, and gives zeros from then on. Inside data/ only.
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <string.h>

typedef struct {
    const guint8 *at;
    gsize left;
    bool failed;
} BbBytes;

static inline const guint8 *bb_bytes_take(BbBytes *bytes, gsize size)
{
    if (bytes->failed || size > bytes->left) {
        bytes->failed = true;
        return NULL;
    }
    const guint8 *taken = bytes->at;
    bytes->at += size;
    bytes->left -= size;
    return taken;
}

static inline guint64 bb_bytes_number(BbBytes *bytes, gsize size)
{
    const guint8 *at = bb_bytes_take(bytes, size);
    guint64 value = 0;
    for (gsize i = size; at && i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

static inline guint8 bb_bytes_u8(BbBytes *bytes)
{
    return (guint8)bb_bytes_number(bytes, 1);
}

static inline guint16 bb_bytes_u16(BbBytes *bytes)
{
    return (guint16)bb_bytes_number(bytes, 2);
}

static inline guint32 bb_bytes_u32(BbBytes *bytes)
{
    return (guint32)bb_bytes_number(bytes, 4);
}

static inline guint64 bb_bytes_u64(BbBytes *bytes)
{
    return bb_bytes_number(bytes, 8);
}

// A text that ends with a NUL, and its length without it; NULL where no NUL comes.
static inline const char *bb_bytes_text(BbBytes *bytes, gsize *length)
{
    const guint8 *end = bytes->failed || !bytes->left ? NULL : memchr(bytes->at, 0, bytes->left);
    *length = end ? (gsize)(end - bytes->at) : 0;
    const guint8 *text = bb_bytes_take(bytes, end ? *length + 1 : bytes->left + 1);
    return (const char *)text;
}

static inline void bb_bytes_append(GByteArray *out, guint64 value, gsize size)
{
    value = GUINT64_TO_LE(value);
    g_byte_array_append(out, (const guint8 *)&value, (guint)size);
}

static inline void bb_bytes_put_u32(guint8 *at, guint32 value)
{
    value = GUINT32_TO_LE(value);
    memcpy(at, (const guint8 *)&value, sizeof value);
}
