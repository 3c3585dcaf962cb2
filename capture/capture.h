// SPDX-License-Identifier: Apache-2.0
// The stage: frames in, messages out. One thread, one capture; memory is bounded by the limits in
// the options, whatever the traffic.
#pragma once

#include "capture/loss.h"
#include "capture/nodes.h"
#include "capture/packet.h"
#include "capture/translation.h"
#include "data/network.h"
#include "data/order.h"

typedef struct BbCapture BbCapture;

typedef struct BbCaptureOptions {
    guint max_connections; // connections and UDP address pairs remembered; beyond it the one that
                           // was silent for longest is ended and forgotten
    gsize max_held_bytes;  // bytes waiting for reassembly or for the rest of a header, in total
    const struct BbDecodeAs *decode_as; // protocols by port (capture/decoder.h); lent
    guint n_decode_as;
    struct BbTlsKeylog *keylog; // secrets of TLS (capture/protocols/tls_keylog.h); lent; or NULL
    const struct BbTunnelAt *tunnels; // by port (capture/layers/layer.h); lent
    guint n_tunnels;
    // Hosts that have an address twice, in several VLANs or overlay networks (VXLAN, GENEVE, key of
    // GRE), are told apart by them: 10.0.0.1@vlan12, 10.0.0.1@vni5000.
    bool by_vlan, by_vni;
    BbTranslationMode translation; // connections that are seen on several sides of a NAT
    struct BbFollow *follow; // packets of others are left out (capture/follow.h); lent; or NULL
    // A connection that goes on tells of the network this often, by the stamps of its packets, on
    // the edge as it is known then; 0: only at its end, when most is known of it.
    gint64 network_ns;
} BbCaptureOptions;

#define BB_CAPTURE_CONNECTIONS 65536u // 1 to 2 KB each
#define BB_CAPTURE_HELD_BYTES (64u * 1024u * 1024u)

BbCaptureOptions bb_capture_options_default(void);

// names, nodes and loss are lent. sink gets messages when they are complete, which is not the order
// of their first bytes: see data/order.h. The first error of the sink ends the work.
BbCapture *bb_capture_new(const BbCaptureOptions *options, BbNames *names, BbNodes *nodes,
                          BbLoss *loss, BbMessageSink sink, gpointer user);
// Does not write what is still open: see finish.
void bb_capture_free(BbCapture *capture);

// Names of hosts in DNS answers are told to the nodes.
void bb_capture_learn_names(BbCapture *capture, bool learn);

// Takes a frame (layers and all) or a packet. Returns false with an error when the sink failed.
bool bb_capture_frame(BbCapture *capture, const BbFrame *frame, GError **error);
bool bb_capture_packet(BbCapture *capture, const BbPacket *packet, GError **error);

// The capture ends: connections that are still open end with it.
bool bb_capture_finish(BbCapture *capture, GError **error);

// What TCP told of the network, of connections that are over (see also network_ns): all of them
// after finish. Lent.
const BbNetwork *bb_capture_network(const BbCapture *capture);

// What was found of NATs. Lent.
const BbTranslations *bb_capture_translations(const BbCapture *capture);

guint bb_capture_connections(const BbCapture *capture); // remembered now
gsize bb_capture_held_bytes(const BbCapture *capture);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCapture, bb_capture_free)
