// SPDX-License-Identifier: Apache-2.0
// What the makers of sites share: sites.c hands them out, crew.c has their calls, suitors.c the
// candidates of each child. The value does not change while several threads make sites.
#pragma once

#include "nesting/sites.h"
#include "nesting/sweep.h"
#include "nesting/teams.h"

struct BbSites {
    const BbCall *calls;
    guint32 n_calls, n_names;
    gint64 window_ns;
    const bool *hanging; // or NULL
    BbAxis *axis;
    double busy; // of the trace, in quanta
    bool labels, connections;
    BbTeams *teams;
    const BbGapScale *scale;
    const guint8 *place; // NULL: callers tell parents apart
    const gint64 *ready_ns;
    const BbWorkers *workers; // or NULL
    BbCandidates *candidates;
    GArray *jobs; // of Job: the sites, in the order in which they are made
};

// A node of a site: its stretch of parents and of children, and by how much its times are moved.
// Replicas come one after the other in one long time, so that they share statistics and nothing
// else.
typedef struct BbMember {
    guint32 node, first_parent, first_child;
    gint64 shift;
} BbMember;

// The calls of a site's nodes, one node after the other.
typedef struct BbCrew {
    const BbSites *sites;
    BbSweep *sweep;
    GArray *parents, *children; // of BbParent, BbChild
    GArray *members;            // of BbMember, in order of nodes
    guint32 *place;             // [child]: where it stands among the site's, once they are loaded
    guint32 team;
} BbCrew;

// Whether a node of a team has a part in its site.
bool bb_crew_has(const BbSites *sites, guint32 node);

// The caller clears it.
BbCrew bb_crew_gather(const BbSites *sites, guint32 team);
void bb_crew_clear(BbCrew *crew);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BbCrew, bb_crew_clear)

// Fills in the parents and children of a site that has room for the crew's.
void bb_crew_load(BbCrew *crew, BbSite *site);

// Finds the candidates of each child, and the means of the onset by them. The numbers are of
// children with candidates that they are nested in, and of those.
void bb_suitors_find(BbCrew *crew, BbSite *site, BbOnset *onset, guint64 *children,
                     guint64 *candidates);
