// SPDX-License-Identifier: Apache-2.0
// A trace in files: in one, or in a series of .bbt files that are cut by size and time, of which a
// ring may keep the last ones only. Each file of a series is a trace of its own: it has the
// counters and network facts of its time, so that those of all files add up to those of the whole.
//
// A file of a series is named after the time of its first message (UTC) and its number in the run,
// before the ending .bbt: trace_20261122T200400Z_00001.bbt. A file that is there already is never
// written to: its number is passed over. The ring deletes only files that it has made, the oldest
// first, and not one that was put in the place of such a file.
//
// Memory: that of one writer, the totals at two moments, and about 100 bytes a file of the ring.
#pragma once

#include "data/trace.h"

#define BB_TRACE_FILES_BYTES_MIN ((guint64)4096)
#define BB_TRACE_FILES_NS_MIN ((gint64)1000000000)
#define BB_TRACE_FILES_RING_MIN 2u

typedef struct BbTraceFilesOptions {
    const char *path; // of the file, "-" for standard output; of a series, what names are made of
    BbTraceForm form; // of a series: BB_TRACE_BBT
    BbTraceSync sync;
    guint64
        file_bytes; // a file ends at about this size; what belongs to its end comes on top. 0: none
    gint64 file_ns; // a file ends where time reaches a multiple of this since 1970; 0: nowhere
    guint ring_files;         // kept, the one in the making included; 0: all
    guint64 ring_bytes;       // of all files kept together, likewise
    const char *const *notes; // each file begins with these (bb_trace_writer_note), NULL at the
                              // end; or NULL
} BbTraceFilesOptions;

typedef struct BbTraceFiles BbTraceFiles;

// Opens the file. Of a series each is opened when its first message comes, but a folder that cannot
// be written is refused at once. names and the path are lent.
BbTraceFiles *bb_trace_files_open(const BbTraceFilesOptions *options, const BbNames *names,
                                  GError **error);
void bb_trace_files_free(BbTraceFiles *files);
bool bb_trace_files_is_series(const BbTraceFiles *files);

// Writes a message, nearly in order of time. One that is earlier than its file begins does not go
// back to an older file; where many in a row are, the clock was set back, and a new file begins.
bool bb_trace_files_push(BbTraceFiles *files, const BbMessage *message, GError **error);
// Whether a file is open: of a series, not before the first message and between two files.
bool bb_trace_files_is_open(const BbTraceFiles *files);
// Writes a sentence on how the trace came about into that file, or begins one for it.
bool bb_trace_files_note(BbTraceFiles *files, const char *text, GError **error);
// Writes a note into this file, and into each that begins after it; of these at most
// BB_TRACE_NOTES are kept. Where no file is open and none begins any more, finish begins one.
bool bb_trace_files_keep_note(BbTraceFiles *files, const char *text, GError **error);
// Makes what was pushed visible to readers. A file whose time is over at now_ns for half a second,
// in which messages may still come, is completed; one that comes even later goes into the next.
// BB_TIME_NONE: the messages alone are the clock.
bool bb_trace_files_flush(BbTraceFiles *files, gint64 now_ns, GError **error);
// Totals of the run up to now, taken over (NULL: nothing new): a file that is completed has what
// is between those of the file before and the last ones.
void bb_trace_files_tell(BbTraceFiles *files, BbCounters *counters, BbNetwork *network);
// Completes the last file with what totals have come to. After it, only free and questions.
bool bb_trace_files_finish(BbTraceFiles *files, const BbCounters *counters,
                           const BbNetwork *network, GError **error);
// After a failure to write, in place of finish (bb_trace_writer_salvage). Files that were completed
// stay as they are.
bool bb_trace_files_salvage(BbTraceFiles *files, const BbCounters *counters, GError **error);

guint64 bb_trace_files_kept(const BbTraceFiles *files);    // messages that went into files
guint bb_trace_files_made(const BbTraceFiles *files);      // files, of a series
guint bb_trace_files_deleted(const BbTraceFiles *files);   // by the ring
guint bb_trace_files_early(const BbTraceFiles *files);     // of these, because the disk was full
guint bb_trace_files_undeleted(const BbTraceFiles *files); // that the ring could not delete

// The name of a file of a series. The result is yours.
char *bb_trace_files_name(const char *path, gint64 time_ns, guint number);
// Length of the text without what such a name adds; all of it where that is not there. text has no
// ending (.bbt).
gsize bb_trace_files_stem(const char *text);

// The first file, by name, that a series of that path would have and that is there already. The
// result is yours; NULL where there is none.
char *bb_trace_files_find(const char *path);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTraceFiles, bb_trace_files_free)
