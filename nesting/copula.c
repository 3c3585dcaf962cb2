// SPDX-License-Identifier: Apache-2.0
// In: normal quantiles of what was seen of many parents. Out: correlations, and what they say of
// one.
#include "nesting/copula.h"

#include "nesting/signatures.h"

#include <math.h>
#include <string.h>

#define SETS_MOST 4096u
#define VARIABLES_MOST 256u
#define WORTH 0.002 // log likelihood: what tells less costs time and changes no choice

typedef struct {
    float n, x, y, xx, yy, xy;
} Pair;

// Variables that occur together: those of them that are correlated with others, and the Cholesky
// factor of their correlations.
typedef struct {
    guint64 key; // 0: free
    guint n;     // 0: independent
    guint8 which[BB_COPULA_MOST];
    float *l; // lower triangle, row by row; of the diagonal the reciprocals
    double log_det;
} Set;

struct BbCopula {
    guint n_variables;
    guint64 *mixed; // [variable]: its part of a set's key
    Pair *pairs;    // [i * n_variables + j], i < j
    float *r;       // [i * n_variables + j]
    Set *sets;      // open addressing
    guint n_sets;
};

#define SETS_ROOM (2 * SETS_MOST)

BbCopula *bb_copula_new(guint n_variables)
{
    BbCopula *copula = g_new0(BbCopula, 1);
    copula->n_variables = n_variables;
    copula->pairs = g_new0(Pair, (gsize)n_variables * n_variables);
    copula->r = g_new0(float, (gsize)n_variables *n_variables);
    copula->sets = g_new0(Set, SETS_ROOM);
    copula->mixed = g_new(guint64, n_variables);
    for (guint i = 0; i < n_variables; i++)
        copula->mixed[i] = bb_signature_mix(i + 1u);
    return copula;
}

static void forget_sets(BbCopula *copula)
{
    if (copula->n_sets == 0)
        return;
    for (guint i = 0; i < SETS_ROOM; i++)
        g_free(copula->sets[i].l);
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
    memset(copula->pairs, 0,
           (gsize)copula->n_variables * copula->n_variables * sizeof *copula->pairs);
    forget_sets(copula);
}

void bb_copula_count(BbCopula *copula, const guint16 *which, const float *z, guint n)
{
    for (guint i = 0; i < n; i++) {
        for (guint j = 0; j < n; j++) {
            if (which[i] >= which[j])
                continue;
            Pair *pair = &copula->pairs[which[i] * copula->n_variables + which[j]];
            pair->n++;
            pair->x += z[i];
            pair->y += z[j];
            pair->xx += z[i] * z[i];
            pair->yy += z[j] * z[j];
            pair->xy += z[i] * z[j];
        }
    }
}

// 0 of too few parents, or where one of the two never varies.
static double correlation(const Pair *pair)
{
    if ((double)pair->n < BB_COPULA_PARENTS)
        return 0;
    double n = (double)pair->n, x = (double)pair->x / n, y = (double)pair->y / n;
    double xx = (double)pair->xx / n - x * x, yy = (double)pair->yy / n - y * y;
    if (xx < 1e-6 || yy < 1e-6)
        return 0;
    return CLAMP(((double)pair->xy / n - x * y) / sqrt(xx * yy), -1, 1);
}

// The mean square of the true correlations: chance adds 1/n to that of those found. 0 where chance
// may be all of it.
static double find_usual(const BbCopula *copula)
{
    double found = 0, chance = 0, n = 0;
    for (guint i = 0; i < copula->n_variables * copula->n_variables; i++) {
        double r = (double)copula->r[i], of = (double)copula->pairs[i].n;
        if (r == 0)
            continue;
        found += of * r * r;
        chance++;
        n += of;
    }
    return found > chance + 2 * sqrt(2 * chance) ? (found - chance) / n : 0;
}

// Correlations of few parents are mostly chance: of one that is found as much is kept as is
// expected of it among such as all of them are (empirical Bayes). Where all may be chance, of each
// what is more than chance would make of it: an r^2 n that does not reach 4 counts as none.
static double shrunk(double r, double n, double usual)
{
    double k = r * r * n, alone = k > 4 ? (k - 4) / k : 0;
    return 0.97 * r * (usual > 0 ? usual / (usual + 1 / n) : alone);
}

static inline double correlation_of(const BbCopula *copula, guint x, guint y)
{
    return (double)copula->r[x * copula->n_variables + y];
}

// What the variable that depends on others most tells of them, and they of it: log likelihood.
static double tells_most(const BbCopula *copula)
{
    double most = 0;
    for (guint i = 0; i < copula->n_variables; i++) {
        double sum = 0;
        for (guint j = 0; j < copula->n_variables; j++)
            sum += correlation_of(copula, i, j) * correlation_of(copula, i, j);
        most = MAX(most, sum / 2);
    }
    return most;
}

