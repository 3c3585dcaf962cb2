// SPDX-License-Identifier: Apache-2.0
// Windows over a trace: every call is published once whatever the trace does to time, paths are cut
// only where they are longer than the overlap, and what is held stays bounded.
#include "tests/bench/traffic.h"
#include "tests/unit/infer.h"
#include "tests/unit/trace_lines.h"

#include "nesting/windows.h"
#include "viz/ranking.h"

#define MS G_GINT64_CONSTANT(1000000)
#define SECOND (1000 * MS)

// ---- a run -------------------------------------------------------------------------------------

typedef struct {
    BbNames *names;
    BbWindows *windows;
    BbCensus *census;
    GPtrArray *published; // of BbPaths*
    BbFacts facts;
} Run;

static Run run_begin_as(BbWindowOptions options, BbAssign assign)
{
    BbNestingOptions nesting = bb_nesting_options_default();
    nesting.assign = assign;
    Run run = {.names = bb_names_new(), .facts = BB_FACTS_EMPTY};
    BbCensusOptions census = {.algorithm = "nesting", .labels = true};
    run.windows = bb_windows_new(run.names, &nesting, &options);
    run.census = bb_census_new(&census, run.names);
    run.published = g_ptr_array_new_with_free_func((GDestroyNotify)bb_paths_free);
    return run;
}

static Run run_begin(BbWindowOptions options)
{
    return run_begin_as(options, BB_ASSIGN_PAPER);
}

