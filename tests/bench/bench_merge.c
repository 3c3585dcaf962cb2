// SPDX-License-Identifier: Apache-2.0
// Measures the merge of many traces against a bare read of the files:
//     bench_merge [FILES [SIGHTINGS [FOLDER]]]
// Ten hosts, each with an observer that writes a new file every so often to a folder of its own;
// every message is seen by the hosts of its sender and its receiver. The files stay in FOLDER,
// where one is given, for bbtrace merge --observers=folder.
#include "data/relay.h"
#include "data/trace.h"
#include "merge/join.h"
#include "merge/merger.h"
#include "tests/bench/measure.h"
#include "tests/bench/traffic.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>

#define HOSTS TRAFFIC_NODES
#define CONNS 64u // between two hosts
#define REQUESTS_PER_SECOND 5000.0
#define NETWORK_NS 50000

typedef struct {
    guint files;
    guint64 sightings, messages;
    const char *folder;
    GPtrArray *paths; // of char*, NULL at the end
    BbNames *names;
    Traffic traffic;
    BbTraceWriter *writers[HOSTS];
    guint64 next[HOSTS][HOSTS]; // byte that comes next on the connections of two hosts
    guint piece;
    double bare_s; // of the bare read
} Bench;

static void must(bool done, GError *error)
{
    if (done)
        return;
    fprintf(stderr, "bench_merge: %s\n", error ? error->message : "failed");
    exit(EXIT_FAILURE);
}

static char *host_folder(const Bench *bench, guint host)
{
    return g_strdup_printf("%s/host%u", bench->folder, host);
}

static void end_piece(Bench *bench)
{
    GError *error = NULL;
    for (guint i = 0; i < HOSTS; i++) {
        if (!bench->writers[i])
            continue;
        must(bb_trace_writer_finish(bench->writers[i], NULL, &error), error);
        g_clear_pointer(&bench->writers[i], bb_trace_writer_free);
    }
}

static void begin_piece(Bench *bench)
{
    GError *error = NULL;
    end_piece(bench);
    for (guint i = 0; i < HOSTS; i++) {
        char *path = g_strdup_printf("%s/host%u/%05u.bbt", bench->folder, i, bench->piece);
        bench->writers[i] = bb_trace_writer_open(path, BB_TRACE_BBT, bench->names, &error);
        must(bench->writers[i], error);
        g_ptr_array_add(bench->paths, path);
    }
    bench->piece++;
}

static guint host_of(const Bench *bench, guint32 name)
{
    guint host = 0;
    while (bench->traffic.name[host] != name)
        host++;
    return host;
}

// As a capture at each end writes it.
static void write_both(Bench *bench, BbMessage *message)
{
    GError *error = NULL;
    guint from = host_of(bench, message->sender), to = host_of(bench, message->receiver);
    char conn[64];
    guint which = (guint)(message->id.number % CONNS);
    g_snprintf(conn, sizeof conn, "10.0.0.%u:%u-10.0.0.%u:%u", MIN(from, to), 40000 + which,
               MAX(from, to), 8000u);
    message->conn = conn;
    message->bytes = 100 + message->id.number % 400;
    message->offset = bench->next[from][to] += message->bytes;
    message->end_ns = message->time_ns;
    must(bb_trace_writer_push(bench->writers[from], message, &error), error);
    message->time_ns += NETWORK_NS;
    message->end_ns = message->time_ns;
    must(bb_trace_writer_push(bench->writers[to], message, &error), error);
}

static void make_files(Bench *bench)
{
    guint pieces = MAX(1, bench->files / HOSTS);
    guint64 each = bench->sightings / 2 / pieces;
    for (guint i = 0; i < HOSTS; i++) {
        g_autofree char *host = host_folder(bench, i);
        must(g_mkdir_with_parents(host, 0777) == 0, NULL);
    }
    traffic_init(&bench->traffic, bench->names, REQUESTS_PER_SECOND);
    guint32 proto = bb_names_intern(bench->names, "http");
    for (guint64 i = 0; i < each * pieces; i++) {
        if (i % each == 0)
            begin_piece(bench);
        BbMessage message = traffic_next(&bench->traffic);
        message.proto = proto;
        write_both(bench, &message);
    }
    end_piece(bench);
    g_ptr_array_add(bench->paths, NULL);
    traffic_clear(&bench->traffic);
}

static void report(const Bench *bench, const char *what, double wall, double cpu)
{
    printf("%-34s %8.3f s %8.3f s CPU %8.2f M sightings/s %5.1f times a bare read %6.0f MB peak\n",
           what, wall, cpu, (double)bench->sightings / wall / 1e6, wall / bench->bare_s,
           status_kb("VmHWM:") / 1024);
}

static double now(void)
{
    return (double)g_get_monotonic_time() / 1e6;
}

