// SPDX-License-Identifier: Apache-2.0
// Sequence numbers of TCP, which go around (RFC 9293, section 3.4).
#pragma once

#include <glib.h>

// How far `to` is ahead of `from`, in bytes; below 0: behind it.
static inline gint32 bb_sequence_distance(guint32 from, guint32 to)
{
    return (gint32)(to - from);
}

// Numbers can be compared while they are less than 2^31 apart. Positions can always be: they are
// numbers that do not go around, of 64 bits of which TCP shows the lower 32.
#define BB_SEQUENCE_FIRST (G_GUINT64_CONSTANT(1) << 40) // none below 0 that a peer would show

// That of `number`: the one nearest to a position that is known.
static inline guint64 bb_sequence_position(guint64 known, guint32 number)
{
    return known + (guint64)(gint64)bb_sequence_distance((guint32)known, number);
}
