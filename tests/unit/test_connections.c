// SPDX-License-Identifier: Apache-2.0
// What connections tell: where workers have their own and where requests hold them, and nothing
// where all share them. A slow twin sees the same.
#include "nesting/connections.h"
#include "nesting/owners.h"
#include "tests/unit/test.h"
#include "tests/unit/worker_sites.h"

#include <math.h>

enum { AUTH_KIND, DB_KIND };

// How much more the connection of a child of a kind, the order-th of it, speaks for its parent than
// for its other candidates, on the mean.
static double speaks(const BbConnections *connections, const BbSite *site, guint kind, guint order)
{
    double sum = 0;
    guint n = 0;
    for (guint32 x = 0; x < site->n_children; x++) {
        guint32 own = site->parent[x], before = 0;
        if (site->children[x].type != kind || own == BB_SITE_NONE)
            continue;
        const BbKids *kids = &site->kids[own];
        guint32 at = bb_kids_before(kids, x);
        for (guint32 k = 0; k < at; k++)
            before += site->children[kids->at[k]].type == kind;
        if (before != order)
            continue;
        double log_own = bb_connections_log(connections, site, own, kids->at, at, x);
        for (guint32 i = site->first[x]; i < site->first[x + 1]; i++) {
            guint32 p = site->list[i];
            if (p == own)
                continue;
            const BbKids *others = &site->kids[p];
            sum += log_own - bb_connections_log(connections, site, p, others->at,
                                                bb_kids_before(others, x), x);
            n++;
        }
    }
    return n > 0 ? sum / n : 0;
}

static BbConnections *learn(GRand *rand, BbSite *site, double wrong, bool guessed)
{
    BbConnections *connections = bb_connections_new(site);
    for (guint i = 0; i < 2; i++) {
        bb_connections_reset(connections);
        worker_assign(rand, site, wrong);
        bb_connections_observe(connections, site, 1);
        bb_connections_fit(connections, guessed);
    }
    return connections;
}

START_TEST(threads)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("connections threads"));
    g_autoptr(BbSite) site = site_of_workers(rand, WORKER_THREADS, 8, 200, 0.6);
    g_autoptr(BbConnections) connections = learn(rand, site, 0.2, false);
    ck_assert_double_gt(speaks(connections, site, AUTH_KIND, 0), 1.5);
    ck_assert_double_gt(speaks(connections, site, DB_KIND, 0), 1.5);
    ck_assert_double_gt(speaks(connections, site, DB_KIND, 1), 1.5);
}
END_TEST

// The incoming connections carry one request each: what was called before tells the thread.
START_TEST(threads_of_fresh_requests)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("connections fresh requests"));
    g_autoptr(BbSite) site = site_of_workers(rand, WORKER_THREADS, 8, 200, 0.6);
    for (guint32 p = 0; p < site->n_parents; p++)
        site->parents[p].conn = 5000 + p;
    g_autoptr(BbConnections) connections = learn(rand, site, 0.2, false);
    ck_assert_double_eq(speaks(connections, site, AUTH_KIND, 0), 0);
    ck_assert_double_gt(speaks(connections, site, DB_KIND, 0), 1);
    ck_assert_double_gt(speaks(connections, site, DB_KIND, 1), 1.5);
}
END_TEST

START_TEST(held_by_requests)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("connections held"));
    g_autoptr(BbSite) site = site_of_workers(rand, WORKER_HELD, 8, 200, 0.6);
    g_autoptr(BbConnections) connections = learn(rand, site, 0.2, false);
    ck_assert(bb_connections_holds(connections));
    ck_assert_double_gt(speaks(connections, site, DB_KIND, 1), 1);
    ck_assert_double_gt(speaks(connections, site, DB_KIND, 2), 1);
    ck_assert_double_lt(fabs(speaks(connections, site, AUTH_KIND, 0)), 0.1);
}
END_TEST

START_TEST(shared_by_all)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("connections pool"));
    g_autoptr(BbSite) site = site_of_workers(rand, WORKER_POOL, 8, 200, 0.6);
    for (guint guessed = 0; guessed < 2; guessed++) {
        g_autoptr(BbConnections) connections = learn(rand, site, 0.2, guessed == 1);
        ck_assert(!bb_connections_holds(connections));
        ck_assert_double_eq(speaks(connections, site, AUTH_KIND, 0), 0);
        for (guint order = 0; order < 3; order++)
            ck_assert_double_eq(speaks(connections, site, DB_KIND, order), 0);
    }
}
END_TEST

