// SPDX-License-Identifier: Apache-2.0
// Following: who joins the set, when, and which packets are kept. At the end, random traffic
// against a plain account of the rule.
#include "tests/unit/test.h"

#include "capture/follow.h"

typedef struct Scene {
    BbLoss loss;
    BbFollow *follow;
    gint64 now_ns;
} Scene;

static BbFollowEnd end_of(const char *word)
{
    g_autofree char *text = g_strdup(word);
    char *address = NULL;
    BbFollowEnd end = {.any_address = *word == ':'};
    const char *port = end.any_address ? word + 1 : bb_address_split_port(text, &address);
    if (port)
        end.port = (guint16)g_ascii_strtoull(port, NULL, 10);
    ck_assert(end.any_address || bb_address_parse(address, &end.address));
    return end;
}

// others: NULL, or one that is not followed.
static void scene_begin(Scene *scene, guint hops, const char *entrance, const char *others)
{
    const BbFollowEnd first = end_of(entrance);
    const BbFollowEnd other = others ? end_of(others) : (BbFollowEnd){0};
    const BbFollowOptions options = {&first, 1, &other, others != NULL, hops};
    *scene = (Scene){.now_ns = 1000};
    scene->follow = bb_follow_new(&options, &scene->loss);
}

static void scene_end(Scene *scene)
{
    bb_follow_free(scene->follow);
}

static bool give(Scene *scene, BbTransport transport, const char *from, const char *to,
                 guint8 flags, guint32 length)
{
    const BbFollowEnd source = end_of(from), target = end_of(to);
    const BbPacket packet = {.time_ns = ++scene->now_ns,
                             .source = source.address,
                             .source_port = source.port,
                             .target = target.address,
                             .target_port = target.port,
                             .transport = transport,
                             .tcp_flags = flags,
                             .length = length};
    return bb_follow_take(scene->follow, &packet);
}

static bool syn(Scene *scene, const char *from, const char *to)
{
    return give(scene, BB_TRANSPORT_TCP, from, to, BB_TCP_SYN, 0);
}

static bool synack(Scene *scene, const char *from, const char *to)
{
    return give(scene, BB_TRANSPORT_TCP, from, to, BB_TCP_SYN | BB_TCP_ACK, 0);
}

static bool data(Scene *scene, const char *from, const char *to)
{
    return give(scene, BB_TRANSPORT_TCP, from, to, BB_TCP_ACK, 10);
}

static bool datagram(Scene *scene, const char *from, const char *to)
{
    return give(scene, BB_TRANSPORT_UDP, from, to, 0, 10);
}

// The set in words: "10.0.0.20 10.0.0.31/1 ...": hops above 0 behind the address.
static void check_set(const Scene *scene, const char *words)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < bb_follow_count(scene->follow); i++) {
        const BbFollowNode *node = bb_follow_at(scene->follow, i);
        char address[BB_ADDRESS_TEXT];
        bb_address_format(&node->address, address);
        g_string_append_printf(text, "%s%s", i ? " " : "", address);
        if (node->hop)
            g_string_append_printf(text, "/%u", node->hop);
    }
    ck_assert_str_eq(text->str, words);
}

// ---- whom ---------------------------------------------------------------------------------------

START_TEST(entrance_does_not_pull_in_its_clients)
{
    Scene scene;
    scene_begin(&scene, 8, "10.0.0.20:443", NULL);
    ck_assert(syn(&scene, "10.9.0.1:50000", "10.0.0.20:443"));
    ck_assert(synack(&scene, "10.0.0.20:443", "10.9.0.1:50000"));
    ck_assert(data(&scene, "10.9.0.1:50000", "10.0.0.20:443"));
    ck_assert(data(&scene, "10.0.0.20:443", "10.9.0.1:50000"));
    ck_assert(data(&scene, "10.0.0.20:443", "10.9.0.2:200")); // joined in the middle, a low port
    ck_assert(datagram(&scene, "10.0.0.20:443", "10.9.0.3:200")); // QUIC
    ck_assert(!data(&scene, "10.9.0.1:50000", "10.9.0.2:80"));
    check_set(&scene, "10.0.0.20");
    ck_assert_uint_eq(scene.loss.count[BB_NOT_FOLLOWED], 1);
    scene_end(&scene);
}
END_TEST

