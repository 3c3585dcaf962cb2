// SPDX-License-Identifier: Apache-2.0
// Makes the sites of a trace, one after the other: for each node its calls, their kinds, and the
// candidate parents of each child.
#pragma once

#include "data/roles.h"
#include "nesting/candidates.h"
#include "nesting/onset.h"
#include "nesting/site.h"
#include "nesting/workers.h"

typedef struct BbSites BbSites;

// Everything is lent. labels: operations tell calls apart. connections: what they tell counts.
// roles: nodes of one role do not; may be NULL: then each node is a site of its own, else all nodes
// of a role are one, with candidates among a node's own calls only. hanging: hanging.h; or NULL.
BbSites *bb_sites_new(const BbCall *calls, guint32 n_calls, guint32 n_names, gint64 skew_window_ns,
                      bool labels, bool connections, BbRoles *roles, const BbGapScale *scale,
                      const bool *hanging);
void bb_sites_free(BbSites *sites);

// Back to before the first site. place: of each call, 0 or what tells it from others of its node,
// whoever made them (joins.h); NULL: calls are told apart by caller. With places only sites that
// have some come, and ready_ns says when all that a call may wait for was there. workers: a call is
// worked on when its turn comes, and only sites in which some waited for that come; NULL: all, from
// their arrival on.
void bb_sites_rewind(BbSites *sites, const guint8 *place, const gint64 *ready_ns,
                     const BbWorkers *workers);

// [name]: the first of the nodes that are one site with it (BbSite.team). Lent.
const guint32 *bb_sites_teams(const BbSites *sites);

// The next site with what is known of it before any assignment, NULL after the last. Both are the
// caller's. Adds to the numbers of children with candidates, and of candidates.
BbSite *bb_sites_next(BbSites *sites, BbOnset **onset, guint64 *children, guint64 *candidates);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSites, bb_sites_free)
