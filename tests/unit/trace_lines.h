// SPDX-License-Identifier: Apache-2.0
// Messages for tests, from one line of text each, times in milliseconds:
//     "C A B id at [key=value ...]"   a call of B by A; R a return by B (sender first), M a message
// with at = "-" for no id, "rC" and "rR" for sightings at the receiver, keys recv, end, op, status.
#pragma once

#include <stdlib.h>
#include <string.h>

#include "nesting/nesting.h"
#include "tests/unit/test.h"

#define LINE_MS 1000000.0

static inline gint64 line_time(const char *text)
{
    return (gint64)(g_ascii_strtod(text, NULL) * LINE_MS);
}

static inline void line_key(BbNames *names, BbMessage *message, const char *key)
{
    const char *value = strchr(key, '=');
    ck_assert_ptr_nonnull(value);
    value++;
    if (g_str_has_prefix(key, "recv="))
        message->recv_ns = line_time(value);
    else if (g_str_has_prefix(key, "end="))
        message->end_ns = line_time(value);
    else if (g_str_has_prefix(key, "op="))
        message->op = bb_names_intern(names, value);
    else if (g_str_has_prefix(key, "status="))
        message->status = bb_names_intern(names, value);
    else
        ck_abort_msg("key %s", key);
}

static inline BbMessage line_parse(BbNames *names, const char *line)
{
    g_auto(GStrv) words = g_strsplit(line, " ", -1);
    ck_assert_uint_ge(g_strv_length(words), 5);
    BbMessage message = bb_message_empty();
    message.at_receiver = words[0][0] == 'r';
    char kind = words[0][message.at_receiver];
    message.kind = kind == 'C' ? BB_CALL : kind == 'R' ? BB_RETURN : BB_FREE;
    message.sender = bb_names_intern(names, words[1]);
    message.receiver = bb_names_intern(names, words[2]);
    if (strcmp(words[3], "-") != 0)
        message.id = bb_id_parse(names, words[3]);
    message.time_ns = line_time(words[4]);
    for (guint i = 5; words[i]; i++)
        line_key(names, &message, words[i]);
    return message;
}

// Lines end with NULL.
static inline BbPairs *lines_push(BbNames *names, const char *const *lines)
{
    BbPairs *pairs = bb_pairs_new(names);
    for (; *lines; lines++) {
        BbMessage message = line_parse(names, *lines);
        ck_assert(bb_pairs_push(pairs, &message));
    }
    return pairs;
}

#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})
