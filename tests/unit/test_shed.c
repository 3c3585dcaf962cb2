// SPDX-License-Identifier: Apache-2.0
// When less is kept, and when all is again: pressure that lasts, that comes back each time, that
// never was; and which flows are left out.
#include "capture/shed.h"
#include "tests/unit/test.h"

#define MS G_GINT64_CONSTANT(1000000)
#define S (1000 * MS)

#define SEED 7

// As many as were drawn, from there on.
static guint64 draw(gpointer user)
{
    guint64 *seed = user;
    return ++*seed;
}

// A capture that can take a share of what comes, and its policy.
typedef struct World {
    BbShed *shed;
    gint64 now_ns;
    BbShedSigns signs;
    guint most;    // level seen
    guint changes; // of the level
    guint64 seed;
} World;

static void world_begin(World *world, bool can_trim)
{
    *world = (World){.now_ns = 77 * S, .seed = SEED};
    world->shed = bb_shed_new(can_trim, draw, &world->seed);
    world->signs.lag_ns = 5 * MS;
    bb_shed_look(world->shed, world->now_ns, &world->signs);
}

static void look(World *world)
{
    guint before = bb_shed_level(world->shed);
    bb_shed_look(world->shed, world->now_ns, &world->signs);
    guint level = bb_shed_level(world->shed);
    ck_assert_uint_le(level, BB_SHED_MOST);
    world->changes += level != before;
    world->most = MAX(world->most, level);
}

static void go_on(World *world, gint64 ns)
{
    for (gint64 end_ns = world->now_ns + ns; world->now_ns < end_ns;) {
        world->now_ns += 10 * MS;
        look(world);
    }
}

#define TAKEN 1000u // packets in 10 ms

// More than can be taken, of which the more is read the less of it is kept.
static void drop(World *world, gint64 ns)
{
    for (gint64 end_ns = world->now_ns + ns; world->now_ns < end_ns;) {
        world->signs.dropped += 3;
        world->signs.read +=
            TAKEN * BB_SHED_PARTS / (BB_SHED_PARTS - bb_shed_now(world->shed).parts);
        go_on(world, 10 * MS);
    }
}

static void wait_for_others(World *world, gint64 ns, gint64 share)
{
    for (gint64 end_ns = world->now_ns + ns; world->now_ns < end_ns;) {
        world->signs.waited_ns += 10 * MS * share / 100;
        go_on(world, 10 * MS);
    }
}

START_TEST(nothing_is_left_out_in_peace)
{
    World world;
    world_begin(&world, true);
    go_on(&world, 60 * S);
    wait_for_others(&world, 10 * S, 30);
    world.signs.lag_ns = 230 * MS; // what the kernel and several interfaces hold back
    go_on(&world, 10 * S);
    world.signs.lag_ns = BB_SHED_LAG_UNKNOWN;
    go_on(&world, 10 * S);
    ck_assert_uint_eq(world.most, 0);
    ck_assert_uint_eq(bb_shed_raises(world.shed), 0);
    ck_assert_int_eq(bb_shed_spent(world.shed, 0), world.now_ns - 77 * S);
    bb_shed_free(world.shed);
}
END_TEST

// A level each window, up to the last, with a look each three whether it helps.
START_TEST(drops_raise_it_fast)
{
    for (guint can_trim = 0; can_trim < 2; can_trim++) {
        World world;
        world_begin(&world, can_trim);
        drop(&world, 110 * MS);
        ck_assert_uint_eq(world.most, can_trim ? 1 : 2);
        drop(&world, 100 * MS);
        ck_assert_uint_eq(world.most, can_trim ? 2 : 3);
        drop(&world, 4 * S);
        ck_assert_uint_eq(bb_shed_vain(world.shed), 0);
        ck_assert_uint_eq(bb_shed_turns(world.shed), 0);
        ck_assert_uint_eq(bb_shed_level(world.shed), BB_SHED_MOST);
        ck_assert_uint_eq(bb_shed_parts(BB_SHED_MOST), BB_SHED_PARTS - 1);
        bb_shed_free(world.shed);
    }
}
END_TEST

