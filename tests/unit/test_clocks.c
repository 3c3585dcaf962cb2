// SPDX-License-Identifier: Apache-2.0
// Clocks of several observers: hosts, mirrors, chains, nodes; what cannot be known; the sample.
#include "data/random.h"
#include "merge/clocks.h"
#include "tests/unit/test.h"

#include <math.h>

#define US 1000.0
#define S 1000000000.0
#define T0 G_GINT64_CONSTANT(1795164688000000000)
#define HOSTS 5

typedef struct Clock {
    double offset_ns, drift;
    double back_ns, back_at_ns; // it is set back by so much, then
} Clock;

typedef struct World {
    BbNames *names;
    BbClocks *clocks;
    BbRandom random;
    Clock clock[HOSTS];
    guint32 host[HOSTS], observer[HOSTS];
    double lost;
    guint64 messages;
} World;

static void world_init(World *w, guint32 seed, gsize samples)
{
    *w = (World){.names = bb_names_new(), .random = bb_random_start(seed)};
    w->clocks = bb_clocks_new(w->names, samples);
    for (guint i = 0; i < HOSTS; i++) {
        g_autofree char *host = g_strdup_printf("host%u", i), *obs = g_strdup_printf("obs%u", i);
        w->host[i] = bb_names_intern(w->names, host);
        w->observer[i] = bb_names_intern(w->names, obs);
        w->clock[i] = (Clock){.offset_ns = i ? (bb_random_unit(&w->random) - 0.5) * 20 * S : 0,
                              .drift = i ? (bb_random_unit(&w->random) - 0.5) * 200e-6 : 0};
    }
    bb_clocks_observer(w->clocks, w->observer[0]);
}

