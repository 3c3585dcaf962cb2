// SPDX-License-Identifier: Apache-2.0
// The pulse of a flow of messages. The slow twin keeps every message of the run and counts anew
// for each beat; it looks for the call of a return among all earlier messages.
#include "diagnose/pulse.h"

#include "data/status.h"
#include "diagnose/awaited.h"
#include "tests/unit/test.h"

#define MS ((gint64)1000000)

typedef struct {
    BbNames *names;
    GArray *messages; // of BbMessage
} Story;

static guint32 pick(Story *story, GRand *rand, const char *const *texts, gint count)
{
    return bb_names_intern(story->names, texts[g_rand_int_range(rand, 0, count)]);
}

static void add_message(Story *story, GRand *rand, gint64 at_ns)
{
    static const char *const nodes[] = {"a", "b", "c"}, *const protos[] = {"http", "redis"},
                             *const codes[] = {"200", "500", "-ERR", "OK", "404"};
    BbMessage m = bb_message_empty();
    m.time_ns = at_ns;
    m.kind = (BbKind)g_rand_int_range(rand, 0, 3);
    m.sender = pick(story, rand, nodes, 3);
    m.receiver = pick(story, rand, nodes, 3);
    m.proto = pick(story, rand, protos, 2);
    if (m.kind == BB_RETURN)
        m.status = pick(story, rand, codes, 5);
    if (g_rand_int_range(rand, 0, 20))
        m.id = bb_id_number((guint64)g_rand_int_range(rand, 0, 12));
    g_array_append_val(story->messages, m);
}

static Story *story_new(guint32 seed, guint count)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    Story *story = g_new0(Story, 1);
    story->names = bb_names_new();
    story->messages = g_array_new(FALSE, FALSE, sizeof(BbMessage));
    gint64 at_ns = 1700000000000 * MS;
    for (guint i = 0; i < count; i++) {
        at_ns += g_rand_int_range(rand, -3, 20) * MS; // some disorder
        add_message(story, rand, at_ns);
    }
    return story;
}

static void story_free(Story *story)
{
    g_array_unref(story->messages);
    bb_names_free(story->names);
    g_free(story);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Story, story_free)

// ---- the slow twin ------------------------------------------------------------------------------

static const BbMessage *at(const Story *story, guint i)
{
    return &g_array_index(story->messages, BbMessage, i);
}

static bool is_pair(const BbMessage *call, const BbMessage *back)
{
    return call->kind == BB_CALL && back->kind == BB_RETURN && call->id.form != BB_ID_ABSENT &&
           bb_id_equal(call->id, back->id) && call->sender == back->receiver &&
           call->receiver == back->sender;
}

// The latest earlier call of a return, unless another return came between; of the calls that wait
// only the last `limit` are known. Returns -1 where there is none.
static gint call_of(const Story *story, guint back, guint limit)
{
    gint found = -1;
    for (guint i = 0; i < back; i++) {
        if (is_pair(at(story, i), at(story, back)))
            found = (gint)i;
        else if (found >= 0 && is_pair(at(story, (guint)found), at(story, i)))
            found = -1;
    }
    guint open = 0; // that came later, and were open at some time: enough to push it out
    if (found < 0 || limit == G_MAXUINT)
        return found;
    g_autoptr(GPtrArray) waiting = g_ptr_array_new();
    for (guint i = 0; i < back; i++) {
        const BbMessage *m = at(story, i);
        for (guint j = 0; j < waiting->len; j++) {
            const BbMessage *w = g_ptr_array_index(waiting, j);
            bool again = m->kind == BB_CALL && bb_id_equal(w->id, m->id) &&
                         w->sender == m->sender && w->receiver == m->receiver;
            if (again || is_pair(w, m)) {
                g_ptr_array_remove_index(waiting, j);
                break;
            }
        }
        if (m->kind != BB_CALL || m->id.form == BB_ID_ABSENT)
            continue;
        if (waiting->len == limit)
            g_ptr_array_remove_index(waiting, 0);
        g_ptr_array_add(waiting, (gpointer)m);
    }
    for (guint j = 0; j < waiting->len; j++)
        open += g_ptr_array_index(waiting, j) == at(story, (guint)found);
    return open ? found : -1;
}

static bool is_of(const BbMessage *m, guint32 proto, const BbPulseEdge *edge)
{
    guint32 caller = m->kind == BB_CALL ? m->sender : m->receiver;
    guint32 callee = m->kind == BB_CALL ? m->receiver : m->sender;
    return m->kind != BB_FREE &&
           (!edge || (caller == edge->caller && callee == edge->callee && proto == edge->proto));
}

