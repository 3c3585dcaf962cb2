// SPDX-License-Identifier: Apache-2.0
// Calls that are made long after their parent has replied are told from those that nobody causes,
// however load comes and goes.
#include "data/random.h"
#include "nesting/lags.h"
#include "nesting/unnested.h"
#include "tests/unit/sample_sites.h"
#include "tests/unit/test.h"

#define N 3000u
#define WORK 1000
#define TURN 30000

// Requests at random times, of which those in the second half of each ten turns wait for the next
// ten if load comes and goes.
static void ask(BbSite *site, BbRandom *random, bool in_spells)
{
    double at = 0;
    for (guint32 p = 0; p < N; p++) {
        at += bb_random_exponential(random) * TURN;
        if (in_spells && (gint64)(at / TURN) % 10 >= 5)
            at = ceil(at / (10 * TURN)) * 10 * TURN;
        site->parents[p] = (BbSiteParent){
            .s = (gint64)at, .e = (gint64)(at + WORK * (0.5 + bb_random_unit(random)))};
    }
    site->span = at;
}

static BbSite *site_asked(BbRandom *random, bool in_spells)
{
    BbSite *site = bb_site_new(N, N);
    site->n_parent_types = site->n_child_types = 1;
    ask(site, random, in_spells);
    return site;
}

static BbUnnested find(BbSite *site, const BbGapScale *scale)
{
    qsort(site->children, site->n_children, sizeof *site->children, site_child_order);
    g_autofree bool *nested = g_new0(bool, site->n_children);
    for (guint32 x = 0; x < site->n_children; x++)
        for (guint32 p = 0; p < site->n_parents && !nested[x]; p++)
            nested[x] = site->parents[p].s <= site->children[x].s &&
                        site->parents[p].e >= site->children[x].e;
    BbUnnested found;
    bb_unnested_find(site, scale, nested, (const bool[]){false}, &found);
    return found;
}

// A tenth more or less than so long after its reply, be it hundred times as long as a request
// lasts. Not as long as load comes and goes: then all of it looks like that.
START_TEST(long_after_the_reply)
{
    static const double lags[] = {500, 3000, 30000, 200000};
    BbRandom random = bb_random_start(test_seed("late after the reply"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    for (guint i = 0; i < 2 * G_N_ELEMENTS(lags); i++) {
        double lag = lags[i / 2];
        g_autoptr(BbSite) site = site_asked(&random, i % 2 && lag < 5 * TURN);
        for (guint32 p = 0; p < N; p++) {
            gint64 s = site->parents[p].e + (gint64)(lag * (0.9 + 0.2 * bb_random_unit(&random)));
            site->children[p] = (BbSiteChild){.s = s, .e = s + 100};
        }
        BbUnnested found = find(site, scale);
        ck_assert_double_gt((double)found.reach, lag);
        ck_assert_double_lt((double)found.reach, MAX(4 * lag, 3 * WORK));
        ck_assert(!found.is_own);
    }
}
END_TEST

// At random times, or at regular ones, alone or several together. Few stand in a request: whether
// those are more than chance has there cannot always be told.
START_TEST(of_nobody)
{
    BbRandom random = bb_random_start(test_seed("late of nobody"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    guint wrong = 0, own = 0;
    for (guint i = 0; i < 24; i++) {
        g_autoptr(BbSite) site = site_asked(&random, i % 2);
        guint together = i % 3 ? 1 : 4;
        double turn = site->span / N * together, at = 0;
        for (guint32 x = 0; x < N; x++) {
            if (x % together == 0)
                at += i % 4 < 2 ? turn : turn * bb_random_exponential(&random);
            site->children[x] = (BbSiteChild){.s = (gint64)at, .e = (gint64)at + 100};
        }
        BbUnnested found = find(site, scale);
        wrong += found.reach > 0;
        own += found.is_own;
    }
    ck_assert_uint_le(wrong, 1);
    ck_assert_uint_ge(own, 10); // 14 to 21
}
END_TEST

TEST_MAIN("unnested", long_after_the_reply, of_nobody)
