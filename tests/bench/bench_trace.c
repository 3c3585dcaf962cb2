// SPDX-License-Identifier: Apache-2.0
// Measures the two forms of the trace on disk, in time of the processor, and the ordering of
// messages: bench_trace [MESSAGES [DIRECTORY]]. The traffic is that of a three-tier site as a
// capture sees it: clients on connections of about ten requests, pooled connections behind,
// exponential times of work, TCP sequence numbers as offsets.
#include "data/order.h"
#include "data/recorder.h"
#include "data/trace.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CYCLE 400000u // messages that are made; longer traces repeat them, shifted
#define CLIENT_CONNS 2000u
#define POOL 48u
#define NODES 10u

typedef struct {
    char *name;
    guint32 next[2]; // sequence number of each direction
    guint uses;
} Conn;

typedef struct {
    GRand *rand;
    BbNames *names;
    GArray *messages;
    guint64 id;
    Conn clients[CLIENT_CONNS], pools[NODES][NODES][POOL];
    guint16 port;
    guint32 proto_http, proto_sql, proto_redis, ok, code_200, code_404, observer;
    guint32 nodes[NODES], ops[40];
    GStringChunk *texts;
} Traffic;

enum { CLIENT, WEB_1, WEB_2, APP_1, APP_2, APP_3, DB_1, DB_2, AUTH, CACHE };

static void open_conn(Traffic *traffic, Conn *conn, guint from, guint to, guint host, guint port)
{
    g_autofree char *name = g_strdup_printf("10.0.%u.%u:%u-10.0.%u.1:%u", from, host + 1,
                                            32768u + traffic->port++ % 28000u, to, port);
    conn->name = g_string_chunk_insert(traffic->texts, name);
    conn->next[0] = g_rand_int(traffic->rand);
    conn->next[1] = g_rand_int(traffic->rand);
    conn->uses = 0;
}

static Conn *pick_conn(Traffic *traffic, guint from, guint to)
{
    guint i = (guint)g_rand_int_range(traffic->rand, 0, from == CLIENT ? CLIENT_CONNS : POOL);
    Conn *conn = from == CLIENT ? &traffic->clients[i] : &traffic->pools[from][to][i];
    if (!conn->name || (from == CLIENT && g_rand_int_range(traffic->rand, 0, 10) == 0))
        open_conn(traffic, conn, from, to, from == CLIENT ? i % 200 : 0, to < DB_1 ? 80 : 5432);
    return conn;
}

static gint64 exponential_ns(Traffic *traffic, double mean_us)
{
    return (gint64)(-log(1 - g_rand_double(traffic->rand)) * mean_us * 1000) + 1000;
}

static void add(Traffic *traffic, gint64 time_ns, BbKind kind, Conn *conn, guint from, guint to,
                guint64 id, guint32 op)
{
    BbMessage message = bb_message_empty();
    bool back = kind == BB_RETURN;
    message.time_ns = time_ns;
    message.kind = kind;
    message.id = bb_id_number(id);
    message.sender = traffic->nodes[back ? to : from];
    message.receiver = traffic->nodes[back ? from : to];
    message.op = op;
    message.proto = to < DB_1     ? traffic->proto_http
                    : to == CACHE ? traffic->proto_redis
                                  : traffic->proto_sql;
    if (back && to < DB_1)
        message.status =
            g_rand_int_range(traffic->rand, 0, 50) ? traffic->code_200 : traffic->code_404;
    else if (back)
        message.status = traffic->ok;
    message.bytes =
        (guint64)(back ? exponential_ns(traffic, 4) / 2 : g_rand_int_range(traffic->rand, 80, 600));
    message.end_ns = time_ns;
    if (message.bytes > 1448)
        message.end_ns += (gint64)message.bytes * 8 + g_rand_int_range(traffic->rand, 0, 20000);
    message.conn = conn->name;
    message.offset = conn->next[back];
    message.observer = traffic->observer;
    conn->next[back] += (guint32)message.bytes;
    g_array_append_val(traffic->messages, message);
}

// A call with its return; returns the time of the return.
static gint64 add_call(Traffic *traffic, gint64 at_ns, guint from, guint to, guint depth)
{
    static const guint callees[NODES][3] = {
        [WEB_1] = {APP_1, APP_2}, [WEB_2] = {APP_2, APP_3},       [APP_1] = {AUTH, DB_1, CACHE},
        [APP_2] = {AUTH, DB_1},   [APP_3] = {CACHE, CACHE, DB_2},
    };
    Conn *conn = pick_conn(traffic, from, to);
    guint64 id = ++traffic->id;
    guint32 op = traffic->ops[to * 4 + (guint)g_rand_int_range(traffic->rand, 0, 4)];
    add(traffic, at_ns, BB_CALL, conn, from, to, id, op);
    at_ns += exponential_ns(traffic, 200);
    for (guint i = 0; i < 3 && callees[to][i]; i++)
        at_ns =
            add_call(traffic, at_ns, to, callees[to][i], depth + 1) + exponential_ns(traffic, 100);
    add(traffic, at_ns, BB_RETURN, conn, from, to, id, op);
    return at_ns;
}

