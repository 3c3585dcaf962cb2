// SPDX-License-Identifier: Apache-2.0
// One capture file, in whatever form it is (pcap, pcapng; packed, a pipe), through a filter.
#pragma once

#include "capture/loss.h"
#include "capture/packet.h"

typedef struct BbSavefile BbSavefile;

typedef enum {
    BB_SAVEFILE_FRAME,   // *frame is filled, lent until the next call
    BB_SAVEFILE_REFUSED, // a packet that the filter does not let through
    BB_SAVEFILE_END,     // after it bb_savefile_damage() tells whether the file is whole
} BbSavefileStatus;

// Opens the file. filter (a pcap-filter(7) expression or NULL), loss and warnings are lent while it
// lives. Fails with a sentence that names the file and the remedy: it cannot be read, it is no
// capture, the filter does not compile for its link type (G_OPTION_ERROR).
BbSavefile *bb_savefile_open(const char *path, const char *filter, BbLoss *loss, GQueue *warnings,
                             GError **error);
void bb_savefile_free(BbSavefile *file);

BbSavefileStatus bb_savefile_next(BbSavefile *file, BbFrame *frame);

// Whether frames are of several interfaces, of which each may have been written in batches: their
// order in the file is not that in which they were captured. Known from the frame on that the file
// gave after it described the second one.
bool bb_savefile_is_mixed(const BbSavefile *file);

// Of pcapng that comes by a pipe: whether nothing comes for timeout_ms, or until a signal does.
bool bb_savefile_is_silent(const BbSavefile *file, int timeout_ms);

// Where and why the file broke off, NULL while it did not; yours to free.
char *bb_savefile_damage(const BbSavefile *file);

const char *bb_savefile_name(const BbSavefile *file);
// Bytes of the file (as it lies on the disk) read so far, and of all of it; 0 of what is none.
guint64 bb_savefile_position(const BbSavefile *file);
guint64 bb_savefile_size(const BbSavefile *file);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSavefile, bb_savefile_free)
