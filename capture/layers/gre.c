// SPDX-License-Identifier: Apache-2.0
// In: GRE (RFC 2784, RFC 2890), NVGRE (RFC 7637), its second version in PPTP (RFC 2637), and the
// mirror sessions in it: ERSPAN types I, II and III (draft-foschiano-erspan-03). Out: what they
// carry.
#include "capture/layers/erspan_clock.h"
#include "capture/layers/walk.h"

#define CHECKSUM 0x8000u
#define ROUTING 0x4000u
#define KEY 0x2000u
#define SEQUENCE 0x1000u
#define ACKNOWLEDGEMENT 0x0080u
#define VERSION 0x0007u

#define TYPE_PPP 0x880b
#define TYPE_BRIDGED 0x6558
#define TYPE_ERSPAN_II 0x88be // and I
#define TYPE_ERSPAN_III 0x22eb
#define TYPE_WLAN_FIRST 0x8200 // access points of Aruba
#define TYPE_WLAN_LAST 0x8210

#define NVGRE_FIRST 0x1000u // networks that are not reserved (RFC 7637, section 3.4)
#define NVGRE_LAST 0xfffffeu

static BbLayerId next_layer(BbWalk *walk, guint16 type, bool has_sequence)
{
    switch (type) {
    case TYPE_PPP:
        return BB_LAYER_PPP;
    case TYPE_BRIDGED:
        return BB_LAYER_ETHERNET;
    case TYPE_ERSPAN_II: // type I has neither a sequence number nor a header
        return has_sequence ? BB_LAYER_ERSPAN2 : BB_LAYER_ETHERNET;
    case TYPE_ERSPAN_III:
        return BB_LAYER_ERSPAN3;
    default:
        return type >= TYPE_WLAN_FIRST && type <= TYPE_WLAN_LAST ? BB_LAYER_WLAN
                                                                 : bb_walk_ethertype(walk, type);
    }
}

// NVGRE has its network in the upper 24 bits, and in the others a number of the flow, another one
// in each direction (RFC 7637, section 3.2). What would be a reserved network there is the key of
// somebody who just counts, and so is whatever comes with fields that NVGRE does not have.
static guint32 network_of(guint32 key, guint16 flags, guint16 type)
{
    bool may_be = type == TYPE_BRIDGED && !(flags & (CHECKSUM | SEQUENCE));
    guint32 network = key >> 8;
    return may_be && network >= NVGRE_FIRST && network <= NVGRE_LAST ? network : key;
}

// Other keys are taken whole: where two ends use one each, their directions are two networks, but
// keys are also all that tells networks apart which share the ends of their tunnels.
static bool take_key(BbWalk *walk, guint16 flags, guint16 type)
{
    BbCursor key;
    if (!bb_walk_take(walk, 4, &key))
        return false;
    // Of PPTP it is a length and the number of the call, another in each direction.
    if ((flags & VERSION) == 0) {
        walk->packet->vni = network_of(bb_cursor_be32(&key), flags, type);
        walk->packet->has_vni = true;
    }
    return true;
}

BbLayerId bb_layer_gre(BbWalk *walk)
{
    BbCursor header, skipped;
    if (!bb_walk_take(walk, 4, &header))
        return BB_LAYER_NONE;
    guint16 flags = bb_cursor_be16(&header), type = bb_cursor_be16(&header);
    bool is_pptp = (flags & VERSION) == 1;
    if ((flags & VERSION) > 1 || flags & ROUTING || (is_pptp && type != TYPE_PPP))
        return bb_walk_refuse(walk, BB_SKIP_PROTOCOL);
    if (flags & CHECKSUM && !bb_walk_take(walk, 4, &skipped))
        return BB_LAYER_NONE;
    if (flags & KEY && !take_key(walk, flags, type))
        return BB_LAYER_NONE;
    if (flags & SEQUENCE && !bb_walk_take(walk, 4, &skipped))
        return BB_LAYER_NONE;
    if (is_pptp && flags & ACKNOWLEDGEMENT && !bb_walk_take(walk, 4, &skipped))
        return BB_LAYER_NONE;
    walk->loss->count[BB_TUNNELLED]++;
    if (is_pptp && !walk->wire) // an acknowledgement alone
        return bb_walk_refuse(walk, BB_SKIP_NOT_IP);
    return next_layer(walk, type, flags & SEQUENCE);
}

// The VLAN of the mirrored frame, where that itself has none.
static void note_vlan(BbWalk *walk, guint16 version_and_vlan)
{
    walk->mirrored_vlan = version_and_vlan & 0xfffu;
}

BbLayerId bb_layer_erspan2(BbWalk *walk)
{
    BbCursor header;
    if (!bb_walk_take(walk, 8, &header))
        return BB_LAYER_NONE;
    guint16 first = bb_cursor_be16(&header);
    if (first >> 12 != 1)
        return bb_walk_refuse(walk, BB_BAD_FRAME);
    note_vlan(walk, first);
    return BB_LAYER_ETHERNET;
}

// Granularity of the stamp, and whether a platform-specific subheader follows: the two fields at
// the end of the header.
#define GRANULARITY(flags) ((flags) >> 1 & 3u)
#define HAS_SUBHEADER 1u
#define FRAME_TYPE(flags) ((flags) >> 10 & 0x1fu)
#define FRAME_ETHERNET 0u
#define FRAME_IP 2u

BbLayerId bb_layer_erspan3(BbWalk *walk)
{
    BbCursor header, subheader;
    if (!bb_walk_take(walk, 12, &header))
        return BB_LAYER_NONE;
    guint16 first = bb_cursor_be16(&header);
    if (first >> 12 != 2)
        return bb_walk_refuse(walk, BB_BAD_FRAME);
    note_vlan(walk, first);
    guint16 session = bb_cursor_be16(&header) & 0x3ffu;
    guint32 stamp = bb_cursor_be32(&header);
    bb_cursor_skip(&header, 2); // security group
    guint16 flags = bb_cursor_be16(&header);
    if (flags & HAS_SUBHEADER && !bb_walk_take(walk, 8, &subheader))
        return BB_LAYER_NONE;
    walk->packet->time_ns = bb_erspan_clock_read(walk->clocks, &walk->packet->source, session,
                                                 GRANULARITY(flags), stamp, walk->packet->time_ns);
    switch (FRAME_TYPE(flags)) {
    case FRAME_ETHERNET:
        return BB_LAYER_ETHERNET;
    case FRAME_IP:
        return BB_LAYER_RAW;
    default:
        return bb_walk_refuse(walk, BB_SKIP_NOT_IP);
    }
}
