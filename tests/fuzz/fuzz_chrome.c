// SPDX-License-Identifier: Apache-2.0
// In: any bytes as Chrome trace events. See fuzz_import.h.
#include "tests/fuzz/fuzz_import.h"

static void check(const Taken *taken, const BbCounters *counters)
{
    guint64 answered =
        bb_counters_get(counters, "chrome_returns") + bb_counters_get(counters, "chrome_waited");
    g_assert(taken->calls == taken->returns && taken->calls == answered);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    fuzz_import("chrome", data, size, check);
    return 0;
}
