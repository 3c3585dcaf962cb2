// SPDX-License-Identifier: Apache-2.0
// Dubbo: responses by request id in both directions, services and methods, exceptions, loss.
#include "capture/loss.h"
#include "tests/unit/octets.h"

#define HELLO "05 '2.0.2' 14 'org.demo.DemoService' 05 '0.0.0' 08 'sayHello' 00 4e" // 44 bytes
#define CALL(id, body) "dabb c2 00 00000000000000" id "[" body "]"
#define RETURN(id, status, body) "dabb 02" status "00000000000000" id "[" body "]"
#define OP "org.demo.DemoService.sayHello"

START_TEST(calls)
{
    g_autoptr(Steps) s = steps_new(7777); // not Dubbo's port: content must do
    up(s, CALL("01", HELLO));
    down(s, RETURN("01", "14", "91 02 'hi'"));
    up(s, CALL("02", HELLO) CALL("03", HELLO));
    down(s, RETURN("03", "14", "92") RETURN("02", "14", "94 4e"));
    steps_check(s, "CALL 1 dubbo " OP " 60\nRET 1 dubbo ok 20\n"
                   "CALL 2 dubbo " OP " 60\nCALL 3 dubbo " OP " 60\n"
                   "RET 3 dubbo ok 17\nRET 2 dubbo ok 18\n");
}
END_TEST

START_TEST(errors)
{
    g_autoptr(Steps) s = steps_new(7777);
    up(s, CALL("01", HELLO));
    down(s, RETURN("01", "14", "90 4e")); // it threw
    up(s, CALL("02", HELLO));
    down(s, RETURN("02", "14", "93 4e 4e"));
    up(s, CALL("03", HELLO));
    down(s, RETURN("03", "1f", "02 'to'")); // timeout of the server
    up(s, CALL("04", HELLO));
    down(s, RETURN("04", "64", "02 'no'")); // its threads are exhausted
    steps_check(s, "CALL 1 dubbo " OP " 60\nRET 1 dubbo error 18\n"
                   "CALL 2 dubbo " OP " 60\nRET 2 dubbo error 19\n"
                   "CALL 3 dubbo " OP " 60\nRET 3 dubbo 31 19\n"
                   "CALL 4 dubbo " OP " 60\nRET 4 dubbo 100 19\n");
}
END_TEST

// Of serializations that are not read, and of results that were not seen, nothing is said; a
// heartbeat says nothing but that it is well.
START_TEST(unread_results)
{
    g_autoptr(Steps) s = steps_new(7777);
    up(s, "dabb c8 00 0000000000000001 [01 '2.0.2']"); // kryo
    down(s, "dabb 08 14 0000000000000001 [90 4e]");
    up(s, "dabb c8 00 0000000000000002 [01 '2.0.2']");
    down(s, "dabb 08 1f 0000000000000002 [02 'to']");
    up(s, "dabb e8 00 0000000000000003 [4e]");
    down(s, "dabb 28 14 0000000000000003 [4e]");
    up(s, CALL("04", HELLO));
    down(s, RETURN("04", "14", ""));
    up(s, "dabb c6 00 0000000000000005 ['\"2.0.2\"' 0a '\"a.B\"' 0d0a '\"0\"' 0a '\"get\"' 0a]");
    down(s, "dabb 06 14 0000000000000005 ['1' 0a '\"hi\"' 0a]");
    steps_check(s, "CALL 1 dubbo ? 22\nRET 1 dubbo - 18\nCALL 2 dubbo ? 22\nRET 2 dubbo 31 19\n"
                   "CALL 3 dubbo heartbeat 17\nRET 3 dubbo ok 17\n"
                   "CALL 4 dubbo " OP " 60\nRET 4 dubbo - 16\n"
                   "CALL 5 dubbo a.B.get 41\nRET 5 dubbo ok 23\n");
}
END_TEST

START_TEST(one_way_and_heartbeats)
{
    g_autoptr(Steps) s = steps_new(7777);
    up(s, "dabb 82 00 0000000000000001 [" HELLO "]");
    up(s, "dabb e2 00 0000000000000002 [4e]");
    down(s, "dabb e2 00 0000000000000002 [4e]"); // the server's own, of the same id
    up(s, "dabb 22 14 0000000000000002 [4e]");
    down(s, "dabb 22 14 0000000000000002 [4e]");
    down(s, "dabb a2 00 0000000000000003 [01 'R']"); // it is about to go: read-only
    steps_check(s, "MSG > dubbo " OP " 60\nCALL 1 dubbo heartbeat 17\nCALL 2 dubbo heartbeat 17\n"
                   "RET 2 dubbo ok 17\nRET 1 dubbo ok 17\nMSG < dubbo heartbeat 18\n");
}
END_TEST

