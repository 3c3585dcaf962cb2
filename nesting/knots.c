// SPDX-License-Identifier: Apache-2.0
// In: calls. Out: the nodes among which parents of parents could come back to their start.
//
// Nodes that nobody calls, and nodes that call nobody, are peeled off until none is left.
#include "nesting/knots.h"

#include "data/tally.h"

typedef struct {
    guint32 from, to;
} Edge;

static GArray *collect_edges(const BbCall *calls, guint32 n_calls)
{
    GArray *edges = g_array_new(FALSE, FALSE, sizeof(Edge));
    BbTally seen;
    bb_tally_init(&seen);
    for (guint32 i = 0; i < n_calls; i++) {
        Edge edge = {calls[i].caller, calls[i].callee};
        if (!bb_call_is_returned(&calls[i]))
            continue;
        guint64 *count = bb_tally_at(&seen, (BbTallyKey){edge.from, edge.to, 0});
        if ((*count)++ == 0)
            g_array_append_val(edges, edge);
    }
    bb_tally_clear(&seen);
    return edges;
}

static void turn_round(GArray *edges)
{
    for (guint i = 0; i < edges->len; i++) {
        Edge *edge = &g_array_index(edges, Edge, i);
        *edge = (Edge){edge->to, edge->from};
    }
}

// start[n] .. start[n + 1]: the edges that leave n, in list. The caller frees both.
static guint32 *leaving(const GArray *edges, guint32 n_names, guint32 **list)
{
    guint32 *start = g_new0(guint32, (gsize)n_names + 2);
    *list = g_new(guint32, edges->len);
    for (guint i = 0; i < edges->len; i++)
        start[g_array_index(edges, Edge, i).from + 2]++;
    for (guint32 n = 2; n <= n_names; n++)
        start[n] += start[n - 1];
    for (guint i = 0; i < edges->len; i++) {
        const Edge *edge = &g_array_index(edges, Edge, i);
        (*list)[start[edge->from + 1]++] = edge->to;
    }
    return start;
}

// Takes out of knotted every node that no knotted node calls, again and again (Kahn 1962).
static void peel(const GArray *edges, guint32 n_names, bool *knotted)
{
    g_autofree guint32 *list = NULL;
    g_autofree guint32 *start = leaving(edges, n_names, &list);
    g_autofree guint32 *entering = g_new0(guint32, n_names);
    for (guint i = 0; i < edges->len; i++)
        entering[g_array_index(edges, Edge, i).to]++;
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

bool *bb_knots_find(const BbCall *calls, guint32 n_calls, guint32 n_names)
{
    g_autoptr(GArray) edges = collect_edges(calls, n_calls);
    bool *knotted = g_new(bool, n_names);
    for (guint32 n = 0; n < n_names; n++)
        knotted[n] = true;
    peel(edges, n_names, knotted);
    turn_round(edges);
    peel(edges, n_names, knotted);
    return knotted;
}
