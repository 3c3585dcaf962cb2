// SPDX-License-Identifier: Apache-2.0
// In: the quanta of messages. Out: their signal.
#include "convolution/signal.h"

#include <math.h>
#include <string.h>

guint64 bb_signal_quantum(gint64 time_ns, gint64 start_ns, gint64 quantum_ns)
{
    return ((guint64)time_ns - (guint64)start_ns) / (guint64)quantum_ns;
}

void bb_signal_fill(double *signal, gsize size, const guint32 *quanta, gsize count)
{
    memset(signal, 0, size * sizeof *signal);
    for (gsize i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && quanta[end] == quanta[i];)
            end++;
        signal[quanta[i]] = sqrt((double)(end - i));
    }
}
