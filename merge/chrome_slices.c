// SPDX-License-Identifier: Apache-2.0
// In: slices, or their begins and ends. Out: which lies in which.
#include "merge/chrome_slices.h"

// A begin (B) or an end (E).
typedef struct Mark {
    gint64 time_ns;
    guint32 thread, name, order;
    bool ends;
} Mark;

struct BbChromeSlices {
    BbCounters *counters;
    GArray *slices; // of BbChromeSlice; once finished by thread and time, the outer first
    GArray *marks;  // of Mark
    guint32 nested; // slices that are not too deep
};

BbChromeSlices *bb_chrome_slices_new(BbCounters *counters)
{
    BbChromeSlices *slices = g_new0(BbChromeSlices, 1);
    slices->counters = counters;
    slices->slices = g_array_new(FALSE, FALSE, sizeof(BbChromeSlice));
    slices->marks = g_array_new(FALSE, FALSE, sizeof(Mark));
    return slices;
}

void bb_chrome_slices_free(BbChromeSlices *slices)
{
    if (!slices)
        return;
    g_array_unref(slices->slices);
    g_array_unref(slices->marks);
    g_free(slices);
}

BbChromeSlice *bb_chrome_slice(BbChromeSlices *slices, guint32 index)
{
    return &g_array_index(slices->slices, BbChromeSlice, index);
}

static const BbChromeSlice *slice_at(const BbChromeSlices *slices, guint32 index)
{
    return &g_array_index(slices->slices, BbChromeSlice, index);
}

void bb_chrome_slices_add(BbChromeSlices *slices, guint32 thread, guint32 name, gint64 start_ns,
                          gint64 end_ns)
{
    const BbChromeSlice slice = {.start_ns = start_ns,
                                 .end_ns = end_ns,
                                 .thread = thread,
                                 .name = name,
                                 .above = BB_CHROME_NONE,
                                 .cause = BB_CHROME_NONE};
    g_array_append_val(slices->slices, slice);
}

static void add_mark(BbChromeSlices *slices, guint32 thread, guint32 name, gint64 time_ns,
                     bool ends)
{
    const Mark mark = {time_ns, thread, name, slices->marks->len, ends};
    g_array_append_val(slices->marks, mark);
}

void bb_chrome_slices_begin(BbChromeSlices *slices, guint32 thread, guint32 name, gint64 time_ns)
{
    add_mark(slices, thread, name, time_ns, false);
}

void bb_chrome_slices_end(BbChromeSlices *slices, guint32 thread, gint64 time_ns)
{
    add_mark(slices, thread, BB_NAME_NONE, time_ns, true);
}

// ---- begins and ends --------------------------------------------------------------------------

static gint compare_marks(gconstpointer a, gconstpointer b)
{
    const Mark *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

// What has begun, and never ended.
static void close_open(BbChromeSlices *slices, GArray *open)
{
    for (guint i = 0; i < open->len; i++) {
        const Mark *mark = &g_array_index(open, Mark, i);
        bb_chrome_slices_add(slices, mark->thread, mark->name, mark->time_ns, G_MAXINT64);
        bb_counters_add(slices->counters, "chrome_no_end", 1);
    }
    g_array_set_size(open, 0);
}

static void match_marks(BbChromeSlices *slices)
{
    g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(Mark));
    g_array_sort(slices->marks, compare_marks);
    for (guint i = 0; i < slices->marks->len; i++) {
        const Mark *mark = &g_array_index(slices->marks, Mark, i);
        const Mark *top = open->len ? &g_array_index(open, Mark, open->len - 1) : NULL;
        if (top && top->thread != mark->thread) {
            close_open(slices, open);
            top = NULL;
        }
        if (!mark->ends) {
            g_array_append_val(open, *mark);
        } else if (top) {
            bb_chrome_slices_add(slices, top->thread, top->name, top->time_ns, mark->time_ns);
            g_array_set_size(open, open->len - 1);
        } else {
            bb_counters_add(slices->counters, "chrome_no_begin", 1);
        }
    }
    close_open(slices, open);
    g_array_set_size(slices->marks, 0);
}

// ---- nesting ----------------------------------------------------------------------------------

static gint compare_slices(gconstpointer a, gconstpointer b)
{
    const BbChromeSlice *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

// Slices that overlap without one in the other stand side by side.
static bool holds(const BbChromeSlice *outer, const BbChromeSlice *inner)
{
    return outer->thread == inner->thread && outer->end_ns >= inner->end_ns;
}

static void nest(BbChromeSlices *slices)
{
    guint32 way[BB_CHROME_DEPTH_MAX];
    guint depth = 0;
    for (guint32 i = 0; i < slices->slices->len; i++) {
        BbChromeSlice slice = *slice_at(slices, i);
        while (depth > 0 && !holds(slice_at(slices, way[depth - 1]), &slice))
            depth--;
        if (depth == BB_CHROME_DEPTH_MAX) {
            bb_counters_add(slices->counters, "chrome_deep", 1);
            continue;
        }
        slice.above = depth > 0 ? way[depth - 1] : BB_CHROME_NONE;
        *bb_chrome_slice(slices, slices->nested) = slice;
        way[depth++] = slices->nested++;
    }
    g_array_set_size(slices->slices, slices->nested);
}

void bb_chrome_slices_finish(BbChromeSlices *slices)
{
    match_marks(slices);
    g_array_sort(slices->slices, compare_slices);
    nest(slices);
}

// ---- questions --------------------------------------------------------------------------------

// The first slice of the thread that starts at that time or later; or behind all of it.
static guint32 find(const BbChromeSlices *slices, guint32 thread, gint64 time_ns)
{
    guint32 low = 0, high = slices->slices->len;
    while (low < high) {
        guint32 middle = low + (high - low) / 2;
        const BbChromeSlice *slice = slice_at(slices, middle);
        if (slice->thread < thread || (slice->thread == thread && slice->start_ns < time_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

guint32 bb_chrome_slices_after(const BbChromeSlices *slices, guint32 thread, gint64 time_ns)
{
    guint32 index = find(slices, thread, time_ns);
    return index < slices->slices->len && slice_at(slices, index)->thread == thread
               ? index
               : BB_CHROME_NONE;
}

guint32 bb_chrome_slices_at(const BbChromeSlices *slices, guint32 thread, gint64 time_ns)
{
    // Times are below G_MAXINT64, which means no end.
    guint32 index = find(slices, thread, time_ns + 1);
    if (index == 0 || slice_at(slices, index - 1)->thread != thread)
        return BB_CHROME_NONE;
    index--;
    while (index != BB_CHROME_NONE && slice_at(slices, index)->end_ns < time_ns)
        index = slice_at(slices, index)->above;
    return index;
}
