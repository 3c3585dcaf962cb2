// SPDX-License-Identifier: Apache-2.0
// In: messages. Out: how many of them, and who calls whom how often and how fast, by interval.
#include "diagnose/pulse.h"

#include "data/keys.h"
#include "data/pool.h"
#include "data/status.h"
#include "diagnose/awaited.h"

struct BbPulse {
    const BbNames *names;
    guint edge_limit;
    BbAwaited *open;
    GHashTable *edges; // of BbPulseEdge, -> itself
    BbPool pool;
    guint64 messages;
    BbPulseSum other, other_total;
};

static guint edge_hash(gconstpointer key)
{
    const BbPulseEdge *edge = key;
    return bb_keys_mix((guint64)edge->caller << 32 | edge->callee, edge->proto);
}

static gboolean edge_equal(gconstpointer a, gconstpointer b)
{
    const BbPulseEdge *x = a, *y = b;
    return x->caller == y->caller && x->callee == y->callee && x->proto == y->proto;
}

BbPulse *bb_pulse_new(const BbNames *names, guint open_limit, guint edge_limit)
{
    g_return_val_if_fail(edge_limit > 0, NULL);
    BbPulse *pulse = g_new0(BbPulse, 1);
    pulse->names = names;
    pulse->edge_limit = edge_limit;
    pulse->open = bb_awaited_new(open_limit);
    pulse->edges = g_hash_table_new(edge_hash, edge_equal);
    bb_pool_init(&pulse->pool, sizeof(BbPulseEdge));
    return pulse;
}

void bb_pulse_free(BbPulse *pulse)
{
    if (!pulse)
        return;
    bb_awaited_free(pulse->open);
    g_hash_table_destroy(pulse->edges);
    bb_pool_clear(&pulse->pool);
    g_free(pulse);
}

// ---- sums ---------------------------------------------------------------------------------------

gint64 bb_pulse_sum_mean(const BbPulseSum *sum)
{
    return sum->timed ? sum->latency_ns / (gint64)sum->timed : 0;
}

void bb_pulse_sum_add(BbPulseSum *sum, const BbPulseSum *other)
{
    sum->calls += other->calls;
    sum->returns += other->returns;
    sum->errors += other->errors;
    sum->timed += other->timed;
    sum->latency_ns += MIN(other->latency_ns, G_MAXINT64 - sum->latency_ns);
    sum->max_ns = MAX(sum->max_ns, other->max_ns);
}

// ---- messages -----------------------------------------------------------------------------------

// Where an edge is counted: its own sum, or that of others.
static BbPulseSum *sum_of(BbPulse *pulse, guint32 caller, guint32 callee, guint32 proto)
{
    const BbPulseEdge key = {.caller = caller, .callee = callee, .proto = proto};
    BbPulseEdge *edge = g_hash_table_lookup(pulse->edges, &key);
    if (edge)
        return &edge->now;
    if (g_hash_table_size(pulse->edges) == pulse->edge_limit)
        return &pulse->other;
    edge = bb_pool_take(&pulse->pool);
    *edge = key;
    g_hash_table_add(pulse->edges, edge);
    return &edge->now;
}

static void take_call(BbPulse *pulse, const BbMessage *m)
{
    sum_of(pulse, m->sender, m->receiver, m->proto)->calls++;
    if (bb_id_is_known(m->id))
        (void)bb_awaited_add(pulse->open, m);
}

// A time before 1970 is possible; two of them may be further apart than fits.
static gint64 latency_of(gint64 call_ns, gint64 return_ns)
{
    gint64 latency_ns;
    if (return_ns <= call_ns)
        return 0;
    return __builtin_sub_overflow(return_ns, call_ns, &latency_ns) ? G_MAXINT64 : latency_ns;
}

static void take_return(BbPulse *pulse, const BbMessage *m)
{
    BbAwaitedCall call;
    bool found = bb_awaited_take(pulse->open, m, &call);
    guint32 proto = found ? call.proto : m->proto;
    const BbPulseSum one = {
        .returns = 1,
        .errors = bb_status_is_error(bb_names_text(pulse->names, m->proto),
                                     bb_names_text(pulse->names, m->status)),
        .timed = found,
        .latency_ns = found ? latency_of(call.time_ns, m->time_ns) : 0,
        .max_ns = found ? latency_of(call.time_ns, m->time_ns) : 0,
    };
    bb_pulse_sum_add(sum_of(pulse, m->receiver, m->sender, proto), &one);
}

void bb_pulse_push(BbPulse *pulse, const BbMessage *message)
{
    pulse->messages++;
    if (message->kind == BB_CALL)
        take_call(pulse, message);
    else if (message->kind == BB_RETURN)
        take_return(pulse, message);
}

// ---- beats --------------------------------------------------------------------------------------

static gint by_calls(gconstpointer a, gconstpointer b)
{
    const BbPulseEdge *x = a, *y = b;
    if (x->now.calls != y->now.calls)
        return x->now.calls < y->now.calls ? 1 : -1;
    if (x->caller != y->caller)
        return x->caller < y->caller ? -1 : 1;
    if (x->callee != y->callee)
        return x->callee < y->callee ? -1 : 1;
    return (x->proto > y->proto) - (x->proto < y->proto);
}

// The interval of an edge ends. Returns whether it makes room.
static bool end_edge(BbPulse *pulse, BbPulseEdge *edge, bool full, BbPulseBeat *beat)
{
    bool idle = edge->now.calls + edge->now.returns == 0;
    if (idle && full) {
        bb_pulse_sum_add(&pulse->other_total, &edge->total);
        return true;
    }
    bb_pulse_sum_add(&edge->total, &edge->now);
    bb_pulse_sum_add(&beat->now, &edge->now);
    g_array_append_vals(beat->edges, edge, 1);
    edge->now = (BbPulseSum){0};
    return false;
}

BbPulseBeat bb_pulse_take(BbPulse *pulse)
{
    guint known = g_hash_table_size(pulse->edges);
    BbPulseBeat beat = {
        .messages = pulse->messages,
        .now = pulse->other,
        .edges = g_array_sized_new(FALSE, FALSE, sizeof(BbPulseEdge), known),
        .other = pulse->other,
        .open = bb_awaited_count(pulse->open),
        .forgotten = bb_awaited_forgotten(pulse->open),
    };
    GHashTableIter iter;
    gpointer edge;
    g_hash_table_iter_init(&iter, pulse->edges);
    while (g_hash_table_iter_next(&iter, &edge, NULL)) {
        if (!end_edge(pulse, edge, known == pulse->edge_limit, &beat))
            continue;
        g_hash_table_iter_remove(&iter);
        bb_pool_give(&pulse->pool, edge);
    }
    g_array_sort(beat.edges, by_calls);
    bb_pulse_sum_add(&pulse->other_total, &pulse->other);
    beat.other_total = pulse->other_total;
    pulse->other = (BbPulseSum){0};
    pulse->messages = 0;
    return beat;
}

void bb_pulse_beat_clear(BbPulseBeat *beat)
{
    g_clear_pointer(&beat->edges, g_array_unref);
}
