// SPDX-License-Identifier: Apache-2.0
// Calls that are passed on and answered by another node than was called: with ids, without, over
// several hops, on clocks that differ; and orphaned returns that belong to nothing.
#include "nesting/forwarding.h"

#include "tests/unit/trace_lines.h"

static BbPaths *pair(const char *const *lines)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPairs) pairs = lines_push(names, lines);
    BbPaths *paths = bb_paths_new();
    bb_pairs_finish(pairs, paths);
    return paths;
}

static void check_counts(const BbPaths *paths, guint forwarded, guint unreturned, guint orphaned)
{
    ck_assert_uint_eq(paths->facts.forwarded, forwarded);
    ck_assert_uint_eq(paths->facts.calls_unreturned, unreturned);
    ck_assert_uint_eq(paths->facts.returns_orphaned, orphaned);
}

// Times in ms; -1 is none.
static void check_return(const BbPaths *paths, guint32 i, double replied, double returned)
{
    const double want[] = {replied, returned};
    const gint64 got[] = {paths->calls[i].replied_ns, paths->calls[i].return_ns};
    for (guint k = 0; k < G_N_ELEMENTS(want); k++)
        ck_assert_int_eq(got[k], want[k] == -1 ? BB_TIME_NONE : (gint64)(want[k] * LINE_MS));
}

START_TEST(with_ids)
{
    g_autoptr(BbPaths) paths = pair(LINES("C A B x1 1", "C A B x2 2", "C B C y7 3", "C B C y8 4",
                                          "R C A x2 8 status=404 end=9", "R C A x1 10"));
    check_counts(paths, 2, 0, 0);
    check_return(paths, 1, 8, 8); // A->B x2, and the earliest call of B
    check_return(paths, 2, 8, 8);
    check_return(paths, 0, 10, 10);
    check_return(paths, 3, 10, 10);
    ck_assert_int_eq(paths->calls[1].return_end_ns, 9 * 1000000);
    ck_assert_int_eq(paths->calls[0].return_end_ns, BB_TIME_NONE);
    ck_assert_uint_ne(paths->calls[1].status, BB_NAME_NONE);
    ck_assert_uint_ne(paths->calls[2].status, BB_NAME_NONE);
    ck_assert_uint_eq(paths->calls[0].status, BB_NAME_NONE);
}
END_TEST

// The id is passed on with the call: it tells the hops too.
START_TEST(with_the_id_passed_on)
{
    g_autoptr(BbPaths) paths = pair(
        LINES("C A B x1 1", "C A B x2 2", "C B C x2 3", "C B C x1 4", "R C A x1 8", "R C A x2 10"));
    check_counts(paths, 2, 0, 0);
    check_return(paths, 0, 8, 8);
    check_return(paths, 3, 8, 8);
    check_return(paths, 1, 10, 10);
    check_return(paths, 2, 10, 10);
}
END_TEST

START_TEST(without_ids)
{
    g_autoptr(BbPaths) paths = pair(LINES("C A B - 1", "C B C - 2", "C A B - 3", "C B C - 4",
                                          "R C A - 5", "R C A - 6", "R C A - 7"));
    check_counts(paths, 2, 0, 1);
    check_return(paths, 0, 5, 5);
    check_return(paths, 1, 5, 5);
    check_return(paths, 2, 6, 6);
    check_return(paths, 3, 6, 6);
}
END_TEST

// B answers every other call itself: without ids its returns belong to the earliest open calls,
// those of which C answers not among them any more.
START_TEST(answers_of_both_kinds)
{
    g_autoptr(BbPaths) paths = pair(
        LINES("C A B - 1", "C B C - 2", "R C A - 4 status=ok", "C A B - 11", "R B A - 14 status=no",
              "C A B - 21", "C B C - 22", "C A B - 23", "R C A - 24", "R B A - 26 end=27"));
    check_counts(paths, 2, 0, 0);
    check_return(paths, 0, 4, 4);
    check_return(paths, 1, 4, 4);
    check_return(paths, 2, 14, 14);
    check_return(paths, 3, 24, 24);
    check_return(paths, 4, 24, 24);
    check_return(paths, 5, 26, 26);
    ck_assert_int_eq(paths->calls[5].return_end_ns, 27 * 1000000);
    ck_assert_uint_ne(paths->calls[0].status, paths->calls[2].status);
    ck_assert_uint_ne(paths->calls[2].status, BB_NAME_NONE);
    ck_assert_uint_eq(paths->calls[5].status, BB_NAME_NONE);
}
END_TEST

