// SPDX-License-Identifier: Apache-2.0
// In: lines of event logs. Out: events and, in the end, their messages.
#include "merge/event_log.h"

#include "data/keys.h"
#include "data/stamp.h"
#include "merge/event_state.h"
#include "merge/span.h"

#include <string.h>

struct BbEventLog {
    const BbImport *import;
    GPtrArray *events; // of BbLogEvent, owned, in order of their first lines
    GHashTable *by_id; // BbId of an event -> it
    guint32 most;
};

BbEventLog *bb_event_log_new(const BbImport *import, guint32 most)
{
    BbEventLog *log = g_new0(BbEventLog, 1);
    log->import = import;
    log->most = most;
    log->events = g_ptr_array_new_with_free_func(g_free);
    log->by_id = g_hash_table_new(bb_id_key_hash, bb_id_key_equal);
    return log;
}

void bb_event_log_free(BbEventLog *log)
{
    if (!log)
        return;
    g_hash_table_unref(log->by_id);
    g_ptr_array_unref(log->events);
    g_free(log);
}

static void count(const BbEventLog *log, const char *name)
{
    bb_counters_add(log->import->counters, name, 1);
}

// ---- lines ------------------------------------------------------------------------------------

static guint32 name_of(const BbEventLog *log, const char *text)
{
    if (text && strlen(text) > BB_SPAN_NAME_MAX)
        count(log, "events_names_cut");
    return bb_span_name(log->import->names, text);
}

static const char *take_time(BbLogEvent *event, const char *tag, const char *value)
{
    BbStampUnit unit = BB_STAMP_ANY;
    if (tag[strlen("time")] == '_' && !bb_stamp_unit_find(tag + strlen("time_"), &unit))
        return "a tag time has another unit than s, ms, us, ns";
    return bb_stamp_parse(value ? value : "", unit, &event->time_ns);
}

static const char *take_kind(const BbEventLog *log, BbLogEvent *event, BbEventKind kind,
                             const char *value, guint32 *name)
{
    if (event->kind != BB_EVENT_UNSET && event->kind != kind)
        return "an event is of two kinds (call, return, message)";
    event->kind = kind;
    if (value)
        *name = name_of(log, value);
    return NULL;
}

static const char *take_tag(const BbEventLog *log, BbLogEvent *event, const char *tag,
                            const char *value)
{
    if (!tag)
        return NULL;
    if (strcmp(tag, "time") == 0 || g_str_has_prefix(tag, "time_"))
        return take_time(event, tag, value);
    if (strcmp(tag, "call") == 0)
        return take_kind(log, event, BB_EVENT_CALL, value, &event->op);
    if (strcmp(tag, "return") == 0)
        return take_kind(log, event, BB_EVENT_RETURN, value, &event->status);
    if (strcmp(tag, "message") == 0)
        return take_kind(log, event, BB_EVENT_MESSAGE, value, &event->op);
    if (strcmp(tag, "peer") == 0)
        event->peer = name_of(log, value);
    else if (strcmp(tag, "name") == 0)
        event->op = name_of(log, value);
    else if (strcmp(tag, "status") == 0)
        event->status = name_of(log, value);
    else {
        event->tag = name_of(log, tag);
        event->value = name_of(log, value);
    }
    return NULL;
}

// The event of that id, made when new; NULL where there are too many.
static BbLogEvent *event_of(BbEventLog *log, const BbEventLine *line)
{
    BbId id = bb_id_parse(log->import->names, line->id);
    BbLogEvent *event = g_hash_table_lookup(log->by_id, &id);
    if (event || log->events->len == log->most)
        return event;
    event = g_new0(BbLogEvent, 1);
    event->id = id;
    event->time_ns = BB_TIME_NONE;
    event->process = name_of(log, line->process);
    event->thread = name_of(log, line->thread);
    event->acts = line->acts;
    g_ptr_array_add(log->events, event);
    g_hash_table_insert(log->by_id, &event->id, event);
    count(log, "events");
    return event;
}

const char *bb_event_log_add(BbEventLog *log, const BbEventLine *line)
{
    if (strlen(line->id) > BB_SPAN_ID_TEXT_MAX ||
        (line->source && strlen(line->source) > BB_SPAN_ID_TEXT_MAX))
        return "an id is longer than 64 bytes";
    BbLogEvent *event = event_of(log, line);
    if (!event) {
        count(log, "events_left_out");
        return NULL;
    }
    if (event->acts != line->acts)
        return "an event is both act and sig";
    if (event->process != name_of(log, line->process) ||
        event->thread != name_of(log, line->thread))
        return "an event is of two processes or threads";
    if (line->source)
        event->source = bb_id_parse(log->import->names, line->source);
    return take_tag(log, event, line->tag, line->value);
}

// ---- messages ---------------------------------------------------------------------------------

static void set_times(BbMessage *message, gint64 sent_ns, gint64 received_ns)
{
    bool sent = sent_ns != BB_TIME_NONE;
    message->time_ns = sent ? sent_ns : received_ns;
    message->recv_ns = sent ? received_ns : BB_TIME_NONE;
    message->at_receiver = !sent;
}

