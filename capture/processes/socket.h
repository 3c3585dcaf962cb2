// SPDX-License-Identifier: Apache-2.0
// A socket of this host, as the kernel lists it, and where it is looked for by address.
#pragma once

#include "data/address.h"
#include "data/mix.h"

// What a socket is found by. Compared as bytes: nothing in it is left unset. A socket that waits
// for anybody (that listens, or of UDP is not connected) has no peer: address :: and port 0.
typedef struct BbSocketKey {
    guint64 seed; // of the table that it is looked for in: random, the same for all its keys
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
    return (BbSocketKey){
        .seed = key->seed, .local = key->local, .port = key->port, .protocol = key->protocol};
}

// :: or 0.0.0.0.
static inline bool bb_address_is_any(const BbAddress *address)
{
    static const BbAddress v6 = {0}, v4 = {.bytes = {[10] = 0xff, [11] = 0xff}};
    return bb_address_equal(address, &v6) || bb_address_equal(address, &v4);
}

// 127/8 or ::1.
static inline bool bb_address_is_loopback(const BbAddress *address)
{
    static const BbAddress v6 = {.bytes = {[15] = 1}};
    return bb_address_is_v4(address) ? address->bytes[12] == 127 : bb_address_equal(address, &v6);
}

// A seed for a table: peers are chosen by strangers.
static inline guint64 bb_socket_seed(void)
{
    return (guint64)g_random_int() << 32 | g_random_int();
}

static inline BbSocketKey bb_socket_key_seeded(const BbSocketKey *key, guint64 seed)
{
    BbSocketKey seeded = *key;
    seeded.seed = seed;
    return seeded;
}

// For GHashTable. The seed is its first word.
static inline guint bb_socket_key_hash(gconstpointer data)
{
    return (guint)(bb_mix_bytes(0, data, sizeof(BbSocketKey)) >> 32);
}

static inline gboolean bb_socket_key_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(BbSocketKey)) == 0;
}
