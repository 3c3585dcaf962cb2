// SPDX-License-Identifier: Apache-2.0
// In: vertices. Out: the same, those with the most messages first. A binary heap.
#include "convolution/pending.h"

struct BbPending {
    GArray *heap; // of BbPendingVertex
    gsize messages, messages_max;
    guint64 puts;
};

static void clear_vertex(gpointer vertex)
{
    g_free(((BbPendingVertex *)vertex)->messages);
}

BbPending *bb_pending_new(gsize messages_max)
{
    BbPending *self = g_new0(BbPending, 1);
    self->heap = g_array_new(FALSE, FALSE, sizeof(BbPendingVertex));
    g_array_set_clear_func(self->heap, clear_vertex);
    self->messages_max = messages_max;
    return self;
}

void bb_pending_free(BbPending *self)
{
    if (!self)
        return;
    g_array_unref(self->heap);
    g_free(self);
}

gsize bb_pending_count(const BbPending *self)
{
    return self->heap->len;
}

guint32 bb_pending_most(const BbPending *self)
{
    return self->heap->len ? g_array_index(self->heap, BbPendingVertex, 0).count : 0;
}

static bool is_before(const BbPendingVertex *a, const BbPendingVertex *b)
{
    return a->count != b->count ? a->count > b->count : a->ticket < b->ticket;
}

static BbPendingVertex *at_index(BbPending *self, guint index)
{
    return &g_array_index(self->heap, BbPendingVertex, index);
}

bool bb_pending_put(BbPending *self, const BbPendingVertex *vertex)
{
    if (vertex->count > self->messages_max - self->messages)
        return false;
    self->messages += vertex->count;
    BbPendingVertex entry = *vertex;
    entry.messages = g_memdup2(vertex->messages, vertex->count * sizeof *vertex->messages);
    entry.ticket = self->puts++;
    g_array_append_val(self->heap, entry);
    guint at = self->heap->len - 1;
    for (; at > 0 && is_before(&entry, at_index(self, (at - 1) / 2)); at = (at - 1) / 2)
        *at_index(self, at) = *at_index(self, (at - 1) / 2);
    *at_index(self, at) = entry;
    return true;
}

bool bb_pending_take(BbPending *self, BbPendingVertex *vertex)
{
    if (self->heap->len == 0)
        return false;
    *vertex = *at_index(self, 0);
    self->messages -= vertex->count;
    guint count = self->heap->len - 1, at = 0;
    BbPendingVertex last = *at_index(self, count);
    for (guint child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && is_before(at_index(self, child + 1), at_index(self, child)))
            child++;
        if (!is_before(at_index(self, child), &last))
            break;
        *at_index(self, at) = *at_index(self, child);
        at = child;
    }
    *at_index(self, at) = last;
    at_index(self, count)->messages = NULL; // for set_size clears it
    g_array_set_size(self->heap, count);
    return true;
}
