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

// Of radiotap: bits of the first word that says which fields there are, and of the field of flags.
#define RADIO_CLOCK (1u << 0)
#define RADIO_FLAGS (1u << 1)
#define RADIO_MORE (1u << 31) // another such word follows
#define RADIO_PADDED 0x20u

BbLayerId bb_layer_wlan(BbWalk *walk)
{
    BbCursor header, more;
    gsize before = walk->wire;
    bool padded = walk->wlan_padded, aggregate = false;
    walk->wlan_padded = false;
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
    if (subtype & SUBTYPE_QOS) {
        if (!bb_walk_take(walk, flags & ORDER ? 6 : 2, &more)) // quality of service, HT control
            return BB_LAYER_NONE;
        aggregate = bb_cursor_u8(&more) & QOS_AGGREGATE;
    }
    if (aggregate) // several packets in one frame: not taken apart
        return bb_walk_refuse(walk, BB_SKIP_NOT_IP);
    gsize behind = padded ? (before - walk->wire) % 4 : 0;
    return bb_walk_take(walk, (4 - behind) % 4, &more) ? BB_LAYER_LLC : BB_LAYER_NONE;
}

// Whether the flags of a radio tell that the header of 802.11 is filled up to words of 4 bytes, as
// some cards do. They stand behind the words that say which fields there are, and the clock.
static bool tells_padding(BbCursor fields)
{
    guint32 first = bb_cursor_le32(&fields), words = 1;
    for (guint32 word = first; word & RADIO_MORE; words++)
        word = bb_cursor_le32(&fields);
    if (first & RADIO_CLOCK) // a multiple of 8 bytes from the begin
        bb_cursor_skip(&fields, words % 2 ? 8 : 12);
    return first & RADIO_FLAGS && bb_cursor_u8(&fields) & RADIO_PADDED;
}

// The header of a capturing radio, little-endian (radiotap.org).
BbLayerId bb_layer_radiotap(BbWalk *walk)
{
    BbCursor header, fields;
    if (!bb_walk_take(walk, 4, &header))
        return BB_LAYER_NONE;
    bb_cursor_skip(&header, 2); // version, padding
    guint16 size = bb_cursor_le16(&header);
    if (size < 4)
        return bb_walk_refuse(walk, BB_BAD_FRAME);
    if (!bb_walk_take(walk, size - 4u, &fields))
        return BB_LAYER_NONE;
    walk->wlan_padded = tells_padding(fields);
    return BB_LAYER_WLAN;
}
