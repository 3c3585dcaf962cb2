// SPDX-License-Identifier: Apache-2.0
// The slow twin of the model of a node (nesting/model.h): every score is worked out from the
// assignments themselves, rule by rule. It shares with the model only what has tests of its own:
// bins, densities of samples, the copula.
#pragma once

#include "nesting/copula.h"
#include "nesting/model.h"
#include "nesting/onset.h"
#include "nesting/own.h"

#include <math.h>

#define BRUTE_ORDERS 3u
#define BRUTE_COUNTS 65u // 0 .. 64 or more children of a type
#define BRUTE_RARE 0.1   // imagined samples of each event of a slot
#define BRUTE_WHAT 16u   // kinds of events
#define BRUTE_TYPES 5u   // kinds of parents or children

typedef struct {
    gint64 at;
    guint what;
} BruteEvent;

typedef struct {
    BbDensity *density[4][BRUTE_WHAT];
    float normal[BRUTE_WHAT][BB_GAP_BINS];
    double n, late;       // samples, and those that outlast their parent
    double freed, waited; // children that a pool let begin, and that waited for it
    guint reference;
} BruteSlot;

#define BRUTE_FEW 20.0  // samples: slots of fewer share what they know, and keep their own
#define BRUTE_POOLED 10 // samples of what is shared beside their own

typedef struct {
    const BbSite *site;
    const BbGapScale *scale;
    BruteSlot slots[BRUTE_TYPES][BRUTE_TYPES * BRUTE_ORDERS + 1]; // the last one used: the end
    bool shares;                                                  // slots with few samples do
    BruteSlot pools[BRUTE_ORDERS + 1]; // of slots with few samples, by order; last those of ends
    bool at_once[BRUTE_TYPES];         // parents of the type make most of their calls so
    BbCopula *copula[BRUTE_TYPES];
    GPtrArray *seen;            // assignments (guint32[n_children]) that the model was learned from
    double trust, weight;       // of each assignment
    double single[BRUTE_TYPES]; // of types of parents: those that had what no other one had
    bool without_gaps, without_kinds; // scores leave out what the scored gave: their gaps, and
                                      // their kinds of children
} Brute;

// The children of a parent under an assignment.
static inline guint32 brute_kids(const BbSite *site, const guint32 *parent, guint32 p,
                                 guint32 *kids)
{
    guint32 n = 0;
    for (guint32 x = 0; x < site->n_children; x++)
        if (parent[x] == p)
            kids[n++] = x;
    return n;
}

static inline void brute_later(BruteEvent *latest, gint64 at, guint what)
{
    if (at >= latest->at)
        *latest = (BruteEvent){at, what};
}

// What something at time `at` that comes after the kids counts from.
static inline BruteEvent brute_reference(const Brute *brute, guint reference, guint32 p,
                                         const guint32 *kids, guint32 n, gint64 at)
{
    const BbSite *site = brute->site;
    const BbSiteParent *parent = &site->parents[p];
    guint nc = site->n_child_types;
    BruteEvent latest = {parent->s, 0};
    bool late = at > parent->e, waits = parent->ready > parent->s, over = parent->ready <= at;
    if (waits && !site->is_join) // for its turn
        latest = over ? (BruteEvent){parent->ready, 0} : (BruteEvent){parent->s, 2 * nc + 1};
    if (reference == 0 && !late)
        return latest;
    if (waits && over && site->is_join)
        latest = (BruteEvent){parent->ready, 2 * nc + 1};
    for (guint32 i = 0; i < n; i++) {
        const BbSiteChild *y = &site->children[kids[i]];
        if (y->e <= at && reference != 3)
            brute_later(&latest, y->e, 1 + y->type);
    }
    if (late)
        brute_later(&latest, parent->e, 2 * nc + 2);
    for (guint32 i = 0; i < n && reference >= 2; i++) {
        const BbSiteChild *y = &site->children[kids[i]];
        brute_later(&latest, y->s, 1 + nc + y->type);
    }
    return latest;
}

// From when on the end counts, if it does not count from children.
static inline BruteEvent brute_begin(const Brute *brute, guint32 p, guint32 n)
{
    const BbSiteParent *parent = &brute->site->parents[p];
    bool waits = !brute->site->is_join && parent->ready > parent->s;
    return (BruteEvent){waits ? parent->ready : parent->s, n > 0};
}

