// SPDX-License-Identifier: Apache-2.0
// Correlograms: counting one by one is what the definition says, blocks are what counting says, bit
// for bit, and memory has its limit.
#include "convolution/block_shape.h"
#include "convolution/correlogram.h"
#include "convolution/transform.h"
#include "tests/unit/test.h"

#include <string.h>

#define MEMORY ((gsize)16 << 20)

static BbTrain train_of(const gint64 *quanta, gsize count)
{
    return (BbTrain){.quanta = quanta, .count = count};
}
#define TRAIN(...) \
    train_of((const gint64[]){__VA_ARGS__}, sizeof((const gint64[]){__VA_ARGS__}) / sizeof(gint64))

START_TEST(lags_within_limits)
{
    const struct {
        BbLags lags;
        gint64 least, most;
        BbLags expected;
    } cases[] = {
        {{0, 10}, -100, 100, {0, 10}},
        {{0, 10}, 0, 9, {0, 10}},
        {{0, 10}, 3, 7, {3, 5}},
        {{-5, 10}, -2, 100, {-2, 7}},
        {{-5, 10}, -100, -5, {-5, 1}},
        {{0, 10}, 10, 20, {10, 0}},
        {{5, 10}, 0, 4, {0, 0}},
        {{5, 0}, 0, 9, {0, 0}},
        {{5, 5}, 7, 6, {7, 0}},
        {{G_MININT64, G_MAXSIZE}, -3, 3, {-3, sizeof(gsize) < 8 ? 0 : 7}},
        {{G_MININT64, G_MAXSIZE}, G_MININT64, G_MAXINT64, {G_MININT64, G_MAXSIZE}},
        {{G_MAXINT64 - 1, 2}, G_MININT64, G_MAXINT64, {G_MAXINT64 - 1, 2}},
        {{G_MAXINT64, 1}, -3, 3, {-3, 0}},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        BbLags got = bb_lags_within(&cases[i].lags, cases[i].least, cases[i].most);
        ck_assert_msg(got.n_lags == cases[i].expected.n_lags, "case %u: %zu lags", i, got.n_lags);
        ck_assert_msg(got.first_lag == cases[i].expected.first_lag, "case %u", i);
    }
}
END_TEST

START_TEST(counts_by_hand)
{
    const BbTrain from = TRAIN(10, 20, 20, 31), to = TRAIN(9, 20, 21, 33, 33);
    guint32 counts[5] = {100};
    bb_correlogram_count(&from, &to, &(BbLags){-1, 5}, counts);
    const guint32 expected[] = {101, 2, 2, 2, 0}; // -1: (10, 9); 0: 20 twice; 1: 21; 2: (31, 33)
    ck_assert_mem_eq(counts, expected, sizeof expected);
    guint32 more[4] = {0};
    bb_correlogram_count(&from, &to, &(BbLags){10, 4}, more);
    const guint32 later[] = {1, 1, 0, 4}; // (10, 20), (10, 21), 20 and 33 twice
    ck_assert_mem_eq(more, later, sizeof later);
}
END_TEST

START_TEST(nothing_counts_nothing)
{
    const BbTrain none = {NULL, 0}, some = TRAIN(1, 2, 3);
    guint32 counts[3] = {7, 8, 9};
    const guint32 kept[3] = {7, 8, 9};
    const BbLags lags = {0, 3};
    bb_correlogram_count(&none, &some, &lags, counts);
    bb_correlogram_count(&some, &none, &lags, counts);
    bb_correlogram_count(&none, &none, &lags, counts);
    bb_correlogram_count(&some, &some, &(BbLags){0, 0}, counts);
    bb_correlogram_count(&some, &some, &(BbLags){3, 3}, counts); // beyond all
    bb_correlogram_count(&some, &some, &(BbLags){-5, 3}, counts);
    bb_correlogram_count(&some, &some, &(BbLags){G_MAXINT64 - 3, 3}, counts);
    bb_correlogram_count(&some, &some, &(BbLags){G_MININT64, 3}, counts);
    ck_assert_mem_eq(counts, kept, sizeof kept);
    g_autoptr(BbBlocks) blocks = bb_blocks_new(&lags, 2, MEMORY);
    guint32 *const one = counts, *const unwanted = NULL;
    bb_blocks_correlate(blocks, &none, 1, &some, 1, &one);
    bb_blocks_correlate(blocks, &some, 1, &none, 1, &one);
    bb_blocks_correlate(blocks, &some, 1, &some, 1, &unwanted);
    bb_blocks_correlate(blocks, &some, 1, NULL, 0, NULL);
    bb_blocks_correlate(blocks, NULL, 0, &some, 1, NULL);
    g_autoptr(BbBlocks) beyond = bb_blocks_new(&(BbLags){3, 3}, 2, MEMORY);
    bb_blocks_correlate(beyond, &some, 1, &some, 1, &one);
    ck_assert_mem_eq(counts, kept, sizeof kept);
    ck_assert_uint_eq(bb_blocks_work(blocks).transforms, 0);
}
END_TEST

