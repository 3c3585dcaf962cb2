// SPDX-License-Identifier: Apache-2.0
// In: messages with their ids and what the trace tells of them. Out: the true cause of each.
#include "diagnose/causes.h"

#include "data/tally.h"

#define NONE BB_EFFECT_NONE
#define FORWARDS_MAX 1000u // nodes that hand on a call, one after the other

// A message is sent, or arrives.
typedef struct {
    gint64 time_ns;
    guint32 message;
    bool arrives;
} Event;

// The tables hold messages, plus 1.
typedef struct {
    BbEffects *effects;
    guint32 *work;   // of each message: the call or free message whose work it belongs to; of a
                     // return: the call that it answers
    guint32 *latest; // of each call and free message: what arrived last for the work on it
    BbTally begun;   // (receiver, id, path): the latest call or free message that arrived
    BbTally first;   // likewise: the first one
    BbTally made;    // (caller, id): some call of the trace, whoever got it
    BbTally calls;   // (caller, callee, id): the latest call that was made
    BbTally asked;   // (caller, id): likewise, whoever got it
    BbTally entered; // (receiver, path): the latest call that arrived
    BbTally unseen;  // (node, id, path): what arrived last there for the work on a call or free
                     // message that did not, as where it was lost
} Sweep;

static void sweep_init(Sweep *sweep, BbEffects *effects)
{
    guint32 n = effects->effects->len;
    *sweep = (Sweep){.effects = effects, .work = g_new(guint32, n), .latest = g_new(guint32, n)};
    for (guint32 i = 0; i < n; i++)
        sweep->work[i] = sweep->latest[i] = NONE;
    BbTally *const tables[] = {&sweep->begun, &sweep->first,   &sweep->made,  &sweep->calls,
                               &sweep->asked, &sweep->entered, &sweep->unseen};
    for (gsize i = 0; i < G_N_ELEMENTS(tables); i++)
        bb_tally_init(tables[i]);
}

static void sweep_clear(Sweep *sweep)
{
    g_free(sweep->work);
    g_free(sweep->latest);
    BbTally *const tables[] = {&sweep->begun, &sweep->first,   &sweep->made,  &sweep->calls,
                               &sweep->asked, &sweep->entered, &sweep->unseen};
    for (gsize i = 0; i < G_N_ELEMENTS(tables); i++)
        bb_tally_clear(tables[i]);
}

static guint32 get(const BbTally *table, guint32 a, guint32 b, guint32 c)
{
    guint64 found = bb_tally_get(table, (BbTallyKey){a, b, c});
    return found ? (guint32)(found - 1) : NONE;
}

static void put(BbTally *table, guint32 a, guint32 b, guint32 c, guint32 message)
{
    *bb_tally_at(table, (BbTallyKey){a, b, c}) = (guint64)message + 1;
}

// ---- whose work ---------------------------------------------------------------------------------

// The call or free message to node that parent= means: of its path, or of none that is told.
static guint32 parent_in(const BbTally *table, guint32 node, const BbEffect *effect)
{
    guint32 found = get(table, node, effect->parent, effect->path);
    return found != NONE ? found : get(table, node, effect->parent, BB_EFFECT_NO_ID);
}

// What arrived last at node for the work, of which at least id and path are known.
static guint32 latest_of(const Sweep *sweep, guint32 work, guint32 node, guint32 id, guint32 path)
{
    return work != NONE ? sweep->latest[work] : get(&sweep->unseen, node, id, path);
}

// The call that a return answers. It may come from a node that the call was handed on to.
static guint32 call_of(const Sweep *sweep, const BbEffect *effect)
{
    if (effect->id == BB_EFFECT_NO_ID)
        return NONE;
    guint32 call = get(&sweep->calls, effect->receiver, effect->sender, effect->id);
    return call != NONE ? call : get(&sweep->asked, effect->receiver, effect->id, 0);
}

// The call whose work ends with a return of `call` by `node`: itself, or the one by which it was
// handed on to there.
static guint32 answered(const Sweep *sweep, guint32 call, guint32 node)
{
    const BbEffect *effect = bb_effects_at(sweep->effects, call);
    if (effect->receiver == node)
        return call;
    guint32 last = get(&sweep->entered, node, effect->path, 0);
    guint32 above = last;
    for (guint steps = 0; above != NONE && above != call && steps < FORWARDS_MAX; steps++)
        above = sweep->work[above];
    return above == call ? last : NONE;
}

// ---- events -------------------------------------------------------------------------------------

static void set_cause(BbEffect *effect, guint32 cause)
{
    effect->real = cause;
    effect->truth = cause == NONE ? BB_EFFECT_LOST : BB_EFFECT_CAUSED;
}

static void send_return(Sweep *sweep, guint32 message)
{
    BbEffect *effect = bb_effects_at(sweep->effects, message);
    guint32 call = call_of(sweep, effect);
    guint32 ended = call != NONE ? answered(sweep, call, effect->sender) : NONE;
    sweep->work[message] = call;
    set_cause(effect, latest_of(sweep, ended, effect->sender, effect->id, effect->path));
}

