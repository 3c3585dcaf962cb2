// SPDX-License-Identifier: Apache-2.0
// What export, filter and anonymize share: traces in, their messages in order of time out.
#pragma once

#include "cli/command.h"
#include "data/order.h"

typedef struct BbTraces {
    BbNames *names;       // lent, as the counters
    BbCounters *counters; // gets those of the traces
    BbNetwork *network;   // likewise
    bool skip_bad_lines;
    bool failed;      // out: some trace could not be read, or not to its end; that was said
    guint64 messages; // out
} BbTraces;

// Reads paths (ends with NULL) and hands all messages to sink. A trace that fails is said, and the
// others are read nevertheless. Fails when the sink does.
bool bb_traces_read(BbTraces *traces, char **paths, BbMessageSink sink, gpointer user,
                    GError **error);

// Refuses to begin: no path, or one that is also written (out and other; NULL for none). Returns an
// exit status, or -1 to go on.
int bb_traces_check(const char *program, char **paths, const char *out, const char *other);
