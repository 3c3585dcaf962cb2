// SPDX-License-Identifier: Apache-2.0
// Measures the nesting stage: bench_nesting [MESSAGES [REQUESTS_PER_SECOND]]. Traffic is that of
// tests/bench/traffic.h, at rates that give the parallelism of rows of the paper's table 1. Times
// are CPU seconds.
#include "data/census.h"
#include "nesting/nesting.h"
#include "tests/bench/measure.h"
#include "tests/bench/traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static BbMessage *generate(BbNames *names, gsize count, double per_second)
{
    Traffic traffic;
    traffic_init(&traffic, names, per_second);
    BbMessage *messages = g_new(BbMessage, count);
    for (gsize i = 0; i < count; i++)
        messages[i] = traffic_next(&traffic);
    traffic_clear(&traffic);
    return messages;
}

// What any reader must do: look at each message once.
static double bare_pass(const BbMessage *messages, gsize count)
{
    double start = cpu_seconds();
    guint64 sum = 0;
    for (gsize i = 0; i < count; i++)
        sum += (guint64)messages[i].time_ns ^ messages[i].id.number ^ messages[i].sender;
    volatile guint64 kept = sum;
    (void)kept;
    return cpu_seconds() - start;
}

// What the kernel did for this process: CPU seconds, and pages that it mapped.
typedef struct {
    double seconds;
    glong pages;
} Kernel;

static Kernel kernel_now(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (Kernel){(double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6,
                    usage.ru_minflt};
}

static void reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file)
        return;
    fputs("5\n", file);
    fclose(file);
}

static void measure(gsize count, double per_second, bool shuffled)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autofree BbMessage *messages = generate(names, count, per_second);
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    for (gsize i = count; shuffled && i > 1; i--) {
        gsize j = (gsize)(g_rand_double(rand) * (double)i);
        BbMessage swap = messages[i - 1];
        messages[i - 1] = messages[j];
        messages[j] = swap;
    }
    double bare = bare_pass(messages, count), before_kb = status_kb("VmRSS:");
    reset_peak();
    BbNestingOptions options = bb_nesting_options_default();
    options.assign = BB_ASSIGN_PAPER;
    Kernel before = kernel_now();
    double start = cpu_seconds();
    g_autoptr(BbPairs) pairs = bb_pairs_new(names);
    for (gsize i = 0; i < count; i++)
        bb_pairs_push(pairs, &messages[i]);
    double pushed = cpu_seconds() - start;
    g_autoptr(BbNesting) nesting = bb_nesting_new(names, &options);
    g_autoptr(BbPaths) paths = bb_nesting_run(nesting, pairs);
    BbCensusOptions census_options = {.algorithm = "nesting", .labels = true};
    g_autoptr(BbCensus) census = bb_census_new(&census_options, names);
    bb_census_add(census, paths);
    g_autoptr(BbPatterns) patterns = bb_census_finish(census);
    double seconds = cpu_seconds() - start;
    Kernel after = kernel_now();
    double peak_kb = status_kb("VmHWM:") - before_kb;
    printf("%9zu messages %-9s parallelism %7.3f  %6.3f s (push %5.3f, kernel "
           "%5.3f, %5ld pages)  %5.2f M messages/s"
           "  %5.1f bytes/message at peak  %5.1f times a bare pass  %u patterns\n",
           count, shuffled ? "shuffled," : "in order,",
           (double)paths->facts.candidates / (double)MAX(paths->facts.children, 1), seconds, pushed,
           after.seconds - before.seconds, after.pages - before.pages,
           (double)count / seconds / 1e6, peak_kb * 1024 / (double)count, seconds / bare,
           patterns->patterns->len);
}

// A process of its own: memory that was freed before would hide what this one takes.
static void measure_apart(gsize count, double per_second, bool shuffled)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        measure(count, per_second, shuffled);
        fflush(stdout);
        _exit(EXIT_SUCCESS);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    gsize count = argc > 1 ? strtoul(argv[1], NULL, 10) : 2000000;
    if (argc > 2) {
        measure(count, g_ascii_strtod(argv[2], NULL), false);
        return EXIT_SUCCESS;
    }
    static const double per_second[] = {2.5, 9.5, 62, 700}; // parallelism 1.15, 1.6, 5, 45
    for (gsize i = 0; i < G_N_ELEMENTS(per_second); i++)
        measure_apart(count, per_second[i], false);
    measure_apart(count, per_second[1], true);
    return EXIT_SUCCESS;
}
