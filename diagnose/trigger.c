// SPDX-License-Identifier: Apache-2.0
// In: messages, and how time goes on. Out: which trigger fires when, and the figure that made it.
#include "diagnose/trigger.h"

#include "data/caption.h"
#include "data/quantity.h"
#include "data/status.h"
#include "diagnose/awaited.h"
#include "diagnose/trigger_window.h"

#include <string.h>

// Open calls and silences have no window: how often they are looked at.
#define STEP_MIN ((gint64)10000000)
#define STEP_MAX ((gint64)1000000000)

#define NAME_SHOWN 200u // bytes of a name in a figure

typedef struct {
    BbTriggerRule *rule;
    BbTriggerWindow *window; // of latency and errors
    gint64 step_ns;
    gint64 slice;     // that time is in
    gint64 looked_ns; // of open: calls that started before it were looked at
    bool high;        // the condition of the window was true when last looked at
} Trigger;

// What is known of a name: bits by rule.
typedef struct {
    guint16 matches; // as operation or callee
    guint16 watched; // as a node that may fall silent
    guint16 quiet;   // its silence has fired
    bool looked_at;
    gint64 last_ns; // of a watched node: when it last sent
} Known;

struct BbTriggers {
    const BbNames *names;
    Trigger triggers[BB_TRIGGERS];
    guint count;
    guint16 calls, errors, silences; // rules of a kind, as bits; errors are of calls, too, as are
    guint16 opens;
    guint16 met; // rules that something was about
    gint64 now_ns;
    GArray *known;   // of Known, by name
    GArray *nodes;   // names of watched nodes
    BbAwaited *open; // calls that some rule is about
    GQueue firings;  // of BbTriggerFiring
    BbTriggersCounts counts;
    BbTriggersShow show; // NULL: names are said as they are
    gpointer show_user;
};

BbTriggers *bb_triggers_new(const BbNames *names)
{
    BbTriggers *triggers = g_new0(BbTriggers, 1);
    triggers->names = names;
    triggers->now_ns = BB_TIME_NONE;
    triggers->known = g_array_new(FALSE, TRUE, sizeof(Known));
    triggers->nodes = g_array_new(FALSE, FALSE, sizeof(guint32));
    triggers->open = bb_awaited_new(BB_TRIGGERS_OPEN);
    g_queue_init(&triggers->firings);
    return triggers;
}

void bb_triggers_free(BbTriggers *triggers)
{
    if (!triggers)
        return;
    BbTriggerFiring firing;
    while (bb_triggers_next(triggers, &firing))
        g_free(firing.what);
    for (guint i = 0; i < triggers->count; i++) {
        bb_trigger_rule_free(triggers->triggers[i].rule);
        bb_trigger_window_free(triggers->triggers[i].window);
    }
    g_array_unref(triggers->known);
    g_array_unref(triggers->nodes);
    bb_awaited_free(triggers->open);
    g_free(triggers);
}

static bool has_window(const BbTriggerRule *rule)
{
    return rule->kind == BB_TRIGGER_LATENCY || rule->kind == BB_TRIGGER_ERRORS;
}

bool bb_triggers_add(BbTriggers *triggers, const char *text, GError **error)
{
    if (triggers->count == BB_TRIGGERS) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                    "more than %u triggers: one can have several patterns, parted by commas",
                    BB_TRIGGERS);
        return false;
    }
    BbTriggerRule *rule = bb_trigger_rule_parse(text, error);
    if (!rule)
        return false;
    guint16 bit = (guint16)(1u << triggers->count);
    Trigger *trigger = &triggers->triggers[triggers->count++];
    trigger->rule = rule;
    trigger->window = has_window(rule) ? bb_trigger_window_new() : NULL;
    trigger->step_ns = has_window(rule)
                           ? rule->window_ns / BB_TRIGGER_SLICES
                           : CLAMP(rule->limit_ns / BB_TRIGGER_SLICES, STEP_MIN, STEP_MAX);
    if (rule->kind == BB_TRIGGER_SILENT)
        triggers->silences |= bit;
    else
        triggers->calls |= bit;
    if (rule->kind == BB_TRIGGER_ERRORS)
        triggers->errors |= bit;
    if (rule->kind == BB_TRIGGER_OPEN)
        triggers->opens |= bit;
    trigger->looked_ns = G_MININT64;
    return true;
}

guint bb_triggers_count(const BbTriggers *triggers)
{
    return triggers->count;
}

