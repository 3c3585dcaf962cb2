// SPDX-License-Identifier: Apache-2.0
// Object numbers for cgraph in order of creation. cgraph's own are addresses of strings, and it
// keeps subgraphs in order of their numbers: the text would change from run to run.
#pragma once

#include <graphviz/cgraph.h>

// A discipline for agopen, to be copied into the caller's Agdisc_t; the graph frees what it holds.
Agiddisc_t bb_dot_ids(void);
