// SPDX-License-Identifier: Apache-2.0
// MySQL and MariaDB: sessions, sets of rows, prepared statements, local files, compression.
#include "tests/unit/mysql_talk.h"

#include <stdio.h>

// ---- sessions -----------------------------------------------------------------------------------

START_TEST(a_session)
{
    g_autoptr(Steps) s = session(OLD);
    ask(s, "03 'SELECT a FROM users WHERE id = 17'");
    ANSWER(s, 1, "01", DEFINITION, EOF_PACKET, "01 '7'", "01 '8'", EOF_PACKET);
    ask(s, "0e");
    ANSWER(s, 1, OK_PACKET);
    ask(s, "03 'UPDATE nothing SET a = 1'");
    ANSWER(s, 1, NO_SUCH_TABLE);
    ask(s, "01");
    step(s, END_UP, octets(""));
    steps_check(s, LOGIN "CALL 2 mysql SELECT users 38\n"
                         "RET 2 mysql ok 62\n"
                         "CALL 3 mysql PING 5\n"
                         "RET 3 mysql ok 11\n"
                         "CALL 4 mysql UPDATE nothing 29\n"
                         "RET 4 mysql 1146 26\n"
                         "MSG > mysql QUIT 5\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 0);
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
}
END_TEST

START_TEST(times_are_of_first_and_last_bytes)
{
    g_autoptr(Steps) s = session(OLD);
    ask(s, "03 'SELECT a FROM t'");
    ANSWER(s, 1, "01", DEFINITION, EOF_PACKET, "01 '7'");
    ANSWER(s, 5, "01 '8'");
    ANSWER(s, 6, EOF_PACKET);
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_int_eq(converse_last_ms(c, 3), 3);
    ck_assert_int_eq(converse_first_ms(c, 4), 4);
    ck_assert_int_eq(converse_last_ms(c, 4), 6);
}
END_TEST

START_TEST(login_in_rounds)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_DOWN, greeting(NEW));
    step(s, SAY_UP, response(NEW));
    ANSWER(s, 2, "fe 'caching_sha2_password' 00 'abcdefghijklmnopqrst' 00");
    ask_on(s, 3, "'0123456789abcdef'");
    ANSWER(s, 4, "01 04");
    ask_on(s, 5, "'secret' 00");
    ANSWER(s, 6, OK_PACKET);
    ask(s, "0e");
    ANSWER(s, 1, OK_PACKET);
    steps_check(s, "MSG < mysql greeting 78\n"
                   "CALL 1 mysql login 73\n"
                   "RET 1 mysql ok 11\n"
                   "CALL 2 mysql PING 5\n"
                   "RET 2 mysql ok 11\n");
}
END_TEST

// What the client sent will do: the server says so, and asks for nothing.
START_TEST(login_by_a_known_password)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_DOWN, greeting(NEW));
    step(s, SAY_UP, response(NEW));
    ANSWER(s, 2, "01 03", OK_PACKET);
    steps_check(s, "MSG < mysql greeting 78\n"
                   "CALL 1 mysql login 42\n"
                   "RET 1 mysql ok 17\n");
}
END_TEST

// A server may ask for several passwords, one after the other.
START_TEST(login_by_factors)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_DOWN, greeting(NEW));
    step(s, SAY_UP, response(NEW));
    ANSWER(s, 2, "02 'authentication_ldap' 00 'abc' 00");
    ask_on(s, 3, "'secret' 00");
    ANSWER(s, 4, "02 'authentication_fido' 00 'abc' 00");
    ask_on(s, 5, "'signature' 00");
    ANSWER(s, 6, "ff 1504 '#28000Access denied'");
    steps_check(s, "MSG < mysql greeting 78\n"
                   "CALL 1 mysql login 67\n"
                   "RET 1 mysql 1045 26\n");
}
END_TEST

START_TEST(login_refused)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_DOWN, greeting(OLD));
    step(s, SAY_UP, response(OLD));
    ANSWER(s, 2, "ff 1504 '#28000Access denied'");
    step(s, END_DOWN, octets(""));
    steps_check(s, "MSG < mysql greeting 78\nCALL 1 mysql login 42\nRET 1 mysql 1045 26\n");

    g_autoptr(Steps) host = steps_new(PORT);
    step(host, SAY_DOWN, packet(0, "ff 6a04 'Host is not allowed to connect'"));
    steps_check(host, "MSG < mysql greeting 37\n");
}
END_TEST

// A server may say by itself why it closes the connection.
START_TEST(timeout_is_free)
{
    g_autoptr(Steps) s = session(OLD);
    step(s, SAY_DOWN, packet(0, "ff c70f '#HY000client was idle'"));
    steps_check(s, LOGIN "MSG < mysql - 28\n");
}
END_TEST

