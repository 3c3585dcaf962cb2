// SPDX-License-Identifier: Apache-2.0
// Calls with truth and inferred parent for the tests of scores, one line of text each, times in
// milliseconds:
//     "A B id call return [key=value ...]"      a call of B by A; return - : none
// keys: path and parent (what the trace tells), found (id of the inferred parent, in the same
// window; none: a root), sure (confidence), op, end (of the return's last byte).
#pragma once

#include <string.h>

#include "diagnose/score.h"
#include "tests/unit/test.h"

#define JUDGED_MS 1000000.0

typedef struct {
    BbNames *names;
    BbTruth *truth;
    BbScoring *scoring;
} Judged;

static inline Judged judged_with(BbForestOptions options)
{
    Judged judged = {bb_names_new(), bb_truth_new(), NULL};
    judged.scoring = bb_scoring_new(judged.names, &options);
    return judged;
}

static inline Judged judged_new(bool labels)
{
    return judged_with((BbForestOptions){labels, false});
}

static inline void judged_clear(Judged *judged)
{
    bb_scoring_free(judged->scoring);
    bb_truth_free(judged->truth);
    bb_names_free(judged->names);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Judged, judged_clear)

static inline const char *judged_value(char *const *words, const char *key)
{
    for (; *words; words++)
        if (g_str_has_prefix(*words, key) && (*words)[strlen(key)] == '=')
            return *words + strlen(key) + 1;
    return NULL;
}

static inline gint64 judged_time(const char *text)
{
    return strcmp(text, "-") == 0 ? BB_TIME_NONE : (gint64)(g_ascii_strtod(text, NULL) * JUDGED_MS);
}

static inline BbId judged_id(Judged *judged, char *const *words, const char *key)
{
    const char *value = judged_value(words, key);
    return value ? bb_id_parse(judged->names, value) : (BbId){0};
}

static inline BbCall judged_call(Judged *judged, char *const *words)
{
    const char *op = judged_value(words, "op"), *end = judged_value(words, "end");
    gint64 call_ns = judged_time(words[3]), return_ns = judged_time(words[4]);
    return (BbCall){
        .call_ns = call_ns,
        .arrived_ns = call_ns,
        .replied_ns = return_ns,
        .return_ns = return_ns,
        .return_end_ns = end ? judged_time(end) : BB_TIME_NONE,
        .id = strcmp(words[2], "-") == 0 ? (BbId){0} : bb_id_parse(judged->names, words[2]),
        .caller = bb_names_intern(judged->names, words[0]),
        .callee = bb_names_intern(judged->names, words[1]),
        .op = op ? bb_names_intern(judged->names, op) : BB_NAME_NONE,
    };
}

static inline void judged_message(Judged *judged, const BbCall *call, char *const *words)
{
    BbMessage message = bb_message_empty();
    message.kind = BB_CALL;
    message.time_ns = call->call_ns;
    message.id = call->id;
    message.sender = call->caller;
    message.receiver = call->callee;
    message.path = judged_id(judged, words, "path");
    message.parent = judged_id(judged, words, "parent");
    bb_truth_push(judged->truth, &message);
}

static inline guint32 judged_find(const BbPaths *paths, BbId id)
{
    for (guint32 i = 0; i < paths->n_calls; i++)
        if (bb_id_equal(paths->calls[i].id, id))
            return i;
    ck_abort_msg("found= names no call of the window");
    return 0;
}

// A window. Lines end with NULL.
static inline void judged_window(Judged *judged, const char *const *lines)
{
    guint n = g_strv_length((gchar **)lines);
    g_autoptr(BbPaths) paths = bb_paths_new();
    paths->calls = g_new(BbCall, n);
    paths->parent = g_new(guint32, n);
    paths->confidence = g_new(float, n);
    paths->n_calls = n;
    for (guint i = 0; i < n; i++) {
        g_auto(GStrv) words = g_strsplit(lines[i], " ", -1);
        ck_assert_uint_ge(g_strv_length(words), 5);
        paths->calls[i] = judged_call(judged, words);
        const char *sure = judged_value(words, "sure");
        paths->confidence[i] = sure ? (float)g_ascii_strtod(sure, NULL) : BB_CONFIDENCE_NONE;
        judged_message(judged, &paths->calls[i], words);
    }
    for (guint i = 0; i < n; i++) {
        g_auto(GStrv) words = g_strsplit(lines[i], " ", -1);
        BbId found = judged_id(judged, words, "found");
        paths->parent[i] = bb_id_is_known(found) ? judged_find(paths, found) : BB_CALL_NO_PARENT;
    }
    bb_scoring_add(judged->scoring, paths, judged->truth);
}

#define JUDGED(judged, ...) judged_window(judged, (const char *const[]){__VA_ARGS__, NULL})
