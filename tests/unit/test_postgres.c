// SPDX-License-Identifier: Apache-2.0
// PostgreSQL: sessions, extended queries, COPY, errors, encryption, loss, damage. Every script runs
// whole and with one byte a segment.
#include "tests/unit/converse.h"
#include "tests/unit/test.h"

#include "capture/decoder.h"
#include "capture/loss.h"
#include "capture/protocols/statements.h"

#include <stdio.h>
#include <string.h>

static const BbDirection up = BB_TO_SERVER, down = BB_TO_CLIENT;

// ---- messages ---------------------------------------------------------------------------------

static void put32(GByteArray *out, guint32 value)
{
    guint8 bytes[4] = {value >> 24, value >> 16 & 0xff, value >> 8 & 0xff, value & 0xff};
    g_byte_array_append(out, bytes, 4);
}

static void put(GByteArray *out, const void *bytes, gsize length)
{
    g_byte_array_append(out, bytes, (guint)length);
}

// A message with a body of length bytes; type 0: none.
static void put_message(GByteArray *out, char type, const void *body, gsize length)
{
    if (type)
        put(out, &type, 1);
    put32(out, (guint32)length + 4);
    put(out, body, length);
}

static void put_text(GByteArray *out, char type, const char *text)
{
    put_message(out, type, text, strlen(text) + 1);
}

static void put_parse(GByteArray *out, const char *name, const char *text)
{
    g_autoptr(GByteArray) body = g_byte_array_new();
    put(body, name, strlen(name) + 1);
    put(body, text, strlen(text) + 1);
    put(body, "\0\0", 2);
    put_message(out, 'P', body->data, body->len);
}

static void put_bind(GByteArray *out, const char *name)
{
    g_autoptr(GByteArray) body = g_byte_array_new();
    put(body, "", 1);
    put(body, name, strlen(name) + 1);
    put(body, "\0\0\0\0\0\0", 6);
    put_message(out, 'B', body->data, body->len);
}

// Describe or Close of a statement.
static void put_target(GByteArray *out, char type, const char *name)
{
    g_autoptr(GByteArray) body = g_byte_array_new();
    put(body, "S", 1);
    put(body, name, strlen(name) + 1);
    put_message(out, type, body->data, body->len);
}

static void put_execute(GByteArray *out)
{
    put_message(out, 'E', "\0\0\0\0\0", 5);
}

static void put_ready(GByteArray *out, char state)
{
    put_message(out, 'Z', &state, 1);
}

static void put_error(GByteArray *out, const char *code)
{
    g_autoptr(GByteArray) body = g_byte_array_new();
    put(body, "SERROR\0VERROR\0C", 15);
    put(body, code, strlen(code) + 1);
    put(body, "Mno\0\0", 5);
    put_message(out, 'E', body->data, body->len);
}

static void put_row(GByteArray *out, gsize length)
{
    g_autofree char *value = g_strnfill(length, 'x');
    g_autoptr(GByteArray) body = g_byte_array_new();
    put(body, "\0\1", 2);
    put32(body, (guint32)length);
    put(body, value, length);
    put_message(out, 'D', body->data, body->len);
}

static void put_description(GByteArray *out)
{
    put_message(out, 'T', "\0\1id\0\0\0\0\0\0\0\0\0\0\0\0\4\0\0\0\0\0\0", 23);
}

// What a SELECT of one row is answered with: 24 + 6 + ... bytes.
static void put_rows(GByteArray *out)
{
    put_description(out);
    put_row(out, 3);
    put_text(out, 'C', "SELECT 1");
    put_ready(out, 'I');
}

static void put_startup(GByteArray *out)
{
    put_message(out, 0, "\0\3\0\0user\0bob\0database\0shop\0", 28);
}

static void put_login(GByteArray *out)
{
    put_message(out, 'R', "\0\0\0\0", 4);
    put_message(out, 'S', "server_version\00016\0", 18);
    put_message(out, 'K', "\0\0\0\1\0\0\0\2", 8);
    put_ready(out, 'I');
}

// Sends what was put, and forgets it.
static void say(Converse *c, BbDirection direction, GByteArray *bytes)
{
    converse_say(c, direction, bytes->data, bytes->len);
    g_byte_array_set_size(bytes, 0);
}

static void lose(Converse *c, BbDirection direction, GByteArray *bytes)
{
    converse_lose(c, direction, bytes->len);
    g_byte_array_set_size(bytes, 0);
}

static void query(Converse *c, const char *text)
{
    g_autoptr(GByteArray) b = g_byte_array_new();
    put_text(b, 'Q', text);
    say(c, up, b);
}

static void answer(Converse *c, const char *tag)
{
    g_autoptr(GByteArray) b = g_byte_array_new();
    put_text(b, 'C', tag);
    put_ready(b, 'I');
    say(c, down, b);
}

typedef void (*Script)(Converse *c, GByteArray *b);

static void expect_with(Script script, bool midstream, const char *expected)
{
    static const gsize sizes[] = {1460, 1, 7};
    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autoptr(Converse) c = midstream ? converse_tcp_midstream(5432) : converse_tcp(5432);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        converse_segment_size(c, sizes[i]);
        script(c, bytes);
        ck_assert_str_eq(converse_result(c), expected);
        ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 0);
    }
}

static void expect(Script script, const char *expected)
{
    expect_with(script, false, expected);
}

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

static void log_in(Converse *c)
{
    g_autoptr(GByteArray) b = g_byte_array_new();
    put_startup(b);
    say(c, up, b);
    put_login(b);
    say(c, down, b);
}

#define LOGIN                        \
    "CALL 1 postgresql startup 32\n" \
    "RET 1 postgresql ok 51\n"

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

static void put_extended_answer(GByteArray *b, bool parsed)
{
    if (parsed)
        put_message(b, '1', "", 0);
    put_message(b, '2', "", 0);
    put_row(b, 1);
    put_text(b, 'C', "SELECT 1");
    put_ready(b, 'I');
}

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

// ---- COPY -------------------------------------------------------------------------------------

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

// ---- joined in the middle, loss ---------------------------------------------------------------

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
          unnamed_statement, a_batch_is_one_call, begin_is_replaced, flush_does_not_end_a_call,
          syncs_pair_in_order, request_without_sync_is_kept, statements_have_a_limit,
          copy_is_one_call, copy_data_are_of_the_call, data_of_a_copy_is_lost,
          copy_by_extended_query, a_failed_copy_ignores_no_sync, replication_is_free_messages,
          replication_can_break, gap_in_a_replication, replication_joined,
          replication_joined_by_a_gap, a_copy_is_no_replication, shutdown_answers_the_open_call,
          shutdown_is_free_when_idle, joined_in_the_middle, joined_before_an_answer, lost_request,
          lost_ends_do_not_shift, lost_reply, lost_replies_do_not_shift, gap_in_a_reply,
          gap_in_a_long_row, gap_in_a_query, gap_in_a_batch, no_postgres_after_all,
          damage_in_the_middle, startup_packets_are_checked, probe_requests, probe_replies,
          probe_others, probe_random_bytes)
