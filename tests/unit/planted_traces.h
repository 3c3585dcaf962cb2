// SPDX-License-Identifier: Apache-2.0
// Traces with a planted truth, and how much of it the joint choice finds.
#pragma once

#include "data/random.h"
#include "tests/unit/infer.h"
#include "tests/unit/test.h"

#include <math.h>
#include <string.h>

#define MS 1000.0 // times of plans are microseconds
#define NAMES 300u

typedef struct {
    BbNames *names;
    BbRandom random;
    GArray *messages;
    GArray *truth; // [id]: the parent's id; 0: none
    double lost;   // share of calls to A that nobody saw
} Trace;

static inline Trace trace_new(guint64 seed)
{
    Trace trace = {.names = bb_names_new(), .random = bb_random_start(seed)};
    trace.messages = g_array_new(FALSE, FALSE, sizeof(BbMessage));
    trace.truth = g_array_new(FALSE, TRUE, sizeof(guint64));
    g_array_set_size(trace.truth, 1);
    for (guint i = 1; i < NAMES; i++) {
        g_autofree char *name = g_strdup_printf("n%u", i);
        bb_names_intern(trace.names, name);
    }
    return trace;
}

static inline void trace_clear(Trace *trace)
{
    bb_names_free(trace->names);
    g_array_unref(trace->messages);
    g_array_unref(trace->truth);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Trace, trace_clear)

static inline void send(Trace *trace, BbKind kind, guint from, guint to, guint64 id, gint64 time_ns)
{
    BbMessage message = bb_message_empty();
    message.kind = kind;
    message.sender = from;
    message.receiver = to;
    message.id = bb_id_number(id);
    message.time_ns = time_ns;
    g_array_append_val(trace->messages, message);
}

// A new id, and who caused it.
static inline guint64 begin(Trace *trace, guint64 parent)
{
    g_array_append_val(trace->truth, parent);
    return trace->truth->len - 1;
}

static inline void both(Trace *trace, guint from, guint to, guint64 id, double start, double end)
{
    send(trace, BB_CALL, from, to, id, (gint64)start * 1000);
    send(trace, BB_RETURN, to, from, id, (gint64)end * 1000);
}

// About so long, by a quarter more or less.
static inline double about(Trace *trace, double us)
{
    return us * exp(0.25 * bb_random_normal(&trace->random));
}

// A call of a node that calls nobody. Returns when it is over.
static inline double leaf(Trace *trace, guint from, guint to, guint64 parent, double start,
                          double us)
{
    double end = start + about(trace, us);
    both(trace, from, to, begin(trace, parent), start, end);
    return end;
}

enum { CLIENT = 1, A, B, C, D, E, B2, TIMER };

typedef double (*Plan)(Trace *trace, guint64 id, double at);

// ---- results -----------------------------------------------------------------------------------

static inline BbPaths *infer(const Trace *trace, const BbNestingOptions *options)
{
    g_autoptr(BbPairs) pairs = bb_pairs_new(trace->names);
    for (guint i = 0; i < trace->messages->len; i++)
        ck_assert(bb_pairs_push(pairs, &g_array_index(trace->messages, BbMessage, i)));
    return infer_paths(pairs, trace->names, options);
}

static inline void check_call(const BbPaths *paths, guint32 i)
{
    guint32 parent = paths->parent[i];
    ck_assert(paths->confidence[i] >= 0 && paths->confidence[i] <= 1);
    if (parent == BB_CALL_NO_PARENT)
        return;
    const BbCall *call = &paths->calls[i], *outer = &paths->calls[parent];
    ck_assert_uint_ne(parent, i);
    ck_assert_uint_eq(outer->callee, call->caller);
    ck_assert(bb_call_is_returned(call) && bb_call_is_returned(outer));
    ck_assert_int_le(outer->arrived_ns, call->call_ns);
}

// What must hold of every result.
static inline void check_whole(const BbPaths *paths)
{
    g_autofree guint8 *known = g_new0(guint8, paths->n_calls + 1); // ends
    for (guint32 i = 0; i < paths->n_calls; i++) {
        check_call(paths, i);
        guint32 steps = 0, c = i;
        for (; c != BB_CALL_NO_PARENT && !known[c]; c = paths->parent[c])
            if (++steps > paths->n_calls)
                ck_abort_msg("call %u is its own ancestor", i);
        for (c = i; c != BB_CALL_NO_PARENT && !known[c]; c = paths->parent[c])
            known[c] = 1;
    }
}

static inline BbPaths *infer_joint(const Trace *trace)
{
    BbNestingOptions options = bb_nesting_options_default();
    BbPaths *paths = infer(trace, &options);
    check_whole(paths);
    return paths;
}

typedef struct {
    guint links, right; // calls with a parent that is in the trace, and those it was found for
    guint roots, alone; // calls without, and those that were left so
    double parallelism;
} Score;

static inline Score score(const Trace *trace, const BbPaths *paths)
{
    Score score = {.parallelism = (double)paths->facts.candidates / MAX(paths->facts.children, 1)};
    g_autofree bool *seen = g_new0(bool, trace->truth->len);
    for (guint32 i = 0; i < paths->n_calls; i++)
        seen[paths->calls[i].id.number] = true;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        if (paths->calls[i].caller == CLIENT)
            continue;
        guint64 want = g_array_index(trace->truth, guint64, paths->calls[i].id.number);
        guint32 parent = paths->parent[i];
        guint64 got = parent == BB_CALL_NO_PARENT ? 0 : paths->calls[parent].id.number;
        bool has = want != 0 && seen[want];
        score.links += has;
        score.right += has && got == want;
        score.roots += !has;
        score.alone += !has && got == 0;
    }
    return score;
}

static inline double share(guint part, guint all)
{
    return all > 0 ? (double)part / all : 1;
}