const BbTriggerRule *bb_triggers_rule(const BbTriggers *triggers, guint index)
{
    g_assert(index < triggers->count);
    return triggers->triggers[index].rule;
}

void bb_triggers_show(BbTriggers *triggers, BbTriggersShow show, gpointer user)
{
    triggers->show = show;
    triggers->show_user = user;
}

bool bb_triggers_have_met(const BbTriggers *triggers, guint index)
{
    return triggers->met & 1u << index;
}

BbTriggersCounts bb_triggers_counts(const BbTriggers *triggers)
{
    BbTriggersCounts counts = triggers->counts;
    counts.forgotten = bb_awaited_forgotten(triggers->open);
    return counts;
}

// ---- names --------------------------------------------------------------------------------------

static void look_at(BbTriggers *triggers, guint32 name, Known *known)
{
    const char *text = bb_names_text(triggers->names, name);
    known->looked_at = true;
    for (guint i = 0; i < triggers->count && name != BB_NAME_NONE; i++)
        if (bb_globs_match(triggers->triggers[i].rule->globs, text))
            known->matches |= (guint16)(1u << i);
}

static Known *known_of(BbTriggers *triggers, guint32 name)
{
    if (name >= triggers->known->len)
        g_array_set_size(triggers->known, name + 1);
    Known *known = &g_array_index(triggers->known, Known, name);
    if (!known->looked_at)
        look_at(triggers, name, known);
    return known;
}

static void end_silence(Known *known, gint64 time_ns)
{
    known->last_ns = MAX(known->last_ns, time_ns);
    known->quiet = 0;
}

static void note_sender(BbTriggers *triggers, guint32 node, gint64 time_ns)
{
    Known *known = known_of(triggers, node);
    guint16 wanted = known->matches & triggers->silences;
    if (!wanted)
        return;
    triggers->met |= wanted;
    if (!known->watched) {
        if (triggers->nodes->len == BB_TRIGGERS_NODES) {
            triggers->counts.unwatched++;
            known->matches &= (guint16)~triggers->silences;
            return;
        }
        g_array_append_val(triggers->nodes, node);
        known->watched = wanted;
        known->last_ns = time_ns;
    }
    end_silence(known, time_ns);
}

// ---- firing -------------------------------------------------------------------------------------

// Names come from the network: what cannot be printed becomes '?'.
static void append_name(GString *out, const BbTriggers *triggers, guint32 name, bool is_op)
{
    guint32 shown = triggers->show ? triggers->show(triggers->show_user, name, is_op) : name;
    bb_caption_append_plain(out, bb_names_text(triggers->names, shown), NAME_SHOWN);
}

static void fire(BbTriggers *triggers, const Trigger *trigger, gint64 time_ns, GString *what)
{
    BbTriggerFiring *firing = g_new(BbTriggerFiring, 1);
    *firing = (BbTriggerFiring){.rule = (guint)(trigger - triggers->triggers),
                                .time_ns = time_ns,
                                .what = g_string_free(what, FALSE)};
    g_queue_push_tail(&triggers->firings, firing);
}

bool bb_triggers_next(BbTriggers *triggers, BbTriggerFiring *firing)
{
    g_autofree BbTriggerFiring *first = g_queue_pop_head(&triggers->firings);
    if (first)
        *firing = *first;
    return first;
}

static gint64 figure_of(const BbTriggerRule *rule, const BbStats *latency)
{
    switch (rule->figure) {
    case BB_TRIGGER_MEAN:
        return bb_stats_mean(latency);
    case BB_TRIGGER_MAX:
        return bb_stats_max(latency);
    default:
        return bb_stats_quantile(latency, rule->quantile);
    }
}

static void append_figure(GString *out, const BbTriggerRule *rule)
{
    char digits[G_ASCII_DTOSTR_BUF_SIZE];
    if (rule->figure == BB_TRIGGER_QUANTILE)
        g_string_append_printf(
            out, "p%s", g_ascii_formatd(digits, sizeof digits, "%.6g", rule->quantile * 100));
    else
        g_string_append(out, rule->figure == BB_TRIGGER_MEAN ? "mean" : "max");
}

