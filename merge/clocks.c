// SPDX-License-Identifier: Apache-2.0
// In: messages of several observers. Out: how each one's clock relates to the first one's.
#include "merge/clocks.h"

#include "data/call.h"
#include "merge/clock_matches.h"

#include <math.h>
#include <stdlib.h>

#define NONE G_MAXUINT

struct BbClocks {
    const BbNames *names;
    BbSightings *sightings;
    GArray *clocks;    // of BbClock
    GArray *index;     // of guint, by name: place in clocks, and 1
    GArray *relations; // of BbClockRelation
    gint64 start_ns;   // first time of the reference; BB_TIME_NONE until it saw something
    guint64 ambiguous;
};

static void clock_clear(gpointer clock)
{
    bb_clock_map_free(((BbClock *)clock)->map);
}

static void relation_clear(gpointer data)
{
    BbClockRelation *relation = data;
    bb_clock_fit_clear(&relation->fit);
    g_array_unref(relation->shown);
}

BbClocks *bb_clocks_new(const BbNames *names, gsize samples)
{
    BbClocks *clocks = g_new(BbClocks, 1);
    *clocks = (BbClocks){
        .names = names,
        .sightings = bb_sightings_new(samples),
        .clocks = g_array_new(FALSE, FALSE, sizeof(BbClock)),
        .index = g_array_new(FALSE, TRUE, sizeof(guint)),
        .relations = g_array_new(FALSE, FALSE, sizeof(BbClockRelation)),
        .start_ns = BB_TIME_NONE,
    };
    g_array_set_clear_func(clocks->clocks, clock_clear);
    g_array_set_clear_func(clocks->relations, relation_clear);
    return clocks;
}

void bb_clocks_free(BbClocks *clocks)
{
    if (!clocks)
        return;
    bb_sightings_free(clocks->sightings);
    g_array_unref(clocks->clocks);
    g_array_unref(clocks->index);
    g_array_unref(clocks->relations);
    g_free(clocks);
}

static BbClock *clock_at(const BbClocks *clocks, guint index)
{
    return &g_array_index(clocks->clocks, BbClock, index);
}

// ---- adding ------------------------------------------------------------------------------------

static guint find(const BbClocks *clocks, guint32 name)
{
    guint place = name < clocks->index->len ? g_array_index(clocks->index, guint, name) : 0;
    return place ? place - 1 : NONE;
}

static guint find_or_add(BbClocks *clocks, guint32 name)
{
    guint found = find(clocks, name);
    if (found != NONE)
        return found;
    const BbClock clock = {.name = name, .state = BB_CLOCK_UNKNOWN};
    g_array_append_val(clocks->clocks, clock);
    if (name >= clocks->index->len)
        g_array_set_size(clocks->index, name + 1);
    g_array_index(clocks->index, guint, name) = clocks->clocks->len;
    return clocks->clocks->len - 1;
}

void bb_clocks_observer(BbClocks *clocks, guint32 name)
{
    find_or_add(clocks, name);
}

static void note_start(BbClocks *clocks, guint observer, gint64 time_ns)
{
    if (observer == 0 && (clocks->start_ns == BB_TIME_NONE || time_ns < clocks->start_ns))
        clocks->start_ns = time_ns;
}

static void add_seen(BbClocks *clocks, guint observer, const BbMessage *message,
                     const BbSightingKey *key, gint64 time_ns, bool at_receiver)
{
    const BbSeen seen = {
        .hi = key->hi,
        .lo = key->lo,
        .time_ns = time_ns,
        .observer = observer,
        .sender = message->sender,
        .receiver = message->receiver,
        .kind = (guint8)message->kind,
        .at_receiver = at_receiver,
    };
    clock_at(clocks, observer)->sightings++;
    bb_sightings_add(clocks->sightings, &seen);
}

void bb_clocks_add(BbClocks *clocks, const BbMessage *message)
{
    guint observer = find_or_add(clocks, message->observer);
    note_start(clocks, observer, message->time_ns);
    BbSightingKey key = bb_sighting_key(message, clocks->names);
    if (key.by != BB_SIGHTING_BY_ORDER && !key.local)
        add_seen(clocks, observer, message, &key, message->time_ns, message->at_receiver);
}

