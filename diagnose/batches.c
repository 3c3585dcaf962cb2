// SPDX-License-Identifier: Apache-2.0
// In: figures of requests, one after the other. Out: means, and their standard errors.
#include "diagnose/batches.h"

#include <math.h>

typedef struct {
    double batch[BB_BATCHES];
} Figure;

struct BbBatches {
    guint64 requests;
    guint64 length; // of a batch, in requests
    guint64 last;   // requests in the last batch,
    guint n;        // before which there are so many full ones
    GArray *figures;
};

BbBatches *bb_batches_new(void)
{
    BbBatches *batches = g_new0(BbBatches, 1);
    batches->length = 1;
    batches->figures = g_array_new(FALSE, TRUE, sizeof(Figure));
    return batches;
}

void bb_batches_free(BbBatches *batches)
{
    if (!batches)
        return;
    g_array_unref(batches->figures);
    g_free(batches);
}

// Batches of twice the length, half as many.
static void join_pairs(BbBatches *batches)
{
    for (guint f = 0; f < batches->figures->len; f++) {
        double *batch = g_array_index(batches->figures, Figure, f).batch;
        for (guint i = 0; i < BB_BATCHES / 2; i++)
            batch[i] = batch[2 * i] + batch[2 * i + 1];
        for (guint i = BB_BATCHES / 2; i < BB_BATCHES; i++)
            batch[i] = 0;
    }
    batches->length *= 2;
    batches->n = BB_BATCHES / 2;
}

void bb_batches_begin(BbBatches *batches)
{
    if (batches->last == batches->length) {
        batches->last = 0;
        if (++batches->n == BB_BATCHES)
            join_pairs(batches);
    }
    batches->last++;
    batches->requests++;
}

void bb_batches_add(BbBatches *batches, guint figure, gint64 value)
{
    if (figure >= batches->figures->len)
        g_array_set_size(batches->figures, figure + 1);
    g_array_index(batches->figures, Figure, figure).batch[batches->n] += (double)value;
}

guint64 bb_batches_requests(const BbBatches *batches)
{
    return batches->requests;
}

static double in_batch(const BbBatches *batches, guint figure, guint batch)
{
    return figure < batches->figures->len
               ? g_array_index(batches->figures, Figure, figure).batch[batch]
               : 0;
}

double bb_batches_mean(const BbBatches *batches, guint figure)
{
    double sum = 0;
    for (guint i = 0; i < BB_BATCHES; i++)
        sum += in_batch(batches, figure, i);
    return batches->requests > 0 ? sum / (double)batches->requests : 0;
}

// Of full batches.
double bb_batches_error(const BbBatches *batches, const guint *figures, guint n)
{
    guint full = batches->n + (batches->last == batches->length);
    double means[BB_BATCHES] = {0}, mean = 0, squares = 0;
    if (full < 2)
        return INFINITY;
    for (guint i = 0; i < full; i++) {
        for (guint f = 0; f < n; f++)
            means[i] += in_batch(batches, figures[f], i) / (double)batches->length;
        mean += means[i] / full;
    }
    for (guint i = 0; i < full; i++)
        squares += (means[i] - mean) * (means[i] - mean);
    return sqrt(squares / full / (full - 1));
}
