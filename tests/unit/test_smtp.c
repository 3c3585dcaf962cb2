// SPDX-License-Identifier: Apache-2.0
// SMTP and LMTP: commands and replies, mail in all its forms, what is handed on, what is missing.
#include "capture/decoder.h"
#include "capture/loss.h"
#include "capture/protocols/smtp_line.h"
#include "tests/unit/octets.h"
#include "tests/unit/script.h"

#define SCRIPT(...) SCRIPT_AT(40001, __VA_ARGS__)
#define ON_PORT(...) SCRIPT_AT(25, __VA_ARGS__)
#define MIDSTREAM(...) MIDSTREAM_AT(25, __VA_ARGS__)

#define BANNER "<220 mx.example.com ESMTP\r\n"         // 26
#define EHLO ">EHLO a.example.com\r\n"                 // 20
#define FEATURES "<250-mx.example.com\r\n250 HELP\r\n" // 30
#define MAIL "MAIL FROM:<a@example.com>\r\n"           // 27
#define RCPT "RCPT TO:<b@example.com>\r\n"             // 25
#define OK "250 2.1.0 Ok\r\n"                          // 14
#define GO_ON "354 End data with <CR><LF>.<CR><LF>\r\n"
#define BEGUN "MSG < smtp - 26\nCALL 1 smtp EHLO 20\nRET 1 smtp 250 30\n"

// ---- a session ----------------------------------------------------------------------------------

START_TEST(session)
{
    check(SCRIPT(BANNER, EHLO, FEATURES, ">" MAIL, "<" OK, ">" RCPT, "<" OK, ">DATA\r\n", "<" GO_ON,
                 ">Subject: x\r\n\r\nHello.\r\n..\r\n.\r\n", "<250 Ok: queued\r\n", ">QUIT\r\n",
                 "<221 Bye\r\n"),
          BEGUN "CALL 2 smtp MAIL 27\nRET 2 smtp 250 14\nCALL 3 smtp RCPT 25\nRET 3 smtp 250 14\n"
                "CALL 4 smtp DATA 35\nRET 4 smtp 250 16\nCALL 5 smtp QUIT 6\nRET 5 smtp 221 9\n");
}
END_TEST

// Clients that do not wait for the greeting, or for permission: these answer nothing.
START_TEST(early_client)
{
    check(SCRIPT(EHLO, BANNER, FEATURES, ">" MAIL, "<" OK),
          "CALL 1 smtp EHLO 20\nMSG < smtp - 26\nRET 1 smtp 250 30\nCALL 2 smtp MAIL 27\n"
          "RET 2 smtp 250 14\n");
    check(SCRIPT(">EHLO a.example.com\r\n" MAIL RCPT "QUIT\r\n", BANNER, FEATURES,
                 "<" OK "550 no\r\n221 Bye\r\n"),
          "CALL 1 smtp EHLO 20\nCALL 2 smtp MAIL 27\nCALL 3 smtp RCPT 25\nCALL 4 smtp QUIT 6\n"
          "MSG < smtp - 26\nRET 1 smtp 250 30\nRET 2 smtp 250 14\nRET 3 smtp 550 8\n"
          "RET 4 smtp 221 9\n");
    check(SCRIPT(BANNER, EHLO, FEATURES, ">DATA\r\nx\r\n", "<" GO_ON, ">y\r\n.\r\n", "<250 Ok\r\n",
                 ">DATA\r\nx\r\n.\r\n", "<" GO_ON "250 Ok\r\n", ">QUIT\r\n", "<221 Bye\r\n"),
          BEGUN "CALL 2 smtp DATA 15\nRET 2 smtp 250 8\nCALL 3 smtp DATA 12\nRET 3 smtp 250 8\n"
                "CALL 4 smtp QUIT 6\nRET 4 smtp 221 9\n");
}
END_TEST

// The first reply that is seen may be an answer.
START_TEST(no_greeting)
{
    check(MIDSTREAM(">STARTTLS\r\n", "<220 go\r\n"), "CALL 1 smtp STARTTLS 10\nRET 1 smtp 220 8\n");
    check(MIDSTREAM(">" MAIL, "<554 no\r\n"), "CALL 1 smtp MAIL 27\nRET 1 smtp 554 8\n");
}
END_TEST

