// SPDX-License-Identifier: Apache-2.0
// Connections on both sides of a NAT: which ones are joined, under which names, what of them is
// counted, and which are never joined.
#include "tests/unit/test.h"

#include "capture/capture.h"

#define MS G_GINT64_CONSTANT(1000000)
#define SECOND (1000 * MS)
#define SYN BB_TCP_SYN
#define ACK BB_TCP_ACK
#define FIN BB_TCP_FIN
#define RST BB_TCP_RST

typedef struct Side {
    const char *address;
    guint16 port;
} Side;

// The client's end and the server's.
typedef struct Leg {
    Side end[2];
} Leg;

enum { CLIENT, SERVER };

typedef struct Scene {
    BbNames *names;
    BbNodes *nodes;
    BbLoss loss;
    BbCapture *capture;
    GString *told; // messages in order of arrival
    gint64 now_ns; // of the next packet
    guint32 isn[2];
    guint16 mss, window; // of the next packets with SYN
    guint32 stamp;
    guint16 ip_id;
    guint32 vlan, vni; // of all that comes; vni: 0 for none
} Scene;

static bool tell(const BbMessage *message, gpointer user, GError **error)
{
    static const char *const kinds[] = {[BB_CALL] = "call", [BB_RETURN] = "ret", [BB_FREE] = "msg"};
    Scene *scene = user;
    g_string_append_printf(scene->told, "%s %s>%s; ", kinds[message->kind],
                           bb_names_text(scene->names, message->sender),
                           bb_names_text(scene->names, message->receiver));
    return true;
}

static void begin(Scene *scene, BbTranslationMode mode)
{
    BbCaptureOptions options = bb_capture_options_default();
    ck_assert_int_eq(options.translation, BB_TRANSLATION_JOIN);
    options.translation = mode;
    *scene = (Scene){
        .names = bb_names_new(),
        .told = g_string_new(NULL),
        .now_ns = 1000 * SECOND,
        .isn = {0x12345678, 0x87654321},
        .mss = 1460,
        .window = 64240,
        .stamp = 777,
    };
    scene->nodes = bb_nodes_new(scene->names, false);
    scene->capture =
        bb_capture_new(&options, scene->names, scene->nodes, &scene->loss, tell, scene);
}

static void finish(Scene *scene, const char *told)
{
    ck_assert(bb_capture_finish(scene->capture, NULL));
    ck_assert_str_eq(scene->told->str, told);
}

static void clear(Scene *scene)
{
    bb_capture_free(scene->capture);
    bb_nodes_free(scene->nodes);
    bb_names_free(scene->names);
    g_string_free(scene->told, TRUE);
}

static void end(Scene *scene, const char *told)
{
    finish(scene, told);
    clear(scene);
}

#define COUNT(scene, kind) ((scene)->loss.count[kind])

// A packet that `from` sends on a leg; seq and ack count from the initial numbers.
static void put(Scene *scene, const Leg *leg, guint from, guint8 flags, guint32 seq, guint32 ack,
                const char *text)
{
    const guint8 options[] = {2,
                              4,
                              (guint8)(scene->mss >> 8),
                              (guint8)scene->mss,
                              4,
                              2,
                              8,
                              10,
                              (guint8)(scene->stamp >> 24),
                              (guint8)(scene->stamp >> 16),
                              (guint8)(scene->stamp >> 8),
                              (guint8)scene->stamp,
                              0,
                              0,
                              0,
                              0,
                              1,
                              3,
                              3,
                              7};
    BbPacket packet = {
        .time_ns = scene->now_ns,
        .source_port = leg->end[from].port,
        .target_port = leg->end[!from].port,
        .transport = BB_TRANSPORT_TCP,
        .tcp_flags = flags,
        .seq = scene->isn[from] + seq,
        .ack = flags & ACK ? scene->isn[!from] + ack : 0,
        .window = scene->window,
        .ip_id = scene->ip_id,
        .vlan = scene->vlan,
        .vni = scene->vni,
        .has_vni = scene->vni != 0,
        .payload = (const guint8 *)text,
        .captured = (guint32)strlen(text),
        .length = (guint32)strlen(text),
    };
    if (flags & SYN) {
        packet.options = options;
        packet.options_size = sizeof options;
    }
    ck_assert(bb_address_parse(leg->end[from].address, &packet.source));
    ck_assert(bb_address_parse(leg->end[!from].address, &packet.target));
    ck_assert(bb_capture_packet(scene->capture, &packet, NULL));
}