// One call fewer than returns: one of them has none in the end.
START_TEST(answers_that_are_left)
{
    g_autoptr(BbPaths) paths =
        pair(LINES("C A B - 1", "C B C - 2", "C A B - 3", "R C A - 4", "R B A - 5", "R B A - 6",
                   "C A B - 11", "C B C - 12", "R C A - 14"));
    check_counts(paths, 2, 0, 1);
    check_return(paths, 0, 4, 4);
    check_return(paths, 2, 5, 5);
    check_return(paths, 3, 14, 14);
}
END_TEST

START_TEST(chains_of_any_length)
{
    g_autoptr(BbNames) names = bb_names_new();
    for (guint hops = 2; hops <= BB_FORWARDING_HOPS_MAX + 1; hops++) {
        g_autoptr(BbPairs) pairs = bb_pairs_new(names);
        g_autoptr(BbPaths) paths = bb_paths_new();
        for (guint i = 0; i <= hops; i++) {
            g_autofree char *line = i < hops ? g_strdup_printf("C n%u n%u - %u", i, i + 1, i + 1)
                                             : g_strdup_printf("R n%u n0 - %u", hops, hops + 5);
            BbMessage message = line_parse(names, line);
            ck_assert(bb_pairs_push(pairs, &message));
        }
        bb_pairs_finish(pairs, paths);
        bool joined = hops <= BB_FORWARDING_HOPS_MAX;
        check_counts(paths, joined, joined ? 0 : hops, !joined);
        for (guint i = 0; joined && i < hops; i++)
            check_return(paths, i, hops + 5, hops + 5);
    }
}
END_TEST

// A branch that leads nowhere is left again; the calls on it stay without return.
START_TEST(dead_ends)
{
    g_autoptr(BbPaths) paths =
        pair(LINES("C A B - 1", "C B D - 2", "C D E - 3", "C B F - 4", "C F C - 5", "R C A - 9"));
    check_counts(paths, 1, 2, 0);
    check_return(paths, 0, 9, 9);
    check_return(paths, 1, -1, -1);
    check_return(paths, 2, -1, -1);
    check_return(paths, 3, 9, 9);
    check_return(paths, 4, 9, 9);
}
END_TEST

// Every node its own clock, B's 100 ms and C's 1000 ms ahead; messages take 1 ms.
START_TEST(clocks_that_differ)
{
    g_autoptr(BbPaths) paths =
        pair(LINES("C A B x 1 recv=102", "C B C y 104 recv=1005", "R C A x 1015 recv=16"));
    check_counts(paths, 1, 0, 0);
    check_return(paths, 1, 1015, 114); // by B's clock as long after its call as at C
    check_return(paths, 0, 114, 16);
    for (guint i = 0; i < 2; i++)
        ck_assert_int_ge(paths->calls[i].return_ns, paths->calls[i].call_ns);
    ck_assert_int_le(paths->calls[1].return_ns, paths->calls[0].replied_ns); // nested
}
END_TEST

// A calls C itself: without ids the orphan is taken for the return of a call that was lost.
START_TEST(own_calls_of_the_answerer)
{
    g_autoptr(BbPaths) lost =
        pair(LINES("C A C - 1", "R C A - 2", "C A B - 3", "C B C - 4", "R C A - 5"));
    check_counts(lost, 0, 2, 1);
    g_autoptr(BbPaths) known =
        pair(LINES("C A C x 1", "R C A x 2", "C A B y 3", "C B C z 4", "R C A y 5"));
    check_counts(known, 1, 0, 0);
    g_autoptr(BbPaths) open = pair(LINES("C A C x 1", "C A B y 3", "C B C z 4", "R C A x 5"));
    check_counts(open, 0, 2, 0);
    check_return(open, 0, 5, 5);
}
END_TEST

START_TEST(orphans_that_belong_to_nothing)
{
    // No such id; no hop to C; the hop comes before the call, or after the answer; too long ago.
    g_autoptr(BbPaths) other_id = pair(LINES("C A B x 1", "C B C y 2", "R C A z 3"));
    check_counts(other_id, 0, 2, 1);
    g_autoptr(BbPaths) no_hop = pair(LINES("C A B x 1", "C B D y 2", "R C A x 3"));
    check_counts(no_hop, 0, 2, 1);
    g_autoptr(BbPaths) before = pair(LINES("C B C y 1", "C A B x 2", "R C A x 3"));
    check_counts(before, 0, 2, 1);
    g_autoptr(BbPaths) after = pair(LINES("C A B x 1", "R C A x 2", "C B C y 3"));
    check_counts(after, 0, 2, 1);
    g_autoptr(BbPaths) old = pair(LINES("C A B - 1", "C B C - 2", "R C A - 60001.5"));
    check_counts(old, 0, 2, 1);
    g_autoptr(BbPaths) just = pair(LINES("C A B - 1", "C B C - 2", "R C A - 60001"));
    check_counts(just, 1, 0, 0);
    g_autoptr(BbPaths) answered = pair(LINES("C A B x 1", "C B C y 2", "R C B y 3", "R C A x 4"));
    check_counts(answered, 0, 1, 1);
}
END_TEST

