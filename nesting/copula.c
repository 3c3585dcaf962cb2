// SPDX-License-Identifier: Apache-2.0
// In: normal quantiles of the gaps of many parents. Out: correlations, and what they say of one.
#include "nesting/copula.h"

#include "nesting/signatures.h"

#include <math.h>
#include <string.h>

#define SETS_MOST 4096u
#define SLOTS_MOST 256u

typedef struct {
    float n, x, y, xx, yy, xy;
} Pair;

// Slots that occur together, with the inverse of their correlations less the unit matrix.
typedef struct {
    guint64 key; // 0: free
    guint n;     // 0: independent
    guint16 slots[BB_COPULA_MOST];
    float *inverse;
    double log_det;
} Set;

struct BbCopula {
    guint n_slots;
    guint64 *mixed; // [slot]: its part of a set's key
    Pair *pairs;    // [i * n_slots + j], i < j
    float *r;       // [i * n_slots + j]
    Set *sets;      // open addressing
    guint n_sets;
};

#define SETS_ROOM (2 * SETS_MOST)

BbCopula *bb_copula_new(guint n_slots)
{
    BbCopula *copula = g_new0(BbCopula, 1);
    copula->n_slots = n_slots;
    copula->pairs = g_new0(Pair, (gsize)n_slots * n_slots);
    copula->r = g_new0(float, (gsize)n_slots *n_slots);
    copula->sets = g_new0(Set, SETS_ROOM);
    copula->mixed = g_new(guint64, n_slots);
    for (guint i = 0; i < n_slots; i++)
        copula->mixed[i] = bb_signature_mix(i + 1u);
    return copula;
}

static void forget_sets(BbCopula *copula)
{
    if (copula->n_sets == 0)
        return;
    for (guint i = 0; i < SETS_ROOM; i++)
        g_free(copula->sets[i].inverse);
    memset(copula->sets, 0, SETS_ROOM * sizeof *copula->sets);
    copula->n_sets = 0;
}

void bb_copula_free(BbCopula *copula)
{
    if (!copula)
        return;
    forget_sets(copula);
    g_free(copula->sets);
    g_free(copula->mixed);
    g_free(copula->pairs);
    g_free(copula->r);
    g_free(copula);
}

void bb_copula_reset(BbCopula *copula)
{
    memset(copula->pairs, 0, (gsize)copula->n_slots * copula->n_slots * sizeof *copula->pairs);
    forget_sets(copula);
}

void bb_copula_count(BbCopula *copula, const guint16 *slots, const float *z, guint n)
{
    for (guint i = 0; i < n; i++) {
        for (guint j = 0; j < n; j++) {
            if (slots[i] >= slots[j])
                continue;
            Pair *pair = &copula->pairs[slots[i] * copula->n_slots + slots[j]];
            pair->n++;
            pair->x += z[i];
            pair->y += z[j];
            pair->xx += z[i] * z[i];
            pair->yy += z[j] * z[j];
            pair->xy += z[i] * z[j];
        }
    }
}

// Small correlations of few parents are noise: what r^2 n does not reach 4 counts as none.
static float correlation(const Pair *pair)
{
    if ((double)pair->n < BB_COPULA_PARENTS)
        return 0;
    double n = (double)pair->n, x = (double)pair->x / n, y = (double)pair->y / n;
    double xx = (double)pair->xx / n - x * x, yy = (double)pair->yy / n - y * y;
    if (xx < 1e-6 || yy < 1e-6)
        return 0;
    double r = ((double)pair->xy / n - x * y) / sqrt(xx * yy), k = r * r * n;
    return k <= 4 ? 0 : (float)(0.97 * CLAMP(r, -1, 1) * (k - 4) / k);
}

bool bb_copula_fit(BbCopula *copula)
{
    bool any = false;
    guint n = copula->n_slots;
    for (guint i = 0; i < n; i++) {
        for (guint j = i + 1; j < n; j++) {
            float r = correlation(&copula->pairs[i * n + j]);
            copula->r[i * n + j] = copula->r[j * n + i] = r;
            any |= r != 0;
        }
    }
    return any;
}

// Cholesky factor of the correlations, shrunk until it is safely positive. False where there are
// none.
static bool factor(const BbCopula *copula, const Set *set, double shrink, double *l)
{
    guint n = set->n;
    for (guint i = 0; i < n; i++) {
        for (guint j = 0; j <= i; j++) {
            double sum =
                i == j
                    ? 1
                    : shrink * (double)copula->r[set->slots[i] * copula->n_slots + set->slots[j]];
            for (guint k = 0; k < j; k++)
                sum -= l[i * n + k] * l[j * n + k];
            if (i == j && sum <= 0.02)
                return false;
            l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
        }
    }
    return true;
}

static void invert(Set *set, const double *l)
{
    guint n = set->n;
    set->inverse = g_new(float, (gsize)n *n);
    set->log_det = 0;
    for (guint i = 0; i < n; i++)
        set->log_det += 2 * log(l[i * n + i]);
    for (guint column = 0; column < n; column++) {
        double x[BB_COPULA_MOST];
        for (guint i = 0; i < n; i++) {
            x[i] = i == column;
            for (guint k = 0; k < i; k++)
                x[i] -= l[i * n + k] * x[k];
            x[i] /= l[i * n + i];
        }
        for (guint i = n; i-- > 0;) {
            for (guint k = i + 1; k < n; k++)
                x[i] -= l[k * n + i] * x[k];
            x[i] /= l[i * n + i];
            set->inverse[i * n + column] = (float)(x[i] - (i == column));
        }
    }
}

static void make_set(BbCopula *copula, Set *set, const guint16 *slots, guint n)
{
    bool any = false;
    for (guint i = 0; i < n; i++)
        for (guint j = 0; j < i; j++)
            any |= copula->r[slots[i] * copula->n_slots + slots[j]] != 0;
    if (!any)
        return;
    set->n = n;
    memcpy(set->slots, slots, n * sizeof *slots);
    double l[BB_COPULA_MOST * BB_COPULA_MOST], shrink = 1;
    while (!factor(copula, set, shrink, l))
        shrink *= 0.8;
    invert(set, l);
}

static const Set *set_of(BbCopula *copula, const guint16 *slots, guint n)
{
    guint64 key = 0;
    for (guint i = 0; i < n; i++)
        key += copula->mixed[slots[i]];
    key |= 1;
    gsize at = (key >> 32) % SETS_ROOM;
    while (copula->sets[at].key != 0 && copula->sets[at].key != key)
        at = (at + 1) % SETS_ROOM;
    Set *set = &copula->sets[at];
    if (set->key == 0) {
        if (copula->n_sets == SETS_MOST)
            return NULL;
        copula->n_sets++;
        set->key = key;
        make_set(copula, set, slots, n);
    }
    return set->n > 0 ? set : NULL;
}

double bb_copula_log(BbCopula *copula, const guint16 *slots, const float *z, guint n)
{
    if (n < 2 || n > BB_COPULA_MOST)
        return 0;
    const Set *set = set_of(copula, slots, n);
    if (!set)
        return 0;
    float by_slot[SLOTS_MOST], x[BB_COPULA_MOST];
    for (guint i = 0; i < n; i++)
        by_slot[slots[i]] = z[i];
    for (guint i = 0; i < n; i++)
        x[i] = by_slot[set->slots[i]];
    float sum = 0;
    for (guint i = 0; i < n; i++) {
        float row = 0;
        for (guint j = 0; j < n; j++)
            row += set->inverse[i * n + j] * x[j];
        sum += row * x[i];
    }
    return -0.5 * (set->log_det + (double)sum);
}
