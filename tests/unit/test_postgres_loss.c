// SPDX-License-Identifier: Apache-2.0
// PostgreSQL joined in the middle, and with bytes missing: what is found again, and what is not
// told.
#include "tests/unit/postgres_talk.h"

#include <stdio.h>

static void midstream_simple(Converse *c, GByteArray *b)
{
    query(c, "SELECT a FROM b");
    put_rows(b);
    say(c, down, b);
}

static void midstream_extended(Converse *c, GByteArray *b)
{
    put_bind(b, "s1");
    put_execute(b);
    put_message(b, 'S', "", 0);
    say(c, up, b);
    put_extended_answer(b, false);
    say(c, down, b);
}

START_TEST(joined_in_the_middle)
{
    expect_with(midstream_simple, true, "CALL 1 postgresql SELECT b 21\nRET 1 postgresql ok 62\n");
    g_autoptr(Converse) c = converse_tcp_midstream(7777);
    g_autoptr(GByteArray) b = g_byte_array_new();
    midstream_extended(c, b);
    ck_assert_str_eq(converse_result(c), "CALL 1 postgresql EXECUTE 30\n"
                                         "RET 1 postgresql ok 37\n");
}
END_TEST

START_TEST(joined_before_an_answer)
{
    g_autoptr(Converse) c = converse_tcp_midstream(7777);
    g_autoptr(GByteArray) b = g_byte_array_new();
    put_rows(b);
    say(c, down, b);
    query(c, "SELECT a FROM b");
    put_rows(b);
    say(c, down, b);
    ck_assert_str_eq(converse_result(c), "RET - postgresql ok 62\n"
                                         "CALL 1 postgresql SELECT b 21\n"
                                         "RET 1 postgresql ok 62\n");
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS_ORPHANED), 1);
}
END_TEST

static void lost_query(Converse *c, GByteArray *b)
{
    log_in(c);
    put_text(b, 'Q', "SELECT a FROM lost");
    lose(c, up, b);
    put_rows(b);
    say(c, down, b);
    query(c, "SELECT a FROM seen");
    put_rows(b);
    say(c, down, b);
    query(c, "SELECT a FROM next");
    put_rows(b);
    say(c, down, b);
}

START_TEST(lost_request)
{
    expect(lost_query, LOGIN "RET - postgresql ok 62\n"
                             "CALL 2 postgresql SELECT seen 24\n"
                             "RET 2 postgresql ok 62\n"
                             "CALL 3 postgresql SELECT next 24\n"
                             "RET 3 postgresql ok 62\n");
}
END_TEST

// Of two answers in a row the end is missing, and of the second one the request, too.
static void lost_ends(Converse *c, GByteArray *b)
{
    log_in(c);
    query(c, "SELECT a FROM one");
    put_error(b, "42P01");
    say(c, down, b);
    converse_lose(c, down, 6);
    converse_lose(c, up, 24);
    put_error(b, "57014");
    say(c, down, b);
    converse_lose(c, down, 6);
    query(c, "SELECT a FROM two");
    put_rows(b);
    say(c, down, b);
    query(c, "SELECT a FROM three");
    put_error(b, "42P01");
    put_ready(b, 'I');
    say(c, down, b);
}

START_TEST(lost_ends_do_not_shift)
{
    expect(lost_ends, LOGIN "CALL 2 postgresql SELECT one 23\n"
                            "RET 2 postgresql 42P01 31\n"
                            "RET - postgresql 57014 31\n"
                            "CALL 3 postgresql SELECT two 23\n"
                            "RET 3 postgresql ok 62\n"
                            "CALL 4 postgresql SELECT three 25\n"
                            "RET 4 postgresql 42P01 37\n");
}
END_TEST

static void lost_answer(Converse *c, GByteArray *b)
{
    log_in(c);
    query(c, "SELECT a FROM first");
    put_rows(b);
    lose(c, down, b);
    query(c, "SELECT a FROM second");
    put_rows(b);
    say(c, down, b);
}

START_TEST(lost_reply)
{
    expect(lost_answer, LOGIN "CALL 2 postgresql SELECT first 25\n"
                              "CALL 3 postgresql SELECT second 26\n"
                              "RET 3 postgresql ok 62\n");
}
END_TEST

// The requests behind a lost reply wait for what they acknowledge, and more is lost meanwhile: each
// reply that is seen still finds its own request.
static void lost_answers_and_queries(Converse *c, GByteArray *b)
{
    log_in(c);
    for (guint i = 0; i < 40; i++) {
        g_autofree char *text = g_strdup_printf("SELECT %u", i);
        put_text(b, 'Q', text);
        (i % 7 == 3 ? lose : say)(c, up, b);
        put_description(b);
        put_row(b, 1000 + i);
        put_ready(b, 'I');
        (i % 11 > 7 || i % 7 == 2 || i % 7 == 4 ? lose : say)(c, down, b);
    }
}

