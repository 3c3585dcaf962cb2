// SPDX-License-Identifier: Apache-2.0
// In: packets that answer a SYN. Out: whether an end is a server, as of any of the last packets.
#include "capture/servers.h"

#include "data/mix.h"

#include <pthread.h>

// Those that are forgotten stay for who is behind.
#define KEPT (BB_SERVERS + BB_SERVERS_BEHIND)
#define BUCKETS 65536u

// The n-th that is learned, from 1 on, is at n % KEPT, where it takes the place of an older one.
G_STATIC_ASSERT((KEPT & (KEPT - 1)) == 0);

typedef struct Server {
    BbAddress address;
    guint16 port;
    guint64 older; // the next of its bucket, 0: none
} Server;

struct BbServers {
    BbLoss *loss;
    guint64 seed;
    pthread_mutex_t lock; // of all below
    guint64 learned;      // ever; written by who reads packets alone
    Server *kept;         // NULL: none was learned yet
    guint64 *buckets;     // by address and port: the youngest, 0: none
};

BbServers *bb_servers_new(BbLoss *loss)
{
    BbServers *servers = g_new0(BbServers, 1);
    servers->loss = loss;
    servers->seed = bb_mix_seed();
    pthread_mutex_init(&servers->lock, NULL);
    return servers;
}

void bb_servers_free(BbServers *servers)
{
    if (!servers)
        return;
    pthread_mutex_destroy(&servers->lock);
    g_free(servers->kept);
    g_free(servers->buckets);
    g_free(servers);
}

static guint64 *bucket_of(const BbServers *servers, const BbAddress *address, guint16 port)
{
    guint64 hash = bb_mix_end(servers->seed, address, port);
    return &servers->buckets[(hash >> 32) % BUCKETS];
}

// Whether the n-th is there when so many were learned.
static bool is_known(guint64 n, guint64 learned)
{
    return n <= learned && learned - n < BB_SERVERS;
}

static bool find(const BbServers *servers, const BbAddress *address, guint16 port, guint64 learned)
{
    guint64 n = servers->kept ? *bucket_of(servers, address, port) : 0;
    for (const Server *server; n; n = server->older) {
        server = &servers->kept[n % KEPT];
        if (server->port == port && bb_address_equal(&server->address, address) &&
            is_known(n, learned))
            return true;
    }
    return false;
}

// The oldest of all is the last of its bucket.
static void drop_oldest(BbServers *servers)
{
    guint64 oldest = servers->learned - KEPT + 1;
    const Server *server = &servers->kept[oldest % KEPT];
    guint64 *at = bucket_of(servers, &server->address, server->port);
    while (*at != oldest)
        at = &servers->kept[*at % KEPT].older;
    *at = 0;
}

static void add(BbServers *servers, const BbAddress *address, guint16 port)
{
    if (!servers->kept) {
        servers->kept = g_new0(Server, KEPT);
        servers->buckets = g_new0(guint64, BUCKETS);
    }
    if (servers->learned >= KEPT)
        drop_oldest(servers);
    servers->loss->count[BB_SERVERS_FORGOTTEN] += servers->learned >= BB_SERVERS;
    guint64 *bucket = bucket_of(servers, address, port);
    guint64 n = ++servers->learned;
    servers->kept[n % KEPT] = (Server){*address, port, *bucket};
    *bucket = n;
}

guint64 bb_servers_learn(BbServers *servers, const BbPacket *packet)
{
    guint8 both = BB_TCP_SYN | BB_TCP_ACK;
    if (packet->transport != BB_TRANSPORT_TCP || (packet->tcp_flags & both) != both)
        return servers->learned;
    pthread_mutex_lock(&servers->lock);
    if (!find(servers, &packet->source, packet->source_port, servers->learned))
        add(servers, &packet->source, packet->source_port);
    pthread_mutex_unlock(&servers->lock);
    return servers->learned;
}

bool bb_servers_know(BbServers *servers, const BbAddress *address, guint16 port, guint64 learned)
{
    pthread_mutex_lock(&servers->lock);
    bool known = find(servers, address, port, learned);
    pthread_mutex_unlock(&servers->lock);
    return known;
}
