// SPDX-License-Identifier: Apache-2.0
// What a model holds, and the gaps that it sees: inside of model*.c.
#pragma once

#include "nesting/connections.h"
#include "nesting/copula.h"
#include "nesting/lone.h"
#include "nesting/model.h"
#include "nesting/own.h"
#include "nesting/poor.h"
#include "nesting/reference.h"
#include "nesting/repertoire.h"
#include "nesting/slot.h"

struct BbModel {
    const BbGapScale *scale;
    bool is_join;
    bool strays;  // of gaps is asked whether they count from the arrival all the same
    guint np, nc; // types of parents, of children
    guint16 group[BB_SITE_TYPES]; // of types of parents: the one that stands for it from here on
    BbSlot **slots;               // [(p * nc + c) * BB_SLOT_ORDERS + order], NULL where never seen
    BbSlot **ends;                // [p], likewise
    GPtrArray *sampled;           // those of them that have samples; lent
    BbSlot *empty, *empty_end;    // what all that have none know, once fitted
    bool begun;                   // nothing was fitted yet: they know what was found before
    BbPoor *poor;                 // what those of few samples share
    BbLone *lone;
    BbConnections *connections; // NULL: not known, or of no use
    BbRepertoire *repertoire;
    BbCopula **copula; // [p], NULL where gaps are independent
    BbCopula **made;   // [p], NULL until wanted
    BbOwn *own;        // what is left out of scores; NULL: nothing
};

static inline guint bb_model_kind(const BbModel *model, const BbSiteParent *parent)
{
    return model->group[parent->type];
}

static inline guint bb_model_slot(const BbModel *model, guint p, guint c, guint order)
{
    return (p * model->nc + c) * BB_SLOT_ORDERS + MIN(order, BB_SLOT_ORDERS - 1);
}

// The slot that says how likely a gap is: one without samples knows what poor ones share, or what
// all without samples do.
static inline const BbSlot *bb_model_known_slot(const BbModel *model, guint index)
{
    const BbSlot *slot = model->slots[index], *unseen = model->poor->unseen[index % BB_SLOT_ORDERS];
    if (slot && (slot->n > 0 || model->begun))
        return slot;
    return unseen ? unseen : model->empty;
}

static inline const BbSlot *bb_model_known_end(const BbModel *model, guint p)
{
    const BbSlot *end = model->ends[p];
    return end && (end->n > 0 || model->begun) ? end : model->empty_end;
}

// ---- gaps ---------------------------------------------------------------------------------------

// A gap: where it stands, how long it is, and what it is measured from.
typedef struct BbModelGap {
    const BbSlot *slot;
    guint16 number; // of the slot among those of its type of parent
    guint16 bin;
    guint16 waited; // 1 + bin of the time until its pool was free; 0: it waited for none
    BbReference from;
    gint64 since;        // from its parent's arrival; < 0: it is late
    const BbOwnGap *own; // what it gave the model; NULL: nothing
} BbModelGap;

// Where a gap under a reference stands in BbOwnGap: no slot knows both starts and calls.
static inline guint bb_model_way(guint reference)
{
    return reference % BB_OWN_WAYS;
}

// Without what the gap gave the slot itself.
double bb_model_gap_log_without(const BbModel *model, const BbModelGap *gap);

// log likelihood of a call where log_gap is that of its gap. One that a pool let begin either was
// made after its gap, as any other; or, if its parent may have waited, its gap was over when the
// pool had a connection, and it was made so long after that. How often which is so is learned: who
// waits for a worker makes its first call then, and all others after their gaps. Which of those
// that wait is next is not asked: that is the same for all.
double bb_model_freed_log(const BbModelGap *gap, const BbSiteFreed *freed, double log_gap);

// With what makes it likelier: that its order strayed (slot.h), where that may be.
double bb_model_gap_log_stray(const BbModel *model, const BbModelGap *gap, double log_gap);

static inline double bb_model_usual_gap_log(const BbModel *model, const BbModelGap *gap)
{
    guint bin = gap->bin;
    const BbDensity *density = gap->slot->used[gap->from.what];
    if (gap->own && gap->slot->n >= BB_SLOT_FEW && (!density || density->few[bin] > 0))
        return bb_model_gap_log_without(model, gap);
    return density ? (double)(density->log[bin] + gap->slot->bias[gap->from.what])
                   : (double)(model->scale->floor_log[bin] + gap->slot->unseen);
}

static inline double bb_model_gap_log(const BbModel *model, const BbModelGap *gap)
{
    double log = bb_model_usual_gap_log(model, gap);
    bool may_stray = gap->slot->stray && gap->since >= 0 && log < (double)gap->slot->stray_most;
    return G_UNLIKELY(may_stray) ? bb_model_gap_log_stray(model, gap, log) : log;
}

// Whether a child outlasts its parent, or is even made after it: rare or usual in its slot.
static inline double bb_model_late_log(const BbSlot *slot, const BbSiteParent *parent,
                                       const BbSiteChild *x)
{
    return (double)(x->e > parent->e && !x->given_up ? slot->overdue : slot->on_time);
}