static void send_other(Sweep *sweep, guint32 message)
{
    BbEffect *effect = bb_effects_at(sweep->effects, message);
    if (effect->kind == BB_CALL && effect->id != BB_EFFECT_NO_ID) {
        put(&sweep->calls, effect->sender, effect->receiver, effect->id, message);
        put(&sweep->asked, effect->sender, effect->id, 0, message);
    }
    if (effect->parent == BB_EFFECT_ROOT_ID) {
        effect->truth = BB_EFFECT_ROOT;
        return;
    }
    guint32 work = parent_in(&sweep->begun, effect->sender, effect);
    sweep->work[message] = work;
    set_cause(effect, latest_of(sweep, work, effect->sender, effect->parent, effect->path));
}

// What goes on is the work that its call belongs to; or, where that is not in the trace (not: later
// by clocks that differ), what the return says.
static void arrive_return(Sweep *sweep, guint32 message)
{
    const BbEffect *effect = bb_effects_at(sweep->effects, message), *made = effect;
    guint32 node = effect->receiver, call = sweep->work[message], work;
    if (call != NONE) {
        made = bb_effects_at(sweep->effects, call);
        work = sweep->work[call];
    } else if (get(&sweep->made, node, effect->id, 0) == NONE) {
        work = parent_in(&sweep->begun, node, effect);
    } else {
        return;
    }
    if (work != NONE)
        sweep->latest[work] = message;
    else if (made->parent != BB_EFFECT_NO_ID && made->parent != BB_EFFECT_ROOT_ID)
        put(&sweep->unseen, node, made->parent, made->path, message);
}

static void arrive(Sweep *sweep, guint32 message)
{
    const BbEffect *effect = bb_effects_at(sweep->effects, message);
    if (effect->kind == BB_RETURN) {
        arrive_return(sweep, message);
        return;
    }
    sweep->latest[message] = message;
    if (effect->kind == BB_CALL)
        put(&sweep->entered, effect->receiver, effect->path, 0, message);
    if (effect->id == BB_EFFECT_NO_ID)
        return;
    put(&sweep->begun, effect->receiver, effect->id, effect->path, message);
    if (get(&sweep->first, effect->receiver, effect->id, effect->path) == NONE)
        put(&sweep->first, effect->receiver, effect->id, effect->path, message);
}

static int compare_events(gconstpointer a, gconstpointer b)
{
    const Event *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->message != y->message)
        return x->message < y->message ? -1 : 1;
    return x->arrives - y->arrives;
}

static void note_calls(Sweep *sweep)
{
    for (guint32 i = 0; i < sweep->effects->effects->len; i++) {
        const BbEffect *effect = bb_effects_at(sweep->effects, i);
        if (effect->kind == BB_CALL && effect->id != BB_EFFECT_NO_ID)
            put(&sweep->made, effect->sender, effect->id, 0, i);
    }
}

static void run_events(Sweep *sweep)
{
    guint32 n = sweep->effects->effects->len;
    g_autoptr(GArray) events = g_array_sized_new(FALSE, FALSE, sizeof(Event), 2 * n);
    for (guint32 i = 0; i < n; i++) {
        const BbEffect *effect = bb_effects_at(sweep->effects, i);
        Event both[] = {{effect->sent_ns, i, false}, {effect->arrived_ns, i, true}};
        g_array_append_vals(events, both, G_N_ELEMENTS(both));
    }
    g_array_sort(events, compare_events);
    for (guint k = 0; k < events->len; k++) {
        const Event *event = &g_array_index(events, Event, k);
        if (event->arrives)
            arrive(sweep, event->message);
        else if (bb_effects_at(sweep->effects, event->message)->kind == BB_RETURN)
            send_return(sweep, event->message);
        else
            send_other(sweep, event->message);
    }
}

// What was sent before its cause, by clocks that differ.
static void find_late(Sweep *sweep, guint32 message)
{
    BbEffect *effect = bb_effects_at(sweep->effects, message);
    guint32 work;
    if (effect->kind == BB_RETURN) {
        guint32 call = call_of(sweep, effect);
        work = call != NONE ? answered(sweep, call, effect->sender) : NONE;
    } else {
        work = parent_in(&sweep->first, effect->sender, effect);
    }
    if (work != NONE && work != message)
        set_cause(effect, work);
}

// A call or return without id belongs to nothing that could be looked up.
static bool is_told(const BbEffect *effect)
{
    return effect->parent != BB_EFFECT_NO_ID &&
           (effect->kind == BB_FREE || effect->id != BB_EFFECT_NO_ID);
}

void bb_causes_find(BbEffects *effects)
{
    Sweep sweep;
    sweep_init(&sweep, effects);
    note_calls(&sweep);
    run_events(&sweep);
    for (guint32 i = 0; i < effects->effects->len; i++) {
        BbEffect *effect = bb_effects_at(effects, i);
        if (effect->truth == BB_EFFECT_LOST)
            find_late(&sweep, i);
        if (!is_told(effect)) {
            effect->truth = BB_EFFECT_UNTOLD;
            effect->real = NONE;
        }
    }
    sweep_clear(&sweep);
}
