// SPDX-License-Identifier: Apache-2.0
// What the maker of a timeline hands to the one that draws it.
#pragma once

#include "viz/timeline.h"

typedef struct BbTimelineRow {
    gint64 start_ns;       // since the entry into the root's callee
    gint64 mean_ns;        // how long it took; of a pattern, on average
    gint64 wire_ns;        // how much longer its caller waited, from start_ns on; of a pattern,
                           // as far as that was waited for
    gint64 self_ns;        // of mean_ns, in which the callee worked itself
    gint64 p50_ns, p90_ns; // of a pattern
    gint64 turn_ns;        // of self_ns, how long it waited for its turn at first
    gint64 pool_ns;        // of its caller's, how long that waited for a pool before the call
    double waited;         // of a pattern: its own work that was waited for, as a share of the
                           // root's latency
    BbId id;               // of an instance's call
    guint64 errors;
    float sure; // BB_CONFIDENCE_NONE where not known
    guint32 node, op, status;
    guint16 level;   // 1 for the root
    bool last;       // of its siblings
    bool returned;   // mean_ns is known
    bool unanswered; // which is how long its caller waited in vain
    bool on_path;    // of an instance: on the critical path
} BbTimelineRow;

struct BbTimeline {
    GArray *rows; // of BbTimelineRow: each before its calls, those in order of time
    bool of_pattern;
    bool of_messages; // of convolution: none has a return, nobody is known to wait
};
