// SPDX-License-Identifier: Apache-2.0
// In: frames of a wireless network (IEEE 802.11, section 9.3.2). Out: what the open ones carry.
#include "capture/layers/walk.h"

#define TYPE_DATA 2u
#define SUBTYPE_NO_DATA 0x4u
#define SUBTYPE_QOS 0x8u
#define TO_AND_FROM_DS 0x03u
#define PROTECTED 0x40u
#define ORDER 0x80u
#define QOS_AGGREGATE 0x80u

BbLayerId bb_layer_wlan(BbWalk *walk)
{
    BbCursor header, more;
    if (!bb_walk_take(walk, 24, &header))
        return BB_LAYER_NONE;
    guint8 control = bb_cursor_u8(&header), flags = bb_cursor_u8(&header);
    guint8 type = control >> 2 & 3, subtype = control >> 4;
    if (control & 3)
        return bb_walk_refuse(walk, BB_BAD_FRAME);
    if (type != TYPE_DATA || subtype & SUBTYPE_NO_DATA || flags & PROTECTED)
        return bb_walk_refuse(walk, BB_SKIP_NOT_IP);
    if ((flags & TO_AND_FROM_DS) == TO_AND_FROM_DS && !bb_walk_take(walk, 6, &more))
        return BB_LAYER_NONE;
    if (!(subtype & SUBTYPE_QOS))
        return BB_LAYER_LLC;
    if (!bb_walk_take(walk, flags & ORDER ? 6 : 2, &more)) // quality of service, HT control
        return BB_LAYER_NONE;
    // Several packets in one frame: not taken apart.
    return bb_cursor_u8(&more) & QOS_AGGREGATE ? bb_walk_refuse(walk, BB_SKIP_NOT_IP)
                                               : BB_LAYER_LLC;
}

// The header of a capturing radio; its length is little-endian (radiotap.org).
BbLayerId bb_layer_radiotap(BbWalk *walk)
{
    BbCursor header, rest;
    if (!bb_walk_take(walk, 4, &header))
        return BB_LAYER_NONE;
    bb_cursor_skip(&header, 2); // version, padding
    guint16 size = bb_cursor_le16(&header);
    if (size < 4)
        return bb_walk_refuse(walk, BB_BAD_FRAME);
    return bb_walk_take(walk, size - 4u, &rest) ? BB_LAYER_WLAN : BB_LAYER_NONE;
}