static void run_clear(Run *run)
{
    bb_windows_free(run->windows);
    bb_census_free(run->census);
    g_ptr_array_unref(run->published);
    bb_names_free(run->names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Run, run_clear)

static void check_window(const BbPaths *paths)
{
    guint32 listed = 0;
    g_autofree guint8 *seen = g_new0(guint8, paths->n_calls + 1);
    for (guint32 i = 0; i < paths->n_instances; i++) {
        const BbInstance *instance = &paths->instances[i];
        ck_assert_uint_eq(instance->first, listed);
        ck_assert_uint_eq(instance->place, i);
        for (guint32 k = 0; k < instance->count; k++, listed++) {
            guint32 call = paths->order[listed], parent = paths->parent[call];
            ck_assert_uint_lt(call, paths->n_calls);
            ck_assert_uint_eq(seen[call]++, 0);
            ck_assert(k == 0 ? parent == BB_CALL_NO_PARENT : seen[parent]);
            ck_assert_uint_eq(paths->level[call], k == 0 ? 1 : paths->level[parent] + 1);
        }
    }
    ck_assert_uint_eq(listed, paths->n_calls);
    for (guint32 i = 1; i < paths->n_calls; i++)
        ck_assert_int_le(paths->calls[i - 1].call_ns, paths->calls[i].call_ns);
    ck_assert_uint_eq(paths->facts.calls, paths->n_calls);
    guint64 unanswered = 0;
    for (guint32 i = 0; i < paths->n_calls; i++)
        unanswered +=
            paths->calls[i].replied_ns == BB_TIME_NONE && paths->parent[i] != BB_CALL_NO_PARENT;
    ck_assert_uint_eq(paths->facts.calls_unanswered, unanswered);
}

// Takes the window that is due, if one is.
static void take(Run *run)
{
    BbPaths *paths = bb_windows_next(run->windows);
    if (!paths)
        return;
    check_window(paths);
    if (run->published->len > 0) {
        const BbPaths *before = g_ptr_array_index(run->published, run->published->len - 1);
        ck_assert_uint_eq(paths->instances_before, before->instances_before + before->n_instances);
    } else {
        ck_assert_uint_eq(paths->instances_before, 0);
    }
    bb_facts_add(&run->facts, &paths->facts);
    bb_census_add(run->census, paths);
    g_ptr_array_add(run->published, paths);
}

static void push(Run *run, const BbMessage *message)
{
    guint turns = 0;
    for (; !bb_windows_push(run->windows, message); turns++)
        take(run);
    ck_assert_uint_lt(turns, 1000); // a jump in time costs no window a step
}

static void end(Run *run)
{
    bb_windows_end(run->windows);
    take(run);
    ck_assert_ptr_null(bb_windows_next(run->windows));
}

static void push_lines(Run *run, const char *const *lines)
{
    for (; *lines; lines++) {
        BbMessage message = line_parse(run->names, *lines);
        push(run, &message);
    }
    end(run);
}

static Run run_lines(BbWindowOptions options, const char *const *lines)
{
    Run run = run_begin(options);
    push_lines(&run, lines);
    return run;
}

static BbWindowOptions by_time(gint64 length_ms, gint64 step_ms)
{
    return (BbWindowOptions){.length_ns = length_ms * MS, .step_ns = step_ms * MS};
}

// "a b<a | c ...": calls with their parents, "?" behind one without return; windows apart.
static char *describe(const Run *run)
{
    GString *text = g_string_new(NULL);
    for (guint w = 0; w < run->published->len; w++) {
        const BbPaths *paths = g_ptr_array_index(run->published, w);
        g_string_append(text, w > 0 ? " |" : "");
        for (guint32 k = 0; k < paths->n_calls; k++) {
            guint32 call = paths->order[k], parent = paths->parent[call];
            g_string_append(text, text->len > 0 ? " " : "");
            bb_id_append(text, run->names, paths->calls[call].id);
            g_string_append(text, bb_call_is_returned(&paths->calls[call]) ? "" : "?");
            if (parent == BB_CALL_NO_PARENT)
                continue;
            g_string_append_c(text, '<');
            bb_id_append(text, run->names, paths->calls[parent].id);
        }
    }
    return g_string_free(text, FALSE);
}

static void expect(BbWindowOptions options, const char *const *lines, const char *wanted)
{
    g_auto(Run) run = run_lines(options, lines);
    g_autofree char *got = describe(&run);
    ck_assert_str_eq(got, wanted);
}

// ---- small traces ------------------------------------------------------------------------------

START_TEST(nothing_and_one)
{
    const BbWindowOptions all[] = {{0}, {.whole = true}, by_time(10, 5)};
    for (gsize i = 0; i < G_N_ELEMENTS(all); i++) {
        g_auto(Run) none = run_lines(all[i], LINES(NULL));
        ck_assert_uint_eq(none.published->len, 1); // so that a view has its facts
        ck_assert_int_eq(none.facts.start_ns, BB_TIME_NONE);
        g_auto(Run) one = run_lines(all[i], LINES("C U A a 5"));
        ck_assert_uint_eq(one.published->len, 1);
        ck_assert_uint_eq(one.facts.calls_unreturned, 1);
        g_auto(Run) free_one = run_lines(all[i], LINES("M U A - 5"));
        ck_assert_uint_eq(free_one.facts.free_messages, 1);
        ck_assert_uint_eq(free_one.facts.calls, 0);
    }
}
END_TEST

START_TEST(paths_are_published_by_their_start)
{
    expect(by_time(100, 50),
           LINES("C U A a 0", "C A B b 10", "R B A b 20", "R A U a 30", "C U A c 49", "C U A d 50",
                 "C A B e 60", "R A U c 61", "R B A e 70", "R A U d 80", "C U A f 100",
                 "R A U f 101", "C U A g 149", "R A U g 150"),
           "a b<a c | d e<d | f g");
}
END_TEST

// b lies in the first step, its root in none: it goes with its root.
START_TEST(calls_go_with_their_root)
{
    expect(
        by_time(100, 50),
        LINES("C U A a 40", "C A B b 60", "R B A b 85", "R A U a 90", "C U A z 200", "R A U z 201"),
        "a b<a | z");
}
END_TEST

START_TEST(open_calls_wait_for_their_return)
{
    // a lasts longer than a window; b is over when a is known.
    expect(by_time(100, 50), LINES("C U A a 10", "C A B b 20", "R B A b 30", "R A U a 130"),
           "b | a");
    // a return that comes after the next window finds nothing
    g_auto(Run) run = run_lines(by_time(100, 50),
                                LINES("C U A a 10", "C U A x 120", "R A U x 121", "C U A y 170",
                                      "R A U y 171", "C U A z 230", "R A U z 231", "R A U a 232"));
    g_autofree char *got = describe(&run);
    ck_assert_str_eq(got, " | a? | x | y z");
    ck_assert_uint_eq(run.facts.calls_unreturned, 1);
    ck_assert_uint_eq(run.facts.returns_orphaned, 1);
    ck_assert_uint_eq(run.facts.messages, 8);
}
END_TEST

// A path longer than the overlap is cut, and no call of it is lost.
START_TEST(long_paths_are_cut)
{
    expect(
        by_time(100, 80),
        LINES("C U A a 0", "C A B b 20", "R B A b 40", "C A B c 90", "R B A c 120", "R A U a 140"),
        "b | a c<a");
}
END_TEST

// The second sightings of a call and of its return come when the window is over.
START_TEST(second_sightings_find_their_call)
{
    g_auto(Run) run = run_lines(by_time(100, 50),
                                LINES("C U A a 0", "rC U A a 1", "R A U a 8", "rR A U a 9",
                                      "C U A b 98", "R A U b 99", "rC U A b 101", "rR A U b 102"));
    g_autofree char *got = describe(&run);
    ck_assert_str_eq(got, "a | b");
    const BbPaths *last = g_ptr_array_index(run.published, 1);
    ck_assert_int_eq(last->calls[0].arrived_ns, 101 * MS);
    ck_assert_int_eq(last->calls[0].replied_ns, 99 * MS);
    ck_assert_int_eq(last->calls[0].return_ns, 102 * MS);
    ck_assert_uint_eq(run.facts.returns_orphaned, 0);
}
END_TEST

// Both times of a call that goes on are kept, with its label.
START_TEST(carried_calls_keep_what_is_known)
{
    g_auto(Run) run = run_lines(by_time(100, 50),
                                LINES("C U A z 0", "R A U z 1", "C U A a 90 recv=91 op=get",
                                      "R A U a 160 recv=161 end=170 status=500", "C U A b 300"));
    const BbPaths *third = g_ptr_array_index(run.published, 2);
    const BbCall *call = &third->calls[0];
    ck_assert_int_eq(call->arrived_ns, 91 * MS);
    ck_assert_int_eq(call->replied_ns, 160 * MS);
    ck_assert_int_eq(call->return_ns, 161 * MS);
    ck_assert_int_eq(call->return_end_ns, 170 * MS);
    ck_assert_str_eq(bb_names_text(run.names, call->op), "get");
    ck_assert_str_eq(bb_names_text(run.names, call->status), "500");
}
END_TEST

// ---- time --------------------------------------------------------------------------------------

START_TEST(late_messages_are_used_and_counted)
{
    g_auto(Run) run =
        run_lines(by_time(100, 100), LINES("C U A a 0", "R A U a 10", "C U A b 120", "C U A c 50",
                                           "R A U c 60", "R A U b 130"));
    g_autofree char *got = describe(&run);
    ck_assert_str_eq(got, "a | c b");
    ck_assert_uint_eq(bb_windows_late(run.windows), 2);
}
END_TEST

START_TEST(jumps_cost_nothing)
{
    g_auto(Run) run = run_begin(by_time(10, 1));
    const gint64 times[] = {5, 5000000000, G_MAXINT64 / 2, G_MAXINT64 - 1, G_MAXINT64};
    for (gsize i = 0; i < G_N_ELEMENTS(times); i++) {
        BbMessage call = line_parse(run.names, "C U A - 0"),
                  back = line_parse(run.names, "R A U - 0");
        call.time_ns = back.time_ns = times[i];
        push(&run, &call);
        push(&run, &back);
    }
    end(&run);
    ck_assert_uint_eq(run.facts.calls, G_N_ELEMENTS(times));
    ck_assert_uint_eq(run.facts.calls_unreturned, 0);
    ck_assert_uint_le(run.published->len, 60); // an overlap of nine windows each
    ck_assert_uint_eq(bb_windows_late(run.windows), 0);
}
END_TEST

// The grid of windows does not move when a time without messages lies between.
START_TEST(windows_begin_at_multiples_of_the_step)
{
    g_auto(Run) run = run_lines(by_time(100, 50), LINES("C U A a 10", "R A U a 11", "C U A b 1037",
                                                        "R A U b 1038", "C U A c 2000"));
    const gint64 from_ms[] = {10, 1010, 1960};
    ck_assert_uint_eq(run.published->len, 3);
    for (guint i = 0; i < 3; i++) {
        const BbPaths *paths = g_ptr_array_index(run.published, i);
        ck_assert_int_eq(paths->from_ns, from_ms[i] * MS);
        ck_assert_int_eq(paths->to_ns, i < 2 ? (from_ms[i] + 50) * MS : 2000 * MS);
    }
}
END_TEST

// One stamp of the far future, then traffic as usual: all of it is late, and yet not all is held.
START_TEST(a_stamp_of_the_future)
{
    BbWindowOptions options = by_time(100, 50);
    options.messages = 100;
    g_auto(Run) run = run_begin(options);
    BbMessage message = line_parse(run.names, "C U A - 1");
    message.time_ns = G_MAXINT64 / 2;
    push(&run, &message);
    for (guint i = 0; i < 1000; i++) {
        BbMessage call = line_parse(run.names, "C U A - 0"),
                  back = line_parse(run.names, "R A U - 0");
        call.id = back.id = bb_id_number(i);
        call.time_ns = i * 10 * MS;
        back.time_ns = call.time_ns + MS;
        push(&run, &call);
        push(&run, &back);
    }
    end(&run);
    ck_assert_uint_eq(run.facts.calls, 1001);
    ck_assert_uint_eq(run.facts.calls_unreturned, 1);
    ck_assert_uint_eq(bb_windows_late(run.windows), 100); // then the clock is set anew
    ck_assert_uint_gt(run.published->len, 100);
}
END_TEST

// They are published with their parents, and go on with them.
START_TEST(calls_without_return_go_with_their_parents)
{
    static const char *const lines[] = {"C U A a 0",   "C A B x 10",  "R A U a 40",
                                        "C U A b 60",  "C A B y 70",  "R A U b 90",
                                        "C U A c 120", "R A U c 130", NULL};
    g_auto(Run) run = run_begin_as(by_time(100, 50), BB_ASSIGN_JOINT);
    push_lines(&run, lines);
    g_autofree char *got = describe(&run);
    ck_assert_str_eq(got, "a x?<a | b y?<b c");
    ck_assert_uint_eq(run.facts.calls_unanswered, 2);
}
END_TEST

// Those of the second request are known in its first window, and go on to the next one.
START_TEST(unread_returns_stay_so)
{
    static const char *const lines[] = {
        "C U A a 0",   "C A B x 10",  "R B A x 60 status=unread",  "R A U a 70",
        "C U A b 80",  "C A B y 82",  "R B A y 90 status=unread",  "R A U b 130",
        "C U A c 150", "C A B z 160", "R B A z 165 status=unread", "R A U c 210",
        NULL};
    g_auto(Run) run = run_begin_as(by_time(100, 50), BB_ASSIGN_JOINT);
    push_lines(&run, lines);
    g_autofree char *got = describe(&run);
    ck_assert_str_eq(got, "a x?<a | b y?<b | | c z?<c");
    ck_assert_uint_eq(run.facts.calls_late, 3);
    ck_assert_uint_eq(run.facts.calls_unreturned, 0);
}
END_TEST

// Which each window finds anew: that B's clock is 12 ms ahead is not told twice.
START_TEST(closed_calls_end_when_their_caller_closed)
{
    static const char *const lines[] = {"C U A a 0",
                                        "C A B x 10 recv=22",
                                        "M A B x 60 status=closed",
                                        "R A U a 70",
                                        "C U A b 60",
                                        "C A B y 65 recv=77",
                                        "M A B y 85 status=closed",
                                        "R A U b 90",
                                        "C U A c 190",
                                        "R A U c 200",
                                        NULL};
    g_auto(Run) run = run_begin_as(by_time(100, 50), BB_ASSIGN_JOINT);
    push_lines(&run, lines);
    g_autofree char *got = describe(&run);
    ck_assert_str_eq(got, "a x?<a | b y?<b | | c");
    const BbPaths *paths = g_ptr_array_index(run.published, 1);
    ck_assert_int_eq(paths->calls[1].return_end_ns, (85 + 12) * MS);
}
END_TEST

// A return that comes in a later window than that counts more; what gets none is ended by it in
// any.
START_TEST(closed_connections_go_with_their_calls)
{
    static const char *const lines[] = {"C U A a 0",   "R A U a 30",
                                        "C U A b 80",  "M U A b 95 status=closed",
                                        "C U A d 85",  "M U A d 98 status=closed",
                                        "R A U d 120", "C U A c 190",
                                        "R A U c 200", NULL};
    g_auto(Run) run = run_begin_as(by_time(100, 50), BB_ASSIGN_JOINT);
    push_lines(&run, lines);
    guint found = 0;
    for (guint w = 0; w < run.published->len; w++) {
        const BbPaths *paths = g_ptr_array_index(run.published, w);
        for (guint32 i = 0; i < paths->n_calls; i++) {
            const BbCall *call = &paths->calls[i];
            found++;
            if (call->call_ns == 80 * MS)
                ck_assert_int_eq(call->return_ns, 95 * MS);
            if (call->call_ns == 85 * MS)
                ck_assert_int_eq(call->return_ns, 120 * MS);
        }
    }
    ck_assert_uint_eq(found, 4);
    ck_assert_uint_eq(run.facts.returns_orphaned, 0);
    ck_assert_uint_eq(run.facts.free_messages, 0);
}
END_TEST

// Windows of messages do not depend on stamps: all the same, or none with a return.
START_TEST(windows_of_messages_always_go_on)
{
    for (guint kind = 0; kind < 3; kind++) {
        g_auto(Run) run = run_begin((BbWindowOptions){.messages = 100});
        for (guint i = 0; i < 2000; i++) {
            BbMessage message =
                line_parse(run.names, i % 2 && kind != 1 ? "R A U - 7" : "C U A - 7");
            message.time_ns = kind == 0 ? 7 : i;
            message.id = kind == 2 ? (BbId){0} : bb_id_number(i / 2);
            push(&run, &message);
        }
        end(&run);
        ck_assert_uint_eq(run.facts.calls, kind == 1 ? 2000 : 1000);
        ck_assert_uint_eq(run.facts.calls_unreturned, kind == 1 ? 2000 : 0);
        ck_assert_uint_ge(run.published->len, 20);
        ck_assert_uint_le(run.published->len, 60);
        for (guint w = 0; w < run.published->len; w++)
            ck_assert_uint_le(((BbPaths *)g_ptr_array_index(run.published, w))->n_calls, 100);
    }
}
END_TEST

// ---- random traces -----------------------------------------------------------------------------

// Requests of a random system at random times, with losses, with delays up to some seconds.
static GArray *random_messages(GRand *rand, BbNames *names, guint count)
{
    Traffic traffic;
    GArray *messages = g_array_new(FALSE, FALSE, sizeof(BbMessage));
    traffic_init(&traffic, names, 1 + 30 * g_rand_double(rand));
    traffic.time = (double)SECOND;
    double lost = g_rand_boolean(rand) ? 0 : 0.1 * g_rand_double(rand);
    for (guint i = 0; i < count; i++) {
        BbMessage message = traffic_next(&traffic);
        if (g_rand_double(rand) >= lost)
            g_array_append_val(messages, message);
    }
    guint disorder = g_rand_boolean(rand) ? 0 : 1 + (guint)g_rand_int_range(rand, 0, 300);
    for (guint i = 0; i + disorder < messages->len && disorder > 0; i++) {
        BbMessage *a = &g_array_index(messages, BbMessage, i);
        BbMessage *b = a + g_rand_int_range(rand, 0, (gint32)disorder);
        BbMessage swap = *a;
        *a = *b;
        *b = swap;
    }
    traffic_clear(&traffic);
    return messages;
}

static BbWindowOptions random_windows(GRand *rand)
{
    if (g_rand_boolean(rand))
        return (BbWindowOptions){.messages = (guint64)g_rand_int_range(rand, 10, 2000)};
    gint64 length = g_rand_int_range(rand, 40, 20000);
    return by_time(length, g_rand_int_range(rand, 40, (gint32)length + 1));
}

static void check_each_once(const Run *run, const GArray *messages)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_int64_hash, g_int64_equal);
    guint64 sent[BB_FREE + 1] = {0};
    for (guint w = 0; w < run->published->len; w++) {
        const BbPaths *paths = g_ptr_array_index(run->published, w);
        for (guint32 i = 0; i < paths->n_calls; i++)
            ck_assert(g_hash_table_add(seen, &paths->calls[i].id.number));
    }
    for (guint i = 0; i < messages->len; i++) {
        const BbMessage *message = &g_array_index(messages, BbMessage, i);
        sent[message->kind]++;
        if (message->kind == BB_CALL)
            ck_assert(g_hash_table_contains(seen, &message->id.number));
    }
    ck_assert_uint_eq(g_hash_table_size(seen), sent[BB_CALL]);
    ck_assert_uint_eq(run->facts.messages, messages->len);
    ck_assert_uint_eq(run->facts.calls, sent[BB_CALL]);
    ck_assert_uint_eq(run->facts.forwarded, 0);
    ck_assert_uint_eq(run->facts.calls - run->facts.calls_unreturned + run->facts.returns_orphaned,
                      sent[BB_RETURN]);
}

