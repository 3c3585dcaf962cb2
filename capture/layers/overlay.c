// SPDX-License-Identifier: Apache-2.0
// In: UDP datagrams. Out: which of them are tunnels, and what these carry: VXLAN (RFC 7348; cloud
// mirrors use it too), VXLAN-GPE (draft-ietf-nvo3-vxlan-gpe), GENEVE (RFC 8926), GTP-U (3GPP TS
// 29.281), Teredo (RFC 4380), TZSP, GRE in UDP (RFC 8086), MPLS in UDP (RFC 7510).
#include "capture/layers/overlay.h"

// ---- VXLAN --------------------------------------------------------------------------------------

#define VXLAN_HEADER 8u
#define VXLAN_HAS_VNI 0x08u
#define VXLAN_NEXT_PROTOCOL 0x04u

static void note_vni(BbWalk *walk, guint32 vni)
{
    walk->packet->vni = vni;
    walk->packet->has_vni = true;
}

static bool is_vxlan(BbCursor c)
{
    guint8 flags = bb_cursor_u8(&c);
    bb_cursor_skip(&c, 6);
    return flags & VXLAN_HAS_VNI && bb_cursor_u8(&c) == 0 && bb_cursor_ok(&c);
}

static bool is_vxlan_gpe(BbCursor c)
{
    guint8 flags = bb_cursor_u8(&c);
    bb_cursor_skip(&c, 2);
    guint8 next = bb_cursor_u8(&c);
    return flags & VXLAN_HAS_VNI && flags & VXLAN_NEXT_PROTOCOL && next >= 1 && next <= 5 &&
           bb_cursor_ok(&c);
}

BbLayerId bb_layer_vxlan(BbWalk *walk)
{
    BbCursor header;
    if (!bb_walk_take(walk, VXLAN_HEADER, &header))
        return BB_LAYER_NONE;
    guint8 flags = bb_cursor_u8(&header);
    bb_cursor_skip(&header, 2);
    guint8 next = bb_cursor_u8(&header);
    note_vni(walk, bb_cursor_be32(&header) >> 8);
    // The bit is reserved, and to be ignored, where no next protocol stands (RFC 7348, section 5).
    return flags & VXLAN_NEXT_PROTOCOL && next ? bb_walk_next_protocol(walk, next)
                                               : BB_LAYER_ETHERNET;
}

// ---- GENEVE -------------------------------------------------------------------------------------

#define GENEVE_HEADER 8u
#define GENEVE_BRIDGED 0x6558

static bool is_geneve(BbCursor c)
{
    guint8 first = bb_cursor_u8(&c);
    bb_cursor_skip(&c, 1); // control, critical options
    guint16 type = bb_cursor_be16(&c);
    bb_cursor_skip(&c, 3); // network
    guint8 reserved = bb_cursor_u8(&c);
    bb_cursor_skip(&c, (first & 0x3fu) * 4u);
    return first >> 6 == 0 && reserved == 0 && type > 1500 && bb_cursor_ok(&c);
}

BbLayerId bb_layer_geneve(BbWalk *walk)
{
    BbCursor header, options;
    if (!bb_walk_take(walk, GENEVE_HEADER, &header))
        return BB_LAYER_NONE;
    gsize size = (bb_cursor_u8(&header) & 0x3fu) * 4u;
    bb_cursor_skip(&header, 1);
    guint16 type = bb_cursor_be16(&header);
    note_vni(walk, bb_cursor_be32(&header) >> 8);
    if (!bb_walk_take(walk, size, &options))
        return BB_LAYER_NONE;
    return type == GENEVE_BRIDGED ? BB_LAYER_ETHERNET : bb_walk_ethertype(walk, type);
}

// ---- GTP-U --------------------------------------------------------------------------------------

#define GTP_HEADER 8u
#define GTP_VERSION_1 0x30u // and not the primed protocol of charging
#define GTP_VERSION_MASK 0xf0u
#define GTP_OPTIONAL 0x07u // any of these flags: four more bytes
#define GTP_EXTENDED 0x04u
#define GTP_USER_DATA 0xffu

static bool is_gtpu(BbCursor c)
{
    guint8 flags = bb_cursor_u8(&c), kind = bb_cursor_u8(&c);
    guint16 length = bb_cursor_be16(&c);
    bb_cursor_skip(&c, 4); // tunnel
    return (flags & GTP_VERSION_MASK) == GTP_VERSION_1 && kind == GTP_USER_DATA && length > 0 &&
           bb_cursor_ok(&c);
}

