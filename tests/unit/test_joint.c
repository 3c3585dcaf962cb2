// SPDX-License-Identifier: Apache-2.0
// The joint choice of parents on planted systems: it finds who caused whom, leaves without parent
// what has none, says the same on any number of threads, and gets through whatever comes.
#include "tests/unit/planted_traces.h"

#include <stdio.h>

// ---- plans: what node A does when it is called; each returns when it is done --------------------

static double in_sequence(Trace *trace, guint64 id, double at)
{
    at = leaf(trace, A, B, id, at + about(trace, MS), 3 * MS);
    at = leaf(trace, A, C, id, at + about(trace, 0.5 * MS), 2 * MS);
    return at + about(trace, 0.4 * MS);
}

// The reply is stamped before the return that it waited for, once in a hundred times.
static double hasty(Trace *trace, guint64 id, double at)
{
    at = leaf(trace, A, B, id, at + about(trace, MS), 3 * MS);
    at = leaf(trace, A, C, id, at + about(trace, 0.5 * MS), 2 * MS);
    return bb_random_chance(&trace->random, 0.01) ? at - about(trace, 0.05 * MS)
                                                  : at + about(trace, 0.4 * MS);
}

static double fan_out(Trace *trace, guint64 id, double at)
{
    at += about(trace, 0.5 * MS);
    double b = leaf(trace, A, B, id, at, 3 * MS);
    double c = leaf(trace, A, C, id, at + 20 + about(trace, 20), 4 * MS);
    double d = leaf(trace, A, D, id, at + 90 + about(trace, 30), 2 * MS);
    return MAX(b, MAX(c, d)) + about(trace, 0.3 * MS);
}

static double one_of_two(Trace *trace, guint64 id, double at)
{
    guint to = bb_random_chance(&trace->random, 0.5) ? B : B2;
    at = leaf(trace, A, to, id, at + about(trace, MS), 3 * MS);
    at = leaf(trace, A, C, id, at + about(trace, 0.5 * MS), 2 * MS);
    return at + about(trace, 0.4 * MS);
}

static double cached(Trace *trace, guint64 id, double at)
{
    at = leaf(trace, A, C, id, at + about(trace, 0.3 * MS), 0.5 * MS);
    if (bb_random_chance(&trace->random, 0.5))
        at = leaf(trace, A, D, id, at + about(trace, 0.3 * MS), 5 * MS);
    return at + about(trace, 0.3 * MS);
}

// Some requests ask for ten times as much: all of their calls last longer, and the gaps between
// them show nothing of it.
static double of_all_sizes(Trace *trace, guint64 id, double at)
{
    double size = exp(2 * bb_random_normal(&trace->random));
    double think = MS * bb_random_exponential(&trace->random);
    at = leaf(trace, A, B, id, at + think, 0.3 * MS * size);
    at = leaf(trace, A, C, id, at + MS * bb_random_exponential(&trace->random), 0.2 * MS * size);
    at = leaf(trace, A, D, id, at + MS * bb_random_exponential(&trace->random), 0.3 * MS * size);
    return at + MS * bb_random_exponential(&trace->random);
}

// A calls itself, and that call calls B.
static double itself(Trace *trace, guint64 id, double at)
{
    guint64 inner = begin(trace, id);
    double start = at + about(trace, 0.7 * MS);
    double end = leaf(trace, A, B, inner, start + about(trace, 0.4 * MS), 3 * MS);
    end += about(trace, 0.3 * MS);
    both(trace, A, A, inner, start, end);
    return end + about(trace, 0.4 * MS);
}

// A calls B, B calls A, A calls C.
static double circle(Trace *trace, guint64 id, double at)
{
    guint64 of_b = begin(trace, id), of_a = begin(trace, of_b);
    double start_b = at + about(trace, 0.8 * MS), start_a = start_b + about(trace, 0.6 * MS);
    double end = leaf(trace, A, C, of_a, start_a + about(trace, 0.5 * MS), 2 * MS);
    end += about(trace, 0.3 * MS);
    both(trace, B, A, of_a, start_a, end);
    end += about(trace, 0.4 * MS);
    both(trace, A, B, of_b, start_b, end);
    return end + about(trace, 0.4 * MS);
}