// What messages from first to before last did, by the edge, or by all.
static BbPulseSum count(const Story *story, guint first, guint last, const BbPulseEdge *edge,
                        guint limit)
{
    BbPulseSum sum = {0};
    for (guint i = first; i < last; i++) {
        const BbMessage *m = at(story, i);
        gint call = m->kind == BB_RETURN ? call_of(story, i, limit) : -1;
        guint32 proto = call >= 0 ? at(story, (guint)call)->proto : m->proto;
        if (!is_of(m, proto, edge))
            continue;
        sum.calls += m->kind == BB_CALL;
        sum.returns += m->kind == BB_RETURN;
        sum.errors +=
            m->kind == BB_RETURN && bb_status_is_error(bb_names_text(story->names, m->proto),
                                                       bb_names_text(story->names, m->status));
        if (call < 0)
            continue;
        gint64 latency_ns = MAX(m->time_ns - at(story, (guint)call)->time_ns, 0);
        sum.timed++;
        sum.latency_ns += latency_ns;
        sum.max_ns = MAX(sum.max_ns, latency_ns);
    }
    return sum;
}

static void check_equal(const BbPulseSum *a, const BbPulseSum *b)
{
    ck_assert_uint_eq(a->calls, b->calls);
    ck_assert_uint_eq(a->returns, b->returns);
    ck_assert_uint_eq(a->errors, b->errors);
    ck_assert_uint_eq(a->timed, b->timed);
    ck_assert_int_eq(a->latency_ns, b->latency_ns);
    ck_assert_int_eq(a->max_ns, b->max_ns);
}

static void check_beat(const Story *story, const BbPulseBeat *beat, guint first, guint last,
                       guint limit)
{
    BbPulseSum all = count(story, first, last, NULL, limit);
    ck_assert_uint_eq(beat->messages, last - first);
    check_equal(&beat->now, &all);
    guint64 calls = beat->other.calls;
    for (guint i = 0; i < beat->edges->len; i++) {
        const BbPulseEdge *edge = &g_array_index(beat->edges, BbPulseEdge, i);
        BbPulseSum now = count(story, first, last, edge, limit);
        check_equal(&edge->now, &now);
        calls += now.calls;
        if (i > 0)
            ck_assert_uint_ge(edge[-1].now.calls, edge->now.calls);
    }
    ck_assert_uint_eq(calls, all.calls);
}

static void run_twin(const char *name, guint limit)
{
    g_autoptr(Story) story = story_new(test_seed(name), 600);
    g_autoptr(BbPulse) pulse =
        bb_pulse_new(story->names, limit == G_MAXUINT ? 100000 : limit, 1000);
    guint first = 0;
    for (guint i = 0; i < story->messages->len; i++) {
        bb_pulse_push(pulse, at(story, i));
        if (i % 97 && i + 1 < story->messages->len)
            continue;
        g_auto(BbPulseBeat) beat = bb_pulse_take(pulse);
        check_beat(story, &beat, first, i + 1, limit);
        first = i + 1;
        for (guint j = 0; j < beat.edges->len; j++) {
            const BbPulseEdge *edge = &g_array_index(beat.edges, BbPulseEdge, j);
            BbPulseSum total = count(story, 0, first, edge, limit);
            check_equal(&edge->total, &total);
        }
        ck_assert_uint_eq(beat.other.calls + beat.other_total.calls, 0);
        ck_assert(limit == G_MAXUINT || beat.open <= limit);
    }
    g_auto(BbPulseBeat) empty = bb_pulse_take(pulse);
    ck_assert_uint_eq(empty.messages + empty.now.calls + empty.now.returns, 0);
    ck_assert((empty.forgotten > 0) == (limit != G_MAXUINT));
}

START_TEST(beats_are_those_of_the_slow_twin)
{
    run_twin("pulse", G_MAXUINT);
}
END_TEST

START_TEST(so_they_are_where_open_calls_are_forgotten)
{
    run_twin("pulse, few open calls", 5);
}
END_TEST

// ---- limits -------------------------------------------------------------------------------------

static void push_call(BbPulse *pulse, guint32 caller, guint32 callee)
{
    BbMessage m = bb_message_empty();
    m.kind = BB_CALL;
    m.time_ns = 1;
    m.sender = caller;
    m.receiver = callee;
    bb_pulse_push(pulse, &m);
}

