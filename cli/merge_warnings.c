// SPDX-License-Identifier: Apache-2.0
// In: what a merge found. Out: warnings of what may be wrong in the trace, with --quiet too, and
// their counters.
#include "cli/merge_report.h"

#include "cli/command.h"
#include "merge/repeats.h"

#define WARNINGS_SHOWN 5u // of each kind

static void warn_of_repeat(const BbMergeFindings *found, const BbRepeat *repeat)
{
    char **paths = found->options->paths;
    g_autofree char *twice = bb_number(repeat->twice);
    bb_say("warning: about %s messages of %s stand twice: %s and %s have them %.6f s apart, by the "
           "clock of one observer and by another (that a merge has corrected, or that of another "
           "host): give each observer's messages once",
           twice, bb_names_text(found->names, repeat->observer), paths[repeat->input],
           paths[repeat->other], (double)repeat->apart_ns / 1e9);
}

static void warn_of_repeats(const BbMergeFindings *found)
{
    g_autoptr(GArray) repeats = bb_repeats_list(bb_join_repeats(found->join), found->names);
    for (guint i = 0; i < MIN(repeats->len, WARNINGS_SHOWN); i++)
        warn_of_repeat(found, &g_array_index(repeats, BbRepeat, i));
    if (repeats->len > WARNINGS_SHOWN)
        bb_say("and messages of %u more observers stand twice", repeats->len - WARNINGS_SHOWN);
}

// Joined connections of which nothing tells which names are those of which end.
static GArray *list_unsure(const BbMergeFindings *found)
{
    bool joined = found->options->nat == BB_MERGE_NAT_JOIN;
    GArray *edges =
        joined ? bb_nat_edges(found->nat) : g_array_new(FALSE, FALSE, sizeof(BbNatEdge));
    for (guint i = edges->len; i-- > 0;) {
        const BbNatEdge *edge = &g_array_index(edges, BbNatEdge, i);
        if (!edge->noise || edge->apart == edge->connections)
            g_array_remove_index(edges, i);
    }
    return edges;
}

static void warn_of_sides(const BbMergeFindings *found)
{
    g_autoptr(GArray) edges = list_unsure(found);
    for (guint i = 0; i < MIN(edges->len, WARNINGS_SHOWN); i++) {
        const BbNatEdge *edge = &g_array_index(edges, BbNatEdge, i);
        bb_say(
            "warning: connections of '%s' with '%s' are the same as of '%s' with '%s', but "
            "which are nearer to whom is within the noise of their times: nodes may have the "
            "names of the wrong side (--alias can give both sides one)",
            bb_names_text(found->names, edge->near[0]), bb_names_text(found->names, edge->near[1]),
            bb_names_text(found->names, edge->far[0]), bb_names_text(found->names, edge->far[1]));
    }
}

void bb_merge_warn(const BbMergeFindings *found)
{
    warn_of_repeats(found);
    warn_of_sides(found);
}

guint64 bb_merge_repeated(const BbMergeFindings *found)
{
    g_autoptr(GArray) repeats = bb_repeats_list(bb_join_repeats(found->join), found->names);
    guint64 twice = 0;
    for (guint i = 0; i < repeats->len; i++)
        twice += g_array_index(repeats, BbRepeat, i).twice;
    return twice;
}

guint64 bb_merge_unsure_sides(const BbMergeFindings *found)
{
    g_autoptr(GArray) edges = list_unsure(found);
    guint64 unsure = 0;
    for (guint i = 0; i < edges->len; i++) {
        const BbNatEdge *edge = &g_array_index(edges, BbNatEdge, i);
        unsure += edge->connections - edge->apart;
    }
    return unsure;
}