static inline bool brute_is_freed(const Brute *brute, guint32 x)
{
    return brute->site->freed && brute->site->freed[x].at > G_MININT64;
}

// Whether the parent of kids[i] may have waited for a pool: it was there before this one had a
// connection, and no sibling was under way since.
static inline bool brute_waits(const Brute *brute, BruteEvent from, const guint32 *kids, guint32 i)
{
    const BbSite *site = brute->site;
    bool waits = site->freed && from.at < site->freed[kids[i]].at;
    for (guint32 k = 0; k < i && waits; k++)
        waits = site->children[kids[k]].e < site->freed[kids[i]].at;
    return waits;
}

static inline guint brute_slot_of(const Brute *brute, const guint32 *kids, guint32 i)
{
    guint c = brute->site->children[kids[i]].type, order = 0;
    for (guint32 k = 0; k < i; k++)
        order += brute->site->children[kids[k]].type == c;
    return c * BRUTE_ORDERS + MIN(order, BRUTE_ORDERS - 1);
}

static inline void brute_sample(Brute *brute, BruteSlot *slot, guint reference, BruteEvent from,
                                gint64 at)
{
    BbDensity **density = &slot->density[reference][from.what];
    if (!*density)
        *density = bb_density_new();
    bb_density_add(*density, bb_gap_bin(brute->scale, at - from.at), brute->weight);
}

static inline void brute_gather(Brute *brute, guint32 p, const guint32 *kids, guint32 n)
{
    const BbSite *site = brute->site;
    const BbSiteParent *parent = &site->parents[p];
    for (guint32 i = 0; i < n; i++) {
        gint64 at = site->children[kids[i]].s;
        BruteSlot *slot = &brute->slots[parent->type][brute_slot_of(brute, kids, i)];
        slot->freed += brute_is_freed(brute, kids[i]) ? brute->weight : 0;
        if (brute_waits(brute, brute_reference(brute, 1, p, kids, i, at), kids, i)) {
            slot->waited += brute->weight;
            continue;
        }
        slot->n += brute->weight;
        slot->late += site->children[kids[i]].e > parent->e ? brute->weight : 0;
        for (guint r = 0; r < 4; r++)
            brute_sample(brute, slot, r, brute_reference(brute, r, p, kids, i, at), at);
    }
    BruteSlot *end = &brute->slots[parent->type][site->n_child_types * BRUTE_ORDERS];
    end->n += brute->weight;
    brute_sample(brute, end, 0, brute_begin(brute, p, n), parent->e);
    brute_sample(brute, end, 1, brute_reference(brute, 1, p, kids, n, parent->e), parent->e);
}

// Events that a slot may count from by a reference model.
static inline double brute_events(const Brute *brute, guint nc, guint reference, bool is_end)
{
    guint arrivals = brute->site->is_join ? 2 : 1;
    if (reference == 0)
        return is_end ? 2 : 1;
    return reference == 2 ? arrivals + 2 * nc : arrivals + nc;
}

static inline void brute_choose(Brute *brute, BruteSlot *slot, guint nc, bool is_end)
{
    double best = -G_MAXDOUBLE;
    bool bursts = brute->site->is_join && !is_end; // of a join: only those models
    guint end = is_end ? 2 : bursts ? 4 : 3;
    for (guint r = bursts ? 2 : 0; r < end; r++) {
        double sum = 0;
        for (guint w = 0; w < BRUTE_WHAT; w++) {
            BbDensity *density = slot->density[r][w];
            if (!density)
                continue;
            bb_density_fit(density, brute->scale);
            double all = slot->n + BRUTE_RARE * brute_events(brute, nc, r, is_end);
            double p = (density->n + BRUTE_RARE) / all;
            sum += density->loo + density->n * log(p);
        }
        if (sum > best) {
            best = sum;
            slot->reference = r;
        }
    }
    for (guint w = 0; w < BRUTE_WHAT; w++)
        if (slot->density[slot->reference][w])
            bb_density_normal(slot->density[slot->reference][w], brute->scale, slot->normal[w]);
}

