// SPDX-License-Identifier: Apache-2.0
// The nesting stage against its slow twin on thousands of small random traces, and what must hold
// of every result: every chain of parents ends, instances and patterns account for every call.
#include <stdio.h>
#include <string.h>

#include "tests/unit/brute_nesting.h"
#include "tests/unit/infer.h"
#include "tests/unit/test.h"

#define NODES 5u

typedef struct {
    GRand *rand;
    BbNames *names;
    GArray *messages;
    gint64 grid_ns;         // times are multiples of it
    gint32 span;            // of the trace, in grid steps
    gint64 clock_ns[NODES]; // offset of each node's clock
    bool two_clocks;        // messages have recv_ns
    gint32 lost;            // percent of the messages
    guint64 id;
} Scene;

static gint32 below(Scene *scene, gint32 n)
{
    return g_rand_int_range(scene->rand, 0, n);
}

static void send(Scene *scene, BbKind kind, guint from, guint to, guint64 id, gint32 step)
{
    if (below(scene, 100) < scene->lost)
        return;
    gint64 time_ns = 1000000000 + step * scene->grid_ns;
    BbMessage message = bb_message_empty();
    message.kind = kind;
    message.sender = from + 1;
    message.receiver = to + 1;
    message.id = bb_id_number(id);
    message.time_ns = time_ns + scene->clock_ns[from];
    if (scene->two_clocks)
        message.recv_ns = time_ns + scene->clock_ns[to];
    g_array_append_val(scene->messages, message);
}

// A call and, within it, calls by its callee.
static void add_tree(Scene *scene, guint caller, gint32 from, gint32 to, guint depth)
{
    guint callee = (guint)below(scene, NODES);
    guint64 id = scene->id++;
    send(scene, BB_CALL, caller, callee, id, from);
    guint kids = depth < 4 ? (guint)below(scene, 3) : 0;
    for (guint k = 0; k < kids; k++) {
        gint32 start = from + below(scene, to - from + 1);
        add_tree(scene, callee, start, start + below(scene, to - start + 1), depth + 1);
    }
    send(scene, BB_RETURN, callee, caller, id, to);
}

static void shuffle(Scene *scene)
{
    for (guint i = scene->messages->len; i > 1; i--) {
        guint j = (guint)below(scene, (gint32)i);
        BbMessage *a = &g_array_index(scene->messages, BbMessage, i - 1);
        BbMessage *b = &g_array_index(scene->messages, BbMessage, j), swap = *a;
        *a = *b;
        *b = swap;
    }
}

static void stage_scene(Scene *scene)
{
    static const gint64 grids[] = {1000000, 250000, 7000, 40000000};
    scene->grid_ns = grids[below(scene, G_N_ELEMENTS(grids))];
    scene->span = 1 + below(scene, below(scene, 3) == 0 ? 4 : 80);
    scene->two_clocks = below(scene, 2) == 0;
    scene->lost = below(scene, 3) == 0 ? 10 : 0;
    bool skewed = below(scene, 3) == 0;
    for (guint n = 0; n < NODES; n++)
        scene->clock_ns[n] = skewed ? (below(scene, 7) - 3) * scene->grid_ns : 0;
    guint trees = 1 + (guint)below(scene, 12);
    for (guint t = 0; t < trees; t++) {
        gint32 from = below(scene, scene->span);
        add_tree(scene, (guint)below(scene, NODES), from, from + below(scene, scene->span), 0);
    }
    shuffle(scene);
}

