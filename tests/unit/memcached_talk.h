// SPDX-License-Identifier: Apache-2.0
// Conversations of memcached in tests, whole and with one byte a segment.
#pragma once

#include "tests/unit/converse.h"
#include "tests/unit/test.h"

#include "capture/decoder.h"
#include "capture/loss.h"
#include "capture/protocols/memcached_line.h"

#include <string.h>

static const BbDirection up = BB_TO_SERVER, down = BB_TO_CLIENT;

typedef void (*Script)(Converse *c);

static inline void expect_on(Script script, guint16 port, const char *expected)
{
    static const gsize sizes[] = {1460, 1, 5};
    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autoptr(Converse) c = converse_tcp(port);
        converse_segment_size(c, sizes[i]);
        script(c);
        ck_assert_str_eq(converse_result(c), expected);
        ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 0);
    }
}

static inline void expect(Script script, const char *expected)
{
    expect_on(script, 11211, expected);
}

// For scripts that put several messages into one packet: whole, in the order of writing.
static inline void expect_whole(Script script, const char *expected)
{
    g_autoptr(Converse) c = converse_tcp(11211);
    script(c);
    ck_assert_str_eq(converse_result(c), expected);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 0);
}

static inline void ask(Converse *c, const char *request, const char *reply)
{
    converse_text(c, up, request);
    converse_text(c, down, reply);
}
