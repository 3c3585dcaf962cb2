// SPDX-License-Identifier: Apache-2.0
// For each node, the calls to it and by it that may be parents and children of each other. What of
// them may have caused which is found by a sweep over one node (sweep.h).
#pragma once

#include "data/call.h"
#include "data/groups.h"

// Does not change: sweeps of several threads may read it.
typedef struct BbCandidates {
    const BbCall *calls;
    guint32 n_names;
    gint64 window_ns;
    const gint64 *begun_ns; // or NULL
    BbGroups to, by;        // calls to a node, calls by a node, in order of index
    bool *knotted;          // of names
    bool any_knotted;
} BbCandidates;

// calls, in order of call_ns, and their names, all below n_names; lent, must outlive the value.
// Calls without return are nobody's candidates, unless they are late (data/call.h). Those that hang
// ([call], hanging.h; lent, or NULL) are children, as if they returned at once; all others take no
// part. skew_window_ns loosens the containment at both ends. begun_ns: [call], when its callee may
// have begun to work on it (workers.h), which counts as its arrival; lent, or NULL.
BbCandidates *bb_candidates_new(const BbCall *calls, guint32 n_calls, guint32 n_names,
                                gint64 skew_window_ns, const bool *hanging, const gint64 *begun_ns);
void bb_candidates_free(BbCandidates *candidates);

// Whether the node both is called and calls.
bool bb_candidates_has(const BbCandidates *candidates, guint32 node);

// Whether calls between the nodes of this one could, through others, be each other's candidates.
bool bb_candidates_is_knotted(const BbCandidates *candidates, const BbCall *call);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCandidates, bb_candidates_free)