static gint compare_times(gconstpointer a, gconstpointer b)
{
    gint64 first = ((const BbMessage *)a)->time_ns, second = ((const BbMessage *)b)->time_ns;
    return (first > second) - (first < second);
}

static void make_names(Traffic *traffic)
{
    static const char *const nodes[NODES] = {"clients", "web1", "web2", "app1", "app2",
                                             "app3",    "db1",  "db2",  "auth", "cache"};
    for (guint i = 0; i < NODES; i++)
        traffic->nodes[i] = bb_names_intern(traffic->names, nodes[i]);
    for (guint i = 0; i < G_N_ELEMENTS(traffic->ops); i++) {
        g_autofree char *op = g_strdup_printf("GET /shop/%u/*", i);
        traffic->ops[i] = bb_names_intern(traffic->names, op);
    }
    traffic->proto_http = bb_names_intern(traffic->names, "http");
    traffic->proto_sql = bb_names_intern(traffic->names, "postgresql");
    traffic->proto_redis = bb_names_intern(traffic->names, "redis");
    traffic->ok = bb_names_intern(traffic->names, "ok");
    traffic->code_200 = bb_names_intern(traffic->names, "200");
    traffic->code_404 = bb_names_intern(traffic->names, "404");
    traffic->observer = bb_names_intern(traffic->names, "mirror1");
}

static void traffic_init(Traffic *traffic)
{
    traffic->rand = g_rand_new_with_seed(1);
    traffic->names = bb_names_new();
    traffic->texts = g_string_chunk_new(1 << 16);
    traffic->messages = g_array_new(FALSE, FALSE, sizeof(BbMessage));
    make_names(traffic);
    gint64 at_ns = 1700000000000000000;
    while (traffic->messages->len < CYCLE) {
        at_ns += exponential_ns(traffic, 250);
        guint web = g_rand_int_range(traffic->rand, 0, 2) ? WEB_1 : WEB_2;
        (void)add_call(traffic, at_ns, CLIENT, web, 0);
    }
    g_array_sort(traffic->messages, compare_times);
    // Ids in order of time, as a capture gives them.
    g_autofree guint64 *ids = g_new0(guint64, traffic->id + 1);
    guint64 next = 0;
    for (guint i = 0; i < traffic->messages->len; i++) {
        BbMessage *message = &g_array_index(traffic->messages, BbMessage, i);
        if (!ids[message->id.number])
            ids[message->id.number] = ++next;
        message->id.number = ids[message->id.number];
    }
}

static void traffic_clear(Traffic *traffic)
{
    g_rand_free(traffic->rand);
    bb_names_free(traffic->names);
    g_string_chunk_free(traffic->texts);
    g_array_unref(traffic->messages);
}

// The message of that number of an endless trace.
static BbMessage traffic_at(const Traffic *traffic, guint64 number)
{
    const BbMessage *made = (const BbMessage *)(gpointer)traffic->messages->data;
    guint64 cycle = number / traffic->messages->len;
    BbMessage message = made[number % traffic->messages->len];
    gint64 shift_ns = (gint64)cycle * (made[traffic->messages->len - 1].time_ns - made[0].time_ns);
    message.time_ns += shift_ns;
    message.end_ns += shift_ns;
    message.id.number += cycle * traffic->id;
    message.offset = (guint32)(message.offset + cycle * 2654435761u);
    return message;
}

static void fail(GError *error)
{
    fprintf(stderr, "%s\n", error->message);
    exit(EXIT_FAILURE);
}

// Of the processor, so that other work on the machine does not count.
static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double time_write(const Traffic *traffic, const char *path, BbTraceForm form, guint64 count)
{
    GError *error = NULL;
    double begin = seconds();
    g_autoptr(BbTraceWriter) writer = bb_trace_writer_open(path, form, traffic->names, &error);
    for (guint64 i = 0; !error && i < count; i++) {
        BbMessage message = traffic_at(traffic, i);
        (void)bb_trace_writer_push(writer, &message, &error);
    }
    if (error || !bb_trace_writer_finish(writer, NULL, &error))
        fail(error);
    return seconds() - begin;
}