// Whether half of the children of parents of a type, or more, count from calls of others.
static inline bool brute_is_at_once(const Brute *brute, guint type)
{
    guint nc = brute->site->n_child_types;
    double all = 0, from_calls = 0;
    for (guint s = 0; s < nc * BRUTE_ORDERS; s++) {
        const BruteSlot *slot = &brute->slots[type][s];
        all += slot->n;
        for (guint c = 0; c < nc && slot->reference == 2; c++)
            from_calls += slot->density[2][1 + nc + c] ? slot->density[2][1 + nc + c]->n : 0;
    }
    return from_calls >= all / 2;
}

// ---- slots of few samples ----------------------------------------------------------------------

static inline bool brute_is_poor(const BruteSlot *slot)
{
    return slot->n > 0 && slot->n < BRUTE_FEW;
}

static inline guint brute_pool(const Brute *brute, guint slot)
{
    bool is_end = slot == brute->site->n_child_types * BRUTE_ORDERS;
    return is_end ? BRUTE_ORDERS : slot % BRUTE_ORDERS;
}

// Arrival, return, call, all there, the parent's return: whosever they are.
static inline guint brute_alike(const Brute *brute, guint what)
{
    guint nc = brute->site->n_child_types;
    return what == 0 ? 0 : what <= nc ? 1 : what <= 2 * nc ? 2 : what == 2 * nc + 1 ? 3 : 4;
}

// log of what is shared and own in a bin; *p: the event's share.
static inline double brute_both(const Brute *brute, guint type, guint number, guint what, guint bin,
                                double *p)
{
    guint nc = brute->site->n_child_types, alike = brute_alike(brute, what);
    const BruteSlot *slot = &brute->slots[type][number];
    const BruteSlot *pool = &brute->pools[brute_pool(brute, number)];
    const BbDensity *own = slot->n > 0 ? slot->density[pool->reference][what] : NULL;
    const BbDensity *shared = pool->density[pool->reference][alike];
    double n = own ? own->n : 0, m = shared ? shared->n : 0;
    double all = slot->n + 1 +
                 BRUTE_RARE * brute_events(brute, nc, pool->reference, number == nc * BRUTE_ORDERS);
    bool is_two = number == nc * BRUTE_ORDERS && pool->reference == 0; // with children, and without
    *p = (n + BRUTE_RARE + m / pool->n / ((alike == 1 || alike == 2) && !is_two ? nc : 1)) / all;
    if (n > 0 && m > 0)
        return log((n * exp((double)own->log[bin]) + BRUTE_POOLED * exp((double)shared->log[bin])) /
                   (n + BRUTE_POOLED));
    if (n > 0 || m > 0)
        return (double)(n > 0 ? own : shared)->log[bin];
    *p = BRUTE_RARE / all;
    return (double)brute->scale->floor_log[bin];
}

static inline void brute_pour(Brute *brute, BruteSlot *pool, const BruteSlot *slot)
{
    pool->n += slot->n;
    pool->late += slot->late;
    for (guint r = 0; r < 4; r++) {
        for (guint w = 0; w < BRUTE_WHAT; w++) {
            for (guint b = 0; slot->density[r][w] && b < BB_GAP_BINS; b++) {
                BbDensity **to = &pool->density[r][brute_alike(brute, w)];
                float count = slot->density[r][w]->count[b];
                if (count <= 0)
                    continue;
                if (!*to)
                    *to = bb_density_new();
                bb_density_add(*to, b, (double)count);
            }
        }
    }
}

static inline void brute_share_normals(Brute *brute, guint type, guint number)
{
    BruteSlot *slot = &brute->slots[type][number];
    for (guint w = 0; w <= 2 * brute->site->n_child_types + 2; w++) {
        g_autofree BbDensity *both = bb_density_new();
        double p;
        for (guint b = 0; b < BB_GAP_BINS; b++)
            both->log[b] = (float)brute_both(brute, type, number, w, b, &p);
        bb_density_normal(both, brute->scale, slot->normal[w]);
    }
}

