// SPDX-License-Identifier: Apache-2.0
// Clocks that are wrong (paper, section 7.5.6): each node's is off by a constant, and by a part
// that grows with time. What a node stamps moves by its clock: the times of what it sends, and its
// times of arrival.
#pragma once

#include "data/message.h"

typedef struct BbSkew BbSkew;

typedef struct BbSkewClock {
    gint64 offset_ns;
    double drift_ppm; // microseconds a second, from the first message on
} BbSkewClock;

// A clock whose two parts are normal random numbers of these deviations is made for every node that
// bb_skew_set does not name. It depends on the seed and the node's name only. names is lent.
BbSkew *bb_skew_new(BbNames *names, BbSkewClock deviation, guint64 seed);
void bb_skew_free(BbSkew *skew);

void bb_skew_set(BbSkew *skew, const char *node, BbSkewClock clock);

// Moves the times of a message. The first one that comes is where drifts begin. What would be
// before 1970 or beyond the range of time stays at its end, and is counted.
void bb_skew_apply(BbSkew *skew, BbMessage *message);
guint64 bb_skew_clipped(const BbSkew *skew);

// The clocks in use, by names of nodes below bb_names_count(). Returns false for a name that has
// sent and received nothing.
bool bb_skew_clock(const BbSkew *skew, guint32 node, BbSkewClock *clock);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSkew, bb_skew_free)
