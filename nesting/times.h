// SPDX-License-Identifier: Apache-2.0
// Times in order.
#pragma once

#include <glib.h>

// For qsort and g_array_sort.
static inline int bb_times_compare(const void *a, const void *b)
{
    gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return (x > y) - (x < y);
}

// How many of n times in order are before that one.
static inline guint32 bb_times_before(const gint64 *times, guint32 n, gint64 time)
{
    guint32 from = 0, to = n;
    while (from < to) {
        guint32 middle = from + (to - from) / 2;
        if (times[middle] < time)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}