// A packet on its way along legs, `delay` ms from one to the next, each box with its own MSS.
static void pass(Scene *scene, const Leg *legs, guint n_legs, gint64 delay_ns, guint from,
                 guint8 flags, guint32 seq, guint32 ack, const char *text)
{
    guint16 mss = scene->mss;
    for (guint i = 0; i < n_legs; i++) {
        put(scene, &legs[from == CLIENT ? i : n_legs - 1 - i], from, flags, seq, ack, text);
        scene->now_ns += delay_ns;
        scene->ip_id = (guint16)(scene->ip_id + 3); // each box writes its own
        scene->mss = (guint16)(scene->mss - 40);
    }
    scene->mss = mss;
    scene->now_ns += MS;
}

static void shake(Scene *scene, const Leg *legs, guint n_legs, gint64 delay_ns)
{
    pass(scene, legs, n_legs, delay_ns, CLIENT, SYN, 0, 0, "");
    pass(scene, legs, n_legs, delay_ns, SERVER, SYN | ACK, 0, 1, "");
    pass(scene, legs, n_legs, delay_ns, CLIENT, ACK, 1, 1, "");
}

// A call and its return, 7 and 6 bytes.
static void call(Scene *scene, const Leg *legs, guint n_legs, gint64 delay_ns, guint turn)
{
    pass(scene, legs, n_legs, delay_ns, CLIENT, ACK, 1 + 7 * turn, 1 + 6 * turn, "request");
    pass(scene, legs, n_legs, delay_ns, SERVER, ACK, 1 + 6 * turn, 8 + 7 * turn, "answer");
}

static void close_both(Scene *scene, const Leg *legs, guint n_legs, gint64 delay_ns, guint turns)
{
    pass(scene, legs, n_legs, delay_ns, CLIENT, FIN | ACK, 1 + 7 * turns, 1 + 6 * turns, "");
    pass(scene, legs, n_legs, delay_ns, SERVER, FIN | ACK, 1 + 6 * turns, 2 + 7 * turns, "");
    pass(scene, legs, n_legs, delay_ns, CLIENT, ACK, 2 + 7 * turns, 2 + 6 * turns, "");
}

static void talk(Scene *scene, const Leg *legs, guint n_legs, gint64 delay_ns)
{
    shake(scene, legs, n_legs, delay_ns);
    call(scene, legs, n_legs, delay_ns, 0);
    close_both(scene, legs, n_legs, delay_ns, 1);
}

static const Leg dnat[] = {{{{"10.0.0.1", 40000}, {"192.0.2.9", 443}}},
                           {{{"10.0.0.1", 40000}, {"10.1.0.4", 8080}}}};
static const Leg snat[] = {{{{"10.0.0.1", 40000}, {"10.1.0.4", 8080}}},
                           {{{"198.51.100.1", 1025}, {"10.1.0.4", 8080}}}};
static const Leg both[] = {{{{"10.0.0.1", 40000}, {"192.0.2.9", 443}}},
                           {{{"198.51.100.1", 1025}, {"10.1.0.4", 8080}}}};
static const Leg six[] = {{{{"2001:db8::1", 40000}, {"2001:db8:9::9", 443}}},
                          {{{"10.2.0.1", 40000}, {"10.1.0.4", 8080}}}};
static const Leg three[] = {{{{"10.0.0.1", 40000}, {"192.0.2.9", 443}}},
                            {{{"10.7.0.1", 31000}, {"192.0.2.9", 30443}}},
                            {{{"10.8.0.1", 32000}, {"10.1.0.4", 8080}}}};

#define ONE "call 10.0.0.1>10.1.0.4; ret 10.1.0.4>10.0.0.1; "

