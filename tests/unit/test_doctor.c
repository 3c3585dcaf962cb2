// SPDX-License-Identifier: Apache-2.0
// The doctor of mirrors: every finding where it is due, and not where it is not; just above and
// just below the figure from which on it is told.
#include "tests/unit/doctor_scene.h"

// ---- a mirror that is good ----------------------------------------------------------------------

START_TEST(a_good_mirror_is_healthy)
{
    Scene scene = scene_begin();
    scene_connections(&scene, 20);
    g_autofree char *found = scene_findings(&scene);
    ck_assert_str_eq(found, "");
    ck_assert_int_eq(bb_doctor_verdict(scene.doctor), BB_VERDICT_HEALTHY);
    BbDoctorSummary seen = bb_doctor_summary(scene.doctor);
    ck_assert_uint_eq(seen.frames, 160);
    ck_assert_uint_eq(seen.tcp, 160);
    ck_assert_uint_eq(seen.talks, 20);
    ck_assert_uint_eq(seen.both_ways, 20);
    ck_assert_uint_eq(seen.calls, 20);
    ck_assert_uint_eq(seen.returns, 20);
    ck_assert_int_eq(seen.first_ns, SCENE_BEGIN_NS);
    ck_assert_int_eq(seen.last_ns, SCENE_BEGIN_NS + 159 * SCENE_STEP_NS);
    bb_doctor_free(scene.doctor);
}
END_TEST

START_TEST(connections_joined_in_the_middle_are_fine)
{
    Scene scene = scene_begin();
    scene.mute[CLIENT] = scene.mute[SERVER] = true;
    scene_open(&scene);
    scene.mute[CLIENT] = scene.mute[SERVER] = false;
    for (guint i = 0; i < 50; i++)
        scene_ask(&scene);
    scene_end(&scene, "");
}
END_TEST

START_TEST(unanswered_handshakes_and_resets_are_fine)
{
    Scene scene = scene_begin();
    scene_connections(&scene, 5);
    for (guint i = 0; i < 50; i++) {
        scene.port++;
        scene_tcp(&scene, CLIENT, SYN, 0);
        scene_tcp(&scene, CLIENT, SYN, 0);
        if (i % 2)
            scene_tcp(&scene, SERVER, RST | ACK, 0);
    }
    scene_end(&scene, "");
}
END_TEST

// What the network lost itself is sent again before it is acknowledged.
START_TEST(retransmissions_are_fine)
{
    Scene scene = scene_begin();
    scene_open(&scene);
    for (guint i = 0; i < 100; i++) {
        guint32 at = scene.next[CLIENT];
        scene_lose(&scene, CLIENT, 1000);
        guint32 next = scene.next[CLIENT];
        guint32 acked = scene.next[SERVER];
        scene.next[CLIENT] = at;
        scene_tcp(&scene, CLIENT, ACK, 1000);
        ck_assert_uint_eq(scene.next[CLIENT], next);
        ck_assert_uint_eq(scene.next[SERVER], acked);
        scene_tcp(&scene, SERVER, ACK, 0);
    }
    scene_end(&scene, "");
}
END_TEST

// ---- traffic ------------------------------------------------------------------------------------

START_TEST(nothing_came)
{
    Scene scene = scene_begin();
    scene_end(&scene, "sick silent 0/0");
}
END_TEST

START_TEST(only_what_goes_to_everybody)
{
    for (guint others = 0; others < 2; others++) { // 1 of 100, 1 of 99
        Scene scene = scene_begin();
        scene_pad(&scene, 1);
        scene.to_many = true;
        scene_pad(&scene, 99 - others);
        scene_end(&scene, others ? "" : "sick no_mirror 99/100");
    }
}
END_TEST

static void send_arp(Scene *scene)
{
    Frame *frame = frame_payload(28);
    frame_ethernet(frame, 0x0806);
    scene_raw(scene, frame);
    g_byte_array_unref(frame);
}

START_TEST(no_ip)
{
    for (guint count = 19; count <= 20; count++) {
        Scene scene = scene_begin();
        for (guint i = 0; i < count; i++)
            send_arp(&scene);
        scene_end(&scene, count == 19 ? "" : "sick no_ip 20/20");
    }
    Scene scene = scene_begin();
    for (guint i = 0; i < 100; i++)
        send_arp(&scene);
    scene_pad(&scene, 1);
    scene_end(&scene, "");
}
END_TEST

START_TEST(neither_tcp_nor_udp)
{
    Scene scene = scene_begin();
    for (guint i = 0; i < 30; i++) {
        Frame *frame = frame_payload(64);
        scene_ipv4(&scene, frame, i % 2, 50, 0); // ESP
        scene_send(&scene, frame, i % 2);
    }
    scene_end(&scene, "sick no_transport 30/30");
}
END_TEST

