// SPDX-License-Identifier: Apache-2.0
// Calls and returns become pairs: by id, without ids, out of order, on clocks that differ, seen
// once or twice.
#include <stdio.h>

#include "tests/unit/trace_lines.h"

static BbPaths *pair(const char *const *lines)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPairs) pairs = lines_push(names, lines);
    BbPaths *paths = bb_paths_new();
    bb_pairs_finish(pairs, paths);
    return paths;
}

// Times in ms; -1 is none.
static void check_call(const BbPaths *paths, guint32 i, double call, double arrived, double replied,
                       double returned)
{
    ck_assert_uint_lt(i, paths->n_calls);
    const double want[] = {call, arrived, replied, returned};
    const gint64 got[] = {paths->calls[i].call_ns, paths->calls[i].arrived_ns,
                          paths->calls[i].replied_ns, paths->calls[i].return_ns};
    for (guint k = 0; k < 4; k++)
        ck_assert_int_eq(got[k], want[k] == -1 ? BB_TIME_NONE : (gint64)(want[k] * LINE_MS));
}

static void check_counts(const BbPaths *paths, guint calls, guint unreturned, guint orphaned)
{
    ck_assert_uint_eq(paths->n_calls, calls);
    ck_assert_uint_eq(paths->facts.calls_unreturned, unreturned);
    ck_assert_uint_eq(paths->facts.returns_orphaned, orphaned);
}

START_TEST(by_id)
{
    g_autoptr(BbPaths) paths =
        pair(LINES("C A B x1 1 op=get", "C A B x2 2", "R B A x2 3 status=404 end=4", "R B A x1 9"));
    check_counts(paths, 2, 0, 0);
    check_call(paths, 0, 1, 1, 9, 9);
    check_call(paths, 1, 2, 2, 3, 3);
    ck_assert_int_eq(paths->calls[1].return_end_ns, 4 * 1000000);
    ck_assert_int_eq(paths->calls[0].return_end_ns, BB_TIME_NONE);
    ck_assert_uint_ne(paths->calls[0].op, BB_NAME_NONE);
    ck_assert_uint_ne(paths->calls[1].status, BB_NAME_NONE);
    ck_assert_int_eq(paths->facts.start_ns, 1000000);
    ck_assert_int_eq(paths->facts.end_ns, 9000000);
}
END_TEST

// The label of a return serves a call without one.
START_TEST(label_on_the_return)
{
    g_autoptr(BbPaths) paths = pair(LINES("C A B x 1", "R B A x 2 op=get"));
    ck_assert_uint_ne(paths->calls[0].op, BB_NAME_NONE);
}
END_TEST

START_TEST(ids_are_of_a_pair_of_nodes)
{
    g_autoptr(BbPaths) paths =
        pair(LINES("C A B 7 1", "C A C 7 2", "C B A 7 3", "R C A 7 4", "R A B 7 5", "R B A 7 6"));
    check_counts(paths, 3, 0, 0);
    check_call(paths, 0, 1, 1, 6, 6);
    check_call(paths, 1, 2, 2, 4, 4);
    check_call(paths, 2, 3, 3, 5, 5);
}
END_TEST

START_TEST(without_ids_the_earliest)
{
    g_autoptr(BbPaths) paths =
        pair(LINES("C A B - 1", "C A C - 1.5", "C A B - 2", "R B A - 3", "R B A - 4", "R B A - 5"));
    check_counts(paths, 3, 1, 1);
    check_call(paths, 0, 1, 1, 3, 3);
    check_call(paths, 1, 1.5, 1.5, -1, -1);
    check_call(paths, 2, 2, 2, 4, 4);
}
END_TEST

START_TEST(repeated_open_id_the_earliest)
{
    g_autoptr(BbPaths) paths = pair(LINES("C A B 1 1", "C A B 1 2", "R B A 1 3", "R B A 1 4"));
    check_counts(paths, 2, 0, 0);
    check_call(paths, 0, 1, 1, 3, 3);
    check_call(paths, 1, 2, 2, 4, 4);
}
END_TEST

START_TEST(id_used_again)
{
    g_autoptr(BbPaths) paths = pair(LINES("C A B 1 1", "R B A 1 2", "C A B 1 3", "R B A 1 4"));
    check_counts(paths, 2, 0, 0);
    check_call(paths, 1, 3, 3, 4, 4);
}
END_TEST