// Requests of a plan, at random times.
static void play(Trace *trace, Plan plan, guint n, double between)
{
    double clock = 1000 * MS;
    for (guint i = 0; i < n; i++) {
        clock += bb_random_exponential(&trace->random) * between;
        guint64 id = begin(trace, 0);
        double end = plan(trace, id, clock);
        if (!bb_random_chance(&trace->random, trace->lost))
            both(trace, CLIENT, A, id, clock, end);
    }
}

// ---- planted systems ---------------------------------------------------------------------------

static const struct {
    const char *name;
    Plan plan;
    double between; // us
    double right;   // share of links
} planted[] = {
    {"sequence, low", in_sequence, 20 * MS, 0.99},
    {"sequence, medium", in_sequence, 4 * MS, 0.93},
    {"fan-out, low", fan_out, 15 * MS, 0.99},
    {"fan-out, medium", fan_out, 3 * MS, 0.93},
    {"one of two, low", one_of_two, 20 * MS, 0.99},
    {"one of two, medium", one_of_two, 4 * MS, 0.93},
    {"cache, low", cached, 15 * MS, 0.99},
    {"cache, medium", cached, 2.5 * MS, 0.90},
    {"itself, low", itself, 20 * MS, 0.98},
    {"itself, medium", itself, 4 * MS, 0.90},
    {"circle, low", circle, 20 * MS, 0.98},
    {"circle, medium", circle, 5 * MS, 0.90},
};

START_TEST(planted_systems)
{
    for (gsize i = 0; i < G_N_ELEMENTS(planted); i++) {
        g_auto(Trace) trace = trace_new(i + 1);
        play(&trace, planted[i].plan, 500, planted[i].between);
        g_autoptr(BbPaths) paths = infer_joint(&trace);
        Score got = score(&trace, paths);
        printf("%-20s parallelism %.2f right %.4f of %u\n", planted[i].name, got.parallelism,
               share(got.right, got.links), got.links);
        ck_assert_double_ge(share(got.right, got.links), planted[i].right);
    }
}
END_TEST

// Nothing but how long its calls last tells a request from another here.
static double right_by_durations(guint traces, gint64 skew_window_ns)
{
    Score sum = {0};
    BbNestingOptions options = bb_nesting_options_default();
    options.skew_window_ns = skew_window_ns;
    for (guint i = 0; i < traces; i++) {
        g_auto(Trace) trace = trace_new(40 + i);
        play(&trace, of_all_sizes, 1000, 2 * MS);
        g_autoptr(BbPaths) paths = infer(&trace, &options);
        Score got = score(&trace, paths);
        sum.links += got.links;
        sum.right += got.right;
    }
    printf("durations: right %.4f of %u\n", share(sum.right, sum.links), sum.links);
    return share(sum.right, sum.links);
}

START_TEST(durations_go_together)
{
    ck_assert_double_ge(right_by_durations(4, 0), 0.85);
}
END_TEST

// A window of 1 ms, longer than most of the calls.
START_TEST(durations_and_a_skew_window)
{
    ck_assert_double_ge(right_by_durations(2, (gint64)(1000 * MS)), 0.83);
}
END_TEST

// A timer of A calls E whatever else is going on.
START_TEST(calls_of_nobody)
{
    g_auto(Trace) trace = trace_new(5);
    play(&trace, in_sequence, 800, 6 * MS);
    for (guint i = 0; i < 400; i++)
        leaf(&trace, A, E, 0, (1000 + bb_random_unit(&trace.random) * 4800) * MS, 0.3 * MS);
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    Score got = score(&trace, paths);
    printf("timer: parallelism %.2f right %.4f, alone %.4f\n", got.parallelism,
           share(got.right, got.links), share(got.alone, got.roots));
    ck_assert_double_ge(share(got.right, got.links), 0.95);
    ck_assert_double_ge(share(got.alone, got.roots), 0.95);
}
END_TEST

