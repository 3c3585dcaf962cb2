// SPDX-License-Identifier: Apache-2.0
// How the spans of one trace hang together: what is above whom, who is at the other end of whom,
// what caused what. By the rules of merge/span_trace.h.
#pragma once

#include "data/counters.h"
#include "merge/span.h"

#define BB_SPAN_NONE G_MAXUINT32       // none is known
#define BB_SPAN_ROOT (G_MAXUINT32 - 1) // there is none

typedef struct BbSpanLink {
    guint32 above;   // the span above, BB_SPAN_NONE or BB_SPAN_ROOT
    guint32 partner; // of a sender: the (first) one that got it; of that one: the sender
    guint32 far;     // of a sender: a span in the service that it reached, if none is partner
    guint32 cause;   // see bb_span_links_cause; inside only
    guint32 walk;    // inside only
    bool out;        // has the id and kind of another, which counts
    bool again;      // tells of the same message as another
} BbSpanLink;

typedef struct BbSpanLinks {
    BbSpan *spans;
    BbSpanLink *links; // of spans
    guint32 count;
    guint32 *order; // of spans that are not out, by id and side
    guint32 ordered;
    BbCounters *counters;
} BbSpanLinks;

// A call or free message; sender or receiver may be BB_SPAN_NONE.
typedef struct BbSpanEvent {
    guint32 sender, receiver;
} BbSpanEvent;

// spans and counters are lent, and outlive the links; kinds that were guessed are changed. count is
// below 2^31. Memory: 32 bytes a span.
BbSpanLinks *bb_span_links_new(BbSpan *spans, guint32 count, BbCounters *counters);
void bb_span_links_free(BbSpanLinks *links);

// Whether the span tells of a message that its service sent, or got.
bool bb_span_links_sends(const BbSpanLinks *links, guint32 index);
bool bb_span_links_receives(const BbSpanLinks *links, guint32 index);

// The message that a span tells of; one of the two must be true.
BbSpanEvent bb_span_links_event(const BbSpanLinks *links, guint32 index);

// Whether somebody told when it was, and somebody who it was.
bool bb_span_links_is_usable(const BbSpanLinks *links, BbSpanEvent event);

// The id of that message.
BbId bb_span_links_id(const BbSpanLinks *links, guint32 index);

// The nearest span above that tells of the message by which the service of this one was reached.
// BB_SPAN_ROOT where nothing is above, BB_SPAN_NONE where it is not among the spans.
guint32 bb_span_links_cause(BbSpanLinks *links, guint32 index);

// Whether both are known and differ.
bool bb_span_links_apart(const BbSpanLinks *links, guint32 a, guint32 b);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSpanLinks, bb_span_links_free)
