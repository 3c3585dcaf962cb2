// SPDX-License-Identifier: Apache-2.0
// Nesting on small traces made by hand: parents, paths, patterns and their figures.
#include <stdio.h>

#include "tests/unit/nesting_result.h"

START_TEST(a_chain_and_a_series)
{
    g_auto(Result) result =
        infer(NULL, LINES("C U A r 0", "C A B b 10", "C B C c 12", "R C B c 20", "R B A b 30",
                          "C A D d 40", "R D A d 55", "R A U r 60"));
    check_parents(&result, "r<- b<r c<b d<r");
    check_patterns(&result, "U>A(B(C) D) x1");
    ck_assert_uint_eq(result.paths->n_instances, 1);
    ck_assert_str_eq(result.patterns->algorithm, "nesting");
    check_ms(bb_stats_mean(vertex(&result, 0, 0)->call_delay), 0);
    check_ms(bb_stats_mean(vertex(&result, 0, 0)->latency), 60);
    check_ms((gint64)vertex(&result, 0, 0)->self_total_ns, 25);
    check_ms(bb_stats_mean(vertex(&result, 0, 1)->call_delay), 10);
    check_ms(bb_stats_mean(vertex(&result, 0, 1)->latency), 20);
    check_ms((gint64)vertex(&result, 0, 1)->self_total_ns, 12);
    check_ms(bb_stats_mean(vertex(&result, 0, 2)->call_delay), 40);
    ck_assert_uint_eq(result.paths->facts.children, 3);
    ck_assert_uint_eq(result.paths->facts.candidates, 3);
    for (guint32 i = 0; i < result.paths->n_calls; i++)
        ck_assert_float_eq(result.paths->confidence[i], BB_CONFIDENCE_NONE);
}
END_TEST

START_TEST(containment_is_inclusive)
{
    g_auto(Result) result = infer(NULL, LINES("C U A r 0", "C A B b 0", "R B A b 5", "R A U r 5",
                                              "C U A s 6", "C A B c 6", "R B A c 8", "R A U s 7"));
    check_parents(&result, "r<- b<r s<- c<-");
}
END_TEST

// Overlapping calls count once in the time that is not A's own.
START_TEST(self_time_of_overlapping_calls)
{
    g_auto(Result) result =
        infer(NULL, LINES("C U A r 0", "C A B b 10", "C A C c 20", "R B A b 30", "R C A c 50",
                          "C A B d 50", "R B A d 60", "R A U r 70"));
    check_ms((gint64)vertex(&result, 0, 0)->self_total_ns, 20);
}
END_TEST

// Each node by its own clock: B's is 1000 ms ahead.
START_TEST(two_clocks)
{
    g_auto(Result) result = infer(NULL, LINES("C A B r 0 recv=1001", "C B C c 1011 recv=12",
                                              "R C B c 22 recv=1023", "R B A r 1041 recv=42"));
    check_parents(&result, "r<- c<r");
    check_ms(bb_stats_mean(vertex(&result, 0, 0)->latency), 40);
    check_ms(bb_stats_mean(vertex(&result, 0, 1)->call_delay), 10);
    check_ms(bb_stats_mean(vertex(&result, 0, 1)->latency), 10);
    check_ms((gint64)vertex(&result, 0, 0)->self_total_ns, 28);
}
END_TEST

// 300 calls of 100 years each: sums of times stop at the end of gint64.
START_TEST(self_time_saturates)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPairs) pairs = bb_pairs_new(names);
    for (guint i = 0; i < 300; i++) {
        BbMessage call = line_parse(names, "C U A - 0"), back = line_parse(names, "R A U - 1");
        back.time_ns = G_MAXINT64 / 3;
        bb_pairs_push(pairs, &call);
        bb_pairs_push(pairs, &back);
    }
    BbNestingOptions options = paper_options();
    g_autoptr(BbPaths) paths = infer_paths(pairs, names, &options);
    g_autoptr(BbPatterns) patterns = infer_patterns(paths, names, &options);
    const BbPattern *pattern = g_ptr_array_index(patterns->patterns, 0);
    ck_assert_uint_eq(pattern->root->self_total_ns, G_MAXINT64);
    ck_assert_int_eq(bb_pattern_total_latency(pattern), G_MAXINT64);
}
END_TEST

