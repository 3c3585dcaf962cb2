// SPDX-License-Identifier: Apache-2.0
// The copula against the density of a normal distribution of several variables, straight from its
// formula.
#include "nesting/copula.h"
#include "tests/unit/test.h"

#include "data/random.h"

#include <math.h>

#define MOST 40u // slots

typedef struct {
    guint n;
    double r[MOST][MOST];
} Matrix;

// log density with these correlations over that with none; NAN where they are not positive.
static double plain_log(const Matrix *m, const double *z)
{
    double l[MOST][MOST], y[MOST], log_det = 0, with = 0, apart = 0;
    for (guint i = 0; i < m->n; i++) {
        for (guint j = 0; j <= i; j++) {
            double sum = m->r[i][j];
            for (guint k = 0; k < j; k++)
                sum -= l[i][k] * l[j][k];
            if (i == j && sum <= 0.02)
                return (double)NAN;
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
        y[i] = z[i]; // forward substitution
        for (guint k = 0; k < i; k++)
            y[i] -= l[i][k] * y[k];
        y[i] /= l[i][i];
        log_det += 2 * log(l[i][i]);
        with += y[i] * y[i];
        apart += z[i] * z[i];
    }
    return -0.5 * (log_det + with - apart);
}

// Correlation of two columns of n rows of z, by definition.
static double found_r(double (*z)[MOST], guint n, guint i, guint j)
{
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (guint k = 0; k < n; k++) {
        x += z[k][i] / n;
        y += z[k][j] / n;
    }
    for (guint k = 0; k < n; k++) {
        xx += (z[k][i] - x) * (z[k][i] - x);
        yy += (z[k][j] - y) * (z[k][j] - y);
        xy += (z[k][i] - x) * (z[k][j] - y);
    }
    return xy / sqrt(xx * yy);
}

// By how much the squares of all correlations exceed what chance makes of none, if they surely do.
static double usual_square(double (*z)[MOST], guint n, guint slots)
{
    double sum = 0, pairs = slots * (slots - 1) / 2.0;
    for (guint i = 0; i < slots; i++)
        for (guint j = i + 1; j < slots; j++)
            sum += found_r(z, n, i, j) * found_r(z, n, i, j);
    double beyond = n * sum - pairs;
    return beyond > 2 * sqrt(2 * pairs) ? sum / pairs - 1.0 / n : 0;
}

// Shrunk as small samples ask.
static double plain_r(double (*z)[MOST], guint n, guint i, guint j, double usual)
{
    double r = found_r(z, n, i, j), t = r * r * n;
    return 0.97 * r * (usual > 0 ? usual / (usual + 1.0 / n) : MAX(t - 4, 0) / t);
}

static void count(BbCopula *copula, const double *z, guint n)
{
    guint16 slots[MOST];
    float values[MOST];
    for (guint i = 0; i < n; i++) {
        slots[i] = (guint16)i;
        values[i] = (float)z[i];
    }
    bb_copula_count(copula, slots, values, n);
}

static double ask(BbCopula *copula, const guint *which, const double *z, guint n)
{
    guint16 slots[MOST];
    float values[MOST];
    for (guint i = 0; i < n; i++) {
        slots[i] = (guint16)which[i];
        values[i] = (float)z[which[i]];
    }
    return bb_copula_log(copula, slots, values, n);
}

static void draw(BbRandom *random, double common, guint n, double *z)
{
    double slow = bb_random_normal(random);
    for (guint i = 0; i < n; i++)
        z[i] = (i % 3 == 2 ? -1 : 1) * common * slow +
               sqrt(1 - common * common) * bb_random_normal(random);
}

// Some of the slots, in any order.
static guint choose(BbRandom *random, guint n, guint *which)
{
    guint all[MOST], k = 2 + (guint)bb_random_below(random, n - 1);
    for (guint i = 0; i < n; i++)
        all[i] = i;
    for (guint i = 0; i < k; i++) {
        guint j = i + (guint)bb_random_below(random, n - i), swap = all[i];
        which[i] = all[i] = all[j];
        all[j] = swap;
    }
    return k;
}

// In odd rounds correlations are weak: what chance might make of one, it does not make of all.
START_TEST(like_the_normal_density)
{
    enum { N = 400, SLOTS = 9 };
    BbRandom random = bb_random_start(test_seed("copula"));
    static double z[N][MOST];
    for (guint round = 0; round < 20; round++) {
        g_autoptr(BbCopula) copula = bb_copula_new(SLOTS);
        double common = round % 2 ? 0.3 : 0.3 + 0.65 * bb_random_unit(&random);
        for (guint k = 0; k < N; k++) {
            draw(&random, common, SLOTS, z[k]);
            count(copula, z[k], SLOTS);
        }
        ck_assert(bb_copula_fit(copula));
        double usual = usual_square(z, N, SLOTS);
        ck_assert(usual > 0);
        for (guint k = 0; k < 50; k++) {
            guint which[MOST], n = choose(&random, SLOTS, which);
            Matrix m = {.n = n};
            double at[MOST];
            for (guint i = 0; i < n; i++) {
                at[i] = z[k][which[i]];
                for (guint j = 0; j < n; j++)
                    m.r[i][j] = i == j ? 1 : plain_r(z, N, which[i], which[j], usual);
            }
            double want = plain_log(&m, at);
            ck_assert(!isnan(want));
            ck_assert_double_eq_tol(ask(copula, which, z[k], n), want, 2e-3 * (1 + fabs(want)));
        }
    }
}
END_TEST

START_TEST(order_does_not_matter)
{
    BbRandom random = bb_random_start(test_seed("copula order"));
    g_autoptr(BbCopula) copula = bb_copula_new(5);
    double z[MOST];
    for (guint k = 0; k < 200; k++) {
        draw(&random, 0.7, 5, z);
        count(copula, z, 5);
    }
    ck_assert(bb_copula_fit(copula));
    double there = ask(copula, (guint[]){0, 3, 4, 1}, z, 4);
    ck_assert_double_eq_tol(ask(copula, (guint[]){4, 1, 0, 3}, z, 4), there, 1e-5);
    ck_assert_double_eq_tol(ask(copula, (guint[]){1, 4, 3, 0}, z, 4), there, 1e-5);
    ck_assert_double_ne(ask(copula, (guint[]){0, 3, 4, 2}, z, 4), there);
}
END_TEST

START_TEST(too_little_to_go_by)
{
    BbRandom random = bb_random_start(test_seed("copula few"));
    g_autoptr(BbCopula) copula = bb_copula_new(3);
    double z[MOST] = {0};
    ck_assert(!bb_copula_fit(copula));
    for (guint k = 0; k < 29; k++) { // one less than is asked for
        z[0] = z[1] = bb_random_normal(&random);
        count(copula, z, 2);
    }
    ck_assert(!bb_copula_fit(copula));
    ck_assert_double_eq(ask(copula, (guint[]){0, 1}, z, 2), 0);
    bb_copula_reset(copula);
    for (guint k = 0; k < 500; k++) {
        z[0] = bb_random_normal(&random);
        z[1] = 2; // never varies
        count(copula, z, 2);
    }
    ck_assert(!bb_copula_fit(copula));
    bb_copula_reset(copula);
    for (guint k = 0; k < 100; k++) { // r = 0.15, r^2 n = 2.25: noise
        double a = k % 2 ? 1 : -1, b = k % 4 < 2 ? 1 : -1;
        z[0] = a;
        z[1] = 0.15 * a + 0.99 * b;
        count(copula, z, 2);
    }
    ck_assert(!bb_copula_fit(copula));
}
END_TEST

// Two variables of correlation r, of n parents; (a, b) take all four signs in turn.
static void count_pair(BbCopula *copula, guint16 first, double r, guint n)
{
    for (guint k = 0; k < n; k++) {
        double a = k % 2 ? 1 : -1, b = k % 4 < 2 ? 1 : -1;
        float z[] = {(float)a, (float)(r * a + sqrt(1 - r * r) * b)};
        bb_copula_count(copula, (guint16[]){first, first + 1}, z, 2);
    }
}

// That many parents have it proves a correlation of 0.03, but it tells next to nothing of any.
START_TEST(too_weak_to_tell)
{
    g_autoptr(BbCopula) copula = bb_copula_new(4);
    count_pair(copula, 0, 0.03, 40000);
    ck_assert(!bb_copula_fit(copula));
    count_pair(copula, 2, 0.5, 400); // of few parents, but of these it tells much
    ck_assert(bb_copula_fit(copula));
    bb_copula_reset(copula);
    count_pair(copula, 0, 0.1, 40000);
    ck_assert(bb_copula_fit(copula));
}
END_TEST

// As slots 0 and 1 go together, 1 and 2, but 0 and 2 against each other, each pair was seen in
// other parents: no distribution has such correlations, and they are shrunk until one has.
START_TEST(correlations_that_cannot_be)
{
    BbRandom random = bb_random_start(test_seed("copula singular"));
    g_autoptr(BbCopula) copula = bb_copula_new(3);
    static const guint pairs[3][2] = {{0, 1}, {1, 2}, {0, 2}};
    for (guint k = 0; k < 3000; k++) {
        const guint *pair = pairs[k % 3];
        float x = (float)bb_random_normal(&random);
        bb_copula_count(copula, (guint16[]){(guint16)pair[0], (guint16)pair[1]},
                        (float[]){x, k % 3 == 2 ? -x : x}, 2);
    }
    ck_assert(bb_copula_fit(copula));
    double z[MOST] = {1, 1, 1}, r = 0.97 * 0.999 / (0.999 + 0.001), want = (double)NAN;
    for (double shrink = 1; isnan(want); shrink *= 0.8) {
        double s = shrink * r;
        Matrix m = {3, {{1, s, -s}, {s, 1, s}, {-s, s, 1}}};
        want = plain_log(&m, z);
    }
    ck_assert_double_eq_tol(ask(copula, (guint[]){0, 1, 2}, z, 3), want, 1e-3 * (1 + fabs(want)));
    Matrix two = {2, {{1, r}, {r, 1}}}; // two of them are as they are
    ck_assert_double_eq_tol(ask(copula, (guint[]){0, 1}, z, 2), plain_log(&two, z), 1e-2);
}
END_TEST

START_TEST(limits)
{
    BbRandom random = bb_random_start(test_seed("copula limits"));
    g_autoptr(BbCopula) copula = bb_copula_new(MOST);
    double z[MOST];
    guint all[MOST];
    for (guint i = 0; i < MOST; i++)
        all[i] = i;
    for (guint k = 0; k < 100; k++) {
        draw(&random, 0.9, MOST, z);
        count(copula, z, MOST);
    }
    ck_assert(bb_copula_fit(copula));
    ck_assert_double_eq(ask(copula, all, z, 0), 0);
    ck_assert_double_eq(ask(copula, all, z, 1), 0);
    ck_assert_double_ne(ask(copula, all, z, BB_COPULA_MOST), 0);
    ck_assert(isfinite(ask(copula, all, z, BB_COPULA_MOST)));
    ck_assert_double_eq(ask(copula, all, z, BB_COPULA_MOST + 1), 0);
    bb_copula_reset(copula); // and all is forgotten, sets too
    ck_assert(!bb_copula_fit(copula));
    ck_assert_double_eq(ask(copula, all, z, 4), 0);
}
END_TEST

// More sets of slots than are kept: each is looked at all the same, and whatever was asked before,
// in whatever order, the answer is the same to the bit.
START_TEST(more_sets_than_are_kept)
{
    enum { SLOTS = 14 };
    BbRandom random = bb_random_start(test_seed("copula sets"));
    g_autoptr(BbCopula) asked = bb_copula_new(SLOTS);
    g_autoptr(BbCopula) unasked = bb_copula_new(SLOTS);
    double z[MOST];
    for (guint k = 0; k < 100; k++) {
        draw(&random, 0.9, SLOTS, z);
        count(asked, z, SLOTS);
        count(unasked, z, SLOTS);
    }
    ck_assert(bb_copula_fit(asked));
    ck_assert(bb_copula_fit(unasked));
    for (guint bits = 0; bits < 1 << SLOTS; bits++) {
        guint which[MOST], n = 0;
        for (guint i = 0; i < SLOTS; i++)
            if (bits >> i & 1)
                which[n++] = i;
        if (n >= 2)
            ck_assert_double_ne(ask(asked, which, z, n), 0);
    }
    for (guint k = 0; k < 1000; k++) {
        guint which[MOST], n = choose(&random, SLOTS, which);
        double first = ask(unasked, which, z, n);
        for (guint i = 0; i < n / 2; i++) {
            guint swap = which[i];
            which[i] = which[n - 1 - i];
            which[n - 1 - i] = swap;
        }
        ck_assert_double_eq(ask(asked, which, z, n), first);
    }
}
END_TEST

TEST_MAIN("copula", like_the_normal_density, order_does_not_matter, too_little_to_go_by,
          too_weak_to_tell, correlations_that_cannot_be, limits, more_sets_than_are_kept)