START_TEST(other_ports_of_an_entrance_are_not_it)
{
    Scene scene;
    scene_begin(&scene, 8, "10.0.0.20:443", NULL);
    ck_assert(!syn(&scene, "10.9.0.1:2000", "10.0.0.20:3000"));
    ck_assert(!synack(&scene, "10.0.0.20:3000", "10.9.0.1:2000"));
    ck_assert(!data(&scene, "10.9.0.1:2000", "10.0.0.20:3000")); // though 2000 is the lower port
    ck_assert(!data(&scene, "10.0.0.20:3000", "10.9.0.1:2000"));
    check_set(&scene, "10.0.0.20");
    scene_end(&scene);
    scene_begin(&scene, 8, "10.0.0.20", NULL);
    ck_assert(syn(&scene, "10.9.0.1:2000", "10.0.0.20:3000"));
    ck_assert(synack(&scene, "10.0.0.20:3000", "10.9.0.1:2000"));
    ck_assert(data(&scene, "10.0.0.20:3000", "10.9.0.1:2000"));
    check_set(&scene, "10.0.0.20");
    scene_end(&scene);
}
END_TEST

START_TEST(calls_are_followed_at_their_first_packet)
{
    Scene scene;
    scene_begin(&scene, 8, "10.0.0.20:443", NULL);
    ck_assert(!syn(&scene, "10.0.0.31:50000", "10.0.0.41:5432")); // nobody knows it yet
    ck_assert(syn(&scene, "10.0.0.20:40000", "10.0.0.31:8000"));
    ck_assert_int_eq(bb_follow_at(scene.follow, 1)->since_ns, scene.now_ns);
    ck_assert_uint_eq(bb_follow_at(scene.follow, 1)->port, 8000);
    ck_assert(syn(&scene, "10.0.0.31:50001", "10.0.0.41:5432"));
    ck_assert(data(&scene, "10.0.0.31:50000", "10.0.0.41:5432")); // from now on
    ck_assert(syn(&scene, "10.0.0.32:50000", "10.0.0.41:5432"));  // another caller of it
    ck_assert(data(&scene, "10.0.0.41:5432", "10.0.0.32:50000"));
    ck_assert(!syn(&scene, "10.0.0.32:50001", "10.0.0.42:80")); // who is not followed for that
    check_set(&scene, "10.0.0.20 10.0.0.31/1 10.0.0.41/2");
    scene_end(&scene);
}
END_TEST

START_TEST(the_direction_of_the_caller_is_enough)
{
    Scene scene;
    scene_begin(&scene, 8, "10.0.0.20:443", NULL);
    ck_assert(data(&scene, "10.0.0.20:40000", "10.0.0.31:8000"));
    check_set(&scene, "10.0.0.20 10.0.0.31/1");
    scene_end(&scene);
}
END_TEST

// Whoever sends something to a followed host must not get into the set by that.
START_TEST(strangers_make_nobody_followed)
{
    Scene scene;
    scene_begin(&scene, 8, "10.0.0.20:443", NULL);
    (void)synack(&scene, "203.0.113.7:80", "10.0.0.20:50000");
    (void)synack(&scene, "203.0.113.8:80", "10.0.0.20:443");
    (void)data(&scene, "203.0.113.9:80", "10.0.0.20:50001");
    (void)datagram(&scene, "203.0.113.10:80", "10.0.0.20:50000");
    check_set(&scene, "10.0.0.20");
    ck_assert(data(&scene, "203.0.113.8:80", "10.0.0.20:443")); // who said before that it serves
    ck_assert(data(&scene, "10.0.0.20:443", "203.0.113.8:80"));
    check_set(&scene, "10.0.0.20");
    for (guint i = 0; i < BB_FOLLOW_NODES; i++) {
        g_autofree char *from = g_strdup_printf("198.18.%u.%u:80", i >> 8, i & 255);
        (void)synack(&scene, from, "10.0.0.20:443");
        (void)datagram(&scene, from, "10.0.0.20:50000");
    }
    ck_assert(syn(&scene, "10.0.0.20:40000", "10.0.0.31:8000"));
    check_set(&scene, "10.0.0.20 10.0.0.31/1");
    ck_assert_uint_eq(scene.loss.count[BB_FOLLOW_LIMIT], 0);
    scene_end(&scene);
}
END_TEST

