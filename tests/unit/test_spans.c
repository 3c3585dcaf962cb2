// SPDX-License-Identifier: Apache-2.0
// Spans as messages: which belong together, who is at the other end, what caused what, what is left
// out and counted, what waits and for how long.
#include "merge/spans.h"
#include "tests/unit/span_import.h"

#define NONE BB_TIME_NONE

// A span in few words. Ids are numbers, 0 for none; times are microseconds, 0 for none.
typedef struct Row {
    BbSpanKind kind;
    guint id, parent;
    const char *service;
    gint64 start, end;
    const char *peer, *op, *status, *proto;
    guint trace; // 1 where it is 0
} Row;

#define UNSET BB_SPAN_UNSET
#define INSIDE BB_SPAN_INTERNAL
#define CLIENT BB_SPAN_CLIENT
#define SERVER BB_SPAN_SERVER
#define PRODUCER BB_SPAN_PRODUCER
#define CONSUMER BB_SPAN_CONSUMER

static BbId id_of(guint number)
{
    return number ? bb_id_number(number) : (BbId){.form = BB_ID_ABSENT};
}

static BbSpan span_of(const SpanImport *taken, const Row *row)
{
    return (BbSpan){
        .trace = id_of(row->trace ? row->trace : 1),
        .id = id_of(row->id),
        .parent = id_of(row->parent),
        .start_ns = row->start ? row->start * 1000 : NONE,
        .end_ns = row->end ? row->end * 1000 : NONE,
        .service = bb_span_name(taken->names, row->service),
        .peer = bb_span_name(taken->names, row->peer),
        .op = bb_span_name(taken->names, row->op),
        .status = bb_span_name(taken->names, row->status),
        .proto = bb_span_name(taken->names, row->proto),
        .kind = row->kind,
    };
}

static void add_rows(SpanImport *taken, const Row *rows, gsize count, guint most)
{
    g_autoptr(BbSpans) spans = bb_spans_new(&taken->import, most);
    for (gsize i = 0; i < count; i++) {
        BbSpan span = span_of(taken, &rows[i]);
        ck_assert(bb_spans_add(spans, &span, NULL));
    }
    ck_assert(bb_spans_finish(spans, NULL));
}

// counters: "name=value name=value", all there are but spans.
static void assert_counters(const SpanImport *taken, const char *counters)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < bb_counters_count(taken->counters); i++)
        if (strcmp(bb_counters_name(taken->counters, i), "spans") != 0)
            g_string_append_printf(text, "%s%s=%u", text->len ? " " : "",
                                   bb_counters_name(taken->counters, i) + strlen("spans_"),
                                   (guint)bb_counters_value(taken->counters, i));
    ck_assert_str_eq(text->str, counters);
}

static void assert_rows_count(const Row *rows, gsize count, const char *wanted,
                              const char *counters)
{
    g_autoptr(SpanImport) taken = span_import_new();
    add_rows(taken, rows, count, BB_SPANS_MAX);
    ck_assert_str_eq(taken->text->str, wanted);
    assert_counters(taken, counters);
    ck_assert_uint_eq(span_import_counter(taken, "spans"), count);
}

#define ASSERT_ROWS(wanted, counters, ...)                                       \
    do {                                                                         \
        const Row rows[] = {__VA_ARGS__};                                        \
        assert_rows_count(rows, sizeof rows / sizeof rows[0], wanted, counters); \
    } while (0)

// ---- calls ------------------------------------------------------------------------------------

START_TEST(client_and_server_are_one_call)
{
    ASSERT_ROWS("CALL 100>110 a b 1 1 - get ? http\nRET 180>190 b a 1 1 - get 200 http\n",
                "joined=1", {CLIENT, 1, 0, "a", 100, 190, .op = "GET", .proto = "http"},
                {SERVER, 2, 1, "b", 110, 180, .op = "get", .status = "200", .proto = "http"});
}
END_TEST

START_TEST(they_may_share_an_id_and_come_in_any_order)
{
    ASSERT_ROWS("CALL 100>110 a b 1 1 - ? ? ?\nRET 180>190 b a 1 1 - ? ? ?\n", "joined=1",
                {SERVER, 1, 0, "b", 110, 180}, {CLIENT, 1, 0, "a", 100, 190});
}
END_TEST

