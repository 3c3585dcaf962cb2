// SPDX-License-Identifier: Apache-2.0
// In: path instances by hand and at random. Out: checks of who is charged with their latency.
#include "data/critical_path.h"

#include <string.h>

#include "tests/unit/sample_instances.h"

typedef struct Case {
    Scene *scene;
    BbPaths *paths;
    BbCriticalPath *path;
    const BbCritical *charges;
} Case;

static void find(Case *c, bool last_byte)
{
    c->paths = scene_paths(c->scene, 0);
    c->path = bb_critical_path_new(last_byte);
    ck_assert_uint_eq(c->paths->n_instances, 1);
    c->charges = bb_critical_path_find(c->path, c->paths, &c->paths->instances[0]);
}

static void case_clear(Case *c)
{
    scene_free(c->scene);
    bb_paths_free(c->paths);
    bb_critical_path_free(c->path);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Case, case_clear)

#define CASE ((Case){.scene = scene_new()})

static void check(const Case *c, guint32 place, bool on_path, gint64 self_ns, gint64 wire_ns,
                  gint64 slack_ns)
{
    const BbCritical *charge = &c->charges[place];
    ck_assert_msg(charge->on_path == on_path && charge->self_ns == self_ns &&
                      charge->wire_ns == wire_ns && charge->slack_ns == slack_ns,
                  "place %u: on path %d, self %d, wire %d, slack %d", place, charge->on_path,
                  (int)charge->self_ns, (int)charge->wire_ns, (int)charge->slack_ns);
}

START_TEST(calls_in_series)
{
    g_auto(Case) c = CASE;
    guint32 a = scene_call(c.scene, SCENE_ROOT, "C", "A", 100, 200);
    guint32 b = scene_call(c.scene, a, "A", "B", 110, 140);
    scene_call(c.scene, b, "B", "D", 120, 125);
    scene_call(c.scene, a, "A", "E", 150, 190);
    find(&c, false);
    check(&c, 0, true, 30, 0, 0);
    check(&c, 1, true, 25, 0, 0);
    check(&c, 2, true, 5, 0, 0);
    check(&c, 3, true, 40, 0, 0);
    ck_assert_int_eq(c.charges[0].gap_ns, 0);
    ck_assert_int_eq(c.charges[1].gap_ns, 10);
    ck_assert_int_eq(c.charges[2].gap_ns, 10);
    ck_assert_int_eq(c.charges[3].gap_ns, 10);
}
END_TEST

START_TEST(the_last_of_calls_in_parallel_is_waited_for)
{
    g_auto(Case) c = CASE;
    guint32 a = scene_call(c.scene, SCENE_ROOT, "C", "A", 0, 100);
    guint32 fast = scene_call(c.scene, a, "A", "B", 10, 60);
    scene_call(c.scene, fast, "B", "X", 20, 50);
    scene_call(c.scene, a, "A", "D", 12, 90);
    find(&c, false);
    check(&c, 0, true, 10 + 12, 0, 0); // until the call of D, A made that wait itself
    check(&c, 1, false, 0, 0, 30);
    check(&c, 2, false, 0, 0, 0); // B waited for it
    ck_assert_int_eq(c.charges[1].gap_ns, 0);
    ck_assert_int_eq(c.charges[3].gap_ns, 12);
    check(&c, 3, true, 78, 0, 0);
}
END_TEST

START_TEST(of_equals_the_earliest_call_is_waited_for)
{
    g_auto(Case) c = CASE;
    guint32 a = scene_call(c.scene, SCENE_ROOT, "C", "A", 0, 100);
    scene_call(c.scene, a, "A", "B", 30, 80);
    scene_call(c.scene, a, "A", "D", 20, 80);
    find(&c, false);
    check(&c, 0, true, 40, 0, 0);
    check(&c, 1, false, 0, 0, 0);
    check(&c, 2, true, 60, 0, 0);
}
END_TEST

