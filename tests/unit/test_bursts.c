// SPDX-License-Identifier: Apache-2.0
// Bursts: planted ones are found where they are, chance makes none, and periods are told.
#include "diagnose/bursts.h"

#include <stdlib.h>

#include "data/random.h"
#include "tests/unit/test.h"

#define S G_GINT64_CONSTANT(1000000000)
#define TOTAL 10000u // events, one every 10 ms
#define EVENT_NS (S / 100)

// A series, and which of it is marked.
typedef struct {
    bool marked[TOTAL];
} Series;

static void mark_by_chance(Series *series, guint n, guint64 seed)
{
    BbRandom random = bb_random_start(seed);
    while (n > 0) {
        guint at = (guint)bb_random_below(&random, TOTAL);
        n -= !series->marked[at];
        series->marked[at] = true;
    }
}

// Every second one of a stretch.
static void mark_burst(Series *series, guint from, guint n)
{
    for (guint i = 0; i < n; i++)
        series->marked[from + 2 * i] = true;
}

static GArray *find(const Series *series)
{
    g_autoptr(GArray) marked = g_array_new(FALSE, FALSE, sizeof(BbBurstEvent));
    for (guint i = 0; i < TOTAL; i++) {
        BbBurstEvent event = {i, (gint64)i * EVENT_NS};
        if (series->marked[i])
            g_array_append_val(marked, event);
    }
    return bb_bursts_find((const BbBurstEvent *)(const void *)marked->data, marked->len, TOTAL);
}

static const BbBurst *burst_at(const GArray *bursts, guint i)
{
    return &g_array_index(bursts, BbBurst, i);
}

START_TEST(chance_makes_none)
{
    guint series_with_some = 0;
    for (guint64 seed = 1; seed <= 1000; seed++) {
        Series series = {{false}};
        mark_by_chance(&series, 20 + (guint)(seed % 4) * 30, seed);
        g_autoptr(GArray) bursts = find(&series);
        series_with_some += bursts->len > 0;
    }
    ck_assert_uint_le(series_with_some, 3);
}
END_TEST

START_TEST(planted_ones)
{
    Series series = {{false}};
    mark_by_chance(&series, 40, 7);
    mark_burst(&series, 1000, 10);
    mark_burst(&series, 7001, 30);
    g_autoptr(GArray) bursts = find(&series);
    ck_assert_uint_eq(bursts->len, 2);
    ck_assert_int_eq(burst_at(bursts, 0)->start_ns, 1000 * EVENT_NS);
    ck_assert_int_eq(burst_at(bursts, 0)->end_ns, 1018 * EVENT_NS);
    ck_assert_uint_eq(burst_at(bursts, 0)->marked, 10);
    ck_assert_uint_eq(burst_at(bursts, 0)->events, 19);
    ck_assert_int_eq(burst_at(bursts, 1)->start_ns, 7001 * EVENT_NS);
    ck_assert_uint_eq(burst_at(bursts, 1)->events, 59);
    ck_assert_int_eq(bb_bursts_period(bursts), 0);
}
END_TEST

// All of the second half: one long burst.
START_TEST(a_phase)
{
    Series series = {{false}};
    for (guint i = TOTAL / 2; i < TOTAL; i += 50)
        series.marked[i] = true;
    g_autoptr(GArray) bursts = find(&series);
    ck_assert_uint_eq(bursts->len, 1);
    ck_assert_int_eq(burst_at(bursts, 0)->start_ns, TOTAL / 2 * EVENT_NS);
    ck_assert_uint_eq(burst_at(bursts, 0)->marked, TOTAL / 100);
}
END_TEST

// Every 10 s; one is missing, another one a moment late.
START_TEST(periods)
{
    Series series = {{false}};
    mark_by_chance(&series, 20, 3);
    for (guint i = 0; i < 9; i++)
        if (i != 4)
            mark_burst(&series, 500 + 1000 * i + (i == 6 ? 20 : 0), 8);
    g_autoptr(GArray) bursts = find(&series);
    ck_assert_uint_eq(bursts->len, 8);
    ck_assert_int_eq(bb_bursts_period(bursts), 10 * S);
    g_array_index(bursts, BbBurst, 3).start_ns += 2 * S;
    ck_assert_int_eq(bb_bursts_period(bursts), 0);
    g_array_set_size(bursts, 3);
    ck_assert_int_eq(bb_bursts_period(bursts), 0);
}
END_TEST

START_TEST(ends_of_the_range)
{
    g_autoptr(GArray) none = bb_bursts_find(NULL, 0, 0);
    ck_assert_uint_eq(none->len, 0);
    ck_assert_int_eq(bb_bursts_period(none), 0);
    BbBurstEvent all[64];
    for (guint i = 0; i < G_N_ELEMENTS(all); i++)
        all[i] = (BbBurstEvent){i, i % 2 ? G_MAXINT64 : G_MININT64};
    g_autoptr(GArray) everything = bb_bursts_find(all, G_N_ELEMENTS(all), G_N_ELEMENTS(all));
    ck_assert_uint_eq(everything->len, 0);
    g_autoptr(GArray) first = bb_bursts_find(all, G_N_ELEMENTS(all), G_MAXUINT64);
    ck_assert_uint_eq(first->len, 1);
    ck_assert_int_eq(burst_at(first, 0)->start_ns, G_MININT64);
    ck_assert_int_eq(bb_bursts_period(first), 0);
}
END_TEST

TEST_MAIN("bursts", chance_makes_none, planted_ones, a_phase, periods, ends_of_the_range)
