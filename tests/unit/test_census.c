// SPDX-License-Identifier: Apache-2.0
// The census over windows: figures add up, shapes are known again whatever their numbers, the
// rarest patterns are forgotten, confidences and critical paths are summed.
#include "data/census.h"

#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>

// One window, made by hand: calls one after the other in the order of their instances.
typedef struct {
    BbPaths *paths;
    GArray *calls, *parents, *confidences, *levels, *shapes, *selves, *order, *instances;
} Window;

static Window window_begin(void)
{
    return (Window){
        .paths = bb_paths_new(),
        .calls = g_array_new(FALSE, TRUE, sizeof(BbCall)),
        .parents = g_array_new(FALSE, TRUE, sizeof(guint32)),
        .confidences = g_array_new(FALSE, TRUE, sizeof(float)),
        .levels = g_array_new(FALSE, TRUE, sizeof(guint16)),
        .shapes = g_array_new(FALSE, TRUE, sizeof(guint32)),
        .selves = g_array_new(FALSE, TRUE, sizeof(guint64)),
        .order = g_array_new(FALSE, TRUE, sizeof(guint32)),
        .instances = g_array_new(FALSE, TRUE, sizeof(BbInstance)),
    };
}

// A call from..to (names by letter) at [call, back], below the call `parent` of the window (-1: a
// root, which begins an instance). shape counts for roots only.
static guint32 add(Window *window, BbNames *names, const char *from, const char *to, gint64 call_ns,
                   gint64 return_ns, gint parent, guint32 shape)
{
    guint32 index = window->calls->len, above = parent < 0 ? BB_CALL_NO_PARENT : (guint32)parent;
    guint16 level = parent < 0 ? 1 : (guint16)(g_array_index(window->levels, guint16, parent) + 1);
    float confidence = BB_CONFIDENCE_NONE;
    guint64 self_ns = (guint64)(return_ns - call_ns);
    BbCall call = {.call_ns = call_ns,
                   .arrived_ns = call_ns,
                   .replied_ns = return_ns,
                   .return_ns = return_ns,
                   .return_end_ns = BB_TIME_NONE,
                   .caller = bb_names_intern(names, from),
                   .callee = bb_names_intern(names, to)};
    BbInstance instance = {.first = index, .count = 1, .pattern = BB_PATTERN_NONE};
    g_array_append_val(window->calls, call);
    g_array_append_val(window->parents, above);
    g_array_append_val(window->confidences, confidence);
    g_array_append_val(window->levels, level);
    g_array_append_val(window->shapes, shape);
    g_array_append_val(window->selves, self_ns);
    g_array_append_val(window->order, index);
    if (parent < 0)
        g_array_append_val(window->instances, instance);
    else
        g_array_index(window->instances, BbInstance, window->instances->len - 1).count++;
    return index;
}

static BbPaths *window_end(Window *window)
{
    BbPaths *paths = window->paths;
    paths->n_calls = window->calls->len;
    paths->n_instances = window->instances->len;
    paths->facts.calls = paths->n_calls;
    GArray *arrays[] = {window->calls,  window->parents, window->confidences, window->levels,
                        window->shapes, window->selves,  window->order,       window->instances};
    gpointer data[G_N_ELEMENTS(arrays)];
    for (gsize i = 0; i < G_N_ELEMENTS(arrays); i++)
        data[i] = g_array_free(arrays[i], FALSE);
    paths->calls = data[0];
    paths->parent = data[1];
    paths->confidence = data[2];
    paths->level = data[3];
    paths->shape = data[4];
    paths->self_ns = data[5];
    paths->order = data[6];
    paths->instances = data[7];
    return paths;
}

typedef struct {
    BbNames *names;
    BbCensus *census;
} Fixture;

static Fixture begin(guint limit)
{
    Fixture f = {.names = bb_names_new()};
    BbCensusOptions options = {.algorithm = "nesting", .labels = true, .limit = limit};
    f.census = bb_census_new(&options, f.names);
    return f;
}

