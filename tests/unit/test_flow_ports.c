// SPDX-License-Identifier: Apache-2.0
// Flows: which packets are one connection, where ports are used again.
#include "tests/unit/flow_scene.h"

// The end of the first connection was not seen; wherever the second one's numbers begin.
START_TEST(ports_are_used_again)
{
    static const guint32 isns[] = {5000, 900, 0x7fffffff, 0x80000100, 0xfffff000};
    for (guint i = 0; i < G_N_ELEMENTS(isns); i++) {
        Scene scene;
        scene_begin(&scene, 100000);
        open_connection(&scene, 1000, 2000);
        say(&scene, CLIENT, BB_TCP_ACK, "\1one");
        say(&scene, SERVER, BB_TCP_ACK, "\2first");
        open_connection(&scene, isns[i], 3000);
        say(&scene, CLIENT, BB_TCP_ACK, "\1second");
        say(&scene, SERVER, BB_TCP_ACK, "\2two");
        ck_assert_uint_eq(scene.loss.count[BB_SEEN_CONNECTIONS], 2);
        ck_assert_uint_eq(scene.loss.count[BB_TCP_ODD], 0);
        scene_end(&scene, "call:4 ret:6 call:7 ret:4 ");
    }
}
END_TEST

// A SYN with another number on a connection that talks (forged, or its sender has forgotten) is
// answered by an acknowledgement of the old one (RFC 5961, section 4), and nothing has changed.
START_TEST(a_stray_syn_changes_nothing)
{
    for (guint side = 0; side < 2; side++) {
        Scene scene;
        scene_begin(&scene, 100000);
        open_connection(&scene, 1000, 2000);
        say(&scene, CLIENT, BB_TCP_ACK, "\1one");
        for (guint i = 0; i < 3; i++) {
            scene.now_ns += SECOND;
            say_at(&scene, side, 0x12345 << i / 2, BB_TCP_SYN, "");
            say(&scene, !side, BB_TCP_ACK, "");
        }
        say(&scene, SERVER, BB_TCP_ACK, "\2two");
        say(&scene, CLIENT, BB_TCP_ACK, "\1second");
        say(&scene, SERVER, BB_TCP_ACK, "\2reply");
        close_connection(&scene);
        ck_assert_uint_eq(scene.loss.count[BB_SEEN_CONNECTIONS], 1);
        ck_assert_uint_eq(scene.loss.count[BB_TCP_GAPS], 0);
        scene_end(&scene, "call:4 ret:4 call:7 ret:6 ");
        ck_assert_uint_eq(scene.loss.count[BB_TCP_ODD], 3);
    }
}
END_TEST

// Nor where it comes before the first request.
START_TEST(a_stray_syn_changes_nothing_in_silence)
{
    for (guint side = 0; side < 2; side++) {
        Scene scene;
        scene_begin(&scene, 100000);
        open_connection(&scene, 1000, 2000);
        say_at(&scene, side, 0x12345678, BB_TCP_SYN, "");
        say(&scene, !side, BB_TCP_ACK, "");
        say(&scene, CLIENT, BB_TCP_ACK, "\1one");
        say(&scene, SERVER, BB_TCP_ACK, "\2first");
        close_connection(&scene);
        ck_assert_uint_eq(scene.loss.count[BB_SEEN_CONNECTIONS], 1);
        scene_end(&scene, "call:4 ret:6 ");
        ck_assert_uint_eq(scene.loss.count[BB_TCP_ODD], 1);
    }
}
END_TEST

// Where nothing is heard of either connection after it, it was not answered: one more that was not.
START_TEST(an_asked_connection_may_be_unanswered)
{
    for (guint denied = 0; denied < 2; denied++) {
        Scene scene;
        scene_begin(&scene, 100000);
        open_connection(&scene, 1000, 2000);
        say(&scene, CLIENT, BB_TCP_ACK, "\1one");
        say(&scene, SERVER, BB_TCP_ACK, "\2two");
        for (guint i = 0; i < 3; i++) {
            scene.now_ns += SECOND;
            say_at(&scene, CLIENT, 0x8000000, BB_TCP_SYN, "");
        }
        if (denied)
            say(&scene, SERVER, BB_TCP_ACK, "");
        ck_assert(bb_capture_finish(scene.capture, NULL));
        const BbNetwork *network = bb_capture_network(scene.capture);
        ck_assert_uint_eq(bb_network_count(network), 1);
        const BbNetworkEdge *edge = bb_network_at(network, 0);
        ck_assert_uint_eq(edge->connections, denied ? 1 : 2);
        ck_assert_uint_eq(edge->unanswered, !denied);
        ck_assert_uint_eq(edge->packets, denied ? 6 : 8);
        ck_assert_uint_eq(edge->retransmitted, denied ? 0 : 2);
        ck_assert_uint_eq(scene.loss.count[BB_SEEN_CONNECTIONS], denied ? 1 : 2);
        ck_assert_uint_eq(scene.loss.count[BB_TCP_ODD], denied ? 3 : 0);
        scene_end(&scene, "call:4 ret:4 ");
    }
}
END_TEST

