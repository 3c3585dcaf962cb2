// SPDX-License-Identifier: Apache-2.0
// Choosing path instances: each condition, all at once, several windows, and hints on operations
// and times that do not occur.
#include "data/selection.h"

#include "tests/unit/test.h"

#define MS G_GINT64_CONSTANT(1000000)

// Calls of one instance in a row: each but the first is made by the one before.
typedef struct {
    const char *caller, *callee, *op, *status;
    gint64 call_ns, return_ns, end_ns; // 0: none
} Row;

#define CHAIN_MAX 4

static const Row chains[][CHAIN_MAX] = {
    {{"client", "web", "GET /", "200", 10 * MS, 20 * MS, 0},
     {"web", "auth", "check", "200", 12 * MS, 15 * MS, 0}},
    {{"client", "web", "GET /cart", "500", 20 * MS, 60 * MS, 90 * MS},
     {"web", "db", "SELECT carts", "42P01", 30 * MS, 40 * MS, 0}},
    {{"cron", "db", "", "", 30 * MS, 31 * MS, 0}},
    {{"client", "web", "GET /", "", 40 * MS, 0, 0}, // never returned
     {"web", "auth", "check", "200", 41 * MS, 42 * MS, 0}},
    {{"client", "web", "GET /", "200", 50 * MS, 90 * MS, 0}},
};

static void add_call(BbPaths *paths, BbNames *names, const Row *row)
{
    gint64 return_ns = row->return_ns ? row->return_ns : BB_TIME_NONE;
    paths->order[paths->n_calls] = paths->n_calls;
    paths->calls[paths->n_calls++] = (BbCall){
        .call_ns = row->call_ns,
        .arrived_ns = row->call_ns,
        .replied_ns = return_ns,
        .return_ns = return_ns,
        .return_end_ns = row->end_ns ? row->end_ns : BB_TIME_NONE,
        .caller = bb_names_intern(names, row->caller),
        .callee = bb_names_intern(names, row->callee),
        .op = bb_names_intern(names, row->op),
        .status = bb_names_intern(names, row->status),
    };
}

static BbPaths *make_paths(BbNames *names)
{
    BbPaths *paths = bb_paths_new();
    paths->calls = g_new0(BbCall, G_N_ELEMENTS(chains) * CHAIN_MAX);
    paths->order = g_new0(guint32, G_N_ELEMENTS(chains) * CHAIN_MAX);
    paths->instances = g_new0(BbInstance, G_N_ELEMENTS(chains));
    for (guint i = 0; i < G_N_ELEMENTS(chains); i++) {
        BbInstance *instance = &paths->instances[paths->n_instances];
        *instance = (BbInstance){.first = paths->n_calls, .place = paths->n_instances++};
        for (guint k = 0; k < CHAIN_MAX && chains[i][k].caller; k++)
            add_call(paths, names, &chains[i][k]);
        instance->count = paths->n_calls - instance->first;
    }
    return paths;
}

static guint64 returned_of(const BbPaths *paths)
{
    guint64 returned = 0;
    for (guint32 i = 0; i < paths->n_instances; i++)
        returned += bb_call_is_returned(&paths->calls[paths->order[paths->instances[i].first]]);
    return returned;
}

// The numbers of the instances that options choose, as "1 3 4".
static void expect(BbSelectionOptions options, const char *numbers)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPaths) paths = make_paths(names);
    g_autoptr(BbSelection) selection = bb_selection_new(&options, names);
    guint32 all = paths->n_instances;
    guint64 returned = returned_of(paths);
    guint32 left_out = bb_selection_apply(selection, paths);
    ck_assert_uint_eq(left_out, all - paths->n_instances);
    BbChosen chosen = bb_selection_chosen(selection, NULL);
    ck_assert_uint_eq(chosen.of, bb_selection_chooses(&options) ? returned : 0);
    ck_assert_uint_eq(chosen.instances, chosen.of ? returned_of(paths) : 0);
    g_autoptr(GString) found = g_string_new(NULL);
    for (guint32 i = 0; i < paths->n_instances; i++)
        g_string_append_printf(found, "%s%" G_GUINT64_FORMAT, i ? " " : "",
                               bb_instance_number(paths, &paths->instances[i]));
    ck_assert_str_eq(found->str, numbers);
}

