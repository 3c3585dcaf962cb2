// SPDX-License-Identifier: Apache-2.0
// The message trace on disk, in its two forms: `.bbt` (bbt(5)) and the text twin
// (bbtrace-text(5)). Readers tell the form by content; they also take the ring of a flight recorder
// (data/recorder.h).
#pragma once

#include "data/counters.h"
#include "data/message.h"
#include "data/network.h"
#include "data/output.h"

typedef enum { BB_TRACE_BBT, BB_TRACE_TEXT, BB_TRACE_RING } BbTraceForm;

#define BB_TRACE_ERROR bb_trace_error_quark()
GQuark bb_trace_error_quark(void);
typedef enum {
    BB_TRACE_ERROR_FORM,    // no trace at all, or of a version we do not know
    BB_TRACE_ERROR_LINE,    // a malformed line of a text trace
    BB_TRACE_ERROR_MESSAGE, // a message that no trace can hold was to be written
} BbTraceError;

// Notes in a trace, and bytes of one.
#define BB_TRACE_NOTES 64u
#define BB_TRACE_NOTE_SIZE 4096u

typedef struct BbTraceReader BbTraceReader;

// Opens a trace; "-" is standard input; .gz, .xz and .zst are unpacked on the way. Names are
// interned in names, which is lent and must outlive the reader.
BbTraceReader *bb_trace_reader_open(const char *path, BbNames *names, GError **error);
void bb_trace_reader_free(BbTraceReader *reader);

// Count malformed lines of a text trace (bb_trace_reader_bad_lines) instead of failing on them.
void bb_trace_reader_skip_bad_lines(BbTraceReader *reader, bool skip);

// Reads the next message, in the order of the file. Returns false at the end (error not set) or on
// failure (error set). A .bbt that is cut or damaged is no failure: whole blocks are delivered.
bool bb_trace_reader_next(BbTraceReader *reader, BbMessage *message, GError **error);

// What is known once next() has returned false (the form, and whether there is not one byte: at
// once).
BbTraceForm bb_trace_reader_form(const BbTraceReader *reader);
bool bb_trace_reader_is_empty(const BbTraceReader *reader);
guint64 bb_trace_reader_messages(const BbTraceReader *reader); // delivered so far
guint64 bb_trace_reader_bad_lines(const BbTraceReader *reader);
// A sentence on what is missing (cut, damaged block skipped), NULL if the file is whole. Lent.
const char *bb_trace_reader_damage(const BbTraceReader *reader);
// Loss and drop counters that travelled in the file, and what damage to it cost. Lent.
#define BB_TRACE_LOST "messages_damaged" // counter: messages known to be lost where it is damaged
const BbCounters *bb_trace_reader_counters(const BbTraceReader *reader);
// What TCP told of the network between the nodes. Lent.
const BbNetwork *bb_trace_reader_network(const BbTraceReader *reader);
// Sentences on how the trace came about, in the order of the file: what fired a snapshot, and the
// like. At most BB_TRACE_NOTES are kept. Lent.
guint bb_trace_reader_notes(const BbTraceReader *reader);
const char *bb_trace_reader_note(const BbTraceReader *reader, guint index);

typedef struct BbTraceWriter BbTraceWriter;

// Writes to path ("-" is standard output), names from names (lent, must outlive the writer).
// A file that is there stays until the new one is finished, and then is replaced. Nobody writes
// BB_TRACE_RING here: see data/recorder.h.
BbTraceWriter *bb_trace_writer_open(const char *path, BbTraceForm form, const BbNames *names,
                                    GError **error);

// When the disk is waited for (fsync(2)). What is flushed survives the end of the process in any
// case, but a loss of power only where the disk has it.
typedef enum {
    BB_TRACE_SYNC_NEVER, // when the kernel sees fit
    BB_TRACE_SYNC_FILE,  // when a file is complete
    BB_TRACE_SYNC_FLUSH, // at each flush, too
} BbTraceSync;

typedef struct BbTraceWriterOptions {
    BbTraceForm form;
    BbTraceSync sync;
    BbOutputOptions output;
} BbTraceWriterOptions;

BbTraceWriter *bb_trace_writer_open_with(const char *path, const BbTraceWriterOptions *options,
                                         const BbNames *names, GError **error);

// Writes a message. Messages are expected in order of time_ns (see data/order.h).
bool bb_trace_writer_push(BbTraceWriter *writer, const BbMessage *message, GError **error);
// Makes all that was pushed visible to readers of the file (ends a block, flushes a line).
bool bb_trace_writer_flush(BbTraceWriter *writer, GError **error);
// Ends a block: bb_trace_writer_size is exact then. Nothing need go out.
bool bb_trace_writer_pack(BbTraceWriter *writer, GError **error);
// Writes what TCP told of the network between the nodes: once, before finish.
bool bb_trace_writer_network(BbTraceWriter *writer, const BbNetwork *network, GError **error);
// Writes a sentence on how the trace came about; what is too long is cut.
bool bb_trace_writer_note(BbTraceWriter *writer, const char *text, GError **error);
// Likewise all of them; of char *.
bool bb_trace_writer_notes(BbTraceWriter *writer, const GPtrArray *notes, GError **error);
// Writes what remains, the counters (may be NULL) and the end mark, and closes. After it, only
// free.
bool bb_trace_writer_finish(BbTraceWriter *writer, const BbCounters *counters, GError **error);
// After a failure to write, in place of finish: the file is cut back to what of it is whole, and
// ended in order with the counters (may be NULL), if that finds room; the network is left out.
// What is no regular file stays as it is. Returns false, with an error, where the file has no end.
// After it, only free and questions.
bool bb_trace_writer_salvage(BbTraceWriter *writer, const BbCounters *counters, GError **error);
// Without finish the file lacks its end mark and counts as cut; of bb_trace_writer_open there is
// none.
void bb_trace_writer_free(BbTraceWriter *writer);

// Bytes that the file would have if it were flushed now, without its end: mostly a little less.
guint64 bb_trace_writer_size(const BbTraceWriter *writer);
guint64 bb_trace_writer_messages(const BbTraceWriter *writer); // pushed
// Of these, those that the file holds, as far as is known.
guint64 bb_trace_writer_kept(const BbTraceWriter *writer);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTraceReader, bb_trace_reader_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTraceWriter, bb_trace_writer_free)
