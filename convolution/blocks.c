// SPDX-License-Identifier: Apache-2.0
// In: trains of messages, a range of lags, a limit of memory.
// Out: how many pairs are each lag apart, by overlap-save: block by block of the trains in, with as
// much more of the trains out as the lags reach, products of spectra are added up, and only their
// sums are transformed back.
#include "convolution/block_shape.h"
#include "convolution/correlogram.h"
#include "convolution/transform.h"

#include <float.h>
#include <math.h>
#include <string.h>

// So many blocks make a measured plan worth its time: a second, to save some of tens.
#define BLOCKS_TO_MEASURE 1000000
// Sums of products may be off by so much; the nearest integer is then right, with room to spare.
#define ERROR_MOST 0.125

// A train, and what of it is in the block at hand.
typedef struct {
    const gint64 *first, *last, *end; // messages in [first, last) are; end is the train's
    double complex *spectrum;
    double length; // 2-norm of the signal
    bool transformed;
} Cursor;

// Of a pair of trains: the sum of products so far, of how many, and what bounds its error: 1-norm
// in times 2-norm out, added up.
typedef struct {
    double complex *sum;
    guint64 summed;
    double magnitude;
    guint32 *counts; // NULL: not wanted
} Pair;

struct BbBlocks {
    BbLags lags;   // those that the span allows
    gsize skipped; // counts before the first of them
    gint64 window; // quanta of a train out that a block reaches
    BbBlockShape shape;
    BbTransform *transform;
    double *signal;
    GPtrArray *spectra; // memory for cursors and pairs, used again in each call
    gsize spectra_most;
    BbBlocksWork work;
};

static bool spectra_reserve(BbBlocks *blocks, gsize count)
{
    while (blocks->spectra->len < count) {
        double complex *spectrum = bb_transform_spectrum(blocks->transform);
        if (!spectrum)
            return false;
        g_ptr_array_add(blocks->spectra, spectrum);
    }
    return true;
}

// How many spectra fit into the limit beside the signal and FFTW's tables.
static gsize spectra_within(gsize memory_limit, guint64 size)
{
    guint64 fixed = size * 48, each = (size / 2 + 1) * sizeof(double complex) + sizeof(gpointer);
    return memory_limit > fixed ? (gsize)((memory_limit - fixed) / each) : 0;
}

BbBlocks *bb_blocks_new(const BbLags *lags, gint64 span, gsize memory_limit)
{
    g_return_val_if_fail(span >= 0 && span < BB_QUANTA_END, NULL);
    const BbLags within = bb_lags_within(lags, -span, span);
    const BbBlockShape shape = bb_block_shape(MAX(within.n_lags, 1), span);
    const gsize spectra_most = spectra_within(memory_limit, shape.size);
    if (spectra_most < 3)
        return NULL;
    g_autoptr(BbBlocks) blocks = g_new0(BbBlocks, 1);
    blocks->lags = within;
    blocks->skipped = within.n_lags ? (gsize)(within.first_lag - lags->first_lag) : 0;
    blocks->window = shape.step + (gint64)within.n_lags - 1;
    blocks->shape = shape;
    blocks->spectra = g_ptr_array_new_with_free_func(bb_transform_release);
    blocks->spectra_most = spectra_most;
    blocks->transform = bb_transform_new_remembered(shape.size, shape.count >= BLOCKS_TO_MEASURE);
    if (!blocks->transform)
        return NULL;
    blocks->signal = bb_transform_signal(blocks->transform);
    return blocks->signal && spectra_reserve(blocks, 3) ? g_steal_pointer(&blocks) : NULL;
}

void bb_blocks_free(BbBlocks *blocks)
{
    if (!blocks)
        return;
    g_ptr_array_unref(blocks->spectra);
    bb_transform_release(blocks->signal);
    bb_transform_free(blocks->transform);
    g_free(blocks);
}

BbBlocksWork bb_blocks_work(const BbBlocks *blocks)
{
    return blocks->work;
}

// To the messages in [base, base + length); neither may be less than before.
static void cursor_move(Cursor *cursor, gint64 base, gint64 length)
{
    while (cursor->first < cursor->end && *cursor->first < base)
        cursor->first++;
    cursor->last = MAX(cursor->last, cursor->first);
    while (cursor->last < cursor->end && *cursor->last - base < length)
        cursor->last++;
    cursor->transformed = false;
}