START_TEST(change_of_user)
{
    g_autoptr(Steps) s = session(OLD);
    ask(s, "11 'bob' 00 00 00 21 00");
    ANSWER(s, 1, "fe 'mysql_native_password' 00 'abcdefghijklmnopqrst' 00");
    ask_on(s, 2, "'01234567890123456789'");
    ANSWER(s, 3, "ff 1504 '#28000Access denied'");
    ask(s, "1f");
    ANSWER(s, 1, OK_PACKET);
    steps_check(s, LOGIN "CALL 2 mysql CHANGE_USER 37\n"
                         "RET 2 mysql 1045 26\n"
                         "CALL 3 mysql RESET_CONNECTION 5\n"
                         "RET 3 mysql ok 11\n");
}
END_TEST

// ---- encryption, compression --------------------------------------------------------------------

START_TEST(encryption_is_handed_on)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_DOWN, greeting(NEW | BB_MYSQL_SSL));
    step(s, SAY_UP, packet(1, "008a0000 00000001 21 00*23"));
    up(s, "'GET /inside HTTP/1.1' 0d0a 0d0a");
    down(s, "'HTTP/1.1 204 No' 0d0a 0d0a");
    steps_check(s, "MSG < mysql greeting 78\n"
                   "MSG > mysql SSLRequest 36\n"
                   "CALL 1 http GET /inside 24\n"
                   "RET 1 http 204 19\n");
}
END_TEST

// Behind an SSLRequest the login is packet number 2.
START_TEST(login_inside_of_tls)
{
    g_autoptr(Steps) s = steps_new(4711);
    Octets *login = response(NEW | BB_MYSQL_SSL);
    login->data[3] = 2;
    step(s, SAY_UP, login);
    ANSWER(s, 3, OK_PACKET);
    check_after_login(s);
}
END_TEST

// What was agreed on begins behind the login.
START_TEST(compression_is_refused)
{
    g_autoptr(Steps) s = session(OLD | BB_MYSQL_COMPRESS);
    up(s, "05 00 00 00 00 00 00 01 00 00 00 0e");
    down(s, "0b 00 00 01 00 00 00 07 00 00 01 00 00 00 02 00 00 00");
    steps_check(s, LOGIN "CALL 2 tcp - 12\nRET 2 tcp ok 18\n");
    ck_assert_uint_eq(steps_count(s, BB_COMPRESSED_STREAMS), 1);

    g_autoptr(Steps) plain = session(OLD);
    ask(plain, "0e");
    ANSWER(plain, 1, OK_PACKET);
    ck_assert_uint_eq(steps_count(plain, BB_COMPRESSED_STREAMS), 0);
}
END_TEST

// ---- answers ------------------------------------------------------------------------------------

START_TEST(rows_in_the_new_layout)
{
    g_autoptr(Steps) s = session(NEW);
    ask(s, "03 'SELECT a FROM t'");
    ANSWER(s, 1, "01", DEFINITION, "01 '7'", "01 '8'", "fe 00 00 0200 0000");
    ask(s, "03 'SELECT a FROM empty'");
    ANSWER(s, 1, "01", DEFINITION, "fe 00 00 0200 0000");
    ask(s, "03 'SELECT a FROM broken'");
    ANSWER(s, 1, "01", DEFINITION, "01 '7'", "ff 2505 '#70100was killed'");
    steps_check(s, LOGIN "CALL 2 mysql SELECT t 20\n"
                         "RET 2 mysql ok 55\n"
                         "CALL 3 mysql SELECT empty 24\n"
                         "RET 3 mysql ok 43\n"
                         "CALL 4 mysql SELECT broken 25\n"
                         "RET 4 mysql 1317 61\n");
}
END_TEST

// Status 0x0008: another result follows.
START_TEST(several_results)
{
    g_autoptr(Steps) s = session(OLD);
    ask(s, "03 'SELECT 1; UPDATE t SET a = 1; SELECT 2'");
    ANSWER(s, 1, "01", DEFINITION, EOF_PACKET, "01 '7'", "fe 0000 0a00", "00 01 00 0a00 0000");
    ANSWER(s, 7, "01", DEFINITION, EOF_PACKET, "01 '7'", EOF_PACKET);
    ask(s, "03 'CALL p()'");
    ANSWER(s, 1, "01", DEFINITION, EOF_PACKET, "fe 0000 0a00", OK_PACKET);
    steps_check(s, LOGIN "CALL 2 mysql SELECT 43\n"
                         "RET 2 mysql ok 123\n"
                         "CALL 3 mysql CALL p 13\n"
                         "RET 3 mysql ok 61\n");
}
END_TEST