// What is there to be known of one connection of one call, and no more.
static void check_network(Scene *scene, const char *client, const char *server, guint packets)
{
    const BbNetwork *network = bb_capture_network(scene->capture);
    ck_assert_uint_eq(bb_network_count(network), 1);
    const BbNetworkEdge *edge = bb_network_at(network, 0);
    ck_assert_str_eq(bb_names_text(scene->names, edge->client), client);
    ck_assert_str_eq(bb_names_text(scene->names, edge->server), server);
    ck_assert_uint_eq(edge->connections, 1);
    ck_assert_uint_eq(edge->packets, packets);
    ck_assert_uint_eq(edge->retransmitted + edge->unanswered + edge->reordered + edge->resets, 0);
    ck_assert_uint_eq(edge->to_server.count, 1);
    ck_assert_uint_eq(edge->to_client.count, 1);
}

static void check_joined(const Leg *legs, guint n_legs, gint64 delay_ns, const char *told,
                         const char *client)
{
    Scene scene;
    begin(&scene, BB_TRANSLATION_JOIN);
    talk(&scene, legs, n_legs, delay_ns);
    finish(&scene, told);
    check_network(&scene, client, "10.1.0.4", 7); // what comes behind both FINs is not counted
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_JOINED), 1);
    // All but the SYNs, which come before anything is known.
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_PACKETS), 7 * (n_legs - 1));
    ck_assert_uint_eq(COUNT(&scene, BB_TCP_RETRANSMITTED) + COUNT(&scene, BB_TCP_ECHOED), 0);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_LIMIT) + COUNT(&scene, BB_NAT_PARTED), 0);
    clear(&scene);
}

START_TEST(two_legs_are_one_connection)
{
    static const gint64 delays[] = {0, 20000, 5 * MS, 40 * MS};
    for (guint i = 0; i < G_N_ELEMENTS(delays); i++) {
        check_joined(dnat, 2, delays[i], ONE, "10.0.0.1");
        check_joined(snat, 2, delays[i], ONE, "10.0.0.1");
        check_joined(both, 2, delays[i], ONE, "10.0.0.1");
        check_joined(three, 3, delays[i], ONE, "10.0.0.1");
        check_joined(six, 2, delays[i], "call 2001:db8::1>10.1.0.4; ret 10.1.0.4>2001:db8::1; ",
                     "2001:db8::1");
    }
}
END_TEST

START_TEST(pairs_are_told)
{
    Scene scene;
    begin(&scene, BB_TRANSLATION_JOIN);
    talk(&scene, both, 2, MS);
    const BbTranslations *found = bb_capture_translations(scene.capture);
    ck_assert_uint_eq(bb_translations_pairs(found, BB_TRANSLATION_SERVICES), 1);
    ck_assert_uint_eq(bb_translations_pairs(found, BB_TRANSLATION_CLIENTS), 1);
    char text[BB_ADDRESS_TEXT];
    const BbTranslationPair *pair = bb_translations_pair(found, BB_TRANSLATION_SERVICES, 0);
    bb_address_format_port(&pair->before, pair->before_port, text);
    ck_assert_str_eq(text, "192.0.2.9:443");
    bb_address_format_port(&pair->after, pair->after_port, text);
    ck_assert_str_eq(text, "10.1.0.4:8080");
    ck_assert_uint_eq(pair->connections, 1);
    pair = bb_translations_pair(found, BB_TRANSLATION_CLIENTS, 0);
    bb_address_format(&pair->after, text);
    ck_assert_str_eq(text, "198.51.100.1");
    ck_assert_uint_eq(pair->before_port + pair->after_port, 0);
    clear(&scene);
}
END_TEST

