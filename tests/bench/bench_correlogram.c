// SPDX-License-Identifier: Apache-2.0
// Measures both ways to a correlogram: bench_correlogram [SPAN [LAGS]] (quanta; defaults: 1e7,
// 1000) correlates all pairs of EDGES edges with random messages, at several densities, and checks
// that both ways count the same. `bench_correlogram calibrate` prints the constants of
// convolution/block_shape.c for this machine. Times are CPU seconds, the best of several.
#include "convolution/block_shape.h"
#include "convolution/correlogram.h"
#include "convolution/transform.h"
#include "data/random.h"
#include "tests/bench/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EDGES 4
#define MEMORY ((gsize)256 << 20)
#define REPEATS 5

static int by_value(const void *a, const void *b)
{
    gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return x < y ? -1 : x > y;
}

// messages of them, spread evenly.
static gint64 *random_quanta(BbRandom *random, gsize messages, gint64 span)
{
    gint64 *quanta = g_new(gint64, messages);
    for (gsize i = 0; i < messages; i++)
        quanta[i] = (gint64)bb_random_below(random, (guint64)span + 1);
    qsort(quanta, messages, sizeof *quanta, by_value);
    return quanta;
}

typedef struct {
    BbTrain trains[EDGES];
    BbLags lags;
    gint64 span;
} Work;

// What a way counts, over all pairs.
typedef struct {
    guint32 *counts; // EDGES * EDGES correlograms
    double seconds;  // the best
    double pairs;
} Result;

static Result result_new(const Work *work)
{
    return (Result){.counts = g_new0(guint32, EDGES * EDGES * work->lags.n_lags), .seconds = 1e9};
}

static guint32 *counts_of(Result *result, const Work *work, guint pair)
{
    return result->counts + pair * work->lags.n_lags;
}

static void run_counting(const Work *work, Result *result)
{
    for (guint repeat = 0; repeat < REPEATS; repeat++) {
        memset(result->counts, 0, EDGES * EDGES * work->lags.n_lags * sizeof *result->counts);
        double start = cpu_seconds();
        for (guint pair = 0; pair < EDGES * EDGES; pair++)
            bb_correlogram_count(&work->trains[pair / EDGES], &work->trains[pair % EDGES],
                                 &work->lags, counts_of(result, work, pair));
        result->seconds = MIN(result->seconds, cpu_seconds() - start);
    }
    for (gsize i = 0; i < EDGES * EDGES * work->lags.n_lags; i++)
        result->pairs += result->counts[i];
}

static BbBlocksWork run_blocks(const Work *work, Result *result)
{
    BbBlocksWork done = {0};
    guint32 *counts[EDGES * EDGES];
    for (guint pair = 0; pair < EDGES * EDGES; pair++)
        counts[pair] = counts_of(result, work, pair);
    for (guint repeat = 0; repeat < REPEATS; repeat++) {
        memset(result->counts, 0, EDGES * EDGES * work->lags.n_lags * sizeof *result->counts);
        g_autoptr(BbBlocks) blocks = bb_blocks_new(&work->lags, work->span, MEMORY);
        if (!blocks)
            return done;
        double start = cpu_seconds();
        bb_blocks_correlate(blocks, work->trains, EDGES, work->trains, EDGES, counts);
        result->seconds = MIN(result->seconds, cpu_seconds() - start);
        done = bb_blocks_work(blocks);
    }
    return done;
}

// Nanoseconds of a transform forward, per number.
static double transform_ns(gsize size)
{
    g_autoptr(BbTransform) transform = bb_transform_new(size);
    double *signal = bb_transform_signal(transform);
    double complex *spectrum = bb_transform_spectrum(transform);
    const guint runs = (guint)MAX(4000000 / size, 1);
    double best = 1e9;
    memset(signal, 0, size * sizeof *signal);
    for (guint repeat = 0; repeat < REPEATS; repeat++) {
        double start = cpu_seconds();
        for (guint run = 0; run < runs; run++)
            bb_transform_forward(transform, signal, spectrum);
        best = MIN(best, cpu_seconds() - start);
    }
    bb_transform_release(signal);
    bb_transform_release(spectrum);
    return best * 1e9 / runs / (double)size;
}

static BbCorrelogramCost predicted(const Work *work)
{
    BbCorrelogramCost sum = {0, 0};
    for (guint pair = 0; pair < EDGES * EDGES; pair++) {
        BbCorrelogramCost cost = bb_correlogram_cost(
            &work->trains[pair / EDGES], &work->trains[pair % EDGES], &work->lags, work->span);
        sum.counting += cost.counting / 1e9;
        sum.blocks += cost.blocks / 1e9;
    }
    return sum;
}

static Work work_of(BbRandom *random, gsize messages, gint64 span, gsize n_lags)
{
    Work work = {.lags = {0, n_lags}, .span = span};
    for (guint i = 0; i < EDGES; i++)
        work.trains[i] = (BbTrain){random_quanta(random, messages, span), messages};
    return work;
}

static void work_clear(Work *work)
{
    for (guint i = 0; i < EDGES; i++)
        g_free((gpointer)work->trains[i].quanta);
}

