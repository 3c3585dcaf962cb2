// SPDX-License-Identifier: Apache-2.0
// In: messages of one sender, receiver and kind without common keys, in order. Out: which two are
// sightings of one.
#include "merge/join_state.h"

#define SCAN 64u    // messages looked at for one that joins
#define LEARNING 16 // a new delay counts for so much less than those before

guint bb_lane_hash(gconstpointer data)
{
    const BbLane *lane = data;
    guint hash = (lane->sender * 0x9e3779b1u ^ lane->receiver) * 0x85ebca6bu;
    return (hash ^ hash >> 15) + (guint)lane->kind;
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

static gint64 delay_key(guint32 first, guint32 second)
{
    return (gint64)((guint64)first << 32 | second);
}

void bb_lane_learn(BbJoin *join, guint32 first, guint32 second, gint64 delay_ns)
{
    gint64 key = delay_key(first, second);
    gint64 *usual_ns = g_hash_table_lookup(join->delays, &key);
    if (usual_ns)
        *usual_ns += (delay_ns - *usual_ns) / LEARNING;
    else
        g_hash_table_insert(join->delays, g_memdup2(&key, sizeof key),
                            g_memdup2(&delay_ns, sizeof delay_ns));
}

static bool differ(guint32 a, guint32 b)
{
    return a != b && a != BB_NAME_NONE && b != BB_NAME_NONE;
}

// Labels and sizes of different decoders tell nothing.
static bool is_like(const BbMessage *a, const BbMessage *b)
{
    if (a->proto != b->proto)
        return true;
    return !differ(a->op, b->op) && !differ(a->status, b->status) &&
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

// How far the distance in time of two sightings is from what is usual.
static gint64 oddness(const BbJoin *join, const BbHeld *a, const BbHeld *b)
{
    gint64 key = delay_key(a->seen.observer, b->seen.observer);
    const gint64 *usual_ns = g_hash_table_lookup(join->delays, &key);
    gint64 delay_ns = b->message.time_ns - a->message.time_ns;
    return ABS(delay_ns - (usual_ns ? *usual_ns : 0));
}

// Whether another message of held's observer is nearer to other.
static bool is_others(const BbJoin *join, const BbHeld *held, const BbHeld *other, gint64 odd_ns)
{
    guint left = SCAN;
    for (const BbHeld *rival = held->behind; rival && left; rival = rival->behind, left--)
        if (rival != other && rival->seen.observer == held->seen.observer &&
            rival->message.time_ns <= other->message.time_ns &&
            is_like(&rival->message, &other->message) && oddness(join, rival, other) < odd_ns)
            return true;
    return false;
}

BbHeld *bb_lane_match(const BbJoin *join, const BbHeld *held)
{
    BbHeld *best = NULL;
    gint64 best_ns = G_MAXINT64;
    guint left = SCAN;
    if (!held->lane || !held->lane->mixed)
        return NULL;
    for (BbHeld *other = held->behind; other && left; other = other->behind, left--) {
        if (other->message.time_ns - held->message.time_ns > join->options.window_ns ||
            share_observer(held, other) || !is_like(&held->message, &other->message))
            continue;
        gint64 odd_ns = oddness(join, held, other);
        if (odd_ns < best_ns && !is_others(join, held, other, odd_ns)) {
            best = other;
            best_ns = odd_ns;
        }
    }
    return best;
}
