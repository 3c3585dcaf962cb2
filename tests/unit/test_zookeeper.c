// SPDX-License-Identifier: Apache-2.0
// ZooKeeper: sessions, responses by xid, pings, watch events, error codes, loss.
#include "capture/loss.h"
#include "tests/unit/octets.h"

#define CONNECT "[00000000 0000000000000000 00007530 0000000000000000 [00*16] 00]"
#define CONNECTED "[00000000 00007530 0100000000000007 [70*16] 00]"
#define LOGIN "CALL 1 zookeeper connect 49\nRET 1 zookeeper ok 41\n"
#define ANSWER(xid, code) "[" xid "0000000100000009" code "]"
#define OK "00000000"

static Steps *connected(void)
{
    Steps *s = steps_new(7777); // not ZooKeeper's port: content must do
    up(s, CONNECT);
    down(s, CONNECTED);
    return s;
}

START_TEST(a_session)
{
    g_autoptr(Steps) s = connected();
    up(s, "[00000001 00000003 ['/app'] 01]");
    down(s, ANSWER("00000001", "ffffff9b")); // NoNode
    up(s, "[00000002 00000001 ['/app/lock-0000000012'] ['data'] 00000000 00000003]");
    down(s, ANSWER("00000002", OK "['/app/lock-0000000012']"));
    up(s, "[00000003 00000005 ['/app'] ['data'] ffffffff]");
    down(s, ANSWER("00000003", OK));
    up(s, "[00000004 fffffff5]");
    down(s, ANSWER("00000004", OK));
    steps_check(s, LOGIN "CALL 2 zookeeper exists /app 21\nRET 2 zookeeper -101 20\n"
                         "CALL 3 zookeeper create /app/* 52\nRET 3 zookeeper ok 44\n"
                         "CALL 4 zookeeper setData /app 32\nRET 4 zookeeper ok 20\n"
                         "CALL 5 zookeeper closeSession 12\nRET 5 zookeeper ok 20\n");
}
END_TEST

START_TEST(without_the_flag_of_newer_ones)
{
    g_autoptr(Steps) s = steps_new(7777);
    up(s, "[00000000 0000000000000000 00007530 0000000000000000 [00*16]]");
    down(s, "[00000000 00007530 0100000000000007 [70*16]]");
    steps_check(s, "CALL 1 zookeeper connect 48\nRET 1 zookeeper ok 40\n");
}
END_TEST

// A session that is over cannot be had again.
START_TEST(refused)
{
    g_autoptr(Steps) s = steps_new(7777);
    up(s, "[00000000 0000000000000005 00007530 0100000000000001 [70*16] 00]");
    down(s, "[00000000 00000000 0000000000000000 [00*16] 00]");
    steps_check(s, "CALL 1 zookeeper connect 49\nRET 1 zookeeper error 41\n");
}
END_TEST

START_TEST(pings_and_watches)
{
    g_autoptr(Steps) s = connected();
    up(s, "[fffffffe 0000000b]");
    up(s, "[00000001 00000004 ['/a'] 01]");
    down(s, ANSWER("fffffffe", OK));
    down(s, "[ffffffff ffffffffffffffff 00000000 00000003 00000003 ['/a']]");
    down(s, ANSWER("00000001", OK "00*80"));
    down(s, "[ffffffff ffffffffffffffff 00000000 ffffffff 00000000 00000000]");
    up(s, "[fffffffc 00000064 00000000 ['digest'] ['me:x']]");
    down(s, ANSWER("fffffffc", "ffffff8d"));
    up(s, "[fffffff8 00000065 0000000000000001 00000000 00000000 00000000]");
    down(s, ANSWER("fffffff8", OK));
    steps_check(s, LOGIN "CALL 2 zookeeper ping 12\nCALL 3 zookeeper getData /a 19\n"
                         "RET 2 zookeeper ok 20\nMSG < zookeeper nodeDataChanged /a 34\n"
                         "RET 3 zookeeper ok 100\nMSG < zookeeper event 32\n"
                         "CALL 4 zookeeper auth 34\nRET 4 zookeeper -115 20\n"
                         "CALL 5 zookeeper setWatches 32\nRET 5 zookeeper ok 20\n");
}
END_TEST

