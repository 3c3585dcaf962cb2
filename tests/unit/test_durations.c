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

// Two types: one lasts a hundred times as long as the other.
static BbSite *two_types(BbRandom *random)
{
    BbSite *site = bb_site_new(1, CHILDREN);
    site->n_child_types = 2;
    for (guint32 x = 0; x < CHILDREN; x++) {
        double usual = x % 2 ? 50000 : 500;
        site->children[x] = (BbSiteChild){.s = 10 * x, .type = (guint16)(x % 2)};
        site->children[x].e = 10 * x + (gint64)(usual * exp(bb_random_normal(random)));
    }
    return site;
}

START_TEST(among_those_of_its_type)
{
    BbRandom random = bb_random_start(test_seed("durations"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(BbSite) site = two_types(&random);
    bb_durations_rank(site, scale);
    double off = 0;
    for (guint32 x = 0; x < CHILDREN; x++) {
        const BbSiteChild *child = &site->children[x];
        guint32 less = 0;
        for (guint32 y = 0; y < CHILDREN; y++)
            less += site->children[y].type == child->type &&
                    site->children[y].e - site->children[y].s < child->e - child->s;
        double share = erfc(-stands(site, x) / sqrt(2)) / 2;
        off = MAX(off, fabs(share - less / (CHILDREN / 2.0)));
    }
    ck_assert_double_le(off, 0.04); // bins of 4 %, and a kernel over them
}
END_TEST

START_TEST(all_alike_or_none)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(BbSite) none = bb_site_new(1, 0), site = bb_site_new(1, 50);
    bb_durations_rank(none, scale);
    site->n_child_types = 2; // and none of the second
    for (guint32 x = 0; x < 50; x++)
        site->children[x] = (BbSiteChild){.s = x, .e = x + 100};
    bb_durations_rank(site, scale);
    for (guint32 x = 0; x < 50; x++)
        ck_assert_double_le(fabs(stands(site, x)), 0.02);
    site->children[7].e = G_MAXINT64; // and at both ends of what there is
    site->children[8].e = 0;          // before it was called: clocks differ
    bb_durations_rank(site, scale);
    ck_assert_double_ge(stands(site, 7), 2);
    ck_assert_double_le(stands(site, 8), -2);
}
END_TEST

TEST_MAIN("durations", among_those_of_its_type, all_alike_or_none)
