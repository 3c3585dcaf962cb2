// SPDX-License-Identifier: Apache-2.0
// Which nodes are one site: those of one role, so that they share statistics.
#pragma once

#include "data/groups.h"
#include "data/roles.h"
#include "nesting/axis.h"

// A team has the number of its first node.
typedef struct BbTeams {
    BbGroups nodes; // of each team
    guint32 *of;    // [node]: its team
    guint32 *role;  // [node]
    gint64 *period; // [team], in quanta: times of one node never come near those of the next
} BbTeams;

// roles: NULL: each node is a team of its own. A role whose times, one node after the other, would
// not fit is none either. n_names: nodes and roles are below it.
BbTeams *bb_teams_new(BbRoles *roles, const BbAxis *axis, guint32 n_names);
void bb_teams_free(BbTeams *teams);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTeams, bb_teams_free)
