// SPDX-License-Identifier: Apache-2.0
// The flight recorder of bbtrace capture: messages go into a ring (data/recorder.h), and snapshots
// of it are taken by triggers (diagnose/trigger.h), by SIGUSR2 and through the control socket
// (cli/control.h). It is used by one thread.
#pragma once

#include "cli/recorder_options.h"
#include "cli/snapshots.h"

typedef struct BbCaptureRecorder BbCaptureRecorder;

typedef struct BbCaptureRecorderSetup {
    const BbRecorderOptions *options; // lent
    const char *folder;               // made where it is not there
    const BbNames *names;             // lent
    bool live;                        // time goes on while nothing comes; snapshots do not hold up
    bool quiet;
    void (*totals)(gpointer user, BbCounters *counters, const BbNetwork **network); // snapshots.h
    void (*clear)(gpointer user); // before something is said while it runs
    gpointer user;
} BbCaptureRecorderSetup;

BbCaptureRecorder *bb_capture_recorder_open(const BbCaptureRecorderSetup *setup, GError **error);
void bb_capture_recorder_free(BbCaptureRecorder *recorder);

// A BbMessageSink (data/order.h); user is the recorder. The message is safe when it returns.
bool bb_capture_recorder_push(const BbMessage *message, gpointer user, GError **error);

// After each frame, with its stamp: time goes on, requests are looked at. Cheap.
void bb_capture_recorder_frame(BbCaptureRecorder *recorder, gint64 time_ns);
// Now and then, and where no frame comes: says what was done, and live lets time go on by the
// clock.
void bb_capture_recorder_idle(BbCaptureRecorder *recorder);
// The end: snapshots that wait are taken at once. Returns false where one could not be written.
bool bb_capture_recorder_finish(BbCaptureRecorder *recorder);
// Lines on what was recorded, taken and suppressed.
void bb_capture_recorder_say(const BbCaptureRecorder *recorder);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCaptureRecorder, bb_capture_recorder_free)