START_TEST(clocks_are_not_repaired)
{
    ASSERT_ROWS("CALL 100>20 a b 1 1 - ? ? ?\nRET 60>190 b a 1 1 - ? ? ?\n", "joined=1",
                {CLIENT, 1, 0, "a", 100, 190}, {SERVER, 2, 1, "b", 20, 60});
}
END_TEST

START_TEST(a_client_alone)
{
    ASSERT_ROWS("CALL 100 a redis 1 1 - ? ? ?\nRET 190R redis a 1 1 - ? ? ?\n", "",
                {CLIENT, 1, 0, "a", 100, 190, .peer = "redis"});
    ASSERT_ROWS("CALL 100 a unknown-callee-of-a 1 1 - ? ? ?\n"
                "RET 190R unknown-callee-of-a a 1 1 - ? ? ?\n",
                "peer_unknown=1", {CLIENT, 1, 0, "a", 100, 190});
}
END_TEST

START_TEST(a_server_alone)
{
    ASSERT_ROWS("CALL 110R web b 2 1 - ? ? ?\nRET 180 b web 2 1 - ? ? ?\n", "",
                {SERVER, 2, 0, "b", 110, 180, .peer = "web"});
    ASSERT_ROWS("CALL 110R unknown-caller-of-b b 2 1 - ? ? ?\n"
                "RET 180 b unknown-caller-of-b 2 1 - ? ? ?\n",
                "peer_unknown=1", {SERVER, 2, 0, "b", 110, 180});
}
END_TEST

// The service above is known even if it did not say that it made a call.
START_TEST(a_server_below_work_of_another_service)
{
    ASSERT_ROWS("CALL 110R a b 2 1 - ? ? ?\nRET 180 b a 2 1 - ? ? ?\n", "internal=1",
                {INSIDE, 1, 0, "a", 100, 190, .peer = "x"},
                {SERVER, 2, 1, "b", 110, 180, .peer = "10.0.0.1"});
}
END_TEST

START_TEST(of_two_servers_the_first_is_the_partner)
{
    ASSERT_ROWS("CALL 100>110 a b 1 1 - ? ? ?\nRET 120>190 b a 1 1 - ? error ?\n"
                "CALL 150R a c 3 1 - ? ? ?\nRET 180 c a 3 1 - ? ? ?\n",
                "joined=1", {CLIENT, 1, 0, "a", 100, 190}, {SERVER, 3, 1, "c", 150, 180},
                {SERVER, 2, 1, "b", 110, 120, .status = "error"});
}
END_TEST

START_TEST(calls_without_end)
{
    ASSERT_ROWS("CALL 100 a b 1 1 - ? ? ?\n", "without_end=1",
                {CLIENT, 1, 0, "a", 100, 0, .peer = "b"});
    ASSERT_ROWS("CALL 100>110 a b 1 1 - ? ? ?\nRET 180 b a 1 1 - ? ? ?\n", "joined=1",
                {CLIENT, 1, 0, "a", 100, 0}, {SERVER, 2, 1, "b", 110, 180});
    ASSERT_ROWS("CALL 100>110 a b 1 1 - ? ? ?\nRET 190R b a 1 1 - ? ? ?\n", "joined=1",
                {CLIENT, 1, 0, "a", 100, 190}, {SERVER, 2, 1, "b", 110, 0});
}
END_TEST

START_TEST(only_the_client_may_know_of_a_failure)
{
    ASSERT_ROWS("CALL 100>110 a b 1 1 - ? ? http\nRET 180>190 b a 1 1 - ? error http\n", "joined=1",
                {CLIENT, 1, 0, "a", 100, 190, .status = "error", .proto = "http"},
                {SERVER, 2, 1, "b", 110, 180, .status = "200", .proto = "http"});
    ASSERT_ROWS("CALL 100>110 a b 1 1 - ? ? http\nRET 180>190 b a 1 1 - ? 503 http\n", "joined=1",
                {CLIENT, 1, 0, "a", 100, 190, .status = "error", .proto = "http"},
                {SERVER, 2, 1, "b", 110, 180, .status = "503", .proto = "http"});
}
END_TEST