// Where older candidates have made such a call already none is seen to make its first one but its
// parent: that says nothing of the connection.
START_TEST(nothing_to_compare_with)
{
    enum { PARENTS = 2000 };
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("connections at once"));
    g_autoptr(BbSite) site = bb_site_new(PARENTS, PARENTS);
    site->n_parent_types = site->n_child_types = 1;
    for (guint32 i = 0; i < PARENTS; i++) {
        site->parents[i] = (BbSiteParent){
            .s = 10 * i, .e = 10 * i + 15, .call = i, .caller = WORKER_CLIENT, .conn = 1 + i / 10};
        site->children[i] = (BbSiteChild){.s = 10 * i + 1,
                                          .e = 10 * i + 4,
                                          .call = i,
                                          .callee = WORKER_DB,
                                          .conn = 1000 + (guint32)g_rand_int_range(rand, 0, 100)};
    }
    site_find_candidates(site, 0);
    worker_assign(rand, site, 0);
    g_autoptr(BbConnections) connections = bb_connections_new(site);
    bb_connections_reset(connections);
    bb_connections_observe(connections, site, 1);
    bb_connections_fit(connections, true);
    for (guint32 x = 0; x < PARENTS; x++)
        ck_assert_double_eq(bb_connections_log(connections, site, x, NULL, 0, x), 0);
}
END_TEST

// Of very many children some are looked at: not the same one of each connection.
START_TEST(very_many)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("connections many"));
    g_autoptr(BbSite) site = site_of_workers(rand, WORKER_HELD, 8, 1000, 0.8);
    for (guint32 x = 0; x < site->n_children; x++) { // each held for one request, and not again
        site->children[x].conn = 1000 + site->children[x].call;
        site->children[x].type = DB_KIND;
        site->children[x].callee = WORKER_DB;
    }
    g_autoptr(BbConnections) connections = learn(rand, site, 0.1, false);
    ck_assert(bb_connections_holds(connections));
}
END_TEST

START_TEST(each_its_own)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("connections fresh"));
    g_autoptr(BbSite) site = site_of_workers(rand, WORKER_FRESH, 4, 20, 0.6);
    ck_assert_ptr_null(bb_connections_new(site));
    for (guint32 x = 0; x < site->n_children; x++)
        site->children[x].conn = 0;
    ck_assert_ptr_null(bb_connections_new(site));
    ck_assert_double_eq(bb_connections_log(NULL, site, 0, NULL, 0, 0), 0);
}
END_TEST

// What was learned of a sample is of use on the whole, as far as it needs no assignment: who holds.
START_TEST(another_site)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("connections other"));
    g_autoptr(BbSite) site = site_of_workers(rand, WORKER_HELD, 8, 100, 0.6);
    g_autoptr(BbSite) other = site_of_workers(rand, WORKER_HELD, 8, 200, 0.6);
    g_autoptr(BbConnections) connections = learn(rand, site, 0, false);
    worker_assign(rand, other, 0);
    ck_assert_double_eq(speaks(connections, other, DB_KIND, 1), 0);
    bb_connections_meet(connections, other);
    ck_assert_double_gt(speaks(connections, other, DB_KIND, 1), 1);
}
END_TEST

// Owners that are known before any assignment speak at once; also for those who came only once.
START_TEST(known_owners)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("connections owners"));
    g_autoptr(BbSite) site = site_of_workers(rand, WORKER_THREADS, 24, 40, 0.8);
    g_autoptr(BbConnections) connections = bb_connections_new(site);
    worker_assign(rand, site, 0);
    bb_connections_expect(connections, site);
    ck_assert_double_eq(speaks(connections, site, AUTH_KIND, 0), 0);
    site->owner = bb_owners_find(site);
    ck_assert_ptr_nonnull(site->owner);
    bb_connections_expect(connections, site);
    ck_assert_double_gt(speaks(connections, site, AUTH_KIND, 0), 3);
    g_autoptr(BbSite) once = bb_site_new(2, 2);
    once->n_parent_types = once->n_child_types = 1;
    for (guint32 i = 0; i < 2; i++) {
        once->parents[i] =
            (BbSiteParent){.e = 9, .call = i, .caller = WORKER_CLIENT, .conn = 1 + i};
        once->children[i] = (BbSiteChild){.s = 2 + i, .e = 5, .call = i, .conn = 7};
    }
    site_find_candidates(once, 0);
    once->owner = g_new0(BbSiteEnd, 2);
    once->owner[0] = once->owner[1] = (BbSiteEnd){1, WORKER_CLIENT};
    g_autoptr(BbConnections) few = bb_connections_new(once);
    bb_connections_expect(few, once);
    ck_assert_double_gt(bb_connections_log(few, once, 0, NULL, 0, 1), 1);
    ck_assert_double_lt(bb_connections_log(few, once, 1, NULL, 0, 1), -1);
}
END_TEST

