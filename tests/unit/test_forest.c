// SPDX-License-Identifier: Apache-2.0
// Trees of messages that know their cause: cycles are cut where they are least sure, deep trees at
// the limit; order, delays, what correlates besides.
#include "convolution/forest.h"
#include "tests/unit/planted.h"

// ---- cycles ------------------------------------------------------------------------------------

static BbAssignment *assign(guint32 n, const guint32 *causes, const float *chances)
{
    BbAssignment *assignment = bb_assignment_new(n);
    for (guint32 i = 0; i < n; i++) {
        assignment->cause[i] = causes[i];
        assignment->chance[i] = chances ? chances[i] : 0.5f;
    }
    return assignment;
}

#define NONE BB_CALL_NO_PARENT

START_TEST(cycles_are_cut_where_least_sure)
{
    const guint32 causes[] = {2, 0, 1, 4, 3, 3, NONE, 6, 8};
    const float chances[] = {0.9f, 0.3f, 0.8f, 0.6f, 0.6f, 0.1f, 0.1f, 0.2f, 0.9f};
    g_autoptr(BbAssignment) assignment = assign(9, causes, chances);
    bb_forest_untangle(assignment);
    const guint32 wanted[] = {2, NONE, 1, NONE, 3, 3, NONE, 6, NONE}; // of equals the first
    ck_assert_mem_eq(assignment->cause, wanted, sizeof wanted);
}
END_TEST

START_TEST(random_cycles)
{
    BbRandom random = bb_random_start(test_seed("forest"));
    for (guint round = 0; round < 50; round++) {
        enum { N = 200 };
        guint32 causes[N];
        for (guint32 i = 0; i < N; i++)
            causes[i] =
                bb_random_chance(&random, 0.1) ? NONE : (guint32)bb_random_below(&random, N);
        g_autoptr(BbAssignment) assignment = assign(N, causes, NULL);
        bb_forest_untangle(assignment);
        guint32 cut = 0;
        for (guint32 i = 0; i < N; i++) {
            guint32 steps = 0;
            for (guint32 at = i; at != NONE && steps <= N; at = assignment->cause[at])
                steps++;
            ck_assert_uint_le(steps, N);
            cut += assignment->cause[i] != causes[i];
            ck_assert(assignment->cause[i] == causes[i] || assignment->cause[i] == NONE);
        }
        ck_assert_uint_lt(cut, 30); // a random map has few cycles: each is cut once
    }
}
END_TEST

// ---- trees -------------------------------------------------------------------------------------

// Traffic of one edge A -> A, a message a millisecond, with those causes.
static BbPaths *publish(Planted *planted, const BbAssignment *assignment)
{
    for (guint32 i = 0; i < assignment->n; i++)
        planted_send(planted, "A", "A", i * MS, PLANTED_ROOT);
    bb_traffic_finish(planted->traffic);
    g_autoptr(BbStreams) none = bb_streams_new(planted->traffic, 0);
    none->n_out = 0; // nothing is explained
    return bb_forest_publish(planted->traffic, none, NULL, assignment, false);
}

static void check_paths(const BbPaths *paths)
{
    guint32 listed = 0;
    for (guint32 i = 0; i < paths->n_instances; i++) {
        const BbInstance *instance = &paths->instances[i];
        ck_assert_uint_eq(instance->place, i);
        ck_assert_uint_eq(instance->pattern, BB_PATTERN_NONE);
        ck_assert_uint_gt(instance->count, 0);
        listed += instance->count;
        for (guint32 k = 0; k < instance->count; k++) {
            guint32 call = paths->order[instance->first + k], parent = paths->parent[call];
            ck_assert_int_eq(k == 0, parent == NONE);
            ck_assert_uint_eq(paths->level[call], k ? paths->level[parent] + 1u : 1);
        }
        if (i > 0)
            ck_assert_uint_lt(paths->order[instance[-1].first], paths->order[instance->first]);
    }
    ck_assert_uint_eq(listed, paths->n_calls);
}

