// SPDX-License-Identifier: Apache-2.0
// What is still to happen, taken out in order of time: a heap of events. What falls on one instant
// comes in an order that has nothing to do with that of putting in, but is the same on every run.
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct BbEvent {
    gint64 time_ns;
    gpointer object; // of whoever put it in
    guint64 ticket;  // likewise
    guint kind;      // likewise
} BbEvent;

typedef struct BbAgenda BbAgenda;

// Times that are the same in units of resolution_ns (at least 1) are one instant.
BbAgenda *bb_agenda_new(gint64 resolution_ns);
void bb_agenda_free(BbAgenda *agenda);

void bb_agenda_put(BbAgenda *agenda, const BbEvent *event);
// Returns false where there is nothing left.
bool bb_agenda_take(BbAgenda *agenda, BbEvent *event);
gsize bb_agenda_count(const BbAgenda *agenda);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbAgenda, bb_agenda_free)
