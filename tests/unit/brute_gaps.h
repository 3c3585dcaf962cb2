// SPDX-License-Identifier: Apache-2.0
// The slow twin's gaps (brute_model.h): where they stand, and how likely they are.
#pragma once

#include "tests/unit/brute_slots.h"

typedef struct {
    guint slot;
    BruteEvent from, start; // what it counts from; and would, if that was the arrival
    gint64 at;
    bool waits;  // maybe
    bool sample; // what is known of it is learned
} BruteGap;

// The n + 1 gaps of a parent.
static inline void brute_gaps(const Brute *brute, guint32 p, const guint32 *kids, guint32 n,
                              BruteGap *gaps)
{
    const BbSite *site = brute->site;
    const BbSiteParent *parent = &site->parents[p];
    for (guint32 i = 0; i < n; i++) {
        guint slot = brute_slot_of(brute, kids, i);
        gint64 at = site->children[kids[i]].s;
        guint reference = brute->slots[parent->type][slot].reference;
        BruteEvent from = brute_reference(brute, reference, p, kids, i, at);
        BruteEvent latest = brute_reference(brute, 1, p, kids, i, at);
        gaps[i] = (BruteGap){slot,
                             from,
                             brute_reference(brute, 0, p, kids, i, at),
                             at,
                             brute_waits(brute, from, kids, i),
                             !brute_waits(brute, latest, kids, i)};
    }
    guint end = site->n_child_types * BRUTE_ORDERS;
    BruteEvent from = brute_begin(brute, p, n);
    if (brute->slots[parent->type][end].reference == 1)
        from = brute_reference(brute, 1, p, kids, n, parent->e);
    gaps[n] = (BruteGap){end, from, from, parent->e, false, true};
}

// The bins of those samples of a density that a child (x) or the end of a parent (x is
// BB_SITE_NONE) gave, one an assignment at most; *of_slot: how many it gave the slot. starts: as
// counted from the arrival.
static inline guint brute_own(const Brute *brute, guint type, const BruteGap *gap, guint32 p,
                              guint32 x, bool starts, guint16 *bins, guint *of_slot)
{
    const BbSite *site = brute->site;
    g_autofree guint32 *kids = g_new(guint32, site->n_children + 1);
    g_autofree BruteGap *gaps = g_new(BruteGap, site->n_children + 1);
    guint found = 0;
    *of_slot = 0;
    for (guint k = 0; k < brute->seen->len; k++) {
        const guint32 *parent = g_ptr_array_index(brute->seen, k);
        guint32 of = x == BB_SITE_NONE ? p : parent[x], i = 0;
        if (of == BB_SITE_NONE || site->parents[of].type != type)
            continue;
        guint32 n = brute_kids(site, parent, of, kids);
        brute_gaps(brute, of, kids, n, gaps);
        while (i < n && kids[i] != x)
            i++;
        if (gaps[i].slot != gap->slot || !gaps[i].sample)
            continue;
        ++*of_slot;
        BruteEvent event = starts ? gaps[i].start : gaps[i].from;
        if (event.what == (starts ? 0 : gap->from.what))
            bins[found++] = (guint16)bb_gap_bin(brute->scale, gaps[i].at - event.at);
    }
    return found;
}

// x: the child that the gap is of; BB_SITE_NONE: the end of parent p.
static inline double brute_known_log(const Brute *brute, const BruteGap *gap, guint32 p, guint32 x)
{
    guint type = brute->site->parents[p].type;
    const BruteSlot *slot = &brute->slots[type][gap->slot];
    guint bin = bb_gap_bin(brute->scale, gap->at - gap->from.at);
    guint nc = brute->site->n_child_types;
    bool is_end = gap->slot == nc * BRUTE_ORDERS;
    bool shares = brute->pools[brute_pool(brute, gap->slot)].n > 0;
    if (brute->shares && (brute_is_poor(slot) || (slot->n <= 0 && shares && !is_end))) {
        double chance, both = brute_both(brute, type, gap->slot, gap->from.what, bin, &chance);
        return both + log(chance);
    }
    double all = slot->n + BRUTE_RARE * brute_events(brute, nc, slot->reference, is_end);
    const BbDensity *density = slot->density[slot->reference][gap->from.what];
    guint16 bins[BB_OWN_SAMPLES];
    guint of_slot = 0, n = 0;
    if (brute->without_gaps && slot->n >= BRUTE_FEW && (!density || density->few[bin] > 0))
        n = brute_own(brute, type, gap, p, x, false, bins, &of_slot);
    if (!density)
        return (double)brute->scale->floor_log[bin] +
               log(BRUTE_RARE / (all - of_slot * brute->weight));
    if (of_slot == 0)
        return (double)density->log[bin] + log((density->n + BRUTE_RARE) / all);
    return log(bb_density_without(density, brute->scale, bin, bins, n, brute->weight)) +
           log((density->n - n * brute->weight + BRUTE_RARE) / (all - of_slot * brute->weight));
}

// The share of a gap's kind that is over by the time until x's pool had a connection: whole bins,
// and half of the last one. *p: log of how often a gap counts from that event.
static inline double brute_over(const Brute *brute, const BruteGap *gap, guint type, guint32 x,
                                double *p)
{
    const BruteSlot *slot = &brute->slots[type][gap->slot];
    guint last = bb_gap_bin(brute->scale, brute->site->freed[x].at - gap->from.at);
    bool shares =
        brute->shares &&
        (brute_is_poor(slot) || (slot->n <= 0 && brute->pools[brute_pool(brute, gap->slot)].n > 0));
    const BbDensity *density = slot->density[slot->reference][gap->from.what];
    double sum = 0, chance, all;
    all = slot->n +
          BRUTE_RARE * brute_events(brute, brute->site->n_child_types, slot->reference, false);
    *p = log(((density ? density->n : 0) + BRUTE_RARE) / all);
    for (guint b = 0; b <= last; b++) {
        double log = shares    ? brute_both(brute, type, gap->slot, gap->from.what, b, &chance)
                     : density ? (double)density->log[b]
                               : (double)brute->scale->floor_log[b];
        sum += exp(log) * (double)brute->scale->width[b] * (b < last ? 1 : 0.5);
    }
    if (shares)
        *p = log(chance);
    return sum;
}

