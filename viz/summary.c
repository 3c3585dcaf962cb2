// SPDX-License-Identifier: Apache-2.0
// In: an inference and a selection of its patterns. Out: sentences on how far they go.
#include "viz/summary.h"

#include "data/quantity.h"
#include "viz/chain.h"
#include "viz/ranking.h"

guint64 bb_summary_unmatched(const BbFacts *facts)
{
    return facts->calls_unreturned + facts->returns_orphaned;
}

gint64 bb_summary_duration(const BbFacts *facts)
{
    gint64 duration;
    if (facts->start_ns == BB_TIME_NONE || facts->end_ns == BB_TIME_NONE)
        return 0;
    return __builtin_sub_overflow(facts->end_ns, facts->start_ns, &duration) ? G_MAXINT64
                                                                             : duration;
}

static double unmatched_share(const BbFacts *facts)
{
    return bb_quantity_share((gint64)bb_summary_unmatched(facts),
                             (gint64)(facts->calls + facts->returns_orphaned));
}

// What makes a difference to nesting only.
static void append_calls(GString *out, const BbFacts *facts)
{
    g_string_append(out, ", ");
    bb_quantity_append_counted(out, facts->calls, "call");
    g_string_append(out, ", ");
    bb_quantity_append_share(out, unmatched_share(facts));
    g_string_append(out, " unmatched");
    if (facts->forwarded > 0) {
        g_string_append(out, ", ");
        bb_quantity_append_counted(out, facts->forwarded, "return");
        g_string_append(out, " from another node than was called (forwarded)");
    }
    if (facts->free_messages > 0) {
        g_string_append(out, ", ");
        bb_quantity_append_count(out, facts->free_messages);
        g_string_append(out, " neither call nor return");
    }
}

void bb_summary_append_trace(GString *out, const BbPatterns *patterns)
{
    const BbFacts *facts = &patterns->facts;
    g_string_append_printf(out, "bbpaths %s, ", patterns->algorithm);
    if (facts->start_ns != BB_TIME_NONE) {
        bb_quantity_append_time(out, facts->start_ns);
        g_string_append(out, ", ");
    }
    bb_quantity_append_span(out, bb_summary_duration(facts));
    g_string_append(out, ", ");
    bb_quantity_append_counted(out, facts->messages, "message");
    if (!bb_chain_is_form_of(patterns))
        append_calls(out, facts);
}

// What the figures of an algorithm are called.
typedef struct {
    const char *sort[BB_SORT_MEAN + 1];
    const char *instance;
    const char *shares; // what shares are of
    const char *begun;  // an instance, before it is known how it goes
} Words;

static const Words of_trees = {
    .sort = {[BB_SORT_TOTAL] = "total latency",
             [BB_SORT_COUNT] = "number of instances",
             [BB_SORT_MEAN] = "mean latency"},
    .instance = "instance",
    .shares = "latency",
    .begun = "request",
};

static const Words of_chains = {
    .sort = {[BB_SORT_TOTAL] = "total time from end to end",
             [BB_SORT_COUNT] = "number of paths",
             [BB_SORT_MEAN] = "mean time from end to end"},
    .instance = "path",
    .shares = "paths",
    .begun = "path",
};

static const Words *words_of(const BbRanking *ranking)
{
    return ranking->chains ? &of_chains : &of_trees;
}

// Facts are of all of the trace, patterns of the requests that were asked for.
const char *bb_summary_none(const BbFacts *facts, bool chains)
{
    if (facts->messages == 0 && facts->calls == 0)
        return "the trace has no messages";
    if (chains)
        return "no path meets all conditions";
    if (facts->calls == 0)
        return "the trace has no calls (bbpaths --algo=convolution needs none)";
    if (facts->calls > facts->calls_unreturned)
        return "no request meets all conditions";
    return facts->returns_orphaned > 0 ? "no return was matched with its call"
                                       : "no call of the trace has a return";
}

// ", with 5 instances or more, 0.5 % of all or more"
static void append_conditions(GString *out, const BbRanking *ranking)
{
    const BbViewOptions *options = &ranking->options;
    if (options->min_count > 1) {
        g_string_append(out, ", with ");
        bb_quantity_append_count(out, options->min_count);
        g_string_append_printf(out, " %ss or more", words_of(ranking)->instance);
    }
    if (options->min_share > 0) {
        g_string_append(out, options->min_count > 1 ? " and " : ", with ");
        g_autofree char *instances = g_strconcat(words_of(ranking)->instance, "s", NULL);
        bb_quantity_append_share(out, options->min_share);
        bb_chosen_append_whole(out, options->chosen, instances);
        g_string_append(out, " or more");
    }
}

