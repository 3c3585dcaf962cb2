// SPDX-License-Identifier: Apache-2.0
// Which of two observers a message passed first. Known where one of the sightings is the receiver's
// own. Else asked of the stamps themselves: of the messages between two nodes, those one way are
// stamped by the clocks' difference and a delay, those the other way by the difference less a
// delay; so the greater differences belong to the direction that passes a first, whatever the
// clocks. And where that is not clear, as with one direction only, of where the observers are: one
// that sees the messages of one node only is at that node.
//
// Where none of it tells of any message, the observers are at one point as far as their stamps can
// tell, and either order is as good between nodes with messages both ways: the clocks' difference
// lies among their stamps', and what these scatter by becomes the uncertainty.
#pragma once

#include "merge/clock_fit.h"

typedef enum {
    BB_CLOCK_ORDER_UNKNOWN,
    BB_CLOCK_ORDER_A_FIRST,
    BB_CLOCK_ORDER_B_FIRST,
} BbClockOrder;

// What two observers saw of one message.
typedef struct BbClockMatch {
    gint64 a_ns, b_ns;
    guint32 sender, receiver;
    BbClockOrder order;
} BbClockMatch;

// Fills the orders that are unknown, as far as can be told. a_at and b_at are the nodes that the
// observers are at, 0 if none. Sorts matches.
void bb_clock_order_find(BbClockMatch *matches, gsize count, guint32 a_at, guint32 b_at);