// Of the handshake that uses ports again only the SYN was seen, and of the rest one direction, or
// not its beginning.
START_TEST(an_asked_connection_needs_no_answer)
{
    for (guint lost = 0; lost < 2; lost++) {
        Scene scene;
        scene_begin(&scene, 100000);
        open_connection(&scene, 1000, 2000);
        say(&scene, CLIENT, BB_TCP_ACK, "\1one");
        scene.next[CLIENT] = 0x8000000;
        scene.next[SERVER] = 0x30000001;
        say(&scene, CLIENT, BB_TCP_SYN, "");
        say_at(&scene, CLIENT, 0x8000000, BB_TCP_SYN, "");
        scene.next[CLIENT] += lost ? 4 : 0;
        say(&scene, CLIENT, BB_TCP_ACK, "\1second");
        ck_assert_uint_eq(scene.loss.count[BB_SEEN_CONNECTIONS], 2);
        scene_end(&scene, "msg:4 msg:7 ");
        ck_assert_uint_eq(scene.loss.count[BB_TCP_GAP_BYTES], lost ? 4 : 0);
        ck_assert_uint_eq(scene.loss.count[BB_TCP_ODD], 0);
    }
}
END_TEST

// The whole handshake was missed, wherever the numbers of both sides begin: after some segments,
// the calls are understood again.
START_TEST(ports_are_used_again_unseen)
{
    static const guint32 isns[][2] = {
        {0x10000000, 0x20000000}, {0x50000000, 0x80000000}, {0x6b000000, 0x58000000},
        {0x58000000, 0x6b000000}, {0xd0000000, 0x60001000},
    };
    for (guint i = 0; i < G_N_ELEMENTS(isns); i++) {
        Scene scene;
        scene_begin(&scene, 100000);
        open_connection(&scene, 0x60000000, 0x60000000);
        say(&scene, CLIENT, BB_TCP_ACK, "\1one");
        say(&scene, SERVER, BB_TCP_ACK, "\2two");
        g_string_truncate(scene.told, 0);
        scene.next[CLIENT] = isns[i][CLIENT];
        scene.next[SERVER] = isns[i][SERVER];
        for (guint call = 0; call < 10; call++) {
            if (call == 8)
                g_string_truncate(scene.told, 0);
            scene.now_ns += SECOND / 10;
            say(&scene, CLIENT, BB_TCP_ACK, call < 8 ? "\1old" : "\1second");
            say(&scene, SERVER, BB_TCP_ACK, "\2reply");
        }
        scene_end(&scene, "ret:6 call:7 ret:6 call:7 ret:6 "); // a turn ends with the next one
    }
}
END_TEST

// Who called calls, whoever speaks first then, where no port tells.
START_TEST(who_calls_is_not_forgotten)
{
    for (guint bare = 0; bare < 2; bare++) {
        Scene scene;
        scene_begin(&scene, 100000);
        scene.port = 5000;
        open_connection(&scene, 0x60000000, 0x60000000);
        say(&scene, CLIENT, BB_TCP_ACK, "\1one");
        say(&scene, SERVER, BB_TCP_ACK, "\2two");
        scene.next[CLIENT] = 0x10000000;
        scene.next[SERVER] = 0x20000000;
        for (guint i = 0; i < 4; i++) {
            scene.now_ns += SECOND / 10;
            say(&scene, SERVER, BB_TCP_ACK, bare && i < 3 ? "" : "\2new");
        }
        for (guint call = 0; call < 2; call++) {
            say(&scene, CLIENT, BB_TCP_ACK, "\1second");
            say(&scene, SERVER, BB_TCP_ACK, "\2reply");
        }
        ck_assert_uint_eq(scene.loss.count[BB_SEEN_CONNECTIONS], 2);
        ck_assert_uint_eq(scene.loss.count[BB_TCP_MIDSTREAM], 1);
        scene_end(&scene, bare ? "call:4 ret:4 msg:4 call:7 ret:6 call:7 ret:6 "
                               : "call:4 ret:4 msg:8 call:7 ret:6 call:7 ret:6 ");
    }
}
END_TEST

// The client never said anything (a health check of a server that greets).
START_TEST(ports_of_a_silent_client_are_used_again)
{
    Scene scene;
    scene_begin(&scene, 100000);
    open_connection(&scene, 1000, 2000);
    say(&scene, SERVER, BB_TCP_ACK, "\2hello");
    open_connection(&scene, 0x30001000, 0x40000000);
    say(&scene, SERVER, BB_TCP_ACK, "\2hello");
    say(&scene, CLIENT, BB_TCP_ACK, "\1one");
    say(&scene, SERVER, BB_TCP_ACK, "\2two");
    ck_assert_uint_eq(scene.loss.count[BB_TCP_GAPS] + scene.loss.count[BB_TCP_ODD], 0);
    scene_end(&scene, "msg:6 msg:6 call:4 ret:4 ");
}
END_TEST