START_TEST(any_order)
{
    g_autoptr(BbPaths) paths = pair(LINES("R B A 1 4", "C A B 1 3", "R B A 1 2", "C A B 1 1",
                                          "C A B - 8", "R B A - 7", "C A B - 6", "R B A - 9"));
    check_counts(paths, 4, 0, 0);
    check_call(paths, 0, 1, 1, 2, 2);
    check_call(paths, 1, 3, 3, 4, 4);
    check_call(paths, 2, 6, 6, 7, 7);
    check_call(paths, 3, 8, 8, 9, 9);
}
END_TEST

// No time at all, in either order of the file; and an id that ends and starts at one time.
START_TEST(equal_times)
{
    g_autoptr(BbPaths) paths = pair(LINES("R B A 1 5", "C A B 1 5", "R B A - 5", "C A B - 5",
                                          "C A B 2 1", "C A B 2 5", "R B A 2 5", "R B A 2 9"));
    check_counts(paths, 4, 0, 0);
    check_call(paths, 0, 1, 1, 5, 5);
    check_call(paths, 1, 5, 5, 5, 5);
    check_call(paths, 2, 5, 5, 5, 5);
    check_call(paths, 3, 5, 5, 9, 9);
}
END_TEST

START_TEST(return_before_its_call)
{
    g_autoptr(BbPaths) paths =
        pair(LINES("R B A 1 5", "C A B 1 8", "C A B 2 9", "R B A 3 10 status=500", "C A B 3 12"));
    check_counts(paths, 3, 1, 0);
    check_call(paths, 0, 8, 8, 5, 5);
    check_call(paths, 1, 9, 9, -1, -1);
    check_call(paths, 2, 12, 12, 10, 10);
    ck_assert_uint_ne(paths->calls[2].status, BB_NAME_NONE);
}
END_TEST

// Without id nothing says that they belong together.
START_TEST(return_before_its_call_without_id)
{
    g_autoptr(BbPaths) paths = pair(LINES("R B A - 5", "C A B - 8"));
    check_counts(paths, 1, 1, 1);
}
END_TEST

// A return lost its call; the same id is used later: the later use keeps its own return.
START_TEST(orphan_does_not_shift_later_uses)
{
    g_autoptr(BbPaths) paths =
        pair(LINES("R B A 1 1", "C A B 1 2", "R B A 1 3", "C A B 1 4", "R B A 1 5", "R B A 1 6"));
    check_counts(paths, 2, 0, 2);
    check_call(paths, 0, 2, 2, 3, 3);
    check_call(paths, 1, 4, 4, 5, 5);
}
END_TEST

START_TEST(own_return_before_an_early_one)
{
    g_autoptr(BbPaths) paths = pair(LINES("R B A 1 1", "C A B 1 2", "R B A 1 3"));
    check_counts(paths, 1, 0, 1);
    check_call(paths, 0, 2, 2, 3, 3);
}
END_TEST

// Of two returns before a call the later one is taken.
START_TEST(latest_early_return)
{
    g_autoptr(BbPaths) paths = pair(LINES("R B A 1 1", "R B A 1 3", "C A B 1 4"));
    check_counts(paths, 1, 0, 1);
    check_call(paths, 0, 4, 4, 3, 3);
}
END_TEST

// With the callee's clock known, a used id stays in step though the caller's clock is ahead.
START_TEST(pairs_on_the_callees_clock)
{
    g_autoptr(BbPaths) paths = pair(LINES("C A B 1 100 recv=10", "R B A 1 12 recv=102",
                                          "C A B 1 104 recv=14", "R B A 1 18 recv=108"));
    check_counts(paths, 2, 0, 0);
    check_call(paths, 0, 100, 10, 12, 102);
    check_call(paths, 1, 104, 14, 18, 108);
}
END_TEST

START_TEST(second_sightings_join)
{
    g_autoptr(BbPaths) paths = pair(LINES("C A B 1 1", "rC A B 1 2", "R B A 1 5 end=6",
                                          "rR B A 1 7 end=8", "C A B 2 11", "R B A 2 12"));
    check_counts(paths, 2, 0, 0);
    check_call(paths, 0, 1, 2, 5, 7);
    ck_assert_int_eq(paths->calls[0].return_end_ns, 6000000); // the callee's clock
    check_call(paths, 1, 11, 11, 12, 12);
}
END_TEST