bool bb_copula_fit(BbCopula *copula)
{
    guint n = copula->n_variables;
    memset(copula->r, 0, (gsize)n * n * sizeof *copula->r);
    for (guint i = 0; i < n; i++)
        for (guint j = i + 1; j < n; j++)
            copula->r[i * n + j] = (float)correlation(&copula->pairs[i * n + j]);
    double usual = find_usual(copula);
    for (guint i = 0; i < n; i++) {
        for (guint j = i + 1; j < n; j++) {
            double r = (double)copula->r[i * n + j], of = (double)copula->pairs[i * n + j].n;
            copula->r[i * n + j] = copula->r[j * n + i] = (float)shrunk(r, of, usual);
        }
    }
    return tells_most(copula) > WORTH;
}

// Cholesky factor of the correlations, shrunk until it is safely positive. False where there are
// none.
static bool factor(const BbCopula *copula, const Set *set, double shrink, double *l)
{
    guint n = set->n;
    for (guint i = 0; i < n; i++) {
        for (guint j = 0; j <= i; j++) {
            double sum = i == j ? 1 : shrink * correlation_of(copula, set->which[i], set->which[j]);
            for (guint k = 0; k < j; k++)
                sum -= l[i * n + k] * l[j * n + k];
            if (i == j && sum <= 0.02)
                return false;
            l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
        }
    }
    return true;
}

static void keep(Set *set, const double *l)
{
    guint n = set->n;
    float *to = set->l = g_new(float, (gsize)n *(n + 1) / 2);
    set->log_det = 0;
    for (guint i = 0; i < n; i++) {
        set->log_det += 2 * log(l[i * n + i]);
        for (guint j = 0; j < i; j++)
            *to++ = (float)l[i * n + j];
        *to++ = (float)(1 / l[i * n + i]);
    }
}

static bool is_correlated(const BbCopula *copula, guint x, const guint16 *which, guint n)
{
    for (guint i = 0; i < n; i++)
        if (which[i] != x && copula->r[x * copula->n_variables + which[i]] != 0)
            return true;
    return false;
}

// In order, so that a set is the same whoever asks for it first.
static void add_to(Set *set, guint8 variable)
{
    guint i = set->n++;
    for (; i > 0 && set->which[i - 1] > variable; i--)
        set->which[i] = set->which[i - 1];
    set->which[i] = variable;
}

static void make_set(BbCopula *copula, Set *set, const guint16 *which, guint n)
{
    for (guint i = 0; i < n; i++)
        if (is_correlated(copula, which[i], which, n))
            add_to(set, (guint8)which[i]);
    if (set->n == 0)
        return;
    double l[BB_COPULA_MOST * BB_COPULA_MOST], shrink = 1;
    while (!factor(copula, set, shrink, l))
        shrink *= 0.8;
    keep(set, l);
}

static Set *place_of(BbCopula *copula, guint64 key)
{
    gsize at = (key >> 32) % SETS_ROOM;
    while (copula->sets[at].key != 0 && copula->sets[at].key != key)
        at = (at + 1) % SETS_ROOM;
    return &copula->sets[at];
}

// When there is no room for another all are forgotten: made anew, each is what it was, so that no
// score depends on what was asked before.
static const Set *set_of(BbCopula *copula, const guint16 *which, guint n)
{
    guint64 key = 0;
    for (guint i = 0; i < n; i++)
        key += copula->mixed[which[i]];
    key |= 1;
    Set *set = place_of(copula, key);
    if (set->key == 0) {
        if (copula->n_sets == SETS_MOST) {
            forget_sets(copula);
            set = place_of(copula, key);
        }
        copula->n_sets++;
        set->key = key;
        make_set(copula, set, which, n);
    }
    return set->n > 0 ? set : NULL;
}

// With correlations L L' the variables x have the squared length |L^-1 x|^2, without them |x|^2.
double bb_copula_log(BbCopula *copula, const guint16 *which, const float *z, guint n)
{
    if (n < 2 || n > BB_COPULA_MOST)
        return 0;
    const Set *set = set_of(copula, which, n);
    if (!set)
        return 0;
    float by_variable[VARIABLES_MOST], y[BB_COPULA_MOST], sum = 0;
    for (guint i = 0; i < n; i++)
        by_variable[which[i]] = z[i];
    const float *l = set->l;
    for (guint i = 0; i < set->n; i++) {
        float x = by_variable[set->which[i]], rest = x;
        for (guint j = 0; j < i; j++)
            rest -= *l++ * y[j];
        y[i] = rest * *l++;
        sum += y[i] * y[i] - x * x;
    }
    return -0.5 * (set->log_det + (double)sum);
}
