// SPDX-License-Identifier: Apache-2.0
// The filter: each condition, calls and returns together, order, limits, inversion.
#include "merge/filter.h"

#include "tests/unit/traces.h"

static bool note_id(const BbMessage *message, gpointer user, GError **error)
{
    GString *kept = ((gpointer *)user)[0];
    const BbNames *names = ((gpointer *)user)[1];
    static const char kinds[] = "CRM";
    g_string_append_printf(kept, "%s%c", kept->len ? " " : "", kinds[message->kind]);
    bb_id_append(kept, names, message->id);
    if (message->extra)
        g_string_append_printf(kept, "(%s)", message->extra);
    return true;
}

typedef struct Result {
    GString *kept; // "C1 R1 M2"
    guint64 count, hurried;
} Result;

static void result_clear(Result *result)
{
    g_string_free(result->kept, TRUE);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Result, result_clear)

static Result run_filter(const Messages *all, const BbFilterOptions *options)
{
    Result result = {.kept = g_string_new(NULL)};
    gpointer user[] = {result.kept, all->names};
    g_autoptr(BbFilter) filter = bb_filter_new(options, all->names, note_id, user);
    ck_assert_msg(!all->error, "%s", all->error ? all->error->message : "");
    for (guint i = 0; i < all->messages->len; i++) {
        // lent strings do not outlive the push
        BbMessage message = *message_at(all, i);
        g_autofree char *conn = g_strdup(message.conn), *extra = g_strdup(message.extra);
        message.conn = conn;
        message.extra = extra;
        ck_assert(bb_filter_push(filter, &message, NULL));
    }
    ck_assert(bb_filter_finish(filter, NULL));
    result.count = bb_filter_kept(filter);
    result.hurried = bb_filter_hurried(filter);
    return result;
}

static const char trace[] = "# bbtrace text 1\n"
                            "1.000 CALL_SENT web app 1 proto=http op=GET%20/a conn=x\n"
                            "1.010 CALL_SENT app db 2 proto=postgresql op=SELECT%20item conn=y\n"
                            "1.020 RET_SENT db app 2 proto=postgresql status=ok conn=y\n"
                            "1.030 CALL_SENT web app 3 proto=http op=GET%20/b conn=z\n"
                            "1.100 RET_SENT app web 1 proto=http status=200 conn=x\n"
                            "1.200 RET_SENT app web 3 proto=http status=503 conn=z\n"
                            "1.300 MSG_SENT app log 4 proto=udp status=error\n"
                            "1.400 CALL_SENT web app 5 proto=http op=GET%20/a\n"
                            "1.500 RET_SENT db app 6 proto=postgresql status=42P01\n";

#define ALL "C1 C2 R2 C3 R1 R3 M4 C5 R6"
#define GLOBS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define S 1000000000
#define MS 1000000

