// SPDX-License-Identifier: Apache-2.0
// In: calls with their statuses. Out: calls whose return nobody read are without one.
#include "nesting/unread.h"

#include "data/status.h"

struct BbUnread {
    GArray *taken; // of BbLate
};

BbUnread *bb_unread_take(BbPaths *paths, const BbNames *names)
{
    guint32 ignored = bb_names_find(names, BB_STATUS_UNREAD),
            closed = bb_names_find(names, BB_STATUS_CLOSED);
    bool none = ignored == BB_NAME_NONE && closed == BB_NAME_NONE;
    BbUnread *unread = NULL;
    for (guint32 i = 0; !none && i < paths->n_calls; i++) {
        BbCall *call = &paths->calls[i];
        if (call->status == BB_NAME_NONE || !bb_call_is_returned(call) ||
            (call->status != ignored && call->status != closed))
            continue;
        if (!unread) {
            unread = g_new(BbUnread, 1);
            unread->taken = g_array_new(FALSE, FALSE, sizeof(BbLate));
        }
        const BbLate taken = {i, call->return_ns, call->return_end_ns};
        g_array_append_val(unread->taken, taken);
        if (call->status == closed)
            call->return_end_ns = call->return_ns;
        else if (call->return_end_ns >= call->return_ns)
            call->return_end_ns = BB_TIME_NONE;
        call->return_ns = BB_TIME_NONE;
    }
    return unread;
}

void bb_unread_free(BbUnread *unread)
{
    if (!unread)
        return;
    g_array_unref(unread->taken);
    g_free(unread);
}

void bb_unread_add_hanging(const BbUnread *unread, bool *hanging)
{
    for (guint i = 0; unread && i < unread->taken->len; i++)
        hanging[g_array_index(unread->taken, BbLate, i).call] = true;
}

void bb_unread_give_back(const BbUnread *unread, BbPaths *paths)
{
    for (guint i = 0; unread && i < unread->taken->len; i++) {
        const BbLate *taken = &g_array_index(unread->taken, BbLate, i);
        BbCall *call = &paths->calls[taken->call];
        if (paths->parent[taken->call] != BB_CALL_NO_PARENT) {
            bb_paths_note_late(paths, *taken);
            continue;
        }
        call->return_ns = taken->return_ns;
        call->return_end_ns = taken->return_end_ns;
    }
}
