// SPDX-License-Identifier: Apache-2.0
// Flows: what is seen twice, what is absorbed after the end, what idles away, and who gives up
// bytes first. (Ports used again: test_flow_ports.c; eviction at the limit: test_limits.c.)
#include "tests/unit/flow_scene.h"

// ---- seen twice ---------------------------------------------------------------------------------

// One packet, later by `after_ns` once more.
static void say_twice(Scene *scene, BbPacket packet, guint side, gint64 after_ns)
{
    gint64 now_ns = scene->now_ns;
    packet.transport = BB_TRANSPORT_TCP;
    packet.seq = scene->next[side];
    packet.ack = packet.tcp_flags & BB_TCP_ACK ? scene->next[!side] : 0;
    const char *text = packet.tcp_flags & (BB_TCP_SYN | BB_TCP_FIN) ? "" : side ? "\2a" : "\1b";
    push(scene, side, packet, text);
    scene->now_ns = now_ns + after_ns;
    packet.vlan = packet.vlan ? 30 - packet.vlan : 0; // 10 and 20
    push(scene, side, packet, text);
    scene->next[side] += *text ? 2 : 1;
}

// Linux gives no identification to a SYN-ACK, and IPv6 has none: the numbers tell as much.
START_TEST(bounds_are_known_again_later)
{
    static const guint8 flags[] = {BB_TCP_SYN, BB_TCP_FIN | BB_TCP_ACK, 0};
    Scene scene;
    scene_begin(&scene, 100000);
    open_connection(&scene, 1000, 2000);
    for (guint i = 0; i < G_N_ELEMENTS(flags); i++) {
        BbPacket packet = {.tcp_flags = flags[i]};
        scene.port++;
        say_twice(&scene, packet, CLIENT, SECOND / 1000);
        ck_assert_uint_eq(scene.loss.count[BB_TCP_ECHOED], MIN(i + 1, 2));
    }
    ck_assert_uint_eq(scene.loss.count[BB_TCP_RETRANSMITTED], 1); // data, after a millisecond
    scene_end(&scene, "msg:2 ");
}
END_TEST

// A router between two networks that tell hosts apart (--vlan): each has all of the connection.
START_TEST(each_network_has_its_sighting)
{
    static const guint8 flags[] = {BB_TCP_SYN, BB_TCP_SYN | BB_TCP_ACK, BB_TCP_ACK, BB_TCP_ACK};
    Scene scene;
    scene_begin(&scene, 100000);
    scene.next[CLIENT] = 1000;
    scene.next[SERVER] = 2000;
    for (guint i = 0; i < G_N_ELEMENTS(flags); i++) {
        guint side = i % 2;
        BbPacket packet = {.tcp_flags = flags[i], .vlan = side ? 20 : 10, .ip_id = 1};
        say_twice(&scene, packet, side, SECOND / 10000);
    }
    ck_assert_uint_eq(scene.loss.count[BB_SEEN_CONNECTIONS], 2);
    ck_assert_uint_eq(scene.loss.count[BB_TCP_ECHOED], 0);
    scene_end(&scene, "call:2 ret:2 call:2 ret:2 ");
}
END_TEST

// ---- after the end ------------------------------------------------------------------------------

static void talk_and_close(Scene *scene)
{
    open_connection(scene, 1000, 2000);
    say(scene, CLIENT, BB_TCP_ACK, "\1one");
    say(scene, SERVER, BB_TCP_ACK, "\2two");
    close_connection(scene);
    ck_assert_str_eq(scene->told->str, "call:4 ret:4 "); // its end tells at once
}

START_TEST(late_copies_are_absorbed)
{
    Scene scene;
    scene_begin(&scene, 100000);
    talk_and_close(&scene);
    say_at(&scene, CLIENT, 1001, BB_TCP_ACK, "\1one");
    say_at(&scene, SERVER, 2000, BB_TCP_SYN | BB_TCP_ACK, "");
    say_at(&scene, SERVER, 2001, BB_TCP_ACK, "\2two");
    say_at(&scene, CLIENT, 1005, BB_TCP_FIN | BB_TCP_ACK, "");
    say_at(&scene, CLIENT, 1006, BB_TCP_RST, "");
    ck_assert_uint_eq(scene.loss.count[BB_SEEN_CONNECTIONS], 1);
    ck_assert_uint_eq(scene.loss.count[BB_TCP_RESETS], 0);
    scene_end(&scene, "call:4 ret:4 ");
}
END_TEST

