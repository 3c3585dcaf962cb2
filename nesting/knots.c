// SPDX-License-Identifier: Apache-2.0
// In: who calls whom. Out: the nodes among which parents of parents could come back to their start.
//
// Nodes that nobody calls, and nodes that call nobody, are peeled off until none is left.
#include "nesting/knots.h"

#include "data/groups.h"

// Whom each node calls, or who calls it.
static BbGroups neighbours(const BbTallyEntry *edges, gsize n_edges, guint32 n_names, bool callers)
{
    BbGroups of = bb_groups_begin(n_names);
    for (gsize i = 0; i < n_edges; i++)
        bb_groups_count(&of, callers ? edges[i].key.b : edges[i].key.a, 1);
    bb_groups_open(&of);
    for (gsize i = 0; i < n_edges; i++) {
        BbTallyKey key = edges[i].key;
        bb_groups_put(&of, callers ? key.b : key.a, callers ? key.a : key.b);
    }
    return of;
}

// Takes out of knotted every node that none of those before it is left of, again and again
// (Kahn 1962).
static void peel(const BbGroups *before, const BbGroups *after, guint32 n_names, bool *knotted)
{
    g_autofree guint32 *entering = g_new(guint32, n_names);
    for (guint32 n = 0; n < n_names; n++)
        entering[n] = bb_groups_size(before, n);
    g_autofree guint32 *loose = g_new(guint32, n_names);
    guint32 n_loose = 0;
    for (guint32 n = 0; n < n_names; n++)
        if (entering[n] == 0)
            loose[n_loose++] = n;
    for (guint32 done = 0; done < n_loose; done++) {
        guint32 n = loose[done];
        knotted[n] = false;
        const guint32 *next = bb_groups_at(after, n);
        for (guint32 i = 0; i < bb_groups_size(after, n); i++)
            if (--entering[next[i]] == 0)
                loose[n_loose++] = next[i];
    }
}

bool *bb_knots_find(const BbTallyEntry *edges, gsize n_edges, guint32 n_names)
{
    g_auto(BbGroups) callees = neighbours(edges, n_edges, n_names, false);
    g_auto(BbGroups) callers = neighbours(edges, n_edges, n_names, true);
    bool *knotted = g_new(bool, n_names);
    for (guint32 n = 0; n < n_names; n++)
        knotted[n] = true;
    peel(&callers, &callees, n_names, knotted);
    peel(&callees, &callers, n_names, knotted);
    return knotted;
}
