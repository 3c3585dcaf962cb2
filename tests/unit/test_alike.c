// SPDX-License-Identifier: Apache-2.0
// Finding replicas: planted systems with load balancers of several kinds, and what looks like
// replicas but is not.
#include "nesting/roles.h"

#include <math.h>
#include <stdlib.h>

#include "data/random.h"
#include "nesting/kolmogorov.h"
#include "tests/unit/test.h"

#define MS G_GINT64_CONSTANT(1000000)

typedef struct {
    BbNames *names;
    GArray *calls; // of BbCall
    BbRandom random;
} Plant;

static Plant plant_new(guint64 seed)
{
    return (Plant){bb_names_new(), g_array_new(FALSE, FALSE, sizeof(BbCall)),
                   bb_random_start(seed)};
}

static void plant_free(Plant *plant)
{
    bb_names_free(plant->names);
    g_array_unref(plant->calls);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Plant, plant_free)

static guint32 op_of(Plant *plant, const char *op)
{
    return bb_names_intern(plant->names, op ? op : "");
}

static void call_op(Plant *plant, const char *caller, const char *callee, const char *op,
                    gint64 from_ns, gint64 to_ns)
{
    BbCall call = {.call_ns = from_ns,
                   .arrived_ns = from_ns,
                   .replied_ns = to_ns,
                   .return_ns = to_ns,
                   .return_end_ns = BB_TIME_NONE,
                   .caller = bb_names_intern(plant->names, caller),
                   .callee = bb_names_intern(plant->names, callee),
                   .op = op_of(plant, op)};
    g_array_append_val(plant->calls, call);
}

static void call(Plant *plant, const char *caller, const char *callee, gint64 from_ns, gint64 to_ns)
{
    call_op(plant, caller, callee, NULL, from_ns, to_ns);
}

// mean, give or take a fifth.
static gint64 around(Plant *plant, gint64 mean_ns)
{
    return mean_ns + (gint64)((bb_random_unit(&plant->random) - 0.5) * 0.4 * (double)mean_ns);
}

static guint below(Plant *plant, guint n)
{
    return (guint)(bb_random_unit(&plant->random) * n);
}

static int by_start(const void *a, const void *b)
{
    const BbCall *x = a, *y = b;
    return (x->call_ns > y->call_ns) - (x->call_ns < y->call_ns);
}

static BbRoles *find(Plant *plant)
{
    BbRoles *roles = bb_roles_new(plant->names);
    if (plant->calls->len > 0)
        qsort(plant->calls->data, plant->calls->len, sizeof(BbCall), by_start);
    bb_roles_find(roles, (const BbCall *)(const void *)plant->calls->data, plant->calls->len,
                  plant->names);
    return roles;
}

static const char *role(BbRoles *roles, const Plant *plant, const char *node)
{
    return bb_names_text(plant->names, bb_roles_of(roles, bb_names_find(plant->names, node)));
}

static void expect_alone(BbRoles *roles, const Plant *plant, const char *node)
{
    ck_assert_str_eq(role(roles, plant, node), node);
}

// The start of each request: at intervals of `every` on average.
static gint64 begin(Plant *plant, gint64 *now_ns, gint64 every_ns)
{
    *now_ns += (gint64)(-log(1 - bb_random_unit(&plant->random)) * (double)every_ns);
    return *now_ns;
}

// web calls auth, then one of eight app replicas, chosen by lot; each app calls one of two stores.
// Nodes that all requests use are not merged, those that one in eight uses are.
static void plant_eight(Plant *plant, gint64 every_ns, bool in_turn)
{
    gint64 now_ns = 0;
    for (guint i = 0; i < 4000; i++) {
        char app[8], store[8];
        g_snprintf(app, sizeof app, "app%u", 1 + (in_turn ? i % 8 : below(plant, 8)));
        g_snprintf(store, sizeof store, "store%u", 1 + below(plant, 2));
        gint64 t = begin(plant, &now_ns, every_ns);
        gint64 app_ns = t + 20 * MS, app_end_ns = app_ns + around(plant, 40 * MS);
        gint64 auth_end_ns = t + 5 * MS + around(plant, 10 * MS);
        call(plant, "client", "web", t, app_end_ns + 5 * MS);
        call(plant, "web", "auth", t + 5 * MS, auth_end_ns);
        call(plant, "web", app, app_ns, app_end_ns);
        call(plant, app, store, app_ns + 5 * MS, app_ns + 5 * MS + around(plant, 10 * MS));
    }
}