static void end(Fixture *f)
{
    bb_census_free(f->census);
    bb_names_free(f->names);
}

// A window of `count` instances U -> node, each of 10 ns; returns the pattern that they got.
static guint32 add_lone(Fixture *f, const char *node, guint count)
{
    Window window = window_begin();
    guint32 shape = bb_names_intern(f->names, node);
    for (guint i = 0; i < count; i++)
        add(&window, f->names, "U", node, 0, 10, -1, shape);
    g_autoptr(BbPaths) paths = window_end(&window);
    bb_census_add(f->census, paths);
    return paths->instances[0].pattern;
}

static const BbPattern *pattern_at(const BbPatterns *patterns, guint32 index)
{
    return g_ptr_array_index(patterns->patterns, index);
}

START_TEST(windows_add_up)
{
    Fixture f = begin(0);
    ck_assert_uint_eq(add_lone(&f, "A", 3), 0);
    ck_assert_uint_eq(add_lone(&f, "B", 1), 1);
    ck_assert_uint_eq(add_lone(&f, "A", 2), 0);
    g_autoptr(BbPatterns) patterns = bb_census_finish(f.census);
    ck_assert_uint_eq(patterns->patterns->len, 2);
    ck_assert_uint_eq(pattern_at(patterns, 0)->count, 5);
    ck_assert_int_eq(bb_pattern_total_latency(pattern_at(patterns, 0)), 50);
    ck_assert_uint_eq(pattern_at(patterns, 0)->root->self_total_ns, 50);
    ck_assert_uint_eq(patterns->facts.calls, 6);
    ck_assert_uint_eq(patterns->forgotten, 0);
    ck_assert_str_eq(patterns->algorithm, "nesting");
    end(&f);
}
END_TEST

START_TEST(without_return_there_is_no_pattern)
{
    Fixture f = begin(0);
    Window window = window_begin();
    add(&window, f.names, "U", "A", 0, 10, -1, 1);
    g_array_index(window.calls, BbCall, 0).return_ns = BB_TIME_NONE;
    g_autoptr(BbPaths) paths = window_end(&window);
    bb_census_add(f.census, paths);
    ck_assert_uint_eq(paths->instances[0].pattern, BB_PATTERN_NONE);
    g_autoptr(BbPatterns) patterns = bb_census_finish(f.census);
    ck_assert_uint_eq(patterns->patterns->len, 0);
    end(&f);
}
END_TEST

// The client is part of a pattern, also where the shapes are the same.
// Edges without return, the most first; of equals by names.
START_TEST(roots_without_return_are_counted_by_edge)
{
    Fixture f = begin(0);
    const char *const edges[] = {"B", "A", "C", "A", "B"};
    for (guint i = 0; i < G_N_ELEMENTS(edges); i++) {
        Window window = window_begin();
        add(&window, f.names, "U", edges[i], 0, BB_TIME_NONE, -1, 0);
        add(&window, f.names, "U", "A", 0, 10, -1, 1);
        g_autoptr(BbPaths) paths = window_end(&window);
        bb_census_add(f.census, paths);
    }
    g_autoptr(BbPatterns) patterns = bb_census_finish(f.census);
    ck_assert_uint_eq(patterns->patterns->len, 1);
    ck_assert_uint_eq(patterns->unreturned->len, 3);
    const char *const wanted[] = {"A", "B", "C"};
    for (guint i = 0; i < G_N_ELEMENTS(wanted); i++) {
        const BbUnreturned *edge = &g_array_index(patterns->unreturned, BbUnreturned, i);
        ck_assert_str_eq(bb_names_text(f.names, edge->caller), "U");
        ck_assert_str_eq(bb_names_text(f.names, edge->callee), wanted[i]);
        ck_assert_uint_eq(edge->count, i < 2 ? 2 : 1);
    }
    end(&f);
}
END_TEST

