// SPDX-License-Identifier: Apache-2.0
// Frames for tests, built from the inside out: the payload first, then each header before it. The
// lengths in the headers are those of what is there; a test that wants others patches the bytes.
#pragma once

#include <glib.h>

typedef GByteArray Frame;

static inline Frame *frame_payload(gsize length)
{
    Frame *frame = g_byte_array_new();
    for (gsize i = 0; i < length; i++) {
        guint8 byte = (guint8)('a' + i % 26);
        g_byte_array_append(frame, &byte, 1);
    }
    return frame;
}

static inline void frame_put(Frame *frame, const guint8 *header, guint size)
{
    g_byte_array_prepend(frame, header, size);
}

#define FRAME_PUT(frame, ...) \
    frame_put(frame, (const guint8[]){__VA_ARGS__}, sizeof((const guint8[]){__VA_ARGS__}))
#define FRAME_16(value) (guint8)((value) >> 8), (guint8)(value)
#define FRAME_32(value) FRAME_16((guint32)(value) >> 16), FRAME_16((guint32)(value))

static inline void frame_tcp(Frame *frame, guint8 flags, guint option_words)
{
    for (guint i = 0; i < option_words; i++)
        FRAME_PUT(frame, 1, 1, 1, 1);
    FRAME_PUT(frame, FRAME_16(40000), FRAME_16(80), FRAME_32(0x01020304), FRAME_32(0xa1a2a3a4),
              (guint8)((5 + option_words) << 4), flags, FRAME_16(1024), 0xbe, 0xef, 0, 0);
}

static inline void frame_udp(Frame *frame)
{
    FRAME_PUT(frame, FRAME_16(40001), FRAME_16(53), FRAME_16(frame->len + 8), 0xbe, 0xef);
}

// From 10.0.0.1 to 10.0.0.2. place: flags and offset of a fragment, as on the wire.
static inline void frame_ipv4_fragment(Frame *frame, guint8 protocol, guint option_words,
                                       guint16 id, guint16 place)
{
    for (guint i = 0; i < option_words; i++)
        FRAME_PUT(frame, 1, 1, 1, 1);
    guint total = frame->len + 20;
    FRAME_PUT(frame, (guint8)(0x45 + option_words), 0, FRAME_16(total), FRAME_16(id),
              FRAME_16(place), 64, protocol, 0xbe, 0xef, 10, 0, 0, 1, 10, 0, 0, 2);
}

static inline void frame_ipv4(Frame *frame, guint8 protocol)
{
    frame_ipv4_fragment(frame, protocol, 0, 0x1234, 0x4000);
}

// From 2001:db8::1 to 2001:db8::2.
static inline void frame_ipv6(Frame *frame, guint8 next)
{
    guint length = frame->len;
    FRAME_PUT(frame, 0x60, 0, 0, 0, FRAME_16(length), next, 64, 0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0,
              0, 0, 0, 0, 0, 0, 1, 0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2);
}

// Hop-by-hop, routing or destination options of 8 + 8 * more bytes.
static inline void frame_extension(Frame *frame, guint8 next, guint8 more)
{
    for (guint i = 0; i < more; i++)
        FRAME_PUT(frame, 1, 6, 0, 0, 0, 0, 0, 0);
    FRAME_PUT(frame, next, more, 1, 4, 0, 0, 0, 0);
}

static inline void frame_ipv6_fragment(Frame *frame, guint8 next, guint32 id, guint16 place)
{
    FRAME_PUT(frame, next, 0, FRAME_16(place), FRAME_32(id));
}

// Authentication header with a check of 4 * words bytes.
static inline void frame_authentication(Frame *frame, guint8 next, guint8 words)
{
    for (guint i = 0; i < words; i++)
        FRAME_PUT(frame, 0xcc, 0xcc, 0xcc, 0xcc);
    FRAME_PUT(frame, next, (guint8)(words + 1), 0, 0, FRAME_32(0x100), FRAME_32(1));
}

static inline void frame_ethernet(Frame *frame, guint16 type)
{
    FRAME_PUT(frame, 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, FRAME_16(type));
}

static inline void frame_vlan(Frame *frame, guint16 type)
{
    FRAME_PUT(frame, 0, 7, FRAME_16(type));
}

static inline void frame_snap(Frame *frame, guint8 organization, guint16 type)
{
    FRAME_PUT(frame, 0xaa, 0xaa, 0x03, 0, 0, organization, FRAME_16(type));
}

static inline void frame_cooked(Frame *frame, guint16 arphrd, guint16 protocol)
{
    FRAME_PUT(frame, 0, 0, FRAME_16(arphrd), 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, FRAME_16(protocol));
}

static inline void frame_cooked2(Frame *frame, guint16 arphrd, guint16 protocol)
{
    FRAME_PUT(frame, FRAME_16(protocol), 0, 0, FRAME_32(2), FRAME_16(arphrd), 0, 6, 2, 0, 0, 0, 0,
              1, 0, 0);
}

// One byte of it made another one, to damage a header.
static inline Frame *frame_patched(Frame *frame, guint at, guint8 value)
{
    g_assert(at < frame->len);
    frame->data[at] = value;
    return frame;
}
