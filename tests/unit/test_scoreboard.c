// SPDX-License-Identifier: Apache-2.0
// The bins of the histograms, votes that add up, smoothing; and the tables and the sort below.
#include "nesting/scoreboard.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/tally.h"
#include "nesting/knots.h"
#include "nesting/openings.h"
#include "nesting/shapes.h"
#include "nesting/timesort.h"
#include "tests/unit/test.h"

#define MS G_GINT64_CONSTANT(1000000)

START_TEST(bins_of_the_paper)
{
    g_autoptr(BbScoreboard) board = bb_scoreboard_new(MS, 0);
    ck_assert_uint_eq(bb_scoreboard_bins(board), 340);
    static const struct {
        gint64 delay_ns;
        guint32 bin;
    } cases[] = {{G_MININT64, 0},
                 {-1, 0},
                 {0, 0},
                 {MS - 1, 0},
                 {MS, 1},
                 {1049999, 1},
                 {1050000, 2},
                 {1102499, 2},
                 {1102500, 3},
                 {1157625, 4},
                 {2 * MS, 15},
                 {7200 * 1000 * MS, 324},
                 {14500 * 1000 * MS, 338},
                 {14530 * 1000 * MS, 339},
                 {G_MAXINT64, 339}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        ck_assert_uint_eq(bb_scoreboard_bin(board, cases[i].delay_ns), cases[i].bin);
}
END_TEST

// Every bin against the logarithm, off the edges where doubles cannot tell.
START_TEST(bins_against_the_formula)
{
    static const gint64 floors[] = {1, 10, 1000, MS, 50 * MS, G_MAXINT64 / 2, 0, -5};
    g_autoptr(GRand) rand = g_rand_new_with_seed(5);
    for (gsize f = 0; f < G_N_ELEMENTS(floors); f++) {
        g_autoptr(BbScoreboard) board = bb_scoreboard_new(floors[f], 0);
        double floor_ns = (double)MAX(floors[f], 1);
        for (guint i = 0; i < 20000; i++) {
            gint64 delay = (gint64)exp(g_rand_double_range(rand, 0, 43));
            double real = log((double)delay / floor_ns) / log(1.05);
            if (fabs(real - round(real)) < 1e-6)
                continue;
            guint32 want = real < 0 ? 0 : 1 + (guint32)floor(real);
            ck_assert_uint_eq(bb_scoreboard_bin(board, delay),
                              MIN(want, bb_scoreboard_bins(board) - 1));
        }
    }
}
END_TEST

// One child and n parents that arrived at these times.
static void values_of(BbScoreboard *board, gint64 call_ns, const gint64 *arrived, guint32 n,
                      bool add, double *values)
{
    BbParent parents[64];
    guint32 list[64];
    BbChild child = {.call_ns = call_ns, .callee = 3};
    for (guint32 i = 0; i < n; i++) {
        parents[i] = (BbParent){.arrived_ns = arrived[i], .caller = 1};
        list[i] = i;
    }
    if (add)
        bb_scoreboard_add(board, &child, parents, list, n);
    else
        bb_scoreboard_values(board, &child, parents, list, n, values);
}

START_TEST(votes_add_up)
{
    g_autoptr(BbScoreboard) board = bb_scoreboard_new(MS, 0);
    gint64 arrived[48];
    for (guint n = 0; n < 48; n++)
        arrived[n] = 0;
    double whole, sum;
    values_of(board, 5 * MS, arrived, 1, true, NULL);
    values_of(board, 5 * MS, arrived, 1, false, &whole);
    for (guint32 n = 2; n <= 24; n++) { // all in one bin: a whole vote each, exactly
        bb_scoreboard_reset(board);
        values_of(board, 5 * MS, arrived, n, true, NULL);
        values_of(board, 5 * MS, arrived, 1, false, &sum);
        ck_assert_double_eq(sum, whole);
    }
    bb_scoreboard_reset(board);
    values_of(board, 5 * MS, arrived, 1, false, &sum);
    ck_assert_double_eq(sum, 0);
    values_of(board, 5 * MS, arrived, 48, true, NULL);
    values_of(board, 5 * MS, arrived, 1, false, &sum);
    ck_assert_double_le(fabs(sum / whole - 1), 1e-8);
    bb_scoreboard_add(board, NULL, NULL, NULL, 0); // no candidate, no vote
}
END_TEST

START_TEST(smoothing_keeps_the_mass)
{
    g_autoptr(BbScoreboard) sharp = bb_scoreboard_new(MS, 0);
    g_autoptr(BbScoreboard) board = bb_scoreboard_new(MS, 2);
    const gint64 delays[] = {0, 100 * MS};
    double whole, value;
    values_of(sharp, 0, delays, 1, true, NULL);
    values_of(sharp, 0, delays, 1, false, &whole);
    for (guint d = 0; d < 2; d++) {
        bb_scoreboard_reset(board);
        gint64 origin = 0;
        values_of(board, delays[d], &origin, 1, true, NULL);
        bb_scoreboard_smooth(board);
        double mass = 0, peak = 0;
        for (guint32 k = 0; k < 200; k++) {
            gint64 delay = k == 0 ? 0 : (gint64)ceil(1e6 * pow(1.05, k - 0.5));
            ck_assert_uint_eq(bb_scoreboard_bin(board, delay), k);
            values_of(board, delay, &origin, 1, false, &value);
            mass += value;
            peak = MAX(peak, value);
        }
        ck_assert_double_le(fabs(mass / whole - 1), 1e-8);
        values_of(board, delays[d], &origin, 1, false, &value);
        ck_assert_double_eq(value, peak);
    }
}
END_TEST

START_TEST(tally_like_an_array)
{
    enum { SIDE = 20 };
    static guint64 want[SIDE][SIDE][SIDE];
    g_autoptr(GRand) rand = g_rand_new_with_seed(9);
    BbTally tally;
    bb_tally_init(&tally);
    for (guint i = 0; i < 30000; i++) {
        guint32 a = (guint32)g_rand_int_range(rand, 0, SIDE), b = (guint32)(i % SIDE);
        guint32 c = (guint32)g_rand_int_range(rand, 0, SIDE);
        want[a][b][c] += i;
        *bb_tally_at(&tally, (BbTallyKey){a, b, c}) += i;
    }
    for (guint32 i = 0; i < SIDE * SIDE * SIDE; i++) {
        BbTallyKey key = {i / SIDE / SIDE, i / SIDE % SIDE, i % SIDE};
        ck_assert_uint_eq(bb_tally_get(&tally, key), want[key.a][key.b][key.c]);
    }
    gsize count;
    g_autofree BbTallyEntry *entries = bb_tally_entries(&tally, &count);
    ck_assert_uint_eq(count, tally.used);
    for (gsize i = 0; i < count; i++) {
        BbTallyKey key = entries[i].key;
        ck_assert_uint_eq(entries[i].count, want[key.a][key.b][key.c]);
    }
    tally.round = G_MAXUINT32; // the next reset comes round to what was used before
    bb_tally_reset(&tally);
    ck_assert_uint_eq(bb_tally_get(&tally, (BbTallyKey){0, 0, 0}), 0);
    ck_assert_uint_eq(tally.round, 1);
    bb_tally_clear(&tally);
}
END_TEST

static int by_time_and_index(const void *x, const void *y)
{
    const BbTimed *a = x, *b = y;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

START_TEST(timesort_is_a_stable_sort)
{
    static const gsize counts[] = {0, 1, 2, 47, 48, 49, 1000, 8191, 8192, 20000};
    static const guint bits[] = {1, 7, 20, 43, 62};
    g_autoptr(GRand) rand = g_rand_new_with_seed(13);
    for (gsize c = 0; c < G_N_ELEMENTS(counts); c++) {
        for (gsize b = 0; b < G_N_ELEMENTS(bits); b++) {
            g_autofree BbTimed *items = g_new(BbTimed, counts[c] + 1);
            g_autofree BbTimed *scratch = g_new(BbTimed, counts[c] + 1);
            for (gsize i = 0; i < counts[c]; i++) {
                guint64 number = (guint64)g_rand_int(rand) << 32 | g_rand_int(rand);
                gint64 time = (gint64)(number & (((guint64)1 << bits[b]) - 1)) - 1000;
                items[i] = (BbTimed){i % 97 ? time : -time, (guint32)i};
            }
            if (counts[c] > 2 && bits[b] == 62) {
                items[0].time_ns = G_MAXINT64;
                items[1].time_ns = G_MININT64;
            }
            g_autofree BbTimed *want = g_memdup2(items, (counts[c] + 1) * sizeof *items);
            qsort(want, counts[c], sizeof *want, by_time_and_index);
            bb_timesort(items, scratch, counts[c]);
            for (gsize i = 0; i < counts[c]; i++)
                ck_assert_uint_eq(items[i].index, want[i].index);
        }
    }
}
END_TEST

START_TEST(shapes_are_told_apart)
{
    g_autoptr(BbShapes) shapes = bb_shapes_new();
    const guint32 one[] = {0}, two[] = {0, 0};
    ck_assert_uint_eq(bb_shapes_intern(shapes, 1, 0, NULL, 0), 0);
    ck_assert_uint_eq(bb_shapes_intern(shapes, 1, 1, NULL, 0), 1);
    ck_assert_uint_eq(bb_shapes_intern(shapes, 1, 0, one, 1), 2);
    ck_assert_uint_eq(bb_shapes_intern(shapes, 1, 0, two, 2), 3);
    for (guint32 n = 10; n < 5000; n++)
        ck_assert_uint_eq(bb_shapes_intern(shapes, n, n, two, 2), n - 6);
    for (guint32 n = 10; n < 5000; n++)
        ck_assert_uint_eq(bb_shapes_intern(shapes, n, n, two, 2), n - 6);
    ck_assert_uint_eq(bb_shapes_intern(shapes, 1, 0, one, 1), 2);
}
END_TEST

// Adds and drops at random, against a plain array of what is in; keys collide and wrap.
START_TEST(openings_forget_what_is_dropped)
{
    enum { KEYS = 700 };
    static bool in[KEYS];
    g_autoptr(GRand) rand = g_rand_new_with_seed(17);
    BbOpenings openings;
    bb_openings_init(&openings);
    for (guint round = 0; round < 50000; round++) {
        guint32 k = (guint32)g_rand_int_range(rand, 0, KEYS);
        BbOpeningKey key = {{k / 7, 3 + k % 7}, k % 3, k % 5};
        BbOpening *entry = bb_openings_find(&openings, &key);
        ck_assert_int_eq(entry != NULL, in[k]);
        if (entry) {
            ck_assert_uint_eq(entry->first, k);
            entry->first = BB_OPENING_NONE;
            bb_openings_drop_empty(&openings, entry);
        } else {
            bb_openings_add(&openings, &key)->first = k;
        }
        in[k] = !in[k];
    }
    gsize count = 0;
    for (guint32 k = 0; k < KEYS; k++)
        count += in[k];
    ck_assert_uint_eq(openings.used, count);
    bb_openings_clear(&openings);
}
END_TEST

START_TEST(knots_of_a_graph)
{
    // 1 -> 2 -> 3 -> 2, 3 -> 4 -> 5 -> 5, 5 -> 6; 7 -> 8
    static const BbTallyEntry edges[] = {{{1, 2}}, {{2, 3}}, {{3, 2}}, {{3, 4}},
                                         {{4, 5}}, {{5, 5}}, {{5, 6}}, {{7, 8}}};
    static const bool want[] = {false, false, true, true, true, true, false, false, false, false};
    g_autofree bool *knotted = bb_knots_find(edges, G_N_ELEMENTS(edges), G_N_ELEMENTS(want));
    for (gsize n = 0; n < G_N_ELEMENTS(want); n++)
        ck_assert_int_eq(knotted[n], want[n]);
}
END_TEST

TEST_MAIN("scoreboard", bins_of_the_paper, bins_against_the_formula, votes_add_up,
          smoothing_keeps_the_mass, tally_like_an_array, timesort_is_a_stable_sort,
          shapes_are_told_apart, openings_forget_what_is_dropped, knots_of_a_graph)
