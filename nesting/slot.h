// SPDX-License-Identifier: Apache-2.0
// What is known of the gaps in one place of what a node does (a slot, model.h): their densities
// under each reference and by the kind of event that they count from, and the reference in use.
//
// Slots of few samples share: a node with many kinds of callers or callees, or a short trace, shows
// each but a few times, and most of what one place knows holds for the others too.
#pragma once

#include "nesting/density.h"

#include <stdbool.h>

// What a gap may be measured from: see model.h.
enum { BB_FROM_START, BB_FROM_LATEST, BB_FROM_EVENT, BB_FROM_CALL, BB_REFERENCES };

#define BB_SLOT_ORDERS 3u  // how many of its kind came before a child: 0, 1, more
#define BB_SLOT_FEW 20.0   // samples: of fewer, each is most of what is known
#define BB_SLOT_WAITS 0.2  // share of what a pool let begin that waited, before it was learned
#define BB_SLOT_RARE 0.1   // imagined samples of each event that a slot could count from
#define BB_SLOT_STRAY 0.01 // share of the calls that go out at once, and in another order than ever

// Events, by number: the parent's arrival; then returns by type of child, then calls by type of
// child; then that all is there, at a join, or elsewhere that its turn has not come yet; last the
// parent's own return.
#define BB_SLOT_ARRIVAL 0u

static inline guint bb_slot_return(guint type)
{
    return 1 + type;
}

static inline guint bb_slot_call(guint nc, guint type)
{
    return 1 + nc + type;
}

static inline guint bb_slot_ready(guint nc)
{
    return 1 + 2 * nc;
}

static inline guint bb_slot_reply(guint nc)
{
    return 2 + 2 * nc;
}

static inline guint bb_slot_events(guint nc)
{
    return 3 + 2 * nc;
}

typedef struct BbSlot {
    guint16 number;                     // the caller's
    bool is_join, is_end;               // of a join; the end of a parent
    guint nc;                           // types of children
    guint reference;                    // the one in use
    double n;                           // samples
    double spread;                      // samples and imagined ones, of all events
    double late;                        // of them, children that outlast their parent
    float on_time, overdue;             // logs of the two shares
    double freed, waited;               // children that a pool let begin (pool.h); that waited
    float stays, waits;                 // logs of the shares of those that did not, and did
    BbDensity **density[BB_REFERENCES]; // [event], NULL where never seen, as is each; owned
    const BbDensity **used;             // [event], of the reference in use
    float **normal;                     // [event]: quantiles of its bins, NULL where not made
    float *bias;                        // [event]: log of its probability
    float unseen;                       // the same for events never seen
    const BbDensity *stray; // where calls go out at once: of gaps from the arrival; NULL elsewhere
    float stray_most;       // log of the most that it makes likely, and that rarely
} BbSlot;

BbSlot *bb_slot_new(guint16 number, guint nc, bool is_join, bool is_end);
void bb_slot_free(BbSlot *slot);
void bb_slot_forget(BbSlot *slot);

// A sample of a gap under a reference; the caller counts n and late.
void bb_slot_add(BbSlot *slot, guint reference, guint event, guint bin, double weight);

// Fits all densities, and takes the reference that would have foretold the samples best.
void bb_slot_fit(BbSlot *slot, const BbGapScale *scale);

// Samples of a fitted slot that count from calls.
double bb_slot_at_once(const BbSlot *slot);

// log likelihood of each sample of a fitted slot given the others, of all: gaps and their events.
double bb_slot_foretold(const BbSlot *slot);

// Makes the quantiles of what is used.
void bb_slot_make_normals(BbSlot *slot, const BbGapScale *scale);

static inline bool bb_slot_is_poor(const BbSlot *slot)
{
    return slot && slot->n > 0 && slot->n < BB_SLOT_FEW;
}

// Adds the samples of a slot to another one of the same types of children, or to a pool, which has
// one type that stands for all.
void bb_slot_pour(BbSlot *pool, const BbSlot *slot);

// Fits a poor slot that was fitted, or an empty one, by a fitted pool: its own samples count beside
// some that are drawn from the pool. The pool's densities are lent.
void bb_slot_share(BbSlot *slot, const BbSlot *pool);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSlot, bb_slot_free)
