// SPDX-License-Identifier: Apache-2.0
// Logs of Zeek as messages: both forms, states, HTTP in place of its connections, rows that are
// none.
#include "merge/lines.h"
#include "merge/zeek_connection.h"
#include "tests/unit/span_import.h"

#define HEAD(path, fields)                                                          \
    "#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n" \
    "#path\t" path "\n#open\t2026-11-20-20-00-00\n#fields\t" fields "\n#types\ttime\n"
#define CONN                                                                                       \
    HEAD("conn", "ts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto\tservice\tduration\t" \
                 "orig_bytes\tresp_bytes\tconn_state")
#define HTTP                                                                                \
    HEAD("http",                                                                            \
         "ts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\ttrans_depth\tmethod\thost\t" \
         "uri\tstatus_code")
// Two digits are milliseconds.
#define ROW(ms, uid, rest) "0.0" #ms "\t" uid "\t10.0.0.1\t1000\t10.0.0.2\t80\t" rest "\n"

// Messages as "kind ms sender receiver id op status proto bytes conn"; what is not known is "?".
static bool take(const BbMessage *message, gpointer user, GError **error)
{
    SpanImport *taken = user;
    static const char *const kinds[] = {"CALL", "RET", "MSG"};
    g_string_append_printf(taken->text, "%s %g", kinds[message->kind],
                           (double)message->time_ns / 1e6);
    ck_assert_int_eq(message->recv_ns, BB_TIME_NONE);
    ck_assert(!message->at_receiver);
    ck_assert(!bb_id_is_known(message->path) && !bb_id_is_known(message->parent));
    span_import_word(taken, message->sender);
    span_import_word(taken, message->receiver);
    span_import_id(taken, message->id);
    span_import_word(taken, message->op);
    span_import_word(taken, message->status);
    span_import_word(taken, message->proto);
    if (message->bytes == BB_BYTES_NONE)
        g_string_append(taken->text, " ?");
    else
        g_string_append_printf(taken->text, " %" G_GUINT64_FORMAT, message->bytes);
    g_string_append_printf(taken->text, " %s\n", message->conn);
    if (taken->left-- > 0)
        return true;
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOSPC, "full");
    return false;
}

static SpanImport *zeek_new(void)
{
    SpanImport *taken = span_import_new();
    taken->import.sink = take;
    return taken;
}

static void assert_counter(const SpanImport *taken, const char *name, guint64 wanted)
{
    ck_assert_msg(span_import_counter(taken, name) == wanted, "%s is %" G_GUINT64_FORMAT, name,
                  span_import_counter(taken, name));
}

static void assert_zeek(const char *text, const char *wanted)
{
    g_autoptr(SpanImport) taken = zeek_new();
    ck_assert_ptr_null(span_import_run(taken, "zeek", text));
    ck_assert_str_eq(taken->text->str, wanted);
    ck_assert_str_eq(taken->warnings->str, "");
}

#define ENDS "10.0.0.1 10.0.0.2"
#define BACK "10.0.0.2 10.0.0.1"

START_TEST(connections)
{
    assert_zeek(CONN ROW(10, "C1", "tcp\tssl\t0.005\t3\t4\tSF"),
                "CALL 10 " ENDS " C1 ssl ? tcp 3 C1\nRET 15 " BACK " C1 ssl ok tcp 4 C1\n");
    assert_zeek(CONN ROW(10, "C1", "udp\t-\t0\t-\t-\t-") "\n#close\t2026-11-20-20-00-00\r\n",
                "CALL 10 " ENDS " C1 udp/80 ? udp ? C1\nRET 10 " BACK " C1 udp/80 ? udp ? C1\n");
    assert_zeek(CONN ROW(10, "C1", "-\t(empty)\t0.000001\t0\t0\tSF"),
                "CALL 10 " ENDS " C1 ? ? ? 0 C1\nRET 10.001 " BACK " C1 ? ok ? 0 C1\n");
}
END_TEST

