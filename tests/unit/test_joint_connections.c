// SPDX-License-Identifier: Apache-2.0
// The joint choice of parents on planted systems whose connections are known.
#include "tests/unit/planted_traces.h"

#include <stdio.h>

static const char *conn_of(const char *side, guint number)
{
    g_autofree char *text = g_strdup_printf("%s:%u", side, number);
    return g_intern_string(text);
}

// The message before the last ones, of a call and its return, goes on this connection.
static void on(Trace *trace, const char *conn)
{
    for (guint i = 1; i <= 2; i++)
        g_array_index(trace->messages, BbMessage, trace->messages->len - i).conn = conn;
}

// Workers that serve one connection each. held: else each has one of its own to B, a request holds
// one that nobody else uses then.
static void play_workers(Trace *trace, guint workers, guint each, bool held)
{
    g_autofree double *clock = g_new(double, workers);
    g_autofree double *busy = g_new0(double, 4 * workers); // connections, until then
    for (guint w = 0; w < workers; w++)
        clock[w] = (1000 + 20 * bb_random_unit(&trace->random)) * MS;
    for (guint i = 0; i < workers * each; i++) {
        guint w = 0, line = 0;
        for (guint v = 1; v < workers; v++)
            w = clock[v] < clock[w] ? v : w;
        guint64 id = begin(trace, 0);
        double at = clock[w];
        do
            line = (guint)bb_random_below(&trace->random, 4 * workers);
        while (busy[line] > at);
        for (guint k = 0; k < 4; k++) {
            double think = MS * bb_random_exponential(&trace->random);
            at = leaf(trace, A, B, id, at + think, MS * 2 * bb_random_exponential(&trace->random));
            on(trace, conn_of("b", held ? line : w));
        }
        busy[line] = at += MS * bb_random_exponential(&trace->random);
        both(trace, CLIENT, A, id, clock[w], at);
        on(trace, held ? conn_of("fresh", i) : conn_of("a", w));
        clock[w] = at + 6 * MS * bb_random_exponential(&trace->random);
    }
}

// Times alone say little of who caused whom here; connections do.
static void check_workers(guint workers, guint each, bool held, double right)
{
    g_auto(Trace) trace = trace_new(80 + workers);
    BbNestingOptions options = bb_nesting_options_default();
    play_workers(&trace, workers, each, held);
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    options.connections = false;
    g_autoptr(BbPaths) without = infer(&trace, &options);
    Score got = score(&trace, paths), less = score(&trace, without);
    printf("parallelism %.1f: right %.4f, without connections %.4f\n", got.parallelism,
           share(got.right, got.links), share(less.right, less.links));
    ck_assert_double_ge(share(got.right, got.links), right);
    ck_assert_double_lt(share(less.right, less.links), share(got.right, got.links) - 0.1);
}

START_TEST(threads_have_them)
{
    check_workers(4, 120, false, 0.98);
}
END_TEST

START_TEST(many_threads_have_them)
{
    check_workers(20, 20, false, 0.95);
}
END_TEST

START_TEST(requests_hold_them)
{
    check_workers(4, 120, true, 0.85);
}
END_TEST

TEST_MAIN("joint connections", threads_have_them, many_threads_have_them, requests_hold_them)