static void check_eight(const Plant *plant, BbRoles *roles)
{
    ck_assert_uint_eq(bb_roles_count(roles), 2);
    ck_assert_str_eq(role(roles, plant, "app1"), "app{1..8}");
    ck_assert_str_eq(role(roles, plant, "app8"), "app{1..8}");
    ck_assert_str_eq(role(roles, plant, "store2"), "store{1,2}");
    expect_alone(roles, plant, "web");
    expect_alone(roles, plant, "auth");
    expect_alone(roles, plant, "client");
}

// One request at a time, some at once, and always many.
START_TEST(eight_replicas)
{
    const gint64 every[] = {500 * MS, 50 * MS, 5 * MS};
    for (guint load = 0; load < G_N_ELEMENTS(every); load++)
        for (guint in_turn = 0; in_turn < 2; in_turn++) {
            g_auto(Plant) plant = plant_new(load + 1);
            plant_eight(&plant, every[load], in_turn);
            g_autoptr(BbRoles) roles = find(&plant);
            check_eight(&plant, roles);
        }
}
END_TEST

// A caller that serves nothing itself: clients of a balancer without a trace.
START_TEST(replicas_of_a_client)
{
    for (guint in_turn = 0; in_turn < 2; in_turn++) {
        g_auto(Plant) plant = plant_new(3);
        gint64 now_ns = 0;
        for (guint i = 0; i < 2000; i++) {
            char web[8];
            g_snprintf(web, sizeof web, "web%u", in_turn ? i % 4 : below(&plant, 4));
            gint64 t = begin(&plant, &now_ns, 30 * MS);
            call(&plant, "lb", web, t, t + around(&plant, 20 * MS));
        }
        g_autoptr(BbRoles) roles = find(&plant);
        ck_assert_str_eq(role(roles, &plant, "web0"), "web{0,1,2,3}");
    }
}
END_TEST

// Two leaves that every request of the same node uses, one after the other, equally long: under
// every load, and also where nobody is seen to call that node.
START_TEST(different_leaves)
{
    const gint64 every[] = {500 * MS, 50 * MS, 5 * MS};
    for (guint load = 0; load < G_N_ELEMENTS(every); load++) {
        g_auto(Plant) plant = plant_new(load + 5);
        gint64 now_ns = 0;
        for (guint i = 0; i < 3000; i++) {
            gint64 t = begin(&plant, &now_ns, every[load]);
            gint64 second_ns = t + around(&plant, 20 * MS);
            call(&plant, "client", "web", t, second_ns + 20 * MS);
            call(&plant, "web", "auth", t + MS, t + MS + around(&plant, 8 * MS));
            call(&plant, "web", "cache", second_ns, second_ns + around(&plant, 8 * MS));
        }
        g_autoptr(BbRoles) roles = find(&plant);
        ck_assert_uint_eq(bb_roles_count(roles), 0);
    }
    g_auto(Plant) unseen = plant_new(9);
    gint64 now_ns = 0;
    for (guint i = 0; i < 3000; i++) {
        gint64 t = begin(&unseen, &now_ns, 200 * MS);
        call(&unseen, "web", "auth", t, t + around(&unseen, 8 * MS));
        call(&unseen, "web", "cache", t + 10 * MS, t + 10 * MS + around(&unseen, 8 * MS));
    }
    g_autoptr(BbRoles) roles = find(&unseen);
    ck_assert_uint_eq(bb_roles_count(roles), 0);
}
END_TEST

// Each request uses either leaf half of the time, without regard to the other.
START_TEST(independent_leaves)
{
    g_auto(Plant) plant = plant_new(11);
    gint64 now_ns = 0;
    for (guint i = 0; i < 4000; i++) {
        gint64 t = begin(&plant, &now_ns, 100 * MS);
        call(&plant, "client", "web", t, t + 40 * MS);
        if (below(&plant, 2))
            call(&plant, "web", "auth", t + MS, t + MS + around(&plant, 8 * MS));
        if (below(&plant, 2))
            call(&plant, "web", "cache", t + 20 * MS, t + 20 * MS + around(&plant, 8 * MS));
    }
    g_autoptr(BbRoles) roles = find(&plant);
    ck_assert_uint_eq(bb_roles_count(roles), 0);
}
END_TEST