START_TEST(pipelined)
{
    check(SCRIPT(BANNER, EHLO, FEATURES, ">" MAIL RCPT "DATA\r\n", "<" OK OK, "<" GO_ON,
                 ">x\r\n.\r\nQUIT\r\n", "<250 Ok\r\n221 Bye\r\n"),
          BEGUN "CALL 2 smtp MAIL 27\nCALL 3 smtp RCPT 25\nCALL 4 smtp DATA 12\n"
                "RET 2 smtp 250 14\nRET 3 smtp 250 14\nCALL 5 smtp QUIT 6\nRET 4 smtp 250 8\n"
                "RET 5 smtp 221 9\n");
}
END_TEST

// The mail ends only with its own line of a dot.
START_TEST(ends_of_mail)
{
    static const struct {
        const char *mail;
        guint bytes;
    } cases[] = {
        {">.\r\n", 3},
        {">a.\r\n.\r\n", 7},
        {">\r\n.\r\r\n.\r\n", 9},
        {">a\n.\nb\r\n.\r\n", 10},
        {">QUIT\r\n.x\r\n\r\n.\r\n", 15},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *expected = g_strdup_printf(
            BEGUN "CALL 2 smtp DATA %u\nRET 2 smtp 250 8\nCALL 3 smtp NOOP 6\nRET 3 smtp 250 8\n",
            6 + cases[i].bytes);
        check(SCRIPT(BANNER, EHLO, FEATURES, ">DATA\r\n", "<" GO_ON, cases[i].mail, "<250 Ok\r\n",
                     ">NOOP\r\n", "<250 Ok\r\n"),
              expected);
    }
}
END_TEST

START_TEST(refused)
{
    check(SCRIPT(BANNER, EHLO, FEATURES, ">" MAIL RCPT "DATA\r\n",
                 "<" OK "550 5.1.1 who?\r\n554 5.5.1 no valid recipients\r\n", ">RSET\r\n", "<" OK),
          BEGUN "CALL 2 smtp MAIL 27\nCALL 3 smtp RCPT 25\nCALL 4 smtp DATA 6\nRET 2 smtp 250 14\n"
                "RET 3 smtp 550 16\nRET 4 smtp 554 31\nCALL 5 smtp RSET 6\nRET 5 smtp 250 14\n");
}
END_TEST

// A client goes by the first digit, and so do the replies behind it.
START_TEST(odd_second_digits)
{
    check(SCRIPT(BANNER, EHLO, FEATURES, ">" MAIL RCPT RCPT "DATA\r\n",
                 "<" OK "571 5.7.1 Delivery not authorized\r\n" OK GO_ON, ">x\r\n.\r\n", "<" OK),
          BEGUN "CALL 2 smtp MAIL 27\nCALL 3 smtp RCPT 25\nCALL 4 smtp RCPT 25\n"
                "CALL 5 smtp DATA 12\nRET 2 smtp 250 14\nRET 3 smtp 571 35\n"
                "RET 4 smtp 250 14\nRET 5 smtp 250 14\n");
}
END_TEST

// The server has enough of a mail before it is over.
START_TEST(mail_cut_off)
{
    check(SCRIPT(BANNER, EHLO, FEATURES, ">DATA\r\n", "<" GO_ON, ">too much\r\n",
                 "<552 5.3.4 too big\r\n", ">QUIT\r\n", "<221 Bye\r\n"),
          BEGUN "CALL 2 smtp DATA 16\nRET 2 smtp 552 19\nCALL 3 smtp QUIT 6\nRET 3 smtp 221 9\n");
}
END_TEST

// And the client goes on with it.
START_TEST(mail_cut_off_goes_on)
{
    check(SCRIPT(BANNER, EHLO, FEATURES, ">DATA\r\n", "<" GO_ON, ">too much\r\n",
                 "<552 5.3.4 too big\r\n", ">far too\r\nmuch\r\n", ">of it\r\n.\r\nRSET\r\n",
                 "<" OK, ">QUIT\r\n", "<221 Bye\r\n"),
          BEGUN "CALL 2 smtp DATA 16\nRET 2 smtp 552 19\nCALL 3 smtp RSET 6\nRET 3 smtp 250 14\n"
                "CALL 4 smtp QUIT 6\nRET 4 smtp 221 9\n");
}
END_TEST