// Of a trace in which one request in ten was lost, and with a call between two others added at a
// time: right links, and calls that were left without parent.
static Score score_beside(gint64 time_ns)
{
    g_auto(Trace) trace = trace_new(5);
    trace.lost = 0.1;
    play(&trace, in_sequence, 800, 6 * MS);
    both(&trace, TIMER, 299, begin(&trace, 0), (double)time_ns / 1000, (double)time_ns / 1000 + 1);
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    return score(&trace, paths);
}

// A day later, and years off: 2^62 ns are 146 of them.
START_TEST(stamps_of_others)
{
    static const gint64 times[] = {86400 * G_GINT64_CONSTANT(1000000000),
                                   -(G_GINT64_CONSTANT(1) << 62), G_GINT64_CONSTANT(1) << 62};
    for (gsize i = 0; i < G_N_ELEMENTS(times); i++) {
        Score got = score_beside(times[i]);
        printf("stamps of others: right %.4f, alone %.4f\n", share(got.right, got.links),
               share(got.alone, got.roots));
        ck_assert_double_ge(share(got.right, got.links), 0.95);
        ck_assert_double_ge(share(got.alone, got.roots), 0.8);
    }
}
END_TEST

// What is rare: one request in ten asks C after B, and D of which it does not await the answer.
static double notifying(Trace *trace, guint64 id, double at)
{
    at = leaf(trace, A, B, id, at + about(trace, MS), 4 * MS);
    if (bb_random_chance(&trace->random, 0.9))
        return at + about(trace, 5 * MS);
    at = leaf(trace, A, C, id, at + about(trace, 2 * MS), 20 * MS) + about(trace, 2 * MS);
    leaf(trace, A, D, id, at, 40 * MS);
    return at + about(trace, 2 * MS);
}

// Calls to a node that were left without parent though theirs is known.
static double forsaken(const Trace *trace, const BbPaths *paths, guint callee)
{
    guint n = 0, without = 0;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        const BbCall *call = &paths->calls[i];
        if (call->callee != callee)
            continue;
        n++;
        without += paths->parent[i] == BB_CALL_NO_PARENT;
    }
    return share(without, n);
}

// Calls that outlast their parents are known to be late by what they follow, of many parents too.
START_TEST(late_and_rare)
{
    g_auto(Trace) trace = trace_new(11);
    play(&trace, notifying, 3000, 3 * MS);
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    Score got = score(&trace, paths);
    double late = forsaken(&trace, paths, D);
    printf("late: parallelism %.2f right %.4f, without parent %.4f\n", got.parallelism,
           share(got.right, got.links), late);
    ck_assert_double_le(late, 0.1);
}
END_TEST

// Where many are open, calls that are rare do not become nobody's one after the other, and those
// that are nobody's stay that.
START_TEST(rare_among_many)
{
    g_auto(Trace) trace = trace_new(12);
    play(&trace, notifying, 4000, 0.6 * MS);
    for (guint i = 0; i < 200; i++)
        leaf(&trace, A, E, 0, (1 + bb_random_unit(&trace.random)) * 1000 * MS, 0.3 * MS);
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    Score got = score(&trace, paths);
    double without = MAX(forsaken(&trace, paths, C), forsaken(&trace, paths, D));
    printf("rare: parallelism %.2f right %.4f, without parent %.4f, alone %.4f\n", got.parallelism,
           share(got.right, got.links), without, share(got.alone, got.roots));
    ck_assert_double_ge(got.parallelism, 8);
    ck_assert_double_le(without, 0.1);
    ck_assert_double_ge(share(got.alone, got.roots), 0.7);
}
END_TEST

