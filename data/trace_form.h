// SPDX-License-Identifier: Apache-2.0
// What a form of the trace on disk does for data/trace.c. Inside data/ only.
#pragma once

#include "data/input.h"
#include "data/trace.h"

#include <stdio.h>

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
    guint64 messages, bad_lines;
    bool skip_bad_lines;
    bool ended;      // next() has returned false
    GString *damage; // empty while nothing is missing
};

typedef struct BbTraceWriterForm {
    BbTraceForm form;
    BbTraceWriter *(*open)(void);
    bool (*begin)(BbTraceWriter *writer, GError **error);
    bool (*push)(BbTraceWriter *writer, const BbMessage *message, GError **error);
    bool (*flush)(BbTraceWriter *writer, GError **error); // up to out's buffer
    bool (*network)(BbTraceWriter *writer, const BbNetwork *network, GError **error);
    bool (*end)(BbTraceWriter *writer, const BbCounters *counters, GError **error);
    void (*free)(BbTraceWriter *writer); // what the form itself holds, and writer
} BbTraceWriterForm;

struct BbTraceWriter {
    const BbTraceWriterForm *form;
    char *path; // for messages
    FILE *out;
    const BbNames *names;
    guint64 messages;
};

extern const BbTraceReaderForm bb_trace_bbt_reader, bb_trace_text_reader;
extern const BbTraceWriterForm bb_trace_bbt_writer, bb_trace_text_writer;

// First line of a text trace, and the first bytes of a .bbt.
#define BB_TRACE_TEXT_HEAD "# bbtrace text 1"
#define BB_TRACE_BBT_MAGIC \
    "\x89"                 \
    "BBT\r\n\x1a\n"
#define BB_TRACE_BBT_MAGIC_SIZE 8

// Adds a part to the sentence on what is missing.
void bb_trace_reader_add_damage(BbTraceReader *reader, const char *format, ...) G_GNUC_PRINTF(2, 3);

// Writes bytes to out; sets the error when that fails.
bool bb_trace_writer_put(BbTraceWriter *writer, gconstpointer bytes, gsize size, GError **error);
