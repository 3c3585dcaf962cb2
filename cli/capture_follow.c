// SPDX-License-Identifier: Apache-2.0
// In: a set of hosts that grows. Out: filters for the kernel, notes for the trace.
#include "cli/capture_follow.h"

#include "cli/command.h"
#include "data/quantity.h"
#include "data/trace.h"

#define NARROW_US 10000 // between two filters

struct BbCaptureFollow {
    BbFollow *set;
    bool no_names;
    guint narrowed;     // addresses that the kernel knows of
    gint64 narrowed_us; // since when
    guint told;         // hosts that have notes
};

BbCaptureFollow *bb_capture_follow_new(const BbFollowChoice *choice, bool no_names, BbLoss *loss)
{
    const BbFollowOptions options = {
        .entrances = (const BbFollowEnd *)(gconstpointer)choice->entrance_ends->data,
        .n_entrances = choice->entrance_ends->len,
        .shared = (const BbFollowEnd *)(gconstpointer)choice->other_ends->data,
        .n_shared = choice->other_ends->len,
        .hops = (guint)choice->hops,
    };
    BbCaptureFollow *follow = g_new0(BbCaptureFollow, 1);
    follow->set = bb_follow_new(&options, loss);
    follow->no_names = no_names;
    return follow;
}

void bb_capture_follow_free(BbCaptureFollow *follow)
{
    if (!follow)
        return;
    bb_follow_free(follow->set);
    g_free(follow);
}

BbFollow *bb_capture_follow_set(BbCaptureFollow *follow)
{
    return follow->set;
}

// ---- the kernel ---------------------------------------------------------------------------------

void bb_capture_follow_narrow(BbCaptureFollow *follow, BbSource *source)
{
    guint count = bb_follow_address_count(follow->set);
    if (G_LIKELY(count == follow->narrowed))
        return;
    gint64 now_us = g_get_monotonic_time();
    if (follow->narrowed && now_us - follow->narrowed_us < NARROW_US)
        return;
    bb_source_narrow(source, bb_follow_addresses(follow->set), count);
    follow->narrowed = count;
    follow->narrowed_us = now_us;
}

// ---- notes --------------------------------------------------------------------------------------

static char *make_note(const BbFollowNode *node)
{
    char address[BB_ADDRESS_TEXT], caller[BB_ADDRESS_TEXT];
    if (node->hop == 0 && node->port)
        bb_address_format_port(&node->address, node->port, address);
    else
        bb_address_format(&node->address, address);
    if (node->hop == 0)
        return g_strdup_printf("followed %s from the beginning", address);
    bb_address_format(&node->caller, caller);
    GString *note = g_string_new(NULL);
    g_string_append_printf(note, "followed %s (hop %u, called by %s at port %u) since ", address,
                           node->hop, caller, node->port);
    bb_quantity_append_time(note, node->since_ns);
    return g_string_free(note, FALSE);
}

// Of how many hosts each has a note.
static guint count_told(const BbCaptureFollow *follow)
{
    return follow->no_names ? 0 : MIN(bb_follow_count(follow->set), BB_CAPTURE_FOLLOW_NOTES);
}

char *bb_capture_follow_next(BbCaptureFollow *follow)
{
    if (G_LIKELY(follow->told == count_told(follow)))
        return NULL;
    return make_note(bb_follow_at(follow->set, follow->told++));
}

char *bb_capture_follow_rest(const BbCaptureFollow *follow)
{
    guint count = bb_follow_count(follow->set), i = count_told(follow);
    if (i == count || follow->no_names)
        return NULL;
    GString *note = g_string_new(NULL);
    g_string_append_printf(note, "followed %u%s host%s", count - i, i ? " more" : "",
                           count - i == 1 ? "" : "s");
    const char *before = ": ";
    for (; i < count; i++, before = ", ") {
        const BbFollowNode *node = bb_follow_at(follow->set, i);
        char address[BB_ADDRESS_TEXT];
        bb_address_format(&node->address, address);
        if (note->len + BB_ADDRESS_TEXT + 32 > BB_TRACE_NOTE_SIZE)
            break;
        g_string_append_printf(note, "%s%s (hop %u)", before, address, node->hop);
    }
    if (i < count)
        g_string_append(note, ", ...");
    return g_string_free(note, FALSE);
}

void bb_capture_follow_notes(const BbCaptureFollow *follow, GPtrArray *notes)
{
    char *rest = bb_capture_follow_rest(follow);
    for (guint i = 0; i < count_told(follow); i++)
        g_ptr_array_add(notes, make_note(bb_follow_at(follow->set, i)));
    if (rest)
        g_ptr_array_add(notes, rest);
}

// ---- the end ------------------------------------------------------------------------------------

#define UNMET_SAID 8u

static void say_unmet(const BbFollowNode *entrance)
{
    char address[BB_ADDRESS_TEXT];
    if (entrance->port)
        bb_address_format_port(&entrance->address, entrance->port, address);
    else
        bb_address_format(&entrance->address, address);
    bb_say("warning: no packet of %s was seen, which was to be followed: give the address that it "
           "has on the wire",
           address);
}

void bb_capture_follow_say(const BbCaptureFollow *follow)
{
    guint count = bb_follow_count(follow->set);
    g_autofree char *number = bb_number(count);
    bb_say("%12s  host%s followed", number, count == 1 ? "" : "s");
    guint unmet = MIN(bb_follow_unmet(follow->set), UNMET_SAID);
    for (guint i = 0; unmet; i++) {
        const BbFollowNode *node = bb_follow_at(follow->set, i);
        if (node->met)
            continue;
        say_unmet(node);
        unmet--;
    }
}
