// SPDX-License-Identifier: Apache-2.0
// Conversations of binary protocols written down as text, for tests: bytes in a short notation, and
// lists of who says what.
#pragma once

#include "capture/decoder.h"
#include "tests/unit/converse.h"
#include "tests/unit/test.h"

#include <string.h>

typedef GByteArray Octets;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Octets, g_byte_array_unref)

static inline void octets_put(Octets *out, const void *bytes, gsize length)
{
    g_byte_array_append(out, bytes, (guint)length);
}

static inline void octets_be(Octets *out, guint64 value, guint bytes)
{
    for (guint i = bytes; i-- > 0;)
        octets_put(out, &(guint8){(guint8)(value >> 8 * i)}, 1);
}

static inline void octets_le(Octets *out, guint64 value, guint bytes)
{
    for (guint i = 0; i < bytes; i++)
        octets_put(out, &(guint8){(guint8)(value >> 8 * i)}, 1);
}

// Writes over what is there at `at`.
static inline void octets_patch_be(Octets *out, guint at, guint64 value, guint bytes)
{
    for (guint i = 0; i < bytes; i++)
        out->data[at + i] = (guint8)(value >> 8 * (bytes - 1 - i));
}

static inline void octets_patch_le(Octets *out, guint at, guint64 value, guint bytes)
{
    for (guint i = 0; i < bytes; i++)
        out->data[at + i] = (guint8)(value >> 8 * i);
}

// Reads up to `end` (0: all): pairs of hex digits, 'text', ( ... ) with its BER length in front,
// [ ... ] with a length of four bytes, most significant first, *N: N times the byte before
// (and no digit behind N).
static inline const char *octets_read(Octets *out, const char *at, char end)
{
    while (*at && *at != end) {
        if (*at == '\'') {
            const char *close = strchr(at + 1, '\'');
            octets_put(out, at + 1, (gsize)(close - at) - 1);
            at = close + 1;
        } else if (*at == '(' || *at == '[') {
            g_autoptr(Octets) inside = g_byte_array_new();
            bool ber = *at == '(';
            at = octets_read(inside, at + 1, ber ? ')' : ']') + 1;
            if (ber && inside->len >= 128)
                octets_be(out, 0x820000u | inside->len, 3);
            else
                octets_be(out, inside->len, ber ? 1 : 4);
            octets_put(out, inside->data, inside->len);
        } else if (*at == '*') {
            char *after;
            guint64 times = g_ascii_strtoull(at + 1, &after, 10);
            g_assert(!g_ascii_isxdigit(*after) && times <= 1000000);
            guint8 last = out->data[out->len - 1];
            for (guint64 i = 1; i < times; i++)
                octets_put(out, &last, 1);
            at = after;
        } else if (g_ascii_isspace(*at)) {
            at++;
        } else {
            g_assert(g_ascii_isxdigit(at[0]) && g_ascii_isxdigit(at[1]));
            octets_be(out, (guint)(g_ascii_xdigit_value(at[0]) * 16 + g_ascii_xdigit_value(at[1])),
                      1);
            at += 2;
        }
    }
    g_assert(*at == end);
    return at;
}

static inline Octets *octets(const char *notation)
{
    Octets *out = g_byte_array_new();
    octets_read(out, notation, '\0');
    return out;
}

static inline Octets *octets_join(Octets *a, Octets *b)
{
    octets_put(a, b->data, b->len);
    g_byte_array_unref(b);
    return a;
}

// ---- steps --------------------------------------------------------------------------------------

typedef enum { SAY_UP, SAY_DOWN, LOSE_UP, LOSE_DOWN, END_UP, END_DOWN } StepKind;

typedef struct Step {
    StepKind kind;
    Octets *bytes;
} Step;

typedef struct Steps {
    GArray *steps; // of Step
    guint16 port;
    bool udp, midstream;
} Steps;

static inline Steps *steps_new(guint16 port)
{
    Steps *steps = g_new0(Steps, 1);
    steps->steps = g_array_new(FALSE, FALSE, sizeof(Step));
    steps->port = port;
    return steps;
}

static inline Steps *steps_udp(guint16 port)
{
    Steps *steps = steps_new(port);
    steps->udp = true;
    return steps;
}

