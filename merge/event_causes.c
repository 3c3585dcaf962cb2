// SPDX-License-Identifier: Apache-2.0
// In: the events of a log. Out: which act got which sig, and what message led to each of them.
//
// A log may be damaged or hostile: each step is linear, and nothing calls itself.
#include "data/keys.h"
#include "merge/event_state.h"

BbEventKind bb_event_kind(const BbLogEvent *event)
{
    BbEventKind kind = event->kind;
    if (kind == BB_EVENT_UNSET && event->other)
        kind = event->other->kind;
    return kind == BB_EVENT_UNSET ? BB_EVENT_MESSAGE : kind;
}

bool bb_event_is_inside(const BbLogEvent *event)
{
    if (event->other)
        return event->other->process == event->process;
    return event->peer == event->process || (event->acts && event->peer == BB_NAME_NONE);
}

// ---- which act got which sig ------------------------------------------------------------------

static void join(BbLogEvent *sig, BbLogEvent *act)
{
    act->other = sig;
    if (!sig->other)
        sig->other = act;
}

static void follow_sources(GPtrArray *events, BbCounters *counters)
{
    g_autoptr(GHashTable) by_id = g_hash_table_new(bb_id_key_hash, bb_id_key_equal);
    for (guint i = 0; i < events->len; i++) {
        BbLogEvent *event = events->pdata[i];
        g_hash_table_insert(by_id, &event->id, event);
    }
    for (guint i = 0; i < events->len; i++) {
        BbLogEvent *event = events->pdata[i];
        if (!bb_id_is_known(event->source))
            continue;
        BbLogEvent *source = g_hash_table_lookup(by_id, &event->source);
        if (source && !event->acts)
            event->above = source;
        else if (source && !source->acts)
            join(source, event);
        else
            event->source_unknown = true;
        if (event->source_unknown)
            bb_counters_add(counters, "events_source_unknown", 1);
    }
}

static guint key_hash(gconstpointer key)
{
    const BbLogEvent *event = key;
    return bb_keys_mix(event->tag, event->value);
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
    const BbLogEvent *x = a, *y = b;
    return x->tag == y->tag && x->value == y->value;
}

static bool has_key(const BbLogEvent *event)
{
    return event->tag != BB_NAME_NONE && !(event->acts && bb_id_is_known(event->source));
}

// The first act of a key got the first sig of it, and so on.
static void follow_keys(GPtrArray *events)
{
    g_autoptr(GHashTable) waiting =
        g_hash_table_new_full(key_hash, key_equal, NULL, (GDestroyNotify)g_queue_free);
    for (guint i = 0; i < events->len; i++) {
        BbLogEvent *event = events->pdata[i];
        if (event->acts || !has_key(event) || event->other)
            continue;
        GQueue *sigs = g_hash_table_lookup(waiting, event);
        if (!sigs)
            g_hash_table_insert(waiting, event, sigs = g_queue_new());
        g_queue_push_tail(sigs, event);
    }
    for (guint i = 0; i < events->len; i++) {
        BbLogEvent *event = events->pdata[i];
        GQueue *sigs = event->acts && has_key(event) ? g_hash_table_lookup(waiting, event) : NULL;
        if (sigs && !g_queue_is_empty(sigs))
            join(g_queue_pop_head(sigs), event);
    }
}

// ---- what a sig was caused by -----------------------------------------------------------------

static guint thread_hash(gconstpointer key)
{
    const BbLogEvent *event = key;
    return bb_keys_mix(event->process, event->thread);
}

static gboolean thread_equal(gconstpointer a, gconstpointer b)
{
    const BbLogEvent *x = a, *y = b;
    return x->process == y->process && x->thread == y->thread;
}

static void follow_threads(GPtrArray *events)
{
    // The last act of each thread, which is its own key.
    g_autoptr(GHashTable) last = g_hash_table_new(thread_hash, thread_equal);
    for (guint i = 0; i < events->len; i++) {
        BbLogEvent *event = events->pdata[i];
        if (event->acts)
            g_hash_table_replace(last, event, event);
        else if (!bb_id_is_known(event->source))
            event->above = g_hash_table_lookup(last, event);
    }
}

