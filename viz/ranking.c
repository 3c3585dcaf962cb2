// SPDX-License-Identifier: Apache-2.0
// In: the patterns of an inference and what was asked for. Out: those to show, ranked.
#include "viz/ranking.h"

#include "data/quantity.h"
#include "viz/chain.h"

#include <string.h>

#define TOLD_LEAST 0.02 // of the latency of a pattern

typedef struct Sorting {
    const GPtrArray *patterns;
    const BbNames *names;
    BbSortKey key;
} Sorting;

static int compare_falling(gint64 a, gint64 b)
{
    return (a < b) - (a > b);
}

static int compare_trees(const BbNames *names, const BbPatternNode *a, const BbPatternNode *b)
{
    int order = bb_names_compare(names, a->node, b->node);
    if (order == 0)
        order = bb_names_compare(names, a->op, b->op);
    if (order == 0)
        order = (a->calls->len > b->calls->len) - (a->calls->len < b->calls->len);
    for (guint i = 0; order == 0 && i < a->calls->len; i++)
        order =
            compare_trees(names, g_ptr_array_index(a->calls, i), g_ptr_array_index(b->calls, i));
    return order;
}

static int compare_by_key(BbSortKey key, const BbPattern *a, const BbPattern *b)
{
    switch (key) {
    case BB_SORT_OF_ALGORITHM:
        break;
    case BB_SORT_TOTAL:
        return compare_falling(bb_pattern_total_latency(a), bb_pattern_total_latency(b));
    case BB_SORT_COUNT:
        return (a->count < b->count) - (a->count > b->count);
    case BB_SORT_MEAN:
        return compare_falling(bb_pattern_mean_latency(a), bb_pattern_mean_latency(b));
    }
    g_assert_not_reached();
}

// Derived ones after all others, so that ranks do not depend on whether they are kept. A full
// order: no two patterns of one inference have the same shape, but for derived ones, and the index
// decides if they had.
static int compare_patterns(gconstpointer a_index, gconstpointer b_index, gpointer user)
{
    const Sorting *sorting = user;
    guint32 i = *(const guint32 *)a_index;
    guint32 j = *(const guint32 *)b_index;
    const BbPattern *a = g_ptr_array_index(sorting->patterns, i);
    const BbPattern *b = g_ptr_array_index(sorting->patterns, j);
    int order = a->derived - b->derived;
    if (order == 0)
        order = compare_by_key(sorting->key, a, b);
    if (order == 0)
        order = compare_by_key(BB_SORT_TOTAL, a, b);
    if (order == 0)
        order = compare_by_key(BB_SORT_COUNT, a, b);
    if (order == 0)
        order = bb_names_compare(sorting->names, a->client, b->client);
    if (order == 0)
        order = compare_trees(sorting->names, a->root, b->root);
    return order ? order : (i > j) - (i < j);
}

static double told_share(const BbPattern *pattern, guint64 ns)
{
    double share = bb_quantity_share((gint64)ns, bb_pattern_total_latency(pattern));
    return share < TOLD_LEAST ? 0 : share;
}

double bb_ranking_queued(const BbPattern *pattern, const BbPatternNode *node)
{
    return told_share(pattern, bb_pattern_queued(node));
}

double bb_ranking_wire(const BbPattern *pattern, const BbPatternNode *node)
{
    return told_share(pattern, node->wire_total_ns);
}

// What of a pattern's nodes is told.
static void note_told(BbRanking *ranking, const BbPattern *pattern, const BbPatternNode *node)
{
    ranking->queued |= bb_ranking_queued(pattern, node) > 0;
    ranking->wire |= bb_ranking_wire(pattern, node) > 0;
    for (guint i = 0; i < node->calls->len; i++)
        note_told(ranking, pattern, g_ptr_array_index(node->calls, i));
}

static void show(BbRanking *ranking, const BbPattern *pattern, guint32 index, guint32 rank)
{
    if (!ranking->chains)
        note_told(ranking, pattern, pattern->root);
    ranking->rank_shown[ranking->n_shown] = rank;
    ranking->shown[ranking->n_shown++] = pattern;
    ranking->rank[index] = rank;
    if (pattern->derived) {
        ranking->derived_shown++;
        return;
    }
    ranking->instances_shown += pattern->count;
}