static void world_clear(World *w)
{
    bb_clocks_free(w->clocks);
    bb_names_free(w->names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(World, world_clear)

static gint64 stamp(const World *w, guint observer, double t)
{
    const Clock *clock = &w->clock[observer];
    double back = t < clock->back_at_ns ? 0 : clock->back_ns;
    return T0 + (gint64)llround(t + clock->offset_ns + clock->drift * t - back);
}

static double delay(World *w)
{
    return 50 * US + bb_random_exponential(&w->random) * 200 * US;
}

static BbMessage message(World *w, BbKind kind, guint from, guint to)
{
    BbMessage m = bb_message_empty();
    m.kind = kind;
    m.sender = w->host[from];
    m.receiver = w->host[to];
    return m;
}

static void see(World *w, BbMessage m, guint observer, double t, const char *conn, guint64 offset)
{
    m.observer = w->observer[observer];
    m.time_ns = stamp(w, observer, t);
    m.conn = conn;
    m.offset = offset;
    if (!bb_random_chance(&w->random, w->lost))
        bb_clocks_add(w->clocks, &m);
}

// Calls of one host to another and their returns for a minute, seen by these observers on the way.
static void talk(World *w, guint from, guint to, const guint *way, guint n, double rate)
{
    g_autofree char *conn = g_strdup_printf("10.0.0.%u:5-10.0.0.%u:80", from, to);
    for (double t = 0; t < 60 * S; t += bb_random_exponential(&w->random) * S / rate) {
        double at = t;
        guint64 offset = 100 * w->messages++;
        for (guint i = 0; i < n; i++, at += delay(w))
            see(w, message(w, BB_CALL, from, to), way[i], at, conn, offset);
        at += bb_random_exponential(&w->random) * 3000 * US;
        for (guint i = n; i-- > 0; at += delay(w))
            see(w, message(w, BB_RETURN, to, from), way[i], at, conn, offset);
    }
}

static const BbClock *find(const World *w, guint32 name)
{
    for (guint i = 0; i < bb_clocks_count(w->clocks); i++)
        if (bb_clocks_at(w->clocks, i)->name == name)
            return bb_clocks_at(w->clocks, i);
    ck_abort_msg("no such observer");
}

static void check_times(const World *w, guint observer, double within_ns)
{
    const BbClock *clock = find(w, w->observer[observer]);
    for (double t = 0; t < 60 * S; t += S) {
        gint64 corrected =
            bb_clocks_correct(w->clocks, w->observer[observer], 0, stamp(w, observer, t));
        double off = fabs((double)(corrected - stamp(w, 0, t)));
        ck_assert_double_le(off, within_ns);
        ck_assert_double_le(off, clock->error_ns + 1);
    }
}

static void check_known(const World *w, guint observer, double within_ns)
{
    const BbClock *clock = find(w, w->observer[observer]);
    const Clock *truth = &w->clock[observer];
    ck_assert_int_eq(clock->state, observer ? BB_CLOCK_KNOWN : BB_CLOCK_REFERENCE);
    ck_assert_double_le(fabs((double)clock->offset_ns - truth->offset_ns), within_ns);
    ck_assert_double_le(fabs(clock->drift - truth->drift), 1e-6);
    ck_assert_double_le(fabs(clock->drift - truth->drift), clock->drift_error + 1e-12);
    check_times(w, observer, within_ns);
}

// ---- what is known -----------------------------------------------------------------------------

START_TEST(sniffers_at_hosts)
{
    g_auto(World) w;
    world_init(&w, test_seed("sniffers_at_hosts"), BB_SIGHTINGS_MAX);
    talk(&w, 0, 1, (const guint[]){0, 1}, 2, 100);
    bb_clocks_solve(w.clocks);
    ck_assert_uint_eq(bb_clocks_count(w.clocks), 2);
    check_known(&w, 0, 0);
    check_known(&w, 1, 20 * US);
    const BbClockRelation *relation = bb_clocks_relation(w.clocks, 0);
    ck_assert(relation->used);
    ck_assert_uint_eq(relation->unordered, 0);
    ck_assert_uint_eq(relation->matches, 2 * w.messages);
    ck_assert_uint_eq(relation->shown->len, BB_CLOCK_SHOWN);
}
END_TEST

// 1 calls 2 calls 3: 0 is seen by 1 only. Errors add up along the chain.
START_TEST(chains_of_observers)
{
    g_auto(World) w;
    world_init(&w, test_seed("chains_of_observers"), BB_SIGHTINGS_MAX);
    w.lost = 0.1;
    for (guint i = 0; i + 1 < HOSTS; i++)
        talk(&w, i, i + 1, (const guint[]){i, i + 1}, 2, 100);
    bb_clocks_solve(w.clocks);
    for (guint i = 0; i < HOSTS; i++)
        check_known(&w, i, 20 * US);
    ck_assert_uint_eq(find(&w, w.observer[4])->via, 3);
    ck_assert_double_gt(find(&w, w.observer[4])->error_ns, 190 * US);
    ck_assert_double_lt(find(&w, w.observer[4])->error_ns, 220 * US);
}
END_TEST

// By less than a minute, so that it shows times twice, or by more; those that are compared with it
// are none the worse.
START_TEST(a_clock_is_set_back)
{
    for (guint round = 0; round < 8; round++) {
        g_auto(World) w;
        world_init(&w, test_seed("a_clock_is_set_back"), BB_SIGHTINGS_MAX);
        guint set = round & 1;
        w.clock[set].back_ns = (round & 2 ? 100 : 7) * S;
        w.clock[set].back_at_ns = (round & 4 ? 20 : 40) * S;
        for (guint i = 0; i < 2; i++)
            talk(&w, i, i + 1, (const guint[]){i, i + 1}, 2, 100);
        bb_clocks_solve(w.clocks);
        for (guint i = 0; i < 3; i++) {
            gint64 near_ns = G_MININT64;
            for (double t = 0.1 * S; t < 59.9 * S; t += 0.01 * S) {
                gint64 time_ns = stamp(&w, i, t);
                guint lap = bb_clocks_lap(w.clocks, w.observer[i], time_ns, near_ns);
                near_ns = bb_clocks_correct(w.clocks, w.observer[i], lap, time_ns);
                if (fabs(t - w.clock[set].back_at_ns) > 0.2 * S)
                    ck_assert_int_le(ABS(near_ns - stamp(&w, 0, t)), (gint64)(60 * US));
            }
        }
        ck_assert_uint_eq(bb_clocks_laps(w.clocks, w.observer[2]), set ? 1 : 2);
    }
}
END_TEST

// Two mirrors between two hosts: nobody says which is nearer to whom, the stamps do.
START_TEST(mirrors_on_the_way)
{
    g_auto(World) w;
    world_init(&w, test_seed("mirrors_on_the_way"), BB_SIGHTINGS_MAX);
    talk(&w, 3, 4, (const guint[]){2, 1, 0}, 3, 100);
    talk(&w, 4, 3, (const guint[]){0, 1, 2}, 3, 50);
    bb_clocks_solve(w.clocks);
    check_known(&w, 1, 20 * US);
    check_known(&w, 2, 40 * US);
    ck_assert_uint_eq(bb_clocks_relations(w.clocks), 3);
}
END_TEST

// Around a circle the last comparison must agree with the others.
START_TEST(circles_agree)
{
    g_auto(World) w;
    world_init(&w, test_seed("circles_agree"), BB_SIGHTINGS_MAX);
    for (guint i = 0; i < 3; i++)
        talk(&w, i, (i + 1) % 3, (const guint[]){i, (i + 1) % 3}, 2, 100);
    bb_clocks_solve(w.clocks);
    guint unused = 0;
    for (guint i = 0; i < bb_clocks_relations(w.clocks); i++) {
        const BbClockRelation *relation = bb_clocks_relation(w.clocks, i);
        unused += !relation->used;
        ck_assert_double_lt(fabs((double)relation->residual_ns), 20 * US);
    }
    ck_assert_uint_eq(unused, 1);
}
END_TEST

START_TEST(a_small_sample_does)
{
    g_auto(World) w;
    world_init(&w, test_seed("a_small_sample_does"), 2000);
    talk(&w, 0, 1, (const guint[]){0, 1}, 2, 500);
    talk(&w, 1, 2, (const guint[]){1, 2}, 2, 3);
    bb_clocks_solve(w.clocks);
    ck_assert_uint_le(bb_clocks_kept(w.clocks), 2000);
    ck_assert_uint_eq(bb_clocks_added(w.clocks), 4 * w.messages);
    check_known(&w, 1, 30 * US);
    check_known(&w, 2, 80 * US);
}
END_TEST

// ---- at one point ------------------------------------------------------------------------------

// What two observers at one point see of calls and returns for a minute, between so many clients
// and a server; their stamps scatter by so much.
static void listen_together(World *w, guint clients, double scatter_ns)
{
    for (double t = 0; t < 60 * S; t += 10000 * US) {
        guint client = (guint)w->messages % clients;
        g_autofree char *name = g_strdup_printf("client%u", client);
        g_autofree char *conn = g_strdup_printf("%s:5-10.0.0.1:80", name);
        BbMessage call = message(w, BB_CALL, 0, 1), back = message(w, BB_RETURN, 1, 0);
        call.sender = back.receiver = bb_names_intern(w->names, name);
        guint64 offset = 100 * w->messages++;
        for (guint i = 0; i < 2; i++) {
            see(w, call, i, t + bb_random_unit(&w->random) * scatter_ns, conn, offset);
            see(w, back, i, t + 2000 * US + bb_random_unit(&w->random) * scatter_ns, conn, offset);
        }
    }
}

static void check_together(guint clients, double scatter_ns)
{
    g_auto(World) w;
    world_init(&w, test_seed("two_at_one_point"), BB_SIGHTINGS_MAX);
    w.clock[1].drift = scatter_ns > 0 ? w.clock[1].drift : 0;
    listen_together(&w, clients, scatter_ns);
    bb_clocks_solve(w.clocks);
    const BbClock *clock = find(&w, w.observer[1]);
    ck_assert_int_eq(clock->state, BB_CLOCK_KNOWN);
    check_times(&w, 1, scatter_ns + 1);
    ck_assert_uint_eq(bb_clock_map_count(clock->map), 1);
    ck_assert_double_le(clock->error_ns, 4 * scatter_ns + 1);
    ck_assert_uint_eq(bb_clocks_relation(w.clocks, 0)->unordered, 0);
    ck_assert_uint_le(bb_clocks_relation(w.clocks, 0)->fit.left_out, scatter_ns > 0 ? 120 : 0);
}

START_TEST(two_at_one_point)
{
    check_together(1, 0);
    check_together(1, 20 * US);
    check_together(3000, 0); // a call and its return each
    check_together(3000, 20 * US);
}
END_TEST

// ---- what is not -------------------------------------------------------------------------------

START_TEST(one_way_is_a_bound)
{
    g_auto(World) w;
    world_init(&w, test_seed("one_way_is_a_bound"), BB_SIGHTINGS_MAX);
    w.clock[1].drift = 0;
    BbMessage m = message(&w, BB_FREE, 0, 1), noise = message(&w, BB_FREE, 0, 2);
    for (guint i = 0; i < 1000; i++) { // 0 is seen to be at host 0 as it also talks to another
        double t = i * 0.05 * S;
        see(&w, m, 0, t, "c", i);
        see(&w, m, 1, t + delay(&w), "c", i);
        see(&w, noise, 0, t, "d", i);
    }
    bb_clocks_solve(w.clocks);
    const BbClock *clock = find(&w, w.observer[1]);
    ck_assert_int_eq(clock->state, BB_CLOCK_BOUND);
    ck_assert_ptr_null(clock->map);
    ck_assert(clock->bound_above);
    ck_assert_double_ge((double)clock->bound_ns, w.clock[1].offset_ns);
    ck_assert_double_le((double)clock->bound_ns, w.clock[1].offset_ns + 60 * US);
    ck_assert_int_eq(bb_clocks_correct(w.clocks, w.observer[1], 0, T0), T0);
}
END_TEST

// Of messages that go one way between mirrors nobody knows which one they passed first.
START_TEST(one_way_between_mirrors_says_nothing)
{
    g_auto(World) w;
    world_init(&w, test_seed("one_way_between_mirrors_says_nothing"), BB_SIGHTINGS_MAX);
    for (guint i = 0; i < 1000; i++) {
        bool other = i & 1;
        BbMessage m = message(&w, BB_FREE, other ? 2 : 0, other ? 4 : 3);
        see(&w, m, 0, i * 0.05 * S, "c", i);
        see(&w, m, 1, i * 0.05 * S + delay(&w), "c", i);
    }
    bb_clocks_solve(w.clocks);
    const BbClock *clock = find(&w, w.observer[1]);
    ck_assert_int_eq(clock->state, BB_CLOCK_UNORDERED);
    ck_assert_uint_eq(clock->via, 0);
    ck_assert(!bb_clocks_knows(w.clocks, w.observer[1]));
    ck_assert(bb_clocks_knows(w.clocks, w.observer[0]));
}
END_TEST

START_TEST(strangers_are_unknown)
{
    g_auto(World) w;
    world_init(&w, test_seed("strangers_are_unknown"), BB_SIGHTINGS_MAX);
    talk(&w, 0, 1, (const guint[]){0, 1}, 2, 20);
    talk(&w, 2, 3, (const guint[]){2, 3}, 2, 20);
    bb_clocks_solve(w.clocks);
    check_known(&w, 1, 100 * US);
    ck_assert_int_eq(find(&w, w.observer[2])->state, BB_CLOCK_UNKNOWN);
    ck_assert_int_eq(find(&w, w.observer[3])->state, BB_CLOCK_UNKNOWN);
    ck_assert_int_eq(bb_clocks_correct(w.clocks, w.observer[3], 0, T0 + 5), T0 + 5);
    ck_assert_int_eq(bb_clocks_correct(w.clocks, w.host[0], 0, T0 + 6),
                     T0 + 6); // no observer at all
}
END_TEST

START_TEST(no_key_no_comparison)
{
    g_auto(World) w;
    world_init(&w, test_seed("no_key_no_comparison"), BB_SIGHTINGS_MAX);
    for (guint i = 0; i < 200; i++) {
        BbMessage m = message(&w, i & 1 ? BB_RETURN : BB_CALL, i & 1, !(i & 1));
        m.time_ns = m.end_ns = T0 + i;
        m.bytes = 10;
        m.proto = bb_names_intern(w.names, "dns");
        m.id = bb_id_number(i); // as a capture counts
        m.observer = w.observer[0];
        bb_clocks_add(w.clocks, &m);
        m.observer = w.observer[1];
        bb_clocks_add(w.clocks, &m);
    }
    bb_clocks_solve(w.clocks);
    ck_assert_uint_eq(bb_clocks_added(w.clocks), 0);
    ck_assert_uint_eq(bb_clocks_relations(w.clocks), 0);
    ck_assert_int_eq(find(&w, w.observer[1])->state, BB_CLOCK_UNKNOWN);
}
END_TEST

START_TEST(a_key_twice_is_ambiguous)
{
    g_auto(World) w;
    world_init(&w, test_seed("a_key_twice_is_ambiguous"), BB_SIGHTINGS_MAX);
    BbMessage m = message(&w, BB_CALL, 0, 1);
    see(&w, m, 0, 0, "c", 1);
    see(&w, m, 0, S, "c", 1);
    see(&w, m, 1, S, "c", 1);
    see(&w, m, 0, S, "c", 2);
    see(&w, m, 1, S, "c", 2);
    bb_clocks_solve(w.clocks);
    ck_assert_uint_eq(bb_clocks_ambiguous(w.clocks), 1);
    ck_assert_uint_eq(bb_clocks_relations(w.clocks), 1);
    ck_assert_uint_eq(bb_clocks_relation(w.clocks, 0)->matches, 1);
}
END_TEST

// A message of any kind, seen by two observers who call both hosts by names of their own, if at all
// as another kind.
static void see_both(World *w, BbKind kind, BbKind other, bool renamed, guint from, guint to,
                     double t, guint64 offset)
{
    BbMessage m = message(w, kind, from, to), n = message(w, other, from, to);
    if (renamed) {
        n.sender = bb_names_intern(w->names, from == 2 ? "y" : "x");
        n.receiver = bb_names_intern(w->names, from == 2 ? "x" : "y");
    }
    see(w, m, 0, t, "10.0.0.2:5-10.0.0.3:80", offset);
    see(w, n, 1, t + delay(w), "10.0.0.2:5-10.0.0.3:80", offset);
}

// Whatever observers take messages for, and whatever else stands at the same offset of the other
// direction: as long as a name tells the direction, or the kind does.
START_TEST(directions_are_told)
{
    for (guint round = 0; round < 4; round++) {
        g_auto(World) w;
        world_init(&w, test_seed("clock ways") + round, 100000);
        for (guint i = 0; i < 400; i++) {
            BbKind kinds[] = {BB_CALL, BB_RETURN};
            for (guint way = 0; way < 2; way++) {
                BbKind kind = round == 1 ? BB_FREE : round == 2 ? BB_CALL : kinds[way];
                BbKind other = round == 0 ? BB_FREE : kind;
                see_both(&w, kind, other, round == 3, way ? 3 : 2, way ? 2 : 3,
                         (i + 0.5 * way) * 0.1 * S, 100 * i);
            }
        }
        bb_clocks_solve(w.clocks);
        const BbClock *clock = find(&w, w.observer[1]);
        ck_assert_int_eq(clock->state, BB_CLOCK_KNOWN);
        ck_assert_double_le(fabs((double)clock->offset_ns - w.clock[1].offset_ns), 2000 * US);
    }
}
END_TEST

// Each sees one direction of a connection only: they have nothing in common, though positions are.
START_TEST(other_directions_are_other_messages)
{
    g_auto(World) w;
    world_init(&w, test_seed("clock turned"), 100000);
    for (guint i = 0; i < 400; i++) {
        see(&w, message(&w, BB_CALL, 2, 3), 0, i * 0.1 * S, "10.0.0.2:5-10.0.0.3:80", 100 * i);
        see(&w, message(&w, BB_CALL, 3, 2), 1, (i * 0.1 + 0.01) * S, "10.0.0.2:5-10.0.0.3:80",
            100 * i);
    }
    bb_clocks_solve(w.clocks);
    ck_assert_int_ne(find(&w, w.observer[1])->state, BB_CLOCK_KNOWN);
}
END_TEST

START_TEST(nothing_at_all)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbClocks) clocks = bb_clocks_new(names, 10);
    bb_clocks_solve(clocks);
    ck_assert_uint_eq(bb_clocks_count(clocks), 0);
    ck_assert_int_eq(bb_clocks_correct(clocks, 0, 0, 7), 7);
}
END_TEST

