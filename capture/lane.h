// SPDX-License-Identifier: Apache-2.0
// A thread that decodes: every `step`-th shard, from its own number on. Rounds of packets in, notes
// on its tape out. Inside of capture/ only.
#pragma once

#include "capture/channel.h"
#include "capture/flow.h"
#include "capture/round.h"
#include "capture/tape.h"

typedef struct BbLane BbLane;

// What a lane has counted, and what it holds, at the end of a round.
typedef struct BbLaneState {
    BbLoss loss;
    guint connections;
    gsize held;
} BbLaneState;

BbLane *bb_lane_new(guint number, guint step);
// Of a lane that does not run.
void bb_lane_free(BbLane *lane);

// For the contexts of its shards; lent.
BbTape *bb_lane_tape(const BbLane *lane);
BbLoss *bb_lane_loss(BbLane *lane);

// flows of all shards (only its own are touched), and where rounds go that all have read, are lent.
void bb_lane_start(BbLane *lane, BbFlows *const *flows, guint n_flows, BbChannel *read);
void bb_lane_put(BbLane *lane, BbRound *round);
// After the last round was put.
void bb_lane_join(BbLane *lane);

// As of the end of the last round; after join, as of now.
BbLaneState bb_lane_state(BbLane *lane);
