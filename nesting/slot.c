// SPDX-License-Identifier: Apache-2.0
// In: samples of gaps, by what they may be measured from. Out: the reference that tells most, and
// its densities.
#include "nesting/slot.h"

#include <math.h>

#define SHARED 10 // samples of the pool that stand beside a poor slot's own in each density,
#define KNOWN 1   // and in the choice of what it counts from

static BbDensity *density_at(const BbSlot *slot, guint reference, guint event)
{
    return slot->density[reference] ? slot->density[reference][event] : NULL;
}

// Two imagined ones are as it was expected.
static void fit_waits(BbSlot *slot)
{
    double waits = (slot->waited + 2 * BB_SLOT_WAITS) / (slot->freed + 2);
    slot->stays = (float)log(1 - waits);
    slot->waits = (float)log(waits);
}

BbSlot *bb_slot_new(guint16 number, guint nc, bool is_join, bool is_end)
{
    BbSlot *slot = g_new0(BbSlot, 1);
    guint n = bb_slot_events(nc);
    slot->number = number;
    slot->nc = nc;
    slot->is_join = is_join;
    slot->is_end = is_end;
    slot->used = g_new0(const BbDensity *, n);
    slot->normal = g_new0(float *, n);
    slot->bias = g_new0(float, n);
    fit_waits(slot);
    return slot;
}

void bb_slot_free(BbSlot *slot)
{
    if (!slot)
        return;
    for (guint r = 0; r < BB_REFERENCES; r++) {
        for (guint w = 0; w < bb_slot_events(slot->nc); w++)
            g_free(density_at(slot, r, w));
        g_free(slot->density[r]);
    }
    for (guint w = 0; w < bb_slot_events(slot->nc); w++)
        g_free(slot->normal[w]);
    g_free(slot->normal);
    g_free(slot->used);
    g_free(slot->bias);
    g_free(slot);
}

void bb_slot_forget(BbSlot *slot)
{
    slot->n = 0;
    slot->stray = NULL;
    slot->late = slot->freed = slot->waited = 0;
    for (guint r = 0; r < BB_REFERENCES; r++)
        for (guint w = 0; w < bb_slot_events(slot->nc); w++)
            if (density_at(slot, r, w))
                bb_density_reset(density_at(slot, r, w));
}

void bb_slot_add(BbSlot *slot, guint reference, guint event, guint bin, double weight)
{
    if (!slot->density[reference])
        slot->density[reference] = g_new0(BbDensity *, bb_slot_events(slot->nc));
    BbDensity **density = &slot->density[reference][event];
    if (!*density)
        *density = bb_density_new();
    bb_density_add(*density, bin, weight);
}

// ---- fitting -----------------------------------------------------------------------------------

// Events that a slot could count from under a reference: what its probabilities are spread over.
static double events_of(const BbSlot *slot, guint reference)
{
    if (reference == BB_FROM_START)
        return slot->is_end ? 2 : 1;
    return (slot->is_join ? 2 : 1) + (reference == BB_FROM_EVENT ? 2 : 1) * slot->nc;
}

// How well a reference would have foretold the samples; fits its densities.
static double fit_reference(BbSlot *slot, guint reference, const BbGapScale *scale)
{
    double sum = 0, spread = slot->n + BB_SLOT_RARE * events_of(slot, reference);
    for (guint w = 0; w < bb_slot_events(slot->nc); w++) {
        BbDensity *density = density_at(slot, reference, w);
        if (!density || density->n <= 0)
            continue;
        bb_density_fit(density, scale);
        sum += density->loo + density->n * log((density->n + BB_SLOT_RARE) / spread);
    }
    return sum;
}

// Threads that each make a call at once make them now and then in another order: of that call, and
// of the one after it, what they count from was hardly ever seen. As rare is then only the order.
static void fit_stray(BbSlot *slot)
{
    const BbDensity *start = density_at(slot, BB_FROM_START, BB_SLOT_ARRIVAL);
    bool at_once = !slot->is_end && !slot->is_join && slot->reference == BB_FROM_EVENT;
    slot->stray = at_once && start && start->n >= BB_SLOT_FEW ? start : NULL;
    if (!slot->stray)
        return;
    slot->stray_most = start->log[0];
    for (guint bin = 1; bin < BB_GAP_BINS; bin++)
        slot->stray_most = MAX(slot->stray_most, start->log[bin]);
    slot->stray_most += (float)log(BB_SLOT_STRAY);
}

