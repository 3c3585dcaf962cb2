// SPDX-License-Identifier: Apache-2.0
// Frames of several interfaces of one file, in the order of their stamps. Who captures on several
// interfaces writes what one had, then what another had (dumpcap: batches of up to 250 ms; that is
// why Wireshark has reordercap): in the order of the file replies would come before their requests.
//
// - A frame waits until one comes that was stamped BB_STAMP_ORDER_NS later, then it is given. What
//   comes later still is given at once, and was crossed by others.
// - Frames of one interface keep their order, whatever their stamps say.
// - Where the clocks of interfaces disagree, and not the order of the file (stamp_skew.h), frames
//   are given as they stand in it. Until that is known, which takes 500 ms by the stamps of one
//   interface at most, none is given.
// - A stamp that steps back by more than BB_HEADS_STEP_NS is of a clock that was set, or of another
//   clock: what waits is given before it, so that such files are read as they stand.
// - Frames that wait are copied. They hold at most BB_STAMP_ORDER_BYTES; beyond them the earliest
//   is given sooner.
#pragma once

#include "capture/packet.h"

#define BB_STAMP_ORDER_NS G_GINT64_CONSTANT(500000000)
#define BB_STAMP_ORDER_BYTES ((gsize)64 * 1024 * 1024)

typedef struct BbStampOrder BbStampOrder;

typedef struct BbHeldFrame {
    BbFrame frame;
    guint file;        // of whoever pushed it
    bool crossed;      // its stamp is before that of a frame of another interface given earlier
    bool as_it_stands; // in the order of the file: clocks disagree
} BbHeldFrame;

BbStampOrder *bb_stamp_order_new(void);
void bb_stamp_order_free(BbStampOrder *order); // drops what waits

void bb_stamp_order_push(BbStampOrder *order, const BbFrame *frame, guint file);

// The next one that has waited long enough, lent until the next call; NULL where none has.
const BbHeldFrame *bb_stamp_order_take(BbStampOrder *order);

// All that waits has waited long enough, and comes before what is pushed from now on.
void bb_stamp_order_flush(BbStampOrder *order);

// By how much clocks disagree, about (ns); 0 where that was not seen.
gint64 bb_stamp_order_apart(const BbStampOrder *order);

bool bb_stamp_order_is_empty(const BbStampOrder *order);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbStampOrder, bb_stamp_order_free)
