// SPDX-License-Identifier: Apache-2.0
// Which packets hold only bytes that are passed over: those told of, of that direction, across the
// end of the sequence numbers; and never those of a connection that begins.
#include "capture/skips.h"
#include "tests/unit/test.h"

static const BbEndpoints ends = {.address = {{.bytes = {1}}, {.bytes = {2}}}, .port = {40000, 80}};

static BbPacket packet_of(guint side, guint32 seq, guint32 length)
{
    return (BbPacket){.source = ends.address[side],
                      .target = ends.address[!side],
                      .source_port = ends.port[side],
                      .target_port = ends.port[!side],
                      .transport = BB_TRANSPORT_TCP,
                      .tcp_flags = BB_TCP_ACK,
                      .seq = seq,
                      .captured = length,
                      .length = length};
}

static bool covers(BbSkips *skips, guint side, guint32 seq, guint32 length)
{
    BbPacket packet = packet_of(side, seq, length);
    return bb_skips_cover(skips, &packet);
}

static void check_body(guint32 from)
{
    g_autoptr(BbSkips) skips = bb_skips_new();
    ck_assert(!covers(skips, 1, from, 100));
    bb_skips_tell(skips, &ends, 1, from, 100000);
    ck_assert(covers(skips, 1, from, 1460));
    ck_assert(covers(skips, 1, from + 98540, 1460));
    ck_assert(!covers(skips, 1, from + 98541, 1460)); // the next message begins in it
    ck_assert(!covers(skips, 1, from + 100000, 1));
    ck_assert(!covers(skips, 1, from + 200000, 1460));
    ck_assert(!covers(skips, 1, from - 200000, 1460));
    ck_assert(!covers(skips, 0, from, 1460));
}

START_TEST(what_was_told_and_no_more)
{
    check_body(1000000);
    check_body(0);
    check_body(G_MAXUINT32 - 50000);
}
END_TEST

START_TEST(a_connection_that_begins)
{
    g_autoptr(BbSkips) skips = bb_skips_new();
    bb_skips_tell(skips, &ends, 0, 7, 1u << 20);
    BbPacket syn = packet_of(0, 6, 0);
    syn.tcp_flags = BB_TCP_SYN;
    ck_assert(!bb_skips_cover(skips, &syn));
    ck_assert(!covers(skips, 0, 7, 100));
}
END_TEST

START_TEST(without_an_end)
{
    g_autoptr(BbSkips) skips = bb_skips_new();
    bb_skips_tell(skips, &ends, 0, 7, G_MAXUINT64);
    ck_assert(covers(skips, 0, 7, 1460));
    ck_assert(covers(skips, 0, 7 + BB_SKIPS_MOST - 1460, 1460));
    ck_assert(!covers(skips, 0, 7 + BB_SKIPS_MOST, 1460));
}
END_TEST

// Many tell at once: one forgets the other at the worst, and none gets the other's bytes.
START_TEST(many_in_one_table)
{
    g_autoptr(BbSkips) skips = bb_skips_new();
    guint covered = 0;
    for (guint16 port = 1; port < 20000; port++) {
        BbEndpoints other = ends;
        other.port[0] = port;
        bb_skips_tell(skips, &other, 0, port * 100000u, 50000);
    }
    for (guint16 port = 1; port < 20000; port++) {
        BbPacket packet = packet_of(0, port * 100000u, 1460);
        packet.source_port = port;
        covered += bb_skips_cover(skips, &packet);
        packet.seq += 60000;
        ck_assert(!bb_skips_cover(skips, &packet));
    }
    ck_assert_uint_gt(covered, 2000);
}
END_TEST

TEST_MAIN("skips", what_was_told_and_no_more, a_connection_that_begins, without_an_end,
          many_in_one_table)
