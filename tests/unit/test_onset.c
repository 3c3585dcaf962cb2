// SPDX-License-Identifier: Apache-2.0
// What events tell of each other before any assignment: planted delays stand out where thirty
// requests are open at once, and nothing does where nothing is planted.
#include "nesting/onset.h"

#include "nesting/lags.h"
#include "tests/unit/sample_sites.h"
#include "tests/unit/test.h"

#include <math.h>

// The bin with most of the mass. (Chance puts a few samples into the narrow bins near zero, where
// they make a density that is high, and has no mass.)
static guint peak(const BbDensity *density, const BbGapScale *scale)
{
    guint best = 0;
    for (guint b = 1; b < BB_GAP_BINS; b++)
        if (density->log[b] + scale->log_width[b] > density->log[best] + scale->log_width[best])
            best = b;
    return best;
}

static double mass_between(const BbDensity *density, const BbGapScale *scale, gint64 from,
                           gint64 to)
{
    double sum = 0;
    for (guint b = bb_gap_bin(scale, from); b <= bb_gap_bin(scale, to); b++)
        sum += exp((double)(density->log[b] + scale->log_width[b]));
    return sum;
}

START_TEST(planted_delays)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("onset"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(BbSite) site = site_of_delays(rand, 4000);
    g_autoptr(BbOnset) onset = bb_onset_new(site, scale);
    ck_assert_uint_eq(onset->np, 1);
    ck_assert_uint_eq(onset->nc, 3);
    const BbDensity *first = onset->start[0], *second = onset->next[0 * 3 + 1],
                    *last = onset->end[1];
    ck_assert_double_eq_tol(peak(first, scale), bb_gap_bin(scale, 8000), 2);
    ck_assert_double_eq_tol(peak(second, scale), bb_gap_bin(scale, 5000), 2);
    ck_assert_double_eq_tol(peak(last, scale), bb_gap_bin(scale, 3000), 2);
    ck_assert_double_gt(mass_between(first, scale, 6500, 9500), 0.4);
    ck_assert_double_gt(mass_between(second, scale, 4000, 6200), 0.4);
    ck_assert_double_gt(mass_between(last, scale, 2400, 3700), 0.4);
    gint64 shortest = G_MAXINT64, longest = 0;
    for (guint32 p = 0; p < site->n_parents; p++) {
        shortest = MIN(shortest, site->parents[p].e - site->parents[p].s);
        longest = MAX(longest, site->parents[p].e - site->parents[p].s);
    }
    ck_assert_double_gt(mass_between(onset->whole[0], scale, shortest, longest), 0.7);
}
END_TEST

// However few pairs are wanted of however many, one in n is looked at, and no step is 0.
START_TEST(hardly_any_pairs)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    gint64 at[] = {0, 100};
    BbEvents events = {at, G_N_ELEMENTS(at)};
    double count[BB_GAP_BINS];
    for (double pairs = 1; pairs > 1e-12; pairs /= 2) {
        BbLags lags = {scale, 1, 0, pairs};
        ck_assert_double_ge(bb_lags_excess(&lags, &events, &events, count), 0);
    }
}
END_TEST

// Of streams that know nothing of each other hardly any pass for some that do.
START_TEST(nothing_planted)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("onset flat"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    guint flat = 0;
    for (guint round = 0; round < 5; round++) {
        g_autoptr(BbSite) site = site_of_delays(rand, 4000);
        g_autoptr(BbOnset) onset = bb_onset_new(site, scale);
        const BbDensity *none[] = {onset->start[2], onset->end[2], onset->next[0 * 3 + 2],
                                   onset->next[2 * 3 + 0]};
        for (gsize i = 0; i < G_N_ELEMENTS(none); i++) {
            guint b = 1;
            while (b < BB_GAP_BINS && fabsf(none[i]->log[b] - none[i]->log[0]) < 1e-6f)
                b++;
            flat += b == BB_GAP_BINS;
            ck_assert(b < BB_GAP_BINS || none[i] == onset->flat); // one for all: there are many
        }
        ck_assert_float_ne(onset->start[0]->log[bb_gap_bin(scale, 8000)], onset->start[0]->log[0]);
    }
    ck_assert_uint_ge(flat, 10);
}
END_TEST

START_TEST(suits)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("onset suits"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(BbSite) site = site_of_delays(rand, 1000);
    g_autoptr(BbOnset) onset = bb_onset_new(site, scale);
    BbSiteParent parent = {.s = 1000, .e = 30000};
    BbSiteChild right = {.s = 9000, .e = 15000, .type = 0},
                wrong = {.s = 3000, .e = 9000, .type = 0};
    double want = (double)onset->start[0]->log[bb_gap_bin(scale, 8000)] +
                  (double)onset->end[0]->log[bb_gap_bin(scale, 15000)];
    ck_assert_double_eq_tol(bb_onset_log(onset, site, scale, &parent, &right), want, 1e-9);
    ck_assert_double_gt(want, 2 + bb_onset_log(onset, site, scale, &parent, &wrong));
}
END_TEST

START_TEST(late_calls)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("onset late"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(BbSite) site = site_of_late_calls(rand, 4000);
    g_autoptr(BbOnset) onset = bb_onset_new(site, scale);
    for (guint c = 0; c < 3; c++)
        bb_onset_add_late(onset, site, scale, c, bb_lags_longest(site));
    ck_assert_double_gt(onset->is_before[0], 0.8);
    ck_assert_double_lt(onset->is_before[1], 0.3); // 0.2 once in a thousand
    BbSiteParent right = {.s = 1000, .e = 31000}, wrong = {.s = 1000, .e = 45000};
    BbSiteChild early = {.s = 29000, .e = 89000, .type = 0},
                late = {.s = 35000, .e = 95000, .type = 1};
    ck_assert_double_gt(bb_onset_log(onset, site, scale, &right, &early),
                        1 + bb_onset_log(onset, site, scale, &wrong, &early));
    ck_assert_double_gt(bb_onset_log(onset, site, scale, &right, &late),
                        1 + bb_onset_log(onset, site, scale, &wrong, &late));
}
END_TEST

// One parent, one child, no length at all; and the longest there are.
START_TEST(extremes)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    for (gsize i = 0; i < G_N_ELEMENTS(site_ends); i++) {
        g_autoptr(BbSite) site = site_of_one(site_ends[i]);
        g_autoptr(BbOnset) onset = bb_onset_new(site, scale);
        for (guint b = 0; b < BB_GAP_BINS; b++) {
            ck_assert(isfinite(onset->start[0]->log[b]) && isfinite(onset->end[0]->log[b]));
            ck_assert(isfinite(onset->next[0]->log[b]) && isfinite(onset->whole[0]->log[b]));
        }
        ck_assert(isfinite(bb_onset_log(onset, site, scale, site->parents, site->children)));
        bb_onset_add_late(onset, site, scale, 0, bb_lags_longest(site));
        ck_assert(isfinite(bb_onset_log(onset, site, scale, site->parents, site->children)));
    }
}
END_TEST

TEST_MAIN("onset", hardly_any_pairs, planted_delays, nothing_planted, suits, late_calls, extremes)
