// SPDX-License-Identifier: Apache-2.0
// Phases: a line for each window, patterns by rank, those of a window only.
#include "tests/unit/infer.h"
#include "tests/unit/test.h"
#include "tests/unit/trace_lines.h"
#include "viz/phases.h"

#include "nesting/windows.h"

#include <stdio.h>

static char *phases_of(const char *const *lines, BbViewOptions view, bool last_byte)
{
    char *text = NULL;
    size_t length = 0;
    BbNestingOptions nesting = paper_options();
    BbWindowOptions window = {.length_ns = 100 * 1000000, .step_ns = 100 * 1000000};
    BbCensusOptions census_options = {.algorithm = "nesting", .last_byte = last_byte};
    g_autoptr(GError) error = NULL;
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbWindows) windows = bb_windows_new(names, &nesting, &window);
    g_autoptr(BbCensus) census = bb_census_new(&census_options, names);
    g_autoptr(BbPhases) phases = bb_phases_new(last_byte);
    for (; *lines;) {
        BbMessage message = line_parse(names, *lines);
        if (bb_windows_push(windows, &message)) {
            lines++;
            if (*lines)
                continue;
            bb_windows_end(windows);
        }
        g_autoptr(BbPaths) paths = bb_windows_next(windows);
        bb_census_add(census, paths);
        ck_assert(bb_phases_add(phases, paths, &error));
    }
    g_autoptr(BbPatterns) patterns = bb_census_finish(census);
    FILE *out = open_memstream(&text, &length);
    ck_assert(bb_phases_write(phases, patterns, names, &view, out, &error));
    fclose(out);
    return text;
}

static const char *const *sample(void)
{
    static const char *const lines[] = {
        "C U A a 1000", "R A U a 1010", "C U B b 1020",          "R B U b 1060", "C U A c 1070",
        "R A U c 1090", "C U B d 1110", "R B U d 1120 end=1125", "C U A e 1130", NULL};
    return lines;
}

START_TEST(a_line_a_window)
{
    char *text = phases_of(sample(), BB_VIEW_OPTIONS_DEFAULT, false);
    ck_assert_str_eq(
        text, "{\"from\": 1.000000000, \"to\": 1.100000000, \"instances\": 3, \"patterns\": ["
              "{\"rank\": 1, \"count\": 1, \"mean_latency_s\": 0.040000000, \"p90_latency_s\": "
              "0.040000000}, {\"rank\": 2, \"count\": 2, \"mean_latency_s\": 0.015000000, "
              "\"p90_latency_s\": 0.020000000}]}\n"
              "{\"from\": 1.100000000, \"to\": 1.130000000, \"instances\": 2, \"patterns\": ["
              "{\"rank\": 1, \"count\": 1, \"mean_latency_s\": 0.010000000, \"p90_latency_s\": "
              "0.010000000}]}\n");
    free(text);
}
END_TEST

START_TEST(selected_patterns_only)
{
    char *text =
        phases_of(sample(), (BbViewOptions){.min_count = 1, .sort = BB_SORT_COUNT, .top = 1}, true);
    ck_assert_ptr_nonnull(strstr(text,
                                 "\"instances\": 3, \"patterns\": [{\"rank\": 1, \"count\": 1, "
                                 "\"mean_latency_s\": 0.040"));
    ck_assert_ptr_nonnull(strstr(text,
                                 "\"instances\": 2, \"patterns\": [{\"rank\": 1, \"count\": 1, "
                                 "\"mean_latency_s\": 0.015"));
    ck_assert_ptr_null(strstr(text, "\"rank\": 2"));
    free(text);
}
END_TEST

START_TEST(nothing)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPaths) paths = bb_paths_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    g_autoptr(BbPhases) phases = bb_phases_new(false);
    g_autoptr(GError) error = NULL;
    BbViewOptions view = BB_VIEW_OPTIONS_DEFAULT;
    ck_assert(bb_phases_add(phases, paths, &error));
    FILE *out = fopen("/dev/full", "w"); // nothing is written
    ck_assert(bb_phases_write(phases, patterns, names, &view, out, &error));
    fclose(out);
}
END_TEST

START_TEST(full_disk)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPaths) paths = bb_paths_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    g_autoptr(BbPhases) phases = bb_phases_new(false);
    g_autoptr(GError) error = NULL;
    BbViewOptions view = BB_VIEW_OPTIONS_DEFAULT;
    paths->from_ns = paths->to_ns = 5;
    ck_assert(bb_phases_add(phases, paths, &error));
    FILE *out = fopen("/dev/full", "w");
    ck_assert(!bb_phases_write(phases, patterns, names, &view, out, &error));
    ck_assert(g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOSPC));
    fclose(out);
}
END_TEST

// Messages without returns: an instance lasts from its first message to the last that arrives.
START_TEST(chains)
{
    static const gint64 at_ms[] = {1000, 1007, 1003, 1020};
    BbCall calls[4];
    guint32 order[] = {0, 1, 2, 3}, modes[4] = {0};
    BbInstance instances[] = {{0, 3, 1, 0}, {3, 1, 1, 1}};
    for (guint i = 0; i < 4; i++)
        calls[i] = (BbCall){.call_ns = at_ms[i] * 1000000,
                            .arrived_ns = at_ms[i] * 1000000 + 5,
                            .replied_ns = BB_TIME_NONE,
                            .return_ns = BB_TIME_NONE,
                            .return_end_ns = BB_TIME_NONE};
    BbPaths paths = {.calls = calls,
                     .n_calls = 4,
                     .mode = modes,
                     .order = order,
                     .instances = instances,
                     .n_instances = 2,
                     .from_ns = G_GINT64_CONSTANT(1000000000),
                     .to_ns = G_GINT64_CONSTANT(1020000000)};
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPatterns) patterns = bb_patterns_new("convolution");
    g_autoptr(BbPhases) phases = bb_phases_new(true);
    g_autoptr(GError) error = NULL;
    BbPatternNode *root = bb_pattern_node_new(bb_names_intern(names, "B"), BB_NAME_NONE);
    BbPattern *pattern = bb_pattern_new(bb_names_intern(names, "A"), root);
    pattern->count = 2;
    g_ptr_array_add(patterns->patterns, NULL);
    g_ptr_array_add(patterns->patterns, pattern);
    ck_assert(bb_phases_add(phases, &paths, &error));
    char *text = NULL;
    size_t length = 0;
    BbViewOptions view = BB_VIEW_OPTIONS_DEFAULT;
    FILE *out = open_memstream(&text, &length);
    ck_assert(bb_phases_write(phases, patterns, names, &view, out, &error));
    fclose(out);
    ck_assert_str_eq(text, "{\"from\": 1.000000000, \"to\": 1.020000000, \"instances\": 2, "
                           "\"patterns\": [{\"rank\": 1, \"count\": 2, \"mean_latency_s\": "
                           "0.003500005, \"p90_latency_s\": 0.007000005}]}\n");
    free(text);
}
END_TEST

TEST_MAIN("phases", a_line_a_window, selected_patterns_only, nothing, full_disk, chains)
