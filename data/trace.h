// SPDX-License-Identifier: Apache-2.0
// The message trace on disk, in its two forms: `.bbt` (bbt(5)) and the text twin
// (bbtrace-text(5)). Readers tell the form by content.
#pragma once

#include "data/counters.h"
#include "data/message.h"
#include "data/network.h"

typedef enum { BB_TRACE_BBT, BB_TRACE_TEXT } BbTraceForm;

#define BB_TRACE_ERROR bb_trace_error_quark()
GQuark bb_trace_error_quark(void);
typedef enum {
    BB_TRACE_ERROR_FORM,    // no trace at all, or of a version we do not know
    BB_TRACE_ERROR_LINE,    // a malformed line of a text trace
    BB_TRACE_ERROR_MESSAGE, // a message that no trace can hold was to be written
} BbTraceError;

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

// What is known once next() has returned false (the form: at once).
BbTraceForm bb_trace_reader_form(const BbTraceReader *reader);
guint64 bb_trace_reader_messages(const BbTraceReader *reader); // delivered so far
guint64 bb_trace_reader_bad_lines(const BbTraceReader *reader);
// A sentence on what is missing (cut, damaged block skipped), NULL if the file is whole. Lent.
const char *bb_trace_reader_damage(const BbTraceReader *reader);
// Loss and drop counters that travelled in the file. Lent.
const BbCounters *bb_trace_reader_counters(const BbTraceReader *reader);
// What TCP told of the network between the nodes. Lent.
const BbNetwork *bb_trace_reader_network(const BbTraceReader *reader);

typedef struct BbTraceWriter BbTraceWriter;

// Writes to path ("-" is standard output), names from names (lent, must outlive the writer).
// An existing file is replaced.
BbTraceWriter *bb_trace_writer_open(const char *path, BbTraceForm form, const BbNames *names,
                                    GError **error);
// Writes a message. Messages are expected in order of time_ns (see data/order.h).
bool bb_trace_writer_push(BbTraceWriter *writer, const BbMessage *message, GError **error);
// Makes all that was pushed visible to readers of the file (ends a block, flushes a line).
bool bb_trace_writer_flush(BbTraceWriter *writer, GError **error);
// Writes what TCP told of the network between the nodes: once, before finish.
bool bb_trace_writer_network(BbTraceWriter *writer, const BbNetwork *network, GError **error);
// Writes what remains, the counters (may be NULL) and the end mark, and closes. After it, only
// free.
bool bb_trace_writer_finish(BbTraceWriter *writer, const BbCounters *counters, GError **error);
// Without finish the file lacks its end mark and counts as cut.
void bb_trace_writer_free(BbTraceWriter *writer);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTraceReader, bb_trace_reader_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTraceWriter, bb_trace_writer_free)