// ---- the slow twin -----------------------------------------------------------------------------

enum { TWIN_NEAR = 4, TWIN_REACH = 32, TWIN_SIGHTS = 8 };

typedef struct {
    guint32 conn, peer;
} TwinEnd;

// Whether another parent came on the same incoming connection.
static bool twin_served(const BbSite *site, guint32 p)
{
    guint n = 0;
    for (guint32 q = 0; q < site->n_parents; q++)
        n += site->parents[q].conn == site->parents[p].conn;
    return n > 1;
}

static guint32 twin_sibling(const BbSite *site, guint32 p, guint32 x, bool same_callee)
{
    const BbKids *kids = &site->kids[p];
    guint32 found = BB_SITE_NONE, before = 0;
    for (guint32 k = 0; k < kids->n; k++)
        before += kids->at[k] < x;
    for (guint32 k = 0; k < before; k++) {
        const BbSiteChild *y = &site->children[kids->at[k]];
        if (before - k <= TWIN_REACH && y->conn != 0 &&
            (y->callee == site->children[x].callee) == same_callee)
            found = kids->at[k];
    }
    return found;
}

static TwinEnd twin_owner(const BbSite *site, guint32 p, guint32 x, guint way)
{
    if (p == BB_SITE_NONE)
        return (TwinEnd){0, 0};
    if (way == 0)
        return (TwinEnd){twin_served(site, p) ? site->parents[p].conn : 0, site->parents[p].caller};
    guint32 y = twin_sibling(site, p, x, false);
    return y == BB_SITE_NONE ? (TwinEnd){0, 0}
                             : (TwinEnd){site->children[y].conn, site->children[y].callee};
}

static void twin_compare(const BbSite *site, guint32 p, guint32 x, guint32 y, guint way,
                         guint *known, guint *same)
{
    TwinEnd owner = twin_owner(site, p, x, way), other = twin_owner(site, site->parent[y], y, way);
    if (site->parent[y] == p || site->parent[y] == site->parent[x] || owner.conn == 0 ||
        other.conn == 0 || other.peer != owner.peer)
        return;
    ++*known;
    *same += owner.conn == other.conn;
}

// A child as the child of p: TWIN_SIGHTS where nothing is known.
static guint twin_sight(const BbSite *site, guint32 p, guint32 x, guint way)
{
    guint32 held = twin_sibling(site, p, x, true), conn = site->children[x].conn;
    guint known = 0, same = 0, n = 0;
    if (conn == 0)
        return TWIN_SIGHTS;
    if (held != BB_SITE_NONE && site->children[held].conn == conn)
        return 7;
    for (guint32 y = x; y > 0 && n < TWIN_NEAR; y--) {
        if (site->children[y - 1].conn != conn)
            continue;
        twin_compare(site, p, x, y - 1, way, &known, &same);
        n++;
    }
    n = 0;
    for (guint32 y = x + 1; y < site->n_children && n < TWIN_NEAR; y++) {
        if (site->children[y].conn != conn)
            continue;
        twin_compare(site, p, x, y, way, &known, &same);
        n++;
    }
    if (known == 0)
        return held == BB_SITE_NONE ? TWIN_SIGHTS : 6;
    return (held == BB_SITE_NONE ? 0 : 3) + (same == 0 ? 0 : 2 * same < known ? 1 : 2);
}

// Whether a sight is counted as this one.
static bool twin_is(guint sight, guint as)
{
    return sight == as || (as == 6 && sight >= 3 && sight < 6);
}