// 100,000 calls at once by a node that works on two requests: they go to the two by turns, at a
// cost that does not grow with those given already.
START_TEST(many_calls_at_once)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPairs) pairs =
        lines_push(names, LINES("C A B p 0", "C A B q 0", "R B A p 2000", "R B A q 2000"));
    BbMessage call = line_parse(names, "C B C x 1"), back = line_parse(names, "R C B x 1000");
    for (guint64 i = 0; i < 100000; i++) {
        call.id = back.id = bb_id_number(i);
        call.time_ns++;
        back.time_ns++;
        bb_pairs_push(pairs, &call);
        bb_pairs_push(pairs, &back);
    }
    BbNestingOptions options = paper_options();
    g_autoptr(BbPaths) paths = infer_paths(pairs, names, &options);
    ck_assert_uint_eq(paths->facts.candidates, 200000);
    ck_assert_uint_eq(paths->n_instances, 2);
    ck_assert_uint_eq(paths->instances[0].count, 50001);
    ck_assert_uint_eq(paths->instances[1].count, 50001);
}
END_TEST

START_TEST(last_byte)
{
    const char *const *lines = LINES("C U A r 0", "R A U r 10 end=15", "C U A s 20", "R A U s 40");
    BbNestingOptions options = paper_options();
    options.latency_last_byte = true;
    g_auto(Result) last = infer(&options, lines);
    check_ms(bb_stats_min(vertex(&last, 0, 0)->latency), 15);
    check_ms(bb_stats_max(vertex(&last, 0, 0)->latency), 20);
    check_ms((gint64)vertex(&last, 0, 0)->self_total_ns, 35);
    g_auto(Result) first = infer(NULL, lines);
    check_ms(bb_stats_min(vertex(&first, 0, 0)->latency), 10);
}
END_TEST

START_TEST(no_own_work_while_a_reply_is_sent)
{
    const char *const *lines =
        LINES("C U A r 0", "C A B s 10", "R B A s 60 end=80", "R A U r 100 end=160");
    BbNestingOptions options = paper_options();
    options.latency_last_byte = true;
    g_auto(Result) last = infer(&options, lines);
    check_ms((gint64)vertex(&last, 0, 0)->self_total_ns, 90);
    check_ms((gint64)vertex(&last, 0, 0)->critical_total_ns, 90);
    check_ms((gint64)vertex(&last, 0, 1)->self_total_ns, 70);
    g_auto(Result) first = infer(NULL, lines);
    check_ms((gint64)vertex(&first, 0, 0)->self_total_ns, 50);
    check_ms((gint64)vertex(&first, 0, 1)->self_total_ns, 50);
}
END_TEST

START_TEST(errors_are_counted)
{
    g_auto(Result) result =
        infer(NULL, LINES("C U A 1 0", "R A U 1 1 status=200", "C U A 2 2", "R A U 2 3 status=503",
                          "C U A 3 4", "R A U 3 5 status=503", "C U A 4 6", "R A U 4 7"));
    ck_assert_uint_eq(vertex(&result, 0, 0)->errors, 2);
}
END_TEST

START_TEST(labels_are_part_of_the_shape)
{
    const char *const *lines = LINES("C U A r 0 op=x", "R A U r 1", "C U A s 2 op=y", "R A U s 5");
    g_auto(Result) with = infer(NULL, lines);
    check_patterns(&with, "U>A:y x1; U>A:x x1");
    BbNestingOptions options = paper_options();
    options.labels = false;
    g_auto(Result) without = infer(&options, lines);
    check_patterns(&without, "U>A x2");
}
END_TEST

// Parallel calls whose answers, or starts, swap are one pattern; the two C are told apart by time.
START_TEST(order_of_calls_does_not_split_patterns)
{
    g_auto(Result) result =
        infer(NULL, LINES("C U A r 0", "C A B b 10", "C A C c 11", "C A C d 15", "R C A c 20",
                          "R B A b 21", "R C A d 22", "R A U r 30", "C U A s 100", "C A C e 110",
                          "C A B f 114", "C A C g 118", "R B A f 121", "R C A e 122", "R C A g 123",
                          "R A U s 130"));
    check_patterns(&result, "U>A(C B C) x2");
    check_ms(bb_stats_min(vertex(&result, 0, 1)->call_delay), 10);
    check_ms(bb_stats_max(vertex(&result, 0, 1)->call_delay), 11);
    check_ms(bb_stats_mean(vertex(&result, 0, 2)->call_delay), 12);
    check_ms(bb_stats_min(vertex(&result, 0, 3)->call_delay), 15);
    check_ms(bb_stats_max(vertex(&result, 0, 3)->call_delay), 18);
}
END_TEST