START_TEST(joined_in_the_middle)
{
    Scene scene;
    scene_begin(&scene, 8, "10.0.0.20:443", NULL);
    ck_assert(give(&scene, BB_TRANSPORT_TCP, "10.0.0.20:40000", "10.0.0.30:8000", BB_TCP_ACK, 0));
    ck_assert(give(&scene, BB_TRANSPORT_TCP, "10.0.0.20:40000", "10.0.0.30:8000", BB_TCP_RST, 0));
    check_set(&scene, "10.0.0.20"); // what carries nothing may be the end of something old
    ck_assert(data(&scene, "10.0.0.31:8000", "10.0.0.20:40000")); // the answer first
    check_set(&scene, "10.0.0.20");
    ck_assert(data(&scene, "10.0.0.20:40000", "10.0.0.31:8000"));
    check_set(&scene, "10.0.0.20 10.0.0.31/1");
    ck_assert(data(&scene, "10.0.0.31:9000", "10.9.0.1:40000")); // whom 10.0.0.31 serves
    check_set(&scene, "10.0.0.20 10.0.0.31/1");
    ck_assert(data(&scene, "10.0.0.31:50000", "10.0.0.41:50001")); // the lower port serves
    check_set(&scene, "10.0.0.20 10.0.0.31/1");
    ck_assert(data(&scene, "10.0.0.31:50001", "10.0.0.42:50000"));
    check_set(&scene, "10.0.0.20 10.0.0.31/1 10.0.0.42/2");
    ck_assert(syn(&scene, "10.9.0.2:1024", "10.0.0.31:60000"));
    ck_assert(synack(&scene, "10.0.0.31:60000", "10.9.0.2:1024")); // a handshake knows better
    ck_assert(data(&scene, "10.0.0.31:60000", "10.9.0.2:1024"));
    ck_assert(data(&scene, "10.0.0.31:60000", "10.9.0.3:1024")); // and tells of the next one
    check_set(&scene, "10.0.0.20 10.0.0.31/1 10.0.0.42/2");
    scene_end(&scene);
}
END_TEST

START_TEST(datagrams)
{
    Scene scene;
    scene_begin(&scene, 8, "10.0.0.20:443", NULL);
    ck_assert(datagram(&scene, "10.0.0.20:9000", "10.0.0.31:8125")); // whoever begins calls
    ck_assert(datagram(&scene, "10.0.0.31:8125", "10.0.0.20:9000"));
    check_set(&scene, "10.0.0.20 10.0.0.31/1");
    ck_assert(datagram(&scene, "10.9.0.1:7000", "10.0.0.31:9999"));
    ck_assert(datagram(&scene, "10.0.0.31:9999", "10.9.0.1:7000")); // an answer
    check_set(&scene, "10.0.0.20 10.0.0.31/1");
    ck_assert(datagram(&scene, "10.0.0.20:40000", "239.255.255.250:1900"));
    ck_assert(datagram(&scene, "10.0.0.20:40000", "255.255.255.255:1900"));
    ck_assert(!datagram(&scene, "10.9.0.9:40000", "239.255.255.250:1900"));
    check_set(&scene, "10.0.0.20 10.0.0.31/1");
    scene_end(&scene);
}
END_TEST

