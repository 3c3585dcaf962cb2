// SPDX-License-Identifier: Apache-2.0
// In: messages of one sender, receiver and kind without common keys, in order. Out: which two are
// sightings of one.
#include "merge/join_state.h"

#include "data/keys.h"

#include <stdlib.h>

#define SCAN 64u   // messages looked at for one that joins
#define FOLLOWS 16 // the usual delay and spread follow new delays by so small a part of the spread
#define SPREADS 20 // times the usual spread: a sighting that is further off is another message
#define SPREAD_LEAST_NS 5000 // stamps are in microseconds
#define REFUSALS 64 // in a row let delays differ e times as much: a changed one is found again

guint bb_lane_hash(gconstpointer data)
{
    const BbLane *lane = data;
    return bb_keys_mix((guint64)lane->sender << 32 | lane->receiver, lane->kind);
}

gboolean bb_lane_equal(gconstpointer a, gconstpointer b)
{
    const BbLane *x = a, *y = b;
    return x->sender == y->sender && x->receiver == y->receiver && x->kind == y->kind;
}

void bb_lane_enter(BbJoin *join, BbHeld *held)
{
    BbLane key = {
        .sender = held->message.sender,
        .receiver = held->message.receiver,
        .kind = held->message.kind,
        .observer = held->seen.observer,
    };
    BbLane *lane = g_hash_table_lookup(join->lanes, &key);
    if (!lane) {
        lane = g_slice_dup(BbLane, &key);
        g_hash_table_add(join->lanes, lane);
    }
    lane->mixed |= lane->observer != held->seen.observer || held->seen.next;
    held->lane = lane;
    held->behind = NULL;
    held->before = lane->last;
    *(held->before ? &held->before->behind : &lane->first) = held;
    lane->last = held;
}

void bb_lane_leave(BbJoin *join, BbHeld *held)
{
    BbLane *lane = g_steal_pointer(&held->lane);
    *(held->before ? &held->before->behind : &lane->first) = held->behind;
    *(held->behind ? &held->behind->before : &lane->last) = held->before;
    if (lane->first)
        return;
    g_hash_table_remove(join->lanes, lane);
    g_slice_free(BbLane, lane);
}

guint bb_delay_key_hash(gconstpointer data)
{
    const BbDelayKey *key = data;
    return bb_keys_mix((guint64)key->first << 32 | key->second,
                       (guint64)key->sender << 32 | key->receiver);
}

gboolean bb_delay_key_equal(gconstpointer a, gconstpointer b)
{
    const BbDelayKey *x = a, *y = b;
    return x->first == y->first && x->second == y->second && x->sender == y->sender &&
           x->receiver == y->receiver;
}

static int compare(gconstpointer a, gconstpointer b)
{
    gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return x < y ? -1 : x > y;
}

static gint64 median(gint64 *values, guint n)
{
    qsort(values, n, sizeof *values, compare);
    return values[n / 2];
}

static void learn_first(BbJoinDelay *delay, gint64 delay_ns)
{
    gint64 off_ns[BB_JOIN_LEARNING];
    delay->first_ns[delay->known++] = delay_ns;
    delay->usual_ns = median(delay->first_ns, delay->known);
    for (guint i = 0; i < delay->known; i++)
        off_ns[i] = ABS(delay->first_ns[i] - delay->usual_ns);
    delay->spread_ns = MAX(median(off_ns, delay->known), SPREAD_LEAST_NS);
}

// Steps of one size find the middle of what comes, however far off the rest is.
static void follow(BbJoinDelay *delay, gint64 delay_ns)
{
    gint64 off_ns = delay_ns - delay->usual_ns, step_ns = delay->spread_ns / FOLLOWS;
    delay->usual_ns += CLAMP(off_ns, -step_ns, step_ns);
    delay->spread_ns += ABS(off_ns) > delay->spread_ns ? step_ns : -step_ns;
    delay->spread_ns = MAX(delay->spread_ns, SPREAD_LEAST_NS);
}

static void learn(BbJoin *join, const BbDelayKey *key, gint64 delay_ns)
{
    BbJoinDelay *delay = g_hash_table_lookup(join->delays, key);
    if (!delay && g_hash_table_size(join->delays) == BB_JOIN_DELAYS)
        return;
    if (!delay) {
        delay = g_new0(BbJoinDelay, 1);
        g_hash_table_insert(join->delays, g_memdup2(key, sizeof *key), delay);
    }
    if (delay->known < BB_JOIN_LEARNING)
        learn_first(delay, delay_ns);
    else
        follow(delay, delay_ns);
}

void bb_lane_learn(BbJoin *join, guint32 first, guint32 second, gint64 delay_ns)
{
    learn(join, &(BbDelayKey){.first = first, .second = second}, delay_ns);
}

// What goes from one node to another passes two observers in one order: the delay between them has
// a sign, that of the lesser observer's first. Returns whether b, which came second, is of that
// one.
static bool edge_of(const BbHeld *a, const BbHeld *b, BbDelayKey *key)
{
    bool turned = b->seen.observer < a->seen.observer;
    *key = (BbDelayKey){
        .first = turned ? b->seen.observer : a->seen.observer,
        .second = turned ? a->seen.observer : b->seen.observer,
        .sender = a->message.sender,
        .receiver = a->message.receiver,
    };
    return turned;
}