START_TEST(nobody_waits_for_a_call_that_outlasts_its_caller)
{
    g_auto(Case) c = CASE;
    guint32 a = scene_call(c.scene, SCENE_ROOT, "C", "A", 0, 100);
    scene_call(c.scene, a, "A", "queue", 50, 101);
    scene_call(c.scene, a, "A", "B", 20, 40);
    find(&c, false);
    check(&c, 0, true, 80, 0, 0);
    check(&c, 1, false, 0, 0, 0);
    check(&c, 2, true, 20, 0, 0);
}
END_TEST

// Until A goes on, it waits for B; of the call to D, made at once, nobody waits any more then.
START_TEST(a_call_without_return_is_waited_for)
{
    for (gint64 wire_ns = 0; wire_ns <= 3; wire_ns += 3) {
        g_auto(Case) c = CASE;
        guint32 a = scene_call(c.scene, SCENE_ROOT, "C", "A", 0, 100);
        guint32 b = scene_unanswered(c.scene, a, "A", "B", 10, 80 + wire_ns);
        scene_at(c.scene, b)->arrived_ns += wire_ns;
        scene_call(c.scene, a, "A", "D", 11, 20);
        scene_call(c.scene, a, "A", "B", 80, 95);
        find(&c, false);
        check(&c, 0, true, 10 + 5, 0, 0);
        check(&c, 1, true, 70, 0, 0);
        check(&c, 2, false, 0, 0, 60);
        check(&c, 3, true, 15, 0, 0);
        ck_assert_int_eq(c.charges[3].gap_ns, 0);
    }
}
END_TEST

// A gave up at 60 what it waited for; until then B waited for D, and D for E, whose returns came
// later.
START_TEST(below_a_call_without_return)
{
    g_auto(Case) c = CASE;
    guint32 a = scene_call(c.scene, SCENE_ROOT, "C", "A", 0, 100);
    guint32 b = scene_unanswered(c.scene, a, "A", "B", 10, 60);
    guint32 d = scene_call(c.scene, b, "B", "D", 20, 500);
    scene_call(c.scene, d, "D", "E", 25, 400);
    scene_call(c.scene, d, "D", "F", 410, 450); // after all that is waited for
    find(&c, false);
    check(&c, 0, true, 10 + 40, 0, 0);
    check(&c, 1, true, 10, 0, 0);
    check(&c, 2, true, 5, 0, 0);
    check(&c, 3, true, 35, 0, 0);
    check(&c, 4, false, 0, 0, 0);
}
END_TEST

START_TEST(the_wire_is_what_the_callee_does_not_see)
{
    g_auto(Case) c = CASE;
    guint32 a = scene_call(c.scene, SCENE_ROOT, "C", "A", 0, 100);
    guint32 b = scene_call(c.scene, a, "A", "B", 10, 90);
    scene_at(c.scene, a)->call_ns = -5; // the client's wire is not of the callee's latency
    scene_at(c.scene, a)->return_ns = 120;
    scene_at(c.scene, b)->arrived_ns = 1000; // another clock
    scene_at(c.scene, b)->replied_ns = 1070;
    guint32 d = scene_call(c.scene, b, "B", "D", 1010, 1030);
    scene_at(c.scene, d)->arrived_ns = 500;
    scene_at(c.scene, d)->replied_ns = 490; // damage: before it came
    find(&c, false);
    check(&c, 0, true, 20, 0, 0);
    check(&c, 1, true, 50, 10, 0);
    check(&c, 2, true, 0, 20, 0);
}
END_TEST

START_TEST(calls_outside_of_their_caller_are_cut)
{
    g_auto(Case) c = CASE;
    guint32 a = scene_call(c.scene, SCENE_ROOT, "C", "A", 100, 200);
    guint32 early = scene_call(c.scene, a, "A", "B", 90, 150);
    scene_call(c.scene, early, "B", "X", 95, 120); // 20 of it within what B is charged with
    scene_call(c.scene, a, "A", "gone", 80, 99);
    find(&c, false);
    check(&c, 0, true, 50, 0, 0);
    check(&c, 1, true, 30, 0, 0);
    check(&c, 2, true, 20, 0, 0);
    check(&c, 3, false, 0, 0, 0);
}
END_TEST

