// SPDX-License-Identifier: Apache-2.0
// One pattern as a cluster of a graph: what dot_tree.c and dot_chain.c draw with. The trees and
// chains grow from left to right and stand below each other, so that a page is scrolled down, in
// order of rank. With rankdir=LR dot stacks clusters and siblings from the bottom up; that is why
// patterns, and the calls of a node, are created last first.
#pragma once

#include "viz/view.h"

#include <graphviz/cgraph.h>

typedef struct BbDrawing {
    Agraph_t *cluster;
    const BbNames *names;
    const BbPattern *pattern;
    const BbRanking *ranking;
    const BbNetwork *network;      // NULL: nothing is known of it
    guint32 caller;                // of the edge that is drawn
    const BbPatternNode *heaviest; // drawn boldest; NULL if none is
    GString *plain, *escaped;      // scratch
    guint rank, nodes;
} BbDrawing;

// Draws the rest of a pattern, right of its client, and gives the cluster its title. Fails only
// where cgraph does.
bool bb_drawing_tree(BbDrawing *drawing, Agnode_t *client);  // of nesting
bool bb_drawing_chain(BbDrawing *drawing, Agnode_t *client); // of convolution

// The client, in a box. NULL where cgraph fails; likewise new_node.
Agnode_t *bb_drawing_client(BbDrawing *drawing);
Agnode_t *bb_drawing_new_node(BbDrawing *drawing);

// Sets an attribute of a graph, node or edge: to value, to the text in drawing->plain (no escape in
// it means anything).
void bb_drawing_set(void *object, const char *name, const char *value);
void bb_drawing_set_plain(BbDrawing *drawing, void *object, const char *name);

// Appends text to a label, likewise.
void bb_drawing_append_plain(GString *label, const char *text);

// White for a share of 0 to a strong orange for 1; black text is legible on all of them.
void bb_drawing_fill(Agnode_t *drawn, double share);

// Appends a name, wrapped at about so many columns.
void bb_drawing_append_name(GString *out, const char *name, guint columns);

// "mean 5.00 ms, p50 4.90 ms, ..."
void bb_drawing_append_quantiles(GString *out, const BbStats *stats);

// To drawing->plain, how often each was used; nothing where replicas is NULL.
void bb_drawing_append_replicas(BbDrawing *drawing, const GArray *replicas);
