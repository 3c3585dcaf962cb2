// SPDX-License-Identifier: Apache-2.0
// Scenarios in tests: parsed from a literal, run into a list of messages.
#pragma once

#include <string.h>

#include "data/scenario.h"
#include "tests/unit/test.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)
#define START_NS (NS_PER_S * NS_PER_S)
// One instance, at 1 s: root messages are at 1000 ms.
#define ONCE "duration 1h\ncalls after 10ms\nreturns after 5ms\nsends after 20ms\n"
#define BEGIN "tracelet t { rate 1/s regular; times 1; "

typedef struct Made {
    BbNames *names;
    GArray *messages; // of BbMessage, without lent strings
} Made;

static inline void made_free(Made *made)
{
    g_array_unref(made->messages);
    bb_names_free(made->names);
    g_free(made);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Made, made_free)

static inline bool made_take(const BbMessage *message, gpointer user, GError **error)
{
    g_array_append_val(((Made *)user)->messages, *message);
    return true;
}

static inline Made *make_with(const char *text, const BbScenarioOptions *options)
{
    Made *made = g_new(Made, 1);
    *made = (Made){bb_names_new(), g_array_new(FALSE, FALSE, sizeof(BbMessage))};
    g_autoptr(GError) error = NULL;
    g_autoptr(BbScenario) scenario =
        bb_scenario_parse(text, strlen(text), "t.scn", NULL, made->names, &error);
    ck_assert_msg(scenario, "%s", error ? error->message : "");
    bool good = bb_scenario_run(scenario, options, made_take, made, &error);
    ck_assert_msg(good, "%s", error ? error->message : "");
    return made;
}

static inline Made *make(const char *text)
{
    return make_with(text, &(BbScenarioOptions){.seed = 1, .duration_ns = BB_TIME_NONE});
}

static inline const BbMessage *made_at(const Made *made, guint index)
{
    ck_assert_uint_lt(index, made->messages->len);
    return &g_array_index(made->messages, BbMessage, index);
}

// "12.5 C A B 3 path 1 parent 2": milliseconds since the start, kind, and so on.
static inline char *made_line(const Made *made, guint index)
{
    const BbMessage *m = made_at(made, index);
    g_autoptr(GString) parent = g_string_new(NULL);
    bb_id_append(parent, made->names, m->parent);
    return g_strdup_printf(
        "%g %c %s %s %d path %d parent %s", (double)(m->time_ns - START_NS) / 1e6, "CRM"[m->kind],
        bb_names_text(made->names, m->sender), bb_names_text(made->names, m->receiver),
        (int)m -> id.number, (int)m->path.number, parent->str);
}

// All messages, in this order. Lines end with NULL.
static inline void made_is(const Made *made, const char *const *lines)
{
    guint i = 0;
    for (; lines[i]; i++) {
        g_autofree char *line = i < made->messages->len ? made_line(made, i) : g_strdup("nothing");
        ck_assert_msg(strcmp(line, lines[i]) == 0, "message %u is '%s', not '%s'", i, line,
                      lines[i]);
    }
    ck_assert_uint_eq(made->messages->len, i);
}

static inline guint made_count(const Made *made, BbKind kind, const char *sender,
                               const char *receiver)
{
    guint count = 0;
    for (guint i = 0; i < made->messages->len; i++) {
        const BbMessage *m = made_at(made, i);
        count += m->kind == kind &&
                 (!sender || strcmp(bb_names_text(made->names, m->sender), sender) == 0) &&
                 (!receiver || strcmp(bb_names_text(made->names, m->receiver), receiver) == 0);
    }
    return count;
}

// The scenario is taken, and its run ends with such an error.
static inline void fails_with(const char *text, const char *message, BbMessageSink sink)
{
    guint taken = 0;
    g_autoptr(GError) error = NULL;
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbScenario) scenario =
        bb_scenario_parse(text, strlen(text), "t.scn", NULL, names, &error);
    ck_assert_msg(scenario, "%s", error ? error->message : "");
    BbScenarioOptions options = {.seed = 1, .duration_ns = BB_TIME_NONE};
    ck_assert(!bb_scenario_run(scenario, &options, sink, &taken, &error));
    ck_assert_msg(g_str_has_prefix(error->message, message), "%s", error->message);
}

static inline bool swallow(const BbMessage *message, gpointer user, GError **error)
{
    return true;
}

#define IS(made, ...) made_is(made, (const char *const[]){__VA_ARGS__, NULL})
