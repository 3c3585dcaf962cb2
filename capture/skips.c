// SPDX-License-Identifier: Apache-2.0
// In: bytes that are passed over. Out: whether a packet has no others.
#include "capture/skips.h"

#include "data/mix.h"

#include <stdatomic.h>

#define PLACES 4096u
#define SEED G_GUINT64_CONSTANT(0x6a09e667f3bcc909)

// Who finds it taken goes without: nobody waits.
typedef struct Place {
    atomic_flag taken;
    guint32 end; // the sequence number behind the bytes
    guint32 count;
    guint64 hash;   // of the direction; 0: free
    guint64 packet; // by which it was told
} Place;

// Of the thread that reads alone: by which packet a connection began last. What another one in the
// same place had is a bound for those that were forgotten.
typedef struct Birth {
    guint64 hash, packet, others;
} Birth;

struct BbSkips {
    Place places[PLACES];
    Birth births[PLACES];
    guint64 since; // what was told by packets up to this one is too old
};

BbSkips *bb_skips_new(void)
{
    return g_new0(BbSkips, 1);
}

void bb_skips_free(BbSkips *skips)
{
    g_free(skips);
}

static guint64 hash_of(const BbAddress *source, guint16 source_port, const BbAddress *target,
                       guint16 target_port)
{
    guint64 hash = bb_mix_bytes(SEED, source->bytes, sizeof source->bytes);
    hash = bb_mix_bytes(hash, target->bytes, sizeof target->bytes);
    hash = bb_mix(hash, (guint64)source_port << 16 | target_port);
    return hash | G_GUINT64_CONSTANT(1) << 63;
}

static guint index_of(guint64 hash)
{
    return bb_mix(hash, 0) >> 32 & (PLACES - 1);
}

static bool take(Place *place)
{
    return !atomic_flag_test_and_set_explicit(&place->taken, memory_order_acquire);
}

static void give_back(Place *place)
{
    atomic_flag_clear_explicit(&place->taken, memory_order_release);
}

void bb_skips_tell(BbSkips *skips, const BbEndpoints *endpoints, guint sender,
                   const BbSkipped *skipped)
{
    guint64 hash = hash_of(&endpoints->address[sender], endpoints->port[sender],
                           &endpoints->address[!sender], endpoints->port[!sender]);
    guint32 told = (guint32)MIN(skipped->count, BB_SKIPS_MOST);
    Place *place = &skips->places[index_of(hash)];
    if (!take(place))
        return;
    if (told) {
        place->hash = hash;
        place->end = skipped->seq + told;
        place->count = told;
        place->packet = skipped->packet;
    } else if (place->hash == hash) {
        place->hash = 0;
    }
    give_back(place);
}

// Told by a packet of the same connection, and lately.
static bool is_of_now(const BbSkips *skips, guint64 hash, guint64 told_by)
{
    const Birth *birth = &skips->births[index_of(hash)];
    return told_by > skips->since &&
           told_by > (birth->hash == hash ? birth->packet : birth->others);
}

bool bb_skips_cover(BbSkips *skips, const BbPacket *packet)
{
    guint64 hash =
        hash_of(&packet->source, packet->source_port, &packet->target, packet->target_port);
    Place *place = &skips->places[index_of(hash)];
    bool covers = false;
    if (packet->tcp_flags & BB_TCP_SYN || !take(place))
        return false;
    if (place->hash == hash) {
        guint32 rest = place->end - packet->seq; // bytes from here to behind them
        covers =
            rest >= packet->length && rest <= place->count && is_of_now(skips, hash, place->packet);
        if ((gint32)rest <= 0) // past them: so late they are not to count when numbers come round
            place->hash = 0;
    }
    give_back(place);
    return covers;
}

static void begin(BbSkips *skips, guint64 hash, guint64 packet)
{
    Birth *birth = &skips->births[index_of(hash)];
    if (birth->hash && birth->hash != hash)
        birth->others = birth->packet;
    birth->hash = hash;
    birth->packet = packet;
}

void bb_skips_begin(BbSkips *skips, const BbPacket *packet)
{
    const BbAddress *source = &packet->source, *target = &packet->target;
    guint16 from = packet->source_port, to = packet->target_port;
    begin(skips, hash_of(source, from, target, to), packet->number);
    begin(skips, hash_of(target, to, source, from), packet->number);
}

void bb_skips_forget(BbSkips *skips, guint64 packet)
{
    skips->since = packet;
}