START_TEST(every_call_is_published_once)
{
    guint32 seed = test_seed("windows");
    for (guint32 i = 0; i < 100; i++) {
        g_autoptr(GRand) rand = g_rand_new_with_seed(seed + i);
        g_auto(Run) run = run_begin(random_windows(rand));
        g_autoptr(GArray) messages = random_messages(rand, run.names, 2000);
        for (guint m = 0; m < messages->len; m++)
            push(&run, &g_array_index(messages, BbMessage, m));
        end(&run);
        check_each_once(&run, messages);
    }
}
END_TEST

static void check_same(const BbPaths *a, const BbPaths *b)
{
    ck_assert_uint_eq(a->n_calls, b->n_calls);
    ck_assert_uint_eq(a->n_instances, b->n_instances);
    for (guint32 i = 0; i < a->n_calls; i++) { // there is padding in an id, and at the end
        const BbCall *x = &a->calls[i], *y = &b->calls[i];
        ck_assert(bb_id_equal(x->id, y->id));
        ck_assert_mem_eq(x, y, offsetof(BbCall, id));
        ck_assert_uint_eq(x->proto, y->proto);
    }
    ck_assert_mem_eq(a->parent, b->parent, a->n_calls * sizeof *a->parent);
    ck_assert_mem_eq(a->confidence, b->confidence, a->n_calls * sizeof *a->confidence);
    ck_assert_mem_eq(a->level, b->level, a->n_calls * sizeof *a->level);
    ck_assert_mem_eq(a->shape, b->shape, a->n_calls * sizeof *a->shape);
    ck_assert_mem_eq(a->self_ns, b->self_ns, a->n_calls * sizeof *a->self_ns);
    ck_assert_mem_eq(a->order, b->order, a->n_calls * sizeof *a->order);
    ck_assert_mem_eq(a->instances, b->instances, a->n_instances * sizeof *a->instances);
    ck_assert_mem_eq(&a->facts, &b->facts, sizeof a->facts);
    ck_assert_int_eq(a->from_ns, b->from_ns);
    ck_assert_int_eq(a->to_ns, b->to_ns);
}

