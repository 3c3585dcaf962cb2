// SPDX-License-Identifier: Apache-2.0
// Vertices of figure 6 whose effects are still to be looked for, with their messages: those with
// the most messages come first, so that a limit on vertices cuts what is rarest. Of equals the one
// that was put in first.
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct BbPendingVertex {
    guint32 *messages; // W: indices, owned
    guint32 count;     // of them
    guint32 vertex;    // of BbVertices
    guint32 edge;      // that W came over
    guint32 depth;     // edges from the root, its own included
    guint64 ticket;    // set by bb_pending_put
} BbPendingVertex;

typedef struct BbPending BbPending;

// messages_max: that all the vertices together may hold.
BbPending *bb_pending_new(gsize messages_max);
void bb_pending_free(BbPending *pending);

// Takes a copy of vertex->messages. Returns false, and takes nothing, where there is no room.
bool bb_pending_put(BbPending *pending, const BbPendingVertex *vertex);
// Returns false where there is none. The caller frees vertex->messages.
bool bb_pending_take(BbPending *pending, BbPendingVertex *vertex);
// Messages of the vertex that is taken next; 0 where there is none.
guint32 bb_pending_most(const BbPending *pending);
gsize bb_pending_count(const BbPending *pending);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbPending, bb_pending_free)
