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
    BbTally calls;   // (caller, callee, id): the latest call that was made
    BbTally asked;   // (caller, id): likewise, whoever got it
    BbTally entered; // (receiver, path): the latest call that arrived
} Sweep;

static void sweep_init(Sweep *sweep, BbEffects *effects)
{
    guint32 n = effects->effects->len;
    *sweep = (Sweep){.effects = effects, .work = g_new(guint32, n), .latest = g_new(guint32, n)};
    for (guint32 i = 0; i < n; i++)
        sweep->work[i] = sweep->latest[i] = NONE;
    BbTally *const tables[] = {&sweep->begun, &sweep->first, &sweep->calls, &sweep->asked,
                               &sweep->entered};
    for (gsize i = 0; i < G_N_ELEMENTS(tables); i++)
        bb_tally_init(tables[i]);
}

static void sweep_clear(Sweep *sweep)
{
    g_free(sweep->work);
    g_free(sweep->latest);
    BbTally *const tables[] = {&sweep->begun, &sweep->first, &sweep->calls, &sweep->asked,
                               &sweep->entered};
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

// The call or free message that parent= means: of its path, or of none that is told.
static guint32 parent_in(const BbTally *table, const BbEffect *effect)
{
    guint32 found = get(table, effect->sender, effect->parent, effect->path);
    return found != NONE ? found : get(table, effect->sender, effect->parent, BB_EFFECT_NO_ID);
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
    set_cause(effect, ended != NONE ? sweep->latest[ended] : NONE);
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
    guint32 work = parent_in(&sweep->begun, effect);
    sweep->work[message] = work;
    set_cause(effect, work != NONE ? sweep->latest[work] : NONE);
}

static void arrive(Sweep *sweep, guint32 message)
{
    const BbEffect *effect = bb_effects_at(sweep->effects, message);
    guint32 work = sweep->work[message];
    if (effect->kind == BB_RETURN) {
        guint32 above = work != NONE ? sweep->work[work] : NONE;
        if (above != NONE)
            sweep->latest[above] = message;
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
        work = parent_in(&sweep->first, effect);
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