// The indices of the patterns that are not forgotten, in the order asked for.
static GArray *sort_patterns(const BbPatterns *patterns, const BbNames *names, BbSortKey key)
{
    GArray *sorted = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 i = 0; i < patterns->patterns->len; i++)
        if (g_ptr_array_index(patterns->patterns, i))
            g_array_append_val(sorted, i);
    Sorting sorting = {patterns->patterns, names, key};
    g_array_sort_with_data(sorted, compare_patterns, &sorting);
    return sorted;
}

static void resolve(BbViewOptions *options, bool chains, guint top_of_format)
{
    if (options->top == BB_TOP_OF_FORMAT)
        options->top = top_of_format;
    if (options->sort == BB_SORT_OF_ALGORITHM)
        options->sort = chains ? BB_SORT_COUNT : BB_SORT_TOTAL;
    options->min_share = MAX(options->min_share, 0);
}

// What all patterns have together.
static void sum_up(BbRanking *ranking, const BbPatterns *patterns)
{
    ranking->n_patterns = ranking->forgotten = patterns->forgotten;
    ranking->instances = patterns->forgotten_instances;
    ranking->latency_ns = patterns->forgotten_latency_ns;
    for (guint i = 0; i < patterns->patterns->len; i++) {
        const BbPattern *pattern = g_ptr_array_index(patterns->patterns, i);
        if (!pattern)
            continue;
        ranking->n_patterns++;
        ranking->derived += pattern->derived;
        if (pattern->derived)
            continue;
        ranking->instances += pattern->count;
        ranking->latency_ns = bb_time_after(ranking->latency_ns, bb_pattern_total_latency(pattern));
    }
}

// A sum of its own: two that saturate do not tell what lies between them.
static void sum_up_left_out(BbRanking *ranking, const BbPatterns *patterns)
{
    ranking->latency_left_ns = patterns->forgotten_latency_ns;
    for (guint i = 0; i < patterns->patterns->len; i++) {
        const BbPattern *pattern = g_ptr_array_index(patterns->patterns, i);
        if (pattern && !pattern->derived && ranking->rank[i] == 0)
            ranking->latency_left_ns =
                bb_time_after(ranking->latency_left_ns, bb_pattern_total_latency(pattern));
    }
}

static void choose(BbRanking *ranking, const BbPatterns *patterns, const GArray *sorted)
{
    const BbViewOptions *options = &ranking->options;
    guint top = options->top == BB_TOP_ALL ? G_MAXUINT : options->top;
    guint32 rank = 0;
    for (guint i = 0; i < sorted->len; i++) {
        guint32 index = g_array_index(sorted, guint32, i);
        const BbPattern *pattern = g_ptr_array_index(patterns->patterns, index);
        if (pattern->count < options->min_count)
            continue;
        rank++;
        if ((double)pattern->count < options->min_share * (double)ranking->instances)
            ranking->rare++;
        else if (ranking->n_shown < top)
            show(ranking, pattern, index, rank);
    }
}

BbRanking *bb_ranking_new(const BbPatterns *patterns, const BbNames *names,
                          const BbViewOptions *options, guint top_of_format)
{
    BbRanking *ranking = g_new0(BbRanking, 1);
    ranking->chains = bb_chain_is_form_of(patterns);
    ranking->options = *options;
    resolve(&ranking->options, ranking->chains, top_of_format);
    g_autoptr(GArray) sorted = sort_patterns(patterns, names, ranking->options.sort);
    ranking->n_ranks = patterns->patterns->len;
    ranking->shown = g_new0(const BbPattern *, sorted->len);
    ranking->rank_shown = g_new0(guint32, sorted->len);
    ranking->rank = g_new0(guint32, ranking->n_ranks);
    sum_up(ranking, patterns);
    choose(ranking, patterns, sorted);
    sum_up_left_out(ranking, patterns);
    return ranking;
}

void bb_ranking_free(BbRanking *ranking)
{
    if (!ranking)
        return;
    g_free(ranking->shown);
    g_free(ranking->rank_shown);
    g_free(ranking->rank);
    g_free(ranking);
}

bool bb_ranking_chooses(const BbRanking *ranking)
{
    const BbViewOptions *options = &ranking->options;
    return options->top != BB_TOP_ALL || options->min_count > 0 || options->min_share > 0;
}

double bb_ranking_share(const BbRanking *ranking, const BbPattern *pattern)
{
    return ranking->instances > 0 ? (double)pattern->count / (double)ranking->instances : 0;
}