START_TEST(a_return_before_its_call_takes_no_time)
{
    g_auto(Case) c = CASE;
    guint32 a = scene_call(c.scene, SCENE_ROOT, "C", "A", 100, 200);
    guint32 b = scene_call(c.scene, a, "A", "B", 150, 140);
    scene_call(c.scene, b, "B", "D", 145, 147);
    find(&c, false);
    check(&c, 0, true, 100, 0, 0);
    check(&c, 1, true, 0, 0, 0);
    check(&c, 2, false, 0, 0, 0);
}
END_TEST

START_TEST(a_root_of_no_length_has_nothing_to_charge)
{
    g_auto(Case) c = CASE;
    guint32 a = scene_call(c.scene, SCENE_ROOT, "C", "A", 100, 90);
    scene_call(c.scene, a, "A", "B", 80, 90);
    find(&c, false);
    check(&c, 0, true, 0, 0, 0);
    check(&c, 1, true, 0, 0, 0);
}
END_TEST

START_TEST(calls_may_last_until_the_last_byte)
{
    g_auto(Case) c = CASE;
    guint32 a = scene_call(c.scene, SCENE_ROOT, "C", "A", 0, 100);
    scene_at(c.scene, a)->return_end_ns = 160;
    guint32 b = scene_call(c.scene, a, "A", "B", 10, 60);
    scene_at(c.scene, b)->return_end_ns = 80;
    find(&c, true);
    check(&c, 0, true, 90, 0, 0);
    check(&c, 1, true, 70, 0, 0);
    g_auto(Case) first = CASE;
    a = scene_call(first.scene, SCENE_ROOT, "C", "A", 0, 100);
    scene_at(first.scene, a)->return_end_ns = 160;
    find(&first, false);
    check(&first, 0, true, 100, 0, 0);
}
END_TEST

// A waits for all of the first return of B, and goes on before the second one is complete; D is not
// waited for.
START_TEST(the_rest_of_a_return_is_waited_for)
{
    for (guint last_byte = 0; last_byte < 2; last_byte++) {
        g_auto(Case) c = CASE;
        guint32 a = scene_call(c.scene, SCENE_ROOT, "C", "A", 0, 200);
        guint32 first = scene_call(c.scene, a, "A", "B", 10, 30);
        scene_at(c.scene, first)->return_end_ns = 75;
        guint32 second = scene_call(c.scene, a, "A", "B", 80, 120);
        scene_at(c.scene, second)->return_end_ns = 210;
        guint32 beside = scene_call(c.scene, a, "A", "D", 81, 90);
        scene_at(c.scene, beside)->return_end_ns = 95;
        find(&c, last_byte);
        ck_assert_int_eq(c.charges[0].rest_ns, 0);
        ck_assert_int_eq(c.charges[1].rest_ns, last_byte ? 0 : 45);
        ck_assert_int_eq(c.charges[2].rest_ns, 0);
        ck_assert_int_eq(c.charges[3].rest_ns, 0);
        if (!last_byte)
            check(&c, 0, true, 10 + 50 + 80, 0, 0);
    }
}
END_TEST

START_TEST(stamps_may_be_any_number)
{
    g_auto(Case) c = CASE;
    guint32 a = scene_call(c.scene, SCENE_ROOT, "C", "A", G_MININT64 + 1, G_MAXINT64);
    guint32 b = scene_call(c.scene, a, "A", "B", G_MININT64 + 1, G_MAXINT64);
    scene_at(c.scene, b)->return_end_ns = G_MAXINT64;
    scene_at(c.scene, b)->replied_ns = G_MININT64 + 1;
    scene_call(c.scene, b, "B", "D", G_MAXINT64, G_MININT64 + 1);
    find(&c, true);
    gint64 sum_ns = 0;
    for (guint32 i = 0; i < 3; i++)
        sum_ns += c.charges[i].self_ns + c.charges[i].wire_ns;
    ck_assert_int_eq(sum_ns, G_MAXINT64);
}
END_TEST

