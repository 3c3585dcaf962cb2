// SPDX-License-Identifier: Apache-2.0
// In: an inference and a selection of its patterns. Out: sentences on how far they go.
#include "viz/summary.h"

#include "data/quantity.h"
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

void bb_summary_append_trace(GString *out, const BbPatterns *patterns)
{
    const BbFacts *facts = &patterns->facts;
    g_string_append_printf(out, "bbpaths %s, ", patterns->algorithm);
    if (facts->start_ns != BB_TIME_NONE) {
        bb_quantity_append_time(out, facts->start_ns);
        g_string_append(out, ", ");
    }
    bb_quantity_append_duration(out, bb_summary_duration(facts));
    g_string_append(out, ", ");
    bb_quantity_append_counted(out, facts->messages, "message");
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

static const char *const sort_names[] = {
    [BB_SORT_TOTAL] = "total latency",
    [BB_SORT_COUNT] = "number of instances",
    [BB_SORT_MEAN] = "mean latency",
};

// Facts are of all of the trace, patterns of the requests that were asked for.
static void append_none(GString *out, const BbFacts *facts)
{
    g_string_append(out, facts->calls > facts->calls_unreturned
                             ? "No patterns: no request meets all conditions"
                             : "No patterns: no call of the trace has a return");
}

void bb_summary_append_shown(GString *out, const BbPatterns *patterns, const BbRanking *ranking)
{
    if (ranking->n_patterns == 0) {
        append_none(out, &patterns->facts);
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
    g_string_append_printf(out, " by %s", sort_names[ranking->options.sort]);
    if (ranking->options.min_count > 1) {
        g_string_append(out, ", with ");
        bb_quantity_append_count(out, ranking->options.min_count);
        g_string_append(out, " instances or more");
    }
}

bool bb_summary_append_left_out(GString *out, const BbRanking *ranking)
{
    if (ranking->n_shown == ranking->n_patterns)
        return false;
    g_string_append(out, "Left out: ");
    bb_quantity_append_counted(out, ranking->n_patterns - ranking->n_shown, "pattern");
    g_string_append(out, ", ");
    bb_quantity_append_counted(out, ranking->instances - ranking->instances_shown, "instance");
    g_string_append(out, ", ");
    bb_quantity_append_share(out, bb_quantity_share(ranking->latency_ns - ranking->latency_shown_ns,
                                                    ranking->latency_ns));
    g_string_append(out, " of the total latency");
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
    g_string_append(out, ", about ");
    bb_quantity_append_share(out, wrong);
    g_string_append(out, " of them wrong");
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