// An address that only gets datagrams may be that of a network's broadcast.
START_TEST(whom_datagrams_go_to_is_followed_when_it_sends)
{
    Scene scene;
    scene_begin(&scene, 8, "10.0.0.20:443", NULL);
    ck_assert(datagram(&scene, "10.0.0.20:40000", "10.0.0.255:6666"));
    ck_assert(!datagram(&scene, "10.0.0.99:40000", "10.0.0.255:6666"));
    ck_assert(datagram(&scene, "10.0.0.20:40000", "10.0.0.31:8125"));
    ck_assert(datagram(&scene, "10.0.0.20:40000", "10.0.0.32:8125"));
    check_set(&scene, "10.0.0.20");
    ck_assert_uint_eq(bb_follow_address_count(scene.follow), 4); // which the kernel lets through
    ck_assert(syn(&scene, "10.0.0.31:50000", "10.0.0.41:5432")); // its first packet: a call
    check_set(&scene, "10.0.0.20 10.0.0.31/1 10.0.0.41/2");
    ck_assert_int_eq(bb_follow_at(scene.follow, 1)->since_ns, scene.now_ns);
    ck_assert_uint_eq(bb_follow_at(scene.follow, 1)->port, 8125);
    ck_assert(syn(&scene, "10.0.0.20:40000", "10.0.0.32:8000")); // nobody calls a network by TCP
    check_set(&scene, "10.0.0.20 10.0.0.31/1 10.0.0.41/2 10.0.0.32/1");
    ck_assert_uint_eq(bb_follow_address_count(scene.follow), 5);
    scene_end(&scene);
}
END_TEST

START_TEST(a_shorter_way_to_who_has_not_sent)
{
    Scene scene;
    scene_begin(&scene, 3, "10.0.0.20:443", NULL);
    ck_assert(syn(&scene, "10.0.0.20:40000", "10.0.0.31:8000"));
    ck_assert(datagram(&scene, "10.0.0.31:40000", "10.0.0.41:8125"));
    ck_assert(datagram(&scene, "10.0.0.20:40000", "10.0.0.41:8125"));
    ck_assert(datagram(&scene, "10.0.0.41:8125", "10.0.0.20:40000"));
    check_set(&scene, "10.0.0.20 10.0.0.31/1 10.0.0.41/1");
    scene_end(&scene);
}
END_TEST

START_TEST(what_all_share_is_not_followed)
{
    Scene scene;
    scene_begin(&scene, 8, "10.0.0.20:443", "10.0.0.7:6000");
    ck_assert(datagram(&scene, "10.0.0.20:40000", "10.0.0.2:53"));
    ck_assert(datagram(&scene, "10.0.0.2:53", "10.0.0.20:40000"));
    ck_assert(!datagram(&scene, "10.0.0.2:40000", "192.0.2.1:53")); // what it asks others
    ck_assert(!datagram(&scene, "10.9.0.1:40000", "10.0.0.2:53"));  // who else asks it
    ck_assert(syn(&scene, "10.0.0.20:40000", "10.0.0.7:6000"));
    check_set(&scene, "10.0.0.20");
    ck_assert(syn(&scene, "10.0.0.20:40000", "10.0.0.7:6001"));
    check_set(&scene, "10.0.0.20 10.0.0.7/1");
    scene_end(&scene);
    scene_begin(&scene, 8, "10.0.0.20:443", ":6000");
    ck_assert(syn(&scene, "10.0.0.20:40000", "10.0.0.8:6000"));
    check_set(&scene, "10.0.0.20");
    scene_end(&scene);
}
END_TEST

// ---- how far
// --------------------------------------------------------------------------------------

START_TEST(the_last_hop_is_only_called)
{
    Scene scene;
    scene_begin(&scene, 2, "10.0.0.20:443", NULL);
    ck_assert(syn(&scene, "10.0.0.20:40000", "10.0.0.31:8000"));
    ck_assert(syn(&scene, "10.0.0.31:40000", "10.0.0.41:5432"));
    ck_assert(data(&scene, "10.0.0.41:5432", "10.0.0.31:40000"));
    ck_assert(!syn(&scene, "10.0.0.41:40000", "10.0.0.51:80"));
    ck_assert(!syn(&scene, "10.0.0.32:40000", "10.0.0.41:5432"));
    check_set(&scene, "10.0.0.20 10.0.0.31/1");
    scene_end(&scene);
}
END_TEST

