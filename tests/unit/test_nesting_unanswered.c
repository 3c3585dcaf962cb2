// SPDX-License-Identifier: Apache-2.0
// Nesting on small traces made by hand: calls without return, or whose return comes too late.
#include "tests/unit/nesting_result.h"

// lines: each with a | behind it; taken.
static Result infer_jointly(GString *lines)
{
    BbNestingOptions options = bb_nesting_options_default();
    g_string_truncate(lines, lines->len - 1);
    g_auto(GStrv) list = g_strsplit(lines->str, "|", -1);
    g_string_free(lines, TRUE);
    return infer(&options, (const char *const *)list);
}

START_TEST(calls_without_return_stand_alone)
{
    g_auto(Result) result = infer(NULL, LINES("C U A r 0", "C A B lost 1", "C A B b 2", "R B A b 3",
                                              "R A U r 5", "R A U orphan 6"));
    check_parents(&result, "r<- lost<- b<r");
    check_patterns(&result, "U>A(B) x1");
    ck_assert_uint_eq(result.paths->facts.calls_unreturned, 1);
    ck_assert_uint_eq(result.paths->facts.returns_orphaned, 1);
    ck_assert_uint_eq(result.paths->n_instances, 2);
    ck_assert_uint_eq(result.paths->instances[1].pattern, BB_PATTERN_NONE);
    ck_assert_uint_eq(result.paths->instances[1].count, 1);
}
END_TEST

// Every fourth request calls B twice: the first call gets no return in 100 ms.
static GString *timeouts(void)
{
    GString *text = g_string_new("");
    for (guint i = 0; i < 80; i++) {
        double at = 1000.0 * i;
        bool fails = i % 4 == 0;
        double b = fails ? at + 110 : at + 10;
        g_string_append_printf(text, "C U A a%u %g|", i, at);
        if (fails)
            g_string_append_printf(text, "C A B x%u %g|", i, at + 10);
        g_string_append_printf(text, "C A B b%u %g|R B A b%u %g|R A U a%u %g|", i, b, i, b + 20, i,
                               b + 25);
    }
    return text;
}

START_TEST(calls_without_return_are_part_of_their_path)
{
    g_auto(Result) result = infer_jointly(timeouts());
    check_parents(&result, "a0<- x0<a0 b0<a0 x76<a76 b77<a77");
    check_patterns(&result, "U>A(B B) x20; U>A(B) x60");
    const BbPatternNode *waited = vertex(&result, 0, 1), *called = vertex(&result, 0, 2);
    ck_assert(waited->unanswered && !called->unanswered);
    check_ms(bb_stats_mean(waited->latency), 100);
    check_ms((gint64)waited->critical_total_ns, 20 * 100);
    check_ms((gint64)waited->self_total_ns, 20 * 100);
    check_ms((gint64)vertex(&result, 0, 0)->self_total_ns, 20 * (10 + 5));
    ck_assert_uint_eq(result.paths->facts.calls_unreturned, 20);
    ck_assert_uint_eq(result.paths->facts.calls_unanswered, 20);
    ck_assert_uint_eq(result.patterns->unreturned->len, 0);
}
END_TEST

// Of n requests every eighth gives B up after 100 ms, which returns after 300 all the same.
static GString *late_returns(guint n)
{
    GString *text = g_string_new("");
    for (guint i = 0; i < n; i++) {
        double at = 1000.0 * i;
        bool late = i % 8 == 0;
        g_string_append_printf(text, "C U A a%u %g|C A B b%u %g|C B D d%u %g|", i, at, i, at + 10,
                               i, at + 15);
        if (late)
            g_string_append_printf(text, "R A U a%u %g|", i, at + 110);
        g_string_append_printf(text, "R D B d%u %g|R B A b%u %g|", i, at + (late ? 300 : 30), i,
                               at + (late ? 310 : 35));
        if (!late)
            g_string_append_printf(text, "R A U a%u %g|", i, at + 40);
    }
    return text;
}

START_TEST(calls_that_were_given_up)
{
    g_auto(Result) result = infer_jointly(late_returns(80));
    check_parents(&result, "a0<- b0<a0 d0<b0 b1<a1 d72<b72");
    check_patterns(&result, "U>A(B(D)) x70; U>A(B(D)) x10");
    const BbPatternNode *given_up = vertex(&result, 1, 1);
    const BbPatternNode *slow = g_ptr_array_index(given_up->calls, 0);
    ck_assert(given_up->unanswered && !slow->unanswered);
    check_ms(bb_stats_mean(given_up->latency), 100);
    check_ms(bb_stats_mean(slow->latency), 285);
    check_ms((gint64)vertex(&result, 1, 0)->critical_total_ns, 10 * 10);
    check_ms((gint64)given_up->critical_total_ns, 10 * 5);
    check_ms((gint64)slow->critical_total_ns, 10 * 95);
    ck_assert_uint_eq(result.paths->facts.calls_late, 10);
    ck_assert_uint_eq(result.paths->facts.calls_unreturned, 0);
    ck_assert_uint_eq(result.paths->facts.calls_unanswered, 0);
}
END_TEST