// What is only slow is trimmed for, no more.
START_TEST(strain_trims)
{
    World world;
    world_begin(&world, true);
    wait_for_others(&world, 5 * S, 60);
    ck_assert_uint_eq(world.most, BB_SHED_TRIMS);
    wait_for_others(&world, 5 * S, 30); // neither strain nor calm
    ck_assert_uint_eq(bb_shed_level(world.shed), BB_SHED_TRIMS);
    go_on(&world, BB_SHED_CALM_NS + 200 * MS);
    ck_assert_uint_eq(bb_shed_level(world.shed), 0);
    bb_shed_free(world.shed);
    world_begin(&world, false);
    wait_for_others(&world, 5 * S, 60);
    ck_assert_uint_eq(world.most, 0);
    bb_shed_free(world.shed);
}
END_TEST

START_TEST(who_only_waits_is_pressed)
{
    World world;
    world_begin(&world, true);
    world.signs.lag_ns = BB_SHED_LAG_UNKNOWN;
    wait_for_others(&world, 350 * MS, 100);
    ck_assert_uint_ge(bb_shed_level(world.shed), 3);
    bb_shed_free(world.shed);
}
END_TEST

// A stall while there is room in the ring costs nothing; drops count as ever.
START_TEST(room_is_time)
{
    World world;
    world_begin(&world, false);
    world.signs.room = 0.8;
    for (guint i = 0; i < 300; i++) {
        world.signs.lag_ns = i * 10 * MS;
        wait_for_others(&world, 10 * MS, 100);
    }
    ck_assert_uint_eq(world.most, 0);
    world.signs.room = 0.7;
    wait_for_others(&world, 210 * MS, 100);
    ck_assert_uint_gt(bb_shed_level(world.shed), 0);
    bb_shed_free(world.shed);
    world_begin(&world, false);
    world.signs.room = 1;
    drop(&world, 210 * MS);
    ck_assert_uint_gt(bb_shed_level(world.shed), 0);
    bb_shed_free(world.shed);
}
END_TEST

// The ring fills: packets are read older and older. It empties: they are old still, but less.
START_TEST(lag_counts_while_it_grows)
{
    World world;
    world_begin(&world, false);
    for (guint i = 0; i < 60; i++) {
        world.signs.lag_ns = i * 10 * MS;
        go_on(&world, 10 * MS);
    }
    guint level = bb_shed_level(world.shed);
    ck_assert_uint_ge(level, 2);
    for (guint i = 60; i > 0; i--) {
        world.signs.lag_ns = i * 10 * MS;
        go_on(&world, 10 * MS);
    }
    ck_assert_uint_le(bb_shed_level(world.shed), level + 1);
    bb_shed_free(world.shed);
}
END_TEST

// Stopped for a while it only has to catch up, be it slowly; one that is behind as much without
// having been stopped is too slow.
START_TEST(a_pause_is_no_pressure)
{
    for (guint stopped = 0; stopped < 2; stopped++) {
        World world;
        world_begin(&world, false);
        go_on(&world, 2 * S);
        if (stopped)
            world.now_ns += 4 * S;
        for (world.signs.lag_ns = 4 * S; world.signs.lag_ns > 5 * MS; world.signs.lag_ns -= 2 * MS)
            go_on(&world, 10 * MS);
        ck_assert_int_eq(world.most == 0, stopped);
        bb_shed_free(world.shed);
    }
}
END_TEST

// Who waits for others in one go, for longer than a pause, was not stopped.
START_TEST(a_long_wait_is_no_pause)
{
    for (guint waits = 0; waits < 2; waits++) {
        World world;
        world_begin(&world, true);
        go_on(&world, 2 * S);
        world.now_ns += 4 * S;
        world.signs.waited_ns += waits * 4 * S;
        look(&world);
        ck_assert_uint_eq(world.most, waits);
        bb_shed_free(world.shed);
    }
}
END_TEST

START_TEST(calm_lowers_it_slowly_to_nothing)
{
    World world;
    world_begin(&world, true);
    drop(&world, 5 * S);
    ck_assert_uint_eq(bb_shed_level(world.shed), BB_SHED_MOST);
    world.changes = 0;
    go_on(&world, BB_SHED_CALM_NS - 200 * MS);
    ck_assert_uint_eq(world.changes, 0);
    go_on(&world, 400 * MS);
    ck_assert_uint_eq(bb_shed_level(world.shed), BB_SHED_MOST - 1);
    go_on(&world, BB_SHED_MOST * (BB_SHED_CALM_NS + BB_SHED_WINDOW_NS));
    ck_assert_uint_eq(bb_shed_level(world.shed), 0);
    ck_assert_uint_eq(world.changes, BB_SHED_MOST);
    gint64 spent_ns = 0;
    for (guint level = 0; level <= BB_SHED_MOST; level++)
        spent_ns += bb_shed_spent(world.shed, level);
    ck_assert_int_eq(spent_ns, world.now_ns - 77 * S);
    bb_shed_free(world.shed);
}
END_TEST