// ---- which message led to an event ------------------------------------------------------------

static void settle(BbLogEvent *event, BbLogEvent *cause, bool known)
{
    event->cause = cause;
    event->cause_known = known;
    event->resolved = true;
}

// The same as of another event. Returns that one while it is not known yet.
static BbLogEvent *settle_as(BbLogEvent *event, BbLogEvent *same)
{
    if (!same->resolved)
        return same;
    settle(event, same->cause, same->cause_known);
    return NULL;
}

// What led to the return led to it by the call that it answers; the work that made the call goes
// on.
static BbLogEvent *settle_resumed(BbLogEvent *act, BbLogEvent *answer)
{
    if (!answer->resolved)
        return answer;
    BbLogEvent *call = answer->cause;
    if (call && !call->acts && bb_event_kind(call) == BB_EVENT_CALL)
        return settle_as(act, call);
    settle(act, NULL, false);
    return NULL;
}

// Returns an event that must be settled before, NULL when event is.
static BbLogEvent *try_settle(BbLogEvent *event)
{
    if (!event->acts) {
        if (event->above)
            return settle_as(event, event->above);
        settle(event, NULL, !event->source_unknown);
        return NULL;
    }
    if (!event->other) {
        bool outside = !bb_event_is_inside(event);
        settle(event, outside ? event : NULL, outside || !event->source_unknown);
        return NULL;
    }
    if (event->other->process == event->process)
        return settle_as(event, event->other);
    if (bb_event_kind(event) == BB_EVENT_RETURN)
        return settle_resumed(event, event->other);
    settle(event, event->other, true);
    return NULL;
}

// walk is the number of this way: an event that is met on it again is caused by itself.
static void resolve(BbLogEvent *event, guint32 walk, GPtrArray *way, BbCounters *counters)
{
    g_ptr_array_add(way, event);
    event->walk = walk;
    while (way->len > 0) {
        BbLogEvent *top = way->pdata[way->len - 1];
        BbLogEvent *before = top->resolved ? NULL : try_settle(top);
        if (before && before->walk == walk) {
            settle(top, NULL, false);
            bb_counters_add(counters, "events_circular", 1);
        } else if (before) {
            before->walk = walk;
            g_ptr_array_add(way, before);
            continue;
        }
        g_ptr_array_set_size(way, (gint)way->len - 1);
    }
}

BbLogEvent *bb_event_cause(const BbLogEvent *teller, bool *known)
{
    *known = teller->acts ? !teller->source_unknown : teller->cause_known;
    return teller->acts ? NULL : teller->cause;
}

// ---- the first message of a path --------------------------------------------------------------

static void set_roots(GPtrArray *way, BbLogEvent *root)
{
    for (guint i = 0; i < way->len; i++) {
        BbLogEvent *event = way->pdata[i];
        event->root = root;
        event->rooted = true;
    }
    g_ptr_array_set_size(way, 0);
}

// Goes up to a message without cause, or one whose root is known. Messages in a circle have none.
static void find_root(BbLogEvent *event, guint32 walk, GPtrArray *way, BbCounters *counters)
{
    while (!event->rooted) {
        bool known = false;
        BbLogEvent *cause = bb_event_cause(event, &known);
        g_ptr_array_add(way, event);
        event->walk = walk;
        if (cause && !cause->rooted && cause->walk == walk) {
            event->cause = NULL;
            event->cause_known = known = false;
            bb_counters_add(counters, "events_circular", 1);
            cause = NULL;
        }
        if (!cause) {
            set_roots(way, known ? event : NULL);
            return;
        }
        event = cause;
    }
    set_roots(way, event->root);
}

void bb_event_causes_link(GPtrArray *events, BbCounters *counters)
{
    g_autoptr(GPtrArray) way = g_ptr_array_new();
    follow_sources(events, counters);
    follow_keys(events);
    follow_threads(events);
    for (guint i = 0; i < events->len; i++) {
        BbLogEvent *event = events->pdata[i];
        if (!event->resolved)
            resolve(event, i + 1, way, counters);
    }
    for (guint i = 0; i < events->len; i++)
        find_root(events->pdata[i], events->len + i + 1, way, counters);
}