START_TEST(conditions)
{
    const struct {
        BbFilterOptions options; // times of 0 are open, here
        const char *kept, *dropped;
    } cases[] = {
        {{0}, ALL, ""},
        {{.from_ns = S + 25 * MS}, "C3 R3 M4 C5 R6", "C1 C2 R2 R1"}, // as the call goes
        {{.to_ns = S + 25 * MS}, "C1 C2 R2 R1", "C3 R3 M4 C5 R6"},
        {{.from_ns = S + 10 * MS, .to_ns = S + 30 * MS}, "C2 R2", "C1 C3 R1 R3 M4 C5 R6"},
        {{.nodes = GLOBS("db")}, "C2 R2 R6", "C1 C3 R1 R3 M4 C5"},
        {{.nodes = GLOBS("d?", "l*")}, "C2 R2 M4 R6", "C1 C3 R1 R3 C5"},
        {{.nodes = GLOBS("nobody")}, "", ALL},
        {{.edges = GLOBS("web->app")}, "C1 C3 R1 R3 C5", "C2 R2 M4 R6"},
        {{.edges = GLOBS("app->web")}, "", ALL},
        {{.edges = GLOBS("app->*")}, "C2 R2 M4 R6", "C1 C3 R1 R3 C5"},
        {{.edges = GLOBS("web->db", "app->app")}, "", ALL}, // sides do not mix
        {{.edges = GLOBS("web->db", "app->log")}, "M4", "C1 C2 R2 C3 R1 R3 C5 R6"},
        {{.protocols = GLOBS("postgresql")}, "C2 R2 R6", "C1 C3 R1 R3 M4 C5"},
        {{.ops = GLOBS("GET /a")}, "C1 R1 C5", "C2 R2 C3 R3 M4 R6"}, // the return goes with it
        {{.ops = GLOBS("GET*", "SELECT*")}, "C1 C2 R2 C3 R1 R3 C5", "M4 R6"},
        {{.statuses = GLOBS("200")}, "C1 R1", "C2 R2 C3 R3 M4 C5 R6"},
        {{.statuses = GLOBS("?03", "error")}, "C3 R3 M4", "C1 C2 R2 R1 C5 R6"},
        {{.errors = true}, "C3 R3 M4 R6", "C1 C2 R2 R1 C5"},
        {{.slower_ns = 50 * MS}, "C1 C3 R1 R3", "C2 R2 M4 C5 R6"},
        {{.slower_ns = 100 * MS}, "C3 R3", "C1 C2 R2 R1 M4 C5 R6"}, // more than, not as much as
        {{.faster_ns = 100 * MS}, "C2 R2", "C1 C3 R1 R3 M4 C5 R6"},
        {{.slower_ns = 10 * MS, .faster_ns = 110 * MS}, "C1 R1", "C2 R2 C3 R3 M4 C5 R6"},
        {{.nodes = GLOBS("web"), .errors = true}, "C3 R3", "C1 C2 R2 R1 M4 C5 R6"},
        {{.sample = 1}, ALL, ""},
    };
    g_autoptr(Messages) all = read_text(trace);
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        BbFilterOptions options = cases[i].options;
        options.from_ns = options.from_ns ? options.from_ns : BB_TIME_NONE;
        options.to_ns = options.to_ns ? options.to_ns : BB_TIME_NONE;
        g_auto(Result) kept = run_filter(all, &options);
        ck_assert_msg(strcmp(kept.kept->str, cases[i].kept) == 0, "case %zu: %s", i,
                      kept.kept->str);
        options.invert = true;
        g_auto(Result) dropped = run_filter(all, &options);
        ck_assert_msg(strcmp(dropped.kept->str, cases[i].dropped) == 0, "case %zu inverted: %s", i,
                      dropped.kept->str);
        ck_assert_uint_eq(kept.count + dropped.count, all->messages->len);
        ck_assert_uint_eq(kept.hurried + dropped.hurried, 0);
    }
}
END_TEST

START_TEST(the_duration_is_the_callers)
{
    g_autoptr(Messages) all = read_text("# bbtrace text 1\n1.0 CALL_SENT a b 1 recv=5.0\n"
                                        "1.1 RET_SENT b a 1 recv=1.3\n");
    BbFilterOptions options = BB_FILTER_ALL;
    options.slower_ns = 200 * MS;
    g_auto(Result) result = run_filter(all, &options);
    ck_assert_str_eq(result.kept->str, "C1 R1");
}
END_TEST

START_TEST(second_sightings_go_with_their_call)
{
    g_autoptr(Messages) all =
        read_text("# bbtrace text 1\n1.0 CALL_SENT a b 1\n1.1 CALL_RECV a b 1\n"
                  "1.2 CALL_SENT a b 2\n1.3 CALL_RECV a b 2\n1.4 RET_SENT b a 2 status=ok\n"
                  "1.5 RET_RECV b a 2 status=ok\n1.6 RET_SENT b a 1 status=error\n"
                  "1.7 RET_RECV b a 1 status=error\n");
    BbFilterOptions options = BB_FILTER_ALL;
    options.errors = true;
    g_auto(Result) result = run_filter(all, &options);
    ck_assert_str_eq(result.kept->str, "C1 C1 R1 R1");
}
END_TEST