#define BETWEEN(from, to, ...) ((BbSelectionOptions){.from_ns = from, .to_ns = to, __VA_ARGS__})
#define WITH(...) BETWEEN(BB_TIME_NONE, BB_TIME_NONE, __VA_ARGS__)
#define OPS(...) ((const char *const[]){__VA_ARGS__, NULL})

// Likewise with the nodes of root and of through; NULL: none are asked for.
static void expect_nodes(const char *root, const char *through, BbSelectionOptions options,
                         const char *numbers)
{
    g_autoptr(BbGlobs) roots = root ? bb_globs_new(root) : NULL;
    g_autoptr(BbGlobs) throughs = through ? bb_globs_new(through) : NULL;
    options.root = roots;
    options.through = throughs;
    ck_assert(bb_selection_chooses(&options));
    expect(options, numbers);
}

START_TEST(all_without_conditions)
{
    ck_assert(!bb_selection_chooses(&BB_SELECTION_ALL));
    ck_assert(!bb_selection_chooses(&WITH(.last_byte = true)));
    expect(BB_SELECTION_ALL, "1 2 3 4 5");
}
END_TEST

START_TEST(root_at_either_end_of_its_call)
{
    expect_nodes("web", NULL, BB_SELECTION_ALL, "1 2 4 5");
    expect_nodes("client", NULL, BB_SELECTION_ALL, "1 2 4 5");
    expect_nodes("cron", NULL, BB_SELECTION_ALL, "3");
    expect_nodes("db", NULL, BB_SELECTION_ALL, "3");
    expect_nodes("auth", NULL, BB_SELECTION_ALL, "");
}
END_TEST

START_TEST(through_any_call)
{
    expect_nodes(NULL, "db", BB_SELECTION_ALL, "2 3");
    expect_nodes(NULL, "auth", BB_SELECTION_ALL, "1 4");
    expect_nodes(NULL, "client", BB_SELECTION_ALL, "1 2 4 5");
}
END_TEST

START_TEST(nodes_are_lists_of_patterns)
{
    expect_nodes("c*", NULL, BB_SELECTION_ALL, "1 2 3 4 5");
    expect_nodes("c???", NULL, BB_SELECTION_ALL, "3");
    expect_nodes("nobody,cron", NULL, BB_SELECTION_ALL, "3");
    expect_nodes("cron,cl*", NULL, BB_SELECTION_ALL, "1 2 3 4 5");
    expect_nodes(NULL, "a*,d?", BB_SELECTION_ALL, "1 2 3 4");
    expect_nodes("w?b", "a*", BB_SELECTION_ALL, "1 4");
    expect_nodes("Web", NULL, BB_SELECTION_ALL, "");
}
END_TEST

START_TEST(unknown_names_match_nothing)
{
    expect_nodes("nobody", NULL, BB_SELECTION_ALL, "");
    expect_nodes(NULL, "nobody", BB_SELECTION_ALL, "");
    expect_nodes(NULL, "GET /", BB_SELECTION_ALL, ""); // a name, but of no node
    expect(WITH(.ops = OPS("DELETE *")), "");
}
END_TEST

START_TEST(op_is_a_pattern)
{
    ck_assert(bb_selection_chooses(&WITH(.ops = OPS("*"))));
    expect(WITH(.ops = OPS("GET /")), "1 4 5");
    expect(WITH(.ops = OPS("GET /*")), "1 2 4 5");
    expect(WITH(.ops = OPS("?heck")), "1 4");
    expect(WITH(.ops = OPS("*")), "1 2 4 5"); // a call without label has no operation to match
    expect(WITH(.ops = OPS("get /")), "");
}
END_TEST

