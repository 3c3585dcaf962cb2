// SPDX-License-Identifier: Apache-2.0
// In: messages in order of time. Out: those that are wanted, in the same order.
//
// A call is judged by itself where that is enough. Else it waits for its return, and what is to be
// kept behind it waits with it, so that the order stays.
#include "merge/filter.h"

#include "data/call.h"
#include "data/glob.h"
#include "data/status.h"
#include "merge/open_calls.h"
#include "merge/sampling.h"

#include <string.h>

// Patterns, and which names match: 0 not known yet, else one of the others.
enum { NAME_OPEN, NAME_MATCHES, NAME_DIFFERS };
typedef struct Patterns {
    char **list; // NULL: everything matches
    GByteArray *known;
} Patterns;

typedef enum { VERDICT_OPEN, VERDICT_YES, VERDICT_NO } Verdict;

// A call, as all messages see it that belong to it.
typedef struct Call {
    Verdict verdict;
    gint64 time_ns;
} Call;

// A message that waits for a verdict: its own or that of one before it.
typedef struct Held {
    BbMessage message; // with strings of its own
    Call *call;        // NULL: the verdict was yes
} Held;

struct BbFilter {
    BbFilterOptions options;
    const BbNames *names;
    BbMessageSink sink;
    gpointer user;
    Patterns nodes, callers, callees, protocols, ops, statuses;
    BbOpenCalls *calls;
    GQueue held;
    guint64 kept, hurried;
};

// ---- patterns -----------------------------------------------------------------------------------

static void patterns_init(Patterns *patterns, const char *const *list)
{
    patterns->list = list ? g_strdupv((char **)list) : NULL;
    patterns->known = g_byte_array_new();
}

static void patterns_clear(Patterns *patterns)
{
    g_strfreev(patterns->list);
    g_byte_array_unref(patterns->known);
}

static bool match_any(char *const *list, const char *text)
{
    for (; *list; list++)
        if (bb_glob_match(*list, text))
            return true;
    return false;
}

static bool patterns_match(Patterns *patterns, const BbNames *names, guint32 name)
{
    if (!patterns->list)
        return true;
    guint known = patterns->known->len;
    if (name >= known) {
        g_byte_array_set_size(patterns->known, MAX(name + 1, bb_names_count(names)));
        memset(patterns->known->data + known, NAME_OPEN, patterns->known->len - known);
    }
    guint8 *state = &patterns->known->data[name];
    if (*state == NAME_OPEN)
        *state =
            match_any(patterns->list, bb_names_text(names, name)) ? NAME_MATCHES : NAME_DIFFERS;
    return *state == NAME_MATCHES;
}

// ---- edges --------------------------------------------------------------------------------------

bool bb_filter_split_edge(const char *text, char **caller, char **callee)
{
    g_auto(GStrv) sides = g_strsplit(text, "->", -1);
    if (g_strv_length(sides) != 2 || !*g_strstrip(sides[0]) || !*g_strstrip(sides[1]))
        return false;
    *caller = g_strdup(sides[0]);
    *callee = g_strdup(sides[1]);
    return true;
}

// Both sides of all edges.
static void split_edges(const char *const *edges, char ***callers, char ***callees)
{
    GPtrArray *from = g_ptr_array_new(), *to = g_ptr_array_new();
    for (; *edges; edges++) {
        char *caller, *callee;
        bool is_edge = bb_filter_split_edge(*edges, &caller, &callee);
        g_assert(is_edge);
        g_ptr_array_add(from, caller);
        g_ptr_array_add(to, callee);
    }
    g_ptr_array_add(from, NULL);
    g_ptr_array_add(to, NULL);
    *callers = (char **)g_ptr_array_free(from, FALSE);
    *callees = (char **)g_ptr_array_free(to, FALSE);
}

// The same edge must match with both sides; the caches tell quickly where no edge can.
static bool match_edge(BbFilter *filter, guint32 caller, guint32 callee)
{
    if (!patterns_match(&filter->callers, filter->names, caller) ||
        !patterns_match(&filter->callees, filter->names, callee))
        return false;
    if (!filter->callers.list || !filter->callers.list[1])
        return true; // no edge, or one
    for (gsize i = 0; filter->callers.list[i]; i++)
        if (bb_glob_match(filter->callers.list[i], bb_names_text(filter->names, caller)) &&
            bb_glob_match(filter->callees.list[i], bb_names_text(filter->names, callee)))
            return true;
    return false;
}

