// SPDX-License-Identifier: Apache-2.0
// In: a capture of the shop (data/samples). Makes a large capture file of it and reads that with a
// bare pcap_next_ex loop and with all of bbtrace capture by each number of threads, in turns, each
// in a process of its own. Out: seconds, by the clock and of CPU, and their ratios to bare,
// packets/s, peak memory.
//   bench_capture [--threads N,N,... | --levels N] SAMPLE [MEGABYTES] [ROUNDS]
// 0 threads: without shards (capture/capture.h). Default: 0,1,2. --levels: N threads, at each level
// of shedding (capture/shed.h), with what each costs of the first.
#include "capture/shards.h"
#include "capture/shed.h"
#include "capture/sources/source.h"
#include "data/relay.h"
#include "data/trace.h"
#include "tests/bench/repeat.h"

#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ROUNDS 15
#define MAX_PROGRAMS 10 // all levels, and one

typedef struct Result {
    double seconds, cpu;
    guint64 packets, messages;
    glong peak_kib;
} Result;

// ---- the large file ---------------------------------------------------------------------------

static void write_copy(const Repeat *sample, guint32 copy, FILE *out)
{
    gsize at = 0, size = sample->bytes->len;
    guint32 captured = 0;
    g_autofree guint8 *bytes = g_memdup2(sample->bytes->data, size);
    for (guint8 *record; (record = repeat_next(bytes, size, &at, &captured));) {
        guint32 seconds = repeat_host32(record) + copy * 5; // copies follow each other in time
        memcpy(record, &seconds, sizeof seconds);
        repeat_move(record + 16, captured, copy);
    }
    fwrite(bytes, 1, size, out);
}

static char *make_large_file(const char *sample_path, gsize megabytes)
{
    Repeat sample = {0};
    g_autoptr(GError) error = NULL;
    if (!repeat_load(sample_path, &sample, &error))
        g_error("%s: %s", sample_path, error ? error->message : "too short");
    char *path = g_build_filename(g_get_tmp_dir(), "bench_capture.XXXXXX", NULL);
    FILE *out = fdopen(g_mkstemp(path), "w");
    fwrite(sample.header, 1, sizeof sample.header, out);
    for (guint32 copy = 0; (gsize)copy * sample.bytes->len < megabytes << 20; copy++)
        write_copy(&sample, copy, out);
    if (fclose(out) != 0)
        g_error("%s: the disk is full", path);
    g_byte_array_unref(sample.bytes);
    return path;
}

// ---- the two programs ---------------------------------------------------------------------------

static void run_bare(const char *path, guint threads, guint level, Result *result)
{
    char message[PCAP_ERRBUF_SIZE];
    struct pcap_pkthdr *header;
    const guint8 *bytes;
    pcap_t *pcap =
        pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, message);
    while (pcap_next_ex(pcap, &header, &bytes) == 1)
        result->packets++;
    pcap_close(pcap);
}

static bool write_message(const BbMessage *message, gpointer user, GError **error)
{
    return bb_trace_writer_push(user, message, error);
}

static bool order_message(const BbMessage *message, gpointer user, GError **error)
{
    return bb_order_push(user, message, error);
}

static bool relay_message(const BbMessage *message, gpointer user, GError **error)
{
    return bb_relay_push(user, message, error);
}

static void read_alone(BbSource *source, BbNames *names, BbLoss *loss, BbRelay *relay)
{
    BbFrame frame;
    BbCaptureOptions options = bb_capture_options_default();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    g_autoptr(BbCapture) capture =
        bb_capture_new(&options, names, nodes, loss, relay_message, relay);
    while (bb_source_next(source, &frame, NULL) == BB_SOURCE_FRAME)
        (void)bb_capture_frame(capture, &frame, NULL);
    (void)bb_capture_finish(capture, NULL);
}

// Reading waits as long as it takes; but who asks is told which bytes are passed over.
typedef struct Way {
    BbRelay *relay;
    guint level;
} Way;

static BbShedding shedding_of(guint level)
{
    return (BbShedding){.trims = level >= BB_SHED_TRIMS, .parts = (guint8)bb_shed_parts(level)};
}

static BbShedding keep_level(gint64 waited_ns, gpointer user)
{
    return shedding_of(((const Way *)user)->level);
}

static bool pass_message(const BbMessage *message, gpointer user, GError **error)
{
    return bb_relay_push(((const Way *)user)->relay, message, error);
}

static void read_shards(BbSource *source, BbNames *names, BbLoss *loss, BbRelay *relay,
                        guint threads, guint level)
{
    BbFrame frame;
    Way way = {relay, level};
    BbCaptureOptions options = bb_capture_options_default();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    g_autoptr(BbShards) shards =
        bb_shards_new(&options, threads, false, names, nodes, loss,
                      (BbShardsOutput){pass_message, NULL, &way, level ? keep_level : NULL});
    const BbShedding shedding = shedding_of(level);
    bb_shards_shed(shards, &shedding);
    while (bb_source_next(source, &frame, NULL) == BB_SOURCE_FRAME)
        (void)bb_shards_frame(shards, &frame, NULL);
    (void)bb_shards_finish(shards, NULL);
}