START_TEST(lost_parents)
{
    static const struct {
        double between, alone, right;
    } wanted[] = {{20 * MS, 0.9, 0.98}, {6 * MS, 0.65, 0.95}};
    for (guint i = 0; i < G_N_ELEMENTS(wanted); i++) {
        g_auto(Trace) trace = trace_new(i + 1);
        trace.lost = 0.1;
        play(&trace, in_sequence, 1000, wanted[i].between);
        g_autoptr(BbPaths) paths = infer_joint(&trace);
        Score got = score(&trace, paths);
        printf("lost: parallelism %.2f right %.4f, alone %.4f of %u\n", got.parallelism,
               share(got.right, got.links), share(got.alone, got.roots), got.roots);
        ck_assert_double_ge(share(got.alone, got.roots), wanted[i].alone);
        ck_assert_double_ge(share(got.right, got.links), wanted[i].right);
    }
}
END_TEST

// Calls that outlast their parent by a hair are its calls all the same, where no other comes into
// question.
START_TEST(outlasting)
{
    g_auto(Trace) trace = trace_new(8);
    play(&trace, hasty, 1000, 60 * MS);
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    g_autofree gint64 *end = g_new0(gint64, trace.truth->len); // of calls, by id
    for (guint32 i = 0; i < paths->n_calls; i++)
        end[paths->calls[i].id.number] = paths->calls[i].return_ns;
    guint late = 0, right = 0;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        guint64 want = g_array_index(trace.truth, guint64, paths->calls[i].id.number);
        guint32 parent = paths->parent[i];
        if (want == 0 || end[want] >= paths->calls[i].return_ns)
            continue;
        late++;
        right += parent != BB_CALL_NO_PARENT && paths->calls[parent].id.number == want;
    }
    printf("outlasting: right %u of %u\n", right, late);
    ck_assert_uint_ge(late, 5);
    ck_assert_uint_ge(10 * right, 9 * late);
}
END_TEST

// By how much: a quarter of their own time, and not between nodes that call each other.
START_TEST(outlasting_too_long)
{
    static const struct {
        double end; // of a call of 100 us that begins 60 us after its parent
        bool circle, found;
    } cases[] = {{160, false, true}, {136, false, true}, {134, false, false}, {136, true, false}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_auto(Trace) trace = trace_new(i);
        guint64 outer = begin(&trace, 0), inner = begin(&trace, outer);
        both(&trace, B, A, outer, 0, cases[i].end);
        both(&trace, A, cases[i].circle ? B : C, inner, 60, 160);
        g_autoptr(BbPaths) paths = infer_joint(&trace);
        ck_assert_uint_eq(paths->n_calls, 2);
        ck_assert_int_eq(paths->parent[1] == 0, cases[i].found);
        if (cases[i].found) // sure where it is nested, a guess where it outlasts
            ck_assert_int_eq(paths->confidence[1] > 0.9f, cases[i].end >= 160);
    }
}
END_TEST

// Eight callers, eight callees: what one of them is known by is but a few calls.
START_TEST(few_of_each)
{
    Score sum = {0};
    for (guint i = 0; i < 8; i++) {
        g_auto(Trace) trace = trace_new(100 + i);
        double clock = 0;
        for (guint k = 0; k < 70; k++) {
            guint64 id = begin(&trace, 0);
            guint to = 20 + (guint)bb_random_below(&trace.random, 8);
            clock += bb_random_exponential(&trace.random) * 6 * MS;
            double at = leaf(&trace, A, to, id, clock + about(&trace, 2 * MS), 3 * MS);
            both(&trace, 10 + (guint)bb_random_below(&trace.random, 8), A, id, clock,
                 at + about(&trace, MS));
        }
        g_autoptr(BbPaths) paths = infer_joint(&trace);
        for (guint32 c = 0; c < paths->n_calls; c++) {
            guint64 want = g_array_index(trace.truth, guint64, paths->calls[c].id.number);
            guint32 parent = paths->parent[c];
            sum.links += want != 0;
            sum.right +=
                want != 0 && parent != BB_CALL_NO_PARENT && paths->calls[parent].id.number == want;
        }
    }
    printf("few of each: right %.4f of %u\n", share(sum.right, sum.links), sum.links);
    ck_assert_double_ge(share(sum.right, sum.links), 0.8);
}
END_TEST

