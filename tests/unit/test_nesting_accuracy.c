// SPDX-License-Identifier: Apache-2.0
// Nesting on recorded traces with ground truth: the shares of requests, calls and steps of nodes
// that are right must be what an independent implementation of the paper reached. The traces are
// not part of the source; without them the test is skipped.
#include <math.h>
#include <stdio.h>

#include "data/trace.h"
#include "diagnose/score.h"
#include "tests/unit/infer.h"
#include "tests/unit/test.h"

static const struct {
    const char *trace;
    double requests, calls; // percent right
    double steps;           // likewise; 0 where it is not known for all nodes
    double parallelism;
} expected[] = {
    {"hotel_load50", 76.2, 96.0, 86.0, 1.18},  {"hotel_load100", 50.8, 91.3, 71.0, 1.46},
    {"hotel_load150", 47.8, 90.3, 68.8, 1.50}, {"media_load25", 80.2, 96.7, 0, 1.13},
    {"media_load75", 48.0, 91.0, 0, 1.42},     {"media_load125", 26.0, 85.1, 0, 1.81},
    {"nodejs_load50", 84.6, 95.4, 91.0, 1.11}, {"nodejs_load100", 86.5, 97.1, 93.5, 1.08},
    {"nodejsio_0", 86.9, 96.4, 92.8, 1.10},    {"nodejsio_0.4", 72.7, 91.8, 84.6, 1.21},
};

static char *traces_folder(void)
{
    const char *shared = g_getenv("BB_SHARED");
    if (shared)
        return g_build_filename(shared, "data", "traces", NULL);
    return g_build_filename(TEST_DATA, "..", "..", "shared", "data", "traces", NULL);
}

static BbPaths *infer(const char *file, BbNames *names, BbTruth *truth)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(BbTraceReader) reader = bb_trace_reader_open(file, names, &error);
    ck_assert_msg(reader != NULL, "%s", error ? error->message : "");
    g_autoptr(BbPairs) pairs = bb_pairs_new(names);
    BbMessage message;
    while (bb_trace_reader_next(reader, &message, &error)) {
        bb_truth_push(truth, &message);
        message.path = message.parent = (BbId){0}; // nothing of the truth goes further
        ck_assert(bb_pairs_push(pairs, &message));
    }
    ck_assert_msg(error == NULL, "%s", error ? error->message : "");
    BbNestingOptions options = paper_options();
    return infer_paths(pairs, names, &options);
}

static void check_percent(const char *trace, const char *what, double share, double wanted)
{
    if (wanted == 0)
        return;
    printf("%-15s %6.2f %% of %s right (expected %5.1f)\n", trace, 100 * share, what, wanted);
    ck_assert_double_le(fabs(100 * share - wanted), 0.06);
}

static void check_trace(gsize i)
{
    const char *trace = expected[i].trace;
    g_autofree char *folder = traces_folder();
    g_autofree char *name = g_strconcat(trace, ".txt.gz", NULL);
    g_autofree char *file = g_build_filename(folder, name, NULL);
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbTruth) truth = bb_truth_new();
    g_autoptr(BbPaths) paths = infer(file, names, truth);
    BbForestOptions options = {.labels = true};
    g_autoptr(BbScoring) scoring = bb_scoring_new(names, &options);
    bb_scoring_add(scoring, paths, truth);
    g_autoptr(BbScore) score = bb_scoring_finish(scoring);
    ck_assert_uint_eq(score->untold, 0);
    check_percent(trace, "requests", bb_right_share(score->requests), expected[i].requests);
    check_percent(trace, "calls", bb_right_share(score->children), expected[i].calls);
    check_percent(trace, "steps", score->node_steps, expected[i].steps);
    double parallelism = (double)paths->facts.candidates / (double)paths->facts.children;
    ck_assert_double_le(fabs(parallelism - expected[i].parallelism), 0.006);
}

START_TEST(as_good_as_the_paper)
{
    for (gsize i = 0; i < G_N_ELEMENTS(expected); i++)
        check_trace(i);
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