// ---- free messages ----------------------------------------------------------------------------

START_TEST(a_message_and_who_got_it)
{
    ASSERT_ROWS("MSG 100>140 a c 1 1 - put ? kafka\nMSG 100>150 a b 2 1 - put ? kafka\n",
                "joined=1", {PRODUCER, 1, 0, "a", 100, 105, .op = "put", .proto = "kafka"},
                {CONSUMER, 3, 1, "c", 140, 141}, {CONSUMER, 2, 1, "b", 150, 160});
}
END_TEST

START_TEST(one_end_of_a_message)
{
    ASSERT_ROWS("MSG 100 a kafka1 1 1 - ? ? ?\n", "",
                {PRODUCER, 1, 0, "a", 100, 105, .peer = "kafka1"});
    ASSERT_ROWS("MSG 100 a unknown-consumer-of-a 1 1 - ? ? ?\n", "peer_unknown=1",
                {PRODUCER, 1, 0, "a", 100, 105});
    ASSERT_ROWS("MSG 150R unknown-producer-of-b b 2 1 - ? ? ?\n", "peer_unknown=1",
                {CONSUMER, 2, 0, "b", 150, 160});
}
END_TEST

START_TEST(what_a_message_causes)
{
    ASSERT_ROWS("MSG 100>150 a b 1 1 - ? ? ?\nMSG 100>170 a c 3 1 - ? ? ?\n"
                "CALL 155 b d 4 1 1 ? ? ?\nRET 158R d b 4 1 1 ? ? ?\n"
                "CALL 175 c d 5 1 3 ? ? ?\nRET 178R d c 5 1 3 ? ? ?\n",
                "joined=1", {PRODUCER, 1, 0, "a", 100, 105}, {CONSUMER, 2, 1, "b", 150, 160},
                {CONSUMER, 3, 1, "c", 170, 180}, {CLIENT, 4, 2, "b", 155, 158, .peer = "d"},
                {CLIENT, 5, 3, "c", 175, 178, .peer = "d"});
}
END_TEST

// ---- causes -----------------------------------------------------------------------------------

START_TEST(parents_are_found_through_work_within)
{
    ASSERT_ROWS("CALL 100>110 a b 1 1 - ? ? ?\nRET 180>190 b a 1 1 - ? ? ?\n"
                "CALL 130>131 b c 5 1 1 ? ? ?\nRET 139>140 c b 5 1 1 ? ? ?\n",
                "joined=2 internal=2", {CLIENT, 1, 0, "a", 100, 190}, {SERVER, 2, 1, "b", 110, 180},
                {INSIDE, 3, 2, "b", 120, 170}, {UNSET, 4, 3, "b", 125, 165},
                {CLIENT, 5, 4, "b", 130, 140}, {SERVER, 6, 5, "c", 131, 139});
}
END_TEST

// Below a shared id is what the server did; what is of the client's service is the client's.
START_TEST(parents_by_a_shared_id)
{
    ASSERT_ROWS("CALL 100>110 a b 1 1 - ? ? ?\nRET 180>190 b a 1 1 - ? ? ?\n"
                "CALL 130>131 b c 2 1 1 ? ? ?\nRET 139>140 c b 2 1 1 ? ? ?\n"
                "CALL 102 a dns 3 1 - ? ? ?\nRET 103R dns a 3 1 - ? ? ?\n",
                "joined=2", {CLIENT, 1, 0, "a", 100, 190}, {SERVER, 1, 0, "b", 110, 180},
                {CLIENT, 2, 1, "b", 130, 140}, {SERVER, 2, 1, "c", 131, 139},
                {CLIENT, 3, 1, "a", 102, 103, .peer = "dns"});
}
END_TEST

// A server's span that shares its id with a client's that was lost: its parent is the caller's.
START_TEST(half_of_a_shared_id)
{
    ASSERT_ROWS("CALL 110R a b 1 1 - ? ? ?\nRET 180 b a 1 1 - ? ? ?\n"
                "CALL 131R b c 2 1 1 ? ? ?\nRET 139 c b 2 1 1 ? ? ?\n",
                "", {SERVER, 1, 0, "b", 110, 180, .peer = "a"}, {SERVER, 2, 1, "c", 131, 139});
}
END_TEST

