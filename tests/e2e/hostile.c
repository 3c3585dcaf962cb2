// SPDX-License-Identifier: Apache-2.0
// Floods, each in a process of its own, through capture/ and on to a trace: memory has a bound
// whatever comes, the counters tell what was given up, and it ends.
//   hostile [--threads N] [--part N] [SCENARIO...]     --part: so much less of each
#include "capture/hold.h"
#include "capture/shards.h"
#include "capture/unanswered.h"
#include "data/order.h"
#include "data/trace.h"
#include "tests/sanitized.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PEAK_KB (200u * 1024u)
#define SECONDS 60.0        // of the processor, for one scenario
#define ORDER_WINDOW 65536u // as the program has it
#define MSS 1460u
#define UNREAD 20000u // returns of one connection that nobody reads
#define RAW_IP 101    // LINKTYPE_RAW

#define SCALED_DOWN 50u // under the sanitizers

typedef struct Flood {
    BbShards *shards;
    BbNames *names;
    BbNodes *nodes;
    BbOrder *order;
    BbTraceWriter *writer;
    BbLoss loss;
    gint64 now_ns;
    guint64 packets;
    guint64 random;
} Flood;

// ---- packets ------------------------------------------------------------------------------------

static guint32 any(Flood *flood)
{
    flood->random = flood->random * G_GUINT64_CONSTANT(6364136223846793005) + 1442695040888963407;
    return (guint32)(flood->random >> 32);
}

// A different address for each number below 2^24.
static BbAddress host(guint32 number)
{
    const guint8 bytes[4] = {10, (guint8)(number >> 16), (guint8)(number >> 8), (guint8)number};
    return bb_address_v4(bytes);
}

// Each packet is a microsecond later than the one before.
static void push(Flood *flood, BbPacket packet, const void *payload, gsize length)
{
    flood->packets++;
    flood->now_ns += 1000;
    packet.time_ns = flood->now_ns;
    packet.payload = payload;
    packet.captured = packet.length = (guint32)length;
    g_assert(bb_shards_packet(flood->shards, &packet, NULL));
}

// A client of the server 192.0.2.1.
typedef struct Client {
    Flood *flood;
    BbPacket packet;
} Client;

static Client client(Flood *flood, guint32 number, guint16 port)
{
    return (Client){
        .flood = flood,
        .packet =
            {
                .source = host(number),
                .target = bb_address_v4((const guint8[]){192, 0, 2, 1}),
                .source_port = 40000,
                .target_port = port,
                .transport = BB_TRANSPORT_TCP,
                .tcp_flags = BB_TCP_ACK,
                .seq = 1,
                .ack = 1,
            },
    };
}

static void say_syn(Client *c)
{
    BbPacket syn = c->packet;
    syn.tcp_flags = BB_TCP_SYN;
    syn.seq--;
    push(c->flood, syn, NULL, 0);
}

static void say(Client *c, const void *data, gsize length)
{
    for (gsize at = 0; at < length; at += MSS) {
        gsize part = MIN(length - at, MSS);
        push(c->flood, c->packet, (const guint8 *)data + at, part);
        c->packet.seq += (guint32)part;
    }
}

// What the server says to it.
static void hear(Client *server, const Client *c, const void *data, gsize length)
{
    server->packet.source = c->packet.target;
    server->packet.target = c->packet.source;
    server->packet.source_port = c->packet.target_port;
    server->packet.target_port = c->packet.source_port;
    server->packet.ack = c->packet.seq;
    say(server, data, length);
}

static void say_text(Client *c, const char *text)
{
    say(c, text, strlen(text));
}

static void datagram(Flood *flood, guint32 source, guint16 source_port, guint16 port,
                     const void *data, gsize length)
{
    Client c = client(flood, source, port);
    c.packet.transport = BB_TRANSPORT_UDP;
    c.packet.source_port = source_port;
    c.packet.tcp_flags = 0;
    push(flood, c.packet, data, length);
}

// Fills text with the number in letters, which no label takes for a number.
static void spell(char text[9], guint32 number)
{
    for (guint i = 0; i < 8; i++, number >>= 4)
        text[i] = (char)('a' + (number & 0xf));
    text[8] = '\0';
}

// ---- many connections ---------------------------------------------------------------------------

static void syn_flood(Flood *flood, guint n)
{
    for (guint i = 0; i < n; i++) {
        Client c = client(flood, any(flood) & 0xffffff, 80);
        c.packet.source_port = (guint16)any(flood);
        say_syn(&c);
    }
    g_assert(bb_shards_connections(flood->shards) <= BB_CAPTURE_CONNECTIONS);
}

