// SPDX-License-Identifier: Apache-2.0
// Servers that handshakes have shown: known as of any packet, forgotten at a limit; who calls in
// connections that are joined in the middle, whatever the number of threads.
#include "capture/servers.h"
#include "capture/shards.h"
#include "data/random.h"
#include "tests/unit/test.h"

#define HIGH_PORT 50443u
#define THREADS_MOST 4u

static BbPacket packet_of(guint client, guint server, bool up, guint8 flags)
{
    const BbAddress ends[2] = {
        bb_address_v4((const guint8[]){10, 1, (guint8)(client >> 8), (guint8)client}),
        bb_address_v4((const guint8[]){10, 2, (guint8)(server >> 8), (guint8)server})};
    return (BbPacket){
        .source = ends[!up],
        .target = ends[up],
        .source_port = up ? 40000 : HIGH_PORT,
        .target_port = up ? HIGH_PORT : 40000,
        .transport = BB_TRANSPORT_TCP,
        .tcp_flags = flags,
        .seq = up ? 1 : 1001,
        .ack = up ? 1001 : 1,
    };
}

static guint64 learn(BbServers *servers, guint server)
{
    BbPacket packet = packet_of(1, server, false, BB_TCP_SYN | BB_TCP_ACK);
    packet.source_port = (guint16)(server >> 16);
    return bb_servers_learn(servers, &packet);
}

static bool knows(BbServers *servers, guint server, guint64 learned)
{
    BbPacket packet = packet_of(1, server, false, 0);
    return bb_servers_know(servers, &packet.source, (guint16)(server >> 16), learned);
}

START_TEST(who_answers_a_syn_serves)
{
    BbLoss loss = {0};
    g_autoptr(BbServers) servers = bb_servers_new(&loss);
    BbPacket syn = packet_of(1, 0, true, BB_TCP_SYN), data = packet_of(1, 0, false, BB_TCP_ACK);
    ck_assert(!knows(servers, 0, 0));
    ck_assert_uint_eq(bb_servers_learn(servers, &syn), 0);
    ck_assert_uint_eq(bb_servers_learn(servers, &data), 0);
    ck_assert_uint_eq(learn(servers, 7), 1);
    ck_assert_uint_eq(learn(servers, 7), 1);
    ck_assert_uint_eq(learn(servers, 8), 2);
    ck_assert(knows(servers, 7, 1) && knows(servers, 7, 2) && knows(servers, 8, 2));
    ck_assert(!knows(servers, 7, 0) && !knows(servers, 8, 1)); // not yet, for who asks as of then
}
END_TEST

// The oldest goes, but who is behind still knows it; it is learned again.
START_TEST(servers_have_a_limit)
{
    BbLoss loss = {0};
    g_autoptr(BbServers) servers = bb_servers_new(&loss);
    for (guint i = 0; i < BB_SERVERS; i++)
        ck_assert_uint_eq(learn(servers, i), i + 1);
    ck_assert_uint_eq(loss.count[BB_SERVERS_FORGOTTEN], 0);
    ck_assert_uint_eq(learn(servers, BB_SERVERS), BB_SERVERS + 1);
    ck_assert_uint_eq(loss.count[BB_SERVERS_FORGOTTEN], 1);
    ck_assert(knows(servers, 0, BB_SERVERS) && !knows(servers, 0, BB_SERVERS + 1));
    ck_assert_uint_eq(learn(servers, 0), BB_SERVERS + 2);
    ck_assert(knows(servers, 0, BB_SERVERS) && !knows(servers, 0, BB_SERVERS + 1));
    ck_assert(knows(servers, 0, BB_SERVERS + 2) && !knows(servers, 1, BB_SERVERS + 2));
    for (guint i = 0; i < 3 * BB_SERVERS; i++)
        (void)learn(servers, BB_SERVERS + i);
    guint64 learned = learn(servers, BB_SERVERS);
    ck_assert(!knows(servers, 0, learned) && knows(servers, 4 * BB_SERVERS - 1, learned));
    ck_assert_uint_eq(loss.count[BB_SERVERS_FORGOTTEN], learned - BB_SERVERS);
}
END_TEST

// ---- who calls ----------------------------------------------------------------------------------

static bool tell(const BbMessage *message, gpointer user, GError **error)
{
    g_string_append_printf(user, "%c%" G_GUINT64_FORMAT " ", "cr-"[message->kind],
                           message -> bytes);
    return true;
}

typedef struct Told {
    BbNames *names;
    BbNodes *nodes;
    BbLoss loss;
    GString *text;
} Told;

static void told_begin(Told *told)
{
    *told = (Told){.names = bb_names_new(), .text = g_string_new(NULL)};
    told->nodes = bb_nodes_new(told->names, false);
}

static void told_end(Told *told)
{
    bb_nodes_free(told->nodes);
    bb_names_free(told->names);
    g_string_free(told->text, TRUE);
}

// The n-th packet of many hosts: of a server's handshake, or of a connection joined in the middle,
// in which the server is heard first.
static BbPacket nth_packet(guint n, BbRandom *random)
{
    guint server = (guint)bb_random_below(random, 50), step = n % 3;
    guint8 shakes = BB_TCP_SYN | BB_TCP_ACK;
    bool shows = step == 0 && bb_random_below(random, 4) == 0;
    BbPacket packet = packet_of(shows ? 9999 : n / 3, shows ? server : n / 3 % 50, step == 1,
                                shows ? shakes : BB_TCP_ACK);
    packet.time_ns = (gint64)(n + 1) * 1000000;
    packet.ip_id = (guint16)n;
    if (!shows) {
        packet.payload = (const guint8 *)"12345678";
        packet.captured = packet.length = 5 + step;
    }
    if (step == 2) { // the answer
        packet.seq += 5;
        packet.ack += 6;
    }
    return packet;
}

#define PACKETS 60000u

static void run(Told *told, guint32 seed, guint threads)
{
    BbRandom random = bb_random_start(seed);
    BbCaptureOptions options = bb_capture_options_default();
    told_begin(told);
    g_autoptr(BbCapture) twin =
        bb_capture_new(&options, told->names, told->nodes, &told->loss, tell, told->text);
    g_autoptr(BbShards) shards =
        bb_shards_new(&options, MAX(threads, 1), false, told->names, told->nodes, &told->loss,
                      (BbShardsOutput){.sink = tell, .user = told->text});
    for (guint n = 0; n < PACKETS; n++) {
        BbPacket packet = nth_packet(n, &random);
        ck_assert(threads ? bb_shards_packet(shards, &packet, NULL)
                          : bb_capture_packet(twin, &packet, NULL));
    }
    ck_assert(threads ? bb_shards_finish(shards, NULL) : bb_capture_finish(twin, NULL));
}

START_TEST(joined_in_the_middle)
{
    guint32 seed = test_seed("servers");
    Told twin;
    run(&twin, seed, 0);
    ck_assert_ptr_nonnull(strstr(twin.text->str, "-5 "));    // what the server says first
    ck_assert_ptr_nonnull(strstr(twin.text->str, "c6 r7 ")); // and then a call
    for (guint threads = 1; threads <= THREADS_MOST; threads++) {
        Told told;
        run(&told, seed, threads);
        ck_assert_str_eq(told.text->str, twin.text->str);
        told_end(&told);
    }
    told_end(&twin);
}
END_TEST

TEST_MAIN("servers", who_answers_a_syn_serves, servers_have_a_limit, joined_in_the_middle)
