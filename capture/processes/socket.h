// SPDX-License-Identifier: Apache-2.0
// A socket of this host, as the kernel lists it, and where it is looked for by address.
#pragma once

#include "data/address.h"
#include "data/keys.h"

// What a socket is found by. Compared as bytes: nothing in it is left unset. A socket that waits
// for anybody (that listens, or of UDP is not connected) has no peer: address :: and port 0.
typedef struct BbSocketKey {
    BbAddress local, peer; // IPv4 as IPv4-mapped; local ::, ::ffff:0.0.0.0: any address
    guint16 port, peer_port;
    guint8 protocol; // of IP: 6 TCP, 17 UDP
    guint8 unused[3];
} BbSocketKey;

typedef struct BbSocket {
    BbSocketKey key;
    guint64 inode; // of sockfs, of the whole host; 0: nobody holds it (any more)
} BbSocket;

#define BB_SOCKET_TCP 6u
#define BB_SOCKET_UDP 17u

static inline bool bb_socket_key_is_bound(const BbSocketKey *key)
{
    return key->peer_port == 0;
}

// Of the same socket's place, for any peer.
static inline BbSocketKey bb_socket_key_bound(const BbSocketKey *key)
{
    return (BbSocketKey){.local = key->local, .port = key->port, .protocol = key->protocol};
}

// For GHashTable.
static inline guint bb_socket_key_hash(gconstpointer data)
{
    return bb_keys_bytes(data, sizeof(BbSocketKey));
}

static inline gboolean bb_socket_key_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(BbSocketKey)) == 0;
}

// What a table by such keys has for who waits at the local address and port of key; anywhere: else
// for who waits at 0.0.0.0, or at ::, which takes IPv4 too (ipv6(7)). NULL where nobody does.
static inline gpointer bb_socket_find_bound(GHashTable *table, const BbSocketKey *key,
                                            bool anywhere)
{
    BbSocketKey bound = bb_socket_key_bound(key);
    gpointer found = g_hash_table_lookup(table, &bound);
    if (!anywhere)
        return found;
    if (!found && bb_address_is_v4(&key->local)) {
        bound.local = bb_address_any_v4;
        found = g_hash_table_lookup(table, &bound);
    }
    bound.local = bb_address_any_v6;
    return found ? found : g_hash_table_lookup(table, &bound);
}
