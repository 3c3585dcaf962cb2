// SPDX-License-Identifier: Apache-2.0
// NATS: requests and replies by inbox on both sides' connections, what is free, servers among
// themselves, TLS, loss.
#include "capture/decoder.h"
#include "capture/loss.h"
#include "tests/unit/octets.h"
#include "tests/unit/script.h"

// On a port that is not known for NATS: the content must do.
#define SCRIPT(...) SCRIPT_AT(40001, __VA_ARGS__)
#define MIDSTREAM(...) MIDSTREAM_AT(4222, __VA_ARGS__)

#define INFO "INFO {\"server_id\":\"N1\"} \r\n"           // 26 bytes
#define CONNECT "CONNECT {\"verbose\":false}\r\nPING\r\n" // 27 + 6
#define LOGIN                                                         \
    "MSG < nats INFO 26\nMSG > nats CONNECT 27\nCALL 1 nats PING 6\n" \
    "RET 1 nats ok 6\n"
#define BEGIN "<" INFO, ">" CONNECT, "<PONG\r\n"

START_TEST(requester)
{
    check(SCRIPT(BEGIN, ">SUB _INBOX.abc.* 1\r\n", ">PUB svc.add _INBOX.abc.1 5\r\n1 + 2\r\n",
                 "<MSG _INBOX.abc.1 1 1\r\n3\r\n"),
          LOGIN "MSG > nats SUB _INBOX.* 20\nCALL 2 nats PUB svc.add 35\nRET 2 nats ok 25\n");
}
END_TEST

START_TEST(responder)
{
    check(SCRIPT(BEGIN, ">SUB svc.add workers 7\r\n", "<MSG svc.add 7 _INBOX.abc.1 5\r\n1 + 2\r\n",
                 ">PUB _INBOX.abc.1 1\r\n3\r\nUNSUB 7\r\n"),
          LOGIN "MSG > nats SUB svc.add 23\nCALL 2 nats MSG svc.add 37\nRET 2 nats ok 23\n"
                "MSG > nats UNSUB 9\n");
}
END_TEST

// One connection may be both, with the same inbox.
START_TEST(both)
{
    check(SCRIPT(BEGIN, ">PUB svc _INBOX.1 0\r\n\r\n", "<MSG svc 1 _INBOX.1 0\r\n\r\n",
                 ">PUB _INBOX.1 1\r\nx\r\n", "<MSG _INBOX.1 2 1\r\nx\r\n"),
          LOGIN "CALL 2 nats PUB svc 22\nCALL 3 nats MSG svc 24\nRET 3 nats ok 19\n"
                "RET 2 nats ok 21\n");
}
END_TEST

START_TEST(out_of_order)
{
    check(SCRIPT(BEGIN, ">PUB a _INBOX.1 0\r\n\r\nPUB b _INBOX.2 0\r\n\r\n",
                 "<MSG _INBOX.2 1 0\r\n\r\nMSG _INBOX.1 1 0\r\n\r\n"),
          LOGIN "CALL 2 nats PUB a 20\nCALL 3 nats PUB b 20\nRET 3 nats ok 20\nRET 2 nats ok 20\n");
}
END_TEST

// The first reply answers; there may be more.
START_TEST(many_replies)
{
    check(SCRIPT(BEGIN, ">PUB who _INBOX.1 0\r\n\r\n", "<MSG _INBOX.1 1 1\r\na\r\n",
                 "<MSG _INBOX.1 1 1\r\nb\r\n"),
          LOGIN "CALL 2 nats PUB who 22\nRET 2 nats ok 21\nMSG < nats MSG _INBOX.* 21\n");
}
END_TEST

START_TEST(headers_and_no_responders)
{
    check(SCRIPT(BEGIN, ">HPUB svc _INBOX.1 12 14\r\nNATS/1.0\r\n\r\nhi\r\n",
                 "<HMSG _INBOX.1 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n",
                 ">HPUB svc _INBOX.2 12 12\r\nNATS/1.0\r\n\r\n\r\n",
                 "<HMSG _INBOX.2 1 17 19\r\nNATS/1.0\r\nA:b\r\n\r\nhi\r\n"),
          LOGIN "CALL 2 nats PUB svc 41\nRET 2 nats 503 41\nCALL 3 nats PUB svc 39\n"
                "RET 3 nats ok 44\n");
}
END_TEST