START_TEST(one_of_several_ops_is_enough)
{
    expect(WITH(.ops = OPS("GET /", "GET /?*")), "1 2 4 5");
    expect(WITH(.ops = OPS("GET /?*", "DELETE *")), "2");
    expect(WITH(.ops = OPS("DELETE *", "GET /?*")), "2");
}
END_TEST

START_TEST(slower_than_root)
{
    ck_assert(bb_selection_chooses(&WITH(.slower_ns = 1)));
    expect(WITH(.slower_ns = 1 * MS), "1 2 5"); // 3 lasts 1 ms, no longer; 4 has no end
    expect(WITH(.slower_ns = 40 * MS), "");
    expect(WITH(.slower_ns = 40 * MS, .last_byte = true), "2");
}
END_TEST

// Messages as convolution has them: none has a return; the second instance fans out.
START_TEST(slower_without_returns)
{
    static const struct {
        gint64 call_ns, arrived_ns;
    } times[] = {{10 * MS, 11 * MS}, {12 * MS, 15 * MS}, // 5 ms
                 {20 * MS, 20 * MS}, {30 * MS, 70 * MS}, // 50
                 {30 * MS, 32 * MS},                     // 2
                 {40 * MS, 90 * MS}, {41 * MS, 42 * MS}, // 50: the effect arrives before its cause
                 {50 * MS, 50 * MS}};
    const struct {
        gint64 slower_ns;
        guint32 count;
    } wanted[] = {{0, 5}, {MS, 4}, {2 * MS, 3}, {5 * MS, 2}, {50 * MS - 1, 2}, {50 * MS, 0}};
    for (guint i = 0; i < G_N_ELEMENTS(wanted); i++) {
        g_autoptr(BbNames) names = bb_names_new();
        g_autoptr(BbPaths) paths = make_paths(names);
        paths->mode = g_new0(guint32, paths->n_calls);
        for (guint32 k = 0; k < paths->n_calls; k++) {
            paths->calls[k].call_ns = times[k].call_ns;
            paths->calls[k].arrived_ns = times[k].arrived_ns;
            paths->calls[k].return_ns = paths->calls[k].replied_ns = BB_TIME_NONE;
        }
        BbSelectionOptions options = WITH(.slower_ns = wanted[i].slower_ns);
        g_autoptr(BbSelection) selection = bb_selection_new(&options, names);
        bb_selection_apply(selection, paths);
        ck_assert_uint_eq(paths->n_instances, wanted[i].count);
    }
}
END_TEST

START_TEST(errors_in_any_call)
{
    ck_assert(bb_selection_chooses(&WITH(.errors = true)));
    expect(WITH(.errors = true), "2");
}
END_TEST

START_TEST(time_of_root)
{
    ck_assert(bb_selection_chooses(&BETWEEN(0, BB_TIME_NONE, .root = NULL)));
    ck_assert(bb_selection_chooses(&BETWEEN(BB_TIME_NONE, 0, .root = NULL)));
    expect(BETWEEN(30 * MS, BB_TIME_NONE, .root = NULL), "3 4 5");
    expect(BETWEEN(BB_TIME_NONE, 30 * MS, .root = NULL), "1 2");
    expect(BETWEEN(20 * MS, 41 * MS, .root = NULL), "2 3 4");
}
END_TEST

START_TEST(all_conditions_at_once)
{
    expect_nodes("web", "auth", BETWEEN(20 * MS, BB_TIME_NONE, .ops = OPS("GET*")), "4");
    expect_nodes("web", "auth", WITH(.errors = true), "");
    expect_nodes(NULL, "db", WITH(.errors = true, .slower_ns = MS), "2");
}
END_TEST