// Each waits for the rest of a start line of 3 KB.
static void half_headers(Flood *flood, guint n)
{
    g_autofree char *path = g_strnfill(3000, 'a');
    for (guint i = 0; i < n; i++) {
        Client c = client(flood, i, 80);
        say_syn(&c);
        say_text(&c, "GET /");
        say_text(&c, path);
    }
    g_assert(bb_shards_held_bytes(flood->shards) <= BB_CAPTURE_HELD_BYTES);
}

// Each says something that nobody answers, and stays open.
static void silent_connections(Flood *flood, guint n, guint16 port, const char *request)
{
    for (guint i = 0; i < n; i++) {
        Client c = client(flood, i, port);
        say_syn(&c);
        say_text(&c, request);
    }
}

static void silent_http(Flood *flood, guint n)
{
    silent_connections(flood, n, 80, "GET /index.html HTTP/1.1\r\nHost: www.example.com\r\n\r\n");
}

static void silent_redis(Flood *flood, guint n)
{
    silent_connections(flood, n, 6379, "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
}

static void strangers(Flood *flood, guint n)
{
    silent_connections(flood, n, 7777, "\x01\x02 what could this be? 0123456789");
}

// Each sends so many requests in a row, and again when all have.
static void pipelines(Flood *flood, guint n, guint16 port, const char *request, guint times)
{
    g_autoptr(GString) many = g_string_new(NULL);
    while (many->len + strlen(request) < MSS)
        g_string_append(many, request);
    for (guint i = 0; i < n; i++) {
        Client c = client(flood, i, port);
        say_syn(&c);
        for (gsize sent = 0; sent < times * strlen(request); sent += many->len)
            say_text(&c, many->str);
    }
}

static void deep_pipeline(Flood *flood, guint n)
{
    pipelines(flood, 1, 80, "GET /a HTTP/1.1\r\n\r\n", n);
}

static void deep_pipelines(Flood *flood, guint n)
{
    pipelines(flood, n, 80, "GET /a HTTP/1.1\r\n\r\n", 1100);
}

// Each asks much, closes, and resets the connection when all of it was answered, one by one.
static void unread(Flood *flood, guint n)
{
    static const char request[] = "*1\r\n$4\r\nPING\r\n";
    for (guint i = 0; i < n; i++) {
        Client c = client(flood, i, 6379), server = c;
        say_syn(&c);
        for (guint asked = 0; asked < UNREAD; asked++)
            say_text(&c, request);
        flood->now_ns += BB_HOLD_WAITED_NS;
        c.packet.tcp_flags = BB_TCP_FIN | BB_TCP_ACK;
        push(flood, c.packet, NULL, 0);
        c.packet.seq++;
        for (guint heard = 0; heard < UNREAD; heard++)
            hear(&server, &c, "+PONG\r\n", 7);
        c.packet.tcp_flags = BB_TCP_RST;
        push(flood, c.packet, NULL, 0);
    }
}

static void quiet_gets(Flood *flood, guint n)
{
    pipelines(flood, n, 11211, "mg key k v q O1\r\n", 1100);
}

// One keeps as many calls open under one number as there may be, and hears of another method.
static void other_methods(Flood *flood, guint n)
{
    static const char call[] = "\0\0\0\x0e\x80\1\0\1\0\0\0\1a\0\0\0\0\0";
    static const char reply[] = "\0\0\0\x0e\x80\1\0\2\0\0\0\1b\0\0\0\0\0";
    Client c = client(flood, 0, 9090), server = c;
    say_syn(&c);
    for (guint i = 0; i < n + BB_DIALOG_OPEN_CALLS - 1; i++) {
        say(&c, call, sizeof call - 1);
        if (i >= BB_DIALOG_OPEN_CALLS - 1)
            hear(&server, &c, reply, sizeof reply - 1);
    }
}

// Each prepares a thousand statements.
static void statements(Flood *flood, guint n)
{
    for (guint i = 0; i < n; i++) {
        Client c = client(flood, i, 5432);
        say_syn(&c);
        say(&c, "\0\0\0\x10\0\3\0\0user\0a\0\0", 16);
        for (guint k = 0; k < 1000; k++) {
            char parse[] = "P\0\0\0\x18........\0SELECT 1\0\0\0S\0\0\0\4";
            char name[9];
            spell(name, k);
            memcpy(parse + 5, name, 8);
            say(&c, parse, sizeof parse - 1);
        }
    }
}

// ---- disorder -----------------------------------------------------------------------------------

// The first byte is missing, and every second segment.
static void holes(Flood *flood, guint n)
{
    guint8 data[1000] = {0};
    Client c = client(flood, 1, 80);
    say_syn(&c);
    c.packet.seq++;
    for (guint i = 0; i < n; i++) {
        say(&c, data, sizeof data);
        c.packet.seq += sizeof data;
    }
}

// Segments come in any order, before a hole that is never filled.
static void shuffled(Flood *flood, guint n)
{
    guint8 data[1000] = {0};
    Client c = client(flood, 1, 80);
    say_syn(&c);
    for (guint i = 0; i < n; i++) {
        c.packet.seq = 10 + i / 4096 * 4096 * 2000 + any(flood) % 4096 * 2000;
        say(&c, data, sizeof data);
    }
}

// Every connection lacks its first byte.
static void many_holes(Flood *flood, guint n)
{
    guint8 data[1000] = {0};
    for (guint i = 0; i < n; i++) {
        Client c = client(flood, i, 80);
        say_syn(&c);
        c.packet.seq++;
        for (guint k = 0; k < 8; k++)
            say(&c, data, sizeof data);
    }
    g_assert(bb_shards_held_bytes(flood->shards) <= BB_CAPTURE_HELD_BYTES);
}

// ---- endless messages ---------------------------------------------------------------------------

static void endless(Flood *flood, guint n, guint16 port, const char *start, gsize start_length,
                    gsize step)
{
    g_autofree char *more = g_strnfill(step, '1');
    for (guint sent = 0; sent < n;) {
        Client c = client(flood, sent, port);
        say_syn(&c);
        say(&c, start, start_length);
        for (guint i = 0; i < 60000 && sent < n; i++, sent++)
            say(&c, more, step);
    }
}

#define TEXT(text) text, sizeof(text) - 1

// What decoders wait for the end of.
static void endless_messages(Flood *flood, guint n, gsize step)
{
    endless(flood, n, 80, TEXT("GET /"), step);
    endless(flood, n, 81, TEXT("GET / HTTP/1.1\r\nContent-Length: "), step);
    endless(flood, n, 82, TEXT("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), step);
    endless(flood, n, 83, TEXT("HTTP/1.1 200 "), step);
    endless(flood, n, 6379, TEXT("GET a"), step);
    endless(flood, n, 6380, TEXT("*2\r\n$3\r\nGET\r\n$"), step);
    endless(flood, n, 6381, TEXT("*1\r\n$4\r\nPING\r\nGET "), step);
    endless(flood, n, 11211, TEXT("get key"), step);
    endless(flood, n, 5432, TEXT("Q\0\1\0\0SELECT "), step);
    endless(flood, n, 53, TEXT("\x1f\xff\0\1\1\0\0\1\0\0\0\0\0\0\1a"), step);
}

static void endless_lines(Flood *flood, guint n)
{
    endless_messages(flood, n, MSS);
}

// The same by single bytes: the cost of one must not grow with those that wait.
static void byte_by_byte(Flood *flood, guint n)
{
    endless_messages(flood, n, 1);
}

// ---- many names ---------------------------------------------------------------------------------

static void paths(Flood *flood, guint n)
{
    char name[9], request[64];
    Client c = client(flood, 1, 80);
    say_syn(&c);
    for (guint i = 0; i < n; i++) {
        spell(name, i);
        int length = g_snprintf(request, sizeof request, "GET /%s HTTP/1.1\r\n\r\n", name);
        say(&c, request, (gsize)length);
    }
}

// A query for a different name, from a different host, to a different server.
static void hosts(Flood *flood, guint n)
{
    for (guint i = 0; i < n; i++) {
        guint8 query[] = "..\1\0\0\1\0\0\0\0\0\0\10........\3com\0\0\1\0";
        char name[9];
        spell(name, i);
        memcpy(query + 13, name, 8);
        Client c = client(flood, i, 53);
        c.packet.transport = BB_TRANSPORT_UDP;
        c.packet.target = host(i + 0x800000);
        push(flood, c.packet, query, sizeof query);
    }
}

// Answers that name a million addresses.
static void answers(Flood *flood, guint n)
{
    for (guint i = 0; i < n; i++) {
        guint8 answer[] = "\0\1\x81\x80\0\1\0\1\0\0\0\0\10........\3com\0\0\1\0\1"
                          "\xc0\x0c\0\1\0\1\0\0\0\1\0\4....";
        char name[9];
        spell(name, i);
        memcpy(answer + 13, name, 8);
        BbAddress address = host(i);
        memcpy(answer + sizeof answer - 5, address.bytes + 12, 4);
        Client c = client(flood, 1, 4000);
        c.packet.transport = BB_TRANSPORT_UDP;
        c.packet.source_port = 53;
        push(flood, c.packet, answer, sizeof answer - 1);
    }
}

static void udp_scan(Flood *flood, guint n)
{
    for (guint i = 0; i < n; i++)
        datagram(flood, any(flood) & 0xffff, (guint16)any(flood), (guint16)any(flood), "hello", 5);
}

// ---- fragments ----------------------------------------------------------------------------------

// offset in units of 8 bytes.
static void fragment(Flood *flood, guint32 id, guint offset, guint length)
{
    guint8 data[20 + 1480] = {0x45, 0, 0, 0, 0, 0, 0x20, 0, 64, 17};
    guint total = 20 + length;
    data[2] = (guint8)(total >> 8);
    data[3] = (guint8)total;
    data[4] = (guint8)(id >> 8);
    data[5] = (guint8)id;
    data[6] = (guint8)(0x20 | offset >> 8);
    data[7] = (guint8)offset;
    data[12] = 10;
    data[13] = (guint8)(id >> 16);
    data[16] = 192;
    BbFrame frame = {.data = data, .captured = total, .length = total, .link_type = RAW_IP};
    flood->packets++;
    flood->now_ns += 1000;
    frame.time_ns = flood->now_ns;
    g_assert(bb_shards_frame(flood->shards, &frame, NULL));
}

static void fragments(Flood *flood, guint n)
{
    for (guint i = 0; i < n; i++)
        fragment(flood, i, i % 2 ? 0 : 185, 1480);
}

// Of 8 bytes each, from the packet's end to its beginning, which never comes.
static void tiny_fragments(Flood *flood, guint n)
{
    for (guint i = 0; i < n; i++)
        fragment(flood, i / 8000, 8100 - i % 8000, 8);
}

// ---- running ------------------------------------------------------------------------------------

typedef struct Scenario {
    const char *name;
    void (*run)(Flood *flood, guint n);
    guint n;
    BbLossKind told;  // the counter that tells of it
    guint64 at_least; // what it counts; 0: no more than something
} Scenario;

static const Scenario scenarios[] = {
    {"syn_flood", syn_flood, 1000000, BB_SEEN_CONNECTIONS, 900000},
    {"half_headers", half_headers, 100000, BB_TCP_BUFFER_LIMIT, 1000},
    {"silent_http", silent_http, 1000000, BB_EVICTED_CONNECTIONS, 900000},
    {"silent_redis", silent_redis, 1000000, BB_EVICTED_CONNECTIONS, 900000},
    {"strangers", strangers, 1000000, BB_EVICTED_CONNECTIONS, 900000},
    {"deep_pipeline", deep_pipeline, 2000000, BB_PENDING_LIMIT, 1900000},
    {"deep_pipelines", deep_pipelines, 5000, BB_PENDING_LIMIT, 1},
    {"unread", unread, 60, BB_RETURNS_UNREAD, 60 * UNREAD},
    {"quiet_gets", quiet_gets, 5000, BB_FREES, 1},
    {"other_methods", other_methods, 1200000, BB_RETURNS, 1200000},
    {"statements", statements, 2000, BB_CALLS, 1900000},
    {"holes", holes, 1000000, BB_TCP_BUFFER_LIMIT, 1},
    {"shuffled", shuffled, 1000000, BB_TCP_BUFFER_LIMIT, 1},
    {"many_holes", many_holes, 100000, BB_TCP_BUFFER_LIMIT, 1000},
    {"endless_lines", endless_lines, 200000, BB_MESSAGE_LIMIT, 1},
    {"byte_by_byte", byte_by_byte, 240000, BB_SEEN_CONNECTIONS, 40},
    {"paths", paths, 1000000, BB_LABEL_LIMIT, 900000},
    {"hosts", hosts, 1000000, BB_LABEL_LIMIT, 900000},
    {"answers", answers, 1000000, BB_RETURNS_ORPHANED, 1000000},
    {"udp_scan", udp_scan, 1000000, BB_FREES, 1000000},
    {"fragments", fragments, 1000000, BB_FRAGMENT_LOST, 400000},
    {"tiny_fragments", tiny_fragments, 1000000, BB_FRAGMENT_LOST, 100},
};

static bool write_message(const BbMessage *message, gpointer user, GError **error)
{
    return bb_trace_writer_push(user, message, error);
}

static bool order_message(const BbMessage *message, gpointer user, GError **error)
{
    return bb_order_push(user, message, error);
}

static void flood_begin(Flood *flood, guint threads)
{
    BbCaptureOptions options = bb_capture_options_default();
    *flood = (Flood){.now_ns = G_GINT64_CONSTANT(1000000000000), .random = 1};
    flood->names = bb_names_new();
    flood->nodes = bb_nodes_new(flood->names, true);
    flood->writer = bb_trace_writer_open("/dev/null", BB_TRACE_TEXT, flood->names, NULL);
    flood->order = bb_order_new(ORDER_WINDOW, write_message, flood->writer);
    flood->shards = bb_shards_new(&options, threads, true, flood->names, flood->nodes, &flood->loss,
                                  (BbShardsOutput){.sink = order_message, .user = flood->order});
}

static void flood_end(Flood *flood)
{
    g_assert(bb_shards_finish(flood->shards, NULL));
    g_assert(bb_order_drain(flood->order, NULL));
    g_assert(bb_shards_held_bytes(flood->shards) == 0);
    const guint64 *count = flood->loss.count;
    g_assert(count[BB_RETURNS] + count[BB_CALLS_UNRETURNED] ==
             count[BB_CALLS] + count[BB_RETURNS_ORPHANED]);
    bb_shards_free(flood->shards);
    bb_order_free(flood->order);
    bb_trace_writer_free(flood->writer);
    bb_nodes_free(flood->nodes);
    bb_names_free(flood->names);
}

// VmHWM: the most memory that was resident.
static guint peak_kb(void)
{
    g_autofree char *status = NULL;
    g_assert(g_file_get_contents("/proc/self/status", &status, NULL, NULL));
    const char *line = strstr(status, "VmHWM:");
    return line ? (guint)g_ascii_strtoull(line + 6, NULL, 10) : 0;
}

typedef struct Options {
    guint threads, part;
} Options;

static bool run_here(const Scenario *scenario, const Options *options)
{
    Flood flood;
    guint part = TEST_SANITIZED ? SCALED_DOWN : options->part;
    guint64 at_least = part > 1 ? MAX(scenario->at_least / part / 2, 1) : scenario->at_least;
    flood_begin(&flood, options->threads);
    scenario->run(&flood, MAX(scenario->n / part, 1));
    flood_end(&flood);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    double seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                     (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    guint peak = peak_kb();
    guint64 told = flood.loss.count[scenario->told];
    bool good = TEST_SANITIZED || (peak <= PEAK_KB && told >= at_least && seconds < SECONDS);
    printf("%-20s %9" G_GUINT64_FORMAT " packets  %6.1f s  %4u MB  %s %" G_GUINT64_FORMAT "%s\n",
           scenario->name, flood.packets, seconds, peak / 1024, bb_loss_name(scenario->told), told,
           good ? "" : "  TOO MUCH");
    fflush(stdout);
    return good;
}

static bool run_apart(const Scenario *scenario, const Options *options)
{
    int status = 0;
    pid_t pid = fork();
    g_assert(pid >= 0);
    if (pid == 0)
        exit(run_here(scenario, options) ? EXIT_SUCCESS : EXIT_FAILURE);
    g_assert(waitpid(pid, &status, 0) == pid);
    if (WIFSIGNALED(status))
        printf("%-20s ended by signal %d\n", scenario->name, WTERMSIG(status));
    return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

static bool is_wanted(const char *name, char **wanted)
{
    return !*wanted || g_strv_contains((const char *const *)wanted, name);
}

int main(int argc, char **argv)
{
    bool good = argc > 0;
    Options options = {1, 1};
    for (; argc > 2 && g_str_has_prefix(argv[1], "--"); argv += 2, argc -= 2) {
        guint *option = strcmp(argv[1], "--threads") == 0 ? &options.threads : &options.part;
        *option = (guint)MAX(atoi(argv[2]), 1);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(scenarios); i++)
        if (is_wanted(scenarios[i].name, argv + 1))
            good = run_apart(&scenarios[i], &options) && good;
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
