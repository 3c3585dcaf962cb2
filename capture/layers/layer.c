// SPDX-License-Identifier: Apache-2.0
// In: frames of any link type. Out: the TCP or UDP packet in each, or a count of why there is none.
#include "capture/layers/walk.h"

struct BbLayers {
    BbLoss *loss;
    BbFragments *fragments;
};

static BbLayerId (*const decoders[BB_LAYER_COUNT])(BbWalk *) = {
    [BB_LAYER_ETHERNET] = bb_layer_ethernet, [BB_LAYER_VLAN] = bb_layer_vlan,
    [BB_LAYER_LLC] = bb_layer_llc,           [BB_LAYER_COOKED] = bb_layer_cooked,
    [BB_LAYER_COOKED2] = bb_layer_cooked2,   [BB_LAYER_BSD] = bb_layer_bsd,
    [BB_LAYER_RAW] = bb_layer_raw,           [BB_LAYER_IPV4] = bb_layer_ipv4,
    [BB_LAYER_IPV6] = bb_layer_ipv6,         [BB_LAYER_EXTENSION] = bb_layer_extension,
    [BB_LAYER_FRAGMENT] = bb_layer_fragment, [BB_LAYER_AUTHENTICATION] = bb_layer_authentication,
    [BB_LAYER_TCP] = bb_layer_tcp,           [BB_LAYER_UDP] = bb_layer_udp,
};

// By LINKTYPE_ and DLT_ number; RAW has three, as systems differ (pcap-linktype(7)).
static const struct {
    int type;
    const char *name;
    BbLayerId layer;
} links[] = {
    {1, "EN10MB", BB_LAYER_ETHERNET},
    {113, "LINUX_SLL", BB_LAYER_COOKED},
    {276, "LINUX_SLL2", BB_LAYER_COOKED2},
    {0, "NULL", BB_LAYER_BSD},
    {108, "LOOP", BB_LAYER_BSD},
    {101, "RAW", BB_LAYER_RAW},
    {12, "RAW", BB_LAYER_RAW},
    {14, "RAW", BB_LAYER_RAW},
    {228, "IPV4", BB_LAYER_IPV4},
    {229, "IPV6", BB_LAYER_IPV6},
};

static const struct {
    guint16 type;
    BbLayerId layer;
} ethertypes[] = {
    {0x0800, BB_LAYER_IPV4}, {0x86dd, BB_LAYER_IPV6}, {0x8100, BB_LAYER_VLAN},
    {0x88a8, BB_LAYER_VLAN}, {0x9100, BB_LAYER_VLAN},
};

const guint8 bb_layer_ipv4_protocols[256] = {
    [6] = BB_LAYER_TCP,
    [17] = BB_LAYER_UDP,
    [51] = BB_LAYER_AUTHENTICATION,
};

const guint8 bb_layer_ipv6_protocols[256] = {
    [0] = BB_LAYER_EXTENSION, // hop-by-hop options
    [6] = BB_LAYER_TCP,        [17] = BB_LAYER_UDP,
    [43] = BB_LAYER_EXTENSION, // routing
    [44] = BB_LAYER_FRAGMENT,  [51] = BB_LAYER_AUTHENTICATION,
    [60] = BB_LAYER_EXTENSION, // destination options
};

BbLayers *bb_layers_new(BbLoss *loss, gsize max_fragment_bytes)
{
    BbLayers *layers = g_new0(BbLayers, 1);
    layers->loss = loss;
    layers->fragments = bb_fragments_new(loss, max_fragment_bytes);
    return layers;
}

void bb_layers_free(BbLayers *layers)
{
    if (!layers)
        return;
    bb_fragments_free(layers->fragments);
    g_free(layers);
}

static BbLayerId layer_of_link(int link_type)
{
    for (gsize i = 0; i < G_N_ELEMENTS(links); i++)
        if (links[i].type == link_type)
            return links[i].layer;
    return BB_LAYER_NONE;
}

BbLayerId bb_walk_ethertype(BbWalk *walk, guint16 type)
{
    for (gsize i = 0; i < G_N_ELEMENTS(ethertypes); i++)
        if (ethertypes[i].type == type)
            return ethertypes[i].layer;
    return bb_walk_refuse(walk, BB_SKIP_NOT_IP);
}

bool bb_layers_decode(BbLayers *layers, const BbFrame *frame, BbPacket *packet)
{
    BbWalk walk = {.rest = bb_cursor(frame->data, frame->captured),
                   .wire = MAX(frame->length, frame->captured),
                   .packet = packet,
                   .loss = layers->loss,
                   .fragments = layers->fragments};
    packet->time_ns = frame->time_ns;
    BbLayerId layer = layer_of_link(frame->link_type);
    if (layer == BB_LAYER_NONE) {
        bb_walk_refuse(&walk, BB_SKIP_LINK);
        return false;
    }
    for (guint depth = 0; depth < BB_LAYER_DEPTH; depth++) {
        layer = decoders[layer](&walk);
        if (layer == BB_LAYER_NONE || layer == BB_LAYER_PACKET)
            return layer == BB_LAYER_PACKET;
    }
    bb_walk_refuse(&walk, BB_DEEP_FRAME);
    return false;
}

void bb_layers_finish(BbLayers *layers)
{
    bb_fragments_finish(layers->fragments);
}

bool bb_layers_knows_link(int link_type)
{
    return layer_of_link(link_type) != BB_LAYER_NONE;
}

void bb_layers_append_link_names(GString *out)
{
    for (gsize i = 0; i < G_N_ELEMENTS(links); i++)
        if (i == 0 || strcmp(links[i].name, links[i - 1].name) != 0)
            g_string_append_printf(out, "%s%s", i ? ", " : "", links[i].name);
}
