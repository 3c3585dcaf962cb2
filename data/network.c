// SPDX-License-Identifier: Apache-2.0
// In: what was seen of the TCP between two nodes. Out: the same for each edge.
#include "data/network.h"

#include "data/keys.h"

#include <stddef.h>

struct BbNetwork {
    GArray *edges;     // of BbNetworkEdge
    GHashTable *table; // client << 32 | server -> 1 + place
};

static const struct {
    const char *name;
    gsize at;
} fields[BB_NETWORK_FIELDS] = {
    {"connections", offsetof(BbNetworkEdge, connections)},
    {"refused", offsetof(BbNetworkEdge, refused)},
    {"unanswered", offsetof(BbNetworkEdge, unanswered)},
    {"resets", offsetof(BbNetworkEdge, resets)},
    {"packets", offsetof(BbNetworkEdge, packets)},
    {"retransmitted", offsetof(BbNetworkEdge, retransmitted)},
    {"reordered", offsetof(BbNetworkEdge, reordered)},
    {"zero_windows", offsetof(BbNetworkEdge, zero_windows)},
    {"to_server", offsetof(BbNetworkEdge, to_server.count)},
    {"to_server_sum_ns", offsetof(BbNetworkEdge, to_server.sum_ns)},
    {"to_server_least_ns", offsetof(BbNetworkEdge, to_server.least_ns)},
    {"to_server_most_ns", offsetof(BbNetworkEdge, to_server.most_ns)},
    {"to_client", offsetof(BbNetworkEdge, to_client.count)},
    {"to_client_sum_ns", offsetof(BbNetworkEdge, to_client.sum_ns)},
    {"to_client_least_ns", offsetof(BbNetworkEdge, to_client.least_ns)},
    {"to_client_most_ns", offsetof(BbNetworkEdge, to_client.most_ns)},
};

const char *bb_network_field_name(guint field)
{
    g_return_val_if_fail(field < BB_NETWORK_FIELDS, NULL);
    return fields[field].name;
}

guint64 bb_network_field(const BbNetworkEdge *edge, guint field)
{
    guint64 value;
    g_return_val_if_fail(field < BB_NETWORK_FIELDS, 0);
    memcpy(&value, (const char *)edge + fields[field].at, sizeof value);
    return value;
}

void bb_network_set_field(BbNetworkEdge *edge, guint field, guint64 value)
{
    g_return_if_fail(field < BB_NETWORK_FIELDS);
    memcpy((char *)edge + fields[field].at, &value, sizeof value);
}

BbNetwork *bb_network_new(void)
{
    BbNetwork *network = g_new(BbNetwork, 1);
    network->edges = g_array_new(FALSE, FALSE, sizeof(BbNetworkEdge));
    network->table = g_hash_table_new_full(bb_pair_key_hash, g_int64_equal, g_free, NULL);
    return network;
}

void bb_network_free(BbNetwork *network)
{
    if (!network)
        return;
    g_array_unref(network->edges);
    g_hash_table_unref(network->table);
    g_free(network);
}

static gint64 key_of(guint32 client, guint32 server)
{
    return (gint64)((guint64)client << 32 | server);
}

static guint place_of(const BbNetwork *network, guint32 client, guint32 server)
{
    gint64 key = key_of(client, server);
    return GPOINTER_TO_UINT(g_hash_table_lookup(network->table, &key));
}

// The edge of those nodes, made where there is none.
static BbNetworkEdge *edge_of(BbNetwork *network, guint32 client, guint32 server)
{
    guint place = place_of(network, client, server);
    if (!place) {
        BbNetworkEdge edge = {.client = client, .server = server};
        gint64 key = key_of(client, server);
        g_array_append_val(network->edges, edge);
        place = network->edges->len;
        g_hash_table_insert(network->table, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(place));
    }
    return &g_array_index(network->edges, BbNetworkEdge, place - 1);
}

