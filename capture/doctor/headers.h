// SPDX-License-Identifier: Apache-2.0
// Where the headers of a packet stand in its frame, behind whatever tunnels, and whether its
// checksums are right (RFC 1071, RFC 9293 section 3.1, RFC 768, RFC 8200 section 8.1).
#pragma once

#include "capture/packet.h"

typedef struct BbHeaders {
    const guint8 *ip, *transport; // lent, of the frame
    gsize ip_size, transport_size;
} BbHeaders;

// Finds the headers before the payload of packet, which capture/layers found in frame. They are
// looked for backwards, and believed only where they say what packet says. Returns false where
// they are not in this frame as they are: a packet put together from fragments, IPv6 with further
// headers, a TCP header that the snap length cut.
bool bb_headers_find(const BbFrame *frame, const BbPacket *packet, BbHeaders *headers);

// The option "maximum segment size" of a TCP header; 0 where there is none (RFC 9293, 3.7.1).
guint16 bb_headers_mss(const BbHeaders *headers);

typedef enum {
    BB_CHECKSUM_NONE,     // there is none (UDP), or not all of the packet is there
    BB_CHECKSUM_RIGHT,    //
    BB_CHECKSUM_UNFILLED, // 0, or the sum of the pseudo header alone: for the network card to do
    BB_CHECKSUM_WRONG,
} BbChecksum;

// The worse of the checksums of IPv4 and of TCP or UDP.
BbChecksum bb_headers_checksum(const BbHeaders *headers, const BbPacket *packet);