START_TEST(link_type_that_cannot_be_read)
{
    static const struct {
        guint others;
        const char *found;
    } cases[] = {
        {1, "sick link_type 1/1"},
        {5, "sick link_type 1/5"},
        {6, "warning link_type 1/6"},
        {1000, "warning link_type 1/1000"},
        {1001, ""},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Scene scene = scene_begin();
        scene_pad(&scene, cases[i].others - 1);
        scene.link_type = 147; // for private use
        scene_pad(&scene, 1);
        scene_end(&scene, cases[i].found);
    }
}
END_TEST

START_TEST(headers_that_make_no_sense)
{
    for (guint bad = 2; bad <= 3; bad++) {
        Scene scene = scene_begin();
        scene_pad(&scene, 100);
        for (guint i = 0; i < bad; i++) {
            Frame *frame = frame_payload(20); // no IP at all
            scene_send(&scene, frame, CLIENT);
        }
        scene_end(&scene, bad == 2 ? "" : "warning bad_headers 3/103");
    }
}
END_TEST

// ---- half a mirror ------------------------------------------------------------------------------

START_TEST(half_a_mirror)
{
    static const struct {
        guint halves, wholes;
        const char *found;
    } cases[] = {
        {1, 0, "sick one_way 1/1"},
        {1, 4, "sick one_way 1/5"},
        {1, 5, "warning one_way 1/6"},
        {1, 19, "warning one_way 1/20"},
        {1, 20, ""},
    };
    for (guint i = 0; i < 2 * G_N_ELEMENTS(cases); i++) {
        Scene scene = scene_begin();
        scene_connections(&scene, cases[i / 2].wholes);
        scene.mute[i % 2] = true;
        scene_connections(&scene, cases[i / 2].halves);
        scene_end(&scene, cases[i / 2].found);
    }
}
END_TEST

START_TEST(half_a_mirror_says_who_is_silent)
{
    Scene scene = scene_begin();
    scene.mute[SERVER] = true;
    scene_connections(&scene, 3);
    const GArray *findings = bb_doctor_finish(scene.doctor);
    ck_assert_uint_eq(findings->len, 1);
    const BbDoctorFinding *finding = &g_array_index(findings, BbDoctorFinding, 0);
    ck_assert_int_eq(finding->sure, BB_SURE_CERTAIN);
    ck_assert_uint_eq(finding->n_places, 1);
    ck_assert_str_eq(finding->place[0].text, "nothing from 10.0.0.2");
    ck_assert_uint_eq(finding->place[0].count, 3);
    ck_assert_int_eq(bb_doctor_verdict(scene.doctor), BB_VERDICT_SICK);
    bb_doctor_free(scene.doctor);
}
END_TEST

START_TEST(short_ends_are_not_half_a_mirror)
{
    for (guint acks = 2; acks <= 3; acks++) {
        Scene scene = scene_begin();
        scene_pad(&scene, 20);
        for (guint i = 0; i < acks; i++)
            scene_tcp(&scene, CLIENT, ACK, 100);
        scene_end(&scene, acks == 2 ? "" : "sick one_way 1/1");
    }
}
END_TEST

START_TEST(datagrams_are_judged_where_answers_are_due)
{
    for (guint i = 0; i < 4; i++) {
        static const guint16 ports[] = {53, 514};
        Scene scene = scene_begin();
        scene_pad(&scene, 20);
        scene.port++;
        for (guint n = 0; n < 2 + i / 2; n++)
            scene_udp(&scene, CLIENT, ports[i % 2], 30);
        scene_end(&scene, i == 2 ? "sick one_way 1/1" : "");
    }
}
END_TEST

// ---- loss ---------------------------------------------------------------------------------------

START_TEST(drops_on_this_host)
{
    static const struct {
        guint64 received, dropped;
        const char *found;
    } cases[] = {
        {100, 0, ""},
        {100000, 1, "warning kernel_drops 1/100000"},
        {100, 1, "sick kernel_drops 1/100"},
        {101, 1, "warning kernel_drops 1/101"},
        {0, 1, "warning kernel_drops 1/161"}, // a file: what was received is not told
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Scene scene = scene_begin();
        scene_connections(&scene, cases[i].received ? 1 : 20);
        BbLoss *loss = bb_doctor_loss(scene.doctor);
        loss->count[BB_KERNEL_RECEIVED] = cases[i].received;
        loss->count[BB_KERNEL_DROPPED] = cases[i].dropped;
        scene_end(&scene, cases[i].found);
    }
    Scene scene = scene_begin();
    scene_connections(&scene, 1);
    bb_doctor_loss(scene.doctor)->count[BB_INTERFACE_DROPPED] = 2;
    scene_end(&scene, "sick interface_drops 2/10");
}
END_TEST

