// SPDX-License-Identifier: Apache-2.0
// PostgreSQL: sessions, queries, errors, encryption, damage.
#include "capture/protocols/statements.h"
#include "tests/unit/postgres_talk.h"

// ---- sessions ---------------------------------------------------------------------------------

static void session(Converse *c, GByteArray *b)
{
    put_message(b, 0, "\x04\xd2\x16\x2f", 4); // SSLRequest
    say(c, up, b);
    converse_text(c, down, "N");
    put_startup(b);
    say(c, up, b);
    put_message(b, 'R', "\0\0\0\x0aSCRAM-SHA-256\0\0", 19);
    say(c, down, b);
    put_text(b, 'p', "SCRAM-SHA-256");
    say(c, up, b);
    put_login(b);
    say(c, down, b);
    query(c, "SELECT * FROM users WHERE id = 17");
    put_rows(b);
    say(c, down, b);
    query(c, "INSERT INTO orders VALUES (1)");
    put_error(b, "23505");
    put_ready(b, 'I');
    say(c, down, b);
    put_message(b, 'X', "", 0);
    say(c, up, b);
    converse_close(c, up);
    converse_close(c, down);
}

START_TEST(a_session)
{
    expect(session, "CALL 1 postgresql SSLRequest 8\n"
                    "RET 1 postgresql N 1\n"
                    "CALL 2 postgresql startup 32\n"
                    "RET 2 postgresql ok 75\n"
                    "CALL 3 postgresql SELECT users 39\n"
                    "RET 3 postgresql ok 62\n"
                    "CALL 4 postgresql INSERT orders 35\n"
                    "RET 4 postgresql 23505 37\n"
                    "MSG > postgresql Terminate 5\n");
}
END_TEST

START_TEST(times_are_of_first_and_last_bytes)
{
    g_autoptr(Converse) c = converse_tcp(5432);
    g_autoptr(GByteArray) b = g_byte_array_new();
    put_startup(b);
    say(c, up, b); // 0 ms
    put_login(b);
    say(c, down, b); // 1
    put_text(b, 'Q', "SELECT a FROM b");
    converse_say(c, up, b->data, 3);              // 2
    converse_say(c, up, b->data + 3, b->len - 3); // 3
    g_byte_array_set_size(b, 0);
    put_description(b);
    say(c, down, b); // 4
    put_text(b, 'C', "SELECT 0");
    say(c, down, b); // 5
    put_ready(b, 'I');
    converse_say(c, down, b->data, 5);     // 6
    converse_say(c, down, b->data + 5, 1); // 7
    ck_assert_str_eq(converse_result(c), "CALL 1 postgresql startup 32\n"
                                         "RET 1 postgresql ok 51\n"
                                         "CALL 2 postgresql SELECT b 21\n"
                                         "RET 2 postgresql ok 48\n");
    ck_assert_int_eq(converse_first_ms(c, 2), 2);
    ck_assert_int_eq(converse_last_ms(c, 2), 3);
    ck_assert_int_eq(converse_first_ms(c, 3), 4);
    ck_assert_int_eq(converse_last_ms(c, 3), 7);
}
END_TEST

static void refused_login(Converse *c, GByteArray *b)
{
    put_startup(b);
    say(c, up, b);
    put_message(b, 'R', "\0\0\0\5salt", 8);
    say(c, down, b);
    put_text(b, 'p', "md5abc");
    say(c, up, b);
    put_error(b, "28P01");
    say(c, down, b);
    converse_close(c, down);
    converse_close(c, up);
}

START_TEST(login_can_be_refused)
{
    expect(refused_login, "CALL 1 postgresql startup 32\n"
                          "RET 1 postgresql 28P01 44\n");
}
END_TEST

static void given_up_login(Converse *c, GByteArray *b)
{
    put_startup(b);
    say(c, up, b);
    put_message(b, 'R', "\0\0\0\3", 4);
    say(c, down, b);
    converse_close(c, up);
    converse_close(c, down);
}

START_TEST(login_can_be_given_up)
{
    expect(given_up_login, "CALL 1 postgresql startup 32\n"
                           "RET 1 postgresql - 9\n");
}
END_TEST

