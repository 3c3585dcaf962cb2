// SPDX-License-Identifier: Apache-2.0
// Packets and sessions of MySQL for tests. Every conversation runs whole and in small segments.
#pragma once

#include "capture/loss.h"
#include "capture/protocols/mysql_packet.h"
#include "tests/unit/octets.h"

#define PORT 3306
#define EOF_PACKET "fe 0000 0200"
#define OK_PACKET "00 00 00 0200 0000"
#define DEFINITION "03 'def' 00 00 00 01 'a' 00 0c 3f00 0b000000 03 0000 00 0000"
#define NO_SUCH_TABLE "ff 7a04 '#42S02no such table'"

// ---- packets ------------------------------------------------------------------------------------

// One packet: head and payload.
static inline Octets *packet(guint8 sequence, const char *payload)
{
    g_autoptr(Octets) body = octets(payload);
    Octets *out = g_byte_array_new();
    octets_le(out, body->len, 3);
    octets_le(out, sequence, 1);
    octets_put(out, body->data, body->len);
    return out;
}

static inline void ask(Steps *s, const char *payload)
{
    step(s, SAY_UP, packet(0, payload));
}

static inline void ask_on(Steps *s, guint8 sequence, const char *payload)
{
    step(s, SAY_UP, packet(sequence, payload));
}

static inline void lose(Steps *s, StepKind kind, Octets *bytes)
{
    step(s, kind, bytes);
}

// What a server answers: packets from number `from` on, NULL at the end.
static inline Octets *answers(guint8 from, const char *const *payloads)
{
    Octets *out = g_byte_array_new();
    for (guint i = 0; payloads[i]; i++)
        octets_join(out, packet((guint8)(from + i), payloads[i]));
    return out;
}
#define ANSWER(steps, from, ...) \
    step(steps, SAY_DOWN, answers(from, (const char *const[]){__VA_ARGS__, NULL}))

static inline Octets *greeting(guint32 capabilities)
{
    g_autoptr(Octets) body = octets("0a '8.0.30' 00 01000000 'abcdefgh' 00");
    octets_le(body, capabilities & 0xffff, 2);
    octets_join(body, octets("21 0200"));
    octets_le(body, capabilities >> 16, 2);
    octets_join(body, octets("15 00*10 'ijklmnopqrst' 00 'mysql_native_password' 00"));
    Octets *out = g_byte_array_new();
    octets_le(out, body->len, 3);
    octets_le(out, 0, 1);
    return octets_join(out, g_steal_pointer(&body));
}

static inline Octets *response(guint32 capabilities)
{
    g_autoptr(Octets) body = g_byte_array_new();
    octets_le(body, capabilities, 4);
    octets_join(body, octets("00000001 21 00*23 'root' 00 00"));
    Octets *out = g_byte_array_new();
    octets_le(out, body->len, 3);
    octets_le(out, 1, 1);
    return octets_join(out, g_steal_pointer(&body));
}

// Flags of the login: the old layout with EOF packets, and the new one.
#define OLD (BB_MYSQL_PROTOCOL_41 | 0x8000u)
#define NEW (OLD | BB_MYSQL_DEPRECATE_EOF)

static inline Steps *session(guint32 capabilities)
{
    Steps *s = steps_new(PORT);
    step(s, SAY_DOWN,
         greeting(NEW | BB_MYSQL_SSL | BB_MYSQL_COMPRESS | BB_MYSQL_QUERY_ATTRIBUTES |
                  BB_MYSQL_OPTIONAL_METADATA));
    step(s, SAY_UP, response(capabilities));
    ANSWER(s, 2, OK_PACKET);
    return s;
}
#define LOGIN "MSG < mysql greeting 78\nCALL 1 mysql login 42\nRET 1 mysql ok 11\n"

// What the login agreed on is known: definitions end without a packet of their own.
static inline void check_after_login(Steps *s)
{
    ask(s, "16 'DELETE FROM users WHERE id = ?'");
    ANSWER(s, 1, "00 07000000 0000 0100 00 0000", DEFINITION);
    ask(s, "0e");
    ANSWER(s, 1, OK_PACKET);
    steps_check(s, "CALL 1 mysql login 42\n"
                   "RET 1 mysql ok 11\n"
                   "CALL 2 mysql PREPARE DELETE users 35\n"
                   "RET 2 mysql ok 43\n"
                   "CALL 3 mysql PING 5\n"
                   "RET 3 mysql ok 11\n");
}

// A payload of 0xffffff bytes goes on in the next packet.
static inline Octets *large(guint8 sequence, const char *front, gsize rest)
{
    g_autoptr(Octets) start = octets(front);
    Octets *out = g_byte_array_new();
    gsize length = start->len + rest;
    for (gsize at = 0;; sequence++) {
        gsize piece = MIN(length - at, BB_MYSQL_FULL);
        octets_le(out, piece, 3);
        octets_le(out, sequence, 1);
        gsize before = at < start->len ? start->len : 0;
        octets_put(out, start->data, before);
        guint end = out->len;
        g_byte_array_set_size(out, end + (guint)(piece - before));
        memset(out->data + end, 'x', piece - before);
        at += piece;
        if (piece < BB_MYSQL_FULL)
            return out;
    }
}