// Both times stand in one message: its key need not be found again, but be its own.
static BbSightingKey own_key(const BbMessage *message, const BbNames *names)
{
    BbMessage stamped = *message;
    stamped.conn = NULL;
    stamped.id = bb_id_number((guint64)message->time_ns & G_MAXINT64);
    BbSightingKey key = bb_sighting_key(&stamped, names);
    key.hi ^= (guint64)message->recv_ns * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    return key;
}

void bb_clocks_add_nodes(BbClocks *clocks, const BbMessage *message)
{
    bool both = message->recv_ns != BB_TIME_NONE && !message->at_receiver;
    bool at_receiver = message->at_receiver;
    guint here = find_or_add(clocks, at_receiver ? message->receiver : message->sender);
    guint there = find_or_add(clocks, at_receiver ? message->sender : message->receiver);
    note_start(clocks, here, message->time_ns);
    if (both)
        note_start(clocks, there, message->recv_ns);
    if (here == there)
        return;
    BbSightingKey key =
        both ? own_key(message, clocks->names) : bb_sighting_key(message, clocks->names);
    if (key.by == BB_SIGHTING_BY_ORDER)
        return;
    add_seen(clocks, here, message, &key, message->time_ns, at_receiver);
    if (both)
        add_seen(clocks, there, message, &key, message->recv_ns, true);
}

// ---- relations ---------------------------------------------------------------------------------

static BbClockRelation *relation_at(const BbClocks *clocks, guint index)
{
    return &g_array_index(clocks->relations, BbClockRelation, index);
}

static int compare_points(gconstpointer a, gconstpointer b)
{
    const BbClockPoint *p = a, *q = b;
    if (p->a_ns != q->a_ns)
        return p->a_ns < q->a_ns ? -1 : 1;
    return p->b_ns < q->b_ns ? -1 : p->b_ns > q->b_ns;
}

// Not at even distances: calls and returns alternate, and one of them could be missed.
static GArray *pick_shown(const BbClockPoint *points, gsize count)
{
    GArray *shown = g_array_new(FALSE, FALSE, sizeof(BbClockPoint));
    gsize n = MIN(count, BB_CLOCK_SHOWN);
    for (gsize i = 0; i < n; i++) {
        gsize begin = i * count / n, end = (i + 1) * count / n;
        gsize offset = ((guint32)i * 0x9e3779b1u >> 16) % (end - begin);
        g_array_append_val(shown, points[begin + offset]);
    }
    if (n)
        qsort(shown->data, n, sizeof *points, compare_points);
    return shown;
}

static void add_relation(BbClocks *clocks, const BbClockMatches *pair, const guint32 *places)
{
    BbClockRelation relation = {.a = pair->a, .b = pair->b, .matches = pair->matches->len};
    BbClockMatch *matches = &g_array_index(pair->matches, BbClockMatch, 0);
    g_autofree BbClockPoint *points = g_new(BbClockPoint, pair->matches->len);
    gsize count = 0;
    bb_clock_order_find(matches, pair->matches->len, places[pair->a], places[pair->b]);
    for (guint i = 0; i < pair->matches->len; i++) {
        if (matches[i].order == BB_CLOCK_ORDER_UNKNOWN)
            continue;
        bool a_first = matches[i].order == BB_CLOCK_ORDER_A_FIRST;
        points[count++] = (BbClockPoint){matches[i].a_ns, matches[i].b_ns, a_first};
    }
    relation.unordered = pair->matches->len - count;
    relation.shown = pick_shown(points, count);
    relation.fit = bb_clock_fit(points, count);
    g_array_append_val(clocks->relations, relation);
}