START_TEST(one_scratch_serves_many_instances)
{
    g_autoptr(Scene) scene = scene_new();
    guint32 a = scene_call(scene, SCENE_ROOT, "C", "A", 0, 100);
    for (gint64 i = 0; i < 40; i++) // more than are sorted by insertion
        scene_call(scene, a, "A", "B", 2 * i, 2 * i + 1);
    scene_call(scene, SCENE_ROOT, "C", "A", 500, 600);
    g_autoptr(BbPaths) paths = scene_paths(scene, 0);
    g_autoptr(BbCriticalPath) path = bb_critical_path_new(false);
    const BbCritical *charges = bb_critical_path_find(path, paths, &paths->instances[0]);
    ck_assert_int_eq(charges[0].self_ns, 60);
    ck_assert(charges[40].on_path && charges[40].self_ns == 1);
    charges = bb_critical_path_find(path, paths, &paths->instances[1]);
    ck_assert(charges[0].on_path && charges[0].self_ns == 100);
}
END_TEST

START_TEST(a_chain_as_deep_as_may_be)
{
    g_auto(Case) c = CASE;
    guint32 call = SCENE_ROOT;
    for (gint64 i = 0; i < BB_PATHS_DEPTH_MAX; i++)
        call = scene_call(c.scene, call, "A", "A", i, 2000 - i);
    find(&c, false);
    for (guint32 i = 0; i + 1 < BB_PATHS_DEPTH_MAX; i++)
        check(&c, i, true, 2, 0, 0);
    check(&c, BB_PATHS_DEPTH_MAX - 1, true, 2000 - 2 * (BB_PATHS_DEPTH_MAX - 1), 0, 0);
}
END_TEST

// ---- the slow twin: walks back nanosecond by nanosecond -----------------------------------------

#define CALLS_MOST 24

typedef struct Twin {
    const BbPaths *paths;
    gint64 self_ns[CALLS_MOST], gap_ns[CALLS_MOST], wire_ns[CALLS_MOST]; // by index
    bool used[CALLS_MOST];
} Twin;

// The call of `caller` that returned at that very nanosecond and takes time; the earliest. open:
// also those that returned later; the last one.
static guint32 returned_at(const Twin *twin, guint32 caller, gint64 at_ns, bool open)
{
    guint32 best = BB_CALL_NO_PARENT;
    gint64 best_ns = at_ns;
    for (guint32 i = 0; i < twin->paths->n_calls; i++) {
        const BbCall *call = &twin->paths->calls[i];
        gint64 back_ns = bb_call_back(call, false);
        if (twin->paths->parent[i] != caller || call->call_ns >= at_ns ||
            (open ? back_ns < at_ns : back_ns != at_ns))
            continue;
        if (best == BB_CALL_NO_PARENT || back_ns > best_ns ||
            (back_ns == best_ns && call->call_ns < twin->paths->calls[best].call_ns)) {
            best = i;
            best_ns = back_ns;
        }
    }
    return best;
}

// late_ns: so long before its end its caller did not wait any more.
static void charge_back(Twin *twin, guint32 index, gint64 late_ns, gint64 length_ns)
{
    const BbCall *caller = &twin->paths->calls[index];
    gint64 at_ns = bb_call_end(caller, false) - late_ns, from_ns = at_ns - length_ns;
    bool open = late_ns > 0 || !bb_call_is_returned(caller);
    guint32 next = BB_CALL_NO_PARENT;
    for (; at_ns > from_ns; open = false) {
        guint32 kid = returned_at(twin, index, at_ns, open);
        if (kid == BB_CALL_NO_PARENT) {
            twin->self_ns[index]++;
            if (next != BB_CALL_NO_PARENT)
                twin->gap_ns[next]++;
            at_ns--;
            continue;
        }
        const BbCall *call = &twin->paths->calls[kid];
        gint64 kid_late_ns = bb_call_back(call, false) - at_ns;
        gint64 waited_ns = at_ns - MAX(call->call_ns, from_ns);
        gint64 seen_ns =
            CLAMP(bb_call_end(call, false) - kid_late_ns - call->arrived_ns, 0, waited_ns);
        twin->wire_ns[kid] += waited_ns - seen_ns;
        charge_back(twin, kid, kid_late_ns, seen_ns);
        at_ns -= waited_ns;
        next = kid;
    }
}