static void gss_then_ssl_then_cancel(Converse *c, GByteArray *b)
{
    put_message(b, 0, "\x04\xd2\x16\x30", 4);
    say(c, up, b);
    converse_text(c, down, "N");
    put_message(b, 0, "\x04\xd2\x16\x2f", 4);
    say(c, up, b);
    converse_text(c, down, "N");
    put_message(b, 0, "\x04\xd2\x16\x2e\0\0\0\1\0\0\0\2", 12);
    say(c, up, b);
    converse_close(c, down);
}

START_TEST(requests_before_the_startup)
{
    expect(gss_then_ssl_then_cancel, "CALL 1 postgresql GSSENCRequest 8\n"
                                     "RET 1 postgresql N 1\n"
                                     "CALL 2 postgresql SSLRequest 8\n"
                                     "RET 2 postgresql N 1\n"
                                     "MSG > postgresql CancelRequest 16\n");
}
END_TEST

// Servers before GSSENCRequest answer it with an error.
static void old_server(Converse *c, GByteArray *b)
{
    put_message(b, 0, "\x04\xd2\x16\x30", 4);
    say(c, up, b);
    put_error(b, "0A000");
    say(c, down, b);
}

START_TEST(encryption_unknown_to_the_server)
{
    expect(old_server, "CALL 1 postgresql GSSENCRequest 8\n"
                       "RET 1 postgresql 0A000 31\n");
}
END_TEST

static void encrypted(Converse *c, GByteArray *b)
{
    put_message(b, 0, "\x04\xd2\x16\x2f", 4);
    say(c, up, b);
    converse_text(c, down, "S");
    converse_say(c, up, "\x16\x03\x01\x00\x05hello", 10);
    converse_say(c, down, "\x16\x03\x03\x00\x05world", 10);
}

// What follows is TLS, which has a name only where there is a decoder for it: not PostgreSQL's.
START_TEST(encryption_ends_the_protocol)
{
    g_autoptr(Converse) c = converse_tcp(5432);
    g_autoptr(GByteArray) b = g_byte_array_new();
    encrypted(c, b);
    const char *result = converse_result(c);
    ck_assert(g_str_has_prefix(result, "CALL 1 postgresql SSLRequest 8\n"
                                       "RET 1 postgresql ok 1\n"
                                       "CALL 2 "));
    ck_assert_ptr_null(strstr(strstr(result, "CALL 2"), "postgresql"));
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 0);
}
END_TEST

// ---- simple queries ---------------------------------------------------------------------------

static void notices(Converse *c, GByteArray *b)
{
    static const char notice[] = "SNOTICE\0VNOTICE\0C00000\0Mx\0";
    log_in(c);
    put_message(b, 'N', notice, sizeof notice); // nobody asked
    say(c, down, b);
    put_message(b, 'S', "TimeZone\0UTC\0", 13);
    say(c, down, b);
    put_message(b, 'A', "\0\0\0\1ch\0x\0", 9);
    say(c, down, b);
    query(c, "DROP TABLE IF EXISTS t");
    put_message(b, 'N', notice, sizeof notice); // of the query
    put_text(b, 'C', "DROP TABLE");
    say(c, down, b);
    put_message(b, 'A', "\0\0\0\1ch\0y\0", 9);
    say(c, down, b);
    put_ready(b, 'I');
    say(c, down, b);
}

START_TEST(what_comes_unasked_is_no_return)
{
    expect(notices, LOGIN "MSG < postgresql NotificationResponse 14\n"
                          "CALL 2 postgresql DROP TABLE t 28\n"
                          "RET 2 postgresql ok 54\n"
                          "MSG < postgresql NotificationResponse 14\n");
}
END_TEST

static void pipelined_queries(Converse *c, GByteArray *b)
{
    log_in(c);
    put_text(b, 'Q', "BEGIN");
    put_text(b, 'Q', "UPDATE t SET a = 1");
    put_text(b, 'Q', "COMMIT");
    say(c, up, b);
    put_text(b, 'C', "BEGIN");
    put_ready(b, 'T');
    put_error(b, "42P01");
    put_ready(b, 'E');
    put_text(b, 'C', "ROLLBACK");
    put_ready(b, 'I');
    say(c, down, b);
}

