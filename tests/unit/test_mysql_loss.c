// SPDX-License-Identifier: Apache-2.0
// MySQL joined in the middle, and with bytes missing: what is found again, and what is not told.
#include "tests/unit/mysql_talk.h"

// ---- joined in the middle -----------------------------------------------------------------------

START_TEST(joined_before_a_command)
{
    g_autoptr(Steps) s = steps_new(PORT);
    s->midstream = true;
    ask(s, "03 'SELECT a FROM users'");
    ANSWER(s, 1, "01", DEFINITION, EOF_PACKET, "01 '7'", EOF_PACKET);
    ask(s, "16 'SELECT a FROM users WHERE id = ?'");
    ANSWER(s, 1, "00 07000000 0100 0100 00 0000", DEFINITION, EOF_PACKET, DEFINITION, EOF_PACKET);
    ask(s, "17 05000000 00 01000000");
    ANSWER(s, 1, OK_PACKET);
    steps_check(s, "CALL 1 mysql SELECT users 24\n"
                   "RET 1 mysql ok 56\n"
                   "CALL 2 mysql PREPARE SELECT users 37\n"
                   "RET 2 mysql ok 88\n"
                   "CALL 3 mysql EXECUTE ? 14\n"
                   "RET 3 mysql ok 11\n");
}
END_TEST

// The layout is not known yet: the EOF behind the last definition comes as no surprise.
START_TEST(joined_before_a_prepare)
{
    g_autoptr(Steps) s = steps_new(PORT);
    s->midstream = true;
    ask(s, "16 'DELETE FROM users WHERE id = ?'");
    ANSWER(s, 1, "00 07000000 0000 0100 00 0000", DEFINITION, EOF_PACKET);
    ask(s, "17 07000000 00 01000000");
    ANSWER(s, 1, OK_PACKET);
    ask(s, "16 'DELETE FROM users WHERE id = ?'");
    ANSWER(s, 1, "00 08000000 0000 0100 00 0000", DEFINITION, EOF_PACKET);
    steps_check(s, "CALL 1 mysql PREPARE DELETE users 35\n"
                   "RET 1 mysql ok 43\n"
                   "CALL 2 mysql DELETE users 14\n"
                   "RET 2 mysql ok 11\n"
                   "CALL 3 mysql PREPARE DELETE users 35\n"
                   "RET 3 mysql ok 52\n");
}
END_TEST

START_TEST(joined_at_the_login)
{
    g_autoptr(Steps) s = steps_new(PORT);
    s->midstream = true;
    step(s, SAY_UP, response(NEW));
    ANSWER(s, 2, OK_PACKET);
    check_after_login(s);
}
END_TEST

// A client's completion asks for many lists of fields: they are answered by definitions, which no
// number of columns precedes.
START_TEST(joined_before_lists_of_fields)
{
    for (guint port = 0; port < 2; port++) {
        g_autoptr(Steps) s = steps_new(port ? 4711 : PORT);
        s->midstream = true;
        ask(s, "04 'users' 00");
        ANSWER(s, 1, DEFINITION, DEFINITION, EOF_PACKET);
        ask(s, "04 'shops' 00 '%'");
        ANSWER(s, 1, DEFINITION, EOF_PACKET);
        g_autoptr(Converse) c = steps_play(s, port ? 1460 : 1);
        ck_assert_str_eq(converse_result(c), "CALL 1 mysql FIELD_LIST 11\nRET 1 mysql ok 63\n"
                                             "CALL 2 mysql FIELD_LIST 12\nRET 2 mysql ok 36\n");
    }
}
END_TEST

// On another port both sides together tell.
START_TEST(found_on_another_port)
{
    g_autoptr(Steps) s = steps_new(4711);
    s->midstream = true;
    ask(s, "03 'SELECT a FROM users'");
    ANSWER(s, 1, "01", DEFINITION, EOF_PACKET, "01 '7'", EOF_PACKET);
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 mysql SELECT users 24\nRET 1 mysql ok 56\n");
}
END_TEST

// ---- loss ---------------------------------------------------------------------------------------

