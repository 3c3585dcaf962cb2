// SPDX-License-Identifier: Apache-2.0
// From a frame to a packet: a walk over a table of layer decoders with a depth limit. Each layer
// refuses in the order of its bytes, takes its header off, and says which layer is next; tunnels
// are new lines in the table.
#pragma once

#include "capture/fragment.h"
#include "capture/loss.h"
#include "capture/packet.h"

#define BB_LAYER_DEPTH 16 // headers in one frame

typedef struct BbLayers BbLayers;

// loss is lent and must outlive the result. max_fragment_bytes bounds IP reassembly.
BbLayers *bb_layers_new(BbLoss *loss, gsize max_fragment_bytes);
void bb_layers_free(BbLayers *layers);

// Finds the TCP or UDP packet in frame. Returns false when there is none (counted in loss).
// The payload of packet is lent until the next call.
bool bb_layers_decode(BbLayers *layers, const BbFrame *frame, BbPacket *packet);

// Whether frames of this link type can be read, and the names of those that can.
bool bb_layers_knows_link(int link_type);
void bb_layers_append_link_names(GString *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbLayers, bb_layers_free)