// A return that was stamped before its call is that call's, not an orphan.
START_TEST(early_returns_are_no_orphans)
{
    g_autoptr(BbPaths) paths =
        pair(LINES("C A B x 1", "C B C y 2", "R C A x 3", "C A C x 4", "R B A x 5"));
    check_counts(paths, 0, 1, 0);
    check_return(paths, 0, 5, 5);
    check_return(paths, 2, 3, 3);
}
END_TEST

START_TEST(rings_end)
{
    g_autoptr(BbPaths) paths = pair(LINES("C A B - 1", "C B D - 2", "C D B - 3", "C B D - 4",
                                          "C D A - 5", "C B B - 6", "R C A - 9"));
    check_counts(paths, 0, 6, 1);
}
END_TEST

// Whatever there is to search, it ends soon: 100 open calls of each of 40 nodes to all others.
START_TEST(search_is_bounded)
{
    guint64 left = 0;
    g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(BbCall));
    g_autoptr(GArray) orphans = g_array_new(FALSE, FALSE, sizeof(BbCall));
    for (guint i = 0; i < 4000; i++) {
        BbCall call = {.call_ns = i,
                       .arrived_ns = i,
                       .replied_ns = BB_TIME_NONE,
                       .return_ns = BB_TIME_NONE,
                       .return_end_ns = BB_TIME_NONE,
                       .caller = 1 + i % 40,
                       .callee = 1 + i * 7 % 41 % 40};
        g_array_append_val(calls, call);
        BbCall orphan = {.call_ns = BB_TIME_NONE,
                         .arrived_ns = BB_TIME_NONE,
                         .replied_ns = 20000 + i,
                         .return_ns = 20000 + i,
                         .return_end_ns = BB_TIME_NONE,
                         .caller = 1 + i % 40,
                         .callee = 99};
        g_array_append_val(orphans, orphan);
    }
    gint64 start = g_get_monotonic_time();
    ck_assert_uint_eq(bb_forwarding_join((BbCall *)(void *)calls->data, calls->len,
                                         (const BbCall *)(const void *)orphans->data, orphans->len,
                                         &left, NULL),
                      0);
    ck_assert_uint_eq(left, orphans->len);
    ck_assert_int_lt(g_get_monotonic_time() - start, 20 * G_USEC_PER_SEC);
}
END_TEST

// 200,000 forwarded calls, 100 at a time: joined ones do not slow down the search for others.
START_TEST(many_chains)
{
    guint n = 200000;
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPairs) pairs = bb_pairs_new(names);
    guint32 a = bb_names_intern(names, "A"), b = bb_names_intern(names, "B"),
            c = bb_names_intern(names, "C");
    for (guint i = 0; i < n + 100; i++) {
        BbMessage message = bb_message_empty();
        message.time_ns = 3 * (gint64)i;
        if (i < n) {
            message.kind = BB_CALL;
            message.sender = a;
            message.receiver = b;
            ck_assert(bb_pairs_push(pairs, &message));
            message.time_ns++;
            message.sender = b;
            message.receiver = c;
            ck_assert(bb_pairs_push(pairs, &message));
        }
        if (i >= 100) {
            message.kind = BB_RETURN;
            message.time_ns++;
            message.sender = c;
            message.receiver = a;
            ck_assert(bb_pairs_push(pairs, &message));
        }
    }
    g_autoptr(BbPaths) paths = bb_paths_new();
    bb_pairs_finish(pairs, paths);
    check_counts(paths, n, 0, 0);
    for (guint i = 0; i < paths->n_calls; i++)
        ck_assert_int_le(paths->calls[i].return_ns - paths->calls[i].call_ns, 310);
}
END_TEST

static void push(BbPairs *pairs, BbKind kind, guint32 from, guint32 to, gint64 time_ns)
{
    BbMessage message = bb_message_empty();
    message.kind = kind;
    message.sender = from;
    message.receiver = to;
    message.time_ns = time_ns;
    ck_assert(bb_pairs_push(pairs, &message));
}

