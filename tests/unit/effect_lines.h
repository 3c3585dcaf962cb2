// SPDX-License-Identifier: Apache-2.0
// Messages with truth and inferred cause for the tests of scores of convolution, one line of text
// each, times in milliseconds:
//     "C A B id at [key=value ...]"     a call of B by A; R a return by B (sender first), M a free
// message, rC, rR and rM sightings at the receiver; id "-" for none. keys: path, parent and recv as
// in a trace; found (line, from 0, of the inferred cause; none: a root), sure (confidence) and mode
// (stated delay in milliseconds) of what the inference says; silent=1: it says nothing.
#pragma once

#include <string.h>

#include "diagnose/effects.h"
#include "tests/unit/test.h"

#define EFFECT_MS 1000000.0

typedef struct {
    BbNames *names;
    BbEffects *effects;
} Told;

static inline Told told_new(void)
{
    return (Told){bb_names_new(), bb_effects_new()};
}

static inline void told_clear(Told *told)
{
    bb_effects_free(told->effects);
    bb_names_free(told->names);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Told, told_clear)

static inline const char *told_value(char *const *words, const char *key)
{
    for (; *words; words++)
        if (g_str_has_prefix(*words, key) && (*words)[strlen(key)] == '=')
            return *words + strlen(key) + 1;
    return NULL;
}

static inline gint64 told_time(const char *text)
{
    return (gint64)(g_ascii_strtod(text, NULL) * EFFECT_MS);
}

static inline BbId told_id(Told *told, const char *text)
{
    return text ? bb_id_parse(told->names, text) : (BbId){0};
}

static inline BbMessage told_message(Told *told, char *const *words)
{
    BbMessage message = bb_message_empty();
    message.at_receiver = words[0][0] == 'r';
    char kind = words[0][message.at_receiver];
    message.kind = kind == 'C' ? BB_CALL : kind == 'R' ? BB_RETURN : BB_FREE;
    message.sender = bb_names_intern(told->names, words[1]);
    message.receiver = bb_names_intern(told->names, words[2]);
    message.id = strcmp(words[3], "-") == 0 ? (BbId){0} : told_id(told, words[3]);
    message.time_ns = told_time(words[4]);
    message.path = told_id(told, told_value(words, "path"));
    message.parent = told_id(told, told_value(words, "parent"));
    const char *recv = told_value(words, "recv");
    message.recv_ns = recv ? told_time(recv) : BB_TIME_NONE;
    return message;
}

static inline BbCall told_call(const BbMessage *message)
{
    return (BbCall){
        .call_ns = message->time_ns,
        .arrived_ns = message->recv_ns != BB_TIME_NONE ? message->recv_ns : message->time_ns,
        .replied_ns = BB_TIME_NONE,
        .return_ns = BB_TIME_NONE,
        .return_end_ns = BB_TIME_NONE,
        .id = message->id,
        .caller = message->sender,
        .callee = message->receiver,
    };
}

// What the inference says of lines, each a message of its own mode.
static inline BbPaths *told_paths(guint n)
{
    BbPaths *paths = bb_paths_new();
    paths->calls = g_new0(BbCall, n);
    paths->parent = g_new(guint32, n);
    paths->confidence = g_new(float, n);
    paths->mode = g_new(guint32, n);
    paths->modes = g_new0(BbMode, n);
    paths->n_modes = n;
    return paths;
}

static inline void told_line(BbPaths *paths, const BbCall *call, char *const *words,
                             const guint32 *place)
{
    guint32 k = paths->n_calls++;
    const char *found = told_value(words, "found"), *sure = told_value(words, "sure");
    const char *mode = told_value(words, "mode");
    paths->calls[k] = *call;
    paths->parent[k] = found ? place[atoi(found)] : BB_CALL_NO_PARENT;
    paths->confidence[k] = sure ? (float)g_ascii_strtod(sure, NULL) : BB_CONFIDENCE_NONE;
    paths->mode[k] = mode ? k : BB_MODE_NONE;
    paths->modes[k].delay_ns = mode ? told_time(mode) : 0;
}

// A window, and its messages before it. Lines end with NULL.
static inline void told_window(Told *told, const char *const *lines)
{
    guint n = g_strv_length((gchar **)lines);
    g_autoptr(BbPaths) paths = told_paths(n);
    g_autofree guint32 *place = g_new(guint32, n); // of lines among the calls
    for (guint i = 0, k = 0; i < n; i++)
        place[i] = strstr(lines[i], "silent=1") ? BB_CALL_NO_PARENT : k++;
    for (guint i = 0; i < n; i++) {
        g_auto(GStrv) words = g_strsplit(lines[i], " ", -1);
        ck_assert_uint_ge(g_strv_length(words), 5);
        BbMessage message = told_message(told, words);
        BbCall call = told_call(&message);
        bb_effects_push(told->effects, &message);
        if (place[i] != BB_CALL_NO_PARENT)
            told_line(paths, &call, words, place);
    }
    bb_effects_add(told->effects, paths);
}

#define TOLD(told, ...) told_window(told, (const char *const[]){__VA_ARGS__, NULL})
