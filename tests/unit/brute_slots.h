// SPDX-License-Identifier: Apache-2.0
// The slow twin's slots (brute_model.h): what a gap counts from, what was seen of gaps, and what
// slots of few samples share.
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
