// SPDX-License-Identifier: Apache-2.0
// Connections on both sides of a NAT: which ones are joined, under which names, what of them is
// counted, and which are never joined.
#include "tests/unit/translation_scene.h"

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
    finish(&scene, "call 10.0.0.1>10.1.0.4; ret 10.1.0.4>10.0.0.1; call 10.0.0.1>192.0.2.9; "
                   "ret 192.0.2.9>10.0.0.1; ");
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_SEEN_TWICE), 1);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_JOINED) + COUNT(&scene, BB_NAT_PACKETS), 0);
    clear(&scene);
    begin(&scene, BB_TRANSLATION_OFF);
    talk(&scene, dnat, 2, MS);
    found = bb_capture_translations(scene.capture);
    ck_assert_uint_eq(bb_translations_pairs(found, BB_TRANSLATION_SERVICES), 0);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_SEEN_TWICE), 0);
    end(&scene, "call 10.0.0.1>10.1.0.4; ret 10.1.0.4>10.0.0.1; call 10.0.0.1>192.0.2.9; "
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

TEST_MAIN("translation", two_legs_are_one_connection, pairs_are_told, clients_crowd_no_service_out,
          a_hint_leaves_them_two, handshakes_may_be_repeated, what_is_sent_again_is_counted_once,
          echoes_of_legs_are_none, others_stay_two, numbers_that_are_not_random_join_nothing,
          a_connection_is_not_joined_with_itself, networks_are_apart)
