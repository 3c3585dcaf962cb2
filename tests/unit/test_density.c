// SPDX-License-Identifier: Apache-2.0
// Densities of gaps against a slow twin that adds up every sample's kernel in every bin, and leaves
// samples out one by one.
#include "nesting/density.h"
#include "tests/unit/test.h"

#include <math.h>
#include <string.h>

#define LEVELS 6u
#define FEW 2.0
#define NEARLY 0.9999
#define LAST (BB_GAP_BINS - 1)

// kernel[l][d]: what a sample gives a bin d away (either side) at level l.
typedef struct {
    double kernel[LEVELS][2 * BB_GAP_BINS + 2];
} Twin;

static double at(const double *kernel, gint d)
{
    return kernel[ABS(d)];
}

// (1 6 1) / 8, then (1 4 6 4 1) / 16 with holes of 1, 2, 4, 8, 16 bins, one upon the other.
static Twin *twin_new(void)
{
    static const gint steps[LEVELS] = {0, 1, 2, 4, 8, 16};
    Twin *twin = g_new0(Twin, 1);
    double before[2 * BB_GAP_BINS + 2] = {1};
    for (guint l = 0; l < LEVELS; l++) {
        double *now = twin->kernel[l];
        gint h = steps[l];
        for (gint d = 0; d < 100; d++)
            now[d] = h == 0 ? 0.75 * at(before, d) + (at(before, d - 1) + at(before, d + 1)) / 8
                            : (6 * at(before, d) + 4 * (at(before, d - h) + at(before, d + h)) +
                               at(before, d - 2 * h) + at(before, d + 2 * h)) /
                                  16;
        memcpy(before, now, sizeof before);
    }
    return twin;
}

// What a sample in bin s gives bin b, mirrored at both ends.
static double reach(const Twin *twin, guint level, guint s, guint b)
{
    const double *kernel = twin->kernel[level];
    return at(kernel, (gint)b - (gint)s) + kernel[b + s + 1] + kernel[2 * LAST + 1 - b - s];
}

static double smoothed(const Twin *twin, guint level, const guint *samples, guint n, guint b,
                       guint but)
{
    double sum = 0;
    for (guint i = 0; i < n; i++)
        if (i != but)
            sum += reach(twin, level, samples[i], b);
    return sum;
}

static double leave_out(const Twin *twin, const BbGapScale *scale, guint level,
                        const guint *samples, guint n)
{
    double sum = 0;
    for (guint i = 0; i < n; i++) {
        double left = smoothed(twin, level, samples, n, samples[i], i) / MAX(n - 1, 0.5);
        double mass = (1 - BB_DENSITY_FLOOR) * left + BB_DENSITY_FLOOR / BB_GAP_BINS;
        sum += log(mass) - (double)scale->log_width[samples[i]];
    }
    return sum;
}

// Returns by how much the best level is better than the next.
static double best_level(const Twin *twin, const BbGapScale *scale, const guint *samples, guint n,
                         guint *best, double *loo)
{
    double next = -G_MAXDOUBLE;
    *loo = -G_MAXDOUBLE;
    for (guint l = 0; l < LEVELS; l++) {
        double sum = leave_out(twin, scale, l, samples, n);
        if (sum > *loo) {
            next = *loo;
            *loo = sum;
            *best = l;
        } else {
            next = MAX(next, sum);
        }
    }
    return *loo - next;
}

static void twin_masses(const Twin *twin, guint best, const guint *samples, guint n, double *mass)
{
    double sum = 0;
    for (guint b = 0; b < BB_GAP_BINS; b++) {
        guint l = best;
        while (l + 1 < LEVELS &&
               smoothed(twin, l, samples, n, b, n) < NEARLY * FEW * twin->kernel[l][0])
            l++;
        sum += mass[b] = smoothed(twin, l, samples, n, b, n);
    }
    for (guint b = 0; b < BB_GAP_BINS; b++)
        mass[b] = (1 - BB_DENSITY_FLOOR) * mass[b] / sum + BB_DENSITY_FLOOR / BB_GAP_BINS;
}

static BbDensity *density_of(const BbGapScale *scale, const guint *samples, guint n)
{
    BbDensity *density = bb_density_new();
    for (guint i = 0; i < n; i++)
        bb_density_add(density, samples[i], 1);
    bb_density_fit(density, scale);
    return density;
}

static double mass_of(const BbDensity *density, const BbGapScale *scale, guint b)
{
    return exp((double)(density->log[b] + scale->log_width[b]));
}

static void check_sum(const BbDensity *density, const BbGapScale *scale)
{
    double sum = 0;
    for (guint b = 0; b < BB_GAP_BINS; b++)
        sum += mass_of(density, scale, b);
    ck_assert_double_eq_tol(sum, 1, 2e-4);
}

