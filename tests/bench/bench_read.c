// SPDX-License-Identifier: Apache-2.0
// What reading alone costs, and how much happens at once: bench_read TRACE [--read-only]. In: a
// trace. Out: one line of JSON with its messages, its span, the CPU seconds of a bare read (each
// message looked at once), and the parallelism (mean number of candidate parents over the calls
// that have one; without --read-only).
#include "data/trace.h"
#include "nesting/windows.h"
#include "tests/bench/measure.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
    guint64 messages, sum;
    gint64 first_ns, last_ns;
} Seen;

// What any reader must do.
static bool bare_read(const char *path, Seen *seen, GError **error)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbTraceReader) reader = bb_trace_reader_open(path, names, error);
    if (!reader)
        return false;
    BbMessage message;
    GError *failure = NULL;
    while (bb_trace_reader_next(reader, &message, &failure)) {
        if (seen->messages++ == 0)
            seen->first_ns = message.time_ns;
        seen->last_ns = message.time_ns;
        seen->sum += (guint64)message.time_ns ^ message.id.number ^ message.sender;
    }
    if (failure)
        g_propagate_error(error, failure);
    return !failure;
}

static void take(BbWindows *windows, BbFacts *facts)
{
    g_autoptr(BbPaths) paths = bb_windows_next(windows);
    if (paths)
        bb_facts_add(facts, &paths->facts);
}

// The paper's choice, which counts candidates on its way and is the faster one.
static bool count_candidates(const char *path, BbFacts *facts, GError **error)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbTraceReader) reader = bb_trace_reader_open(path, names, error);
    if (!reader)
        return false;
    BbNestingOptions options = bb_nesting_options_default();
    options.assign = BB_ASSIGN_PAPER;
    BbWindowOptions window = {0};
    g_autoptr(BbWindows) windows = bb_windows_new(names, &options, &window);
    BbMessage message;
    GError *failure = NULL;
    while (bb_trace_reader_next(reader, &message, &failure))
        while (!bb_windows_push(windows, &message))
            take(windows, facts);
    bb_windows_end(windows);
    take(windows, facts);
    if (failure)
        g_propagate_error(error, failure);
    return !failure;
}

int main(int argc, char **argv)
{
    bool read_only = argc == 3 && g_str_equal(argv[2], "--read-only");
    if (argc != 2 && !read_only) {
        fprintf(stderr, "usage: bench_read TRACE [--read-only]\n");
        return 2;
    }
    g_autoptr(GError) error = NULL;
    Seen seen = {0};
    double start = cpu_seconds();
    bool done = bare_read(argv[1], &seen, &error);
    double seconds = cpu_seconds() - start;
    volatile guint64 kept = seen.sum;
    (void)kept;
    BbFacts facts = BB_FACTS_EMPTY;
    if (done && !read_only)
        done = count_candidates(argv[1], &facts, &error);
    if (!done) {
        fprintf(stderr, "bench_read: %s\n", error->message);
        return EXIT_FAILURE;
    }
    printf("{\"messages\": %" G_GUINT64_FORMAT ", \"span_s\": %.3f, \"read_cpu_s\": %.4f, "
           "\"parallelism\": %.3f}\n",
           seen.messages, (double)(seen.last_ns - seen.first_ns) / 1e9, seconds,
           (double)facts.candidates / (double)MAX(facts.children, 1));
    return EXIT_SUCCESS;
}
