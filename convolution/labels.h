// SPDX-License-Identifier: Apache-2.0
// What way messages came: a label is an edge and the label of the cause's message, so that equal
// chains of edges from the root have one label.
#pragma once

#include "convolution/traffic.h"
#include "data/tally.h"

#define BB_LABEL_NONE G_MAXUINT32
#define BB_LABEL_DEPTH_MAX 64u // edges; what goes on after it begins anew

typedef struct BbLabel {
    guint32 parent; // BB_LABEL_NONE of roots
    guint32 edge;
    guint32 depth; // 0 of roots
    guint32 count; // messages
    float weight;  // by which the chances of its messages' causes are multiplied
} BbLabel;

typedef struct BbLabels {
    GArray *labels;  // of BbLabel: parents before their children
    guint32 *of;     // by message
    BbTally numbers; // (parent, edge) -> index + 1
} BbLabels;

BbLabels *bb_labels_new(guint32 n_messages);
void bb_labels_free(BbLabels *labels);

// Labels all messages, cause: by message, without cycles. Counts anew; labels once given keep their
// numbers.
void bb_labels_give(BbLabels *labels, const BbTraffic *traffic, const guint32 *cause);

// The label of a message on that edge whose cause has the label parent; BB_LABEL_NONE where no
// message ever had it.
guint32 bb_labels_find(const BbLabels *labels, guint32 parent, guint32 edge);

static inline BbLabel *bb_label(const BbLabels *labels, guint32 label)
{
    return &g_array_index(labels->labels, BbLabel, label);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbLabels, bb_labels_free)
