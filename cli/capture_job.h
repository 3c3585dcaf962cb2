// SPDX-License-Identifier: Apache-2.0
// A capture at work: what was asked for, and all that is open for it. capture.c begins and ends it,
// capture_reading.c reads, capture_words.c tells people. Of one thread, but for what play_mark and
// take_message of capture.c touch.
#pragma once

#include "cli/capture_follow.h"
#include "cli/capture_nat.h"
#include "cli/capture_output.h"
#include "cli/capture_place.h"
#include "cli/capture_processes.h"
#include "cli/capture_recorder.h"
#include "cli/capture_shed.h"
#include "cli/capture_status.h"
#include "cli/since.h"

#include "capture/protocols/tls_keylog.h"
#include "capture/shards.h"
#include "capture/sources/source.h"

// Marks (capture/shards.h): several may be set.
#define BB_MARK_TOTALS 1u
#define BB_MARK_SYNC 2u
#define BB_MARK_STATUS 4u
#define BB_MARK_NOTE 8u // some of those that were handed over

typedef struct BbCaptureJob {
    const BbCaptureArguments *options;
    BbNames *names;
    BbNodes *nodes;
    BbLoss loss;
    BbCounters *counters;
    BbSource *source;
    BbCaptureOutput *output;     // or, where a flight recorder was asked for,
    BbCaptureRecorder *recorder; // that
    BbCaptureStatus *status;
    BbCapturePlace *place; // live: of the trace or the ring; NULL: of a series, of no file
    BbTlsKeylog *keylog;
    BbDisguise *disguise;    // NULL: all is told as it is
    BbCaptureFollow *follow; // NULL: all is read
    bool follow_limited;     // and that was said
    BbCaptureNat *nat;
    BbProcesses *processes; // NULL: nodes go without
    char *processes_note;
    const char *notes[4]; // of the trace; lent, NULL at the end
    GAsyncQueue *handed;  // of char **: further ones, from who reads to who writes
    BbShards *shards;
    BbCaptureShed *shed; // NULL: nothing is left out
    BbProgress progress;
    guint32 file;             // that is read now, for --keep-frames
    char *file_name;          // its name
    gint64 first_ns, last_ns; // stamps seen
    gint64 read_ns;           // live: what waits came later, but for what is held back
    gint64 deadline_us;       // live, -G
    gint64 flushed_us;        // live: when the output was last brought up to date
    BbSince flushed;          // the same, by stamps
    BbSince told;             // when a series last learnt what was counted
    guint64 told_frames;
    BbSince looked; // live: when the clock was last looked at
    bool failed;    // something was said; the rest goes on
} BbCaptureJob;

// ---- capture_reading.c --------------------------------------------------------------------------

// Reads all there is. Returns false when the output failed.
bool bb_capture_job_read(BbCaptureJob *job, GError **error);

// ---- capture_words.c ----------------------------------------------------------------------------

// Before anything else is said.
void bb_capture_job_clear_screen(BbCaptureJob *job);
// Of interfaces: from now on what comes is captured, and signals end it in order.
void bb_capture_job_say_begin(const BbCaptureJob *job);
void bb_capture_job_say_warnings(BbCaptureJob *job);
// What shedding has to say; snapshots of a flight recorder have its notes, too.
void bb_capture_job_say_shedding(BbCaptureJob *job);
// Says the error, and frees it; the capture ends as failed.
void bb_capture_job_fail(BbCaptureJob *job, GError *error);
void bb_capture_job_show_progress(BbCaptureJob *job);
void bb_capture_job_show_status(BbCaptureJob *job);
// At the end: what was seen and lost, and which files were made.
void bb_capture_job_say_summary(const BbCaptureJob *job);
void bb_capture_job_say_files(const BbCaptureJob *job);