static void add_to(guint64 *sum, guint64 value)
{
    *sum = value > G_MAXUINT64 - *sum ? G_MAXUINT64 : *sum + value;
}

static void add_trip(BbRoundTrip *sum, const BbRoundTrip *trip)
{
    if (!trip->count)
        return;
    sum->least_ns = sum->count ? MIN(sum->least_ns, trip->least_ns) : trip->least_ns;
    sum->most_ns = MAX(sum->most_ns, trip->most_ns);
    add_to(&sum->count, trip->count);
    add_to(&sum->sum_ns, trip->sum_ns);
}

void bb_network_add(BbNetwork *network, const BbNetworkEdge *edge)
{
    BbNetworkEdge *sum = edge_of(network, edge->client, edge->server);
    add_to(&sum->connections, edge->connections);
    add_to(&sum->refused, edge->refused);
    add_to(&sum->unanswered, edge->unanswered);
    add_to(&sum->resets, edge->resets);
    add_to(&sum->packets, edge->packets);
    add_to(&sum->retransmitted, edge->retransmitted);
    add_to(&sum->reordered, edge->reordered);
    add_to(&sum->zero_windows, edge->zero_windows);
    add_trip(&sum->to_server, &edge->to_server);
    add_trip(&sum->to_client, &edge->to_client);
}

void bb_network_merge(BbNetwork *network, const BbNetwork *other)
{
    for (guint i = 0; i < bb_network_count(other); i++)
        bb_network_add(network, bb_network_at(other, i));
}

static void take_from(guint64 *value, guint64 before)
{
    *value -= MIN(*value, before);
}

static void take_trip(BbRoundTrip *trip, const BbRoundTrip *before)
{
    take_from(&trip->count, before->count);
    take_from(&trip->sum_ns, before->sum_ns);
    if (!trip->count)
        *trip = (BbRoundTrip){0};
}

static void take_edge(BbNetworkEdge *edge, const BbNetworkEdge *before)
{
    take_from(&edge->connections, before->connections);
    take_from(&edge->refused, before->refused);
    take_from(&edge->unanswered, before->unanswered);
    take_from(&edge->resets, before->resets);
    take_from(&edge->packets, before->packets);
    take_from(&edge->retransmitted, before->retransmitted);
    take_from(&edge->reordered, before->reordered);
    take_from(&edge->zero_windows, before->zero_windows);
    take_trip(&edge->to_server, &before->to_server);
    take_trip(&edge->to_client, &before->to_client);
}

static bool is_nothing(const BbNetworkEdge *edge)
{
    for (guint field = 0; field < BB_NETWORK_FIELDS; field++)
        if (bb_network_field(edge, field))
            return false;
    return true;
}

BbNetwork *bb_network_since(const BbNetwork *now, const BbNetwork *then)
{
    BbNetwork *grown = bb_network_new();
    for (guint i = 0; now && i < bb_network_count(now); i++) {
        BbNetworkEdge edge = *bb_network_at(now, i);
        const BbNetworkEdge *before = NULL;
        if (then)
            before = bb_network_find(then, edge.client, edge.server);
        if (before)
            take_edge(&edge, before);
        if (!before || !is_nothing(&edge))
            bb_network_add(grown, &edge);
    }
    return grown;
}

const BbNetworkEdge *bb_network_find(const BbNetwork *network, guint32 client, guint32 server)
{
    guint place = place_of(network, client, server);
    return place ? &g_array_index(network->edges, BbNetworkEdge, place - 1) : NULL;
}

guint bb_network_count(const BbNetwork *network)
{
    return network->edges->len;
}

const BbNetworkEdge *bb_network_at(const BbNetwork *network, guint index)
{
    return &g_array_index(network->edges, BbNetworkEdge, index);
}

void bb_round_trip_note(BbRoundTrip *trip, gint64 ns)
{
    guint64 value = (guint64)MAX(ns, 0);
    add_trip(trip, &(BbRoundTrip){1, value, value, value});
}