// ---- verdicts -----------------------------------------------------------------------------------

// What is known of a call without its return, or of a message for itself.
static bool judge_front(BbFilter *filter, const BbMessage *message)
{
    const BbFilterOptions *options = &filter->options;
    const BbNames *names = filter->names;
    bool back = message->kind == BB_RETURN;
    return (options->from_ns == BB_TIME_NONE || message->time_ns >= options->from_ns) &&
           (options->to_ns == BB_TIME_NONE || message->time_ns < options->to_ns) &&
           patterns_match(&filter->protocols, names, message->proto) &&
           patterns_match(&filter->ops, names, message->op) &&
           match_edge(filter, back ? message->receiver : message->sender,
                      back ? message->sender : message->receiver) &&
           (patterns_match(&filter->nodes, names, message->sender) ||
            patterns_match(&filter->nodes, names, message->receiver)) &&
           (!options->sample || bb_sampling_takes(message, names, options->sample));
}

static bool judge_status(BbFilter *filter, const BbMessage *message)
{
    return patterns_match(&filter->statuses, filter->names, message->status) &&
           (!filter->options.errors ||
            bb_status_is_error(bb_names_text(filter->names, message->proto),
                               bb_names_text(filter->names, message->status)));
}

static bool wants_status(const BbFilter *filter)
{
    return filter->statuses.list || filter->options.errors;
}

static bool wants_duration(const BbFilter *filter)
{
    return filter->options.slower_ns || filter->options.faster_ns;
}

// On the caller's clock, as far as that is known.
static bool judge_duration(const BbFilter *filter, const Call *call, const BbMessage *message)
{
    const BbFilterOptions *options = &filter->options;
    gint64 back_ns = message->recv_ns != BB_TIME_NONE ? message->recv_ns : message->time_ns;
    gint64 took_ns = bb_time_between(call->time_ns, back_ns);
    return (!options->slower_ns || took_ns > options->slower_ns) &&
           (!options->faster_ns || took_ns < options->faster_ns);
}

// A message that belongs to no call that we know.
static bool judge_alone(BbFilter *filter, const BbMessage *message)
{
    return judge_front(filter, message) && !wants_duration(filter) &&
           (!wants_status(filter) || judge_status(filter, message));
}

static void call_give_up(gpointer data)
{
    Call *call = data;
    if (call->verdict == VERDICT_OPEN)
        call->verdict = VERDICT_NO;
}

static Call *open_call(BbFilter *filter, const BbMessage *message)
{
    Call *call = g_rc_box_new(Call);
    bool front = judge_front(filter, message);
    bool waits = front && (wants_duration(filter) || wants_status(filter));
    *call = (Call){
        .verdict = waits   ? VERDICT_OPEN
                   : front ? VERDICT_YES
                           : VERDICT_NO,
        .time_ns = message->time_ns,
    };
    bb_open_calls_push(filter->calls, message, call);
    return call;
}

// The call that message belongs to, referenced; NULL if it belongs to none.
static Call *find_call(BbFilter *filter, const BbMessage *message)
{
    Call *call = bb_open_calls_find(filter->calls, message);
    if (!call && message->kind == BB_CALL)
        return open_call(filter, message);
    if (call && call->verdict == VERDICT_OPEN && message->kind == BB_RETURN)
        call->verdict = judge_status(filter, message) && judge_duration(filter, call, message)
                            ? VERDICT_YES
                            : VERDICT_NO;
    return call;
}

// ---- order --------------------------------------------------------------------------------------

static bool is_kept(const BbFilter *filter, Verdict verdict)
{
    return (verdict == VERDICT_YES) != filter->options.invert;
}

static bool keep(BbFilter *filter, const BbMessage *message, GError **error)
{
    filter->kept++;
    return filter->sink(message, filter->user, error);
}

