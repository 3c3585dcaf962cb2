// SPDX-License-Identifier: Apache-2.0
// JSON of OTLP as messages: its names, numbers, ids and kinds in all their forms; what is odd.
#include "tests/unit/span_import.h"

#define TRACE "5b8aa5a2d2c872e8321cf37308d69df2"
#define RESOURCE(name)                                                   \
    "\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":" \
    "{\"stringValue\":\"" name "\"}}]}"
#define WEB                                                                             \
    "{\"traceId\":\"" TRACE "\",\"spanId\":\"00000000000000a1\",\"parentSpanId\":\"\"," \
    "\"name\":\"get\",\"kind\":3,\"startTimeUnixNano\":\"1000000\","                    \
    "\"endTimeUnixNano\":\"1090000\",\"attributes\":[],\"status\":{}}"
#define APP                                                                        \
    "{\"traceId\":\"" TRACE "\",\"spanId\":\"00000000000000A2\",\"parentSpanId\":" \
    "\"00000000000000a1\",\"name\":\"GET /\",\"kind\":\"SPAN_KIND_SERVER\","       \
    "\"startTimeUnixNano\":1010000,\"endTimeUnixNano\":1080000,\"attributes\":["   \
    "{\"key\":\"http.request.method\",\"value\":{\"stringValue\":\"GET\"}},"       \
    "{\"key\":\"http.response.status_code\",\"value\":{\"intValue\":\"503\"}}],"   \
    "\"status\":{\"code\":2,\"message\":\"x\"}}"
#define SPANS(name, span) \
    "{" RESOURCE(name) ",\"scopeSpans\":[{\"scope\":{},\"spans\":[" span "]}]}"
#define IDS "00000000000000a1 " TRACE

static const char wanted[] = "CALL 1000>1010 web app " IDS " - GET / ? http\n"
                             "RET 1080>1090 app web " IDS " - GET / 503 http\n";

START_TEST(wrappings)
{
    assert_spans("otlp", "{\"resourceSpans\":[" SPANS("web", WEB) "," SPANS("app", APP) "]}",
                 wanted);
    assert_spans(
        "otlp",
        "{\"resourceSpans\":[" SPANS("app", APP) "]}\n"
                                                 "{\"resourceSpans\":[" SPANS("web", WEB) "]}\n",
        wanted);
    assert_spans(
        "otlp",
        "[{\"resourceSpans\":[" SPANS("web", WEB) "]},"
                                                  "{\"resourceSpans\":[" SPANS("app", APP) "]}]",
        wanted);
    assert_spans("otlp", "{\"resourceSpans\":[]}\n", "");
}
END_TEST

// Tempo's download and API, Jaeger's API of version 3.
START_TEST(wrappings_of_apis)
{
#define BOTH SPANS("web", WEB) "," SPANS("app", APP)
    assert_spans("otlp", "{\"batches\":[" BOTH "]}", wanted);
    assert_spans("otlp", "[{\"batches\":[" BOTH "]}]", wanted);
    assert_spans("otlp", "{\"trace\":{\"resourceSpans\":[" BOTH "]},\"metrics\":{}}", wanted);
    assert_spans("otlp", "{\"trace\":{\"batches\":[" BOTH "]}}", wanted);
    assert_spans("otlp",
                 "{\"result\":{\"resourceSpans\":[" SPANS(
                     "web", WEB) "]}}\n"
                                 "{\"result\":{\"resource_spans\":[" SPANS("app", APP) "]}}\n",
                 wanted);
#undef BOTH
}
END_TEST

START_TEST(older_names)
{
    assert_spans("otlp",
                 "{\"resourceSpans\":[{" RESOURCE(
                     "web") ",\"instrumentationLibrarySpans\":["
                            "{\"instrumentationLibrary\":{\"name\":\"x\"},\"spans\":[" WEB
                            "]}]}," SPANS("app", APP) "]}",
                 wanted);
}
END_TEST

START_TEST(snake_case)
{
    assert_spans("otlp",
                 "{\"resource_spans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\","
                 "\"value\":{\"string_value\":\"web\"}}]},\"scope_spans\":[{\"spans\":["
                 "{\"trace_id\":\"" TRACE "\",\"span_id\":\"00000000000000a1\",\"name\":\"get\","
                 "\"kind\":\"SPAN_KIND_CLIENT\",\"start_time_unix_nano\":1000000,"
                 "\"end_time_unix_nano\":\"1090000\",\"attributes\":[{\"key\":\"peer.service\","
                 "\"value\":{\"string_value\":\"db\"}},{\"key\":\"db.system\",\"value\":"
                 "{\"string_value\":\"mysql\"}}],\"status\":{\"code\":\"STATUS_CODE_OK\"}}]}]},"
                 "{\"resource\":{},\"instrumentation_library_spans\":[]}]}",
                 "CALL 1000 web db " IDS " - get ? mysql\n"
                 "RET 1090R db web " IDS " - get ok mysql\n");
}
END_TEST

// Bytes as protocol buffers write them.
START_TEST(base64)
{
    assert_spans("otlp",
                 "{\"resourceSpans\":[" SPANS(
                     "web", "{\"traceId\":\"W4qlotLIcugyHPNzCNad8g==\",\"spanId\":\"AAAAAAAAAKE=\","
                            "\"kind\":3,\"startTimeUnixNano\":\"1000000\","
                            "\"endTimeUnixNano\":\"1090000\"}") "," SPANS("app", APP) "]}",
                 wanted);
}
END_TEST

#define FREE(kind, id, more)                                                        \
    "{\"traceId\":\"" TRACE "\",\"spanId\":\"00000000000000" id "\",\"kind\":" kind \
    ",\"startTimeUnixNano\":\"5000\",\"endTimeUnixNano\":\"6000\"" more "}"
#define LINK(trace, id) \
    ",\"links\":[{\"traceId\":\"" trace "\",\"spanId\":\"00000000000000" id "\"}]"

START_TEST(links)
{
    assert_spans("otlp",
                 "{\"resourceSpans\":[" SPANS("a", FREE("4", "b1", "")) "," SPANS(
                     "b", FREE("5", "b2", LINK(TRACE, "b1"))) "]}",
                 "MSG 5>5 a b 00000000000000b1 " TRACE " - ? ? ?\n");
    g_autoptr(SpanImport) taken = span_import_new();
    ck_assert_ptr_null(span_import_run(
        taken, "otlp", "{\"resourceSpans\":[" SPANS("b", FREE("5", "b2", LINK("12", "b1"))) "]}"));
    ck_assert_uint_eq(span_import_counter(taken, "spans_foreign_parent"), 1);
    ck_assert_str_eq(taken->text->str,
                     "MSG 5R unknown-producer-of-b b 00000000000000b2 " TRACE " - ? ? ?\n");
}
END_TEST

START_TEST(outcomes)
{
    static const struct {
        const char *status, *wanted;
    } cases[] = {
        {"{\"code\":2}", "error"},
        {"{\"code\":\"2\"}", "error"},
        {"{\"code\":\"STATUS_CODE_ERROR\"}", "error"},
        {"{\"code\":1}", "ok"},
        {"{\"code\":0}", "?"},
        {"{\"code\":\"STATUS_CODE_UNSET\"}", "?"},
        {"{}", "?"},
        {"5", "?"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *more = g_strdup_printf(",\"status\":%s", cases[i].status);
        g_autofree char *json = g_strdup_printf(
            "{\"resourceSpans\":[{" RESOURCE(
                "a") ",\"scopeSpans\":[{\"spans\":["
                     "{\"traceId\":\"" TRACE "\",\"spanId\":\"00000000000000a1\",\"kind\":3,"
                     "\"startTimeUnixNano\":\"5000\",\"endTimeUnixNano\":\"6000\"%s}]}]}]}",
            more);
        g_autofree char *text = g_strdup_printf("CALL 5 a unknown-callee-of-a " IDS " - ? ? ?\n"
                                                "RET 6R unknown-callee-of-a a " IDS " - ? %s ?\n",
                                                cases[i].wanted);
        assert_spans("otlp", json, text);
    }
}
END_TEST

// A server's span of trace 5b8a..., with these times.
#define SERVER(id, times) "{\"traceId\":\"" TRACE "\",\"spanId\":\"" id "\",\"kind\":2," times "}"

START_TEST(odd_spans)
{
    static const char *const spans[] = {
        FREE("77", "c2", ""),
        FREE("-1", "c3", ""),
        FREE("[]", "c4", ""),
        "{}",
        SERVER("c5", "\"startTimeUnixNano\":\"9223372036854775807\""),
        SERVER("c6", "\"startTimeUnixNano\":\"18446744073709551615\""),
        SERVER("c7", "\"startTimeUnixNano\":5,\"endTimeUnixNano\":\"4\""),
        NULL};
    g_autoptr(SpanImport) taken = span_import_new();
    g_autofree char *joined = g_strjoinv(",", (char **)spans);
    g_autofree char *json = g_strdup_printf(
        "{\"resourceSpans\":[{\"resource\":{\"attributes\":[5,{},{\"key\":\"service.name\"},"
        "{\"key\":\"service.name\",\"value\":{\"intValue\":5}}]},"
        "\"scopeSpans\":[7,{\"spans\":5},{\"spans\":[8,%s]}]},"
        "{" RESOURCE("s") ",\"scopeSpans\":[{\"spans\":[%s]}]}]}",
        FREE("3", "c1", ""), joined);
    ck_assert_ptr_null(span_import_run(taken, "otlp", json));
    ck_assert_str_eq(taken->text->str, "");
    ck_assert_uint_eq(span_import_counter(taken, "spans"), 8);
    ck_assert_uint_eq(span_import_counter(taken, "spans_no_service"), 1);
    ck_assert_uint_eq(span_import_counter(taken, "spans_internal"), 3);
    ck_assert_uint_eq(span_import_counter(taken, "spans_no_id"), 1);
    ck_assert_uint_eq(span_import_counter(taken, "spans_no_time"), 2);
    ck_assert_uint_eq(span_import_counter(taken, "spans_backwards"), 1);
    ck_assert_uint_eq(span_import_counter(taken, "spans_unusable"), 4);
}
END_TEST

START_TEST(other_forms_are_refused)
{
    static const char *const texts[] = {"{}",
                                        "[5]",
                                        "{\"resourceSpans\":5}",
                                        "{\"resourceSpans\":[{}]}",
                                        "[{\"resourceSpans\":[5]}]",
                                        "{\"resourceMetrics\":[{}]}",
                                        "{\"batches\":[{}]}",
                                        "{\"trace\":[]}",
                                        "{\"trace\":{\"resourceLogs\":[]}}",
                                        "{\"result\":{\"result\":{\"resourceSpans\":[]}}}",
                                        "[{\"traceId\":\"1\"}]"};
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(SpanImport) taken = span_import_new();
        const char *error = span_import_run(taken, "otlp", texts[i]);
        ck_assert_ptr_nonnull(error);
        ck_assert(g_str_has_prefix(error, ":1: n"));
    }
}
END_TEST

// One after the other, some of them bad.
START_TEST(lines)
{
    const char *json =
        "{\"resourceSpans\":[" SPANS("web", WEB) "]}\n"
                                                 "{\"resourceMetrics\":[]}\n"
                                                 "{\"resourceSpans\":'\n"
                                                 "{\"resourceSpans\":[" SPANS("app", APP) "]}\n";
    g_autoptr(SpanImport) strict = span_import_new(), taken = span_import_new();
    ck_assert(g_str_has_prefix(span_import_run(strict, "otlp", json), ":2: no export request"));
    taken->import.skip_bad = true;
    span_import_warnings = taken->warnings;
    ck_assert_ptr_null(span_import_run(taken, "otlp", json));
    ck_assert_str_eq(taken->text->str, wanted);
    ck_assert_uint_eq(span_import_counter(taken, "json_bad_values"), 2);
}
END_TEST

TEST_MAIN("otlp", wrappings, wrappings_of_apis, older_names, snake_case, base64, links, outcomes,
          odd_spans, other_forms_are_refused, lines)