static gsize cursor_count(const Cursor *cursor)
{
    return (gsize)(cursor->last - cursor->first);
}

static void cursor_transform(BbBlocks *blocks, Cursor *cursor, gint64 base)
{
    if (cursor->transformed)
        return;
    double *signal = blocks->signal, squares = 0;
    memset(signal, 0, blocks->shape.size * sizeof *signal);
    for (const gint64 *quantum = cursor->first; quantum < cursor->last; quantum++) {
        double *number = &signal[*quantum - base];
        squares += 2 * *number + 1; // (x + 1)^2 - x^2
        *number += 1;
    }
    cursor->length = sqrt(squares);
    cursor->transformed = true;
    bb_transform_forward(blocks->transform, signal, cursor->spectrum);
    blocks->work.transforms++;
}

// sum += conj(in) * out, or sum = that. On the real and the imaginary parts themselves: C's complex
// product looks for infinities.
static void multiply(double complex *sum, const double complex *in, const double complex *out,
                     gsize count)
{
    double *restrict s = (double *)sum;
    const double *restrict x = (const double *)in, *restrict y = (const double *)out;
    for (gsize i = 0; i < 2 * count; i += 2) {
        s[i] += x[i] * y[i] + x[i + 1] * y[i + 1];
        s[i + 1] += x[i] * y[i + 1] - x[i + 1] * y[i];
    }
}

// By how much a count may be off, at most, after so many products. The errors of two transforms
// forward are at most |x| |y| each (2-norms; by Cauchy and Schwarz, and Parseval), that of the one
// back is of its result, whose norm is at most |x|_1 |y|; each product is rounded, and each sum.
static double error_of(const BbBlocks *blocks, guint64 summed, double magnitude)
{
    double transforms = 3 * bb_transform_error(blocks->shape.size);
    return magnitude * (transforms + (double)(summed + 4) * DBL_EPSILON);
}

// Adds the sum to the counts.
static void pair_flush(BbBlocks *blocks, Pair *pair)
{
    if (pair->summed == 0)
        return;
    bb_transform_backward(blocks->transform, pair->sum, blocks->signal);
    blocks->work.transforms++;
    const double scale = 1 / (double)blocks->shape.size;
    for (gsize i = 0; i < blocks->lags.n_lags; i++) {
        // At most the magnitude, which ERROR_MOST keeps far below 2^53.
        guint64 sum = pair->counts[i] + (guint64)(MAX(blocks->signal[i] * scale, 0) + 0.5);
        pair->counts[i] = (guint32)MIN(sum, G_MAXUINT32);
    }
    pair->summed = 0;
    pair->magnitude = 0;
}

// False where a transform would not be exact. base: where the block starts.
static bool pair_multiply(BbBlocks *blocks, Pair *pair, Cursor *in, Cursor *out, gint64 base)
{
    cursor_transform(blocks, in, base);
    cursor_transform(blocks, out, base + blocks->lags.first_lag);
    const double magnitude = (double)cursor_count(in) * out->length;
    if (error_of(blocks, 1, magnitude) > ERROR_MOST)
        return false;
    if (error_of(blocks, pair->summed + 1, pair->magnitude + magnitude) > ERROR_MOST)
        pair_flush(blocks, pair);
    const gsize numbers = bb_transform_spectrum_size(blocks->transform);
    if (pair->summed == 0)
        memset(pair->sum, 0, numbers * sizeof *pair->sum);
    multiply(pair->sum, in->spectrum, out->spectrum, numbers);
    pair->summed++;
    pair->magnitude += magnitude;
    blocks->work.multiplied++;
    return true;
}

// Few messages are counted faster than a block is multiplied.
static bool are_few(const BbBlocks *blocks, gsize in, gsize out)
{
    double share = (double)blocks->lags.n_lags / (double)blocks->window;
    double pairs = (double)in * (double)out * share;
    return bb_counting_ns(pairs, (double)(in + out)) < blocks->shape.block_ns;
}

