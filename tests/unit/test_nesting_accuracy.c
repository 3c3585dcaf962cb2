// SPDX-License-Identifier: Apache-2.0
// Nesting on recorded traces with ground truth: the share of requests whose calls all have the
// right parent must be what an independent implementation of the paper reached. The traces are not
// part of the source; without them the test is skipped.
#include <math.h>
#include <stdio.h>

#include "data/trace.h"
#include "nesting/nesting.h"
#include "tests/unit/test.h"

typedef struct {
    BbId path, parent;
    guint32 call; // index in the result
} Truth;

static const struct {
    const char *trace;
    double right; // percent
    double parallelism;
} expected[] = {
    {"hotel_load50", 76.2, 1.18},  {"hotel_load100", 50.8, 1.46},  {"hotel_load150", 47.8, 1.50},
    {"media_load25", 80.2, 1.13},  {"media_load75", 48.0, 1.42},   {"media_load125", 26.0, 1.81},
    {"nodejs_load50", 84.6, 1.11}, {"nodejs_load100", 86.5, 1.08}, {"nodejsio_0", 86.9, 1.10},
    {"nodejsio_0.4", 72.7, 1.21},
};

static char *traces_folder(void)
{
    const char *shared = g_getenv("BB_SHARED");
    if (shared)
        return g_build_filename(shared, "data", "traces", NULL);
    return g_build_filename(TEST_DATA, "..", "..", "shared", "data", "traces", NULL);
}

// Ids of these traces are small numbers, one a call.
static Truth *truth_of(GArray *truth, BbId id)
{
    ck_assert_uint_lt(id.number, 1000000);
    if (id.number >= truth->len)
        g_array_set_size(truth, (guint)id.number + 1);
    return &g_array_index(truth, Truth, id.number);
}

static BbPaths *infer(const char *file, BbNames *names, GArray *truth)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(BbTraceReader) reader = bb_trace_reader_open(file, names, &error);
    ck_assert_msg(reader != NULL, "%s", error ? error->message : "");
    g_autoptr(BbPairs) pairs = bb_pairs_new(names);
    BbMessage message;
    while (bb_trace_reader_next(reader, &message, &error)) {
        Truth *call = truth_of(truth, message.id);
        call->path = message.path;
        call->parent = message.parent;
        message.path = message.parent = (BbId){0}; // nothing of the truth goes further
        ck_assert(bb_pairs_push(pairs, &message));
    }
    ck_assert_msg(error == NULL, "%s", error ? error->message : "");
    BbNestingOptions options = bb_nesting_options_default();
    return bb_nesting_run(pairs, &options);
}

static bool instance_is_right(const BbPaths *paths, const BbInstance *instance, GArray *truth,
                              GHashTable *sizes)
{
    const guint32 *order = paths->order + instance->first;
    BbId path = truth_of(truth, paths->calls[order[0]].id)->path;
    for (guint32 k = 0; k < instance->count; k++) {
        const BbCall *call = &paths->calls[order[k]];
        const Truth *fact = truth_of(truth, call->id);
        if (!bb_id_equal(fact->path, path))
            return false;
        guint32 parent = paths->parent[order[k]];
        if (parent == BB_CALL_NO_PARENT ? fact->parent.form != BB_ID_DASH
                                        : !bb_id_equal(fact->parent, paths->calls[parent].id))
            return false;
    }
    g_autofree char *key = g_strdup_printf("%u %" G_GUINT64_FORMAT, path.form, path.number);
    return GPOINTER_TO_UINT(g_hash_table_lookup(sizes, key)) == instance->count;
}

static double share_right(const BbPaths *paths, GArray *truth)
{
    g_autoptr(GHashTable) sizes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint32 i = 0; i < paths->n_calls; i++) {
        BbId path = truth_of(truth, paths->calls[i].id)->path;
        char *key = g_strdup_printf("%u %" G_GUINT64_FORMAT, path.form, path.number);
        guint size = GPOINTER_TO_UINT(g_hash_table_lookup(sizes, key));
        g_hash_table_insert(sizes, key, GUINT_TO_POINTER(size + 1));
    }
    guint right = 0;
    for (guint32 i = 0; i < paths->n_instances; i++)
        right += instance_is_right(paths, &paths->instances[i], truth, sizes);
    return 100.0 * right / g_hash_table_size(sizes);
}

START_TEST(as_good_as_the_paper)
{
    g_autofree char *folder = traces_folder();
    for (gsize i = 0; i < G_N_ELEMENTS(expected); i++) {
        g_autofree char *name = g_strconcat(expected[i].trace, ".txt.gz", NULL);
        g_autofree char *file = g_build_filename(folder, name, NULL);
        g_autoptr(BbNames) names = bb_names_new();
        g_autoptr(GArray) truth = g_array_new(FALSE, TRUE, sizeof(Truth));
        g_autoptr(BbPaths) paths = infer(file, names, truth);
        double right = share_right(paths, truth);
        double parallelism = (double)paths->candidates / (double)paths->children;
        printf("%-15s %6.2f %% of requests right (expected %5.1f), parallelism %.3f\n",
               expected[i].trace, right, expected[i].right, parallelism);
        ck_assert_double_le(fabs(right - expected[i].right), 0.06);
        ck_assert_double_le(fabs(parallelism - expected[i].parallelism), 0.006);
    }
}
END_TEST

int main(void)
{
    g_autofree char *folder = traces_folder();
    if (!g_file_test(folder, G_FILE_TEST_IS_DIR)) {
        printf("skipped: no folder %s with traces; set BB_SHARED\n", folder);
        return 77;
    }
    const TTest *const tests[] = {as_good_as_the_paper};
    return test_run("nesting_accuracy", tests, G_N_ELEMENTS(tests));
}