START_TEST(lone_receiver_sightings)
{
    g_autoptr(BbPaths) paths = pair(LINES("rC A B 1 1", "rR B A 1 5 end=6", "rC A B 2 8",
                                          "R B A 2 9", "C A B 3 10", "rR B A 3 12", "rR B A 4 13"));
    check_counts(paths, 3, 0, 1);
    check_call(paths, 0, 1, 1, 5, 5);
    ck_assert_int_eq(paths->calls[0].return_end_ns, 6000000);
    check_call(paths, 1, 8, 8, 9, 9);
    check_call(paths, 2, 10, 10, 12, 12);
}
END_TEST

// The callee's clock is 20 ms behind, then 20 ahead: every order of the four sightings joins.
START_TEST(second_sightings_of_skewed_clocks)
{
    static const char *const lines[4][4] = {
        {"C A B 1 100", "rC A B 1 101", "R B A 1 105", "rR B A 1 106"},
        {"C A B 1 100", "rC A B 1 81", "R B A 1 85", "rR B A 1 106"},
        {"C A B 1 100", "rC A B 1 121", "R B A 1 125", "rR B A 1 106"},
        {"C A B 1 100", "rC A B 1 97", "R B A 1 101", "rR B A 1 106"},
    };
    static const double arrived[] = {101, 81, 121, 97};
    for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
        g_autoptr(BbPaths) paths = pair(LINES(lines[i][0], lines[i][1], lines[i][2], lines[i][3]));
        check_counts(paths, 1, 0, 0);
        check_call(paths, 0, 100, arrived[i], arrived[i] + 4, 106);
    }
}
END_TEST

// Both sightings of the return come before any of the call.
START_TEST(early_return_seen_twice)
{
    g_autoptr(BbPaths) paths =
        pair(LINES("R B A 1 1 status=ok", "rR B A 1 2", "rC A B 1 3", "C A B 1 4"));
    check_counts(paths, 1, 0, 0);
    check_call(paths, 0, 4, 3, 1, 2);
}
END_TEST

// One sighting of the return before the call, one after it.
START_TEST(early_return_completed_later)
{
    g_autoptr(BbPaths) paths = pair(LINES("R B A 1 1", "C A B 1 4", "rR B A 1 6"));
    check_counts(paths, 1, 0, 0);
    check_call(paths, 0, 4, 4, 1, 6);
}
END_TEST

START_TEST(second_sightings_without_ids)
{
    g_autoptr(BbPaths) paths = pair(LINES("C A B - 1", "rC A B - 2", "C A B - 3", "rC A B - 4",
                                          "R B A - 5", "R B A - 6", "rR B A - 7", "rR B A - 8"));
    check_counts(paths, 2, 0, 0);
    check_call(paths, 0, 1, 2, 5, 7);
    check_call(paths, 1, 3, 4, 6, 8);
}
END_TEST

// An id used again long after is a new call, not a second sighting of the old one.
START_TEST(late_second_sighting_is_a_new_call)
{
    g_autoptr(BbPaths) paths =
        pair(LINES("rC A B 1 1", "R B A 1 2", "C A B 1 5000", "R B A 1 5001"));
    check_counts(paths, 2, 0, 0);
    check_call(paths, 0, 1, 1, 2, 2);
    check_call(paths, 1, 5000, 5000, 5001, 5001);
}
END_TEST

// A pair of nodes without ids, seen at the sender only, in a trace with receivers elsewhere: what
// waits for second sightings stays bounded and nothing is mixed up.
START_TEST(many_answered_calls_without_id)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPairs) pairs = lines_push(names, LINES("rC X Y 1 0"));
    for (guint i = 1; i <= 1000; i++) {
        g_autofree char *call = g_strdup_printf("C A B - %u", 2 * i);
        g_autofree char *back = g_strdup_printf("R B A - %u", 2 * i + 1);
        BbMessage messages[] = {line_parse(names, call), line_parse(names, back)};
        bb_pairs_push(pairs, &messages[0]);
        bb_pairs_push(pairs, &messages[1]);
    }
    g_autoptr(BbPaths) paths = bb_paths_new();
    bb_pairs_finish(pairs, paths);
    check_counts(paths, 1001, 1, 0);
    for (guint i = 1; i <= 1000; i++)
        check_call(paths, i, 2 * i, 2 * i, 2 * i + 1, 2 * i + 1);
}
END_TEST

