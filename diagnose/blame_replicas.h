// SPDX-License-Identifier: Apache-2.0
// Where replicas count as one node: the own work of the calls to each of them, as one may be
// slower than the others.
#pragma once

#include "diagnose/blame.h"

typedef struct BbBlameReplicas BbBlameReplicas;

// limit: of rows; what would need more is passed over.
BbBlameReplicas *bb_blame_replicas_new(guint limit);
void bb_blame_replicas_free(BbBlameReplicas *replicas);

// Adds a call with return, if it is one to a replica.
void bb_blame_replicas_add(BbBlameReplicas *replicas, const BbPaths *paths, guint32 call,
                           guint32 op);

// Of BbBlameRow without cost: the role's work at an operation, with the replica in the place of
// the callers. The caller unrefs; after it, only free.
GArray *bb_blame_replicas_take(BbBlameReplicas *replicas);