START_TEST(a_closed_connection_is_followed_by_another)
{
    Scene scene;
    scene_begin(&scene, 100000);
    talk_and_close(&scene);
    open_connection(&scene, 1000, 2000); // even with the same numbers
    say(&scene, CLIENT, BB_TCP_ACK, "\1second");
    say(&scene, SERVER, BB_TCP_ACK, "\2reply");
    ck_assert_uint_eq(scene.loss.count[BB_SEEN_CONNECTIONS], 2);
    scene_end(&scene, "call:4 ret:4 call:7 ret:6 ");
}
END_TEST

// The capture missed the SYN of the next connection, or its whole handshake.
START_TEST(the_next_connection_needs_no_syn)
{
    for (guint seen = 0; seen < 2; seen++) {
        Scene scene;
        scene_begin(&scene, 100000);
        talk_and_close(&scene);
        scene.next[CLIENT] = 700001;
        scene.next[SERVER] = 800000;
        if (seen)
            say(&scene, SERVER, BB_TCP_SYN | BB_TCP_ACK, "");
        else
            scene.next[SERVER]++;
        say(&scene, CLIENT, BB_TCP_ACK, "\1second");
        say(&scene, SERVER, BB_TCP_ACK, "\2reply");
        ck_assert_uint_eq(scene.loss.count[BB_TCP_MIDSTREAM], !seen);
        scene_end(&scene, "call:4 ret:4 call:7 ret:6 ");
    }
}
END_TEST

// Whoever is said to have reset the connection, and talks on, did not.
START_TEST(a_reset_is_outlived)
{
    Scene scene;
    scene_begin(&scene, 100000);
    open_connection(&scene, 1000, 2000);
    say(&scene, CLIENT, BB_TCP_ACK, "\1one");
    say_at(&scene, SERVER, 2001, BB_TCP_RST, "");
    ck_assert_uint_eq(scene.loss.count[BB_TCP_RESETS], 1);
    ck_assert_uint_eq(scene.loss.count[BB_CALLS_UNRETURNED], 0);
    say(&scene, SERVER, BB_TCP_ACK, "\2two");
    say(&scene, CLIENT, BB_TCP_ACK, "\1second");
    say(&scene, SERVER, BB_TCP_ACK, "\2reply");
    scene_end(&scene, "msg:4 msg:4 call:7 ret:6 ");
}
END_TEST

// What the other side had sent before it heard of the reset is nobody's any more.
START_TEST(what_crosses_a_reset_is_absorbed)
{
    Scene scene;
    scene_begin(&scene, 100000);
    open_connection(&scene, 1000, 2000);
    say(&scene, CLIENT, BB_TCP_ACK, "\1one");
    say(&scene, SERVER, BB_TCP_ACK, "\2two");
    say(&scene, CLIENT, BB_TCP_RST, "");
    say(&scene, SERVER, BB_TCP_ACK, "\2more");
    say(&scene, SERVER, BB_TCP_ACK, "\2and more");
    say_at(&scene, SERVER, 2001, BB_TCP_ACK, "\2two");
    ck_assert_uint_eq(scene.loss.count[BB_SEEN_CONNECTIONS], 1);
    ck_assert_uint_eq(scene.loss.count[BB_TCP_AFTER_RESET], 2);
    scene_end(&scene, "call:4 ret:4 ");
}
END_TEST

// The mirror shows a reset before the reply that it acknowledges.
START_TEST(a_reset_does_not_overtake_a_reply)
{
    Scene scene;
    scene_begin(&scene, 100000);
    open_connection(&scene, 1000, 2000);
    say(&scene, CLIENT, BB_TCP_ACK, "\1one");
    scene.next[SERVER] += 4;
    say(&scene, CLIENT, BB_TCP_ACK | BB_TCP_RST, "");
    say_at(&scene, SERVER, 2001, BB_TCP_ACK, "\2two");
    ck_assert_str_eq(scene.told->str, "call:4 ret:4 ");
    ck_assert_uint_eq(scene.loss.count[BB_TCP_RESETS], 1);
    ck_assert_uint_eq(scene.loss.count[BB_TCP_GAPS], 0);
    scene_end(&scene, "call:4 ret:4 ");
}
END_TEST