// ---- nodes -------------------------------------------------------------------------------------

// As spans have it: one message with the sender's time and the receiver's; or two lines.
START_TEST(nodes_have_clocks)
{
    for (guint lines = 0; lines < 2; lines++) {
        g_auto(World) w;
        world_init(&w, test_seed("nodes_have_clocks"), BB_SIGHTINGS_MAX);
        bb_clocks_free(w.clocks);
        w.clocks = bb_clocks_new(w.names, BB_SIGHTINGS_MAX);
        for (guint i = 0; i < 12000; i++) {
            double t = i * 0.005 * S;
            guint from = i / 2 % 2 ? 1 : 0, to = from ? 2 : 1;
            if (i & 1) {
                guint swap = from;
                from = to;
                to = swap;
            }
            BbMessage m = message(&w, i & 1 ? BB_RETURN : BB_CALL, from, to), recv = m;
            m.id = recv.id = bb_id_number(lines ? i : i % 7);
            m.time_ns = stamp(&w, from, t);
            recv.at_receiver = true;
            recv.time_ns = stamp(&w, to, t + delay(&w));
            if (lines)
                bb_clocks_add_nodes(w.clocks, &recv);
            else
                m.recv_ns = recv.time_ns;
            bb_clocks_add_nodes(w.clocks, &m);
        }
        bb_clocks_solve(w.clocks);
        for (guint i = 0; i < 3; i++)
            w.observer[i] = w.host[i];
        guint reference = lines ? 1 : 0; // whose time came first
        ck_assert_int_eq(find(&w, w.host[reference])->state, BB_CLOCK_REFERENCE);
        if (reference)
            ck_assert_double_le(fabs((double)find(&w, w.host[0])->offset_ns + w.clock[1].offset_ns),
                                30 * US);
        else
            check_known(&w, 2, 40 * US);
    }
}
END_TEST

TEST_MAIN("clocks", sniffers_at_hosts, chains_of_observers, a_clock_is_set_back, mirrors_on_the_way,
          circles_agree, a_small_sample_does, two_at_one_point, one_way_is_a_bound,
          one_way_between_mirrors_says_nothing, strangers_are_unknown, no_key_no_comparison,
          a_key_twice_is_ambiguous, directions_are_told, other_directions_are_other_messages,
          nothing_at_all, nodes_have_clocks)
