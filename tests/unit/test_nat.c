// SPDX-License-Identifier: Apache-2.0
// Translated connections: recognised by sequence numbers alone, whatever the clocks say; what
// proves nothing; which names remain; the sample.
#include "merge/nat.h"

#include "data/random.h"
#include "tests/unit/test.h"

#include <math.h>
#include <string.h>

#define WINDOW_NS G_GINT64_CONSTANT(1000000000)
#define US 1000
#define MS 1000000
#define T0 G_GINT64_CONSTANT(1795164688000000000)
#define NUMBERS 4294967296.0

// What an observer sees of a connection. Delays: of what the client sends, and of what it gets.
typedef struct View {
    const char *observer, *conn, *client, *server;
    gint64 clock_ns, out_ns, back_ns;
    double drift;
    gint64 step_ns;  // of the clock, half way
    guint jitter_ns; // of its stamps, at most
    double loss;
} View;

typedef struct World {
    BbNames *names;
    BbNat *nat;
    BbRandom random;
} World;

static void world_init(World *world, guint32 seed, guint connections_max)
{
    *world = (World){.names = bb_names_new(), .random = bb_random_start(seed)};
    world->nat = bb_nat_new(world->names, connections_max);
}

static void world_clear(World *world)
{
    bb_nat_free(world->nat);
    bb_names_free(world->names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(World, world_clear)

// A connection as it was: calls with their returns.
typedef struct Talk {
    guint calls;
    guint64 first[2], step[2]; // first numbers, and bytes of each call and return
    gint64 start_ns, every_ns, reply_ns;
} Talk;

// By the observer's clock.
static gint64 stamp(World *world, const View *view, const Talk *talk, guint i, bool back)
{
    gint64 since_ns = i * talk->every_ns + back * talk->reply_ns;
    gint64 time_ns = talk->start_ns + since_ns + (back ? view->back_ns : view->out_ns);
    gint64 clock_ns = view->clock_ns + (gint64)(view->drift * (double)since_ns);
    clock_ns += i >= talk->calls / 2 ? view->step_ns : 0;
    return time_ns + clock_ns + bb_random_below(&world->random, view->jitter_ns + 1);
}

static BbMessage make_message(World *world, const View *view, const Talk *talk, guint i, bool back)
{
    BbMessage message = bb_message_empty();
    guint32 client = bb_names_intern(world->names, view->client);
    guint32 server = bb_names_intern(world->names, view->server);
    message.kind = back ? BB_RETURN : BB_CALL;
    message.sender = back ? server : client;
    message.receiver = back ? client : server;
    message.observer = bb_names_intern(world->names, view->observer);
    message.conn = view->conn;
    message.offset = (guint32)(talk->first[back] + i * talk->step[back] + i * i);
    message.time_ns = stamp(world, view, talk, i, back);
    return message;
}

static void see(World *world, const View *view, const Talk *talk)
{
    for (guint i = 0; i < talk->calls; i++)
        for (guint back = 0; back < 2; back++) {
            BbMessage message = make_message(world, view, talk, i, back);
            if (!bb_random_chance(&world->random, view->loss))
                bb_nat_add(world->nat, &message);
        }
}

static Talk a_talk(World *world, guint calls)
{
    return (Talk){.calls = calls,
                  .first = {((guint64)1 << 24) + bb_random_below(&world->random, 4000000000u),
                            ((guint64)1 << 24) + bb_random_below(&world->random, 4000000000u)},
                  .step = {100 + bb_random_below(&world->random, 900),
                           100 + bb_random_below(&world->random, 9000)},
                  .start_ns = T0 + (gint64)bb_random_below(&world->random, 1000) * MS,
                  .every_ns = 10 * MS,
                  .reply_ns = 2 * MS};
}

static const View outside = {.observer = "o1",
                             .conn = "10.0.0.1:40000-192.0.2.1:80",
                             .client = "client",
                             .server = "vip",
                             .out_ns = 10 * US,
                             .back_ns = 90 * US};
static const View inside = {.observer = "o2",
                            .conn = "10.9.0.1:50000-10.9.0.7:8080",
                            .client = "lb",
                            .server = "web1",
                            .clock_ns = 3 * WINDOW_NS,
                            .out_ns = 50 * US,
                            .back_ns = 40 * US};

static GArray *solve(World *world)
{
    bb_nat_solve(world->nat, WINDOW_NS);
    return bb_nat_edges(world->nat);
}

static const char *text(const World *world, guint32 name)
{
    return bb_names_text(world->names, name);
}

static void expect_applied(World *world, const View *view, const char *client, const char *server,
                           const char *conn)
{
    Talk talk = {.calls = 1, .first = {5, 7}};
    for (guint back = 0; back < 2; back++) {
        BbMessage message = make_message(world, view, &talk, 0, back);
        ck_assert(bb_nat_apply(world->nat, &message));
        ck_assert_str_eq(text(world, message.sender), back ? server : client);
        ck_assert_str_eq(text(world, message.receiver), back ? client : server);
        ck_assert_str_eq(message.conn, conn);
    }
}

static void expect_alone(World *world, const View *view)
{
    Talk talk = {.calls = 1, .first = {5, 7}};
    BbMessage message = make_message(world, view, &talk, 0, false);
    ck_assert(!bb_nat_apply(world->nat, &message));
    ck_assert_str_eq(text(world, message.sender), view->client);
    ck_assert_ptr_eq(message.conn, view->conn);
}

// ---- what is found ------------------------------------------------------------------------------

START_TEST(both_sides_of_a_balancer_are_one)
{
    g_auto(World) world;
    world_init(&world, 1, 100);
    Talk talk = a_talk(&world, 2);
    see(&world, &outside, &talk);
    see(&world, &inside, &talk);
    expect_alone(&world, &outside); // not solved yet
    g_autoptr(GArray) edges = solve(&world);
    ck_assert_uint_eq(edges->len, 1);
    const BbNatEdge *edge = &g_array_index(edges, BbNatEdge, 0);
    ck_assert_str_eq(text(&world, edge->near[0]), "client");
    ck_assert_str_eq(text(&world, edge->near[1]), "vip");
    ck_assert_str_eq(text(&world, edge->far[0]), "lb");
    ck_assert_str_eq(text(&world, edge->far[1]), "web1");
    ck_assert_str_eq(text(&world, edge->near_observer), "o1");
    ck_assert_str_eq(text(&world, edge->far_observer), "o2");
    ck_assert_uint_eq(edge->connections, 1);
    ck_assert_uint_eq(edge->apart, 0);
    // Two connections; two messages each way, all of which agree.
    double chance = 2 * (2 / NUMBERS) * (2 / NUMBERS);
    ck_assert(fabs(edge->accidents / chance - 1) < 1e-9);
    ck_assert_uint_eq(bb_nat_joined(world.nat), 2);
    ck_assert_uint_eq(bb_nat_forgotten(world.nat), 0);
    expect_applied(&world, &outside, "client", "web1", outside.conn);
    expect_applied(&world, &inside, "client", "web1", outside.conn);
}
END_TEST

// The same with the names sorted the other way round on one side, and the far side seen first.
START_TEST(ends_may_be_turned)
{
    g_auto(World) world;
    world_init(&world, 2, 100);
    Talk talk = a_talk(&world, 3);
    View turned = inside;
    turned.client = "zz-balancer";
    turned.server = "aa-web";
    see(&world, &turned, &talk);
    see(&world, &outside, &talk);
    g_autoptr(GArray) edges = solve(&world);
    ck_assert_uint_eq(edges->len, 1);
    const BbNatEdge *edge = &g_array_index(edges, BbNatEdge, 0);
    ck_assert_str_eq(text(&world, edge->near[0]), "client");
    ck_assert_str_eq(text(&world, edge->near[1]), "vip");
    ck_assert_str_eq(text(&world, edge->far[0]), "zz-balancer");
    ck_assert_str_eq(text(&world, edge->far[1]), "aa-web");
    expect_applied(&world, &outside, "client", "aa-web", outside.conn);
    expect_applied(&world, &turned, "client", "aa-web", outside.conn);
}
END_TEST

START_TEST(two_translations_behind_each_other)
{
    g_auto(World) world;
    world_init(&world, 3, 100);
    Talk talk = a_talk(&world, 4);
    View third = inside;
    third.observer = "o3";
    third.conn = "10.11.0.1:60000-10.11.0.7:8081";
    third.client = "proxy";
    third.server = "pod";
    third.out_ns = 70 * US;
    third.back_ns = 10 * US;
    see(&world, &third, &talk);
    see(&world, &outside, &talk);
    see(&world, &inside, &talk);
    g_autoptr(GArray) edges = solve(&world);
    ck_assert_uint_eq(edges->len, 3);
    ck_assert_uint_eq(bb_nat_joined(world.nat), 3);
    expect_applied(&world, &outside, "client", "pod", outside.conn);
    expect_applied(&world, &inside, "client", "pod", outside.conn);
    expect_applied(&world, &third, "client", "pod", outside.conn);
}
END_TEST

// One observer of both sides would have each message twice.
START_TEST(one_observer_of_both_sides_is_told_and_left)
{
    g_auto(World) world;
    world_init(&world, 4, 100);
    Talk talk = a_talk(&world, 4);
    View same = inside;
    same.observer = outside.observer;
    see(&world, &outside, &talk);
    see(&world, &same, &talk);
    g_autoptr(GArray) edges = solve(&world);
    ck_assert_uint_eq(edges->len, 1);
    ck_assert_uint_eq(g_array_index(edges, BbNatEdge, 0).apart, 1);
    ck_assert_uint_eq(bb_nat_joined(world.nat), 0);
    expect_alone(&world, &same);
}
END_TEST

// ---- clocks -------------------------------------------------------------------------------------

#define HOUR_NS (3600 * WINDOW_NS)

// Connections of an hour each, on both sides. Returns the one edge that comes of them.
static BbNatEdge one_edge(World *world, guint connections, gint64 reply_ns, const View *far_side)
{
    for (guint i = 0; i < connections; i++) {
        g_autofree char *out = g_strdup_printf("out%u", i), *in = g_strdup_printf("in%u", i);
        Talk talk = a_talk(world, 40);
        View near = outside, far = *far_side;
        near.conn = out;
        far.conn = in;
        talk.every_ns = HOUR_NS / talk.calls;
        talk.reply_ns = reply_ns;
        see(world, &near, &talk);
        see(world, &far, &talk);
    }
    g_autoptr(GArray) edges = solve(world);
    ck_assert_uint_eq(edges->len, 1);
    ck_assert_uint_eq(g_array_index(edges, BbNatEdge, 0).connections, connections);
    return g_array_index(edges, BbNatEdge, 0);
}

// Clocks run apart by 100 times what the way takes, and step by half a second.
START_TEST(no_drift_and_no_step_turns_a_side)
{
    for (guint round = 0; round < 32; round++) {
        g_auto(World) world;
        world_init(&world, 20 + round, 100);
        View far = inside;
        far.drift = round % 2 ? 20e-6 : -20e-6;
        far.step_ns = round % 4 < 2 ? 0 : round % 8 < 4 ? WINDOW_NS / 2 : -WINDOW_NS / 2;
        BbNatEdge edge = one_edge(&world, 1 + round % 3, 2 * MS, &far);
        ck_assert_str_eq(text(&world, edge.near[0]), "client");
        ck_assert_str_eq(text(&world, edge.far[1]), "web1");
        ck_assert(!edge.noise);
    }
}
END_TEST

START_TEST(what_drifts_further_apart_than_the_window_is_one)
{
    static const struct {
        double drift;
        guint edges;
    } cases[] = {{100e-6, 1}, {-450e-6, 1}, {5000e-6, 0}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_auto(World) world;
        world_init(&world, 60, 100);
        Talk talk = a_talk(&world, 40);
        View far = inside;
        far.drift = cases[i].drift;
        talk.every_ns = HOUR_NS;
        see(&world, &outside, &talk);
        see(&world, &far, &talk);
        g_autoptr(GArray) edges = solve(&world);
        ck_assert_uint_eq(edges->len, cases[i].edges);
    }
}
END_TEST

// Stamps that scatter by fifty times what the way takes; answers that take so long that clocks may
// drift by more meanwhile.
START_TEST(a_side_within_the_noise_is_said)
{
    g_auto(World) scattered, slow;
    world_init(&scattered, 61, 100);
    View far = inside;
    far.jitter_ns = 5 * MS;
    ck_assert(one_edge(&scattered, 20, 2 * MS, &far).noise);
    world_init(&slow, 62, 100);
    BbNatEdge edge = one_edge(&slow, 20, WINDOW_NS, &inside);
    ck_assert(edge.noise);
    ck_assert_str_eq(text(&slow, edge.near[0]), "client");
}
END_TEST

// ---- what proves nothing ------------------------------------------------------------------------

static guint edges_of(World *world)
{
    g_autoptr(GArray) edges = solve(world);
    ck_assert_uint_eq(bb_nat_joined(world->nat), 0);
    return edges->len;
}

START_TEST(one_direction_is_not_enough)
{
    g_auto(World) world;
    world_init(&world, 5, 100);
    Talk talk = a_talk(&world, 4);
    see(&world, &outside, &talk);
    talk.first[1] += 12345;
    see(&world, &inside, &talk);
    ck_assert_uint_eq(edges_of(&world), 0);
}
END_TEST

START_TEST(other_times_are_another_connection)
{
    g_auto(World) world;
    world_init(&world, 6, 100);
    Talk talk = a_talk(&world, 4);
    see(&world, &outside, &talk);
    for (guint i = 0; i < talk.calls; i++) // each message by so much later as there were before
        for (guint back = 0; back < 2; back++) {
            BbMessage message = make_message(&world, &inside, &talk, i, back);
            message.time_ns += (gint64)i * WINDOW_NS;
            bb_nat_add(world.nat, &message);
        }
    ck_assert_uint_eq(edges_of(&world), 0);
}
END_TEST

START_TEST(a_place_in_common_is_not_enough)
{
    g_auto(World) world;
    world_init(&world, 7, 100);
    Talk talk = a_talk(&world, 4);
    see(&world, &outside, &talk);
    talk.step[0]++; // the first message of each direction still agrees
    talk.step[1]++;
    see(&world, &inside, &talk);
    ck_assert_uint_eq(edges_of(&world), 0);
}
END_TEST

// Positions from 0 on, as a tool gives them, and such that are no numbers of TCP.
START_TEST(numbers_that_are_not_random_prove_nothing)
{
    static const guint64 firsts[] = {0, ((guint64)1 << 20) - 1, (guint64)1 << 32};
    for (gsize i = 0; i < G_N_ELEMENTS(firsts); i++) {
        g_auto(World) world;
        world_init(&world, 8, 100);
        Talk talk = a_talk(&world, 4);
        BbMessage message = make_message(&world, &outside, &talk, 0, false);
        see(&world, &outside, &talk);
        see(&world, &inside, &talk);
        message.offset = firsts[i];
        bb_nat_add(world.nat, &message);
        ck_assert_uint_eq(edges_of(&world), 0);
    }
}
END_TEST

START_TEST(numbers_common_to_many_prove_nothing)
{
    for (guint count = BB_NAT_ALIKE; count <= BB_NAT_ALIKE + 1; count++) {
        g_auto(World) world;
        world_init(&world, 9, 100);
        Talk talk = a_talk(&world, 3);
        for (guint i = 0; i < count; i++) {
            g_autofree char *conn = g_strdup_printf("c%u", i), *obs = g_strdup_printf("o%u", i);
            g_autofree char *client = g_strdup_printf("client%u", i);
            View view = {.observer = obs, .conn = conn, .client = client, .server = "s"};
            see(&world, &view, &talk);
        }
        g_autoptr(GArray) edges = solve(&world);
        ck_assert_uint_eq(edges->len, count > BB_NAT_ALIKE ? 0 : count * (count - 1) / 2);
    }
}
END_TEST

START_TEST(what_has_no_place_says_nothing)
{
    g_auto(World) world;
    world_init(&world, 10, 100);
    Talk talk = a_talk(&world, 4);
    for (guint i = 0; i < 6; i++) {
        BbMessage message = make_message(&world, i < 3 ? &outside : &inside, &talk, 1, i % 2);
        if (i % 3 == 0)
            message.conn = NULL;
        if (i % 3 == 1)
            message.offset = BB_OFFSET_NONE;
        if (i % 3 == 2)
            message.receiver = message.sender;
        bb_nat_add(world.nat, &message);
        ck_assert(!bb_nat_apply(world.nat, &message));
    }
    ck_assert_uint_eq(edges_of(&world), 0);
}
END_TEST

// ---- many ---------------------------------------------------------------------------------------

// Clients behind a balancer with three servers, connections that have nothing to do with each other
// in between, losses; the observers' files one after the other. Returns how many are found.
static guint crowd(World *world, guint count, guint calls, double loss)
{
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GArray) talks = g_array_new(FALSE, FALSE, sizeof(Talk));
    for (guint i = 0; i < count; i++) {
        Talk talk = a_talk(world, calls);
        g_array_append_val(talks, talk);
        g_ptr_array_add(texts, g_strdup_printf("out%u", i));
        g_ptr_array_add(texts, g_strdup_printf("in%u", i));
        g_ptr_array_add(texts, g_strdup_printf("web%u", i % 3));
    }
    for (guint side = 0; side < 2; side++)
        for (guint i = 0; i < count; i++) {
            View view = side ? inside : outside;
            view.conn = texts->pdata[3 * i + side];
            view.loss = loss;
            if (side)
                view.server = texts->pdata[3 * i + 2];
            see(world, &view, &g_array_index(talks, Talk, i));
            Talk other = a_talk(world, calls);
            g_autofree char *alone = g_strdup_printf("alone%u-%u", side, i);
            view.conn = alone;
            see(world, &view, &other);
        }
    bb_nat_solve(world->nat, WINDOW_NS);
    guint found = 0;
    for (guint i = 0; i < count; i++) {
        Talk *talk = &g_array_index(talks, Talk, i);
        View view = inside;
        view.conn = texts->pdata[3 * i + 1];
        view.server = texts->pdata[3 * i + 2];
        BbMessage message = make_message(world, &view, talk, 0, false);
        if (!bb_nat_apply(world->nat, &message))
            continue;
        found++;
        ck_assert_str_eq(text(world, message.sender), "client");
        ck_assert_str_eq(text(world, message.receiver), view.server);
        ck_assert_str_eq(message.conn, view.conn); // "in..." is before "out..."
    }
    ck_assert_uint_eq(bb_nat_joined(world->nat), 2 * found); // and nothing else
    return found;
}

START_TEST(all_of_many_are_found_and_no_others)
{
    g_auto(World) world;
    world_init(&world, test_seed("nat"), BB_NAT_CONNECTIONS);
    ck_assert_uint_eq(crowd(&world, 500, 5, 0), 500);
    g_autoptr(GArray) edges = bb_nat_edges(world.nat);
    ck_assert_uint_eq(edges->len, 3);
    const BbNatEdge *edge = &g_array_index(edges, BbNatEdge, 0);
    ck_assert_str_eq(text(&world, edge->far[1]), "web0"); // 167 of them, as web1
    ck_assert_uint_eq(edge->connections, 167);
    ck_assert_uint_eq(g_array_index(edges, BbNatEdge, 2).connections, 166);
}
END_TEST

START_TEST(losses_are_tolerated)
{
    g_auto(World) world;
    world_init(&world, test_seed("nat"), BB_NAT_CONNECTIONS);
    ck_assert_uint_ge(crowd(&world, 300, 20, 0.05), 290);
}
END_TEST

// 2,000 connections, of which 300 may be kept: those that are, with both sides.
START_TEST(the_sample_keeps_both_sides_or_none)
{
    g_auto(World) world;
    world_init(&world, test_seed("nat"), 300);
    guint found = crowd(&world, 500, 30, 0);
    ck_assert_uint_ge(bb_nat_forgotten(world.nat), 300);
    ck_assert_uint_ge(found, 20);
    ck_assert_uint_le(found, 150);
}
END_TEST

START_TEST(counters_have_meanings)
{
    ck_assert_ptr_nonnull(bb_nat_meaning(BB_NAT_JOINED));
    ck_assert_ptr_nonnull(bb_nat_meaning(BB_NAT_FORGOTTEN));
    ck_assert_ptr_nonnull(bb_nat_meaning(BB_NAT_NOISE));
    ck_assert_ptr_null(bb_nat_meaning("merge_joined"));
}
END_TEST

TEST_MAIN("nat", both_sides_of_a_balancer_are_one, ends_may_be_turned,
          two_translations_behind_each_other, one_observer_of_both_sides_is_told_and_left,
          no_drift_and_no_step_turns_a_side, what_drifts_further_apart_than_the_window_is_one,
          a_side_within_the_noise_is_said, one_direction_is_not_enough,
          other_times_are_another_connection, a_place_in_common_is_not_enough,
          numbers_that_are_not_random_prove_nothing, numbers_common_to_many_prove_nothing,
          what_has_no_place_says_nothing, all_of_many_are_found_and_no_others, losses_are_tolerated,
          the_sample_keeps_both_sides_or_none, counters_have_meanings)
