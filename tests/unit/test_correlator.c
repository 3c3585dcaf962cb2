// SPDX-License-Identifier: Apache-2.0
// Correlation of whole signals against a slow twin; spectra that are kept and forgotten.
#include "convolution/correlator.h"
#include "data/random.h"
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>

static gint by_number(gconstpointer left, gconstpointer right)
{
    guint32 a = *(const guint32 *)left, b = *(const guint32 *)right;
    return a < b ? -1 : a > b;
}

static guint32 *messages(BbRandom *random, gsize count, guint32 span)
{
    guint32 *quanta = g_new(guint32, MAX(1, count));
    for (gsize i = 0; i < count; i++)
        quanta[i] = (guint32)bb_random_below(random, span);
    qsort(quanta, count, sizeof *quanta, by_number);
    return quanta;
}

static double at(BbQuanta messages, guint64 quantum)
{
    gsize count = 0;
    for (gsize i = 0; i < messages.count; i++)
        count += messages.quanta[i] == quantum;
    return sqrt((double)count);
}

static double twin(BbQuanta from, BbQuanta to, guint64 span, guint64 lag)
{
    double sum = 0;
    for (guint64 t = 0; t + lag < span; t++)
        sum += at(from, t) * at(to, t + lag);
    return sum;
}

START_TEST(like_the_slow_twin)
{
    BbRandom random = bb_random_start(test_seed("correlator"));
    for (guint round = 0; round < 40; round++) {
        guint32 span = 2 + (guint32)bb_random_below(&random, 60);
        guint64 lags = 1 + bb_random_below(&random, span);
        gsize n = bb_random_below(&random, 80), m = bb_random_below(&random, 80);
        g_autofree guint32 *in = messages(&random, n, span), *out = messages(&random, m, span);
        BbQuanta from = {in, n}, to = {out, m};
        g_autoptr(BbCorrelator) correlator = bb_correlator_new(span, lags, 0);
        const double *found = bb_correlator_run(correlator, from, to, 1);
        for (guint64 lag = 0; lag < lags; lag++)
            ck_assert_double_eq_tol(found[lag], twin(from, to, span, lag), 1e-9);
    }
}
END_TEST

// What is first is not taken for what follows the last.
START_TEST(does_not_wrap)
{
    const guint32 late[] = {99}, early[] = {0};
    for (guint64 lags = 50; lags <= 100; lags += 50) {
        g_autoptr(BbCorrelator) correlator = bb_correlator_new(100, lags, 0);
        const double *found =
            bb_correlator_run(correlator, (BbQuanta){late, 1}, (BbQuanta){early, 1}, 1);
        for (guint64 lag = 0; lag < lags; lag++)
            ck_assert_double_eq_tol(found[lag], 0, 1e-12);
    }
}
END_TEST

static void run(BbCorrelator *correlator, guint32 sender)
{
    const guint32 from[] = {1, 2}, to[] = {10, 10 + sender};
    const double *found =
        bb_correlator_run(correlator, (BbQuanta){from, 2}, (BbQuanta){to, 2}, sender);
    ck_assert_double_eq_tol(found[9], sender == 0 ? sqrt(2) : sender == 1 ? 2 : 1, 1e-12);
}

START_TEST(spectra_are_kept)
{
    g_autoptr(BbCorrelator) correlator = bb_correlator_new(100, 100, 1 << 20);
    run(correlator, 0);
    ck_assert_uint_eq(bb_correlator_ffts(correlator), 3);
    for (guint32 sender = 1; sender < 10; sender++)
        run(correlator, sender);
    ck_assert_uint_eq(bb_correlator_ffts(correlator), 30);
    for (guint32 sender = 0; sender < 10; sender++)
        run(correlator, sender);
    ck_assert_uint_eq(bb_correlator_ffts(correlator), 50);
    ck_assert(bb_correlator_fft_seconds(correlator) > 0);
}
END_TEST

START_TEST(the_least_recent_is_forgotten)
{
    // 200 numbers: a spectrum takes 16 * 101 bytes; room for two.
    g_autoptr(BbCorrelator) correlator = bb_correlator_new(100, 100, (gsize)2 * 16 * 101);
    static const struct {
        guint32 sender;
        guint64 ffts;
    } steps[] = {{0, 3}, {1, 6}, {0, 8}, {2, 11}, {0, 13}, {1, 16}, {0, 18}, {2, 21}};
    for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
        run(correlator, steps[i].sender);
        ck_assert_uint_eq(bb_correlator_ffts(correlator), steps[i].ffts);
    }
}
END_TEST

START_TEST(one_is_kept_in_any_case)
{
    g_autoptr(BbCorrelator) correlator = bb_correlator_new(100, 100, 0);
    run(correlator, 0);
    run(correlator, 0);
    ck_assert_uint_eq(bb_correlator_ffts(correlator), 5);
    run(correlator, 1);
    ck_assert_uint_eq(bb_correlator_ffts(correlator), 8);
}
END_TEST

START_TEST(no_memory)
{
    ck_assert_ptr_null(bb_correlator_new(G_MAXSIZE / 64, 1, 0));
}
END_TEST

TEST_MAIN("correlator", like_the_slow_twin, does_not_wrap, spectra_are_kept,
          the_least_recent_is_forgotten, one_is_kept_in_any_case, no_memory)
