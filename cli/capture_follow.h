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

// loss is lent. no_names: notes would tell addresses, and there are none.
BbCaptureFollow *bb_capture_follow_new(const BbFollowChoice *choice, bool no_names, BbLoss *loss);
void bb_capture_follow_free(BbCaptureFollow *follow);
// The set, for BbCaptureOptions. Lent.
BbFollow *bb_capture_follow_set(BbCaptureFollow *follow);

// Live: has the kernel let through what belongs to new hosts as well, at most a hundred times a
// second. Cheap where nothing is new.
void bb_capture_follow_narrow(BbCaptureFollow *follow, BbSource *source);

// A note on a host that has joined and has none yet, as far as there are notes for hosts; yours to
// free, NULL where there is nothing new.
char *bb_capture_follow_next(BbCaptureFollow *follow);

// A note on those that have none of their own, yours to free; NULL where there are none.
char *bb_capture_follow_rest(const BbCaptureFollow *follow);
// All notes as of now, at the end of notes (of char *, which it frees).
void bb_capture_follow_notes(const BbCaptureFollow *follow, GPtrArray *notes);

// At the end, to people: how many are followed, and which entrances no packet was of.
void bb_capture_follow_say(const BbCaptureFollow *follow);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCaptureFollow, bb_capture_follow_free)