// Random trains of one shape.
typedef struct {
    const char *name;
    gsize messages;
    gint64 span, start; // quanta are in [start, start + span]
    guint copies;       // up to so many at one quantum
    guint bursts;       // 0: spread evenly; else all messages are within 100 of so many quanta
    BbLags lags;
} Shape;

#define FAR (BB_QUANTA_END - 1)
static const Shape SHAPES[] = {
    {"sparse", 200, 1000000000, 0, 1, 0, {0, 500}},
    {"sparse bursts", 3000, 1000000000, 0, 1, 3, {0, 300}},
    {"dense", 4000, 8000, 0, 1, 0, {0, 100}},
    {"dense, long lags", 3000, 9000, 0, 1, 0, {0, 4000}},
    {"dense, copies", 1000, 2000, 0, 30, 0, {0, 50}},
    {"dense, negative lags", 4000, 8000, 0, 1, 0, {-300, 400}},
    {"dense, only negative lags", 4000, 8000, 0, 2, 0, {-700, 100}},
    {"dense, late lags", 4000, 8000, 0, 2, 0, {3000, 700}},
    {"dense, one lag", 4000, 4000, 0, 3, 0, {2, 1}},
    {"all lags", 900, 3000, 0, 2, 0, {-3000, 6001}},
    {"lags beyond the span", 900, 700, 0, 2, 0, {-5000, 12000}},
    {"lags beyond on one side", 900, 700, 0, 2, 0, {600, 12000}},
    {"one quantum", 300, 0, 5, 1, 0, {-2, 5}},
    {"a single message", 1, 1000, 0, 1, 0, {-1000, 2001}},
    {"two messages", 2, 40, 0, 1, 0, {0, 41}},
    {"far away", 3000, 6000, FAR - 6000, 2, 0, {-10, 200}},
    {"from end to end", 3000, FAR, 0, 2, 2, {-150, 300}},
    {"many blocks", 40000, 400000, 0, 1, 0, {0, 64}},
};

static int by_value(gconstpointer a, gconstpointer b)
{
    gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return x < y ? -1 : x > y;
}

static gint64 random_within(GRand *random, gint64 most)
{
    gint64 got = (gint64)(g_rand_double(random) * ((double)most + 1));
    return MIN(got, most);
}

static GArray *random_train(const Shape *shape, GRand *random)
{
    GArray *quanta = g_array_new(FALSE, FALSE, sizeof(gint64));
    while (quanta->len < shape->messages) {
        gint64 quantum = random_within(random, shape->span);
        if (shape->bursts) {
            gint64 burst = g_rand_int_range(random, 0, (gint32)shape->bursts);
            quantum = shape->span / shape->bursts * burst + random_within(random, 100);
        }
        quantum += shape->start;
        for (gint32 n = g_rand_int_range(random, 0, (gint32)shape->copies) + 1; n > 0; n--)
            g_array_append_val(quanta, quantum);
    }
    g_array_sort(quanta, by_value);
    return quanta;
}

