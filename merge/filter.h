// SPDX-License-Identifier: Apache-2.0
// Chooses messages of a trace. A call and its return stand or fall together: what a condition says
// of a call it says of both.
#pragma once

#include "data/order.h"

// Conditions hold all at once; those not given hold always. Lists end with NULL, and one of their
// patterns (data/glob.h) must match. Strings are lent.
typedef struct BbFilterOptions {
    gint64 from_ns, to_ns;    // the call, or other message, is in [from, to); BB_TIME_NONE: open
    const char *const *nodes; // it comes from or goes to such a node
    const char *const *edges; // "A->B": A calls B, or sends B a free message
    const char *const *protocols; // of the call, or other message
    const char *const *ops;       // likewise
    const char *const *statuses;  // of the return, or free message
    bool errors;                  // that status tells of a failure
    gint64 slower_ns, faster_ns;  // the return comes after more, or less; 0: any
    guint64 sample;               // one connection in so many (merge/sampling.h); 0: all
    bool invert;                  // what would be kept is dropped, and the other way round
    guint open_max, held_max;     // limits, see below; 0: BB_OPEN_CALLS_MAX, BB_FILTER_HELD_MAX
} BbFilterOptions;

#define BB_FILTER_ALL ((BbFilterOptions){.from_ns = BB_TIME_NONE, .to_ns = BB_TIME_NONE})

// Where a condition needs the return, messages wait for it, at most so many, about 200 bytes each.
// Beyond that the first call that waits counts as one without return. So does the oldest of more
// than open_max calls without return; its return counts as one without call.
#define BB_FILTER_HELD_MAX (1u << 18)

typedef struct BbFilter BbFilter;

// names is lent. sink gets what is kept, in the order it came in.
BbFilter *bb_filter_new(const BbFilterOptions *options, const BbNames *names, BbMessageSink sink,
                        gpointer user);
void bb_filter_free(BbFilter *filter);

// Takes a message, in order of time. Fails when the sink does.
bool bb_filter_push(BbFilter *filter, const BbMessage *message, GError **error);
// Decides what still waits: a call whose return did not come has none.
bool bb_filter_finish(BbFilter *filter, GError **error);

guint64 bb_filter_kept(const BbFilter *filter); // messages
// Calls that were decided before their return was seen, at either limit.
guint64 bb_filter_hurried(const BbFilter *filter);

// Takes a pattern for edges apart: two patterns with "->" between, and perhaps blanks beside it.
// Returns false if text is none; else the caller frees both sides.
bool bb_filter_split_edge(const char *text, char **caller, char **callee);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbFilter, bb_filter_free)
