// SPDX-License-Identifier: Apache-2.0
// PostgreSQL: COPY, and replication, which speaks by it.
#include "tests/unit/postgres_talk.h"

static void copies(Converse *c, GByteArray *b)
{
    g_autofree char *data = g_strnfill(5000, 'd');
    log_in(c);
    query(c, "COPY t FROM STDIN");
    put_message(b, 'G', "\0\0\1\0\0", 5);
    say(c, down, b);
    for (guint i = 0; i < 3; i++)
        put_message(b, 'd', data, 5000);
    put_message(b, 'c', "", 0);
    say(c, up, b);
    answer(c, "COPY 3");
    query(c, "COPY t TO STDOUT");
    put_message(b, 'H', "\0\0\1\0\0", 5);
    for (guint i = 0; i < 3; i++)
        put_message(b, 'd', data, 5000);
    put_message(b, 'c', "", 0);
    put_text(b, 'C', "COPY 3");
    put_ready(b, 'I');
    say(c, down, b);
    query(c, "COPY t FROM STDIN");
    put_message(b, 'G', "\0\0\1\0\0", 5);
    say(c, down, b);
    put_text(b, 'f', "no more");
    say(c, up, b);
    put_error(b, "57014");
    put_ready(b, 'I');
    say(c, down, b);
}

START_TEST(copy_is_one_call)
{
    expect(copies, LOGIN "CALL 2 postgresql COPY t 15043\n"
                         "RET 2 postgresql ok 18\n"
                         "CALL 3 postgresql COPY t 22\n"
                         "RET 3 postgresql ok 15048\n"
                         "CALL 4 postgresql COPY t 36\n"
                         "RET 4 postgresql 57014 37\n");
}
END_TEST

// The call lasts as long as its data do; the server answers behind them.
START_TEST(copy_data_are_of_the_call)
{
    g_autoptr(Converse) c = converse_tcp(5432);
    g_autoptr(GByteArray) b = g_byte_array_new();
    log_in(c);
    query(c, "COPY t FROM STDIN");
    put_message(b, 'G', "\0\0\1\0\0", 5);
    say(c, down, b);
    converse_wait(c, 500);
    put_message(b, 'd', "1\n", 2);
    put_message(b, 'c', "", 0);
    say(c, up, b);
    converse_wait(c, 100);
    answer(c, "COPY 1");
    gint64 asked_ms = converse_first_ms(c, 2);
    ck_assert_int_eq(converse_last_ms(c, 2) - asked_ms, 502);
    ck_assert_int_eq(converse_first_ms(c, 3) - asked_ms, 603);
}
END_TEST

// What is lost of a COPY's data, or its end, is no request: the calls behind it have their returns.
static void lossy_copy(Converse *c, GByteArray *b)
{
    log_in(c);
    for (guint end_lost = 0; end_lost < 2; end_lost++) {
        query(c, "COPY t FROM STDIN");
        put_message(b, 'G', "\0\0\1\0\0", 5);
        say(c, down, b);
        put_message(b, 'd', "1\n", 2);
        say(c, up, b);
        converse_lose(c, up, end_lost ? 12 : 7);
        if (!end_lost) {
            put_message(b, 'd', "3\n", 2);
            put_message(b, 'c', "", 0);
            say(c, up, b);
        }
        answer(c, "COPY 3");
        query(c, "SELECT a FROM t");
        answer(c, "SELECT 3");
    }
}

START_TEST(data_of_a_copy_is_lost)
{
    expect(lossy_copy, LOGIN "CALL 2 postgresql COPY t 42\n"
                             "RET 2 postgresql ok 18\n"
                             "CALL 3 postgresql SELECT t 21\n"
                             "RET 3 postgresql ok 20\n"
                             "CALL 4 postgresql COPY t 30\n"
                             "RET 4 postgresql ok 18\n"
                             "CALL 5 postgresql SELECT t 21\n"
                             "RET 5 postgresql ok 20\n");
}
END_TEST

// The server ignores the Sync that was sent with the COPY; the one behind the data counts.
static void extended_copy(Converse *c, GByteArray *b)
{
    log_in(c);
    put_parse(b, "", "COPY t FROM STDIN");
    put_bind(b, "");
    put_execute(b);
    put_message(b, 'S', "", 0);
    say(c, up, b);
    put_message(b, '1', "", 0);
    put_message(b, '2', "", 0);
    put_message(b, 'G', "\0\0\1\0\0", 5);
    say(c, down, b);
    put_message(b, 'd', "1\n", 2);
    put_message(b, 'c', "", 0);
    put_message(b, 'S', "", 0);
    say(c, up, b);
    answer(c, "COPY 1");
    put_message(b, 'S', "", 0);
    say(c, up, b);
    put_ready(b, 'I');
    say(c, down, b);
}

