// SPDX-License-Identifier: Apache-2.0
// In: who calls whom. Out: the nodes among which parents of parents could come back to their start.
//
// Nodes that nobody calls, and nodes that call nobody, are peeled off until none is left.
#include "nesting/knots.h"

typedef struct {
    guint32 from, to;
} Edge;

// As they are, or turned round. The caller frees.
static Edge *copy_edges(const BbTallyEntry *entries, gsize count, bool turned)
{
    Edge *edges = g_new(Edge, count);
    for (gsize i = 0; i < count; i++) {
        BbTallyKey key = entries[i].key;
        edges[i] = turned ? (Edge){key.b, key.a} : (Edge){key.a, key.b};
    }
    return edges;
}

// start[n] .. start[n + 1]: the edges that leave n, in list. The caller frees both.
static guint32 *leaving(const Edge *edges, gsize n_edges, guint32 n_names, guint32 **list)
{
    guint32 *start = g_new0(guint32, (gsize)n_names + 2);
    *list = g_new(guint32, n_edges);
    for (gsize i = 0; i < n_edges; i++)
        start[edges[i].from + 2]++;
    for (guint32 n = 2; n <= n_names; n++)
        start[n] += start[n - 1];
    for (gsize i = 0; i < n_edges; i++)
        (*list)[start[edges[i].from + 1]++] = edges[i].to;
    return start;
}

// Takes out of knotted every node that no knotted node calls, again and again (Kahn 1962).
static void peel(const Edge *edges, gsize n_edges, guint32 n_names, bool *knotted)
{
    g_autofree guint32 *list = NULL;
    g_autofree guint32 *start = leaving(edges, n_edges, n_names, &list);
    g_autofree guint32 *entering = g_new0(guint32, n_names);
    for (gsize i = 0; i < n_edges; i++)
        entering[edges[i].to]++;
    g_autofree guint32 *loose = g_new(guint32, n_names);
    guint32 n_loose = 0;
    for (guint32 n = 0; n < n_names; n++)
        if (entering[n] == 0)
            loose[n_loose++] = n;
    for (guint32 done = 0; done < n_loose; done++) {
        guint32 n = loose[done];
        knotted[n] = false;
        for (guint32 i = start[n]; i < start[n + 1]; i++)
            if (--entering[list[i]] == 0)
                loose[n_loose++] = list[i];
    }
}

bool *bb_knots_find(const BbTallyEntry *edges, gsize n_edges, guint32 n_names)
{
    g_autofree Edge *forward = copy_edges(edges, n_edges, false);
    g_autofree Edge *backward = copy_edges(edges, n_edges, true);
    bool *knotted = g_new(bool, n_names);
    for (guint32 n = 0; n < n_names; n++)
        knotted[n] = true;
    peel(forward, n_edges, n_names, knotted);
    peel(backward, n_edges, n_names, knotted);
    return knotted;
}
