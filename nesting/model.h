// SPDX-License-Identifier: Apache-2.0
// What a node does when it is called, learned from an assignment: which calls it makes, after which
// event and how long after. It says how likely a parent is to have just these children.
//
// A child stands in a slot: (type of parent, type of child, how many of that type came before it,
// up to 2). Its gap is measured from a reference event, by one of three models, the one that would
// have foretold the slot's gaps best:
//   start    from the parent's arrival, or when its turn came: parallel calls
//   latest   from the latest of the arrival and the returns of earlier siblings: calls in sequence
//   event    likewise, but calls of siblings are events too: bursts
// The end of a parent is a slot too (models latest and start).
// What a join does begins when all is there, whichever call brought the last of it: that is an
// event like an arrival, and the model is one of
//   event    as above
//   call     likewise, but returns are no events: a burst in which a call may be back early
#pragma once

#include "nesting/density.h"
#include "nesting/repertoire.h"
#include "nesting/site.h"

#define BB_MODEL_NEAR 64u // children of a parent that are looked at together

typedef struct BbModel BbModel;

BbModel *bb_model_new(const BbSite *site, const BbGapScale *scale);
void bb_model_free(BbModel *model);

// From now on scores of that site's parents leave out what these gave the model themselves (own.h),
// in assignments of which BB_OWN_SAMPLES at most are observed at once. gaps: also by their gaps,
// not by their signatures alone. The site is lent.
void bb_model_leave_out(BbModel *model, const BbSite *site, bool gaps);

// Learns: forgets, observes the site's assignment (or several, with weights that sum to 1), fits.
// trust: weight of exact signatures against single counts (signatures.h).
void bb_model_forget(BbModel *model);
void bb_model_observe(BbModel *model, const BbSite *site, double weight);
void bb_model_fit(BbModel *model, const BbSite *site, double trust);

// Whether connections may tell anything that assignments show, from the next fit on
// (connections.h).
void bb_model_hear_connections(BbModel *model, bool heard);

// What connections have in the log likelihood of the site's assignment; 0 where they tell nothing.
double bb_model_connections(const BbModel *model, const BbSite *site);

// Forgets, and takes all types of parents for one until they are grouped.
void bb_model_take_as_one(BbModel *model);

// Forgets, and takes for one from here on those types of parents that do the same in the site's
// assignment (kin.h).
void bb_model_regroup(BbModel *model, const BbSite *site);

// Gives exact signatures another weight until the next fit.
void bb_model_trust(BbModel *model, double trust);

// Before any assignment: onset.h fills the slots and counts.
typedef struct BbOnset BbOnset;
void bb_model_begin(BbModel *model, const BbSite *site, const BbOnset *onset, bool poisson);

// From now on the site is another one: the whole of which the model knows a sample. How many calls
// have no parent is expected as at the beginning, as a sample cuts off parents.
void bb_model_meet(BbModel *model, const BbSite *site, const BbOnset *onset);

// log likelihood of a parent with the children kids[0 .. n), in order of time. n is BB_MODEL_NEAR
// at most.
double bb_model_parent(const BbModel *model, const BbSite *site, guint32 parent,
                       const guint32 *kids, guint32 n);

// What a child, or the end, is in that.
typedef struct BbTerm {
    double log;
    gint64 from;          // when what it counts from was
    gint64 reach;         // latest return of the children before it
    guint16 what, number; // the model's: what that was; the slot, of those of a type of parent
    guint16 rank;         // how many of its type came before it
    bool waited;          // maybe, for a pool
} BbTerm;

// Of a parent with the children that it has in the site's assignment.
typedef struct BbTerms {
    BbTerm *at; // of the children, and of the end
    guint32 room;
    double sum;
    BbBrood brood; // but for its log
} BbTerms;

// The same, of the children that the parent has in the site's assignment; notes its terms, which
// begin as zeros.
double bb_model_terms(const BbModel *model, const BbSite *site, guint32 parent, BbTerms *terms);
void bb_terms_free(BbTerms *terms);

// The same of other children (one or more), where those terms are known: what is alike in both is
// not looked at again.
double bb_model_trial(const BbModel *model, const BbSite *site, guint32 parent, const guint32 *kids,
                      guint32 n, const BbTerms *terms);

// log density of the gap that x would have with that parent, after the children kids[0 .. n) that
// come before it.
double bb_model_gap(const BbModel *model, const BbSite *site, guint32 parent, const guint32 *kids,
                    guint32 n, guint32 x);

// The kinds of children kids[0 .. n) of a parent, and how likely they are together.
BbBrood bb_model_brood(const BbModel *model, const BbSite *site, guint32 parent,
                       const guint32 *kids, guint32 n);

// log odds, by kinds alone, that a parent with this brood has x as well; `same` of it are of x's
// type.
double bb_model_more(const BbModel *model, const BbSite *site, guint32 parent, const BbBrood *brood,
                     guint32 same, guint32 x);

// log likelihood that a parent whose children so far are kids[0 .. n) makes the call x next; x
// comes after all of them. Says nothing of what comes after x.
double bb_model_next(const BbModel *model, const BbSite *site, guint32 parent, const guint32 *kids,
                     guint32 n, guint32 x);

// Part of it that depends on which of the children stand in kids only: for parents with more. What
// came before kids is not known: the first of a kind there is taken for the first of all. Those
// from kids[from] on count, and the end, if to_end.
double bb_model_part(const BbModel *model, const BbSite *site, guint32 parent, const guint32 *kids,
                     guint32 from, guint32 n, bool to_end);

// How many of a parent's kids[0 .. n) there are up to the last one in whose score x may count, x
// being kids[place], or to come before it; n: maybe in that of the end, too.
guint32 bb_model_beside(const BbModel *model, const BbSite *site, guint32 parent,
                        const guint32 *kids, guint32 place, guint32 n, guint32 x);

// What a parent waits for: a gap in a slot.
typedef struct BbWait {
    gint64 from, at;
    guint32 slot, event; // what it counts from; the model's
    guint32 gap;         // its number (own.h); BB_SITE_NONE: of no site whose own is left out
    bool first;          // of the parent: what it does after its arrival
    bool for_pool;       // maybe,
    BbSiteFreed freed;   // which had a connection then
} BbWait;

guint bb_model_slots(const BbSite *site);

// The waits of a parent with the children kids[0 .. n); out has room for n + 1. Returns how many.
guint bb_model_waits(const BbModel *model, const BbSite *site, guint32 parent, const guint32 *kids,
                     guint32 n, BbWait *out);

// log density of the wait if it ended when another one did.
double bb_model_wait_log(const BbModel *model, const BbWait *wait, const BbWait *end);

// How likely it is that kids[i], a child of that parent after those before it, waited for a pool,
// and how long, in quanta, if it did. 0: it did not.
double bb_model_pool_wait(const BbModel *model, const BbSite *site, guint32 parent,
                          const guint32 *kids, guint32 i, double *quanta);

// Whether parents hold connections for several calls.
bool bb_model_holds(const BbModel *model);

// log likelihood of a child of a type that has no parent.
double bb_model_lone(const BbModel *model, guint child_type);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbModel, bb_model_free)
