// SPDX-License-Identifier: Apache-2.0
// The step of a clock: what all its stamps are apart is a multiple of it (Euclid).
#pragma once

#include <glib.h>

// The greatest common divisor; of 0 and another number that one.
static inline guint64 bb_common_divisor(guint64 a, guint64 b)
{
    while (b != 0) {
        guint64 rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
