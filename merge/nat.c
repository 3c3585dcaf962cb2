// SPDX-License-Identifier: Apache-2.0
// In: sightings with a place in a connection. Out: the same, where connections are one under the
// names of one.
#include "merge/nat.h"

#include "data/keys.h"
#include "merge/nat_state.h"

#include <string.h>

#define BLOCK 20 // bits: connections are sampled by blocks of so many bytes
#define HOPS 8u  // NATs behind each other

static void connection_free(gpointer data)
{
    BbNatConnection *connection = data;
    g_free(connection->text);
    g_free(connection);
}

BbNat *bb_nat_new(BbNames *names, guint connections_max)
{
    BbNat *nat = g_new0(BbNat, 1);
    nat->names = names;
    nat->connections_max = connections_max;
    nat->connections = g_hash_table_new_full(bb_text_key_hash, g_str_equal, NULL, connection_free);
    nat->limit = G_MAXUINT64;
    nat->edges = g_array_new(FALSE, FALSE, sizeof(BbNatEdge));
    nat->pairs = g_array_new(FALSE, FALSE, sizeof(BbNatPair));
    return nat;
}

void bb_nat_free(BbNat *nat)
{
    if (!nat)
        return;
    g_hash_table_destroy(nat->connections);
    g_array_unref(nat->pairs);
    g_array_unref(nat->edges);
    g_free(nat);
}

// ---- the sample ---------------------------------------------------------------------------------

// Steps that can each be undone: different positions have different ranks. The constants are those
// of 2^64 / golden ratio and a fraction of sqrt(2).
static guint64 rank_of(guint64 position)
{
    guint64 rank = (position ^ position >> 32) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    rank = (rank ^ rank >> 29) * G_GUINT64_CONSTANT(0x6a09e667f3bcc909);
    return rank ^ rank >> 32;
}