START_TEST(pipelined)
{
    g_autoptr(Steps) s = connected();
    up(s, "[00000001 00000004 ['/a'] 00] [00000002 0000000e 00000001 00 ffffffff]"
          "[00000003 0000000c ['/'] 00]");
    down(s, ANSWER("00000001", OK) ANSWER("00000002", "ffffff92"));
    down(s, ANSWER("00000003", OK));
    steps_check(s, LOGIN "CALL 2 zookeeper getData /a 19\nCALL 3 zookeeper multi 21\n"
                         "CALL 4 zookeeper getChildren2 / 18\nRET 2 zookeeper ok 20\n"
                         "RET 3 zookeeper -110 20\nRET 4 zookeeper ok 20\n");
}
END_TEST

// Operations of ClickHouse Keeper, one of versions to come, and what was sent behind them at once.
START_TEST(operations_of_others)
{
    g_autoptr(Steps) s = connected();
    up(s,
       "[00000001 000001f4 ['/a'] 01 00] [00000002 000001f6 ['/b'] ['x'] 00000000 00000000]"
       "[00000003 000001fb ['/c'] 01] [00000004 00000309 aabbccdd] [00000005 00000004 ['/d'] 00]");
    down(s, ANSWER("00000001", OK) ANSWER("00000002", OK) ANSWER("00000003", OK)
                ANSWER("00000004", "fffffffa") ANSWER("00000005", OK));
    steps_check(s, LOGIN "CALL 2 zookeeper filteredList /a 20\n"
                         "CALL 3 zookeeper createIfNotExists /b 31\n"
                         "CALL 4 zookeeper listRecursive 19\nCALL 5 zookeeper op 777 16\n"
                         "CALL 6 zookeeper getData /d 19\nRET 2 zookeeper ok 20\n"
                         "RET 3 zookeeper ok 20\nRET 4 zookeeper ok 20\nRET 5 zookeeper -6 20\n"
                         "RET 6 zookeeper ok 20\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
}
END_TEST

// After a gap only an operation is believed that is known.
START_TEST(none_to_come_after_a_gap)
{
    g_autoptr(Steps) s = connected();
    step(s, LOSE_UP, octets("00*19"));
    up(s, "[00000004 00000309 aabbccdd]");
    up(s, "[00000005 00000004 ['/d'] 00]");
    down(s, ANSWER("00000005", OK));
    steps_check(s, LOGIN "CALL 2 zookeeper getData /d 19\nRET 2 zookeeper ok 20\n");
}
END_TEST

START_TEST(long_data_is_passed_over)
{
    g_autoptr(Steps) s = connected();
    up(s, "[00000001 00000005 ['/a'] [00*100000] ffffffff]");
    down(s, ANSWER("00000001", OK "00*100000"));
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c), LOGIN "CALL 2 zookeeper setData /a 100026\n"
                                               "RET 2 zookeeper ok 100020\n");
    ck_assert_uint_eq(converse_loss(c, BB_MESSAGE_LIMIT), 0);
}
END_TEST

// ---- joined in the middle, loss -----------------------------------------------------------------

START_TEST(joined_in_the_middle)
{
    g_autoptr(Steps) s = steps_new(2181);
    s->midstream = true;
    down(s, ANSWER("00000006", OK));
    up(s, "[00000007 00000004 ['/a'] 00]");
    down(s, ANSWER("00000007", OK));
    steps_check(s, "RET - zookeeper ok 20\nCALL 1 zookeeper getData /a 19\n"
                   "RET 1 zookeeper ok 20\n");
}
END_TEST

START_TEST(lost_request_and_reply)
{
    g_autoptr(Steps) s = connected();
    step(s, LOSE_UP, octets("[00000001 00000004 ['/a'] 00]"));
    down(s, ANSWER("00000001", OK));
    up(s, "[00000002 00000004 ['/b'] 00]");
    step(s, LOSE_DOWN, octets(ANSWER("00000002", OK)));
    up(s, "[00000003 00000004 ['/c'] 00]");
    down(s, ANSWER("00000003", OK));
    steps_check(s, LOGIN "RET - zookeeper ok 20\nCALL 2 zookeeper getData /b 19\n"
                         "CALL 3 zookeeper getData /c 19\nRET 3 zookeeper ok 20\n");
}
END_TEST

