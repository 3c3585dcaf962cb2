// SPDX-License-Identifier: Apache-2.0
// Bytes of one direction of a TCP connection that its receiver acknowledged and that we never saw:
// these were lost on the way to us, not on the way to the receiver. Nothing is kept of the bytes
// themselves. SYN and FIN count as a byte each (RFC 9293, 3.4).
//
// The count is exact while no more than BB_HOLES holes are open at once; of more, the lowest is
// counted as never seen when it is acknowledged, also where it is filled later. What comes before
// the first byte seen is no hole. An acknowledgement beyond the last byte seen is believed up to
// where another one confirms it, or when a byte is seen there: a single one may be damaged.
#pragma once

#include <glib.h>
#include <stdbool.h>

#define BB_HOLES 16u
#define BB_HOLES_FAR (1 << 24) // acknowledged beyond the last byte seen: further is not believed
#define BB_HOLES_ODD 3u        // segments in a row from elsewhere, and the stream began anew there

// Of positions (capture/sequence.h).
typedef struct BbHole {
    guint64 begin, end;
} BbHole;

typedef struct BbHoles {
    BbHole hole[BB_HOLES]; // by position
    guint count;
    guint64 top;   // behind the highest byte seen
    guint64 acked; // up to here
    guint64 begin; // first byte seen
    guint32 isn;
    guint odd;
    guint64 claim; // the highest acknowledgement beyond top, which nothing confirms yet
    guint64 waiting, waiting_end; // bytes of holes given up, not acknowledged yet
    bool started, has_acked, has_isn, has_claim;
    guint64 seen, unseen; // bytes, the former each once
} BbHoles;

// A segment of that direction, and an acknowledgement of the other one.
void bb_holes_data(BbHoles *holes, guint32 seq, guint32 length);
void bb_holes_ack(BbHoles *holes, guint32 ack);
// A SYN of that direction, before its bb_holes_data: another number is another connection, but that
// of a stream just joined, which the SYN comes late for.
void bb_holes_syn(BbHoles *holes, guint32 seq);
// The end: what is open and acknowledged is added to unseen.
void bb_holes_settle(BbHoles *holes);
