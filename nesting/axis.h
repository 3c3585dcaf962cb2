// SPDX-License-Identifier: Apache-2.0
// Time as the joint choice counts it: for each node in quanta, the unit of the trace's stamps,
// since the first one that has to do with the node. A stamp that is years off (a clock that was
// never set) spoils the times of nobody else: it counts as no farther off than BB_AXIS_MAX.
#pragma once

#include "data/call.h"

#define BB_AXIS_MAX (G_GINT64_CONSTANT(1) << 60) // quanta: differences never overflow

typedef struct BbAxis BbAxis;

// calls, in order of call_ns, and their names, all below n_names; lent, must outlive the value.
BbAxis *bb_axis_new(const BbCall *calls, guint32 n_calls, guint32 n_names);
void bb_axis_free(BbAxis *axis);

// A time on the node's clock, in quanta. 0 or later for calls by it, and for those to it that
// were answered.
gint64 bb_axis_at(const BbAxis *axis, guint32 node, gint64 time_ns);

// From the node's first time to its last, in quanta; 0 where it has none.
gint64 bb_axis_spread(const BbAxis *axis, guint32 node);

// The unit.
gint64 bb_axis_quantum_ns(const BbAxis *axis);

// A length of time in quanta.
gint64 bb_axis_length(const BbAxis *axis, gint64 length_ns);

// For how long calls were made, in quanta: stretches without any that are far longer than usual,
// such as nights, and the way to a lost stamp, count as little. 1 at least.
double bb_axis_busy(const BbAxis *axis);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbAxis, bb_axis_free)
