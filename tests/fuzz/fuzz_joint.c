// SPDX-License-Identifier: Apache-2.0
// Calls at any times through both choices of parents: chains of parents end, confidences are
// probabilities, facts are the same. An input: how to infer (2 bytes), then 7 bytes a call.
#include "nesting/nesting.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

enum { HEAD = 2, CALL = 7, NODES = 6, CALLS_MOST = 80 };

// A time later (or earlier) by a signed mantissa and an exponent; as it was where that is none.
static gint64 shifted(gint64 time_ns, guint8 mantissa, guint8 exponent)
{
    gint64 step_ns = (gint64)((guint64)(mantissa & 0x7f) << exponent % 57), to_ns;
    if (__builtin_add_overflow(time_ns, mantissa & 0x80 ? -step_ns : step_ns, &to_ns) ||
        to_ns == BB_TIME_NONE)
        return time_ns;
    return to_ns;
}

static void push(BbPairs *pairs, BbKind kind, guint8 nodes, guint64 id, guint8 op, const char *conn,
                 gint64 time_ns, gint64 recv_ns)
{
    BbMessage message = bb_message_empty();
    message.kind = kind;
    message.sender = 1 + (kind == BB_CALL ? nodes : nodes >> 4) % NODES;
    message.receiver = 1 + (kind == BB_CALL ? nodes >> 4 : nodes) % NODES;
    message.id = bb_id_number(id);
    message.op = kind == BB_CALL && op % 4 == 0 ? 1u + op / 4 % NODES : BB_NAME_NONE;
    message.conn = conn;
    message.time_ns = time_ns;
    message.recv_ns = recv_ns;
    g_assert(bb_pairs_push(pairs, &message));
}

// One of the connections that there are, where they are known.
static const char *conn_of(const guint8 *data, const guint8 *call)
{
    static const char *conns[] = {"a", "b", "connection", "d", "e", "f", "g", NULL};
    return data[0] & 4 ? conns[(call[1] ^ call[1] >> 3) % G_N_ELEMENTS(conns)] : NULL;
}

// nodes; flags and op; the call's step from the last; how long it lasts; two clocks.
static BbPairs *read_calls(const BbNames *names, const guint8 *data, gsize size, guint64 *calls)
{
    BbPairs *pairs = bb_pairs_new(names);
    gint64 time_ns = 0;
    *calls = 0;
    for (gsize at = HEAD; at + CALL <= size && *calls < CALLS_MOST; at += CALL, ++*calls) {
        const guint8 *call = data + at;
        time_ns = shifted(time_ns, call[2], call[3]);
        gint64 end_ns = shifted(time_ns, call[4], call[5]);
        bool two = call[6] & 1;
        gint64 off = call[6] >> 1;
        const char *conn = conn_of(data, call);
        push(pairs, BB_CALL, call[0], *calls, call[1], conn, time_ns,
             two ? shifted(time_ns, (guint8)off, 0) : BB_TIME_NONE);
        if (call[1] % 16 != 15)
            push(pairs, BB_RETURN, call[0], *calls, call[1], conn, end_ns,
                 two ? shifted(end_ns, (guint8)off, 0) : BB_TIME_NONE);
    }
    return pairs;
}

// With or without return, it is known until when it was waited for.
static bool has_end(const BbCall *call)
{
    return bb_call_end(call, false) != BB_TIME_NONE;
}

static void check(const BbPaths *paths, bool joint)
{
    for (guint32 i = 0; i < paths->n_calls; i++) {
        guint32 steps = 0, parent = paths->parent[i];
        for (guint32 c = i; c != BB_CALL_NO_PARENT; c = paths->parent[c])
            g_assert(steps++ < paths->n_calls);
        g_assert(joint ? paths->confidence[i] >= 0 && paths->confidence[i] <= 1
                       : paths->confidence[i] == BB_CONFIDENCE_NONE);
        if (parent == BB_CALL_NO_PARENT)
            continue;
        g_assert(paths->calls[parent].callee == paths->calls[i].caller);
        g_assert(has_end(&paths->calls[parent]) && has_end(&paths->calls[i]));
    }
}

// What both choices have in common: the paper's knows nothing of calls without return.
static void check_facts(BbFacts joint, const BbFacts *paper)
{
    g_assert(joint.calls_unanswered <= joint.calls_unreturned);
    g_assert(joint.calls_late <= joint.calls - joint.calls_unreturned);
    g_assert(joint.candidates >= joint.children);
    g_assert(joint.candidates >= paper->candidates && joint.children >= paper->children);
    joint.calls_unanswered = joint.calls_late = 0;
    joint.quantum_ns = paper->quantum_ns;
    joint.in_quantum = paper->in_quantum;
    joint.children = paper->children;
    joint.candidates = paper->candidates;
    g_assert(memcmp(&joint, paper, sizeof joint) == 0);
}

static BbPaths *infer(const BbNames *names, const guint8 *data, gsize size, BbAssign assign)
{
    guint64 calls;
    g_autoptr(BbPairs) pairs = read_calls(names, data, size, &calls);
    BbNestingOptions options = bb_nesting_options_default();
    options.assign = assign;
    options.threads = 1 + (data[0] >> 4) % 3;
    options.labels = data[0] & 1;
    options.skew_window_ns = data[0] & 2 ? (gint64)data[1] << data[1] % 57 : 0;
    g_autoptr(BbNesting) nesting = bb_nesting_new(names, &options);
    BbPaths *paths = bb_nesting_run(nesting, pairs);
    g_assert(paths->facts.calls == calls && paths->n_calls == calls);
    check(paths, assign == BB_ASSIGN_JOINT);
    return paths;
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    if (size < HEAD)
        return 0;
    g_autoptr(BbNames) names = bb_names_new();
    for (guint i = 0; i < NODES; i++)
        bb_names_intern(names, (const char[]){(char)('A' + i), '\0'});
    g_autoptr(BbPaths) joint = infer(names, data, size, BB_ASSIGN_JOINT);
    g_autoptr(BbPaths) paper = infer(names, data, size, BB_ASSIGN_PAPER);
    check_facts(joint->facts, &paper->facts);
    return 0;
}