// Columns without definitions: MariaDB's byte stands behind their number, MySQL's before it.
START_TEST(definitions_left_out)
{
    g_autoptr(Steps) maria = session(NEW);
    ask(maria, "03 'SELECT a, b FROM t'");
    ANSWER(maria, 1, "02 00", "01 '7' 01 '8'", "fe 00 00 0200 0000");
    ask(maria, "03 'SELECT a FROM t'");
    ANSWER(maria, 1, "01 01", DEFINITION, "01 '7'", "fe 00 00 0200 0000");
    steps_check(maria, LOGIN "CALL 2 mysql SELECT t 23\n"
                             "RET 2 mysql ok 25\n"
                             "CALL 3 mysql SELECT t 20\n"
                             "RET 3 mysql ok 50\n");

    g_autoptr(Steps) mysql = session(NEW | BB_MYSQL_OPTIONAL_METADATA);
    ask(mysql, "03 'SELECT a, b FROM t'");
    ANSWER(mysql, 1, "00 02", "01 '7' 01 '8'", "fe 00 00 0200 0000");
    ask(mysql, "03 'SELECT a FROM t'");
    ANSWER(mysql, 1, "01 01", DEFINITION, "01 '7'", "fe 00 00 0200 0000");
    steps_check(mysql, LOGIN "CALL 2 mysql SELECT t 23\n"
                             "RET 2 mysql ok 25\n"
                             "CALL 3 mysql SELECT t 20\n"
                             "RET 3 mysql ok 50\n");
}
END_TEST

START_TEST(a_local_file)
{
    g_autoptr(Steps) s = session(OLD);
    ask(s, "03 'LOAD DATA LOCAL INFILE 0 INTO TABLE t'");
    ANSWER(s, 1, "fb '/tmp/x'");
    ask_on(s, 2, "'1,2,3,4,5,6' 0a");
    ask_on(s, 3, "'7,8' 0a");
    ask_on(s, 4, "");
    ANSWER(s, 5, OK_PACKET);
    ask(s, "0e");
    ANSWER(s, 1, OK_PACKET);
    steps_check(s, LOGIN "CALL 2 mysql LOAD t 70\n"
                         "RET 2 mysql ok 11\n"
                         "CALL 3 mysql PING 5\n"
                         "RET 3 mysql ok 11\n");
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_int_eq(converse_first_ms(c, 3), 3); // LOAD, then the server's question
    ck_assert_int_eq(converse_last_ms(c, 3), 7);
    ck_assert_int_eq(converse_first_ms(c, 4), 8);
}
END_TEST

// A LOAD DATA of the server's own file, and one that is asked for nothing by an error.
START_TEST(no_local_file)
{
    g_autoptr(Steps) s = session(OLD);
    ask(s, "03 'LOAD DATA INFILE 0 INTO TABLE t'");
    ANSWER(s, 1, OK_PACKET);
    ask(s, "03 'LOAD DATA LOCAL INFILE 0 INTO TABLE t'");
    ANSWER(s, 1, "ff 1504 '#28000Access denied'");
    ask(s, "03 'LOAD DATA LOCAL INFILE 0 INTO TABLE t'"); // its answer is lost
    step(s, LOSE_DOWN, octets("00 00000000000000000000"));
    ask(s, "0e");
    ANSWER(s, 1, OK_PACKET);
    steps_check(s, LOGIN "CALL 2 mysql LOAD t 36\n"
                         "RET 2 mysql ok 11\n"
                         "CALL 3 mysql LOAD t 42\n"
                         "RET 3 mysql 1045 26\n"
                         "CALL 4 mysql LOAD t 42\n"
                         "CALL 5 mysql PING 5\n"
                         "RET 5 mysql ok 11\n");
}
END_TEST

// Numbers go round after 255: neither is a packet with number 0 a command, nor one of the server's
// with number 1 another reply.
START_TEST(a_long_local_file)
{
    static const guint counts[] = {254, 300, 600};
    for (guint i = 0; i < G_N_ELEMENTS(counts); i++) {
        g_autoptr(Steps) s = session(OLD);
        ask(s, "03 'LOAD DATA LOCAL INFILE 0 INTO TABLE t'");
        ANSWER(s, 1, "fb '/tmp/x'");
        for (guint k = 0; k < counts[i]; k++)
            ask_on(s, (guint8)(2 + k), k % 2 ? "'1'" : "03 'SELECT a FROM none'");
        ask_on(s, (guint8)(2 + counts[i]), "");
        ANSWER(s, (guint8)(3 + counts[i]), OK_PACKET);
        ask(s, "0e");
        ANSWER(s, 1, OK_PACKET);
        g_autofree char *told = g_strdup_printf(LOGIN "CALL 2 mysql LOAD t %u\n"
                                                      "RET 2 mysql ok 11\n"
                                                      "CALL 3 mysql PING 5\n"
                                                      "RET 3 mysql ok 11\n",
                                                42 + counts[i] / 2 * (23 + 5) + 4);
        steps_check(s, told);
        ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
    }
}
END_TEST