// One request of 100 bytes is lost among others; whole: all bytes that there were.
START_TEST(acknowledged_and_never_seen)
{
    static const struct {
        guint asked; // besides the one that was lost: 1,000 bytes each
        const char *found;
    } cases[] = {
        {8, "sick unseen 100/9002"},
        {9, "warning unseen 100/10002"},
        {998, "warning unseen 100/999002"},
        {999, ""},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Scene scene = scene_begin();
        scene_open(&scene);
        for (guint n = 0; n < cases[i].asked; n++)
            scene_ask(&scene);
        scene_lose(&scene, CLIENT, 100);
        scene_tcp(&scene, SERVER, ACK, 400);
        scene_tcp(&scene, SERVER, ACK, 500); // one alone is not believed
        scene_end(&scene, cases[i].found);
    }
}
END_TEST

START_TEST(loss_says_where)
{
    Scene scene = scene_begin();
    scene_open(&scene);
    scene_ask(&scene);
    scene_lose(&scene, CLIENT, 100);
    scene_lose(&scene, SERVER, 900);
    scene_close(&scene);
    const GArray *findings = bb_doctor_finish(scene.doctor);
    ck_assert_uint_eq(findings->len, 1);
    const BbDoctorFinding *finding = &g_array_index(findings, BbDoctorFinding, 0);
    ck_assert_str_eq(finding->detail, "in 1 TCP connection");
    ck_assert_str_eq(finding->place[0].text, "10.0.0.1 -> 10.0.0.2:80");
    ck_assert_uint_eq(finding->place[0].count, 1000);
    bb_doctor_free(scene.doctor);
}
END_TEST

START_TEST(ports_used_again_are_no_loss)
{
    Scene scene = scene_begin();
    for (guint i = 0; i < 50; i++) {
        scene.port = 30000;
        scene_connections(&scene, 1);
        scene.port = 30000;
        scene.next[CLIENT] = 77777777u * i;
        scene.next[SERVER] = 99999999u * i;
        scene_tcp(&scene, CLIENT, SYN, 0);
        scene_tcp(&scene, SERVER, SYN | ACK, 0);
        scene_ask(&scene);
    }
    scene_end(&scene, "");
}
END_TEST

// ---- the others ---------------------------------------------------------------------------------

START_TEST(doubled_frames)
{
    static const struct {
        guint twice, others;
        const char *found;
    } cases[] = {
        {9, 10, ""},
        {10, 10, "warning doubled 10/30"},
        {10, 980, "warning doubled 10/1000"},
        {10, 982, ""},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Scene scene = scene_begin();
        scene.twice = true;
        scene_pad(&scene, cases[i].twice);
        scene.twice = false;
        scene_pad(&scene, cases[i].others);
        scene_end(&scene, cases[i].found);
    }
}
END_TEST

START_TEST(doubled_connections_are_nothing_else)
{
    Scene scene = scene_begin();
    scene.twice = true;
    scene_connections(&scene, 20);
    scene_end(&scene, "warning doubled 160/320");
}
END_TEST