static int by_number(gconstpointer a, gconstpointer b)
{
    const guint64 *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static gboolean is_out(gpointer key, gpointer value, gpointer user)
{
    const BbNatConnection *connection = value;
    const BbNat *nat = user;
    return connection->lowest >= nat->limit;
}

// Drops about half of all connections.
static void make_room(BbNat *nat)
{
    g_autoptr(GArray) ranks = g_array_new(FALSE, FALSE, sizeof(guint64));
    GHashTableIter iter;
    gpointer item = NULL;
    g_hash_table_iter_init(&iter, nat->connections);
    while (g_hash_table_iter_next(&iter, NULL, &item))
        g_array_append_val(ranks, ((BbNatConnection *)item)->lowest);
    g_array_sort(ranks, by_number);
    nat->limit = g_array_index(ranks, guint64, ranks->len / 2);
    nat->forgotten += g_hash_table_foreach_remove(nat->connections, is_out, nat);
}

// ---- sightings ----------------------------------------------------------------------------------

// Which end sends: names that differ between observers do no harm while they sort the same way.
static guint side_of(const BbNat *nat, const BbMessage *message)
{
    return strcmp(bb_names_text(nat->names, message->sender),
                  bb_names_text(nat->names, message->receiver)) > 0;
}

static BbNatConnection *add_connection(BbNat *nat, const BbMessage *message, guint side)
{
    BbNatConnection *connection = g_new0(BbNatConnection, 1);
    connection->text = g_strdup(message->conn);
    connection->end[side] = message->sender;
    connection->end[!side] = message->receiver;
    connection->lowest = G_MAXUINT64;
    g_hash_table_insert(nat->connections, connection->text, connection);
    return connection;
}

static void note_observer(BbNatConnection *connection, guint32 observer)
{
    for (guint i = 0; i < BB_NAT_OBSERVERS; i++) {
        if (connection->observer[i] == BB_NAME_NONE)
            connection->observer[i] = observer;
        if (connection->observer[i] == observer)
            return;
    }
    connection->many = true;
}

// A connection is kept by the lowest of its blocks, and what it holds is what came since that block
// began: the same at each observer, however late it was taken in there.
static void begin_again(BbNatConnection *connection, guint64 block)
{
    connection->lowest = block;
    memset(connection->n, 0, sizeof connection->n);
    memset(connection->messages, 0, sizeof connection->messages);
}

// A message from the other end came.
static void note_answer(BbNatConnection *connection, guint side, const BbNatPlace *place)
{
    for (guint i = 0; i < connection->n[!side]; i++) {
        BbNatPlace *asked = &connection->places[!side][i];
        if (asked->answer != BB_OFFSET_NONE)
            continue;
        asked->answer = place->position;
        asked->answer_ns = place->time_ns;
    }
}

// Keeps the place if its rank is among the lowest.
static void note_place(BbNatConnection *connection, guint side, const BbNatPlace *place)
{
    BbNatPlace *places = connection->places[side];
    guint64 rank = rank_of(place->position);
    guint at = connection->n[side];
    while (at > 0 && rank < rank_of(places[at - 1].position))
        at--;
    if (at == BB_NAT_PLACES || (at > 0 && places[at - 1].position == place->position))
        return;
    guint n = MIN(connection->n[side] + 1u, BB_NAT_PLACES);
    memmove(places + at + 1, places + at, (n - at - 1) * sizeof *places);
    places[at] = *place;
    connection->n[side] = (guint8)n;
}

void bb_nat_add(BbNat *nat, const BbMessage *message)
{
    if (!message->conn || message->offset == BB_OFFSET_NONE || message->sender == message->receiver)
        return;
    BbNatPlace place = {
        .position = message->offset, .answer = BB_OFFSET_NONE, .time_ns = message->time_ns};
    guint side = side_of(nat, message);
    // Not of returns: a call and its return must not lie on both sides of where all begins again.
    bool ranks = message->kind != BB_RETURN;
    guint64 block = ranks ? rank_of(message->offset >> BLOCK) : G_MAXUINT64;
    BbNatConnection *connection = g_hash_table_lookup(nat->connections, message->conn);
    while (!connection && block < nat->limit &&
           g_hash_table_size(nat->connections) >= nat->connections_max)
        make_room(nat);
    if (!connection && block >= nat->limit)
        return;
    if (!connection)
        connection = add_connection(nat, message, side);
    note_observer(connection, message->observer);
    if (connection->observer[0] != message->observer)
        return;
    if (block < connection->lowest)
        begin_again(connection, block);
    connection->messages[side]++;
    connection->calls[side] += message->kind == BB_CALL;
    connection->calls[!side] += message->kind == BB_RETURN;
    connection->no_proof |= message->offset < BB_OFFSET_RELATIVE || message->offset > G_MAXUINT32;
    note_answer(connection, side, &place);
    note_place(connection, side, &place);
}

// ---- what is one --------------------------------------------------------------------------------

static gboolean is_alone(gpointer key, gpointer value, gpointer user)
{
    const BbNatConnection *connection = value;
    return !connection->step[0].next && !connection->step[1].next;
}

void bb_nat_solve(BbNat *nat, gint64 window_ns)
{
    g_array_unref(nat->pairs);
    nat->pairs = bb_nat_pairs_find(nat, window_ns);
    bb_nat_edges_make(nat);
    g_array_set_size(nat->pairs, 0);
    g_hash_table_foreach_remove(nat->connections, is_alone, nat);
    nat->joined = g_hash_table_size(nat->connections);
}

// The sighting that is nearest to an end, which becomes its own number of that end.
static const BbNatConnection *nearest(const BbNatConnection *connection, guint *end)
{
    for (guint hop = 0; hop < HOPS && connection->step[*end].next; hop++) {
        BbNatStep step = connection->step[*end];
        connection = step.next;
        *end ^= step.turned;
    }
    return connection;
}

bool bb_nat_apply(const BbNat *nat, BbMessage *message)
{
    const BbNatConnection *connection =
        message->conn && nat->joined ? g_hash_table_lookup(nat->connections, message->conn) : NULL;
    if (!connection || message->sender == message->receiver)
        return false;
    guint side = side_of(nat, message), sender = side, receiver = !side;
    const BbNatConnection *one = nearest(connection, &sender);
    const BbNatConnection *other = nearest(connection, &receiver);
    message->sender = one->end[sender];
    message->receiver = other->end[receiver];
    message->conn = strcmp(one->text, other->text) < 0 ? one->text : other->text;
    return true;
}

GArray *bb_nat_edges(const BbNat *nat)
{
    return g_array_copy(nat->edges);
}

guint bb_nat_joined(const BbNat *nat)
{
    return nat->joined;
}

guint64 bb_nat_forgotten(const BbNat *nat)
{
    return nat->forgotten;
}

const char *bb_nat_meaning(const char *name)
{
    if (strcmp(name, BB_NAT_JOINED) == 0)
        return "connections joined with one that was translated";
    if (strcmp(name, BB_NAT_NOISE) == 0)
        return "of these, pairs whose names may be of the wrong side";
    return strcmp(name, BB_NAT_FORGOTTEN) == 0
               ? "connections dropped from the search for translated ones"
               : NULL;
}
