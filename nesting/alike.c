// SPDX-License-Identifier: Apache-2.0
// In: calls. Out: whether two nodes have the same neighbours, latencies and uses.
#include "nesting/alike.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/tally.h"
#include "nesting/alternatives.h"
#include "nesting/kolmogorov.h"
#include "nesting/times.h"

#define SAMPLE_MAX 1024u // latencies of a node

// Calls of one kind between two nodes.
typedef struct {
    guint32 node, other, op;
    guint32 klass; // of other; scratch of a comparison
    guint64 count;
} Edge;

typedef struct {
    GArray *in, *out;  // of Edge
    GArray *latencies; // of gint64, in order; of calls it makes where nobody calls it
    guint32 n_in, n_out;
    guint32 taken; // latencies that could have been in the sample so far
} Node;

struct BbAlike {
    const BbCall *calls;
    guint32 n_calls;
    guint32 n_names;
    Node **nodes; // by name; NULL for names that are none
    GArray *list; // of guint32
    BbAlternatives *alternatives;
};

static Node *node_of(BbAlike *alike, guint32 name)
{
    if (alike->nodes[name])
        return alike->nodes[name];
    Node *node = alike->nodes[name] = g_new0(Node, 1);
    node->in = g_array_new(FALSE, FALSE, sizeof(Edge));
    node->out = g_array_new(FALSE, FALSE, sizeof(Edge));
    node->latencies = g_array_new(FALSE, FALSE, sizeof(gint64));
    return node;
}

static int by_key(const void *a, const void *b)
{
    const BbTallyKey *x = &((const BbTallyEntry *)a)->key, *y = &((const BbTallyEntry *)b)->key;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    return (x->c > y->c) - (x->c < y->c);
}

static void collect_edges(BbAlike *alike)
{
    BbTally tally;
    gsize n = 0;
    bb_tally_init(&tally);
    for (guint32 i = 0; i < alike->n_calls; i++) {
        const BbCall *call = &alike->calls[i];
        ++*bb_tally_at(&tally, (BbTallyKey){call->caller, call->callee, call->op});
    }
    g_autofree BbTallyEntry *entries = bb_tally_entries(&tally, &n);
    if (n > 0)
        qsort(entries, n, sizeof *entries, by_key);
    for (gsize i = 0; i < n; i++) {
        BbTallyKey key = entries[i].key;
        Node *caller = node_of(alike, key.a), *callee = node_of(alike, key.b);
        Edge out = {key.a, key.b, key.c, 0, entries[i].count};
        Edge in = {key.b, key.a, key.c, 0, entries[i].count};
        g_array_append_val(caller->out, out);
        g_array_append_val(callee->in, in);
        caller->n_out += (guint32)entries[i].count;
        callee->n_in += (guint32)entries[i].count;
    }
    bb_tally_clear(&tally);
}

// Takes every so many, so that the sample is as long as it may be, and even in time.
static void sample_latency(Node *node, guint32 calls, gint64 from_ns, gint64 to_ns)
{
    guint32 stride = calls / SAMPLE_MAX + 1;
    gint64 latency_ns = bb_time_between(from_ns, to_ns);
    if (node->taken++ % stride == 0)
        g_array_append_val(node->latencies, latency_ns);
}

static void collect_latencies(BbAlike *alike)
{
    for (guint32 i = 0; i < alike->n_calls; i++) {
        const BbCall *call = &alike->calls[i];
        if (!bb_call_is_returned(call))
            continue;
        Node *caller = alike->nodes[call->caller], *callee = alike->nodes[call->callee];
        sample_latency(callee, callee->n_in, call->arrived_ns, call->replied_ns);
        if (caller->n_in == 0)
            sample_latency(caller, caller->n_out, call->call_ns, call->return_ns);
    }
    for (guint32 name = 0; name < alike->n_names; name++) {
        const Node *node = alike->nodes[name];
        if (!node)
            continue;
        g_array_sort(node->latencies, bb_times_compare);
        if (MAX(node->n_in, node->n_out) >= BB_ALIKE_CALLS_LEAST)
            g_array_append_val(alike->list, name);
    }
}

BbAlike *bb_alike_new(const BbCall *calls, guint32 n_calls, guint32 names)
{
    BbAlike *alike = g_new0(BbAlike, 1);
    alike->calls = calls;
    alike->n_calls = n_calls;
    alike->n_names = names;
    alike->nodes = g_new0(Node *, names);
    alike->list = g_array_new(FALSE, FALSE, sizeof(guint32));
    collect_edges(alike);
    collect_latencies(alike);
    alike->alternatives = bb_alternatives_new(calls, n_calls, names);
    return alike;
}

