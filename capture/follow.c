// SPDX-License-Identifier: Apache-2.0
// In: packets. Out: which of them belong to the entrances, and a set of hosts that grows.
#include "capture/follow.h"

#include "data/mix.h"

// Not random: nothing that is seen depends on the order of a table. Both tables are small and
// their growth is bounded.
#define SEED G_GUINT64_CONSTANT(0x5fe3c1a9d2740b6d)

#define PORT_SYSTEM 1024u
#define PORT_OF_CLIENTS 32768u

typedef struct {
    BbAddress address;
    guint hop, index; // index: of the first of nodes with this address
    bool any_port;    // an entrance whatever the port
} Host;

typedef struct {
    BbAddress address;
    guint16 port;
    bool is_entrance;
} Server;

struct BbFollow {
    BbLoss *loss;
    guint hops;
    GArray *nodes;       // of BbFollowNode
    GArray *shared;      // of BbFollowEnd
    GHashTable *hosts;   // of Host by address: all that are followed
    GHashTable *servers; // of Server, which is its own key
};

static const guint16 shared_ports[] = {53, 123, 514, 853};

// ---- tables -------------------------------------------------------------------------------------

static guint hash_address(gconstpointer key)
{
    return (guint)(bb_mix_bytes(SEED, key, sizeof(BbAddress)) >> 32);
}

static gboolean is_same_address(gconstpointer a, gconstpointer b)
{
    return bb_address_equal(a, b);
}

static guint hash_server(gconstpointer key)
{
    const Server *server = key;
    guint64 hash = bb_mix_bytes(SEED, server->address.bytes, sizeof server->address.bytes);
    return (guint)(bb_mix(hash, server->port) >> 32);
}

static gboolean is_same_server(gconstpointer a, gconstpointer b)
{
    const Server *x = a, *y = b;
    return x->port == y->port && bb_address_equal(&x->address, &y->address);
}

static const Server *find_server(const BbFollow *follow, const BbAddress *address, guint16 port)
{
    const Server key = {.address = *address, .port = port};
    return g_hash_table_lookup(follow->servers, &key);
}

static Server *learn_server(BbFollow *follow, const BbAddress *address, guint16 port)
{
    const Server key = {.address = *address, .port = port};
    Server *server = g_hash_table_lookup(follow->servers, &key);
    if (server || g_hash_table_size(follow->servers) >= BB_FOLLOW_SERVERS)
        return server;
    server = g_memdup2(&key, sizeof key);
    g_hash_table_add(follow->servers, server);
    return server;
}

static Host *add_host(BbFollow *follow, const BbFollowNode *node)
{
    Host *host = g_hash_table_lookup(follow->hosts, &node->address);
    if (!host) {
        host = g_new0(Host, 1);
        host->address = node->address;
        host->hop = node->hop;
        host->index = follow->nodes->len;
        g_hash_table_insert(follow->hosts, &host->address, host);
    }
    g_array_append_val(follow->nodes, *node);
    return host;
}

// ---- the beginning ------------------------------------------------------------------------------

static bool is_named(const BbFollow *follow, const BbFollowEnd *end)
{
    for (guint i = 0; i < follow->nodes->len; i++) {
        const BbFollowNode *node = &g_array_index(follow->nodes, BbFollowNode, i);
        if (node->port == end->port && bb_address_equal(&node->address, &end->address))
            return true;
    }
    return false;
}

static void add_entrance(BbFollow *follow, const BbFollowEnd *end)
{
    const BbFollowNode node = {.address = end->address, .port = end->port, .since_ns = G_MININT64};
    if (is_named(follow, end) || follow->nodes->len >= BB_FOLLOW_NODES)
        return;
    Host *host = add_host(follow, &node);
    if (end->port)
        learn_server(follow, &end->address, end->port)->is_entrance = true;
    else
        host->any_port = true;
}

BbFollow *bb_follow_new(const BbFollowOptions *options, BbLoss *loss)
{
    BbFollow *follow = g_new0(BbFollow, 1);
    follow->loss = loss;
    follow->hops = options->hops;
    follow->nodes = g_array_new(FALSE, FALSE, sizeof(BbFollowNode));
    follow->shared = g_array_new(FALSE, FALSE, sizeof(BbFollowEnd));
    follow->hosts = g_hash_table_new_full(hash_address, is_same_address, NULL, g_free);
    follow->servers = g_hash_table_new_full(hash_server, is_same_server, g_free, NULL);
    if (options->n_shared)
        g_array_append_vals(follow->shared, options->shared, options->n_shared);
    for (guint i = 0; i < options->n_entrances; i++)
        add_entrance(follow, &options->entrances[i]);
    return follow;
}

void bb_follow_free(BbFollow *follow)
{
    if (!follow)
        return;
    g_array_unref(follow->nodes);
    g_array_unref(follow->shared);
    g_hash_table_destroy(follow->hosts);
    g_hash_table_destroy(follow->servers);
    g_free(follow);
}

