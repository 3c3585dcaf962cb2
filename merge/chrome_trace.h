// SPDX-License-Identifier: Apache-2.0
// What is kept of a file of Chrome trace events: slices, steps of flows, processes.
#pragma once

#include "merge/chrome_flows.h"
#include "merge/importer.h"

#include <json-glib/json-glib.h>

// Slices, steps and processes that are kept, some 100 bytes each; events with others are counted
// (chrome_left_out).
#define BB_CHROME_EVENTS_MAX (1u << 22)
// Of what tells processes, threads and flows apart, no more bytes are kept than so many.
#define BB_CHROME_KEY_MAX 255u

typedef struct BbChromeProcess {
    char *pid;
    guint32 name; // BB_NAME_NONE if it is not told
    guint32 node; // what it is called in the end
} BbChromeProcess;

typedef struct BbChromeTrace {
    const BbImport *import; // lent
    BbChromeSlices *slices;
    GArray *steps;       // of BbChromeStep
    GArray *processes;   // of BbChromeProcess
    GHashTable *indices; // text of a process, thread or flow -> its index
    guint32 threads, keys, kept;
    guint64 first; // for the user: the id of the first message, less one
} BbChromeTrace;

void bb_chrome_trace_init(BbChromeTrace *trace, const BbImport *import);
void bb_chrome_trace_clear(BbChromeTrace *trace);

// Takes an event; trace is a BbChromeTrace. What is of no use is counted. Returns false where it is
// no event at all.
bool bb_chrome_trace_take(gpointer trace, JsonObject *event, GError **error);

// Gives each process its node: its name; of several with one name, each has its number behind it.
void bb_chrome_trace_name(const BbChromeTrace *trace);
// index is that of a step or a crossing. Lent.
BbChromeProcess *bb_chrome_trace_process(const BbChromeTrace *trace, guint32 index);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BbChromeTrace, bb_chrome_trace_clear)
