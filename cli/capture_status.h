// SPDX-License-Identifier: Apache-2.0
// How a running capture is: a live screen on a terminal, lines on stderr on SIGUSR1, and what
// --stats writes (cli/stats_files.h).
//
// Two threads: one reads packets and decides when an interval ends; messages come in another (or
// the same). bb_capture_status_mark is called by the first right before a mark goes into the stream
// of messages (capture/shards.h), bb_capture_status_beat by the second when it comes out.
#pragma once

#include "cli/status_report.h"

typedef struct BbCaptureStatus BbCaptureStatus;

typedef struct BbCaptureStatusSetup {
    const char *source;   // what is read, for people; lent
    const char *stats;    // --stats, or NULL; lent
    const BbNames *names; // lent
    bool live;            // intervals are those of the clock, else those of packets' stamps
    bool screen;          // draw where stderr is a terminal
} BbCaptureStatusSetup;

// Opens the files of --stats. Fails where one cannot be opened.
BbCaptureStatus *bb_capture_status_open(const BbCaptureStatusSetup *setup, GError **error);
void bb_capture_status_free(BbCaptureStatus *status);

// ---- the thread that reads ---------------------------------------------------------------------

// Whether an interval of a second ends now: asked live now and then, of files after each packet,
// with its stamp. A clock of packets that was set back begins a new one.
bool bb_capture_status_due(BbCaptureStatus *status, gint64 time_ns);

// Ends the interval. connections and held_bytes are told live only.
void bb_capture_status_mark(BbCaptureStatus *status, guint64 connections, guint64 held_bytes);

// Draws what is new; on SIGUSR1 says the last interval, and total, which are newer. clear takes
// the screen away before anything else is said on stderr.
void bb_capture_status_show(BbCaptureStatus *status, const BbLoss *total);
void bb_capture_status_clear(BbCaptureStatus *status);

// ---- the thread of messages --------------------------------------------------------------------

void bb_capture_status_push(BbCaptureStatus *status, const BbMessage *message);
// loss: all that was counted up to the mark.
void bb_capture_status_beat(BbCaptureStatus *status, const BbLoss *loss);

// ---- the end, with one thread left --------------------------------------------------------------

// After a mark: the rest as an interval of its own. Returns false where something of --stats was
// not written, which was said.
bool bb_capture_status_finish(BbCaptureStatus *status, const BbLoss *loss);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCaptureStatus, bb_capture_status_free)
