// SPDX-License-Identifier: Apache-2.0
// In: calls and their parents. Out: which place each has among its tree's calls to the same node,
// and, where the node waits for all of them, when the one before it was answered.
#include "nesting/joins.h"

#include <stdlib.h>

#define SHARED_LEAST 0.2 // of a join's calls are not alone in their tree
#define LAST_LEAST 0.9   // of what a node makes that waits is made by the last of these
#define AGAINST 2        // calls made by others are assumed: a few calls show nothing

typedef struct {
    guint32 node, root, call;
    gint64 at;
} Visit;

// The root of each call's tree. Parents may stand after their children in the array.
static guint32 *find_roots(const BbPaths *paths)
{
    guint32 *root = g_new(guint32, paths->n_calls);
    g_autoptr(GArray) walk = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 i = 0; i < paths->n_calls; i++)
        root[i] = BB_CALL_NO_PARENT; // not known yet
    for (guint32 i = 0; i < paths->n_calls; i++) {
        guint32 call = i;
        while (root[call] == BB_CALL_NO_PARENT && paths->parent[call] != BB_CALL_NO_PARENT) {
            g_array_append_val(walk, call);
            call = paths->parent[call];
        }
        guint32 top = root[call] == BB_CALL_NO_PARENT ? call : root[call];
        root[call] = top;
        for (guint k = 0; k < walk->len; k++)
            root[g_array_index(walk, guint32, k)] = top;
        g_array_set_size(walk, 0);
    }
    return root;
}

static int by_visit(const void *a, const void *b)
{
    const Visit *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->root != y->root)
        return x->root < y->root ? -1 : 1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->call > y->call) - (x->call < y->call);
}

static guint32 end_of_tree(const Visit *visits, guint32 n, guint32 from)
{
    guint32 to = from;
    while (to < n && visits[to].root == visits[from].root)
        to++;
    return to;
}

// The calls to one node, by tree.
static bool name_places(const Visit *visits, guint32 n, guint8 *place, gint64 *ready_ns)
{
    guint32 shared = 0;
    for (guint32 i = 0, j; i < n; i = j) {
        j = end_of_tree(visits, n, i);
        shared += j - i > 1 ? j - i : 0;
    }
    if (shared < SHARED_LEAST * n)
        return false;
    for (guint32 i = 0, j; i < n; i = j) {
        j = end_of_tree(visits, n, i);
        for (guint32 k = i; k < j; k++) {
            place[visits[k].call] = (guint8)(j - i == 1 ? 4 : MIN(j - k, 3));
            if (k > i)
                ready_ns[visits[k].call] = visits[k - 1].at;
        }
    }
    return true;
}

// A node that waits makes its calls when all of a tree's calls to it are there, in the one that
// returns last. Where others make calls as well each acts for itself, and none is ready later than
// it arrives.
static void forget_fan_outs(const BbPaths *paths, const guint8 *place, gint64 *ready_ns)
{
    guint32 n_nodes = 0;
    for (guint32 i = 0; i < paths->n_calls; i++)
        n_nodes = MAX(n_nodes, paths->calls[i].callee + 1);
    g_autofree guint32 *made = g_new0(guint32, n_nodes), *by_last = g_new0(guint32, n_nodes);
    for (guint32 i = 0; i < paths->n_calls; i++) {
        guint32 parent = paths->parent[i];
        if (parent == BB_CALL_NO_PARENT || place[parent] == 0 || place[parent] == 4)
            continue;
        guint32 node = paths->calls[parent].callee;
        made[node]++;
        by_last[node] += place[parent] == 1 && paths->calls[i].call_ns >= ready_ns[parent];
    }
    for (guint32 i = 0; i < paths->n_calls; i++) {
        guint32 node = paths->calls[i].callee;
        if (by_last[node] < LAST_LEAST * (made[node] + AGAINST))
            ready_ns[i] = G_MININT64;
    }
}

guint8 *bb_joins_find(const BbPaths *paths, gint64 **ready_ns)
{
    g_autofree guint8 *place = g_new0(guint8, paths->n_calls);
    g_autofree gint64 *ready = g_new(gint64, paths->n_calls);
    g_autofree guint32 *root = find_roots(paths);
    g_autofree Visit *visits = g_new(Visit, paths->n_calls);
    guint32 n = 0;
    bool any = false;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        const BbCall *call = &paths->calls[i];
        ready[i] = G_MININT64;
        if (bb_call_is_returned(call))
            visits[n++] = (Visit){call->callee, root[i], i, call->replied_ns};
    }
    if (n > 0)
        qsort(visits, n, sizeof *visits, by_visit);
    for (guint32 i = 0, j; i < n; i = j) {
        for (j = i; j < n && visits[j].node == visits[i].node; j++)
            ;
        any |= name_places(visits + i, j - i, place, ready);
    }
    if (any)
        forget_fan_outs(paths, place, ready);
    *ready_ns = any ? g_steal_pointer(&ready) : NULL;
    return any ? g_steal_pointer(&place) : NULL;
}