static gint64 delay_of(const BbHeld *a, const BbHeld *b, bool turned)
{
    gint64 delay_ns = b->seen.time_ns - a->seen.time_ns;
    return turned ? -delay_ns : delay_ns;
}

void bb_lane_learn_edge(BbJoin *join, const BbHeld *a, const BbHeld *b)
{
    BbDelayKey key;
    bool turned = edge_of(a, b, &key);
    learn(join, &key, delay_of(a, b, turned));
}

static bool differ(guint32 a, guint32 b)
{
    return a != b && a != BB_NAME_NONE && b != BB_NAME_NONE;
}

// That nobody read a return is seen where the caller resets the connection, not everywhere.
static bool differ_in_status(const BbJoin *join, guint32 a, guint32 b)
{
    return differ(a, b) && a != join->unread && b != join->unread;
}

// Labels and sizes of different decoders tell nothing. Of datagrams with prints, those with one
// print may have passed a translation of addresses between.
static bool is_like(const BbJoin *join, const BbMessage *a, const BbMessage *b)
{
    if (bb_message_has_print(a) && bb_message_has_print(b) && a->offset != b->offset)
        return false;
    if (a->proto != b->proto)
        return true;
    return !differ(a->op, b->op) && !differ_in_status(join, a->status, b->status) &&
           (a->bytes == b->bytes || a->bytes == BB_BYTES_NONE || b->bytes == BB_BYTES_NONE);
}

static bool share_observer(const BbHeld *a, const BbHeld *b)
{
    for (const BbSighting *x = &a->seen; x; x = x->next)
        for (const BbSighting *y = &b->seen; y; y = y->next)
            if (x->observer == y->observer)
                return true;
    return false;
}

// What is known of the delay between two observers, on one edge where that is known, and whether it
// is that from the second to the first.
typedef struct Usual {
    BbJoinDelay *delay; // NULL: nothing is known
    bool turned;
} Usual;

static Usual find_usual(const BbJoin *join, const BbHeld *a, const BbHeld *b)
{
    BbDelayKey key;
    Usual usual = {.turned = edge_of(a, b, &key)};
    usual.delay = g_hash_table_lookup(join->delays, &key);
    if (usual.delay && usual.delay->known == BB_JOIN_LEARNING)
        return usual;
    key = (BbDelayKey){.first = a->seen.observer, .second = b->seen.observer};
    return (Usual){g_hash_table_lookup(join->delays, &key), false};
}

// How far the distance in time of two sightings is from what is usual.
static gint64 oddness(Usual usual, const BbHeld *a, const BbHeld *b)
{
    return ABS(delay_of(a, b, usual.turned) - (usual.delay ? usual.delay->usual_ns : 0));
}

// Whether it is so far that they are two messages, each of which the other observer lost.
static bool is_too_odd(const BbJoinDelay *delay, gint64 odd_ns)
{
    return delay && delay->known == BB_JOIN_LEARNING && odd_ns > delay->spread_ns * SPREADS;
}

// Whether another message of held's observer, on the same edge, is nearer to other.
static bool is_others(const BbJoin *join, Usual usual, const BbHeld *held, const BbHeld *other,
                      gint64 odd_ns)
{
    guint left = SCAN;
    for (const BbHeld *rival = held->behind; rival && left; rival = rival->behind, left--)
        if (rival != other && rival->seen.observer == held->seen.observer &&
            rival->message.time_ns <= other->message.time_ns &&
            is_like(join, &rival->message, &other->message) &&
            oddness(usual, rival, other) < odd_ns)
            return true;
    return false;
}

static bool may_join(const BbJoin *join, const BbHeld *held, const BbHeld *other)
{
    return other->message.time_ns - held->message.time_ns <= join->options.window_ns &&
           !share_observer(held, other) && is_like(join, &held->message, &other->message);
}

// The nearest to what is usual; of a return, that of the same call, if two observers saw it, and
// none of another's.
static BbHeld *find_nearest(const BbJoin *join, const BbHeld *held, const BbOpenCall *call)
{
    BbHeld *best = NULL;
    BbJoinDelay *delay = NULL;
    gint64 best_ns = G_MAXINT64;
    guint left = SCAN;
    for (BbHeld *other = held->behind; other && left; other = other->behind, left--) {
        if (!may_join(join, held, other))
            continue;
        const BbOpenCall *its = call ? bb_held_find_call(join, other) : NULL;
        if (its == call && its)
            return other;
        if (its)
            continue;
        Usual usual = find_usual(join, held, other);
        gint64 odd_ns = oddness(usual, held, other);
        if (odd_ns < best_ns && !is_others(join, usual, held, other, odd_ns)) {
            best = other;
            best_ns = odd_ns;
            delay = usual.delay;
        }
    }
    if (!best || !is_too_odd(delay, best_ns))
        return best;
    delay->spread_ns += delay->spread_ns / REFUSALS;
    return NULL;
}

BbHeld *bb_lane_match(const BbJoin *join, const BbHeld *held)
{
    if (!held->lane || !held->lane->mixed)
        return NULL;
    bool is_return = held->message.kind == BB_RETURN;
    return find_nearest(join, held, is_return ? bb_held_find_call(join, held) : NULL);
}
