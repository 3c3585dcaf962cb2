// SPDX-License-Identifier: Apache-2.0
// Windows over free-form messages: every message is published once, trees are cut only where they
// are longer than the overlap, numbers and facts go on. What explains a window is a simple one of
// our own: a message is caused by the last one that its sender got, at most 40 ms before.
#include "convolution/stretches.h"

#include <string.h>

#include "tests/unit/test.h"

#define MS G_GINT64_CONSTANT(1000000)
#define REACH (40 * MS)

// ---- what explains -----------------------------------------------------------------------------

struct BbConvolution {
    BbConvolutionOptions options;
};

BbConvolution *bb_convolution_new(const BbNames *names, const BbConvolutionOptions *options)
{
    BbConvolution *convolution = g_new0(BbConvolution, 1);
    convolution->options = *options;
    return convolution;
}

void bb_convolution_free(BbConvolution *convolution)
{
    g_free(convolution);
}

bool bb_convolution_has_scale(const BbConvolution *convolution)
{
    (void)convolution;
    return true;
}

static guint32 last_got(const BbTraffic *traffic, guint32 message)
{
    const BbCall *calls = traffic->messages;
    for (guint32 i = message; i-- > 0 && calls[message].call_ns - calls[i].call_ns <= REACH;)
        if (calls[i].callee == calls[message].caller)
            return i;
    return BB_CALL_NO_PARENT;
}

static void list(BbPaths *paths, guint32 call, guint32 *listed)
{
    paths->order[(*listed)++] = call;
    for (guint32 i = call + 1; i < paths->n_calls; i++)
        if (paths->parent[i] == call)
            list(paths, i, listed);
}

static void list_instances(BbPaths *paths)
{
    guint32 listed = 0;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        if (paths->parent[i] != BB_CALL_NO_PARENT)
            continue;
        BbInstance *instance = &paths->instances[paths->n_instances];
        *instance = (BbInstance){listed, 0, BB_PATTERN_NONE, paths->n_instances++};
        list(paths, i, &listed);
        instance->count = listed - instance->first;
    }
}

BbPaths *bb_convolution_run(BbConvolution *convolution, BbTraffic *traffic)
{
    BbPaths *paths = bb_paths_new();
    guint32 n = paths->n_calls = traffic->n_messages;
    paths->calls = traffic->messages;
    paths->parent = g_new(guint32, n + 1);
    paths->confidence = g_new0(float, n + 1);
    paths->level = g_new0(guint16, n + 1);
    paths->mode = g_new0(guint32, n + 1);
    paths->onward = g_new0(float, n + 1);
    paths->order = g_new0(guint32, n + 1);
    paths->instances = g_new0(BbInstance, n + 1);
    paths->derived = g_array_new(FALSE, FALSE, sizeof(BbDerived));
    paths->facts = traffic->facts;
    paths->from_ns = traffic->facts.start_ns;
    paths->to_ns = traffic->facts.end_ns;
    for (guint32 i = 0; i < n; i++) {
        paths->parent[i] = last_got(traffic, i);
        paths->mode[i] = i; // to be found again
        paths->onward[i] = (float)i;
        paths->level[i] = 1;
        if (paths->parent[i] != BB_CALL_NO_PARENT)
            paths->level[i] = paths->level[paths->parent[i]] + 1;
    }
    list_instances(paths);
    BbDerived some = {1, 2, 3, n, MS, 0}, few = {3, 2, 1, n > 0, MS, 0};
    g_array_append_val(paths->derived, some);
    g_array_append_val(paths->derived, few);
    traffic->messages = NULL;
    return paths;
}

// ---- a run -------------------------------------------------------------------------------------

typedef struct {
    BbNames *names;
    BbStretches *stretches;
    GPtrArray *published; // of BbPaths*
    BbFacts facts;
} Run;

static Run run_begin(BbWindowOptions options)
{
    BbConvolutionOptions convolution = {0};
    Run run = {.names = bb_names_new(), .facts = BB_FACTS_EMPTY};
    run.stretches = bb_stretches_new(run.names, &convolution, &options);
    run.published = g_ptr_array_new_with_free_func((GDestroyNotify)bb_paths_free);
    return run;
}