// Of every fourth call nobody saw a return.
static void give_up(GRand *rand, BbCall *call)
{
    if (g_rand_int_range(rand, 0, 4) > 0)
        return;
    call->return_end_ns = call->replied_ns;
    call->replied_ns = call->return_ns = BB_TIME_NONE;
}

// Up to CALLS_MOST calls, mostly within their parents, with clocks that may be off.
static void add_calls(GRand *rand, Scene *scene)
{
    guint32 n = (guint32)g_rand_int_range(rand, 1, CALLS_MOST + 1);
    gint64 skew_ns[4];
    for (guint i = 0; i < G_N_ELEMENTS(skew_ns); i++)
        skew_ns[i] = g_rand_boolean(rand) ? g_rand_int_range(rand, -50, 50) : 0;
    scene_call(scene, SCENE_ROOT, "C", "A", 0, g_rand_int_range(rand, 0, 200));
    for (guint32 i = 1; i < n; i++) {
        guint32 parent = (guint32)g_rand_int_range(rand, 0, (gint)i);
        const BbCall *above = scene_at(scene, parent);
        gint length = (gint)CLAMP(bb_call_end(above, false) - above->arrived_ns, 0, 1000);
        gint64 from_ns = above->arrived_ns + g_rand_int_range(rand, -2, length + 2);
        gint64 to_ns = from_ns + g_rand_int_range(rand, -1, length / 2 + 4);
        guint32 call = scene_call(scene, parent, "A", "B", from_ns, to_ns);
        if (g_rand_boolean(rand)) {
            gint64 skew = skew_ns[g_rand_int_range(rand, 0, G_N_ELEMENTS(skew_ns))];
            scene_at(scene, call)->arrived_ns += skew + g_rand_int_range(rand, 0, 3);
            scene_at(scene, call)->replied_ns += skew - g_rand_int_range(rand, 0, 3);
        }
        give_up(rand, scene_at(scene, call));
    }
}

static void compare(const BbPaths *paths, const BbCritical *charges, guint round)
{
    Twin twin = {.paths = paths};
    const BbCall *root = &paths->calls[0];
    gint64 latency_ns = MAX(root->replied_ns - root->arrived_ns, 0), sum_ns = 0;
    charge_back(&twin, 0, 0, latency_ns);
    for (guint32 k = 0; k < paths->n_calls; k++) {
        const BbCritical *charge = &charges[k];
        guint32 index = paths->order[k];
        sum_ns += charge->self_ns + charge->wire_ns;
        ck_assert_msg(charge->self_ns == twin.self_ns[index] &&
                          charge->wire_ns == twin.wire_ns[index],
                      "round %u, call %u: self %d and wire %d, not %d and %d", round, index,
                      (int)twin.self_ns[index], (int)twin.wire_ns[index], (int)charge->self_ns,
                      (int)charge->wire_ns);
        ck_assert_msg(charge->slack_ns >= 0 && (!charge->on_path || charge->slack_ns == 0),
                      "round %u, call %u: slack %d", round, index, (int)charge->slack_ns);
        ck_assert(charge->on_path ||
                  (charge->self_ns == 0 && charge->wire_ns == 0 && charge->gap_ns == 0));
        // Calls of no length part a gap in two, which the twin does not see.
        ck_assert(charge->gap_ns <= twin.gap_ns[index] ||
                  paths->calls[index].call_ns >= bb_call_back(&paths->calls[index], false));
    }
    ck_assert_int_eq(sum_ns, latency_ns);
}

