// SPDX-License-Identifier: Apache-2.0
// In: messages nearly in order of time. Out: the same messages, in order as far as the window goes.
//
// What waits is kept as a sorted run of times; newcomers collect behind it until there are a
// quarter as many. Then they are sorted (merge sort of runs, only where runs overlap, so that
// sorted input costs nothing), merged into the run, and the oldest quarter goes out. So window
// messages always wait, a message that comes up to window places late is put right, and at most 5/4
// window are held.
#include "data/order.h"

#include <string.h>

#define FIRST_ROOM 256
#define INSERTION_RUN 16
// Strings of waiting messages; beyond it the older half goes out early.
#define TEXT_MAX ((gsize)64 << 20)
// A slot keeps room for strings up to this size for its next message.
#define TEXT_KEEP 256

typedef struct {
    BbMessage message;
    char *text; // conn and extra of message
    gsize room;
} Slot;

typedef struct {
    gint64 time_ns;
    gsize slot;
} Entry;

struct BbOrder {
    BbMessageSink sink;
    gpointer user;
    gsize window, batch; // waiting messages that stay, and newcomers that make a batch
    Slot *slots;
    gsize *vacant; // slots without message, a stack
    gsize n_vacant, room;
    Entry *entries, *scratch;
    gsize n_sorted, n_entries; // entries[0 .. n_sorted) is in order
    gsize text_bytes;          // of waiting messages
    gint64 newest_out_ns;
    guint64 late;
};

BbOrder *bb_order_new(gsize window, BbMessageSink sink, gpointer user)
{
    BbOrder *order = g_new0(BbOrder, 1);
    order->sink = sink;
    order->user = user;
    order->window = MIN(window, G_MAXUINT32);
    order->batch = order->window / 4 + 1;
    order->newest_out_ns = G_MININT64;
    return order;
}

void bb_order_free(BbOrder *order)
{
    if (!order)
        return;
    for (gsize i = 0; i < order->room; i++)
        g_free(order->slots[i].text);
    g_free(order->slots);
    g_free(order->vacant);
    g_free(order->entries);
    g_free(order->scratch);
    g_free(order);
}

guint64 bb_order_late(const BbOrder *order)
{
    return order->late;
}

// Grows with what waits, so that a large window costs nothing for a small trace.
static void make_room(BbOrder *order)
{
    gsize most = order->window + order->batch;
    gsize room = MIN(most, MAX(order->room * 2, FIRST_ROOM));
    order->slots = g_renew(Slot, order->slots, room);
    order->vacant = g_renew(gsize, order->vacant, room);
    order->entries = g_renew(Entry, order->entries, room);
    order->scratch = g_renew(Entry, order->scratch, room);
    memset(order->slots + order->room, 0, (room - order->room) * sizeof(Slot));
    for (gsize i = room; i-- > order->room;)
        order->vacant[order->n_vacant++] = i;
    order->room = room;
}

// Copies text to at, returns the place behind it.
static char *put_text(char *at, const char **text, gsize size)
{
    if (*text) {
        memcpy(at, *text, size);
        *text = at;
    }
    return at + size;
}

static void fill_slot(BbOrder *order, Slot *slot, const BbMessage *message)
{
    slot->message = *message;
    gsize conn = message->conn ? strlen(message->conn) + 1 : 0;
    gsize extra = message->extra ? strlen(message->extra) + 1 : 0;
    if (conn + extra == 0) {
        order->text_bytes += slot->room;
        return;
    }
    if (conn + extra > slot->room) {
        g_free(slot->text);
        slot->room = MAX(conn + extra, 64);
        slot->text = g_malloc(slot->room);
    }
    char *rest = put_text(slot->text, &slot->message.conn, conn);
    (void)put_text(rest, &slot->message.extra, extra);
    order->text_bytes += slot->room;
}

