// SPDX-License-Identifier: Apache-2.0
// Where a call stands among those of its type, against a count of those that last less.
#include "nesting/durations.h"
#include "tests/unit/test.h"

#include "data/random.h"

#include <math.h>

#define CHILDREN 4000u

static double stands(const BbSite *site, guint32 x)
{
    return (double)site->children[x].lasts / (double)BB_SITE_NORMAL;
}

static void set(BbSiteChild *child, gint64 s, gint64 trip, gint64 window, guint type)
{
    *child = (BbSiteChild){.s = s, .e = s + MAX(0, trip - window), .trip = trip};
    child->type = (guint16)type;
}

// Two types: one lasts a hundred times as long as the other.
static BbSite *two_types(BbRandom *random, gint64 window)
{
    BbSite *site = bb_site_new(1, CHILDREN);
    site->n_child_types = 2;
    for (guint32 x = 0; x < CHILDREN; x++) {
        double usual = x % 2 ? 50000 : 500;
        gint64 trip = (gint64)(usual * exp(bb_random_normal(random)));
        set(&site->children[x], 10 * x, trip, window, x % 2);
    }
    return site;
}

static void check_places(gint64 window)
{
    BbRandom random = bb_random_start(test_seed("durations"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(BbSite) site = two_types(&random, window);
    bb_durations_rank(site, scale);
    double off = 0;
    for (guint32 x = 0; x < CHILDREN; x++) {
        const BbSiteChild *child = &site->children[x];
        guint32 less = 0;
        for (guint32 y = 0; y < CHILDREN; y++)
            less += site->children[y].type == child->type && site->children[y].trip < child->trip;
        double share = erfc(-stands(site, x) / sqrt(2)) / 2;
        off = MAX(off, fabs(share - less / (CHILDREN / 2.0)));
    }
    ck_assert_double_le(off, 0.04); // bins of 4 %, and a kernel over them
}

START_TEST(among_those_of_its_type)
{
    check_places(0);
}
END_TEST

// A skew window takes returns for earlier, half of one type for no later than their calls. What
// they last stays.
START_TEST(with_a_skew_window)
{
    check_places(500);
}
END_TEST

// Of a call without return it is not known, and says nothing of the others.
START_TEST(without_those_that_got_no_return)
{
    BbRandom random = bb_random_start(test_seed("durations"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(BbSite) all = two_types(&random, 0), some = bb_site_new(1, CHILDREN / 2);
    some->n_child_types = 2;
    for (guint32 x = 0; x < CHILDREN / 2; x++)
        some->children[x] = all->children[x];
    for (guint32 x = CHILDREN / 2; x < CHILDREN; x++) {
        all->children[x].e = all->children[x].s;
        all->children[x].trip = 0;
        all->children[x].unanswered = true;
    }
    bb_durations_rank(all, scale);
    bb_durations_rank(some, scale);
    for (guint32 x = 0; x < CHILDREN; x++)
        ck_assert_int_eq(all->children[x].lasts, x < CHILDREN / 2 ? some->children[x].lasts : 0);
}
END_TEST

START_TEST(all_alike_or_none)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(BbSite) none = bb_site_new(1, 0), site = bb_site_new(1, 50);
    bb_durations_rank(none, scale);
    site->n_child_types = 2; // and none of the second
    for (guint32 x = 0; x < 50; x++)
        set(&site->children[x], x, 100, 0, 0);
    bb_durations_rank(site, scale);
    for (guint32 x = 0; x < 50; x++)
        ck_assert_double_le(fabs(stands(site, x)), 0.02);
    site->children[7].trip = G_MAXINT64; // and at both ends of what there is
    site->children[8].trip = -8;         // before it was called: clocks differ
    bb_durations_rank(site, scale);
    ck_assert_double_ge(stands(site, 7), 2);
    ck_assert_double_le(stands(site, 8), -2);
}
END_TEST

TEST_MAIN("durations", among_those_of_its_type, with_a_skew_window,
          without_those_that_got_no_return, all_alike_or_none)