START_TEST(chunks)
{
    check(SCRIPT(BANNER, EHLO, FEATURES, ">" MAIL RCPT "BDAT 10\r\n0123\r\n.\r\nX",
                 "<" OK OK "250 10 bytes\r\n", ">bdat 5 LAST\r\nQUIT\nBDAT 0 LAST\r\nRSET\r\n",
                 "<250 5 bytes\r\n250 Ok\r\n250 Ok\r\n"),
          BEGUN "CALL 2 smtp MAIL 27\nCALL 3 smtp RCPT 25\nCALL 4 smtp BDAT 19\nRET 2 smtp 250 14\n"
                "RET 3 smtp 250 14\nRET 4 smtp 250 14\nCALL 5 smtp BDAT 18\nCALL 6 smtp BDAT 13\n"
                "CALL 7 smtp RSET 6\nRET 5 smtp 250 13\nRET 6 smtp 250 8\nRET 7 smtp 250 8\n");
}
END_TEST

START_TEST(authentication)
{
    check(SCRIPT(BANNER, EHLO, FEATURES, ">AUTH LOGIN\r\n", "<334 VXNlcm5hbWU6\r\n", ">QUIT\r\n",
                 "<334 UGFzc3dvcmQ6\r\n", ">c2VjcmV0\r\n", "<235 2.7.0 welcome\r\n",
                 ">AUTH PLAIN AGEAYg==\r\n", "<503 again?\r\n"),
          BEGUN "CALL 2 smtp AUTH 12\nRET 2 smtp 235 19\nCALL 3 smtp AUTH 21\nRET 3 smtp 503 12\n");
}
END_TEST

// LMTP answers once a recipient that was accepted; the first refusal is the status.
START_TEST(lmtp)
{
    check(SCRIPT("<220 mx.example.com LMTP\r\n", ">LHLO a\r\n", "<250 hi\r\n",
                 ">" MAIL RCPT RCPT RCPT "DATA\r\n", "<" OK OK "550 no\r\n" OK, "<" GO_ON,
                 ">x\r\n.\r\n", "<250 one\r\n", "<452 full\r\n", ">QUIT\r\n", "<221 Bye\r\n"),
          "MSG < smtp - 25\nCALL 1 smtp LHLO 8\nRET 1 smtp 250 8\nCALL 2 smtp MAIL 27\n"
          "CALL 3 smtp RCPT 25\nCALL 4 smtp RCPT 25\nCALL 5 smtp RCPT 25\nCALL 6 smtp DATA 12\n"
          "RET 2 smtp 250 14\nRET 3 smtp 250 14\nRET 4 smtp 550 8\nRET 5 smtp 250 14\n"
          "RET 6 smtp 452 19\nCALL 7 smtp QUIT 6\nRET 7 smtp 221 9\n");
}
END_TEST

START_TEST(starttls)
{
    g_autoptr(Steps) s = steps_new(40001);
    down(s, "'220 mx ESMTP' 0d0a");
    up(s, "'STARTTLS' 0d0a");
    down(s, "'220 go ahead' 0d0a");
    up(s, "16 0301 0031 01 00002d 0303 00*32 00 0002 1301 01 00 0000 0000");
    steps_check(s,
                "MSG < smtp - 14\nCALL 1 smtp STARTTLS 10\nRET 1 smtp 220 14\nCALL 2 tls - 54\n");
    check(SCRIPT(BANNER, EHLO, FEATURES, ">STARTTLS\r\n", "<454 not now\r\n", ">QUIT\r\n",
                 "<221 Bye\r\n"),
          BEGUN "CALL 2 smtp STARTTLS 10\nRET 2 smtp 454 13\nCALL 3 smtp QUIT 6\n"
                "RET 3 smtp 221 9\n");
}
END_TEST