START_TEST(states)
{
    static const struct {
        const char *state;
        bool asked, answered;
        const char *status;
    } rows[] = {
        {"SF", true, true, "ok"},      {"S1", true, true, "ok"},      {"S2", true, true, "ok"},
        {"S3", true, true, "ok"},      {"OTH", true, true, "ok"},     {"RSTO", true, true, "error"},
        {"RSTR", true, true, "error"}, {"S0", true, false, NULL},     {"REJ", true, false, NULL},
        {"SH", true, false, NULL},     {"RSTOS0", true, false, NULL}, {"SHR", false, true, NULL},
        {"RSTRH", false, true, NULL},  {"NEW", true, true, "?"}};
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(SpanImport) taken = zeek_new();
        g_autofree char *text = g_strconcat(CONN ROW(10, "C1", "tcp\tx\t0.005\t3\t4\t"), NULL);
        text[strlen(text) - 1] = '\0';
        g_autofree char *log = g_strconcat(text, rows[i].state, "\n", NULL);
        ck_assert_ptr_null(span_import_run(taken, "zeek", log));
        ck_assert_int_eq(strstr(taken->text->str, "CALL") != NULL, rows[i].asked);
        ck_assert_int_eq(strstr(taken->text->str, "RET") != NULL,
                         rows[i].asked && rows[i].answered);
        g_autofree char *status = g_strconcat(" C1 x ", rows[i].status, " tcp 4", NULL);
        ck_assert(!rows[i].status || strstr(taken->text->str, status));
        assert_counter(taken, "zeek_conns", 1);
        assert_counter(taken, "zeek_only_answers", !rows[i].asked);
        assert_counter(taken, "zeek_no_answer", !rows[i].answered);
    }
    g_autoptr(SpanImport) taken = zeek_new();
    ck_assert_ptr_null(span_import_run(taken, "zeek", CONN ROW(10, "C1", "tcp\tx\t-\t3\t4\tSF")));
    assert_counter(taken, "zeek_no_duration", 1);
}
END_TEST

#define REQUESTS                                 \
    HTTP ROW(20, "C7", "2\tPOST\tshop\t/b\t500") \
        ROW(12, "C7", "1\tGET\tshop\t/a\\x41?q=\\x09#f\t200")
#define REQUESTS_OUT                                                                          \
    "CALL 12 " ENDS " C7.1 GET /aA ? http ? C7\nRET 20 " BACK " C7.1 GET /aA 200 http ? C7\n" \
    "CALL 20 " ENDS " C7.2 POST /b ? http ? C7\n"
#define HTTP_CONN CONN ROW(10, "C7", "tcp\thttp\t0.050\t300\t400\tSF")

START_TEST(requests_stand_for_their_connection)
{
    g_autoptr(SpanImport) alone = zeek_new();
    ck_assert_ptr_null(span_import_run(alone, "zeek", REQUESTS));
    ck_assert_str_eq(alone->text->str, REQUESTS_OUT);
    assert_counter(alone, "zeek_requests", 2);
    assert_counter(alone, "zeek_bounded", 1);
    assert_counter(alone, "zeek_no_end", 1);
    static const char *const orders[][3] = {{REQUESTS, HTTP_CONN, NULL},
                                            {HTTP_CONN, REQUESTS, NULL}};
    for (gsize i = 0; i < G_N_ELEMENTS(orders); i++) {
        g_autoptr(SpanImport) both = zeek_new();
        ck_assert_ptr_null(span_import_all(both, "zeek", orders[i]));
        ck_assert_str_eq(both->text->str,
                         REQUESTS_OUT "RET 60 " BACK " C7.2 POST /b 500 http ? C7\n");
        assert_counter(both, "zeek_conn_http", 1);
        assert_counter(both, "zeek_bounded", 2);
        assert_counter(both, "zeek_no_end", 0);
    }
}
END_TEST

