// SPDX-License-Identifier: Apache-2.0
// The table of `bbtrace info` on the network between nodes.
#pragma once

#include "data/network.h"

// Prints an edge a line, those with the most packets first: at most `most` of them. Nothing where
// the trace says nothing of the network.
void bb_info_print_network(const BbNetwork *network, const BbNames *names, guint most);