START_TEST(patterns_by_total_latency_then_text)
{
    g_auto(Result) result =
        infer(NULL, LINES("C U Z 1 0", "R Z U 1 4", "C U B 2 10", "R B U 2 13", "C U B 3 20",
                          "R B U 3 23", "C U A 4 30", "R A U 4 34", "C T A 5 40", "R A T 5 44"));
    check_patterns(&result, "U>B x2; T>A x1; U>A x1; U>Z x1");
}
END_TEST

// Names interned in another order, messages in another: the same shapes, hashes and order.
START_TEST(hash_of_a_shape_is_stable)
{
    const char *const *lines =
        LINES("C U A r 0", "C A B b 1", "C A C c 1", "R C A c 3", "R B A b 3", "R A U r 5");
    g_auto(Result) forward = infer(NULL, lines);
    const char *const *backward = LINES(lines[5], lines[4], lines[3], lines[2], lines[1], lines[0]);
    g_auto(Result) reverse = infer(NULL, backward);
    check_patterns(&forward, "U>A(B C) x1");
    check_patterns(&reverse, "U>A(B C) x1");
    const BbPattern *a = forward.ranking->shown[0];
    const BbPattern *b = reverse.ranking->shown[0];
    ck_assert_uint_eq(a->shape, b->shape);
    ck_assert_uint_eq(a->shape, G_GUINT64_CONSTANT(0x5e562f6da2c0d06a));
}
END_TEST

START_TEST(ties_go_to_the_earliest_parent)
{
    g_auto(Result) result = infer(NULL, LINES("C U A p 0", "C U A q 0.1", "C A B b 0.5",
                                              "R B A b 0.6", "R A U q 1", "R A U p 1"));
    check_parents(&result, "b<p");
    ck_assert_uint_eq(result.paths->facts.candidates, 2);
}
END_TEST

// A usual delay wins over the earliest parent: alone, B calls C after 50 ms.
START_TEST(usual_delay_wins)
{
    g_auto(Result) result = infer(NULL, LINES("C A B p 0", "C B C c 50", "R C B c 60", "R B A p 70",
                                              "C A B q 100", "C A B s 130", "C B C d 180",
                                              "R C B d 190", "R B A q 200", "R B A s 200"));
    check_parents(&result, "c<p d<s");
}
END_TEST

// Section 7.5.2, children-parallel. The second C of a pair overlaps one only: no penalty yet.
START_TEST(children_parallel)
{
    const char *const *lines = LINES("C A B p 0", "C A B q 10", "C B C 1 50", "C B C 2 50",
                                     "C B C 3 60", "C B C 4 60", "R C B 1 90", "R C B 2 90",
                                     "R C B 3 100", "R C B 4 100", "R B A p 100", "R B A q 110");
    g_auto(Result) result = infer(NULL, lines);
    check_parents(&result, "1<p 2<p 3<q 4<q");
    check_patterns(&result, "A>B(C C) x2");
}
END_TEST

// Four at once, two parents alike: the penalty shares them out from the third on.
START_TEST(overlap_penalty)
{
    const char *const *lines =
        LINES("C A B p 0", "C A B q 0", "C B C 1 50", "C B C 2 50", "C B C 3 50", "C B C 4 50",
              "R C B 1 90", "R C B 2 90", "R C B 3 90", "R C B 4 90", "R B A p 100", "R B A q 100");
    g_auto(Result) with = infer(NULL, lines);
    check_parents(&with, "1<p 2<p 3<q 4<q");
    BbNestingOptions options = paper_options();
    options.overlap_penalty = 0;
    g_auto(Result) without = infer(&options, lines);
    check_parents(&without, "1<p 2<p 3<p 4<p");
}
END_TEST

