// SPDX-License-Identifier: Apache-2.0
// Flows: which packets are one connection, where ports are used again, what is absorbed after the
// end, what idles away, and who gives up bytes first. (Eviction at the limit: test_limits.c.)
#include "tests/unit/test.h"

#include "capture/capture.h"
#include "capture/dialog.h"
#include "capture/flow.h"

#define SECOND (G_GINT64_CONSTANT(1000000000))

enum { CLIENT, SERVER };

typedef struct Scene {
    BbNames *names;
    BbNodes *nodes;
    BbLoss loss;
    BbCapture *capture;
    GString *told;   // kind and bytes of each message, in order of arrival
    gint64 now_ns;   // of the next packet
    guint16 port;    // of the client
    guint32 next[2]; // sequence numbers of client and server
} Scene;

static bool tell(const BbMessage *message, gpointer user, GError **error)
{
    static const char *const kinds[] = {[BB_CALL] = "call", [BB_RETURN] = "ret", [BB_FREE] = "msg"};
    Scene *scene = user;
    g_string_append_printf(scene->told, "%s:%" G_GUINT64_FORMAT " ", kinds[message->kind],
                           message->bytes);
    return true;
}

static void scene_begin(Scene *scene, gsize max_held_bytes)
{
    BbCaptureOptions options = {.max_connections = 100, .max_held_bytes = max_held_bytes};
    *scene = (Scene){
        .names = bb_names_new(),
        .told = g_string_new(NULL),
        .now_ns = 1000 * SECOND,
        .port = 40000,
    };
    scene->nodes = bb_nodes_new(scene->names, false);
    scene->capture =
        bb_capture_new(&options, scene->names, scene->nodes, &scene->loss, tell, scene);
}

// Ends the capture, then checks what was told in all.
static void scene_end(Scene *scene, const char *told)
{
    ck_assert(bb_capture_finish(scene->capture, NULL));
    ck_assert_str_eq(scene->told->str, told);
    ck_assert_uint_eq(bb_capture_connections(scene->capture), 0);
    ck_assert_uint_eq(bb_capture_held_bytes(scene->capture), 0);
    bb_capture_free(scene->capture);
    bb_nodes_free(scene->nodes);
    bb_names_free(scene->names);
    g_string_free(scene->told, TRUE);
}

static void push(Scene *scene, guint side, BbPacket packet, const char *text)
{
    const BbAddress ends[2] = {bb_address_v4((const guint8[]){10, 0, 0, 1}),
                               bb_address_v4((const guint8[]){10, 0, 0, 2})};
    const guint16 ports[2] = {scene->port, 9999};
    packet.time_ns = scene->now_ns;
    packet.source = ends[side];
    packet.target = ends[!side];
    packet.source_port = ports[side];
    packet.target_port = ports[!side];
    packet.payload = (const guint8 *)text;
    packet.captured = packet.length = (guint32)strlen(text);
    scene->now_ns += SECOND / 1000;
    ck_assert(bb_capture_packet(scene->capture, &packet, NULL));
}

// What comes next in the connection.
static void say(Scene *scene, guint side, guint8 flags, const char *text)
{
    BbPacket packet = {
        .transport = BB_TRANSPORT_TCP,
        .tcp_flags = flags,
        .seq = scene->next[side],
        .ack = flags & BB_TCP_ACK ? scene->next[!side] : 0,
    };
    push(scene, side, packet, text);
    scene->next[side] += (guint32)strlen(text) + (flags & (BB_TCP_SYN | BB_TCP_FIN) ? 1 : 0);
}

// Something at another place of the stream: a copy, a piece that came early.
static void say_at(Scene *scene, guint side, guint32 seq, guint8 flags, const char *text)
{
    BbPacket packet = {
        .transport = BB_TRANSPORT_TCP,
        .tcp_flags = flags,
        .seq = seq,
        .ack = scene->next[!side],
    };
    push(scene, side, packet, text);
}

static void datagram(Scene *scene, guint side, const char *text)
{
    push(scene, side, (BbPacket){.transport = BB_TRANSPORT_UDP, .ip_id = (guint16)scene->now_ns},
         text);
}

static void open_connection(Scene *scene, guint32 client_isn, guint32 server_isn)
{
    scene->next[CLIENT] = client_isn;
    scene->next[SERVER] = server_isn;
    say(scene, CLIENT, BB_TCP_SYN, "");
    say(scene, SERVER, BB_TCP_SYN | BB_TCP_ACK, "");
    say(scene, CLIENT, BB_TCP_ACK, "");
}

static void close_connection(Scene *scene)
{
    say(scene, CLIENT, BB_TCP_FIN | BB_TCP_ACK, "");
    say(scene, SERVER, BB_TCP_FIN | BB_TCP_ACK, "");
    say(scene, CLIENT, BB_TCP_ACK, "");
}

// ---- ports used again ---------------------------------------------------------------------------

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

TEST_MAIN("flow", ports_are_used_again, ports_are_used_again_unseen, a_stray_syn_changes_nothing,
          an_asked_connection_needs_no_answer, an_asked_connection_may_be_unanswered,
          who_calls_is_not_forgotten, ports_of_a_silent_client_are_used_again,
          a_half_open_connection_is_no_gap, a_repeated_syn_is_the_same_connection,
          simultaneous_open, other_numbers_in_between_are_left_out, bounds_are_known_again_later,
          each_network_has_its_sighting, late_copies_are_absorbed,
          a_closed_connection_is_followed_by_another, the_next_connection_needs_no_syn,
          a_reset_is_outlived, what_crosses_a_reset_is_absorbed, a_reset_does_not_overtake_a_reply,
          a_reset_that_waits_expires, tails_open_nothing, idle_flows_expire,
          idle_flows_are_not_found, stamps_count_to_the_bytes_held, who_gives_up_may_be_over,
          who_waits_longest_gives_up_first)
