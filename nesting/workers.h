// SPDX-License-Identifier: Apache-2.0
// Nodes that work on so many calls at once and no more, as they have so many workers (processes, or
// threads, that each do one call after the other). What arrives while all are busy waits for its
// turn, first come, first served; from outside it seems to be worked on.
//
// Or it does so with the calls of an operation only, which has a lock (or workers of its own):
// these wait for each other and for no others, and not from the beginning on: what they do before
// they ask for it they do at once.
//
// It shows in the times of the calls to a node alone. Who replies is one of those W that arrived
// first of all that are open, as the others have not begun; and a call lasts more nearly alike from
// when its turn came than from its arrival, most at the true W. A node that passes on all it gets
// to one with a limit looks like that, too: that what it calls is so likelier must be looked at
// besides.
#pragma once

#include <stdbool.h>

#include "data/call.h"
#include "data/tally.h"
#include "nesting/gap.h"

typedef struct BbWorkers {
    guint32 *limit; // of names: calls that seem to be worked on at once; 0: no such limit is known
    guint32 *lines; // of names: that many in each of so many lines (lines.h) in which a hundredth
                    // of all calls waits; 0: all calls stand in one
    bool *keep;     // of names: each worker keeps an outgoing connection (keepers.h), and limit is
                    // how many are at work
    BbTally of_ops; // (name, operation) -> the same of the calls of one operation, of names whose
                    // calls as a whole have no limit: a lock, or workers of its own
    double *margin; // of names: log likelihood that this must gain for each call to it, or it is
                    // not believed; 0: no limit of any kind is known
    gint64 *begun_ns; // of calls: when the callee began to work on it, on its clock: arrived_ns,
                      // where it did not wait
    gint64 *first_ns; // when it did, if that was one turn earlier: who arrives at about the same
                      // time as another may have been seen in the wrong order
} BbWorkers;

// calls: in order of call_ns, of names below n_names. labels: operations last differently.
// connections: those of the calls count, too. NULL where no node has such a limit. Cost: linear, n
// log n for the calls of a node; where one often has many open at once also a look at 4,096 of
// them, some 40 ms, and as many of each of its 16 most frequent operations, and at their
// connections and its own (lines.h, keepers.h).
BbWorkers *bb_workers_find(const BbCall *calls, guint32 n_calls, guint32 n_names, bool labels,
                           bool connections, const BbGapScale *scale);
void bb_workers_free(BbWorkers *workers);

// How many the callee of a call seems to work on at once: of all calls to it, or of the operation;
// 0: no such limit is known.
guint32 bb_workers_limit(const BbWorkers *workers, const BbCall *call);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbWorkers, bb_workers_free)