// log odds of sights [from, to) of a kind; returns what they explain.
static double twin_fit(const BbSite *site, guint way, guint kind, guint from, guint to,
                       double *log_odds)
{
    double own[TWIN_SIGHTS] = {0}, other[TWIN_SIGHTS] = {0}, all_own = 0, all_other = 0, gain = 0;
    for (guint32 x = 0; x < site->n_children; x++) {
        const BbSiteChild *child = &site->children[x];
        if (child->type != kind || child->handed || site->parent[x] == BB_SITE_NONE ||
            site->first[x + 1] - site->first[x] < 2)
            continue;
        for (guint32 i = site->first[x]; i < site->first[x + 1]; i++) {
            guint sight = twin_sight(site, site->list[i], x, way);
            bool is_own = site->list[i] == site->parent[x];
            for (guint as = from; as < to; as++) {
                *(is_own ? &all_own : &all_other) += twin_is(sight, as);
                (is_own ? own : other)[as] += twin_is(sight, as);
            }
        }
    }
    for (guint s = from; s < to; s++) {
        double of_all = (own[s] + other[s]) / MAX(all_own + all_other, 1);
        double usual = (other[s] + 10 * of_all + 0.5) / (all_other + 10 + 0.5 * (to - from));
        log_odds[s] = log((own[s] + 10 * usual) / (all_own + 10) / usual);
        gain += own[s] * log_odds[s];
    }
    bool tells = gain >= 6 + 0.5 * all_own;
    for (guint s = from; s < to && !tells; s++)
        log_odds[s] = 0;
    return tells ? gain : 0;
}

static void compare_with_twin(GRand *rand, BbSite *site)
{
    double odds[2][2][TWIN_SIGHTS], gain[2] = {0};
    g_autoptr(BbConnections) connections = bb_connections_new(site);
    bb_connections_reset(connections);
    bb_connections_observe(connections, site, 1);
    bb_connections_fit(connections, false);
    for (guint way = 0; way < 2; way++) {
        for (guint kind = 0; kind < 2; kind++) {
            gain[way] += twin_fit(site, way, kind, 0, 3, odds[way][kind]);
            gain[way] += twin_fit(site, way, kind, 3, 6, odds[way][kind]);
            gain[way] += twin_fit(site, way, kind, 6, TWIN_SIGHTS, odds[way][kind]);
        }
    }
    guint way = gain[1] > gain[0] ? 1 : 0;
    for (guint i = 0; i < 2000; i++) {
        guint32 x = (guint32)g_rand_int_range(rand, 0, (gint32)site->n_children);
        if (site->first[x] == site->first[x + 1])
            continue;
        guint32 p =
            site->list[g_rand_int_range(rand, (gint32)site->first[x], (gint32)site->first[x + 1])];
        guint sight = twin_sight(site, p, x, way);
        const double *log_odds = odds[way][site->children[x].type];
        double want = sight == TWIN_SIGHTS ? 0 : log_odds[sight];
        if (sight >= 3 && sight < 6)
            want += log_odds[6];
        const BbKids *kids = &site->kids[p];
        double got = bb_connections_log(connections, site, p, kids->at, bb_kids_before(kids, x), x);
        ck_assert_double_eq_tol(got, want, 1e-4);
    }
}

START_TEST(twin)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("connections twin"));
    for (guint i = 0; i < 8; i++) {
        WorkerWay way = (WorkerWay)(i % 3);
        g_autoptr(BbSite) site = site_of_workers(rand, way, 5, 30, 0.7);
        for (guint32 p = 0; p < site->n_parents; p++) {
            if (g_rand_int_range(rand, 0, 10) == 0)
                site->parents[p].conn = g_rand_boolean(rand) ? 0 : 9000 + p;
            site->parents[p].caller += (guint32)g_rand_int_range(rand, 0, 2) * (i % 2);
        }
        for (guint32 x = 0; x < site->n_children; x++) {
            if (g_rand_int_range(rand, 0, 20) == 0)
                site->children[x].conn = 0;
            site->children[x].handed = g_rand_int_range(rand, 0, 5) == 0;
        }
        worker_assign(rand, site, 0.3);
        compare_with_twin(rand, site);
    }
}
END_TEST

TEST_MAIN("connections", threads, threads_of_fresh_requests, held_by_requests, shared_by_all,
          nothing_to_compare_with, very_many, each_its_own, another_site, known_owners, twin)
