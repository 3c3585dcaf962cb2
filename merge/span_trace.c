// SPDX-License-Identifier: Apache-2.0
// In: the spans of one trace. Out: its messages.
#include "merge/span_trace.h"

#include "data/status.h"
#include "merge/span_links.h"
#include "merge/span_parts.h"

#define NONE BB_SPAN_NONE

typedef struct Trace {
    const BbImport *import;
    const BbSpan *spans;
    BbSpanLinks *links;
} Trace;

static void count(const Trace *trace, const char *name)
{
    bb_counters_add(trace->import->counters, name, 1);
}

// ---- who --------------------------------------------------------------------------------------

static guint32 unknown_name(const Trace *trace, const char *role, guint32 service)
{
    g_autofree char *name =
        g_strdup_printf("unknown-%s-of-%s", role, bb_names_text(trace->import->names, service));
    count(trace, "spans_peer_unknown");
    return bb_names_intern(trace->import->names, name);
}

static guint32 service_of(const Trace *trace, guint32 index)
{
    return index == NONE ? BB_NAME_NONE : trace->spans[index].service;
}

// The service of what is above, where a message came from there, although nothing else tells of it.
static guint32 service_above(const Trace *trace, guint32 index)
{
    guint32 up = trace->links->links[index].above;
    if (up == BB_SPAN_ROOT || up == NONE)
        return BB_NAME_NONE;
    return bb_span_links_sends(trace->links, up) || bb_span_links_apart(trace->links, up, index)
               ? trace->spans[up].service
               : BB_NAME_NONE;
}

static guint32 sender_name(const Trace *trace, BbSpanEvent event)
{
    guint32 name = service_of(trace, event.sender);
    if (name == BB_NAME_NONE && event.sender == NONE)
        name = service_above(trace, event.receiver);
    if (name != BB_NAME_NONE)
        return name;
    const BbSpan *receiver = &trace->spans[event.receiver];
    if (receiver->peer != BB_NAME_NONE)
        return receiver->peer;
    return unknown_name(trace, receiver->kind == BB_SPAN_SERVER ? "caller" : "producer",
                        receiver->service);
}

static guint32 receiver_name(const Trace *trace, BbSpanEvent event)
{
    guint32 name = service_of(trace, event.receiver);
    if (name == BB_NAME_NONE)
        name = service_of(trace, trace->links->links[event.sender].far);
    if (name != BB_NAME_NONE)
        return name;
    const BbSpan *sender = &trace->spans[event.sender];
    if (sender->peer != BB_NAME_NONE)
        return sender->peer;
    return unknown_name(trace, sender->kind == BB_SPAN_CLIENT ? "callee" : "consumer",
                        sender->service);
}

// ---- when, and how it ended -------------------------------------------------------------------

// Both times where both are known; else the one, and at which end.
static void set_times(BbMessage *message, gint64 sent_ns, gint64 received_ns)
{
    bool sent = sent_ns != BB_TIME_NONE;
    message->time_ns = sent ? sent_ns : received_ns;
    message->recv_ns = sent ? received_ns : BB_TIME_NONE;
    message->at_receiver = !sent;
}

static gint64 start_of(const Trace *trace, guint32 index)
{
    return index == NONE ? BB_TIME_NONE : trace->spans[index].start_ns;
}

static gint64 end_of(const Trace *trace, guint32 index)
{
    return index == NONE ? BB_TIME_NONE : trace->spans[index].end_ns;
}

// What the server says, unless only the client knows that it failed.
static guint32 status_of(const Trace *trace, BbSpanEvent event, guint32 proto)
{
    const BbNames *names = trace->import->names;
    const char *text = bb_names_text(names, proto);
    guint32 near = event.receiver == NONE ? BB_NAME_NONE : trace->spans[event.receiver].status;
    guint32 far = event.sender == NONE ? BB_NAME_NONE : trace->spans[event.sender].status;
    if (bb_status_is_error(text, bb_names_text(names, far)) &&
        !bb_status_is_error(text, bb_names_text(names, near)))
        return far;
    return near ? near : far;
}

