// SPDX-License-Identifier: Apache-2.0
// The flows of a capture: TCP connections and pairs of UDP endpoints, found by their addresses and
// ports. At most `max` are remembered. Room is made by ending, in this order: connections that are
// closed, those that never carried data or only wait to be reset, pairs of UDP endpoints, and
// whichever was silent for longest; counted where something is lost by it.
#pragma once

#include "capture/context.h"
#include "capture/packet.h"

#define BB_FLOW_IDLE_NS \
    (60 * G_GINT64_CONSTANT(1000000000)) // closed, empty and UDP flows live so long

typedef struct BbFlows BbFlows;

BbFlows *bb_flows_new(BbContext *context, guint max, gsize max_held);
void bb_flows_free(BbFlows *flows);

// Takes a packet to its flow, made when new.
void bb_flows_push(BbFlows *flows, const BbPacket *packet);
// Ends all flows: closed ones, those without data, UDP, the others; each in the order in which they
// were last heard.
void bb_flows_finish(BbFlows *flows);
// The same one by one, so that several tables can be ended in one order: that with the lowest rank
// is next (which tells by BbPacket's number who was heard last). G_MAXUINT64: no flow is left.
guint64 bb_flows_rank(const BbFlows *flows);
void bb_flows_end_first(BbFlows *flows); // there is one

// Ends the flows that are left out from here on (capture/shed.h), in the same order. What they had
// under way is counted as shed, not as missing.
struct BbShedding;
void bb_flows_shed(BbFlows *flows, const struct BbShedding *shedding);

guint bb_flows_count(const BbFlows *flows);
gsize bb_flows_held(const BbFlows *flows);
