// SPDX-License-Identifier: Apache-2.0
// In: messages by edge. Out: messages by node, in and out, those of rare edges together.
#include "convolution/streams.h"

#include <stdlib.h>

// A direction of traffic: the messages that nodes get, or those that they send.
typedef struct {
    const BbTraffic *traffic;
    const gint64 *ns;       // edge after edge
    const guint32 *message; // likewise
    bool in;
    guint rare;
    GPtrArray *owned;
} Direction;

static guint32 node_of(const Direction *direction, const BbEdge *edge)
{
    return direction->in ? edge->receiver : edge->sender;
}

static gint compare_nodes(gconstpointer left, gconstpointer right, gpointer user)
{
    const Direction *direction = user;
    const BbEdge *edges = direction->traffic->edges;
    guint32 a = *(const guint32 *)left, b = *(const guint32 *)right;
    guint32 node_a = node_of(direction, &edges[a]), node_b = node_of(direction, &edges[b]);
    return node_a != node_b ? (node_a < node_b ? -1 : 1) : (a < b ? -1 : a > b);
}

typedef struct {
    gint64 ns;
    guint32 message;
} Stamp;

static gint compare_stamps(gconstpointer left, gconstpointer right)
{
    const Stamp *a = left, *b = right;
    if (a->ns != b->ns)
        return a->ns < b->ns ? -1 : 1;
    return a->message < b->message ? -1 : a->message > b->message;
}

static BbStream stream_of_edge(const Direction *direction, const BbEdge *edge)
{
    return (BbStream){
        .node = node_of(direction, edge),
        .count = edge->count,
        .ns = direction->ns + edge->first,
        .message = direction->message + edge->first,
    };
}

// The messages of some edges of one node as one stream.
static BbStream pool_edges(const Direction *direction, const guint32 *rare, guint32 n_rare)
{
    const BbEdge *edges = direction->traffic->edges;
    g_autoptr(GArray) stamps = g_array_new(FALSE, FALSE, sizeof(Stamp));
    for (guint32 i = 0; i < n_rare; i++)
        for (guint32 k = 0; k < edges[rare[i]].count; k++) {
            guint32 at = edges[rare[i]].first + k;
            Stamp stamp = {direction->ns[at], direction->message[at]};
            g_array_append_val(stamps, stamp);
        }
    g_array_sort(stamps, compare_stamps);
    gint64 *ns = g_new(gint64, stamps->len);
    guint32 *message = g_new(guint32, stamps->len);
    for (guint i = 0; i < stamps->len; i++) {
        ns[i] = g_array_index(stamps, Stamp, i).ns;
        message[i] = g_array_index(stamps, Stamp, i).message;
    }
    g_ptr_array_add(direction->owned, ns);
    g_ptr_array_add(direction->owned, message);
    return (BbStream){node_of(direction, &edges[rare[0]]), n_rare > 1, stamps->len, ns, message};
}

static gint compare_counts(gconstpointer left, gconstpointer right)
{
    guint32 a = *(const guint32 *)left, b = *(const guint32 *)right;
    return a > b ? -1 : a < b;
}

// How many messages an edge of a node must have for a stream of its own.
static guint32 count_least(const Direction *direction, const guint32 *edges, guint32 n)
{
    if (n <= BB_STREAMS_MAX)
        return direction->rare;
    g_autofree guint32 *counts = g_new(guint32, n);
    for (guint32 i = 0; i < n; i++)
        counts[i] = direction->traffic->edges[edges[i]].count;
    qsort(counts, n, sizeof *counts, compare_counts);
    return MAX(direction->rare, counts[BB_STREAMS_MAX] + 1);
}

// The streams of one node, which has these edges.
static void add_node(const Direction *direction, const guint32 *edges, guint32 n, GArray *streams)
{
    g_autoptr(GArray) rare = g_array_new(FALSE, FALSE, sizeof(guint32));
    guint32 least = count_least(direction, edges, n);
    for (guint32 i = 0; i < n; i++) {
        const BbEdge *edge = &direction->traffic->edges[edges[i]];
        BbStream stream = stream_of_edge(direction, edge);
        if (edge->count < least)
            g_array_append_val(rare, edges[i]);
        else
            g_array_append_val(streams, stream);
    }
    if (rare->len > 0) {
        BbStream stream = pool_edges(direction, (guint32 *)(gpointer)rare->data, rare->len);
        g_array_append_val(streams, stream);
    }
}

static BbStream *make_streams(const Direction *direction, guint32 *n_streams)
{
    const BbTraffic *traffic = direction->traffic;
    g_autoptr(GArray) streams = g_array_new(FALSE, FALSE, sizeof(BbStream));
    g_autofree guint32 *sorted = g_new(guint32, MAX(1, traffic->n_edges));
    for (guint32 e = 0; e < traffic->n_edges; e++)
        sorted[e] = e;
    g_qsort_with_data(sorted, (gint)traffic->n_edges, sizeof *sorted, compare_nodes,
                      (gpointer)direction);
    for (guint32 first = 0, end; first < traffic->n_edges; first = end) {
        guint32 node = node_of(direction, &traffic->edges[sorted[first]]);
        for (end = first + 1; end < traffic->n_edges; end++)
            if (node_of(direction, &traffic->edges[sorted[end]]) != node)
                break;
        if (!direction->in || !bb_traffic_is_client(traffic, node))
            add_node(direction, sorted + first, end - first, streams);
    }
    *n_streams = streams->len;
    return (BbStream *)(gpointer)g_array_steal(streams, NULL);
}

BbStreams *bb_streams_new(const BbTraffic *traffic, guint rare)
{
    BbStreams *streams = g_new0(BbStreams, 1);
    streams->owned = g_ptr_array_new_with_free_func(g_free);
    Direction in = {traffic, traffic->arrived_ns, traffic->arrived, true, rare, streams->owned};
    Direction out = {traffic, traffic->sent_ns, traffic->by_edge, false, rare, streams->owned};
    streams->in = make_streams(&in, &streams->n_in);
    streams->out = make_streams(&out, &streams->n_out);
    return streams;
}

void bb_streams_free(BbStreams *streams)
{
    if (!streams)
        return;
    g_free(streams->in);
    g_free(streams->out);
    g_ptr_array_unref(streams->owned);
    g_free(streams);
}

guint32 bb_streams_into(const BbStreams *streams, guint32 node, guint32 *first)
{
    guint32 low = 0, high = streams->n_in;
    while (low < high) {
        guint32 middle = low + (high - low) / 2;
        if (streams->in[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    *first = low;
    while (high < streams->n_in && streams->in[high].node == node)
        high++;
    return high - low;
}