START_TEST(copy_by_extended_query)
{
    expect(extended_copy, LOGIN "CALL 2 postgresql COPY t 66\n"
                                "RET 2 postgresql ok 18\n"
                                "CALL 3 postgresql SYNC 5\n"
                                "RET 3 postgresql ok 6\n");
}
END_TEST

// The server gives up before the data ends. Of the two Syncs behind it each is answered.
static void failed_copy(Converse *c, GByteArray *b)
{
    log_in(c);
    query(c, "COPY t FROM STDIN");
    put_message(b, 'G', "\0\0\1\0\0", 5);
    say(c, down, b);
    put_message(b, 'd', "1\n", 2);
    say(c, up, b);
    put_error(b, "22P02");
    put_ready(b, 'I');
    say(c, down, b);
    put_message(b, 'd', "2\n", 2);
    put_message(b, 'c', "", 0);
    put_parse(b, "", "SELECT * FROM a");
    put_bind(b, "");
    put_execute(b);
    put_message(b, 'S', "", 0);
    put_message(b, 'S', "", 0);
    say(c, up, b);
    put_extended_answer(b, true);
    put_ready(b, 'I');
    say(c, down, b);
    query(c, "SELECT a FROM next");
    put_rows(b);
    say(c, down, b);
}

START_TEST(a_failed_copy_ignores_no_sync)
{
    expect(failed_copy, LOGIN "CALL 2 postgresql COPY t 30\n"
                              "RET 2 postgresql 22P02 37\n"
                              "CALL 3 postgresql SELECT a 52\n"
                              "CALL 4 postgresql SYNC 5\n"
                              "RET 3 postgresql ok 42\n"
                              "RET 4 postgresql ok 6\n"
                              "CALL 5 postgresql SELECT next 24\n"
                              "RET 5 postgresql ok 62\n");
}
END_TEST

static void replication(Converse *c, GByteArray *b)
{
    log_in(c);
    query(c, "START_REPLICATION SLOT \"s\" LOGICAL 0/0");
    put_message(b, 'W', "\0\0\0", 3);
    put_message(b, 'd', "k12345678", 9);
    say(c, down, b);
    put_message(b, 'd', "r12345678", 9);
    put_message(b, 'd', "h12345678", 9);
    say(c, up, b);
    put_message(b, 'd', "wabcdefgh", 9);
    put_message(b, 'd', "wijklmnop", 9);
    put_message(b, 'd', "?", 1);
    say(c, down, b);
    put_message(b, 'c', "", 0);
    say(c, up, b);
    put_message(b, 'c', "", 0);
    put_text(b, 'C', "START_STREAMING");
    put_ready(b, 'I');
    say(c, down, b);
    query(c, "SELECT a FROM b");
    answer(c, "SELECT 0");
}

// What answers START_REPLICATION is the CopyBothResponse; the log comes in free messages.
START_TEST(replication_is_free_messages)
{
    expect(replication, LOGIN "CALL 2 postgresql START_REPLICATION 44\n"
                              "RET 2 postgresql ok 8\n"
                              "MSG < postgresql PrimaryKeepalive 14\n"
                              "MSG > postgresql StandbyStatusUpdate 14\n"
                              "MSG > postgresql HotStandbyFeedback 14\n"
                              "MSG < postgresql XLogData 14\n"
                              "MSG < postgresql XLogData 14\n"
                              "MSG < postgresql CopyData 6\n"
                              "CALL 3 postgresql SELECT b 21\n"
                              "RET 3 postgresql ok 20\n");
}
END_TEST

static void broken_replication(Converse *c, GByteArray *b)
{
    log_in(c);
    query(c, "START_REPLICATION 0/0");
    put_message(b, 'W', "\0\0\0", 3);
    put_message(b, 'd', "wabcdefgh", 9);
    put_error(b, "58P01");
    say(c, down, b);
    query(c, "SELECT a FROM b"); // the end of the stream was not seen
    answer(c, "SELECT 0");
}

START_TEST(replication_can_break)
{
    expect(broken_replication, LOGIN "CALL 2 postgresql START_REPLICATION 27\n"
                                     "RET 2 postgresql ok 8\n"
                                     "MSG < postgresql XLogData 14\n"
                                     "MSG < postgresql - 31\n"
                                     "CALL 3 postgresql SELECT b 21\n"
                                     "RET 3 postgresql ok 20\n");
}
END_TEST

static void lost_in_replication(Converse *c, GByteArray *b)
{
    log_in(c);
    query(c, "START_REPLICATION 0/0");
    put_message(b, 'W', "\0\0\0", 3);
    put_message(b, 'd', "wabcdefgh", 9);
    say(c, down, b);
    converse_lose(c, down, 100);
    put_message(b, 'd', "wijklmnop", 9);
    say(c, down, b);
    put_message(b, 'd', "r12345678", 9);
    say(c, up, b);
}

START_TEST(gap_in_a_replication)
{
    expect(lost_in_replication, LOGIN "CALL 2 postgresql START_REPLICATION 27\n"
                                      "RET 2 postgresql ok 8\n"
                                      "MSG < postgresql XLogData 14\n"
                                      "MSG < postgresql XLogData 14\n"
                                      "MSG > postgresql StandbyStatusUpdate 14\n");
}
END_TEST