static void relate(BbClocks *clocks)
{
    const BbSeen *seen = bb_sightings_sort(clocks->sightings);
    gsize count = bb_sightings_kept(clocks->sightings);
    g_autofree guint32 *places = bb_clock_places(seen, count, clocks->clocks->len);
    g_autoptr(GPtrArray) pairs = bb_clock_matches_list(seen, count, &clocks->ambiguous);
    for (guint i = 0; i < pairs->len; i++)
        add_relation(clocks, g_ptr_array_index(pairs, i), places);
}

// ---- chains ------------------------------------------------------------------------------------

// The known observer and the relation over which a clock becomes known with the least error: a
// shortest path to the reference. Ties go to the first relation. Returns false at the end.
static bool nearest(const BbClocks *clocks, guint *known, guint *relation, double *error_ns)
{
    bool found = false;
    for (guint i = 0; i < clocks->relations->len; i++) {
        const BbClockRelation *r = relation_at(clocks, i);
        bool a_known = clock_at(clocks, r->a)->map != NULL;
        if (r->fit.state != BB_CLOCK_FIT_LINES || a_known == (clock_at(clocks, r->b)->map != NULL))
            continue;
        guint from = a_known ? r->a : r->b;
        double error = clock_at(clocks, from)->error_ns + bb_clock_map_error_ns(r->fit.map);
        if (found && error >= *error_ns)
            continue;
        found = true;
        *known = from;
        *relation = i;
        *error_ns = error;
    }
    return found;
}

static void make_known(BbClocks *clocks, guint known, BbClockRelation *relation)
{
    bool forward = relation->b == known; // the relation maps the new clock to the known one
    guint index = forward ? relation->a : relation->b;
    BbClock *clock = clock_at(clocks, index);
    g_autoptr(BbClockMap) back = forward ? NULL : bb_clock_map_invert(relation->fit.map);
    clock->map =
        bb_clock_map_join(forward ? relation->fit.map : back, clock_at(clocks, known)->map);
    clock->state = BB_CLOCK_KNOWN;
    clock->via = known;
    clock->error_ns = bb_clock_map_error_ns(clock->map);
    relation->used = true;
}

static void chain(BbClocks *clocks)
{
    guint known = 0, relation = 0;
    double error_ns = 0;
    BbClock *reference = clock_at(clocks, 0);
    reference->state = BB_CLOCK_REFERENCE;
    reference->map = bb_clock_map_same();
    while (nearest(clocks, &known, &relation, &error_ns))
        make_known(clocks, known, relation_at(clocks, relation));
}

// ---- what is told ------------------------------------------------------------------------------

static void describe(const BbClocks *clocks, BbClock *clock)
{
    if (clock->state != BB_CLOCK_KNOWN || clocks->start_ns == BB_TIME_NONE)
        return;
    g_autoptr(BbClockMap) back = bb_clock_map_invert(clock->map);
    const BbClockPiece *piece = bb_clock_map_piece(back, clocks->start_ns);
    clock->offset_ns =
        bb_time_between(clocks->start_ns, bb_clock_map_apply(back, clocks->start_ns));
    clock->drift = piece->drift;
    clock->drift_error = piece->drift_error;
}

// Where all other ways fail, what one direction says.
static void bound(BbClocks *clocks, const BbClockRelation *relation)
{
    bool a_known = clock_at(clocks, relation->a)->map != NULL;
    bool b_known = clock_at(clocks, relation->b)->map != NULL;
    BbClock *clock = clock_at(clocks, a_known ? relation->b : relation->a);
    bool bounds = relation->fit.state == BB_CLOCK_FIT_ONE_WAY;
    if (relation->fit.state == BB_CLOCK_FIT_LINES || a_known == b_known ||
        clock->state == BB_CLOCK_BOUND || (clock->state == BB_CLOCK_UNORDERED && !bounds))
        return;
    clock->state = bounds ? BB_CLOCK_BOUND : BB_CLOCK_UNORDERED;
    clock->via = a_known ? relation->a : relation->b;
    if (!bounds)
        return;
    clock->bound_ns = a_known ? relation->fit.bound_ns : bb_time_between(relation->fit.bound_ns, 0);
    clock->bound_above = a_known == relation->fit.a_first;
}