// Samples of one or two heaps somewhere, ends included.
static guint draw(GRand *rand, guint *samples, guint most)
{
    guint n = 1 + (guint)g_rand_int_range(rand, 0, (gint32)most);
    gint middle[2] = {g_rand_int_range(rand, 0, BB_GAP_BINS),
                      g_rand_int_range(rand, 0, BB_GAP_BINS)};
    static const gint widths[] = {1, 3, 12, 50, 300};
    gint width = widths[g_rand_int_range(rand, 0, G_N_ELEMENTS(widths))];
    for (guint i = 0; i < n; i++) {
        gint bin = middle[g_rand_int_range(rand, 0, 2)] + g_rand_int_range(rand, -width, width + 1);
        samples[i] = (guint)CLAMP(bin, 0, (gint)LAST);
    }
    return n;
}

START_TEST(like_the_twin)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("density"));
    g_autofree Twin *twin = twin_new();
    guint samples[60], compared = 0;
    double mass[BB_GAP_BINS];
    for (guint round = 0; round < 150; round++) {
        guint n = draw(rand, samples, G_N_ELEMENTS(samples)), best = 0, off = 0;
        double loo, ahead = best_level(twin, scale, samples, n, &best, &loo);
        g_autofree BbDensity *density = density_of(scale, samples, n);
        ck_assert_double_eq_tol(density->loo, loo, 1e-2 + 1e-4 * fabs(loo));
        check_sum(density, scale);
        if (ahead < 0.05)
            continue; // floats may see it the other way
        compared++;
        twin_masses(twin, best, samples, n, mass);
        for (guint b = 0; b < BB_GAP_BINS; b++)
            off += fabs(mass_of(density, scale, b) / mass[b] - 1) > 1e-2;
        ck_assert_uint_le(off, 3); // where a kernel holds nearly FEW samples
    }
    ck_assert_uint_gt(compared, 50);
}
END_TEST

// What the samples but some leave in a bin, by the kernel that holds FEW of those.
static double left_in(const Twin *twin, guint level, const guint *samples, guint n, guint n_out,
                      double weight, guint b)
{
    for (;; level++) {
        double sum = 0;
        for (guint i = 0; i < n; i++)
            sum += (i < n_out ? 1 - weight : 1) * reach(twin, level, samples[i], b);
        if (level + 1 == LEVELS || sum >= NEARLY * FEW * twin->kernel[level][0])
            return sum;
    }
}

// Takes the first samples out, in part or whole.
START_TEST(without_some)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("density without"));
    g_autofree Twin *twin = twin_new();
    guint samples[60], compared = 0, off = 0;
    guint16 out[8];
    for (guint round = 0; round < 150; round++) {
        guint n = draw(rand, samples, G_N_ELEMENTS(samples)), n_out = 0, most = MIN(n, 8);
        double weight = round % 2 ? 1 : 0.125;
        for (n_out = 0; n_out < most && (n_out == 0 || round % 4 < 2); n_out++)
            out[n_out] = (guint16)samples[n_out];
        g_autofree BbDensity *density = density_of(scale, samples, n);
        for (guint b = 0; b < BB_GAP_BINS; b++) {
            if (density->few[b] == 0)
                continue;
            double left = n - n_out * weight;
            double sum = left_in(twin, density->few[b] - 1u, samples, n, n_out, weight, b);
            double share = left > 0 ? (double)density->scaled * sum / left : 0;
            double want = (1 - BB_DENSITY_FLOOR) * share + BB_DENSITY_FLOOR / BB_GAP_BINS;
            double got = bb_density_without(density, scale, b, out, n_out, weight);
            off += fabs(got * (double)scale->width[b] / want - 1) > 1e-2;
            compared++;
        }
    }
    ck_assert_uint_gt(compared, 5000);
    ck_assert_uint_lt(off, compared / 5000); // where a kernel holds just that many samples
}
END_TEST

// Where few says that one sample counts nothing.
START_TEST(one_of_many_counts_nothing)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    guint samples[1001], many = 0;
    for (guint i = 0; i < 1000; i++)
        samples[i] = 200 + i % 3;
    samples[1000] = 400;
    g_autofree BbDensity *all = density_of(scale, samples, 1001);
    g_autofree BbDensity *fewer = density_of(scale, samples + 1, 1000);
    for (guint b = 0; b < BB_GAP_BINS; b++) {
        if (all->few[b] > 0 || mass_of(all, scale, b) < 2 * BB_DENSITY_FLOOR / BB_GAP_BINS)
            continue;
        ck_assert_double_eq_tol(mass_of(fewer, scale, b) / mass_of(all, scale, b), 1, 0.02);
        many++;
    }
    ck_assert_uint_ge(many, 3);
    ck_assert_uint_gt(all->few[400], 0);
    guint16 out = 400;
    double left = bb_density_without(all, scale, 400, &out, 1, 1) * (double)scale->width[400];
    ck_assert_double_lt(left, 1.1 * BB_DENSITY_FLOOR / BB_GAP_BINS); // the others are far away
}
END_TEST

