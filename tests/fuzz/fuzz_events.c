// SPDX-License-Identifier: Apache-2.0
// In: any bytes as an event log. Every event is told or counted once. See fuzz_import.h.
#include "tests/fuzz/fuzz_import.h"

static void check(const Taken *taken, const BbCounters *counters)
{
    static const char *const places[] = {"events_joined",  "events_inside", "events_no_time",
                                         "events_no_peer", "events_again",  "events_return_alone"};
    guint64 sum = taken->calls + taken->returns + taken->others;
    for (gsize i = 0; i < G_N_ELEMENTS(places); i++)
        sum += bb_counters_get(counters, places[i]);
    g_assert(sum == bb_counters_get(counters, "events"));
    g_assert(taken->returns <= taken->calls);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    fuzz_import("events", data, size, check);
    return 0;
}