// A report of progress (MariaDB) looks like an error.
START_TEST(progress_is_no_error)
{
    g_autoptr(Steps) s = session(OLD);
    ask(s, "03 'ALTER TABLE t ADD b int'");
    ANSWER(s, 1, "ff ffff 01 01 02 e80300 05 'stage'", "ff ffff 01 02 02 e80300 05 'stage'",
           OK_PACKET);
    steps_check(s, LOGIN "CALL 2 mysql ALTER TABLE t 28\nRET 2 mysql ok 49\n");
}
END_TEST

START_TEST(every_command)
{
    static const struct {
        const char *request, *label;
        const char *answer[4];
    } commands[] = {
        {"02 'db'", "INIT_DB", {OK_PACKET}},
        {"04 't' 00 00", "FIELD_LIST", {DEFINITION "fb", EOF_PACKET}},
        {"05 'db'", "CREATE_DB", {OK_PACKET}},
        {"06 'db'", "DROP_DB", {NO_SUCH_TABLE}},
        {"07 01", "REFRESH", {OK_PACKET}},
        {"09", "STATISTICS", {"'Uptime: 1'"}},
        {"0a", "PROCESS_INFO", {"01", DEFINITION, EOF_PACKET, EOF_PACKET}},
        {"0c 01000000", "PROCESS_KILL", {OK_PACKET}},
        {"0d", "DEBUG", {EOF_PACKET}},
        {"1a 01000000", "STMT_RESET", {OK_PACKET}},
        {"1b 0000", "SET_OPTION", {EOF_PACKET}},
        {"15 01000000 00 00 00 0000 00000000 00000000", "REGISTER_SLAVE", {OK_PACKET}},
    };
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
        g_autoptr(Steps) s = session(OLD);
        ask(s, commands[i].request);
        const char *const *answer = commands[i].answer;
        const char *const packets[] = {answer[0], answer[1], answer[2], answer[3], NULL};
        step(s, SAY_DOWN, answers(1, packets));
        ask(s, "0e");
        ANSWER(s, 1, OK_PACKET);
        g_autoptr(Converse) c = steps_play(s, 1460);
        g_autofree char *call = g_strdup_printf("\nCALL 2 mysql %s ", commands[i].label);
        ck_assert_msg(strstr(converse_result(c), call), "%s", converse_result(c));
        ck_assert_msg(g_str_has_suffix(converse_result(c), "\nRET 3 mysql ok 11\n"), "%s",
                      converse_result(c));
    }
}
END_TEST

// ---- prepared statements ------------------------------------------------------------------------