// What Exchange servers say to each other.
START_TEST(exchange)
{
    g_autoptr(Steps) s = steps_new(40001);
    down(s, "'220 mx ESMTP' 0d0a");
    up(s, "'X-ANONYMOUSTLS' 0d0a");
    down(s, "'220 go ahead' 0d0a");
    up(s, "16 0301 0031 01 00002d 0303 00*32 00 0002 1301 01 00 0000 0000");
    steps_check(s, "MSG < smtp - 14\nCALL 1 smtp X-ANONYMOUSTLS 16\nRET 1 smtp 220 14\n"
                   "CALL 2 tls - 54\n");
    check(SCRIPT(BANNER, EHLO, FEATURES, ">X-EXPS GSSAPI\r\n", "<334 GSSAPI supported\r\n",
                 ">c2VjcmV0\r\n", "<235 2.7.0 welcome\r\n", ">QUIT\r\n", "<221 Bye\r\n"),
          BEGUN "CALL 2 smtp X-EXPS 15\nRET 2 smtp 235 19\nCALL 3 smtp QUIT 6\n"
                "RET 3 smtp 221 9\n");
}
END_TEST

START_TEST(goodbyes_nobody_asked_for)
{
    check(ON_PORT("<554 no service\r\n"), "MSG < smtp - 16\n");
    check(SCRIPT(BANNER, EHLO, FEATURES, "<421 timeout\r\n", "y"), BEGUN "MSG < smtp - 13\n");
}
END_TEST

// What a client may have said by mistake is not repeated.
START_TEST(labels)
{
    check(SCRIPT(BANNER, EHLO, FEATURES, ">my secret\r\n", "<500 what\r\n", ">vrfy x\r\n",
                 "<252 maybe\r\n", ">mail from:<x>\r\n", "<" OK, ">DATAX\r\n", "<500 what\r\n"),
          BEGUN "CALL 2 smtp ? 11\nRET 2 smtp 500 10\nCALL 3 smtp VRFY 8\nRET 3 smtp 252 11\n"
                "CALL 4 smtp MAIL 15\nRET 4 smtp 250 14\nCALL 5 smtp ? 7\nRET 5 smtp 500 10\n");
}
END_TEST

START_TEST(long_lines)
{
    g_autofree char *x = g_strnfill(9000, 'x');
    g_autofree char *command = g_strdup_printf(">AUTH XOAUTH2 %s\r\n", x);
    g_autofree char *reply = g_strdup_printf("<250-%s\r\n250 Ok\r\n", x);
    check(SCRIPT(BANNER, EHLO, FEATURES, command, reply, ">NOOP\r\n", "<" OK),
          BEGUN "CALL 2 smtp AUTH 9015\nRET 2 smtp 250 9014\nCALL 3 smtp NOOP 6\n"
                "RET 3 smtp 250 14\n");
}
END_TEST

// ---- in the middle, with holes ------------------------------------------------------------------

START_TEST(midstream)
{
    check(MIDSTREAM(">" MAIL, "<" OK, ">" RCPT, "<" OK),
          "CALL 1 smtp MAIL 27\nRET 1 smtp 250 14\nCALL 2 smtp RCPT 25\nRET 2 smtp 250 14\n");
}
END_TEST

START_TEST(lost_command)
{
    check(SCRIPT(BANNER, EHLO, FEATURES, ")" MAIL, "<" OK, ">" RCPT, "<" OK, ">RSET\r\n", "<" OK),
          BEGUN "RET - smtp 250 14\nCALL 2 smtp RCPT 25\nRET 2 smtp 250 14\nCALL 3 smtp RSET 6\n"
                "RET 3 smtp 250 14\n");
}
END_TEST

START_TEST(lost_reply)
{
    check(SCRIPT(BANNER, EHLO, FEATURES, ">" MAIL, "(" OK, ">" RCPT, "<" OK, ">RSET\r\n", "<" OK),
          BEGUN "CALL 2 smtp MAIL 27\nCALL 3 smtp RCPT 25\nRET 3 smtp 250 14\nCALL 4 smtp RSET 6\n"
                "RET 4 smtp 250 14\n");
}
END_TEST

START_TEST(lost_permission)
{
    check(SCRIPT(BANNER, EHLO, FEATURES, ">DATA\r\n", "(" GO_ON, ">hello\r\n.\r\n", "<250 Ok\r\n",
                 ">QUIT\r\n", "<221 Bye\r\n"),
          BEGUN "CALL 2 smtp DATA 6\nRET - smtp 250 8\nCALL 3 smtp QUIT 6\nRET 3 smtp 221 9\n");
}
END_TEST