void bb_alike_free(BbAlike *alike)
{
    if (!alike)
        return;
    for (guint32 name = 0; name < alike->n_names; name++) {
        Node *node = alike->nodes[name];
        if (!node)
            continue;
        g_array_unref(node->in);
        g_array_unref(node->out);
        g_array_unref(node->latencies);
        g_free(node);
    }
    g_free(alike->nodes);
    g_array_unref(alike->list);
    bb_alternatives_free(alike->alternatives);
    g_free(alike);
}

const guint32 *bb_alike_nodes(const BbAlike *alike, guint *count)
{
    *count = alike->list->len;
    return (const guint32 *)(const void *)alike->list->data;
}

// ---- edges -------------------------------------------------------------------------------------

static int compare_ends(const Edge *x, const Edge *y)
{
    if (x->klass != y->klass)
        return x->klass < y->klass ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op);
}

static int by_end(const void *a, const void *b)
{
    return compare_ends(a, b);
}

static void classify(GArray *edges, const guint32 *klass)
{
    for (guint i = 0; i < edges->len; i++) {
        Edge *edge = &g_array_index(edges, Edge, i);
        edge->klass = klass[edge->other];
    }
    g_array_sort(edges, by_end);
}

// The number of edges at `from` and after it that end at the same place; their calls in *count.
static guint same_end(const GArray *edges, guint from, double *count)
{
    guint at = from;
    *count = 0;
    for (; at < edges->len; at++) {
        const Edge *edge = &g_array_index(edges, Edge, at);
        if (compare_ends(edge, &g_array_index(edges, Edge, from)) != 0)
            break;
        *count += (double)edge->count;
    }
    return at - from;
}

// Half the sum of the differences, of the places' calls by u_base and v_base; *places of them.
static double difference(const GArray *u, const GArray *v, double u_base, double v_base,
                         guint *places)
{
    double sum = 0;
    *places = 0;
    for (guint i = 0, j = 0; i < u->len || j < v->len; ++*places) {
        int order = i == u->len ? 1 : j == v->len ? -1 : 0;
        double u_count = 0, v_count = 0;
        if (order == 0)
            order = compare_ends(&g_array_index(u, Edge, i), &g_array_index(v, Edge, j));
        if (order <= 0)
            i += same_end(u, i, &u_count);
        if (order >= 0)
            j += same_end(v, j, &v_count);
        sum += fabs(u_count / u_base - v_count / v_base);
    }
    return sum / 2;
}

// What two samples of n and more from one distribution over so many places may differ by.
static double chance(guint places, double n)
{
    return 0.85 * sqrt(places / n);
}

// base: of which the calls are counted; in calls they are of one distribution, out calls may be
// several a served call, and count as shares of the larger number.
static bool similar(const GArray *u, const GArray *v, double u_base, double v_base)
{
    guint places = 0;
    double u_calls = 0, v_calls = 0;
    for (guint i = 0; i < u->len; i++)
        u_calls += (double)g_array_index(u, Edge, i).count;
    for (guint i = 0; i < v->len; i++)
        v_calls += (double)g_array_index(v, Edge, i).count;
    if (u_calls == 0 || v_calls == 0)
        return u_calls == v_calls;
    double most = MAX(u_calls / u_base, v_calls / v_base);
    return difference(u, v, u_base * most, v_base * most, &places) <=
           BB_ALIKE_EDGES_MAX + chance(places, MIN(u_calls, v_calls));
}

bool bb_alike_in_edges(BbAlike *alike, guint32 u, guint32 v, const guint32 *klass)
{
    const Node *x = alike->nodes[u], *y = alike->nodes[v];
    GArray *const edges[] = {x->in, x->out, y->in, y->out};
    for (gsize i = 0; i < G_N_ELEMENTS(edges); i++)
        classify(edges[i], klass);
    if ((x->n_in == 0) != (y->n_in == 0))
        return false;
    return similar(x->in, y->in, MAX(x->n_in, 1), MAX(y->n_in, 1)) &&
           similar(x->out, y->out, MAX(x->n_in ? x->n_in : x->n_out, 1),
                   MAX(y->n_in ? y->n_in : y->n_out, 1));
}

// ---- use ---------------------------------------------------------------------------------------

bool bb_alike_in_use(BbAlike *alike, guint32 u, guint32 v, const guint32 *klass)
{
    const Node *x = alike->nodes[u], *y = alike->nodes[v];
    return bb_kolmogorov_alike(x->latencies, y->latencies, BB_ALIKE_LATENCY_MAX) &&
           bb_alternatives_are(alike->alternatives, u, v, klass);
}