// A trace shorter than a window is one window, and that is what an inference in one go gives.
START_TEST(a_short_trace_is_one_window)
{
    const BbWindowOptions all[] = {{0}, {.whole = true}, {.length_ns = 3600 * SECOND}};
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(GArray) messages = random_messages(rand, names, 5000);
    BbNestingOptions nesting = paper_options();
    g_autoptr(BbPairs) pairs = bb_pairs_new(names);
    for (guint m = 0; m < messages->len; m++)
        bb_pairs_push(pairs, &g_array_index(messages, BbMessage, m));
    g_autoptr(BbPaths) wanted = infer_paths(pairs, names, &nesting);
    g_autoptr(BbPatterns) patterns = infer_patterns(wanted, names, &nesting); // and their numbers
    ck_assert_uint_gt(patterns->patterns->len, 10);
    for (gsize i = 0; i < G_N_ELEMENTS(all); i++) {
        g_auto(Run) run = run_begin(all[i]);
        for (guint n = 1; n < bb_names_count(names); n++) // the same numbers
            bb_names_intern(run.names, bb_names_text(names, n));
        for (guint m = 0; m < messages->len; m++)
            ck_assert(bb_windows_push(run.windows, &g_array_index(messages, BbMessage, m)));
        end(&run);
        ck_assert_uint_eq(run.published->len, 1);
        check_same(g_ptr_array_index(run.published, 0), wanted);
    }
}
END_TEST

