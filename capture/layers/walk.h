// SPDX-License-Identifier: Apache-2.0
// The walk from layer to layer, for capture/layers/ alone. A layer decoder is a list of refusals
// in the order of the bytes, then the fact, then which layer is next.
#pragma once

#include "capture/cursor.h"
#include "capture/layers/erspan_clock.h"
#include "capture/layers/layer.h"

typedef enum {
    BB_LAYER_NONE,   // refused and counted
    BB_LAYER_PACKET, // the packet is complete
    BB_LAYER_ETHERNET,
    BB_LAYER_VLAN,
    BB_LAYER_VNTAG,
    BB_LAYER_METADATA,
    BB_LAYER_LLC,
    BB_LAYER_COOKED,
    BB_LAYER_COOKED2,
    BB_LAYER_BSD,
    BB_LAYER_RAW,
    BB_LAYER_IPV4,
    BB_LAYER_IPV6,
    BB_LAYER_EXTENSION,
    BB_LAYER_FRAGMENT,
    BB_LAYER_AUTHENTICATION,
    BB_LAYER_MPLS,
    BB_LAYER_NSH,
    BB_LAYER_PPPOE,
    BB_LAYER_PPP,
    BB_LAYER_WLAN,
    BB_LAYER_RADIOTAP,
    BB_LAYER_NFLOG,
    BB_LAYER_GRE,
    BB_LAYER_ERSPAN2,
    BB_LAYER_ERSPAN3,
    BB_LAYER_INNER_IPV4, // IP in IP
    BB_LAYER_INNER_IPV6,
    BB_LAYER_INNER_ETHERNET, // Ethernet in IP
    BB_LAYER_ETHERIP,
    BB_LAYER_VXLAN,
    BB_LAYER_GENEVE,
    BB_LAYER_GTPU,
    BB_LAYER_TEREDO,
    BB_LAYER_TZSP,
    BB_LAYER_TCP,
    BB_LAYER_UDP,
    BB_LAYER_COUNT
} BbLayerId;

typedef struct BbWalk {
    BbCursor rest; // bytes captured that no layer has taken
    gsize wire;    // the same on the wire: never less. What an inner header says is believed
    BbPacket *packet;
    BbLoss *loss;
    BbFragments *fragments;
    const guint8 *protocols; // BbLayerId of each protocol of the IP version passed last
    BbErspanClocks *clocks;
    const BbTunnelAt *tunnels; // n_tunnels that people named
    guint n_tunnels;
    guint vlan_tags;       // of the Ethernet frame passed last
    guint16 mirrored_vlan; // of the frame to come, as the mirror says; 0: none
    bool wlan_padded;      // likewise, as the radio says: its header takes whole words
} BbWalk;

// One per kind of header. Each takes its header off walk and returns the layer that follows.
BbLayerId bb_layer_ethernet(BbWalk *walk);
BbLayerId bb_layer_vlan(BbWalk *walk);
BbLayerId bb_layer_vntag(BbWalk *walk);
BbLayerId bb_layer_metadata(BbWalk *walk);
BbLayerId bb_layer_llc(BbWalk *walk);
BbLayerId bb_layer_cooked(BbWalk *walk);
BbLayerId bb_layer_cooked2(BbWalk *walk);
BbLayerId bb_layer_bsd(BbWalk *walk);
BbLayerId bb_layer_raw(BbWalk *walk);
BbLayerId bb_layer_ipv4(BbWalk *walk);
BbLayerId bb_layer_ipv6(BbWalk *walk);
BbLayerId bb_layer_extension(BbWalk *walk);
BbLayerId bb_layer_fragment(BbWalk *walk);
BbLayerId bb_layer_authentication(BbWalk *walk);
BbLayerId bb_layer_mpls(BbWalk *walk);
BbLayerId bb_layer_nsh(BbWalk *walk);
BbLayerId bb_layer_pppoe(BbWalk *walk);
BbLayerId bb_layer_ppp(BbWalk *walk);
BbLayerId bb_layer_wlan(BbWalk *walk);
BbLayerId bb_layer_radiotap(BbWalk *walk);
BbLayerId bb_layer_nflog(BbWalk *walk);
BbLayerId bb_layer_gre(BbWalk *walk);
BbLayerId bb_layer_erspan2(BbWalk *walk);
BbLayerId bb_layer_erspan3(BbWalk *walk);
BbLayerId bb_layer_inner_ipv4(BbWalk *walk);
BbLayerId bb_layer_inner_ipv6(BbWalk *walk);
BbLayerId bb_layer_inner_ethernet(BbWalk *walk);
BbLayerId bb_layer_etherip(BbWalk *walk);
BbLayerId bb_layer_vxlan(BbWalk *walk);
BbLayerId bb_layer_geneve(BbWalk *walk);
BbLayerId bb_layer_gtpu(BbWalk *walk);
BbLayerId bb_layer_teredo(BbWalk *walk);
BbLayerId bb_layer_tzsp(BbWalk *walk);
BbLayerId bb_layer_tcp(BbWalk *walk);
BbLayerId bb_layer_udp(BbWalk *walk);

// IP protocol numbers and the layers behind them (capture/layers/layer.c).
extern const guint8 bb_layer_ipv4_protocols[256];
extern const guint8 bb_layer_ipv6_protocols[256];

// The layer behind a type of Ethernet; BB_LAYER_NONE, in a walk counted, where it is not IP.
BbLayerId bb_layer_of_ethertype(guint16 type);
BbLayerId bb_walk_ethertype(BbWalk *walk, guint16 type);
// The layer behind a next protocol of NSH and VXLAN-GPE (RFC 8300, section 2.2).
BbLayerId bb_walk_next_protocol(BbWalk *walk, guint8 next);

static inline BbLayerId bb_walk_refuse(BbWalk *walk, BbLossKind why)
{
    walk->loss->count[why]++;
    return BB_LAYER_NONE;
}

// Takes a header of size bytes off. Returns false, counted, when it is not all there.
static inline bool bb_walk_take(BbWalk *walk, gsize size, BbCursor *header)
{
    const guint8 *at = bb_cursor_take(&walk->rest, size);
    if (!at) {
        bb_walk_refuse(walk, size > walk->wire ? BB_BAD_FRAME : BB_CUT_FRAME);
        return false;
    }
    walk->wire -= size;
    *header = bb_cursor(at, size);
    return true;
}

// A header says how many bytes follow it; what is beyond is padding or a check sequence.
static inline void bb_walk_limit(BbWalk *walk, gsize length)
{
    walk->wire = length;
    walk->rest.left = MIN(walk->rest.left, length);
}

static inline BbLayerId bb_walk_protocol(BbWalk *walk, guint8 protocol)
{
    BbLayerId layer = walk->protocols[protocol];
    return layer == BB_LAYER_NONE ? bb_walk_refuse(walk, BB_SKIP_PROTOCOL) : layer;
}