// Extension headers count words of 4 bytes and end with the type of the next one (5.2.1).
static bool skip_extensions(BbWalk *walk, guint8 next)
{
    BbCursor length, rest;
    while (next) {
        if (!bb_walk_take(walk, 1, &length))
            return false;
        guint8 words = bb_cursor_u8(&length);
        if (words == 0) {
            bb_walk_refuse(walk, BB_BAD_FRAME);
            return false;
        }
        if (!bb_walk_take(walk, words * 4u - 1, &rest))
            return false;
        bb_cursor_skip(&rest, words * 4u - 2);
        next = bb_cursor_u8(&rest);
    }
    return true;
}

BbLayerId bb_layer_gtpu(BbWalk *walk)
{
    BbCursor header, optional;
    if (!bb_walk_take(walk, GTP_HEADER, &header))
        return BB_LAYER_NONE;
    guint8 flags = bb_cursor_u8(&header);
    bb_cursor_skip(&header, 1);
    guint16 length = bb_cursor_be16(&header);
    if (length > walk->wire)
        return bb_walk_refuse(walk, BB_BAD_FRAME);
    bb_walk_limit(walk, length);
    if (flags & GTP_OPTIONAL) {
        if (!bb_walk_take(walk, 4, &optional))
            return BB_LAYER_NONE;
        bb_cursor_skip(&optional, 3);
        guint8 next = bb_cursor_u8(&optional);
        if (flags & GTP_EXTENDED && !skip_extensions(walk, next))
            return BB_LAYER_NONE;
    }
    return BB_LAYER_RAW;
}

// ---- Teredo -------------------------------------------------------------------------------------

#define IPV6_HEADER 40u

// Indications may stand before the packet: who sent it first (00 00), and a proof (00 01).
static bool skip_indications(BbCursor *c)
{
    while (c->left >= 2 && c->at[0] == 0 && c->at[1] <= 1) {
        bool proof = c->at[1] == 1;
        bb_cursor_skip(c, 2);
        guint8 client = proof ? bb_cursor_u8(c) : 0, value = proof ? bb_cursor_u8(c) : 0;
        bb_cursor_skip(c, proof ? (gsize)client + value + 9 : 6);
    }
    return bb_cursor_ok(c);
}

static bool is_teredo(BbCursor c)
{
    if (!skip_indications(&c))
        return false;
    gsize left = c.left;
    guint32 first = bb_cursor_be32(&c);
    guint16 length = bb_cursor_be16(&c);
    return first >> 28 == 6 && bb_cursor_ok(&c) && left >= IPV6_HEADER &&
           length <= left - IPV6_HEADER;
}

BbLayerId bb_layer_teredo(BbWalk *walk)
{
    BbCursor ahead = walk->rest, skipped;
    if (!skip_indications(&ahead))
        return bb_walk_refuse(walk, BB_CUT_FRAME);
    return bb_walk_take(walk, walk->rest.left - ahead.left, &skipped) ? BB_LAYER_IPV6
                                                                      : BB_LAYER_NONE;
}

// ---- TZSP ---------------------------------------------------------------------------------------

#define TZSP_VERSION 1u
#define TZSP_TAG_PADDING 0u
#define TZSP_TAG_END 1u
#define TZSP_ETHERNET 1u
#define TZSP_WLAN 18u

static bool is_tzsp(BbCursor c)
{
    guint8 version = bb_cursor_u8(&c), kind = bb_cursor_u8(&c);
    guint16 inside = bb_cursor_be16(&c);
    return version == TZSP_VERSION && kind <= 1 &&
           (inside == TZSP_ETHERNET || inside == TZSP_WLAN) && c.left > 0 && bb_cursor_ok(&c);
}