START_TEST(a_shorter_way_counts)
{
    Scene scene;
    scene_begin(&scene, 3, "10.0.0.20:443", NULL);
    syn(&scene, "10.0.0.20:40000", "10.0.0.31:8000");
    syn(&scene, "10.0.0.31:40000", "10.0.0.41:5432");
    ck_assert(syn(&scene, "10.0.0.41:40000", "10.0.0.51:80"));
    check_set(&scene, "10.0.0.20 10.0.0.31/1 10.0.0.41/2");
    ck_assert(syn(&scene, "10.0.0.20:40001", "10.0.0.41:5432"));
    check_set(&scene, "10.0.0.20 10.0.0.31/1 10.0.0.41/1");
    ck_assert(data(&scene, "10.0.0.41:40000", "10.0.0.51:80")); // one hop more is left for these
    check_set(&scene, "10.0.0.20 10.0.0.31/1 10.0.0.41/1 10.0.0.51/2");
    scene_end(&scene);
}
END_TEST

START_TEST(a_circle_ends)
{
    Scene scene;
    scene_begin(&scene, 64, "10.0.0.20:443", NULL);
    for (guint i = 0; i < 3; i++) {
        ck_assert(syn(&scene, "10.0.0.20:40000", "10.0.0.31:8000"));
        ck_assert(syn(&scene, "10.0.0.31:40000", "10.0.0.32:8000"));
        ck_assert(syn(&scene, "10.0.0.32:40000", "10.0.0.20:443"));
        ck_assert(syn(&scene, "10.0.0.32:40000", "10.0.0.32:8000"));
    }
    check_set(&scene, "10.0.0.20 10.0.0.31/1 10.0.0.32/2");
    scene_end(&scene);
}
END_TEST

START_TEST(ipv6)
{
    Scene scene;
    scene_begin(&scene, 8, "[2001:db8::20]:443", NULL);
    ck_assert(syn(&scene, "[2001:db8:1::1]:50000", "[2001:db8::20]:443"));
    ck_assert(syn(&scene, "[2001:db8::20]:50000", "[2001:db8::31]:8000"));
    ck_assert(datagram(&scene, "[2001:db8::20]:50000", "[ff02::fb]:5353"));
    ck_assert(!syn(&scene, "[2001:db8:1::1]:50000", "[2001:db8::21]:443"));
    check_set(&scene, "2001:db8::20 2001:db8::31/1");
    scene_end(&scene);
}
END_TEST

START_TEST(too_many_hosts)
{
    Scene scene;
    scene_begin(&scene, 8, "10.0.0.20:443", NULL);
    for (guint i = 0; i < BB_FOLLOW_NODES + 9; i++) {
        g_autofree char *to = g_strdup_printf("10.1.%u.%u:80", i >> 8, i & 255);
        ck_assert(syn(&scene, "10.0.0.20:40000", to));
        ck_assert(synack(&scene, to, "10.0.0.20:40000")); // is no further call to it
        ck_assert(data(&scene, to, "10.0.0.20:40000"));
    }
    ck_assert_uint_eq(bb_follow_count(scene.follow), BB_FOLLOW_NODES);
    ck_assert_uint_eq(scene.loss.count[BB_FOLLOW_LIMIT], 10);
    scene_end(&scene);
}
END_TEST

START_TEST(too_many_who_have_not_sent)
{
    Scene scene;
    scene_begin(&scene, 8, "10.0.0.20:443", NULL);
    for (guint i = 0; i < BB_FOLLOW_NODES + 9; i++) {
        g_autofree char *to = g_strdup_printf("10.1.%u.%u:80", i >> 8, i & 255);
        ck_assert(datagram(&scene, "10.0.0.20:40000", to));
        if (i % 2)
            ck_assert(datagram(&scene, to, "10.0.0.20:40000"));
    }
    ck_assert_uint_eq(bb_follow_count(scene.follow), 1 + (BB_FOLLOW_NODES - 1) / 2);
    ck_assert_uint_eq(bb_follow_address_count(scene.follow), BB_FOLLOW_NODES);
    ck_assert_uint_eq(scene.loss.count[BB_FOLLOW_LIMIT], 10);
    scene_end(&scene);
}
END_TEST