static BbNestingOptions random_options(Scene *scene)
{
    static const double penalties[] = {0, 0.5, 1, 2, 3}, smoothings[] = {0, 0.7, 1, 4};
    static const gint64 floors[] = {1000000, 1000, 1, 50000000};
    BbNestingOptions options = paper_options();
    if (below(scene, 2) == 0)
        options.overlap_penalty = penalties[below(scene, 5)];
    if (below(scene, 3) == 0)
        options.same_penalty = penalties[below(scene, 5)];
    if (below(scene, 3) == 0)
        options.any_penalty = penalties[below(scene, 5)];
    if (below(scene, 3) == 0)
        options.smoothing = smoothings[below(scene, 4)];
    if (below(scene, 3) == 0)
        options.bin_floor_ns = floors[below(scene, 4)];
    if (below(scene, 3) == 0)
        options.skew_window_ns = below(scene, 6) * scene->grid_ns;
    return options;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// Shape of the tree below a call, by asking every call whose child it is.
static char *brute_shape(const BbPaths *paths, guint32 call)
{
    g_autoptr(GPtrArray) kids = g_ptr_array_new_with_free_func(g_free);
    for (guint32 i = 0; i < paths->n_calls; i++)
        if (paths->parent[i] == call)
            g_ptr_array_add(kids, brute_shape(paths, i));
    if (kids->len > 1)
        qsort(kids->pdata, kids->len, sizeof *kids->pdata, by_text);
    GString *shape = g_string_new(NULL);
    g_string_append_printf(shape, "%u(", paths->calls[call].callee);
    for (guint i = 0; i < kids->len; i++)
        g_string_append_printf(shape, "%s,", (char *)g_ptr_array_index(kids, i));
    g_string_append_c(shape, ')');
    return g_string_free(shape, FALSE);
}

static void check_chains(const BbPaths *paths)
{
    for (guint32 i = 0; i < paths->n_calls; i++) {
        guint32 steps = 0;
        for (guint32 c = i; c != BB_CALL_NO_PARENT; c = paths->parent[c])
            ck_assert_uint_le(++steps, paths->n_calls);
        guint32 parent = paths->parent[i];
        if (parent != BB_CALL_NO_PARENT)
            ck_assert_uint_eq(paths->calls[parent].callee, paths->calls[i].caller);
    }
}

// Every call is in one instance, after its parent, below that instance's root.
static void check_instances(const BbPaths *paths)
{
    g_autofree gint64 *seen = g_new(gint64, paths->n_calls + 1); // instance it was listed in
    for (guint32 i = 0; i < paths->n_calls; i++)
        seen[i] = -1;
    guint32 listed = 0;
    for (guint32 n = 0; n < paths->n_instances; n++) {
        const BbInstance *instance = &paths->instances[n];
        ck_assert_uint_eq(instance->first, listed);
        ck_assert_uint_gt(instance->count, 0);
        for (guint32 k = 0; k < instance->count; k++, listed++) {
            guint32 call = paths->order[listed], parent = paths->parent[call];
            ck_assert_int_eq(seen[call], -1);
            if (k == 0)
                ck_assert_uint_eq(parent, BB_CALL_NO_PARENT);
            else
                ck_assert_int_eq(seen[parent], n);
            seen[call] = n;
        }
        if (n > 0)
            ck_assert_int_le(paths->calls[paths->order[instance[-1].first]].call_ns,
                             paths->calls[paths->order[instance->first]].call_ns);
    }
    ck_assert_uint_eq(listed, paths->n_calls);
}

// Two instances are of one pattern exactly when client and shape are equal.
static void check_patterns(const BbPaths *paths, const BbPatterns *patterns)
{
    g_autoptr(GHashTable) shapes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autofree guint64 *counts = g_new0(guint64, patterns->patterns->len + 1);
    for (guint32 n = 0; n < paths->n_instances; n++) {
        guint32 root = paths->order[paths->instances[n].first];
        guint32 pattern = paths->instances[n].pattern;
        if (!bb_call_is_returned(&paths->calls[root])) {
            ck_assert_uint_eq(pattern, BB_PATTERN_NONE);
            ck_assert_uint_eq(paths->instances[n].count, 1);
            continue;
        }
        ck_assert_uint_lt(pattern, patterns->patterns->len);
        const BbPattern *of = g_ptr_array_index(patterns->patterns, pattern);
        ck_assert_uint_eq(of->client, paths->calls[root].caller);
        ck_assert_uint_eq(bb_pattern_size(of), paths->instances[n].count);
        counts[pattern]++;
        g_autofree char *shape = brute_shape(paths, root);
        char *key = g_strdup_printf("%u>%s", paths->calls[root].caller, shape);
        gpointer known = NULL;
        if (g_hash_table_lookup_extended(shapes, key, NULL, &known))
            ck_assert_uint_eq(GPOINTER_TO_UINT(known), pattern);
        g_hash_table_insert(shapes, key, GUINT_TO_POINTER(pattern));
    }
    ck_assert_uint_eq(g_hash_table_size(shapes), patterns->patterns->len);
    for (guint i = 0; i < patterns->patterns->len; i++) {
        const BbPattern *pattern = g_ptr_array_index(patterns->patterns, i);
        ck_assert_uint_eq(pattern->count, counts[i]);
        ck_assert_uint_eq(bb_stats_count(pattern->root->latency), counts[i]);
    }
}

static void check_seed(guint32 seed)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    g_autoptr(BbNames) names = bb_names_new();
    for (guint n = 0; n < NODES; n++)
        bb_names_intern(names, (const char[]){(char)('A' + n), '\0'});
    g_autoptr(GArray) messages = g_array_new(FALSE, FALSE, sizeof(BbMessage));
    Scene scene = {.rand = rand, .names = names, .messages = messages};
    stage_scene(&scene);
    BbNestingOptions options = random_options(&scene);
    g_autoptr(BbPairs) pairs = bb_pairs_new(names);
    for (guint i = 0; i < messages->len; i++)
        bb_pairs_push(pairs, &g_array_index(messages, BbMessage, i));
    g_autoptr(BbPaths) paths = infer_paths(pairs, names, &options);
    check_chains(paths);
    g_autofree guint32 *want = brute_nesting(paths, bb_names_count(names), &options);
    for (guint32 i = 0; i < paths->n_calls; i++)
        ck_assert_msg(paths->parent[i] == want[i], "seed %u: call %u: parent %d, twin says %d",
                      seed, i, (gint32)paths->parent[i], (gint32)want[i]);
    check_instances(paths);
    g_autoptr(BbPatterns) patterns = infer_patterns(paths, names, &options);
    check_patterns(paths, patterns);
}

START_TEST(same_parents)
{
    const char *start = g_getenv("BB_TEST_SEED");
    guint32 first = start ? (guint32)strtoul(start, NULL, 10) : 1;
    guint32 count = start ? 1 : TEST_SANITIZED ? 1000 : 4000;
    printf("seeds %u to %u (one: BB_TEST_SEED=N)\n", first, first + count - 1);
    for (guint32 seed = first; seed < first + count; seed++)
        check_seed(seed);
}
END_TEST

TEST_MAIN("nesting_twin", same_parents)
