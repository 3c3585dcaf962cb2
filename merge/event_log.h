// SPDX-License-Identifier: Apache-2.0
// An event log as messages. Lines with one id are one event of one thread, in the order of the log.
//
//   sig  the thread sends something, act: something reached it. An act belongs to the sig that its
//        source names; else to the sig with the same tag and value, the first to the first. What
//        goes from one process to another is a message.
//   A sig is caused by the act that its source names, else by the last act of its thread before it.
//   An act of a return resumes what made the call; one within a process, what sent the sig.
//
// Tags that are no such key: time (also with a unit: time_s, time_ms, time_us, time_ns), peer,
// call, return, message, name and status; see the man page.
#pragma once

#include "merge/event_line.h"
#include "merge/importer.h"

// Events that are kept, some 200 bytes each.
#define BB_EVENTS_MAX (1u << 22)

#define BB_EVENT_COUNTS                                                                      \
    {"events", "events"},                                                                    \
        {"events_joined", "pairs of events that tell of one message from both ends"},        \
        {"events_inside", "events that no other process sent or got: no message"},           \
        {"events_no_time", "events of messages that tell no time: left out"},                \
        {"events_no_peer", "messages sent whose receiver is not told: left out"},            \
        {"events_again", "second receivers and second answers of a call: left out"},         \
        {"events_return_alone", "events of returns whose call is not in the log: left out"}, \
        {"events_source_unknown", "events whose source is not in the log"},                  \
        {"events_parent_unknown", "messages whose cause is not in the log"},                 \
        {"events_circular", "messages that cause themselves: their cause is not told"},      \
        {"events_names_cut", "names of more than 255 bytes: cut"},                           \
    {                                                                                        \
        "events_left_out", "lines of events beyond the 4194304 that are kept"                \
    }

typedef struct BbEventLog BbEventLog;

// import is lent, and outlives the log. most: of events that are kept.
BbEventLog *bb_event_log_new(const BbImport *import, guint32 most);
void bb_event_log_free(BbEventLog *log);

// Takes a line. Returns NULL, or the static reason why it is none for an event.
const char *bb_event_log_add(BbEventLog *log, const BbEventLine *line);

// Gives the messages of all events. Fails when the sink does. After it, only free.
bool bb_event_log_finish(BbEventLog *log, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbEventLog, bb_event_log_free)
