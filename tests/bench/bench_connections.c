// SPDX-License-Identifier: Apache-2.0
// Very many TCP connections at once, each with a call open, which are all answered in the end. Out:
// memory of this process per connection, and what was counted: evictions where the limit is lower.
//   bench_connections [CONNECTIONS [LIMIT]]       1000000, and as many
#include "capture/capture.h"
#include "tests/bench/measure.h"

#include <stdio.h>
#include <stdlib.h>

#define REQUEST "GET /orders/4711 HTTP/1.1\r\nHost: shop.example\r\nAccept: */*\r\n\r\n"
#define REPLY "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define SERVERS 20u
#define PORTS 50000u // a client's, so that few hosts need names

static bool count_pair(const BbMessage *message, gpointer user, GError **error)
{
    *(guint64 *)user += message->kind == BB_RETURN && bb_id_is_known(message->id);
    return true;
}

// One packet of connection number; up: by the client.
static void say(BbCapture *capture, guint number, bool up, guint8 flags, guint32 seq, guint32 ack,
                const char *text)
{
    static gint64 time_ns = G_GINT64_CONSTANT(1700000000) * 1000000000;
    time_ns += 1000;
    guint host = number / PORTS;
    guint8 client[4] = {10, 0, (guint8)(host >> 8), (guint8)host};
    guint8 server[4] = {10, 1, 0, (guint8)(1 + number % SERVERS)};
    guint16 port = (guint16)(10000 + number % PORTS);
    BbPacket packet = {
        .time_ns = time_ns,
        .source = bb_address_v4(up ? client : server),
        .target = bb_address_v4(up ? server : client),
        .source_port = up ? port : 80,
        .target_port = up ? 80 : port,
        .transport = BB_TRANSPORT_TCP,
        .tcp_flags = flags,
        .seq = seq,
        .ack = ack,
        .ip_id = (guint16)(time_ns / 1000),
        .payload = (const guint8 *)text,
        .captured = (guint32)strlen(text),
        .length = (guint32)strlen(text),
    };
    if (!bb_capture_packet(capture, &packet, NULL))
        abort();
}

static void open_call(BbCapture *capture, guint number)
{
    say(capture, number, true, BB_TCP_SYN, 1000, 0, "");
    say(capture, number, false, BB_TCP_SYN | BB_TCP_ACK, 5000, 1001, "");
    say(capture, number, true, BB_TCP_ACK, 1001, 5001, REQUEST);
}

static void answer(BbCapture *capture, guint number)
{
    guint32 ack = 1001 + (guint32)strlen(REQUEST);
    say(capture, number, false, BB_TCP_ACK, 5001, ack, REPLY);
    say(capture, number, true, BB_TCP_FIN | BB_TCP_ACK, ack, 5001 + (guint32)strlen(REPLY), "");
    say(capture, number, false, BB_TCP_FIN | BB_TCP_ACK, 5001 + (guint32)strlen(REPLY), ack + 1,
        "");
}

int main(int argc, char **argv)
{
    guint connections = argc > 1 ? (guint)atoi(argv[1]) : 1000000;
    guint64 pairs = 0;
    BbLoss loss = {0};
    BbCaptureOptions options = bb_capture_options_default();
    options.max_connections = argc > 2 ? (guint)atoi(argv[2]) : connections;
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    g_autoptr(BbCapture) capture =
        bb_capture_new(&options, names, nodes, &loss, count_pair, &pairs);
    double before_kb = status_kb("VmRSS:");
    for (guint i = 0; i < connections; i++)
        open_call(capture, i);
    double all_kb = status_kb("VmRSS:"), cpu = cpu_seconds();
    guint remembered = bb_capture_connections(capture);
    for (guint i = 0; i < connections; i++)
        answer(capture, i);
    if (!bb_capture_finish(capture, NULL))
        abort();
    printf("connections, limit       %9u %9u\n", connections, options.max_connections);
    printf("remembered at once       %9u\n", remembered);
    printf("memory, peak             %9.0f %9.0f MB\n", all_kb / 1024, status_kb("VmHWM:") / 1024);
    printf("of a connection          %9.0f bytes\n",
           (all_kb - before_kb) * 1024 / MAX(remembered, 1));
    printf("opened a CPU second      %9.0f, closed %.0f\n", connections / cpu,
           connections / (cpu_seconds() - cpu));
    printf("pairs                    %9" G_GUINT64_FORMAT "\n", pairs);
    for (guint i = 0; i < BB_LOSS_COUNT; i++)
        if (loss.count[i] && bb_loss_is_loss((BbLossKind)i))
            printf("%-24s %9" G_GUINT64_FORMAT "\n", bb_loss_name((BbLossKind)i), loss.count[i]);
    return EXIT_SUCCESS;
}
