// SPDX-License-Identifier: Apache-2.0
// In: events. Out: the same in order of time. A heap of four children a parent.
#include "data/agenda.h"

#define CHILDREN 4u

typedef struct Entry {
    gint64 instant;
    guint64 tie;
    BbEvent event;
} Entry;

struct BbAgenda {
    gint64 resolution_ns;
    guint64 puts;
    Entry *entries;
    gsize count, room;
};

BbAgenda *bb_agenda_new(gint64 resolution_ns)
{
    BbAgenda *agenda = g_new0(BbAgenda, 1);
    agenda->resolution_ns = resolution_ns;
    return agenda;
}

void bb_agenda_free(BbAgenda *agenda)
{
    if (!agenda)
        return;
    g_free(agenda->entries);
    g_free(agenda);
}

static bool is_before(const Entry *a, const Entry *b)
{
    return a->instant != b->instant ? a->instant < b->instant : a->tie < b->tie;
}

void bb_agenda_put(BbAgenda *agenda, const BbEvent *event)
{
    if (agenda->count == agenda->room) {
        agenda->room = MAX(agenda->room * 2, 64);
        agenda->entries = g_renew(Entry, agenda->entries, agenda->room);
    }
    // An odd factor: no two ties are the same.
    Entry entry = {
        .instant = event->time_ns / agenda->resolution_ns,
        .tie = ++agenda->puts * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15),
        .event = *event,
    };
    gsize at = agenda->count++;
    while (at > 0) {
        gsize parent = (at - 1) / CHILDREN;
        if (!is_before(&entry, &agenda->entries[parent]))
            break;
        agenda->entries[at] = agenda->entries[parent];
        at = parent;
    }
    agenda->entries[at] = entry;
}

static gsize first_child(const BbAgenda *agenda, gsize at)
{
    gsize first = at * CHILDREN + 1, end = MIN(first + CHILDREN, agenda->count), best = first;
    for (gsize child = first + 1; child < end; child++)
        if (is_before(&agenda->entries[child], &agenda->entries[best]))
            best = child;
    return best;
}

bool bb_agenda_take(BbAgenda *agenda, BbEvent *event)
{
    if (agenda->count == 0)
        return false;
    *event = agenda->entries[0].event;
    Entry last = agenda->entries[--agenda->count];
    gsize at = 0;
    for (gsize child = 0; at * CHILDREN + 1 < agenda->count; at = child) {
        child = first_child(agenda, at);
        if (!is_before(&agenda->entries[child], &last))
            break;
        agenda->entries[at] = agenda->entries[child];
    }
    if (agenda->count > 0)
        agenda->entries[at] = last;
    return true;
}

gsize bb_agenda_count(const BbAgenda *agenda)
{
    return agenda->count;
}
