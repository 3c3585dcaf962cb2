// SPDX-License-Identifier: Apache-2.0
// Resets in TCP reassembly: which are believed, and what they wait for.
#include "tests/unit/tcp_wire.h"

START_TEST(resets_outside_the_window_are_ignored)
{
    Wire wire = {0};
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    stream_init(&wire.side[0], rand, 100);
    stream_init(&wire.side[1], rand, 1);
    handshake(&wire);
    BbPacket packet = packet_of(&wire, 0, 0, 0, 0, BB_TCP_RST);
    packet.seq += 1u << 30;
    push(&wire, 0, packet, MS);
    packet.seq += 1u << 30; // as far as it can be
    push(&wire, 0, packet, MS);
    ck_assert_uint_eq(wire.tcp.reset, 0);
    ck_assert_uint_eq(wire.loss.count[BB_TCP_ODD], 2);
    push(&wire, 0, packet_of(&wire, 0, 0, 0, 0, BB_TCP_RST), MS);
    ck_assert_uint_eq(wire.tcp.reset, 1);
    wire_clear(&wire);
}
END_TEST

// The mirror swapped a reset and the data that it acknowledges: it waits, behind what its own side
// sent before it.
START_TEST(a_reset_waits_for_its_cause)
{
    for (guint fin = 0; fin < 2; fin++) {
        Wire wire = {0};
        g_autoptr(GRand) rand = g_rand_new_with_seed(1);
        stream_init(&wire.side[0], rand, 100);
        stream_init(&wire.side[1], rand, 300);
        handshake(&wire);
        push(&wire, 0, packet_of(&wire, 0, 50, 50, 100, BB_TCP_ACK | (fin ? BB_TCP_FIN : 0)), MS);
        push(&wire, 0, packet_of(&wire, 0, 100, 0, 300, BB_TCP_ACK | BB_TCP_RST), MS);
        push(&wire, 0, packet_of(&wire, 0, 100, 0, 300, BB_TCP_ACK | BB_TCP_RST), MS);
        push(&wire, 0, packet_of(&wire, 0, 0, 50, 0, BB_TCP_ACK), MS);
        ck_assert_uint_eq(wire.side[0].at, 50);
        push(&wire, 1, packet_of(&wire, 1, 0, 100, 0, BB_TCP_ACK), MS);
        ck_assert_uint_eq(wire.side[0].at, 100);
        ck_assert_uint_eq(wire.side[0].closed, fin);
        ck_assert_uint_eq(wire.tcp.reset, 0);
        push(&wire, 1, packet_of(&wire, 1, 100, 200, 100, BB_TCP_ACK), MS);
        ck_assert_uint_eq(wire.tcp.reset, 1);
        ck_assert_uint_eq(wire.side[1].at, 300);
        ck_assert_uint_eq(wire.loss.count[BB_TCP_RESETS], 1);
        ck_assert_uint_eq(wire.loss.count[BB_TCP_GAPS], 0);
        ck_assert_uint_eq(bb_tcp_held(&wire.tcp), 0);
        wire_clear(&wire);
    }
}
END_TEST

// What it acknowledges was not captured: it waits as long as for any such hole. What was lost
// before it is not asked for.
START_TEST(a_reset_does_not_wait_forever)
{
    for (guint forced = 0; forced < 2; forced++) {
        Wire wire = {0};
        g_autoptr(GRand) rand = g_rand_new_with_seed(1);
        stream_init(&wire.side[0], rand, 100);
        stream_init(&wire.side[1], rand, 300);
        handshake(&wire);
        push(&wire, 0, packet_of(&wire, 0, 100, 0, 300, BB_TCP_ACK | BB_TCP_RST), MS);
        ck_assert_uint_eq(wire.tcp.reset, 0);
        if (forced)
            bb_tcp_force(&wire.tcp);
        else
            push(&wire, 1, packet_of(&wire, 1, 0, 0, 0, BB_TCP_ACK), BB_TCP_PATIENCE_ACKED_NS + MS);
        check_events(&wire);
        ck_assert_uint_eq(wire.tcp.reset, 1);
        ck_assert_uint_eq(wire.side[0].missing, 0);
        ck_assert_uint_eq(wire.side[1].missing, 300);
        ck_assert_uint_eq(bb_tcp_held(&wire.tcp), 0);
        wire_clear(&wire);
    }
}
END_TEST

// The other side broke it off meanwhile, so that a second one of this side waits, too.
START_TEST(two_resets_wait_behind_a_fin)
{
    Wire wire = {0};
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    stream_init(&wire.side[0], rand, 100);
    stream_init(&wire.side[1], rand, 300);
    handshake(&wire);
    push(&wire, 0, packet_of(&wire, 0, 50, 50, 0, BB_TCP_ACK | BB_TCP_FIN), MS);
    push(&wire, 0, packet_of(&wire, 0, 100, 0, 300, BB_TCP_ACK | BB_TCP_RST), MS);
    push(&wire, 1, packet_of(&wire, 1, 0, 0, 0, BB_TCP_ACK | BB_TCP_RST), MS);
    ck_assert_uint_eq(wire.tcp.reset, 2);
    push(&wire, 0, packet_of(&wire, 0, 100, 0, 300, BB_TCP_ACK | BB_TCP_RST), MS);
    push(&wire, 0, packet_of(&wire, 0, 0, 50, 0, BB_TCP_ACK), MS);
    ck_assert_uint_eq(wire.side[0].at, 100);
    ck_assert(wire.side[0].closed);
    bb_tcp_force(&wire.tcp);
    check_events(&wire);
    ck_assert_uint_eq(bb_tcp_held(&wire.tcp), 0);
    wire_clear(&wire);
}
END_TEST

// One that acknowledges what cannot have been sent does not, and makes no gap.
START_TEST(a_reset_waits_for_nothing_wild)
{
    Wire wire = {0};
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    stream_init(&wire.side[0], rand, 100);
    stream_init(&wire.side[1], rand, 1);
    handshake(&wire);
    push(&wire, 1, packet_of(&wire, 1, 0, 0, 200 << 20, BB_TCP_ACK | BB_TCP_RST), MS);
    ck_assert_uint_eq(wire.tcp.reset, 2);
    bb_tcp_force(&wire.tcp);
    check_events(&wire);
    ck_assert_uint_eq(wire.loss.count[BB_TCP_GAPS], 0);
    wire_clear(&wire);
}
END_TEST

TEST_MAIN("tcp reset", resets_outside_the_window_are_ignored, a_reset_waits_for_its_cause,
          a_reset_does_not_wait_forever, two_resets_wait_behind_a_fin,
          a_reset_waits_for_nothing_wild)
