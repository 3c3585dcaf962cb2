// SPDX-License-Identifier: Apache-2.0
// Java RMI: turns, labels, returns, pings, loss.
#include "tests/unit/octets.h"

#define HEADER "'JRMI' 0002 4b"
#define ACK "4e 0003 'abc' 0000 9c40"
#define ENDPOINT "0003 'abc' 0000 0000"
#define REGISTRY "44154dc9d4e63bdf"
#define OBJECT "00*22"
#define CALL(operation, hash) "50 aced0005 77 22 " OBJECT " " operation " " hash " 74 0004 'name'"
#define LOOKUP CALL("00000002", REGISTRY)
#define RETURN(type, more) "51 aced0005 77 0f " type " 00*14 " more
#define DGC_ACK "54 00*14 "

// Opens the connection: 7 bytes, and 10 in answer.
static Steps *opened(void)
{
    Steps *s = steps_new(40099);
    up(s, HEADER);
    down(s, ACK);
    up(s, ENDPOINT);
    return s;
}
#define OPENED "CALL 1 rmi connect 7\nRET 1 rmi ok 10\n"

START_TEST(turns)
{
    g_autoptr(Steps) s = opened();
    up(s, LOOKUP);
    up(s, "'more of the arguments'");
    down(s, RETURN("01", "73 'object'"));
    down(s, "'its tail' 51 53"); // looks like a message, but is none
    up(s, "52");
    down(s, "53");
    up(s, DGC_ACK CALL("ffffffff", "0123456789abcdef"));
    down(s, RETURN("02", "73 'exception'"));
    steps_check(s, OPENED "CALL 2 rmi Registry.lookup 69\nRET 2 rmi ok 39\n"
                          "CALL 3 rmi Ping 1\nRET 3 rmi ok 1\nMSG > rmi DgcAck 15\n"
                          "CALL 4 rmi method 0123456789abcdef 48\nRET 4 rmi exception 32\n");
}
END_TEST

START_TEST(labels)
{
    g_autoptr(Steps) s = opened();
    up(s, CALL("00000001", "f6b6898d8bf28643"));
    down(s, RETURN("01", ""));
    up(s, CALL("00000007", REGISTRY));
    down(s, RETURN("01", ""));
    up(s, "50 aced0005 77 26 " OBJECT " 00000000 " REGISTRY " 00000005");
    steps_check(s, OPENED "CALL 2 rmi DGC.dirty 48\nRET 2 rmi ok 22\n"
                          "CALL 3 rmi interface 44154dc9d4e63bdf.7 48\nRET 3 rmi ok 22\n"
                          "CALL 4 rmi Registry.bind 45\n");
}
END_TEST

START_TEST(single_operation)
{
    g_autoptr(Steps) s = steps_new(40099);
    up(s, "'JRMI' 0002 4c " LOOKUP);
    down(s, RETURN("01", ""));
    steps_check(s, "CALL 1 rmi Registry.lookup 48\nRET 1 rmi ok 22\n");
}
END_TEST

START_TEST(refused)
{
    g_autoptr(Steps) s = steps_new(40099);
    up(s, "'JRMI' 0002 4d");
    down(s, "4f");
    steps_check(s, "CALL 1 rmi connect 7\nRET 1 rmi error 1\n");
}
END_TEST

START_TEST(joined_midstream)
{
    g_autoptr(Steps) s = steps_new(40099);
    s->midstream = true;
    down(s, RETURN("01", ""));
    up(s, LOOKUP);
    down(s, RETURN("01", ""));
    steps_check(s, "RET - rmi ok 22\nCALL 1 rmi Registry.lookup 48\nRET 1 rmi ok 22\n");
}
END_TEST

START_TEST(lost_messages)
{
    g_autoptr(Steps) s = opened();
    step(s, LOSE_UP, octets(LOOKUP));
    down(s, RETURN("01", ""));
    up(s, LOOKUP);
    step(s, LOSE_DOWN, octets(RETURN("02", "")));
    up(s, LOOKUP);
    down(s, RETURN("01", ""));
    steps_check(s, OPENED "RET - rmi ok 22\nCALL 2 rmi Registry.lookup 48\n"
                          "CALL 3 rmi Registry.lookup 48\nRET 3 rmi ok 22\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 2);
}
END_TEST

// The middle of a long answer is missing: what follows it is passed over.
START_TEST(lost_middle)
{
    g_autoptr(Steps) s = opened();
    up(s, LOOKUP);
    down(s, RETURN("01", "aa*3000"));
    step(s, LOSE_DOWN, octets("aa*1460"));
    down(s, "aa*2000");
    up(s, LOOKUP);
    down(s, RETURN("01", ""));
    steps_check(s, OPENED "CALL 2 rmi Registry.lookup 48\nRET 2 rmi ok 3022\n"
                          "CALL 3 rmi Registry.lookup 48\nRET 3 rmi ok 22\n");
}
END_TEST

START_TEST(damage)
{
    g_autoptr(Steps) s = opened();
    up(s, "99 98 97");
    up(s, LOOKUP);
    down(s, RETURN("01", ""));
    steps_check(s, OPENED "CALL 2 rmi Registry.lookup 48\nRET 2 rmi ok 22\n");
    g_autoptr(Steps) other = opened();
    up(other, "50 aced0005 77 10 00*40"); // a block too short for a call
    up(other, "52");
    down(other, "53");
    steps_check(other, OPENED "CALL 2 rmi Ping 1\nRET 2 rmi ok 1\n");
}
END_TEST

START_TEST(probes)
{
    const BbDecoder *d = &bb_decoder_rmi;
    ck_assert_int_eq(probe_octets(d, HEADER), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_octets(d, LOOKUP), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_octets(d, RETURN("01", "")), BB_MATCH_REPLY);
    ck_assert_int_eq(probe_octets(d, "'JRMI' 0002"), BB_MATCH_MORE);
    ck_assert_int_eq(probe_octets(d, "50 aced00"), BB_MATCH_MORE);
    ck_assert_int_eq(probe_octets(d, "'JRMI' 0003 4b"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "'JRMI' 0002 4f"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "50 aced0006 77 22"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "50 aced0005 77 21"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "51 aced0005 77 0e"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "52"), BB_MATCH_NO);
    check_refusals(d);
}
END_TEST

TEST_MAIN("rmi", turns, labels, single_operation, refused, joined_midstream, lost_messages,
          lost_middle, damage, probes)