// 100,000 calls under way at once between two nodes, with and without an id, answered or not, in a
// trace with receivers elsewhere: each sighting costs the same however many wait.
// A burst of calls is answered, then the pair goes on, while no second sighting comes for any of
// them. No new call may cost as much as there are answered ones, or this takes minutes.
START_TEST(many_answered_calls_at_once)
{
    const guint n = 400000;
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPairs) pairs = lines_push(names, LINES("rC X Y x 1"));
    guint32 a = bb_names_intern(names, "A"), b = bb_names_intern(names, "B");
    for (guint i = 0; i < 3 * n; i++) {
        bool is_return = i >= n && i < 2 * n;
        BbMessage message = bb_message_empty();
        message.time_ns = (gint64)(2 * LINE_MS) + i;
        message.kind = is_return ? BB_RETURN : BB_CALL;
        message.sender = is_return ? b : a;
        message.receiver = is_return ? a : b;
        ck_assert(bb_pairs_push(pairs, &message));
    }
    g_autoptr(BbPaths) paths = bb_paths_new();
    bb_pairs_finish(pairs, paths);
    check_counts(paths, 1 + 2 * n, 1 + n, 0);
}
END_TEST

// Whether the call of another pair of nodes, seen by its receiver, comes first or last.
static void check_both_ends_at_once(const char *const *lines)
{
    g_autoptr(BbPaths) paths = pair(lines);
    check_counts(paths, 3, 1, 0);
    guint32 first = paths->calls[0].call_ns == LINE_MS ? 1 : 0;
    check_call(paths, first, 2, 2, 4, 4);
    check_call(paths, first + 1, 3, 3, 5, 5);
}

// A message with two equal times was seen at both ends: what comes next is another one.
START_TEST(both_ends_at_the_same_time)
{
    check_both_ends_at_once(
        LINES("rC X Y x 1", "C A B - 2 recv=2", "rC A B - 3", "R B A - 4 recv=4", "rR B A - 5"));
    check_both_ends_at_once(
        LINES("C A B - 2 recv=2", "rC A B - 3", "R B A - 4 recv=4", "rR B A - 5", "rC X Y x 6"));
    check_both_ends_at_once(
        LINES("C A B - 2 recv=2", "R B A - 4 recv=4", "rC A B - 3", "rR B A - 5", "rC X Y x 6"));
}
END_TEST

START_TEST(many_calls_under_way)
{
    for (guint round = 0; round < 4; round++) {
        g_autoptr(BbNames) names = bb_names_new();
        g_autoptr(BbPairs) pairs = lines_push(names, LINES("rC X Y 1 0"));
        bool has_id = round & 1, answered = round & 2;
        BbMessage call = line_parse(names, has_id ? "C A B x 1" : "C A B - 1");
        BbMessage back = line_parse(names, has_id ? "R B A x 1000" : "R B A - 1000");
        for (guint i = 0; i < 100000; i++, call.time_ns++)
            bb_pairs_push(pairs, &call);
        for (guint i = 0; answered && i < 100000; i++, back.time_ns++)
            bb_pairs_push(pairs, &back);
        g_autoptr(BbPaths) paths = bb_paths_new();
        bb_pairs_finish(pairs, paths);
        check_counts(paths, 100001, answered ? 1 : 100001, 0);
        check_call(paths, 1, 1, 1, answered ? 1000 : -1, answered ? 1000 : -1);
        const BbCall *last = &paths->calls[100000];
        ck_assert_int_eq(last->call_ns, 1000000 + 99999);
        ck_assert_int_eq(last->return_ns, answered ? 1000000000 + 99999 : BB_TIME_NONE);
    }
}
END_TEST

START_TEST(free_messages_only_count)
{
    g_autoptr(BbPaths) paths = pair(LINES("M A B - 0.5", "C A B 1 1", "R B A 1 2", "M B A 1 7"));
    check_counts(paths, 1, 0, 0);
    ck_assert_uint_eq(paths->facts.messages, 4);
    ck_assert_uint_eq(paths->facts.free_messages, 2);
    ck_assert_int_eq(paths->facts.start_ns, 500000);
    ck_assert_int_eq(paths->facts.end_ns, 7000000);
}
END_TEST

