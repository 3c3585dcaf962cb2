// SPDX-License-Identifier: Apache-2.0
// In: calls. Out: those to each node and by each node that may be parents and children.
#include "nesting/candidates.h"

#include "data/tally.h"
#include "nesting/knots.h"

// How many calls with return, be it one that the caller did not read, each caller made of each
// callee. The caller frees.
static BbTallyEntry *count_edges(const BbCall *calls, guint32 n_calls, gsize *count)
{
    BbTally edges;
    bb_tally_init(&edges);
    for (guint32 i = 0; i < n_calls; i++)
        if (bb_call_is_returned(&calls[i]) || bb_call_is_late(&calls[i]))
            ++*bb_tally_at(&edges, (BbTallyKey){calls[i].caller, calls[i].callee, 0});
    BbTallyEntry *entries = bb_tally_entries(&edges, count);
    bb_tally_clear(&edges);
    return entries;
}

static void group(BbCandidates *candidates, guint32 n_calls, const bool *hanging,
                  const BbTallyEntry *edges, gsize n_edges)
{
    const BbCall *calls = candidates->calls;
    BbGroups *to = &candidates->to, *by = &candidates->by;
    *to = bb_groups_begin(candidates->n_names);
    *by = bb_groups_begin(candidates->n_names);
    for (gsize i = 0; i < n_edges; i++) {
        bb_groups_count(by, edges[i].key.a, (guint32)edges[i].count);
        bb_groups_count(to, edges[i].key.b, (guint32)edges[i].count);
    }
    for (guint32 i = 0; hanging && i < n_calls; i++)
        if (hanging[i] && !bb_call_is_late(&calls[i]))
            bb_groups_count(by, calls[i].caller, 1);
    bb_groups_open(to);
    bb_groups_open(by);
    for (guint32 i = 0; i < n_calls; i++) {
        bool is_returned = bb_call_is_returned(&calls[i]);
        if (is_returned || bb_call_is_late(&calls[i]))
            bb_groups_put(to, calls[i].callee, i);
        if (is_returned || (hanging && hanging[i]))
            bb_groups_put(by, calls[i].caller, i);
    }
}

BbCandidates *bb_candidates_new(const BbCall *calls, guint32 n_calls, guint32 n_names,
                                gint64 skew_window_ns, const bool *hanging, const gint64 *begun_ns)
{
    BbCandidates *candidates = g_new0(BbCandidates, 1);
    candidates->calls = calls;
    candidates->n_names = n_names;
    candidates->window_ns = MAX(skew_window_ns, 0);
    candidates->begun_ns = begun_ns;
    gsize n_edges;
    g_autofree BbTallyEntry *edges = count_edges(calls, n_calls, &n_edges);
    group(candidates, n_calls, hanging, edges, n_edges);
    candidates->knotted = bb_knots_find(edges, n_edges, n_names);
    for (guint32 n = 0; n < n_names; n++)
        candidates->any_knotted |= candidates->knotted[n];
    return candidates;
}

void bb_candidates_free(BbCandidates *candidates)
{
    if (!candidates)
        return;
    bb_groups_clear(&candidates->to);
    bb_groups_clear(&candidates->by);
    g_free(candidates->knotted);
    g_free(candidates);
}

bool bb_candidates_has(const BbCandidates *candidates, guint32 node)
{
    return bb_groups_size(&candidates->to, node) > 0 && bb_groups_size(&candidates->by, node) > 0;
}

bool bb_candidates_is_knotted(const BbCandidates *candidates, const BbCall *call)
{
    return candidates->knotted[call->caller] && candidates->knotted[call->callee];
}