BbLayerId bb_layer_tzsp(BbWalk *walk)
{
    BbCursor header, tag;
    if (!bb_walk_take(walk, 4, &header))
        return BB_LAYER_NONE;
    bb_cursor_skip(&header, 2);
    guint16 inside = bb_cursor_be16(&header);
    for (;;) {
        if (!bb_walk_take(walk, 1, &tag))
            return BB_LAYER_NONE;
        guint8 kind = bb_cursor_u8(&tag);
        if (kind == TZSP_TAG_END)
            return inside == TZSP_WLAN ? BB_LAYER_WLAN : BB_LAYER_ETHERNET;
        if (kind == TZSP_TAG_PADDING)
            continue;
        if (!bb_walk_take(walk, 1, &tag) || !bb_walk_take(walk, bb_cursor_u8(&tag), &tag))
            return BB_LAYER_NONE;
    }
}

// ---- the others ---------------------------------------------------------------------------------

static bool is_gre(BbCursor c)
{
    guint16 flags = bb_cursor_be16(&c), type = bb_cursor_be16(&c);
    return (flags & 0x4fffu) == 0 && type > 1500 && bb_cursor_ok(&c);
}

static bool is_mpls(BbCursor c)
{
    guint32 label = bb_cursor_be32(&c);
    return bb_cursor_ok(&c) && label >> 12 != 0;
}

// ---- the table ----------------------------------------------------------------------------------

typedef struct Overlay {
    const char *name;
    guint16 ports[4]; // 0-terminated
    bool from_too;    // told by the port of the sender as well
    BbLayerId layer;
    bool (*is)(BbCursor datagram); // whether what the datagram holds makes sense
} Overlay;

static const Overlay overlays[] = {
    {"vxlan", {4789, 8472}, false, BB_LAYER_VXLAN, is_vxlan},
    {"vxlan-gpe", {4790}, false, BB_LAYER_VXLAN, is_vxlan_gpe},
    {"geneve", {6081}, false, BB_LAYER_GENEVE, is_geneve},
    {"gtpu", {2152}, true, BB_LAYER_GTPU, is_gtpu},
    {"teredo", {3544}, true, BB_LAYER_TEREDO, is_teredo},
    {"tzsp", {37008}, false, BB_LAYER_TZSP, is_tzsp},
    {"gre", {4754}, false, BB_LAYER_GRE, is_gre},
    {"mpls", {6635}, false, BB_LAYER_MPLS, is_mpls},
};

static bool has_port(const Overlay *overlay, guint16 port)
{
    for (guint i = 0; i < G_N_ELEMENTS(overlay->ports) && overlay->ports[i]; i++)
        if (overlay->ports[i] == port)
            return true;
    return false;
}

static const Overlay *find(const char *name)
{
    for (guint i = 0; i < G_N_ELEMENTS(overlays); i++)
        if (strcmp(overlays[i].name, name) == 0)
            return &overlays[i];
    return NULL;
}

bool bb_overlay_exists(const char *name)
{
    return find(name);
}

void bb_overlay_append_names(GString *out)
{
    for (guint i = 0; i < G_N_ELEMENTS(overlays); i++)
        g_string_append_printf(out, "%s%s", i ? ", " : "", overlays[i].name);
}

guint bb_overlay_ports(guint16 *ports, guint max)
{
    guint count = 0;
    for (guint i = 0; i < G_N_ELEMENTS(overlays); i++)
        for (guint k = 0; k < G_N_ELEMENTS(overlays[i].ports) && overlays[i].ports[k]; k++)
            if (count++ < max)
                ports[count - 1] = overlays[i].ports[k];
    return count;
}

static BbLayerId enter(BbWalk *walk, const Overlay *overlay)
{
    walk->loss->count[BB_TUNNELLED] += overlay->layer != BB_LAYER_GRE; // which counts itself
    return overlay->layer;
}

static const Overlay *told(const BbWalk *walk, guint16 port)
{
    for (guint i = 0; i < walk->n_tunnels; i++)
        if (walk->tunnels[i].port == port)
            return find(walk->tunnels[i].name);
    return NULL;
}

BbLayerId bb_overlay_find(BbWalk *walk, guint16 source_port, guint16 target_port)
{
    const Overlay *by_user = told(walk, target_port);
    if (by_user)
        return by_user->is(walk->rest) ? enter(walk, by_user) : BB_LAYER_NONE;
    for (guint i = 0; i < G_N_ELEMENTS(overlays); i++) {
        const Overlay *overlay = &overlays[i];
        if ((has_port(overlay, target_port) ||
             (overlay->from_too && has_port(overlay, source_port))) &&
            overlay->is(walk->rest))
            return enter(walk, overlay);
    }
    return BB_LAYER_NONE;
}