// A return is of the path of its call.
static void set_truth(const BbEventLog *log, const BbLogEvent *teller, BbMessage *message)
{
    bool known = false;
    const BbLogEvent *cause = bb_event_cause(teller, &known);
    message->parent = cause ? cause->id : (BbId){.form = known ? BB_ID_DASH : BB_ID_ABSENT};
    if (teller->root)
        message->path = teller->root->id;
    if (!known)
        count(log, "events_parent_unknown");
}

// The event that told of the call which teller answers; NULL if it is not in the log.
static BbLogEvent *call_of(const BbLogEvent *teller)
{
    bool known = false;
    BbLogEvent *call = bb_event_cause(teller, &known);
    return call && bb_event_kind(call) == BB_EVENT_CALL ? call : NULL;
}

static bool has_time(const BbLogEvent *teller)
{
    return teller->time_ns != BB_TIME_NONE ||
           (teller->other && teller->other->time_ns != BB_TIME_NONE);
}

// Why what teller tells of is no message that can be told, as the name of a counter; NULL if it is.
static const char *refuse(const BbLogEvent *teller)
{
    if (bb_event_is_inside(teller))
        return "events_inside";
    if (!teller->other && teller->peer == BB_NAME_NONE)
        return "events_no_peer";
    return has_time(teller) ? NULL : "events_no_time";
}

// The same for a return. call is what it answers, NULL for none; it tells who gets the return.
static const char *refuse_return(const BbLogEvent *teller, const BbLogEvent *call)
{
    if ((teller->acts || teller->other) && bb_event_is_inside(teller))
        return "events_inside";
    if (!call || refuse(call))
        return "events_return_alone";
    if (call->answered)
        return "events_again";
    return has_time(teller) ? NULL : "events_no_time";
}

// A name as the receiver has it, else as the sender.
static guint32 label(const BbLogEvent *teller, gsize offset)
{
    const BbLogEvent *receiver = teller->acts || !teller->other ? teller : teller->other;
    const BbLogEvent *sender = receiver == teller && teller->other ? teller->other : teller;
    guint32 name = G_STRUCT_MEMBER(guint32, receiver, offset);
    return name != BB_NAME_NONE ? name : G_STRUCT_MEMBER(guint32, sender, offset);
}

static bool give(const BbEventLog *log, const BbMessage *message, GError **error)
{
    return log->import->sink(message, log->import->user, error);
}

// What goes from sig to act; one of them may be NULL.
static BbMessage message_of(const BbLogEvent *sig, const BbLogEvent *act)
{
    const BbLogEvent *teller = sig ? sig : act;
    BbMessage message = bb_message_empty();
    BbEventKind kind = bb_event_kind(teller);
    message.kind = kind == BB_EVENT_CALL ? BB_CALL : kind == BB_EVENT_RETURN ? BB_RETURN : BB_FREE;
    message.id = teller->id;
    message.sender = sig ? sig->process : act->peer;
    message.receiver = act ? act->process : sig->peer;
    message.op = label(teller, G_STRUCT_OFFSET(BbLogEvent, op));
    message.status = label(teller, G_STRUCT_OFFSET(BbLogEvent, status));
    set_times(&message, sig ? sig->time_ns : BB_TIME_NONE, act ? act->time_ns : BB_TIME_NONE);
    return message;
}

// A return has the id, the path and the operation of its call.
static void set_call(const BbLogEvent *call, BbMessage *message)
{
    message->id = call->id;
    message->receiver = call->acts ? call->peer : call->process;
    if (message->op == BB_NAME_NONE)
        message->op = label(call, G_STRUCT_OFFSET(BbLogEvent, op));
}

static bool give_message(const BbEventLog *log, BbLogEvent *teller, GError **error)
{
    bool answers = bb_event_kind(teller) == BB_EVENT_RETURN;
    BbLogEvent *call = answers ? call_of(teller) : NULL;
    const char *reason = answers ? refuse_return(teller, call) : refuse(teller);
    if (reason) {
        bb_counters_add(log->import->counters, reason, teller->other ? 2 : 1);
        return true;
    }
    BbMessage message =
        message_of(teller->acts ? NULL : teller, teller->acts ? teller : teller->other);
    if (teller->other)
        count(log, "events_joined");
    if (call) {
        set_call(call, &message);
        call->answered = true;
    }
    set_truth(log, call ? call : teller, &message);
    return give(log, &message, error);
}

// Of a sig that others got, too: only what is neither call nor return has several receivers.
static bool give_again(const BbEventLog *log, const BbLogEvent *act, GError **error)
{
    const BbLogEvent *sig = act->other;
    bool inside = sig->process == act->process;
    bool timed = sig->time_ns != BB_TIME_NONE || act->time_ns != BB_TIME_NONE;
    if (inside || !timed || bb_event_kind(sig) != BB_EVENT_MESSAGE) {
        count(log, inside ? "events_inside" : timed ? "events_again" : "events_no_time");
        return true;
    }
    BbMessage message = message_of(sig, act);
    set_truth(log, sig, &message);
    return give(log, &message, error);
}

static bool give_event(const BbEventLog *log, BbLogEvent *event, GError **error)
{
    if (!event->acts || !event->other)
        return give_message(log, event, error);
    return event->other->other == event || give_again(log, event, error);
}

bool bb_event_log_finish(BbEventLog *log, GError **error)
{
    bb_event_causes_link(log->events, log->import->counters);
    for (guint i = 0; i < log->events->len; i++)
        if (!give_event(log, log->events->pdata[i], error))
            return false;
    return true;
}