// In series nothing overlaps; the other two penalties see them.
START_TEST(same_and_any_penalty)
{
    const char *const *lines =
        LINES("C A B p 0", "C A B q 0", "C B C 1 10", "R C B 1 20", "C B C 2 20", "R C B 2 30",
              "C B C 3 30", "R C B 3 40", "C B D 4 40", "R D B 4 50", "R B A p 100", "R B A q 100");
    g_auto(Result) none = infer(NULL, lines);
    check_parents(&none, "1<p 2<p 3<p 4<p");
    BbNestingOptions options = paper_options();
    options.same_penalty = 1;
    g_auto(Result) same = infer(&options, lines);
    check_parents(&same, "1<p 2<p 3<q 4<p");
    options.same_penalty = 0;
    options.any_penalty = 1;
    g_auto(Result) any = infer(&options, lines);
    check_parents(&any, "1<p 2<p 3<q 4<q");
}
END_TEST

// children-0/2: q calls nothing. A tie while nothing is known of the delays; right as soon as one
// request alone has shown them.
START_TEST(children_0_2)
{
    g_auto(Result) unknown =
        infer(NULL, LINES("C A B q 0", "C A B p 10", "C B C 1 60", "R C B 1 80", "R B A q 85",
                          "C B C 2 130", "R C B 2 150", "R B A p 200"));
    check_parents(&unknown, "1<q 2<p");
    g_auto(Result) known = infer(
        NULL, LINES("C A B q 0", "C A B p 10", "C B C 1 60", "R C B 1 80", "R B A q 85",
                    "C B C 2 130", "R C B 2 150", "R B A p 200", "C A B r 1000", "C B C 3 1050",
                    "R C B 3 1070", "C B C 4 1120", "R C B 4 1140", "R B A r 1190"));
    check_parents(&known, "1<p 2<p 3<r 4<r");
    check_patterns(&known, "A>B(C C) x2; A>B x1");
}
END_TEST

// children-d/cc: C, C in series, or D once.
START_TEST(children_d_cc)
{
    g_auto(Result) result =
        infer(NULL, LINES("C A B r 0", "C B C 1 50", "R C B 1 70", "C B C 2 120", "R C B 2 140",
                          "R B A r 190", "C A B s 300", "C B D 3 350", "R D B 3 370", "R B A s 380",
                          "C A B p 1000", "C A B q 1020", "C B D 4 1050", "R D B 4 1065",
                          "C B C 5 1070", "R C B 5 1075", "R B A p 1080", "C B C 6 1140",
                          "R C B 6 1160", "R B A q 1200"));
    check_parents(&result, "1<r 2<r 3<s 4<p 5<q 6<q");
    check_patterns(&result, "A>B(C C) x2; A>B(D) x2");
}
END_TEST

// penalty-breaker: A->B:{C,C} and E->B:{C,C} with the same delays, A->B:{D}.
START_TEST(penalty_breaker)
{
    g_auto(Result) result =
        infer(NULL, LINES("C A B a 0", "C B C 1 50", "R C B 1 60", "C B C 2 110", "R C B 2 120",
                          "R B A a 170", "C E B e 300", "C B C 3 350", "R C B 3 360", "C B C 4 410",
                          "R C B 4 420", "R B E e 470", "C A B d 600", "C B D 5 650", "R D B 5 660",
                          "R B A d 710", "C A B p 1000", "C A B q 1004", "C B C 6 1050",
                          "C B D 7 1054", "R C B 6 1060", "R D B 7 1064", "C B C 8 1110",
                          "R B A q 1114", "R C B 8 1120", "R B A p 1170"));
    check_parents(&result, "1<a 2<a 3<e 4<e 5<d 6<p 7<q 8<p");
    check_patterns(&result, "A>B(C C) x2; A>B(D) x2; E>B(C C) x1");
    BbNestingOptions options = paper_options();
    options.same_penalty = options.any_penalty = 2;
    g_auto(Result) penalties = infer(
        &options, LINES("C A B p 0", "C A B q 4", "C B C 1 50", "R C B 1 60", "C B C 2 110",
                        "R C B 2 120", "C B C 3 122", "R C B 3 124", "R B A p 170", "R B A q 174"));
    check_parents(&penalties, "1<p 2<p 3<q"); // the third is where penalties break a series
}
END_TEST