START_TEST(self_calls)
{
    g_autoptr(BbPaths) paths = pair(LINES("C A A 1 1", "C A A 2 2", "R A A 2 3", "R A A 1 4"));
    check_counts(paths, 2, 0, 0);
    check_call(paths, 0, 1, 1, 4, 4);
    check_call(paths, 1, 2, 2, 3, 3);
}
END_TEST

START_TEST(nothing)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPairs) pairs = bb_pairs_new(names);
    g_autoptr(BbPaths) paths = bb_paths_new();
    bb_pairs_finish(pairs, paths);
    check_counts(paths, 0, 0, 0);
    ck_assert_int_eq(paths->facts.start_ns, BB_TIME_NONE);
}
END_TEST

static bool same_times(const BbCall *a, const BbCall *b)
{
    return a->call_ns == b->call_ns && a->replied_ns == b->replied_ns &&
           bb_id_equal(a->id, b->id) && a->caller == b->caller && a->callee == b->callee;
}

// Unlike times, any order of the file gives the same pairs; across many chunks and table sizes.
START_TEST(shuffled_is_the_same)
{
    enum { CALLS = 50000 };
    g_autoptr(GRand) rand = g_rand_new_with_seed(3);
    g_autoptr(BbNames) names = bb_names_new();
    g_autofree BbMessage *messages = g_new(BbMessage, 2 * CALLS);
    for (guint32 i = 0; i < CALLS; i++) {
        BbMessage call = bb_message_empty();
        call.kind = BB_CALL;
        call.sender = 1 + (guint32)g_rand_int_range(rand, 0, 3);
        call.receiver = 4 + (guint32)g_rand_int_range(rand, 0, 3);
        call.id = bb_id_number((guint64)g_rand_int_range(rand, 0, 60000));
        call.time_ns = (gint64)i * 1000;
        messages[2 * i] = call;
        BbMessage back = call;
        back.kind = BB_RETURN;
        back.sender = call.receiver;
        back.receiver = call.sender;
        back.time_ns += 1 + g_rand_int_range(rand, 0, 5000) * 1000;
        messages[2 * i + 1] = back;
    }
    g_autoptr(BbPaths) straight = NULL;
    for (guint round = 0; round < 2; round++) {
        g_autoptr(BbPairs) pairs = bb_pairs_new(names);
        for (gint32 i = 0; i < 2 * CALLS; i++)
            bb_pairs_push(pairs, &messages[i]);
        g_autoptr(BbPaths) paths = bb_paths_new();
        bb_pairs_finish(pairs, paths);
        check_counts(paths, CALLS, 0, 0);
        for (guint32 i = 0; straight && i < CALLS; i++)
            ck_assert(same_times(&paths->calls[i], &straight->calls[i]));
        if (!straight)
            straight = g_steal_pointer(&paths);
        for (gint32 i = 2 * CALLS - 1; i > 0; i--) {
            gint32 j = g_rand_int_range(rand, 0, i + 1);
            BbMessage swap = messages[i];
            messages[i] = messages[j];
            messages[j] = swap;
        }
    }
}
END_TEST

// A call or a return at a time of its own, some with both ends, ids, labels, a status, a last byte.
static BbMessage any_message(GRand *rand, BbNames *names, guint32 place)
{
    BbMessage message = bb_message_empty();
    guint32 caller = 1 + (guint32)g_rand_int_range(rand, 0, 2);
    guint32 callee = 3 + (guint32)g_rand_int_range(rand, 0, 2);
    message.kind = g_rand_boolean(rand) ? BB_CALL : BB_RETURN;
    message.sender = message.kind == BB_CALL ? caller : callee;
    message.receiver = message.kind == BB_CALL ? callee : caller;
    message.time_ns = (gint64)place * 1000;
    if (g_rand_boolean(rand))
        message.id = bb_id_number((guint64)g_rand_int_range(rand, 0, 8));
    if (g_rand_boolean(rand))
        message.op = bb_names_intern(names, g_rand_boolean(rand) ? "get" : "put");
    if (g_rand_boolean(rand))
        message.proto = bb_names_intern(names, g_rand_boolean(rand) ? "http" : "dns");
    if (message.kind == BB_RETURN)
        message.status = bb_names_intern(names, g_rand_boolean(rand) ? "200" : "500");
    if (g_rand_boolean(rand))
        message.end_ns = message.time_ns + 10;
    if (g_rand_boolean(rand))
        message.recv_ns = message.time_ns + g_rand_int_range(rand, 0, 3) * 100;
    return message;
}

