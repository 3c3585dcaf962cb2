// SPDX-License-Identifier: Apache-2.0
// The vertices that figure 6 makes, those of equal chain of nodes from the same root edge as one
// (paper, figures 9 and 13).
#pragma once

#include "convolution/traffic.h"
#include "data/census.h"

typedef struct BbVertices BbVertices;

#define BB_VERTEX_NONE G_MAXUINT32

// traffic is lent.
BbVertices *bb_vertices_new(const BbTraffic *traffic);
void bb_vertices_free(BbVertices *vertices);

// Adds a vertex with delay->count messages on edge, after another one (BB_VERTEX_NONE: a root,
// whose delay tells nothing but the count). Returns the number of the vertex it is one with.
guint32 bb_vertices_add(BbVertices *vertices, guint32 before, guint32 edge,
                        const BbPatternDelay *delay);

// A pattern for each chain that goes no further, in the order in which they were added; its count
// is the sum over the vertices at its end. There are no latencies: a chain knows which delays a
// node had, but not which of them befell the same message.
BbPatterns *bb_vertices_patterns(const BbVertices *vertices);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbVertices, bb_vertices_free)
