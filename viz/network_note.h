// SPDX-License-Identifier: Apache-2.0
// What TCP told of the network between two nodes, in words: beside an edge, so that a bad network
// is not taken for a slow server.
#pragma once

#include "data/network.h"

// Appends a line break and a line with all there is to say of the edge: handshake, what was sent
// again, resets. Nothing where network is NULL or knows nothing of it.
void bb_network_note_append(GString *out, const BbNetwork *network, guint32 client, guint32 server);

// The same in a word or two, only where the network is bad: 1 % or more of the packets were sent
// again, or of the connections reset, refused or unanswered, or a receiver had to shut its window.
void bb_network_note_append_trouble(GString *out, const BbNetwork *network, guint32 client,
                                    guint32 server);