// A hole in a mail, be it over its end. A command might have been in it, so the next reply cannot
// be told to be that of the next command.
START_TEST(lost_mail)
{
    check(SCRIPT(BANNER, EHLO, FEATURES, ">DATA\r\n", "<" GO_ON, ">one\r\n", ")two\r\n",
                 ">three\r\n.\r\n", "<250 Ok\r\n", ">NOOP\r\n", "<" OK, ">QUIT\r\n",
                 "<221 Bye\r\n"),
          BEGUN "CALL 2 smtp DATA 21\nRET 2 smtp 250 8\nCALL 3 smtp NOOP 6\nRET - smtp 250 14\n"
                "CALL 4 smtp QUIT 6\nRET 4 smtp 221 9\n");
    check(SCRIPT(BANNER, EHLO, FEATURES, ">DATA\r\n", "<" GO_ON, ">one\r\n", ")two\r\n.\r\n",
                 "<250 Ok\r\n", ">NOOP\r\n", "<" OK, ">QUIT\r\n", "<221 Bye\r\n"),
          BEGUN "CALL 2 smtp DATA 11\nRET 2 smtp 250 8\nCALL 3 smtp NOOP 6\nRET - smtp 250 14\n"
                "CALL 4 smtp QUIT 6\nRET 4 smtp 221 9\n");
}
END_TEST

START_TEST(lost_chunk)
{
    check(SCRIPT(BANNER, EHLO, FEATURES, ">BDAT 10 LAST\r\n01234", ")567", ">89", "<250 Ok\r\n",
                 ">QUIT\r\n", "<221 Bye\r\n"),
          BEGUN "CALL 2 smtp BDAT 21\nRET 2 smtp 250 8\nCALL 3 smtp QUIT 6\nRET 3 smtp 221 9\n");
}
END_TEST

// The line that announced bytes is missing: they are no commands, whatever they look like.
START_TEST(lost_announcements)
{
    check(SCRIPT(BANNER, EHLO, FEATURES, ">" RCPT, "<" OK, ")DATA\r\n", "<" GO_ON,
                 ">a\r\nHelp is on its way\r\nb\r\nc\r\n.\r\n", "<250 Ok\r\n", ">QUIT\r\n",
                 "<221 Bye\r\n"),
          BEGUN "CALL 2 smtp RCPT 25\nRET 2 smtp 250 14\nRET - smtp 250 8\nCALL 3 smtp QUIT 6\n"
                "RET 3 smtp 221 9\n");
    check(SCRIPT(BANNER, EHLO, FEATURES, ">" RCPT, "<" OK, ")BDAT 28 LAST\r\n",
                 ">a\r\nHelp is on its way\r\nb\r\nc\r\n", "<250 Ok\r\n", ">QUIT\r\n",
                 "<221 Bye\r\n"),
          BEGUN "CALL 2 smtp RCPT 25\nRET 2 smtp 250 14\nRET - smtp 250 8\nCALL 3 smtp QUIT 6\n"
                "RET 3 smtp 221 9\n");
    check(SCRIPT(BANNER, EHLO, FEATURES, ">AUTH LOGIN\r\n", "(334 VXNlcm5hbWU6\r\n",
                 ">dXNlcg==\r\n", "<334 UGFzc3dvcmQ6\r\n", ">c2VjcmV0\r\n", "<235 welcome\r\n",
                 ">QUIT\r\n", "<221 Bye\r\n"),
          BEGUN "CALL 2 smtp AUTH 12\nRET - smtp 235 13\nCALL 3 smtp QUIT 6\nRET 3 smtp 221 9\n");
    check(SCRIPT(BANNER, EHLO, FEATURES, ">AUTH LOGIN\r\n", "<334 VXNlcm5hbWU6\r\n",
                 ")dXNlcg==\r\n", "<334 UGFzc3dvcmQ6\r\n", ">c2VjcmV0\r\n", "<235 welcome\r\n",
                 ">" RCPT, "<" OK, ">QUIT\r\n", "<221 Bye\r\n"),
          BEGUN "CALL 2 smtp AUTH 12\nRET 2 smtp 235 13\nCALL 3 smtp RCPT 25\n"
                "RET 3 smtp 250 14\nCALL 4 smtp QUIT 6\nRET 4 smtp 221 9\n");
    check(SCRIPT(BANNER, EHLO, FEATURES, ">AUTH LOGIN\r\n", "<334 VXNlcm5hbWU6\r\n",
                 ">dXNlcg==\r\n", "<334 UGFzc3dvcmQ6\r\n", ")c2VjcmV0\r\n", "<235 welcome\r\n",
                 ">" RCPT, "<" OK, ">QUIT\r\n", "<221 Bye\r\n"),
          BEGUN "CALL 2 smtp AUTH 12\nRET 2 smtp 235 13\nCALL 3 smtp RCPT 25\n"
                "RET 3 smtp 250 14\nCALL 4 smtp QUIT 6\nRET 4 smtp 221 9\n");
    check(SCRIPT(BANNER, EHLO, FEATURES, ">AUTH PLAIN\r\n", "(334 \r\n", ">c2VjcmV0\r\n",
                 "<235 welcome\r\n", ">QUIT\r\n", "<221 Bye\r\n"),
          BEGUN "CALL 2 smtp AUTH 12\nRET - smtp 235 13\nCALL 3 smtp QUIT 6\nRET 3 smtp 221 9\n");
}
END_TEST

