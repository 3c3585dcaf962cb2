// SPDX-License-Identifier: Apache-2.0
// A cursor over bytes from outside. Reading past the end sets a sticky flag, gives zeros and leaves
// nothing, so a decoder reads its fields in order and asks once whether they were all there.
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <string.h>

typedef struct BbCursor {
    const guint8 *at;
    gsize left;
    bool broken; // something was read that was not there
} BbCursor;

static inline BbCursor bb_cursor(const void *data, gsize size)
{
    return (BbCursor){.at = data, .left = size, .broken = false};
}

static inline bool bb_cursor_ok(const BbCursor *c)
{
    return !c->broken;
}

// Takes size bytes and returns where they are, NULL (and broken) when there are fewer.
static inline const guint8 *bb_cursor_take(BbCursor *c, gsize size)
{
    if (c->broken || size > c->left) {
        c->broken = true;
        c->left = 0; // who takes as long as there is something ends
        return NULL;
    }
    const guint8 *at = c->at;
    c->at += size;
    c->left -= size;
    return at;
}

static inline void bb_cursor_skip(BbCursor *c, gsize size)
{
    (void)bb_cursor_take(c, size);
}

static inline guint8 bb_cursor_u8(BbCursor *c)
{
    const guint8 *p = bb_cursor_take(c, 1);
    return p ? p[0] : 0;
}

static inline guint16 bb_cursor_be16(BbCursor *c)
{
    const guint8 *p = bb_cursor_take(c, 2);
    return p ? (guint16)(p[0] << 8 | p[1]) : 0;
}

static inline guint32 bb_cursor_be32(BbCursor *c)
{
    const guint8 *p = bb_cursor_take(c, 4);
    return p ? (guint32)p[0] << 24 | (guint32)p[1] << 16 | (guint32)p[2] << 8 | p[3] : 0;
}

static inline guint64 bb_cursor_be64(BbCursor *c)
{
    guint64 high = bb_cursor_be32(c);
    return high << 32 | bb_cursor_be32(c);
}

static inline guint16 bb_cursor_le16(BbCursor *c)
{
    const guint8 *p = bb_cursor_take(c, 2);
    return p ? (guint16)(p[1] << 8 | p[0]) : 0;
}

static inline guint32 bb_cursor_le32(BbCursor *c)
{
    const guint8 *p = bb_cursor_take(c, 4);
    return p ? (guint32)p[3] << 24 | (guint32)p[2] << 16 | (guint32)p[1] << 8 | p[0] : 0;
}

// Whether bytes begin with a text.
static inline bool bb_bytes_begin(const guint8 *data, gsize length, const char *text)
{
    gsize size = strlen(text);
    return length >= size && memcmp(data, text, size) == 0;
}
