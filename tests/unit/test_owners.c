// SPDX-License-Identifier: Apache-2.0
// Whose connections are, before any assignment.
#include "nesting/owners.h"
#include "tests/unit/test.h"
#include "tests/unit/worker_sites.h"

static void check_threads(GRand *rand, double busy)
{
    g_autoptr(BbSite) site = site_of_workers(rand, WORKER_THREADS, 24, 60, busy);
    g_autofree BbSiteEnd *owner = bb_owners_find(site);
    guint right = 0, wrong = 0;
    ck_assert_ptr_nonnull(owner);
    for (guint32 x = 0; x < site->n_children; x++) {
        guint32 worker = 1 + site->children[x].conn % 1000;
        right += owner[x].conn == worker;
        wrong += owner[x].conn != worker && owner[x].conn != 0;
        ck_assert(owner[x].conn == 0 || owner[x].peer == WORKER_CLIENT);
    }
    ck_assert_double_gt(right, 0.9 * site->n_children);
    ck_assert_uint_eq(wrong, 0);
}

// Also where no worker is ever idle: a call is seldom inside of another's request by chance.
START_TEST(threads)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("owners threads"));
    check_threads(rand, 0.6);
    check_threads(rand, 0.999);
}
END_TEST

START_TEST(shared_by_all)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("owners pool"));
    for (guint way = WORKER_HELD; way <= WORKER_FRESH; way++) {
        g_autoptr(BbSite) site = site_of_workers(rand, (WorkerWay)way, 24, 60, 0.6);
        g_autofree BbSiteEnd *owner = bb_owners_find(site);
        ck_assert_ptr_null(owner);
    }
}
END_TEST

START_TEST(hardly_busy)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("owners busy"));
    g_autoptr(BbSite) site = site_of_workers(rand, WORKER_THREADS, 24, 60, 0.1);
    g_autofree BbSiteEnd *owner = bb_owners_find(site);
    ck_assert_ptr_null(owner);
}
END_TEST

START_TEST(next_to_nothing)
{
    g_autoptr(BbSite) site = bb_site_new(0, 0);
    g_autofree BbSiteEnd *owner = bb_owners_find(site);
    ck_assert_ptr_null(owner);
}
END_TEST

TEST_MAIN("owners", threads, shared_by_all, hardly_busy, next_to_nothing)