// 10.0.0.31 serves at a port that is higher than the one of its client.
static void check_high_port(Scene *scene)
{
    ck_assert(data(scene, "10.5.5.5:41000", "10.0.0.31:50051"));
    ck_assert(data(scene, "10.0.0.31:50051", "10.5.5.5:41000"));
    ck_assert(!syn(scene, "10.5.5.5:41001", "10.7.7.7:8080"));
    check_set(scene, "10.0.0.20 10.0.0.31/1");
}

// SYNs of a scan teach nothing.
START_TEST(a_scan_leaves_room_for_servers)
{
    Scene scene;
    scene_begin(&scene, 8, "10.0.0.20:443", NULL);
    for (guint i = 0; i < BB_FOLLOW_SERVERS; i++) {
        g_autofree char *to = g_strdup_printf("10.0.0.20:%u", i);
        (void)syn(&scene, "10.9.9.9:55555", to);
    }
    ck_assert(syn(&scene, "10.0.0.20:40000", "10.0.0.31:50051"));
    ck_assert(synack(&scene, "10.0.0.31:50051", "10.0.0.20:40000"));
    check_high_port(&scene);
    ck_assert_uint_eq(scene.loss.count[BB_FOLLOW_FORGOTTEN], 0);
    scene_end(&scene);
}
END_TEST

// Datagrams to all ports do; who serves meanwhile stays, and so does the entrance.
START_TEST(too_many_servers)
{
    Scene scene;
    scene_begin(&scene, 8, "10.0.0.20:50443", NULL);
    ck_assert(syn(&scene, "10.0.0.20:40000", "10.0.0.31:50051"));
    for (guint i = 0; i < 2 * BB_FOLLOW_SERVERS; i++) {
        g_autofree char *to =
            g_strdup_printf("10.0.0.%u:%u", i < BB_FOLLOW_SERVERS ? 31 : 32, i % 65536);
        if (i == BB_FOLLOW_SERVERS)
            ck_assert(syn(&scene, "10.0.0.20:40000", "10.0.0.32:8000"));
        if (i % 1000 == 0)
            ck_assert(data(&scene, "10.0.0.31:50051", "10.0.0.20:40000"));
        ck_assert(datagram(&scene, "10.9.0.1:50000", to));
    }
    ck_assert_uint_ge(scene.loss.count[BB_FOLLOW_FORGOTTEN], BB_FOLLOW_SERVERS);
    ck_assert(data(&scene, "10.0.0.31:50051", "10.5.5.5:41000"));
    ck_assert(data(&scene, "10.0.0.20:50443", "10.5.5.5:41000"));
    check_set(&scene, "10.0.0.20 10.0.0.31/1 10.0.0.32/1");
    ck_assert(data(&scene, "10.0.0.31:777", "10.5.5.5:500")); // forgotten: by the ports
    check_set(&scene, "10.0.0.20 10.0.0.31/1 10.0.0.32/1 10.5.5.5/2");
    scene_end(&scene);
}
END_TEST

// ---- against the rule as it is written
// -------------------------------------------------------------

#define HOSTS 12u
#define HOPS 3u
#define CALLS 400u

typedef struct Twin {
    bool followed[HOSTS];
    guint hop[HOSTS];
} Twin;

// Hosts 0 (port 443) and 1 (any) are entrances; port 53 is shared.
static bool twin_take(Twin *twin, guint client, guint server, guint16 port)
{
    bool kept = twin->followed[client] || (server == 0 && port == 443) || server == 1 ||
                (twin->followed[server] && twin->hop[server] >= 1);
    guint hop = twin->hop[client] + 1;
    if (twin->followed[client] && hop < HOPS && port != 53 &&
        (!twin->followed[server] || hop < twin->hop[server])) {
        twin->followed[server] = true;
        twin->hop[server] = hop;
    }
    return kept;
}

