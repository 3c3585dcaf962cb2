// SPDX-License-Identifier: Apache-2.0
// One packet of Rx, the RPC of AFS (OpenAFS, rx.h): who sent it in which call, and what is called.
#pragma once

#include "capture/decoder.h"

typedef enum {
    BB_RX_DATA = 1,
    BB_RX_ACK = 2,
    BB_RX_BUSY = 3,
    BB_RX_ABORT = 4,
    BB_RX_ACKALL = 5,
    BB_RX_CHALLENGE = 6,
    BB_RX_RESPONSE = 7,
    BB_RX_DEBUG = 8,
    BB_RX_VERSION = 13,
} BbRxType;

typedef struct BbRxPacket {
    guint8 type;
    bool from_caller, last; // last packet of its side in the call
    bool protected;         // the security class may have encrypted the body
    bool has_word;
    guint16 service;
    guint32 call, sequence; // call 0: the packet is about the connection
    guint32 serial;
    guint32 word;       // the first of the body: operation, or error of an abort
    guint64 key;        // of connection and call
    guint64 connection; // all channels of it
} BbRxPacket;

// False: it is none.
bool bb_rx_packet_read(BbRxPacket *packet, const guint8 *data, gsize length);
// "fs.FetchStatus", "vldb.?": of a request's first packet (sequence 1).
gsize bb_rx_packet_label(const BbRxPacket *packet, char *out);

BbMatch bb_rx_probe(const guint8 *data, gsize length);