// By the definition.
static void count_pairs(const BbTrain *from, const BbTrain *to, const BbLags *lags, guint32 *counts)
{
    for (gsize m = 0; m < from->count; m++)
        for (gsize n = 0; n < to->count; n++) {
            gint64 lag = to->quanta[n] - from->quanta[m] - lags->first_lag;
            if (lag >= 0 && lag < (gint64)lags->n_lags)
                counts[lag]++;
        }
}

START_TEST(counting_is_as_defined)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(test_seed("correlogram"));
    for (guint i = 0; i < G_N_ELEMENTS(SHAPES); i++) {
        Shape shape = SHAPES[i];
        shape.messages = MIN(shape.messages, 1000);
        g_autoptr(GArray) a = random_train(&shape, random), b = random_train(&shape, random);
        const BbTrain from = {(const gint64 *)a->data, a->len}, to = {(gint64 *)b->data, b->len};
        g_autofree guint32 *got = g_new0(guint32, shape.lags.n_lags);
        g_autofree guint32 *expected = g_new0(guint32, shape.lags.n_lags);
        bb_correlogram_count(&from, &to, &shape.lags, got);
        count_pairs(&from, &to, &shape.lags, expected);
        ck_assert_msg(memcmp(got, expected, shape.lags.n_lags * sizeof *got) == 0, "%s",
                      shape.name);
    }
}
END_TEST

#define TRAINS 4

static void check_pair(const Shape *shape, const BbTrain *from, const BbTrain *to,
                       const guint32 *got)
{
    g_autofree guint32 *expected = g_new0(guint32, shape->lags.n_lags);
    bb_correlogram_count(from, to, &shape->lags, expected);
    for (gsize k = 0; k < shape->lags.n_lags; k++)
        ck_assert_msg(got[k] == expected[k], "%s: lag %" G_GINT64_FORMAT ": %u, not %u",
                      shape->name, shape->lags.first_lag + (gint64)k, got[k], expected[k]);
}

// All pairs of some random trains at once.
static BbBlocksWork check_blocks(const Shape *shape, GRand *random, gsize memory_limit)
{
    GArray *quanta[TRAINS];
    BbTrain trains[TRAINS];
    guint32 *counts[TRAINS * TRAINS];
    for (guint i = 0; i < TRAINS; i++) {
        quanta[i] = random_train(shape, random);
        trains[i] = (BbTrain){(const gint64 *)quanta[i]->data, quanta[i]->len};
    }
    for (guint pair = 0; pair < TRAINS * TRAINS; pair++)
        counts[pair] = g_new0(guint32, shape->lags.n_lags);
    g_autoptr(BbBlocks) blocks = bb_blocks_new(&shape->lags, shape->span, memory_limit);
    ck_assert_msg(blocks != NULL, "%s", shape->name);
    bb_blocks_correlate(blocks, trains, TRAINS, trains, TRAINS, counts);
    for (guint pair = 0; pair < TRAINS * TRAINS; pair++) {
        check_pair(shape, &trains[pair / TRAINS], &trains[pair % TRAINS], counts[pair]);
        g_free(counts[pair]);
    }
    for (guint i = 0; i < TRAINS; i++)
        g_array_unref(quanta[i]);
    return bb_blocks_work(blocks);
}

START_TEST(blocks_count_the_same)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(test_seed("correlogram"));
    for (guint i = 0; i < G_N_ELEMENTS(SHAPES); i++) {
        BbBlocksWork work = check_blocks(&SHAPES[i], random, MEMORY);
        ck_assert_msg(work.multiplied + work.counted > 0 || SHAPES[i].messages < 1000, "%s",
                      SHAPES[i].name);
        if (g_str_has_prefix(SHAPES[i].name, "dense"))
            ck_assert_msg(work.multiplied > 0, "%s: no block was transformed", SHAPES[i].name);
    }
}
END_TEST

