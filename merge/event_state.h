// SPDX-License-Identifier: Apache-2.0
// What event_log.c gathers of an event, and event_causes.c works on. Inside merge/event_*.c only.
#pragma once

#include "data/counters.h"
#include "data/message.h"

typedef enum { BB_EVENT_UNSET, BB_EVENT_MESSAGE, BB_EVENT_CALL, BB_EVENT_RETURN } BbEventKind;

typedef struct BbLogEvent BbLogEvent;
struct BbLogEvent {
    BbId id, source;          // source is absent where it is not told
    gint64 time_ns;           // BB_TIME_NONE if not told
    guint32 process, thread;  // names
    guint32 peer, op, status; // names; BB_NAME_NONE if not told
    guint32 tag, value;       // the key of an event without source; tag is BB_NAME_NONE for none
    guint32 walk;             // inside event_causes.c
    BbEventKind kind;
    bool acts;
    bool source_unknown; // it is told, but no event of the log is it
    bool resolved;       // cause is final
    bool cause_known;
    bool rooted;       // root is final
    bool answered;     // of a call: a return of it was given
    BbLogEvent *cause; // tells of the message that led to this event; NULL where there was none
    BbLogEvent *root;  // tells of the first message of the path; NULL if not known
    BbLogEvent *other; // of an act: the sig that it got; of a sig: the first act that got it
    BbLogEvent *above; // of a sig: the event that caused it; NULL for none
};

// What the message is that event sent or got; as either end tells it.
BbEventKind bb_event_kind(const BbLogEvent *event);

// Whether the event and its other end are of one process, or nothing is told of another.
bool bb_event_is_inside(const BbLogEvent *event);

// What caused the message that teller, a sig or an act that nobody sent, tells of. *known is false
// where it is not in the log; else NULL means that nothing did.
BbLogEvent *bb_event_cause(const BbLogEvent *teller, bool *known);

// Finds who caused what, of all events (of BbLogEvent *, in order of the log).
void bb_event_causes_link(GPtrArray *events, BbCounters *counters);