// Of a gap that is not known, in the middle.
static inline float bb_model_gap_normal(const BbModelGap *gap)
{
    if (gap->waited > 0)
        return 0;
    const float *normal = gap->slot->normal[gap->from.what];
    return normal ? normal[gap->bin] : 0;
}

static inline BbModelGap bb_model_make_gap(const BbModel *model, const BbSlot *slot, guint number,
                                           BbReference from, gint64 at, const BbOwnGap *own)
{
    return (BbModelGap){.slot = slot,
                        .number = (guint16)number,
                        .bin = (guint16)bb_gap_bin(model->scale, at - from.at),
                        .from = from,
                        .since = -1,
                        .own = own};
}

// Notes in a child's gap whether its parent, with the kids[0 .. n) before it, may have waited for a
// pool. Of a site of which that is known.
void bb_model_await_pool(const BbModel *model, const BbSite *site, const guint32 *kids, guint32 n,
                         guint32 child, BbModelGap *gap);

// Before its turn a parent has not begun.
static inline gint64 bb_model_since(const BbSite *site, const BbSiteParent *parent, gint64 at)
{
    BbReference start = bb_reference_start(site, parent, at);
    return start.what == BB_SLOT_ARRIVAL ? at - start.at : -1;
}

// Of a child after the kids[0 .. n), `order` of which are of its type. returns: theirs, or NULL.
G_ALWAYS_INLINE static inline BbModelGap
bb_model_kid_gap(const BbModel *model, const BbSite *site, const BbSiteParent *parent,
                 const guint32 *kids, guint32 n, BbReturns *returns, guint32 child, guint order)
{
    const BbSiteChild *x = &site->children[child];
    guint number = bb_model_slot(model, 0, x->type, order);
    const BbSlot *slot = bb_model_known_slot(
        model, bb_model_slot(model, bb_model_kind(model, parent), x->type, order));
    BbReference from = bb_reference_start(site, parent, x->s);
    if (slot->reference == BB_FROM_CALL)
        from = bb_reference_call(site, parent, kids, n, x->s);
    else if (G_UNLIKELY(x->s > parent->e) || slot->reference != BB_FROM_START)
        from = returns ? bb_returns_until(returns, site, parent, x->s)
                       : bb_reference_return(site, parent, kids, n, x->s);
    if (slot->reference == BB_FROM_EVENT)
        from = bb_reference_event(site, from, kids, n);
    BbModelGap gap =
        bb_model_make_gap(model, slot, number, from, x->s, bb_own_gaps(model->own, site, child));
    if (slot->stray && model->strays && x->s <= parent->e)
        gap.since = bb_model_since(site, parent, x->s);
    if (G_UNLIKELY(site->freed))
        bb_model_await_pool(model, site, kids, n, child, &gap);
    return gap;
}

// Of the parent's reply; the last of the children may have been called later.
static inline BbModelGap bb_model_end_gap(const BbModel *model, const BbSite *site,
                                          const BbSiteParent *parent, const guint32 *kids,
                                          guint32 n, BbReturns *returns)
{
    const BbSlot *slot = bb_model_known_end(model, bb_model_kind(model, parent));
    BbReference from = {bb_site_begun(site, parent), n > 0};
    if (slot->reference == BB_FROM_LATEST && n > 0 && site->children[kids[n - 1]].s > parent->e)
        from = bb_reference_return(site, parent, kids, n, parent->e);
    else if (slot->reference == BB_FROM_LATEST)
        from = bb_returns_until(returns, site, parent, parent->e);
    guint32 end = bb_own_end(site, (guint32)(parent - site->parents));
    return bb_model_make_gap(model, slot, model->nc * BB_SLOT_ORDERS, from, parent->e,
                             bb_own_gaps(model->own, site, end));
}

static inline double bb_model_kid_log(const BbModel *model, const BbSite *site,
                                      const BbSiteParent *parent, const BbModelGap *gap,
                                      const BbSiteChild *x)
{
    double log = bb_model_gap_log(model, gap);
    if (G_UNLIKELY(site->freed))
        log = bb_model_freed_log(gap, &site->freed[x - site->children], log);
    return log + bb_model_late_log(gap->slot, parent, x);
}

static inline BbTerm bb_model_term(const BbModelGap *gap, guint rank, double log)
{
    return (BbTerm){.log = log,
                    .from = gap->from.at,
                    .what = (guint16)gap->from.what,
                    .number = gap->number,
                    .rank = (guint16)rank,
                    .waited = gap->waited > 0};
}

// What a copula looks at, of a parent with n children: its gaps, and how long the children last.
typedef struct BbTogether {
    guint n; // 0: too many, or a slot is there twice
    guint16 which[BB_COPULA_MOST];
    float z[BB_COPULA_MOST];
} BbTogether;

static inline guint bb_model_variables(const BbModel *model)
{
    return 2 * model->nc * BB_SLOT_ORDERS + 1;
}

void bb_model_gather(const BbModel *model, const BbSite *site, const BbModelGap *gaps,
                     const guint32 *kids, guint n, BbTogether *of);