START_TEST(requests_that_are_none)
{
    g_autoptr(SpanImport) taken = zeek_new();
    static const char *const texts[] = {
        HTTP ROW(10, "C1", "0\t-\t-\t-\t200") ROW(11, "C2", "1\tGET\t-\t-\t-"),
        CONN ROW(10, "C3", "tcp\thttp\t0.001\t1\t2\tSF") ROW(15, "C2", "tcp\t-\t0.001\t1\t2\tSF")
            ROW(16, "C3", "tcp\thttp\t0.001\t1\t2\tSF"),
        NULL};
    ck_assert_ptr_null(span_import_all(taken, "zeek", texts));
    ck_assert_str_eq(taken->text->str, "CALL 16 " ENDS " C3 http ? tcp 1 C3\n"
                                       "RET 17 " BACK " C3 http ok tcp 2 C3\n"
                                       "CALL 11 " ENDS " C2.1 GET  ? http ? C2\n"
                                       "CALL 10 " ENDS " C3 http ? tcp 1 C3\n"
                                       "RET 11 " BACK " C3 http ok tcp 2 C3\n");
    assert_counter(taken, "zeek_no_request", 1);
    assert_counter(taken, "zeek_no_answer", 1);
    assert_counter(taken, "zeek_conn_http", 1); // although conn.log does not say that it has HTTP
}
END_TEST

static gsize label(char *out, const guint8 *method, gsize method_length, const guint8 *path,
                   gsize path_length)
{
    return (gsize)g_snprintf(out, BB_IMPORT_LABEL_MAX + 1, "<%.*s,%.*s>", (int)method_length,
                             (const char *)method, (int)path_length, (const char *)path);
}

START_TEST(labels)
{
    g_autoptr(SpanImport) taken = zeek_new();
    taken->import.label_http = label;
    ck_assert_ptr_null(span_import_run(taken, "zeek", HTTP ROW(10, "C1", "1\tGET\th\t/a?b\t-")));
    ck_assert_str_eq(taken->text->str, "CALL 10 " ENDS " C1.1 <GET,/a?b> ? http ? C1\n");
}
END_TEST

#define OBJECT(rest)                                                                      \
    "{\"ts\":0.010,\"uid\":\"C1\",\"id.orig_h\":\"10.0.0.1\",\"id.resp_h\":\"10.0.0.2\"," \
    "\"id.resp_p\":80," rest "}\n"

START_TEST(json)
{
    assert_zeek(OBJECT("\"proto\":\"tcp\",\"duration\":5e-3,\"orig_bytes\":3,\"conn_state\":\"SF\","
                       "\"local_orig\":true,\"tunnel_parents\":[]"),
                "CALL 10 " ENDS " C1 tcp/80 ? tcp 3 C1\nRET 15 " BACK " C1 tcp/80 ok tcp ? C1\n");
    assert_zeek(OBJECT("\"trans_depth\":1,\"method\":\"GET\",\"uri\":\"/\",\"status_code\":200"),
                "CALL 10 " ENDS " C1.1 GET / ? http ? C1\n");
    assert_zeek(OBJECT("\"_path\":\"http\",\"proto\":\"x\",\"method\":\"GET\""),
                "CALL 10 " ENDS " C1.1 GET  ? http ? C1\n");
    assert_zeek("{\"ts\":\"1970-01-01T00:00:00.010Z\",\"uid\":\"C1\",\"id.orig_h\":\"a\","
                "\"id.resp_h\":\"b\",\"proto\":\"udp\",\"conn_state\":\"S0\"}",
                "CALL 10 a b C1 udp ? udp ? C1\n");
}
END_TEST

START_TEST(separators)
{
    assert_zeek("#separator ;\n#unset_field;NIL\n#fields;ts;uid;id.orig_h;id.resp_h;proto\n"
                "0.001;C1;a;b;NIL\n#separator \\x7c\n#fields|uid|ts|id.resp_h|id.orig_h|proto\n"
                "C2|0.002|a|b|udp\n",
                "CALL 1 a b C1 ? ? ? ? C1\nCALL 2 b a C2 udp ? udp ? C2\n");
}
END_TEST

