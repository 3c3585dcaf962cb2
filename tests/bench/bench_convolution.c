// SPDX-License-Identifier: Apache-2.0
// What convolution costs of a trace: bench_convolution TRACE [QUANTUM_S MAX_DELAY_S]. In: a trace;
// what is not given is found. Out: one line of JSON with the CPU seconds of a bare read (each
// message looked at once), of putting the messages in order and of inferring by one thread; and
// beside them those of FFTs alone: the transforms that correlograms of the same pairs would take,
// by whole signals as in the paper, and by blocks (overlap-save).
#include "convolution/block_shape.h"
#include "convolution/convolution.h"
#include "convolution/streams.h"
#include "convolution/transform.h"
#include "data/trace.h"
#include "tests/bench/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SIGNAL_MAX ((gsize)1 << 27) // numbers of a whole signal: a transform of 2 GB

typedef struct {
    double read_s, order_s, infer_s;
    guint64 messages, sum;
    guint32 edges;
    guint64 streams, pairs; // that are correlated
    gint64 span_ns, quantum_ns, max_delay_ns;
} Cost;

static BbTraceReader *open_trace(const char *path, BbNames *names)
{
    g_autoptr(GError) error = NULL;
    BbTraceReader *reader = bb_trace_reader_open(path, names, &error);
    if (!reader) {
        fprintf(stderr, "bench_convolution: %s\n", error->message);
        exit(EXIT_FAILURE);
    }
    return reader;
}

static void stop_on(GError *failure)
{
    if (!failure)
        return;
    fprintf(stderr, "bench_convolution: %s\n", failure->message);
    exit(EXIT_FAILURE);
}

static void bare_read(const char *path, Cost *cost)
{
    double start = cpu_seconds();
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbTraceReader) reader = open_trace(path, names);
    BbMessage message;
    GError *failure = NULL;
    while (bb_trace_reader_next(reader, &message, &failure)) {
        cost->messages++;
        cost->sum += (guint64)message.time_ns ^ message.id.number ^ message.sender;
    }
    stop_on(failure);
    cost->read_s = cpu_seconds() - start;
}

static BbTraffic *read_traffic(const char *path, BbNames *names, Cost *cost)
{
    double start = cpu_seconds();
    g_autoptr(BbTraceReader) reader = open_trace(path, names);
    BbTraffic *traffic = bb_traffic_new(names);
    BbMessage message;
    GError *failure = NULL;
    while (bb_trace_reader_next(reader, &message, &failure))
        bb_traffic_push(traffic, &message);
    stop_on(failure);
    bb_traffic_finish(traffic);
    cost->order_s = MAX(cpu_seconds() - start - cost->read_s, 0);
    cost->edges = traffic->n_edges;
    cost->span_ns = traffic->end_ns - traffic->start_ns;
    return traffic;
}

static void count_pairs(const BbTraffic *traffic, guint rare, Cost *cost)
{
    g_autoptr(BbStreams) streams = bb_streams_new(traffic, rare);
    cost->streams = (guint64)streams->n_in + streams->n_out;
    for (guint32 f = 0; f < streams->n_out; f++) {
        guint32 first;
        cost->pairs += bb_streams_into(streams, streams->out[f].node, &first);
    }
}

static void infer(const char *path, const BbConvolutionOptions *options, Cost *cost)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbTraffic) traffic = read_traffic(path, names, cost);
    count_pairs(traffic, options->rare, cost);
    double start = cpu_seconds();
    g_autoptr(BbConvolution) convolution = bb_convolution_new(names, options);
    bb_paths_free(bb_convolution_run(convolution, traffic));
    cost->infer_s = cpu_seconds() - start;
    cost->quantum_ns = bb_convolution_quantum(convolution);
    cost->max_delay_ns = bb_convolution_max_delay(convolution);
}

// CPU seconds of so many transforms; one of some is run.
static double transforms_s(gsize size, double count)
{
    g_autoptr(BbTransform) transform = bb_transform_new(size);
    if (!transform)
        return -1;
    double *signal = bb_transform_signal(transform);
    double complex *spectrum = bb_transform_spectrum(transform);
    double runs = MAX(1, MIN(count, 4e6 / (double)size)), seconds = -1;
    if (signal && spectrum) {
        memset(signal, 0, size * sizeof *signal);
        bb_transform_forward(transform, signal, spectrum); // pages are there from now on
        double start = cpu_seconds();
        for (double run = 0; run < runs; run++)
            bb_transform_forward(transform, signal, spectrum);
        seconds = (cpu_seconds() - start) / ceil(runs) * count;
    }
    bb_transform_release(signal);
    bb_transform_release(spectrum);
    return seconds;
}

// One forward of each stream, one back of each pair.
static double whole_signals_s(const Cost *cost, double quanta, double lags)
{
    if (quanta + lags > (double)SIGNAL_MAX)
        return -1;
    return transforms_s(bb_transform_size((gsize)(quanta + lags)),
                        (double)cost->streams + (double)cost->pairs);
}

static double blocks_s(const Cost *cost, double quanta, double lags)
{
    BbBlockShape shape = bb_block_shape((gsize)MAX(lags, 1), (gint64)quanta);
    return transforms_s(shape.size,
                        (double)shape.count * (double)cost->streams + (double)cost->pairs);
}

static void print_seconds(const char *key, double seconds)
{
    if (seconds < 0)
        printf(", \"%s\": null", key);
    else
        printf(", \"%s\": %.4f", key, seconds);
}

int main(int argc, char **argv)
{
    if (argc != 2 && argc != 4) {
        fprintf(stderr, "usage: bench_convolution TRACE [QUANTUM_S MAX_DELAY_S]\n");
        return 2;
    }
    Cost cost = {0};
    BbConvolutionOptions options = bb_convolution_options_default();
    options.threads = 1;
    if (argc == 4) {
        options.quantum_ns = (gint64)(g_ascii_strtod(argv[2], NULL) * 1e9);
        options.max_delay_ns = (gint64)(g_ascii_strtod(argv[3], NULL) * 1e9);
    }
    bare_read(argv[1], &cost);
    infer(argv[1], &options, &cost);
    volatile guint64 kept = cost.sum;
    (void)kept;
    double peak_mb = status_kb("VmHWM:") / 1024;
    printf("{\"messages\": %" G_GUINT64_FORMAT ", \"edges\": %u, \"span_s\": %.3f, "
           "\"quantum_s\": %.9f, \"max_delay_s\": %.9f, \"pairs\": %" G_GUINT64_FORMAT
           ", \"read_cpu_s\": %.4f, \"order_cpu_s\": %.4f, \"infer_cpu_s\": %.4f, "
           "\"peak_mb\": %.1f",
           cost.messages, cost.edges, (double)cost.span_ns / 1e9, (double)cost.quantum_ns / 1e9,
           (double)cost.max_delay_ns / 1e9, cost.pairs, cost.read_s, cost.order_s, cost.infer_s,
           peak_mb);
    double quanta = cost.quantum_ns ? (double)cost.span_ns / (double)cost.quantum_ns : 1;
    double lags = cost.quantum_ns ? (double)cost.max_delay_ns / (double)cost.quantum_ns : 1;
    print_seconds("whole_ffts_s", whole_signals_s(&cost, quanta, lags));
    print_seconds("block_ffts_s", blocks_s(&cost, quanta, lags));
    printf("}\n");
    return EXIT_SUCCESS;
}
