// SPDX-License-Identifier: Apache-2.0
// An inference of a small trace made by hand, with what is to be said of it.
#pragma once

#include "tests/unit/infer.h"
#include "tests/unit/trace_lines.h"
#include "viz/ranking.h"

typedef struct {
    BbNames *names;
    BbPaths *paths;
    BbPatterns *patterns;
    BbRanking *ranking;
} Result;

static inline Result infer(const BbNestingOptions *options, const char *const *lines)
{
    Result result = {.names = bb_names_new()};
    g_autoptr(BbPairs) pairs = lines_push(result.names, lines);
    BbNestingOptions usual = paper_options();
    BbViewOptions all = {.top = BB_TOP_ALL};
    options = options ? options : &usual;
    result.paths = infer_paths(pairs, result.names, options);
    result.patterns = infer_patterns(result.paths, result.names, options);
    result.ranking = bb_ranking_new(result.patterns, result.names, &all, BB_TOP_ALL);
    return result;
}

static inline void result_clear(Result *result)
{
    bb_ranking_free(result->ranking);
    bb_patterns_free(result->patterns);
    bb_paths_free(result->paths);
    bb_names_free(result->names);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Result, result_clear)

static inline guint32 find(const Result *result, const char *id)
{
    BbId wanted = bb_id_parse(result->names, id);
    for (guint32 i = 0; i < result->paths->n_calls; i++)
        if (bb_id_equal(result->paths->calls[i].id, wanted))
            return i;
    ck_abort_msg("no call %s", id);
    return 0;
}

// "child<parent ..." with the ids, "-" for roots.
static inline void check_parents(const Result *result, const char *wanted)
{
    g_auto(GStrv) pairs = g_strsplit(wanted, " ", -1);
    for (guint i = 0; pairs[i]; i++) {
        g_auto(GStrv) ids = g_strsplit(pairs[i], "<", 2);
        guint32 parent = result->paths->parent[find(result, ids[0])];
        g_autoptr(GString) text = g_string_new(NULL);
        if (parent == BB_CALL_NO_PARENT)
            g_string_append(text, "-");
        else
            bb_id_append(text, result->names, result->paths->calls[parent].id);
        ck_assert_msg(strcmp(text->str, ids[1]) == 0, "%s: parent %s", pairs[i], text->str);
    }
}

static inline void append_node(GString *out, const Result *result, const BbPatternNode *node)
{
    g_string_append(out, bb_names_text(result->names, node->node));
    if (node->op != BB_NAME_NONE)
        g_string_append_printf(out, ":%s", bb_names_text(result->names, node->op));
    for (guint i = 0; i < node->calls->len; i++) {
        g_string_append(out, i == 0 ? "(" : " ");
        append_node(out, result, g_ptr_array_index(node->calls, i));
    }
    g_string_append(out, node->calls->len > 0 ? ")" : "");
}

// "client>tree xN; ..." in order of rank.
static inline void check_patterns(const Result *result, const char *wanted)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < result->ranking->n_shown; i++) {
        const BbPattern *pattern = result->ranking->shown[i];
        g_string_append_printf(text, "%s%s>", i == 0 ? "" : "; ",
                               bb_names_text(result->names, pattern->client));
        append_node(text, result, pattern->root);
        g_string_append_printf(text, " x%" G_GUINT64_FORMAT, pattern->count);
    }
    ck_assert_str_eq(text->str, wanted);
}

static inline const BbPatternNode *vertex(const Result *result, guint pattern, guint child)
{
    const BbPattern *of = result->ranking->shown[pattern];
    return child == 0 ? of->root : g_ptr_array_index(of->root->calls, child - 1);
}

static inline void check_ms(gint64 got_ns, double want_ms)
{
    ck_assert_int_eq(got_ns, (gint64)(want_ms * LINE_MS));
}