START_TEST(nothing_seen)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autofree BbDensity *density = bb_density_new();
    bb_density_fit(density, scale);
    ck_assert_double_eq(density->loo, 0);
    ck_assert_mem_eq(density->log, scale->floor_log, sizeof density->log);
}
END_TEST

// Whatever its bin: the others do not foretell it, there are none.
START_TEST(a_lone_sample_does_not_vouch_for_itself)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    for (guint bin = 0; bin < BB_GAP_BINS; bin++) {
        g_autofree BbDensity *density = density_of(scale, &bin, 1);
        ck_assert_double_eq_tol(density->loo, (double)scale->floor_log[bin], 0.05);
        check_sum(density, scale);
        ck_assert_double_lt(mass_of(density, scale, bin), 0.1); // as wide as can be
    }
}
END_TEST

// Nor does one far from a heap of others.
START_TEST(an_outlier_is_given_a_wide_kernel)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    guint samples[1001];
    for (guint i = 0; i < 1000; i++)
        samples[i] = 200 + i % 2;
    samples[1000] = 400;
    g_autofree BbDensity *density = density_of(scale, samples, 1001);
    ck_assert_double_gt(mass_of(density, scale, 200), 0.2);
    ck_assert_double_gt(mass_of(density, scale, 400), 1.5 * BB_DENSITY_FLOOR / BB_GAP_BINS);
    ck_assert_double_lt(mass_of(density, scale, 400), 1e-4);
    ck_assert_double_eq_tol(mass_of(density, scale, 500), BB_DENSITY_FLOOR / BB_GAP_BINS, 1e-7);
}
END_TEST

// Many samples make narrow kernels win, few wide ones.
START_TEST(mass_lies_where_samples_do)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autofree BbDensity *density = bb_density_new();
    bb_density_add(density, 300, 5000);
    bb_density_fit(density, scale);
    ck_assert_double_gt(mass_of(density, scale, 300), 0.4);
    ck_assert_double_lt(density->log[310], density->log[300] - 4);
    bb_density_reset(density);
    ck_assert_double_eq(density->n, 0);
    bb_density_fit(density, scale);
    ck_assert_mem_eq(density->log, scale->floor_log, sizeof density->log);
    bb_density_add(density, 100, 0.5); // what was there before is forgotten
    bb_density_add(density, 101, 0.5);
    bb_density_fit(density, scale);
    ck_assert_double_lt(mass_of(density, scale, 300), 2 * BB_DENSITY_FLOOR / BB_GAP_BINS);
    check_sum(density, scale);
}
END_TEST

START_TEST(means_below)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("density means"));
    guint samples[60];
    for (guint round = 0; round < 100; round++) {
        guint n = draw(rand, samples, G_N_ELEMENTS(samples));
        g_autofree BbDensity *density = density_of(scale, samples, n);
        guint at = (guint)g_rand_int_range(rand, 0, BB_GAP_BINS);
        double sum = 0, masses = 0, edge = 0;
        for (guint b = 0; b < at; b++) {
            sum += mass_of(density, scale, b) * (edge + (double)scale->width[b] / 2);
            masses += mass_of(density, scale, b);
            edge += (double)scale->width[b];
        }
        sum += mass_of(density, scale, at) / 2 * (edge + (double)scale->width[at] / 4);
        masses += mass_of(density, scale, at) / 2;
        double got = bb_density_mean_below(density, scale, at);
        ck_assert_double_eq_tol(got, sum / masses, 1e-6 * (1 + got));
        ck_assert_double_le(got, edge + (double)scale->width[at] / 2);
    }
}
END_TEST

static double quantile(double p)
{
    double low = -3, high = 3;
    for (guint i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (0.5 * erfc(-middle / sqrt(2)) < p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

START_TEST(normal_quantiles)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("density quantiles"));
    guint samples[60];
    float z[BB_GAP_BINS];
    for (guint round = 0; round < 100; round++) {
        guint n = draw(rand, samples, G_N_ELEMENTS(samples));
        g_autofree BbDensity *density = density_of(scale, samples, n);
        bb_density_normal(density, scale, z);
        double below = 0, sum = 0;
        for (guint b = 0; b < BB_GAP_BINS; b++)
            sum += mass_of(density, scale, b);
        for (guint b = 0; b < BB_GAP_BINS; b++) {
            double mass = mass_of(density, scale, b) / sum, want = quantile(below + mass / 2);
            below += mass;
            ck_assert_double_eq_tol((double)z[b], want, 2e-3);
            ck_assert(b == 0 || z[b] >= z[b - 1] - 1e-3f);
        }
    }
}
END_TEST

TEST_MAIN("density", like_the_twin, without_some, one_of_many_counts_nothing, nothing_seen,
          a_lone_sample_does_not_vouch_for_itself, an_outlier_is_given_a_wide_kernel,
          mass_lies_where_samples_do, means_below, normal_quantiles)