// ---- what comes out is the same ----------------------------------------------------------------

static BbPatterns *patterns_of(BbWindowOptions options, BbAssign assign, const GArray *messages,
                               BbNames **names, guint *n_windows)
{
    g_auto(Run) run = run_begin_as(options, assign);
    for (guint i = 0; i < TRAFFIC_NODES; i++) {
        g_autofree char *name = g_strdup_printf("node%u", i);
        bb_names_intern(run.names, name);
    }
    for (guint m = 0; m < messages->len; m++)
        push(&run, &g_array_index(messages, BbMessage, m));
    end(&run);
    *n_windows = run.published->len;
    *names = g_steal_pointer(&run.names);
    bb_windows_free(g_steal_pointer(&run.windows));
    BbPatterns *patterns = bb_census_finish(run.census);
    bb_census_free(g_steal_pointer(&run.census));
    return patterns;
}

static const BbPattern *find_shape(const BbPatterns *patterns, guint64 shape)
{
    for (guint i = 0; i < patterns->patterns->len; i++) {
        const BbPattern *pattern = g_ptr_array_index(patterns->patterns, i);
        if (pattern->shape == shape)
            return pattern;
    }
    ck_abort_msg("no pattern of the shape");
    return NULL;
}

// The most frequent patterns of wanted are as frequent and as slow in got, within what a sample of
// that size is worth.
static void check_alike(const BbPatterns *got, const BbPatterns *wanted, const BbNames *names)
{
    BbViewOptions options = {.top = 12, .sort = BB_SORT_COUNT};
    g_autoptr(BbRanking) ranking = bb_ranking_new(wanted, names, &options, BB_TOP_ALL);
    for (guint i = 0; i < ranking->n_shown; i++) {
        const BbPattern *a = ranking->shown[i], *b = find_shape(got, a->shape);
        double count = (double)a->count, mean = (double)bb_pattern_mean_latency(a);
        ck_assert_double_gt(count, 100);
        ck_assert_double_le(fabs((double)b->count - count), sqrt(count));
        ck_assert_double_le(fabs((double)bb_pattern_mean_latency(b) - mean), mean / 100);
    }
}