START_TEST(lent_strings_and_order_survive_waiting)
{
    g_autoptr(Messages) all =
        read_text("# bbtrace text 1\n1.0 CALL_SENT a b 1 k=1\n1.1 MSG_SENT a b 2 status=error k=2\n"
                  "1.2 CALL_SENT a b 3 k=3\n1.3 RET_SENT b a 3 status=error k=4\n"
                  "1.4 RET_SENT b a 1 status=error k=5\n");
    BbFilterOptions options = BB_FILTER_ALL;
    options.errors = true;
    g_auto(Result) result = run_filter(all, &options);
    ck_assert_str_eq(result.kept->str, "C1(k=1) M2(k=2) C3(k=3) R3(k=4) R1(k=5)");
}
END_TEST

// At the limit of messages that wait the first call counts as one without return, and its return
// goes where it went.
START_TEST(limit_of_what_waits)
{
    g_autoptr(GString) text = g_string_new("# bbtrace text 1\n1.0 CALL_SENT a b 1\n");
    for (guint i = 2; i <= 6; i++)
        g_string_append_printf(text, "1.%u CALL_SENT a b %u\n1.%u5 RET_SENT b a %u status=error\n",
                               i, i, i, i);
    g_string_append(text, "2.0 RET_SENT b a 1 status=error\n");
    g_autoptr(Messages) all = read_text(text->str);
    BbFilterOptions options = BB_FILTER_ALL;
    options.errors = true;
    options.held_max = 8;
    g_auto(Result) few = run_filter(all, &options);
    ck_assert_str_eq(few.kept->str, "C2 R2 C3 R3 C4 R4 C5 R5 C6 R6");
    ck_assert_uint_eq(few.hurried, 1);
    options.invert = true; // now C2 and so on wait only for their own verdict
    options.held_max = 3;
    g_auto(Result) others = run_filter(all, &options);
    ck_assert_str_eq(others.kept->str, "C1 R1");
    options.invert = false;
    options.held_max = 11;
    g_auto(Result) enough = run_filter(all, &options);
    ck_assert_str_eq(enough.kept->str, "C1 C2 R2 C3 R3 C4 R4 C5 R5 C6 R6 R1");
    ck_assert_uint_eq(enough.hurried, 0);
}
END_TEST

START_TEST(limit_of_open_calls)
{
    g_autoptr(Messages) all =
        read_text("# bbtrace text 1\n1.0 CALL_SENT a b 1\n1.1 CALL_SENT a b 2\n"
                  "1.2 CALL_SENT a b 3\n1.3 RET_SENT b a 3 status=error\n"
                  "1.4 RET_SENT b a 2 status=error\n1.5 RET_SENT b a 1 status=error\n");
    BbFilterOptions options = BB_FILTER_ALL;
    options.errors = true;
    options.open_max = 2;
    g_auto(Result) result = run_filter(all, &options);
    ck_assert_str_eq(result.kept->str, "C2 C3 R3 R2 R1"); // R1 is judged alone
    ck_assert_uint_eq(result.hurried, 1);
}
END_TEST

static bool refuse(const BbMessage *message, gpointer user, GError **error)
{
    g_set_error(error, BB_TRACE_ERROR, BB_TRACE_ERROR_MESSAGE, "full");
    return false;
}

