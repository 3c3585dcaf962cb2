// SPDX-License-Identifier: Apache-2.0
// In: packets as the netfilter log hands them out (LINKTYPE_NFLOG). Out: the IP packet in them.
#include "capture/layers/walk.h"

#define PAYLOAD 9u
#define TYPE_MASK 0x3fffu
#define ATTRIBUTE 4u // bytes of an attribute's header; they are aligned to as many

// The attributes are in the order of the capturing host: the length that makes sense tells it.
static guint16 host_order(guint16 value, bool swapped)
{
    return swapped ? GUINT16_SWAP_LE_BE(value) : value;
}

static bool is_swapped(const BbWalk *walk, guint16 length)
{
    return length < ATTRIBUTE || length - ATTRIBUTE > walk->wire;
}

static BbLayerId layer_of_family(BbWalk *walk, guint8 family)
{
    switch (family) {
    case 2:
        return BB_LAYER_IPV4;
    case 10:
        return BB_LAYER_IPV6;
    default:
        return bb_walk_refuse(walk, BB_SKIP_NOT_IP);
    }
}

BbLayerId bb_layer_nflog(BbWalk *walk)
{
    BbCursor header, skipped;
    if (!bb_walk_take(walk, 4, &header))
        return BB_LAYER_NONE;
    guint8 family = bb_cursor_u8(&header);
    if (bb_cursor_u8(&header) != 0)
        return bb_walk_refuse(walk, BB_BAD_FRAME); // version
    for (;;) {
        if (!bb_walk_take(walk, ATTRIBUTE, &header))
            return BB_LAYER_NONE;
        guint16 length = bb_cursor_le16(&header), type = bb_cursor_le16(&header);
        bool swapped = is_swapped(walk, length);
        length = host_order(length, swapped);
        type = host_order(type, swapped) & TYPE_MASK;
        if (length < ATTRIBUTE || length - ATTRIBUTE > walk->wire)
            return bb_walk_refuse(walk, BB_BAD_FRAME);
        if (type == PAYLOAD) {
            bb_walk_limit(walk, length - ATTRIBUTE);
            return layer_of_family(walk, family);
        }
        gsize padded = (length + 3u) / 4u * 4u - ATTRIBUTE;
        if (!bb_walk_take(walk, padded, &skipped))
            return BB_LAYER_NONE;
    }
}