START_TEST(clients_tell_patterns_apart)
{
    Fixture f = begin(0);
    Window window = window_begin();
    add(&window, f.names, "U", "A", 0, 10, -1, 1);
    add(&window, f.names, "V", "A", 0, 10, -1, 1);
    g_autoptr(BbPaths) paths = window_end(&window);
    bb_census_add(f.census, paths);
    ck_assert_uint_ne(paths->instances[0].pattern, paths->instances[1].pattern);
    end(&f);
}
END_TEST

// One shape under two numbers, its calls in another order: one pattern, each figure at its vertex.
START_TEST(shapes_are_known_under_another_number)
{
    Fixture f = begin(0);
    for (guint turn = 0; turn < 2; turn++) {
        Window window = window_begin();
        add(&window, f.names, "U", "A", 0, 100, -1, 7 + turn);
        const char *const kids[] = {"B", "C"};
        for (guint k = 0; k < 2; k++) {
            guint which = turn == 0 ? k : 1 - k; // B takes 10, C takes 30 with 20 of D below it
            guint32 kid = add(&window, f.names, "A", kids[which], which == 0 ? 5 : 50,
                              which == 0 ? 15 : 80, 0, 0);
            if (which == 1)
                add(&window, f.names, "C", "D", 55, 75, (gint)kid, 0);
        }
        g_autoptr(BbPaths) paths = window_end(&window);
        bb_census_add(f.census, paths);
        ck_assert_uint_eq(paths->instances[0].pattern, 0);
    }
    g_autoptr(BbPatterns) patterns = bb_census_finish(f.census);
    ck_assert_uint_eq(patterns->patterns->len, 1);
    const BbPattern *pattern = pattern_at(patterns, 0);
    ck_assert_uint_eq(pattern->count, 2);
    const BbPatternNode *b = g_ptr_array_index(pattern->root->calls, 0);
    const BbPatternNode *c = g_ptr_array_index(pattern->root->calls, 1);
    const BbPatternNode *d = g_ptr_array_index(c->calls, 0);
    ck_assert_str_eq(bb_names_text(f.names, b->node), "B");
    ck_assert_int_eq(bb_stats_max(b->latency), 10);
    ck_assert_int_eq(bb_stats_min(c->latency), 30);
    ck_assert_int_eq(bb_stats_min(d->latency), 20);
    ck_assert_uint_eq(bb_stats_count(d->latency), 2);
    end(&f);
}
END_TEST

// Names that hold the marks of a shape's text do not make two shapes one.
START_TEST(hostile_names_stay_apart)
{
    Fixture f = begin(0);
    Window window = window_begin();
    add(&window, f.names, "U", "A", 0, 100, -1, 1);
    add(&window, f.names, "A", "B", 10, 20, 0, 0);
    add(&window, f.names, "U",
        "A\x01\x02"
        "B",
        0, 100, -1, 2);
    add(&window, f.names, "U", "A\x05", 0, 100, -1, 3);
    add(&window, f.names,
        "U\x04"
        "A",
        "", 0, 100, -1, 4);
    g_autoptr(BbPaths) paths = window_end(&window);
    bb_census_add(f.census, paths);
    for (guint32 i = 0; i < 4; i++)
        ck_assert_uint_eq(paths->instances[i].pattern, i);
    end(&f);
}
END_TEST