// A's clock is 3 ms behind: the call of B seems to come before the one that caused it.
START_TEST(skew_window)
{
    const char *const *lines = LINES("C U A r 10", "C A B b 8", "R B A b 12", "R A U r 17");
    g_auto(Result) none = infer(NULL, lines);
    check_parents(&none, "b<-");
    BbNestingOptions options = paper_options();
    options.skew_window_ns = 2 * 1000000;
    g_auto(Result) wide = infer(&options, lines);
    check_parents(&wide, "b<r");
    check_ms(bb_stats_mean(vertex(&wide, 0, 1)->call_delay), -2);
    options.skew_window_ns -= 1;
    g_auto(Result) narrow = infer(&options, lines);
    check_parents(&narrow, "b<-");
}
END_TEST

// Delays of 49 and 53 ms speak for one of 50, two bins apart, only when smoothed; 80 was seen once.
START_TEST(smoothing)
{
    const char *const *lines =
        LINES("C A B 1 0", "C B C 2 49", "R C B 2 50", "R B A 1 60", "C A B 3 100", "C B C 4 153",
              "R C B 4 154", "R B A 3 160", "C A B 5 200", "C B C 6 280", "R C B 6 281",
              "R B A 5 290", "C A B p 1000", "C A B q 1030", "C B C x 1080", "R C B x 1081",
              "R B A q 1090", "R B A p 1090");
    g_auto(Result) sharp = infer(NULL, lines);
    check_parents(&sharp, "x<p");
    BbNestingOptions options = paper_options();
    options.smoothing = 1;
    g_auto(Result) smooth = infer(&options, lines);
    check_parents(&smooth, "x<q");
}
END_TEST

// Delays below the floor are all alike.
START_TEST(bin_floor)
{
    const char *const *lines =
        LINES("C A B 1 0", "C B C 2 0.3", "R C B 2 0.4", "R B A 1 9", "C A B p 10", "C A B q 10.6",
              "C B C x 10.9", "R C B x 11", "R B A q 12", "R B A p 12");
    g_auto(Result) coarse = infer(NULL, lines);
    check_parents(&coarse, "x<p");
    BbNestingOptions options = paper_options();
    options.bin_floor_ns = 1000;
    g_auto(Result) fine = infer(&options, lines);
    check_parents(&fine, "x<q");
}
END_TEST

// Equal intervals on a circle: the earlier in the trace is the outer.
START_TEST(circles_of_equal_intervals)
{
    g_auto(Result) self = infer(
        NULL, LINES("C A A 1 5", "C A A 2 5", "C A A 3 5", "R A A 1 5", "R A A 2 5", "R A A 3 5"));
    check_parents(&self, "1<- 2<1 3<1");
    g_auto(Result) circle = infer(NULL, LINES("C A B 1 1", "C B A 2 1", "R B A 1 4", "R A B 2 4"));
    check_parents(&circle, "1<- 2<1");
    g_auto(Result) three = infer(
        NULL, LINES("C B C 1 1", "C C A 2 1", "C A B 3 1", "R C B 1 4", "R A C 2 4", "R B A 3 4"));
    check_parents(&three, "1<- 2<1 3<2");
}
END_TEST

// Within the window each could hold the other; the longer one is the outer.
START_TEST(circle_within_the_window)
{
    BbNestingOptions options = paper_options();
    options.skew_window_ns = 30 * 1000000;
    g_auto(Result) result =
        infer(&options, LINES("C A B 1 5", "C B A 2 0", "R B A 1 15", "R A B 2 9"));
    check_parents(&result, "1<- 2<1");
}
END_TEST

// Skewed clocks on a circle do not cost a parent: durations, not stamps, say who is outer.
START_TEST(callback_on_skewed_clocks)
{
    g_auto(Result) result = infer(NULL, LINES("C A B 1 100 recv=11", "C B A 2 13 recv=104",
                                              "R A B 2 106 recv=17", "R B A 1 19 recv=110"));
    check_parents(&result, "1<- 2<1");
}
END_TEST

// A return stamped before its call: of no duration, at the time of the call.
START_TEST(child_that_ends_before_it_begins)
{
    g_auto(Result) result = infer(
        NULL, LINES("C U A r 0", "C A B b 5", "R B A b 3", "R A U r 9", "C U A s 1", "R A U s 4"));
    check_parents(&result, "b<r");
    check_ms(bb_stats_mean(vertex(&result, 0, 1)->latency), -2);
    ck_assert_uint_eq(result.paths->facts.candidates, 1);
}
END_TEST

