// SPDX-License-Identifier: Apache-2.0
// Encrypted messages inside of a protocol whose frames are in the clear: only their turns are
// known. One that the client sends is a call `?`, answered by the next of the server; others that
// are sent meanwhile are free messages.
#pragma once

#include "capture/dialog.h"

#define BB_HIDDEN_KEY (G_GUINT64_CONSTANT(1) << 63) // of its call: no protocol id may reach it

// call: in the decoder's state, 0 at first. What is open is given up when bytes of the server were
// missing: its answer may have been among them.
void bb_hidden_take(guint64 *call, BbDialog *dialog, const BbPart *part);
void bb_hidden_gap(guint64 *call, BbDialog *dialog, BbDirection direction);
