// SPDX-License-Identifier: Apache-2.0
// In: PPPoE sessions (RFC 2516) and PPP frames (RFC 1661, RFC 1662). Out: which IP they carry.
#include "capture/layers/walk.h"

#define PPPOE_VERSION_AND_TYPE 0x11
#define PPPOE_SESSION_DATA 0

BbLayerId bb_layer_pppoe(BbWalk *walk)
{
    BbCursor header;
    if (!bb_walk_take(walk, 6, &header))
        return BB_LAYER_NONE;
    if (bb_cursor_u8(&header) != PPPOE_VERSION_AND_TYPE)
        return bb_walk_refuse(walk, BB_BAD_FRAME);
    if (bb_cursor_u8(&header) != PPPOE_SESSION_DATA)
        return bb_walk_refuse(walk, BB_SKIP_NOT_IP);
    bb_cursor_skip(&header, 2); // session
    guint16 length = bb_cursor_be16(&header);
    if (length > walk->wire)
        return bb_walk_refuse(walk, BB_BAD_FRAME);
    bb_walk_limit(walk, length);
    return BB_LAYER_PPP;
}

// Address and control may be left out, and of the protocol its first byte where that is zero: both
// are told from the parity of the bytes (RFC 1661, sections 2 and 6.5).
BbLayerId bb_layer_ppp(BbWalk *walk)
{
    BbCursor header;
    if (walk->rest.left >= 2 && walk->rest.at[0] == 0xff && walk->rest.at[1] == 0x03 &&
        !bb_walk_take(walk, 2, &header))
        return BB_LAYER_NONE;
    bool is_short = walk->rest.left && walk->rest.at[0] & 1;
    if (!bb_walk_take(walk, is_short ? 1 : 2, &header))
        return BB_LAYER_NONE;
    switch (is_short ? bb_cursor_u8(&header) : bb_cursor_be16(&header)) {
    case 0x0021:
        return BB_LAYER_IPV4;
    case 0x0057:
        return BB_LAYER_IPV6;
    case 0x0281:
        return BB_LAYER_MPLS;
    default:
        return bb_walk_refuse(walk, BB_SKIP_NOT_IP);
    }
}
