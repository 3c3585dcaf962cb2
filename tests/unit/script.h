// SPDX-License-Identifier: Apache-2.0
// A conversation written down as a list of steps, for tests of text protocols.
#pragma once

#include "tests/unit/converse.h"
#include "tests/unit/test.h"

#include <string.h>

// Steps end with NULL. The first byte says what is done with the rest:
//   > the client says it, < the server says it, ) the client says it unseen, ( the server does,
//   x FIN of the client, y FIN of the server
#define SCRIPT_STEPS 32

typedef struct Script {
    const char *steps[SCRIPT_STEPS];
    guint16 port; // of the server; 0 = 80
    bool midstream;
} Script;

#define SCRIPT_AT(PORT, ...)                 \
    &(const Script)                          \
    {                                        \
        .steps = {__VA_ARGS__}, .port = PORT \
    }
#define MIDSTREAM_AT(PORT, ...)                                 \
    &(const Script)                                             \
    {                                                           \
        .steps = {__VA_ARGS__}, .port = PORT, .midstream = true \
    }

static inline Converse *play(const Script *script, gsize segment)
{
    guint16 port = script->port ? script->port : 80;
    Converse *c = script->midstream ? converse_tcp_midstream(port) : converse_tcp(port);
    converse_segment_size(c, segment);
    for (guint i = 0; i < SCRIPT_STEPS && script->steps[i]; i++) {
        const char *text = script->steps[i] + 1;
        switch (script->steps[i][0]) {
        case '>':
            converse_text(c, BB_TO_SERVER, text);
            break;
        case '<':
            converse_text(c, BB_TO_CLIENT, text);
            break;
        case ')':
            converse_lose(c, BB_TO_SERVER, strlen(text));
            break;
        case '(':
            converse_lose(c, BB_TO_CLIENT, strlen(text));
            break;
        default:
            converse_close(c, script->steps[i][0] == 'x' ? BB_TO_SERVER : BB_TO_CLIENT);
        }
    }
    return c;
}

// Whole and in small segments: the same messages.
static inline void check(const Script *script, const char *expected)
{
    static const gsize segments[] = {1460, 1, 2, 7, 64};
    for (guint i = 0; i < G_N_ELEMENTS(segments); i++) {
        g_autoptr(Converse) c = play(script, segments[i]);
        ck_assert_msg(strcmp(converse_result(c), expected) == 0, "%zu bytes a segment:\n%s",
                      segments[i], converse_result(c));
    }
}