static void bare_read(Bench *bench)
{
    double start = now(), cpu = cpu_seconds();
    guint64 messages = 0;
    for (guint i = 0; bench->paths->pdata[i]; i++) {
        g_autoptr(BbNames) names = bb_names_new();
        GError *error = NULL;
        BbTraceReader *reader = bb_trace_reader_open(bench->paths->pdata[i], names, &error);
        must(reader, error);
        BbMessage message;
        while (bb_trace_reader_next(reader, &message, &error))
            messages++;
        must(!error, error);
        bb_trace_reader_free(reader);
    }
    bench->sightings = messages;
    bench->bare_s = now() - start;
    report(bench, "bare read, file by file", bench->bare_s, cpu_seconds() - cpu);
}

static bool drop(const BbMessage *message, guint input, gpointer user, GError **error)
{
    return true;
}

static BbMerger *new_merger(const Bench *bench, BbNames *names)
{
    return bb_merger_new(&(BbMergerOptions){.by_folder = true}, names,
                         (const char *const *)(gpointer)bench->paths->pdata);
}

static void merge_only(const Bench *bench, bool twice)
{
    GError *error = NULL;
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbMerger) merger = new_merger(bench, names);
    if (twice)
        must(bb_merger_run(merger, drop, NULL, &error), error);
    double start = now(), cpu = cpu_seconds();
    must(bb_merger_run(merger, drop, NULL, &error), error);
    report(bench, twice ? "in one order, known to be in order" : "in one order", now() - start,
           cpu_seconds() - cpu);
}

typedef struct {
    BbJoin *join;
    BbRelay *incoming, *outgoing;
    BbTraceWriter *writer;
    guint64 messages;
} Whole;

static bool take_in(const BbMessage *message, guint input, gpointer user, GError **error)
{
    const Whole *whole = user;
    return bb_relay_push_with(whole->incoming, message, input, error);
}

static bool join(const BbMessage *message, gpointer user, GError **error)
{
    const Whole *whole = user;
    return bb_join_push(whole->join, message, bb_relay_number(whole->incoming), error);
}

static bool count(const BbMessage *message, gpointer user, GError **error)
{
    Whole *whole = user;
    whole->messages++;
    return !whole->outgoing || bb_relay_push(whole->outgoing, message, error);
}

static bool write_message(const BbMessage *message, gpointer user, GError **error)
{
    return bb_trace_writer_push(user, message, error);
}

static void merge_whole(const Bench *bench, bool write)
{
    GError *error = NULL;
    Whole whole = {0};
    BbJoinOptions options = {.window_ns = BB_JOIN_WINDOW_NS, .held_max = BB_JOIN_HELD};
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbMerger) merger = new_merger(bench, names);
    g_autofree char *out = g_build_filename(bench->folder, "merged.bbt", NULL);
    double start = now(), cpu = cpu_seconds();
    whole.join = bb_join_new(&options, names, count, &whole);
    if (write) {
        whole.writer = bb_trace_writer_open(out, BB_TRACE_BBT, names, &error);
        must(whole.writer, error);
        whole.outgoing = bb_relay_new(write_message, NULL, whole.writer);
    }
    whole.incoming = bb_relay_new(join, NULL, &whole);
    must(bb_merger_run(merger, take_in, &whole, &error), error);
    must(bb_relay_finish(whole.incoming, &error) && bb_join_finish(whole.join, &error), error);
    must(!write || (bb_relay_finish(whole.outgoing, &error) &&
                    bb_trace_writer_finish(whole.writer, NULL, &error)),
         error);
    report(bench, write ? "joined and written" : "joined", now() - start, cpu_seconds() - cpu);
    printf("  %" G_GUINT64_FORMAT " messages of %" G_GUINT64_FORMAT " sightings\n", whole.messages,
           bb_join_count(whole.join, BB_JOIN_SIGHTINGS));
    bb_relay_free(whole.incoming);
    bb_join_free(whole.join);
    bb_relay_free(whole.outgoing);
    bb_trace_writer_free(whole.writer);
    (void)g_unlink(out);
}

static void remove_files(const Bench *bench)
{
    for (guint i = 0; bench->paths->pdata[i]; i++)
        (void)g_unlink(bench->paths->pdata[i]);
    for (guint i = 0; i < HOSTS; i++) {
        g_autofree char *host = host_folder(bench, i);
        (void)g_rmdir(host);
    }
    (void)g_rmdir(bench->folder);
}

int main(int argc, char **argv)
{
    g_autofree char *scratch = argc > 3 ? NULL : g_dir_make_tmp("bench-merge-XXXXXX", NULL);
    Bench bench = {
        .files = argc > 1 ? (guint)atoi(argv[1]) : 1000,
        .sightings = argc > 2 ? g_ascii_strtoull(argv[2], NULL, 10) : 4000000,
        .folder = argc > 3 ? argv[3] : scratch,
        .paths = g_ptr_array_new_with_free_func(g_free),
        .names = bb_names_new(),
    };
    make_files(&bench);
    printf("%u files\n", bench.paths->len - 1);
    bare_read(&bench);
    merge_only(&bench, false);
    merge_only(&bench, true);
    merge_whole(&bench, false);
    merge_whole(&bench, true);
    if (scratch)
        remove_files(&bench);
    g_ptr_array_unref(bench.paths);
    bb_names_free(bench.names);
    return 0;
}
