// SPDX-License-Identifier: Apache-2.0
// The events of a site that a gap may be measured from (slot.h numbers their kinds).
#pragma once

#include "nesting/model.h"
#include "nesting/slot.h"

// When, and which kind of event.
typedef struct BbReference {
    gint64 at;
    guint what;
} BbReference;

// What is there of a parent at time `at`: its arrival; at a join, from when all is there, that.
// Where it had to wait for its turn, that is as its arrival, and before its turn is something else.
static inline BbReference bb_reference_arrival(const BbSite *site, const BbSiteParent *parent,
                                               gint64 at)
{
    if (G_LIKELY(parent->ready <= parent->s))
        return (BbReference){parent->s, BB_SLOT_ARRIVAL};
    bool is_ready = at >= parent->ready;
    return (BbReference){is_ready ? parent->ready : parent->s,
                         is_ready == site->is_join ? bb_slot_ready(site->n_child_types)
                                                   : BB_SLOT_ARRIVAL};
}

// The same where only that counts: a join begins with its arrival.
static inline BbReference bb_reference_start(const BbSite *site, const BbSiteParent *parent,
                                             gint64 at)
{
    return site->is_join ? (BbReference){parent->s, BB_SLOT_ARRIVAL}
                         : bb_reference_arrival(site, parent, at);
}

// The latest of the parent's arrival and the returns, up to time `at`, of the first n of the kids.
// A call made after its parent's return (write-behind) counts from that.
static inline BbReference bb_reference_return(const BbSite *site, const BbSiteParent *parent,
                                              const guint32 *kids, guint32 n, gint64 at)
{
    BbReference latest = bb_reference_arrival(site, parent, at);
    for (guint32 j = 0; j < n; j++) {
        const BbSiteChild *y = &site->children[kids[j]];
        if (y->e <= at && y->e >= latest.at)
            latest = (BbReference){y->e, bb_slot_return(y->type)};
    }
    if (G_UNLIKELY(at > parent->e) && parent->e >= latest.at)
        latest = (BbReference){parent->e, bb_slot_reply(site->n_child_types)};
    return latest;
}

// Whether a pool let x begin (pool.h).
static inline bool bb_reference_is_freed(const BbSite *site, guint32 x)
{
    return site->freed && site->freed[x].at != G_MININT64;
}

// Whether the parent may have waited for a pool that let x begin (pool.h): it was there before, and
// none of the first n of the kids was under way since.
static inline bool bb_reference_waits(const BbSite *site, guint32 x, BbReference from,
                                      const guint32 *kids, guint32 n)
{
    if (G_LIKELY(!site->freed) || site->freed[x].at <= from.at)
        return false;
    for (guint32 j = 0; j < n; j++)
        if (site->children[kids[j]].e >= site->freed[x].at)
            return false;
    return true;
}

// The same where calls of kids are events, too: the n-th and later ones were not made yet.
static inline BbReference bb_reference_event(const BbSite *site, BbReference latest,
                                             const guint32 *kids, guint32 n)
{
    if (n == 0)
        return latest;
    const BbSiteChild *y = &site->children[kids[n - 1]];
    return y->s >= latest.at ? (BbReference){y->s, bb_slot_call(site->n_child_types, y->type)}
                             : latest;
}

// The same where calls of kids are events, and their returns are not.
static inline BbReference bb_reference_call(const BbSite *site, const BbSiteParent *parent,
                                            const guint32 *kids, guint32 n, gint64 at)
{
    return bb_reference_event(site, bb_reference_return(site, parent, NULL, 0, at), kids, n);
}

// The same for one child after the other: what has returned is not looked at again.
typedef struct BbReturns {
    BbReference latest; // up to the time that was asked for last
    guint n_open;       // children that return later
    BbReference open[BB_MODEL_NEAR + 2];
} BbReturns;

static inline void bb_returns_start(BbReturns *returns, const BbSite *site,
                                    const BbSiteParent *parent)
{
    returns->latest = bb_reference_arrival(site, parent, parent->s);
    returns->n_open = 0;
}

static inline void bb_returns_add(BbReturns *returns, const BbSiteChild *y)
{
    returns->open[returns->n_open++] = (BbReference){y->e, bb_slot_return(y->type)};
}

// What bb_reference_return finds of the children that were added. at: no earlier than the last one.
static inline BbReference bb_returns_until(BbReturns *returns, const BbSite *site,
                                           const BbSiteParent *parent, gint64 at)
{
    BbReference *latest = &returns->latest;
    if (G_UNLIKELY(parent->ready > latest->at) && at >= parent->ready)
        *latest = bb_reference_arrival(site, parent, at);
    guint open = 0;
    for (guint j = 0; j < returns->n_open; j++) {
        if (returns->open[j].at > at)
            returns->open[open++] = returns->open[j];
        else if (returns->open[j].at >= latest->at)
            *latest = returns->open[j];
    }
    returns->n_open = open;
    if (G_UNLIKELY(at > parent->e) && parent->e >= latest->at)
        return (BbReference){parent->e, bb_slot_reply(site->n_child_types)};
    return *latest;
}
