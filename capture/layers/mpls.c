// SPDX-License-Identifier: Apache-2.0
// In: MPLS label stacks (RFC 3032) and network service headers (RFC 8300). Out: what they carry.
#include "capture/layers/walk.h"

#define BOTTOM_OF_STACK 0x100u

#define TYPE_ARP 0x0806
#define TRAILER_MAX 50u // of Ethernet: 46 bytes of padding, 4 of a check sequence

// Whether a frame of Ethernet may begin here: its type is known, behind tags too, and where that is
// IP so does what follows.
static bool looks_like_ethernet(BbCursor c)
{
    bb_cursor_skip(&c, 12); // destination, source
    guint16 type = bb_cursor_be16(&c);
    BbLayerId layer;
    while ((layer = bb_layer_of_ethertype(type)) == BB_LAYER_VLAN) {
        bb_cursor_skip(&c, 2);
        type = bb_cursor_be16(&c);
    }
    guint8 version = bb_cursor_u8(&c) >> 4;
    if (!bb_cursor_ok(&c))
        return false;
    if (layer == BB_LAYER_IPV4 || layer == BB_LAYER_IPV6)
        return version == (layer == BB_LAYER_IPV4 ? 4 : 6);
    return layer != BB_LAYER_NONE || type == TYPE_ARP;
}

// Whether a packet of IP of the length that its header says ends where the frame does, but for
// padding and a check sequence: of an address that begins like such a header few do.
static bool looks_like_ip(const BbWalk *walk)
{
    BbCursor c = walk->rest;
    guint8 first = bb_cursor_u8(&c);
    bool is_v4 = first >> 4 == 4;
    gsize size = is_v4 ? (first & 0x0fu) * 4u : 40;
    bb_cursor_skip(&c, is_v4 ? 1 : 3); // class, label
    gsize length = bb_cursor_be16(&c) + (is_v4 ? 0 : size);
    return bb_cursor_ok(&c) && size >= 20 && length > size && length <= walk->wire &&
           walk->wire - length <= TRAILER_MAX;
}

static BbLayerId take_control_word(BbWalk *walk)
{
    BbCursor control;
    return bb_walk_take(walk, 4, &control) ? BB_LAYER_ETHERNET : BB_LAYER_NONE;
}

// Nothing behind the last label says what follows (RFC 3032, section 2.2): the version of IP, the
// zero nibble of a pseudowire's control word (RFC 4385, section 2), or the one of an associated
// channel (RFC 5586: operation and maintenance). But a pseudowire without a control word begins
// with an address, of which the nibble may be any of these (RFC 8469): the bytes behind it tell.
static BbLayerId payload(BbWalk *walk)
{
    if (!walk->rest.left)
        return bb_walk_refuse(walk, walk->wire ? BB_CUT_FRAME : BB_BAD_FRAME);
    guint8 nibble = walk->rest.at[0] >> 4;
    bool is_ip = nibble == 4 || nibble == 6;
    if (is_ip && looks_like_ip(walk))
        return nibble == 4 ? BB_LAYER_IPV4 : BB_LAYER_IPV6;
    if ((!is_ip && nibble > 1) || looks_like_ethernet(walk->rest))
        return BB_LAYER_ETHERNET;
    switch (nibble) {
    case 4:
        return BB_LAYER_IPV4;
    case 6:
        return BB_LAYER_IPV6;
    case 0:
        return take_control_word(walk);
    default:
        return bb_walk_refuse(walk, BB_SKIP_NOT_IP);
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
