// SPDX-License-Identifier: Apache-2.0
// A span of a distributed trace: what one service tells of one thing it did. What the formats have
// in common.
#pragma once

#include "data/message.h"

typedef enum {
    BB_SPAN_UNSET, // nothing is said: within a service, or of an old library
    BB_SPAN_INTERNAL,
    BB_SPAN_CLIENT,   // made a call
    BB_SPAN_SERVER,   // answered one
    BB_SPAN_PRODUCER, // sent a message
    BB_SPAN_CONSUMER, // got one
} BbSpanKind;

typedef struct BbSpan {
    BbId trace, id;
    BbId parent;             // absent for the first of a trace
    gint64 start_ns, end_ns; // of the service's clock; BB_TIME_NONE if not known
    guint32 service;         // names; BB_NAME_NONE if not known
    guint32 peer;            // the other side, as the tags have it
    guint32 op, status, proto;
    BbSpanKind kind;
} BbSpan;

// A span with every field absent.
BbSpan bb_span_empty(void);

// The kind of this name: CLIENT, client, SPAN_KIND_CLIENT. BB_SPAN_UNSET for another, and for NULL.
BbSpanKind bb_span_kind_parse(const char *text);

// Whether spans of this kind send the call or message; whether they get it.
static inline bool bb_span_kind_sends(BbSpanKind kind)
{
    return kind == BB_SPAN_CLIENT || kind == BB_SPAN_PRODUCER;
}

static inline bool bb_span_kind_receives(BbSpanKind kind)
{
    return kind == BB_SPAN_SERVER || kind == BB_SPAN_CONSUMER;
}

#define BB_SPAN_ID_LENGTH 8 // bytes
#define BB_SPAN_TRACE_LENGTH 16
#define BB_SPAN_ID_TEXT_MAX 64 // of an id that is no number

// The id that text means, so that one number is one id: hexadecimal of any case, with or without
// zeros in front, gives 16 digits, or 32 where it needs more; what is no such number is taken as it
// is. Absent for NULL, "", "-", zero, and what is longer than BB_SPAN_ID_TEXT_MAX.
BbId bb_span_id_parse(BbNames *names, const char *text);

// The same where text may also be base64 of length bytes, as JSON of protocol buffers has it.
BbId bb_span_id_parse_bytes(BbNames *names, const char *text, gsize length);

// Nanoseconds of value units (of unit_ns each); BB_TIME_NONE unless positive and up to the year
// 2261.
gint64 bb_span_time(gint64 value, gint64 unit_ns);

// The name of this text, cut where it is longer than BB_SPAN_NAME_MAX bytes; BB_NAME_NONE for NULL.
#define BB_SPAN_NAME_MAX 255
guint32 bb_span_name(BbNames *names, const char *text);