// Its reply was not captured, and nothing more comes: it is forgotten like what is closed.
START_TEST(a_reset_that_waits_expires)
{
    Scene scene;
    scene_begin(&scene, 100000);
    open_connection(&scene, 1000, 2000);
    say(&scene, CLIENT, BB_TCP_ACK, "\1one");
    scene.next[SERVER] += 4;
    say(&scene, CLIENT, BB_TCP_ACK | BB_TCP_RST, "");
    scene.now_ns += BB_FLOW_IDLE_NS;
    scene.port++;
    datagram(&scene, CLIENT, "\1x");
    ck_assert_uint_eq(bb_capture_connections(scene.capture), 1);
    ck_assert_uint_eq(scene.loss.count[BB_TCP_RESETS], 1);
    ck_assert_uint_eq(scene.loss.count[BB_TCP_GAP_BYTES], 4);
    scene_end(&scene, "call:4 msg:2 ");
}
END_TEST

START_TEST(tails_open_nothing)
{
    Scene scene;
    scene_begin(&scene, 100000);
    say(&scene, CLIENT, BB_TCP_ACK, "");
    say(&scene, SERVER, BB_TCP_FIN | BB_TCP_ACK, "");
    say(&scene, CLIENT, BB_TCP_RST, "");
    say(&scene, CLIENT, BB_TCP_SYN | BB_TCP_RST, "");
    ck_assert_uint_eq(scene.loss.count[BB_SEEN_CONNECTIONS], 0);
    scene_end(&scene, "");
}
END_TEST

// ---- fragments ----------------------------------------------------------------------------------

START_TEST(a_datagram_lasts_until_its_last_fragment)
{
    Scene scene;
    BbPacket packet = {.transport = BB_TRANSPORT_UDP, .ip_id = 1, .took_ns = 3000};
    scene_begin(&scene, 100000);
    push(&scene, CLIENT, packet, "\1question");
    scene_end(&scene, "msg:9 ");
    ck_assert_int_eq(scene.lasted_ns, 3000);
}
END_TEST

// ---- silence ------------------------------------------------------------------------------------

// Closed, empty and UDP flows go when another comes a minute later; those that talk stay.
START_TEST(idle_flows_expire)
{
    Scene scene;
    scene_begin(&scene, 100000);
    talk_and_close(&scene);
    scene.port++;
    say(&scene, CLIENT, BB_TCP_SYN, "");
    scene.port++;
    datagram(&scene, CLIENT, "\1question");
    scene.port++;
    open_connection(&scene, 1, 1);
    say(&scene, CLIENT, BB_TCP_ACK, "\1long");
    ck_assert_uint_eq(bb_capture_connections(scene.capture), 4);
    scene.now_ns += BB_FLOW_IDLE_NS - SECOND;
    scene.port++;
    datagram(&scene, CLIENT, "\1x");
    ck_assert_uint_eq(bb_capture_connections(scene.capture), 5);
    scene.now_ns += SECOND;
    scene.port++;
    datagram(&scene, CLIENT, "\1y");
    ck_assert_uint_eq(bb_capture_connections(scene.capture), 3);
    ck_assert_str_eq(scene.told->str, "call:4 ret:4 msg:9 ");
    ck_assert_uint_eq(scene.loss.count[BB_EVICTED_CONNECTIONS], 0);
    scene_end(&scene, "call:4 ret:4 msg:9 msg:2 msg:2 msg:5 ");
}
END_TEST

// A minute later it is another flow, with or without one in between that ends those that are idle.
START_TEST(idle_flows_are_not_found)
{
    for (guint between = 0; between < 2; between++) {
        Scene scene;
        scene_begin(&scene, 100000);
        datagram(&scene, CLIENT, "\1x");
        guint16 port = scene.port;
        scene.now_ns += BB_FLOW_IDLE_NS - SECOND;
        datagram(&scene, CLIENT, "\1y");
        ck_assert_uint_eq(scene.loss.count[BB_SEEN_CONNECTIONS], 1);
        scene.now_ns += BB_FLOW_IDLE_NS;
        scene.port++;
        if (between)
            datagram(&scene, CLIENT, "\1b");
        scene.port = port;
        datagram(&scene, CLIENT, "\1z");
        ck_assert_uint_eq(scene.loss.count[BB_SEEN_CONNECTIONS], 2 + between);
        scene_end(&scene, between ? "msg:2 msg:2 msg:2 msg:2 " : "msg:2 msg:2 msg:2 ");
    }
}
END_TEST