// Without a text: refused, but asked for.
START_TEST(empty_statements)
{
    static const char *const codes[] = {"03", "16"};
    g_autoptr(Steps) s = session(OLD);
    for (guint i = 0; i < G_N_ELEMENTS(codes); i++) {
        ask(s, codes[i]);
        ANSWER(s, 1, "ff 2904 '#42000Query was empty'");
    }
    ask(s, "0e");
    ANSWER(s, 1, OK_PACKET);
    steps_check(s, LOGIN "CALL 2 mysql QUERY 5\nRET 2 mysql 1065 28\n"
                         "CALL 3 mysql PREPARE ? 5\nRET 3 mysql 1065 28\n"
                         "CALL 4 mysql PING 5\nRET 4 mysql ok 11\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
}
END_TEST

START_TEST(prepared_in_the_old_layout)
{
    g_autoptr(Steps) s = session(OLD);
    ask(s, "16 'SELECT a FROM users WHERE id = ?'");
    ANSWER(s, 1, "00 07000000 0100 0100 00 0000", DEFINITION, EOF_PACKET, DEFINITION, EOF_PACKET);
    ask(s, "17 07000000 00 01000000 00 01 0300 05000000");
    ANSWER(s, 1, "01", DEFINITION, EOF_PACKET, "00 00 01000000", EOF_PACKET);
    ask(s, "19 07000000");
    ask(s, "17 07000000 00 01000000");
    ANSWER(s, 1, "ff db04 '#HY000Unknown prepared statement'");
    steps_check(s, LOGIN "CALL 2 mysql PREPARE SELECT users 37\n"
                         "RET 2 mysql ok 88\n"
                         "CALL 3 mysql SELECT users 22\n"
                         "RET 3 mysql ok 60\n"
                         "MSG > mysql STMT_CLOSE 9\n"
                         "CALL 4 mysql EXECUTE ? 14\n"
                         "RET 4 mysql 1243 39\n");
}
END_TEST

START_TEST(prepared_in_the_new_layout)
{
    g_autoptr(Steps) s = session(NEW);
    ask(s, "16 'SELECT a FROM users WHERE id = ?'");
    ANSWER(s, 1, "00 07000000 0100 0100 00 0000", DEFINITION, DEFINITION);
    ask(s, "16 'DELETE FROM users'");
    ANSWER(s, 1, "00 08000000 0000 0000 00 0000");
    ask(s, "16 'INSERT INTO users VALUES (?)'");
    ANSWER(s, 1, "00 09000000 0000 0100 00 0000", DEFINITION);
    ask(s, "16 'nonsense'");
    ANSWER(s, 1, "ff 2804 '#42000syntax'");
    ask(s, "18 09000000 0000 'long data'");
    ask(s, "17 09000000 00 01000000 00 01 fc00");
    ANSWER(s, 1, OK_PACKET);
    ask(s, "17 08000000 00 01000000");
    ANSWER(s, 1, OK_PACKET);
    steps_check(s, LOGIN "CALL 2 mysql PREPARE SELECT users 37\n"
                         "RET 2 mysql ok 70\n"
                         "CALL 3 mysql PREPARE DELETE users 22\n"
                         "RET 3 mysql ok 16\n"
                         "CALL 4 mysql PREPARE INSERT users 33\n"
                         "RET 4 mysql ok 43\n"
                         "CALL 5 mysql PREPARE NONSENSE 13\n"
                         "RET 5 mysql 1064 19\n"
                         "MSG > mysql STMT_SEND_LONG_DATA 20\n"
                         "CALL 6 mysql INSERT users 18\n"
                         "RET 6 mysql ok 11\n"
                         "CALL 7 mysql DELETE users 14\n"
                         "RET 7 mysql ok 11\n");
}
END_TEST

// Without definitions (CLIENT_OPTIONAL_RESULTSET_METADATA) the first packet is all.
START_TEST(prepared_without_definitions)
{
    g_autoptr(Steps) s = session(NEW | BB_MYSQL_OPTIONAL_METADATA);
    ask(s, "16 'SELECT a FROM users WHERE id = ?'");
    ANSWER(s, 1, "00 07000000 0100 0100 00 0000 00");
    ask(s, "0e");
    ANSWER(s, 1, OK_PACKET);
    steps_check(s, LOGIN "CALL 2 mysql PREPARE SELECT users 37\n"
                         "RET 2 mysql ok 17\n"
                         "CALL 3 mysql PING 5\n"
                         "RET 3 mysql ok 11\n");
}
END_TEST

// A cursor: the rows come with STMT_FETCH.
START_TEST(cursors)
{
    g_autoptr(Steps) s = session(OLD);
    ask(s, "16 'SELECT a FROM users'");
    ANSWER(s, 1, "00 07000000 0100 0000 00 0000", DEFINITION, EOF_PACKET);
    ask(s, "17 07000000 01 01000000");
    ANSWER(s, 1, "01", DEFINITION, "fe 0000 4200");
    ask(s, "1c 07000000 02000000");
    ANSWER(s, 1, "00 00 01000000", "00 00 02000000", "fe 0000 4200");
    ask(s, "1c 07000000 02000000");
    ANSWER(s, 1, "00 00 03000000", "fe 0000 8200");
    steps_check(s, LOGIN "CALL 2 mysql PREPARE SELECT users 24\n"
                         "RET 2 mysql ok 52\n"
                         "CALL 3 mysql SELECT users 14\n"
                         "RET 3 mysql ok 41\n"
                         "CALL 4 mysql STMT_FETCH 13\n"
                         "RET 4 mysql ok 29\n"
                         "CALL 5 mysql STMT_FETCH 13\n"
                         "RET 5 mysql ok 19\n");
}
END_TEST

// MariaDB's clients send before they have the answers; -1 is the statement prepared last.
START_TEST(pipelined)
{
    g_autoptr(Steps) s = session(NEW);
    Octets *all = packet(0, "16 'SELECT a FROM users WHERE id = ?'");
    octets_join(all, packet(0, "17 ffffffff 00 01000000 00 01 0300 05000000"));
    octets_join(all, packet(0, "19 ffffffff"));
    octets_join(all, packet(0, "03 'SELECT a FROM t'"));
    step(s, SAY_UP, all);
    ANSWER(s, 1, "00 07000000 0100 0100 00 0000", DEFINITION, DEFINITION);
    ANSWER(s, 1, "01", DEFINITION, "00 00 01000000", "fe 00 00 0200 0000");
    ANSWER(s, 1, NO_SUCH_TABLE);
    steps_check(s, LOGIN "CALL 2 mysql PREPARE SELECT users 37\n"
                         "CALL 3 mysql SELECT users 22\n"
                         "MSG > mysql STMT_CLOSE 9\n"
                         "CALL 4 mysql SELECT t 20\n"
                         "RET 2 mysql ok 70\n"
                         "RET 3 mysql ok 53\n"
                         "RET 4 mysql 1146 26\n");
}
END_TEST

START_TEST(bulk_execution)
{
    g_autoptr(Steps) s = session(NEW);
    ask(s, "16 'INSERT INTO users VALUES (?)'");
    ANSWER(s, 1, "00 09000000 0000 0100 00 0000", DEFINITION);
    ask(s, "fa 09000000 8000 0300 00 05000000 00 06000000");
    ANSWER(s, 1, OK_PACKET);
    ask(s, "fa ffffffff 8000 0300 00 05000000");
    ANSWER(s, 1, OK_PACKET);
    steps_check(s, LOGIN "CALL 2 mysql PREPARE INSERT users 33\n"
                         "RET 2 mysql ok 43\n"
                         "CALL 3 mysql INSERT users 23\n"
                         "RET 3 mysql ok 11\n"
                         "CALL 4 mysql INSERT users 18\n"
                         "RET 4 mysql ok 11\n");
}
END_TEST

// The memory of statements is let go of at the limit of the capture.
START_TEST(statements_can_be_let_go)
{
    g_autoptr(Steps) s = session(NEW);
    ask(s, "16 'DELETE FROM users'");
    ANSWER(s, 1, "00 08000000 0000 0000 00 0000");
    ask(s, "17 08000000 00 01000000");
    ANSWER(s, 1, OK_PACKET);
    g_autoptr(Converse) c = converse_tcp_held(PORT, 64);
    for (guint i = 0; i < s->steps->len; i++) {
        const Step *one = &g_array_index(s->steps, Step, i);
        converse_say(c, one->kind == SAY_UP ? BB_TO_SERVER : BB_TO_CLIENT, one->bytes->data,
                     one->bytes->len);
    }
    ck_assert(strstr(converse_result(c), "CALL 3 mysql EXECUTE ? 14\nRET 3 mysql ok 11\n"));
    ck_assert_uint_gt(converse_loss(c, BB_TCP_BUFFER_LIMIT), 0);
}
END_TEST

// ---- query attributes ---------------------------------------------------------------------------

START_TEST(query_attributes)
{
    g_autoptr(Steps) s = session(NEW | BB_MYSQL_QUERY_ATTRIBUTES);
    ask(s, "03 00 01 'SELECT a FROM none'");
    ANSWER(s, 1, OK_PACKET);
    // Two attributes: a text, a NULL.
    ask(s, "03 02 01 02 01 fe00 01 'k' 0600 01 'n' 05 'value' 'SELECT a FROM two'");
    ANSWER(s, 1, OK_PACKET);
    // Every type with a length of its own: 13 of them.
    ask(s, "03 0d 01 0000 01 0100 00 0200 00 0300 00 0400 00 0500 00 0700 00 0800 00 0900 00 0a00 "
           "00 0b00 00 0c00 00 0d00 00 f600 00"
           "11 2222 33333333 44444444 5555555555555555 04 77777777 8888888888888888 99999999 00 "
           "08 bb*8 01 cc dddd 03 'num' 'SELECT a FROM types'");
    ANSWER(s, 1, OK_PACKET);
    // More than there is: the verb is not known.
    ask(s, "03 02 01 00 01 fe00 01 'k' fe00 01 'n' fd ffff7f 'value'");
    ANSWER(s, 1, OK_PACKET);
    steps_check(s, LOGIN "CALL 2 mysql SELECT none 25\n"
                         "RET 2 mysql ok 11\n"
                         "CALL 3 mysql SELECT two 40\n"
                         "RET 3 mysql ok 11\n"
                         "CALL 4 mysql SELECT types 122\n"
                         "RET 4 mysql ok 11\n"
                         "CALL 5 mysql QUERY 26\n"
                         "RET 5 mysql ok 11\n");
}
END_TEST

// ---- streams ------------------------------------------------------------------------------------

START_TEST(a_binary_log)
{
    g_autoptr(Steps) s = session(OLD);
    ask(s, "12 04000000 0000 02000000 'log.1'");
    ANSWER(s, 1, "00 'event 1 and its head'");
    ANSWER(s, 2, "00 'event 2 and its head'");
    ask(s, "ef 0400000000000000 'log.1'");
    ANSWER(s, 3, "00 'event 3 and its head'", EOF_PACKET);
    ask(s, "0e");
    ANSWER(s, 1, OK_PACKET);
    steps_check(s, LOGIN "CALL 2 mysql BINLOG_DUMP 20\n"
                         "RET 2 mysql ok 25\n"
                         "MSG < mysql BINLOG 25\n"
                         "MSG > mysql SEMI_SYNC_ACK 18\n"
                         "MSG < mysql BINLOG 25\n"
                         "MSG < mysql BINLOG 9\n"
                         "CALL 3 mysql PING 5\n"
                         "RET 3 mysql ok 11\n");
}
END_TEST

// Time, type, server, length, place, flags, and what the event says.
#define EVENT(length) "6f7b2a65 1e 01000000" length "00100000 0000"

// Events come for months, with numbers of all values.
START_TEST(a_gap_in_a_binary_log)
{
    g_autoptr(Steps) s = session(OLD);
    ask(s, "12 04000000 0000 02000000 'log.1'");
    ANSWER(s, 1, "00" EVENT("18000000") "'rows1'");
    lose(s, LOSE_DOWN, packet(2, "00" EVENT("18000000") "'rows2'"));
    ANSWER(s, 3, "00" EVENT("19000000") "'rows3'"); // no event: its length does not fit
    ANSWER(s, 4, "00" EVENT("18000000") "'rows4'");
    lose(s, LOSE_DOWN, packet(5, "00 ef 00" EVENT("18000000") "'rows5'"));
    ANSWER(s, 6, "00 ef 01" EVENT("18000000") "'rows6'", "00 ef 00" EVENT("18000000") "'rows7'");
    ask(s, "0e");
    ANSWER(s, 1, OK_PACKET);
    steps_check(s, LOGIN "CALL 2 mysql BINLOG_DUMP 20\n"
                         "RET 2 mysql ok 29\n"
                         "MSG < mysql BINLOG 29\n"
                         "MSG < mysql BINLOG 31\n"
                         "MSG < mysql BINLOG 31\n"
                         "CALL 3 mysql PING 5\n"
                         "RET 3 mysql ok 11\n");
}
END_TEST

// What a replica says while an event is under way does not rename it.
START_TEST(semi_synchronous)
{
    g_autoptr(Steps) s = session(OLD);
    ask(s, "12 04000000 0000 02000000 'log.1'");
    ANSWER(s, 1, "00 ef 00" EVENT("18000000") "'rows1'");
    Octets *event = packet(2, "00 ef 01" EVENT("58000000") "'rows' 2e*65");
    Octets *rest = g_byte_array_new();
    octets_put(rest, event->data + 50, event->len - 50);
    g_byte_array_set_size(event, 50);
    step(s, SAY_DOWN, event);
    ask(s, "ef 0400000000000000 'log.1'");
    step(s, SAY_DOWN, rest);
    steps_check(s, LOGIN "CALL 2 mysql BINLOG_DUMP 20\n"
                         "RET 2 mysql ok 31\n"
                         "MSG < mysql BINLOG 95\n"
                         "MSG > mysql SEMI_SYNC_ACK 18\n");
}
END_TEST

// ---- large packets ------------------------------------------------------------------------------

START_TEST(packets_of_16_megabytes)
{
    g_autoptr(Steps) s = session(OLD);
    step(s, SAY_UP, large(0, "03 'INSERT INTO t VALUES (\"'", BB_MYSQL_FULL));
    ANSWER(s, 2, OK_PACKET);
    ask(s, "03 'SELECT a FROM t'");
    Octets *rows = answers(1, (const char *const[]){"01", DEFINITION, EOF_PACKET, NULL});
    octets_join(rows, large(4, "fd 000001", BB_MYSQL_FULL));
    octets_join(rows, packet(6, EOF_PACKET));
    step(s, SAY_DOWN, rows);
    ask(s, "0e");
    ANSWER(s, 1, OK_PACKET);
    g_autoptr(Converse) c = steps_play(s, 60000);
    ck_assert_str_eq(converse_result(c), LOGIN "CALL 2 mysql INSERT t 16777247\n"
                                               "RET 2 mysql ok 11\n"
                                               "CALL 3 mysql SELECT t 20\n"
                                               "RET 3 mysql ok 16777277\n"
                                               "CALL 4 mysql PING 5\n"
                                               "RET 4 mysql ok 11\n");
}
END_TEST

// A statement longer than what is looked at; one that is cut in a word has no half of it.
START_TEST(long_statements)
{
    g_autoptr(Steps) s = session(OLD);
    step(s, SAY_UP, large(0, "03 'INSERT INTO logs VALUES (\"'", 200000));
    ANSWER(s, 1, OK_PACKET);
    g_autofree char *cut = g_strdup_printf("03 'SELECT a FROM customers'");
    Octets *half = packet(0, cut);
    g_byte_array_set_size(half, half->len - 5);
    step(s, SAY_UP, half);
    step(s, END_UP, octets(""));
    steps_check(s, LOGIN "CALL 2 mysql INSERT logs 200031\n"
                         "RET 2 mysql ok 11\n"
                         "CALL 3 mysql SELECT 23\n");
}
END_TEST

// ---- the probe ----------------------------------------------------------------------------------

static BbMatch probe_packet(guint8 sequence, const char *payload)
{
    g_autoptr(Octets) bytes = packet(sequence, payload);
    return bb_decoder_mysql.probe(bytes->data, bytes->len);
}

START_TEST(probe_logins)
{
    g_autoptr(Octets) hello = greeting(NEW), answer = response(NEW);
    ck_assert_int_eq(bb_decoder_mysql.probe(hello->data, hello->len), BB_MATCH_REPLY);
    ck_assert_int_eq(bb_decoder_mysql.probe(hello->data, 20), BB_MATCH_MORE);
    ck_assert_int_eq(bb_decoder_mysql.probe(answer->data, answer->len), BB_MATCH_REQUEST);
    ck_assert_int_eq(bb_decoder_mysql.probe(answer->data, 20), BB_MATCH_MORE);
    hello->data[4] = 9; // an old protocol
    ck_assert_int_eq(bb_decoder_mysql.probe(hello->data, hello->len), BB_MATCH_NO);
    answer->data[3] = 2; // behind an SSLRequest
    ck_assert_int_eq(bb_decoder_mysql.probe(answer->data, answer->len), BB_MATCH_REQUEST);
    answer->data[3] = 3;
    ck_assert_int_eq(bb_decoder_mysql.probe(answer->data, answer->len), BB_MATCH_NO);
    answer->data[3] = 1;
    answer->data[20] = 1; // one of the zeros
    ck_assert_int_eq(bb_decoder_mysql.probe(answer->data, answer->len), BB_MATCH_NO);
    ck_assert_int_eq(probe_packet(0, "ff 6a04 'Host is not allowed'"), BB_MATCH_LIKELY);
}
END_TEST

START_TEST(probe_commands)
{
    static const char *const commands[] = {
        "01",
        "02 'db'",
        "03 'SELECT 1'",
        "03 00 01 'SELECT 1'",
        "0e",
        "16 'DELETE FROM t'",
        "17 01000000 00 01000000",
        "19 01000000",
    };
    static const char *const others[] = {
        "00",       "01 00",
        "03",       "16",
        "0b",       "20",
        "02 01 02", "03 'hello there'",
        "19 01",    "17 01000000 00 00000000",
    };
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
        ck_assert_msg(probe_packet(0, commands[i]) == BB_MATCH_LIKELY, "%s", commands[i]);
    for (guint i = 0; i < G_N_ELEMENTS(others); i++)
        ck_assert_msg(probe_packet(0, others[i]) == BB_MATCH_NO, "%s", others[i]);
    ck_assert_int_eq(probe_packet(5, "0e"), BB_MATCH_NO);
    g_autoptr(Octets) two = octets_join(packet(0, "0e"), packet(0, "0e"));
    ck_assert_int_eq(bb_decoder_mysql.probe(two->data, two->len), BB_MATCH_LIKELY);
    g_autoptr(Octets) mixed = octets_join(packet(0, "0e"), packet(1, "0e"));
    ck_assert_int_eq(bb_decoder_mysql.probe(mixed->data, mixed->len), BB_MATCH_NO);
}
END_TEST

START_TEST(probe_answers)
{
    ck_assert_int_eq(probe_packet(1, OK_PACKET), BB_MATCH_LIKELY);
    ck_assert_int_eq(probe_packet(1, NO_SUCH_TABLE), BB_MATCH_LIKELY);
    ck_assert_int_eq(probe_packet(1, "ff 7a04 'no state'"), BB_MATCH_NO);
    ck_assert_int_eq(probe_packet(1, "01"), BB_MATCH_MORE);
    g_autoptr(Octets) rows = octets_join(packet(1, "01"), packet(2, DEFINITION));
    ck_assert_int_eq(bb_decoder_mysql.probe(rows->data, rows->len), BB_MATCH_LIKELY);
    g_autoptr(Octets) other = octets_join(packet(1, "01"), packet(2, "'twenty bytes and a few'"));
    ck_assert_int_eq(bb_decoder_mysql.probe(other->data, other->len), BB_MATCH_NO);
}
END_TEST

START_TEST(probe_others)
{
    check_refusals(&bb_decoder_mysql);
    ck_assert_int_eq(probe_octets(&bb_decoder_mysql, "00 00 00 00"), BB_MATCH_NO);
}
END_TEST

TEST_MAIN("mysql", a_session, times_are_of_first_and_last_bytes, login_in_rounds,
          login_by_a_known_password, login_by_factors, login_refused, timeout_is_free,
          change_of_user, encryption_is_handed_on, login_inside_of_tls, compression_is_refused,
          rows_in_the_new_layout, several_results, definitions_left_out, a_local_file,
          no_local_file, a_long_local_file, progress_is_no_error, every_command, empty_statements,
          prepared_in_the_old_layout, prepared_in_the_new_layout, prepared_without_definitions,
          cursors, pipelined, bulk_execution, statements_can_be_let_go, query_attributes,
          a_binary_log, a_gap_in_a_binary_log, semi_synchronous, packets_of_16_megabytes,
          long_statements, probe_logins, probe_commands, probe_answers, probe_others)