static void held_free(gpointer data)
{
    Held *held = data;
    g_free((char *)held->message.conn);
    g_free((char *)held->message.extra);
    if (held->call)
        g_rc_box_release(held->call);
    g_free(held);
}

static void hold(BbFilter *filter, const BbMessage *message, Call *call)
{
    Held *held = g_new(Held, 1);
    *held = (Held){*message, call ? g_rc_box_acquire(call) : NULL};
    held->message.conn = g_strdup(message->conn);
    held->message.extra = g_strdup(message->extra);
    g_queue_push_tail(&filter->held, held);
}

// Lets go what is decided, up to the first that is not.
static bool release(BbFilter *filter, GError **error)
{
    bool good = true;
    while (good && filter->held.length > 0) {
        Held *held = g_queue_peek_head(&filter->held);
        if (held->call && held->call->verdict == VERDICT_OPEN)
            break;
        if (!held->call || is_kept(filter, held->call->verdict))
            good = keep(filter, &held->message, error);
        held_free(g_queue_pop_head(&filter->held));
    }
    return good;
}

// The first that waits waits no more.
static void hurry(BbFilter *filter)
{
    const Held *held = g_queue_peek_head(&filter->held);
    call_give_up(held->call);
    filter->hurried++;
}

bool bb_filter_push(BbFilter *filter, const BbMessage *message, GError **error)
{
    Call *call = find_call(filter, message);
    Verdict verdict = call                           ? call->verdict
                      : judge_alone(filter, message) ? VERDICT_YES
                                                     : VERDICT_NO;
    bool good = true;
    if (verdict == VERDICT_OPEN || (filter->held.length > 0 && is_kept(filter, verdict)))
        hold(filter, message, call);
    else if (is_kept(filter, verdict))
        good = keep(filter, message, error);
    if (call)
        g_rc_box_release(call);
    if (good)
        good = release(filter, error);
    if (good && filter->held.length > filter->options.held_max) {
        hurry(filter);
        good = release(filter, error);
    }
    return good;
}

bool bb_filter_finish(BbFilter *filter, GError **error)
{
    for (GList *link = filter->held.head; link; link = link->next) {
        const Held *held = link->data;
        if (held->call)
            call_give_up(held->call);
    }
    return release(filter, error);
}

// ---- the whole ----------------------------------------------------------------------------------

BbFilter *bb_filter_new(const BbFilterOptions *options, const BbNames *names, BbMessageSink sink,
                        gpointer user)
{
    static const BbOpenCallsValues values = {g_rc_box_acquire, g_rc_box_release, call_give_up};
    BbFilter *filter = g_new0(BbFilter, 1);
    filter->options = *options;
    if (!options->held_max)
        filter->options.held_max = BB_FILTER_HELD_MAX;
    filter->names = names;
    filter->sink = sink;
    filter->user = user;
    filter->calls =
        bb_open_calls_new(options->open_max ? options->open_max : BB_OPEN_CALLS_MAX, &values);
    patterns_init(&filter->nodes, options->nodes);
    patterns_init(&filter->protocols, options->protocols);
    patterns_init(&filter->ops, options->ops);
    patterns_init(&filter->statuses, options->statuses);
    g_auto(GStrv) callers = NULL;
    g_auto(GStrv) callees = NULL;
    if (options->edges)
        split_edges(options->edges, &callers, &callees);
    patterns_init(&filter->callers, (const char *const *)callers);
    patterns_init(&filter->callees, (const char *const *)callees);
    g_queue_init(&filter->held);
    return filter;
}

void bb_filter_free(BbFilter *filter)
{
    if (!filter)
        return;
    g_queue_clear_full(&filter->held, held_free);
    bb_open_calls_free(filter->calls);
    patterns_clear(&filter->nodes);
    patterns_clear(&filter->callers);
    patterns_clear(&filter->callees);
    patterns_clear(&filter->protocols);
    patterns_clear(&filter->ops);
    patterns_clear(&filter->statuses);
    g_free(filter);
}

guint64 bb_filter_kept(const BbFilter *filter)
{
    return filter->kept;
}

guint64 bb_filter_hurried(const BbFilter *filter)
{
    return filter->hurried + bb_open_calls_forgotten(filter->calls);
}
