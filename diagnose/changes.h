// SPDX-License-Identifier: Apache-2.0
// When requests began to take longer, or shorter, for good: the moment that parts the requests of a
// first call, whoever the client is, into two of which each has one usual latency.
//
// The logarithms of latencies are summed over batches of requests that follow one another. Of all
// splits of the batches in two the likeliest is taken, if each part's own mean makes it likelier
// than one mean by so much that chance would show such a split in one of a thousand (log likelihood
// ratio of normal means with one deviation: Hinkley, Biometrika 57, 1970). Batches that resemble
// their neighbours, as where queues last long, count as fewer.
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "data/names.h"

// First calls that are looked at, of 6 KB each. Of more, those with the fewest requests are
// forgotten until half of them are left, and begin anew if they come again.
#define BB_CHANGES_SERIES 1024u
#define BB_CHANGES_LEAST 0.1 // what the longer of two means must be longer by, of itself

typedef struct BbChange {
    guint32 node, op;
    gint64 at_ns;               // of the first request after it
    guint64 before, after;      // requests
    gint64 before_ns, after_ns; // mean latency
} BbChange;

typedef struct BbChanges BbChanges;

// names is lent.
BbChanges *bb_changes_new(const BbNames *names);
void bb_changes_free(BbChanges *changes);

// Adds a request, in order of time. op: BB_NAME_NONE where operations do not count.
void bb_changes_add(BbChanges *changes, guint32 node, guint32 op, gint64 start_ns,
                    gint64 latency_ns);

// What has changed, of BbChange: what makes the greatest difference over all requests after it
// first. The caller unrefs.
GArray *bb_changes_find(const BbChanges *changes);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbChanges, bb_changes_free)
