// SPDX-License-Identifier: Apache-2.0
// In: any bytes as CSV. See fuzz_table.h.
#include "tests/fuzz/fuzz_table.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    fuzz_table("csv", data, size);
    return 0;
}
