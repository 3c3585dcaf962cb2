// SPDX-License-Identifier: Apache-2.0
// One node's part, or that of a team of replicas, of the question "who caused whom": the calls it
// got (parents), the calls it made (children), which parents each child may have, and the
// assignment that a search works on.
//
// Times are quanta of the trace's stamps since its first one, on the node's own clock.
#pragma once

#include "nesting/gap.h"

#include <stdbool.h>

#define BB_SITE_NONE G_MAXUINT32
#define BB_SITE_TYPES 32u // kinds of parents, and of children; rarer ones share the last number
#define BB_SITE_CANDIDATES 20u // of one child: of more, a search settles later, and worse
#define BB_SITE_NORMAL 4096.0f
#define BB_SITE_CROWDED 8.0  // candidates of a child
#define BB_SITE_LARGE 14000u // parents: of more, each gets less of the work

typedef struct BbSiteParent {
    gint64 s, e;    // arrival of the call, departure of the return
    gint64 ready;   // of a join: when all that it may wait for was there; else when its turn came
                    // (workers.h); s, if that is no later
    guint32 call;   // index into the calls
    guint32 caller; // a name
    guint32 conn;   // that it came on; 0: not known
    guint16 type;   // caller and operation
} BbSiteParent;

typedef struct BbSiteChild {
    gint64 s, e; // departure of the call, arrival of the return
    gint64 trip; // from one to the other; with a skew window e is earlier than that
    guint32 call;
    guint32 callee;  // a name
    guint32 conn;    // that it went out on; 0: not known
    guint16 type;    // callee and operation
    gint16 lasts;    // how long, among those of its type: standard normal quantile, in parts of
                     // BB_SITE_NORMAL (durations.h); 0 where it is not known
    bool unanswered; // no return was seen: e is s, or when its connection was closed
    bool given_up;   // no parent outlasts it, as it took so long that its own one gave it up
    bool handed;     // its connection is that which a pool shared by all would give it (handout.h)
} BbSiteChild;

// What let a child begin that waited for a pool (pool.h).
typedef struct BbSiteFreed {
    gint64 at;    // when it returned; G_MININT64: nothing did
    float log;    // density of how long after that the child began
    guint32 pool; // whose connection it takes, BB_SITE_NONE if none waits for these
} BbSiteFreed;

// A connection, and the node at its other end.
typedef struct BbSiteEnd {
    guint32 conn, peer; // conn 0: not known
} BbSiteEnd;

// The children of one parent, in order of (s, index).
typedef struct BbKids {
    guint32 *at;
    guint32 n, room;
} BbKids;

typedef struct BbSite {
    BbSiteParent *parents; // in order of s
    BbSiteChild *children; // in order of s
    guint32 n_parents, n_children;
    guint n_parent_types, n_child_types;
    guint32 *first; // candidates of child x: list[first[x] .. first[x + 1]), ascending
    guint32 *list;
    guint8 *inner; // [in list]: candidates within this one that may be below it, as calls go in
                   // circles; NULL where they do not
    float *kept; // of children: expected share of the true parents that are among the candidates, 1
                 // where none of those the child had was left out
    BbSiteEnd *owner; // of children: the incoming connection that theirs serves (owners.h), 0 where
                      // none stands out; NULL: not known
    BbSiteFreed *freed; // of children; NULL: nobody waited for a pool
    guint32 *limit;     // of these pools: calls at once; NULL in a sample
    guint32 n_pools;
    gint64 quantum_ns;
    double span;   // for how long calls were made, in quanta; of all its nodes together
    gint64 period; // of replicas: the n-th one's times begin at n periods and last a quarter of one
                   // at most; 0: a single node
    guint32 number; // among the sites of a trace: fixes the random choices made for it
    guint32 team;   // its first node, of replicas; the node
    bool is_join;   // ready is when all was there, not when its turn came

    // The assignment.
    guint32 *parent; // of children; BB_SITE_NONE
    BbKids *kids;    // of parents
} BbSite;

BbSite *bb_site_new(guint32 n_parents, guint32 n_children);
void bb_site_free(BbSite *site);

// A site with some stretches of this one's parents, n_parents in all, and the children that have
// candidates among them: enough to learn from. Without assignment.
BbSite *bb_site_sample(const BbSite *site, guint32 n_parents, guint n_stretches);

// Takes all children off their parents.
void bb_site_clear(BbSite *site);

// When the node began to work on a call to it, as far as is known from outside.
static inline gint64 bb_site_begun(const BbSite *site, const BbSiteParent *parent)
{
    return site->is_join ? parent->s : MAX(parent->s, parent->ready);
}

// How many of a parent's children stand before x, which may be one of them: they are numbered in
// order of their start.
static inline guint32 bb_kids_before(const BbKids *kids, guint32 x)
{
    guint32 low = 0, high = kids->n;
    if (high > 0 && kids->at[high - 1] < x)
        return high;
    while (low < high) {
        guint32 middle = low + (high - low) / 2;
        if (kids->at[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Gives child x, which has none, to a parent; takes it off its parent.
void bb_site_give(BbSite *site, guint32 x, guint32 parent);
void bb_site_take(BbSite *site, guint32 x);

// Makes kids[0 .. n), in order, the children of a parent. The caller sees to it that each child
// has one parent in the end.
void bb_site_put(BbSite *site, guint32 parent, const guint32 *kids, guint32 n);

// Copies an assignment (of n_children).
void bb_site_restore(BbSite *site, const guint32 *parent);

// The children whose connection is known, by connection, then in order; the caller's. *n: how many.
guint32 *bb_site_by_conn(const BbSite *site, guint32 *n);

// Of a child, on the mean.
static inline double bb_site_candidates(const BbSite *site)
{
    return (double)site->first[site->n_children] / MAX(site->n_children, 1);
}

// Where so many calls are open at once single links are a guess; what can be known are counts, and
// they take less work.
static inline bool bb_site_is_crowded(const BbSite *site)
{
    return bb_site_candidates(site) > BB_SITE_CROWDED;
}

// Of a candidate of x; 0 of others. Where it may stop is not foreseeable: it does not.
static inline guint bb_site_inner(const BbSite *site, guint32 x, guint32 parent)
{
    guint inner = 0;
    for (guint32 i = site->first[x]; i < site->first[x + 1]; i++)
        inner += site->list[i] == parent ? site->inner[i] : 0;
    return inner;
}

static inline bool bb_site_may(const BbSite *site, guint32 x, guint32 parent)
{
    const guint32 *list = site->list + site->first[x];
    guint32 n = site->first[x + 1] - site->first[x], found = 0;
    for (guint32 i = 0; i < n; i++) // to the end: where it may stop is not foreseeable
        found |= list[i] == parent;
    return found;
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSite, bb_site_free)