static void check_stationary(BbAssign assign, guint count, const BbWindowOptions *options)
{
    g_autoptr(BbNames) ids = bb_names_new();
    Traffic traffic;
    traffic_init(&traffic, ids, 9.5);
    g_autoptr(GArray) messages = g_array_new(FALSE, FALSE, sizeof(BbMessage));
    for (guint i = 0; i < count; i++) {
        BbMessage message = traffic_next(&traffic);
        g_array_append_val(messages, message);
    }
    traffic_clear(&traffic);
    g_autoptr(BbNames) whole_names = NULL;
    guint n_windows = 0;
    g_autoptr(BbPatterns) whole =
        patterns_of((BbWindowOptions){.whole = true}, assign, messages, &whole_names, &n_windows);
    ck_assert_uint_eq(n_windows, 1);
    for (gsize i = 0; i < 2; i++) {
        g_autoptr(BbNames) names = NULL;
        g_autoptr(BbPatterns) patterns =
            patterns_of(options[i], assign, messages, &names, &n_windows);
        ck_assert_uint_ge(n_windows, 4);
        ck_assert_uint_eq(patterns->facts.calls, whole->facts.calls);
        ck_assert_uint_eq(patterns->facts.calls_unreturned, whole->facts.calls_unreturned);
        check_alike(patterns, whole, whole_names);
    }
}