// More clients than pairs behind one address, before a second service comes.
START_TEST(clients_crowd_no_service_out)
{
    Scene scene;
    char client[16];
    begin(&scene, BB_TRANSLATION_JOIN);
    const guint count = BB_TRANSLATION_PAIRS + 10;
    for (guint i = 0; i <= count; i++) {
        Leg legs[] = {both[0], both[1]};
        g_snprintf(client, sizeof client, "10.0.1.%u", i);
        legs[0].end[CLIENT].address = client;
        legs[1].end[CLIENT].port = (guint16)(1025 + i);
        if (i == count)
            legs[1].end[SERVER].address = "10.1.0.5";
        scene.isn[CLIENT]++;
        talk(&scene, legs, 2, MS);
    }
    const BbTranslations *found = bb_capture_translations(scene.capture);
    ck_assert_uint_eq(bb_translations_pairs(found, BB_TRANSLATION_SERVICES), 2);
    ck_assert_uint_eq(bb_translations_pairs(found, BB_TRANSLATION_CLIENTS), 1);
    ck_assert_uint_eq(bb_translations_pair(found, BB_TRANSLATION_SERVICES, 0)->connections, count);
    ck_assert_uint_eq(bb_translations_pair(found, BB_TRANSLATION_SERVICES, 1)->connections, 1);
    const BbTranslationPair *clients = bb_translations_pair(found, BB_TRANSLATION_CLIENTS, 0);
    ck_assert_uint_eq(clients->connections, count + 1);
    ck_assert(clients->others);
    clear(&scene);
}
END_TEST

START_TEST(a_hint_leaves_them_two)
{
    Scene scene;
    begin(&scene, BB_TRANSLATION_HINT);
    talk(&scene, dnat, 2, MS);
    const BbTranslations *found = bb_capture_translations(scene.capture);
    ck_assert_uint_eq(bb_translations_pairs(found, BB_TRANSLATION_SERVICES), 1);
    ck_assert_uint_eq(bb_translations_pairs(found, BB_TRANSLATION_CLIENTS), 0);
    finish(&scene, "call 10.0.0.1>10.1.0.4; call 10.0.0.1>192.0.2.9; ret 10.1.0.4>10.0.0.1; "
                   "ret 192.0.2.9>10.0.0.1; ");
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_SEEN_TWICE), 1);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_JOINED) + COUNT(&scene, BB_NAT_PACKETS), 0);
    clear(&scene);
    begin(&scene, BB_TRANSLATION_OFF);
    talk(&scene, dnat, 2, MS);
    found = bb_capture_translations(scene.capture);
    ck_assert_uint_eq(bb_translations_pairs(found, BB_TRANSLATION_SERVICES), 0);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_SEEN_TWICE), 0);
    end(&scene, "call 10.0.0.1>10.1.0.4; call 10.0.0.1>192.0.2.9; ret 10.1.0.4>10.0.0.1; "
                "ret 192.0.2.9>10.0.0.1; ");
}
END_TEST

// The box has lost the first SYN, and the server's first answer.
START_TEST(handshakes_may_be_repeated)
{
    Scene scene;
    begin(&scene, BB_TRANSLATION_JOIN);
    put(&scene, &both[0], CLIENT, SYN, 0, 0, "");
    scene.now_ns += SECOND;
    scene.stamp += 1000;
    scene.ip_id++;
    pass(&scene, both, 2, MS, CLIENT, SYN, 0, 0, "");
    put(&scene, &both[1], SERVER, SYN | ACK, 0, 1, "");
    scene.now_ns += SECOND;
    scene.stamp += 1000;
    pass(&scene, both, 2, MS, SERVER, SYN | ACK, 0, 1, "");
    pass(&scene, both, 2, MS, SERVER, SYN | ACK, 0, 1, ""); // late, of both legs
    pass(&scene, both, 2, MS, CLIENT, ACK, 1, 1, "");
    call(&scene, both, 2, MS, 0);
    finish(&scene, ONE);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_JOINED), 1);
    const BbNetworkEdge *edge = bb_network_at(bb_capture_network(scene.capture), 0);
    ck_assert_uint_eq(bb_network_count(bb_capture_network(scene.capture)), 1);
    ck_assert_uint_eq(edge->retransmitted, 2); // the last leg saw one SYN and three answers
    ck_assert_uint_eq(edge->to_server.count, 0);
    clear(&scene);
}
END_TEST

// A true retransmission passes both legs and is counted once.
START_TEST(what_is_sent_again_is_counted_once)
{
    Scene scene;
    begin(&scene, BB_TRANSLATION_JOIN);
    shake(&scene, both, 2, 5 * MS);
    call(&scene, both, 2, 5 * MS, 0);
    scene.now_ns += 200 * MS;
    pass(&scene, both, 2, 5 * MS, CLIENT, ACK, 1, 1, "request");
    put(&scene, &both[0], CLIENT, ACK, 1, 1, "request"); // lost in the box
    finish(&scene, ONE);
    ck_assert_uint_eq(COUNT(&scene, BB_TCP_RETRANSMITTED), 1);
    clear(&scene);
}
END_TEST

