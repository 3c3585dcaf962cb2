// SPDX-License-Identifier: Apache-2.0
// In: frames of any link type. Out: the TCP or UDP packet in each, or a count of why there is none.
#include "capture/layers/walk.h"

struct BbLayers {
    BbLoss *loss;
    BbFragments *fragments;
    BbErspanClocks *clocks;
    const BbTunnelAt *tunnels;
    guint n_tunnels;
};

static BbLayerId (*const decoders[BB_LAYER_COUNT])(BbWalk *) = {
    [BB_LAYER_ETHERNET] = bb_layer_ethernet,
    [BB_LAYER_VLAN] = bb_layer_vlan,
    [BB_LAYER_VNTAG] = bb_layer_vntag,
    [BB_LAYER_METADATA] = bb_layer_metadata,
    [BB_LAYER_LLC] = bb_layer_llc,
    [BB_LAYER_COOKED] = bb_layer_cooked,
    [BB_LAYER_COOKED2] = bb_layer_cooked2,
    [BB_LAYER_BSD] = bb_layer_bsd,
    [BB_LAYER_RAW] = bb_layer_raw,
    [BB_LAYER_IPV4] = bb_layer_ipv4,
    [BB_LAYER_IPV6] = bb_layer_ipv6,
    [BB_LAYER_EXTENSION] = bb_layer_extension,
    [BB_LAYER_FRAGMENT] = bb_layer_fragment,
    [BB_LAYER_AUTHENTICATION] = bb_layer_authentication,
    [BB_LAYER_MPLS] = bb_layer_mpls,
    [BB_LAYER_NSH] = bb_layer_nsh,
    [BB_LAYER_PPPOE] = bb_layer_pppoe,
    [BB_LAYER_PPP] = bb_layer_ppp,
    [BB_LAYER_WLAN] = bb_layer_wlan,
    [BB_LAYER_RADIOTAP] = bb_layer_radiotap,
    [BB_LAYER_NFLOG] = bb_layer_nflog,
    [BB_LAYER_GRE] = bb_layer_gre,
    [BB_LAYER_ERSPAN2] = bb_layer_erspan2,
    [BB_LAYER_ERSPAN3] = bb_layer_erspan3,
    [BB_LAYER_INNER_IPV4] = bb_layer_inner_ipv4,
    [BB_LAYER_INNER_IPV6] = bb_layer_inner_ipv6,
    [BB_LAYER_INNER_ETHERNET] = bb_layer_inner_ethernet,
    [BB_LAYER_ETHERIP] = bb_layer_etherip,
    [BB_LAYER_VXLAN] = bb_layer_vxlan,
    [BB_LAYER_GENEVE] = bb_layer_geneve,
    [BB_LAYER_GTPU] = bb_layer_gtpu,
    [BB_LAYER_TEREDO] = bb_layer_teredo,
    [BB_LAYER_TZSP] = bb_layer_tzsp,
    [BB_LAYER_TCP] = bb_layer_tcp,
    [BB_LAYER_UDP] = bb_layer_udp,
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
    {9, "PPP", BB_LAYER_PPP},
    {50, "PPP_SERIAL", BB_LAYER_PPP},
    {51, "PPP_ETHER", BB_LAYER_PPPOE},
    {105, "IEEE802_11", BB_LAYER_WLAN},
    {127, "IEEE802_11_RADIO", BB_LAYER_RADIOTAP},
    {239, "NFLOG", BB_LAYER_NFLOG},
};

static const struct {
    guint16 type;
    BbLayerId layer;
} ethertypes[] = {
    {0x0800, BB_LAYER_IPV4}, {0x86dd, BB_LAYER_IPV6},  {0x8100, BB_LAYER_VLAN},
    {0x88a8, BB_LAYER_VLAN}, {0x9100, BB_LAYER_VLAN},  {0x9200, BB_LAYER_VLAN},
    {0x8847, BB_LAYER_MPLS}, {0x8848, BB_LAYER_MPLS},  {0x8864, BB_LAYER_PPPOE},
    {0x894f, BB_LAYER_NSH},  {0x8926, BB_LAYER_VNTAG}, {0x8909, BB_LAYER_METADATA},
};

