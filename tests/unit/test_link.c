// SPDX-License-Identifier: Apache-2.0
// A link between two streams: none where there is nothing but chance, a kernel whose sum is how
// many effects a message has, delays with their masses; and the walk over pairs by lag.
#include "convolution/link.h"
#include "tests/unit/planted_links.h"

#include <string.h>

// ---- the walk ----------------------------------------------------------------------------------

static gint compare_times(gconstpointer left, gconstpointer right)
{
    gint64 a = *(const gint64 *)left, b = *(const gint64 *)right;
    return a < b ? -1 : a > b;
}

static gint64 *random_times(BbRandom *random, guint32 count, gint64 span)
{
    gint64 *times = g_new(gint64, count);
    for (guint32 i = 0; i < count; i++)
        times[i] = EPOCH + (gint64)bb_random_below(random, (guint64)span);
    qsort(times, count, sizeof *times, compare_times);
    return times;
}

START_TEST(the_walk_sees_every_pair)
{
    BbRandom random = bb_random_start(test_seed("link"));
    enum { N = 80, M = 90 };
    for (guint round = 0; round < 100; round++) {
        BbLagGrid grid = {.quantum_ns = 1 + (gint64)bb_random_below(&random, 50),
                          .before = (guint32)bb_random_below(&random, 20)};
        grid.bins = grid.before + 1 + (guint32)bb_random_below(&random, 60);
        BbSpan span = {.low = (guint32)bb_random_below(&random, grid.bins)};
        span.high = span.low + 1 + (guint32)bb_random_below(&random, grid.bins - span.low);
        g_autofree gint64 *in = random_times(&random, N, 3000);
        g_autofree gint64 *out = random_times(&random, M, 3000);
        BbSweep sweep = bb_sweep_start(&grid, span, &(BbStream){.count = N, .ns = in});
        guint wrong = 0;
        for (guint32 n = 0; n < M; n++) {
            bb_sweep_to(&sweep, out[n]);
            for (guint32 m = 0; m < N; m++) {
                gint64 lag = out[n] - in[m] + grid.before * grid.quantum_ns;
                gint64 bin = lag / grid.quantum_ns;
                bool within = lag >= span.low * grid.quantum_ns && bin < span.high;
                wrong += within != (m >= sweep.first && m < sweep.end);
                gint64 got = within ? bb_sweep_bin(&sweep, m) : bin;
                wrong += got != bin && (lag % grid.quantum_ns != 0 || got != bin - 1);
            }
        }
        ck_assert_uint_eq(wrong, 0);
    }
}
END_TEST

// ---- finding -----------------------------------------------------------------------------------

// A sends to B, and B to C so many effects of each after that delay.
static void plant(Planted *planted, guint count, gint64 span, double chance, double delay_ns,
                  double sd_ns)
{
    for (guint i = 0; i < count; i++) {
        gint64 at = EPOCH + (gint64)bb_random_below(&planted->random, (guint64)span);
        guint32 cause = planted_send(planted, "A", "B", at, PLANTED_ROOT);
        if (bb_random_chance(&planted->random, chance))
            planted_send(planted, "B", "C", planted_later(planted, at, delay_ns, sd_ns), cause);
    }
}

static BbLink *only_link(const Linking *linking)
{
    GPtrArray *links = NULL;
    linking_find(linking, linking_stream(linking, false, "B", "C"), 1, 1e-4, false, &links);
    ck_assert_uint_eq(links->len, 1);
    g_ptr_array_set_free_func(links, NULL);
    BbLink *link = g_ptr_array_index(links, 0);
    g_ptr_array_unref(links);
    return link;
}

static double sum_of(const float *kernel, guint32 low, guint32 high)
{
    double sum = 0;
    for (guint32 i = low; i < high; i++)
        sum += kernel[i];
    return sum;
}

static void check_link(const BbLink *link, const Linking *linking)
{
    guint32 bins = linking->grid.bins, end = 0;
    for (guint s = 0; s < link->spans->len; s++) {
        BbSpan span = g_array_index(link->spans, BbSpan, s);
        ck_assert(span.low >= end && span.low < span.high && span.high <= bins);
        ck_assert_double_eq(sum_of(link->kernel, end, span.low), 0);
        // In between there may be bins of none: spans that are close are one.
        ck_assert_double_gt(link->kernel[span.low], 0);
        ck_assert_double_gt(link->kernel[span.high - 1], 0);
        end = span.high;
    }
    ck_assert_double_eq(sum_of(link->kernel, end, bins + 1), 0);
    ck_assert_double_ge(link->cap, 1);
    for (guint32 m = 0; m < linking->streams->in[link->in].count; m++)
        ck_assert(link->left[m] >= 0 && link->left[m] <= 1);
}

