// SPDX-License-Identifier: Apache-2.0
// Kinds of calls that follow others are told from those that nobody causes, where thirty requests
// are open at once.
#include "nesting/caused.h"
#include "tests/unit/sample_sites.h"
#include "tests/unit/test.h"

static double share_of(const BbSite *site, const BbGapScale *scale, guint type, const bool *nested)
{
    g_autoptr(BbCaused) caused = bb_caused_new(site, scale);
    return bb_caused_share(caused, type, nested);
}

static void check_first_two(const BbSite *site, const BbGapScale *scale)
{
    bool is_caused[3];
    g_autoptr(BbCaused) caused = bb_caused_new(site, scale);
    bb_caused_find(caused, is_caused);
    for (guint c = 0; c < 3; c++)
        ck_assert_int_eq(is_caused[c], c < 2);
}

// Kinds 0 and 1 follow others, kind 2 does not.
START_TEST(what_is_caused)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("caused"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(BbSite) site = site_of_delays(rand, 4000);
    check_first_two(site, scale);
}
END_TEST

// A loop that waits a millisecond and calls again, kind 2, is not caused by itself.
START_TEST(a_loop_is_not_caused)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("caused loop"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(BbSite) site = site_of_delays(rand, 4000);
    gint64 clock = 0;
    for (guint32 x = 0; x < site->n_children; x++) {
        BbSiteChild *child = &site->children[x];
        if (child->type != 2)
            continue;
        child->s = clock + (gint64)(1000 * g_rand_double_range(rand, 0.95, 1.05));
        child->e = clock = child->s + (gint64)g_rand_double_range(rand, 10, 90);
    }
    qsort(site->children, site->n_children, sizeof *site->children, site_child_order);
    check_first_two(site, scale);
}
END_TEST

// By how much more of kind 1 follow the returns of kind 0, where those have candidates, than follow
// the calls to the node, which they do as well.
static double gain_of_returns(const BbSite *site, const BbGapScale *scale)
{
    g_autofree bool *nested = g_new0(bool, site->n_children);
    double alone = share_of(site, scale, 1, nested);
    for (guint32 x = 0; x < site->n_children; x++)
        nested[x] = site->children[x].type == 0;
    double after = share_of(site, scale, 1, nested);
    ck_assert_double_gt(after, 0.5);
    ck_assert_double_lt(share_of(site, scale, 2, nested), 0.15);
    return after - alone;
}

// Calls without candidates that follow the returns of some that have: of kind 1, of kind 0.
START_TEST(late_by_what_they_follow)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("caused follow"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    double gain = 0;
    for (guint i = 0; i < 5; i++) {
        g_autoptr(BbSite) site = site_of_delays(rand, 4000);
        gain += gain_of_returns(site, scale) / 5; // 0 to 0.28 in one, 0.16 in the mean
    }
    ck_assert_double_gt(gain, 0.05);
}
END_TEST

// By when the node replies: kinds 0 and 1.
START_TEST(late_by_replies)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("caused late"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(BbSite) site = site_of_late_calls(rand, 4000);
    g_autofree bool *nested = g_new0(bool, site->n_children);
    for (guint c = 0; c < 3; c++) {
        double share = share_of(site, scale, c, nested);
        ck_assert(c < 2 ? share > 0.2 : share < 0.15);
    }
}
END_TEST

