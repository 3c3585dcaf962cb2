// SPDX-License-Identifier: Apache-2.0
// In: MPLS label stacks (RFC 3032) and network service headers (RFC 8300). Out: what they carry.
#include "capture/layers/walk.h"

#define BOTTOM_OF_STACK 0x100u

// Nothing behind the last label says what follows (RFC 3032, section 2.2): the version of IP, or
// the zero nibble of a pseudowire's control word (RFC 4385, section 2), tells; what is neither is a
// pseudowire without one.
static BbLayerId payload(BbWalk *walk)
{
    BbCursor control;
    if (!walk->rest.left)
        return bb_walk_refuse(walk, walk->wire ? BB_CUT_FRAME : BB_BAD_FRAME);
    switch (walk->rest.at[0] >> 4) {
    case 4:
        return BB_LAYER_IPV4;
    case 6:
        return BB_LAYER_IPV6;
    case 0:
        return bb_walk_take(walk, 4, &control) ? BB_LAYER_ETHERNET : BB_LAYER_NONE;
    case 1: // an associated channel (RFC 5586): operation and maintenance
        return bb_walk_refuse(walk, BB_SKIP_NOT_IP);
    default:
        return BB_LAYER_ETHERNET;
    }
}

BbLayerId bb_layer_mpls(BbWalk *walk)
{
    for (guint labels = 0; labels < BB_LAYER_DEPTH; labels++) {
        BbCursor label;
        if (!bb_walk_take(walk, 4, &label))
            return BB_LAYER_NONE;
        if (bb_cursor_be32(&label) & BOTTOM_OF_STACK)
            return payload(walk);
    }
    return bb_walk_refuse(walk, BB_DEEP_FRAME);
}

// The length counts words of 4 bytes, of the whole header (RFC 8300, section 2.2).
BbLayerId bb_layer_nsh(BbWalk *walk)
{
    BbCursor header, rest;
    if (!bb_walk_take(walk, 8, &header))
        return BB_LAYER_NONE;
    gsize size = (bb_cursor_be16(&header) & 0x3fu) * 4u;
    if (size < 8)
        return bb_walk_refuse(walk, BB_BAD_FRAME);
    bb_cursor_skip(&header, 1); // metadata type
    guint8 next = bb_cursor_u8(&header);
    if (!bb_walk_take(walk, size - 8, &rest))
        return BB_LAYER_NONE;
    return bb_walk_next_protocol(walk, next);
}