// ---- who calls whom -----------------------------------------------------------------------------

static guint rank_port(guint16 port)
{
    return port < PORT_SYSTEM ? 0 : port < PORT_OF_CLIENTS ? 1 : 2;
}

// Whether the sender of the packet is the client of its connection.
static bool is_from_client(const BbFollow *follow, const BbPacket *packet)
{
    bool is_tcp = packet->transport == BB_TRANSPORT_TCP;
    if (is_tcp && packet->tcp_flags & BB_TCP_SYN)
        return !(packet->tcp_flags & BB_TCP_ACK);
    bool from = find_server(follow, &packet->source, packet->source_port);
    bool to = find_server(follow, &packet->target, packet->target_port);
    guint source_rank = rank_port(packet->source_port);
    guint target_rank = rank_port(packet->target_port);
    if (from != to)
        return to;
    if (source_rank != target_rank)
        return source_rank > target_rank;
    return !is_tcp || packet->source_port >= packet->target_port;
}

// What ends a connection, or only acknowledges, may be left over from one that nobody saw.
static bool tells_client(const BbPacket *packet)
{
    return packet->transport != BB_TRANSPORT_TCP || packet->length > 0 ||
           (packet->tcp_flags & (BB_TCP_SYN | BB_TCP_RST)) == BB_TCP_SYN;
}

// ---- growing ------------------------------------------------------------------------------------

// RFC 5771, RFC 919, RFC 4291: groups, this network's broadcast, and no address at all.
static bool is_host(const BbAddress *address)
{
    static const BbAddress none;
    const guint8 *bytes = address->bytes;
    if (bb_address_is_v4(address))
        return bytes[12] != 0 && bytes[12] < 224;
    return bytes[0] != 0xff && !bb_address_equal(address, &none);
}

static bool is_shared(const BbFollow *follow, const BbAddress *address, guint16 port)
{
    for (guint i = 0; i < G_N_ELEMENTS(shared_ports); i++)
        if (port == shared_ports[i])
            return true;
    for (guint i = 0; i < follow->shared->len; i++) {
        const BbFollowEnd *end = &g_array_index(follow->shared, BbFollowEnd, i);
        if ((!end->port || end->port == port) &&
            (end->any_address || bb_address_equal(&end->address, address)))
            return true;
    }
    return false;
}

// A followed host calls a server.
static void join(BbFollow *follow, const Host *client, Host *server, const BbFollowNode *node)
{
    if (server && server->hop <= client->hop + 1)
        return;
    if (client->hop + 1 >= follow->hops || !is_host(&node->address) ||
        is_shared(follow, &node->address, node->port))
        return;
    if (server) {
        server->hop = client->hop + 1;
        g_array_index(follow->nodes, BbFollowNode, server->index).hop = server->hop;
    } else if (follow->nodes->len < BB_FOLLOW_NODES) {
        add_host(follow, node);
    } else {
        follow->loss->count[BB_FOLLOW_LIMIT]++;
    }
}

// ---- packets ------------------------------------------------------------------------------------

static bool is_entrance(const BbFollow *follow, const Host *host, guint16 port)
{
    if (!host || host->hop > 0)
        return false;
    if (host->any_port)
        return true;
    const Server *server = find_server(follow, &host->address, port);
    return server && server->is_entrance;
}

static bool take(BbFollow *follow, const BbPacket *packet)
{
    Host *source = g_hash_table_lookup(follow->hosts, &packet->source);
    Host *target = g_hash_table_lookup(follow->hosts, &packet->target);
    if (!source && !target)
        return false;
    bool forth = is_from_client(follow, packet);
    const Host *client = forth ? source : target;
    Host *server = forth ? target : source;
    guint16 port = forth ? packet->target_port : packet->source_port;
    bool kept = client || server->hop > 0 || is_entrance(follow, server, port);
    if (!tells_client(packet))
        return kept;
    const BbFollowNode node = {.address = forth ? packet->target : packet->source,
                               .port = port,
                               .caller = forth ? packet->source : packet->target,
                               .since_ns = packet->time_ns,
                               .hop = client ? client->hop + 1 : 0};
    (void)learn_server(follow, &node.address, port); // were it only to know the client later
    if (client)
        join(follow, client, server, &node);
    return kept;
}

bool bb_follow_take(BbFollow *follow, const BbPacket *packet)
{
    bool kept = take(follow, packet);
    if (!kept)
        follow->loss->count[BB_NOT_FOLLOWED]++;
    return kept;
}

guint bb_follow_count(const BbFollow *follow)
{
    return follow->nodes->len;
}

const BbFollowNode *bb_follow_at(const BbFollow *follow, guint index)
{
    return &g_array_index(follow->nodes, BbFollowNode, index);
}