START_TEST(kernel_sums_to_effects)
{
    const double chances[] = {1, 0.5, 0.2};
    for (guint i = 0; i < G_N_ELEMENTS(chances); i++) {
        g_autoptr(Planted) planted = planted_new(i);
        plant(planted, 2000, 400 * SECOND, chances[i], 50.0 * MS, 10.0 * MS);
        g_autoptr(Linking) linking = linking_new(planted, 2 * MS, 0, 250);
        BbLink *link = only_link(linking);
        check_link(link, linking);
        double effects = planted_edge(planted, "B", "C")->count;
        ck_assert_double_eq_tol(link->excess, effects, 0.08 * effects);
        ck_assert_double_ge(link->pairs, link->excess);
        ck_assert_double_eq_tol(sum_of(link->kernel, 0, 250), chances[i], 0.12 * chances[i]);
        ck_assert_double_eq_tol(sum_of(link->sharp, 0, 250), chances[i], 0.15 * chances[i]);
        ck_assert_double_gt(sum_of(link->sharp, 10, 40), 0.9 * sum_of(link->sharp, 0, 250));
        ck_assert_uint_eq(link->peaks->len, 1);
        ck_assert(!link->derived);
        bb_link_free(link);
    }
}
END_TEST

START_TEST(chance_links_nothing)
{
    guint links_found = 0;
    for (guint round = 0; round < 40; round++) {
        g_autoptr(Planted) planted = planted_new(round);
        planted_noise(planted, "A", "B", 1000, 100 * SECOND);
        planted_noise(planted, "B", "C", 1500, 100 * SECOND);
        g_autoptr(Linking) linking = linking_new(planted, 5 * MS, 0, 100);
        GPtrArray *links = NULL;
        linking_find(linking, linking_stream(linking, false, "B", "C"), 1, 1e-3, false, &links);
        links_found += links->len;
        g_ptr_array_unref(links);
    }
    ck_assert_uint_eq(links_found, 0);
}
END_TEST

// An effect before its cause is no effect, unless clocks may be skewed.
START_TEST(effects_before_causes)
{
    for (guint skewed = 0; skewed < 2; skewed++) {
        g_autoptr(Planted) planted = planted_new(7);
        for (guint i = 0; i < 500; i++) {
            gint64 at = EPOCH + (gint64)bb_random_below(&planted->random, 100 * SECOND);
            planted_send(planted, "A", "B", at, PLANTED_ROOT);
            planted_send(planted, "B", "C", planted_later(planted, at - 30 * MS, 0, 1.0 * MS), 0);
        }
        g_autoptr(Linking) linking = linking_new(planted, 2 * MS, skewed ? 25 : 0, 100);
        GPtrArray *links = NULL;
        linking_find(linking, linking_stream(linking, false, "B", "C"), 1, 1e-4, false, &links);
        ck_assert_uint_eq(links->len, skewed);
        if (skewed) {
            const BbLink *link = g_ptr_array_index(links, 0);
            const BbPeak *peak = &g_array_index(link->peaks, BbPeak, 0);
            ck_assert_uint_ge(peak->low, 9); // 25 - 15 = 10
            ck_assert_uint_le(peak->high, 13);
        }
        g_ptr_array_unref(links);
    }
}
END_TEST

// ---- learning ----------------------------------------------------------------------------------

START_TEST(learned_kernels)
{
    g_autoptr(Planted) planted = planted_new(3);
    plant(planted, 300, 100 * SECOND, 1, 50.0 * MS, 5.0 * MS);
    g_autoptr(Linking) linking = linking_new(planted, 2 * MS, 10, 100);
    BbLink *link = only_link(linking);
    double explained[111] = {0};
    explained[10] = 30, explained[60] = 60; // lags 0 and 100 ms
    bb_link_learn(link, &linking->grid, explained, 300, 0.1);
    check_link(link, linking);
    ck_assert_double_eq_tol(sum_of(link->kernel, 0, 30), 0.1, 1e-3); // of what was explained
    ck_assert_double_eq_tol(sum_of(link->kernel, 30, 110), 0.2, 0.01);
    ck_assert_double_gt(link->kernel[10], 0.03); // a longer lag is smoothed more
    ck_assert_double_lt(link->kernel[60], 0.02);
    ck_assert_uint_eq(link->spans->len, 1); // so few messages that one walk is cheaper
    bb_link_sharpen(link, &linking->grid);
    check_link(link, linking);
    ck_assert_double_eq_tol(sum_of(link->kernel, 0, 111), sum_of(link->sharp, 0, 111), 1e-4);
    bb_link_free(link);
}
END_TEST

// ---- delays ------------------------------------------------------------------------------------

typedef struct {
    double masses[201], lags[201], squares[201];
} Lags;

static void add_lags(Lags *lags, BbRandom *random, double mean_ns, double sd_ns, guint count)
{
    for (guint i = 0; i < count; i++) {
        double lag = mean_ns + sd_ns * bb_random_normal(random);
        guint bin = (guint)CLAMP(lag / (double)MS, 0, 199);
        lags->masses[bin]++;
        lags->lags[bin] += lag;
        lags->squares[bin] += lag * lag;
    }
}

