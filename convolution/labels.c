// SPDX-License-Identifier: Apache-2.0
// In: the cause of each message. Out: the chain of edges by which it came.
#include "convolution/labels.h"

BbLabels *bb_labels_new(guint32 n_messages)
{
    BbLabels *labels = g_new0(BbLabels, 1);
    labels->labels = g_array_new(FALSE, FALSE, sizeof(BbLabel));
    labels->of = g_new(guint32, MAX(1, n_messages));
    bb_tally_init(&labels->numbers);
    return labels;
}

void bb_labels_free(BbLabels *labels)
{
    if (!labels)
        return;
    g_array_unref(labels->labels);
    g_free(labels->of);
    bb_tally_clear(&labels->numbers);
    g_free(labels);
}

guint32 bb_labels_find(const BbLabels *labels, guint32 parent, guint32 edge)
{
    const BbTallyEntry *slot = bb_tally_slot(&labels->numbers, (BbTallyKey){parent, edge, 0});
    return slot->round == labels->numbers.round ? (guint32)slot->count - 1 : BB_LABEL_NONE;
}

static guint32 label_of(BbLabels *labels, guint32 parent, guint32 edge)
{
    if (parent != BB_LABEL_NONE && bb_label(labels, parent)->depth + 1 >= BB_LABEL_DEPTH_MAX)
        parent = BB_LABEL_NONE;
    guint64 *number = bb_tally_at(&labels->numbers, (BbTallyKey){parent, edge, 0});
    if (*number == 0) {
        guint32 depth = parent == BB_LABEL_NONE ? 0 : bb_label(labels, parent)->depth + 1;
        BbLabel label = {.parent = parent, .edge = edge, .depth = depth, .weight = 1};
        g_array_append_val(labels->labels, label);
        *number = labels->labels->len;
    }
    return (guint32)*number - 1;
}

void bb_labels_give(BbLabels *labels, const BbTraffic *traffic, const guint32 *cause)
{
    g_autoptr(GArray) way = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint i = 0; i < labels->labels->len; i++)
        bb_label(labels, i)->count = 0;
    for (guint32 i = 0; i < traffic->n_messages; i++)
        labels->of[i] = BB_LABEL_NONE;
    for (guint32 i = 0; i < traffic->n_messages; i++) {
        // Nearly always the cause was labelled before.
        for (guint32 at = i; at != BB_CALL_NO_PARENT && labels->of[at] == BB_LABEL_NONE;
             at = cause[at])
            g_array_append_val(way, at);
        while (way->len > 0) {
            guint32 at = g_array_index(way, guint32, way->len - 1);
            guint32 up = cause[at] == BB_CALL_NO_PARENT ? BB_LABEL_NONE : labels->of[cause[at]];
            labels->of[at] = label_of(labels, up, traffic->edge[at]);
            bb_label(labels, labels->of[at])->count++;
            g_array_set_size(way, way->len - 1);
        }
    }
}