START_TEST(charges_are_those_of_the_slow_twin)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("critical_path"));
    g_autoptr(BbCriticalPath) path = bb_critical_path_new(false);
    g_autoptr(Scene) scene = scene_new();
    for (guint round = 0; round < 5000; round++) {
        add_calls(rand, scene);
        g_autoptr(BbPaths) paths = scene_paths(scene, round);
        compare(paths, bb_critical_path_find(path, paths, &paths->instances[0]), round);
    }
}
END_TEST

// For its turn, as far as that is on the path; for a pool, as long as its caller did nothing else.
START_TEST(who_waits_in_line)
{
    g_auto(Case) c = CASE;
    guint32 a = scene_call(c.scene, SCENE_ROOT, "C", "A", 100, 200);
    guint32 b = scene_call(c.scene, a, "A", "B", 110, 140);
    guint32 d = scene_call(c.scene, a, "A", "D", 150, 190);
    find(&c, false);
    ck_assert_int_eq(c.charges[0].turn_ns + c.charges[1].pool_ns, 0);
    c.paths->worker_wait = g_new0(BbWorkerWait, c.paths->n_calls);
    c.paths->pool_wait = g_new0(BbPoolWait, c.paths->n_calls);
    c.paths->worker_wait[a].ns = 4;
    c.paths->worker_wait[b].ns = 1000;
    c.paths->pool_wait[b].ns = 7;
    c.paths->pool_wait[d].ns = 1000;
    c.charges = bb_critical_path_find(c.path, c.paths, &c.paths->instances[0]);
    ck_assert_int_eq(c.charges[0].turn_ns, 4);
    ck_assert_int_eq(c.charges[0].pool_ns, 0);
    ck_assert_int_eq(c.charges[1].turn_ns, 30);
    ck_assert_int_eq(c.charges[1].begun_ns, 4); // of A's turn
    ck_assert_int_eq(c.charges[1].pool_ns, 6);  // of the 10 before it
    ck_assert_int_eq(c.charges[2].turn_ns, 0);
    ck_assert_int_eq(c.charges[2].begun_ns, 0);
    ck_assert_int_eq(c.charges[2].pool_ns, 10);
}
END_TEST

// No longer than its callee worked at once.
START_TEST(a_wait_longer_than_any_gap_is_cut)
{
    g_auto(Case) c = CASE;
    guint32 a = scene_call(c.scene, SCENE_ROOT, "C", "A", 100, 200);
    scene_call(c.scene, a, "A", "B", 103, 196);
    find(&c, false);
    c.paths->worker_wait = g_new0(BbWorkerWait, c.paths->n_calls);
    c.paths->worker_wait[a].ns = 10;
    c.charges = bb_critical_path_find(c.path, c.paths, &c.paths->instances[0]);
    ck_assert_int_eq(c.charges[0].self_ns, 7);
    ck_assert_int_eq(c.charges[0].turn_ns, 4);
    ck_assert_int_eq(c.charges[1].begun_ns, 0);
}
END_TEST

TEST_MAIN("critical_path", calls_in_series, the_last_of_calls_in_parallel_is_waited_for,
          of_equals_the_earliest_call_is_waited_for,
          nobody_waits_for_a_call_that_outlasts_its_caller, a_call_without_return_is_waited_for,
          below_a_call_without_return, the_wire_is_what_the_callee_does_not_see,
          calls_outside_of_their_caller_are_cut, a_return_before_its_call_takes_no_time,
          a_root_of_no_length_has_nothing_to_charge, calls_may_last_until_the_last_byte,
          the_rest_of_a_return_is_waited_for, stamps_may_be_any_number,
          one_scratch_serves_many_instances, a_chain_as_deep_as_may_be,
          charges_are_those_of_the_slow_twin, who_waits_in_line, a_wait_longer_than_any_gap_is_cut)
