// SPDX-License-Identifier: Apache-2.0
// What the commands share that make something of traces: traces in, their messages in order of time
// out, and what the traces tell besides: counters, facts on the network, notes.
#pragma once

#include "cli/command.h"
#include "data/order.h"

// Messages out of order by less than so many are put in order.
#define BB_TRACES_WINDOW 1048576u

typedef struct BbTraces {
    BbNames *names;
    BbCounters *counters; // of all traces
    BbNetwork *network;   // likewise
    GPtrArray *notes;     // of char *, likewise
    bool skip_bad_lines;
    bool failed;      // some trace could not be read, or not to its end; that was said
    guint64 messages; // read so far

    // May be set before the traces are read. Told each message before it is put in order, as it may
    // change its time.
    void (*change)(BbMessage *message, gpointer user);
    gpointer user; // of change

    // Of bb_traces_write.
    const char *out;  // NULL for standard output; lent
    const char *note; // of the command, that the trace begins with; lent; or NULL
    bool writes;
    BbTraceWriter *writer;
} BbTraces;

// From now on a signal ends the reading, as a failure (bb_stop_install).
void bb_traces_init(BbTraces *traces, bool skip_bad_lines);
void bb_traces_clear(BbTraces *traces);

// A trace is to be written: to out as .bbt (lent), or where that is NULL to standard output as
// text. It is opened with the first message that can be read: where there is none for failures,
// what is there stays.
void bb_traces_write_to(BbTraces *traces, const char *out);

// Reads paths (ends with NULL) and hands all messages to sink. A trace that fails is said, and the
// others are read nevertheless. Fails when the sink does.
bool bb_traces_read(BbTraces *traces, char **paths, BbMessageSink sink, gpointer user,
                    GError **error);

// A BbMessageSink, of BbTraces: writes to the trace.
bool bb_traces_write(const BbMessage *message, gpointer traces, GError **error);
// Ends the trace, with what the traces told besides messages.
bool bb_traces_finish(BbTraces *traces, GError **error);

// Refuses to begin: no path, or one that is also written (out and other; NULL for none). Returns an
// exit status, or -1 to go on.
int bb_traces_check(const char *program, char **paths, const char *out, const char *other);
// Likewise where more than one path.
int bb_traces_check_one(const char *program, char **paths, const char *out);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BbTraces, bb_traces_clear)
