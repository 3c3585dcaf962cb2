// SPDX-License-Identifier: Apache-2.0
// In: counters of a merge. Out: whether its clocks are known well enough.
#include "data/clock_doubt.h"

#include "data/quantity.h"

#define US_MOST 10000 // an option in microseconds, above in milliseconds

BbClockDoubt bb_clock_doubt_of(const BbCounters *counters, guint64 calls)
{
    guint64 early =
        bb_counters_get(counters, BB_RETURNS_MOVED) + bb_counters_get(counters, BB_RETURNS_BEFORE);
    guint64 merged = bb_counters_get(counters, BB_CALLS_MERGED), of = merged ? merged : calls;
    return (BbClockDoubt){
        .error_ns = bb_counters_get(counters, BB_CLOCK_ERROR),
        .share = of ? MIN((double)early / (double)of, 1) : 0,
    };
}

// "730us", rounded up.
static void append_window(GString *out, guint64 error_ns)
{
    guint64 us = error_ns / 1000 + (error_ns % 1000 != 0);
    if (us <= US_MOST)
        g_string_append_printf(out, "%" G_GUINT64_FORMAT "us", us);
    else
        g_string_append_printf(out, "%" G_GUINT64_FORMAT "ms", us / 1000 + (us % 1000 != 0));
}

char *bb_clock_doubt_tell(const BbClockDoubt *doubt)
{
    if (doubt->share < BB_CLOCK_DOUBT_LEAST)
        return NULL;
    GString *text = g_string_new(NULL);
    bb_quantity_append_share(text, doubt->share);
    g_string_append(text, " of the calls had a return that preceded them, or their arrival");
    if (doubt->error_ns) {
        g_string_append(text, ", and clocks are known to within ");
        bb_quantity_append_duration(text, (gint64)MIN(doubt->error_ns, G_MAXINT64));
    }
    g_string_append(text, ": what lasts no longer loses its cause, and delays are wrong by as "
                          "much; bbpaths --skew-window");
    if (doubt->error_ns) {
        g_string_append_c(text, '=');
        append_window(text, doubt->error_ns);
    }
    g_string_append(text, " allows for it");
    if (!doubt->error_ns)
        g_string_append(text, ", bbtrace merge --clocks=correct finds what it is");
    return g_string_free(text, FALSE);
}
