// SPDX-License-Identifier: Apache-2.0
// One flow: a TCP connection, or a pair of UDP endpoints. Its packets become bytes and ends, for
// its dialog. Inside of capture/ only; flows are found, and bounded, by capture/flow.h.
#pragma once

#include "capture/asked.h"
#include "capture/context.h"
#include "capture/dialog.h"
#include "capture/hold.h"
#include "capture/tcp.h"
#include "capture/wire.h"

// By what it costs to forget it.
typedef enum {
    BB_FLOW_CLOSED,
    BB_FLOW_EMPTY,
    BB_FLOW_DATAGRAMS,
    BB_FLOW_TALKING,
    BB_FLOW_KINDS
} BbFlowKind;

// Where a direction is (capture/sequence.h). 0: not known yet.
typedef struct BbFlowPlace {
    guint64 sent; // behind the last byte that was seen
    guint64 told; // or where what came last said that it is: its own, or an acknowledgement
} BbFlowPlace;

typedef struct BbFlow BbFlow;
struct BbFlow {
    // What a look-up reads, in one cache line.
    BbFlow *chain; // of the hash bucket
    guint32 hash;
    guint8 transport; // BbTransport
    guint8 kind;      // BbFlowKind
    guint8 client;
    bool client_known;     // by a handshake, of this connection or of the one before
    BbEndpoints endpoints; // [0]: who sent the first packet
    gint64 last_ns;
    guint64 number;                    // of its last packet
    guint64 servers;                   // known when that was read
    BbDialog *dialog;                  // NULL: no data yet, or closed
    BbFlow *older, *newer;             // of its kind
    guint32 held;                      // bytes held back
    guint32 told_ms;                   // when it last told of the network, as far as that goes
    BbAsked *asked;                    // not answered yet; NULL: none
    BbEndpoints *real;                 // ends, where a NAT hides one; else NULL
    BbFlow *holds_older, *holds_newer; // of the flows that hold bytes, by when they began to
    BbHold *hold;                      // NULL: no side has closed yet
    GList *waits;                      // among those of which returns wait; NULL: none does
    BbFlowPlace place[2];              // only of TCP, as are tcp and wire
    BbTcp tcp;
    BbWire wire;
};

// Begun by packet; in no table yet.
BbFlow *bb_flow_new(const BbPacket *packet, guint32 hash);
// Ends what is under way: nothing is held then. After it, only free.
void bb_flow_end(BbFlow *flow, BbContext *context);
void bb_flow_free(BbFlow *flow);

// Takes a packet that side (an index into endpoints) sent. Returns the kind that it is of from then
// on, which is the caller's to note.
BbFlowKind bb_flow_push(BbFlow *flow, BbContext *context, guint side, const BbPacket *packet);
// Whether packet shows that its ends have another connection by now.
bool bb_flow_is_another(const BbFlow *flow, guint side, const BbPacket *packet);

guint32 bb_flow_held(const BbFlow *flow); // bytes
// Gives up what it holds. Returns whether it is closed by that.
bool bb_flow_drop_held(BbFlow *flow, BbContext *context);
// Returns that have waited for too long (capture/hold.h) are emitted.
void bb_flow_release(BbFlow *flow, BbContext *context, gint64 now_ns);

guint bb_flow_client(const BbFlow *flow); // side that calls, as far as that is known
static inline const BbEndpoints *bb_flow_ends(const BbFlow *flow)
{
    return flow->real ? flow->real : &flow->endpoints;
}