START_TEST(a_client_reaches_a_service_without_servers_span)
{
    ASSERT_ROWS("CALL 100 a b 1 1 - ? ? ?\nRET 190R b a 1 1 - ? ? ?\n"
                "CALL 130 b c 2 1 1 ? ? ?\nRET 140R c b 2 1 1 ? ? ?\n"
                "CALL 150 b d 4 1 1 ? ? ?\nRET 160R d b 4 1 1 ? ? ?\n",
                "internal=1", {CLIENT, 1, 0, "a", 100, 190, .peer = "10.0.0.2"},
                {CLIENT, 2, 1, "b", 130, 140, .peer = "c"}, {UNSET, 3, 1, "b", 145, 165},
                {CLIENT, 4, 3, "b", 150, 160, .peer = "d"});
}
END_TEST

START_TEST(a_service_that_calls_itself)
{
    ASSERT_ROWS("CALL 100 a a 1 1 - ? ? ?\nRET 190R a a 1 1 - ? ? ?\n"
                "CALL 130 a c 2 1 1 ? ? ?\nRET 140R c a 2 1 1 ? ? ?\n",
                "", {CLIENT, 1, 0, "a", 100, 190, .peer = "a"},
                {CLIENT, 2, 1, "a", 130, 140, .peer = "c"});
    ASSERT_ROWS("CALL 100R a a 1 1 - ? ? ?\nRET 190 a a 1 1 - ? ? ?\n"
                "CALL 130R a a 2 1 1 ? ? ?\nRET 140 a a 2 1 1 ? ? ?\n",
                "", {SERVER, 1, 0, "a", 100, 190, .peer = "a"},
                {SERVER, 2, 1, "a", 130, 140, .peer = "a"});
}
END_TEST

START_TEST(a_parent_that_is_not_there)
{
    ASSERT_ROWS("CALL 110R w b 2 1 ? ? ? ?\nRET 180 b w 2 1 ? ? ? ?\n"
                "CALL 130 b c 3 1 2 ? ? ?\nRET 140R c b 3 1 2 ? ? ?\n",
                "parent_unknown=1", {SERVER, 2, 9, "b", 110, 180, .peer = "w"},
                {CLIENT, 3, 2, "b", 130, 140, .peer = "c"});
}
END_TEST

START_TEST(circles)
{
    ASSERT_ROWS("CALL 110R w b 1 1 ? ? ? ?\nRET 180 b w 1 1 ? ? ? ?\n",
                "circular=1 parent_unknown=1", {SERVER, 1, 1, "b", 110, 180, .peer = "w"});
    ASSERT_ROWS("CALL 130 b c 1 1 ? ? ? ?\nRET 140R c b 1 1 ? ? ? ?\n",
                "circular=1 parent_unknown=1 internal=2",
                {CLIENT, 1, 2, "b", 130, 140, .peer = "c"}, {INSIDE, 2, 3, "b", 120, 150},
                {INSIDE, 3, 2, "b", 121, 149});
}
END_TEST

// A long way up is gone once, whatever the number of spans that ask.
START_TEST(long_ways)
{
    enum { LENGTH = 100000 };
    g_autoptr(SpanImport) taken = span_import_new();
    g_autoptr(BbSpans) spans = bb_spans_new(&taken->import, BB_SPANS_MAX);
    for (guint i = 1; i <= LENGTH; i++) {
        Row inside = {INSIDE, i, i - 1, "a", 100, 200};
        Row client = {CLIENT, LENGTH + i, i, "a", 100, 200, .peer = "b"};
        BbSpan span = span_of(taken, &inside);
        ck_assert(bb_spans_add(spans, &span, NULL));
        span = span_of(taken, &client);
        ck_assert(bb_spans_add(spans, &span, NULL));
    }
    ck_assert(bb_spans_finish(spans, NULL));
    ck_assert_uint_eq(span_import_counter(taken, "spans_internal"), LENGTH);
    ck_assert_uint_eq(span_import_counter(taken, "spans_parent_unknown"), 0);
    ck_assert(g_str_has_suffix(taken->text->str, "RET 200R b a 200000 1 - ? ? ?\n"));
}
END_TEST

