// SPDX-License-Identifier: Apache-2.0
// In: the fitted slots of a node. Out: those of few samples, fitted by what all of them showed.
#include "nesting/poor.h"

#define ORDERS BB_SLOT_ORDERS
#define LEAST 0.1 // of the samples are in poor slots, for these to share

BbPoor *bb_poor_new(guint nc, bool is_join, const BbGapScale *scale)
{
    BbPoor *poor = g_new(BbPoor, 1);
    *poor = (BbPoor){.scale = scale, .nc = nc, .is_join = is_join};
    return poor;
}

void bb_poor_free(BbPoor *poor)
{
    if (!poor)
        return;
    for (guint i = 0; i < ORDERS; i++)
        bb_slot_free(poor->unseen[i]);
    for (guint i = 0; i <= ORDERS; i++)
        bb_slot_free(poor->pool[i]);
    g_free(poor);
}

// What the poor slots among every `step`-th of n share. Returns the pool; NULL: none is poor.
static const BbSlot *share(const BbPoor *poor, BbSlot **place, BbSlot **slots, guint n, guint step)
{
    if (!*place)
        *place = bb_slot_new(0, 1, poor->is_join, step == 1);
    BbSlot *pool = *place;
    bb_slot_forget(pool);
    for (guint i = 0; i < n; i += step)
        if (bb_slot_is_poor(slots[i]))
            bb_slot_pour(pool, slots[i]);
    if (pool->n <= 0)
        return NULL;
    bb_slot_fit(pool, poor->scale);
    for (guint i = 0; i < n; i += step)
        if (bb_slot_is_poor(slots[i]))
            bb_slot_share(slots[i], pool);
    return pool;
}

// Whether poor slots are more than what a few wrong guesses make.
static bool are_many(BbSlot **slots, guint n)
{
    double all = 0, poor = 0;
    for (guint i = 0; i < n; i++) {
        all += slots[i] ? slots[i]->n : 0;
        poor += bb_slot_is_poor(slots[i]) ? slots[i]->n : 0;
    }
    return poor >= LEAST * all;
}

void bb_poor_share(BbPoor *poor, BbSlot **slots, guint n, BbSlot **ends, guint n_ends)
{
    for (guint order = 0; order < ORDERS; order++)
        g_clear_pointer(&poor->unseen[order], bb_slot_free);
    if (!are_many(slots, n))
        return;
    share(poor, &poor->pool[ORDERS], ends, n_ends, 1);
    for (guint order = 0; order < ORDERS; order++) {
        const BbSlot *pool =
            share(poor, &poor->pool[order], slots + order, n - MIN(order, n), ORDERS);
        if (!pool)
            continue;
        poor->unseen[order] = bb_slot_new(0, poor->nc, poor->is_join, false);
        bb_slot_share(poor->unseen[order], pool);
    }
}
