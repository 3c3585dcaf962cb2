// SPDX-License-Identifier: Apache-2.0
// What one request does, by calling context: calls, errors, and times on its critical path. Their
// sum is its latency. Nodes are what they count as (bb_paths_node).
#pragma once

#include "data/path.h"
#include "diagnose/contexts.h"
#include "diagnose/request_time.h"

// Of one context: in one instance, or in many. Times are on the critical path.
typedef struct BbRequestSums {
    guint64 present, calls, errors; // instances, calls, instances with an error
    gint64 ns[BB_REQUEST_TIMES];
} BbRequestSums;

typedef struct BbRequestEntry {
    guint32 context;
    BbRequestSums sums;
} BbRequestEntry;

typedef struct BbRequestsOptions {
    bool labels;     // operation labels tell calls apart
    bool last_byte;  // a call lasts until the last byte of its return
    bool any_client; // clients are one: their node is BB_NAME_NONE
} BbRequestsOptions;

typedef struct BbRequests BbRequests;

// contexts, which may be shared, and names are lent.
BbRequests *bb_requests_new(const BbRequestsOptions *options, BbContexts *contexts,
                            const BbNames *names);
void bb_requests_free(BbRequests *requests);

// Sums up a request with return: its entries, the first call's first, *count of them, lent until
// the next one. Returns its latency.
gint64 bb_requests_sum(BbRequests *requests, const BbPaths *paths, const BbInstance *instance,
                       const BbRequestEntry **entries, guint *count);

// Contexts have got other numbers.
void bb_requests_renumbered(BbRequests *requests);

// Adds part to sums; times stop at the end of gint64.
void bb_request_sums_add(BbRequestSums *sums, const BbRequestSums *part);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbRequests, bb_requests_free)