START_TEST(vlans)
{
    static const struct {
        guint16 client, server;
        const char *found;
    } cases[] = {
        {0, 0, ""},
        {12, 12, ""},
        {12, 0, "warning vlan_one_way 1/100"},
        {0, 12, "warning vlan_one_way 1/100"},
        {12, 13, "warning vlan_mixed 1/100"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        for (guint others = 99; others <= 100; others++) {
            Scene scene = scene_begin();
            scene_connections(&scene, others);
            scene.vlan[CLIENT] = cases[i].client;
            scene.vlan[SERVER] = cases[i].server;
            scene_connections(&scene, 1);
            scene_end(&scene, others == 99 ? cases[i].found : "");
        }
    }
    Scene scene = scene_begin();
    scene_open(&scene);
    scene.vlan[CLIENT] = 7; // from here on
    scene_ask(&scene);
    scene_close(&scene);
    scene_end(&scene, "warning vlan_mixed 1/1");
}
END_TEST

START_TEST(tunnels)
{
    for (guint i = 0; i < 4; i++) {
        Scene scene = scene_begin();
        scene.tunnel[CLIENT] = i & 1;
        scene.tunnel[SERVER] = i & 2;
        scene_connections(&scene, 10);
        scene_end(&scene, i == 1 || i == 2 ? "warning tunnel_one_way 10/10" : "");
    }
}
END_TEST

START_TEST(giants)
{
    static const struct {
        guint count, others;
        guint32 length;
        guint16 mss;
        const char *found;
    } cases[] = {
        {3, 597, 1461, 1460, "warning giants 3/600"},
        {3, 598, 1461, 1460, ""},
        {2, 10, 1461, 1460, ""},
        {3, 10, 1460, 1460, ""},
        {3, 10, 8948, 8960, ""}, // jumbo frames
        {3, 10, 8961, 8960, "warning giants 3/13"},
        {3, 10, 8948, 0, ""}, // not known what is taken: may be jumbo frames
        {3, 10, 9216, 0, ""},
        {3, 10, 9217, 0, "warning giants 3/13"},
        {3, 10, 2896, 0, "warning giants 3/13"}, // two of 1448
        {3, 10, 1448, 0, ""},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Scene scene = scene_begin();
        scene.mss = cases[i].mss;
        scene_open(&scene);
        for (guint n = 0; n < cases[i].others; n++)
            scene_tcp(&scene, CLIENT, ACK, 10);
        for (guint n = 0; n < cases[i].count; n++)
            scene_tcp(&scene, SERVER, ACK, cases[i].length);
        scene_end(&scene, cases[i].found);
    }
}
END_TEST

// A datagram of two fragments, the first or the second of which is lost.
static void send_fragments(Scene *scene, bool first, bool second)
{
    Frame *head = frame_payload(16), *tail = frame_payload(16);
    FRAME_PUT(head, FRAME_16(20000), FRAME_16(9999), FRAME_16(40), 0, 0);
    scene_ipv4(scene, head, CLIENT, 17, 0x2000);
    scene->id--;
    scene_ipv4(scene, tail, CLIENT, 17, 3);
    scene->mute[CLIENT] = !first;
    scene_send(scene, head, CLIENT);
    scene->mute[CLIENT] = !second;
    scene_send(scene, tail, CLIENT);
    scene->mute[CLIENT] = false;
}

START_TEST(fragments)
{
    static const struct {
        guint broken, whole;
        const char *found;
    } cases[] = {
        {0, 100, ""},
        {2, 10, ""},
        {3, 297, "warning fragments 3/300"},
        {3, 298, ""},
    };
    for (guint i = 0; i < 2 * G_N_ELEMENTS(cases); i++) {
        Scene scene = scene_begin();
        for (guint n = 0; n < cases[i / 2].whole; n++)
            send_fragments(&scene, true, true);
        for (guint n = 0; n < cases[i / 2].broken; n++)
            send_fragments(&scene, i % 2, !(i % 2));
        scene_end(&scene, cases[i / 2].found);
    }
}
END_TEST

START_TEST(the_worst_stands_first)
{
    Scene scene = scene_begin();
    scene.checksum = SUM_PSEUDO; // a note
    scene.twice = true;          // a warning
    scene.mute[SERVER] = true;   // sick
    scene_connections(&scene, 10);
    scene_end(&scene, "sick one_way 10/10; warning doubled 50/100; note checksum_offload 50/50");
}
END_TEST

START_TEST(conversations_beyond_the_limit_are_counted)
{
    Scene scene = scene_begin();
    scene.port = 0;
    for (guint i = 0; i < 65536; i++, scene.port++)
        scene_udp(&scene, CLIENT, 9999, 1);
    scene_udp(&scene, CLIENT, 9998, 1);
    scene_udp(&scene, SERVER, 9998, 1);
    scene_udp(&scene, CLIENT, 9999, 1); // known
    g_autofree char *found = scene_findings(&scene);
    ck_assert_str_eq(found, "");
    BbDoctorSummary seen = bb_doctor_summary(scene.doctor);
    ck_assert_uint_eq(seen.talks, 65536);
    ck_assert_uint_eq(seen.unwatched_packets, 2);
    bb_doctor_free(scene.doctor);
}
END_TEST

TEST_MAIN("doctor", a_good_mirror_is_healthy, connections_joined_in_the_middle_are_fine,
          unanswered_handshakes_and_resets_are_fine, retransmissions_are_fine, nothing_came,
          only_what_goes_to_everybody, no_ip, neither_tcp_nor_udp, link_type_that_cannot_be_read,
          headers_that_make_no_sense, half_a_mirror, half_a_mirror_says_who_is_silent,
          short_ends_are_not_half_a_mirror, datagrams_are_judged_where_answers_are_due,
          drops_on_this_host, acknowledged_and_never_seen, loss_says_where,
          ports_used_again_are_no_loss, doubled_frames, doubled_connections_are_nothing_else, vlans,
          tunnels, giants, fragments, the_worst_stands_first,
          conversations_beyond_the_limit_are_counted)
