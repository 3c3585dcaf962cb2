// SPDX-License-Identifier: Apache-2.0
// In: sightings that wait. Out: where they stand, in order of time and by key.
#include "merge/join_state.h"

#include <string.h>

#define TEXT_KEEP 256u // a place keeps room for texts up to this size

static void free_sightings(BbHeld *held)
{
    for (BbSighting *seen = held->seen.next, *next = NULL; seen; seen = next) {
        next = seen->next;
        g_slice_free(BbSighting, seen);
    }
    held->seen.next = NULL;
}

void bb_held_free(BbHeld *held)
{
    free_sightings(held);
    g_free(held->text);
    g_free(held);
}

static char *put_text(char *at, const char **text, gsize size)
{
    if (size == 0)
        return at; // which may be NULL
    memcpy(at, *text, size);
    *text = at;
    return at + size;
}

BbHeld *bb_held_take(BbJoin *join, const BbMessage *message)
{
    BbHeld *held = join->vacant;
    if (held)
        join->vacant = held->next_same;
    else
        held = g_new0(BbHeld, 1);
    gsize conn = message->conn ? strlen(message->conn) + 1 : 0;
    gsize extra = message->extra ? strlen(message->extra) + 1 : 0;
    if (conn + extra > held->room) {
        g_free(held->text);
        held->room = MAX(conn + extra, 64);
        held->text = g_malloc(held->room);
    }
    held->message = *message;
    char *rest = put_text(held->text, &held->message.conn, conn);
    (void)put_text(rest, &held->message.extra, extra);
    return held;
}

void bb_held_give_back(BbJoin *join, BbHeld *held)
{
    free_sightings(held);
    if (held->room > TEXT_KEEP) {
        g_clear_pointer(&held->text, g_free);
        held->room = 0;
    }
    held->next_same = join->vacant;
    join->vacant = held;
}

// ---- the list and the table ---------------------------------------------------------------------

// Whom a message comes behind; NULL: nobody. Most are young. Where a trace is out of order some are
// older than all, or come near the last one that was late: the place is looked for from there, too.
static BbHeld *find_older(const BbJoin *join, gint64 time_ns)
{
    BbHeld *older = join->youngest, *younger = join->oldest, *near = join->late;
    bool forward = near && near->message.time_ns <= time_ns;
    for (;;) {
        if (!older || older->message.time_ns <= time_ns)
            return older;
        if (younger->message.time_ns > time_ns)
            return younger->older;
        BbHeld *next = !near ? NULL : forward ? near->younger : near->older;
        if (forward && (!next || next->message.time_ns > time_ns))
            return near;
        if (near && !forward && (!next || next->message.time_ns <= time_ns))
            return next;
        older = older->older;
        younger = younger->younger;
        near = next;
    }
}

void bb_held_insert(BbJoin *join, BbHeld *held)
{
    BbHeld *older = find_older(join, held->message.time_ns);
    held->older = older;
    held->younger = older ? older->younger : join->oldest;
    *(older ? &older->younger : &join->oldest) = held;
    *(held->younger ? &held->younger->older : &join->youngest) = held;
    if (held->younger)
        join->late = held;
}

void bb_held_remove(BbJoin *join, const BbHeld *held)
{
    *(held->older ? &held->older->younger : &join->oldest) = held->younger;
    *(held->younger ? &held->younger->older : &join->youngest) = held->older;
    if (join->late == held)
        join->late = held->older;
}

static void table_grow(BbJoin *join)
{
    g_free(join->buckets);
    join->n_buckets *= 2;
    join->buckets = g_new0(BbHeld *, join->n_buckets);
    for (BbHeld *held = join->oldest; held; held = held->younger) {
        if (held->key.by == BB_SIGHTING_BY_ORDER)
            continue;
        BbHeld **bucket = bb_held_bucket(join, &held->key);
        held->next_same = *bucket;
        *bucket = held;
    }
}

static void table_remove(BbJoin *join, const BbHeld *held)
{
    if (held->key.by == BB_SIGHTING_BY_ORDER)
        return;
    BbHeld **at = bb_held_bucket(join, &held->key);
    while (*at != held)
        at = &(*at)->next_same;
    *at = held->next_same;
}

// A datagram, too: another observer's trace may say less of it, or be from beyond a translation.
static bool goes_by_order(const BbJoin *join, const BbHeld *held)
{
    const BbSightingKey *key = &held->key;
    bool no_key = key->by == BB_SIGHTING_BY_ORDER || key->local;
    return join->options.by == BB_JOIN_ORDER ||
           (join->options.by == BB_JOIN_KEYS && (no_key || bb_message_has_print(&held->message)));
}

void bb_held_enter(BbJoin *join, BbHeld *held)
{
    bb_held_insert(join, held);
    if (held->key.by != BB_SIGHTING_BY_ORDER) {
        BbHeld **bucket = bb_held_bucket(join, &held->key);
        held->next_same = *bucket;
        *bucket = held;
    }
    held->lane = NULL;
    if (goes_by_order(join, held))
        bb_lane_enter(join, held);
    if (++join->n_held > join->n_buckets / 4)
        table_grow(join);
}

void bb_held_leave(BbJoin *join, BbHeld *held)
{
    bb_held_remove(join, held);
    table_remove(join, held);
    if (held->lane)
        bb_lane_leave(join, held);
    join->n_held--;
}
