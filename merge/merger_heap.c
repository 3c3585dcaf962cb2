// SPDX-License-Identifier: Apache-2.0
// In: open sources. Out: the one with the earliest message.
#include "merge/merger_state.h"

static bool comes_before(const BbMergerSource *a, const BbMergerSource *b)
{
    if (a->head->time_ns != b->head->time_ns)
        return a->head->time_ns < b->head->time_ns;
    return a->head_input < b->head_input;
}

static void sift_down(GPtrArray *heap, guint at)
{
    gpointer *slots = heap->pdata, moved = slots[at];
    for (;;) {
        guint child = 2 * at + 1;
        if (child >= heap->len)
            break;
        if (child + 1 < heap->len && comes_before(slots[child + 1], slots[child]))
            child++;
        if (!comes_before(slots[child], moved))
            break;
        slots[at] = slots[child];
        at = child;
    }
    slots[at] = moved;
}

void bb_merger_heap_add(GPtrArray *heap, BbMergerSource *source)
{
    g_ptr_array_add(heap, source);
    gpointer *slots = heap->pdata;
    guint at = heap->len - 1;
    for (; at > 0 && comes_before(source, slots[(at - 1) / 2]); at = (at - 1) / 2)
        slots[at] = slots[(at - 1) / 2];
    slots[at] = source;
}

// Puts the heap right after its first source has taken another head, or none.
static void heap_settle(GPtrArray *heap)
{
    const BbMergerSource *first = heap->pdata[0];
    if (!first->head) {
        heap->pdata[0] = heap->pdata[heap->len - 1];
        g_ptr_array_set_size(heap, (gint)heap->len - 1);
    }
    if (heap->len > 1)
        sift_down(heap, 0);
}

// Adds an open source with its first message, if it has any.
bool bb_merger_heap_begin(GPtrArray *heap, BbMergerSource *source, GError **error)
{
    if (!bb_merger_source_advance(source, error))
        return false;
    if (source->head)
        bb_merger_heap_add(heap, source);
    return true;
}

// Drops a source at its end, or puts it in its new place.
bool bb_merger_heap_next(GPtrArray *heap, GError **error)
{
    if (!bb_merger_source_advance(heap->pdata[0], error))
        return false;
    heap_settle(heap);
    return true;
}
