// SPDX-License-Identifier: Apache-2.0
// For each call of a node, the calls to that node that may have caused it: those that are open
// around it on the node's own clock (paper, section 5.1, step 2). Node by node, child by child;
// nothing is stored per candidate.
#pragma once

#include "data/call.h"

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

typedef struct BbCandidates BbCandidates;

// calls, in order of call_ns, and their names, all below n_names; lent, must outlive the value.
// Calls without return are nobody's candidates, unless they are late (data/call.h). Those that hang
// ([call], hanging.h; lent, or NULL) are children, as if they returned at once; all others take no
// part. skew_window_ns loosens the
// containment at both ends. begun_ns: [call], when its callee may have begun to work on it
// (workers.h), which counts as its arrival; lent, or NULL.
BbCandidates *bb_candidates_new(const BbCall *calls, guint32 n_calls, guint32 n_names,
                                gint64 skew_window_ns, const bool *hanging, const gint64 *begun_ns);
void bb_candidates_free(BbCandidates *candidates);

// Goes to the next node that both is called and calls; false when there is none left.
bool bb_candidates_next_node(BbCandidates *candidates);

// Goes to a node; false, and nothing changes, when it is not both called and calls.
bool bb_candidates_go(BbCandidates *candidates, guint32 node);

// The node's calls, lent until the next node.
const BbParent *bb_candidates_parents(const BbCandidates *candidates, guint32 *count);
const BbChild *bb_candidates_children(const BbCandidates *candidates, guint32 *count);

// Goes to the node's next child in order of return; false after the last one.
bool bb_candidates_next_child(BbCandidates *candidates);

// The child (index into children) and its candidates (indices into parents, in order of arrival),
// lent until the next child. A call is never a candidate of itself, and never of a call that could,
// through others, be a candidate of it: whatever is chosen, every chain of parents ends.
guint32 bb_candidates_child(const BbCandidates *candidates);
const guint32 *bb_candidates_list(const BbCandidates *candidates, guint32 *count);

// Whether calls between these two nodes could, through others, be each other's candidates.
bool bb_candidates_is_knotted(const BbCandidates *candidates, guint32 caller, guint32 callee);

// Back to before the node's first child.
void bb_candidates_rewind(BbCandidates *candidates);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCandidates, bb_candidates_free)
