// SPDX-License-Identifier: Apache-2.0
// In: returns to who has closed, what that side sends next. Out: the returns, and whether they were
// read.
#include "capture/hold.h"

#include "capture/context.h"
#include "data/status.h"

#include <string.h>

typedef struct {
    BbMessage message;
    gint64 since_ns; // as end, once that is known
    guint32 end;     // number of the byte behind it
    bool has_end : 1;
    bool ends_call : 1; // its id is to be given back
} Entry;

// Ends come in order, so what waits for a side is known from the front on.
typedef struct {
    GArray *entries; // of Entry; NULL: none
    guint first;     // those before it are gone
} Line;

struct BbHeldReturns {
    Line lines[2]; // by receiver
    guint waiting; // in both
    guint last;    // receiver of what was added last
    char *conn;    // of all
    GArray *nodes; // of guint32: to be given back when nothing waits any more
};

static Entry *entry_at(const Line *line, guint i)
{
    return &g_array_index(line->entries, Entry, i);
}

static guint length_of(const Line *line)
{
    return line->entries ? line->entries->len : 0;
}

BbHold *bb_hold_new(void)
{
    BbHold *hold = g_new0(BbHold, 1);
    hold->closed_ns[0] = hold->closed_ns[1] = BB_TIME_NONE;
    return hold;
}

void bb_hold_free(BbHold *hold)
{
    g_assert(!hold || !hold->returns);
    g_free(hold);
}

void bb_hold_close(BbHold *hold, guint side, gint64 time_ns, guint32 at, bool was_reset)
{
    if (hold->closed_ns[side] != BB_TIME_NONE)
        return;
    hold->closed_ns[side] = time_ns;
    hold->closed_at[side] = at;
    hold->was_reset[side] = was_reset;
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
    if (!hold->returns) {
        hold->returns = g_new0(BbHeldReturns, 1);
        hold->returns->nodes = g_array_new(FALSE, FALSE, sizeof(guint32));
        hold->returns->conn = g_strdup(message->conn);
    }
    BbHeldReturns *returns = hold->returns;
    Line *line = &returns->lines[receiver];
    if (!line->entries)
        line->entries = g_array_new(FALSE, FALSE, sizeof(Entry));
    Entry entry = {.message = *message};
    entry.message.conn = returns->conn;
    g_array_append_val(line->entries, entry);
    returns->last = receiver;
    returns->waiting++;
}

// Plain numbers, as capture gives them.
bool bb_hold_end_call(BbHold *hold, guint64 id)
{
    if (!hold->returns)
        return false;
    const Line *line = &hold->returns->lines[hold->returns->last];
    Entry *entry = entry_at(line, length_of(line) - 1);
    if (entry->ends_call || !bb_id_equal(entry->message.id, bb_id_number(id)))
        return false;
    return entry->ends_call = true;
}

bool bb_hold_end_node(BbHold *hold, guint32 node)
{
    if (!hold->returns)
        return false;
    g_array_append_val(hold->returns->nodes, node);
    return true;
}

void bb_hold_note_end(BbHold *hold, const guint32 next[2], gint64 now_ns)
{
    for (guint receiver = 0; hold->returns && receiver < 2; receiver++) {
        const Line *line = &hold->returns->lines[receiver];
        for (guint i = length_of(line); i > line->first && !entry_at(line, i - 1)->has_end; i--) {
            entry_at(line, i - 1)->end = next[!receiver];
            entry_at(line, i - 1)->since_ns = now_ns;
            entry_at(line, i - 1)->has_end = true;
        }
    }
}

static void emit_first(BbHeldReturns *returns, guint receiver, BbContext *context, bool unread)
{
    Line *line = &returns->lines[receiver];
    Entry *entry = entry_at(line, line->first++);
    BbMessage *message = &entry->message;
    if (unread) {
        message->status = bb_context_label(context, BB_STATUS_UNREAD, strlen(BB_STATUS_UNREAD));
        context->loss->count[BB_RETURNS_UNREAD]++;
    }
    bb_context_emit(context, message);
    if (entry->ends_call)
        bb_context_end_call(context, message->id.number);
    returns->waiting--;
}

static void clear_if_none(BbHold *hold, BbContext *context)
{
    if (hold->returns->waiting)
        return;
    BbHeldReturns *returns = g_steal_pointer(&hold->returns);
    for (guint i = 0; i < returns->nodes->len; i++)
        bb_context_end_node(context, g_array_index(returns->nodes, guint32, i));
    for (guint receiver = 0; receiver < 2; receiver++)
        g_clear_pointer(&returns->lines[receiver].entries, g_array_unref);
    g_array_unref(returns->nodes);
    g_free(returns->conn);
    g_free(returns);
}

void bb_hold_heard(BbHold *hold, BbContext *context, guint side, bool resets, bool has_ack,
                   guint32 ack)
{
    if (!hold->returns)
        return;
    Line *line = &hold->returns->lines[side];
    while (line->first < length_of(line)) {
        const Entry *entry = entry_at(line, line->first);
        bool is_acked = has_ack && entry->has_end && (gint32)(ack - entry->end) >= 0;
        if (!resets && !is_acked)
            break;
        emit_first(hold->returns, side, context, !is_acked);
    }
    clear_if_none(hold, context);
}

bool bb_hold_is_over(const BbHold *hold, gint64 now_ns)
{
    bool is_over = false;
    for (guint receiver = 0; hold && hold->returns && receiver < 2; receiver++) {
        const Line *line = &hold->returns->lines[receiver];
        is_over |= line->first < length_of(line) &&
                   now_ns - entry_at(line, line->first)->since_ns >= BB_HOLD_NS;
    }
    return is_over;
}

void bb_hold_release(BbHold *hold, BbContext *context)
{
    if (!hold || !hold->returns)
        return;
    for (guint receiver = 0; receiver < 2; receiver++)
        while (hold->returns->lines[receiver].first < length_of(&hold->returns->lines[receiver]))
            emit_first(hold->returns, receiver, context, false);
    clear_if_none(hold, context);
}

guint32 bb_hold_bytes(const BbHold *hold)
{
    const BbHeldReturns *returns = hold ? hold->returns : NULL;
    return returns ? (guint32)sizeof(Entry) *
                         (length_of(&returns->lines[0]) + length_of(&returns->lines[1]))
                   : 0;
}