static void run_clear(Run *run)
{
    bb_stretches_free(run->stretches);
    g_ptr_array_unref(run->published);
    bb_names_free(run->names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Run, run_clear)

static void check_window(const BbPaths *paths)
{
    guint32 listed = 0;
    for (guint32 i = 0; i < paths->n_instances; i++) {
        const BbInstance *instance = &paths->instances[i];
        ck_assert_uint_eq(instance->first, listed);
        ck_assert_uint_eq(instance->place, i);
        for (guint32 k = 0; k < instance->count; k++, listed++) {
            guint32 call = paths->order[listed], parent = paths->parent[call];
            ck_assert_uint_lt(call, paths->n_calls);
            ck_assert_int_eq((gint64)paths->onward[call], (gint64)paths->mode[call]);
            ck_assert_uint_eq(paths->level[call], k ? paths->level[parent] + 1u : 1);
            ck_assert(k == 0 || paths->calls[parent].callee == paths->calls[call].caller);
        }
    }
    ck_assert_uint_eq(listed, paths->n_calls);
    for (guint32 i = 1; i < paths->n_calls; i++)
        ck_assert_int_le(paths->calls[i - 1].call_ns, paths->calls[i].call_ns);
}

static void take(Run *run)
{
    BbPaths *paths = bb_stretches_next(run->stretches);
    if (!paths)
        return;
    check_window(paths);
    guint64 before = 0;
    if (run->published->len > 0) {
        const BbPaths *last = g_ptr_array_index(run->published, run->published->len - 1);
        before = last->instances_before + last->n_instances;
    }
    ck_assert_uint_eq(paths->instances_before, before);
    bb_facts_add(&run->facts, &paths->facts);
    g_ptr_array_add(run->published, paths);
}

static void push(Run *run, const BbMessage *message)
{
    guint turns = 0;
    for (; !bb_stretches_push(run->stretches, message); turns++)
        take(run);
    ck_assert_uint_lt(turns, 100); // a jump in time costs no window a step
}

static void send(Run *run, const char *from, const char *to, gint64 at_ms)
{
    BbMessage message = bb_message_empty();
    message.sender = bb_names_intern(run->names, from);
    message.receiver = bb_names_intern(run->names, to);
    message.time_ns = at_ms * MS;
    push(run, &message);
}

static void end(Run *run)
{
    bb_stretches_end(run->stretches);
    take(run);
    ck_assert_ptr_null(bb_stretches_next(run->stretches));
}

// "AB@10 BC@12, CD@50 | ...": messages, instances, windows.
static char *published(const Run *run)
{
    GString *text = g_string_new(NULL);
    for (guint w = 0; w < run->published->len; w++) {
        const BbPaths *paths = g_ptr_array_index(run->published, w);
        g_string_append(text, w ? " | " : "");
        for (guint32 i = 0; i < paths->n_instances; i++)
            for (guint32 k = 0; k < paths->instances[i].count; k++) {
                const BbCall *call = &paths->calls[paths->order[paths->instances[i].first + k]];
                g_string_append_printf(text, "%s%s%s@%d",
                                       k   ? " "
                                       : i ? ", "
                                           : "",
                                       bb_names_text(run->names, call->caller),
                                       bb_names_text(run->names, call->callee),
                                       (int)(call->call_ns / MS));
            }
    }
    return g_string_free(text, FALSE);
}

static void expect(const Run *run, const char *wanted)
{
    g_autofree char *found = published(run);
    ck_assert_str_eq(found, wanted);
}

static BbWindowOptions by_time(gint64 length_ms, gint64 step_ms)
{
    return (BbWindowOptions){.length_ns = length_ms * MS, .step_ns = step_ms * MS};
}

// ---- tests -------------------------------------------------------------------------------------

START_TEST(trees_of_the_overlap_go_on)
{
    g_auto(Run) run = run_begin(by_time(100, 60));
    send(&run, "A", "B", 0);
    send(&run, "A", "B", 50);
    send(&run, "B", "C", 65); // of the first step, though it is sent in the overlap
    send(&run, "X", "Y", 70);
    send(&run, "Y", "Z", 99);
    send(&run, "Z", "X", 110); // of a tree of the overlap, in the next window
    end(&run);
    expect(&run, "AB@0, AB@50 BC@65 | XY@70 YZ@99 ZX@110");
    const BbPaths *first = g_ptr_array_index(run.published, 0);
    const BbPaths *second = g_ptr_array_index(run.published, 1);
    ck_assert_int_eq(first->from_ns, 0);
    ck_assert_int_eq(first->to_ns, 60 * MS);
    ck_assert_int_eq(second->from_ns, 60 * MS);
    ck_assert_int_eq(second->to_ns, 110 * MS);
    ck_assert_uint_eq(first->facts.messages, 5); // seen first in that window
    ck_assert_uint_eq(second->facts.messages, 1);
    ck_assert_uint_eq(run.facts.messages, 6);
}
END_TEST

START_TEST(a_tree_longer_than_the_overlap_is_cut)
{
    g_auto(Run) run = run_begin(by_time(100, 75));
    for (gint64 at = 60; at <= 140; at += 20)
        send(&run, at % 40 == 20 ? "A" : "B", at % 40 == 20 ? "B" : "A", at);
    end(&run);
    expect(&run, "AB@60 BA@80 AB@100 BA@120 AB@140"); // the window begins with the first message
    g_auto(Run) again = run_begin(by_time(100, 75));
    send(&again, "X", "Y", 0);
    for (gint64 at = 60; at <= 140; at += 20)
        send(&again, at % 40 == 20 ? "A" : "B", at % 40 == 20 ? "B" : "A", at);
    end(&again);
    expect(&again, "XY@0, AB@60 BA@80 | AB@100 BA@120 AB@140");
}
END_TEST

START_TEST(windows_of_so_many_messages)
{
    g_auto(Run) run = run_begin((BbWindowOptions){.messages = 8});
    for (gint64 i = 0; i < 12; i++)
        send(&run, "A", "B", 100 * i);
    end(&run);
    // Three quarters of 8 messages, then of those left and 6 more.
    expect(&run, "AB@0, AB@100, AB@200, AB@300, AB@400 | AB@500, AB@600, AB@700, AB@800, AB@900, "
                 "AB@1000, AB@1100");
    ck_assert_uint_eq(bb_stretches_late(run.stretches), 0);
}
END_TEST

START_TEST(what_would_fill_the_next_window_is_published)
{
    g_auto(Run) run = run_begin((BbWindowOptions){.messages = 8});
    send(&run, "A", "B", 0);
    for (gint64 i = 1; i < 9; i++)
        send(&run, "A", "B", 1); // all of one time
    end(&run);
    expect(&run, "AB@0, AB@1, AB@1, AB@1, AB@1, AB@1, AB@1, AB@1 | AB@1");
}
END_TEST

START_TEST(whole_is_one_window)
{
    g_auto(Run) run = run_begin((BbWindowOptions){.messages = 2, .whole = true});
    for (gint64 i = 0; i < 5; i++)
        send(&run, "A", "B", 100 * i);
    end(&run);
    expect(&run, "AB@0, AB@100, AB@200, AB@300, AB@400");
}
END_TEST

START_TEST(no_message_is_one_empty_window)
{
    g_auto(Run) run = run_begin((BbWindowOptions){0});
    end(&run);
    ck_assert_uint_eq(run.published->len, 1);
    const BbPaths *paths = g_ptr_array_index(run.published, 0);
    ck_assert_uint_eq(paths->n_calls, 0);
    ck_assert_int_eq(paths->from_ns, BB_TIME_NONE);
}
END_TEST

START_TEST(late_messages_are_used_and_counted)
{
    g_auto(Run) run = run_begin(by_time(100, 50));
    send(&run, "A", "B", 0);
    send(&run, "A", "B", 120);
    send(&run, "A", "B", 10);
    end(&run);
    expect(&run, "AB@0 | AB@10, AB@120");
    ck_assert_uint_eq(bb_stretches_late(run.stretches), 1);
}
END_TEST

START_TEST(late_messages_end_a_window_too)
{
    g_auto(Run) run = run_begin((BbWindowOptions){.length_ns = 100 * MS, .messages = 4});
    send(&run, "A", "B", 0);
    send(&run, "A", "B", 1000000);
    for (gint64 i = 0; i < 9; i++)
        send(&run, "A", "B", 100 + i);
    end(&run);
    ck_assert_uint_eq(run.published->len, 3);
    const BbPaths *second = g_ptr_array_index(run.published, 1);
    ck_assert_uint_eq(second->n_calls, 5);
    ck_assert_uint_eq(bb_stretches_late(run.stretches), 4);
}
END_TEST

START_TEST(silence_costs_no_window)
{
    g_auto(Run) run = run_begin(by_time(100, 50));
    send(&run, "A", "B", 0);
    send(&run, "A", "B", G_GINT64_CONSTANT(31536000000));
    send(&run, "B", "C", G_GINT64_CONSTANT(31536000030));
    end(&run);
    ck_assert_uint_eq(run.published->len, 2);
}
END_TEST

START_TEST(what_correlates_counts_once)
{
    g_auto(Run) run = run_begin((BbWindowOptions){.length_ns = 100 * MS});
    guint64 some = 0, few = 0, messages = 0;
    for (gint64 at = 0; at < 1000; at++) {
        send(&run, "C", "A", at);
        messages++;
    }
    end(&run);
    for (guint i = 0; i < run.published->len; i++) {
        const GArray *derived = ((const BbPaths *)g_ptr_array_index(run.published, i))->derived;
        for (guint k = 0; k < derived->len; k++) {
            const BbDerived *found = &g_array_index(derived, BbDerived, k);
            *(found->from == 1 ? &some : &few) += found->count;
        }
    }
    ck_assert_uint_gt(run.published->len, 10);
    ck_assert_uint_eq(some, messages);          // once a message
    ck_assert_uint_eq(few, run.published->len); // 3 quarters of one, rounded
}
END_TEST

START_TEST(a_count_that_rounds_to_nothing_goes)
{
    g_auto(Run) run = run_begin(by_time(100, 10));
    send(&run, "C", "A", 0);
    for (gint64 at = 11; at < 99; at++)
        send(&run, "C", "A", at);
    send(&run, "C", "A", 200);
    const BbPaths *first = g_ptr_array_index(run.published, 0);
    ck_assert_uint_eq(first->n_calls, 1);
    ck_assert_uint_eq(first->derived->len, 1); // 89 / 89, but not 1 / 89
    ck_assert_uint_eq(g_array_index(first->derived, BbDerived, 0).count, 1);
    end(&run);
}
END_TEST

static gint by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// The instances of all windows, sorted, a hash of them: the text is long.
static guint hash_instances(const Run *run)
{
    g_autofree char *text = published(run);
    g_auto(GStrv) instances = g_regex_split_simple("(?:, | \\| ?)+", text, 0, 0);
    qsort(instances, g_strv_length(instances), sizeof *instances, by_text);
    g_autofree char *joined = g_strjoinv(", ", instances);
    return g_str_hash(joined);
}

// Paths of 60 ms at most, those of one client never at once.
static void send_random(Run *run, GRand *rand)
{
    gint64 at = 0;
    for (guint i = 0; i < 300; i++) {
        at += g_rand_int_range(rand, 100, 300);
        send(run, "C", "A", at);
        if (g_rand_boolean(rand))
            send(run, "A", "B", at + g_rand_int_range(rand, 1, 20));
        if (g_rand_boolean(rand))
            send(run, "A", "D", at + g_rand_int_range(rand, 20, 40));
        if (g_rand_int_range(rand, 0, 10) == 0)
            at += g_rand_int_range(rand, 0, 5000);
    }
}

START_TEST(windows_change_no_tree_shorter_than_the_overlap)
{
    guint32 seed = test_seed("stretches");
    const BbWindowOptions all[] = {{.messages = 64},    {.messages = 1000}, by_time(1000, 500),
                                   by_time(2000, 1900), by_time(300, 100),  {0}};
    g_auto(Run) whole = run_begin((BbWindowOptions){.whole = true});
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    send_random(&whole, rand);
    end(&whole);
    guint wanted = hash_instances(&whole);
    for (gsize i = 0; i < G_N_ELEMENTS(all); i++) {
        g_auto(Run) run = run_begin(all[i]);
        g_rand_set_seed(rand, seed);
        send_random(&run, rand);
        end(&run);
        ck_assert_uint_eq(hash_instances(&run), wanted);
        ck_assert_uint_eq(run.facts.messages, whole.facts.messages);
        ck_assert_int_eq(run.facts.start_ns, whole.facts.start_ns);
        ck_assert_int_eq(run.facts.end_ns, whole.facts.end_ns);
    }
}
END_TEST

TEST_MAIN("stretches", trees_of_the_overlap_go_on, a_tree_longer_than_the_overlap_is_cut,
          windows_of_so_many_messages, what_would_fill_the_next_window_is_published,
          whole_is_one_window, no_message_is_one_empty_window, late_messages_are_used_and_counted,
          late_messages_end_a_window_too, silence_costs_no_window, what_correlates_counts_once,
          a_count_that_rounds_to_nothing_goes, windows_change_no_tree_shorter_than_the_overlap)