// So few that there is nothing to learn.
START_TEST(one_call_that_was_given_up)
{
    g_auto(Result) result = infer_jointly(late_returns(8));
    check_patterns(&result, "U>A(B(D)) x7; U>A(B(D)) x1");
    ck_assert(vertex(&result, 1, 1)->unanswered);
    ck_assert_uint_eq(result.paths->facts.calls_late, 1);
}
END_TEST

// Every second request gets no answer of B.
START_TEST(calls_without_return_are_patterns_of_their_own)
{
    GString *text = g_string_new("");
    for (guint i = 0; i < 80; i++) {
        double at = 1000.0 * i;
        g_string_append_printf(text, "C U A a%u %g|C A B b%u %g|", i, at, i, at + 10);
        if (i % 2)
            g_string_append_printf(text, "R B A b%u %g|", i, at + 30);
        g_string_append_printf(text, "R A U a%u %g|", i, at + 40);
    }
    g_auto(Result) result = infer_jointly(text);
    check_patterns(&result, "U>A(B) x40; U>A(B) x40");
    ck_assert(vertex(&result, 0, 1)->unanswered != vertex(&result, 1, 1)->unanswered);
}
END_TEST

// B takes 300 ms, and all requests give it up after 100: what they do then takes that long, and in
// others longer than B does.
static GString *outage(const char *status)
{
    GString *text = g_string_new("");
    for (guint i = 0; i < 80; i++) {
        double at = 1000.0 * i, end = at + (i % 2 ? 420 : 120);
        g_string_append_printf(text, "C U A a%u %g|C A B b%u %g|C B D d%u %g|C A S s%u %g|", i, at,
                               i, at + 10, i, at + 15, i, at + 110);
        g_string_append_printf(text, "R S A s%u %g|R D B d%u %g|R B A b%u %g status=%s|", i,
                               end - 5, i, at + 300, i, at + 310, status);
        g_string_append_printf(text, "R A U a%u %g|", i, end);
    }
    return text;
}

START_TEST(returns_that_nobody_read)
{
    g_auto(Result) result = infer_jointly(outage("unread"));
    check_parents(&result, "a0<- b0<a0 d0<b0 s0<a0 b1<a1 s1<a1 d79<b79 s79<a79");
    check_patterns(&result, "U>A(B(D) S) x80");
    const BbPatternNode *b = vertex(&result, 0, 1), *d = g_ptr_array_index(b->calls, 0);
    ck_assert(b->unanswered && !d->unanswered);
    check_ms(bb_stats_mean(b->latency), 100);
    check_ms((gint64)b->critical_total_ns, 80 * 5);
    check_ms((gint64)d->critical_total_ns, 80 * 95);
    check_ms((gint64)vertex(&result, 0, 0)->critical_total_ns, 80 * (10 + 5));
    ck_assert_uint_eq(result.paths->facts.calls_late, 80);
    ck_assert_uint_eq(result.paths->facts.calls_unreturned, 0);
}
END_TEST

// Nobody is known to have gone on without them.
START_TEST(nor_read_of_a_root)
{
    GString *text = g_string_new("");
    for (guint i = 0; i < 20; i++)
        g_string_append_printf(
            text, "C U A a%u %g|C A B b%u %g|R B A b%u %g|R A U a%u %g end=%g status=unread|", i,
            1000.0 * i, i, 1000.0 * i + 10, i, 1000.0 * i + 200, i, 1000.0 * i + 250,
            1000.0 * i + 260);
    g_auto(Result) result = infer_jointly(text);
    check_patterns(&result, "U>A(B) x20");
    const BbPatternNode *root = vertex(&result, 0, 0);
    ck_assert(!root->unanswered);
    check_ms(bb_stats_mean(root->latency), 250);
    ck_assert_uint_eq(result.paths->facts.calls_late, 0);
    ck_assert_int_eq(result.paths->calls[find(&result, "a3")].return_end_ns,
                     3260 * (gint64)LINE_MS);
}
END_TEST

// B hangs in every fourth request, and A with it, until the client closes its connection after 300
// ms.
static GString *hung(const char *status)
{
    GString *text = g_string_new("");
    for (guint i = 0; i < 80; i++) {
        double at = 1000.0 * i;
        g_string_append_printf(text, "C U A a%u %g|C A B b%u %g|", i, at, i, at + 10);
        if (i % 4)
            g_string_append_printf(text, "R B A b%u %g|R A U a%u %g|", i, at + 30, i, at + 35);
        else
            g_string_append_printf(text, "M U A a%u %g status=%s|", i, at + 300, status);
    }
    return text;
}