START_TEST(random_calls)
{
    static const guint16 ports[] = {443, 53, 8000, 40000};
    g_autoptr(GRand) random = g_rand_new_with_seed(test_seed("random_calls"));
    for (guint round = 0; round < 200; round++) {
        const BbFollowEnd entrances[] = {end_of("10.0.0.0:443"), end_of("10.0.0.1")};
        const BbFollowOptions options = {entrances, 2, NULL, 0, HOPS};
        Scene scene = {.follow = NULL};
        Twin twin = {.followed = {true, true}};
        guint kept = 0;
        scene.follow = bb_follow_new(&options, &scene.loss);
        for (guint call = 0; call < CALLS; call++) {
            guint client = (guint)g_rand_int_range(random, 0, HOSTS);
            guint server = (guint)g_rand_int_range(random, 0, HOSTS);
            guint16 port = ports[g_rand_int_range(random, 0, G_N_ELEMENTS(ports))];
            g_autofree char *from = g_strdup_printf("10.0.0.%u:%u", client, 10000 + call);
            g_autofree char *to = g_strdup_printf("10.0.0.%u:%u", server, port);
            if (client == server)
                continue;
            ck_assert(syn(&scene, from, to) == twin_take(&twin, client, server, port));
            bool now = twin_take(&twin, client, server, port);
            ck_assert(synack(&scene, to, from) == now);
            ck_assert(data(&scene, from, to) == now);
            ck_assert(data(&scene, to, from) == now);
            kept += now;
        }
        for (guint i = 0; i < bb_follow_count(scene.follow); i++) {
            const BbFollowNode *node = bb_follow_at(scene.follow, i);
            ck_assert(twin.followed[node->address.bytes[15]]);
            ck_assert_uint_eq(node->hop, twin.hop[node->address.bytes[15]]);
            twin.followed[node->address.bytes[15]] = false;
        }
        for (guint i = 0; i < HOSTS; i++)
            ck_assert(!twin.followed[i]);
        ck_assert_uint_gt(kept, 0);
        scene_end(&scene);
    }
}
END_TEST

static guint unmet_after(const char *entrance, const char *from, const char *to)
{
    Scene scene;
    scene_begin(&scene, 8, entrance, NULL);
    ck_assert_uint_eq(bb_follow_unmet(scene.follow), 1);
    syn(&scene, from, to);
    guint unmet = bb_follow_unmet(scene.follow);
    ck_assert_int_eq(bb_follow_at(scene.follow, 0)->met, unmet == 0);
    scene_end(&scene);
    return unmet;
}

START_TEST(entrances_that_nobody_meets)
{
    ck_assert_uint_eq(unmet_after("10.0.0.20:443", "10.9.0.1:50000", "10.0.0.20:443"), 0);
    ck_assert_uint_eq(unmet_after("10.0.0.20:443", "10.9.0.1:50000", "10.0.0.20:80"), 1);
    ck_assert_uint_eq(unmet_after("10.0.0.20:443", "10.0.0.20:50000", "10.0.0.30:443"), 1);
    ck_assert_uint_eq(unmet_after("10.0.0.20:0", "10.9.0.1:50000", "10.0.0.20:80"), 0);
    ck_assert_uint_eq(unmet_after("10.0.0.20:0", "10.0.0.20:50000", "10.0.0.30:443"), 0);
    ck_assert_uint_eq(unmet_after("10.0.0.20:0", "10.9.0.1:50000", "10.0.0.30:443"), 1);
}
END_TEST

TEST_MAIN("follow", entrances_that_nobody_meets, entrance_does_not_pull_in_its_clients,
          other_ports_of_an_entrance_are_not_it, calls_are_followed_at_their_first_packet,
          the_direction_of_the_caller_is_enough, strangers_make_nobody_followed,
          joined_in_the_middle, datagrams, whom_datagrams_go_to_is_followed_when_it_sends,
          a_shorter_way_to_who_has_not_sent, what_all_share_is_not_followed,
          the_last_hop_is_only_called, a_shorter_way_counts, a_circle_ends, ipv6, too_many_hosts,
          too_many_who_have_not_sent, a_scan_leaves_room_for_servers, too_many_servers,
          random_calls)