START_TEST(labels)
{
    g_autoptr(Steps) s = steps_new(7777);
    // Longer strings; a package that does not fit is left out.
    up(s, "dabb 82 00 0000000000000001 [05 '2.0.2'"
          "30 46 'org.example.department.subdivision.team.application.api.CatalogService'"
          "00 53 0024 'findProductsByCategoryAndWarehouseId' 00]");
    // JSON, a value a line.
    up(s, "dabb 86 00 0000000000000002 ['\"2.0.2\"' 0a '\"a.B\"' 0d0a '\"0\"' 0a '\"get\"' 0a]");
    up(s, "dabb 86 00 0000000000000003 ['{}' 0a '\"a.B\"' 0a]");
    up(s, "dabb 88 00 0000000000000004 [05 '2.0.2']"); // kryo
    up(s, "dabb 82 00 0000000000000005 [05 '2.0.2' 4e]");
    up(s, "dabb 82 00 0000000000000006 [05 '2.0.2' 33 ff]"); // cut
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c),
                     "MSG > dubbo CatalogService.findProductsByCategoryAndWarehouseId 135\n"
                     "MSG > dubbo a.B.get 41\nMSG > dubbo ? 25\nMSG > dubbo ? 22\n"
                     "MSG > dubbo ? 23\nMSG > dubbo ? 24\n");
}
END_TEST

START_TEST(long_bodies_are_passed_over)
{
    g_autoptr(Steps) s = steps_new(7777);
    up(s, CALL("01", HELLO "00*100000"));
    down(s, RETURN("01", "14", "91 00*100000"));
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 dubbo " OP " 100060\nRET 1 dubbo ok 100017\n");
    ck_assert_uint_eq(converse_loss(c, BB_MESSAGE_LIMIT), 0);
}
END_TEST

START_TEST(losses)
{
    g_autoptr(Steps) s = steps_new(7777);
    s->midstream = true;
    down(s, RETURN("01", "14", "92")); // joined before it
    up(s, CALL("02", HELLO));
    down(s, RETURN("02", "14", "92"));
    step(s, LOSE_UP, octets(CALL("03", HELLO)));
    down(s, RETURN("03", "14", "92"));
    up(s, CALL("04", HELLO));
    step(s, LOSE_DOWN, octets(RETURN("04", "14", "92")));
    up(s, CALL("05", HELLO "00*200"));
    step(s, LOSE_DOWN, octets(RETURN("05", "14", "91")));
    up(s, "dabb c2 00 0000000000000006 00000fff" HELLO);
    step(s, LOSE_UP, octets("00*3000"));
    up(s, "00*1051");
    down(s, RETURN("06", "14", "92"));
    steps_check(s, "RET - dubbo ok 17\nCALL 1 dubbo " OP " 60\nRET 1 dubbo ok 17\n"
                   "RET - dubbo ok 17\nCALL 2 dubbo " OP " 60\nCALL 3 dubbo " OP " 260\n"
                   "CALL 4 dubbo " OP " 1111\nRET 4 dubbo ok 17\n");
}
END_TEST

// Lost bytes go beyond the end of one: what was seen of it is kept, the next one is found.
START_TEST(lost_end)
{
    g_autoptr(Steps) s = steps_new(7777);
    up(s, "dabb c2 00 0000000000000001 00000fff" HELLO);
    step(s, LOSE_UP, octets("00*5000"));
    up(s, "'garbage'");
    down(s, RETURN("01", "14", "92"));
    up(s, CALL("02", HELLO));
    down(s, RETURN("02", "14", "92"));
    steps_check(s, "CALL 1 dubbo " OP " 60\nRET 1 dubbo ok 17\n"
                   "CALL 2 dubbo " OP " 60\nRET 2 dubbo ok 17\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 1);
}
END_TEST

START_TEST(probes)
{
    static const struct {
        const char *bytes;
        BbMatch match;
    } cases[] = {
        {CALL("01", HELLO), BB_MATCH_REQUEST},
        {RETURN("01", "14", "92"), BB_MATCH_REPLY},
        {"dabb e2 00 0000000000000002 [4e]", BB_MATCH_LIKELY},
        {"dabb", BB_MATCH_MORE},
        {"da", BB_MATCH_MORE},
        {"dabc c2 00", BB_MATCH_NO},
        {"dabb c2 01 0000000000000001 [4e]", BB_MATCH_NO},        // a status in a request
        {"dabb 02 15 0000000000000001 [4e]", BB_MATCH_NO},        // no such status
        {"dabb c0 00 0000000000000001 [4e]", BB_MATCH_NO},        // no serialization
        {"dabb c2 00 0000000000000001 7fffffff 4e", BB_MATCH_NO}, // too long
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        ck_assert_msg(probe_octets(&bb_decoder_dubbo, cases[i].bytes) == cases[i].match, "%s",
                      cases[i].bytes);
    check_refusals(&bb_decoder_dubbo);
}
END_TEST

TEST_MAIN("dubbo", calls, errors, unread_results, one_way_and_heartbeats, labels,
          long_bodies_are_passed_over, losses, lost_end, probes)
