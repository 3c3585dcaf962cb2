// SPDX-License-Identifier: Apache-2.0
// In: the header that a network or a capturing system puts before IP. Out: which IP follows.
// IEEE 802.3, 802.1Q, 802.1ad; RFC 1042 (SNAP); Cisco's VN-Tag and CMD (security groups);
// pcap-linktype(7) for the others.
#include "capture/layers/walk.h"

#define LENGTH_MAX 1500 // of the field type/length; types begin at 1536 (IEEE 802.3, 3.2.6)

static BbLayerId type_or_length(BbWalk *walk, guint16 value)
{
    if (value > LENGTH_MAX)
        return bb_walk_ethertype(walk, value);
    bb_walk_limit(walk, value);
    return BB_LAYER_LLC;
}

BbLayerId bb_layer_ethernet(BbWalk *walk)
{
    BbCursor header;
    if (!bb_walk_take(walk, 14, &header))
        return BB_LAYER_NONE;
    bb_cursor_skip(&header, 12); // destination, source
    walk->packet->vlan = walk->mirrored_vlan;
    walk->mirrored_vlan = 0;
    walk->vlan_tags = 0;
    return type_or_length(walk, bb_cursor_be16(&header));
}

// Of a stack the last two tags count; a tag of 0 has a priority only (IEEE 802.1Q, 9.6).
static void note_vlan(BbWalk *walk, guint16 id)
{
    BbPacket *packet = walk->packet;
    if (id == 0)
        return;
    packet->vlan = walk->vlan_tags ? (packet->vlan << 12 | id) & 0xffffffu : id;
    walk->vlan_tags++;
}

BbLayerId bb_layer_vlan(BbWalk *walk)
{
    BbCursor header;
    if (!bb_walk_take(walk, 4, &header))
        return BB_LAYER_NONE;
    note_vlan(walk, bb_cursor_be16(&header) & 0xfffu);
    return type_or_length(walk, bb_cursor_be16(&header));
}

// VN-Tag: the virtual interfaces of source and destination; no network.
BbLayerId bb_layer_vntag(BbWalk *walk)
{
    BbCursor header;
    if (!bb_walk_take(walk, 6, &header))
        return BB_LAYER_NONE;
    bb_cursor_skip(&header, 4);
    return type_or_length(walk, bb_cursor_be16(&header));
}

// Cisco MetaData: version 1, then its length in words of 8 bytes, of which the type before it takes
// two; options, as the security group.
BbLayerId bb_layer_metadata(BbWalk *walk)
{
    BbCursor header, options, type;
    if (!bb_walk_take(walk, 2, &header))
        return BB_LAYER_NONE;
    if (bb_cursor_u8(&header) != 1)
        return bb_walk_refuse(walk, BB_SKIP_NOT_IP);
    guint8 words = bb_cursor_u8(&header);
    if (words < 1)
        return bb_walk_refuse(walk, BB_BAD_FRAME);
    if (!bb_walk_take(walk, words * 8u - 4u, &options) || !bb_walk_take(walk, 2, &type))
        return BB_LAYER_NONE;
    return type_or_length(walk, bb_cursor_be16(&type));
}

// IP stands behind SNAP only: encapsulated Ethernet (RFC 1042) or a bridge's (IEEE 802.1H).
BbLayerId bb_layer_llc(BbWalk *walk)
{
    BbCursor header;
    if (!bb_walk_take(walk, 3, &header))
        return BB_LAYER_NONE;
    if (bb_cursor_be16(&header) != 0xaaaa || bb_cursor_u8(&header) != 0x03)
        return bb_walk_refuse(walk, BB_SKIP_NOT_IP);
    if (!bb_walk_take(walk, 5, &header))
        return BB_LAYER_NONE;
    guint32 organization = (guint32)bb_cursor_be16(&header) << 8;
    organization |= bb_cursor_u8(&header);
    if (organization != 0x000000 && organization != 0x0000f8)
        return bb_walk_refuse(walk, BB_SKIP_NOT_IP);
    return bb_walk_ethertype(walk, bb_cursor_be16(&header));
}

// What the field protocol means depends on the device: of these it is no type of Ethernet.
static bool is_foreign_device(guint16 arphrd)
{
    return arphrd == 770 /* Frame Relay */ || arphrd == 803 /* radiotap */ ||
           arphrd == 824 /* netlink */;
}

static BbLayerId cooked_next(BbWalk *walk, guint16 arphrd, guint16 protocol)
{
    if (is_foreign_device(arphrd))
        return bb_walk_refuse(walk, BB_SKIP_NOT_IP);
    return protocol == 0x0004 ? BB_LAYER_LLC : bb_walk_ethertype(walk, protocol);
}

BbLayerId bb_layer_cooked(BbWalk *walk)
{
    BbCursor header;
    if (!bb_walk_take(walk, 16, &header))
        return BB_LAYER_NONE;
    bb_cursor_skip(&header, 2); // direction
    guint16 arphrd = bb_cursor_be16(&header);
    bb_cursor_skip(&header, 10); // address
    return cooked_next(walk, arphrd, bb_cursor_be16(&header));
}

BbLayerId bb_layer_cooked2(BbWalk *walk)
{
    BbCursor header;
    if (!bb_walk_take(walk, 20, &header))
        return BB_LAYER_NONE;
    guint16 protocol = bb_cursor_be16(&header);
    bb_cursor_skip(&header, 6); // reserved, interface
    return cooked_next(walk, bb_cursor_be16(&header), protocol);
}

// The family is in the order of the capturing host (LOOP: of the network), which need not be ours,
// and families are small. IPv4 is 2 everywhere; IPv6 has a number of its own on each system.
BbLayerId bb_layer_bsd(BbWalk *walk)
{
    BbCursor header;
    if (!bb_walk_take(walk, 4, &header))
        return BB_LAYER_NONE;
    guint32 family = bb_cursor_be32(&header);
    if (family > 0xffff)
        family = GUINT32_SWAP_LE_BE(family);
    switch (family) {
    case 2:
        return BB_LAYER_IPV4;
    case 10: // Linux
    case 23: // Windows
    case 24: // NetBSD, OpenBSD
    case 28: // FreeBSD
    case 30: // Darwin
        return BB_LAYER_IPV6;
    default:
        return bb_walk_refuse(walk, BB_SKIP_NOT_IP);
    }
}

BbLayerId bb_layer_raw(BbWalk *walk)
{
    BbWalk ahead = *walk;
    BbCursor header;
    if (!bb_walk_take(&ahead, 1, &header))
        return BB_LAYER_NONE;
    switch (bb_cursor_u8(&header) >> 4) {
    case 4:
        return BB_LAYER_IPV4;
    case 6:
        return BB_LAYER_IPV6;
    default:
        return bb_walk_refuse(walk, BB_BAD_FRAME);
    }
}
