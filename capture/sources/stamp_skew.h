// SPDX-License-Identifier: Apache-2.0
// Frames of several interfaces whose stamps step back from one to the next: were they written in
// batches (then the stamps tell their order), or do the clocks disagree (then the file does)?
//
// - Where frames stand in the order in which they came, one distance of two clocks explains all
//   steps between their interfaces: the shortest step there and the shortest step back again give
//   more than nothing together, since both have the time that passed, and the distance cancels out.
//   Batches step back by their own length, and ahead by next to nothing: less than nothing
//   together. An eighth of the longest step back, at least 1 ms, is for queues and clocks that
//   drift.
// - Few packets fit both. So no batch must be able to explain it either: a frame is never older
//   than the batch before last of another interface, since all there was has been written since.
//   Eight frames that are, while one distance explains all for 500 ms, which is two batches of
//   dumpcap, are clocks. Clocks that disagree by less than the time from a request to the next are
//   not told from small batches, and count as none.
// - What then does not fit is forgiven once, until as much is seen again.
//
// Beyond 16 interfaces some share a place, which can only look like batches.
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct BbStampSkew BbStampSkew;

typedef enum {
    BB_SKEW_UNKNOWN, // not enough was seen: 500 ms by the stamps of any one interface
    BB_SKEW_NONE,    // none that could be told: go by the stamps
    BB_SKEW_CLOCKS,  // the clocks disagree: go by the order of the file
} BbSkewVerdict;

BbStampSkew *bb_stamp_skew_new(void);
void bb_stamp_skew_free(BbStampSkew *skew);

// The next frame of the file.
void bb_stamp_skew_look(BbStampSkew *skew, guint32 interface, gint64 time_ns);

BbSkewVerdict bb_stamp_skew_tell(const BbStampSkew *skew);

// By how much those clocks disagree, about, that do so most; 0 where none do.
gint64 bb_stamp_skew_apart(const BbStampSkew *skew);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbStampSkew, bb_stamp_skew_free)
