// SPDX-License-Identifier: Apache-2.0
// Imports of CSV and JSON Lines: own names and maps of columns, and everything that is refused.
#include "merge/columns.h"

#include "merge/lines.h"
#include "tests/unit/exchange.h"

#define HEAD "# bbtrace text 1\n"

static void assert_import(const char *form, const char *text, const char *columns,
                          const char *wanted)
{
    g_autofree char *found = import_as_text(form, text, columns, false);
    ck_assert_str_eq(found, wanted);
}

START_TEST(own_names)
{
    assert_import("csv", "time,from,to\n1.5,a,b\n2003-03-14T22:14:44Z,b,a\n", NULL,
                  HEAD "1.500000 MSG_SENT a b -\n1047680084.000000 MSG_SENT b a -\n");
    assert_import("csv", "\xef\xbb\xbftime_ms,to,from,recv_us,end_s\n1500,a,b,1600000,1.7\n", NULL,
                  HEAD "1.500000 MSG_SENT b a - recv=1.600000 end=1.700000\n");
    assert_import("csv", "other,from,to,time_ns,kind,from\nx,a,b,7,return,c\n", NULL,
                  HEAD "0.000000007 RET_SENT a b -\n");
    assert_import("jsonl", "{\"time\": \"1.5\", \"from\": \"a\", \"to\": \"b\", \"what\": [1]}\n",
                  NULL, HEAD "1.500000 MSG_SENT a b -\n");
    assert_import("jsonl",
                  "\n  \r\n{\"time_ms\": 1500.25, \"to\": 7, \"id\": 3, \"op\": null, "
                  "\"kind\": \"call\"}",
                  NULL, HEAD "1.500250 CALL_SENT - 7 3\n");
    assert_import("csv", "time,from,to\n", NULL, HEAD);
    assert_import("jsonl", "\n", NULL, HEAD);
}
END_TEST

START_TEST(maps)
{
    assert_import("csv", "ts,src,dst,time\n1500,a,b,x\n", "columns=time=ts:ms,from=src,to=dst",
                  HEAD "1.500000 MSG_SENT a b -\n");
    // a unit is one only behind the last colon, and of times only
    assert_import("csv", "a:b,x:ms,dst\n2,n,m\n", "columns=time=a:b,from=x:ms,to=dst",
                  HEAD "2.000000 MSG_SENT n m -\n");
    assert_import("csv", "t:us,from,to\n2,n,m\n", "columns=time=t:us:us",
                  HEAD "0.000002 MSG_SENT n m -\n");
    // a column may have the name of another field
    assert_import("csv", "when,to,from\n1,a,b\n", "columns=time=when,from=to,to=from",
                  HEAD "1.000000 MSG_SENT a b -\n");
    assert_import("jsonl", "{\"ts\": 3, \"a\": \"n\", \"b\": \"m\"}",
                  "columns=time=ts:us,from=a,to=b", HEAD "0.000003 MSG_SENT n m -\n");
    assert_import("jsonl", "{\"time\": 1, \"from\": \"n\", \"a\": \"m\"}", "columns=from=a",
                  HEAD "1.000000 MSG_SENT m - -\n"); // `from` itself is another column now
}
END_TEST