// RFC 9293, figure 9 and RFC 5961, section 4: the server still has the old connection, and answers
// the new SYN with an acknowledgement of the old one.
START_TEST(a_half_open_connection_is_no_gap)
{
    Scene scene;
    scene_begin(&scene, 100000);
    say(&scene, CLIENT, BB_TCP_SYN, "");
    say_at(&scene, SERVER, 0x70000000, BB_TCP_ACK, "");
    open_connection(&scene, 0, 0x20000000);
    say(&scene, CLIENT, BB_TCP_ACK, "\1one");
    say(&scene, SERVER, BB_TCP_ACK, "\2two");
    say(&scene, CLIENT, BB_TCP_ACK, "\1more");
    ck_assert_str_eq(scene.told->str, "call:4 ret:4 ");
    ck_assert_uint_eq(scene.loss.count[BB_TCP_GAPS], 0);
    scene_end(&scene, "call:4 ret:4 call:5 ");
}
END_TEST

START_TEST(a_repeated_syn_is_the_same_connection)
{
    Scene scene;
    scene_begin(&scene, 100000);
    open_connection(&scene, 1000, 2000);
    say_at(&scene, CLIENT, 1000, BB_TCP_SYN, "");
    say(&scene, CLIENT, BB_TCP_ACK, "\1one");
    say_at(&scene, CLIENT, 1000, BB_TCP_SYN, "");
    say_at(&scene, SERVER, 2000, BB_TCP_SYN | BB_TCP_ACK, "");
    say(&scene, SERVER, BB_TCP_ACK, "\2two");
    say_at(&scene, SERVER, 2000, BB_TCP_SYN | BB_TCP_ACK, "");
    ck_assert_uint_eq(scene.loss.count[BB_SEEN_CONNECTIONS], 1);
    scene_end(&scene, "call:4 ret:4 ");
}
END_TEST

// Both open at once (RFC 9293, figure 8): one connection; who came first calls.
START_TEST(simultaneous_open)
{
    Scene scene;
    scene_begin(&scene, 100000);
    scene.next[CLIENT] = 1000;
    scene.next[SERVER] = 2000;
    say(&scene, CLIENT, BB_TCP_SYN, "");
    say(&scene, SERVER, BB_TCP_SYN, "");
    say_at(&scene, CLIENT, 1000, BB_TCP_SYN | BB_TCP_ACK, "");
    say_at(&scene, SERVER, 2000, BB_TCP_SYN | BB_TCP_ACK, "");
    say(&scene, CLIENT, BB_TCP_ACK, "\1one");
    say(&scene, SERVER, BB_TCP_ACK, "\2two");
    ck_assert_uint_eq(scene.loss.count[BB_SEEN_CONNECTIONS], 1);
    scene_end(&scene, "call:4 ret:4 ");
}
END_TEST

// A firewall that writes new sequence numbers is mirrored on both sides: bursts in turn, of which
// one side is understood.
START_TEST(other_numbers_in_between_are_left_out)
{
    Scene scene;
    scene_begin(&scene, 100000);
    open_connection(&scene, 0x10000000, 0x20000000);
    for (guint call = 0; call < 3; call++) {
        for (guint side = 0; side < 2; side++) {
            guint32 next = scene.next[side];
            scene.next[!side] ^= 0xc0000000;
            for (guint i = 0; i < 5; i++)
                say_at(&scene, side, (next ^ 0xc0000000) + i, BB_TCP_ACK, "\3");
            scene.next[!side] ^= 0xc0000000;
            say(&scene, side, BB_TCP_ACK, side ? "\2reply" : "\1one");
        }
        scene.now_ns += SECOND;
    }
    ck_assert_uint_eq(scene.loss.count[BB_SEEN_CONNECTIONS], 1);
    ck_assert_uint_eq(scene.loss.count[BB_TCP_ODD], 30);
    scene_end(&scene, "call:4 ret:6 call:4 ret:6 call:4 ret:6 ");
}
END_TEST

TEST_MAIN("flow_ports", ports_are_used_again, a_stray_syn_changes_nothing,
          a_stray_syn_changes_nothing_in_silence, an_asked_connection_may_be_unanswered,
          an_asked_connection_needs_no_answer, ports_are_used_again_unseen,
          who_calls_is_not_forgotten, ports_of_a_silent_client_are_used_again,
          a_half_open_connection_is_no_gap, a_repeated_syn_is_the_same_connection,
          simultaneous_open, other_numbers_in_between_are_left_out)