static void check_same(const BbPaths *a, const BbPaths *b)
{
    ck_assert_uint_eq(a->n_calls, b->n_calls);
    ck_assert_uint_eq(a->facts.calls_unreturned, b->facts.calls_unreturned);
    ck_assert_uint_eq(a->facts.returns_orphaned, b->facts.returns_orphaned);
    for (guint32 i = 0; i < a->n_calls; i++) {
        const BbCall *x = &a->calls[i], *y = &b->calls[i];
        ck_assert(same_times(x, y));
        ck_assert_int_eq(x->arrived_ns, y->arrived_ns);
        ck_assert_int_eq(x->return_ns, y->return_ns);
        ck_assert_int_eq(x->return_end_ns, y->return_end_ns);
        ck_assert_uint_eq(x->op, y->op);
        ck_assert_uint_eq(x->proto, y->proto);
        ck_assert_uint_eq(x->status, y->status);
    }
}

// A call that comes late takes the return of a later one, and nothing else of it; nor does the
// later one keep what that return said.
START_TEST(late_call_takes_a_return)
{
    g_autoptr(BbPaths) paths =
        pair(LINES("C A B - 2", "R B A - 3 op=put status=500", "R B A - 4", "C A B - 1"));
    check_call(paths, 0, 1, 1, 3, 3);
    ck_assert_uint_ne(paths->calls[0].op, BB_NAME_NONE);
    ck_assert_uint_ne(paths->calls[0].status, BB_NAME_NONE);
    check_call(paths, 1, 2, 2, 4, 4);
    ck_assert_uint_eq(paths->calls[1].op, BB_NAME_NONE);
    ck_assert_uint_eq(paths->calls[1].status, BB_NAME_NONE);
    g_autoptr(BbPaths) other = pair(LINES("C A B - 2 op=get", "R B A - 3", "C A B - 1"));
    check_call(other, 0, 1, 1, 3, 3);
    ck_assert_uint_eq(other->calls[0].op, BB_NAME_NONE);
    check_call(other, 1, 2, 2, -1, -1);
    ck_assert_uint_ne(other->calls[1].op, BB_NAME_NONE);
}
END_TEST

// What came in order was matched already when the first message of all comes, at any place: the
// same as if it had come first.
START_TEST(late_one_is_the_same)
{
    enum { MESSAGES = 60 };
    for (guint32 seed = 1; seed <= 300; seed++) {
        g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
        g_autoptr(BbNames) names = bb_names_new();
        BbMessage messages[MESSAGES];
        for (guint32 i = 0; i < MESSAGES; i++)
            messages[i] = any_message(rand, names, i);
        g_autoptr(BbPairs) straight = bb_pairs_new(names), late = bb_pairs_new(names);
        guint32 place = (guint32)g_rand_int_range(rand, 1, MESSAGES);
        for (guint32 i = 0; i < MESSAGES; i++) {
            guint32 turned = i < place ? i + 1 : i == place ? 0 : i;
            bb_pairs_push(straight, &messages[i]);
            bb_pairs_push(late, &messages[turned]);
        }
        g_autoptr(BbPaths) expected = bb_paths_new(), paths = bb_paths_new();
        bb_pairs_finish(straight, expected);
        bb_pairs_finish(late, paths);
        check_same(paths, expected);
    }
}
END_TEST

TEST_MAIN("pairs", by_id, label_on_the_return, ids_are_of_a_pair_of_nodes, without_ids_the_earliest,
          repeated_open_id_the_earliest, id_used_again, any_order, equal_times,
          return_before_its_call, return_before_its_call_without_id,
          orphan_does_not_shift_later_uses, own_return_before_an_early_one, latest_early_return,
          pairs_on_the_callees_clock, second_sightings_join, lone_receiver_sightings,
          second_sightings_of_skewed_clocks, early_return_seen_twice, early_return_completed_later,
          second_sightings_without_ids, late_second_sighting_is_a_new_call,
          many_answered_calls_without_id, many_answered_calls_at_once, both_ends_at_the_same_time,
          many_calls_under_way, free_messages_only_count, self_calls, nothing, shuffled_is_the_same,
          late_call_takes_a_return, late_one_is_the_same)