START_TEST(blocks_of_any_shape_count_the_same)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(test_seed("correlogram"));
    guint64 multiplied = 0, counted = 0;
    for (guint i = 0; i < 40; i++) {
        Shape shape = {
            .name = "random",
            .messages = (gsize)g_rand_int_range(random, 1, 2000),
            .span = g_rand_int_range(random, 0, 20000),
            .start = g_rand_int_range(random, 0, 3000),
            .copies = (guint)g_rand_int_range(random, 1, 5),
            .lags = {g_rand_int_range(random, -2000, 2000),
                     (gsize)g_rand_int_range(random, 1, 2000)},
        };
        BbBlocksWork work = check_blocks(&shape, random, MEMORY);
        multiplied += work.multiplied;
        counted += work.counted;
    }
    ck_assert_uint_gt(multiplied, 100);
    ck_assert_uint_gt(counted, 100);
}
END_TEST

static const Shape MANY_BLOCKS = {"many blocks", 20000, 40000, 0, 1, 0, {0, 700}};

START_TEST(spectra_are_computed_once)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(test_seed("correlogram"));
    const BbBlockShape shape = bb_block_shape(MANY_BLOCKS.lags.n_lags, MANY_BLOCKS.span);
    const guint64 n = (guint64)shape.count, pairs = TRAINS * TRAINS;
    ck_assert_uint_gt(n, 4);
    BbBlocksWork work = check_blocks(&MANY_BLOCKS, random, MEMORY);
    ck_assert_uint_le(work.transforms, n * 2 * TRAINS + pairs);
    ck_assert_uint_ge(work.multiplied, (n - 1) * pairs); // the last block may be short
}
END_TEST

START_TEST(memory_is_bounded)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(test_seed("correlogram"));
    const BbLags *lags = &MANY_BLOCKS.lags;
    const gsize size = bb_block_shape(lags->n_lags, MANY_BLOCKS.span).size;
    const gsize spectrum = (size / 2 + 1) * sizeof(double complex);
    gsize least = 1; // the least limit that is enough, to a KB
    for (;; least += 1024) {
        g_autoptr(BbBlocks) blocks = bb_blocks_new(lags, MANY_BLOCKS.span, least);
        if (blocks)
            break;
    }
    ck_assert_uint_gt(least, 3 * spectrum);
    // With three spectra, each pair by itself computes both of each of its blocks.
    BbBlocksWork work = check_blocks(&MANY_BLOCKS, random, least);
    ck_assert_uint_eq(work.transforms, 2 * work.multiplied + TRAINS * TRAINS);
    // With eight: two trains in, two out.
    work = check_blocks(&MANY_BLOCKS, random, least + 5 * (spectrum + 64));
    ck_assert_uint_le(work.transforms, work.multiplied + TRAINS * TRAINS);
    ck_assert_uint_ge(work.transforms, work.multiplied);
    // With seven: one in, three out, then one more.
    work = check_blocks(&MANY_BLOCKS, random, least + 4 * (spectrum + 64));
    ck_assert_uint_gt(work.transforms, work.multiplied + TRAINS * TRAINS);
}
END_TEST

START_TEST(unwanted_pairs_are_left_out)
{
    const BbTrain in[] = {TRAIN(1, 5), TRAIN(2)}, out[] = {TRAIN(3, 6), TRAIN(4), TRAIN(5)};
    const BbLags lags = {0, 4};
    guint32 a[4] = {0}, b[4] = {0}, c[4] = {0};
    guint32 *const counts[] = {a, NULL, NULL, NULL, b, c};
    g_autoptr(BbBlocks) blocks = bb_blocks_new(&lags, 5, MEMORY);
    bb_blocks_correlate(blocks, in, 2, out, 3, counts);
    ck_assert_mem_eq(a, ((guint32[]){0, 1, 1, 0}), sizeof a); // (5, 6), (1, 3)
    ck_assert_mem_eq(b, ((guint32[]){0, 0, 1, 0}), sizeof b);
    ck_assert_mem_eq(c, ((guint32[]){0, 0, 0, 1}), sizeof c);
}
END_TEST

START_TEST(too_many_lags_are_refused)
{
    ck_assert_ptr_null(bb_blocks_new(&(BbLags){0, G_MAXSIZE >> 1}, (gint64)1 << 40, MEMORY));
    ck_assert_ptr_null(bb_blocks_new(&(BbLags){0, G_MAXSIZE}, BB_QUANTA_END - 1, MEMORY));
    ck_assert_ptr_null(bb_blocks_new(&(BbLags){0, 10}, 1000, 0));
    // But what the span leaves of them is not many.
    g_autoptr(BbBlocks) blocks = bb_blocks_new(&(BbLags){0, G_MAXSIZE >> 1}, 1000, MEMORY);
    ck_assert_ptr_nonnull(blocks);
    bb_blocks_free(NULL);
}
END_TEST