START_TEST(lost_request)
{
    g_autoptr(Steps) s = session(OLD);
    lose(s, LOSE_UP, packet(0, "03 'SELECT a FROM lost'"));
    ANSWER(s, 1, "01", DEFINITION, EOF_PACKET, "01 '7'", EOF_PACKET);
    ask(s, "03 'SELECT a FROM seen'");
    ANSWER(s, 1, OK_PACKET);
    ask(s, "03 'SELECT a FROM next'");
    ANSWER(s, 1, NO_SUCH_TABLE);
    steps_check(s, LOGIN "RET - mysql ok 56\n"
                         "CALL 2 mysql SELECT seen 23\n"
                         "RET 2 mysql ok 11\n"
                         "CALL 3 mysql SELECT next 23\n"
                         "RET 3 mysql 1146 26\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 1);
}
END_TEST

START_TEST(lost_reply)
{
    g_autoptr(Steps) s = session(OLD);
    ask(s, "03 'SELECT a FROM t'");
    lose(s, LOSE_DOWN,
         answers(1, (const char *const[]){"01", DEFINITION, EOF_PACKET, EOF_PACKET, NULL}));
    ask(s, "0e");
    ANSWER(s, 1, OK_PACKET);
    ask(s, "03 'SELECT a FROM next'");
    ANSWER(s, 1, NO_SUCH_TABLE);
    steps_check(s, LOGIN "CALL 2 mysql SELECT t 20\n"
                         "CALL 3 mysql PING 5\n"
                         "RET 3 mysql ok 11\n"
                         "CALL 4 mysql SELECT next 23\n"
                         "RET 4 mysql 1146 26\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 1);
}
END_TEST

START_TEST(lost_exchange)
{
    g_autoptr(Steps) s = session(OLD);
    lose(s, LOSE_UP, packet(0, "03 'SELECT a FROM lost'"));
    lose(s, LOSE_DOWN, answers(1, (const char *const[]){NO_SUCH_TABLE, NULL}));
    ask(s, "03 'SELECT a FROM seen'");
    ANSWER(s, 1, OK_PACKET);
    steps_check(s, LOGIN "CALL 2 mysql SELECT seen 23\nRET 2 mysql ok 11\n");
}
END_TEST

// A text that nobody knows to be one (STATISTICS), as an orphan and on its own.
START_TEST(lost_request_of_text)
{
    g_autoptr(Steps) s = session(OLD);
    lose(s, LOSE_UP, packet(0, "09"));
    ANSWER(s, 1, "'Uptime: 113  Threads: 7'");
    ask(s, "0e");
    ANSWER(s, 1, OK_PACKET);
    steps_check(s, LOGIN "RET - mysql ok 27\n"
                         "CALL 2 mysql PING 5\n"
                         "RET 2 mysql ok 11\n");
}
END_TEST

// Packet number 1 begins another reply, also where the last one seems not to be over; but numbers
// go round after 255.
START_TEST(sequence_numbers)
{
    g_autoptr(Steps) s = session(OLD);
    ask(s, "03 'SELECT a FROM torn'");
    ANSWER(s, 1, "01", DEFINITION, EOF_PACKET, "01 '7'");
    ask(s, "0e");
    ANSWER(s, 1, OK_PACKET);
    ask(s, "03 'SELECT a FROM t'");
    Octets *rows = answers(1, (const char *const[]){"01", DEFINITION, EOF_PACKET, NULL});
    for (guint i = 4; i < 260; i++)
        octets_join(rows, packet((guint8)i, "01 '7'"));
    step(s, SAY_DOWN, octets_join(rows, packet(4, EOF_PACKET)));
    steps_check(s, LOGIN "CALL 2 mysql SELECT torn 23\n"
                         "RET 2 mysql - 47\n"
                         "CALL 3 mysql PING 5\n"
                         "RET 3 mysql ok 11\n"
                         "CALL 4 mysql SELECT t 20\n"
                         "RET 4 mysql ok 1586\n");
}
END_TEST

// The rest of the rows is passed over; the return stands with what was seen.
START_TEST(lost_rows)
{
    g_autoptr(Steps) s = session(OLD);
    ask(s, "03 'SELECT a FROM t'");
    ANSWER(s, 1, "01", DEFINITION, EOF_PACKET, "01 '7'");
    lose(s, LOSE_DOWN, answers(5, (const char *const[]){"01 '7'", "01 '8'", NULL}));
    ANSWER(s, 7, "01 '9'", EOF_PACKET);
    ask(s, "0e");
    ANSWER(s, 1, OK_PACKET);
    steps_check(s, LOGIN "CALL 2 mysql SELECT t 20\n"
                         "RET 2 mysql - 47\n"
                         "CALL 3 mysql PING 5\n"
                         "RET 3 mysql ok 11\n");
}
END_TEST

START_TEST(lost_inside_of_a_row)
{
    g_autoptr(Steps) s = session(OLD);
    ask(s, "03 'SELECT a FROM t'");
    ANSWER(s, 1, "01", DEFINITION, EOF_PACKET);
    Octets *row = large(4, "fc 0010", 4096);
    Octets *seen = g_byte_array_new(), *lost = g_byte_array_new(), *rest = g_byte_array_new();
    octets_put(seen, row->data, 100);
    octets_put(lost, row->data + 100, 1000);
    octets_put(rest, row->data + 1100, row->len - 1100);
    g_byte_array_unref(row);
    step(s, SAY_DOWN, seen);
    lose(s, LOSE_DOWN, lost);
    step(s, SAY_DOWN, rest);
    ANSWER(s, 5, EOF_PACKET);
    ask(s, "0e");
    ANSWER(s, 1, OK_PACKET);
    steps_check(s, LOGIN "CALL 2 mysql SELECT t 20\n"
                         "RET 2 mysql ok 3153\n"
                         "CALL 3 mysql PING 5\n"
                         "RET 3 mysql ok 11\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
}
END_TEST

// A number of columns that is not followed by them: the place is lost, and found again.
START_TEST(damage_in_the_middle)
{
    g_autoptr(Steps) s = session(OLD);
    ask(s, "03 'SELECT a FROM t'");
    ANSWER(s, 1, "01", "'no definition at all'");
    ask(s, "0e");
    ANSWER(s, 1, OK_PACKET);
    ask(s, "55 'no command'"); // but perhaps it is answered
    ask(s, "0e");
    ANSWER(s, 1, OK_PACKET);
    ask(s, "0e");
    ANSWER(s, 1, OK_PACKET);
    steps_check(s, LOGIN "CALL 2 mysql SELECT t 20\n"
                         "RET 2 mysql - 5\n"
                         "CALL 3 mysql PING 5\n"
                         "RET 3 mysql ok 11\n"
                         "CALL 4 mysql PING 5\n"
                         "RET - mysql ok 11\n"
                         "CALL 5 mysql PING 5\n"
                         "RET 5 mysql ok 11\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 2);
}
END_TEST

TEST_MAIN("mysql_loss", joined_before_a_command, joined_before_a_prepare, joined_at_the_login,
          joined_before_lists_of_fields, found_on_another_port, lost_request, lost_reply,
          lost_exchange, lost_request_of_text, sequence_numbers, lost_rows, lost_inside_of_a_row,
          damage_in_the_middle)