// B answers 100,000 calls of A itself, and one by way of D, while as many older calls of A to X are
// open for good: these do not slow down the search for those of B.
START_TEST(own_answers_among_open_calls)
{
    enum { A = 1, B, D, X };
    guint n = 100000;
    gint64 begin_ns = 2 * BB_FORWARDING_AGE_MAX_NS, start = g_get_monotonic_time();
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPairs) pairs = bb_pairs_new(names);
    for (guint i = 0; i < n; i++)
        push(pairs, BB_CALL, A, X, i);
    for (guint i = 0; i < n; i++) {
        push(pairs, BB_CALL, A, B, begin_ns + 10 * i);
        push(pairs, BB_RETURN, B, A, begin_ns + 10 * i + 5);
    }
    push(pairs, BB_CALL, A, B, begin_ns + 10 * n);
    push(pairs, BB_CALL, B, D, begin_ns + 10 * n + 1);
    push(pairs, BB_RETURN, D, A, begin_ns + 10 * n + 2);
    g_autoptr(BbPaths) paths = bb_paths_new();
    bb_pairs_finish(pairs, paths);
    check_counts(paths, 1, n, 0);
    for (guint i = n; i < 2 * n; i++)
        ck_assert_int_eq(paths->calls[i].return_ns - paths->calls[i].call_ns, 5);
    ck_assert_int_lt(g_get_monotonic_time() - start, 20 * G_USEC_PER_SEC);
}
END_TEST

// 1 calls 2 twice, which calls 3 twice before that answers: either call may be the one.
START_TEST(one_of_several_is_a_guess)
{
    BbCall calls[4];
    for (guint32 i = 0; i < 4; i++)
        calls[i] = (BbCall){.call_ns = 1 + i,
                            .arrived_ns = 1 + i,
                            .replied_ns = BB_TIME_NONE,
                            .return_ns = BB_TIME_NONE,
                            .return_end_ns = BB_TIME_NONE,
                            .id = {7 + i, BB_ID_STEM},
                            .caller = i < 2 ? 1 : 2,
                            .callee = i < 2 ? 2 : 3};
    BbCall orphans[2];
    for (guint32 i = 0; i < 2; i++)
        orphans[i] = (BbCall){.call_ns = BB_TIME_NONE,
                              .arrived_ns = BB_TIME_NONE,
                              .replied_ns = 10 + i,
                              .return_ns = 10 + i,
                              .return_end_ns = BB_TIME_NONE,
                              .id = {7 + i, BB_ID_STEM},
                              .caller = 1,
                              .callee = 3};
    guint64 left = 0;
    g_autoptr(GArray) tosses = g_array_new(FALSE, FALSE, sizeof(BbToss));
    ck_assert_uint_eq(bb_forwarding_join(calls, 4, orphans, 2, &left, tosses), 2);
    ck_assert_uint_eq(tosses->len, 1); // for the second return one was left
    const BbToss *toss = &g_array_index(tosses, BbToss, 0);
    ck_assert_uint_eq(toss->call, 2);
    ck_assert(toss->share > 0.83f && toss->share < 0.84f);
}
END_TEST

START_TEST(nothing_without_orphans)
{
    BbCall call = {.call_ns = 1,
                   .arrived_ns = 1,
                   .replied_ns = BB_TIME_NONE,
                   .return_ns = BB_TIME_NONE,
                   .return_end_ns = BB_TIME_NONE,
                   .caller = 1,
                   .callee = 2};
    guint64 left = 7;
    ck_assert_uint_eq(bb_forwarding_join(&call, 1, NULL, 0, &left, NULL), 0);
    ck_assert_uint_eq(left, 0);
    ck_assert_uint_eq(bb_forwarding_join(NULL, 0, &call, 1, &left, NULL), 0);
    ck_assert_uint_eq(left, 1);
    ck_assert(!bb_call_is_returned(&call));
}
END_TEST

TEST_MAIN("forwarding", with_ids, with_the_id_passed_on, without_ids, answers_of_both_kinds,
          answers_that_are_left, chains_of_any_length, dead_ends, clocks_that_differ,
          own_calls_of_the_answerer, orphans_that_belong_to_nothing, early_returns_are_no_orphans,
          rings_end, search_is_bounded, many_chains, own_answers_among_open_calls,
          one_of_several_is_a_guess, nothing_without_orphans)