static GArray *copies_of(gint64 quantum, gsize count)
{
    GArray *quanta = g_array_sized_new(FALSE, FALSE, sizeof(gint64), (guint)count);
    for (gsize i = 0; i < count; i++)
        g_array_append_val(quanta, quantum);
    return quanta;
}

// So many messages at one time that 2^32 pairs are not enough: counts stay at their end, both ways.
START_TEST(counts_saturate)
{
    g_autoptr(GArray) a = copies_of(3, 70000), b = copies_of(5, 70000);
    gint64 other = 6;
    g_array_append_val(b, other);
    const BbTrain from = {(const gint64 *)a->data, a->len}, to = {(const gint64 *)b->data, b->len};
    const BbLags lags = {0, 5};
    const guint32 expected[5] = {1, 0, G_MAXUINT32, 70000, 0};
    guint32 counts[5] = {1}, others[5] = {1};
    bb_correlogram_count(&from, &to, &lags, counts);
    ck_assert_mem_eq(counts, expected, sizeof expected);
    bb_correlogram_count(&from, &to, &lags, counts);
    ck_assert_uint_eq(counts[2], G_MAXUINT32);
    g_autoptr(BbBlocks) blocks = bb_blocks_new(&lags, 10, MEMORY);
    guint32 *const one = others;
    bb_blocks_correlate(blocks, &from, 1, &to, 1, &one);
    ck_assert_mem_eq(others, expected, sizeof expected);
    ck_assert_uint_eq(bb_blocks_work(blocks).multiplied, 1);
}
END_TEST

// Beyond the bound of exact rounding a block is counted, and a sum ends before it gets there.
START_TEST(rounding_has_a_bound)
{
    const BbLags lags = {0, 5};
    g_autoptr(GArray) huge = copies_of(3, 8000000), large = copies_of(3, 1200000);
    BbTrain train = {(const gint64 *)huge->data, huge->len};
    guint32 counts[5] = {0};
    const guint32 expected[5] = {G_MAXUINT32, 0, 0, 0, 0};
    g_autoptr(BbBlocks) blocks = bb_blocks_new(&lags, 1 << 20, MEMORY);
    guint32 *const one = counts;
    bb_blocks_correlate(blocks, &train, 1, &train, 1, &one);
    ck_assert_mem_eq(counts, expected, sizeof expected);
    ck_assert_uint_eq(bb_blocks_work(blocks).counted, 1);
    ck_assert_uint_eq(bb_blocks_work(blocks).multiplied, 0);

    // Four blocks, each of which alone is within the bound.
    g_autoptr(GArray) several = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (gint64 block = 0; block < 4; block++)
        for (guint i = 0; i < large->len; i++) {
            gint64 quantum = block * (1 << 18);
            g_array_append_val(several, quantum);
        }
    train = (BbTrain){(const gint64 *)several->data, several->len};
    memset(counts, 0, sizeof counts);
    const BbBlocksWork before = bb_blocks_work(blocks);
    bb_blocks_correlate(blocks, &train, 1, &train, 1, &one);
    const BbBlocksWork after = bb_blocks_work(blocks);
    ck_assert_mem_eq(counts, expected, sizeof expected);
    ck_assert_uint_eq(after.multiplied - before.multiplied, 4);
    ck_assert_uint_ge(after.transforms - before.transforms, 4 * 2 + 2);
}
END_TEST

