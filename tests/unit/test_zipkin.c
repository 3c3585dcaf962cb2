// SPDX-License-Identifier: Apache-2.0
// JSON of Zipkin as messages: shared spans, endpoints, tags, missing durations; what is odd.
#include "tests/unit/span_import.h"

#define LOCAL(name) "\"localEndpoint\":{\"serviceName\":\"" name "\"}"
#define REMOTE(name) "\"remoteEndpoint\":{\"serviceName\":\"" name "\",\"ipv4\":\"192.0.2.9\"}"
#define WEB                                                                                    \
    "{\"traceId\":\"7\",\"id\":\"1\",\"kind\":\"CLIENT\",\"name\":\"get\",\"timestamp\":1000," \
    "\"duration\":90," LOCAL("web") "," REMOTE("elsewhere") ",\"tags\":{\"http.method\":\"GET\"}}"
#define APP                                                                                   \
    "{\"traceId\":\"7\",\"id\":\"1\",\"shared\":true,\"kind\":\"SERVER\",\"name\":\"get /\"," \
    "\"timestamp\":1010,\"duration\":70," LOCAL("app") ",\"annotations\":[]}"
#define ID1 "0000000000000001 0000000000000007"
#define ID2 "0000000000000002 0000000000000007"

static const char wanted[] = "CALL 1000>1010 web app " ID1 " - get / ? http\n"
                             "RET 1080>1090 app web " ID1 " - get / ? http\n";

START_TEST(wrappings)
{
    assert_spans("zipkin", "[" WEB "," APP "]", wanted);
    assert_spans("zipkin", "[[" WEB "],[" APP "]]", wanted);
    assert_spans("zipkin", APP "\n" WEB "\n", wanted);
    assert_spans("zipkin", "[" WEB "]\n[" APP "]\n", wanted);
    assert_spans("zipkin", "[]", "");
    assert_spans("zipkin", "[[]]", "");
}
END_TEST

// A span of trace 7.
#define SPAN(id, rest) "{\"traceId\":\"7\",\"id\":\"" id "\"," rest "}"
#define OF_S "\"localEndpoint\":{\"serviceName\":\"s\"}"
#define CLIENT_OF_S "\"kind\":\"CLIENT\"," OF_S
#define TO_DB "\"remoteEndpoint\":{\"serviceName\":\"db\",\"ipv4\":\"192.0.2.9\"}"
#define FROM_IP "\"remoteEndpoint\":{\"ipv4\":\"192.0.2.9\",\"port\":80}"
#define TIMES "\"timestamp\":5,\"duration\":2"

START_TEST(remote_endpoints)
{
    assert_spans("zipkin",
                 SPAN("1", CLIENT_OF_S "," TIMES "," TO_DB ",\"tags\":{\"peer.service\":\"x\"}"),
                 "CALL 5 s db " ID1 " - ? ? ?\nRET 7R db s " ID1 " - ? ? ?\n");
    assert_spans("zipkin", SPAN("1", "\"kind\":\"SERVER\"," OF_S "," TIMES "," FROM_IP),
                 "CALL 5R 192.0.2.9 s " ID1 " - ? ? ?\nRET 7 s 192.0.2.9 " ID1 " - ? ? ?\n");
    assert_spans(
        "zipkin",
        SPAN("1", "\"kind\":\"PRODUCER\",\"localEndpoint\":{\"ipv6\":\"::2\"}," TIMES "," TO_DB),
        "MSG 5 ::2 db " ID1 " - ? ? ?\n");
}
END_TEST

static void assert_array(SpanImport *taken, const char *const *spans, const char *text)
{
    g_autofree char *joined = g_strjoinv(",", (char **)spans);
    g_autofree char *json = g_strdup_printf("[%s]", joined);
    ck_assert_ptr_null(span_import_run(taken, "zipkin", json));
    ck_assert_str_eq(taken->text->str, text);
}

START_TEST(children_of_a_shared_span)
{
    static const char *const spans[] = {
        WEB, APP,
        SPAN("2",
             "\"parentId\":\"1\",\"kind\":\"CLIENT\",\"timestamp\":1020,\"duration\":9,"
             "\"localEndpoint\":{\"serviceName\":\"app\"}," TO_DB ",\"tags\":{\"error\":\"\"}"),
        NULL};
    g_autoptr(SpanImport) taken = span_import_new();
    assert_array(taken, spans,
                 "CALL 1000>1010 web app " ID1 " - get / ? http\n"
                 "RET 1080>1090 app web " ID1 " - get / ? http\n"
                 "CALL 1020 app db " ID2 " 0000000000000001 ? ? ?\n"
                 "RET 1029R db app " ID2 " 0000000000000001 ? error ?\n");
}
END_TEST

START_TEST(odd_spans)
{
    static const char *const spans[] = {
        SPAN("1", CLIENT_OF_S ",\"timestamp\":5," TO_DB),
        SPAN("2", CLIENT_OF_S ",\"duration\":5," TO_DB),
        SPAN("3", CLIENT_OF_S ",\"timestamp\":5,\"duration\":-1"),
        SPAN("4", "\"kind\":\"CLIENT\",\"timestamp\":5,\"localEndpoint\":{}"),
        SPAN("0", CLIENT_OF_S ",\"timestamp\":5"),
        SPAN("5", "\"kind\":7,\"timestamp\":5," OF_S ",\"tags\":{\"a\":[],\"b\":null}"),
        SPAN("6", "\"kind\":\"SERVER\",\"timestamp\":99999999999999999," OF_S),
        NULL};
    g_autoptr(SpanImport) taken = span_import_new();
    assert_array(taken, spans, "CALL 5 s db " ID1 " - ? ? ?\n");
    ck_assert_uint_eq(span_import_counter(taken, "spans"), 7);
    ck_assert_uint_eq(span_import_counter(taken, "spans_without_end"), 1);
    ck_assert_uint_eq(span_import_counter(taken, "spans_no_time"), 2);
    ck_assert_uint_eq(span_import_counter(taken, "spans_backwards"), 1);
    ck_assert_uint_eq(span_import_counter(taken, "spans_no_service"), 1);
    ck_assert_uint_eq(span_import_counter(taken, "spans_no_id"), 1);
    ck_assert_uint_eq(span_import_counter(taken, "spans_internal"), 1);
    ck_assert_uint_eq(span_import_counter(taken, "spans_unusable"), 4);
}
END_TEST

START_TEST(other_forms_are_refused)
{
    static const char *const texts[] = {
        "{}",
        "[5]",
        "[[[{}]]]",
        "{\"traceID\":\"1\",\"spans\":[]}",
        "{\"resourceSpans\":[]}",
        "[{\"traceId\":\"1\",\"id\":\"2\",\"annotations\":[],\"binaryAnnotations\":[]}]"};
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(SpanImport) taken = span_import_new();
        const char *error = span_import_run(taken, "zipkin", texts[i]);
        ck_assert_ptr_nonnull(error);
        ck_assert(g_str_has_prefix(error, ":1: n"));
        ck_assert_str_eq(taken->text->str, "");
    }
}
END_TEST

TEST_MAIN("zipkin", wrappings, remote_endpoints, children_of_a_shared_span, odd_spans,
          other_forms_are_refused)
