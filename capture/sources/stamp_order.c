// SPDX-License-Identifier: Apache-2.0
// In: frames in batches of one interface each. Out: the same by their stamps, or as they stand. A
// heap.
#include "capture/sources/stamp_order.h"

#include "capture/sources/heads.h"
#include "capture/sources/stamp_skew.h"

// Interfaces whose order is kept: as many as a section may have (capture/sources/pcapng.h). Those
// of different sections share a place, and then keep the order between them too.
#define INTERFACES 4096u
// In place of a stamp: before all others, and so as they came.
#define AS_IT_STANDS G_MININT64

typedef struct {
    BbHeldFrame held;
    guint8 data[];
} Copy;

// Frames are given by turn, then stamp, then as they came.
typedef struct {
    guint64 turn;   // how often all was to be given before
    gint64 time_ns; // its stamp, or that of an earlier frame of its interface, if that is later
    guint64 number; // as it came
    Copy *copy;
} Entry;

typedef struct {
    guint64 turn; // in which the interface had its last frame
    gint64 time_ns;
} Latest;

struct BbStampOrder {
    GArray *entries; // Entry: a heap, the first to be given at 0
    gsize bytes;     // of them and their copies
    guint64 turn, pushes;
    gint64 newest_ns; // stamp of this turn; G_MININT64 before the first
    Copy *given;
    guint64 given_turn;
    gint64 given_ns; // latest stamp given in that turn
    guint32 given_by;
    BbStampSkew *skew;
    bool as_they_stand;
    bool undecided; // whether by their stamps or as they stand
    Latest latest[INTERFACES];
};

BbStampOrder *bb_stamp_order_new(void)
{
    BbStampOrder *order = g_new0(BbStampOrder, 1);
    order->entries = g_array_new(FALSE, FALSE, sizeof(Entry));
    order->turn = 1; // nobody had a frame in turn 0
    order->newest_ns = G_MININT64;
    order->skew = bb_stamp_skew_new();
    order->undecided = true;
    return order;
}

void bb_stamp_order_free(BbStampOrder *order)
{
    if (!order)
        return;
    for (guint i = 0; i < order->entries->len; i++)
        g_free(g_array_index(order->entries, Entry, i).copy);
    g_array_unref(order->entries);
    bb_stamp_skew_free(order->skew);
    g_free(order->given);
    g_free(order);
}

// ---- the heap -----------------------------------------------------------------------------------

static bool is_before(const Entry *a, const Entry *b)
{
    if (a->turn != b->turn)
        return a->turn < b->turn;
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->number < b->number;
}

static Entry *entries(const BbStampOrder *order)
{
    return (Entry *)(gpointer)order->entries->data;
}

static gsize size_of(const Copy *copy)
{
    return sizeof(Entry) + sizeof *copy + copy->held.frame.captured;
}

static void put(BbStampOrder *order, const Entry *entry)
{
    guint at = order->entries->len;
    g_array_append_val(order->entries, *entry);
    Entry *heap = entries(order);
    for (; at > 0 && is_before(entry, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = *entry;
    order->bytes += size_of(entry->copy);
}

static Entry take_first(BbStampOrder *order)
{
    Entry *heap = entries(order), first = heap[0];
    guint count = order->entries->len - 1, at = 0;
    const Entry last = heap[count];
    for (guint child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    g_array_set_size(order->entries, count);
    order->bytes -= size_of(first.copy);
    return first;
}

// ---- the contract -------------------------------------------------------------------------------

// Never before an earlier frame of the same interface.
static gint64 place_in_time(BbStampOrder *order, const BbFrame *frame)
{
    Latest *latest = &order->latest[frame->interface % INTERFACES];
    if (latest->turn != order->turn || latest->time_ns < frame->time_ns)
        *latest = (Latest){order->turn, frame->time_ns};
    return latest->time_ns;
}

static int compare(gconstpointer a, gconstpointer b)
{
    return is_before(a, b) ? -1 : is_before(b, a);
}

// The clocks disagree: what waits goes back to how it stood. What is sorted is a heap, too.
static void put_back(BbStampOrder *order)
{
    Entry *heap = entries(order);
    for (guint i = 0; i < order->entries->len; i++)
        if (heap[i].turn == order->turn)
            heap[i].time_ns = AS_IT_STANDS;
    g_array_sort(order->entries, compare);
}

static void look_at_clocks(BbStampOrder *order, const BbFrame *frame)
{
    bb_stamp_skew_look(order->skew, frame->interface, frame->time_ns);
    BbSkewVerdict skew = bb_stamp_skew_tell(order->skew);
    order->undecided &= skew == BB_SKEW_UNKNOWN;
    if (skew == BB_SKEW_CLOCKS && !order->as_they_stand)
        put_back(order);
    order->as_they_stand = skew == BB_SKEW_CLOCKS;
}

static Copy *copy_of(const BbFrame *frame, guint file)
{
    Copy *copy = g_malloc(sizeof *copy + frame->captured);
    copy->held = (BbHeldFrame){.frame = *frame, .file = file};
    copy->held.frame.data = copy->data;
    if (frame->captured)
        memcpy(copy->data, frame->data, frame->captured);
    return copy;
}

void bb_stamp_order_push(BbStampOrder *order, const BbFrame *frame, guint file)
{
    gint64 newest_ns = order->newest_ns;
    look_at_clocks(order, frame);
    if (frame->time_ns < newest_ns && newest_ns - frame->time_ns > BB_HEADS_STEP_NS) {
        bb_stamp_order_flush(order);
        order->undecided = false;
    }
    put(order,
        &(Entry){.turn = order->turn,
                 .time_ns = order->as_they_stand ? AS_IT_STANDS : place_in_time(order, frame),
                 .number = order->pushes++,
                 .copy = copy_of(frame, file)});
    order->newest_ns = MAX(order->newest_ns, frame->time_ns);
    if (order->as_they_stand)
        bb_stamp_order_flush(order);
}

static bool is_due(const BbStampOrder *order, const Entry *entry)
{
    if (entry->turn != order->turn || order->bytes > BB_STAMP_ORDER_BYTES)
        return true;
    return !order->undecided && order->newest_ns - entry->time_ns >= BB_STAMP_ORDER_NS;
}

static bool note_given(BbStampOrder *order, const Entry *entry)
{
    const BbFrame *frame = &entry->copy->held.frame;
    bool behind = entry->turn == order->given_turn && frame->time_ns < order->given_ns;
    bool crossed = behind && frame->interface != order->given_by && entry->time_ns != AS_IT_STANDS;
    if (!behind) {
        order->given_turn = entry->turn;
        order->given_ns = frame->time_ns;
        order->given_by = frame->interface;
    }
    return crossed;
}

const BbHeldFrame *bb_stamp_order_take(BbStampOrder *order)
{
    g_clear_pointer(&order->given, g_free);
    if (bb_stamp_order_is_empty(order) || !is_due(order, entries(order)))
        return NULL;
    Entry entry = take_first(order);
    order->given = entry.copy;
    order->given->held.as_it_stands = entry.time_ns == AS_IT_STANDS;
    order->given->held.crossed = note_given(order, &entry);
    return &order->given->held;
}

void bb_stamp_order_flush(BbStampOrder *order)
{
    order->turn++;
    order->newest_ns = G_MININT64;
}

gint64 bb_stamp_order_apart(const BbStampOrder *order)
{
    return bb_stamp_skew_apart(order->skew);
}

bool bb_stamp_order_is_empty(const BbStampOrder *order)
{
    return order->entries->len == 0;
}