START_TEST(queries_pair_in_order)
{
    // One packet holds all three, so times do not sort them: the order of writing does.
    g_autoptr(Converse) c = converse_tcp(5432);
    g_autoptr(GByteArray) b = g_byte_array_new();
    pipelined_queries(c, b);
    ck_assert_str_eq(converse_result(c), LOGIN "CALL 2 postgresql BEGIN 11\n"
                                               "CALL 3 postgresql UPDATE t 24\n"
                                               "CALL 4 postgresql COMMIT 12\n"
                                               "RET 2 postgresql ok 17\n"
                                               "RET 3 postgresql 42P01 37\n"
                                               "RET 4 postgresql ok 20\n");
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS_ORPHANED), 0);
}
END_TEST

static void odd_queries(Converse *c, GByteArray *b)
{
    log_in(c);
    query(c, "");
    put_message(b, 'I', "", 0);
    put_ready(b, 'I');
    say(c, down, b);
    query(c, "SELECT 1; SELECT 2 FROM t");
    put_rows(b);
    say(c, down, b);
    put_message(b, 'F', "\0\0\0\1\0\0\0\0\0\0", 10);
    say(c, up, b);
    put_message(b, 'V', "\0\0\0\1x", 5);
    put_ready(b, 'I');
    say(c, down, b);
}

START_TEST(queries_without_a_table)
{
    expect(odd_queries, LOGIN "CALL 2 postgresql - 6\n"
                              "RET 2 postgresql ok 11\n"
                              "CALL 3 postgresql SELECT 31\n"
                              "RET 3 postgresql ok 62\n"
                              "CALL 4 postgresql FunctionCall 15\n"
                              "RET 4 postgresql ok 16\n");
}
END_TEST

// Long bodies are passed over, and cost no buffer: both are larger than it.
static void floods(Converse *c, GByteArray *b)
{
    g_autoptr(GString) text = g_string_new("INSERT INTO blobs VALUES ('");
    for (guint i = 0; i < 100000; i++)
        g_string_append_c(text, 'x');
    g_string_append(text, "')");
    log_in(c);
    query(c, text->str);
    answer(c, "INSERT 0 1");
    query(c, "SELECT * FROM blobs");
    put_description(b);
    put_row(b, 200000);
    put_text(b, 'C', "SELECT 1");
    put_ready(b, 'I');
    say(c, down, b);
    query(c, "SELECT 1");
    put_rows(b);
    say(c, down, b);
}

START_TEST(long_messages)
{
    expect(floods, LOGIN "CALL 2 postgresql INSERT blobs 100035\n"
                         "RET 2 postgresql ok 22\n"
                         "CALL 3 postgresql SELECT blobs 25\n"
                         "RET 3 postgresql ok 200059\n"
                         "CALL 4 postgresql SELECT 14\n"
                         "RET 4 postgresql ok 62\n");
}
END_TEST

// ---- extended queries -------------------------------------------------------------------------

static void prepared(Converse *c, GByteArray *b)
{
    log_in(c);
    put_parse(b, "s1", "SELECT * FROM items WHERE id = $1");
    put_target(b, 'D', "s1");
    put_message(b, 'S', "", 0);
    say(c, up, b);
    put_message(b, '1', "", 0);
    put_message(b, 't', "\0\0", 2);
    put_message(b, 'n', "", 0);
    put_ready(b, 'I');
    say(c, down, b);
    for (guint i = 0; i < 2; i++) {
        put_bind(b, i == 0 ? "s1" : "unknown");
        put_execute(b);
        put_message(b, 'S', "", 0);
        say(c, up, b);
        put_extended_answer(b, false);
        say(c, down, b);
    }
    put_target(b, 'C', "s1");
    put_message(b, 'S', "", 0);
    say(c, up, b);
    put_message(b, '3', "", 0);
    put_ready(b, 'I');
    say(c, down, b);
    put_bind(b, "s1");
    put_execute(b);
    put_message(b, 'S', "", 0);
    say(c, up, b);
    put_error(b, "26000");
    put_ready(b, 'I');
    say(c, down, b);
}

START_TEST(prepared_statements_have_labels)
{
    expect(prepared, LOGIN "CALL 2 postgresql SELECT items 58\n"
                           "RET 2 postgresql ok 23\n"
                           "CALL 3 postgresql SELECT items 30\n"
                           "RET 3 postgresql ok 37\n"
                           "CALL 4 postgresql EXECUTE 35\n"
                           "RET 4 postgresql ok 37\n"
                           "CALL 5 postgresql CLOSE 14\n"
                           "RET 5 postgresql ok 11\n"
                           "CALL 6 postgresql EXECUTE 30\n"
                           "RET 6 postgresql 26000 37\n");
}
END_TEST

