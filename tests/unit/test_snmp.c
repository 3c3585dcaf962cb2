// SPDX-License-Identifier: Apache-2.0
// SNMP: PDUs of all versions, reports, encryption, traps, damage.
#include "capture/protocols/snmp_message.h"
#include "tests/unit/octets.h"

#define BINDINGS "30(30(06(2b0601)05()))"
#define PDU(tag, id, error) tag "(02(" id ")02(" error ")02(00)" BINDINGS ")"
#define V1(tag, id, error) "30(02(00)04('public')" PDU(tag, id, error) ")"
#define V2C(tag, id, error) "30(02(01)04('public')" PDU(tag, id, error) ")"
#define V3(id, flags, scoped) \
    "30(02(03)30(02(" id ")02(00ffe3)04(" flags ")02(03))04(30(04()))" scoped ")"
#define SCOPED(pdu) "30(04('engine')04()" pdu ")"
#define REPORT(counter) "a8(02(01)02(00)02(00)30(30(06(2b060106030f0101" counter "00)41(05))))"

START_TEST(versions)
{
    g_autoptr(Steps) s = steps_udp(16161);
    up(s, V1("a0", "01", "00"));
    down(s, V1("a2", "01", "02"));
    up(s, V2C("a1", "02", "00"));
    up(s, V2C("a5", "7fffffff", "00"));
    up(s, V2C("a3", "ff", "00"));
    up(s, V2C("a1", "02", "00")); // again
    down(s, V2C("a2", "7fffffff", "00"));
    down(s, V2C("a2", "02", "00"));
    down(s, V2C("a2", "ff", "11"));
    down(s, V2C("a2", "0b", "63"));
    up(s, V3("01", "04", SCOPED(PDU("a0", "05", "00"))));
    down(s, V3("01", "00", SCOPED(PDU("a2", "05", "05"))));
    steps_check(s, "CALL 1 snmp GetRequest 35\nRET 1 snmp noSuchName 35\n"
                   "CALL 2 snmp GetNextRequest 35\nCALL 3 snmp GetBulkRequest 38\n"
                   "CALL 4 snmp SetRequest 35\nRET 3 snmp ok 38\nRET 2 snmp ok 35\n"
                   "RET 4 snmp notWritable 35\nRET - snmp 99 35\n"
                   "CALL 5 snmp GetRequest 61\nRET 5 snmp genErr 61\n");
    ck_assert_uint_eq(steps_count(s, BB_REPEATED), 1);
}
END_TEST

// Also after the answer, as long as it is the same.
START_TEST(sent_again)
{
    g_autoptr(Steps) s = steps_udp(161);
    up(s, V2C("a0", "01", "00"));
    down(s, V2C("a2", "01", "00"));
    up(s, V2C("a0", "01", "00"));
    down(s, V2C("a2", "01", "00"));
    up(s, V2C("a1", "01", "00"));
    down(s, V2C("a2", "01", "00"));
    up(s, V3("01", "07", "04('secret')"));
    down(s, V3("01", "03", "04('answer')"));
    up(s, V3("01", "07", "04('secret')"));
    down(s, V3("01", "03", "04('answer')"));
    steps_check(s, "CALL 1 snmp GetRequest 35\nRET 1 snmp ok 35\n"
                   "CALL 2 snmp GetNextRequest 35\nRET 2 snmp ok 35\n"
                   "CALL 3 snmp ? 35\nRET 3 snmp - 35\n");
    ck_assert_uint_eq(steps_count(s, BB_REPEATED), 4);
    ck_assert_uint_eq(steps_count(s, BB_RETURNS_ORPHANED), 0);
}
END_TEST

// With another time and another salt: the same msgID tells.
START_TEST(sent_again_by_another_time)
{
    g_autoptr(Steps) s = steps_udp(161);
    up(s, V3("01", "07", "04('secret')"));
    up(s, V3("01", "07", "04('zecret')"));
    down(s, V3("01", "03", "04('answer')"));
    down(s, V3("01", "03", "04('answEr')"));
    up(s, V3("02", "04", SCOPED(PDU("a0", "05", "00")))); // who is the engine?
    up(s, V3("02", "07", "04('secret')"));
    down(s, V3("02", "03", "04('answer')"));
    steps_check(s, "CALL 1 snmp ? 35\nRET 1 snmp - 35\nCALL 2 snmp GetRequest 61\n"
                   "CALL 3 snmp ? 35\nRET 3 snmp - 35\n");
    ck_assert_uint_eq(steps_count(s, BB_REPEATED), 2);
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 1);
    ck_assert_uint_eq(steps_count(s, BB_RETURNS_ORPHANED), 0);
}
END_TEST

// After half a minute nobody waits any more: the same request is another one.
START_TEST(given_up)
{
    g_autoptr(Converse) c = converse_udp(161);
    g_autoptr(Octets) get = octets(V2C("a0", "01", "00")), ok = octets(V2C("a2", "01", "00"));
    for (guint i = 0; i < 3; i++) {
        converse_say(c, BB_TO_SERVER, get->data, get->len);
        converse_wait(c, i ? 10 : 31000);
    }
    converse_say(c, BB_TO_CLIENT, ok->data, ok->len);
    ck_assert_str_eq(converse_result(c), "CALL 1 snmp GetRequest 35\nCALL 2 snmp GetRequest 35\n"
                                         "RET 2 snmp ok 35\n");
    ck_assert_uint_eq(converse_loss(c, BB_REPEATED), 1);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 1);
}
END_TEST

