// SPDX-License-Identifier: Apache-2.0
// In: returns to who has closed, what that side sends next. Out: the returns, and whether they were
// read.
#include "capture/hold.h"

#include "capture/context.h"
#include "data/status.h"

#include <string.h>

typedef struct {
    BbMessage message;
    guint32 end; // number of the byte behind it, once that is known
    guint8 receiver;
    bool has_end : 1;
    bool ends_call : 1; // its id is to be given back
} Entry;

static Entry *entry_at(const BbHold *hold, guint i)
{
    return &g_array_index(hold->entries, Entry, i);
}

static guint count_of(const BbHold *hold)
{
    return hold->entries ? hold->entries->len : 0;
}

bool bb_hold_has_waited(const BbHold *hold, guint side, gint64 asked_ns)
{
    gint64 closed_ns = hold->closed_ns[side];
    return closed_ns != BB_TIME_NONE && closed_ns - asked_ns >= BB_HOLD_WAITED_NS;
}

bool bb_hold_takes(const BbHold *hold, guint receiver, gint64 asked_ns, gint64 time_ns)
{
    return bb_hold_has_waited(hold, receiver, asked_ns) && !hold->was_reset[receiver] &&
           time_ns >= hold->closed_ns[receiver];
}

void bb_hold_add(BbHold *hold, guint receiver, const BbMessage *message)
{
    if (!hold->entries) {
        hold->entries = g_array_new(FALSE, FALSE, sizeof(Entry));
        hold->nodes = g_array_new(FALSE, FALSE, sizeof(guint32));
    }
    Entry entry = {.message = *message, .receiver = (guint8)receiver};
    entry.message.conn = g_strdup(message->conn);
    g_array_append_val(hold->entries, entry);
}

// Plain numbers, as capture gives them.
bool bb_hold_end_call(BbHold *hold, guint64 id)
{
    const BbId wanted = bb_id_number(id);
    for (guint i = count_of(hold); i > 0; i--) {
        Entry *entry = entry_at(hold, i - 1);
        if (bb_id_equal(entry->message.id, wanted) && !entry->ends_call)
            return entry->ends_call = true;
    }
    return false;
}

bool bb_hold_end_node(BbHold *hold, guint32 node)
{
    if (!count_of(hold))
        return false;
    g_array_append_val(hold->nodes, node);
    return true;
}

void bb_hold_note_end(BbHold *hold, const guint32 next[2])
{
    for (guint i = count_of(hold); i > 0 && !entry_at(hold, i - 1)->has_end; i--) {
        Entry *entry = entry_at(hold, i - 1);
        entry->end = next[!entry->receiver];
        entry->has_end = true;
    }
}

static void emit(Entry *entry, BbContext *context, bool unread)
{
    BbMessage *message = &entry->message;
    if (unread) {
        message->status = bb_context_label(context, BB_STATUS_UNREAD, strlen(BB_STATUS_UNREAD));
        context->loss->count[BB_RETURNS_UNREAD]++;
    }
    bb_context_emit(context, message);
    if (entry->ends_call)
        bb_context_end_call(context, message->id.number);
    g_free((char *)message->conn);
}

static void clear(BbHold *hold, BbContext *context)
{
    if (count_of(hold))
        return;
    for (guint i = 0; hold->nodes && i < hold->nodes->len; i++)
        bb_context_end_node(context, g_array_index(hold->nodes, guint32, i));
    g_clear_pointer(&hold->nodes, g_array_unref);
    g_clear_pointer(&hold->entries, g_array_unref);
}

void bb_hold_heard(BbHold *hold, BbContext *context, guint side, bool resets, bool has_ack,
                   guint32 ack)
{
    guint kept = 0, count = count_of(hold);
    for (guint i = 0; i < count; i++) {
        Entry *entry = entry_at(hold, i);
        bool is_acked = has_ack && entry->has_end && (gint32)(ack - entry->end) >= 0;
        if (entry->receiver == side && (resets || is_acked))
            emit(entry, context, !is_acked);
        else
            *entry_at(hold, kept++) = *entry;
    }
    if (hold->entries)
        g_array_set_size(hold->entries, kept);
    clear(hold, context);
}

void bb_hold_release(BbHold *hold, BbContext *context)
{
    for (guint i = 0; i < count_of(hold); i++)
        emit(entry_at(hold, i), context, false);
    if (hold->entries)
        g_array_set_size(hold->entries, 0);
    clear(hold, context);
}

guint32 bb_hold_bytes(const BbHold *hold)
{
    return count_of(hold) * (guint32)sizeof(Entry);
}
