// SPDX-License-Identifier: Apache-2.0
// The joint choice of parents: each node's behaviour is learned from the trace, and all of a node's
// calls get their parents together, so that what the node does is most likely as a whole.
#pragma once

#include "data/path.h"
#include "nesting/nesting.h"

typedef struct BbJoint BbJoint;

// Everything is lent.
BbJoint *bb_joint_new(const BbNestingOptions *options, const BbNames *names);
void bb_joint_free(BbJoint *joint);

// Fills paths->parent, ->confidence and ->whole (all allocated, without parents) from paths->calls,
// and the numbers of children and of candidates in its facts; allocates ->pool_wait where calls
// waited for a pool, ->worker_wait where some waited for a worker of their callee, or for a lock.
// hanging: hanging.h. given_up: [call], all false; becomes true of calls that outlast their parent
// because it gave them up.
void bb_joint_run(BbJoint *joint, BbPaths *paths, const bool *hanging, bool *given_up);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbJoint, bb_joint_free)