bool bb_summary_append_chosen(GString *out, const BbRanking *ranking)
{
    return bb_chosen_append(out, ranking->options.chosen, words_of(ranking)->begun);
}

bool bb_summary_append_unrelated(GString *out, const BbFacts *facts)
{
    if (facts->unrelated == 0)
        return false;
    bb_quantity_append_counted(out, facts->unrelated, "message");
    g_string_append(out, " with which nothing correlates that their senders got: each begins a "
                         "path, rightly or not");
    return true;
}

void bb_summary_append_share(GString *out, const BbRanking *ranking, const BbPattern *pattern)
{
    double share = ranking->chains
                       ? bb_ranking_share(ranking, pattern)
                       : bb_quantity_share(bb_pattern_total_latency(pattern), ranking->latency_ns);
    bb_quantity_append_share(out, share);
    bb_chosen_append_whole(out, ranking->options.chosen, words_of(ranking)->shares);
}

void bb_summary_append_shown(GString *out, const BbPatterns *patterns, const BbRanking *ranking)
{
    if (ranking->n_patterns == 0) {
        g_string_append_printf(out, "No patterns: %s",
                               bb_summary_none(&patterns->facts, ranking->chains));
        return;
    }
    if (ranking->n_shown < ranking->n_patterns) {
        g_string_append(out, "Top ");
        bb_quantity_append_count(out, ranking->n_shown);
        g_string_append(out, " of ");
    } else if (ranking->n_patterns > 1) {
        g_string_append(out, "All ");
    }
    bb_quantity_append_counted(out, ranking->n_patterns, "pattern");
    if (ranking->derived > 0) {
        g_string_append(out, " (");
        bb_quantity_append_count(out, ranking->derived);
        g_string_append(out, " derived)");
    }
    g_string_append_printf(out, " by %s", words_of(ranking)->sort[ranking->options.sort]);
    append_conditions(out, ranking);
}

// What those left out are of the whole.
static void append_share_left_out(GString *out, const BbRanking *ranking)
{
    guint64 instances = ranking->instances - ranking->instances_shown;
    double share = ranking->chains
                       ? bb_quantity_share((gint64)instances, (gint64)ranking->instances)
                       : bb_quantity_share(ranking->latency_left_ns, ranking->latency_ns);
    bb_quantity_append_share(out, share);
    bb_chosen_append_whole(out, ranking->options.chosen, words_of(ranking)->shares);
}

bool bb_summary_append_left_out(GString *out, const BbRanking *ranking)
{
    if (ranking->n_shown == ranking->n_patterns)
        return false;
    g_string_append(out, "Left out: ");
    bb_quantity_append_counted(out, ranking->n_patterns - ranking->n_shown, "pattern");
    if (ranking->rare > 0) {
        g_string_append(out, " (");
        bb_quantity_append_count(out, ranking->rare);
        g_string_append(out, " for being rare)");
    }
    g_string_append(out, ", ");
    bb_quantity_append_counted(out, ranking->instances - ranking->instances_shown,
                               words_of(ranking)->instance);
    g_string_append(out, ", ");
    append_share_left_out(out, ranking);
    if (ranking->forgotten > 0) {
        g_string_append(out, "; ");
        bb_quantity_append_count(out, ranking->forgotten);
        g_string_append(out, " of the patterns were too rare to be kept in memory");
    }
    return true;
}

void bb_summary_append_wrong(GString *out, const BbPattern *pattern)
{
    double wrong = bb_pattern_wrong(pattern);
    if (wrong < 0)
        return;
    g_autoptr(GString) share = g_string_new(NULL);
    bb_quantity_append_share(share, wrong);
    g_string_append_printf(out, ", %s%s", share->str[0] == '<' ? "" : "about ", share->str);
    g_string_append(out, " of them wrong");
}

void bb_summary_append_derived(GString *out, const BbPattern *pattern)
{
    if (pattern->derived)
        g_string_append(out, "derived: other paths explain it");
}

bool bb_summary_append_toss(GString *out, const BbPattern *pattern, const BbPatternNode *node)
{
    double sure = bb_pattern_sure(pattern, node);
    if (sure < 0 || sure >= BB_PATTERN_SURE_LEAST)
        return false;
    bb_quantity_append_share(out, sure);
    g_string_append(out, " sure");
    return true;
}