// Permission to speak TLS, or the wish to, was not seen: what follows is TLS nevertheless.
START_TEST(lost_starttls)
{
    static const char hello[] = "16 0301 0031 01 00002d 0303 00*32 00 0002 1301 01 00 0000 0000";
    g_autoptr(Steps) reply = steps_new(40001);
    down(reply, "'220 mx ESMTP' 0d0a");
    up(reply, "'STARTTLS' 0d0a");
    step(reply, LOSE_DOWN, octets("'220 go' 0d0a"));
    up(reply, hello);
    up(reply, "17 0303 0030 0a*48");
    steps_check(reply, "MSG < smtp - 14\nCALL 1 smtp STARTTLS 10\nCALL 2 tls - 54\n"
                       "MSG > tls - 53\n");
    g_autoptr(Steps) command = steps_new(40001);
    down(command, "'220 mx ESMTP' 0d0a");
    step(command, LOSE_UP, octets("'STARTTLS' 0d0a"));
    down(command, "'220 go' 0d0a");
    up(command, hello);
    steps_check(command, "MSG < smtp - 14\nRET - smtp 220 8\nCALL 1 tls - 54\n");
}
END_TEST

// Both of these are missing: what is encrypted holds no commands.
START_TEST(lost_tls_hello)
{
    g_autoptr(Steps) s = steps_new(40001);
    down(s, "'220 mx ESMTP' 0d0a");
    up(s, "'STARTTLS' 0d0a");
    step(s, LOSE_DOWN, octets("'220 go' 0d0a"));
    up(s, "17 0303 0030 0a*48");
    up(s, "17 0303 0030 0a*48");
    steps_check(s, "MSG < smtp - 14\nCALL 1 smtp STARTTLS 10\n");
}
END_TEST

START_TEST(cut_command)
{
    g_autoptr(Converse) c = play(SCRIPT(BANNER, EHLO, FEATURES, ">NOOP", "x"), 1460);
    ck_assert_str_eq(converse_result(c), BEGUN "CALL 2 smtp NOOP 4\n");
}
END_TEST

// ---- what is no SMTP ----------------------------------------------------------------------------

START_TEST(others_on_the_port)
{
    g_autoptr(Converse) c =
        play(ON_PORT("<220 x\r\n", ">\x01\x02 what\r\n", "<\x03\x04\x05"), 1460);
    ck_assert_str_eq(converse_result(c), "MSG < smtp - 7\nCALL 1 tcp - 9\nRET 1 tcp ok 3\n");
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 1);
}
END_TEST

START_TEST(replies_that_are_none)
{
    g_autoptr(Converse) c = play(SCRIPT(BANNER, EHLO, FEATURES, ">NOOP\r\n", "<what?\r\n",
                                        ">NOOP\r\n", "<" OK, ">RSET\r\n", "<" OK),
                                 1460);
    ck_assert(strstr(converse_result(c), "CALL 4 smtp RSET 6\n"));
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
}
END_TEST