static void vacate_slot(BbOrder *order, gsize index)
{
    Slot *slot = &order->slots[index];
    order->text_bytes -= slot->room;
    if (slot->room > TEXT_KEEP) {
        g_clear_pointer(&slot->text, g_free);
        slot->room = 0;
    }
    order->vacant[order->n_vacant++] = index;
}

// The first of entries[low .. high) that is later than time_ns, or, where equal counts, not
// earlier.
static gsize first_after(const Entry *entries, gsize low, gsize high, gint64 time_ns, bool equal)
{
    while (low < high) {
        gsize middle = low + (high - low) / 2;
        gint64 there_ns = entries[middle].time_ns;
        if (there_ns > time_ns || (equal && there_ns == time_ns))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// Merges the ordered runs [low .. middle) and [middle .. high); equal times keep their order.
static void merge_runs(BbOrder *order, gsize low, gsize middle, gsize high)
{
    Entry *entries = order->entries;
    if (low == middle || middle == high || entries[middle - 1].time_ns <= entries[middle].time_ns)
        return;
    low = first_after(entries, low, middle, entries[middle].time_ns, false);
    high = first_after(entries, middle, high, entries[middle - 1].time_ns, true);
    Entry *left = order->scratch, *left_end = left + (middle - low);
    memcpy(left, entries + low, (middle - low) * sizeof(Entry));
    Entry *right = entries + middle, *right_end = entries + high;
    Entry *out = entries + low;
    while (left < left_end && right < right_end)
        *out++ = right->time_ns < left->time_ns ? *right++ : *left++;
    memcpy(out, left, (gsize)(left_end - left) * sizeof(Entry));
}

static void insertion_sort(Entry *entries, gsize low, gsize high)
{
    for (gsize i = low + 1; i < high; i++) {
        Entry entry = entries[i];
        gsize at = i;
        for (; at > low && entries[at - 1].time_ns > entry.time_ns; at--)
            entries[at] = entries[at - 1];
        entries[at] = entry;
    }
}

static void sort_entries(BbOrder *order)
{
    gsize low = order->n_sorted, high = order->n_entries;
    for (gsize at = low; at < high; at += INSERTION_RUN)
        insertion_sort(order->entries, at, MIN(at + INSERTION_RUN, high));
    for (gsize run = INSERTION_RUN; run < high - low; run *= 2) {
        for (gsize at = low; at + run < high; at += 2 * run)
            merge_runs(order, at, at + run, MIN(at + 2 * run, high));
    }
    merge_runs(order, 0, low, high);
    order->n_sorted = high;
}

// Hands out the count oldest. After a failure of the sink the rest still waits.
static bool hand_out(BbOrder *order, gsize count, GError **error)
{
    gsize done = 0;
    bool ok = true;
    while (ok && done < count) {
        Entry entry = order->entries[done++];
        order->newest_out_ns = MAX(order->newest_out_ns, entry.time_ns);
        ok = order->sink(&order->slots[entry.slot].message, order->user, error);
        vacate_slot(order, entry.slot);
    }
    order->n_entries -= done;
    order->n_sorted -= done;
    memmove(order->entries, order->entries + done, order->n_entries * sizeof(Entry));
    return ok;
}

bool bb_order_push(BbOrder *order, const BbMessage *message, GError **error)
{
    if (order->n_vacant == 0)
        make_room(order);
    gsize slot = order->vacant[--order->n_vacant];
    fill_slot(order, &order->slots[slot], message);
    order->entries[order->n_entries++] = (Entry){message->time_ns, slot};
    if (message->time_ns < order->newest_out_ns)
        order->late++;
    gsize most = order->window + order->batch;
    if (order->n_entries < most && order->text_bytes <= TEXT_MAX)
        return true;
    sort_entries(order);
    gsize count = order->n_entries >= most ? order->batch : (order->n_entries + 1) / 2;
    return hand_out(order, count, error);
}

bool bb_order_drain(BbOrder *order, GError **error)
{
    if (order->n_entries == 0)
        return true;
    sort_entries(order);
    return hand_out(order, order->n_entries, error);
}
