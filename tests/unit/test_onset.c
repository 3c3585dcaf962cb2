// SPDX-License-Identifier: Apache-2.0
// What events tell of each other before any assignment: planted delays stand out where thirty
// requests are open at once, and nothing does where nothing is planted.
#include "nesting/onset.h"
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

// Requests of 30 ms (in us), one a millisecond, each with a call of kind 0 after 8 ms, and one of
// kind 1 that begins 5 ms after that returned. Calls of kind 2 have nothing to do with them.
static BbSite *planted(GRand *rand, guint32 n)
{
    BbSite *site = bb_site_new(n, 3 * n);
    double clock = 0;
    site->n_parent_types = 1;
    site->n_child_types = 3;
    for (guint32 p = 0; p < n; p++) {
        clock += -log(1 - g_rand_double(rand)) * 1000;
        BbSiteChild *kids = &site->children[3 * (gsize)p];
        gint64 s = (gint64)clock;
        kids[0].s = s + (gint64)(8000 * g_rand_double_range(rand, 0.95, 1.05));
        kids[0].e = kids[0].s + (gint64)g_rand_double_range(rand, 500, 9000);
        kids[1].s = kids[0].e + (gint64)(5000 * g_rand_double_range(rand, 0.95, 1.05));
        kids[1].e = kids[1].s + (gint64)g_rand_double_range(rand, 500, 9000);
        kids[2].s = (gint64)(g_rand_double(rand) * n * 1000);
        kids[2].e = kids[2].s + 10;
        for (guint k = 0; k < 3; k++)
            kids[k].type = (guint16)k;
        gint64 e = kids[1].e + (gint64)(3000 * g_rand_double_range(rand, 0.95, 1.05));
        site->parents[p] = (BbSiteParent){.s = s, .e = e, .call = p};
    }
    site->span = clock;
    qsort(site->children, site->n_children, sizeof *site->children, site_child_order);
    return site;
}

