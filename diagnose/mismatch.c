// SPDX-License-Identifier: Apache-2.0
// In: patterns, found and true. Out: errors by pattern, instance and call, and omissions by N.
#include "diagnose/mismatch.h"

#include <stdlib.h>

const double bb_tolerances[BB_TOLERANCES] = {0, 0.02, 0.06};

static void count(BbErrors *errors, guint64 found, guint64 real, guint64 unit)
{
    errors->found += found * unit;
    errors->real += real * unit;
    errors->false_positives += found > real ? (found - real) * unit : 0;
    errors->false_negatives += real > found ? (real - found) * unit : 0;
}

BbMismatch bb_mismatch_of(const BbPatternPair *pairs, guint32 n_pairs)
{
    BbMismatch mismatch = {{0}, {0}, {0}};
    for (guint32 i = 0; i < n_pairs; i++) {
        const BbPatternPair *pair = &pairs[i];
        count(&mismatch.patterns, pair->found > 0, pair->real > 0, 1);
        count(&mismatch.instances, pair->found, pair->real, 1);
        count(&mismatch.calls, pair->found, pair->real, pair->size);
    }
    return mismatch;
}

// ---- omitted(N) ---------------------------------------------------------------------------------

typedef struct {
    double figure;
    guint32 index;
} Place;

static int by_figure(const void *a, const void *b)
{
    const Place *x = a, *y = b;
    if (x->figure != y->figure)
        return x->figure > y->figure ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static double figure_of(const BbPatternPair *pair, bool real, BbOmittedKey key)
{
    if (key == BB_OMITTED_BY_COUNT)
        return (double)(real ? pair->real : pair->found);
    return (double)(real ? pair->real_ns : pair->found_ns);
}

// The patterns that there are on a side, the greatest first. The caller frees.
static Place *rank(const BbPatternPair *pairs, guint32 n_pairs, bool real, BbOmittedKey key,
                   guint32 *n_places)
{
    Place *places = g_new(Place, n_pairs);
    *n_places = 0;
    for (guint32 i = 0; i < n_pairs; i++)
        if (real ? pairs[i].real : pairs[i].found)
            places[(*n_places)++] = (Place){figure_of(&pairs[i], real, key), i};
    if (*n_places > 1)
        qsort(places, *n_places, sizeof *places, by_figure);
    return places;
}

// Whether a pattern makes the found top N, whose last has the least figure.
static bool makes_it(const BbPatternPair *pair, BbOmittedKey key, double least, double tolerance)
{
    return pair->found > 0 && figure_of(pair, false, key) >= (1 - tolerance) * least;
}

BbOmitted bb_omitted_of(const BbPatternPair *pairs, guint32 n_pairs, BbOmittedKey key)
{
    guint32 n_real, n_found;
    g_autofree Place *real = rank(pairs, n_pairs, true, key, &n_real);
    g_autofree Place *found = rank(pairs, n_pairs, false, key, &n_found);
    BbOmitted omitted = {.n = MIN(n_real, BB_OMITTED_MAX)};
    for (guint32 n = 1; n <= omitted.n; n++) {
        double least = n <= n_found ? found[n - 1].figure : 0;
        for (guint32 t = 0; t < BB_TOLERANCES; t++)
            for (guint32 k = 0; k < n; k++)
                omitted.missing[n - 1][t] +=
                    !makes_it(&pairs[real[k].index], key, least, bb_tolerances[t]);
    }
    return omitted;
}
