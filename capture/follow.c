// SPDX-License-Identifier: Apache-2.0
// In: packets. Out: which of them belong to the entrances, and a set of hosts that grows.
#include "capture/follow.h"

#include "data/keys.h"

#define PORT_SYSTEM 1024u

// What is in a table.
typedef struct {
    BbAddress address;
    guint16 port; // 0 in the table of hosts
} Key;

typedef struct {
    Key key;
    BbFollowNode node; // the first of this address
    guint index;       // of node in nodes, unless silent
    bool any_port;     // an entrance whatever the port
    bool silent;       // datagrams went to it, and nobody knows yet whether it is a host
} Host;

typedef struct {
    Key key;
    bool is_entrance; // and then never forgotten
    GList link;       // of recent, of all others
} Server;

struct BbFollow {
    BbLoss *loss;
    guint hops;
    guint silent;        // hosts that are
    guint unmet;         // entrances that no packet was of
    guint entrances;     // the first of nodes
    GArray *nodes;       // of BbFollowNode
    GArray *addresses;   // of BbAddress: of nodes, and of silent hosts
    GArray *shared;      // of BbFollowEnd
    GHashTable *hosts;   // of Host by Key: all that are followed, and silent ones
    GHashTable *servers; // of Server by Key
    GQueue recent;       // of Server: who was heard of last is last
};

static const guint16 shared_ports[] = {53, 123, 514, 853};

// ---- tables -------------------------------------------------------------------------------------

static guint hash_key(gconstpointer key)
{
    const Key *k = key;
    return (guint)(bb_mix_end(bb_keys_seed(), &k->address, k->port) >> 32);
}

static gboolean is_same_key(gconstpointer a, gconstpointer b)
{
    const Key *x = a, *y = b;
    return x->port == y->port && bb_address_equal(&x->address, &y->address);
}

static Host *find_host(const BbFollow *follow, const BbAddress *address)
{
    const Key key = {.address = *address};
    return g_hash_table_lookup(follow->hosts, &key);
}

static Server *find_server(const BbFollow *follow, const BbAddress *address, guint16 port)
{
    const Key key = {.address = *address, .port = port};
    return g_hash_table_lookup(follow->servers, &key);
}

static void forget_a_server(BbFollow *follow)
{
    GList *oldest = g_queue_pop_head_link(&follow->recent);
    Server *server = oldest->data;
    g_hash_table_remove(follow->servers, &server->key);
    follow->loss->count[BB_FOLLOW_FORGOTTEN]++;
}

static Server *add_server(BbFollow *follow, const BbAddress *address, guint16 port)
{
    Server *server = g_new0(Server, 1);
    server->key = (Key){.address = *address, .port = port};
    server->link.data = server;
    g_hash_table_insert(follow->servers, &server->key, server);
    return server;
}

static void learn_server(BbFollow *follow, const BbAddress *address, guint16 port)
{
    Server *server = find_server(follow, address, port);
    if (server && server->is_entrance)
        return;
    if (server) {
        g_queue_unlink(&follow->recent, &server->link);
    } else {
        if (g_hash_table_size(follow->servers) >= BB_FOLLOW_SERVERS)
            forget_a_server(follow);
        server = add_server(follow, address, port);
    }
    g_queue_push_tail_link(&follow->recent, &server->link);
}

static Host *add_host(BbFollow *follow, const BbFollowNode *node)
{
    Host *host = g_new0(Host, 1);
    host->key = (Key){.address = node->address};
    host->node = *node;
    g_hash_table_insert(follow->hosts, &host->key, host);
    g_array_append_val(follow->addresses, node->address);
    return host;
}

