// SPDX-License-Identifier: Apache-2.0
// Measures figure 6 (convolution/figure6.h): bench_figure6 [VERTICES]. The paper's figure 23: CPU
// seconds against the quantum, from 5 to 720 s, over a trace like its e-mail headers (81,044
// messages in 5.1e6 s); then one of calls and returns (multi-tier). Each row beside the seconds of
// its FFTs alone. VERTICES: where each run is cut (20,000). Lags of the sweep are up to
// four hours.
#include "convolution/figure6.h"
#include "data/random.h"
#include "tests/bench/measure.h"
#include "tests/bench/traffic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND G_GINT64_CONSTANT(1000000000)

// Mail: from one of many hosts to a border relay, on to a filter, on to a mailbox host.
enum { SENDERS = 1800, BORDERS = 20, FILTERS = 20, BOXES = 40, MAILS = 27014, SPAN_S = 5100000 };

// Few are frequent.
static guint64 skewed(BbRandom *random, guint64 count)
{
    return (guint64)((double)count * pow(bb_random_unit(random), 2.5));
}

// By day ten times as many as by night.
static gint64 time_of_day(BbRandom *random)
{
    for (;;) {
        double second = bb_random_unit(random) * SPAN_S;
        double day = 0.55 - 0.45 * cos(second * 2 * G_PI / 86400);
        if (bb_random_chance(random, day))
            return (gint64)(second * 1e9);
    }
}

// Mostly a second or two; one in ten is tried again after 10 to 15 s.
static gint64 hop_delay(BbRandom *random)
{
    double seconds = 0.2 + bb_random_exponential(random);
    if (bb_random_chance(random, 0.1))
        seconds += 10 + 5 * bb_random_unit(random);
    return (gint64)(seconds * 1e9);
}

static void push(BbTraffic *traffic, BbNames *names, gint64 time_ns, const char *from, guint64 i,
                 const char *to, guint64 k)
{
    char sender[32], receiver[32];
    g_snprintf(sender, sizeof sender, "%s%u", from, (guint)i);
    g_snprintf(receiver, sizeof receiver, "%s%u", to, (guint)k);
    BbMessage message = bb_message_empty();
    message.time_ns = time_ns;
    message.sender = bb_names_intern(names, sender);
    message.receiver = bb_names_intern(names, receiver);
    bb_traffic_push(traffic, &message);
}

static BbTraffic *mail(BbNames *names)
{
    BbRandom random = bb_random_start(23);
    BbTraffic *traffic = bb_traffic_new(names);
    for (guint i = 0; i < MAILS; i++) {
        guint64 sender = skewed(&random, SENDERS);
        guint64 border =
            bb_random_chance(&random, 0.01) ? bb_random_below(&random, BORDERS) : sender % BORDERS;
        guint64 filter = border % FILTERS;
        guint64 box = filter * BOXES + skewed(&random, BOXES);
        gint64 time_ns = time_of_day(&random);
        push(traffic, names, time_ns, "host", sender, "border", border);
        time_ns += hop_delay(&random);
        push(traffic, names, time_ns, "border", border, "filter", filter);
        time_ns += hop_delay(&random);
        push(traffic, names, time_ns, "filter", filter, "box", box);
    }
    bb_traffic_finish(traffic);
    return traffic;
}

static BbTraffic *calls(BbNames *names, gsize count)
{
    Traffic source;
    traffic_init(&source, names, 40);
    BbTraffic *traffic = bb_traffic_new(names);
    for (gsize i = 0; i < count; i++) {
        BbMessage message = traffic_next(&source);
        bb_traffic_push(traffic, &message);
    }
    traffic_clear(&source);
    bb_traffic_finish(traffic);
    return traffic;
}

static void measure(const BbTraffic *traffic, const BbFigure6Options *options)
{
    BbFigure6Limits limits;
    g_autoptr(GError) error = NULL;
    double start = cpu_seconds();
    g_autoptr(BbPatterns) patterns = bb_figure6_run(traffic, options, &limits, &error);
    double seconds = cpu_seconds() - start;
    if (!patterns) {
        printf("%s\n", error->message);
        return;
    }
    double quanta = (double)(traffic->end_ns - traffic->start_ns) / (double)options->quantum_ns;
    double n = quanta + (options->max_delay_ns
                             ? (double)options->max_delay_ns / (double)options->quantum_ns
                             : quanta);
    printf("mu %7.2f s  %9.0f quanta  %7.3f s  FFTs alone %7.3f s (%6" G_GUINT64_FORMAT
           ")  ratio %5.2f  %6" G_GUINT64_FORMAT " vertices (%" G_GUINT64_FORMAT
           " cut)  %5u patterns  %6.3f ns per FFT and n log2 n  %4.0f MB\n",
           (double)options->quantum_ns / 1e9, quanta, seconds, limits.fft_s, limits.ffts,
           seconds / limits.fft_s, limits.made, limits.vertices, patterns->patterns->len,
           seconds * 1e9 / (double)limits.ffts / (n * log2(n)), status_kb("VmHWM:") / 1024);
    fflush(stdout);
}

static void sweep(guint vertices_max)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbTraffic) traffic = mail(names);
    printf("mail: %u messages, %u edges\n", traffic->n_messages, traffic->n_edges);
    static const gint64 quanta_s[] = {720, 360, 240, 120, 60, 30, 10, 5};
    BbFigure6Options options = bb_figure6_options_default();
    options.vertices_max = vertices_max;
    options.max_delay_ns = 4 * 3600 * SECOND;
    for (guint i = 0; i < G_N_ELEMENTS(quanta_s); i++) {
        options.quantum_ns = quanta_s[i] * SECOND;
        measure(traffic, &options);
    }
}

static void rpc(guint vertices_max)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbTraffic) traffic = calls(names, 200000);
    printf("calls and returns: %u messages, %u edges\n", traffic->n_messages, traffic->n_edges);
    BbFigure6Options options = bb_figure6_options_default();
    options.vertices_max = vertices_max;
    options.all_roots = true;
    for (gint64 ms = 100; ms >= 10; ms -= 90) {
        options.quantum_ns = ms * SECOND / 1000;
        measure(traffic, &options);
    }
}

int main(int argc, char **argv)
{
    guint vertices_max = argc > 1 ? (guint)strtoul(argv[1], NULL, 10) : 20000;
    sweep(vertices_max);
    rpc(vertices_max);
    return EXIT_SUCCESS;
}
