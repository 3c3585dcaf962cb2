// SPDX-License-Identifier: Apache-2.0
// A set of messages as a signal over the trace (paper, section 5.2.1): in each quantum the square
// root of the number of messages. The root keeps one burst from outweighing all else.
#pragma once

#include <glib.h>

// The quantum of a time: whole quanta since start_ns <= time_ns. Holds for any two times.
guint64 bb_signal_quantum(gint64 time_ns, gint64 start_ns, gint64 quantum_ns);

// Writes all of signal. quanta: of the messages, in order, each below size.
void bb_signal_fill(double *signal, gsize size, const guint32 *quanta, gsize count);