static void unnamed(Converse *c, GByteArray *b)
{
    log_in(c);
    put_parse(b, "", "UPDATE a SET x = $1");
    put_message(b, 'S', "", 0);
    say(c, up, b);
    put_message(b, '1', "", 0);
    put_ready(b, 'I');
    say(c, down, b);
    put_bind(b, "");
    put_execute(b);
    put_message(b, 'S', "", 0);
    say(c, up, b);
    put_extended_answer(b, false);
    say(c, down, b);
    put_message(b, 'S', "", 0); // alone
    say(c, up, b);
    put_ready(b, 'I');
    say(c, down, b);
    put_execute(b); // more rows of a portal
    put_message(b, 'S', "", 0);
    say(c, up, b);
    put_message(b, 's', "", 0);
    put_ready(b, 'I');
    say(c, down, b);
}

START_TEST(unnamed_statement)
{
    expect(unnamed, LOGIN "CALL 2 postgresql UPDATE a 33\n"
                          "RET 2 postgresql ok 11\n"
                          "CALL 3 postgresql UPDATE a 28\n"
                          "RET 3 postgresql ok 37\n"
                          "CALL 4 postgresql SYNC 5\n"
                          "RET 4 postgresql ok 6\n"
                          "CALL 5 postgresql EXECUTE 15\n"
                          "RET 5 postgresql ok 11\n");
}
END_TEST

static void batch(Converse *c, GByteArray *b)
{
    log_in(c);
    for (guint i = 0; i < 2; i++) {
        put_parse(b, "", i == 0 ? "INSERT INTO a VALUES ($1)" : "SELECT * FROM b");
        put_bind(b, "");
        put_execute(b);
    }
    put_message(b, 'S', "", 0);
    say(c, up, b);
    // The second fails; what is behind it is skipped up to the Sync.
    put_message(b, '1', "", 0);
    put_message(b, '2', "", 0);
    put_text(b, 'C', "INSERT 0 1");
    put_error(b, "42P01");
    put_ready(b, 'I');
    say(c, down, b);
    query(c, "SELECT 1");
    put_rows(b);
    say(c, down, b);
}

START_TEST(a_batch_is_one_call)
{
    expect(batch, LOGIN "CALL 2 postgresql INSERT a 109\n"
                        "RET 2 postgresql 42P01 63\n"
                        "CALL 3 postgresql SELECT 14\n"
                        "RET 3 postgresql ok 62\n");
}
END_TEST

static void flushed(Converse *c, GByteArray *b)
{
    log_in(c);
    put_parse(b, "s", "DELETE FROM a");
    put_message(b, 'H', "", 0);
    say(c, up, b);
    put_message(b, '1', "", 0);
    say(c, down, b);
    put_bind(b, "s");
    put_execute(b);
    put_message(b, 'S', "", 0);
    say(c, up, b);
    put_message(b, '2', "", 0);
    put_text(b, 'C', "DELETE 1");
    put_ready(b, 'I');
    say(c, down, b);
}

START_TEST(flush_does_not_end_a_call)
{
    expect(flushed, LOGIN "CALL 2 postgresql DELETE a 57\n"
                          "RET 2 postgresql ok 30\n");
}
END_TEST

// Some drivers send BEGIN before the first statement of a transaction, from some time on by a name.
static void begun(Converse *c, GByteArray *b)
{
    log_in(c);
    for (guint i = 0; i < 3; i++) {
        if (i < 2)
            put_parse(b, i == 0 ? "S_0" : "S_1", i == 0 ? "begin" : "START TRANSACTION");
        put_bind(b, i == 1 ? "S_1" : "S_0");
        put_execute(b);
        put_parse(b, "", "SELECT a FROM b");
        put_bind(b, "");
        put_execute(b);
        put_message(b, 'S', "", 0);
        say(c, up, b);
        answer(c, "SELECT 0");
    }
    put_bind(b, "S_1");
    put_execute(b);
    put_message(b, 'S', "", 0);
    say(c, up, b);
    answer(c, "START TRANSACTION");
}

