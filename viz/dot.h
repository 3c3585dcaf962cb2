// SPDX-License-Identifier: Apache-2.0
// The patterns as a graph of cgraph, in the form of the paper's figure 8: a tree a pattern.
#pragma once

#include "viz/view.h"

#include <graphviz/cgraph.h>

typedef struct BbDot BbDot;

// Fails (G_FILE_ERROR_NOMEM) only where cgraph does.
BbDot *bb_dot_new(const BbView *view, GError **error);
void bb_dot_free(BbDot *dot);

// The graph, lent.
Agraph_t *bb_dot_graph(const BbDot *dot);

// Writes the patterns in the DOT language (a BbViewFormat's write).
bool bb_dot_write(const BbView *view, FILE *out, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbDot, bb_dot_free)