START_TEST(lost_replies_do_not_shift)
{
    g_autoptr(Converse) c = converse_tcp(5432);
    g_autoptr(GByteArray) b = g_byte_array_new();
    lost_answers_and_queries(c, b);
    g_auto(GStrv) lines = g_strsplit(converse_result(c), "\n", -1);
    guint paired = 0;
    for (guint i = 0; lines[i]; i++) {
        guint id, bytes;
        if (sscanf(lines[i], "RET %u postgresql ok %u", &id, &bytes) != 2 || id == 1)
            continue;
        // The reply's length tells which query it answers, and so when that was sent: two packets
        // a query, two of the login.
        gint64 sent_ms = 2 + 2 * (gint64)(bytes - 1045);
        g_autofree char *call = g_strdup_printf("CALL %u ", id);
        guint at = 0;
        while (!g_str_has_prefix(lines[at], call))
            at++;
        ck_assert_int_eq(converse_first_ms(c, at), sent_ms);
        paired++;
    }
    ck_assert_uint_ge(paired, 10);
}
END_TEST

// The beginning of an answer is seen, its end is not: the return is kept, and the end of the
// answer, when it comes, is not taken for another one.
static void torn_answer(Converse *c, GByteArray *b)
{
    log_in(c);
    query(c, "SELECT a FROM first");
    put_description(b);
    put_row(b, 3);
    say(c, down, b); // 42 bytes
    put_row(b, 3);
    put_row(b, 3);
    lose(c, down, b);
    put_row(b, 3);
    put_text(b, 'C', "SELECT 4");
    put_ready(b, 'I');
    say(c, down, b);
    query(c, "SELECT a FROM second");
    put_rows(b);
    say(c, down, b);
}

START_TEST(gap_in_a_reply)
{
    expect(torn_answer, LOGIN "CALL 2 postgresql SELECT first 25\n"
                              "RET 2 postgresql - 42\n"
                              "CALL 3 postgresql SELECT second 26\n"
                              "RET 3 postgresql ok 62\n");
}
END_TEST

// A gap inside of one long row does no harm at all.
START_TEST(gap_in_a_long_row)
{
    g_autoptr(Converse) c = converse_tcp(5432);
    g_autoptr(GByteArray) b = g_byte_array_new();
    log_in(c);
    query(c, "SELECT a FROM first");
    put_row(b, 10000);
    converse_say(c, down, b->data, 2000);
    converse_lose(c, down, 3000);
    converse_say(c, down, b->data + 5000, b->len - 5000);
    answer(c, "SELECT 1");
    ck_assert_str_eq(converse_result(c), LOGIN "CALL 2 postgresql SELECT first 25\n"
                                               "RET 2 postgresql ok 7031\n");
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 0);
}
END_TEST

// The statement breaks off in a word: half a table's name is no name.
START_TEST(gap_in_a_query)
{
    g_autoptr(Converse) c = converse_tcp(5432);
    g_autoptr(GByteArray) b = g_byte_array_new();
    log_in(c);
    put_text(b, 'Q', "SELECT a FROM customers WHERE x = 1");
    converse_say(c, up, b->data, 23); // ... cust
    converse_lose(c, up, b->len - 23);
    g_byte_array_set_size(b, 0);
    put_rows(b);
    say(c, down, b);
    query(c, "SELECT a FROM seen");
    put_rows(b);
    say(c, down, b);
    ck_assert_str_eq(converse_result(c), LOGIN "CALL 2 postgresql SELECT 23\n"
                                               "RET 2 postgresql ok 62\n"
                                               "CALL 3 postgresql SELECT seen 24\n"
                                               "RET 3 postgresql ok 62\n");
}
END_TEST

// Bind with its parameters is lost, its Parse and Sync are not: one call. The call after it is not
// paired, since the missing bytes may have held a request of their own; the one after that is.
static void torn_batch(Converse *c, GByteArray *b)
{
    log_in(c);
    put_parse(b, "", "SELECT * FROM a");
    say(c, up, b);
    put_bind(b, "");
    lose(c, up, b);
    put_execute(b);
    put_message(b, 'S', "", 0);
    say(c, up, b);
    put_extended_answer(b, true);
    say(c, down, b);
    query(c, "SELECT a FROM seen");
    put_rows(b);
    say(c, down, b);
    query(c, "SELECT a FROM next");
    put_rows(b);
    say(c, down, b);
}

START_TEST(gap_in_a_batch)
{
    g_autoptr(Converse) c = converse_tcp(5432);
    g_autoptr(GByteArray) b = g_byte_array_new();
    torn_batch(c, b);
    ck_assert_str_eq(converse_result(c), LOGIN "CALL 2 postgresql SELECT a 39\n"
                                               "RET 2 postgresql ok 42\n"
                                               "CALL 3 postgresql SELECT seen 24\n"
                                               "RET - postgresql ok 62\n"
                                               "CALL 4 postgresql SELECT next 24\n"
                                               "RET 4 postgresql ok 62\n");
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 1);
}
END_TEST

TEST_MAIN("postgres_loss", joined_in_the_middle, joined_before_an_answer, lost_request,
          lost_ends_do_not_shift, lost_reply, lost_replies_do_not_shift, gap_in_a_reply,
          gap_in_a_long_row, gap_in_a_query, gap_in_a_batch)