START_TEST(probe)
{
    static const struct {
        const char *bytes;
        BbMatch match;
    } cases[] = {
        {"", BB_MATCH_MORE},
        {"2", BB_MATCH_MORE},
        {"220", BB_MATCH_MORE},
        {"220 mx ", BB_MATCH_MORE},
        {"220 mx ESMTP", BB_MATCH_REPLY},
        {"220-mx lmtp\r\n", BB_MATCH_REPLY},
        {"220 ProFTPD\r\n", BB_MATCH_MAYBE},
        {"250 Ok\r\n", BB_MATCH_MAYBE},
        {"999 Ok\r\n", BB_MATCH_NO},
        {"571 no\r\n", BB_MATCH_NO},
        {"250x\r\n", BB_MATCH_NO},
        {"25\r\n", BB_MATCH_NO},
        {"E", BB_MATCH_MORE},
        {"EHLO", BB_MATCH_MORE},
        {"ehlo a\r\n", BB_MATCH_REQUEST},
        {"EHLO \r\n", BB_MATCH_REQUEST},
        {"EHLO\r\n", BB_MATCH_MAYBE},
        {"MAIL FROM:<a>\r\n", BB_MATCH_REQUEST},
        {"QUIT\r\n", BB_MATCH_MAYBE},
        {"QUITE\r\n", BB_MATCH_NO},
        {"\n", BB_MATCH_NO},
        {"EH\r\n", BB_MATCH_NO},
        {"GET / HTTP/1.1\r\n", BB_MATCH_NO},
        {"PING\r\n", BB_MATCH_NO},
        {"EHLO \x01\r\n", BB_MATCH_NO},
        {"\x16\x03\x01", BB_MATCH_NO},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree guint8 *copy = g_memdup2(cases[i].bytes, strlen(cases[i].bytes) + 1);
        BbMatch match = bb_smtp_probe(copy, strlen(cases[i].bytes));
        ck_assert_msg(match == cases[i].match, "%s: %d", cases[i].bytes, match);
    }
}
END_TEST

START_TEST(chunk_sizes)
{
    BbSmtpCommand command = bb_smtp_command((const guint8 *)"BDAT 86 LAST\r\n", 14);
    ck_assert_uint_eq(command.chunk, 86);
    ck_assert(command.last);
    command = bb_smtp_command((const guint8 *)"BDAT 99999999999999999999999\r\n", 30);
    ck_assert_uint_lt(command.chunk, G_GUINT64_CONSTANT(1) << 45);
    command = bb_smtp_command((const guint8 *)"BDAT", 4);
    ck_assert_uint_eq(command.chunk, 0);
    ck_assert(!command.last);
}
END_TEST

// What a line of mail is taken for, where no command is expected.
START_TEST(sure_commands)
{
    static const struct {
        const char *line;
        bool sure;
    } cases[] = {
        {"MAIL FROM:<a>\r\n", true}, {"mail from:<a>\r\n", true}, {"Mail from me\r\n", false},
        {"RCPT TO:<a>\r\n", true},   {"RCPT <a>\r\n", false},     {"DATA\r\n", true},
        {"DATA \n", true},           {"Data that\r\n", false},    {"QUIT", true},
        {"HELP me\r\n", false},      {"EHLO a\r\n", true},        {"EHLO\r\n", false},
        {"Send it\r\n", false},      {"SEND FROM:<a>\r\n", true}, {"what\r\n", false},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        gsize length = strlen(cases[i].line);
        g_autofree guint8 *copy = g_memdup2(cases[i].line, length);
        ck_assert_msg(bb_smtp_command(copy, length).sure == cases[i].sure, "%s", cases[i].line);
    }
}
END_TEST

// Random bytes are of no protocol.
START_TEST(random_bytes)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(446);
    for (guint i = 0; i < 20000; i++) {
        guint8 bytes[64];
        for (gsize k = 0; k < sizeof bytes; k++)
            bytes[k] = (guint8)g_rand_int(rand);
        BbMatch match = bb_decoder_smtp.probe(bytes, sizeof bytes);
        ck_assert_msg(match == BB_MATCH_NO, "round %u: %d", i, match);
    }
}
END_TEST

TEST_MAIN("smtp", session, early_client, no_greeting, pipelined, ends_of_mail, refused,
          odd_second_digits, mail_cut_off, mail_cut_off_goes_on, chunks, authentication, lmtp,
          starttls, exchange, goodbyes_nobody_asked_for, labels, long_lines, midstream,
          lost_command, lost_reply, lost_permission, lost_mail, lost_chunk, lost_announcements,
          lost_starttls, lost_tls_hello, cut_command, others_on_the_port, replies_that_are_none,
          probe, random_bytes, chunk_sizes, sure_commands)