// The mirror shows each packet of each leg twice, too.
START_TEST(echoes_of_legs_are_none)
{
    Scene scene;
    begin(&scene, BB_TRANSLATION_JOIN);
    scene.ip_id = 7;
    const guint8 flags[] = {SYN, SYN | ACK, ACK};
    for (guint i = 0; i < 3; i++)
        for (guint copy = 0; copy < 4; copy++) {
            guint from = i == 1;
            scene.ip_id = (guint16)(100 + i);
            put(&scene, &both[from ? 1 - copy / 2 : copy / 2], from, flags[i], i == 2, i > 0, "");
            scene.now_ns += MS / 10;
        }
    call(&scene, both, 2, MS, 0);
    finish(&scene, ONE);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_JOINED), 1);
    ck_assert_uint_eq(COUNT(&scene, BB_TCP_RETRANSMITTED), 0);
    const BbNetworkEdge *edge = bb_network_at(bb_capture_network(scene.capture), 0);
    ck_assert_uint_eq(edge->retransmitted, 0);
    clear(&scene);
}
END_TEST

#define TWO                                                                            \
    "call 198.51.100.1>10.1.0.4; call 10.0.0.1>192.0.2.9; ret 10.1.0.4>198.51.100.1; " \
    "ret 192.0.2.9>10.0.0.1; "

// Ways in which two connections differ that are none: `change` is done before each second sighting.
typedef enum {
    SAME,
    WINDOW,
    STAMP,
    CLIENT_ISN,
    SERVER_ISN,
    LATE,
    SMALL,
    ORDER,
    ANSWERED,
    N_WAYS
} Way;

static void put_changed(Scene *scene, Way way, guint from, guint8 flags, const char *text,
                        guint32 seq, guint32 ack)
{
    for (guint i = 0; i < 2; i++) {
        bool swap = from == SERVER && !(way == ORDER && flags & SYN);
        guint leg = swap ? 1 - i : i;
        Scene before = *scene;
        scene->window = (guint16)(scene->window - (way == WINDOW && leg && flags & SYN));
        scene->stamp += way == STAMP && leg;
        scene->isn[CLIENT] += way == CLIENT_ISN && leg;
        scene->isn[SERVER] += way == SERVER_ISN && leg;
        put(scene, &both[leg], from, flags, seq, ack, text);
        before.loss = scene->loss;
        before.now_ns = scene->now_ns + (way == LATE && flags == SYN ? 101 : 1) * MS;
        *scene = before;
    }
}

static void check_apart(Way way)
{
    Scene scene;
    begin(&scene, BB_TRANSLATION_JOIN);
    if (way == SMALL)
        scene.isn[CLIENT] = 1000;
    if (way == ANSWERED) { // one after the other, as of a tool whose numbers are not random
        shake(&scene, &both[0], 1, MS);
        shake(&scene, &both[1], 1, MS);
    } else {
        put_changed(&scene, way, CLIENT, SYN, "", 0, 0);
        put_changed(&scene, way, SERVER, SYN | ACK, "", 0, 1);
        put_changed(&scene, way, CLIENT, ACK, "", 1, 1);
    }
    put_changed(&scene, way, CLIENT, ACK, "request", 1, 1);
    put_changed(&scene, way, SERVER, ACK, "answer", 1, 8);
    bool joined = way == SAME;
    finish(&scene, joined ? ONE : TWO);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_JOINED), joined);
    ck_assert_uint_eq(bb_network_count(bb_capture_network(scene.capture)), joined ? 1 : 2);
    clear(&scene);
}

START_TEST(others_stay_two)
{
    for (Way way = SAME; way < N_WAYS; way++)
        check_apart(way);
}
END_TEST

