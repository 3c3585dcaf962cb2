// SPDX-License-Identifier: Apache-2.0
// Every call of a trace with two parents: the one that was inferred and the true one. Collected
// window after window, then settled: a true parent may have been published anywhere.
#pragma once

#include "data/path.h"
#include "diagnose/truth.h"

typedef enum {
    BB_LINK_UNTOLD, // the trace does not tell: left out of all figures
    BB_LINK_ROOT,   // nothing caused the call
    BB_LINK_CHILD,  // its parent is in the trace
    BB_LINK_LOST,   // its parent is not there, or never returned: it is to stay without one
} BbLinkTruth;

typedef struct BbLink {
    BbCall call;
    BbId parent_id;   // of the true parent, as the trace tells it
    guint32 request;  // number of its path; once settled that of all calls of a request
    guint32 found;    // index of the inferred parent, BB_CALL_NO_PARENT for none
    guint32 real;     // of the true parent; BB_CALL_NO_PARENT unless BB_LINK_CHILD
    float confidence; // that found is right; BB_CONFIDENCE_NONE if not stated
    float whole;      // that it lacks no call of its own, if those it has are
    BbLinkTruth truth;
    bool right; // once settled: found is what it should be
} BbLink;

// Memory: 128 bytes a call, and while it is settled 8 more; some 50 a request.
typedef struct BbLinks {
    GArray *links;      // of BbLink: the calls with return
    guint32 n_requests; // once settled; requests are numbered from 0
    guint64 unreturned; // calls without return: they are nobody's parent, and stand apart
    GArray *unanswered; // of BbLink: those of them whose truth is told
    guint64 beneath, beneath_right; // calls whose truth is told that were given to one of them;
                                    // those that it is the true parent of
    guint64 untold;    // calls of links whose truth is not told, circular ones included
    guint64 circular;  // calls whose true parents, if followed, come back to the call
    GHashTable *paths; // BbId of a path -> its number + 1
} BbLinks;

BbLinks *bb_links_new(void);
void bb_links_free(BbLinks *links);

// Adds the calls of a window; what truth holds of them is taken.
void bb_links_add(BbLinks *links, const BbPaths *paths, BbTruth *truth);

// Finds the true parents: of the calls with that id that enter the caller of the child, and are
// of its path or of none that is told, the latest that arrived before the child was made, or the
// first where clocks put them all later. After it nothing can be added.
void bb_links_settle(BbLinks *links);

static inline const BbLink *bb_links_at(const BbLinks *links, guint32 index)
{
    return &g_array_index(links->links, BbLink, index);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbLinks, bb_links_free)