// Confidence is worth something: links held for sure are right more often than the others.
START_TEST(confidence)
{
    g_auto(Trace) trace = trace_new(6);
    play(&trace, in_sequence, 1500, 2 * MS);
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    guint sure = 0, sure_right = 0, rest = 0, rest_right = 0;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        if (paths->calls[i].caller == CLIENT)
            continue;
        guint32 parent = paths->parent[i];
        bool right = parent != BB_CALL_NO_PARENT &&
                     paths->calls[parent].id.number ==
                         g_array_index(trace.truth, guint64, paths->calls[i].id.number);
        if (paths->confidence[i] > 0.95f) {
            sure++;
            sure_right += right;
        } else {
            rest++;
            rest_right += right;
        }
    }
    printf("sure %u right %.4f, rest %u right %.4f\n", sure, share(sure_right, sure), rest,
           share(rest_right, rest));
    ck_assert_uint_gt(sure, 0);
    ck_assert_uint_gt(rest, 100);
    ck_assert_double_ge(share(sure_right, sure), 0.95);
    ck_assert_double_lt(share(rest_right, rest), share(sure_right, sure));
}
END_TEST

// ---- sameness, facts ---------------------------------------------------------------------------

static void play_all(Trace *trace)
{
    static const Plan plans[] = {in_sequence, fan_out, one_of_two, cached, itself, circle};
    for (gsize i = 0; i < G_N_ELEMENTS(plans); i++)
        play(trace, plans[i], 100, 20 * MS);
}

START_TEST(any_number_of_threads)
{
    static const guint threads[] = {1, 2, 7, 1};
    g_auto(Trace) trace = trace_new(test_seed("joint threads"));
    play_all(&trace);
    g_autoptr(BbPaths) first = NULL;
    for (gsize i = 0; i < G_N_ELEMENTS(threads); i++) {
        BbNestingOptions options = bb_nesting_options_default();
        options.threads = threads[i];
        g_autoptr(BbPaths) paths = infer(&trace, &options);
        if (!first) {
            first = g_steal_pointer(&paths);
            continue;
        }
        ck_assert_mem_eq(paths->parent, first->parent, first->n_calls * sizeof *first->parent);
        ck_assert_mem_eq(paths->confidence, first->confidence,
                         first->n_calls * sizeof *first->confidence);
        ck_assert_mem_eq(&paths->facts, &first->facts, sizeof first->facts);
    }
}
END_TEST

START_TEST(facts_are_those_of_the_paper)
{
    g_auto(Trace) trace = trace_new(test_seed("joint facts"));
    play_all(&trace);
    BbNestingOptions options = paper_options();
    g_autoptr(BbPaths) paper = infer(&trace, &options);
    g_autoptr(BbPaths) joint = infer_joint(&trace);
    ck_assert_uint_gt(joint->facts.children, 500);
    ck_assert_uint_gt(joint->facts.candidates, joint->facts.children);
    ck_assert_mem_eq(&joint->facts, &paper->facts, sizeof joint->facts);
    for (guint32 i = 0; i < paper->n_calls; i++)
        ck_assert_float_eq(paper->confidence[i], BB_CONFIDENCE_NONE);
}
END_TEST

// ---- whatever comes ----------------------------------------------------------------------------

START_TEST(next_to_nothing)
{
    g_auto(Trace) none = trace_new(1), one = trace_new(1);
    g_autoptr(BbPaths) of_none = infer_joint(&none);
    ck_assert_uint_eq(of_none->n_calls, 0);
    ck_assert_uint_eq(of_none->facts.children, 0);
    both(&one, CLIENT, A, begin(&one, 0), 5, 9);
    g_autoptr(BbPaths) of_one = infer_joint(&one);
    ck_assert_uint_eq(of_one->n_calls, 1);
    ck_assert_uint_eq(of_one->parent[0], BB_CALL_NO_PARENT);
    ck_assert_float_eq(of_one->confidence[0], 1);
    leaf(&one, A, B, 1, 6, 1);
    g_autoptr(BbPaths) of_two = infer_joint(&one);
    ck_assert_uint_eq(of_two->facts.children, 1);
    ck_assert_uint_eq(of_two->facts.candidates, 1);
}
END_TEST

