// SPDX-License-Identifier: Apache-2.0
// Returns on a TCP connection that began when who they are for had closed its side of it. Who had
// only nothing more to say acknowledges them; who had given up resets the connection (RFC 9293
// section 3.6.1, RFC 1122 section 4.2.2.13), and the return was read by nobody: its status is
// "unread". So such a return waits for that side's next packet. Who closes right after it has asked
// (QUIT) never meant to wait: that is no failure, and is told as it came. So is, after BB_HOLD_NS,
// what nothing more is heard of (the reset was lost, or a firewall drops it). Inside of capture/
// only.
#pragma once

#include "data/message.h"

struct BbContext;

typedef struct BbHeldReturns BbHeldReturns;

typedef struct BbHold {
    gint64 closed_ns[2];    // when a side closed, or reset the connection; BB_TIME_NONE: not yet
    guint32 closed_at[2];   // number of the byte behind its last one, then
    bool was_reset[2];      // so it may not answer what comes now
    BbHeldReturns *returns; // NULL: nothing waits
} BbHold;

// Of a connection that no side has closed. Where others take a hold, NULL is one too.
BbHold *bb_hold_new(void);
void bb_hold_free(BbHold *hold); // nothing waits in it
// The first time counts. at: number of the byte behind the last one of side.
void bb_hold_close(BbHold *hold, guint side, gint64 time_ns, guint32 at, bool was_reset);

#define BB_HOLD_WAITED_NS (G_GINT64_CONSTANT(1000000)) // who closes sooner did not wait
// In which a reply that was lost behind the mirror is sent again, and reset.
#define BB_HOLD_NS (3 * G_GINT64_CONSTANT(1000000000))

// Whether the side that had asked by asked_ns has closed, and waited before that.
bool bb_hold_has_waited(const BbHold *hold, guint side, gint64 asked_ns);
// Whether a return that begins at time_ns has to be held. receiver: the side that it is for, which
// had asked for it by asked_ns.
bool bb_hold_takes(const BbHold *hold, guint receiver, gint64 asked_ns, gint64 time_ns);
// Its lent strings are copied; conn is that of all of the connection's.
void bb_hold_add(BbHold *hold, guint receiver, const BbMessage *message);
// Takes over giving back the id of the call whose return was added last, or a node. False: it is
// not of what waits.
bool bb_hold_end_call(BbHold *hold, guint64 id);
bool bb_hold_end_node(BbHold *hold, guint32 node);
// next: the number up to which bytes of each side were delivered. To be called after each packet,
// with its time.
void bb_hold_note_end(BbHold *hold, const guint32 next[2], gint64 now_ns);

// A packet of side has come. Emits what is known by it: resets, and acknowledges up to ack, where
// it has one. What waits on takes no time.
void bb_hold_heard(BbHold *hold, struct BbContext *context, guint side, bool resets, bool has_ack,
                   guint32 ack);
// Whether a return has waited for BB_HOLD_NS.
bool bb_hold_is_over(const BbHold *hold, gint64 now_ns);
// Nothing more comes that could tell: all are emitted as they came.
void bb_hold_release(BbHold *hold, struct BbContext *context);
guint32 bb_hold_bytes(const BbHold *hold); // that it keeps