START_TEST(words_for_kinds)
{
    static const struct {
        const char *word, *operation;
    } cases[] = {
        {"call", "CALL_SENT"},      {"Request", "CALL_SENT"},   {"return", "RET_SENT"},
        {"RESPONSE", "RET_SENT"},   {"reply", "RET_SENT"},      {"message", "MSG_SENT"},
        {"CALL_SENT", "CALL_SENT"}, {"CALL_RECV", "CALL_RECV"}, {"RET_SENT", "RET_SENT"},
        {"RET_RECV", "RET_RECV"},   {"MSG_SENT", "MSG_SENT"},   {"msg_recv", "MSG_RECV"},
        {"", "MSG_SENT"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = g_strdup_printf("time,from,to,kind\n1,a,b,%s\n", cases[i].word);
        g_autofree char *wanted = g_strdup_printf(HEAD "1.000000 %s a b -\n", cases[i].operation);
        assert_import("csv", text, NULL, wanted);
    }
}
END_TEST

static void assert_refused(const char *form, const char *text, const char *columns,
                           const char *wanted)
{
    g_autofree char *found = import_as_text(form, text, columns, false);
    ck_assert_msg(strstr(found, wanted), "%s\n%s", text, found);
}

START_TEST(bad_csv)
{
    static const char *const headers[] = {"from,to", "time,to", "time,from", "\"time\"x,from,to"};
    static const struct {
        const char *row, *reason;
    } rows[] = {
        {"1,a", "in:2: the record has not as many fields"},
        {"1,a,b,call,,,,x", "in:2: the record has not as many fields"},
        {",a,b,,,,", "in:2: a message has no time"},
        {"x,a,b,,,,", "in:2: a time is not of ISO 8601"},
        {"1,a,b,answer,,,", "in:2: the kind is none of"},
        {"1,a,b,,x,,", "in:2: a number has other characters"},
        {"1,a,b,,18446744073709551615,,", "in:2: a number is too large"},
        {"1,a,b,,99999999999999999999,,", "in:2: a number is too large"},
        {"1,a,b,,,middle,", "in:2: a message is seen by its `sender`"},
        {"1,a,b,,,,-5", "in:2: a time is"},
        {"1,\"a", "in:2: a quote is not closed"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(headers); i++)
        assert_refused("csv", headers[i], NULL, "in:1: ");
    assert_refused("csv", "", NULL, "in: there is nothing in it");
    assert_refused("csv", "time,from\n", NULL, "no column is the field `to`");
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text =
            g_strdup_printf("time,from,to,kind,bytes,seen,recv\n%s\n", rows[i].row);
        assert_refused("csv", text, NULL, rows[i].reason);
    }
}
END_TEST

START_TEST(bad_json_lines)
{
    static const struct {
        const char *line, *reason;
    } cases[] = {
        {"[1]", "in:1: the line is no JSON object"},
        {"{\"from\": \"a\"}", "in:1: a message has no time"},
        {"{\"time\": true}", "in:1: the value of a field is neither text nor a number"},
        {"{\"time\": {\"s\": 1}}", "in:1: the value of a field is neither text nor a number"},
        {"{\"time\": 1e9}", "in:1: a time is not of ISO 8601"},
        {"{\"time_ns\": -1}", "in:1: a time is negative"},
        {"{\"time\": 1, \"off\": 1.5}", "in:1: a number has other characters"},
        {"{\"time\": 1, \"op_hex\": \"fg\"}", "in:1: a text of hexadecimal digits"},
        {"{\"time\": 1, \"op_hex\": \"f\"}", "in:1: a text of hexadecimal digits"},
        {"{\"time\": 1, \"op_hex\": \"00\"}", "in:1: a text of hexadecimal digits"},
        {"{\"counter\": \"A\", \"value\": 1}", "in:1: a counter is not"},
        {"{\"counter\": \"a\", \"value\": -1}", "in:1: a counter is not"},
        {"{\"counter\": \"a\", \"value\": \"1\"}", "in:1: a counter is not"},
        {"{\"counter\": \"a\"}", "in:1: a counter is not"},
        {"{\"counter\": 1, \"value\": 1}", "in:1: a counter is not"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        assert_refused("jsonl", cases[i].line, NULL, cases[i].reason);
}
END_TEST

START_TEST(bad_lines_are_skipped_where_wanted)
{
    g_autofree char *csv = import_as_text("csv", "time,from,to\nx,a,b\n1,a,b\n2,a\n", NULL, true);
    g_autofree char *json = import_as_text("jsonl", "{\"time\": 1}\n{}\nx\n", NULL, true);
    g_autofree char *none = import_as_text("jsonl", "time,from,to\n1,a,b\n", NULL, true);
    ck_assert_str_eq(csv, HEAD "1.000000 MSG_SENT a b -\n");
    ck_assert_str_eq(json, HEAD "1.000000 MSG_SENT - - -\n");
    ck_assert_msg(strstr(none, "none of its 2 lines is a message"), "%s", none);
    assert_refused("csv", "{\"time\": 1}\n", NULL, "a quote stands within a field");
}
END_TEST

START_TEST(long_lines_are_bad)
{
    g_autoptr(GString) text = g_string_new("{\"time\": 1, \"op\": \"");
    for (gsize i = 0; i < BB_LINE_MAX; i++)
        g_string_append_c(text, 'x');
    g_string_append(text, "\"}\n{\"time\": 2}\n");
    assert_refused("jsonl", text->str, NULL, "in:1: the line is longer than 1 MiB");
    g_autofree char *rest = import_as_text("jsonl", text->str, NULL, true);
    ck_assert_str_eq(rest, HEAD "2.000000 MSG_SENT - - -\n");
}
END_TEST

START_TEST(bad_maps)
{
    static const struct {
        const char *map, *problem;
    } cases[] = {
        {"", NULL},
        {"time=a", NULL},
        {"x", "'x' is not FIELD=COLUMN"},
        {"time=", "'time=' is not FIELD=COLUMN"},
        {"time=a,", "'' is not FIELD=COLUMN"},
        {"when=a", "'when' is no field: there are time, kind, seen, from"},
        {"extra=a", "'extra' is no field"},
        {"time=a,time=b", "'time' stands twice"},
        {"from=a,to=a", "'to=a' names no column, or one that stands for another field"},
        {"time=:ms", "'time=:ms' names no column"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *setting = g_strconcat("columns=", cases[i].map, NULL);
        const char *const settings[] = {setting, NULL};
        const BbImport import = {.settings = settings};
        g_autofree char *problem = bb_columns_check(&import);
        if (cases[i].problem)
            ck_assert_msg(problem && strstr(problem, cases[i].problem), "%s: %s", cases[i].map,
                          problem ? problem : "taken");
        else
            ck_assert_msg(!problem, "%s: %s", cases[i].map, problem);
    }
    ck_assert(bb_importer_has_setting(bb_importer_find("csv"), "columns"));
    ck_assert(!bb_importer_has_setting(bb_importer_find("csv"), "column"));
    ck_assert(!bb_importer_has_setting(bb_importer_find("text"), "columns"));
}
END_TEST

TEST_MAIN("columns", own_names, maps, words_for_kinds, bad_csv, bad_json_lines,
          bad_lines_are_skipped_where_wanted, long_lines_are_bad, bad_maps)