static inline void steps_free(Steps *steps)
{
    for (guint i = 0; i < steps->steps->len; i++)
        g_byte_array_unref(g_array_index(steps->steps, Step, i).bytes);
    g_array_unref(steps->steps);
    g_free(steps);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Steps, steps_free)

// Takes bytes.
static inline void step(Steps *steps, StepKind kind, Octets *bytes)
{
    Step one = {.kind = kind, .bytes = bytes};
    g_array_append_val(steps->steps, one);
}

static inline void up(Steps *steps, const char *notation)
{
    step(steps, SAY_UP, octets(notation));
}

static inline void down(Steps *steps, const char *notation)
{
    step(steps, SAY_DOWN, octets(notation));
}

static inline Converse *steps_play(const Steps *steps, gsize segment)
{
    Converse *c = steps->udp         ? converse_udp(steps->port)
                  : steps->midstream ? converse_tcp_midstream(steps->port)
                                     : converse_tcp(steps->port);
    converse_segment_size(c, segment);
    for (guint i = 0; i < steps->steps->len; i++) {
        const Step *one = &g_array_index(steps->steps, Step, i);
        BbDirection direction = one->kind % 2 ? BB_TO_CLIENT : BB_TO_SERVER;
        if (one->kind <= SAY_DOWN)
            converse_say(c, direction, one->bytes->data, one->bytes->len);
        else if (one->kind <= LOSE_DOWN)
            converse_lose(c, direction, one->bytes->len);
        else
            converse_close(c, direction);
    }
    return c;
}

// Whole and in small segments: the same messages.
static inline void steps_check(const Steps *steps, const char *expected)
{
    static const gsize segments[] = {1460, 1, 2, 7, 64};
    for (guint i = 0; i < (steps->udp ? 1 : G_N_ELEMENTS(segments)); i++) {
        g_autoptr(Converse) c = steps_play(steps, segments[i]);
        ck_assert_msg(strcmp(converse_result(c), expected) == 0, "%zu bytes a segment:\n%s",
                      segments[i], converse_result(c));
    }
}

static inline guint64 steps_count(const Steps *steps, int kind)
{
    g_autoptr(Converse) c = steps_play(steps, 1460);
    return converse_loss(c, kind);
}

// ---- probes -------------------------------------------------------------------------------------

static inline BbMatch probe_octets(const BbDecoder *decoder, const char *notation)
{
    g_autoptr(Octets) bytes = octets(notation);
    g_autofree guint8 *copy = g_memdup2(bytes->data, bytes->len);
    return decoder->probe(copy ? copy : (const guint8 *)"", bytes->len);
}

// Random bytes are not of this protocol, and what others begin with is not either.
static inline void check_refusals(const BbDecoder *decoder)
{
    static const char *const others[] = {
        "'GET / HTTP/1.1' 0d0a 'Host: a' 0d0a0d0a",
        "16030100 31 01 00002d 0303 00*32 00 0002 1301 0100",
        "'*1' 0d0a '$4' 0d0a 'PING' 0d0a",
        "0000 0008 04d2 162f",
        "1234 0100 0001 0000 0000 0000 03 'www' 07 'example' 03 'com' 00 0001 0001",
        "'EHLO example.com' 0d0a",
        "4a0000000a 'abc' 00*60",
        "'SSH-2.0-OpenSSH_9.2p1' 0d0a",
        "10 0c 0004 'MQTT' 04 02 003c 0000",
        "'AMQP' 00000901",
    };
    g_autoptr(GRand) rand = g_rand_new_with_seed(6);
    for (guint i = 0; i < 20000; i++) {
        gsize length = (gsize)g_rand_int_range(rand, 24, 160);
        g_autofree guint8 *bytes = g_malloc(length);
        for (gsize k = 0; k < length; k++)
            bytes[k] = (guint8)g_rand_int(rand);
        BbMatch match = decoder->probe(bytes, length);
        ck_assert_msg(match == BB_MATCH_NO || match == BB_MATCH_MORE, "round %u: %d", i, match);
    }
    for (guint i = 0; i < G_N_ELEMENTS(others); i++)
        ck_assert_msg(probe_octets(decoder, others[i]) == BB_MATCH_NO, "%s", others[i]);
}