void bb_slot_fit(BbSlot *slot, const BbGapScale *scale)
{
    bool join = slot->is_join && !slot->is_end;
    guint first = join ? BB_FROM_EVENT : BB_FROM_START;
    guint last = join ? BB_FROM_CALL : slot->is_end ? BB_FROM_LATEST : BB_FROM_EVENT;
    double best = -G_MAXDOUBLE;
    slot->on_time = (float)log((slot->n - slot->late + 0.5) / (slot->n + 0.5));
    slot->overdue = (float)log((slot->late + 0.05) / (slot->n + 0.5));
    fit_waits(slot);
    for (guint r = first; r <= last; r++) {
        double sum = fit_reference(slot, r, scale);
        if (sum > best) {
            best = sum;
            slot->reference = r;
        }
    }
    slot->spread = slot->n + BB_SLOT_RARE * events_of(slot, slot->reference);
    slot->unseen = (float)log(BB_SLOT_RARE / slot->spread);
    for (guint w = 0; w < bb_slot_events(slot->nc); w++) {
        BbDensity *density = density_at(slot, slot->reference, w);
        slot->used[w] = density && density->n > 0 ? density : NULL;
        slot->bias[w] =
            slot->used[w] ? (float)log((density->n + BB_SLOT_RARE) / slot->spread) : slot->unseen;
    }
    fit_stray(slot);
}

double bb_slot_at_once(const BbSlot *slot)
{
    double n = 0;
    for (guint c = 0; c < slot->nc && slot->reference == BB_FROM_EVENT; c++) {
        const BbDensity *density = slot->used[bb_slot_call(slot->nc, c)];
        n += density ? density->n : 0;
    }
    return n;
}

double bb_slot_foretold(const BbSlot *slot)
{
    double sum = 0, spread = BB_SLOT_RARE * events_of(slot, slot->reference);
    for (guint w = 0; w < bb_slot_events(slot->nc); w++) {
        const BbDensity *density = density_at(slot, slot->reference, w);
        if (!density || density->n <= 0)
            continue;
        double alike = MAX(density->n - 1, 0) + BB_SLOT_RARE;
        sum += density->loo + density->n * log(alike / (MAX(slot->n - 1, 0) + spread));
    }
    return sum;
}

void bb_slot_make_normals(BbSlot *slot, const BbGapScale *scale)
{
    for (guint w = 0; w < bb_slot_events(slot->nc); w++) {
        if (!slot->used[w]) {
            g_clear_pointer(&slot->normal[w], g_free);
            continue;
        }
        if (!slot->normal[w])
            slot->normal[w] = g_new(float, BB_GAP_BINS);
        bb_density_normal(slot->used[w], scale, slot->normal[w]);
    }
}

// ---- sharing -----------------------------------------------------------------------------------

// An event's number in the pool.
static guint pooled(guint nc, guint event)
{
    if (event == 0 || event > 2 * nc)
        return event > 2 * nc ? event - 2 * nc + 2 : 0;
    return event <= nc ? 1 : 2;
}

// How many events of a slot are one in the pool. The end counts from the arrival as two: without
// children and with some, whatever these are.
static guint like_it(const BbSlot *slot, guint event)
{
    bool is_two = slot->is_end && slot->reference == BB_FROM_START;
    return is_two || event == 0 || event > 2 * slot->nc ? 1 : slot->nc;
}

void bb_slot_pour(BbSlot *pool, const BbSlot *slot)
{
    pool->n += slot->n;
    pool->late += slot->late;
    for (guint r = 0; r < BB_REFERENCES; r++) {
        for (guint w = 0; w < bb_slot_events(slot->nc); w++) {
            const BbDensity *density = density_at(slot, r, w);
            guint to = pool->nc == slot->nc ? w : pooled(slot->nc, w);
            if (!density || density->n <= 0)
                continue;
            for (guint bin = density->first; bin <= density->last; bin++)
                if (density->count[bin] > 0)
                    bb_slot_add(pool, r, to, bin, (double)density->count[bin]);
        }
    }
}

// The mean of two densities, the own one as often as it was sampled.
static void blend(BbDensity *own, const BbDensity *shared)
{
    for (guint bin = 0; bin < BB_GAP_BINS; bin++) {
        double both = own->n * exp((double)own->log[bin]) + SHARED * exp((double)shared->log[bin]);
        own->log[bin] = (float)log(both / (own->n + SHARED));
        own->below[bin] =
            (float)((own->n * (double)own->below[bin] + SHARED * (double)shared->below[bin]) /
                    (own->n + SHARED));
    }
}

void bb_slot_share(BbSlot *slot, const BbSlot *pool)
{
    slot->reference = pool->reference;
    slot->spread = slot->n + KNOWN + BB_SLOT_RARE * events_of(slot, slot->reference);
    slot->unseen = (float)log(BB_SLOT_RARE / slot->spread);
    if (slot->n <= 0) {
        slot->on_time = pool->on_time;
        slot->overdue = pool->overdue;
    }
    for (guint w = 0; w < bb_slot_events(slot->nc); w++) {
        const BbDensity *shared = pool->used[pooled(slot->nc, w)];
        BbDensity *own = density_at(slot, slot->reference, w);
        double n = own ? own->n : 0;
        double share = shared ? shared->n / pool->n / like_it(slot, w) : 0;
        slot->used[w] = n > 0 ? own : shared;
        slot->bias[w] = slot->used[w]
                            ? (float)log((n + BB_SLOT_RARE + KNOWN * share) / slot->spread)
                            : slot->unseen;
        if (n > 0 && shared)
            blend(own, shared);
    }
}
