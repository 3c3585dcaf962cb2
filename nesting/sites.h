// SPDX-License-Identifier: Apache-2.0
// Makes the sites of a trace: for each node its calls, their kinds, and the candidate parents of
// each child.
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

// Which sites there are, in another look at the calls. place: of each call, 0 or what tells it from
// others of its node, whoever made them (joins.h); NULL: calls are told apart by caller. With
// places only sites that have some are made, and ready_ns says when all that a call may wait for
// was there. workers: a call is worked on when its turn comes, and only sites in which some waited
// for that are made; NULL: all, from their arrival on. Returns how many there are.
guint bb_sites_look(BbSites *sites, const guint8 *place, const gint64 *ready_ns,
                    const BbWorkers *workers);

// By how much more, in log likelihood for each parent, the look must explain a team (BbSite.team)
// to be believed: with workers what these demand, of replicas the most; else 0.
double bb_sites_margin(const BbSites *sites, guint32 team);

// [name]: the first of the nodes that are one site with it (BbSite.team). Lent.
const guint32 *bb_sites_teams(const BbSites *sites);

// What is known of a site before any assignment.
typedef struct BbMade {
    BbSite *site;
    BbOnset *onset;
    guint64 children, candidates; // children with candidates that they are nested in, and those
    double in_quantum;            // calls that a node of it makes in a quantum of stamps
} BbMade;

// Makes one of the sites, the one of most calls first; several threads may do so at once. The
// caller clears it.
BbMade bb_sites_make(const BbSites *sites, guint index);
void bb_made_clear(BbMade *made);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BbMade, bb_made_clear)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSites, bb_sites_free)