START_TEST(shapes_fit_the_lags)
{
    const gint64 spans[] = {0, 1, 100, 10000, 1000000, 1000000000, BB_QUANTA_END - 1};
    for (guint i = 0; i < G_N_ELEMENTS(spans); i++)
        for (gsize n_lags = 1; n_lags < 10000000; n_lags = n_lags * 3 + 1) {
            const BbBlockShape shape = bb_block_shape(n_lags, spans[i]);
            ck_assert_int_ge(shape.step, 1);
            ck_assert_uint_ge(shape.size, (gsize)shape.step + n_lags - 1);
            ck_assert_uint_eq(shape.size & (shape.size - 1), 0); // FFTW likes powers of 2
            ck_assert(spans[i] < shape.step * shape.count || shape.count > spans[i] / shape.step);
            ck_assert_double_gt(shape.block_ns, 0);
            ck_assert_double_gt(shape.pair_ns, 0);
        }
    // No longer than all that there is; long enough that lags are not most of it.
    ck_assert_int_eq(bb_block_shape(200, 800).count, 1);
    ck_assert_uint_le(bb_block_shape(200, 800).size, 1024);
    ck_assert_int_gt(bb_block_shape(1000, 100000000).step, 1000);
}
END_TEST

START_TEST(costs_grow_with_what_is_done)
{
    const BbBlockShape shape = bb_block_shape(1000, 1000000);
    ck_assert_double_eq(bb_blocks_ns(&shape, 0, 0), shape.pair_ns);
    ck_assert_double_eq(bb_blocks_ns(&shape, 3, 0), shape.pair_ns + 3 * shape.block_ns);
    ck_assert_double_gt(bb_blocks_ns(&shape, 3, 100), bb_blocks_ns(&shape, 3, 50));
    ck_assert_double_eq(bb_counting_ns(0, 0), 0);
    ck_assert_double_gt(bb_counting_ns(10, 0), bb_counting_ns(5, 0));
    ck_assert_double_gt(bb_counting_ns(0, 10), bb_counting_ns(0, 5));
}
END_TEST

static BbCorrelogramCost cost_of(const Shape *shape, GRand *random)
{
    g_autoptr(GArray) a = random_train(shape, random), b = random_train(shape, random);
    const BbTrain from = {(const gint64 *)a->data, a->len}, to = {(const gint64 *)b->data, b->len};
    return bb_correlogram_cost(&from, &to, &shape->lags, shape->span);
}

START_TEST(cost_prefers_counting_where_it_is_sparse)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(test_seed("correlogram"));
    const Shape sparse = {"sparse", 10000, 1000000000, 0, 1, 0, {0, 2000}},
                dense = {"dense", 30000, 60000, 0, 1, 0, {0, 2000}},
                short_burst = {"burst", 50000, 101, 0, 1, 1, {0, 80}};
    BbCorrelogramCost cost = cost_of(&sparse, random);
    ck_assert_double_lt(cost.counting, cost.blocks);
    cost = cost_of(&dense, random);
    ck_assert_double_gt(cost.counting, 2 * cost.blocks);
    cost = cost_of(&short_burst, random);
    ck_assert_double_gt(cost.counting, 2 * cost.blocks);
}
END_TEST

START_TEST(cost_of_nothing)
{
    const BbTrain none = {NULL, 0}, some = TRAIN(1, 2, 3);
    const BbLags lags = {0, 3};
    ck_assert_double_eq(bb_correlogram_cost(&none, &some, &lags, 10).counting, 0);
    ck_assert_double_eq(bb_correlogram_cost(&some, &none, &lags, 10).blocks, 0);
    ck_assert_double_eq(bb_correlogram_cost(&some, &some, &(BbLags){11, 3}, 10).counting, 0);
    const BbCorrelogramCost cost = bb_correlogram_cost(&some, &some, &lags, 10);
    ck_assert_double_gt(cost.counting, 0);
    ck_assert_double_gt(cost.blocks, cost.counting);
}
END_TEST

TEST_MAIN("correlogram", lags_within_limits, counts_by_hand, nothing_counts_nothing,
          counting_is_as_defined, blocks_count_the_same, blocks_of_any_shape_count_the_same,
          spectra_are_computed_once, memory_is_bounded, unwanted_pairs_are_left_out,
          too_many_lags_are_refused, counts_saturate, rounding_has_a_bound, shapes_fit_the_lags,
          costs_grow_with_what_is_done, cost_prefers_counting_where_it_is_sparse, cost_of_nothing)