static BbLink *empty_link(void)
{
    BbLink *link = g_new0(BbLink, 1);
    link->peaks = g_array_new(FALSE, FALSE, sizeof(BbPeak));
    link->spans = g_array_new(FALSE, FALSE, sizeof(BbSpan));
    link->cores = g_array_new(FALSE, FALSE, sizeof(BbCore));
    return link;
}

static void expect_core(const BbLink *link, guint i, double mean_ns, double sd_ns)
{
    const BbCore *core = &g_array_index(link->cores, BbCore, i);
    ck_assert_double_eq_tol((double)core->mode.delay_ns, mean_ns, 0.5 * (double)MS);
    ck_assert_double_eq_tol((double)core->mode.spread_ns, sd_ns, 0.2 * sd_ns);
    guint32 bin = (guint32)(mean_ns / (double)MS);
    ck_assert(core->span.low <= bin && bin < core->span.high);
    ck_assert_uint_eq(bb_link_core_of(link, bin), i);
}

START_TEST(two_delays_are_two_cores)
{
    BbRandom random = bb_random_start(9);
    const BbLagGrid grid = {MS, 0, 200};
    Lags lags = {0};
    add_lags(&lags, &random, 30.0 * MS, 3.0 * MS, 500);
    add_lags(&lags, &random, 120.0 * MS, 6.0 * MS, 1500);
    BbLink *link = empty_link();
    bb_link_find_cores(link, &grid, lags.masses, lags.lags, lags.squares);
    ck_assert_uint_eq(link->cores->len, 2);
    const BbCore *first = &g_array_index(link->cores, BbCore, 0);
    ck_assert_uint_lt(first->span.low, 120);
    expect_core(link, first->mode.delay_ns > 60 * MS ? 0 : 1, 120.0 * MS, 6.0 * MS);
    expect_core(link, first->mode.delay_ns > 60 * MS ? 1 : 0, 30.0 * MS, 3.0 * MS);
    bb_link_free(link);
}
END_TEST

START_TEST(one_delay_is_one_core)
{
    for (guint64 seed = 0; seed < 20; seed++) {
        BbRandom random = bb_random_start(seed);
        const BbLagGrid grid = {MS, 0, 200};
        Lags lags = {0};
        add_lags(&lags, &random, 90.0 * MS, (double)(2 + seed / 2) * (double)MS, 4000);
        BbLink *link = empty_link();
        bb_link_find_cores(link, &grid, lags.masses, lags.lags, lags.squares);
        ck_assert_uint_eq(link->cores->len, 1);
        expect_core(link, 0, 90.0 * MS, (double)(2 + seed / 2) * (double)MS);
        bb_link_free(link);
    }
}
END_TEST

START_TEST(cores_of_nothing_and_of_all_bins)
{
    const BbLagGrid grid = {MS, 0, 200};
    Lags lags = {0};
    BbLink *link = empty_link();
    bb_link_find_cores(link, &grid, lags.masses, lags.lags, lags.squares);
    ck_assert_uint_eq(link->cores->len, 0);
    ck_assert_uint_eq(bb_link_core_of(link, 100), 0);
    for (guint i = 0; i < 200; i += 16) // at most so many delays, however many peaks
        lags.masses[i] = 100, lags.lags[i] = 100.0 * i * (double)MS,
        lags.squares[i] = 100.0 * i * i * (double)MS * (double)MS;
    bb_link_find_cores(link, &grid, lags.masses, lags.lags, lags.squares);
    ck_assert_uint_ge(link->cores->len, 2);
    ck_assert_uint_le(link->cores->len, 8);
    for (guint i = 0; i < link->cores->len; i++)
        for (guint k = 0; k < i; k++) {
            BbSpan a = g_array_index(link->cores, BbCore, i).span;
            BbSpan b = g_array_index(link->cores, BbCore, k).span;
            ck_assert(a.high <= b.low || b.high <= a.low);
        }
    bb_link_free(link);
}
END_TEST

START_TEST(lags_between_cores_go_to_the_nearer)
{
    BbLink *link = empty_link();
    const BbCore cores[] = {{{50, 60}, {0}}, {{10, 21}, {0}}};
    g_array_append_vals(link->cores, cores, 2);
    const guint wanted[][2] = {{0, 1},  {10, 1}, {19, 1}, {34, 1},
                               {35, 0}, {36, 0}, {50, 0}, {199, 0}};
    for (guint i = 0; i < G_N_ELEMENTS(wanted); i++)
        ck_assert_uint_eq(bb_link_core_of(link, wanted[i][0]), wanted[i][1]);
    bb_link_free(link);
}
END_TEST

TEST_MAIN("link", the_walk_sees_every_pair, kernel_sums_to_effects, chance_links_nothing,
          effects_before_causes, learned_kernels, two_delays_are_two_cores, one_delay_is_one_core,
          cores_of_nothing_and_of_all_bins, lags_between_cores_go_to_the_nearer)