// Managers that give all requests one number: what nobody answered is not the next one.
START_TEST(one_number)
{
    g_autoptr(Steps) s = steps_udp(161);
    up(s, V2C("a0", "01", "00"));
    up(s, V2C("a0", "01", "00")); // again
    up(s, V2C("a1", "01", "00"));
    up(s, V2C("a1", "01", "00")); // again
    down(s, V2C("a2", "01", "00"));
    up(s, V2C("a3", "01", "00"));
    down(s, V2C("a2", "01", "00"));
    steps_check(s, "CALL 1 snmp GetRequest 35\nCALL 2 snmp GetNextRequest 35\nRET 2 snmp ok 35\n"
                   "CALL 3 snmp SetRequest 35\nRET 3 snmp ok 35\n");
    ck_assert_uint_eq(steps_count(s, BB_REPEATED), 2);
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 1);
}
END_TEST

// RFC 3414, 4: the first request asks who the engine is; the report is its answer.
START_TEST(reports)
{
    g_autoptr(Steps) s = steps_udp(161);
    up(s, V3("01", "04", SCOPED(PDU("a0", "05", "00"))));
    down(s, V3("01", "00", SCOPED(REPORT("04"))));
    up(s, V3("02", "05", SCOPED(PDU("a0", "06", "00"))));
    down(s, V3("02", "00", SCOPED(REPORT("05"))));
    up(s, V3("03", "05", SCOPED(PDU("a0", "06", "00"))));
    down(s, V3("03", "00", SCOPED(REPORT("63"))));
    steps_check(s, "CALL 1 snmp GetRequest 61\nRET 1 snmp unknownEngineIDs 69\n"
                   "CALL 2 snmp GetRequest 61\nRET 2 snmp wrongDigests 69\n"
                   "CALL 3 snmp GetRequest 61\nRET 3 snmp Report 69\n");
}
END_TEST

START_TEST(encryption)
{
    g_autoptr(Steps) s = steps_udp(161);
    up(s, V3("01", "07", "04('secret')"));
    down(s, V3("01", "03", "04('answer')"));
    down(s, V3("02", "03", "04('a trap')"));
    steps_check(s, "CALL 1 snmp ? 35\nRET 1 snmp - 35\nMSG < snmp ? 35\n");
}
END_TEST

START_TEST(traps_and_informs)
{
    g_autoptr(Steps) s = steps_udp(162);
    up(s, "30(02(00)04('public')a4(06(2b06)40(0a000001)02(06)02(01)43(05)30()))");
    up(s, V2C("a7", "01", "00"));
    up(s, V2C("a6", "02", "00"));
    down(s, V2C("a2", "02", "00"));
    steps_check(s, "MSG > snmp Trap 36\nMSG > snmp Trap 35\n"
                   "CALL 1 snmp InformRequest 35\nRET 1 snmp ok 35\n");
}
END_TEST

START_TEST(damage)
{
    g_autoptr(Steps) s = steps_udp(161);
    up(s, V2C("a0", "01", "00"));
    down(s, "30(02(01)04('public')a2(02(01)02(00)02(00)04()))");
    down(s, V2C("a2", "01", "00"));
    ck_assert_uint_eq(steps_count(s, BB_RETURNS), 1);
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 1);
    g_autoptr(Steps) other = steps_udp(161);
    up(other, "'something else'");
    steps_check(other, "MSG > udp - 14\n");
}
END_TEST

// The snap length cut the bindings: the rest is enough.
START_TEST(cut_messages)
{
    g_autoptr(Octets) whole = octets(V2C("a2", "05", "01"));
    BbSnmpMessage message;
    for (gsize length = 0; length <= whole->len; length++) {
        g_autofree guint8 *copy = g_memdup2(whole->data, length);
        BbSnmpVerdict verdict = bb_snmp_message_read(&message, copy ? copy : (const guint8 *)"",
                                                     length, whole->len - length);
        ck_assert_int_eq(verdict, length < 18 ? BB_SNMP_CUT : BB_SNMP_READ);
        ck_assert(length < 21 || message.error == 1);
    }
}
END_TEST

START_TEST(probes)
{
    const BbDecoder *d = &bb_decoder_snmp;
    ck_assert_int_eq(probe_octets(d, V1("a0", "01", "00")), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_octets(d, V2C("a2", "01", "00")), BB_MATCH_REPLY);
    ck_assert_int_eq(probe_octets(d, V2C("a9", "01", "00")), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, V3("01", "04", SCOPED(PDU("a0", "05", "00")))),
                     BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_octets(d, V3("01", "00", SCOPED(REPORT("04")))), BB_MATCH_REPLY);
    ck_assert_int_eq(probe_octets(d, V3("01", "0404", SCOPED(PDU("a0", "05", "00")))), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "30(02(02)04('public')" PDU("a0", "01", "00") ")"),
                     BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "30(02(03)42())"), BB_MATCH_NO); // LDAP
    check_refusals(d);
}
END_TEST

TEST_MAIN("snmp", versions, sent_again, sent_again_by_another_time, given_up, one_number, reports,
          encryption, traps_and_informs, damage, cut_messages, probes)
