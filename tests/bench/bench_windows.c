// SPDX-License-Identifier: Apache-2.0
// Measures nesting over traces of any length: bench_windows [MESSAGES [REQUESTS_PER_SECOND [LENGTH
// [ASSIGN]]]]. Defaults: 1e7 messages of tests/bench/traffic.h made as they are needed, 9.5
// requests a second (parallelism 1.6), windows of BB_WINDOW_MESSAGES (LENGTH: seconds), the paper's
// choice
// ("joint" for the other). Every instance is counted in a census. Times are CPU seconds, without
// those of making the messages.
#include "data/census.h"
#include "nesting/windows.h"
#include "tests/bench/measure.h"
#include "tests/bench/traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 65536u

typedef struct {
    BbWindows *windows;
    BbCensus *census;
    guint64 n_windows, instances, largest; // calls of the largest window
} Run;

static void take(Run *run)
{
    g_autoptr(BbPaths) paths = bb_windows_next(run->windows);
    if (!paths)
        return;
    bb_census_add(run->census, paths);
    run->n_windows++;
    run->instances += paths->n_instances;
    run->largest = MAX(run->largest, paths->n_calls);
}

// CPU seconds that the messages took.
static double run_all(Run *run, Traffic *traffic, guint64 count)
{
    g_autofree BbMessage *block = g_new(BbMessage, BLOCK);
    double seconds = 0;
    for (guint64 done = 0; done < count;) {
        guint n = (guint)MIN(count - done, BLOCK);
        for (guint i = 0; i < n; i++)
            block[i] = traffic_next(traffic);
        double start = cpu_seconds();
        for (guint i = 0; i < n; i++)
            while (!bb_windows_push(run->windows, &block[i]))
                take(run);
        seconds += cpu_seconds() - start;
        done += n;
    }
    double start = cpu_seconds();
    bb_windows_end(run->windows);
    take(run);
    return seconds + cpu_seconds() - start;
}

int main(int argc, char **argv)
{
    guint64 count = argc > 1 ? (guint64)g_ascii_strtod(argv[1], NULL) : 10000000;
    double per_second = argc > 2 ? g_ascii_strtod(argv[2], NULL) : 9.5;
    double length = argc > 3 ? g_ascii_strtod(argv[3], NULL) : 0;
    bool joint = argc > 4 && strcmp(argv[4], "joint") == 0;
    g_autoptr(BbNames) names = bb_names_new();
    BbNestingOptions options = bb_nesting_options_default();
    options.assign = joint ? BB_ASSIGN_JOINT : BB_ASSIGN_PAPER;
    BbWindowOptions window = {.length_ns = (gint64)(length * 1e9)};
    BbCensusOptions census_options = {
        .algorithm = "nesting", .labels = true, .limit = BB_CENSUS_LIMIT};
    Traffic traffic;
    traffic_init(&traffic, names, per_second);
    Run run = {.windows = bb_windows_new(names, &options, &window),
               .census = bb_census_new(&census_options, names)};
    double seconds = run_all(&run, &traffic, count);
    g_autoptr(BbPatterns) patterns = bb_census_finish(run.census);
    printf("%" G_GUINT64_FORMAT " messages: %.1f s, %.2f M messages/s, peak %.0f MB; %"   //
           G_GUINT64_FORMAT " windows (the largest: %" G_GUINT64_FORMAT " calls), %"      //
           G_GUINT64_FORMAT " instances, %u patterns, %" G_GUINT64_FORMAT " forgotten, %" //
           G_GUINT64_FORMAT " calls unreturned\n",
           count, seconds, (double)count / seconds / 1e6, status_kb("VmHWM:") / 1024, run.n_windows,
           run.largest, run.instances, patterns->patterns->len, patterns->forgotten,
           patterns->facts.calls_unreturned);
    traffic_clear(&traffic);
    bb_windows_free(run.windows);
    bb_census_free(run.census);
    return EXIT_SUCCESS;
}
