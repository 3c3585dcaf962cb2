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
    bb_skips_tell(skips, &ends, 1, &(BbSkipped){from, 100000, 1});
    ck_assert(covers(skips, 1, from, 1460));
    ck_assert(covers(skips, 1, from + 98540, 1460));
    ck_assert(!covers(skips, 1, from + 98541, 1460)); // the next message begins in it
    ck_assert(!covers(skips, 1, from - 200000, 1460));
    ck_assert(!covers(skips, 0, from, 1460));
    ck_assert(covers(skips, 1, from + 98540, 1460));
    ck_assert(!covers(skips, 1, from + 100000, 1));
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
    bb_skips_tell(skips, &ends, 0, &(BbSkipped){7, 1u << 20, 1});
    BbPacket syn = packet_of(0, 6, 0);
    syn.tcp_flags = BB_TCP_SYN;
    syn.number = 5;
    ck_assert(!bb_skips_cover(skips, &syn));
    ck_assert(covers(skips, 0, 7, 100));
    bb_skips_begin(skips, &syn);
    ck_assert(!covers(skips, 0, 7, 100));
    for (guint64 late = 4; late < 7; late++) { // decoded after the SYN was read
        bb_skips_tell(skips, &ends, 0, &(BbSkipped){7, 1u << 20, late});
        bb_skips_tell(skips, &ends, 1, &(BbSkipped){7, 1u << 20, late});
        ck_assert(covers(skips, 0, 7, 100) == (late > 5));
        ck_assert(covers(skips, 1, 7, 100) == (late > 5)); // nor of the other end
    }
}
END_TEST

// A SYN of others that share its place is a bound for what is late, and for no more.
START_TEST(others_that_begin)
{
    g_autoptr(BbSkips) skips = bb_skips_new();
    BbPacket syn = packet_of(0, 6, 0);
    syn.number = 100;
    bb_skips_begin(skips, &syn);
    for (guint number = 1; number <= 60000; number++) {
        BbPacket other = packet_of(0, 6, 0);
        other.source_port = (guint16)(ends.port[0] + number);
        other.number = 100 + number;
        bb_skips_begin(skips, &other);
    }
    bb_skips_tell(skips, &ends, 0, &(BbSkipped){7, 1u << 20, 100});
    ck_assert(!covers(skips, 0, 7, 100));
    bb_skips_tell(skips, &ends, 0, &(BbSkipped){7, 1u << 20, 70000});
    ck_assert(covers(skips, 0, 7, 100));
}
END_TEST

START_TEST(taken_back_or_past)
{
    g_autoptr(BbSkips) skips = bb_skips_new();
    bb_skips_tell(skips, &ends, 0, &(BbSkipped){7, 50000, 1});
    bb_skips_tell(skips, &ends, 1, &(BbSkipped){0, 0, 2});
    ck_assert(covers(skips, 0, 7, 100));
    bb_skips_tell(skips, &ends, 0, &(BbSkipped){0, 0, 2});
    ck_assert(!covers(skips, 0, 7, 100));
    bb_skips_tell(skips, &ends, 0, &(BbSkipped){7, 50000, 3});
    ck_assert(!covers(skips, 0, 50007, 100));
    ck_assert(!covers(skips, 0, 7, 100)); // as when numbers have come round
    bb_skips_tell(skips, &ends, 0, &(BbSkipped){7, 50000, 9});
    bb_skips_forget(skips, 9);
    ck_assert(!covers(skips, 0, 7, 100));
}
END_TEST

START_TEST(no_more_than_is_told_at_once)
{
    g_autoptr(BbSkips) skips = bb_skips_new();
    bb_skips_tell(skips, &ends, 0, &(BbSkipped){7, G_MAXUINT64, 1});
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
        bb_skips_tell(skips, &other, 0, &(BbSkipped){port * 100000u, 50000, port});
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

TEST_MAIN("skips", what_was_told_and_no_more, a_connection_that_begins, others_that_begin,
          taken_back_or_past, no_more_than_is_told_at_once, many_in_one_table)
