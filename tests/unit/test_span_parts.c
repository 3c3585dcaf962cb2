// SPDX-License-Identifier: Apache-2.0
// Parts of spans become one; what is no part stays.
#include "merge/span_parts.h"
#include "tests/unit/span_import.h"

static const BbId one = {.number = 1, .form = BB_ID_HEX16};

static BbSpan span(guint32 service, BbSpanKind kind, gint64 start_ns, gint64 end_ns)
{
    BbSpan made = bb_span_empty();
    made.id = one;
    made.service = service;
    made.kind = kind;
    made.start_ns = start_ns;
    made.end_ns = end_ns;
    return made;
}

// Returns how many of spans are left, after checking that what went is counted.
static guint32 join(BbSpan *spans, guint32 count)
{
    g_autoptr(BbCounters) counters = bb_counters_new();
    guint32 left = bb_span_parts_join(spans, count, counters);
    ck_assert_uint_eq(bb_counters_get(counters, "spans_parts"), count - left);
    return left;
}

START_TEST(what_is_missing_is_taken)
{
    BbSpan spans[] = {span(0, BB_SPAN_UNSET, BB_TIME_NONE, BB_TIME_NONE),
                      span(7, BB_SPAN_SERVER, 10, BB_TIME_NONE), span(7, BB_SPAN_UNSET, 11, 20)};
    spans[1].op = 3;
    spans[2].op = 4;
    spans[2].status = 5;
    spans[2].parent = (BbId){.number = 9, .form = BB_ID_HEX16};
    ck_assert_uint_eq(join(spans, 3), 1);
    ck_assert_uint_eq(spans[0].service, 7);
    ck_assert_int_eq(spans[0].kind, BB_SPAN_SERVER);
    ck_assert_int_eq(spans[0].start_ns, 10); // the first that told it
    ck_assert_int_eq(spans[0].end_ns, 20);
    ck_assert_uint_eq(spans[0].op, 3);
    ck_assert_uint_eq(spans[0].status, 5);
    ck_assert_uint_eq(spans[0].parent.number, 9);
}
END_TEST

START_TEST(other_spans_stay)
{
    BbSpan ends[] = {span(1, BB_SPAN_CLIENT, 10, BB_TIME_NONE), span(2, BB_SPAN_SERVER, 11, 12),
                     span(3, BB_SPAN_SERVER, 11, 12), span(1, BB_SPAN_CLIENT, 10, BB_TIME_NONE)};
    ck_assert_uint_eq(join(ends, 4), 4); // the last has nothing new
    BbSpan other[] = {span(1, BB_SPAN_CLIENT, 10, BB_TIME_NONE), span(1, BB_SPAN_CLIENT, 10, 12)};
    other[1].id.number = 2;
    ck_assert_uint_eq(join(other, 2), 2);
    BbSpan backwards[] = {span(1, BB_SPAN_CLIENT, 10, BB_TIME_NONE),
                          span(1, BB_SPAN_CLIENT, BB_TIME_NONE, 9)};
    ck_assert_uint_eq(join(backwards, 2), 2);
    ck_assert_int_eq(backwards[0].end_ns, BB_TIME_NONE);
}
END_TEST

START_TEST(parts_go_to_their_side)
{
    BbSpan spans[] = {span(1, BB_SPAN_CLIENT, 10, BB_TIME_NONE),
                      span(2, BB_SPAN_SERVER, 11, BB_TIME_NONE), span(1, BB_SPAN_UNSET, 10, 19),
                      span(2, BB_SPAN_UNSET, 11, 18)};
    ck_assert_uint_eq(join(spans, 4), 2);
    ck_assert_int_eq(spans[0].end_ns, 19);
    ck_assert_int_eq(spans[1].end_ns, 18);
}
END_TEST

// What does not fit is looked for among few; none of it is lost.
START_TEST(many_with_one_id)
{
    enum { COUNT = 3000 };
    g_autofree BbSpan *spans = g_new(BbSpan, COUNT);
    for (guint32 i = 0; i < COUNT; i++)
        spans[i] = span(i + 1, BB_SPAN_SERVER, 10, BB_TIME_NONE);
    ck_assert_uint_eq(join(spans, COUNT), COUNT);
}
END_TEST

#define PART(rest) "{\"traceId\":\"7\",\"id\":\"1\"," rest "}"
#define WEB "\"localEndpoint\":{\"serviceName\":\"web\"}"
#define APP "\"localEndpoint\":{\"serviceName\":\"app\"}"

START_TEST(zipkin)
{
    g_autoptr(SpanImport) taken = span_import_new();
    ck_assert_ptr_null(span_import_run(
        taken, "zipkin",
        "[" PART("\"kind\":\"CLIENT\",\"timestamp\":10," WEB) "," PART(
            "\"kind\":\"SERVER\","
            "\"shared\":true,"
            "\"timestamp\":11," APP) "," PART("\"timestamp\":11,\"duration\":5,\"tags\":{\"error\":"
                                              "\"x\"}," APP) "," PART("\"kind\":"
                                                                      "\"CLIENT\""
                                                                      ",\"timesta"
                                                                      "mp\":10,"
                                                                      "\"duration"
                                                                      "\":9,"
                                                                      "\"name\":"
                                                                      "\"get\""
                                                                      "," WEB) "]"));
    ck_assert_str_eq(taken->text->str,
                     "CALL 10>11 web app 0000000000000001 0000000000000007 - get ? ?\n"
                     "RET 16>19 app web 0000000000000001 0000000000000007 - get error ?\n");
    ck_assert_uint_eq(span_import_counter(taken, "spans"), 4);
    ck_assert_uint_eq(span_import_counter(taken, "spans_parts"), 2);
    ck_assert_uint_eq(span_import_counter(taken, "spans_joined"), 1);
    ck_assert_uint_eq(span_import_counter(taken, "spans_duplicate"), 0);
}
END_TEST

TEST_MAIN("span_parts", what_is_missing_is_taken, other_spans_stay, parts_go_to_their_side,
          many_with_one_id, zipkin)