// One line of the table. False where the ways differ.
static bool compare(BbRandom *random, gsize messages, gint64 span, gsize n_lags)
{
    Work work = work_of(random, messages, span, n_lags);
    Result counting = result_new(&work), blocks = result_new(&work);
    run_counting(&work, &counting);
    BbBlocksWork done = run_blocks(&work, &blocks);
    const BbBlockShape shape = bb_block_shape(n_lags, span);
    double ffts_s = (double)done.transforms * (double)shape.size * transform_ns(shape.size) / 1e9;
    BbCorrelogramCost cost = predicted(&work);
    bool same = memcmp(counting.counts, blocks.counts,
                       EDGES * EDGES * n_lags * sizeof *counting.counts) == 0;
    printf("%9zu %11.0f %9.4f %9.4f %7.2f %9.4f %9.4f %7.2f %9.4f %8" G_GUINT64_FORMAT
           " %8" G_GUINT64_FORMAT " %8" G_GUINT64_FORMAT " %s\n",
           messages, counting.pairs, counting.seconds, cost.counting,
           counting.seconds * 1e9 / MAX(counting.pairs, 1), blocks.seconds, cost.blocks,
           counting.seconds / blocks.seconds, ffts_s, done.transforms, done.multiplied,
           done.counted, same ? "same" : "DIFFERENT");
    g_free(counting.counts);
    g_free(blocks.counts);
    work_clear(&work);
    return same;
}

static int bench(gint64 span, gsize n_lags)
{
    BbRandom random = bb_random_start(1);
    const BbBlockShape shape = bb_block_shape(n_lags, span);
    printf("%d x %d edges, %" G_GINT64_FORMAT " quanta, %zu lags; blocks of %" G_GUINT64_FORMAT
           ", %" G_GINT64_FORMAT " of them\n",
           EDGES, EDGES, span, n_lags, shape.size, shape.count);
    printf("%9s %11s %9s %9s %7s %9s %9s %7s %9s %8s %8s %8s\n", "messages", "pairs", "count s",
           "predicted", "ns/pair", "blocks s", "predicted", "ratio", "FFT s", "FFTs", "products",
           "counted");
    bool same = true;
    for (gsize messages = 1000; messages <= (gsize)span && messages <= 3000000; messages *= 3)
        if ((double)messages * (double)messages * (double)n_lags / (double)span < 3e8)
            same = compare(&random, messages, span, n_lags) && same;
    return same ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void calibrate_counting(BbRandom *random)
{
    Work dense = work_of(random, 100000, 1000000, 1000);
    Result result = result_new(&dense);
    run_counting(&dense, &result);
    printf("HIT_NS %.2f\n", result.seconds * 1e9 / result.pairs);
    g_free(result.counts);
    work_clear(&dense);
    // One pair a message: how many is never foreseen by the processor.
    Work sparse = work_of(random, 100000, 100000000, 1000);
    const double hit_ns = result.seconds * 1e9 / result.pairs;
    result = result_new(&sparse);
    run_counting(&sparse, &result);
    printf("MESSAGE_NS %.2f\n",
           (result.seconds * 1e9 - hit_ns * result.pairs) / (2 * 100000.0 * EDGES * EDGES));
    g_free(result.counts);
    work_clear(&sparse);
}

// One train with itself many times over, against once: what the products more cost, each pair with
// its transform back.
static void calibrate_multiply(BbRandom *random)
{
    Work work = work_of(random, 200000, 1000000, 2000);
    const BbBlockShape shape = bb_block_shape(work.lags.n_lags, work.span);
    g_autofree guint32 *counts = g_new0(guint32, work.lags.n_lags);
    g_autoptr(BbBlocks) blocks = bb_blocks_new(&work.lags, work.span, MEMORY);
    guint32 *const all[EDGES * EDGES] = {counts, counts, counts, counts, counts, counts,
                                         counts, counts, counts, counts, counts, counts,
                                         counts, counts, counts, counts};
    guint32 *const few[EDGES * EDGES] = {counts, [5] = counts, [10] = counts, [15] = counts};
    double all_s = 1e9, few_s = 1e9;
    for (guint repeat = 0; repeat < 4 * REPEATS; repeat++) {
        double start = cpu_seconds();
        bb_blocks_correlate(blocks, work.trains, EDGES, work.trains, EDGES, all);
        double middle = cpu_seconds();
        bb_blocks_correlate(blocks, work.trains, EDGES, work.trains, EDGES, few);
        all_s = MIN(all_s, middle - start);
        few_s = MIN(few_s, cpu_seconds() - middle);
    }
    const double pairs = EDGES * EDGES - EDGES, size = (double)shape.size;
    double ns = (all_s - few_s) * 1e9 / pairs - transform_ns(shape.size) * size;
    printf("MULTIPLY_NS %.2f\n", ns / (double)shape.count / size);
    ns = few_s * 1e9 - EDGES * (ns + 2 * transform_ns(shape.size) * size);
    printf("FILL_NS %.2f a number besides the transform\n",
           ns / (double)shape.count / size / (2 * EDGES) - transform_ns(shape.size));
    work_clear(&work);
}

static int calibrate(void)
{
    BbRandom random = bb_random_start(1);
    calibrate_counting(&random);
    calibrate_multiply(&random);
    printf("TRANSFORM_NS");
    for (guint log = 8; log <= 24; log++)
        printf(" %.1f", transform_ns((gsize)1 << log));
    printf("\n");
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "calibrate") == 0)
        return calibrate();
    gint64 span = argc > 1 ? (gint64)g_ascii_strtod(argv[1], NULL) : 10000000;
    gsize n_lags = argc > 2 ? (gsize)g_ascii_strtod(argv[2], NULL) : 1000;
    return bench(CLAMP(span, 1, BB_QUANTA_END - 1), MAX(n_lags, 1));
}
