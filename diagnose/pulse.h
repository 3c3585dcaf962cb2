// SPDX-License-Identifier: Apache-2.0
// The pulse of a flow of messages: what went by since it was last felt, in all and by edge (who
// calls whom, by which protocol). The clock is the caller's: an interval ends when he asks.
//
// Limits: open calls, the oldest is forgotten beyond (counted; its return has no latency then), and
// edges: what edges beyond the limit do is summed as `other`. Where the table is full when the
// pulse is felt, edges that did nothing in the interval make room: their totals go to other's.
// 150 bytes an edge.
#pragma once

#include "data/message.h"

#define BB_PULSE_OPEN 65536u
#define BB_PULSE_EDGES 1024u

typedef struct BbPulse BbPulse;

typedef struct BbPulseSum {
    guint64 calls, returns;
    guint64 errors;    // returns whose status tells of a failure (data/status.h)
    guint64 timed;     // returns whose call was seen: those with a latency
    gint64 latency_ns; // sum of those, from first byte to first byte; saturates
    gint64 max_ns;
} BbPulseSum;

typedef struct BbPulseEdge {
    guint32 caller, callee, proto;
    BbPulseSum now;   // of the interval
    BbPulseSum total; // since the edge is known
} BbPulseEdge;

typedef struct BbPulseBeat {
    guint64 messages;       // of the interval, free ones too
    BbPulseSum now;         // of all edges
    GArray *edges;          // of BbPulseEdge: by calls of the interval, most first, then by names
    BbPulseSum other;       // of the interval
    BbPulseSum other_total; // since new
    guint open;             // calls that wait for their return
    guint64 forgotten;      // calls beyond the limit, since new
} BbPulseBeat;

// names are lent; both limits are 1 or more.
BbPulse *bb_pulse_new(const BbNames *names, guint open_limit, guint edge_limit);
void bb_pulse_free(BbPulse *pulse);

// Takes a message. A latency is found where the call comes before its return.
void bb_pulse_push(BbPulse *pulse, const BbMessage *message);

// What went by since the last time. Clear it.
BbPulseBeat bb_pulse_take(BbPulse *pulse);
void bb_pulse_beat_clear(BbPulseBeat *beat);

// 0 where there is none.
gint64 bb_pulse_sum_mean(const BbPulseSum *sum);
void bb_pulse_sum_add(BbPulseSum *sum, const BbPulseSum *other);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbPulse, bb_pulse_free)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BbPulseBeat, bb_pulse_beat_clear)
