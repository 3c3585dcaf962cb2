// SPDX-License-Identifier: Apache-2.0
// In: pairs of connections that are one. Out: which of both is nearer to which end, told by all
// pairs between the same nodes together; and what was translated, by nodes.
#include "merge/nat_state.h"

#include "data/keys.h"

#include <string.h>

// Pairs whose connections have these ends: a's first, b's so turned as to be those of a.
typedef struct Group {
    guint32 end[4];
    BbNatEdge edge;    // with near and far as a and b, until the side is known
    guint64 nearer[2]; // sums over pairs, see BbNatPair
    double lead_ns;
    guint64 calls[2]; // of the ends
} Group;

static guint group_hash(gconstpointer key)
{
    return bb_keys_bytes(((const Group *)key)->end, sizeof((Group *)0)->end);
}

static gboolean group_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(((const Group *)a)->end, ((const Group *)b)->end, sizeof((Group *)0)->end) == 0;
}

// The same for all pairs of a group: which connection is a is told by its nodes, and only where
// these are alike by the connections.
static void put_in_order(const BbNat *nat, BbNatPair *pair)
{
    const BbNatConnection *a = pair->a, *b = pair->b;
    int order = 0;
    for (guint i = 0; i < 2 && !order; i++)
        order = strcmp(bb_names_text(nat->names, a->end[i]), bb_names_text(nat->names, b->end[i]));
    if (order <= 0)
        return;
    BbNatPair other = *pair;
    other.a = pair->b;
    other.b = pair->a;
    for (guint side = 0; side < 2; side++) {
        other.nearer[!side ^ pair->turned] = pair->nearer[side];
        other.n[side ^ pair->turned] = pair->n[side];
    }
    if (!pair->turned)
        other.lead_ns = -pair->lead_ns;
    *pair = other;
}

static Group *group_of(GHashTable *groups, const BbNatPair *pair)
{
    Group key = {.end = {pair->a->end[0], pair->a->end[1], pair->b->end[pair->turned],
                         pair->b->end[!pair->turned]}};
    Group *group = g_hash_table_lookup(groups, &key);
    if (group)
        return group;
    group = g_memdup2(&key, sizeof key);
    group->edge = (BbNatEdge){.near = {key.end[0], key.end[1]},
                              .far = {key.end[2], key.end[3]},
                              .near_observer = pair->a->observer[0],
                              .far_observer = pair->b->observer[0]};
    g_hash_table_add(groups, group);
    return group;
}

static void add_pair(GHashTable *groups, const BbNatPair *pair)
{
    Group *group = group_of(groups, pair);
    group->lead_ns += pair->lead_ns;
    group->edge.connections++;
    group->edge.apart += pair->apart;
    group->edge.accidents = MAX(group->edge.accidents, pair->accidents);
    for (guint end = 0; end < 2; end++) {
        group->nearer[end] += pair->nearer[end];
        group->calls[end] += pair->a->calls[end] + pair->b->calls[end ^ pair->turned];
    }
}

// Whether a is nearer to end 0: a majority of answers, which a step of clocks between a few
// messages and theirs cannot turn.
static bool is_a_first(const Group *group)
{
    if (group->nearer[0] != group->nearer[1])
        return group->nearer[0] > group->nearer[1];
    return group->lead_ns >= 0;
}

// Whether chance alone could make such a majority of those that are not of one mind: it is within
// three standard deviations of none.
static bool is_noise(const Group *group)
{
    double more = (double)MAX(group->nearer[0], group->nearer[1]);
    double less = (double)MIN(group->nearer[0], group->nearer[1]);
    return more == 0 || (less > 0 && (more - less) * (more - less) < 9 * (more + less));
}

// ---- steps --------------------------------------------------------------------------------------

// Of several that are nearer to the end, any will do: they lead to the same.
static void set_step(BbNatConnection *from, guint end, const BbNatConnection *next, bool turned)
{
    if (!from->step[end].next)
        from->step[end] = (BbNatStep){next, turned};
}

static void link_pair(GHashTable *groups, const BbNatPair *pair)
{
    bool a_first = is_a_first(group_of(groups, pair));
    BbNatConnection *a = pair->a, *b = pair->b;
    if (pair->apart)
        return;
    if (a_first) { // at end 0 there is a, at end 1 there is b
        set_step(a, 1, b, pair->turned);
        set_step(b, pair->turned, a, pair->turned);
    } else {
        set_step(a, 0, b, pair->turned);
        set_step(b, !pair->turned, a, pair->turned);
    }
}

// ---- edges --------------------------------------------------------------------------------------

static void swap(guint32 *a, guint32 *b)
{
    guint32 kept = *a;
    *a = *b;
    *b = kept;
}

// Puts the end that calls first, and what is nearer to it.
static void turn_edge(Group *group)
{
    BbNatEdge *edge = &group->edge;
    bool far_first = !is_a_first(group);
    edge->noise = is_noise(group);
    if (group->calls[1] > group->calls[0]) {
        swap(&edge->near[0], &edge->near[1]);
        swap(&edge->far[0], &edge->far[1]);
        far_first = !far_first;
    }
    if (!far_first)
        return;
    swap(&edge->near[0], &edge->far[0]);
    swap(&edge->near[1], &edge->far[1]);
    swap(&edge->near_observer, &edge->far_observer);
}

static int most_first(gconstpointer a, gconstpointer b, gpointer data)
{
    const BbNatEdge *x = a, *y = b;
    const BbNames *names = data;
    const guint32 of_x[] = {x->near[0], x->near[1], x->far[0], x->far[1]};
    const guint32 of_y[] = {y->near[0], y->near[1], y->far[0], y->far[1]};
    int order = x->connections < y->connections ? 1 : x->connections > y->connections ? -1 : 0;
    for (guint i = 0; i < 4 && !order; i++)
        order = strcmp(bb_names_text(names, of_x[i]), bb_names_text(names, of_y[i]));
    return order;
}

void bb_nat_edges_make(BbNat *nat)
{
    g_autoptr(GHashTable) groups = g_hash_table_new_full(group_hash, group_equal, g_free, NULL);
    BbNatPair *pairs = (BbNatPair *)(gpointer)nat->pairs->data;
    for (guint i = 0; i < nat->pairs->len; i++) {
        put_in_order(nat, &pairs[i]);
        add_pair(groups, &pairs[i]);
    }
    for (guint i = 0; i < nat->pairs->len; i++)
        link_pair(groups, &pairs[i]);
    GHashTableIter iter;
    gpointer item = NULL;
    g_hash_table_iter_init(&iter, groups);
    while (g_hash_table_iter_next(&iter, &item, NULL)) {
        turn_edge(item);
        g_array_append_vals(nat->edges, &((Group *)item)->edge, 1);
    }
    g_array_sort_with_data(nat->edges, most_first, nat->names);
}
