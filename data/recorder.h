// SPDX-License-Identifier: Apache-2.0
// The flight recorder: messages go round in a ring on disk, which is mapped into memory. What was
// pushed survives the end of the process, whatever ended it: the kernel has the pages. (A loss of
// power costs what the kernel had not yet written, 30 s by Linux' usual settings.)
//
// The ring is cut into sub-buffers. Each stands for itself: it has its own names, a number that
// counts up, and a checksum a record, so that the newest one is found after a crash and a damaged
// one costs only itself (bbtrace-ring(5)).
#pragma once

#include "data/message.h"

typedef struct BbRecorder BbRecorder;

#define BB_RECORDER_SIZE_MIN ((guint64)1 << 20)
#define BB_RECORDER_SIZE_MAX ((guint64)1 << 40)

// Makes the ring, of about size bytes, all of which are set aside on the disk at once, or goes on
// in the ring of a former run: what it holds stays until its place is needed, and nothing of it is
// lost before the first message. names are lent. Fails where the file is no ring, or one of another
// size, or is in use, or where space or rights lack.
//
// A write to the map has no other way to fail than SIGBUS, which ends the process: where somebody
// cuts the file short, where the disk is broken, and where a file system that writes elsewhere
// (copy-on-write, as Btrfs, or a snapshot beneath) is full.
BbRecorder *bb_recorder_open(const char *path, guint64 size, const BbNames *names, GError **error);
void bb_recorder_free(BbRecorder *recorder);

// Records a message, which is safe when this returns. A message that no trace can hold (a time
// before 1970), or with a name or connection of more than 4 KiB, is left out and counted. The key
// extra is not kept.
void bb_recorder_push(BbRecorder *recorder, const BbMessage *message);

guint64 bb_recorder_messages(const BbRecorder *recorder); // pushed and recorded
guint64 bb_recorder_left_out(const BbRecorder *recorder);
guint64 bb_recorder_size(const BbRecorder *recorder); // of the file

// ---- reading ------------------------------------------------------------------------------------

typedef struct BbRecorderReader BbRecorderReader;

// Reads a ring, also while it is being written. fd is taken over; a pipe is refused. name is for
// messages. Memory: one sub-buffer, and 40 bytes for each that the file has.
BbRecorderReader *bb_recorder_reader_open(int fd, const char *name, GError **error);
void bb_recorder_reader_free(BbRecorderReader *reader);

// Gives the next message in the order of recording, which is nearly that of time (data/order.h).
// names are those of the caller, the same each time. conn is lent until the next call. Ids of a run
// before the last one get "runN-" before them: each run numbers its calls anew. Returns false at
// the end (error not set), or where reading failed.
bool bb_recorder_read(BbRecorderReader *reader, BbNames *names, BbMessage *message, GError **error);

// What is known at the end.
typedef struct BbRecorderFindings {
    guint64 lost;        // messages that are known to have been in sub-buffers that are damaged
    guint64 damaged;     // sub-buffers, in whole or from some place on
    guint64 overwritten; // sub-buffers that the recorder began anew while they were being read
    guint64 runs;        // of the recorder, that messages were read of
    bool headless;       // the head of the file is damaged
} BbRecorderFindings;
BbRecorderFindings bb_recorder_reader_findings(const BbRecorderReader *reader);

// Number of the last run in the file, of its last sub-buffer, and the place of that one in the
// file and its size; all 0 in a ring where nothing was recorded.
typedef struct BbRecorderEnd {
    guint64 run, sequence, place;
    guint32 size;
} BbRecorderEnd;
BbRecorderEnd bb_recorder_reader_end(const BbRecorderReader *reader);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbRecorder, bb_recorder_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbRecorderReader, bb_recorder_reader_free)