static inline void brute_share(Brute *brute)
{
    guint end = brute->site->n_child_types * BRUTE_ORDERS, np = brute->site->n_parent_types;
    double all = 0, poor = 0;
    for (guint p = 0; p < np; p++) {
        for (guint s = 0; s < end; s++) {
            all += brute->slots[p][s].n;
            poor += brute_is_poor(&brute->slots[p][s]) ? brute->slots[p][s].n : 0;
        }
    }
    brute->shares = poor >= 0.1 * all;
    if (!brute->shares)
        return;
    for (guint p = 0; p < np; p++)
        for (guint s = 0; s <= end; s++)
            if (brute_is_poor(&brute->slots[p][s]))
                brute_pour(brute, &brute->pools[brute_pool(brute, s)], &brute->slots[p][s]);
    for (guint o = 0; o <= BRUTE_ORDERS; o++)
        if (brute->pools[o].n > 0)
            brute_choose(brute, &brute->pools[o], 1, o == BRUTE_ORDERS);
    for (guint p = 0; p < np; p++) {
        for (guint s = 0; s <= end; s++) {
            BruteSlot *slot = &brute->slots[p][s];
            if (slot->n >= BRUTE_FEW || brute->pools[brute_pool(brute, s)].n <= 0)
                continue;
            slot->reference = brute->pools[brute_pool(brute, s)].reference;
            if (slot->n > 0)
                brute_share_normals(brute, p, s);
        }
    }
}

typedef struct {
    guint slot;
    BruteEvent from;
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
        gaps[i] = (BruteGap){slot, from, at, brute_waits(brute, from, kids, i),
                             !brute_waits(brute, latest, kids, i)};
    }
    guint end = site->n_child_types * BRUTE_ORDERS;
    BruteEvent from = brute_begin(brute, p, n);
    if (brute->slots[parent->type][end].reference == 1)
        from = brute_reference(brute, 1, p, kids, n, parent->e);
    gaps[n] = (BruteGap){end, from, parent->e, false, true};
}

// The bins of those samples of a density that a child (x) or the end of a parent (x is
// BB_SITE_NONE) gave, one an assignment at most; *of_slot: how many it gave the slot.
static inline guint brute_own(const Brute *brute, guint type, const BruteGap *gap, guint32 p,
                              guint32 x, guint16 *bins, guint *of_slot)
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
        if (gaps[i].from.what == gap->from.what)
            bins[found++] = (guint16)bb_gap_bin(brute->scale, gaps[i].at - gaps[i].from.at);
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
        n = brute_own(brute, type, gap, p, x, bins, &of_slot);
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