// What comes is too much for level 3, and level 4 keeps up: it is tried less and less often whether
// it still is. Afterwards it is found soon that it is not.
START_TEST(it_swings_less_and_less)
{
    World world;
    guint changes[2];
    world_begin(&world, true);
    for (guint half = 0; half < 2; half++) {
        world.changes = 0;
        for (guint i = 0; i < 12000; i++) { // two minutes
            world.signs.dropped += bb_shed_level(world.shed) < 4;
            world.signs.read += TAKEN * (1 + bb_shed_level(world.shed)); // it helps
            go_on(&world, 10 * MS);
        }
        changes[half] = world.changes;
        ck_assert_uint_le(world.most, 5);
        ck_assert_uint_ge(bb_shed_level(world.shed), 3);
    }
    ck_assert_uint_lt(changes[0], 24);
    ck_assert_uint_le(changes[1], 12); // at most once in BB_SHED_CALM_MOST_NS, there and back
    go_on(&world, 90 * S);
    ck_assert_uint_eq(bb_shed_level(world.shed), 0);
    drop(&world, 500 * MS); // and the next time it begins with little patience again
    go_on(&world, 5 * (BB_SHED_CALM_NS + BB_SHED_WINDOW_NS) + BB_SHED_CALM_NS);
    ck_assert_uint_eq(bb_shed_level(world.shed), 0);
    bb_shed_free(world.shed);
}
END_TEST

// Whatever the signs are: levels go up by one, or from 0 to the first, and down by one, or by as
// many as were tried in vain.
START_TEST(any_signs)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("shed"));
    for (guint round = 0; round < 50; round++) {
        guint64 seed = round;
        g_autoptr(BbShed) shed = bb_shed_new(round % 2, draw, &seed);
        BbShedSigns signs = {0};
        gint64 now_ns = 0;
        guint64 vain = 0;
        for (guint i = 0, before = 0; i < 3000; i++) {
            now_ns += g_rand_int_range(rand, 0, 40) * MS;
            signs.dropped += g_rand_int_range(rand, 0, 10) == 0;
            signs.read += (guint)g_rand_int_range(rand, 0, 100);
            signs.waited_ns += g_rand_int_range(rand, 0, 40) * MS;
            signs.lag_ns = g_rand_int_range(rand, 0, 2) ? BB_SHED_LAG_UNKNOWN
                                                        : g_rand_int_range(rand, 0, 900) * MS;
            bb_shed_look(shed, now_ns, &signs);
            guint level = bb_shed_level(shed);
            guint first = round % 2 ? 1 : 2;
            bool gave_up = bb_shed_vain(shed) > vain && level < before;
            ck_assert(level == before || level == MAX(before + 1, first) || gave_up ||
                      level == (before > first ? before - 1 : 0));
            ck_assert(!gave_up || before - level <= BB_SHED_TRIAL_PARTS + 1);
            BbShedding now = bb_shed_now(shed);
            ck_assert_uint_eq(now.parts, bb_shed_parts(level));
            ck_assert_uint_lt(now.first, BB_SHED_PARTS);
            ck_assert(now.trims == (level >= BB_SHED_TRIMS));
            before = level;
            vain = bb_shed_vain(shed);
        }
    }
}
END_TEST

static BbAddress host(guint number)
{
    return bb_address_v4((const guint8[]){10, 0, (guint8)(number >> 8), (guint8)number});
}

// A heavy flow is of this part; all others together are nothing.
static void flood(World *world, gint64 ns, guint part)
{
    for (gint64 end_ns = world->now_ns + ns; world->now_ns < end_ns;) {
        BbShedding now = bb_shed_now(world->shed);
        bool gone = (part + BB_SHED_PARTS - now.first) % BB_SHED_PARTS < now.parts;
        world->signs.read += gone ? 2 * TAKEN : TAKEN;
        world->signs.dropped += gone ? 0 : TAKEN;
        go_on(world, 10 * MS);
    }
}