// The server's name of what was asked says more than the client's.
static void set_labels(const Trace *trace, BbSpanEvent event, BbMessage *message)
{
    const BbSpan blank = bb_span_empty();
    const BbSpan *near = event.receiver != NONE ? &trace->spans[event.receiver] : &blank;
    const BbSpan *far = event.sender != NONE ? &trace->spans[event.sender] : &blank;
    message->op = near->op ? near->op : far->op;
    message->proto = near->proto ? near->proto : far->proto;
}

// ---- out --------------------------------------------------------------------------------------

static void set_truth(const Trace *trace, guint32 cause, BbMessage *message)
{
    if (cause == BB_SPAN_ROOT)
        message->parent = (BbId){.form = BB_ID_DASH};
    else if (cause != NONE)
        message->parent = bb_span_links_id(trace->links, cause);
    else
        count(trace, "spans_parent_unknown");
}

static bool give(const Trace *trace, const BbMessage *message, GError **error)
{
    return trace->import->sink(message, trace->import->user, error);
}

static bool give_return(const Trace *trace, BbSpanEvent event, const BbMessage *call,
                        GError **error)
{
    BbMessage message = *call;
    gint64 sent_ns = end_of(trace, event.receiver), received_ns = end_of(trace, event.sender);
    if (sent_ns == BB_TIME_NONE && received_ns == BB_TIME_NONE) {
        count(trace, "spans_without_end");
        return true;
    }
    message.kind = BB_RETURN;
    message.sender = call->receiver;
    message.receiver = call->sender;
    message.status = status_of(trace, event, call->proto);
    set_times(&message, sent_ns, received_ns);
    return give(trace, &message, error);
}

// The message that the span at index tells of.
static bool give_event(const Trace *trace, guint32 index, GError **error)
{
    BbSpanEvent event = bb_span_links_event(trace->links, index);
    guint32 teller = event.sender != NONE ? event.sender : event.receiver;
    BbSpanKind kind = trace->spans[teller].kind;
    BbMessage message = bb_message_empty();
    if (!bb_span_links_is_usable(trace->links, event)) {
        count(trace, "spans_unusable");
        return true;
    }
    message.id = bb_span_links_id(trace->links, index);
    message.path = trace->spans[index].trace;
    set_truth(trace, bb_span_links_cause(trace->links, teller), &message);
    message.sender = sender_name(trace, event);
    message.receiver = receiver_name(trace, event);
    set_times(&message, start_of(trace, event.sender), start_of(trace, event.receiver));
    set_labels(trace, event, &message);
    if (kind == BB_SPAN_CLIENT || kind == BB_SPAN_SERVER) {
        message.kind = BB_CALL;
        return give(trace, &message, error) && give_return(trace, event, &message, error);
    }
    message.status = status_of(trace, event, message.proto);
    return give(trace, &message, error);
}

static bool give_span(const Trace *trace, guint32 index, GError **error)
{
    const BbSpanLink *link = &trace->links->links[index];
    BbSpanKind kind = trace->spans[index].kind;
    if (bb_span_links_sends(trace->links, index) ||
        (bb_span_links_receives(trace->links, index) && link->partner == NONE))
        return give_event(trace, index, error);
    if (!link->out && (kind == BB_SPAN_UNSET || kind == BB_SPAN_INTERNAL))
        count(trace, "spans_internal");
    return true;
}

bool bb_span_trace_give(const BbImport *import, BbSpan *spans, guint32 span_count, GError **error)
{
    span_count = bb_span_parts_join(spans, span_count, import->counters);
    g_autoptr(BbSpanLinks) links = bb_span_links_new(spans, span_count, import->counters);
    const Trace trace = {import, spans, links};
    for (guint32 i = 0; i < span_count; i++)
        if (!give_span(&trace, i, error))
            return false;
    return true;
}
