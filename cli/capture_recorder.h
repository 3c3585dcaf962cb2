// SPDX-License-Identifier: Apache-2.0
// The flight recorder of bbtrace capture: messages go into a ring (data/recorder.h), and snapshots
// of it are taken by triggers (diagnose/trigger.h), by SIGUSR2 and through the control socket
// (cli/control.h). It is used by one thread.
#pragma once

#include "cli/disguise.h"
#include "cli/recorder_options.h"
#include "cli/snapshots.h"

typedef struct BbCaptureRecorder BbCaptureRecorder;

typedef struct BbCaptureRecorderSetup {
    const BbRecorderOptions *options; // lent
    const char *folder;               // made where it is not there
    const BbNames *names;             // lent
    BbDisguise *disguise; // lent; NULL: none. Then no snapshot tells of what triggers were asked,
                          // and the ring must not be one of a run that told more
    bool live;            // time goes on while nothing comes; snapshots do not hold up
    bool quiet;
    void (*totals)(gpointer user, BbCounters *counters, const BbNetwork **network); // snapshots.h
    void (*notes)(gpointer user, GPtrArray *notes);                                 // likewise
    void (*clear)(gpointer user); // before something is said while it runs
    gpointer user;
} BbCaptureRecorderSetup;

BbCaptureRecorder *bb_capture_recorder_open(const BbCaptureRecorderSetup *setup, GError **error);
void bb_capture_recorder_free(BbCaptureRecorder *recorder);

// Records a message, which is safe when this returns. seen is the same without disguise: triggers
// match names as they are, of labels only those that are kept at all.
void bb_capture_recorder_push(BbCaptureRecorder *recorder, const BbMessage *message,
                              const BbMessage *seen);

// Whether it matters who sends what is left out; and that a node did, at a time.
bool bb_capture_recorder_listens(const BbCaptureRecorder *recorder);
void bb_capture_recorder_hear(BbCaptureRecorder *recorder, guint32 node, gint64 time_ns);

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
