// SPDX-License-Identifier: Apache-2.0
// In: connections with a sample of the places in them where messages begin. Out: which two are one.
#include "merge/nat_state.h"

#include "data/call.h"

#include <math.h>
#include <string.h>

#define NUMBERS 4294967296.0 // sequence numbers that there are

// A place, of whom it is.
typedef struct Entry {
    guint64 position;
    BbNatConnection *connection;
    const BbNatPlace *place;
    guint side;
} Entry;

// How much later b saw a message than a, and when that was.
typedef struct Delay {
    gint64 delay_ns, time_ns;
} Delay;

// Two connections with places in common.
typedef struct Candidate {
    BbNatPair pair;
    Delay least, most;
} Candidate;

static guint candidate_hash(gconstpointer key)
{
    const BbNatPair *pair = key;
    guint64 hash = (guint64)(gsize)pair->a * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    hash = (hash ^ (guint64)(gsize)pair->b) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    return (guint)(hash >> 32) + pair->turned;
}

static gboolean candidate_equal(gconstpointer a, gconstpointer b)
{
    const BbNatPair *x = a, *y = b;
    return x->a == y->a && x->b == y->b && x->turned == y->turned;
}

// ---- places in common ---------------------------------------------------------------------------

static void add_entries(BbNatConnection *connection, GArray *entries)
{
    for (guint side = 0; side < 2; side++) {
        for (guint i = 0; i < connection->n[side]; i++) {
            const BbNatPlace *place = &connection->places[side][i];
            Entry entry = {place->position, connection, place, side};
            g_array_append_val(entries, entry);
        }
    }
}

static int by_position(gconstpointer a, gconstpointer b)
{
    const Entry *x = a, *y = b;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    int order = strcmp(x->connection->text, y->connection->text);
    return order ? order : (int)x->side - (int)y->side;
}

static Candidate *candidate_of(GHashTable *candidates, const Entry *x, const Entry *y)
{
    Candidate key = {.pair = {.a = x->connection, .b = y->connection, .turned = x->side != y->side},
                     .least = {.delay_ns = G_MAXINT64},
                     .most = {.delay_ns = G_MININT64}};
    Candidate *candidate = g_hash_table_lookup(candidates, &key);
    if (!candidate) {
        candidate = g_memdup2(&key, sizeof key);
        g_hash_table_add(candidates, candidate);
    }
    return candidate;
}

static double between(gint64 from_ns, gint64 to_ns)
{
    return (double)bb_time_between(from_ns, to_ns);
}

// What an end sends passes first where it is nearer, the answer there last: by both together b is
// further from the end than a, and how far the clocks are apart is in neither. What they drift by
// from one to the other is: less than that tells nothing.
static void add_lead(BbNatPair *pair, guint side, const BbNatPlace *x, const BbNatPlace *y)
{
    if (x->answer != y->answer || x->answer == BB_OFFSET_NONE)
        return;
    double of_x = between(x->time_ns, x->answer_ns), of_y = between(y->time_ns, y->answer_ns);
    double lead_ns = of_x - of_y, drift_ns = BB_NAT_DRIFT * MAX(fabs(of_x), fabs(of_y));
    pair->lead_ns += side ? -lead_ns : lead_ns;
    if (fabs(lead_ns) > drift_ns)
        pair->nearer[lead_ns > 0 ? side : !side]++;
}

static void add_common(GHashTable *candidates, const Entry *x, const Entry *y)
{
    Candidate *candidate = candidate_of(candidates, x, y);
    gint64 time_ns = x->place->time_ns;
    Delay delay = {bb_time_between(time_ns, y->place->time_ns), time_ns};
    candidate->pair.n[x->side]++;
    if (delay.delay_ns < candidate->least.delay_ns)
        candidate->least = delay;
    if (delay.delay_ns > candidate->most.delay_ns)
        candidate->most = delay;
    add_lead(&candidate->pair, x->side, x->place, y->place);
}

// Entries [from .. to) have one position. Those of one connection are next to each other.
static void add_run(GHashTable *candidates, const Entry *entries, guint from, guint to)
{
    guint different = 1;
    for (guint i = from + 1; i < to; i++)
        different += entries[i].connection != entries[i - 1].connection;
    if (different > BB_NAT_ALIKE)
        return;
    for (guint i = from; i < to; i++)
        for (guint j = i + 1; j < to; j++)
            if (entries[i].connection != entries[j].connection)
                add_common(candidates, &entries[i], &entries[j]);
}

