// SPDX-License-Identifier: Apache-2.0
// Sequence numbers of TCP, which go around (RFC 9293, section 3.4).
#pragma once

#include <glib.h>

// How far `to` is ahead of `from`, in bytes; below 0: behind it.
static inline gint32 bb_sequence_distance(guint32 from, guint32 to)
{
    return (gint32)(to - from);
}