// They all have the same xid: a lost answer must not shift the others.
START_TEST(lost_ping)
{
    g_autoptr(Steps) s = connected();
    up(s, "[fffffffe 0000000b]");
    step(s, LOSE_DOWN, octets(ANSWER("fffffffe", OK)));
    up(s, "[fffffffe 0000000b]");
    down(s, ANSWER("fffffffe", OK));
    steps_check(s, LOGIN "CALL 2 zookeeper ping 12\nCALL 3 zookeeper ping 12\n"
                         "RET 3 zookeeper ok 20\n");
}
END_TEST

START_TEST(lost_middle)
{
    g_autoptr(Steps) s = connected();
    up(s, "[00000001 00000004 ['/a'] 00]");
    down(s, "00001010 00000001 0000000100000009 00000000 00*984");
    step(s, LOSE_DOWN, octets("00*2000"));
    down(s, "00*1112");
    up(s, "[00000002 00000004 ['/b'] 00]");
    down(s, ANSWER("00000002", OK));
    steps_check(s, LOGIN "CALL 2 zookeeper getData /a 19\nRET 2 zookeeper ok 2116\n"
                         "CALL 3 zookeeper getData /b 19\nRET 3 zookeeper ok 20\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
}
END_TEST

START_TEST(damage)
{
    g_autoptr(Steps) s = connected();
    up(s, "[00000001 00000004 ['/a'] 00]");
    up(s, "[00000002 00000000 ['/a'] 00]"); // no such operation
    down(s, ANSWER("00000001", OK));
    up(s, "[00000003 00000004 ['/b'] 00]");
    down(s, ANSWER("00000003", "00000001")); // no such code
    up(s, "[00000004 00000004 ['/c'] 00]");
    down(s, ANSWER("00000004", OK));
    steps_check(s, LOGIN "CALL 2 zookeeper getData /a 19\nRET 2 zookeeper ok 20\n"
                         "CALL 3 zookeeper getData /b 19\nCALL 4 zookeeper getData /c 19\n"
                         "RET 4 zookeeper ok 20\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 2);
}
END_TEST

START_TEST(probes)
{
    static const struct {
        const char *bytes;
        BbMatch match;
    } cases[] = {
        {CONNECT, BB_MATCH_REQUEST},
        {CONNECTED, BB_MATCH_REPLY},
        {"0000002d 00*8", BB_MATCH_MORE},
        {"0000002d 00*24 00000011 00*17", BB_MATCH_NO}, // a password of 17 bytes
        {"[fffffffe 0000000b]", BB_MATCH_REQUEST},
        {"[00000001 00000004 ['/a'] 00]", BB_MATCH_REQUEST},
        {"[00000001 00000004 ['a'] 00]", BB_MATCH_NO},         // no path
        {"[00000001 00000004 000000ff '/a' 00]", BB_MATCH_NO}, // does not fit
        {"[00000001 0000000e 00000001 00 ffffffff]", BB_MATCH_LIKELY},
        {ANSWER("fffffffe", OK), BB_MATCH_REPLY},
        {ANSWER("00000005", OK), BB_MATCH_LIKELY},
        {ANSWER("00000005", "00000005"), BB_MATCH_NO},
        {ANSWER("00000005", OK) "00", BB_MATCH_NO},
        {"00000007 00*7", BB_MATCH_NO},
        {"7f", BB_MATCH_NO},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        ck_assert_msg(probe_octets(&bb_decoder_zookeeper, cases[i].bytes) == cases[i].match, "%s",
                      cases[i].bytes);
    check_refusals(&bb_decoder_zookeeper);
}
END_TEST

TEST_MAIN("zookeeper", a_session, without_the_flag_of_newer_ones, refused, pings_and_watches,
          pipelined, operations_of_others, none_to_come_after_a_gap, long_data_is_passed_over,
          joined_in_the_middle, lost_request_and_reply, lost_ping, lost_middle, damage, probes)