// A limit of 4: with the fifth pattern the rarest go, of equals the latest, until two are left.
START_TEST(the_rarest_are_forgotten)
{
    Fixture f = begin(4);
    add_lone(&f, "A", 1);
    add_lone(&f, "B", 5);
    add_lone(&f, "C", 3);
    add_lone(&f, "D", 3);
    add_lone(&f, "E", 2);
    for (guint32 i = 0; i < 5; i++) // not before the next window
        ck_assert(bb_census_is_kept(f.census, i));
    ck_assert_uint_eq(add_lone(&f, "B", 1), 1);
    const bool kept[] = {false, true, true, false, false};
    for (guint32 i = 0; i < 5; i++)
        ck_assert(bb_census_is_kept(f.census, i) == kept[i]);
    ck_assert_uint_eq(add_lone(&f, "D", 2), 5); // known again: another pattern
    ck_assert_uint_eq(add_lone(&f, "C", 1), 2);
    g_autoptr(BbPatterns) patterns = bb_census_finish(f.census);
    ck_assert_uint_eq(patterns->patterns->len, 6);
    for (guint32 i = 0; i < 5; i++)
        ck_assert((pattern_at(patterns, i) != NULL) == kept[i]);
    ck_assert_uint_eq(patterns->forgotten, 3);
    ck_assert_uint_eq(patterns->forgotten_instances, 6);
    ck_assert_int_eq(patterns->forgotten_latency_ns, 60);
    ck_assert_uint_eq(pattern_at(patterns, 1)->count, 6);
    ck_assert_uint_eq(pattern_at(patterns, 2)->count, 4);
    ck_assert_uint_eq(pattern_at(patterns, 5)->count, 2);
    end(&f);
}
END_TEST

// Many windows of new patterns each: no more than the limit and one window's are kept.
START_TEST(patterns_are_bounded)
{
    Fixture f = begin(100);
    for (guint w = 0; w < 50; w++) {
        Window window = window_begin();
        for (guint i = 0; i < 30; i++) {
            char node[16];
            g_snprintf(node, sizeof node, "n%u", 30 * w + i);
            add(&window, f.names, "U", node, 0, 10, -1, 30 * w + i);
        }
        add(&window, f.names, "U", "usual", 0, 10, -1, 100000);
        g_autoptr(BbPaths) paths = window_end(&window);
        bb_census_add(f.census, paths);
    }
    g_autoptr(BbPatterns) patterns = bb_census_finish(f.census);
    guint kept = 0;
    guint64 instances = patterns->forgotten_instances;
    for (guint32 i = 0; i < patterns->patterns->len; i++) {
        const BbPattern *pattern = pattern_at(patterns, i);
        kept += pattern != NULL;
        instances += pattern ? pattern->count : 0;
    }
    ck_assert_uint_le(kept, 100 + 31);
    ck_assert_uint_eq(kept + patterns->forgotten, patterns->patterns->len);
    ck_assert_uint_eq(instances, 50 * 31);
    ck_assert_uint_eq(pattern_at(patterns, 30)->count, 50); // the usual one never went
    end(&f);
}
END_TEST

// A number of shape for each instance, as after many windows: forms go, the pattern stays.
START_TEST(forms_are_bounded)
{
    Fixture f = begin(10);
    for (guint w = 0; w < 100; w++) {
        Window window = window_begin();
        add(&window, f.names, "U", "A", 0, 10, -1, w);
        add(&window, f.names, "A", "B", 2, 4, 0, 0);
        g_autoptr(BbPaths) paths = window_end(&window);
        bb_census_add(f.census, paths);
        ck_assert_uint_eq(paths->instances[0].pattern, 0);
    }
    g_autoptr(BbPatterns) patterns = bb_census_finish(f.census);
    ck_assert_uint_eq(pattern_at(patterns, 0)->count, 100);
    ck_assert_uint_eq(patterns->forgotten, 0);
    end(&f);
}
END_TEST

static BbPaths *two_calls(Fixture *f, float root, float kid)
{
    Window window = window_begin();
    add(&window, f->names, "U", "A", 0, 100, -1, 1);
    add(&window, f->names, "A", "B", 20, 50, 0, 0);
    g_array_index(window.confidences, float, 0) = root;
    g_array_index(window.confidences, float, 1) = kid;
    return window_end(&window);
}