// Of the times that this one may mean, the nearest to near_ns.
static gint64 apply_near(const BbClockMap *map, gint64 time_ns, gint64 near_ns)
{
    return bb_clock_map_apply_in(map, bb_clock_map_lap(map, time_ns, near_ns), time_ns);
}

// By the chains, how far is b's clock from what the relation makes of a's time, at worst?
static void check(const BbClocks *clocks, BbClockRelation *relation)
{
    const BbClockMap *a = clock_at(clocks, relation->a)->map,
                     *b = clock_at(clocks, relation->b)->map;
    if (relation->used || relation->fit.state != BB_CLOCK_FIT_LINES || !a || !b)
        return;
    for (guint i = 0; i < bb_clock_map_count(relation->fit.map); i++) {
        const BbClockPiece *piece = bb_clock_map_at(relation->fit.map, i);
        gint64 a_ns = bb_clock_map_apply(a, piece->anchor_ns);
        gint64 b_ns = bb_clock_piece_apply(piece, piece->anchor_ns);
        gint64 over_b_ns = apply_near(b, b_ns, a_ns);
        gint64 off_ns = bb_time_between(apply_near(a, piece->anchor_ns, over_b_ns), over_b_ns);
        if (i == 0 || fabs((double)off_ns) > fabs((double)relation->residual_ns))
            relation->residual_ns = off_ns;
    }
}

void bb_clocks_solve(BbClocks *clocks)
{
    if (!clocks->clocks->len)
        return;
    relate(clocks);
    chain(clocks);
    for (guint i = 0; i < clocks->relations->len; i++) {
        bound(clocks, relation_at(clocks, i));
        check(clocks, relation_at(clocks, i));
    }
    for (guint i = 0; i < clocks->clocks->len; i++)
        describe(clocks, clock_at(clocks, i));
}

guint bb_clocks_count(const BbClocks *clocks)
{
    return clocks->clocks->len;
}

const BbClock *bb_clocks_at(const BbClocks *clocks, guint index)
{
    return clock_at(clocks, index);
}

guint bb_clocks_relations(const BbClocks *clocks)
{
    return clocks->relations->len;
}

const BbClockRelation *bb_clocks_relation(const BbClocks *clocks, guint index)
{
    return relation_at(clocks, index);
}

static const BbClockMap *map_of(const BbClocks *clocks, guint32 name)
{
    guint index = find(clocks, name);
    return index == NONE ? NULL : clock_at(clocks, index)->map;
}

bool bb_clocks_knows(const BbClocks *clocks, guint32 name)
{
    return map_of(clocks, name) != NULL;
}

guint bb_clocks_laps(const BbClocks *clocks, guint32 name)
{
    const BbClockMap *map = map_of(clocks, name);
    return map ? bb_clock_map_laps(map) : 1;
}

guint bb_clocks_reference_falls(const BbClocks *clocks)
{
    guint falls = 0;
    for (guint i = 0; i < clocks->clocks->len; i++) {
        const BbClockMap *map = clock_at(clocks, i)->map;
        falls = MAX(falls, map ? bb_clock_map_falls(map) : 0);
    }
    return falls;
}

guint bb_clocks_lap(const BbClocks *clocks, guint32 name, gint64 time_ns, gint64 near_ns)
{
    const BbClockMap *map = map_of(clocks, name);
    return map ? bb_clock_map_lap(map, time_ns, near_ns) : 0;
}

gint64 bb_clocks_correct(const BbClocks *clocks, guint32 name, guint lap, gint64 time_ns)
{
    const BbClockMap *map = map_of(clocks, name);
    return map ? bb_clock_map_apply_in(map, lap, time_ns) : time_ns;
}

guint64 bb_clocks_added(const BbClocks *clocks)
{
    return bb_sightings_added(clocks->sightings);
}

guint64 bb_clocks_kept(const BbClocks *clocks)
{
    return bb_sightings_kept(clocks->sightings);
}

guint64 bb_clocks_ambiguous(const BbClocks *clocks)
{
    return clocks->ambiguous;
}
