// SPDX-License-Identifier: Apache-2.0
// Messages of DNS for tests, and conversations of them.
#pragma once

#include "capture/capture.h"
#include "tests/unit/converse.h"
#include "tests/unit/test.h"

#include <string.h>

enum {
    A = 1,
    NS = 2,
    CNAME = 5,
    SOA = 6,
    PTR = 12,
    MX = 15,
    AAAA = 28,
    OPT = 41,
    IXFR = 251,
    AXFR = 252
};
enum { QR = 0x8000, RD = 0x0100, RA = 0x0080, Z = 0x0040, AA = 0x0400 };
#define OPCODE(number) ((number) << 11)

// ---- messages -----------------------------------------------------------------------------------

typedef GByteArray Message;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Message, g_byte_array_unref)

static inline void put(Message *m, const void *bytes, gsize length)
{
    g_byte_array_append(m, bytes, (guint)length);
}

static inline void put16(Message *m, guint number)
{
    guint8 bytes[] = {(guint8)(number >> 8), (guint8)number};
    put(m, bytes, sizeof bytes);
}

static inline void put_name(Message *m, const char *name)
{
    g_auto(GStrv) labels = g_strsplit(name, ".", -1);
    for (guint i = 0; labels[i] && *labels[i]; i++) {
        guint8 length = (guint8)strlen(labels[i]);
        put(m, &length, 1);
        put(m, labels[i], length);
    }
    put(m, "", 1);
}

static inline Message *header(guint id, guint flags, guint questions, guint answers,
                              guint authority, guint additional)
{
    Message *m = g_byte_array_new();
    const guint fields[] = {id, flags, questions, answers, authority, additional};
    for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
        put16(m, fields[i]);
    return m;
}

static inline void put_question(Message *m, const char *name, guint type, guint class)
{
    put_name(m, name);
    put16(m, type);
    put16(m, class);
}

// A record whose name is a pointer to the question's.
static inline void put_record(Message *m, guint type, const void *data, gsize length)
{
    put16(m, 0xc00c);
    put16(m, type);
    put16(m, 1);
    put16(m, 0);
    put16(m, 300);
    put16(m, (guint)length);
    put(m, data, length);
}

static inline Message *question(guint id, guint flags, const char *name, guint type)
{
    Message *m = header(id, flags, 1, 0, 0, 0);
    put_question(m, name, type, 1);
    return m;
}

static inline void frame(Message *all, Message *m)
{
    put16(all, m->len);
    put(all, m->data, m->len);
    g_byte_array_unref(m);
}

static inline void say(Converse *c, BbDirection direction, Message *m)
{
    converse_say(c, direction, m->data, m->len);
    g_byte_array_unref(m);
}

static inline void say_framed(Converse *c, BbDirection direction, Message *m)
{
    g_autoptr(Message) all = g_byte_array_new();
    frame(all, m);
    converse_say(c, direction, all->data, all->len);
}

static inline void ask(Converse *c, guint id, const char *name, guint type)
{
    say(c, BB_TO_SERVER, question(id, RD, name, type));
}

static inline void answer(Converse *c, guint id, const char *name, guint type, guint rcode)
{
    say(c, BB_TO_CLIENT, question(id, QR | RD | RA | rcode, name, type));
}

static inline void check_tcp(Message *up, Message *down, const char *expected)
{
    static const gsize segments[] = {1460, 1, 2, 7, 40};
    for (guint i = 0; i < G_N_ELEMENTS(segments); i++) {
        g_autoptr(Converse) c = converse_tcp(5300);
        converse_segment_size(c, segments[i]);
        converse_say(c, BB_TO_SERVER, up->data, up->len);
        converse_say(c, BB_TO_CLIENT, down->data, down->len);
        ck_assert_msg(strcmp(converse_result(c), expected) == 0, "%zu bytes a segment:\n%s",
                      segments[i], converse_result(c));
        ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 0);
    }
}
