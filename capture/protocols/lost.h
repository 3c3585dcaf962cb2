// SPDX-License-Identifier: Apache-2.0
// The place in a stream where the next message begins is lost: it is looked for at the beginnings
// of packets, and what is passed over is counted as unread (bb_dialog_unread).
#pragma once

#include "capture/decoder.h"

// Passes over bytes up to a packet that begins with a message, as probe says by `least` or more;
// *lost is false then. A packet that is too short to tell waits for more. Returns how many bytes.
gssize bb_lost_find(bool *lost, BbDialog *dialog, const BbView *view,
                    BbMatch (*probe)(const guint8 *data, gsize length), BbMatch least);

// No message begins where view does: sets *lost, passes over the rest of the packet, and returns
// its bytes.
gssize bb_lost_here(bool *lost, BbDialog *dialog, const BbView *view);