// On traffic that does not change, windows count the patterns as the whole trace does. (Windows of
// a few thousand messages know delays less well.)
START_TEST(stationary_traffic)
{
    const BbWindowOptions options[] = {{.messages = 40000}, {.length_ns = 400 * SECOND}};
    check_stationary(BB_ASSIGN_PAPER, 150000, options);
}
END_TEST

START_TEST(stationary_traffic_jointly)
{
    const BbWindowOptions options[] = {{.messages = 15000}, {.length_ns = 150 * SECOND}};
    check_stationary(BB_ASSIGN_JOINT, 60000, options);
}
END_TEST

// Requests one after the other: no window changes anything, to the last figure.
START_TEST(lonely_requests_are_counted_alike)
{
    g_autoptr(BbNames) ids = bb_names_new();
    Traffic traffic;
    traffic_init(&traffic, ids, 0.0001);
    g_autoptr(GArray) messages = g_array_new(FALSE, FALSE, sizeof(BbMessage));
    for (guint i = 0; i < 5000; i++) {
        BbMessage message = traffic_next(&traffic);
        g_array_append_val(messages, message);
    }
    traffic_clear(&traffic);
    g_autoptr(BbNames) names = NULL;
    g_autoptr(BbNames) whole_names = NULL;
    guint n_windows, one;
    g_autoptr(BbPatterns) a = patterns_of((BbWindowOptions){.messages = 300}, BB_ASSIGN_PAPER,
                                          messages, &names, &n_windows);
    g_autoptr(BbPatterns) b = patterns_of((BbWindowOptions){.whole = true}, BB_ASSIGN_PAPER,
                                          messages, &whole_names, &one);
    ck_assert_uint_gt(n_windows, 10);
    ck_assert_uint_eq(a->patterns->len, b->patterns->len);
    for (guint i = 0; i < a->patterns->len; i++) {
        const BbPattern *x = g_ptr_array_index(a->patterns, i);
        const BbPattern *y = g_ptr_array_index(b->patterns, i);
        ck_assert_uint_eq(x->shape, y->shape);
        ck_assert_uint_eq(x->count, y->count);
        ck_assert_int_eq(bb_pattern_total_latency(x), bb_pattern_total_latency(y));
        ck_assert_uint_eq(x->root->critical_total_ns, y->root->critical_total_ns);
        ck_assert_int_eq(bb_stats_quantile(x->root->latency, 0.9),
                         bb_stats_quantile(y->root->latency, 0.9));
    }
}
END_TEST

TEST_MAIN("windows", nothing_and_one, paths_are_published_by_their_start, calls_go_with_their_root,
          open_calls_wait_for_their_return, long_paths_are_cut, second_sightings_find_their_call,
          carried_calls_keep_what_is_known, late_messages_are_used_and_counted, jumps_cost_nothing,
          windows_begin_at_multiples_of_the_step, a_stamp_of_the_future,
          calls_without_return_go_with_their_parents, unread_returns_stay_so,
          closed_calls_end_when_their_caller_closed, closed_connections_go_with_their_calls,
          windows_of_messages_always_go_on, every_call_is_published_once,
          a_short_trace_is_one_window, stationary_traffic, stationary_traffic_jointly,
          lonely_requests_are_counted_alike)