START_TEST(begin_is_replaced)
{
    expect(begun, LOGIN "CALL 2 postgresql SELECT b 95\n"
                        "RET 2 postgresql ok 20\n"
                        "CALL 3 postgresql SELECT b 107\n"
                        "RET 3 postgresql ok 20\n"
                        "CALL 4 postgresql SELECT b 78\n"
                        "RET 4 postgresql ok 20\n"
                        "CALL 5 postgresql START 31\n"
                        "RET 5 postgresql ok 29\n");
}
END_TEST

static void syncs(Converse *c, GByteArray *b)
{
    log_in(c);
    for (guint i = 0; i < 3; i++) {
        put_parse(b, "", i == 1 ? "SELECT x FROM b" : "SELECT x FROM a");
        put_bind(b, "");
        put_execute(b);
        put_message(b, 'S', "", 0);
    }
    say(c, up, b);
    put_extended_answer(b, true);
    put_error(b, "57014");
    put_ready(b, 'I');
    put_extended_answer(b, true);
    say(c, down, b);
}

START_TEST(syncs_pair_in_order)
{
    g_autoptr(Converse) c = converse_tcp(5432);
    g_autoptr(GByteArray) b = g_byte_array_new();
    syncs(c, b);
    ck_assert_str_eq(converse_result(c), LOGIN "CALL 2 postgresql SELECT a 52\n"
                                               "CALL 3 postgresql SELECT b 52\n"
                                               "CALL 4 postgresql SELECT a 52\n"
                                               "RET 2 postgresql ok 42\n"
                                               "RET 3 postgresql 57014 37\n"
                                               "RET 4 postgresql ok 42\n");
}
END_TEST

static void unfinished(Converse *c, GByteArray *b)
{
    log_in(c);
    put_parse(b, "", "SELECT x FROM a");
    say(c, up, b);
    converse_close(c, up);
    converse_close(c, down);
}

START_TEST(request_without_sync_is_kept)
{
    expect(unfinished, LOGIN "CALL 2 postgresql SELECT a 24\n");
}
END_TEST

START_TEST(statements_have_a_limit)
{
    BbStatements *s = bb_statements_new();
    for (guint i = 0; i < BB_STATEMENTS + 10; i++) {
        g_autofree char *name = g_strdup_printf("s%u", i);
        bb_statements_set(s, name, strlen(name), i + 1);
        if (i == 5) // used again: the youngest now
            bb_statements_set(s, "s0", 2, 7777);
    }
    ck_assert_uint_eq(bb_statements_count(s), BB_STATEMENTS);
    ck_assert_uint_eq(bb_statements_get(s, "s1", 2), BB_NAME_NONE); // evicted
    ck_assert_uint_eq(bb_statements_get(s, "s5", 2), BB_NAME_NONE);
    ck_assert_uint_eq(bb_statements_get(s, "s100", 4), 101);
    ck_assert_uint_eq(bb_statements_get(s, "s100x", 4), 101);
    ck_assert_uint_eq(bb_statements_get(s, "nope", 4), BB_NAME_NONE);
    bb_statements_remove(s, "s100", 4);
    bb_statements_remove(s, "s100", 4);
    ck_assert_uint_eq(bb_statements_get(s, "s100", 4), BB_NAME_NONE);
    ck_assert_uint_eq(bb_statements_count(s), BB_STATEMENTS - 1);
    // The server cuts names after 63 bytes.
    g_autofree char *longer = g_strnfill(100, 'n');
    bb_statements_set(s, longer, 100, 5);
    ck_assert_uint_eq(bb_statements_get(s, longer, 63), 5);
    ck_assert_uint_eq(bb_statements_get(s, longer, 62), BB_NAME_NONE);
    bb_statements_free(s);
    bb_statements_free(NULL);
}
END_TEST

// ---- ends -------------------------------------------------------------------------------------

static void shutdown_while_busy(Converse *c, GByteArray *b)
{
    log_in(c);
    query(c, "SELECT a FROM b");
    put_error(b, "57P01");
    say(c, down, b);
    converse_close(c, down);
    converse_close(c, up);
}

START_TEST(shutdown_answers_the_open_call)
{
    expect(shutdown_while_busy, LOGIN "CALL 2 postgresql SELECT b 21\n"
                                      "RET 2 postgresql 57P01 31\n");
}
END_TEST