// Whether the condition holds for the window that ends with slice end; then why.
static bool is_high(const BbTriggerRule *rule, const BbTriggerSum *sum, GString *what)
{
    guint64 calls = rule->kind == BB_TRIGGER_LATENCY ? bb_stats_count(sum->latency) : sum->returns;
    if (calls == 0 || calls < rule->least)
        return false;
    if (rule->kind == BB_TRIGGER_LATENCY) {
        gint64 figure_ns = figure_of(rule, sum->latency);
        append_figure(what, rule);
        g_string_append_c(what, ' ');
        bb_quantity_append_duration(what, figure_ns);
        g_string_append(what, " of ");
        bb_quantity_append_counted(what, calls, "call");
        return figure_ns > rule->limit_ns;
    }
    bb_quantity_append_counted(what, sum->errors, "error");
    g_string_append(what, " in ");
    bb_quantity_append_counted(what, calls, "return");
    return (double)sum->errors > rule->share * (double)calls;
}

static void look_at_window(BbTriggers *triggers, Trigger *trigger, gint64 end)
{
    BbTriggerSum sum = bb_trigger_window_sum(trigger->window, end);
    GString *what = g_string_new(NULL);
    bool high = is_high(trigger->rule, &sum, what);
    if (high && !trigger->high)
        fire(triggers, trigger, end * trigger->step_ns, g_steal_pointer(&what));
    trigger->high = high;
    if (what)
        g_string_free(what, TRUE);
    bb_stats_free(sum.latency);
}

// In order of start: what was looked at before is not looked at again.
static void look_at_open(BbTriggers *triggers, Trigger *trigger, gint64 time_ns)
{
    guint16 bit = (guint16)(1u << (trigger - triggers->triggers));
    gint64 end_ns = time_ns - trigger->rule->limit_ns;
    const BbAwaitedCall *oldest = NULL;
    guint count = 0;
    for (BbAwaitedCall *call = bb_awaited_since(triggers->open, trigger->looked_ns);
         call && call->time_ns < end_ns; call = bb_awaited_next(call)) {
        if (!(call->matches & bit) || call->fired & bit)
            continue;
        call->fired |= bit;
        count++;
        if (!oldest)
            oldest = call;
    }
    trigger->looked_ns = MAX(trigger->looked_ns, end_ns);
    if (!oldest)
        return;
    GString *what = g_string_new("open for ");
    bb_quantity_append_duration(what, time_ns - oldest->time_ns);
    g_string_append(what, ": ");
    append_name(what, triggers, oldest->op, true);
    g_string_append(what, " at ");
    append_name(what, triggers, oldest->callee, false);
    if (count > 1)
        g_string_append_printf(what, ", and %u more", count - 1);
    fire(triggers, trigger, time_ns, what);
}

static void look_at_nodes(BbTriggers *triggers, Trigger *trigger, gint64 time_ns)
{
    guint16 bit = (guint16)(1u << (trigger - triggers->triggers));
    guint32 node = BB_NAME_NONE;
    gint64 since_ns = 0;
    guint count = 0;
    for (guint i = 0; i < triggers->nodes->len; i++) {
        guint32 name = g_array_index(triggers->nodes, guint32, i);
        Known *known = known_of(triggers, name);
        if (!(known->watched & bit) || known->quiet & bit ||
            time_ns - known->last_ns <= trigger->rule->limit_ns)
            continue;
        known->quiet |= bit;
        if (count++ == 0 || known->last_ns < since_ns) {
            node = name;
            since_ns = known->last_ns;
        }
    }
    if (count == 0)
        return;
    GString *what = g_string_new("silent for ");
    bb_quantity_append_duration(what, time_ns - since_ns);
    g_string_append(what, ": ");
    append_name(what, triggers, node, false);
    if (count > 1)
        g_string_append_printf(what, ", and %u more", count - 1);
    fire(triggers, trigger, time_ns, what);
}

// ---- time ---------------------------------------------------------------------------------------

// Behind a gap that is longer than the window there is nothing to look at any more.
static void advance(BbTriggers *triggers, Trigger *trigger, gint64 now)
{
    if (now == trigger->slice)
        return;
    if (trigger->window) {
        gint64 last = MIN(now, trigger->slice + BB_TRIGGER_SLICES + 1);
        for (gint64 end = trigger->slice + 1; end <= last; end++)
            look_at_window(triggers, trigger, end);
    } else if (trigger->rule->kind == BB_TRIGGER_OPEN) {
        look_at_open(triggers, trigger, now * trigger->step_ns);
    } else {
        look_at_nodes(triggers, trigger, now * trigger->step_ns);
    }
    trigger->slice = now;
}