// Many clients with one and the same number.
START_TEST(numbers_that_are_not_random_join_nothing)
{
    Scene scene;
    begin(&scene, BB_TRANSLATION_JOIN);
    char names[20][16];
    for (guint i = 0; i < 20; i++) {
        g_snprintf(names[i], sizeof names[i], "10.5.0.%u", i);
        Leg leg = {{{names[i], 40000}, {"10.1.0.4", 8080}}};
        put(&scene, &leg, CLIENT, SYN, 0, 0, "");
        scene.now_ns += MS;
    }
    for (guint i = 20; i-- > 0;) {
        Leg leg = {{{names[i], 40000}, {"10.1.0.4", 8080}}};
        put(&scene, &leg, SERVER, SYN | ACK, 0, 1, "");
        scene.now_ns += MS;
    }
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_JOINED), 0);
    end(&scene, "");
}
END_TEST

// Hostile: both directions of one connection open it.
START_TEST(a_connection_is_not_joined_with_itself)
{
    Scene scene;
    begin(&scene, BB_TRANSLATION_JOIN);
    const Leg back = {{both[0].end[1], both[0].end[0]}};
    put(&scene, &both[0], CLIENT, SYN, 0, 0, "");
    put(&scene, &back, CLIENT, SYN, 0, 0, "");
    put(&scene, &back, SERVER, SYN | ACK, 0, 1, "");
    put(&scene, &both[0], SERVER, SYN | ACK, 0, 1, "");
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_JOINED), 0);
    end(&scene, "");
}
END_TEST

START_TEST(ports_are_used_again)
{
    Scene scene;
    begin(&scene, BB_TRANSLATION_JOIN);
    talk(&scene, both, 2, MS);
    scene.isn[CLIENT] += 1000000;
    scene.isn[SERVER] += 2000000;
    talk(&scene, both, 2, MS);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_JOINED), 2);
    ck_assert_uint_eq(bb_translations_joined(bb_capture_translations(scene.capture)), 1);
    // Each of the legs is another connection now.
    scene.isn[CLIENT] += 1000000;
    scene.isn[SERVER] += 2000000;
    talk(&scene, &both[0], 1, MS);
    ck_assert_uint_eq(bb_translations_joined(bb_capture_translations(scene.capture)), 0);
    end(&scene, ONE ONE "call 10.0.0.1>192.0.2.9; ret 192.0.2.9>10.0.0.1; ");
}
END_TEST

START_TEST(open_ones_stay_two)
{
    Scene scene;
    begin(&scene, BB_TRANSLATION_JOIN);
    call(&scene, both, 2, MS, 0);
    end(&scene, TWO);
}
END_TEST

// The capture loses sight of the last leg: no call is lost for good.
START_TEST(a_leg_that_is_gone_parts_them)
{
    Scene scene;
    begin(&scene, BB_TRANSLATION_JOIN);
    shake(&scene, both, 2, MS);
    call(&scene, both, 2, MS, 0);
    for (guint turn = 1; turn < 40; turn++) {
        call(&scene, &both[0], 1, MS, turn);
        scene.now_ns += 50 * MS;
    }
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_PARTED), 1);
    ck_assert_uint_eq(bb_translations_joined(bb_capture_translations(scene.capture)), 0);
    ck_assert(bb_capture_finish(scene.capture, NULL));
    ck_assert_ptr_nonnull(strstr(scene.told->str, "ret 10.1.0.4>10.0.0.1; "));
    ck_assert(g_str_has_suffix(scene.told->str, "ret 192.0.2.9>10.0.0.1; "));
    // One joined, 20 after a second in which 19 were not told.
    ck_assert_uint_eq(COUNT(&scene, BB_CALLS), 21);
    clear(&scene);
}
END_TEST

static Leg numbered(const Leg *leg, guint number, char client[16])
{
    Leg made = *leg;
    g_snprintf(client, 16, "10.%u.%u.%u", 16 + number / 65536, number / 256 % 256, number % 256);
    made.end[0].address = client;
    return made;
}