static void shutdown_while_idle(Converse *c, GByteArray *b)
{
    log_in(c);
    put_error(b, "57P01");
    say(c, down, b);
    converse_close(c, down);
    converse_close(c, up);
}

START_TEST(shutdown_is_free_when_idle)
{
    expect(shutdown_while_idle, LOGIN "MSG < postgresql - 31\n");
}
END_TEST

// ---- damage -----------------------------------------------------------------------------------

START_TEST(no_postgres_after_all)
{
    static const char *const answers[] = {"Z\0\0\0\1\0", "Y\0\0\0\6a", "C\x7f\xff\xff\xffx"};
    for (gsize i = 0; i < G_N_ELEMENTS(answers); i++) {
        g_autoptr(Converse) c = converse_tcp(5432);
        g_autoptr(GByteArray) b = g_byte_array_new();
        put_startup(b);
        say(c, up, b);
        converse_say(c, down, answers[i], 6);
        ck_assert(g_str_has_prefix(converse_result(c), "CALL 1 postgresql startup 32\n"));
        ck_assert_ptr_null(strstr(converse_result(c), "RET 1"));
        ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 1);
    }
}
END_TEST

START_TEST(damage_in_the_middle)
{
    g_autoptr(Converse) c = converse_tcp(5432);
    g_autoptr(GByteArray) b = g_byte_array_new();
    log_in(c);
    query(c, "SELECT a FROM b");
    put_description(b);
    say(c, down, b);
    converse_text(c, down, "!garbage that is no message!");
    query(c, "SELECT a FROM seen");
    put_rows(b);
    say(c, down, b);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 0);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS), 3);
}
END_TEST

START_TEST(startup_packets_are_checked)
{
    static const char *const packets[] = {
        "\0\0\0\x09\0\2\0\0", // protocol 2
        "\0\0\0\x07\0\3\0\0", // too short
        "\0\1\0\0\0\3\0\0",   // too long
    };
    for (gsize i = 0; i < G_N_ELEMENTS(packets); i++) {
        g_autoptr(Converse) c = converse_tcp(5432);
        g_autoptr(GByteArray) b = g_byte_array_new();
        put_message(b, 0, "\x04\xd2\x16\x2f", 4);
        say(c, up, b);
        converse_text(c, down, "N");
        converse_say(c, up, packets[i], 8);
        ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 0);
        ck_assert_uint_eq(converse_loss(c, BB_CALLS), 1);
    }
}
END_TEST

// ---- the probe --------------------------------------------------------------------------------

static BbMatch probe(const void *bytes, gsize length)
{
    g_autofree guint8 *copy = g_memdup2(bytes, length);
    return bb_decoder_postgres.probe(copy ? copy : (const guint8 *)"", length);
}

static void expect_probe(GByteArray *b, BbMatch match)
{
    ck_assert_int_eq(probe(b->data, b->len), match);
    g_byte_array_set_size(b, 0);
}

START_TEST(probe_requests)
{
    g_autoptr(GByteArray) b = g_byte_array_new();
    put_startup(b);
    for (gsize cut = 0; cut < 9; cut++)
        ck_assert_int_eq(probe(b->data, cut), BB_MATCH_MORE);
    for (gsize cut = 9; cut < b->len; cut++)
        ck_assert_int_eq(probe(b->data, cut), BB_MATCH_REQUEST);
    expect_probe(b, BB_MATCH_REQUEST);
    put_message(b, 0, "\x04\xd2\x16\x2f", 4);
    expect_probe(b, BB_MATCH_REQUEST);
    put_message(b, 0, "\x04\xd2\x16\x30", 4);
    expect_probe(b, BB_MATCH_REQUEST);
    put_message(b, 0, "\x04\xd2\x16\x2e\0\0\0\1\0\0\0\2", 12);
    expect_probe(b, BB_MATCH_REQUEST);
    put_text(b, 'Q', "/* x */ select 1");
    expect_probe(b, BB_MATCH_REQUEST);
    put_text(b, 'Q', "SELECT 1");
    put_text(b, 'Q', "SELECT 2");
    expect_probe(b, BB_MATCH_REQUEST);
    put_text(b, 'Q', "SELECT something long");
    ck_assert_int_eq(probe(b->data, b->len - 8), BB_MATCH_REQUEST); // cut, but behind the verb
    ck_assert_int_eq(probe(b->data, 8), BB_MATCH_MORE);
    g_byte_array_set_size(b, 0);
    put_text(b, 'Q', "look at this");
    expect_probe(b, BB_MATCH_MAYBE);
    put_parse(b, "name", "INSERT INTO t VALUES ($1)");
    expect_probe(b, BB_MATCH_REQUEST);
    put_bind(b, "s");
    put_execute(b);
    put_message(b, 'S', "", 0);
    expect_probe(b, BB_MATCH_REQUEST);
    put_bind(b, "s");
    expect_probe(b, BB_MATCH_MAYBE);
}
END_TEST

