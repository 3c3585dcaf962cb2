// SPDX-License-Identifier: Apache-2.0
// How much of each pattern there was in each window, as JSON Lines, one window a line (bbpaths(1),
// --phases): phases of a system become visible. Put aside until ranks are known, 40 bytes for each
// window and pattern in it. Of convolution, an instance is counted once, with the pattern of its
// path to the last message, and takes as long as that.
#pragma once

#include "data/path.h"
#include "viz/view.h"

typedef struct BbPhases BbPhases;

// last_byte: a call lasts until the last byte of its return.
BbPhases *bb_phases_new(bool last_byte);
void bb_phases_free(BbPhases *phases);

// Takes the instances of a window, once the census has counted them. Fails (G_FILE_ERROR) when
// there is no room for a temporary file.
bool bb_phases_add(BbPhases *phases, const BbPaths *paths, GError **error);

// Writes a line for each window, with the selected patterns in order of rank: "rank" is that which
// bb_view_write gives with the same options. BB_TOP_OF_FORMAT is all. After it, only free.
bool bb_phases_write(BbPhases *phases, const BbPatterns *patterns, const BbNames *names,
                     const BbViewOptions *options, FILE *out, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbPhases, bb_phases_free)