START_TEST(all_at_one_time)
{
    g_auto(Trace) trace = trace_new(1);
    for (guint i = 0; i < 400; i++)
        both(&trace, 1 + i % 5, 1 + i / 5 % 5, begin(&trace, 0), 7, 7);
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    ck_assert_uint_eq(paths->n_calls, 400);
}
END_TEST

START_TEST(many_calls_of_one)
{
    g_auto(Trace) trace = trace_new(2);
    guint64 id = begin(&trace, 0);
    for (guint i = 0; i < 10000; i++)
        leaf(&trace, A, B + i % 2, id, 100 + 10 * i, 5);
    both(&trace, CLIENT, A, id, 1, 200000);
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    Score got = score(&trace, paths);
    printf("10,000 in one: right %.4f\n", share(got.right, got.links));
    ck_assert_uint_eq(got.links, 10000);
    ck_assert_double_ge(share(got.right, got.links), 0.9);
}
END_TEST

// So few parents that a part of them is no sample. Each call is inside the only request that is
// open.
START_TEST(thousands_of_few)
{
    g_auto(Trace) trace = trace_new(4);
    for (guint i = 0; i < 5; i++) {
        guint64 id = begin(&trace, 0);
        double start = 1 + 300 * MS * i, at = start;
        for (guint k = 0; k < 5000; k++)
            at = leaf(&trace, A, B, id, at + about(&trace, 20), 10);
        both(&trace, CLIENT, A, id, start, at + 20);
    }
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    Score got = score(&trace, paths);
    printf("5,000 in each of five: right %.4f\n", share(got.right, got.links));
    ck_assert_uint_eq(got.links, 25000);
    ck_assert_double_ge(share(got.right, got.links), 0.99);
}
END_TEST

START_TEST(many_around_one)
{
    g_auto(Trace) trace = trace_new(3);
    for (guint i = 0; i < 3000; i++)
        both(&trace, CLIENT, A, begin(&trace, 0), 1 + i, 10000 - i);
    leaf(&trace, A, B, 3000, 4000, 5);
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    ck_assert_uint_eq(paths->facts.children, 1);
    ck_assert_uint_eq(paths->facts.candidates, 3000);
}
END_TEST

// A stream stays open all the while, and makes no call: what it may have made is all there is. The
// requests, many at once, make two calls or none.
START_TEST(stays_open)
{
    g_auto(Trace) trace = trace_new(9);
    double clock = 1000 * MS;
    guint64 stream = begin(&trace, 0);
    for (guint i = 0; i < 8000; i++) {
        guint64 id = begin(&trace, 0);
        clock += MS * bb_random_exponential(&trace.random);
        double at = clock + about(&trace, 5 * MS);
        if (i % 2) {
            at = leaf(&trace, A, B, id, at, 5 * MS) + about(&trace, 5 * MS);
            at = leaf(&trace, A, B, id, at, 5 * MS) + about(&trace, 5 * MS);
        }
        both(&trace, CLIENT, A, id, clock, at);
    }
    both(&trace, CLIENT, A, stream, 1, clock + 1000 * MS);
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    Score got = score(&trace, paths);
    printf("beside a stream: parallelism %.1f right %.4f\n", got.parallelism,
           share(got.right, got.links));
    ck_assert_double_gt(got.parallelism, 8);
    ck_assert_double_ge(share(got.right, got.links), 0.4);
}
END_TEST

