// SPDX-License-Identifier: Apache-2.0
// Is a path as frequent as its two ends say? Hop by hop explanation mixes up where messages of
// several paths meet at a node: then it tells of chains that never were. But messages that are the
// two ends of a chain must correlate at the sum of its delays. Chains that claim more than that are
// held back.
#pragma once

#include "convolution/labels.h"

typedef struct BbVeto BbVeto;

// traffic is lent. cause: by message; the delays of pairs of edges are learned from it. calm_ns:
// over which the load is taken as constant.
BbVeto *bb_veto_new(const BbTraffic *traffic, const guint32 *cause, double calm_ns);
void bb_veto_free(BbVeto *veto);

// Lowers the weights of labels that claim too much. Returns whether there were any.
bool bb_veto_apply(BbVeto *veto, BbLabels *labels);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbVeto, bb_veto_free)