START_TEST(trees_in_order)
{
    g_autoptr(Planted) planted = planted_new(1);
    const guint32 causes[] = {NONE, NONE, 0, 1, 0, 2, NONE, 5, 1};
    const float chances[] = {0.9f, 0.8f, 0.7f, 0.6f, 0.5f, 0.4f, 0.3f, 0.2f, 0.1f};
    g_autoptr(BbAssignment) assignment = assign(9, causes, chances);
    g_autoptr(BbPaths) paths = publish(planted, assignment);
    check_paths(paths);
    ck_assert_uint_eq(paths->n_instances, 3);
    const guint32 wanted[] = {0, 2, 4, 5, 7, 1, 3, 8, 6};
    ck_assert_mem_eq(paths->order, wanted, sizeof wanted);
    ck_assert_mem_eq(paths->parent, causes, sizeof causes);
    ck_assert_mem_eq(paths->confidence, chances, sizeof chances);
    ck_assert_int_eq(paths->from_ns, 0);
    ck_assert_int_eq(paths->to_ns, 8 * MS);
    ck_assert_uint_eq(paths->facts.messages, 9);
    ck_assert_uint_eq(paths->derived->len, 0);
    ck_assert_ptr_null(planted->traffic->messages); // taken
    for (guint32 i = 0; i < 9; i++) {
        ck_assert_uint_eq(paths->mode[i], BB_MODE_NONE);
        ck_assert_float_eq(paths->onward[i], 0);
    }
}
END_TEST

START_TEST(deep_trees_are_cut)
{
    enum { LENGTH = 2 * BB_PATHS_DEPTH_MAX + 10 };
    g_autoptr(Planted) planted = planted_new(1);
    guint32 causes[LENGTH];
    for (guint32 i = 0; i < LENGTH; i++)
        causes[i] = i ? i - 1 : NONE;
    g_autoptr(BbAssignment) assignment = assign(LENGTH, causes, NULL);
    g_autoptr(BbPaths) paths = publish(planted, assignment);
    check_paths(paths);
    ck_assert_uint_eq(paths->n_instances, 3);
    ck_assert_uint_eq(paths->instances[0].count, BB_PATHS_DEPTH_MAX);
    ck_assert_uint_eq(paths->instances[1].count, BB_PATHS_DEPTH_MAX);
    ck_assert_uint_eq(paths->instances[2].count, 10);
    ck_assert_uint_eq(paths->facts.deep_calls, 2);
    ck_assert_uint_eq(paths->level[BB_PATHS_DEPTH_MAX - 1], BB_PATHS_DEPTH_MAX);
    ck_assert_uint_eq(paths->level[BB_PATHS_DEPTH_MAX], 1);
}
END_TEST

START_TEST(no_messages_no_trees)
{
    g_autoptr(Planted) planted = planted_new(1);
    g_autoptr(BbAssignment) assignment = assign(0, NULL, NULL);
    g_autoptr(BbPaths) paths = publish(planted, assignment);
    ck_assert_uint_eq(paths->n_calls, 0);
    ck_assert_uint_eq(paths->n_instances, 0);
    ck_assert_uint_eq(paths->n_modes, 0);
}
END_TEST

// ---- delays ------------------------------------------------------------------------------------

// A -> B at 0 and 10 ms, B -> C at 3 and 17 ms; one link with two delays, another that is derived.
typedef struct {
    Planted *planted;
    BbStreams *streams;
    BbExplanation explanation, none;
    BbExplanation *explanations[2];
    BbLink links[2];
    BbAssignment *assignment;
    float effects[2][2];
} Fixture;

static void fill_link(BbLink *link, bool derived, float *effects)
{
    *link = (BbLink){.derived = derived, .effects = effects, .excess = derived ? 42.7 : 2};
    link->peaks = g_array_new(FALSE, FALSE, sizeof(BbPeak));
    link->cores = g_array_new(FALSE, FALSE, sizeof(BbCore));
    const BbCore cores[] = {{{6, 9}, {7 * MS, MS}}, {{2, 5}, {3 * MS, 2 * MS}}};
    const BbPeak peaks[] = {{2, 4, 5, 9}, {10, 16, 30, 8}};
    g_array_append_vals(link->cores, cores, derived ? 0 : 2);
    g_array_append_vals(link->peaks, peaks, 2);
}