static void go_on(BbTriggers *triggers, gint64 now_ns)
{
    if (triggers->now_ns == BB_TIME_NONE)
        for (guint i = 0; i < triggers->count; i++)
            triggers->triggers[i].slice = now_ns / triggers->triggers[i].step_ns;
    if (now_ns <= triggers->now_ns)
        return;
    triggers->now_ns = now_ns;
    for (guint i = 0; i < triggers->count; i++)
        advance(triggers, &triggers->triggers[i], now_ns / triggers->triggers[i].step_ns);
}

static void begin_again(BbTriggers *triggers)
{
    triggers->counts.back++;
    triggers->now_ns = BB_TIME_NONE;
    for (guint i = 0; i < triggers->count; i++) {
        Trigger *trigger = &triggers->triggers[i];
        trigger->high = false;
        trigger->looked_ns = G_MININT64;
        if (!trigger->window)
            continue;
        bb_trigger_window_free(trigger->window);
        trigger->window = bb_trigger_window_new();
    }
    bb_awaited_clear(triggers->open);
    for (guint i = 0; i < triggers->nodes->len; i++)
        known_of(triggers, g_array_index(triggers->nodes, guint32, i))->watched = 0;
    g_array_set_size(triggers->nodes, 0);
}

void bb_triggers_tick(BbTriggers *triggers, gint64 now_ns)
{
    if (now_ns < 0)
        return;
    if (triggers->now_ns != BB_TIME_NONE && now_ns < triggers->now_ns - BB_TRIGGERS_BACK_NS)
        begin_again(triggers);
    go_on(triggers, now_ns);
}

// ---- messages -----------------------------------------------------------------------------------

static void take_call(BbTriggers *triggers, const BbMessage *m)
{
    guint16 matches = known_of(triggers, m->op)->matches | known_of(triggers, m->receiver)->matches;
    matches &= triggers->calls;
    triggers->met |= matches;
    if (!matches || !bb_id_is_known(m->id))
        return;
    BbAwaitedCall *call = bb_awaited_add(triggers->open, m);
    call->matches = matches;
    if (!(matches & triggers->opens))
        return;
    bb_awaited_watch(triggers->open, call);
    for (guint i = 0; i < triggers->count; i++) // it may come late
        triggers->triggers[i].looked_ns = MIN(triggers->triggers[i].looked_ns, m->time_ns);
}

static void count_return(BbTriggers *triggers, const BbMessage *m, guint16 matches,
                         gint64 latency_ns)
{
    bool failed =
        matches & triggers->errors && bb_status_is_error(bb_names_text(triggers->names, m->proto),
                                                         bb_names_text(triggers->names, m->status));
    for (guint i = 0; i < triggers->count; i++) {
        Trigger *trigger = &triggers->triggers[i];
        if (!(matches & 1u << i) || !trigger->window)
            continue;
        bool of_errors = triggers->errors & 1u << i;
        triggers->counts.late +=
            !bb_trigger_window_add(trigger->window, m->time_ns / trigger->step_ns, trigger->slice,
                                   of_errors ? BB_TRIGGER_LATENCY_NONE : latency_ns, failed);
    }
}

// The operation is said by the call; the return may say it again, and alone where the call was not
// seen.
static void take_return(BbTriggers *triggers, const BbMessage *m)
{
    BbAwaitedCall call;
    guint16 matches = known_of(triggers, m->op)->matches | known_of(triggers, m->sender)->matches;
    gint64 latency_ns = BB_TRIGGER_LATENCY_NONE;
    if (bb_awaited_take(triggers->open, m, &call)) {
        matches |= call.matches;
        latency_ns = MAX(m->time_ns - call.time_ns, 0);
    }
    matches &= triggers->calls;
    triggers->met |= matches;
    count_return(triggers, m, matches, latency_ns);
}

// Whom no message has come of is not watched.
void bb_triggers_hear(BbTriggers *triggers, guint32 node, gint64 time_ns)
{
    if (node >= triggers->known->len || time_ns < 0)
        return;
    Known *known = &g_array_index(triggers->known, Known, node);
    if (known->watched)
        end_silence(known, time_ns);
}

bool bb_triggers_have_silence(const BbTriggers *triggers)
{
    return triggers->silences;
}

void bb_triggers_push(BbTriggers *triggers, const BbMessage *message)
{
    if (message->at_receiver || message->time_ns < 0)
        return;
    go_on(triggers, message->time_ns);
    note_sender(triggers, message->sender, message->time_ns);
    if (message->kind == BB_CALL)
        take_call(triggers, message);
    else if (message->kind == BB_RETURN)
        take_return(triggers, message);
}