START_TEST(failures_of_the_sink_come_through)
{
    g_autoptr(Messages) all = read_text(trace);
    BbFilterOptions options = BB_FILTER_ALL;
    for (guint waits = 0; waits < 2; waits++) {
        g_autoptr(GError) error = NULL;
        options.slower_ns = waits ? MS : 0;
        g_autoptr(BbFilter) filter = bb_filter_new(&options, all->names, refuse, NULL);
        bool good = true;
        for (guint i = 0; good && i < all->messages->len; i++)
            good = bb_filter_push(filter, message_at(all, i), &error);
        ck_assert(!good);
        ck_assert_str_eq(error->message, "full");
    }
}
END_TEST

static gint by_time(gconstpointer a, gconstpointer b)
{
    const BbMessage *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

// Whatever is asked, both halves of a call share their lot, the call first.
START_TEST(halves_stay_together)
{
    guint32 seed = test_seed("filter");
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    g_autoptr(GString) text = g_string_new("# bbtrace text 1\n");
    for (guint i = 0; i < 4000; i++) {
        gint start = g_rand_int_range(rand, 0, 1000000), took = g_rand_int_range(rand, 1, 2000);
        gint node = g_rand_int_range(rand, 0, 5);
        g_string_append_printf(text,
                               "%d.%06d CALL_SENT a b%d %u conn=%d\n%d.%06d RET_SENT b%d a %u "
                               "conn=%d status=%s\n",
                               1, start, node, i, i % 40, 1 + (start + took) / 1000000,
                               (start + took) % 1000000, node, i, i % 40,
                               took % 3 ? "ok" : "error");
    }
    g_autoptr(Messages) all = read_text(text->str);
    g_array_sort(all->messages, by_time);
    const BbFilterOptions wanted[] = {
        {.from_ns = BB_TIME_NONE, .to_ns = S + S / 2, .errors = true},
        {.from_ns = S + S / 3, .to_ns = BB_TIME_NONE, .slower_ns = MS, .sample = 3},
        {.from_ns = BB_TIME_NONE, .to_ns = BB_TIME_NONE, .faster_ns = MS, .held_max = 3},
        {.from_ns = BB_TIME_NONE, .to_ns = BB_TIME_NONE, .nodes = GLOBS("b1"), .invert = true},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(wanted); i++) {
        g_auto(Result) result = run_filter(all, &wanted[i]);
        g_auto(GStrv) words = g_strsplit(result.kept->str, " ", -1);
        g_autoptr(GHashTable) open = g_hash_table_new(g_str_hash, g_str_equal);
        ck_assert_uint_gt(result.count, 100);
        ck_assert_uint_lt(result.count, all->messages->len);
        for (char **word = words; *word; word++)
            if ((*word)[0] == 'C')
                g_hash_table_add(open, *word + 1);
            else if (!g_hash_table_remove(open, *word + 1))
                ck_abort_msg("case %zu: %s alone", i, *word);
        ck_assert_uint_eq(g_hash_table_size(open), 0);
    }
}
END_TEST

START_TEST(words_for_edges)
{
    static const char *const good[][3] = {
        {"a->b", "a", "b"}, {"*->*", "*", "*"}, {" a b -> c ", "a b", "c"}};
    static const char *const bad[] = {"a->", "->b", "a-> ", " ->b", "a-b", "", "a->b->c"};
    for (gsize i = 0; i < G_N_ELEMENTS(good); i++) {
        g_autofree char *caller = NULL, *callee = NULL;
        ck_assert(bb_filter_split_edge(good[i][0], &caller, &callee));
        ck_assert_str_eq(caller, good[i][1]);
        ck_assert_str_eq(callee, good[i][2]);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        char *caller = NULL, *callee = NULL;
        ck_assert(!bb_filter_split_edge(bad[i], &caller, &callee));
        ck_assert_ptr_null(caller);
    }
}
END_TEST

TEST_MAIN("filter", conditions, the_duration_is_the_callers, second_sightings_go_with_their_call,
          lent_strings_and_order_survive_waiting, limit_of_what_waits, limit_of_open_calls,
          failures_of_the_sink_come_through, halves_stay_together, words_for_edges)
