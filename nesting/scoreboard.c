// SPDX-License-Identifier: Apache-2.0
// In: delays of candidates with their weight. Out: how usual a delay is for a triple of nodes.
#include "nesting/scoreboard.h"

#include <math.h>
#include <stdbool.h>

#include "data/tally.h"

#define GROWTH 1.05L
#define FLOOR_NS 1000000                   // of the paper,
#define LAST_BIN 339                       // and its last bin
#define ONE G_GUINT64_CONSTANT(5354228880) // least common multiple of 1 .. 24
#define RADIUS 3.5                         // of the Gaussian, in standard deviations
#define STEP_BITS 5                        // steps an octave has in the table that finds a bin

struct BbScoreboard {
    BbTally weights, smoothed; // (A, C, bin) -> weight
    gint64 *edge;              // least delay of a bin; edge[0] is G_MININT64
    guint32 n_bins;
    guint16 guess[64 << STEP_BITS]; // bin of the least delay of a step
    double *kernel;                 // kernel[d]: weight at a distance of d bins; NULL is none
    guint32 radius;
};

static void make_edges(BbScoreboard *board, gint64 floor_ns)
{
    // The margin keeps rounding from lifting an edge that is a whole number by 1 ns.
    const long double margin = 1 - 1e-15L;
    long double last = FLOOR_NS * powl(GROWTH, LAST_BIN - 1);
    g_autoptr(GArray) edges = g_array_new(FALSE, FALSE, sizeof(gint64));
    gint64 edge = G_MININT64;
    g_array_append_val(edges, edge);
    long double real = (long double)floor_ns;
    do {
        edge = real >= 0x1p62L ? G_MAXINT64 : (gint64)ceill(real * margin);
        g_array_append_val(edges, edge);
        real = (long double)floor_ns * powl(GROWTH, edges->len - 1);
    } while (real * margin <= last);
    board->n_bins = edges->len;
    board->edge = (gint64 *)g_array_free(g_steal_pointer(&edges), FALSE);
}

static guint32 step_of(guint64 delay)
{
    guint octave = (guint)(63 - __builtin_clzll(delay));
    guint64 mantissa =
        octave >= STEP_BITS ? delay >> (octave - STEP_BITS) : delay << (STEP_BITS - octave);
    return (octave << STEP_BITS) | (guint32)(mantissa & ((1u << STEP_BITS) - 1));
}

static guint32 climb(const BbScoreboard *board, guint32 bin, gint64 delay_ns)
{
    while (bin + 1 < board->n_bins && board->edge[bin + 1] <= delay_ns)
        bin++;
    return bin;
}

static void make_guesses(BbScoreboard *board)
{
    guint32 bin = 0;
    for (guint octave = 0; octave < 63; octave++) {
        for (guint64 m = 1u << STEP_BITS; m < 2u << STEP_BITS; m++) {
            guint64 least =
                octave >= STEP_BITS ? m << (octave - STEP_BITS) : m >> (STEP_BITS - octave);
            bin = climb(board, bin, (gint64)least);
            board->guess[step_of(least)] = (guint16)bin;
        }
    }
}

static void make_kernel(BbScoreboard *board, double deviation)
{
    if (!(deviation > 0))
        return;
    deviation = MIN(deviation, board->n_bins);
    board->radius = MIN((guint32)ceil(RADIUS * deviation), board->n_bins - 1);
    board->kernel = g_new(double, board->radius + 1);
    double sum = 0;
    for (guint32 d = 0; d <= board->radius; d++) {
        board->kernel[d] = exp(-0.5 * d * d / (deviation * deviation));
        sum += d == 0 ? board->kernel[d] : 2 * board->kernel[d];
    }
    for (guint32 d = 0; d <= board->radius; d++)
        board->kernel[d] /= sum;
}

BbScoreboard *bb_scoreboard_new(gint64 floor_ns, double smoothing)
{
    BbScoreboard *board = g_new0(BbScoreboard, 1);
    bb_tally_init(&board->weights);
    bb_tally_init(&board->smoothed);
    make_edges(board, MAX(floor_ns, 1));
    make_guesses(board);
    make_kernel(board, smoothing);
    return board;
}

void bb_scoreboard_free(BbScoreboard *board)
{
    if (!board)
        return;
    bb_tally_clear(&board->weights);
    bb_tally_clear(&board->smoothed);
    g_free(board->edge);
    g_free(board->kernel);
    g_free(board);
}

void bb_scoreboard_reset(BbScoreboard *board)
{
    bb_tally_reset(&board->weights);
}

static guint32 bin_of(const BbScoreboard *board, gint64 delay_ns)
{
    if (delay_ns < board->edge[1])
        return 0;
    return climb(board, board->guess[step_of((guint64)delay_ns)], delay_ns);
}

guint32 bb_scoreboard_bin(const BbScoreboard *board, gint64 delay_ns)
{
    return bin_of(board, delay_ns);
}

guint32 bb_scoreboard_bins(const BbScoreboard *board)
{
    return board->n_bins;
}

static BbTallyKey key_of(const BbScoreboard *board, const BbChild *child, const BbParent *parent)
{
    gint64 delay_ns = bb_time_between(parent->arrived_ns, child->call_ns);
    return (BbTallyKey){parent->caller, child->callee, bin_of(board, delay_ns)};
}

void bb_scoreboard_add(BbScoreboard *board, const BbChild *child, const BbParent *parents,
                       const guint32 *list, guint32 count)
{
    if (count == 0)
        return;
    guint64 share = (ONE + count / 2) / count;
    for (guint32 i = 0; i < count; i++)
        *bb_tally_at(&board->weights, key_of(board, child, &parents[list[i]])) += share;
}

static void spread(BbScoreboard *board, const BbTallyEntry *from)
{
    gint64 radius = board->radius, bins = board->n_bins, bin = from->key.c;
    for (gint64 d = -radius; d <= radius; d++) {
        gint64 to = bin + d < 0 ? -1 - (bin + d) : bin + d;
        if (to >= bins)
            continue;
        double weight = (double)from->count * board->kernel[ABS(d)];
        BbTallyKey key = {from->key.a, from->key.b, (guint32)to};
        *bb_tally_at(&board->smoothed, key) += (guint64)(weight + 0.5);
    }
}

void bb_scoreboard_smooth(BbScoreboard *board)
{
    if (!board->kernel)
        return;
    bb_tally_reset(&board->smoothed);
    gsize count;
    g_autofree BbTallyEntry *entries = bb_tally_entries(&board->weights, &count);
    for (gsize i = 0; i < count; i++)
        spread(board, &entries[i]);
    BbTally swap = board->weights;
    board->weights = board->smoothed;
    board->smoothed = swap;
}

void bb_scoreboard_values(const BbScoreboard *board, const BbChild *child, const BbParent *parents,
                          const guint32 *list, guint32 count, double *values)
{
    for (guint32 i = 0; i < count; i++)
        values[i] = (double)bb_tally_get(&board->weights, key_of(board, child, &parents[list[i]]));
}