// As bbtrace capture does it: order and writer in a thread of their own.
static void run_capture(const char *path, guint threads, guint level, Result *result)
{
    BbLoss loss = {0};
    const char *files[] = {path, NULL};
    BbSourceOptions source_options = bb_source_options_default();
    source_options.files = files;
    g_autofree char *out = g_strconcat(path, ".bbt", NULL);
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbSource) source = bb_source_open(&source_options, &loss, NULL);
    g_autoptr(BbTraceWriter) writer = bb_trace_writer_open(out, BB_TRACE_BBT, names, NULL);
    g_autoptr(BbOrder) order = bb_order_new(65536, write_message, writer);
    g_autoptr(BbRelay) relay = bb_relay_new(order_message, NULL, order);
    if (threads)
        read_shards(source, names, &loss, relay, threads, level);
    else
        read_alone(source, names, &loss, relay);
    (void)(bb_relay_finish(relay, NULL) && bb_order_drain(order, NULL) &&
           bb_trace_writer_finish(writer, NULL, NULL));
    result->packets = loss.count[BB_SEEN_FRAMES];
    result->messages = loss.count[BB_CALLS] + loss.count[BB_RETURNS] + loss.count[BB_FREES];
    unlink(out);
}

// In a process of its own, so that each has its own peak of memory.
static Result measure(void (*run)(const char *, guint, guint, Result *), const char *path,
                      guint threads, guint level)
{
    int ends[2];
    Result result = {0};
    if (pipe(ends) != 0)
        abort();
    pid_t child = fork();
    if (child == 0) {
        gint64 start_us = g_get_monotonic_time();
        run(path, threads, level, &result);
        result.seconds = (double)(g_get_monotonic_time() - start_us) / 1e6;
        _exit(write(ends[1], &result, sizeof result) == (gssize)sizeof result ? 0 : 1);
    }
    struct rusage usage;
    if (read(ends[0], &result, sizeof result) != (gssize)sizeof result ||
        wait4(child, NULL, 0, &usage) != child)
        abort();
    result.peak_kib = usage.ru_maxrss;
    result.cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    close(ends[0]);
    close(ends[1]);
    return result;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, guint count)
{
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

typedef struct Program {
    guint threads, level;
    double seconds[MAX_ROUNDS], cpu[MAX_ROUNDS], ratio[MAX_ROUNDS], cpu_ratio[MAX_ROUNDS];
    Result last;
} Program;

static void note(Program *program, guint round, Result result, const Result *bare)
{
    program->last = result;
    program->seconds[round] = result.seconds;
    program->cpu[round] = result.cpu;
    program->ratio[round] = result.seconds / bare->seconds;
    program->cpu_ratio[round] = result.cpu / bare->cpu;
}

static void print_program(const char *name, Program *program, guint rounds)
{
    double seconds = median(program->seconds, rounds);
    printf("%-10s %8.3f s %6.2f x   CPU %8.3f s %6.2f x %7.2f M packets/s %8ld KiB\n", name,
           seconds, median(program->ratio, rounds), median(program->cpu, rounds),
           median(program->cpu_ratio, rounds), (double)program->last.packets / seconds / 1e6,
           program->last.peak_kib);
}

static guint parse_threads(const char *text, Program *programs)
{
    guint count = 0;
    g_auto(GStrv) numbers = g_strsplit(text, ",", -1);
    for (; numbers[count] && count < MAX_PROGRAMS; count++)
        programs[count].threads = (guint)atoi(numbers[count]);
    return count;
}

// The first one, at each level.
static guint add_levels(Program *programs)
{
    for (guint level = 0; level <= BB_SHED_MOST; level++)
        programs[level] = (Program){.threads = programs[0].threads, .level = level};
    return BB_SHED_MOST + 1;
}

int main(int argc, char **argv)
{
    static Program bare, programs[MAX_PROGRAMS];
    const char *threads = "0,1,2";
    bool levels = argc > 2 && strcmp(argv[1], "--levels") == 0;
    if (levels || (argc > 2 && strcmp(argv[1], "--threads") == 0)) {
        threads = argv[2];
        argv += 2;
        argc -= 2;
    }
    if (argc < 2) {
        fputs("usage: bench_capture [--threads N,N,... | --levels N] SAMPLE [MEGABYTES] [ROUNDS]\n",
              stderr);
        return 2;
    }
    guint count = parse_threads(threads, programs);
    if (levels)
        count = add_levels(programs);
    gsize megabytes = argc > 2 ? (gsize)atoi(argv[2]) : 1024;
    guint rounds = CLAMP(argc > 3 ? (guint)atoi(argv[3]) : 5, 1, MAX_ROUNDS);
    g_autofree char *path = make_large_file(argv[1], megabytes);
    (void)measure(run_bare, path, 0, 0); // warms the cache
    for (guint i = 0; i < rounds; i++) {
        Result alone = measure(run_bare, path, 0, 0);
        note(&bare, i, alone, &alone);
        for (guint k = 0; k < count; k++)
            note(&programs[k], i,
                 measure(run_capture, path, programs[k].threads, programs[k].level), &alone);
    }
    unlink(path);
    printf("%" G_GUINT64_FORMAT " packets, %" G_GUINT64_FORMAT " messages; medians of %u\n",
           bare.last.packets, programs[0].last.messages, rounds);
    print_program("bare", &bare, rounds);
    for (guint k = 0; k < count; k++) {
        g_autofree char *name = levels ? g_strdup_printf("level %u", programs[k].level)
                                       : g_strdup_printf("threads %u", programs[k].threads);
        print_program(name, &programs[k], rounds);
        if (levels)
            printf("%10s CPU %.2f of level 0, %" G_GUINT64_FORMAT " messages\n", "",
                   median(programs[k].cpu, rounds) / median(programs[0].cpu, rounds),
                   programs[k].last.messages);
    }
    return EXIT_SUCCESS;
}
