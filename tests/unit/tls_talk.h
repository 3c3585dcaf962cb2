// SPDX-License-Identifier: Apache-2.0
// TLS connections written down record by record, for tests.
#pragma once

#include "tests/unit/octets.h"

enum { CCS = 20, ALERT = 21, HANDSHAKE = 22, DATA = 23 };
enum { FATAL = 2, WARNING = 1 };
enum { CLOSE_NOTIFY = 0, HANDSHAKE_FAILURE = 40, UNKNOWN_CA = 48, UNRECOGNIZED_NAME = 112 };

#define EARLY_DATA "002a 0000"
#define SHA384_SUITE 0x1302
#define SUITE_1_3 0x1301
#define SUITE_1_2 0xc02f

static inline Octets *record(guint type, Octets *body)
{
    Octets *out = g_byte_array_new();
    octets_be(out, type, 1);
    octets_be(out, 0x0303, 2);
    octets_be(out, body->len, 2);
    return octets_join(out, body);
}

static inline Octets *handshake(guint type, Octets *body)
{
    Octets *out = g_byte_array_new();
    octets_be(out, type, 1);
    octets_be(out, body->len, 3);
    return octets_join(out, body);
}

static inline Octets *zeros(gsize length)
{
    Octets *out = g_byte_array_new();
    for (gsize i = 0; i < length; i++)
        octets_be(out, 0, 1);
    return out;
}

// Application data, or what else is hidden, of so many bytes without head.
static inline Octets *data(gsize length)
{
    return record(DATA, zeros(length));
}

static inline Octets *alert(guint level, guint description)
{
    Octets *body = g_byte_array_new();
    octets_be(body, level, 1);
    octets_be(body, description, 1);
    return record(ALERT, body);
}

static inline Octets *change_cipher(void)
{
    return record(CCS, octets("01"));
}

static inline void put_random(Octets *out, guint8 byte)
{
    for (guint i = 0; i < 32; i++)
        octets_be(out, byte, 1);
}

// name: NULL for none. more: further extensions.
static inline Octets *client_hello_message(const char *name, const char *more)
{
    g_autoptr(Octets) extensions = octets("0017 0000");
    if (name) {
        gsize length = strlen(name);
        octets_be(extensions, 0, 2);
        octets_be(extensions, length + 5, 2);
        octets_be(extensions, length + 3, 2);
        octets_be(extensions, 0, 1);
        octets_be(extensions, length, 2);
        octets_put(extensions, name, length);
    }
    octets_read(extensions, more, '\0');
    Octets *body = octets("0303");
    put_random(body, 0xc1);
    octets_read(body, "04 01020304 0004 1301 c02f 01 00", '\0');
    octets_be(body, extensions->len, 2);
    octets_put(body, extensions->data, extensions->len);
    return handshake(1, body);
}

static inline Octets *client_hello(const char *name)
{
    return record(HANDSHAKE, client_hello_message(name, ""));
}

static inline Octets *server_hello_message(guint16 suite, const char *extensions)
{
    g_autoptr(Octets) more = octets(extensions);
    Octets *body = octets("0303");
    put_random(body, 0x5e);
    octets_read(body, "04 01020304", '\0');
    octets_be(body, suite, 2);
    octets_be(body, 0, 1);
    octets_be(body, more->len, 2);
    octets_put(body, more->data, more->len);
    return handshake(2, body);
}

static inline Octets *server_hello(guint16 suite)
{
    bool new = suite >> 8 == 0x13;
    return record(HANDSHAKE, server_hello_message(suite, new ? "002b 0002 0304" : ""));
}

static inline Octets *retry_request(void)
{
    static const char random[] = "cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c";
    Octets *out = server_hello(SUITE_1_3);
    g_autoptr(Octets) special = octets(random);
    memcpy(out->data + 5 + 4 + 2, special->data, special->len);
    return out;
}

static inline Octets *join(Octets *a, Octets *b)
{
    return octets_join(a, b);
}

// Bytes of a record, for what a test expects.
static inline guint size_of(Octets *bytes)
{
    guint size = bytes->len;
    g_byte_array_unref(bytes);
    return size;
}

// ---- whole handshakes ---------------------------------------------------------------------------

static inline void shake_hands_1_2(Steps *s, const char *name)
{
    step(s, SAY_UP, client_hello(name));
    step(s, SAY_DOWN, join(server_hello(SUITE_1_2), record(HANDSHAKE, handshake(11, zeros(900)))));
    step(s, SAY_DOWN, record(HANDSHAKE, handshake(14, zeros(0))));
    step(s, SAY_UP,
         join(join(record(HANDSHAKE, handshake(16, zeros(66))), change_cipher()),
              record(HANDSHAKE, zeros(40))));
    step(s, SAY_DOWN, join(change_cipher(), record(HANDSHAKE, zeros(40))));
}

#define FINISHED 53u // the length of its record: SHA-256

static inline void shake_hands_1_3(Steps *s, const char *name)
{
    step(s, SAY_UP, client_hello(name));
    step(s, SAY_DOWN, join(join(server_hello(SUITE_1_3), change_cipher()), data(900)));
    step(s, SAY_DOWN, data(FINISHED));
    step(s, SAY_UP, join(change_cipher(), data(FINISHED)));
}

// What the handshake of either comes to.
#define SHOOK_1_2(name) "CALL 1 tls " name " %u\nRET 1 tls ok %u\n"
