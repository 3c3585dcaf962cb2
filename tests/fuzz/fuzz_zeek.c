// SPDX-License-Identifier: Apache-2.0
// In: any bytes as a log of Zeek. Every row is told or counted once. See fuzz_import.h.
#include "tests/fuzz/fuzz_import.h"

static void check(const Taken *taken, const BbCounters *counters)
{
    static const char *const places[] = {"zeek_conn_http", "zeek_no_request", "zeek_only_answers",
                                         "zeek_left_out"};
    static const char *const halves[] = {"zeek_no_answer", "zeek_no_duration", "zeek_no_end"};
    guint64 rows = taken->calls, calls = taken->returns;
    for (gsize i = 0; i < G_N_ELEMENTS(places); i++)
        rows += bb_counters_get(counters, places[i]);
    for (gsize i = 0; i < G_N_ELEMENTS(halves); i++)
        calls += bb_counters_get(counters, halves[i]);
    g_assert(taken->others == 0 && calls == taken->calls);
    g_assert(rows ==
             bb_counters_get(counters, "zeek_conns") + bb_counters_get(counters, "zeek_requests"));
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    fuzz_import("zeek", data, size, check);
    return 0;
}
