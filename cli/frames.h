// SPDX-License-Identifier: Apache-2.0
// Where the messages of a path instance are in the capture: connection and offset, and where they
// were kept (bbtrace capture --keep-frames) file and number of the first packet.
#pragma once

#include "data/path.h"
#include "viz/timeline.h"

typedef struct BbFrames BbFrames;

// Remembers the messages to look for. Memory: 64 bytes a call.
BbFrames *bb_frames_new(const BbPaths *paths, const BbInstance *instance);
void bb_frames_free(BbFrames *frames);

// Reads the trace again, up to the last of them; names are those of the first reading.
bool bb_frames_read(BbFrames *frames, const char *trace, bool skip_bad_lines, BbNames *names,
                    GError **error);

// One line a message that was found, in order of time.
void bb_frames_append(GString *out, const BbFrames *frames, const BbNames *names,
                      const BbTimelineStyle *style);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbFrames, bb_frames_free)
