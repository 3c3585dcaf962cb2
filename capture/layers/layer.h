// SPDX-License-Identifier: Apache-2.0
// From a frame to a packet: a walk over a table of layer decoders with a depth limit. Each layer
// refuses in the order of its bytes, takes its header off, and says which layer is next; tunnels
// are new lines in the table.
//
// Checksums of IPv4, TCP and UDP are not verified: where a host is captured on itself, its network
// card fills them in after the capture (checksum offload).
//
// Every frame is counted once: as a packet (BB_SEEN_TCP, BB_SEEN_UDP), as a fragment, or as the
// reason why there is none. A header that runs past the end of its packet is BB_BAD_FRAME, one that
// runs past the bytes captured BB_CUT_FRAME. TCP options cut by the snap length do no harm.
#pragma once

#include "capture/layers/fragment.h"
#include "capture/loss.h"
#include "capture/packet.h"

#define BB_LAYER_DEPTH 32 // headers in one frame

typedef struct BbLayers BbLayers;

// What people know better: datagrams to this UDP port are such a tunnel (bb_overlay_exists).
typedef struct BbTunnelAt {
    guint16 port;
    const char *name; // lent
} BbTunnelAt;

// Whether there is a tunnel over UDP of that name, and the names of all.
bool bb_overlay_exists(const char *name);
void bb_overlay_append_names(GString *out);

// For filters that look at less than the layers do: the UDP ports that tell a tunnel without being
// named, of which at most max are put into ports, and how many there are; and whether what is
// behind a protocol of IP may be another packet, or more headers.
guint bb_overlay_ports(guint16 *ports, guint max);
bool bb_layers_may_carry(bool ipv6, guint8 protocol);

// loss is lent and must outlive the result. max_fragment_bytes bounds IP reassembly.
BbLayers *bb_layers_new(BbLoss *loss, gsize max_fragment_bytes);
void bb_layers_free(BbLayers *layers);

// tunnels is lent and must outlive layers.
void bb_layers_name_tunnels(BbLayers *layers, const BbTunnelAt *tunnels, guint count);

// Finds the TCP or UDP packet in frame. Returns false when there is none (counted in loss); packet
// then holds nothing of use. The payload of packet is lent until the next call, or as long as the
// frame, whichever is shorter. A packet put together from fragments has the time of its first
// bytes.
bool bb_layers_decode(BbLayers *layers, const BbFrame *frame, BbPacket *packet);

// The capture is over: packets that still want fragments are counted as lost.
void bb_layers_finish(BbLayers *layers);

// Whether frames of this link type can be read, and the names of those that can, as pcap has them:
// "EN10MB, LINUX_SLL, ...".
bool bb_layers_knows_link(int link_type);
void bb_layers_append_link_names(GString *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbLayers, bb_layers_free)
