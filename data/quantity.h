// SPDX-License-Identifier: Apache-2.0
// Durations, counts and shares as people read them, the same in every locale and every view.
#pragma once

#include <glib.h>
#include <stdbool.h>

// Three significant digits and the unit: "420 us", "12.3 ms", "98.7 s"; whole seconds from 1,000 s
// on.
void bb_quantity_append_duration(GString *out, gint64 ns);

// How long something went on, not less than 0: from an hour on as "23 h 1 min", "3 d 2 h".
void bb_quantity_append_span(GString *out, gint64 ns);

// "1,234,567"
void bb_quantity_append_count(GString *out, guint64 count);

// A count with its noun: "1 error", "2,345 errors".
void bb_quantity_append_counted(GString *out, guint64 count, const char *noun);

// "62 %", one decimal below 10 %, "<0.1 %" for what would round to nothing.
void bb_quantity_append_share(GString *out, double share);

// Date and time of day in UTC with milliseconds; "-" for a time outside of the years 1 to 9999.
void bb_quantity_append_time(GString *out, gint64 ns);

// part of whole; 0 where the whole is nothing.
double bb_quantity_share(gint64 part, gint64 whole);