START_TEST(planted_delays)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("onset"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(BbSite) site = planted(rand, 4000);
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

// Of streams that know nothing of each other hardly any pass for some that do.
START_TEST(nothing_planted)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("onset flat"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    guint flat = 0;
    for (guint round = 0; round < 5; round++) {
        g_autoptr(BbSite) site = planted(rand, 4000);
        g_autoptr(BbOnset) onset = bb_onset_new(site, scale);
        const BbDensity *none[] = {onset->start[2], onset->end[2], onset->next[0 * 3 + 2],
                                   onset->next[2 * 3 + 0]};
        for (gsize i = 0; i < G_N_ELEMENTS(none); i++) {
            guint b = 1;
            while (b < BB_GAP_BINS && fabsf(none[i]->log[b] - none[i]->log[0]) < 1e-6f)
                b++;
            flat += b == BB_GAP_BINS;
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
    g_autoptr(BbSite) site = planted(rand, 1000);
    g_autoptr(BbOnset) onset = bb_onset_new(site, scale);
    BbSiteParent parent = {.s = 1000, .e = 30000};
    BbSiteChild right = {.s = 9000, .e = 15000, .type = 0},
                wrong = {.s = 3000, .e = 9000, .type = 0};
    double want = (double)onset->start[0]->log[bb_gap_bin(scale, 8000)] +
                  (double)onset->end[0]->log[bb_gap_bin(scale, 15000)];
    ck_assert_double_eq_tol(bb_onset_log(onset, scale, &parent, &right), want, 1e-9);
    ck_assert_double_gt(want, 2 + bb_onset_log(onset, scale, &parent, &wrong));
}
END_TEST

// Kinds 0 and 1 follow others, kind 2 does not.
START_TEST(what_is_caused)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("onset caused"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(BbSite) site = planted(rand, 4000);
    g_autoptr(BbOnset) onset = bb_onset_new(site, scale);
    for (guint c = 0; c < 3; c++)
        ck_assert(!onset->is_caused[c]);
    bb_onset_find_caused(onset, site, scale);
    for (guint c = 0; c < 3; c++)
        ck_assert_int_eq(onset->is_caused[c], c < 2);
}
END_TEST

// A loop that waits a millisecond and calls again, kind 2, is not caused by itself.
START_TEST(a_loop_is_not_caused)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("onset loop"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(BbSite) site = planted(rand, 4000);
    gint64 clock = 0;
    for (guint32 x = 0; x < site->n_children; x++) {
        BbSiteChild *child = &site->children[x];
        if (child->type != 2)
            continue;
        child->s = clock + (gint64)(1000 * g_rand_double_range(rand, 0.95, 1.05));
        child->e = clock = child->s + (gint64)g_rand_double_range(rand, 10, 90);
    }
    qsort(site->children, site->n_children, sizeof *site->children, site_child_order);
    g_autoptr(BbOnset) onset = bb_onset_new(site, scale);
    bb_onset_find_caused(onset, site, scale);
    for (guint c = 0; c < 3; c++)
        ck_assert_int_eq(onset->is_caused[c], c < 2);
}
END_TEST

// Calls without candidates that follow the returns of some that have: of kind 1, of kind 0.
START_TEST(late_by_what_they_follow)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("onset follow"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(BbSite) site = planted(rand, 4000);
    g_autofree guint32 *candidates = g_new0(guint32, site->n_children);
    gint64 reach;
    double alone = bb_onset_due(site, scale, 1, candidates, &reach);
    for (guint32 x = 0; x < site->n_children; x++)
        candidates[x] = site->children[x].type == 0;
    double after = bb_onset_due(site, scale, 1, candidates, &reach);
    ck_assert_double_gt(after, 0.5);
    ck_assert_double_gt(after, alone + 0.1);
    ck_assert_double_lt(bb_onset_due(site, scale, 2, candidates, &reach), 0.15);
}
END_TEST

// Each request of 30 ms makes a call 2 ms before it replies (kind 0) and one 4 ms after (kind 1),
// that last longer than it; calls of kind 2 have nothing to do with it.
START_TEST(late_calls)
{
    enum { N = 4000 };
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("onset late"));
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(BbSite) site = planted(rand, N);
    const gint64 after[] = {-2000, 4000};
    guint32 n[3] = {0};
    for (guint32 x = 0; x < site->n_children; x++) {
        BbSiteChild *child = &site->children[x];
        gint64 end = site->parents[n[child->type]++].e;
        double gap = g_rand_double_range(rand, 0.9, 1.1);
        if (child->type < 2)
            child->s = end + (gint64)((double)after[child->type] * gap);
        child->e = child->s + 60000;
    }
    qsort(site->children, site->n_children, sizeof *site->children, site_child_order);
    g_autofree guint32 *none = g_new0(guint32, site->n_children);
    g_autoptr(BbOnset) onset = bb_onset_new(site, scale);
    for (guint c = 0; c < 3; c++) {
        gint64 reach;
        double due = bb_onset_due(site, scale, c, none, &reach);
        ck_assert(c < 2 ? due > 0.2 : due < 0.15);
        ck_assert_int_ge(reach, 60000);
        bb_onset_add_late(onset, site, scale, c);
    }
    ck_assert_double_gt(onset->is_before[0], 0.8);
    ck_assert_double_lt(onset->is_before[1], 0.2);
    BbSiteParent right = {.s = 1000, .e = 31000}, wrong = {.s = 1000, .e = 45000};
    BbSiteChild early = {.s = 29000, .e = 89000, .type = 0},
                late = {.s = 35000, .e = 95000, .type = 1};
    ck_assert_double_gt(bb_onset_log(onset, scale, &right, &early),
                        1 + bb_onset_log(onset, scale, &wrong, &early));
    ck_assert_double_gt(bb_onset_log(onset, scale, &right, &late),
                        1 + bb_onset_log(onset, scale, &wrong, &late));
}
END_TEST

// One parent, one child, no length at all; and the longest there are.
START_TEST(extremes)
{
    static const gint64 ends[][2] = {{0, 0}, {-(1LL << 60), 1LL << 60}, {5, 6}, {7, 2}};
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    for (gsize i = 0; i < G_N_ELEMENTS(ends); i++) {
        g_autoptr(BbSite) site = bb_site_new(1, 1);
        site->n_parent_types = site->n_child_types = 1;
        site->span = 1;
        site->parents[0] = (BbSiteParent){.s = ends[i][0], .e = ends[i][1]};
        site->children[0] = (BbSiteChild){.s = ends[i][0], .e = ends[i][1]};
        g_autoptr(BbOnset) onset = bb_onset_new(site, scale);
        for (guint b = 0; b < BB_GAP_BINS; b++) {
            ck_assert(isfinite(onset->start[0]->log[b]) && isfinite(onset->end[0]->log[b]));
            ck_assert(isfinite(onset->next[0]->log[b]) && isfinite(onset->whole[0]->log[b]));
        }
        ck_assert(isfinite(bb_onset_log(onset, scale, site->parents, site->children)));
        gint64 reach;
        bb_onset_find_caused(onset, site, scale);
        ck_assert(onset->is_caused[0]); // it cannot be told
        ck_assert(isfinite(bb_onset_due(site, scale, 0, (const guint32[]){0}, &reach)));
        ck_assert(isfinite(bb_onset_due(site, scale, 0, (const guint32[]){1}, &reach)));
        bb_onset_add_late(onset, site, scale, 0);
        ck_assert(isfinite(bb_onset_log(onset, scale, site->parents, site->children)));
    }
}
END_TEST

TEST_MAIN("onset", planted_delays, nothing_planted, suits, what_is_caused, a_loop_is_not_caused,
          late_by_what_they_follow, late_calls, extremes)
