// SPDX-License-Identifier: Apache-2.0
// Following in a capture (capture/follow.h): the kernel is told of hosts that join the set, and the
// trace.
#pragma once

#include "capture/layers/layer.h"
#include "capture/sources/source.h"
#include "cli/follow_options.h"

// Hosts that have a note of their own in the trace; the others share one at its end. A trace keeps
// BB_TRACE_NOTES, of which some are for other things.
#define BB_CAPTURE_FOLLOW_NOTES 48u

typedef struct BbCaptureFollow BbCaptureFollow;

typedef struct BbCaptureFollowSetup {
    const BbFollowChoice *choice; // lent while bb_capture_follow_new runs
    const BbTunnelAt *tunnels;    // that people named; lent
    guint n_tunnels;
    bool no_names; // no notes: they tell addresses
} BbCaptureFollowSetup;

// loss is lent.
BbCaptureFollow *bb_capture_follow_new(const BbCaptureFollowSetup *setup, BbLoss *loss);
void bb_capture_follow_free(BbCaptureFollow *follow);
// The set, for BbCaptureOptions. Lent.
BbFollow *bb_capture_follow_set(BbCaptureFollow *follow);

// Live: has the kernel let through what belongs to new hosts as well, at most a hundred times a
// second. Cheap where nothing is new.
void bb_capture_follow_narrow(BbCaptureFollow *follow, BbSource *source);

// Whether hosts joined of which notes have not told, as far as there are notes for them; then
// publish sets them aside, for one call of take, which another thread may make.
bool bb_capture_follow_has_news(const BbCaptureFollow *follow);
void bb_capture_follow_publish(BbCaptureFollow *follow);
GPtrArray *bb_capture_follow_take(BbCaptureFollow *follow); // of char *; yours

// A note on those that have none of their own, yours to free; NULL where there are none.
char *bb_capture_follow_rest(const BbCaptureFollow *follow);
// All notes as of now, at the end of notes (of char *, which it frees).
void bb_capture_follow_notes(const BbCaptureFollow *follow, GPtrArray *notes);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCaptureFollow, bb_capture_follow_free)
