// SPDX-License-Identifier: Apache-2.0
// What connections tell of who caused whom. A request that holds a connection for several calls (a
// transaction), and a process or thread that has connections of its own, keep calls together that
// times do not tell apart; a pool that is shared by all does not, and then connections say nothing.
// Which of it a node does is learned.
#pragma once

#include "nesting/site.h"

typedef struct BbConnections BbConnections;

// NULL where no connection is known, or each carries one call: all below take that for connections
// that say nothing. Memory: 32 bytes a child (as much again while they are sorted), 4 a parent.
BbConnections *bb_connections_new(const BbSite *site);
void bb_connections_free(BbConnections *connections);

// Before any assignment of the site that it was made for, or met: what its owners tell.
void bb_connections_expect(BbConnections *connections, const BbSite *site);

// What was learned of one site holds for another one, of which no assignment is known yet.
void bb_connections_meet(BbConnections *connections, const BbSite *site);

// Forgets, adds the site's assignment, learns from those added since. guessed: they are guesses
// still, and may show little of what they should.
void bb_connections_reset(BbConnections *connections);
void bb_connections_observe(BbConnections *connections, const BbSite *site, double weight);
void bb_connections_fit(BbConnections *connections, bool guessed);

// Whether they may tell anything from the next fit on that is not known before any assignment
// (owners.h). They are not to be heard too early: guesses that are wrong they seem to confirm, as
// where requests in line seem to be worked on by whoever holds the connections. At first they may.
void bb_connections_hear(BbConnections *connections, bool heard);

// Whether calls go out on the connection of the call before them by more than chance.
bool bb_connections_holds(const BbConnections *connections);

// Whether they say anything of a site's calls. connections may be NULL.
bool bb_connections_tells(const BbConnections *connections, const BbSite *site);

// Log odds, by its connection, that x after the children kids[0 .. n) is that parent's and not
// another's. connections: not NULL.
double bb_connections_odds(const BbConnections *connections, const BbSite *site, guint32 parent,
                           const guint32 *kids, guint32 n, guint32 x);

// The same, or 0 for NULL.
static inline double bb_connections_log(const BbConnections *connections, const BbSite *site,
                                        guint32 parent, const guint32 *kids, guint32 n, guint32 x)
{
    return connections ? bb_connections_odds(connections, site, parent, kids, n, x) : 0;
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbConnections, bb_connections_free)
