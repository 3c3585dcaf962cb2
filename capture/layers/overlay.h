// SPDX-License-Identifier: Apache-2.0
// Tunnels over UDP. A datagram is one when its port says so and its first bytes make sense; any
// other stays a datagram.
#pragma once

#include "capture/layers/walk.h"

// The layer behind a UDP header where the datagram, what is left of walk, is a tunnel;
// BB_LAYER_NONE (not counted) where it is none.
BbLayerId bb_overlay_find(BbWalk *walk, guint16 source_port, guint16 target_port);
