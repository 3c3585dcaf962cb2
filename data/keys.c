// SPDX-License-Identifier: Apache-2.0
// In: nothing. Out: the seed of the process.
#include "data/keys.h"

guint64 bb_keys_seed(void)
{
    static gsize seed;
    if (g_once_init_enter(&seed))
        g_once_init_leave(&seed, (gsize)bb_mix_seed() | 1);
    return seed;
}
