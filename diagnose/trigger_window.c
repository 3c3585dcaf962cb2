// SPDX-License-Identifier: Apache-2.0
// In: returns of calls, slice by slice. Out: their latencies and failures over the last slices.
#include "diagnose/trigger_window.h"

typedef struct {
    gint64 number; // of the slice since 1970
    BbStats *latency;
    guint64 returns, errors;
} Slice;

struct BbTriggerWindow {
    Slice slices[BB_TRIGGER_SLICES]; // by number, going round
};

BbTriggerWindow *bb_trigger_window_new(void)
{
    BbTriggerWindow *window = g_new0(BbTriggerWindow, 1);
    for (guint i = 0; i < BB_TRIGGER_SLICES; i++)
        window->slices[i].number = G_MININT64;
    return window;
}

void bb_trigger_window_free(BbTriggerWindow *window)
{
    if (!window)
        return;
    for (guint i = 0; i < BB_TRIGGER_SLICES; i++)
        bb_stats_free(window->slices[i].latency);
    g_free(window);
}

bool bb_trigger_window_add(BbTriggerWindow *window, gint64 slice, gint64 now, gint64 latency_ns,
                           bool failed)
{
    if (slice <= now - BB_TRIGGER_SLICES)
        return false;
    Slice *place = &window->slices[slice % BB_TRIGGER_SLICES];
    if (place->number != slice) {
        bb_stats_free(place->latency);
        *place = (Slice){.number = slice, .latency = bb_stats_new()};
    }
    if (latency_ns != BB_TRIGGER_LATENCY_NONE)
        bb_stats_push(place->latency, latency_ns);
    place->returns++;
    place->errors += failed;
    return true;
}

BbTriggerSum bb_trigger_window_sum(const BbTriggerWindow *window, gint64 end)
{
    BbTriggerSum sum = {.latency = bb_stats_new()};
    for (guint i = 0; i < BB_TRIGGER_SLICES; i++) {
        const Slice *slice = &window->slices[i];
        if (slice->number >= end || slice->number < end - BB_TRIGGER_SLICES)
            continue;
        bb_stats_merge(sum.latency, slice->latency);
        sum.returns += slice->returns;
        sum.errors += slice->errors;
    }
    return sum;
}
