// SPDX-License-Identifier: Apache-2.0
// Finds replicas: nodes with the same role, of which each call uses one or another.
#pragma once

#include "data/call.h"
#include "data/roles.h"

// With more nodes than that nothing is looked for: the search takes the square of them.
#define BB_ROLES_NODES_MAX 4096u

// Adds the roles that calls (in order of call_ns) show. Nodes are of one role when they are alike
// (nesting/alike.h): called by, and calling, the same roles for the same operations in the same
// shares; as slow as each other; and alternatives to each of their callers.
void bb_roles_find(BbRoles *roles, const BbCall *calls, guint32 n_calls, const BbNames *names);
