// SPDX-License-Identifier: Apache-2.0
// Sorts things by time: a key and an index that says what it stands for.
#pragma once

#include <glib.h>

typedef struct BbTimed {
    gint64 time_ns;
    guint32 index;
} BbTimed;

// Sorts items by time_ns, ties as they were. scratch has room for count. Cost: one pass where they
// are in order, else linear (a radix sort over the bits in which the times differ).
void bb_timesort(BbTimed *items, BbTimed *scratch, gsize count);