// Of the samples of a slot, those that a child gave that counts from the arrival of its parent.
static inline guint brute_own_starts(const Brute *brute, guint type, guint slot, guint32 x,
                                     guint16 *bins)
{
    const BbSite *site = brute->site;
    g_autofree guint32 *kids = g_new(guint32, site->n_children + 1);
    g_autofree BruteGap *gaps = g_new(BruteGap, site->n_children + 1);
    guint found = 0;
    for (guint k = 0; k < brute->seen->len; k++) {
        const guint32 *parent = g_ptr_array_index(brute->seen, k);
        guint32 of = parent[x], i = 0;
        if (of == BB_SITE_NONE || site->parents[of].type != type)
            continue;
        guint32 n = brute_kids(site, parent, of, kids);
        brute_gaps(brute, of, kids, n, gaps);
        while (kids[i] != x)
            i++;
        BruteEvent start = brute_reference(brute, 0, of, kids, i, gaps[i].at);
        if (gaps[i].slot == slot && gaps[i].sample && start.what == 0)
            bins[found++] = (guint16)bb_gap_bin(brute->scale, gaps[i].at - start.at);
    }
    return found;
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
    BruteEvent begin = brute_reference(brute, 0, p, NULL, 0, gap->at);
    if (!may || begin.what != 0 || slot->reference != 2 || !start || start->n < BRUTE_FEW)
        return log_gap;
    const BbDensity *density = slot->density[2][gap->from.what];
    double all = slot->n + BRUTE_RARE * brute_events(brute, site->n_child_types, 2, false);
    double most = -INFINITY;
    for (guint b = 0; b < BB_GAP_BINS; b++)
        most = MAX(most, (double)start->log[b]);
    if (((density ? density->n : 0) + BRUTE_RARE) / all >= 0.01 || log_gap >= most + log(0.01))
        return log_gap;
    guint16 bins[BB_OWN_SAMPLES];
    guint bin = bb_gap_bin(brute->scale, gap->at - begin.at), n = 0;
    if (brute->without_gaps && start->few[bin] > 0)
        n = brute_own_starts(brute, parent->type, gap->slot, x, bins);
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

// The gaps' slots and quantiles; false where a slot is there twice.
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

static inline void brute_free(Brute *brute)
{
    for (guint p = 0; p < BRUTE_TYPES; p++) {
        for (guint s = 0; s < G_N_ELEMENTS(brute->slots[p]); s++)
            for (guint r = 0; r < 4; r++)
                for (guint w = 0; w < BRUTE_WHAT; w++)
                    g_free(brute->slots[p][s].density[r][w]);
        bb_copula_free(brute->copula[p]);
    }
    for (guint o = 0; o <= BRUTE_ORDERS; o++)
        for (guint r = 0; r < 4; r++)
            for (guint w = 0; w < BRUTE_WHAT; w++)
                g_free(brute->pools[o].density[r][w]);
    g_free(brute);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Brute, brute_free)

static inline double brute_single(const Brute *brute, guint type);

// Learns from assignments, the last of which also shows what goes together. seen is lent.
static inline Brute *brute_new(const BbSite *site, const BbGapScale *scale, GPtrArray *seen,
                               double trust)
{
    Brute *brute = g_new0(Brute, 1);
    brute->site = site;
    brute->scale = scale;
    brute->seen = seen;
    brute->trust = trust;
    brute->weight = 1.0 / seen->len;
    g_autofree guint32 *kids = g_new(guint32, site->n_children + 1);
    for (guint k = 0; k < seen->len; k++)
        for (guint32 p = 0; p < site->n_parents; p++)
            brute_gather(brute, p, kids, brute_kids(site, g_ptr_array_index(seen, k), p, kids));
    guint end = site->n_child_types * BRUTE_ORDERS;
    for (guint p = 0; p < site->n_parent_types; p++) {
        for (guint s = 0; s <= end; s++)
            brute_choose(brute, &brute->slots[p][s], site->n_child_types, s == end);
        brute->copula[p] = bb_copula_new(2 * end + 1);
    }
    for (guint p = 0; p < site->n_parent_types; p++)
        brute->at_once[p] = brute_is_at_once(brute, p);
    brute_share(brute);
    guint32 parents[BRUTE_TYPES] = {0}; // of a type; of few nothing is learned
    for (guint32 p = 0; p < site->n_parents; p++)
        parents[site->parents[p].type]++;
    for (guint32 p = 0; p < site->n_parents; p++) {
        BruteGap gaps[BB_COPULA_MOST];
        guint16 which[BB_COPULA_MOST];
        float z[BB_COPULA_MOST];
        guint32 n = brute_kids(site, g_ptr_array_index(seen, seen->len - 1), p, kids);
        if (n == 0 || n >= BB_COPULA_MOST || parents[site->parents[p].type] < BB_COPULA_PARENTS)
            continue;
        brute_gaps(brute, p, kids, n, gaps);
        guint all = brute_together(brute, p, gaps, kids, n, which, z);
        bb_copula_count(brute->copula[site->parents[p].type], which, z, all);
    }
    for (guint p = 0; p < site->n_parent_types; p++) {
        bb_copula_fit(brute->copula[p]);
        brute->single[p] = brute_single(brute, p);
    }
    return brute;
}

static inline void brute_census(const BbSite *site, const guint32 *kids, guint32 n, guint *each)
{
    for (guint c = 0; c < site->n_child_types; c++)
        each[c] = 0;
    for (guint32 k = 0; k < n; k++)
        each[site->children[kids[k]].type]++;
}

// How many of the parents of a type had these children; c < 0: exactly, else as many of type c, 64
// standing for more. *all: how many parents there are.
static inline double brute_had(const Brute *brute, guint type, const guint *want, gint c,
                               double *all)
{
    const BbSite *site = brute->site;
    g_autofree guint32 *kids = g_new(guint32, site->n_children + 1);
    double had = 0;
    *all = 0;
    for (guint k = 0; k < brute->seen->len; k++) {
        for (guint32 p = 0; p < site->n_parents; p++) {
            guint each[BRUTE_TYPES];
            bool same = true;
            if (site->parents[p].type != type)
                continue;
            brute_census(site, kids, brute_kids(site, g_ptr_array_index(brute->seen, k), p, kids),
                         each);
            for (guint t = 0; t < site->n_child_types; t++)
                same &= c < 0 ? each[t] == want[t]
                              : t != (guint)c || MIN(each[t], BRUTE_COUNTS - 1) == want[t];
            had += same ? brute->weight : 0;
            *all += brute->weight;
        }
    }
    return had;
}

// How many of the parents of a type had what no other one had.
static inline double brute_single(const Brute *brute, guint type)
{
    const BbSite *site = brute->site;
    g_autofree guint32 *kids = g_new(guint32, site->n_children + 1);
    double single = 0, all;
    for (guint k = 0; k < brute->seen->len; k++) {
        for (guint32 p = 0; p < site->n_parents; p++) {
            guint each[BRUTE_TYPES];
            if (site->parents[p].type != type)
                continue;
            brute_census(site, kids, brute_kids(site, g_ptr_array_index(brute->seen, k), p, kids),
                         each);
            if (brute_had(brute, type, each, -1, &all) <= 1 + 1e-9)
                single += brute->weight;
        }
    }
    return single;
}

// In how many assignments a parent had just these children.
static inline guint brute_had_itself(const Brute *brute, guint32 p, const guint *want)
{
    const BbSite *site = brute->site;
    g_autofree guint32 *kids = g_new(guint32, site->n_children + 1);
    guint had = 0;
    for (guint k = 0; k < brute->seen->len; k++) {
        guint each[BRUTE_TYPES];
        bool same = true;
        brute_census(site, kids, brute_kids(site, g_ptr_array_index(brute->seen, k), p, kids),
                     each);
        for (guint t = 0; t < site->n_child_types; t++)
            same &= each[t] == want[t];
        had += same;
    }
    return had;
}

// How many parents had k children of type c. *all: of how many.
static inline double brute_had_so_many(const Brute *brute, guint type, guint c, guint k,
                                       double *all)
{
    guint want[BRUTE_TYPES] = {0};
    want[c] = k;
    return brute_had(brute, type, want, (gint)c, all);
}

// log P(k children of type c): of 9 to 63 each count has 2 % of its neighbours', and gives as much.
static inline double brute_count_log(const Brute *brute, guint type, guint c, guint k)
{
    double all, n;
    k = MIN(k, BRUTE_COUNTS - 1);
    n = brute_had_so_many(brute, type, c, k, &all);
    for (guint other = k - 1; k >= 9 && k <= 63 && other <= k + 1; other += 2)
        if (other >= 9 && other <= 63)
            n += 0.02 * (brute_had_so_many(brute, type, c, other, &all) -
                         brute_had_so_many(brute, type, c, k, &all));
    return log((n + ldexp(0.5, -(int)k - 1)) / (all + 0.5));
}

static inline double brute_kinds_log(const Brute *brute, guint32 p, const guint32 *kids, guint32 n)
{
    const BbSite *site = brute->site;
    guint type = site->parents[p].type, each[BRUTE_TYPES];
    double apart = 0, all;
    brute_census(site, kids, n, each);
    for (guint c = 0; c < site->n_child_types; c++)
        apart += brute_count_log(brute, type, c, each[c]);
    double exactly = brute_had(brute, type, each, -1, &all);
    double alpha = brute->trust < 0 ? 1 - brute->trust * all : brute->trust;
    if (brute->trust > 0) // what is new is as likely as it was
        alpha = MAX(alpha, brute->single[type] * all / (all - brute->single[type] + 1));
    if (brute->without_kinds && all >= BRUTE_FEW) {
        exactly -= brute_had_itself(brute, p, each) * brute->weight;
        all -= 1;
    }
    return log((exactly + alpha * exp(apart)) / (all + alpha));
}

static inline double brute_parent(const Brute *brute, guint32 p, const guint32 *kids, guint32 n)
{
    guint type = brute->site->parents[p].type;
    g_autofree BruteGap *gaps = g_new(BruteGap, n + 1);
    double sum = brute_kinds_log(brute, p, kids, n);
    brute_gaps(brute, p, kids, n, gaps);
    for (guint32 i = 0; i <= n; i++)
        sum += brute_gap_log(brute, &gaps[i], p, i < n ? kids[i] : BB_SITE_NONE);
    for (guint32 i = 0; i < n; i++)
        sum += brute_late_log(brute, p, gaps[i].slot, kids[i]);
    guint16 which[BB_COPULA_MOST];
    float z[BB_COPULA_MOST];
    guint together = brute_together(brute, p, gaps, kids, n, which, z);
    sum += bb_copula_log(brute->copula[type], which, z, together);
    return sum;
}
