// SPDX-License-Identifier: Apache-2.0
// Messages and sessions of PostgreSQL for tests. Every script runs whole and with few bytes a
// segment.
#pragma once

#include "tests/unit/converse.h"
#include "tests/unit/test.h"

#include "capture/decoder.h"
#include "capture/loss.h"

#include <string.h>

static const BbDirection up = BB_TO_SERVER, down = BB_TO_CLIENT;

// ---- messages ---------------------------------------------------------------------------------

static inline void put32(GByteArray *out, guint32 value)
{
    guint8 bytes[4] = {value >> 24, value >> 16 & 0xff, value >> 8 & 0xff, value & 0xff};
    g_byte_array_append(out, bytes, 4);
}

static inline void put(GByteArray *out, const void *bytes, gsize length)
{
    g_byte_array_append(out, bytes, (guint)length);
}

// A message with a body of length bytes; type 0: none.
static inline void put_message(GByteArray *out, char type, const void *body, gsize length)
{
    if (type)
        put(out, &type, 1);
    put32(out, (guint32)length + 4);
    put(out, body, length);
}

static inline void put_text(GByteArray *out, char type, const char *text)
{
    put_message(out, type, text, strlen(text) + 1);
}

static inline void put_parse(GByteArray *out, const char *name, const char *text)
{
    g_autoptr(GByteArray) body = g_byte_array_new();
    put(body, name, strlen(name) + 1);
    put(body, text, strlen(text) + 1);
    put(body, "\0\0", 2);
    put_message(out, 'P', body->data, body->len);
}

static inline void put_bind(GByteArray *out, const char *name)
{
    g_autoptr(GByteArray) body = g_byte_array_new();
    put(body, "", 1);
    put(body, name, strlen(name) + 1);
    put(body, "\0\0\0\0\0\0", 6);
    put_message(out, 'B', body->data, body->len);
}

// Describe or Close of a statement.
static inline void put_target(GByteArray *out, char type, const char *name)
{
    g_autoptr(GByteArray) body = g_byte_array_new();
    put(body, "S", 1);
    put(body, name, strlen(name) + 1);
    put_message(out, type, body->data, body->len);
}

static inline void put_execute(GByteArray *out)
{
    put_message(out, 'E', "\0\0\0\0\0", 5);
}

static inline void put_ready(GByteArray *out, char state)
{
    put_message(out, 'Z', &state, 1);
}

static inline void put_error(GByteArray *out, const char *code)
{
    g_autoptr(GByteArray) body = g_byte_array_new();
    put(body, "SERROR\0VERROR\0C", 15);
    put(body, code, strlen(code) + 1);
    put(body, "Mno\0\0", 5);
    put_message(out, 'E', body->data, body->len);
}

static inline void put_row(GByteArray *out, gsize length)
{
    g_autofree char *value = g_strnfill(length, 'x');
    g_autoptr(GByteArray) body = g_byte_array_new();
    put(body, "\0\1", 2);
    put32(body, (guint32)length);
    put(body, value, length);
    put_message(out, 'D', body->data, body->len);
}

static inline void put_description(GByteArray *out)
{
    put_message(out, 'T', "\0\1id\0\0\0\0\0\0\0\0\0\0\0\0\4\0\0\0\0\0\0", 23);
}

// What a SELECT of one row is answered with: 24 + 6 + ... bytes.
static inline void put_rows(GByteArray *out)
{
    put_description(out);
    put_row(out, 3);
    put_text(out, 'C', "SELECT 1");
    put_ready(out, 'I');
}

static inline void put_startup(GByteArray *out)
{
    put_message(out, 0, "\0\3\0\0user\0bob\0database\0shop\0", 28);
}

static inline void put_login(GByteArray *out)
{
    put_message(out, 'R', "\0\0\0\0", 4);
    put_message(out, 'S', "server_version\00016\0", 18);
    put_message(out, 'K', "\0\0\0\1\0\0\0\2", 8);
    put_ready(out, 'I');
}

// Sends what was put, and forgets it.
static inline void say(Converse *c, BbDirection direction, GByteArray *bytes)
{
    converse_say(c, direction, bytes->data, bytes->len);
    g_byte_array_set_size(bytes, 0);
}

static inline void lose(Converse *c, BbDirection direction, GByteArray *bytes)
{
    converse_lose(c, direction, bytes->len);
    g_byte_array_set_size(bytes, 0);
}

static inline void query(Converse *c, const char *text)
{
    g_autoptr(GByteArray) b = g_byte_array_new();
    put_text(b, 'Q', text);
    say(c, up, b);
}

static inline void answer(Converse *c, const char *tag)
{
    g_autoptr(GByteArray) b = g_byte_array_new();
    put_text(b, 'C', tag);
    put_ready(b, 'I');
    say(c, down, b);
}

typedef void (*Script)(Converse *c, GByteArray *b);

static inline void expect_with(Script script, bool midstream, const char *expected)
{
    static const gsize sizes[] = {1460, 1, 7};
    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autoptr(Converse) c = midstream ? converse_tcp_midstream(5432) : converse_tcp(5432);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        converse_segment_size(c, sizes[i]);
        script(c, bytes);
        ck_assert_str_eq(converse_result(c), expected);
        ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 0);
    }
}

static inline void expect(Script script, const char *expected)
{
    expect_with(script, false, expected);
}

static inline void log_in(Converse *c)
{
    g_autoptr(GByteArray) b = g_byte_array_new();
    put_startup(b);
    say(c, up, b);
    put_login(b);
    say(c, down, b);
}

#define LOGIN                        \
    "CALL 1 postgresql startup 32\n" \
    "RET 1 postgresql ok 51\n"

static inline void put_extended_answer(GByteArray *b, bool parsed)
{
    if (parsed)
        put_message(b, '1', "", 0);
    put_message(b, '2', "", 0);
    put_row(b, 1);
    put_text(b, 'C', "SELECT 1");
    put_ready(b, 'I');
}