START_TEST(tables_have_limits)
{
    Scene scene;
    char client[16];
    begin(&scene, BB_TRANSLATION_JOIN);
    for (guint i = 0; i < BB_TRANSLATION_CONNECTIONS + 10; i++) {
        scene.isn[CLIENT] = 1000000 + i;
        Leg legs[] = {numbered(&dnat[0], i, client), numbered(&dnat[1], i, client)};
        pass(&scene, legs, 2, 0, CLIENT, SYN, 0, 0, "");
        pass(&scene, legs, 2, 0, SERVER, SYN | ACK, 0, 1, "");
    }
    ck_assert_uint_eq(bb_translations_joined(bb_capture_translations(scene.capture)),
                      BB_TRANSLATION_CONNECTIONS);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_LIMIT), 10);
    for (guint i = 0; i < BB_TRANSLATION_SYNS + 10; i++) { // within the window
        scene.isn[CLIENT] = 100000000 + i;
        const Leg leg = numbered(&dnat[0], i, client);
        put(&scene, &leg, CLIENT, SYN, 0, 0, "");
    }
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_LIMIT), 10 + 10);
    end(&scene, "");
}
END_TEST

// What has ended makes room by itself.
START_TEST(what_has_ended_is_forgotten)
{
    Scene scene;
    begin(&scene, BB_TRANSLATION_JOIN);
    talk(&scene, both, 2, MS);
    scene.now_ns += BB_TRANSLATION_ENDED_NS;
    scene.isn[CLIENT]++;
    shake(&scene, dnat, 2, MS);
    ck_assert_uint_eq(bb_translations_joined(bb_capture_translations(scene.capture)), 1);
    pass(&scene, dnat, 2, MS, SERVER, RST, 1, 1, "");
    scene.now_ns += BB_TRANSLATION_ENDED_NS;
    scene.isn[CLIENT]++;
    shake(&scene, both, 2, MS);
    ck_assert_uint_eq(bb_translations_joined(bb_capture_translations(scene.capture)), 1);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_LIMIT), 0);
    clear(&scene);
}
END_TEST

// A connection that says nothing for long, as of a pool: what ended after it goes before it.
START_TEST(silent_ones_outlive_ended_ones)
{
    Scene scene;
    char client[16];
    begin(&scene, BB_TRANSLATION_JOIN);
    const BbTranslations *found = bb_capture_translations(scene.capture);
    shake(&scene, dnat, 2, 0);
    const gint64 rest_ns[] = {BB_TRANSLATION_ENDED_NS, 0};
    for (guint turn = 0; turn < G_N_ELEMENTS(rest_ns); turn++) {
        guint count = turn ? BB_TRANSLATION_CONNECTIONS + 10 : 10;
        scene.isn[CLIENT] = 1000000 * (turn + 1);
        for (guint i = 1; i <= count; i++) {
            scene.isn[CLIENT]++;
            Leg legs[] = {numbered(&dnat[0], i, client), numbered(&dnat[1], i, client)};
            scene.now_ns -= 3 * MS; // all within a second
            pass(&scene, legs, 2, 0, CLIENT, SYN, 0, 0, "");
            pass(&scene, legs, 2, 0, SERVER, SYN | ACK, 0, 1, "");
            pass(&scene, legs, 2, 0, CLIENT, RST, 1, 1, "");
            scene.now_ns += 1000;
        }
        scene.now_ns += rest_ns[turn];
        ck_assert_uint_eq(bb_translations_joined(found),
                          MIN(count + 1, BB_TRANSLATION_CONNECTIONS));
        if (turn)
            break;
        scene.isn[CLIENT]++;
        const Leg legs[] = {numbered(&dnat[0], 0, client), numbered(&dnat[1], 0, client)};
        shake(&scene, legs, 2, 0);
        pass(&scene, legs, 2, 0, CLIENT, RST, 1, 1, "");
        ck_assert_uint_eq(bb_translations_joined(found), 2); // all others have ended
    }
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_LIMIT), 0);
    scene.isn[CLIENT] = 0x12345678;
    guint64 left_out = COUNT(&scene, BB_NAT_PACKETS);
    call(&scene, dnat, 2, 0, 0);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_PACKETS), left_out + 2); // it is one still
    end(&scene, ONE);
}
END_TEST