START_TEST(confidences_are_summed)
{
    Fixture f = begin(0);
    g_autoptr(BbPaths) first = two_calls(&f, 1.0f, 0.5f);
    g_autoptr(BbPaths) second = two_calls(&f, 0.5f, 0.25f);
    bb_census_add(f.census, first);
    bb_census_add(f.census, second);
    g_autoptr(BbPatterns) patterns = bb_census_finish(f.census);
    const BbPattern *pattern = pattern_at(patterns, 0);
    const BbPatternNode *kid = g_ptr_array_index(pattern->root->calls, 0);
    ck_assert_double_eq(pattern->root->sure_total, 1.5);
    ck_assert_double_eq(kid->sure_total, 0.75);
    ck_assert_double_eq(pattern->right_total, 0.5 + 0.125);
    end(&f);
}
END_TEST

START_TEST(one_unknown_confidence_makes_the_sum_unknown)
{
    Fixture f = begin(0);
    g_autoptr(BbPaths) first = two_calls(&f, 1.0f, BB_CONFIDENCE_NONE);
    g_autoptr(BbPaths) second = two_calls(&f, 1.0f, 1.0f);
    bb_census_add(f.census, first);
    bb_census_add(f.census, second);
    g_autoptr(BbPatterns) patterns = bb_census_finish(f.census);
    const BbPattern *pattern = pattern_at(patterns, 0);
    const BbPatternNode *kid = g_ptr_array_index(pattern->root->calls, 0);
    ck_assert_double_eq(pattern->root->sure_total, 2);
    ck_assert_double_eq(kid->sure_total, (double)BB_CONFIDENCE_NONE);
    ck_assert_double_eq(pattern->right_total, (double)BB_CONFIDENCE_NONE);
    end(&f);
}
END_TEST

// A waits for the later one of two calls at once; the other has no part in the critical path.
START_TEST(critical_time_is_summed)
{
    Fixture f = begin(0);
    for (guint w = 0; w < 2; w++) {
        Window window = window_begin();
        add(&window, f.names, "U", "A", 0, 100, -1, 1);
        add(&window, f.names, "A", "B", 10, 40, 0, 0);
        add(&window, f.names, "A", "C", 10, 90, 0, 0);
        g_autoptr(BbPaths) paths = window_end(&window);
        paths->worker_wait = g_new0(BbWorkerWait, paths->n_calls);
        paths->pool_wait = g_new0(BbPoolWait, paths->n_calls);
        paths->worker_wait[2].ns = 30;
        paths->pool_wait[2].ns = 4;
        paths->calls[2].arrived_ns += 20; // and is back 10 later than C replied
        paths->calls[2].replied_ns -= 10;
        bb_census_add(f.census, paths);
    }
    g_autoptr(BbPatterns) patterns = bb_census_finish(f.census);
    const BbPatternNode *root = pattern_at(patterns, 0)->root;
    const BbPatternNode *b = g_ptr_array_index(root->calls, 0);
    const BbPatternNode *c = g_ptr_array_index(root->calls, 1);
    ck_assert_uint_eq(c->turn_total_ns, 60);
    ck_assert_uint_eq(c->pool_total_ns, 8);
    ck_assert_uint_eq(bb_pattern_queued(root), 8);
    ck_assert_uint_eq(bb_pattern_queued(c), 60);
    ck_assert_uint_eq(root->turn_total_ns + b->turn_total_ns + b->pool_total_ns, 0);
    ck_assert_uint_eq(root->critical_total_ns, 40);
    ck_assert_uint_eq(b->critical_total_ns, 0);
    ck_assert_uint_eq(c->critical_total_ns, 100);
    ck_assert_uint_eq(c->wire_total_ns, 60);
    end(&f);
}
END_TEST

TEST_MAIN("census", windows_add_up, without_return_there_is_no_pattern,
          roots_without_return_are_counted_by_edge, clients_tell_patterns_apart,
          shapes_are_known_under_another_number, hostile_names_stay_apart, the_rarest_are_forgotten,
          patterns_are_bounded, forms_are_bounded, confidences_are_summed,
          one_unknown_confidence_makes_the_sum_unknown, critical_time_is_summed)