static void add_node(BbFollow *follow, Host *host, const BbFollowNode *node)
{
    host->index = follow->nodes->len;
    g_array_append_val(follow->nodes, *node);
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

// A packet at that port of an entrance, or (0) from it.
static void meet(BbFollow *follow, const BbAddress *address, guint16 port)
{
    for (guint i = 0; i < follow->entrances; i++) {
        BbFollowNode *node = &g_array_index(follow->nodes, BbFollowNode, i);
        if (node->met || (node->port && node->port != port) ||
            !bb_address_equal(&node->address, address))
            continue;
        node->met = true;
        follow->unmet--;
    }
}

static void add_entrance(BbFollow *follow, const BbFollowEnd *end)
{
    const BbFollowNode node = {.address = end->address, .port = end->port, .since_ns = G_MININT64};
    if (is_named(follow, end) || follow->nodes->len >= BB_FOLLOW_NODES)
        return;
    Host *host = find_host(follow, &end->address);
    if (!host) {
        host = add_host(follow, &node);
        add_node(follow, host, &node);
    } else {
        g_array_append_val(follow->nodes, node);
    }
    if (end->port)
        add_server(follow, &end->address, end->port)->is_entrance = true;
    else
        host->any_port = true;
}

BbFollow *bb_follow_new(const BbFollowOptions *options, BbLoss *loss)
{
    BbFollow *follow = g_new0(BbFollow, 1);
    follow->loss = loss;
    follow->hops = options->hops;
    follow->nodes = g_array_new(FALSE, FALSE, sizeof(BbFollowNode));
    follow->addresses = g_array_new(FALSE, FALSE, sizeof(BbAddress));
    follow->shared = g_array_new(FALSE, FALSE, sizeof(BbFollowEnd));
    follow->hosts = g_hash_table_new_full(hash_key, is_same_key, NULL, g_free);
    follow->servers = g_hash_table_new_full(hash_key, is_same_key, NULL, g_free);
    g_queue_init(&follow->recent);
    if (options->n_shared)
        g_array_append_vals(follow->shared, options->shared, options->n_shared);
    for (guint i = 0; i < options->n_entrances; i++)
        add_entrance(follow, &options->entrances[i]);
    follow->entrances = follow->unmet = follow->nodes->len;
    return follow;
}

void bb_follow_free(BbFollow *follow)
{
    if (!follow)
        return;
    g_array_unref(follow->nodes);
    g_array_unref(follow->addresses);
    g_array_unref(follow->shared);
    g_hash_table_destroy(follow->hosts);
    g_hash_table_destroy(follow->servers);
    g_free(follow);
}

// ---- who calls whom -----------------------------------------------------------------------------

static guint rank_port(guint16 port)
{
    return port < PORT_SYSTEM ? 0 : port < BB_PORT_OF_CLIENTS ? 1 : 2;
}

// Nobody else can make an entrance look like a client.
static guint rank_server(const BbFollow *follow, const BbAddress *address, guint16 port)
{
    const Server *server = find_server(follow, address, port);
    return !server ? 0 : server->is_entrance ? 2 : 1;
}

// Whether the sender of the packet is the client of its connection.
static bool is_from_client(const BbFollow *follow, const BbPacket *packet)
{
    bool is_tcp = packet->transport == BB_TRANSPORT_TCP;
    if (is_tcp && packet->tcp_flags & BB_TCP_SYN)
        return !(packet->tcp_flags & BB_TCP_ACK);
    guint from = rank_server(follow, &packet->source, packet->source_port);
    guint to = rank_server(follow, &packet->target, packet->target_port);
    guint source_rank = rank_port(packet->source_port);
    guint target_rank = rank_port(packet->target_port);
    if (from != to)
        return to > from;
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

static void wake(BbFollow *follow, Host *host, gint64 time_ns)
{
    host->silent = false;
    follow->silent--;
    host->node.since_ns = time_ns;
    add_node(follow, host, &host->node);
}

static void begin(BbFollow *follow, const BbFollowNode *node, bool silent)
{
    if (follow->nodes->len + follow->silent >= BB_FOLLOW_NODES) {
        follow->loss->count[BB_FOLLOW_LIMIT]++;
        return;
    }
    Host *host = add_host(follow, node);
    host->silent = silent;
    if (silent)
        follow->silent++;
    else
        add_node(follow, host, node);
}

static void shorten(BbFollow *follow, Host *host, guint hop)
{
    if (host->node.hop <= hop)
        return;
    host->node.hop = hop;
    if (!host->silent)
        g_array_index(follow->nodes, BbFollowNode, host->index).hop = hop;
}

// A followed host calls somebody: this packet is its own. The broadcast address of a network looks
// like a host, but never sends.
static void join(BbFollow *follow, const Host *client, Host *server, const BbPacket *packet)
{
    bool is_tcp = packet->transport == BB_TRANSPORT_TCP;
    const BbFollowNode node = {.address = packet->target,
                               .port = packet->target_port,
                               .caller = packet->source,
                               .since_ns = packet->time_ns,
                               .hop = client->node.hop + 1};
    if (server && server->node.hop <= node.hop && !(server->silent && is_tcp))
        return;
    if (node.hop >= follow->hops || !bb_address_is_host(&node.address) ||
        is_shared(follow, &node.address, node.port))
        return;
    if (!server) {
        begin(follow, &node, !is_tcp);
        return;
    }
    shorten(follow, server, node.hop);
    if (server->silent && is_tcp)
        wake(follow, server, packet->time_ns);
}

// ---- packets ------------------------------------------------------------------------------------

static bool is_entrance(const BbFollow *follow, const Host *host, guint16 port)
{
    if (!host || host->node.hop > 0)
        return false;
    if (host->any_port)
        return true;
    const Server *server = find_server(follow, &host->node.address, port);
    return server && server->is_entrance;
}

// Whether the server of the packet is remembered. What others send tells nothing but which ports of
// followed hosts answer, and which get datagrams; or a scan would push out everything else.
static bool is_lesson(const BbPacket *packet, bool kept, bool is_own, bool forth)
{
    if (packet->transport != BB_TRANSPORT_TCP)
        return kept && (is_own || forth);
    if (packet->tcp_flags & BB_TCP_SYN && packet->tcp_flags & BB_TCP_ACK)
        return is_own; // kept or not: what the host calls at other ports must not be guessed at
    return kept && is_own;
}

static bool take(BbFollow *follow, const BbPacket *packet)
{
    Host *source = find_host(follow, &packet->source);
    Host *called = find_host(follow, &packet->target);
    if (source && source->silent)
        wake(follow, source, packet->time_ns);
    const Host *target = called && !called->silent ? called : NULL;
    if (!source && !target)
        return false;
    bool forth = is_from_client(follow, packet);
    const Host *client = forth ? source : target;
    const Host *server = forth ? target : source;
    guint16 port = forth ? packet->target_port : packet->source_port;
    bool entered = (!client || follow->unmet) && is_entrance(follow, server, port);
    bool kept = client || entered || server->node.hop > 0;
    if (G_UNLIKELY(follow->unmet && entered))
        meet(follow, &server->node.address, port);
    if (G_UNLIKELY(follow->unmet && client && client->node.hop == 0))
        meet(follow, &client->node.address, 0);
    if (!tells_client(packet))
        return kept;
    if (is_lesson(packet, kept, source, forth))
        learn_server(follow, forth ? &packet->target : &packet->source, port);
    if (forth && source)
        join(follow, source, called, packet);
    return kept;
}

bool bb_follow_take(BbFollow *follow, const BbPacket *packet)
{
    bool kept = take(follow, packet);
    if (!kept)
        follow->loss->count[BB_NOT_FOLLOWED]++;
    return kept;
}

guint bb_follow_unmet(const BbFollow *follow)
{
    return follow->unmet;
}

guint bb_follow_count(const BbFollow *follow)
{
    return follow->nodes->len;
}

const BbFollowNode *bb_follow_at(const BbFollow *follow, guint index)
{
    return &g_array_index(follow->nodes, BbFollowNode, index);
}

guint bb_follow_address_count(const BbFollow *follow)
{
    return follow->addresses->len;
}

const BbAddress *bb_follow_addresses(const BbFollow *follow)
{
    return (const BbAddress *)(gconstpointer)follow->addresses->data;
}
