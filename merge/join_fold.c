// SPDX-License-Identifier: Apache-2.0
// In: two sightings, or what has become of several. Out: one message.
#include "merge/join_state.h"

#include <string.h>

#define SWAP(type, a, b) \
    do {                 \
        type kept = (a); \
        (a) = (b);       \
        (b) = kept;      \
    } while (0)

static void swap_texts(BbHeld *a, BbHeld *b)
{
    SWAP(char *, a->text, b->text);
    SWAP(gsize, a->room, b->room);
}

static bool is_known(const BbJoin *join, const BbHeld *held)
{
    const BbClocks *clocks = join->options.clocks;
    return !clocks || bb_clocks_knows(clocks, held->message.observer);
}

// Whether one of both times is when the other was sent, or arrived.
static bool are_both_ends(const BbJoin *join, const BbHeld *a, const BbHeld *b)
{
    return a->message.observer != b->message.observer && is_known(join, a) && is_known(join, b);
}

// Whether b is nearer to the sender.
static bool is_nearer(const BbJoin *join, const BbHeld *b, const BbHeld *a)
{
    if (a->message.at_receiver != b->message.at_receiver)
        return a->message.at_receiver;
    if (is_known(join, a) != is_known(join, b))
        return is_known(join, b);
    return b->message.time_ns < a->message.time_ns;
}

static void set_arrival(const BbJoin *join, BbHeld *a, const BbHeld *b)
{
    gint64 *recv_ns = &a->message.recv_ns;
    if (b->message.at_receiver && !a->message.at_receiver) {
        *recv_ns = b->message.time_ns;
        a->receiver_told = true;
        return;
    }
    if (b->receiver_told && !a->receiver_told) {
        *recv_ns = b->message.recv_ns;
        a->receiver_told = true;
        return;
    }
    if (a->receiver_told || a->message.at_receiver || !are_both_ends(join, a, b))
        return;
    *recv_ns = MAX(*recv_ns, MAX(b->message.recv_ns, b->message.time_ns)); // absent is least
}

static bool is_undecoded(const BbJoin *join, const BbMessage *message)
{
    return message->proto == join->tcp || message->proto == join->udp;
}

static void fill_name(guint32 *name, guint32 other)
{
    if (*name == BB_NAME_NONE)
        *name = other;
}

// What an observer decoded counts more than turns on a connection that another came to too late.
static void fill_meaning(BbJoin *join, BbMessage *a, const BbMessage *b)
{
    bool decoded = is_undecoded(join, a) && b->proto != BB_NAME_NONE && !is_undecoded(join, b);
    if (a->kind != b->kind)
        join->count[BB_JOIN_OTHER_KIND]++;
    if (decoded || (a->kind == BB_FREE && b->kind != BB_FREE)) {
        a->kind = b->kind;
        a->op = b->op;
        a->status = b->status;
        a->proto = b->proto;
        return;
    }
    fill_name(&a->op, b->op);
    fill_name(&a->status, b->status);
    fill_name(&a->proto, b->proto);
}

static void fill_message(BbJoin *join, BbMessage *a, const BbMessage *b)
{
    bool unread = a->status == join->unread || b->status == join->unread;
    fill_meaning(join, a, b);
    if (unread)
        a->status = join->unread;
    if (a->end_ns == BB_TIME_NONE && b->end_ns != BB_TIME_NONE)
        a->end_ns = a->time_ns + (b->end_ns - b->time_ns);
    if (a->bytes == BB_BYTES_NONE || (b->bytes != BB_BYTES_NONE && b->bytes > a->bytes))
        a->bytes = b->bytes; // the other one lost some
    if (!bb_id_is_known(a->path))
        a->path = b->path;
    if (!bb_id_is_known(a->parent))
        a->parent = b->parent;
}

static void note_names(BbJoin *join, guint32 name, guint32 other)
{
    if (name == other)
        return;
    bool turn = strcmp(bb_names_text(join->names, name), bb_names_text(join->names, other)) > 0;
    BbJoinNames key = {.name = turn ? other : name, .other = turn ? name : other};
    BbJoinNames *apart = g_hash_table_lookup(join->apart, &key);
    if (!apart && g_hash_table_size(join->apart) == BB_JOIN_NAMES)
        return;
    if (!apart) {
        apart = g_memdup2(&key, sizeof key);
        g_hash_table_add(join->apart, apart);
    }
    apart->count++;
}

static void learn_delays(BbJoin *join, const BbHeld *a, const BbHeld *b)
{
    for (const BbSighting *x = &a->seen; x; x = x->next)
        for (const BbSighting *y = &b->seen; y; y = y->next) {
            bool turn = y->time_ns < x->time_ns;
            bb_lane_learn(join, turn ? y->observer : x->observer, turn ? x->observer : y->observer,
                          ABS(y->time_ns - x->time_ns));
        }
}

static bool is_again(const BbHeld *a, const BbHeld *b)
{
    for (const BbSighting *seen = &a->seen; seen; seen = seen->next)
        if (bb_sighting_is_again(seen, &b->seen))
            return true;
    return false;
}

static void take_sightings(BbHeld *a, BbHeld *b)
{
    BbSighting *last = &a->seen;
    while (last->next)
        last = last->next;
    last->next = g_slice_dup(BbSighting, &b->seen);
    b->seen.next = NULL;
}

// A connection of b's where a has none; its text has a place only if a needs none.
static void take_connection(BbHeld *a, BbHeld *b)
{
    if (a->message.conn || a->message.extra || !b->message.conn)
        return;
    swap_texts(a, b);
    a->message.conn = b->message.conn;
    a->message.offset = b->message.offset;
}

bool bb_held_fold(BbJoin *join, BbHeld *a, BbHeld *b)
{
    bool again = b->seen.again = is_again(a, b);
    if (!again)
        learn_delays(join, a, b);
    if (is_nearer(join, b, a)) {
        SWAP(BbMessage, a->message, b->message);
        SWAP(bool, a->receiver_told, b->receiver_told);
        swap_texts(a, b);
    }
    note_names(join, a->message.sender, b->message.sender);
    note_names(join, a->message.receiver, b->message.receiver);
    set_arrival(join, a, b);
    fill_message(join, &a->message, &b->message);
    take_connection(a, b);
    take_sightings(a, b);
    if (a->call && b->call)
        bb_call_ids_unite(join->ids, a->call, b->call);
    else if (b->call)
        a->call = b->call;
    b->call = NULL;
    if (a->call)
        bb_open_call_move(a->call, a->message.time_ns);
    return again;
}