START_TEST(deep_chains_are_cut)
{
    enum { DEPTH = 2000 };
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPairs) pairs = bb_pairs_new(names);
    guint32 node = bb_names_intern(names, "A");
    for (guint i = 0; i < 2 * DEPTH; i++) {
        BbMessage message = bb_message_empty();
        message.kind = i < DEPTH ? BB_CALL : BB_RETURN;
        message.sender = message.receiver = node;
        message.id = bb_id_number(i < DEPTH ? i : 2 * DEPTH - 1 - i);
        message.time_ns = i * 10;
        bb_pairs_push(pairs, &message);
    }
    BbNestingOptions options = paper_options();
    options.bin_floor_ns = 1; // else all delays are alike and the outermost holds all
    g_autoptr(BbPaths) paths = infer_paths(pairs, names, &options);
    ck_assert_uint_eq(paths->n_calls, DEPTH);
    g_autoptr(BbPatterns) patterns = infer_patterns(paths, names, &options);
    for (guint32 i = 0; i < patterns->patterns->len; i++)
        ck_assert_uint_le(bb_pattern_size(g_ptr_array_index(patterns->patterns, i)), DEPTH);
    ck_assert_uint_eq(paths->facts.deep_calls, paths->n_instances - 1);
    for (guint32 i = 0; i < paths->n_calls; i++) {
        guint depth = 0;
        for (guint32 c = i; c != BB_CALL_NO_PARENT; c = paths->parent[c])
            depth++;
        ck_assert_uint_le(depth, BB_PATHS_DEPTH_MAX);
    }
}
END_TEST

START_TEST(nothing)
{
    g_auto(Result) empty = infer(NULL, LINES(NULL));
    check_patterns(&empty, "");
    ck_assert_uint_eq(empty.paths->n_instances, 0);
    g_auto(Result) only_free = infer(NULL, LINES("M A B - 1"));
    ck_assert_uint_eq(only_free.paths->facts.messages, 1);
    g_auto(Result) only_lost = infer(NULL, LINES("C A B - 1", "R A B - 2"));
    check_patterns(&only_lost, "");
    ck_assert_uint_eq(only_lost.paths->n_instances, 1);
}
END_TEST

// Stamps at the ends of the range neither overflow nor hang.
START_TEST(hostile_stamps)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPairs) pairs = bb_pairs_new(names);
    static const gint64 times[] = {G_MININT64 + 1, -1, 0, G_MAXINT64 - 1, G_MAXINT64};
    for (guint i = 0; i < 125; i++) {
        BbMessage call = bb_message_empty();
        call.kind = BB_CALL;
        call.sender = bb_names_intern(names, i % 2 ? "A" : "B");
        call.receiver = bb_names_intern(names, i % 2 ? "B" : "C");
        call.id = bb_id_number(i);
        call.time_ns = times[i % 5];
        call.recv_ns = times[i / 5 % 5];
        BbMessage back = call;
        back.kind = BB_RETURN;
        back.sender = call.receiver;
        back.receiver = call.sender;
        back.time_ns = times[i / 25];
        back.end_ns = times[(i + 1) % 5];
        bb_pairs_push(pairs, &call);
        bb_pairs_push(pairs, &back);
    }
    BbNestingOptions options = paper_options();
    options.skew_window_ns = G_MAXINT64;
    options.latency_last_byte = true;
    g_autoptr(BbPaths) paths = infer_paths(pairs, names, &options);
    ck_assert_uint_eq(paths->n_calls, 125);
    ck_assert_uint_eq(paths->facts.calls_unreturned, 0);
}
END_TEST

TEST_MAIN("nesting", a_chain_and_a_series, containment_is_inclusive, self_time_of_overlapping_calls,
          two_clocks, self_time_saturates, many_calls_at_once, last_byte,
          no_own_work_while_a_reply_is_sent, errors_are_counted, labels_are_part_of_the_shape,
          order_of_calls_does_not_split_patterns, patterns_by_total_latency_then_text,
          hash_of_a_shape_is_stable, ties_go_to_the_earliest_parent, usual_delay_wins,
          children_parallel, overlap_penalty, same_and_any_penalty, children_0_2, children_d_cc,
          penalty_breaker, skew_window, smoothing, bin_floor, circles_of_equal_intervals,
          circle_within_the_window, callback_on_skewed_clocks, child_that_ends_before_it_begins,
          deep_chains_are_cut, nothing, hostile_stamps)
