// SPDX-License-Identifier: Apache-2.0
// In: packets. Out: which of them are second sightings.
#include "capture/echo.h"

#include "data/mix.h"

#include <string.h>

#define BOUNDS (BB_TCP_SYN | BB_TCP_FIN | BB_TCP_RST)
#define COMPARED_BYTES 512u // of a datagram
#define COMPARED_TCP 32u    // of a segment, whose numbers tell nearly all
// Not random: it decides which packets are forgotten when there are many, and so what is counted.
#define SEED G_GUINT64_CONSTANT(0xd1b54a32d192ed03)

typedef struct Seen {
    guint64 hash : 56;
    guint64 ttl : 8;
    gint64 time_ns;
} Seen;

// By hash: a newer one takes the place of the oldest. A set is a line of the processor's cache.
#define WAYS 4u
#define SETS (BB_ECHO_PACKETS / WAYS)

struct BbEchoes {
    Seen seen[SETS][WAYS]; // the newest first
    guint32 told, twice;   // packets that tell whether such are seen twice, and those that were
};

BbEchoes *bb_echoes_new(void)
{
    return g_new0(BbEchoes, 1);
}

void bb_echoes_free(BbEchoes *echoes)
{
    g_free(echoes);
}

// Three hashes that do not wait for each other, and one of them.
static guint64 hash_packet(const BbPacket *packet)
{
    bool is_tcp = packet->transport == BB_TRANSPORT_TCP;
    guint64 ports = (guint64)packet->source_port << 48 | (guint64)packet->target_port << 32;
    guint64 numbers = bb_mix(SEED, ports | (guint64)packet->ip_id << 16 | packet->tcp_flags);
    numbers = bb_mix(numbers, (guint64)packet->seq << 32 | packet->ack);
    numbers = bb_mix(numbers, (guint64)packet->window << 32 | packet->length);
    // Where networks tell hosts apart, each of them has a sighting of its own.
    guint64 overlay = packet->has_vni ? 1ull << 32 | packet->vni : 0;
    guint64 ends = bb_mix(SEED, (guint64)packet->vlan << 33 | overlay);
    ends = bb_mix_bytes(ends, packet->source.bytes, sizeof packet->source.bytes);
    ends = bb_mix_bytes(ends, packet->target.bytes, sizeof packet->target.bytes);
    gsize most = MIN(packet->captured, is_tcp ? COMPARED_TCP : COMPARED_BYTES);
    return bb_mix(bb_mix(numbers, ends), bb_mix_bytes(SEED, packet->payload, most));
}

// Those of a host that lacks a segment are alike, too: what tells the sightings of one from them is
// the identification alone.
static bool is_unnamed_ack(const BbPacket *packet)
{
    return packet->transport == BB_TRANSPORT_TCP && !packet->ip_id && packet->length == 0 &&
           !(packet->tcp_flags & BOUNDS);
}

// What begins or ends a connection is told by its numbers, too (Linux gives no identification to a
// SYN-ACK), and no host sends it again so soon. Nor does what a host sends again live shorter or
// longer than the first time: a router is between.
static gint64 limit_of(const BbPacket *packet, guint ttl)
{
    bool bounds = packet->transport == BB_TRANSPORT_TCP && packet->tcp_flags & BOUNDS;
    return packet->ip_id || bounds || packet->ttl != ttl ? BB_ECHO_NS : BB_ECHO_UNNAMED_NS;
}

static bool tells(const BbPacket *packet)
{
    return packet->ip_id || packet->transport == BB_TRANSPORT_TCP;
}

static void note(BbEchoes *echoes, bool twice)
{
    if (echoes->told == BB_ECHO_RECENT) {
        echoes->told /= 2;
        echoes->twice /= 2;
    }
    echoes->told += !twice;
    echoes->twice = MIN(echoes->twice + twice, BB_ECHO_RECENT);
}

static bool is_believed(const BbEchoes *echoes, const BbPacket *packet, guint ttl)
{
    bool often = echoes->twice && echoes->twice * BB_ECHO_RATIO >= echoes->told;
    return often || tells(packet) || packet->ttl != ttl;
}

bool bb_echoes_check(BbEchoes *echoes, const BbPacket *packet)
{
    if (is_unnamed_ack(packet))
        return false;
    guint64 hash = hash_packet(packet) >> 8;
    Seen *seen = echoes->seen[hash % SETS];
    bool twice = false;
    for (guint i = 0; i < WAYS && !twice; i++) {
        gint64 limit_ns = limit_of(packet, seen[i].ttl);
        twice = seen[i].hash == hash && packet->time_ns <= seen[i].time_ns + limit_ns &&
                packet->time_ns >= seen[i].time_ns - limit_ns &&
                is_believed(echoes, packet, seen[i].ttl);
    }
    if (tells(packet))
        note(echoes, twice);
    if (twice)
        return true;
    memmove(seen + 1, seen, (WAYS - 1) * sizeof *seen);
    seen[0] = (Seen){hash, packet->ttl, packet->time_ns};
    return false;
}
