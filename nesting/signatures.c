// SPDX-License-Identifier: Apache-2.0
// In: the children of each parent as numbers. Out: how likely such children are.
#include "nesting/signatures.h"

#include <math.h>
#include <string.h>

typedef struct {
    guint64 key; // 0: free
    double n;
    guint type;
    double log; // of its share, where so many were seen that single counts add nothing; else 0
} Seen;

struct BbSignatures {
    Seen *seen;
    gsize mask, used;
    double *n;     // [parent type]
    double *alpha; // [parent type]
    guint n_types;
};

#define FIRST_SIZE 64u
#define MANY 50.0
#define ONE (1 + 1e-9) // parent, of which several assignments were observed

BbSignatures *bb_signatures_new(void)
{
    BbSignatures *signatures = g_new0(BbSignatures, 1);
    signatures->seen = g_new0(Seen, FIRST_SIZE);
    signatures->mask = FIRST_SIZE - 1;
    return signatures;
}

void bb_signatures_free(BbSignatures *signatures)
{
    if (!signatures)
        return;
    g_free(signatures->seen);
    g_free(signatures->n);
    g_free(signatures->alpha);
    g_free(signatures);
}

void bb_signatures_reset(BbSignatures *signatures, guint n_parent_types)
{
    memset(signatures->seen, 0, (signatures->mask + 1) * sizeof *signatures->seen);
    signatures->used = 0;
    if (signatures->n_types < n_parent_types) {
        signatures->n = g_renew(double, signatures->n, n_parent_types);
        signatures->alpha = g_renew(double, signatures->alpha, n_parent_types);
        signatures->n_types = n_parent_types;
    }
    for (guint p = 0; p < signatures->n_types; p++)
        signatures->n[p] = signatures->alpha[p] = 0;
}

static Seen *find(const BbSignatures *signatures, guint64 key)
{
    gsize at = (key >> 32) & signatures->mask;
    while (signatures->seen[at].key != 0 && signatures->seen[at].key != key)
        at = (at + 1) & signatures->mask;
    return &signatures->seen[at];
}

static void grow(BbSignatures *signatures)
{
    g_autofree Seen *old = signatures->seen;
    gsize size = signatures->mask + 1;
    signatures->seen = g_new0(Seen, 2 * size);
    signatures->mask = 2 * size - 1;
    for (gsize i = 0; i < size; i++)
        if (old[i].key != 0)
            *find(signatures, old[i].key) = old[i];
}

void bb_signatures_count(BbSignatures *signatures, guint parent_type, guint64 signature,
                         double weight)
{
    Seen *seen = find(signatures, signature | 1);
    if (seen->key == 0) {
        seen->key = signature | 1;
        seen->type = parent_type;
        signatures->used++;
    }
    seen->n += weight;
    signatures->n[parent_type] += weight;
    if (signatures->used * 2 > signatures->mask)
        grow(signatures);
}

// [parent type]: how many parents have a signature that no other one has.
static double *count_single(const BbSignatures *signatures)
{
    double *single = g_new0(double, signatures->n_types);
    for (gsize i = 0; i <= signatures->mask; i++) {
        const Seen *seen = &signatures->seen[i];
        if (seen->key != 0 && seen->n <= ONE)
            single[seen->type] += seen->n;
    }
    return single;
}

static double imagined(double n, double single, double trust)
{
    if (trust <= 0)
        return trust < 0 ? 1 - trust * n : 0;
    // So that a share of single / n is expected to be new.
    return MAX(trust, single * n / (n - single + 1));
}

void bb_signatures_trust(BbSignatures *signatures, double trust)
{
    g_autofree double *single = trust > 0 ? count_single(signatures) : NULL;
    for (guint p = 0; p < signatures->n_types; p++)
        signatures->alpha[p] = imagined(signatures->n[p], single ? single[p] : 0, trust);
    for (gsize i = 0; i <= signatures->mask; i++) {
        Seen *seen = &signatures->seen[i];
        seen->log = 0;
        if (seen->key == 0 || trust < 0 || seen->n < MANY * (1 + signatures->alpha[seen->type]))
            continue;
        seen->log = log(seen->n / (signatures->n[seen->type] + signatures->alpha[seen->type]));
    }
}

double bb_signatures_log(const BbSignatures *signatures, guint parent_type, guint64 signature,
                         double apart, double left_out, double same)
{
    double alpha = signatures->alpha[parent_type];
    if (alpha <= 0)
        return apart;
    const Seen *seen = find(signatures, signature | 1);
    if (seen->log < 0)
        return seen->log;
    double all = MAX(signatures->n[parent_type] - left_out, 0) + alpha;
    if (seen->key == 0)
        return log(alpha / all) + apart;
    return log((MAX(seen->n - same, 0) + alpha * exp(apart)) / all);
}