// A client that asks again soon after each answer, always alike; every request makes a call that is
// answered long after it. Its lags are frequent everywhere, but it is made while a request is open.
// Kind 1 is made at any time.
START_TEST(late_in_a_loop)
{
    enum { ASKED = 1000, TURN = 600, WORK = 220 };
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("caused loop"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(BbSite) site = bb_site_new(ASKED, 2 * ASKED);
    site->n_parent_types = 1;
    site->n_child_types = 2;
    for (guint32 p = 0; p < ASKED; p++) {
        gint64 s = p * TURN, other = g_rand_int_range(rand, 0, ASKED * TURN);
        site->parents[p] = (BbSiteParent){.s = s, .e = s + (p % 50 == 0 ? 10 : 1) * WORK};
        site->children[2 * p] = (BbSiteChild){.s = s + 200, .e = s + 5000};
        site->children[2 * p + 1] = (BbSiteChild){.s = other, .e = other + 10, .type = 1};
    }
    qsort(site->children, site->n_children, sizeof *site->children, site_child_order);
    site->span = ASKED * TURN;
    g_autofree bool *nested = g_new0(bool, site->n_children);
    ck_assert_double_gt(share_of(site, scale, 0, nested), 0.3);
    ck_assert_double_lt(share_of(site, scale, 1, nested), 0.15);
}
END_TEST

// Few calls that nobody causes, beside requests that are open half of the time: chance alone is not
// enough.
START_TEST(few_of_nobody)
{
    enum { ASKED = 1000, TURN = 600, FEW = 20 };
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("caused few"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    guint late = 0;
    for (guint round = 0; round < 100; round++) {
        g_autoptr(BbSite) site = bb_site_new(ASKED, FEW);
        g_autofree bool *nested = g_new0(bool, FEW);
        site->n_parent_types = site->n_child_types = 1;
        for (guint32 p = 0; p < ASKED; p++) {
            gint64 s = p * TURN + g_rand_int_range(rand, 0, TURN / 2);
            site->parents[p] = (BbSiteParent){.s = s, .e = s + TURN / 2};
        }
        for (guint32 x = 0; x < FEW; x++) {
            gint64 s = g_rand_int_range(rand, 0, ASKED * TURN);
            site->children[x] = (BbSiteChild){.s = s, .e = s + 5000};
        }
        qsort(site->children, FEW, sizeof *site->children, site_child_order);
        site->span = ASKED * TURN;
        late += share_of(site, scale, 0, nested) >= 0.15;
    }
    ck_assert_uint_le(late, 3);
}
END_TEST

// Kind 0 is made by every request, kind 1 by every tenth and by nobody, nine times as often, kind 2
// by nobody, five at once.
START_TEST(most_within)
{
    enum { ASKED = 3000, TURN = 600 };
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("caused within"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(BbSite) site = bb_site_new(ASKED, 3 * ASKED);
    site->n_parent_types = 1;
    site->n_child_types = 3;
    site->span = ASKED * TURN;
    for (guint32 p = 0; p < ASKED; p++) {
        gint64 s = p * TURN + g_rand_int_range(rand, 0, TURN / 2);
        gint64 any = g_rand_int_range(rand, 0, ASKED * TURN);
        gint64 at[] = {s + g_rand_int_range(rand, 0, 200), p % 10 ? any : s + 100,
                       p % 5 ? site->children[3 * p - 1].s : any};
        site->parents[p] = (BbSiteParent){.s = s, .e = s + TURN / 2};
        for (guint c = 0; c < 3; c++)
            site->children[3 * p + c] =
                (BbSiteChild){.s = at[c], .e = at[c] + 50, .type = (guint16)c};
    }
    qsort(site->children, site->n_children, sizeof *site->children, site_child_order);
    g_autoptr(BbCaused) caused = bb_caused_new(site, scale);
    ck_assert_double_gt(bb_caused_within(caused, 0).of_all, 0.95);
    double some = bb_caused_within(caused, 1).of_all;
    ck_assert(some > 0.1 && some < 0.2);
    ck_assert_double_lt(bb_caused_within(caused, 2).of_all, 0.15);
}
END_TEST

// One replica after the other in one long time: where each begins and ends says nothing.
START_TEST(replicas)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("caused replicas"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    enum { EACH = 500, MEMBERS = 30 };
    g_autoptr(BbSite) site = bb_site_new(MEMBERS * EACH, 3 * MEMBERS * EACH);
    site->n_parent_types = 1;
    site->n_child_types = 3;
    site->period = 4 * 6000 * 1000; // of a longer trace than theirs
    for (guint m = 0; m < MEMBERS; m++) {
        g_autoptr(BbSite) one = site_of_delays(rand, EACH);
        gint64 shift = m * site->period;
        site->span += one->span;
        for (guint32 p = 0; p < EACH; p++) {
            const BbSiteParent *of = &one->parents[p];
            site->parents[m * EACH + p] = (BbSiteParent){.s = of->s + shift, .e = of->e + shift};
        }
        for (guint32 x = 0; x < 3 * EACH; x++) {
            const BbSiteChild *of = &one->children[x];
            site->children[3 * m * EACH + x] =
                (BbSiteChild){.s = of->s + shift, .e = of->e + shift, .type = of->type};
        }
    }
    check_first_two(site, scale);
}
END_TEST

// What cannot be told: caused, and not late.
START_TEST(extremes)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    for (gsize i = 0; i < G_N_ELEMENTS(site_ends); i++) {
        g_autoptr(BbSite) site = site_of_one(site_ends[i]);
        bool is_caused = false;
        g_autoptr(BbCaused) caused = bb_caused_new(site, scale);
        bb_caused_find(caused, &is_caused);
        ck_assert(is_caused);
        ck_assert_double_eq(share_of(site, scale, 0, (const bool[]){false}), 0);
        ck_assert_double_eq(share_of(site, scale, 0, (const bool[]){true}), 0);
        ck_assert_double_eq(bb_caused_within(caused, 0).of_all, 1);
        ck_assert_double_eq(
            bb_caused_later(caused, bb_lags_longest(site), 0, (const bool[]){false}, 0), 0);
    }
}
END_TEST

TEST_MAIN("caused", what_is_caused, a_loop_is_not_caused, late_by_what_they_follow, late_by_replies,
          late_in_a_loop, few_of_nobody, most_within, replicas, extremes)