#define ZEROS_7 "\0\0\0\0\0\0\0"
#define STATUS "r" ZEROS_7 "1" ZEROS_7 "2" ZEROS_7 "3" ZEROS_7 "4\n" // 34 bytes
#define FEEDBACK "h" ZEROS_7 "1" ZEROS_7 "2" ZEROS_7 "3"             // 25
#define KEEPALIVE "k" ZEROS_7 "1" ZEROS_7 "2\0"                      // 18

// The first log data are not known to be any until a side says what only a replication does.
static void joined_by_status(Converse *c, GByteArray *b)
{
    put_message(b, 'd', "wabcdefgh", 9);
    say(c, down, b);
    put_message(b, 'd', STATUS, 34);
    say(c, up, b);
    put_message(b, 'd', "wijklmnop", 9);
    put_message(b, 'd', KEEPALIVE, 18);
    say(c, down, b);
    put_message(b, 'd', FEEDBACK, 25);
    put_message(b, 'c', "", 0);
    say(c, up, b);
    put_message(b, 'c', "", 0);
    put_ready(b, 'I');
    say(c, down, b);
    query(c, "SELECT a FROM b");
    answer(c, "SELECT 0");
}

static void joined_by_feedback(Converse *c, GByteArray *b)
{
    put_message(b, 'd', FEEDBACK, 25);
    say(c, up, b);
    put_message(b, 'd', "wabcdefgh", 9);
    say(c, down, b);
}

static void joined_by_keepalive(Converse *c, GByteArray *b)
{
    put_message(b, 'd', "wabcdefgh", 9);
    put_message(b, 'd', KEEPALIVE, 18);
    put_message(b, 'd', "wabcdefgh", 9);
    say(c, down, b);
}

START_TEST(replication_joined)
{
    expect_with(joined_by_status, true,
                "MSG > postgresql StandbyStatusUpdate 39\n"
                "MSG < postgresql XLogData 14\n"
                "MSG < postgresql PrimaryKeepalive 23\n"
                "MSG > postgresql HotStandbyFeedback 30\n"
                "CALL 1 postgresql SELECT b 21\n"
                "RET 1 postgresql ok 20\n");
    expect_with(joined_by_feedback, true,
                "MSG > postgresql HotStandbyFeedback 30\n"
                "MSG < postgresql XLogData 14\n");
    expect_with(joined_by_keepalive, true,
                "MSG < postgresql PrimaryKeepalive 23\n"
                "MSG < postgresql XLogData 14\n");
}
END_TEST

// The response was among what is missing, and a message goes on while it is noted.
static void joined_by_a_gap(Converse *c, GByteArray *b)
{
    log_in(c);
    query(c, "START_REPLICATION 0/0");
    put_message(b, 'W', "\0\0\0", 3);
    lose(c, down, b);
    put_message(b, 'd', "wabcdefgh", 9);
    say(c, down, b);
    put_message(b, 'd', "wabcdefghijklmnopqrst", 21);
    g_autoptr(GByteArray) rest = g_byte_array_new();
    put(rest, b->data + 10, b->len - 10);
    g_byte_array_set_size(b, 10);
    say(c, down, b);
    put_message(b, 'd', STATUS, 34);
    say(c, up, b);
    say(c, down, rest);
    put_message(b, 'd', "wabcdefgh", 9);
    say(c, down, b);
    put_ready(b, 'I');
    say(c, down, b);
    query(c, "SELECT a FROM b");
    answer(c, "SELECT 0");
}

START_TEST(replication_joined_by_a_gap)
{
    expect(joined_by_a_gap, LOGIN "CALL 2 postgresql START_REPLICATION 27\n"
                                  "MSG > postgresql StandbyStatusUpdate 39\n"
                                  "MSG < postgresql XLogData 14\n"
                                  "CALL 3 postgresql SELECT b 21\n"
                                  "RET 3 postgresql ok 20\n");
}
END_TEST

// Rows of a COPY may have any length and letter.
static void joined_copy(Converse *c, GByteArray *b)
{
    put_message(b, 'd', "k2345678901234567\n", 18);
    put_message(b, 'd', "w\n", 2);
    put_message(b, 'c', "", 0);
    say(c, down, b);
    answer(c, "COPY 2");
}

START_TEST(a_copy_is_no_replication)
{
    expect_with(joined_copy, true, "RET - postgresql ok 53\n");
}
END_TEST

TEST_MAIN("postgres_copy", copy_is_one_call, copy_data_are_of_the_call, data_of_a_copy_is_lost,
          copy_by_extended_query, a_failed_copy_ignores_no_sync, replication_is_free_messages,
          replication_can_break, gap_in_a_replication, replication_joined,
          replication_joined_by_a_gap, a_copy_is_no_replication)
