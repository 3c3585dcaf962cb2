// SPDX-License-Identifier: Apache-2.0
// What a form of the trace on disk does for data/trace.c. Inside data/ only.
#pragma once

#include "data/input.h"
#include "data/output.h"
#include "data/trace.h"

typedef struct BbTraceReaderForm {
    BbTraceForm form;
    // A reader over input, which it does not take. NULL with an error if the head is refused.
    BbTraceReader *(*open)(BbInput *input, GError **error);
    // As bb_trace_reader_next. At the end it has put into damage what is missing.
    bool (*next)(BbTraceReader *reader, BbMessage *message, GError **error);
    void (*free)(BbTraceReader *reader); // what the form itself holds, and reader
} BbTraceReaderForm;

// The head of every form's reader. All but state of the form belongs to data/trace.c.
struct BbTraceReader {
    const BbTraceReaderForm *form;
    BbInput *input;
    BbNames *names;
    BbCounters *counters;
    BbNetwork *network;
    GPtrArray *notes; // of char *
    guint64 messages, bad_lines;
    bool skip_bad_lines;
    bool empty;
    bool ended;      // next() has returned false
    GString *damage; // empty while nothing is missing
};

typedef struct BbTraceWriterForm {
    BbTraceForm form;
    BbTraceWriter *(*open)(void);
    bool (*begin)(BbTraceWriter *writer, GError **error);
    bool (*push)(BbTraceWriter *writer, const BbMessage *message, GError **error);
    bool (*flush)(BbTraceWriter *writer, GError **error); // makes a whole part of what waits
    gsize (*waiting)(const BbTraceWriter *writer);        // bytes that this takes, about
    bool (*network)(BbTraceWriter *writer, const BbNetwork *network, GError **error);
    bool (*note)(BbTraceWriter *writer, const char *text, GError **error);
    bool (*end)(BbTraceWriter *writer, const BbCounters *counters, GError **error); // after flush
    void (*forget)(BbTraceWriter *writer, guint64 messages); // all but the first so many; then end
    void (*free)(BbTraceWriter *writer); // what the form itself holds, and writer
} BbTraceWriterForm;

struct BbTraceWriter {
    const BbTraceWriterForm *form;
    BbOutput *out;
    const BbNames *names;
    BbTraceSync sync;
    guint64 messages; // pushed
    guint64 whole;    // of them, in whole parts
    guint64 kept;     // of them, in the file
    bool ended;       // the end was put; it is in the file where all is flushed
};

extern const BbTraceReaderForm bb_trace_bbt_reader, bb_trace_text_reader, bb_trace_ring_reader;
extern const BbTraceWriterForm bb_trace_bbt_writer, bb_trace_text_writer;

// First line of a text trace, and the first bytes of a .bbt.
#define BB_TRACE_TEXT_HEAD "# bbtrace text 1"
#define BB_TRACE_BBT_MAGIC \
    "\x89"                 \
    "BBT\r\n\x1a\n"
#define BB_TRACE_BBT_MAGIC_SIZE 8
// And those of a flight recorder's ring.
#define BB_TRACE_RING_MAGIC \
    "\x89"                  \
    "BBR\r\n\x1a\n"
#define BB_TRACE_RING_MAGIC_SIZE 8

// Adds a part to the sentence on what is missing.
void bb_trace_reader_add_damage(BbTraceReader *reader, const char *format, ...) G_GNUC_PRINTF(2, 3);

// Takes a note, unless there are too many.
void bb_trace_reader_add_note(BbTraceReader *reader, const char *text);

// Puts bytes into the part that is being put together.
void bb_trace_writer_put(BbTraceWriter *writer, gconstpointer bytes, gsize size);
// The part is whole; with it, messages of the file are. Fails where it cannot be written.
bool bb_trace_writer_part(BbTraceWriter *writer, guint64 messages, GError **error);
