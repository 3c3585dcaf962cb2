// SPDX-License-Identifier: Apache-2.0
// Traces made to hurt: what the joint choice of parents does with them ends soon.
#include "tests/unit/infer.h"
#include "tests/unit/test.h"

#define FAR_NS (G_GINT64_CONSTANT(1) << 60) // later than any gap that is told apart
#define SOON_S 20

typedef struct {
    BbNames *names;
    BbPairs *pairs;
    guint64 calls;
    gint64 start;
} Trace;

static Trace trace_new(void)
{
    Trace trace = {.names = bb_names_new(), .start = g_get_monotonic_time()};
    trace.pairs = bb_pairs_new(trace.names);
    return trace;
}

static void trace_clear(Trace *trace)
{
    bb_pairs_free(trace->pairs);
    bb_names_free(trace->names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Trace, trace_clear)

// arrived_ns: BB_TIME_NONE where one clock tells all.
static void call(Trace *trace, const char *from, const char *to, gint64 call_ns, gint64 arrived_ns,
                 gint64 return_ns)
{
    BbMessage message = bb_message_empty();
    message.kind = BB_CALL;
    message.sender = bb_names_intern(trace->names, from);
    message.receiver = bb_names_intern(trace->names, to);
    message.id = (BbId){++trace->calls, BB_ID_HEX16};
    message.time_ns = call_ns;
    message.recv_ns = arrived_ns;
    ck_assert(bb_pairs_push(trace->pairs, &message));
    message.kind = BB_RETURN;
    message.sender = bb_names_intern(trace->names, to);
    message.receiver = bb_names_intern(trace->names, from);
    message.time_ns = return_ns;
    message.recv_ns = BB_TIME_NONE;
    ck_assert(bb_pairs_push(trace->pairs, &message));
}

static BbPaths *infer(Trace *trace)
{
    BbNestingOptions options = bb_nesting_options_default();
    BbPaths *paths = infer_paths(trace->pairs, trace->names, &options);
    ck_assert_uint_eq(paths->n_calls, trace->calls);
    ck_assert_int_lt(g_get_monotonic_time() - trace->start, SOON_S * G_USEC_PER_SEC);
    return paths;
}

// Calls that arrived two ends of time before they were answered, then calls of nobody.
START_TEST(longest_calls)
{
    g_auto(Trace) trace = trace_new();
    gint64 middle = 2 * FAR_NS;
    call(&trace, "Q", "R", middle, BB_TIME_NONE, middle + 100);
    for (guint i = 0; i < 3; i++)
        call(&trace, "A", "B", middle + 1 + i, middle - FAR_NS - 5, middle + FAR_NS + i);
    for (guint i = 0; i < 30; i++)
        call(&trace, "B", "C", middle + 2 * FAR_NS + 10 * i, BB_TIME_NONE,
             middle + 2 * FAR_NS + 10 * i + 5);
    g_autoptr(BbPaths) paths = infer(&trace);
    ck_assert_uint_eq(paths->facts.children, 0);
}
END_TEST

// All in three seconds but the last, ten years later: the mean rate of events says nothing.
START_TEST(burst_and_silence)
{
    g_auto(Trace) trace = trace_new();
    gint64 far_ns = 10 * 365 * 86400 * G_GINT64_CONSTANT(1000000000);
    for (guint i = 0; i < 100000; i++) {
        bool is_long = i < 50000 && i % 20 == 0;
        call(&trace, "A", "B", 1000 * i, BB_TIME_NONE, 1000 * i + (is_long ? 2000000000 : 500));
        gint64 start_ns = 2500000000 + 1000 * (gint64)i;
        call(&trace, "B", "C", start_ns, BB_TIME_NONE, start_ns + 10);
    }
    call(&trace, "A", "B", far_ns, BB_TIME_NONE, far_ns + 9);
    call(&trace, "B", "C", far_ns + 2, BB_TIME_NONE, far_ns + 4);
    g_autoptr(BbPaths) paths = infer(&trace);
    ck_assert_uint_eq(paths->facts.children, 1);
}
END_TEST

// A node with more calls than are learned from, of which one alone makes a call.
START_TEST(one_child)
{
    g_auto(Trace) trace = trace_new();
    for (guint i = 0; i < 20000; i++)
        call(&trace, "A", "B", 1000 * i, BB_TIME_NONE, 1000 * i + 900);
    call(&trace, "B", "C", 12250100, BB_TIME_NONE, 12250200);
    g_autoptr(BbPaths) paths = infer(&trace);
    ck_assert_uint_eq(paths->facts.children, 1);
}
END_TEST

TEST_MAIN("hostile", longest_calls, burst_and_silence, one_child)