static Fixture *fixture_new(void)
{
    Fixture *f = g_new0(Fixture, 1);
    f->planted = planted_new(1);
    planted_send(f->planted, "A", "B", 0, PLANTED_ROOT);
    planted_send(f->planted, "B", "C", 3 * MS, 0);
    planted_send(f->planted, "A", "B", 10 * MS, PLANTED_ROOT);
    planted_send(f->planted, "B", "C", 17 * MS, 2);
    bb_traffic_finish(f->planted->traffic);
    f->streams = bb_streams_new(f->planted->traffic, 0); // in: A>B, B>C; out: A>B, B>C
    f->effects[0][0] = 0.25f, f->effects[0][1] = 1.5f;
    f->effects[1][0] = f->effects[1][1] = 7;
    fill_link(&f->links[0], false, f->effects[0]);
    fill_link(&f->links[1], true, f->effects[1]);
    f->none = (BbExplanation){.out = &f->streams->out[0], .links = g_ptr_array_new()};
    f->explanation = (BbExplanation){.out = &f->streams->out[1], .links = g_ptr_array_new()};
    f->explanation.grid = (BbLagGrid){MS, 0, 20};
    f->explanation.causes = g_array_new(FALSE, FALSE, sizeof(BbCause));
    g_ptr_array_add(f->explanation.links, &f->links[1]);
    g_ptr_array_add(f->explanation.links, &f->links[0]);
    const BbCause causes[] = {{1, 0, 1, 0.9f}, {3, 2, 1, 0.8f}};
    g_array_append_vals(f->explanation.causes, causes, 2);
    f->explanations[0] = &f->none;
    f->explanations[1] = &f->explanation;
    f->assignment = assign(4, (const guint32[]){NONE, 0, NONE, 2}, NULL);
    f->assignment->choice[3] = 1;
    return f;
}

static void fixture_free(Fixture *f)
{
    for (guint i = 0; i < 2; i++) {
        g_array_unref(f->links[i].peaks);
        g_array_unref(f->links[i].cores);
    }
    g_ptr_array_unref(f->none.links);
    g_ptr_array_unref(f->explanation.links);
    g_array_unref(f->explanation.causes);
    bb_assignment_free(f->assignment);
    bb_streams_free(f->streams);
    planted_free(f->planted);
    g_free(f);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Fixture, fixture_free)

static BbPaths *publish_fixture(Fixture *f, bool derived)
{
    return bb_forest_publish(f->planted->traffic, f->streams, f->explanations, f->assignment,
                             derived);
}

START_TEST(each_effect_has_its_delay)
{
    g_autoptr(Fixture) f = fixture_new();
    g_autoptr(BbPaths) paths = publish_fixture(f, false);
    check_paths(paths);
    ck_assert_uint_eq(paths->n_modes, 2);
    ck_assert_uint_lt(paths->mode[1], 2);
    ck_assert_int_eq(paths->modes[paths->mode[1]].delay_ns, 3 * MS);
    ck_assert_int_eq(paths->modes[paths->mode[1]].spread_ns, 2 * MS);
    ck_assert_int_eq(paths->modes[paths->mode[3]].delay_ns, 7 * MS);
    ck_assert_uint_eq(paths->mode[0], BB_MODE_NONE);
    ck_assert_uint_eq(paths->mode[2], BB_MODE_NONE);
    ck_assert_float_eq(paths->onward[0], 0.25f); // derived links expect nothing
    ck_assert_float_eq(paths->onward[2], 1.5f);
    ck_assert_uint_eq(paths->derived->len, 0);
}
END_TEST

START_TEST(what_is_explained_otherwise)
{
    g_autoptr(Fixture) f = fixture_new();
    g_autoptr(BbPaths) paths = publish_fixture(f, true);
    ck_assert_uint_eq(paths->derived->len, 1);
    const BbDerived *derived = &g_array_index(paths->derived, BbDerived, 0);
    ck_assert_uint_eq(derived->from, bb_names_find(f->planted->names, "A"));
    ck_assert_uint_eq(derived->via, bb_names_find(f->planted->names, "B"));
    ck_assert_uint_eq(derived->to, bb_names_find(f->planted->names, "C"));
    ck_assert_uint_eq(derived->count, 42);
    ck_assert_int_eq(derived->delay_ns, 13 * MS); // of its larger peak
    ck_assert_double_eq_tol((double)derived->spread_ns, 6.0 * MS / sqrt(12), 2);
}
END_TEST

// A link that lost all its delays has none to tell; its effects still have a cause.
START_TEST(a_link_without_delays)
{
    g_autoptr(Fixture) f = fixture_new();
    g_array_set_size(f->links[0].cores, 0);
    g_autoptr(BbPaths) paths = publish_fixture(f, false);
    ck_assert_uint_eq(paths->n_modes, 0);
    ck_assert_uint_eq(paths->parent[1], 0);
    ck_assert_uint_eq(paths->mode[1], BB_MODE_NONE);
}
END_TEST

TEST_MAIN("forest", cycles_are_cut_where_least_sure, random_cycles, trees_in_order,
          deep_trees_are_cut, no_messages_no_trees, each_effect_has_its_delay,
          what_is_explained_otherwise, a_link_without_delays)