START_TEST(other_publishes_are_free)
{
    check(SCRIPT(BEGIN, ">PUB orders.4711.new 2\r\nhi\r\n", ">pub\torders.new\t0\r\n\r\n",
                 "<MSG orders.new 1 2\r\nhi\r\n",
                 ">PUB $JS.API.CONSUMER.MSG.NEXT.S.C _INBOX.1 0\r\n\r\n",
                 "<HMSG _INBOX.1 1 16 16\r\nNATS/1.0 404\r\n\r\n\r\n"),
          LOGIN "MSG > nats PUB orders.*.new 27\nMSG > nats PUB orders.new 20\n"
                "MSG < nats MSG orders.new 24\nMSG > nats PUB $JS.API.CONSUMER.MSG.NEXT.S.C 48\n"
                "MSG < nats MSG _INBOX.* 41\n");
}
END_TEST

// Nobody needs to acknowledge a delivery, and who does may acknowledge many at once: both are free.
// An acknowledgement that is acknowledged is a request.
START_TEST(deliveries_ask_for_nothing)
{
    check(SCRIPT(BEGIN, "<MSG ev.x 1 $JS.ACK.S.C.1.7.7.17.0 2\r\nhi\r\n",
                 "<MSG ev.x 1 $JS.ACK.S.C.1.8.8.17.0 2\r\nhi\r\n",
                 ">PUB $JS.ACK.S.C.1.8.8.17.0 4\r\n+ACK\r\n",
                 "<HMSG ev.x 1 $JS.ACK.S.C.1.9.9.17.0 12 14\r\nNATS/1.0\r\n\r\nhi\r\n",
                 ">PUB $JS.ACK.S.C.1.9.9.17.0 _INBOX.1 4\r\n+ACK\r\n", "<MSG _INBOX.1 2 0\r\n\r\n"),
          LOGIN "MSG < nats MSG ev.x 41\nMSG < nats MSG ev.x 41\n"
                "MSG > nats PUB $JS.ACK.S.C.*.*.*.*.* 36\nMSG < nats MSG ev.x 58\n"
                "CALL 2 nats PUB $JS.ACK.S.C.*.*.*.*.* 45\nRET 2 nats ok 20\n");
}
END_TEST

// ---- between servers ----------------------------------------------------------------------------

// Both sides say who they are. What they forward is free, whoever asks for a reply.
START_TEST(route)
{
    check(SCRIPT("<" INFO, ">CONNECT {\"echo\":true}\r\n" INFO "PING\r\n", "<PONG\r\n",
                 ">RS+ $G svc.add\r\nRS+ $G jobs workers 2\r\n", "<RS- $G svc.add\r\nA- TEAM\r\n",
                 "<RMSG $G svc.add _INBOX.x 2\r\nhi\r\n", ">RMSG $G _INBOX.x 2\r\nok\r\n",
                 ">RMSG $G svc.add + _INBOX.x q1 q2 q3 q4 2\r\nhi\r\n",
                 "<RMSG $G jobs | workers 0\r\n\r\n", ">LS+ LEAF $G a.b\r\n",
                 "<LMSG LEAF $G a.b 1\r\nx\r\n", ">HMSG $G a.c | q 12 14\r\nNATS/1.0\r\n\r\nhi\r\n",
                 "<RMSG svc.pinned 1\r\nx\r\n-ERR 'Stale Connection'\r\n"),
          "MSG < nats INFO 26\nMSG > nats CONNECT 23\nMSG > nats INFO 26\nCALL 1 nats PING 6\n"
          "RET 1 nats ok 6\nMSG > nats RS+ 16\nMSG > nats RS+ 23\nMSG < nats RS- 16\n"
          "MSG < nats A- 9\nMSG < nats RMSG svc.add 32\nMSG > nats RMSG _INBOX.* 24\n"
          "MSG > nats RMSG svc.add 46\nMSG < nats RMSG jobs 28\nMSG > nats LS+ 17\n"
          "MSG < nats LMSG a.b 23\nMSG > nats HMSG a.c 39\nMSG < nats RMSG svc.pinned 22\n"
          "MSG < nats -ERR 25\n");
}
END_TEST

START_TEST(leaf_node)
{
    check(SCRIPT("<" INFO, ">CONNECT {\"name\":\"L\"}\r\nLS+ a.*\r\nLS+ jobs q 1\r\n",
                 "<LS+ svc\r\nLS- svc\r\n", ">LMSG svc _INBOX.1 2\r\nhi\r\n",
                 "<LMSG _INBOX.1 1\r\n3\r\n", "<LMSG jobs + _INBOX.2 q 0\r\n\r\n",
                 ">HMSG a.b 12 12\r\nNATS/1.0\r\n\r\n\r\n",
                 "<HMSG a.b _INBOX.3 12 12\r\nNATS/1.0\r\n\r\n\r\n"),
          "MSG < nats INFO 26\nMSG > nats CONNECT 22\nMSG > nats LS+ 9\nMSG > nats LS+ 14\n"
          "MSG < nats LS+ 9\nMSG < nats LS- 9\nMSG > nats LMSG svc 25\n"
          "MSG < nats LMSG _INBOX.* 20\nMSG < nats LMSG jobs 28\nMSG > nats HMSG a.b 30\n"
          "MSG < nats HMSG a.b 39\n");
}
END_TEST

