// SPDX-License-Identifier: Apache-2.0
// In: times in any order. Out: the same in order, ties untouched.
#include "nesting/timesort.h"

#include <stdbool.h>
#include <string.h>

#define FEW 48 // sorted by insertion
#define DIGIT_MAX 11

static bool in_order(const BbTimed *items, gsize count)
{
    for (gsize i = 1; i < count; i++)
        if (items[i].time_ns < items[i - 1].time_ns)
            return false;
    return true;
}

static void sort_few(BbTimed *items, gsize count)
{
    for (gsize i = 1; i < count; i++) {
        BbTimed item = items[i];
        gsize at = i;
        for (; at > 0 && items[at - 1].time_ns > item.time_ns; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

// One pass over a digit: from -> to.
static void scatter(const BbTimed *from, BbTimed *to, gsize count, guint64 base, guint shift,
                    guint digit_bits)
{
    gsize start[1u << DIGIT_MAX];
    guint64 mask = ((guint64)1 << digit_bits) - 1;
    memset(start, 0, (mask + 1) * sizeof *start);
    for (gsize i = 0; i < count; i++)
        start[(((guint64)from[i].time_ns - base) >> shift) & mask]++;
    gsize sum = 0;
    for (gsize digit = 0; digit <= mask; digit++) {
        gsize here = start[digit];
        start[digit] = sum;
        sum += here;
    }
    for (gsize i = 0; i < count; i++)
        to[start[(((guint64)from[i].time_ns - base) >> shift) & mask]++] = from[i];
}

static void sort_many(BbTimed *items, BbTimed *scratch, gsize count)
{
    gint64 least = items[0].time_ns, greatest = least;
    for (gsize i = 1; i < count; i++) {
        least = MIN(least, items[i].time_ns);
        greatest = MAX(greatest, items[i].time_ns);
    }
    guint64 range = (guint64)greatest - (guint64)least;
    guint digit_bits = count < 8192 ? 8 : DIGIT_MAX;
    BbTimed *from = items, *to = scratch;
    for (guint shift = 0; shift < 64 && range >> shift != 0; shift += digit_bits) {
        scatter(from, to, count, (guint64)least, shift, digit_bits);
        BbTimed *swap = from;
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
}

void bb_timesort(BbTimed *items, BbTimed *scratch, gsize count)
{
    if (in_order(items, count))
        return;
    if (count <= FEW)
        sort_few(items, count);
    else
        sort_many(items, scratch, count);
}