START_TEST(edges_beyond_the_limit_are_others)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPulse) pulse = bb_pulse_new(names, 10, 2);
    guint32 a = bb_names_intern(names, "a"), b = bb_names_intern(names, "b"),
            c = bb_names_intern(names, "c");
    push_call(pulse, a, b);
    push_call(pulse, a, c);
    push_call(pulse, b, c);
    push_call(pulse, b, c);
    g_auto(BbPulseBeat) first = bb_pulse_take(pulse);
    ck_assert_uint_eq(first.edges->len, 2);
    ck_assert_uint_eq(first.other.calls, 2);
    ck_assert_uint_eq(first.now.calls, 4);
    push_call(pulse, a, b);
    push_call(pulse, b, c); // the table is full until it is felt
    g_auto(BbPulseBeat) second = bb_pulse_take(pulse);
    ck_assert_uint_eq(second.edges->len, 1); // a -> c made room
    ck_assert_uint_eq(second.other.calls, 1);
    ck_assert_uint_eq(second.other_total.calls, 4); // with that of a -> c
    push_call(pulse, b, c);
    g_auto(BbPulseBeat) third = bb_pulse_take(pulse);
    ck_assert_uint_eq(third.edges->len, 1); // a -> b, idle, made room for who may come
    ck_assert_uint_eq(third.other.calls, 0);
    ck_assert_uint_eq(third.other_total.calls, 6);
    const BbPulseEdge *edge = &g_array_index(third.edges, BbPulseEdge, 0);
    ck_assert(edge->caller == b && edge->callee == c && edge->total.calls == 1);
    g_auto(BbPulseBeat) fourth = bb_pulse_take(pulse);
    ck_assert_uint_eq(fourth.edges->len, 1); // idle, but there is room
    ck_assert_uint_eq(g_array_index(fourth.edges, BbPulseEdge, 0).now.calls, 0);
}
END_TEST

START_TEST(latencies_saturate)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPulse) pulse = bb_pulse_new(names, 10, 2);
    for (guint i = 0; i < 3; i++) {
        BbMessage m = bb_message_empty();
        m.kind = BB_CALL;
        m.id = bb_id_number(i);
        m.time_ns = G_MININT64 + 1;
        bb_pulse_push(pulse, &m);
        m.kind = BB_RETURN;
        m.time_ns = G_MAXINT64;
        bb_pulse_push(pulse, &m);
    }
    g_auto(BbPulseBeat) beat = bb_pulse_take(pulse);
    ck_assert_uint_eq(beat.now.timed, 3);
    ck_assert_int_eq(beat.now.latency_ns, G_MAXINT64);
    ck_assert_int_eq(bb_pulse_sum_mean(&beat.now), G_MAXINT64 / 3);
    ck_assert_int_eq(beat.now.max_ns, G_MAXINT64);
    const BbPulseSum none = {0};
    ck_assert_int_eq(bb_pulse_sum_mean(&none), 0);
}
END_TEST

START_TEST(what_waits_is_in_order_of_arrival)
{
    g_autoptr(BbAwaited) awaited = bb_awaited_new(2);
    BbMessage m = bb_message_empty();
    BbAwaitedCall call;
    m.kind = BB_CALL;
    for (guint i = 1; i <= 3; i++) {
        m.id = bb_id_number(i);
        m.time_ns = i;
        bb_awaited_watch(awaited, bb_awaited_add(awaited, &m));
    }
    m.id = bb_id_number(2);
    m.time_ns = 4;
    bb_awaited_watch(awaited,
                     bb_awaited_add(awaited, &m)); // again: comes last, and pushes nothing out
    ck_assert_uint_eq(bb_awaited_count(awaited), 2);
    ck_assert_uint_eq(bb_awaited_forgotten(awaited), 1);
    const BbAwaitedCall *first = bb_awaited_since(awaited, G_MININT64);
    ck_assert_int_eq(first->time_ns, 3);
    ck_assert_int_eq(bb_awaited_next(first)->time_ns, 4);
    ck_assert_ptr_null(bb_awaited_next(bb_awaited_next(first)));
    m.kind = BB_RETURN;
    ck_assert(bb_awaited_take(awaited, &m, &call) && call.time_ns == 4);
    ck_assert(!bb_awaited_take(awaited, &m, &call));
    bb_awaited_clear(awaited);
    ck_assert_ptr_null(bb_awaited_since(awaited, G_MININT64));
    ck_assert_uint_eq(bb_awaited_forgotten(awaited), 1);
}
END_TEST

TEST_MAIN("pulse", beats_are_those_of_the_slow_twin, so_they_are_where_open_calls_are_forgotten,
          edges_beyond_the_limit_are_others, latencies_saturate, what_waits_is_in_order_of_arrival)
