// SPDX-License-Identifier: Apache-2.0
// A SYN that asks for another connection with the ends of one that talks. It may be forged, or its
// host may have forgotten: if the other side has not, it answers for the old one, and that goes on
// (RFC 5961, section 4). So it is set aside until it is answered, or the old connection ends. Part
// of the flow (capture/connection.h), which has one at most, of some 200 bytes.
#pragma once

#include "capture/packet.h"
#include "data/network.h"

#include <stdbool.h>

typedef struct BbAsked {
    BbPacket syn;
    guint side;  // of the flow, who asks
    guint again; // times it was sent again
    bool denied; // the old connection has gone on
} BbAsked;

// Yours, to be freed with g_free.
BbAsked *bb_asked_new(const BbPacket *syn, guint side);

// Whether a SYN of side is the same sent again.
bool bb_asked_is_same(const BbAsked *asked, guint side, const BbPacket *syn);

// Whether packet of side belongs to the connection that was asked for: by what it acknowledges, or
// where it stands. next: where the old connection's bytes of who asks go on.
bool bb_asked_is_answered(const BbAsked *asked, guint side, const BbPacket *packet, guint32 next);

// What it adds to the network between the two where nobody answered, not for the old one either.
BbNetworkEdge bb_asked_unanswered(const BbAsked *asked);
