// SPDX-License-Identifier: Apache-2.0
// For each call of a node, the calls to that node that may have caused it: those that are open
// around it on the node's own clock (paper, section 5.1, step 2). Child by child; nothing is stored
// per candidate.
#pragma once

#include "nesting/candidates.h"

// A call to the node. parents[] are in order of arrival, ties in order of their index.
typedef struct BbParent {
    gint64 arrived_ns, replied_ns;
    guint32 call; // index into the calls
    guint32 caller;
} BbParent;

// A call by the node. children[] are in order of end_ns, ties of call_ns, then of index.
typedef struct BbChild {
    gint64 call_ns;
    gint64 end_ns; // of the return; call_ns where clocks let it be earlier, or there is none
    guint32 call;  // index into the calls
    guint32 callee;
} BbChild;

// Of one thread. Memory: some 80 bytes a call of the greatest node it went to.
typedef struct BbSweep BbSweep;

// candidates: lent, must outlive the value.
BbSweep *bb_sweep_new(const BbCandidates *candidates);
void bb_sweep_free(BbSweep *sweep);

// Goes to a node, before its first child; false, and nothing changes, where it has no part.
bool bb_sweep_go(BbSweep *sweep, guint32 node);

// The node's calls, lent until the next node.
const BbParent *bb_sweep_parents(const BbSweep *sweep, guint32 *count);
const BbChild *bb_sweep_children(const BbSweep *sweep, guint32 *count);

// Goes to the node's next child in order of return; false after the last one.
bool bb_sweep_next(BbSweep *sweep);

// The child (index into children) and its candidates (indices into parents, in order of arrival),
// lent until the next child. A call is never a candidate of itself, and never of a call that could,
// through others, be a candidate of it: whatever is chosen, every chain of parents ends.
guint32 bb_sweep_child(const BbSweep *sweep);
const guint32 *bb_sweep_list(const BbSweep *sweep, guint32 *count);

// Back to before the node's first child.
void bb_sweep_rewind(BbSweep *sweep);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSweep, bb_sweep_free)