START_TEST(ends_of_time)
{
    static const gint64 times[] = {G_MININT64 + 1, G_MININT64 + 2, -1,     0, 1,
                                   G_MAXINT64 - 1, G_MAXINT64,     1000000};
    BbRandom random = bb_random_start(test_seed("joint ends"));
    for (guint round = 0; round < 8; round++) {
        g_auto(Trace) trace = trace_new(4);
        guint n = 2 + (guint)bb_random_below(&random, 80);
        for (guint i = 0; i < n; i++) {
            guint from = 1 + (guint)bb_random_below(&random, 4);
            guint to = 1 + (guint)bb_random_below(&random, 4);
            guint64 id = begin(&trace, 0);
            send(&trace, BB_CALL, from, to, id, times[bb_random_below(&random, 8)]);
            send(&trace, BB_RETURN, to, from, id, times[bb_random_below(&random, 8)]);
        }
        BbNestingOptions options = bb_nesting_options_default();
        options.skew_window_ns = round % 3 == 0 ? G_MAXINT64 : round % 3;
        g_autoptr(BbPaths) paths = infer(&trace, &options);
        for (guint32 i = 0; i < paths->n_calls; i++)
            ck_assert(paths->confidence[i] >= 0 && paths->confidence[i] <= 1);
    }
}
END_TEST

// More callees, and callers, than kinds are told apart.
START_TEST(many_kinds)
{
    g_auto(Trace) trace = trace_new(7);
    double clock = 0;
    for (guint i = 0; i < 1000; i++) {
        guint64 id = begin(&trace, 0);
        clock += bb_random_exponential(&trace.random) * 8 * MS;
        double at = leaf(&trace, A, 100 + i % 200, id, clock + about(&trace, MS), 2 * MS);
        both(&trace, 10 + i % 70, A, id, clock, at + about(&trace, MS));
    }
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    guint right = 0, links = 0;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        guint64 want = g_array_index(trace.truth, guint64, paths->calls[i].id.number);
        links += want != 0;
        right += want != 0 && paths->parent[i] != BB_CALL_NO_PARENT &&
                 paths->calls[paths->parent[i]].id.number == want;
    }
    printf("many kinds: right %.4f\n", share(right, links));
    ck_assert_double_ge(share(right, links), 0.8);
}
END_TEST

// One request at a time, whose calls go to so many of so many nodes, one after the other.
static double right_one_by_one(guint requests, guint calls, guint nodes)
{
    g_auto(Trace) trace = trace_new(8);
    double clock = 1000 * MS;
    for (guint i = 0; i < requests; i++) {
        guint64 id = begin(&trace, 0);
        double at = clock;
        for (guint left = calls, c = 0; left > 0; c++) {
            bool has = bb_random_below(&trace.random, nodes - c) < left;
            left -= has;
            if (has)
                at = leaf(&trace, A, 100 + c, id, at + about(&trace, MS), 5 * MS);
        }
        at += about(&trace, 2 * MS);
        both(&trace, CLIENT, A, id, clock, at);
        clock = at + 200 * MS;
    }
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    Score got = score(&trace, paths);
    ck_assert_uint_eq(got.links, requests * calls);
    return share(got.right, got.links);
}

// Hardly two requests make the same calls; or all make more, and of more kinds, than are looked at
// together. Each call is inside the only request that is open.
START_TEST(nothing_to_choose)
{
    double some = right_one_by_one(1000, 5, 20), all = right_one_by_one(100, 40, 40),
           few = right_one_by_one(3, 70, 70);
    printf("one by one: %.4f of 5 of 20, %.4f of 40, %.4f of 70 right\n", some, all, few);
    ck_assert_double_ge(some, 0.999);
    ck_assert_double_ge(all, 0.999);
    ck_assert_double_ge(few, 0.999);
}
END_TEST

TEST_MAIN("joint", planted_systems, calls_of_nobody, stamps_of_others, late_and_rare,
          rare_among_many, lost_parents, outlasting, outlasting_too_long, few_of_each,
          durations_go_together, durations_and_a_skew_window, confidence, any_number_of_threads,
          facts_are_those_of_the_paper, next_to_nothing, all_at_one_time, many_calls_of_one,
          thousands_of_few, many_around_one, stays_open, ends_of_time, many_kinds,
          nothing_to_choose)