// ---- what is no message -----------------------------------------------------------------------

START_TEST(kinds_that_are_not_said)
{
    ASSERT_ROWS("CALL 110R a b 2 1 - ? ? ?\nRET 180 b a 2 1 - ? ? ?\n"
                "CALL 130R b c 3 1 2 ? ? ?\nRET 140 c b 3 1 2 ? ? ?\n",
                "kind_guessed=2 internal=1", {UNSET, 1, 0, "a", 100, 190},
                {UNSET, 2, 1, "b", 110, 180}, {UNSET, 3, 2, "c", 130, 140});
    ASSERT_ROWS("", "internal=2", {UNSET, 1, 0, "a", 100, 190}, {INSIDE, 2, 1, "b", 110, 180});
}
END_TEST

START_TEST(once_more_in_one_service)
{
    // A server's within a server's; a client's around a client's with the same peer.
    ASSERT_ROWS("CALL 110R w b 1 1 - ? ? ?\nRET 180 b w 1 1 - ? ? ?\n"
                "CALL 131 b es 4 1 1 ? ? ?\nRET 139R es b 4 1 1 ? ? ?\n",
                "again=2", {SERVER, 1, 0, "b", 110, 180, .peer = "w"},
                {SERVER, 2, 1, "b", 111, 179}, {CLIENT, 3, 2, "b", 130, 140, .peer = "es"},
                {CLIENT, 4, 3, "b", 131, 139, .peer = "es"});
    // The outer one is what was joined.
    ASSERT_ROWS("CALL 130>132 b es 3 1 - ? ? ?\nRET 138>140 es b 3 1 - ? ? ?\n", "joined=1 again=1",
                {CLIENT, 3, 0, "b", 130, 140, .peer = "es"},
                {CLIENT, 4, 3, "b", 131, 139, .peer = "es"}, {SERVER, 5, 3, "es", 132, 138});
    // Two peers are two calls.
    ASSERT_ROWS("CALL 130 b es 3 1 - ? ? ?\nRET 140R es b 3 1 - ? ? ?\n"
                "CALL 131 b dns 4 1 - ? ? ?\nRET 132R dns b 4 1 - ? ? ?\n",
                "", {CLIENT, 3, 0, "b", 130, 140, .peer = "es"},
                {CLIENT, 4, 3, "b", 131, 132, .peer = "dns"});
}
END_TEST

START_TEST(duplicates)
{
    ASSERT_ROWS("CALL 100 a b 1 1 - ? ? ?\nRET 190R b a 1 1 - ? ? ?\n", "duplicate=2",
                {CLIENT, 1, 0, "a", 100, 190, .peer = "b"},
                {CLIENT, 1, 0, "a", 100, 190, .peer = "b"}, {CLIENT, 1, 0, "x", 1, 2});
}
END_TEST

START_TEST(damaged_spans)
{
    ASSERT_ROWS("", "no_id=1", {CLIENT, 0, 0, "a", 100, 190});
    ASSERT_ROWS("", "no_time=1 unusable=1", {CLIENT, 1, 0, "a", 0, 190, .peer = "b"});
    ASSERT_ROWS("", "backwards=1 unusable=1", {CLIENT, 1, 0, "a", 100, 99, .peer = "b"});
    ASSERT_ROWS("", "no_service=1 unusable=1", {SERVER, 1, 0, NULL, 100, 190, .peer = "b"});
    // What one end does not tell the other may.
    ASSERT_ROWS("CALL 110R a b 1 1 - ? ? ?\nRET 180 b a 1 1 - ? ? ?\n", "backwards=1 joined=1",
                {CLIENT, 1, 0, "a", 100, 99}, {SERVER, 2, 1, "b", 110, 180});
    ASSERT_ROWS("CALL 100>110 a b 1 1 - ? ? ?\nRET 180>190 b a 1 1 - ? ? ?\n",
                "no_service=1 joined=1", {CLIENT, 1, 0, "a", 100, 190, .peer = "b"},
                {SERVER, 2, 1, NULL, 110, 180});
    // Nobody is told to be caused by a call that is left out.
    ASSERT_ROWS("CALL 130 b c 2 1 ? ? ? ?\nRET 140R c b 2 1 ? ? ? ?\n",
                "no_time=1 unusable=1 parent_unknown=1", {SERVER, 1, 0, "b", 0, 0},
                {CLIENT, 2, 1, "b", 130, 140, .peer = "c"});
}
END_TEST