typedef void Change(Plant *plant, guint which, gint64 t);

// Two replicas, chosen by lot, of which change makes what they do.
static void plant_pair(Plant *plant, double share, Change *change)
{
    gint64 now_ns = 0;
    for (guint i = 0; i < 2000; i++) {
        gint64 t = begin(plant, &now_ns, 100 * MS);
        call(plant, "client", "web", t, t + 100 * MS);
        change(plant, bb_random_unit(&plant->random) < share ? 1 : 2, t + MS);
    }
}

static const char *const pair_nodes[] = {NULL, "a1", "a2"};

static void same(Plant *plant, guint which, gint64 t)
{
    call(plant, "web", pair_nodes[which], t, t + around(plant, 20 * MS));
}

static void slower(Plant *plant, guint which, gint64 t)
{
    call(plant, "web", pair_nodes[which], t, t + around(plant, which * 20 * MS));
}

static void other_op(Plant *plant, guint which, gint64 t)
{
    call_op(plant, "web", pair_nodes[which], which == 1 ? "read" : "write", t,
            t + around(plant, 20 * MS));
}

static void other_callee(Plant *plant, guint which, gint64 t)
{
    call(plant, "web", pair_nodes[which], t, t + around(plant, 20 * MS));
    call(plant, pair_nodes[which], which == 1 ? "db" : "disk", t + 2 * MS,
         t + 2 * MS + around(plant, which * MS));
}

static void more_calls(Plant *plant, guint which, gint64 t)
{
    call(plant, "web", pair_nodes[which], t, t + around(plant, 20 * MS));
    for (guint i = 0; i < which; i++)
        call(plant, pair_nodes[which], "db", t + (2 + 3 * i) * MS,
             t + (2 + 3 * i) * MS + around(plant, 2 * MS));
}

START_TEST(what_tells_two_nodes_apart)
{
    const struct {
        const char *name;
        double share;
        Change *change;
        bool alike;
    } cases[] = {
        {"equal", 0.5, same, true},
        {"three times as much", 0.75, same, true},
        {"ten times as much", 0.91, same, false},
        {"slower", 0.5, slower, false},
        {"another operation", 0.5, other_op, false},
        {"another callee", 0.5, other_callee, false},
        {"more calls", 0.5, more_calls, false},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_auto(Plant) plant = plant_new(20 + i);
        plant_pair(&plant, cases[i].share, cases[i].change);
        g_autoptr(BbRoles) roles = find(&plant);
        ck_assert_msg((bb_roles_of(roles, bb_names_find(plant.names, "a1")) ==
                       bb_roles_of(roles, bb_names_find(plant.names, "a2"))) == cases[i].alike,
                      "%s", cases[i].name);
    }
}
END_TEST

// Figure 11: two web servers, two of each thing they call, everyone calls everyone: the roles of
// one tier are known by those of the others.
START_TEST(tiers_of_two)
{
    g_auto(Plant) plant = plant_new(40);
    gint64 now_ns = 0;
    for (guint i = 0; i < 4000; i++) {
        char web[8], app[8], db[8], client[8];
        g_snprintf(client, sizeof client, "c%u", 1 + below(&plant, 3));
        g_snprintf(web, sizeof web, "ws%u", 1 + below(&plant, 2));
        g_snprintf(app, sizeof app, "ap%u", 1 + below(&plant, 2));
        g_snprintf(db, sizeof db, "db%u", 1 + below(&plant, 2));
        gint64 t = begin(&plant, &now_ns, 40 * MS);
        call(&plant, client, web, t, t + 100 * MS + around(&plant, 20 * MS));
        call(&plant, web, "auth", t + 5 * MS, t + 5 * MS + around(&plant, 10 * MS));
        call(&plant, web, app, t + 20 * MS, t + 70 * MS + around(&plant, 20 * MS));
        call(&plant, app, db, t + 30 * MS, t + 30 * MS + around(&plant, 20 * MS));
    }
    g_autoptr(BbRoles) roles = find(&plant);
    ck_assert_uint_eq(bb_roles_count(roles), 4);
    ck_assert_str_eq(role(roles, &plant, "c2"), "c{1,2,3}");
    ck_assert_str_eq(role(roles, &plant, "ws2"), "ws{1,2}");
    ck_assert_str_eq(role(roles, &plant, "ap1"), "ap{1,2}");
    ck_assert_str_eq(role(roles, &plant, "db1"), "db{1,2}");
    expect_alone(roles, &plant, "auth");
}
END_TEST