// ---- bytes held ---------------------------------------------------------------------------------

// Of two connections that wait for a missing piece, the one that waits longer gives up.
START_TEST(who_waits_longest_gives_up_first)
{
    g_autofree char *text = g_strnfill(600, '\1');
    Scene scene;
    scene_begin(&scene, 1000);
    open_connection(&scene, 1000, 2000);
    scene.port++;
    open_connection(&scene, 1000, 2000);
    say_at(&scene, CLIENT, 1101, BB_TCP_ACK, text);
    gsize one = bb_capture_held_bytes(scene.capture);
    ck_assert_uint_ge(one, 600);
    scene.port--;
    text[500] = '\0';
    say_at(&scene, CLIENT, 1101, BB_TCP_ACK, text);
    ck_assert_uint_eq(bb_capture_held_bytes(scene.capture), one - 100);
    ck_assert_uint_eq(scene.loss.count[BB_TCP_BUFFER_LIMIT], 1);
    ck_assert_uint_eq(scene.loss.count[BB_TCP_GAPS], 1);
    // Both are understood further on, the second one without loss.
    text[100] = '\0';
    say_at(&scene, CLIENT, 1001, BB_TCP_ACK, text);
    scene.port++;
    scene.next[CLIENT] = 1701;
    say(&scene, SERVER, BB_TCP_ACK, "\2reply");
    scene_end(&scene, "msg:600 call:600 ret:6 ");
}
END_TEST

// What waits to be reset is so then.
START_TEST(who_gives_up_may_be_over)
{
    g_autofree char *text = g_strnfill(1000, '\1');
    Scene scene;
    scene_begin(&scene, 1000);
    open_connection(&scene, 1000, 2000);
    say(&scene, CLIENT, BB_TCP_ACK, "\1one");
    scene.next[SERVER] += 4;
    say(&scene, CLIENT, BB_TCP_ACK | BB_TCP_RST, "");
    scene.port++;
    open_connection(&scene, 1000, 2000);
    ck_assert_uint_eq(bb_network_count(bb_capture_network(scene.capture)), 0);
    say_at(&scene, CLIENT, 1101, BB_TCP_ACK, text);
    ck_assert_uint_eq(scene.loss.count[BB_TCP_RESETS], 1);
    ck_assert_uint_eq(bb_network_count(bb_capture_network(scene.capture)), 1); // it is over
    scene_end(&scene, "call:4 msg:1000 ");
}
END_TEST

// A header that comes byte by byte holds the stamps of many packets too.
START_TEST(stamps_count_to_the_bytes_held)
{
    Scene scene;
    scene_begin(&scene, 100000);
    open_connection(&scene, 1000, 2000);
    say(&scene, CLIENT, BB_TCP_ACK, "GET /");
    for (guint i = 0; i < 400; i++)
        say(&scene, CLIENT, BB_TCP_ACK, "a");
    ck_assert_uint_ge(bb_capture_held_bytes(scene.capture), 400 * sizeof(BbMark) + 405);
    say(&scene, CLIENT, BB_TCP_ACK, " HTTP/1.1\r\n\r\n");
    ck_assert_uint_eq(bb_capture_held_bytes(scene.capture), 0);
    scene_end(&scene, "call:418 ");
}
END_TEST

TEST_MAIN("flow", bounds_are_known_again_later, each_network_has_its_sighting,
          late_copies_are_absorbed, a_closed_connection_is_followed_by_another,
          the_next_connection_needs_no_syn, a_reset_is_outlived, what_crosses_a_reset_is_absorbed,
          a_reset_does_not_overtake_a_reply, a_reset_that_waits_expires, tails_open_nothing,
          a_datagram_lasts_until_its_last_fragment, idle_flows_expire, idle_flows_are_not_found,
          who_waits_longest_gives_up_first, who_gives_up_may_be_over,
          stamps_count_to_the_bytes_held)
