// SPDX-License-Identifier: Apache-2.0
// In: more sources than may be open at once. Out: temporary files, each in the place of several.
#include "merge/merger_state.h"

static void pending_insert(GPtrArray *pending, BbMergerSource *source)
{
    guint at = pending->len;
    while (at > 0 && ((BbMergerSource *)pending->pdata[at - 1])->due_ns < source->due_ns)
        at--;
    g_ptr_array_insert(pending, (gint)at, source);
}

// Merges what is in the heap into spill. Leaves the heap empty.
static bool pour(GPtrArray *heap, BbSpill *spill, GError **error)
{
    while (heap->len) {
        const BbMergerSource *first = heap->pdata[0];
        if (!bb_spill_push(spill, first->head, first->head_input, error) ||
            !bb_merger_heap_next(heap, error))
            return false;
    }
    return bb_spill_turn(spill, error);
}

// Takes over the spill.
static void add_spill(BbMerger *merger, BbSpill *spill, gint64 due_ns)
{
    BbMergerSource *source = g_new0(BbMergerSource, 1);
    source->merger = merger;
    source->spill = spill;
    source->due_ns = due_ns;
    g_ptr_array_add(merger->spills, source);
    pending_insert(merger->pending, source);
    merger->n_open_spills++;
}

// Makes one temporary file of the next files that are pending.
bool bb_merger_spill_pending(BbMerger *merger, guint batch, GError **error)
{
    g_autoptr(GPtrArray) heap = g_ptr_array_new();
    g_autoptr(BbSpill) spill = bb_spill_new(merger->names, error);
    gint64 due_ns = ((BbMergerSource *)merger->pending->pdata[merger->pending->len - 1])->due_ns;
    if (!spill)
        return false;
    while (merger->pending->len && heap->len < batch) {
        BbMergerSource *source = g_ptr_array_steal_index(merger->pending, merger->pending->len - 1);
        if (bb_merger_source_open(source, source->in_order ? 0 : bb_merger_source_window(merger)) &&
            !bb_merger_heap_begin(heap, source, error))
            return false;
    }
    if (!pour(heap, spill, error))
        return false;
    add_spill(merger, g_steal_pointer(&spill), due_ns);
    return true;
}

// Makes one temporary file of all those that are open.
bool bb_merger_spill_spills(BbMerger *merger, GError **error)
{
    g_autoptr(GPtrArray) heap = g_ptr_array_new();
    g_autoptr(GPtrArray) kept = g_ptr_array_new();
    g_autoptr(BbSpill) spill = bb_spill_new(merger->names, error);
    if (!spill)
        return false;
    for (guint i = 0; i < merger->heap->len; i++) {
        BbMergerSource *source = merger->heap->pdata[i];
        if (source->spill)
            bb_merger_heap_add(heap, source);
        else
            bb_merger_heap_add(kept, source);
    }
    gint64 due_ns = heap->len ? ((BbMergerSource *)heap->pdata[0])->head->time_ns : G_MININT64;
    g_ptr_array_set_size(merger->heap, 0);
    for (guint i = 0; i < kept->len; i++)
        bb_merger_heap_add(merger->heap, kept->pdata[i]);
    if (!pour(heap, spill, error))
        return false;
    add_spill(merger, g_steal_pointer(&spill), due_ns);
    return true;
}