const guint8 bb_layer_ipv4_protocols[256] = {
    [4] = BB_LAYER_INNER_IPV4,  [6] = BB_LAYER_TCP,  [17] = BB_LAYER_UDP,
    [41] = BB_LAYER_INNER_IPV6, [47] = BB_LAYER_GRE, [51] = BB_LAYER_AUTHENTICATION,
    [97] = BB_LAYER_ETHERIP,
    [137] = BB_LAYER_MPLS, // RFC 4023
};

const guint8 bb_layer_ipv6_protocols[256] = {
    [0] = BB_LAYER_EXTENSION, // hop-by-hop options
    [4] = BB_LAYER_INNER_IPV4,
    [6] = BB_LAYER_TCP,
    [17] = BB_LAYER_UDP,
    [41] = BB_LAYER_INNER_IPV6,
    [43] = BB_LAYER_EXTENSION, // routing
    [44] = BB_LAYER_FRAGMENT,
    [51] = BB_LAYER_AUTHENTICATION,
    [47] = BB_LAYER_GRE,
    [60] = BB_LAYER_EXTENSION, // destination options
    [97] = BB_LAYER_ETHERIP,
    [137] = BB_LAYER_MPLS,
    [143] = BB_LAYER_INNER_ETHERNET,
};

bool bb_layers_may_carry(bool ipv6, guint8 protocol)
{
    guint8 layer = (ipv6 ? bb_layer_ipv6_protocols : bb_layer_ipv4_protocols)[protocol];
    return layer != BB_LAYER_NONE && layer != BB_LAYER_TCP && layer != BB_LAYER_UDP;
}

BbLayers *bb_layers_new(BbLoss *loss, gsize max_fragment_bytes)
{
    BbLayers *layers = g_new0(BbLayers, 1);
    layers->loss = loss;
    layers->fragments = bb_fragments_new(loss, max_fragment_bytes);
    layers->clocks = bb_erspan_clocks_new();
    return layers;
}

void bb_layers_free(BbLayers *layers)
{
    if (!layers)
        return;
    bb_fragments_free(layers->fragments);
    bb_erspan_clocks_free(layers->clocks);
    g_free(layers);
}

static BbLayerId layer_of_link(int link_type)
{
    for (gsize i = 0; i < G_N_ELEMENTS(links); i++)
        if (links[i].type == link_type)
            return links[i].layer;
    return BB_LAYER_NONE;
}

BbLayerId bb_layer_of_ethertype(guint16 type)
{
    for (gsize i = 0; i < G_N_ELEMENTS(ethertypes); i++)
        if (ethertypes[i].type == type)
            return ethertypes[i].layer;
    return BB_LAYER_NONE;
}

BbLayerId bb_walk_ethertype(BbWalk *walk, guint16 type)
{
    BbLayerId layer = bb_layer_of_ethertype(type);
    return layer == BB_LAYER_NONE ? bb_walk_refuse(walk, BB_SKIP_NOT_IP) : layer;
}

BbLayerId bb_walk_next_protocol(BbWalk *walk, guint8 next)
{
    static const guint8 protocols[] = {
        [1] = BB_LAYER_IPV4, [2] = BB_LAYER_IPV6, [3] = BB_LAYER_ETHERNET,
        [4] = BB_LAYER_NSH,  [5] = BB_LAYER_MPLS,
    };
    BbLayerId layer = next < G_N_ELEMENTS(protocols) ? protocols[next] : BB_LAYER_NONE;
    return layer == BB_LAYER_NONE ? bb_walk_refuse(walk, BB_SKIP_NOT_IP) : layer;
}

void bb_layers_name_tunnels(BbLayers *layers, const BbTunnelAt *tunnels, guint count)
{
    layers->tunnels = tunnels;
    layers->n_tunnels = count;
}

bool bb_layers_decode(BbLayers *layers, const BbFrame *frame, BbPacket *packet)
{
    BbWalk walk = {.rest = bb_cursor(frame->data, frame->captured),
                   .wire = MAX(frame->length, frame->captured),
                   .packet = packet,
                   .loss = layers->loss,
                   .fragments = layers->fragments,
                   .clocks = layers->clocks,
                   .tunnels = layers->tunnels,
                   .n_tunnels = layers->n_tunnels};
    packet->time_ns = frame->time_ns;
    packet->took_ns = 0;
    packet->place = frame->place;
    packet->vlan = packet->vni = 0;
    packet->has_vni = false;
    packet->number = 0;
    packet->translated = BB_TRANSLATED_NOT;
    packet->options = NULL;
    packet->options_size = 0;
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
