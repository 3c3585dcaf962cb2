// SPDX-License-Identifier: Apache-2.0
// What the time of a request is spent on, in one of its contexts. Over all contexts and these the
// sum is its latency.
#pragma once

typedef enum {
    BB_REQUEST_GAP,  // own work of the caller before it makes the call
    BB_REQUEST_POOL, // the caller waits for a pool before it makes the call
    BB_REQUEST_OWN,  // own work of the callee before it replies
    BB_REQUEST_TURN, // the call waits for its turn at the callee
    BB_REQUEST_WIRE, // on the way between caller and callee
    BB_REQUEST_TIMES,
} BbRequestTime;