// Names of a later window are not known when the first is chosen from.
START_TEST(names_of_later_windows)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbGlobs) late = bb_globs_new("late");
    BbSelectionOptions options = WITH(.through = late, .ops = OPS("late *"));
    g_autoptr(BbSelection) selection = bb_selection_new(&options, names);
    g_autoptr(BbPaths) first = make_paths(names);
    ck_assert_uint_eq(bb_selection_apply(selection, first), G_N_ELEMENTS(chains));
    g_autofree char *before = bb_selection_hint_ops(selection);
    ck_assert_ptr_nonnull(before);
    g_autoptr(BbPaths) second = make_paths(names);
    second->instances_before = 5;
    second->calls[0].callee = bb_names_intern(names, "late");
    second->calls[0].op = bb_names_intern(names, "late op");
    ck_assert_uint_eq(bb_selection_apply(selection, second), G_N_ELEMENTS(chains) - 1);
    ck_assert_uint_eq(bb_instance_number(second, &second->instances[0]), 6);
    g_autofree char *after = bb_selection_hint_ops(selection);
    ck_assert_ptr_null(after);
}
END_TEST

static void expect_hint(BbSelectionOptions options, const char *expected)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPaths) paths = make_paths(names);
    g_autoptr(BbSelection) selection = bb_selection_new(&options, names);
    (void)bb_selection_apply(selection, paths);
    g_autofree char *hint = bb_selection_hint_ops(selection);
    ck_assert_pstr_eq(hint, expected);
}

START_TEST(hints)
{
    expect_hint(WITH(.ops = OPS("check")), NULL);
    expect_hint(WITH(.errors = true), NULL);
    expect_hint(WITH(.ops = OPS("DELETE*")),
                "no operation matches 'DELETE*'; * stands for any text, ? for any letter");
    expect_hint(WITH(.ops = OPS("DELETE*", "check", "PUT")),
                "no operation matches 'DELETE*', 'PUT'; * stands for any text, ? for any letter");
}
END_TEST

static void expect_time_hint(BbSelectionOptions options, const char *expected)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPaths) paths = make_paths(names);
    g_autoptr(BbSelection) selection = bb_selection_new(&options, names);
    ck_assert_ptr_null(bb_selection_hint_time(selection)); // no path at all
    (void)bb_selection_apply(selection, paths);
    g_autofree char *hint = bb_selection_hint_time(selection);
    ck_assert_pstr_eq(hint, expected);
}

START_TEST(hint_where_no_path_begins_in_time)
{
    const char *range =
        "no path begins in the time asked for: those of the trace begin from 1970-01-01 "
        "00:00:00.010 UTC to 1970-01-01 00:00:00.050 UTC";
    expect_time_hint(BETWEEN(51 * MS, BB_TIME_NONE, .root = NULL), range);
    expect_time_hint(BETWEEN(BB_TIME_NONE, 10 * MS, .root = NULL), range);
    expect_time_hint(BETWEEN(41 * MS, 42 * MS, .errors = true), range);
    expect_time_hint(BETWEEN(50 * MS, BB_TIME_NONE, .root = NULL), NULL);
    expect_time_hint(BETWEEN(40 * MS, 41 * MS, .errors = true), NULL); // others are to blame
    expect_time_hint(WITH(.errors = true), NULL);
}
END_TEST

START_TEST(hint_without_labels)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPaths) paths = make_paths(names);
    for (guint32 i = 0; i < paths->n_calls; i++)
        paths->calls[i].op = BB_NAME_NONE;
    BbSelectionOptions options = WITH(.ops = OPS("*"));
    g_autoptr(BbSelection) selection = bb_selection_new(&options, names);
    ck_assert_uint_eq(bb_selection_apply(selection, paths), G_N_ELEMENTS(chains));
    g_autofree char *hint = bb_selection_hint_ops(selection);
    ck_assert_pstr_eq(hint, "the trace has no operation labels");
}
END_TEST

TEST_MAIN("selection", all_without_conditions, root_at_either_end_of_its_call, through_any_call,
          nodes_are_lists_of_patterns, unknown_names_match_nothing, op_is_a_pattern,
          one_of_several_ops_is_enough, slower_than_root, slower_without_returns,
          errors_in_any_call, time_of_root, all_conditions_at_once, names_of_later_windows, hints,
          hint_where_no_path_begins_in_time, hint_without_labels)