START_TEST(probe_replies)
{
    g_autoptr(GByteArray) b = g_byte_array_new();
    put_rows(b);
    expect_probe(b, BB_MATCH_REPLY);
    put_ready(b, 'I');
    expect_probe(b, BB_MATCH_REPLY);
    put_login(b);
    expect_probe(b, BB_MATCH_REPLY);
    put_error(b, "28000");
    expect_probe(b, BB_MATCH_REPLY);
    put_description(b);
    put_row(b, 10);
    put_row(b, 1000);
    ck_assert_int_eq(probe(b->data, b->len - 500), BB_MATCH_REPLY);
    g_byte_array_set_size(b, 0);
    put_row(b, 3);
    expect_probe(b, BB_MATCH_MAYBE);
    put_row(b, 3);
    ck_assert_int_eq(probe(b->data, b->len - 1), BB_MATCH_MORE);
}
END_TEST

START_TEST(probe_others)
{
    static const char *const others[] = {
        "GET / HTTP/1.1\r\n\r\n",
        "*1\r\n$4\r\nPING\r\n",
        "get key\r\n",
        "QUIT\r\n",
        "EHLO x\r\n",
        "SSH-2.0-OpenSSH\r\n",
        "PRI * HTTP/2.0",
        "DELETE /x HTTP/1.1\r\n",
        "\x16\x03\x01\x02\x00\x01",
        "+OK\r\n",
        "CONNECT {}\r\n",
        "Sync me",
    };
    for (gsize i = 0; i < G_N_ELEMENTS(others); i++)
        ck_assert_int_eq(probe(others[i], strlen(others[i])), BB_MATCH_NO);
    ck_assert_int_eq(probe("\0\0\0\x55\xff\x53\x4d\x42\x72\0\0\0", 12), BB_MATCH_NO); // SMB
    ck_assert_int_eq(probe("\0\0\0\x08\0\3\0\0", 8), BB_MATCH_NO);      // no room for parameters
    ck_assert_int_eq(probe("\0\x1d\0\0\1\0\0\1\0\0", 10), BB_MATCH_NO); // DNS
    ck_assert_int_eq(probe("Z\0\0\0\5X", 6), BB_MATCH_NO);
    ck_assert_int_eq(probe("Q\0\0\0\6\1\0", 7), BB_MATCH_NO);
    ck_assert_int_eq(probe("D\0\0\0\x0a\0\1\0\0\0\1", 11), BB_MATCH_NO);
}
END_TEST

START_TEST(probe_random_bytes)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(5432);
    for (guint i = 0; i < 50000; i++) {
        guint8 bytes[64];
        for (gsize k = 0; k < sizeof bytes; k++)
            bytes[k] = (guint8)g_rand_int(rand);
        ck_assert_int_eq(probe(bytes, sizeof bytes), BB_MATCH_NO);
    }
}
END_TEST

TEST_MAIN("postgres", a_session, times_are_of_first_and_last_bytes, login_can_be_refused,
          login_can_be_given_up, requests_before_the_startup, encryption_unknown_to_the_server,
          encryption_ends_the_protocol, what_comes_unasked_is_no_return, queries_pair_in_order,
          queries_without_a_table, long_messages, prepared_statements_have_labels,
          unnamed_statement, a_batch_is_one_call, flush_does_not_end_a_call, begin_is_replaced,
          syncs_pair_in_order, request_without_sync_is_kept, statements_have_a_limit,
          shutdown_answers_the_open_call, shutdown_is_free_when_idle, no_postgres_after_all,
          damage_in_the_middle, startup_packets_are_checked, probe_requests, probe_replies,
          probe_others, probe_random_bytes)
