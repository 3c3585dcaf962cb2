// SPDX-License-Identifier: Apache-2.0
// Whether the file that a live capture writes is still in some folder: once it was removed, or
// another one was put in its place, what is written is in nobody's reach.
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct BbCapturePlace BbCapturePlace;

// Remembers the file that is at that path now. NULL where none is, or it is no regular file: there
// is nothing to watch. The path is lent.
BbCapturePlace *bb_capture_place_new(const char *path);
void bb_capture_place_free(BbCapturePlace *place);

// Looks at most once a second; NULL is nowhere and never lost. Returns true once, when the file has
// gone.
bool bb_capture_place_look(BbCapturePlace *place);
// Whether it is gone now.
bool bb_capture_place_is_lost(const BbCapturePlace *place);
