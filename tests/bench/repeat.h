// SPDX-License-Identifier: Apache-2.0
// A small capture again and again, each time as other connections: what benches make large
// captures and long replays of.
#pragma once

#include "data/input.h"

#include <string.h>

// Records of a pcap with nanosecond stamps, in the byte order of the host.
typedef struct Repeat {
    GByteArray *bytes;
    guint8 header[24];
} Repeat;

static inline bool repeat_load(const char *path, Repeat *repeat, GError **error)
{
    guint8 buffer[65536];
    g_autoptr(BbInput) input = bb_input_open(path, error);
    if (!input || bb_input_read(input, repeat->header, sizeof repeat->header, error) !=
                      (gssize)sizeof repeat->header)
        return false;
    repeat->bytes = g_byte_array_new();
    gssize got;
    while ((got = bb_input_read(input, buffer, sizeof buffer, error)) > 0)
        g_byte_array_append(repeat->bytes, buffer, (guint)got);
    return got == 0;
}

static inline guint32 repeat_host32(const guint8 *p)
{
    guint32 value;
    memcpy(&value, p, sizeof value);
    return value;
}

static inline void repeat_add32(guint8 *p, guint32 more)
{
    guint32 value = more + ((guint32)p[0] << 24 | (guint32)p[1] << 16 | (guint32)p[2] << 8 | p[3]);
    for (guint i = 0; i < 4; i++)
        p[i] = (guint8)(value >> (24 - 8 * i));
}

static inline void repeat_shift_port(guint8 *p, guint32 copy)
{
    guint32 port = (guint32)p[0] << 8 | p[1];
    if (port < 32768)
        return; // a server's
    port = 32768 + (port - 32768 + copy * 41) % 28000;
    p[0] = (guint8)(port >> 8);
    p[1] = (guint8)port;
}

// Copy number `copy` of a frame is of other connections: client ports and sequence numbers move.
static inline void repeat_move(guint8 *frame, guint32 length, guint32 copy)
{
    if (length < 54 || frame[12] != 8 || frame[13] != 0 || frame[14] != 0x45 || frame[23] != 6)
        return;
    repeat_shift_port(frame + 34, copy);
    repeat_shift_port(frame + 36, copy);
    repeat_add32(frame + 38, copy * 0x01000193u);
    if (frame[47] & 0x10)
        repeat_add32(frame + 42, copy * 0x01000193u);
}

// The next record at *at of a copy of the bytes; NULL at the end.
static inline guint8 *repeat_next(guint8 *bytes, gsize size, gsize *at, guint32 *length)
{
    if (size - *at < 16)
        return NULL;
    *length = repeat_host32(bytes + *at + 8);
    if (size - *at - 16 < *length)
        return NULL;
    guint8 *record = bytes + *at;
    *at += 16 + (gsize)*length;
    return record;
}