static void pair_correlate(BbBlocks *blocks, Pair *pair, Cursor *in, Cursor *out, gint64 base)
{
    const BbTrain from = {in->first, cursor_count(in)}, to = {out->first, cursor_count(out)};
    if (!pair->counts || from.count == 0 || to.count == 0)
        return;
    if (!are_few(blocks, from.count, to.count) && pair_multiply(blocks, pair, in, out, base))
        return;
    bb_correlogram_count(&from, &to, &blocks->lags, pair->counts);
    blocks->work.counted++;
}

// Some trains in, some out, all of their pairs; in the order of from, to.
typedef struct {
    Cursor *in, *out;
    Pair *pairs;
    guint n_in, n_out;
} Tile;

// The next message in, with which a block starts; -1 after the last one.
static gint64 tile_next(const Tile *tile)
{
    gint64 next = -1;
    for (guint i = 0; i < tile->n_in; i++) {
        const Cursor *in = &tile->in[i];
        if (in->last < in->end && (next < 0 || *in->last < next))
            next = *in->last;
    }
    return next;
}

static void tile_correlate(BbBlocks *blocks, Tile *tile)
{
    for (gint64 base = tile_next(tile); base >= 0; base = tile_next(tile)) {
        for (guint k = 0; k < tile->n_out; k++)
            cursor_move(&tile->out[k], base + blocks->lags.first_lag, blocks->window);
        for (guint i = 0; i < tile->n_in; i++) {
            cursor_move(&tile->in[i], base, blocks->shape.step);
            for (guint k = 0; k < tile->n_out; k++)
                pair_correlate(blocks, &tile->pairs[i * tile->n_out + k], &tile->in[i],
                               &tile->out[k], base);
        }
    }
    for (guint i = 0; i < tile->n_in * tile->n_out; i++)
        pair_flush(blocks, &tile->pairs[i]);
}

static Cursor *cursors_new(const BbTrain *trains, guint count, gpointer *spectra)
{
    Cursor *cursors = g_new0(Cursor, count);
    for (guint i = 0; i < count; i++) {
        const gint64 *quanta = trains[i].quanta;
        cursors[i] = (Cursor){.first = quanta, .last = quanta, .spectrum = spectra[i]};
        cursors[i].end = trains[i].count ? quanta + trains[i].count : quanta;
    }
    return cursors;
}

// counts: of the first pair; the next train in has its own by `stride` later.
static void correlate_some(BbBlocks *blocks, const BbTrain *from, guint n_from, const BbTrain *to,
                           guint n_to, guint32 *const *counts, guint stride)
{
    gpointer *spectra = blocks->spectra->pdata;
    g_autofree Cursor *in = cursors_new(from, n_from, spectra);
    g_autofree Cursor *out = cursors_new(to, n_to, spectra + n_from);
    g_autofree Pair *pairs = g_new0(Pair, (gsize)n_from * n_to);
    for (guint i = 0; i < n_from * n_to; i++) {
        guint32 *first = counts[i / n_to * stride + i % n_to];
        pairs[i] = (Pair){.sum = spectra[n_from + n_to + i],
                          .counts = first ? first + blocks->skipped : NULL};
    }
    tile_correlate(blocks, &(Tile){in, out, pairs, n_from, n_to});
}

void bb_blocks_correlate(BbBlocks *blocks, const BbTrain *from, guint n_from, const BbTrain *to,
                         guint n_to, guint32 *const *counts)
{
    if (blocks->lags.n_lags == 0 || n_from == 0 || n_to == 0)
        return;
    // a + b + a * b spectra for a trains in and b out, or as many as there is memory for.
    gsize all = (gsize)n_from + n_to + (gsize)n_from * n_to;
    (void)spectra_reserve(blocks, MIN(all, blocks->spectra_most));
    const guint most = blocks->spectra->len;
    const guint in = MIN(n_from, (guint)sqrt(most + 1.0) - 1), out = (most - in) / (in + 1);
    for (guint i = 0; i < n_from; i += in)
        for (guint k = 0; k < n_to; k += out)
            correlate_some(blocks, from + i, MIN(in, n_from - i), to + k, MIN(out, n_to - k),
                           counts + (gsize)i * n_to + k, n_to);
}
