// SPDX-License-Identifier: Apache-2.0
// Observers of the same edges: those that watched at the same time saw the same packets.
#include "merge/witnesses.h"

#include "tests/unit/test.h"

// Of the edge 1 -> 2, or 1 -> server.
static void hear(BbWitnesses *witnesses, guint32 observer, guint32 server, guint64 packets)
{
    BbNetworkEdge edge = {.client = 1, .server = server, .connections = 1, .packets = packets};
    bb_witnesses_saw(witnesses, observer, &edge);
}

static guint64 packets_of(const BbWitnesses *witnesses, guint32 server)
{
    g_autoptr(BbNetwork) network = bb_network_new();
    bb_witnesses_tell(witnesses, network);
    const BbNetworkEdge *edge = bb_network_find(network, 1, server);
    return edge ? edge->packets : 0;
}

START_TEST(who_saw_more_at_the_same_time)
{
    g_autoptr(BbWitnesses) witnesses = bb_witnesses_new();
    bb_witnesses_watched(witnesses, 10, 0, 100);
    bb_witnesses_watched(witnesses, 11, 20, 110);
    hear(witnesses, 10, 2, 5);
    hear(witnesses, 11, 2, 7);
    hear(witnesses, 10, 3, 4);
    ck_assert_uint_eq(packets_of(witnesses, 2), 7);
    ck_assert_uint_eq(packets_of(witnesses, 3), 4);
    ck_assert_uint_eq(packets_of(witnesses, 4), 0);
}
END_TEST

START_TEST(at_different_times_they_add_up)
{
    g_autoptr(BbWitnesses) witnesses = bb_witnesses_new();
    bb_witnesses_watched(witnesses, 10, 0, 100);
    bb_witnesses_watched(witnesses, 11, 95, 200); // a little is no matter
    bb_witnesses_watched(witnesses, 12, 10, 190); // but this one saw most of both
    hear(witnesses, 10, 2, 5);
    hear(witnesses, 11, 2, 7);
    hear(witnesses, 12, 2, 6);
    ck_assert_uint_eq(packets_of(witnesses, 2), 12);
    hear(witnesses, 12, 2, 7);
    ck_assert_uint_eq(packets_of(witnesses, 2), 13);
}
END_TEST

// They depend on where they are seen.
START_TEST(round_trips_are_of_one_observer)
{
    g_autoptr(BbWitnesses) witnesses = bb_witnesses_new();
    g_autoptr(BbNetwork) network = bb_network_new();
    BbNetworkEdge near = {.client = 1, .server = 2, .packets = 9, .to_server = {1, 5, 5, 5}};
    BbNetworkEdge far = {.client = 1, .server = 2, .packets = 8, .to_server = {1, 700, 700, 700}};
    bb_witnesses_watched(witnesses, 10, 0, 100);
    bb_witnesses_watched(witnesses, 11, 200, 300);
    bb_witnesses_saw(witnesses, 11, &far);
    bb_witnesses_saw(witnesses, 10, &near);
    bb_witnesses_tell(witnesses, network);
    const BbNetworkEdge *edge = bb_network_find(network, 1, 2);
    ck_assert_uint_eq(edge->packets, 17);
    ck_assert_uint_eq(edge->to_server.count, 1);
    ck_assert_uint_eq(edge->to_server.most_ns, 5);
}
END_TEST

START_TEST(files_of_one_observer_add_up)
{
    g_autoptr(BbWitnesses) witnesses = bb_witnesses_new();
    bb_witnesses_watched(witnesses, 10, 0, 100);
    hear(witnesses, 10, 2, 5);
    bb_witnesses_watched(witnesses, 10, 50, 150);
    hear(witnesses, 10, 2, 5);
    ck_assert_uint_eq(packets_of(witnesses, 2), 10);
}
END_TEST

// Of a connection that began before: no connections, and packets all the same. Who has no messages
// may have watched at any time.
START_TEST(who_knows_when)
{
    g_autoptr(BbWitnesses) witnesses = bb_witnesses_new();
    bb_witnesses_watched(witnesses, 10, 0, 100);
    bb_witnesses_watched(witnesses, 11, G_MAXINT64, G_MININT64);
    hear(witnesses, 11, 2, 8);
    hear(witnesses, 10, 2, 5);
    ck_assert_uint_eq(packets_of(witnesses, 2), 8);
}
END_TEST

START_TEST(edges_in_the_order_told)
{
    g_autoptr(BbWitnesses) witnesses = bb_witnesses_new();
    g_autoptr(BbNetwork) network = bb_network_new();
    hear(witnesses, 10, 9, 1);
    hear(witnesses, 11, 4, 9);
    hear(witnesses, 10, 5, 9);
    hear(witnesses, 11, 9, 9);
    bb_witnesses_tell(witnesses, network);
    ck_assert_uint_eq(bb_network_count(network), 3);
    ck_assert_uint_eq(bb_network_at(network, 0)->server, 9);
    ck_assert_uint_eq(bb_network_at(network, 1)->server, 5);
    ck_assert_uint_eq(bb_network_at(network, 2)->server, 4);
}
END_TEST

TEST_MAIN("witnesses", who_saw_more_at_the_same_time, at_different_times_they_add_up,
          round_trips_are_of_one_observer, files_of_one_observer_add_up, who_knows_when,
          edges_in_the_order_told)