static double time_read(const char *path, guint64 count)
{
    GError *error = NULL;
    double begin = seconds();
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbTraceReader) reader = bb_trace_reader_open(path, names, &error);
    BbMessage message;
    guint64 sum = 0;
    while (reader && bb_trace_reader_next(reader, &message, &error))
        sum += (guint64)message.time_ns + message.receiver;
    if (error)
        fail(error);
    if (bb_trace_reader_messages(reader) != count || sum == 0) {
        fprintf(stderr, "%s: not what was written\n", path);
        exit(EXIT_FAILURE);
    }
    return seconds() - begin;
}

static double time_bare_read(const char *path, guint64 *size)
{
    double begin = seconds();
    static guint8 buffer[1 << 16];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    *size = 0;
    for (gssize got = 0; (got = read(fd, buffer, sizeof buffer)) > 0;)
        *size += (guint64)got;
    close(fd);
    return seconds() - begin;
}

static void measure(const Traffic *traffic, const char *path, BbTraceForm form, guint64 count)
{
    guint64 size = 0;
    double n = (double)count;
    double write_s = time_write(traffic, path, form, count);
    double read_s = time_read(path, count);
    double bare_s = time_bare_read(path, &size);
    printf("%-5s %9" G_GUINT64_FORMAT " messages: write %6.2f M/s, read %6.2f M/s, "
           "%6.2f bytes a message, read takes %.0f times a bare read of the file\n",
           form == BB_TRACE_BBT ? ".bbt" : "text", count, n / write_s / 1e6, n / read_s / 1e6,
           (double)size / n, read_s / bare_s);
    (void)unlink(path);
}

// A ring as large as the messages' half, so that it goes round.
static void measure_ring(const Traffic *traffic, const char *path, guint64 count)
{
    GError *error = NULL;
    double n = (double)count;
    guint64 size = MAX(count * 20, BB_RECORDER_SIZE_MIN);
    g_autoptr(BbRecorder) recorder = bb_recorder_open(path, size, traffic->names, &error);
    if (error)
        fail(error);
    double begin = seconds();
    for (guint64 i = 0; i < count; i++) {
        BbMessage message = traffic_at(traffic, i);
        bb_recorder_push(recorder, &message);
    }
    double write_s = seconds() - begin;
    begin = seconds();
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbTraceReader) reader = bb_trace_reader_open(path, names, &error);
    BbMessage message;
    while (reader && bb_trace_reader_next(reader, &message, &error))
        continue;
    if (error)
        fail(error);
    double kept = (double)bb_trace_reader_messages(reader);
    printf("ring  %9" G_GUINT64_FORMAT " messages: write %6.2f M/s, read in order %6.2f M/s, "
           "%6.2f bytes a message\n",
           count, n / write_s / 1e6, kept / (seconds() - begin) / 1e6,
           (double)bb_recorder_size(recorder) / kept);
    (void)unlink(path);
}

static bool count_message(const BbMessage *message, gpointer user, GError **error)
{
    *(guint64 *)user += (guint64)message->time_ns;
    return true;
}

// Each message up to 8 places late, as from several queues of a network card.
static void measure_order(const Traffic *traffic, guint64 count)
{
    guint64 sum = 0;
    GError *error = NULL;
    double begin = seconds();
    g_autoptr(BbOrder) order = bb_order_new(65536, count_message, &sum);
    for (guint64 i = 0; !error && i < count; i++) {
        BbMessage message = traffic_at(traffic, i ^ (i * 2654435761u >> 29 & 7));
        (void)bb_order_push(order, &message, &error);
    }
    if (error || !bb_order_drain(order, &error))
        fail(error);
    double took = seconds() - begin;
    printf("order %9" G_GUINT64_FORMAT " messages: %.0f ns each, %" G_GUINT64_FORMAT " late\n",
           count, took * 1e9 / (double)count, bb_order_late(order));
}

int main(int argc, char **argv)
{
    guint64 count = argc > 1 ? g_ascii_strtoull(argv[1], NULL, 10) : 20000000;
    const char *dir = argc > 2 ? argv[2] : g_get_tmp_dir();
    g_autofree char *path = g_build_filename(dir, "bench_trace.tmp", NULL);
    static Traffic traffic;
    traffic_init(&traffic);
    measure(&traffic, path, BB_TRACE_BBT, count);
    measure(&traffic, path, BB_TRACE_TEXT, MAX(count / 10, 1));
    measure_ring(&traffic, path, count);
    measure_order(&traffic, MAX(count / 4, 1));
    traffic_clear(&traffic);
    return EXIT_SUCCESS;
}