// It is found wherever it is, soon, and by leaving out no more than is tried at once.
START_TEST(one_flow_is_all_the_load)
{
    for (guint part = 0; part < BB_SHED_PARTS; part++) {
        World world;
        world_begin(&world, part % 2);
        flood(&world, 2400 * MS, part);
        ck_assert_uint_eq(bb_shed_vain(world.shed), 0);
        ck_assert_uint_eq(bb_shed_turns(world.shed), part / BB_SHED_TRIAL_PARTS);
        ck_assert_uint_le(bb_shed_parts(world.most), BB_SHED_TRIAL_PARTS);
        guint64 dropped = world.signs.dropped;
        flood(&world, 20 * S, part); // now and then it is tried without
        ck_assert_uint_lt(world.signs.dropped - dropped, 2000 * TAKEN / 8);
        bb_shed_free(world.shed);
    }
}
END_TEST

// A disk that takes nothing, or not more: the flows are kept, but for a short trial now and then.
START_TEST(nothing_helps)
{
    for (guint rate = 0; rate < 2; rate++)
        for (guint can_trim = 0; can_trim < 2; can_trim++) {
            World world;
            world_begin(&world, can_trim);
            for (guint i = 0; i < 6000; i++) {
                world.signs.dropped += 100;
                world.signs.read += rate * TAKEN;
                go_on(&world, 10 * MS);
            }
            ck_assert_uint_eq(bb_shed_level(world.shed), can_trim ? BB_SHED_TRIMS : 0);
            ck_assert_uint_eq(bb_shed_vain(world.shed), 3); // a minute
            ck_assert_uint_eq(bb_shed_turns(world.shed), 3 * 2);
            ck_assert_uint_eq(bb_shed_parts(world.most), BB_SHED_TRIAL_PARTS);
            gint64 spent_ns = 0;
            for (guint level = BB_SHED_TRIMS + 1; level <= BB_SHED_MOST; level++)
                spent_ns += bb_shed_spent(world.shed, level);
            ck_assert_int_lt(spent_ns, 3 * 3 * S);
            bb_shed_free(world.shed);
        }
}
END_TEST

// One window of `every` is too much: it is read as before, or faster by what is left out.
static void burst(World *world, guint every, bool helps)
{
    guint rest = BB_SHED_PARTS - bb_shed_now(world->shed).parts;
    for (guint i = 0; i < 10; i++) {
        world->signs.dropped += 10;
        world->signs.read += helps ? TAKEN * BB_SHED_PARTS / rest : TAKEN;
        go_on(world, 10 * MS);
    }
    for (guint i = 10; i < every * 10; i++) { // few come
        world->signs.read += i % 3 ? TAKEN / 2 : 2 * TAKEN;
        go_on(world, 10 * MS);
    }
}

// Likewise where it comes in bursts: no window without pressure makes it look like help.
START_TEST(nothing_helps_against_bursts)
{
    static const guint every[] = {2, 3, 4, 5, 9, 14};
    for (guint i = 0; i < G_N_ELEMENTS(every) * 2; i++) {
        World world;
        world_begin(&world, i % 2);
        for (gint64 end_ns = world.now_ns + 120 * S; world.now_ns < end_ns;)
            burst(&world, every[i / 2], false);
        ck_assert_uint_eq(bb_shed_parts(world.most), BB_SHED_TRIAL_PARTS);
        ck_assert_uint_ge(bb_shed_vain(world.shed), 2);
        ck_assert_uint_ge(bb_shed_turns(world.shed), 2 * bb_shed_vain(world.shed));
        bb_shed_free(world.shed);
    }
}
END_TEST

START_TEST(more_helps_against_bursts)
{
    static const guint every[] = {2, 3, 9};
    for (guint i = 0; i < G_N_ELEMENTS(every); i++) {
        World world;
        world_begin(&world, true);
        for (guint times = 0; times < 60; times++)
            burst(&world, every[i], true);
        ck_assert_uint_eq(bb_shed_vain(world.shed) + bb_shed_turns(world.shed), 0);
        ck_assert_uint_eq(bb_shed_level(world.shed), BB_SHED_MOST);
        bb_shed_free(world.shed);
    }
}
END_TEST

// What helped stays, where more does not.
START_TEST(more_does_not_help)
{
    World world;
    world_begin(&world, true);
    for (guint i = 0; i < 1000; i++) {
        guint parts = MIN(bb_shed_now(world.shed).parts, BB_SHED_TRIAL_PARTS);
        world.signs.dropped += 100;
        world.signs.read += TAKEN * BB_SHED_PARTS / (BB_SHED_PARTS - parts);
        go_on(&world, 10 * MS);
    }
    ck_assert_uint_eq(bb_shed_vain(world.shed), 1);
    ck_assert_uint_eq(bb_shed_now(world.shed).parts, BB_SHED_TRIAL_PARTS);
    ck_assert_uint_eq(bb_shed_now(world.shed).first, 0);
    bb_shed_free(world.shed);
}
END_TEST