// Of calls that go out at once (reference 2) now and then one counts from the arrival, where it has
// strayed in their order: what it would count from is as rare as that.
static inline double brute_stray_log(const Brute *brute, const BruteGap *gap, guint32 p, guint32 x,
                                     double log_gap)
{
    const BbSite *site = brute->site;
    const BbSiteParent *parent = &site->parents[p];
    const BruteSlot *slot = &brute->slots[parent->type][gap->slot];
    const BbDensity *start = slot->density[0][0];
    bool may = !site->is_join && !site->freed && !bb_site_is_crowded(site) &&
               brute->at_once[parent->type] && gap->at <= parent->e;
    if (!may || gap->start.what != 0 || slot->reference != 2 || !start || start->n < BRUTE_FEW)
        return log_gap;
    const BbDensity *density = slot->density[2][gap->from.what];
    double all = slot->n + BRUTE_RARE * brute_events(brute, site->n_child_types, 2, false);
    double most = -INFINITY;
    for (guint b = 0; b < BB_GAP_BINS; b++)
        most = MAX(most, (double)start->log[b]);
    if (((density ? density->n : 0) + BRUTE_RARE) / all >= 0.01 || log_gap >= most + log(0.01))
        return log_gap;
    guint16 bins[BB_OWN_SAMPLES];
    guint bin = bb_gap_bin(brute->scale, gap->at - gap->start.at), n = 0, of_slot;
    if (brute->without_gaps && start->few[bin] > 0)
        n = brute_own(brute, parent->type, gap, p, x, true, bins, &of_slot);
    double stray = n > 0 ? bb_density_without(start, brute->scale, bin, bins, n, brute->weight)
                         : exp((double)start->log[bin]);
    return log(exp(log_gap) + 0.01 * stray);
}

static inline double brute_gap_log(const Brute *brute, const BruteGap *gap, guint32 p, guint32 x)
{
    guint type = brute->site->parents[p].type;
    const BruteSlot *slot = &brute->slots[type][gap->slot];
    double log_gap = brute_known_log(brute, gap, p, x), event;
    if (x == BB_SITE_NONE)
        return log_gap;
    log_gap = brute_stray_log(brute, gap, p, x, log_gap);
    if (!brute_is_freed(brute, x))
        return log_gap;
    // What has no samples knows nothing of it, whatever waited there.
    double waited = slot->n > 0 ? slot->waited : 0, freed = slot->n > 0 ? slot->freed : 0;
    double waits = (waited + 2 * 0.2) / (freed + 2);
    if (!gap->waits)
        return log_gap + log(1 - waits);
    double over = brute_over(brute, gap, type, x, &event);
    return log((1 - waits) * exp(log_gap) +
               waits * over * exp(event + (double)brute->site->freed[x].log));
}

// Whether a child in a slot outlasts its parent, as often as others there did.
static inline double brute_late_log(const Brute *brute, guint32 p, guint slot_number, guint32 x)
{
    const BbSiteParent *parent = &brute->site->parents[p];
    const BruteSlot *slot = &brute->slots[parent->type][slot_number];
    if (slot->n <= 0 && brute->shares)
        slot = &brute->pools[brute_pool(brute, slot_number)];
    double n = slot->n + 0.5;
    return brute->site->children[x].e > parent->e ? log((slot->late + 0.05) / n)
                                                  : log((slot->n - slot->late + 0.5) / n);
}

static inline float brute_normal(const Brute *brute, guint type, const BruteGap *gap)
{
    if (gap->waits)
        return 0;
    const BruteSlot *slot = &brute->slots[type][gap->slot];
    bool shares = brute->shares && brute_is_poor(slot);
    if (slot->n <= 0 || (!shares && !slot->density[slot->reference][gap->from.what]))
        return 0;
    const BruteSlot *pool = &brute->pools[brute_pool(brute, gap->slot)];
    if (!slot->density[slot->reference][gap->from.what] &&
        !pool->density[pool->reference][brute_alike(brute, gap->from.what)])
        return 0;
    return slot->normal[gap->from.what][bb_gap_bin(brute->scale, gap->at - gap->from.at)];
}

// Gaps and durations of a parent with n children, as the copula takes them. Returns how many; 0: it
// does not look at these.
static inline guint brute_together(const Brute *brute, guint32 p, const BruteGap *gaps,
                                   const guint32 *kids, guint n, guint16 *which, float *z)
{
    const BbSite *site = brute->site;
    guint end = site->n_child_types * BRUTE_ORDERS, all = 2 * n + 1;
    if (all > BB_COPULA_MOST)
        return 0;
    for (guint i = 0; i < all; i++) {
        const BruteGap *gap = &gaps[i <= n ? i : i - n - 1];
        which[i] = (guint16)(i <= n ? gap->slot : end + 1 + gap->slot);
        z[i] = i <= n ? brute_normal(brute, site->parents[p].type, gap)
                      : (float)site->children[kids[i - n - 1]].lasts / BB_SITE_NORMAL;
        for (guint j = 0; j < i; j++)
            if (which[i] == which[j])
                return 0;
    }
    return all;
}