// ---- waiting ----------------------------------------------------------------------------------

static const Row spread[] = {
    {CLIENT, 1, 0, "a", 100, 190, .trace = 7},
    {CLIENT, 1, 0, "a", 200, 290, .trace = 8},
    {SERVER, 2, 1, "b", 110, 180, .trace = 7},
    {SERVER, 2, 1, "b", 210, 280, .trace = 8},
    {SERVER, 3, 0, "c", 300, 310, .trace = 7, .peer = "w"},
};

START_TEST(traces_are_told_apart_and_wait)
{
    g_autoptr(SpanImport) taken = span_import_new();
    add_rows(taken, spread, G_N_ELEMENTS(spread), BB_SPANS_MAX);
    ck_assert_str_eq(taken->text->str, "CALL 200>210 a b 1 8 - ? ? ?\nRET 280>290 b a 1 8 - ? ? ?\n"
                                       "CALL 100>110 a b 1 7 - ? ? ?\nRET 180>190 b a 1 7 - ? ? ?\n"
                                       "CALL 300R w c 3 7 - ? ? ?\nRET 310 c w 3 7 - ? ? ?\n");
    assert_counters(taken, "joined=2");
}
END_TEST

// The trace without a new span for the longest goes first, and what comes later is alone.
START_TEST(too_many_wait)
{
    g_autoptr(SpanImport) taken = span_import_new();
    add_rows(taken, spread, G_N_ELEMENTS(spread), 3);
    ck_assert_uint_eq(span_import_counter(taken, "spans_traces_early"), 2);
    ck_assert_uint_eq(span_import_counter(taken, "spans_joined"), 1);
    ck_assert_uint_eq(span_import_counter(taken, "spans_parent_unknown"), 1);
    ck_assert(g_str_has_prefix(taken->text->str, "CALL 200 a unknown-callee-of-a 1 8 - ? ? ?\n"));
}
END_TEST

START_TEST(one_trace_alone_may_be_too_many)
{
    g_autoptr(SpanImport) taken = span_import_new();
    add_rows(taken, spread, 1, 1);
    ck_assert_uint_eq(span_import_counter(taken, "spans_traces_early"), 1);
    ck_assert_str_eq(taken->text->str, "CALL 100 a unknown-callee-of-a 1 7 - ? ? ?\n"
                                       "RET 190R unknown-callee-of-a a 1 7 - ? ? ?\n");
}
END_TEST

START_TEST(a_full_output_ends_it)
{
    for (guint left = 0; left < 6; left++) {
        g_autoptr(SpanImport) taken = span_import_new();
        g_autoptr(BbSpans) spans = bb_spans_new(&taken->import, BB_SPANS_MAX);
        g_autoptr(GError) error = NULL;
        taken->left = left;
        for (gsize i = 0; i < G_N_ELEMENTS(spread); i++) {
            BbSpan span = span_of(taken, &spread[i]);
            ck_assert(bb_spans_add(spans, &span, NULL));
        }
        ck_assert(!bb_spans_finish(spans, &error));
        ck_assert_str_eq(error->message, "full");
    }
}
END_TEST

TEST_MAIN("spans", client_and_server_are_one_call, they_may_share_an_id_and_come_in_any_order,
          clocks_are_not_repaired, a_client_alone, a_server_alone,
          a_server_below_work_of_another_service, of_two_servers_the_first_is_the_partner,
          calls_without_end, only_the_client_may_know_of_a_failure, a_message_and_who_got_it,
          one_end_of_a_message, what_a_message_causes, parents_are_found_through_work_within,
          parents_by_a_shared_id, half_of_a_shared_id,
          a_client_reaches_a_service_without_servers_span, a_service_that_calls_itself,
          a_parent_that_is_not_there, circles, long_ways, kinds_that_are_not_said,
          once_more_in_one_service, duplicates, damaged_spans, traces_are_told_apart_and_wait,
          too_many_wait, one_trace_alone_may_be_too_many, a_full_output_ends_it)
