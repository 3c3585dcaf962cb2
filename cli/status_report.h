// SPDX-License-Identifier: Apache-2.0
// What is known of a running capture at the end of an interval, and how people read it. Names of
// edges come from the network: what cannot be printed is shown as '?'.
#pragma once

#include "capture/loss.h"
#include "diagnose/pulse.h"

typedef struct BbStatusReport {
    gint64 time_ns;     // end of the interval; BB_TIME_NONE before the first
    gint64 interval_ns; // its length, 0 where nobody knows
    bool live;          // the next three are known
    guint64 connections, held_bytes, memory_bytes; // remembered, waiting for reassembly, resident
    BbLoss total;                                  // all that was counted so far
    BbLoss now;                                    // of that, in the interval
    BbPulseBeat beat;                              // edges is NULL where nobody counts them
    guint64 stats_lost;                            // lines or files of --stats not written
} BbStatusReport;

void bb_status_report_clear(BbStatusReport *report);

// One line for a terminal: rates of the interval, totals of what was lost, what is open.
void bb_status_report_append_line(const BbStatusReport *report, const char *source, GString *out);
// One line on an edge.
void bb_status_report_append_edge(const BbStatusReport *report, const BbPulseEdge *edge,
                                  const BbNames *names, GString *out);
// The same and more as a few lines, each with '\n', with up to `edges` edges.
void bb_status_report_append_text(const BbStatusReport *report, const char *source,
                                  const BbNames *names, guint edges, GString *out);