START_TEST(logs_that_are_none)
{
    static const char *const texts[][2] = {
        {"1\tC1\ta\tb\n", ":1: not a log of Zeek"},
        {"#fields\tts\tuid\tid.orig_h\n", ":1: #fields lacks a column that is needed: id.resp_h"},
        {HEAD("dns", "ts\tuid\tid.orig_h\tid.resp_h\tproto"),
         ":7: only conn.log and http.log of Zeek are read: dns"},
        {"#fields\tts\tuid\tid.orig_h\tid.resp_h\n", ":1: only conn.log and http.log"},
        {"#separator \n", ":1: #separator is empty"},
        {"{\"ts\":1,\"uid\":\"C1\",\"id.orig_h\":\"a\",\"id.resp_h\":\"b\",\"query\":\"x\"}",
         ":1: the object is of neither conn.log nor http.log: "},
        {"{\"ts\":1,", ":1: a text in quotes is missing: "},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(SpanImport) taken = zeek_new();
        const char *error = span_import_run(taken, "zeek", texts[i][0]);
        ck_assert_ptr_nonnull(error);
        ck_assert_msg(g_str_has_prefix(error, texts[i][1]), "%s", error);
    }
}
END_TEST

START_TEST(rows_that_are_none)
{
    static const char *const rows[][2] = {
        {ROW(1, "C1", "tcp\tx\t0\t0\t0"), "the row has fewer columns than #fields"},
        {ROW(1, "C1", "tcp\tx\t0\t0\t0\tSF\t-"), "the row has more columns than #fields"},
        {ROW(1, "", "tcp\tx\t0\t0\t0\tSF"), "a row has no ts, uid, id.orig_h or id.resp_h"},
        {ROW(1, "-", "tcp\tx\t0\t0\t0\tSF"), "a row has no ts, uid, id.orig_h or id.resp_h"},
        {ROW(x, "C1", "tcp\tx\t0\t0\t0\tSF"), "a time is not of ISO 8601"},
        {ROW(1, "C1", "tcp\tx\tx\t0\t0\tSF"), "a duration is no number of seconds"},
        {ROW(1, "C1", "tcp\tx\t-1\t0\t0\tSF"), "a duration is no number of seconds"},
        {ROW(1, "C1", "tcp\tx\tnan\t0\t0\tSF"), "a duration is no number of seconds"},
        {ROW(1, "C1", "tcp\tx\t1e10\t0\t0\tSF"), "a duration is no number of seconds"},
        {ROW(1, "C1", "tcp\tx\t0\t-1\t0\tSF"), "a count is no whole number"},
        {ROW(1, "C1", "tcp\tx\t0\t0\t1.5\tSF"), "a count is no whole number"},
        {"9223372036\tC1\ta\t1\tb\t2\ttcp\tx\t1\t0\t0\tSF\n", "a connection ends after the year"},
        {ROW(1, "C0123456789012345678901234567890123456789012345678901234567890123456789",
             "tcp\tx\t0\t0\t0\tSF"),
         "a uid is longer than 64 bytes"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(SpanImport) taken = zeek_new();
        g_autofree char *log = g_strconcat(CONN, rows[i][0], NULL);
        const char *error = span_import_run(taken, "zeek", log);
        ck_assert_ptr_nonnull(error);
        ck_assert_msg(g_str_has_prefix(error, ":9: ") && g_str_has_prefix(error + 4, rows[i][1]),
                      "%s", error);
    }
    g_autoptr(SpanImport) taken = zeek_new();
    taken->import.skip_bad = true;
    ck_assert_ptr_null(span_import_run(taken, "zeek",
                                       HTTP "x\n" ROW(1, "C1", "one\tGET\t-\t-\t-")
                                           ROW(20, "C2", "-\tGET\t-\t/\t-")));
    ck_assert_str_eq(taken->text->str, "CALL 20 " ENDS " C2.1 GET / ? http ? C2\n");
    ck_assert(strstr(taken->warnings->str, "2 malformed lines were skipped"));
}
END_TEST

// ---- limits -----------------------------------------------------------------------------------

static BbZeekConnection connection_of(const SpanImport *taken, const char *uid)
{
    return (BbZeekConnection){.uid = bb_id_parse(taken->names, uid),
                              .caller = bb_names_intern(taken->names, "a"),
                              .callee = bb_names_intern(taken->names, "b"),
                              .time_ns = 1000000,
                              .end_ns = 2000000,
                              .bytes = BB_BYTES_NONE,
                              .answer_bytes = BB_BYTES_NONE,
                              .answered = true};
}

// Rows wait, not connections; those beyond are refused, and what waits is as it was.
START_TEST(rows_that_wait)
{
    g_autoptr(SpanImport) taken = zeek_new();
    g_autoptr(BbZeekWaiting) waiting = bb_zeek_waiting_new(3);
    BbZeekConnection first = connection_of(taken, "C1"), second = connection_of(taken, "C2");
    BbZeekConnection *kept = bb_zeek_waiting_add(waiting, &first);
    ck_assert_ptr_nonnull(kept);
    ck_assert_ptr_eq(bb_zeek_waiting_add(waiting, &first), kept);
    ck_assert_ptr_null(bb_zeek_waiting_find(waiting, second.uid));
    ck_assert_ptr_nonnull(bb_zeek_waiting_add(waiting, &second));
    ck_assert_ptr_null(bb_zeek_waiting_add(waiting, &first));
    BbZeekConnection third = connection_of(taken, "C3");
    ck_assert_ptr_null(bb_zeek_waiting_add(waiting, &third));
    ck_assert_ptr_null(bb_zeek_waiting_find(waiting, third.uid));
    ck_assert(bb_zeek_waiting_give(waiting, &taken->import, NULL));
    ck_assert_str_eq(taken->text->str, "CALL 1 a b C1 ? ? ? ? C1\nRET 2 b a C1 ? ? ? ? C1\n"
                                       "CALL 1 a b C2 ? ? ? ? C2\nRET 2 b a C2 ? ? ? ? C2\n");
}
END_TEST

// A uid of 64 bytes is taken, names are cut at 255, a line may have a MiB.
START_TEST(sizes)
{
    g_autofree char *uid = g_strnfill(64, 'C'), *name = g_strnfill(256, 'n');
    g_autofree char *row =
        g_strdup_printf("0.001\t%s\t%s\t1\t%s\t2\ttcp\tx\t-\t-\t-\tS0\n", uid, name + 1, name);
    g_autofree char *log = g_strconcat(CONN, row, NULL);
    g_autofree char *wanted =
        g_strdup_printf("CALL 1 %s %s %s x ? tcp ? %s\n", name + 1, name + 1, uid, uid);
    g_autoptr(SpanImport) taken = zeek_new();
    ck_assert_ptr_null(span_import_run(taken, "zeek", log));
    ck_assert_str_eq(taken->text->str, wanted);
    assert_counter(taken, "zeek_names_cut", 1);
}
END_TEST

START_TEST(long_lines)
{
    const gsize rest = strlen("0.010\tC1\t10.0.0.1\t1000\t10.0.0.2\t80\t-\tGET\t-\t\t-");
    for (gsize over = 0; over < 2; over++) {
        g_autofree char *uri = g_strnfill(BB_LINE_MAX - rest + over, 'u');
        g_autofree char *log =
            g_strdup_printf(HTTP "0.010\tC1\t10.0.0.1\t1000\t10.0.0.2\t80\t-\tGET\t-\t%s\t-\n" ROW(
                                20, "C2", "-\tGET\t-\t/\t-"),
                            uri);
        g_autoptr(SpanImport) taken = zeek_new();
        taken->import.skip_bad = true;
        ck_assert_ptr_null(span_import_run(taken, "zeek", log));
        ck_assert_uint_eq(strstr(taken->text->str, " C1.1 GET uuuu") == NULL, over);
        ck_assert_ptr_nonnull(strstr(taken->text->str, " C2.1 GET / "));
        ck_assert_uint_eq(strstr(taken->warnings->str, "1 malformed line was skipped") != NULL,
                          over);
        assert_counter(taken, "zeek_names_cut", 1 - over);
    }
}
END_TEST

START_TEST(sinks_may_fail)
{
    static const char *const texts[] = {CONN ROW(10, "C1", "tcp\tssl\t0.005\t3\t4\tSF"), REQUESTS};
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        for (guint left = 0; left < 2; left++) {
            g_autoptr(SpanImport) taken = zeek_new();
            taken->left = left;
            ck_assert_str_eq(span_import_run(taken, "zeek", texts[i]), "full");
        }
}
END_TEST

TEST_MAIN("zeek", connections, states, requests_stand_for_their_connection, requests_that_are_none,
          labels, json, separators, logs_that_are_none, rows_that_are_none, rows_that_wait, sizes,
          long_lines, sinks_may_fail)
