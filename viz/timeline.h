// SPDX-License-Identifier: Apache-2.0
// A path instance, or a pattern's mean, as lines of text: one a call, with a bar where it lay in
// time.
#pragma once

#include "data/critical_path.h"
#include "data/pattern.h"

typedef struct BbTimelineStyle {
    guint columns; // of the terminal; the bars take what the rest leaves
    bool ascii;    // no letters but those of ASCII
} BbTimelineStyle;

#define BB_TIMELINE_COLUMNS 80u // where nobody knows better

// What is needed to draw one; no longer refers to what it was made from. Memory: 128 bytes a call.
typedef struct BbTimeline BbTimeline;

// critical: the charges of the instance's calls, lent; NULL where there are none (no return).
// Starts count from the entry into the root's callee, each by the clock of the node that makes the
// call, so that differences of clocks do not show.
BbTimeline *bb_timeline_of_instance(const BbPaths *paths, const BbInstance *instance,
                                    const BbCritical *critical, const BbNames *names,
                                    bool last_byte);

// Starts are sums of mean call delays; of convolution, of the most frequent ones.
BbTimeline *bb_timeline_of_pattern(const BbPattern *pattern);

void bb_timeline_free(BbTimeline *timeline);

// Whether some call is less than sure, so that there is a column that says so.
bool bb_timeline_shows_sure(const BbTimeline *timeline);

// Returns whether bars have dots: for a while somebody waited for their turn, or for a pool.
bool bb_timeline_append(GString *out, const BbTimeline *timeline, const BbNames *names,
                        const BbTimelineStyle *style);

// A name from the network as the style can show it; an empty one as "?".
void bb_timeline_append_name(GString *out, const BbNames *names, guint32 name,
                             const BbTimelineStyle *style);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTimeline, bb_timeline_free)