// Other flows each time, of what was drawn alone; but for a swing.
START_TEST(each_time_has_its_seed)
{
    World world;
    world_begin(&world, false);
    for (guint time = 1; time <= 3; time++) {
        ck_assert_uint_eq(world.seed, SEED + time - 1); // none is drawn before it is needed
        drop(&world, 300 * MS);
        ck_assert_uint_gt(bb_shed_now(world.shed).parts, 0);
        ck_assert_uint_eq(bb_shed_now(world.shed).seed, SEED + time);
        go_on(&world, 60 * S);
        ck_assert_uint_eq(bb_shed_level(world.shed), 0);
    }
    drop(&world, 110 * MS);
    while (bb_shed_level(world.shed))
        go_on(&world, 10 * MS);
    drop(&world, 300 * MS);
    ck_assert_uint_gt(bb_shed_now(world.shed).parts, 0);
    ck_assert_uint_eq(bb_shed_now(world.shed).seed, SEED + 4);
    bb_shed_free(world.shed);
}
END_TEST

START_TEST(a_flow_is_of_one_part)
{
    guint count[BB_SHED_PARTS] = {0}, same = 0;
    for (guint client = 0; client < 40; client++)
        for (guint16 port = 40000; port < 40200; port++) {
            BbAddress one = host(client), other = host(1000);
            guint part = bb_shed_part(SEED, &one, port, &other, 443);
            ck_assert_uint_lt(part, BB_SHED_PARTS);
            ck_assert_uint_eq(part, bb_shed_part(SEED, &other, 443, &one, port));
            count[part]++;
            same += part == bb_shed_part(SEED + 1, &one, port, &other, 443);
        }
    ck_assert(same > 800 && same < 1200);
    for (guint part = 0; part < BB_SHED_PARTS; part++) // 1000 each
        ck_assert(count[part] > 800 && count[part] < 1200);
}
END_TEST

// Parts go round.
START_TEST(which_flows_are_taken)
{
    BbAddress one = host(1), other = host(2);
    for (guint16 port = 40000; port < 40100; port++)
        for (guint8 first = 0; first < BB_SHED_PARTS; first++)
            for (guint8 parts = 0; parts < BB_SHED_PARTS; parts++) {
                const BbShedding shedding = {.parts = parts, .first = first, .seed = SEED};
                guint part = bb_shed_part(SEED, &one, port, &other, 80);
                bool in = false;
                for (guint i = 0; i < parts; i++)
                    in |= part == (first + i) % BB_SHED_PARTS;
                ck_assert(in == bb_shedding_takes(&shedding, &one, port, &other, 80));
                ck_assert(in == bb_shedding_takes(&shedding, &other, 80, &one, port));
            }
}
END_TEST

START_TEST(what_covers_what)
{
    const BbShedding none = {.seed = 1}, some = {.parts = 3, .first = 1, .seed = 1};
    const BbShedding more = {.parts = 4, .first = 1, .seed = 1};
    const BbShedding turned = {.parts = 4, .first = 4, .seed = 1};
    const BbShedding others = {.parts = 4, .first = 1, .seed = 2};
    ck_assert(bb_shedding_covers(&none, &none) && bb_shedding_covers(&some, &none));
    ck_assert(bb_shedding_covers(&more, &some) && bb_shedding_covers(&others, &none));
    ck_assert(!bb_shedding_covers(&some, &more) && !bb_shedding_covers(&none, &some));
    ck_assert(!bb_shedding_covers(&turned, &some) && !bb_shedding_covers(&others, &some));
}
END_TEST

TEST_MAIN("shed", nothing_is_left_out_in_peace, drops_raise_it_fast, strain_trims,
          who_only_waits_is_pressed, lag_counts_while_it_grows, room_is_time,
          a_pause_is_no_pressure, a_long_wait_is_no_pause, calm_lowers_it_slowly_to_nothing,
          it_swings_less_and_less, any_signs, one_flow_is_all_the_load, nothing_helps,
          nothing_helps_against_bursts, more_helps_against_bursts, more_does_not_help,
          each_time_has_its_seed, a_flow_is_of_one_part, which_flows_are_taken, what_covers_what)
