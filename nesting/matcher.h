// SPDX-License-Identifier: Apache-2.0
// Joins calls with their returns (paper, section 5.1, step 1), fed in order of time.
#pragma once

#include "nesting/sighting.h"

#include "data/call.h"

typedef struct BbMatcher BbMatcher;
typedef struct BbBacklog BbBacklog;

// two_sided: some sightings are at_receiver, so that a message may come twice.
BbMatcher *bb_matcher_new(bool two_sided);
void bb_matcher_free(BbMatcher *matcher);

// Takes the next sighting. Of sightings at the same time the calls come first.
void bb_matcher_feed(BbMatcher *matcher, const BbSighting *sighting);

// After all of those: what sighting, as of a return, says ends the earliest call of its caller,
// callee and id that has no return, if there is one.
void bb_matcher_end(BbMatcher *matcher, const BbSighting *sighting);

// Hands out what was fed, in no order of time, for another matcher. Only where two_sided is false.
// After it, only free.
void bb_matcher_turn_back(const BbMatcher *matcher, BbBacklog *to);

typedef struct BbMatches {
    BbCall *calls; // in order of their feed; the caller frees
    guint32 count, unreturned;
    bool in_order;   // the calls are in order of call_ns
    guint64 orphans; // returns without call
} BbMatches;

// Ends the feed: gives returns that were stamped before their call to it, fills times that were
// seen once only.
BbMatches bb_matcher_finish(BbMatcher *matcher);

// After finish: the returns without call, as calls without call times, in order of their feed.
// Lent. Memory: 81 bytes for each return that found no open call.
const BbCall *bb_matcher_orphans(const BbMatcher *matcher, guint32 *count);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbMatcher, bb_matcher_free)