// Two networks with the same addresses, ports and numbers, told apart by VLAN or VNI.
static void check_networks(Scene *scene, guint32 *network)
{
    begin(scene, BB_TRANSLATION_JOIN);
    const BbTranslations *found = bb_capture_translations(scene->capture);
    *network = 10;
    shake(scene, dnat, 2, MS);
    *network = 20; // open when the capture began
    call(scene, &dnat[0], 1, MS, 0);
    ck_assert_uint_eq(COUNT(scene, BB_NAT_PACKETS), 2);
    scene->isn[CLIENT] += 1000000;
    shake(scene, &dnat[0], 1, MS);
    call(scene, &dnat[0], 1, MS, 0);
    ck_assert_uint_eq(bb_translations_joined(found), 1);
    *network = 30;
    scene->isn[CLIENT] -= 1000000;
    talk(scene, dnat, 2, MS);
    *network = 10;
    call(scene, dnat, 2, MS, 0);
    ck_assert_uint_eq(COUNT(scene, BB_NAT_JOINED), 2);
    ck_assert_uint_eq(COUNT(scene, BB_NAT_PARTED), 0);
    ck_assert(bb_capture_finish(scene->capture, NULL));
    ck_assert_uint_eq(COUNT(scene, BB_CALLS), 4);
    ck_assert_uint_eq(COUNT(scene, BB_RETURNS), 4);
    clear(scene);
}

START_TEST(networks_are_apart)
{
    Scene scene;
    check_networks(&scene, &scene.vlan);
    check_networks(&scene, &scene.vni);
}
END_TEST

static void put_syns(Scene *scene, guint32 first, guint count)
{
    char client[16];
    for (guint i = 0; i < count; i++) {
        scene->isn[CLIENT] = first + i;
        const Leg leg = numbered(&dnat[0], i, client);
        put(scene, &leg, CLIENT, SYN, 0, 0, "");
    }
}

// A scan where no NAT is loses nothing.
START_TEST(limits_count_what_was_to_be_expected)
{
    Scene scene;
    begin(&scene, BB_TRANSLATION_JOIN);
    put_syns(&scene, 1000000, 2 * BB_TRANSLATION_SYNS);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_LIMIT), 0);
    pass(&scene, three, 3, 0, CLIENT, SYN, 1000000, 0, ""); // two legs are known
    put_syns(&scene, 100000000, BB_TRANSLATION_SYNS + 10);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_LIMIT), 1);
    scene.isn[CLIENT] = 0x12345678;
    shake(&scene, both, 2, MS);
    put_syns(&scene, 200000000, BB_TRANSLATION_SYNS + 1 + 10); // from here on they count
    ck_assert_uint_gt(COUNT(&scene, BB_NAT_LIMIT), 10);
    end(&scene, "");
}
END_TEST

START_TEST(stray_syns_part_nothing)
{
    Scene scene;
    begin(&scene, BB_TRANSLATION_JOIN);
    const BbTranslations *found = bb_capture_translations(scene.capture);
    shake(&scene, both, 2, MS);
    call(&scene, both, 2, MS, 0);
    scene.isn[CLIENT] += 1000000;
    put(&scene, &both[0], CLIENT, SYN, 0, 0, "");
    scene.isn[CLIENT] -= 1000000;
    put(&scene, &both[1], SERVER, SYN | ACK, 0, 1, ""); // of the old one, once more
    call(&scene, both, 2, MS, 1);
    ck_assert_uint_eq(bb_translations_joined(found), 1);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_PARTED), 0);
    // One that is answered is a new connection, though the old one was not seen to end.
    scene.isn[CLIENT] += 3000000;
    scene.isn[SERVER] += 5000000;
    talk(&scene, both, 2, MS);
    ck_assert_uint_eq(bb_translations_joined(found), 1);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_JOINED), 2);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_PARTED), 1);
    end(&scene, ONE ONE ONE);
}
END_TEST

TEST_MAIN("translation", two_legs_are_one_connection, pairs_are_told, clients_crowd_no_service_out,
          a_hint_leaves_them_two, handshakes_may_be_repeated, what_is_sent_again_is_counted_once,
          echoes_of_legs_are_none, others_stay_two, numbers_that_are_not_random_join_nothing,
          a_connection_is_not_joined_with_itself, ports_are_used_again, open_ones_stay_two,
          a_leg_that_is_gone_parts_them, tables_have_limits, what_has_ended_is_forgotten,
          silent_ones_outlive_ended_ones, networks_are_apart, limits_count_what_was_to_be_expected,
          stray_syns_part_nothing)