static GHashTable *find_candidates(const BbNat *nat)
{
    GHashTable *candidates = g_hash_table_new_full(candidate_hash, candidate_equal, g_free, NULL);
    g_autoptr(GArray) entries = g_array_new(FALSE, FALSE, sizeof(Entry));
    GHashTableIter iter;
    gpointer item = NULL;
    g_hash_table_iter_init(&iter, nat->connections);
    while (g_hash_table_iter_next(&iter, NULL, &item))
        if (!((BbNatConnection *)item)->no_proof)
            add_entries(item, entries);
    g_array_sort(entries, by_position);
    const Entry *all = (const Entry *)(gpointer)entries->data;
    for (guint from = 0, to = 0; from < entries->len; from = to) {
        while (to < entries->len && all[to].position == all[from].position)
            to++;
        add_run(candidates, all, from, to);
    }
    return candidates;
}

// ---- proof --------------------------------------------------------------------------------------

// The share of places that agree, of messages from one end of a.
static double share_of(const BbNatPair *pair, guint side)
{
    guint of_a = pair->a->n[side], of_b = pair->b->n[side ^ pair->turned];
    return (double)pair->n[side] / MAX(MAX(of_a, of_b), 1);
}

// The probability that two directions which have nothing to do with each other agree so well: each
// way to lay one upon the other makes at least a share of the messages agree.
static double chance_of(const BbNatPair *pair, guint side, double share)
{
    guint64 messages = MAX(pair->a->messages[side], pair->b->messages[side ^ pair->turned]);
    return MIN((double)messages / share / NUMBERS, 1);
}

static bool share_observer(const BbNatConnection *a, const BbNatConnection *b)
{
    if (a->many || b->many)
        return true;
    for (guint i = 0; i < BB_NAT_OBSERVERS && a->observer[i]; i++)
        for (guint j = 0; j < BB_NAT_OBSERVERS; j++)
            if (a->observer[i] == b->observer[j])
                return true;
    return false;
}

// Whether the times are apart by one and the same, but for what clocks drift by meanwhile.
static bool is_one_time(const Candidate *candidate, gint64 window_ns)
{
    const Delay *least = &candidate->least, *most = &candidate->most;
    double apart_ns = between(least->delay_ns, most->delay_ns);
    double drift_ns = BB_NAT_DRIFT * fabs(between(least->time_ns, most->time_ns));
    return apart_ns <= (double)window_ns + drift_ns;
}

static bool is_proof(const BbNat *nat, Candidate *candidate, gint64 window_ns)
{
    BbNatPair *pair = &candidate->pair;
    double connections = g_hash_table_size(nat->connections);
    double accidents = connections * (connections - 1); // twice as many pairs: ends may be turned
    if (!is_one_time(candidate, window_ns))
        return false;
    for (guint side = 0; side < 2; side++) {
        double share = share_of(pair, side);
        if (share < 0.5)
            return false;
        accidents *= chance_of(pair, side, share);
    }
    pair->accidents = accidents;
    pair->apart = share_observer(pair->a, pair->b);
    return accidents < BB_NAT_ACCIDENTS;
}

static int by_texts(gconstpointer a, gconstpointer b)
{
    const BbNatPair *x = a, *y = b;
    int order = strcmp(x->a->text, y->a->text);
    order = order ? order : strcmp(x->b->text, y->b->text);
    return order ? order : (int)x->turned - (int)y->turned;
}

GArray *bb_nat_pairs_find(const BbNat *nat, gint64 window_ns)
{
    g_autoptr(GHashTable) candidates = find_candidates(nat);
    GArray *pairs = g_array_new(FALSE, FALSE, sizeof(BbNatPair));
    GHashTableIter iter;
    gpointer item = NULL;
    g_hash_table_iter_init(&iter, candidates);
    while (g_hash_table_iter_next(&iter, &item, NULL))
        if (is_proof(nat, item, window_ns))
            g_array_append_vals(pairs, &((Candidate *)item)->pair, 1);
    g_array_sort(pairs, by_texts);
    return pairs;
}