START_TEST(clients_that_close)
{
    g_auto(Result) result = infer_jointly(hung("closed"));
    check_patterns(&result, "U>A(B) x20; U>A(B) x60");
    const BbPatternNode *root = vertex(&result, 0, 0), *b = vertex(&result, 0, 1);
    ck_assert(!root->unanswered && b->unanswered);
    check_ms(bb_stats_mean(root->latency), 300);
    check_ms((gint64)b->critical_total_ns, 20 * 290);
    ck_assert_uint_eq(result.paths->facts.free_messages, 0);
    ck_assert_uint_eq(result.patterns->unreturned->len, 0);
    g_auto(Result) other = infer_jointly(hung("ok"));
    ck_assert_uint_eq(other.paths->facts.free_messages, 20);
    ck_assert_uint_gt(other.patterns->unreturned->len, 0);
}
END_TEST

// By whichever end; a return counts more, whenever it comes, and other nodes' calls have other ids.
START_TEST(connections_that_are_closed)
{
    g_auto(Result) result = infer_jointly(g_string_new(
        "C U A a 0|M A U a 50 status=closed|C U A b 100|M U A b 150 status=closed|R A U b 160|"
        "C U A c 200|M U B c 250 status=closed|M U A - 260 status=closed|"));
    const BbCall *a = &result.paths->calls[find(&result, "a")];
    const BbCall *b = &result.paths->calls[find(&result, "b")];
    check_ms(a->return_ns, 50);
    check_ms(b->return_ns, 160);
    ck_assert(!bb_call_is_returned(&result.paths->calls[find(&result, "c")]));
    ck_assert_uint_eq(result.paths->facts.free_messages, 1);
}
END_TEST

// Ten clients at once: each request tries B, gives it up after 200 ms, and tries C, likewise.
// What it does next follows when it has closed the connection, not when it called.
// late: B replies all the same, 500 ms later, to a connection that nobody reads.
static GString *retried(guint rounds, bool late)
{
    static const double delay[] = {0, 1.7, 0.4, 3.1, 0.9, 2.3, 1.1, 0.2, 2.8, 1.4};
    GString *text = g_string_new("");
    for (guint k = 0; k < rounds; k++)
        for (guint c = 0; c < 10; c++) {
            guint i = 10 * k + c;
            double at = 402.0 * k + delay[(3 * c + k) % 10], b = at + 0.3;
            double closed = b + 200 + 0.5 * delay[(c + 3 * k) % 10], d = closed + 0.1;
            double end = d + 200 + 0.5 * delay[(9 * c + k) % 10];
            g_string_append_printf(text, "C U A a%u %g|C A B b%u %g|M A B b%u %g status=closed|", i,
                                   at, i, b, i, closed);
            if (late)
                g_string_append_printf(text, "R B A b%u %g status=unread|", i, closed + 500);
            g_string_append_printf(text, "C A C c%u %g|M A C c%u %g status=closed|R A U a%u %g|", i,
                                   d, i, end, i, end + 0.1);
        }
    return text;
}

static void check_retried(bool late)
{
    g_auto(Result) result = infer_jointly(retried(6, late));
    for (guint i = 0; i < 60; i++) {
        g_autofree char *wanted = g_strdup_printf("b%u<a%u c%u<a%u", i, i, i, i);
        check_parents(&result, wanted);
    }
    check_patterns(&result, "U>A(B C) x60");
    ck_assert_uint_eq(result.paths->facts.calls_late, 120);
}

START_TEST(tried_again_when_it_is_closed)
{
    check_retried(false);
}
END_TEST

START_TEST(closed_before_its_return)
{
    check_retried(true);
}
END_TEST

// The client goes, then A, from B.
START_TEST(closed_when_its_request_is)
{
    GString *text = g_string_new("");
    for (guint i = 0; i < 40; i++) {
        double at = 1000.0 * i;
        g_string_append_printf(text, "C U A a%u %g|C A B b%u %g|M U A a%u %g status=closed|", i, at,
                               i, at + 10, i, at + 300);
        g_string_append_printf(text, "M A B b%u %g status=closed|", i, at + 301);
    }
    g_auto(Result) result = infer_jointly(text);
    check_parents(&result, "a0<- b0<a0 b39<a39");
    check_patterns(&result, "U>A(B) x40");
    check_ms((gint64)vertex(&result, 0, 1)->critical_total_ns, 40 * 290);
    ck_assert_float_gt(result.paths->confidence[find(&result, "b7")], 0.9f);
}
END_TEST

TEST_MAIN("nesting_unanswered", clients_that_close, connections_that_are_closed,
          tried_again_when_it_is_closed, closed_before_its_return, closed_when_its_request_is,
          calls_without_return_stand_alone, calls_without_return_are_part_of_their_path,
          calls_that_were_given_up, one_call_that_was_given_up,
          calls_without_return_are_patterns_of_their_own, returns_that_nobody_read,
          nor_read_of_a_root)