START_TEST(routes_are_joined_and_lose)
{
    check(MIDSTREAM("<RMSG $G a.b 2\r\nhi\r\n", ">RMSG $G a.c 1\r\nx\r\n",
                    ")RMSG $G a.d 1\r\nx\r\n", ">RMSG $G a.e 1\r\nx\r\n"),
          "MSG < nats RMSG a.b 19\nMSG > nats RMSG a.c 18\nMSG > nats RMSG a.e 18\n");
}
END_TEST

// ---- what else is free --------------------------------------------------------------------------

START_TEST(what_the_server_says)
{
    check(SCRIPT("<" INFO, ">CONNECT {\"verbose\":true}\r\n", "<+OK\r\n", ">PUB a 0\r\n\r\n",
                 "<+OK\r\n", "<PING\r\n", ">PONG\r\n", "<-ERR 'Slow Consumer'\r\n"),
          "MSG < nats INFO 26\nMSG > nats CONNECT 26\nMSG > nats PUB a 11\nCALL 1 nats PING 6\n"
          "RET 1 nats ok 6\nMSG < nats -ERR 22\n");
}
END_TEST

START_TEST(pings_in_order)
{
    check(SCRIPT(BEGIN, ">PING\r\nPING\r\n", "<PONG\r\n", "<PONG\r\n"),
          LOGIN "CALL 2 nats PING 6\nCALL 3 nats PING 6\nRET 2 nats ok 6\nRET 3 nats ok 6\n");
}
END_TEST

START_TEST(tls_after_info)
{
    check(SCRIPT("<" INFO, ">\x16\x03\x01\x01\x01hello", "<\x15\x03\x03\x01\x02(F"),
          "MSG < nats INFO 26\nCALL 1 tcp - 10\nRET 1 tcp ok 7\n");
}
END_TEST

START_TEST(long_payloads_are_passed_over)
{
    g_autoptr(Steps) s = steps_new(7777);
    down(s, "'INFO {\"server_id\":\"N1\"} ' 0d0a");
    up(s, "'PUB a 150000' 0d0a 'x' *150000 0d0a 'PING' 0d0a");
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c),
                     "MSG < nats INFO 26\nMSG > nats PUB a 150016\nCALL 1 nats PING 6\n");
    ck_assert_uint_eq(converse_loss(c, BB_MESSAGE_LIMIT), 0);
}
END_TEST

// ---- joined in the middle, loss -----------------------------------------------------------------

START_TEST(joined_in_the_middle)
{
    check(MIDSTREAM("<MSG a.b 1 2\r\nhi\r\n", ">PING\r\n", "<PONG\r\n"),
          "MSG < nats MSG a.b 17\nCALL 1 nats PING 6\nRET 1 nats ok 6\n");
    g_autoptr(Converse) c =
        play(MIDSTREAM("<half of a payload\r\nMSG a.b 1 2\r\nhi\r\n",
                       ">PUB a.b _INBOX.1 2\r\nhi\r\n", "<MSG _INBOX.1 1 0\r\n\r\n"),
             1460);
    ck_assert_str_eq(converse_result(c), "MSG < tcp - 36\nCALL 1 nats PUB a.b 24\n"
                                         "RET 1 nats ok 20\n");
}
END_TEST

START_TEST(lost_request_and_reply)
{
    check(SCRIPT(BEGIN, ")PUB a _INBOX.1 0\r\n\r\n", "<MSG _INBOX.1 1 0\r\n\r\n",
                 ">PUB b _INBOX.2 0\r\n\r\n", "(MSG _INBOX.2 1 0\r\n\r\n",
                 ">PUB c _INBOX.3 0\r\n\r\n", "<MSG _INBOX.3 1 0\r\n\r\n"),
          LOGIN "MSG < nats MSG _INBOX.* 20\nCALL 2 nats PUB b 20\nCALL 3 nats PUB c 20\n"
                "RET 3 nats ok 20\n");
}
END_TEST

START_TEST(lost_pong_does_not_shift)
{
    const Script *script = SCRIPT(BEGIN, ">PING\r\n", "(PONG\r\n", ">PING\r\n", "<PONG\r\n");
    check(script, LOGIN "CALL 2 nats PING 6\nCALL 3 nats PING 6\nRET 3 nats ok 6\n");
}
END_TEST

