// SPDX-License-Identifier: Apache-2.0
// In: what is known of each kind of parents. Out: which of them are one.
#include "nesting/kin.h"

#include "nesting/counts.h"

#include <math.h>
#include <string.h>

#define EVIDENCE 5.0   // log likelihood that is lost if kinds are one: less is what chance makes
#define NO_DOUBT 100.0 // what is hardly ever gained by the gaps not looked at yet

// Kinds that are one so far. Where only one of them has a slot it is lent.
typedef struct {
    BbKnownKind known;
    double *seen;  // known.seen
    BbSlot **made; // [n_slots]: of several; owned
} Group;

static Group group_new(const BbKin *kin)
{
    double *seen = g_new0(double, kin->n_counts);
    BbKnownKind known = {0, g_new0(BbSlot *, kin->n_slots), seen};
    return (Group){known, seen, g_new0(BbSlot *, kin->n_slots)};
}

static void group_clear(const BbKin *kin, Group *group)
{
    for (guint i = 0; i < kin->n_slots; i++)
        bb_slot_free(group->made[i]);
    g_free(group->made);
    g_free(group->known.slots);
    g_free(group->seen);
}

// log likelihood of each of n, k of which are alike, given the others, for those k.
static double foretold(double k, double n, double prior)
{
    return k > 0 ? k * log((MAX(k - 1, 0) + prior) / (MAX(n - 1, 0) + 1)) : 0;
}

static double counts_foretold(const BbKin *kin, const double *seen, double n)
{
    double sum = 0;
    for (guint i = 0; i < kin->n_counts; i++)
        sum += foretold(seen[i], n, 1.0 / BB_COUNTS_EACH);
    return sum;
}

// What is gained if the counts of two kinds are one.
static double gain_of_counts(const BbKin *kin, const BbKnownKind *a, const BbKnownKind *b)
{
    guint n = kin->n_counts;
    g_autofree double *both = g_new(double, n);
    for (guint i = 0; i < n; i++)
        both[i] = a->seen[i] + b->seen[i];
    return counts_foretold(kin, both, a->n + b->n) - counts_foretold(kin, a->seen, a->n) -
           counts_foretold(kin, b->seen, b->n);
}

static bool has_samples(const BbSlot *slot)
{
    return slot && slot->n > 0;
}

static BbSlot *both_of(const BbKin *kin, const BbSlot *a, const BbSlot *b)
{
    BbSlot *both = bb_slot_new(a->number, a->nc, a->is_join, a->is_end);
    bb_slot_pour(both, a);
    bb_slot_pour(both, b);
    bb_slot_fit(both, kin->scale);
    return both;
}

static double slot_foretold(const BbSlot *slot)
{
    return bb_slot_foretold(slot) + foretold(slot->late, slot->n, 0.05) +
           foretold(slot->n - slot->late, slot->n, 0.95);
}

static double gain_of(const BbKin *kin, const BbKnownKind *a, const BbKnownKind *b)
{
    double gain = gain_of_counts(kin, a, b);
    for (guint i = 0; i < kin->n_slots && gain > -NO_DOUBT; i++) {
        if (!has_samples(a->slots[i]) || !has_samples(b->slots[i]))
            continue; // what only one of them does is foretold as before
        g_autoptr(BbSlot) both = both_of(kin, a->slots[i], b->slots[i]);
        gain += slot_foretold(both) - slot_foretold(a->slots[i]) - slot_foretold(b->slots[i]);
    }
    return gain;
}

static void take_in(const BbKin *kin, Group *group, const BbKnownKind *kind)
{
    BbKnownKind *known = &group->known;
    known->n += kind->n;
    for (guint i = 0; i < kin->n_counts; i++)
        group->seen[i] += kind->seen[i];
    for (guint i = 0; i < kin->n_slots; i++) {
        if (!has_samples(kind->slots[i]))
            continue;
        if (!known->slots[i]) {
            known->slots[i] = kind->slots[i];
            continue;
        }
        BbSlot *both = both_of(kin, known->slots[i], kind->slots[i]);
        bb_slot_free(group->made[i]);
        group->made[i] = known->slots[i] = both;
    }
}

// The most frequent first; ties by number.
static void order_by_size(const BbKnownKind *kinds, guint n, guint16 *order)
{
    for (guint i = 0; i < n; i++) {
        guint k = i;
        for (; k > 0 && kinds[order[k - 1]].n < kinds[i].n; k--)
            order[k] = order[k - 1];
        order[k] = (guint16)i;
    }
}

void bb_kin_find(const BbKin *kin, const BbKnownKind *kinds, guint n, guint16 *group)
{
    g_autofree guint16 *order = g_new(guint16, n);
    g_autofree Group *groups = g_new(Group, n);
    g_autofree guint16 *first = g_new(guint16, n); // kind of each group
    guint n_groups = 0;
    order_by_size(kinds, n, order);
    for (guint i = 0; i < n; i++) {
        const BbKnownKind *kind = &kinds[order[i]];
        guint best = n_groups;
        double most = -EVIDENCE;
        for (guint g = 0; g < n_groups && kind->n > 0; g++) {
            double gain = gain_of(kin, &groups[g].known, kind);
            best = gain > most ? g : best;
            most = MAX(gain, most);
        }
        if (kind->n <= 0 && n_groups > 0)
            best = 0;
        if (best == n_groups) {
            first[n_groups] = order[i];
            groups[n_groups++] = group_new(kin);
        }
        take_in(kin, &groups[best], kind);
        group[order[i]] = first[best];
    }
    for (guint g = 0; g < n_groups; g++)
        group_clear(kin, &groups[g]);
}
