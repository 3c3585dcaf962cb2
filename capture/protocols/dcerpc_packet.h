// SPDX-License-Identifier: Apache-2.0
// One packet of DCE/RPC: of a connection (C706, 12.6; MS-RPCE, 2.2.2) or a datagram (C706, 12.5).
#pragma once

#include "capture/decoder.h"

#define BB_DCERPC_HEAD 16u // all packets of a connection have it
#define BB_DCERPC_NAME 32u
#define BB_DCERPC_BINDINGS 4u // contexts of one bind that are read

typedef enum {
    BB_DCERPC_REQUEST,
    BB_DCERPC_RESPONSE,
    BB_DCERPC_FAULT, // also a reject
    BB_DCERPC_BIND,
    BB_DCERPC_BIND_ACK,
    BB_DCERPC_BIND_NAK,
    BB_DCERPC_ALTER,
    BB_DCERPC_ALTER_ACK,
    BB_DCERPC_CANCEL,   // and orphaned, shutdown: nobody answers
    BB_DCERPC_INTERNAL, // authentication, pings, acknowledgements
} BbDcerpcKind;

// A presentation context: a number for an interface.
typedef struct BbDcerpcBinding {
    guint16 context;
    char interface[BB_DCERPC_NAME];
} BbDcerpcBinding;

typedef struct BbDcerpcPacket {
    BbDcerpcKind kind;
    const char *name; // of the packet type, static
    gsize length;     // of the packet
    gsize wanted;     // bytes of it that say all that is in here
    guint64 id;       // of the call; never 0
    guint32 status;   // of faults and rejects
    guint16 opnum, context;
    bool first, last;               // fragment
    bool maybe;                     // request: no answer is expected
    bool accepted;                  // acknowledgement of a bind: any context was
    char interface[BB_DCERPC_NAME]; // of datagrams; else empty
    BbDcerpcBinding binding[BB_DCERPC_BINDINGS];
    guint bindings;
} BbDcerpcPacket;

typedef enum { BB_DCERPC_BAD, BB_DCERPC_SHORT, BB_DCERPC_READ } BbDcerpcVerdict;

// Reads the packet at the front of data as far as it is there: SHORT when not even the head is.
BbDcerpcVerdict bb_dcerpc_packet_read(BbDcerpcPacket *packet, const guint8 *data, gsize length);
// Of a datagram, from which the snap length cut missing bytes.
BbDcerpcVerdict bb_dcerpc_datagram_read(BbDcerpcPacket *packet, const guint8 *data, gsize length,
                                        gsize missing);

// Whether a client sends packets of this kind in a connection; internal ones come from both.
bool bb_dcerpc_from_client(BbDcerpcKind kind);
bool bb_dcerpc_from_server(BbDcerpcKind kind);

// Name of a fault: "nca_op_rng_error", else its number as 0x000006F7.
gsize bb_dcerpc_fault_format(guint32 status, char *out, gsize size);
// Name of the interface with this UUID (16 bytes as on the wire): "epmapper", else its first group.
void bb_dcerpc_interface_format(const guint8 *uuid, bool little, char *out);

BbMatch bb_dcerpc_probe(const guint8 *data, gsize length);