START_TEST(lost_middle)
{
    check(SCRIPT(BEGIN, ">PUB a _INBOX.1 12\r\nabcd", ")efgh", ">ijkl\r\n",
                 "<MSG _INBOX.1 1 0\r\n\r\n"),
          LOGIN "CALL 2 nats PUB a 29\nRET 2 nats ok 20\n");
    check(SCRIPT(BEGIN, ">PUB a _INBOX.1 12\r\nabcd", ")efghijkl\r\nPUB b 1\r\nx\r\n",
                 "<MSG _INBOX.1 1 0\r\n\r\n", ">PUB seen 0\r\n\r\n"),
          LOGIN "CALL 2 nats PUB a 23\nRET 2 nats ok 20\nMSG > nats PUB seen 14\n");
}
END_TEST

// ---- what is no NATS ----------------------------------------------------------------------------

START_TEST(damage)
{
    static const char *const lines[] = {
        "PUB a\r\n",
        "PUB a b c d\r\n",
        "PUB a b c d e f g\r\n",
        "PUB a x\r\n",
        "PUB a 99999999999999999999\r\n",
        "HPUB a 9 3\r\n",
        "BLOB a 1\r\n",
        "PING x\r\n",
        "PUB a 1\r\nxyz\r\n",
        "MSG a 1 1\r\nx\r\n", // not for a client to say
    };
    for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
        g_autofree char *line = g_strconcat(">", lines[i], NULL);
        g_autoptr(Converse) c = play(SCRIPT(BEGIN, line, ">PUB b 1\r\nx\r\n"), 1460);
        ck_assert_str_eq(converse_result(c), LOGIN "MSG > nats PUB b 12\n");
        ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
    }
}
END_TEST

START_TEST(lines_have_a_limit)
{
    g_autoptr(Steps) s = steps_new(4222);
    down(s, "'INFO {\"server_id\":\"N1\"} ' 0d0a");
    up(s, "'PUB a 0' 0d0a0d0a");
    up(s, "'PUB a' *5000");
    up(s, "'PUB b 0' 0d0a0d0a");
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c),
                     "MSG < nats INFO 26\nMSG > nats PUB a 11\nMSG > nats PUB b 11\n");
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
}
END_TEST

START_TEST(probes)
{
    static const struct {
        const char *bytes;
        BbMatch match;
    } cases[] = {
        {"'INFO {\"server_id\":\"x\"}' 0d0a", BB_MATCH_REPLY},
        {"'INFO {\"a\":1}' 0d0a", BB_MATCH_MAYBE},
        {"'INFO all' 0d0a", BB_MATCH_NO}, // Redis
        {"'INFO' 0d0a", BB_MATCH_NO},
        {"'INFO {\"server'", BB_MATCH_MORE},
        {"'CONNECT {\"verbose\":true}' 0d0a", BB_MATCH_REQUEST},
        {"'CONNECT {}' 0d0a", BB_MATCH_MAYBE},
        {"'CONNECT example.com:443 HTTP/1.1' 0d0a", BB_MATCH_NO},
        {"'PUB a 1' 0d0a 'x' 0d0a", BB_MATCH_REQUEST},
        {"'PUB a 1' 0d0a 'xyz'", BB_MATCH_NO},
        {"'PUB a 9' 0d0a 'x'", BB_MATCH_LIKELY},
        {"'MSG a 1 1' 0d0a 'x' 0d0a", BB_MATCH_REPLY},
        {"'PING' 0d0a", BB_MATCH_MAYBE},
        {"'SUB a 1' 0d0a", BB_MATCH_MAYBE},
        {"'PU'", BB_MATCH_MORE},
        {"'PUBLISH a 1' 0d0a", BB_MATCH_NO},
        {"'RMSG $G a 1' 0d0a 'x' 0d0a", BB_MATCH_LIKELY},
        {"'LS+ a' 0d0a", BB_MATCH_MAYBE},
        {"", BB_MATCH_MORE},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        ck_assert_msg(probe_octets(&bb_decoder_nats, cases[i].bytes) == cases[i].match, "%s",
                      cases[i].bytes);
    check_refusals(&bb_decoder_nats);
}
END_TEST

TEST_MAIN("nats", requester, responder, both, out_of_order, many_replies, headers_and_no_responders,
          other_publishes_are_free, deliveries_ask_for_nothing, route, leaf_node,
          routes_are_joined_and_lose, what_the_server_says, pings_in_order, tls_after_info,
          long_payloads_are_passed_over, joined_in_the_middle, lost_request_and_reply,
          lost_pong_does_not_shift, lost_middle, damage, lines_have_a_limit, probes)