START_TEST(too_few_calls_tell_nothing)
{
    g_auto(Plant) plant = plant_new(50);
    for (guint i = 0; i < 38; i++)
        call(&plant, "lb", i % 2 ? "a1" : "a2", i * 100 * MS, i * 100 * MS + MS);
    g_autoptr(BbRoles) roles = find(&plant);
    ck_assert_uint_eq(bb_roles_count(roles), 0);
    g_auto(Plant) empty = plant_new(51);
    g_autoptr(BbRoles) none = find(&empty);
    ck_assert_uint_eq(bb_roles_count(none), 0);
}
END_TEST

// Calls without return, calls of oneself, times at the ends of time.
START_TEST(calls_of_any_kind)
{
    g_auto(Plant) plant = plant_new(60);
    for (guint i = 0; i < 600; i++) {
        call(&plant, "a", "b", i * MS, i % 3 ? i * MS + MS : BB_TIME_NONE);
        call(&plant, "b", "b", i * MS, i * MS - 5);
        call(&plant, "b", i % 2 ? "c" : "d", G_MININT64 + 1 + i, G_MAXINT64 - i);
        call(&plant, "c", "a", G_MAXINT64 - i, G_MININT64 + 1 + i);
    }
    g_autoptr(BbRoles) roles = find(&plant);
    ck_assert_uint_le(bb_roles_count(roles), 2);
}
END_TEST

// Names of operations, statuses and ids stand in the same table as those of nodes. Neither a pair
// of nodes nor a caller may cost as much as there are names, or this takes minutes.
START_TEST(names_that_are_no_nodes_cost_nothing)
{
    g_auto(Plant) plant = plant_new(25);
    for (guint i = 0; i < 1000000; i++) {
        g_autofree char *id = g_strdup_printf("id%u", i);
        bb_names_intern(plant.names, id);
    }
    gint64 at = 0;
    for (guint request = 0; request < 20; request++) {
        call(&plant, "client", "front", at, at + 201 * MS);
        for (guint leaf = 0; leaf < 200; leaf++) {
            g_autofree char *name = g_strdup_printf("leaf%u", leaf);
            at += MS;
            call(&plant, "front", name, at, at + MS / 2);
        }
        at += 2 * MS;
    }
    g_autoptr(BbRoles) roles = find(&plant);
    ck_assert_uint_eq(bb_roles_count(roles), 0); // each request uses all of them
}
END_TEST

START_TEST(kolmogorov)
{
    g_autoptr(GArray) u = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_autoptr(GArray) v = g_array_new(FALSE, FALSE, sizeof(gint64));
    ck_assert(bb_kolmogorov_alike(u, v, 0));
    for (gint64 i = 0; i < 1000; i++)
        g_array_append_val(u, i);
    ck_assert(!bb_kolmogorov_alike(u, v, 0.9));
    for (gint64 i = 200; i < 1200; i++) // a fifth of it is elsewhere
        g_array_append_val(v, i);
    ck_assert(bb_kolmogorov_alike(u, u, 0));
    ck_assert(!bb_kolmogorov_alike(u, v, 0.1)); // by 0.087 they may differ by chance
    ck_assert(bb_kolmogorov_alike(u, v, 0.12));
}
END_TEST

TEST_MAIN("alike", eight_replicas, replicas_of_a_client, different_leaves, independent_leaves,
          what_tells_two_nodes_apart, tiers_of_two, too_few_calls_tell_nothing, calls_of_any_kind,
          names_that_are_no_nodes_cost_nothing, kolmogorov)
