// SPDX-License-Identifier: Apache-2.0
// What two streams have in common by chance: sums over blocks of time as the definition says, at
// whatever times.
#include "convolution/load.h"
#include "tests/unit/planted.h"

static BbStream stream_of(const gint64 *ns, guint32 count)
{
    return (BbStream){.count = count, .ns = ns};
}
#define STREAM(...) \
    stream_of((const gint64[]){__VA_ARGS__}, sizeof((const gint64[]){__VA_ARGS__}) / sizeof(gint64))

static guint32 within(const BbStream *stream, gint64 low, gint64 high)
{
    guint32 count = 0;
    for (guint32 i = 0; i < stream->count; i++)
        count += stream->ns[i] >= low && stream->ns[i] < high;
    return count;
}

// Block after block, as the header says it.
static BbTrafficLoad slow_load(const BbStream *in, const BbStream *out, gint64 start, gint64 end,
                               gint64 block)
{
    double products = 0, crowd = 0;
    for (gint64 at = start; at <= end; at += block) {
        double n = within(in, at, at + block), m = within(out, at, at + block);
        products += n * m;
        crowd += n * m * (n > 0 && m > 0 ? n + m - 2 : 0);
    }
    double length = (double)block;
    return (BbTrafficLoad){products / length, products > 0 ? crowd / products / length : 0};
}

static void expect(const BbTrafficLoad *got, const BbTrafficLoad *wanted)
{
    ck_assert_double_eq_tol(got->pairs, wanted->pairs, 1e-9 * wanted->pairs + 1e-30);
    ck_assert_double_eq_tol(got->crowd, wanted->crowd, 1e-9 * wanted->crowd + 1e-30);
}

START_TEST(by_hand)
{
    // Blocks of 10 from 100: 2 and 1 messages; 1 and 3; 2 and 0; 0 and 1.
    BbStream in = STREAM(100, 109, 110, 120, 121), out = STREAM(105, 112, 112, 119, 145);
    BbTrafficLoad load = bb_load_measure(&in, &out, 100, 10);
    ck_assert_double_eq_tol(load.pairs, (2 * 1 + 1 * 3) / 10.0, 1e-12);
    ck_assert_double_eq_tol(load.crowd, (2 * 1 + 3 * 2) / 5.0 / 10.0, 1e-12);
}
END_TEST

START_TEST(nothing_in_common)
{
    BbStream none = stream_of(NULL, 0), early = STREAM(0, 5, 9), late = STREAM(30, 31);
    const BbStream *const cases[][2] = {
        {&none, &none}, {&none, &early}, {&early, &none}, {&early, &late}, {&late, &early}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        BbTrafficLoad load = bb_load_measure(cases[i][0], cases[i][1], 0, 10);
        ck_assert_double_eq(load.pairs, 0);
        ck_assert_double_eq(load.crowd, 0);
    }
}
END_TEST

static gint compare_times(gconstpointer left, gconstpointer right)
{
    gint64 a = *(const gint64 *)left, b = *(const gint64 *)right;
    return a < b ? -1 : a > b;
}

// Bursts and gaps. Times are off the ends of blocks by half a unit of time at least.
static GArray *random_times(BbRandom *random, guint count, gint64 start, gint64 unit)
{
    GArray *times = g_array_new(FALSE, FALSE, sizeof(gint64));
    gint64 at = start + unit / 2;
    for (guint i = 0; i < count; i++) {
        at += unit * (gint64)bb_random_below(random, bb_random_chance(random, 0.1) ? 3000 : 20);
        g_array_append_val(times, at);
    }
    g_array_sort(times, compare_times);
    return times;
}

START_TEST(as_counted_slowly)
{
    BbRandom random = bb_random_start(test_seed("load"));
    for (guint round = 0; round < 60; round++) {
        gint64 unit = round % 3 == 0 ? 1000 : 1000000, start = round % 2 ? EPOCH : -7 * unit;
        gint64 block = unit * (gint64)(1 + bb_random_below(&random, 200));
        g_autoptr(GArray) in = random_times(&random, 150, start, unit);
        g_autoptr(GArray) out = random_times(&random, 1 + round, start, unit);
        BbStream a = stream_of((gint64 *)(gpointer)in->data, in->len);
        BbStream b = stream_of((gint64 *)(gpointer)out->data, out->len);
        BbTrafficLoad got = bb_load_measure(&a, &b, start, (double)block);
        BbTrafficLoad wanted = slow_load(&a, &b, start, a.ns[a.count - 1], block);
        expect(&got, &wanted);
        BbTrafficLoad other_way = bb_load_measure(&b, &a, start, (double)block);
        expect(&other_way, &wanted);
    }
}
END_TEST

// A constant load: the density of pairs is rate times rate times duration, the crowd both rates.
START_TEST(of_constant_streams)
{
    g_autofree gint64 *in = g_new(gint64, 3000), *out = g_new(gint64, 2000);
    for (gint64 i = 0; i < 3000; i++)
        in[i] = EPOCH + i * 2 * MS;
    for (gint64 i = 0; i < 2000; i++)
        out[i] = EPOCH + i * 3 * MS;
    BbStream a = stream_of(in, 3000), b = stream_of(out, 2000);
    BbTrafficLoad load = bb_load_measure(&a, &b, EPOCH, 600 * (double)MS);
    double second = (double)SECOND;
    ck_assert_double_eq_tol(load.pairs * second, 500.0 * (1000 / 3.0) * 6, 1e-6 * 1e6);
    ck_assert_double_eq_tol(load.crowd * second, 500 + 1000 / 3.0 - 2 / 0.6, 0.01);
}
END_TEST

// Blocks shorter than what doubles tell apart at that time must not hold the walk up.
START_TEST(short_blocks_at_late_times)
{
    BbStream in = STREAM(EPOCH, EPOCH + 3, EPOCH + 64), out = STREAM(EPOCH + 1, EPOCH + 66);
    BbTrafficLoad load = bb_load_measure(&in, &out, EPOCH, 4);
    ck_assert_double_eq_tol(load.pairs, (2 * 1 + 1 * 1) / 4.0, 1e-9);
    BbStream first = STREAM(G_MININT64, 0, G_MAXINT64), last = STREAM(-1, G_MAXINT64 - 1);
    for (double block = 0.25; block < 1e19; block *= 10) {
        load = bb_load_measure(&first, &last, G_MININT64, block);
        ck_assert(isfinite(load.pairs) && load.pairs >= 0 && load.pairs * block <= 6);
        ck_assert(isfinite(load.crowd) && load.crowd >= 0);
    }
}
END_TEST

TEST_MAIN("load", by_hand, nothing_in_common, as_counted_slowly, of_constant_streams,
          short_blocks_at_late_times)
