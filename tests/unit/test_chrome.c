// SPDX-License-Identifier: Apache-2.0
// Chrome trace events as messages: flows, operations, slices; what returns, what caused what;
// forms.
#include "merge/chrome_trace.h"
#include "merge/json_values.h"
#include "tests/unit/span_import.h"

// Events of process p, thread t, at ts.
#define EVENT(ph, p, t, ts, rest) \
    "{\"ph\":\"" ph "\",\"pid\":" #p ",\"tid\":" #t ",\"ts\":" #ts rest "}"
#define X(p, t, ts, dur, name) EVENT("X", p, t, ts, ",\"dur\":" #dur ",\"name\":\"" name "\"")
#define FLOW(ph, p, t, ts, id) EVENT(ph, p, t, ts, ",\"id\":" #id ",\"cat\":\"c\",\"bp\":\"e\"")
#define ASYNC(ph, p, t, ts, id) EVENT(ph, p, t, ts, ",\"id\":\"" #id "\",\"cat\":\"c\"")
#define NAME(p, name) \
    "{\"ph\":\"M\",\"pid\":" #p ",\"name\":\"process_name\",\"args\":{\"name\":\"" name "\"}}"
#define NAMES NAME(1, "web") "," NAME(2, "app") "," NAME(3, "db")

// What comes of events, which end with NULL.
static G_GNUC_NULL_TERMINATED void assert_chrome(SpanImport *taken, const char *wanted,
                                                 const char *event, ...)
{
    g_autoptr(GString) json = g_string_new("[");
    va_list events;
    va_start(events, event);
    for (; event; event = va_arg(events, const char *))
        g_string_append_printf(json, "%s%s", json->len > 1 ? "," : "", event);
    va_end(events);
    g_string_append_c(json, ']');
    ck_assert_ptr_null(span_import_run(taken, "chrome", json->str));
    ck_assert_str_eq(taken->text->str, wanted);
    ck_assert_str_eq(taken->warnings->str, "");
}

static void assert_counter(const SpanImport *taken, const char *name, guint64 wanted)
{
    ck_assert_msg(span_import_counter(taken, name) == wanted, "%s is %" G_GUINT64_FORMAT, name,
                  span_import_counter(taken, name));
}

// ---- forms ------------------------------------------------------------------------------------

#define CALL_EVENTS                                                       \
    NAMES "," X(1, 1, 10, 90, "get") "," FLOW("s", 1, 1, 20, 7) "," FLOW( \
        "t", 2, 1, 30, 7) "," FLOW("f", 1, 1, 80, 7) "," X(2, 1, 25, 50, "serve")

static const char call[] =
    "CALL 20>30 web app 1 1 - serve ? ?\nRET 75>80 app web 1 1 - serve ? ?\n";

START_TEST(forms)
{
    static const char *const texts[] = {
        "[" CALL_EVENTS "]",
        "[" CALL_EVENTS,
        "[" CALL_EVENTS ",\n",
        "{\"traceEvents\":[" CALL_EVENTS "],\"displayTimeUnit\":\"ms\",\"otherData\":{\"a\":[]}}",
        "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[" CALL_EVENTS "]}",
        "{\"traceEvents\":[" CALL_EVENTS ",",
    };
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        assert_spans("chrome", texts[i], call);
    assert_spans("chrome", "[]", "");
    assert_spans("chrome", "[", "");
    assert_spans("chrome", "{\"traceEvents\":[]}", "");
}
END_TEST

START_TEST(what_is_cut_is_said)
{
    g_autoptr(SpanImport) taken = span_import_new();
    ck_assert_ptr_null(span_import_run(taken, "chrome", "[" CALL_EVENTS ",{\"ph\":\"X\""));
    ck_assert_str_eq(taken->text->str, call);
    ck_assert(strstr(taken->warnings->str, "ends in the value that begins in line 1"));
}
END_TEST

START_TEST(other_forms_are_refused)
{
    static const char *const texts[] = {"{}", "[5]", "[{\"traceId\":\"1\"}]",
                                        "{\"data\":[{\"traceID\":\"1\",\"spans\":[]}]}",
                                        "{\"resourceSpans\":[]}"};
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(SpanImport) taken = span_import_new();
        const char *error = span_import_run(taken, "chrome", texts[i]);
        ck_assert_ptr_nonnull(error);
        ck_assert(g_str_has_prefix(error, ":1: no"));
        ck_assert_str_eq(taken->text->str, "");
    }
    g_autoptr(SpanImport) taken = span_import_new();
    taken->import.skip_bad = true;
    assert_chrome(taken, call, "{}", CALL_EVENTS, NULL);
    assert_counter(taken, "json_bad_values", 1);
}
END_TEST

// What came before the damage is a trace, too.
START_TEST(what_is_before_an_error_is_given)
{
    g_autoptr(SpanImport) taken = span_import_new();
    const char *error = span_import_run(taken, "chrome", "[" CALL_EVENTS ",\n;]");
    ck_assert_ptr_nonnull(error);
    ck_assert(g_str_has_prefix(error, ":2: not JSON"));
    ck_assert_str_eq(taken->text->str, call);
}
END_TEST

START_TEST(sinks_may_fail)
{
    for (guint left = 0; left < 2; left++) {
        g_autoptr(SpanImport) taken = span_import_new();
        taken->left = left;
        ck_assert_str_eq(span_import_run(taken, "chrome", "[" CALL_EVENTS "]"), "full");
    }
}
END_TEST

// ---- flows ------------------------------------------------------------------------------------

// Through two processes and back, in one flow.
START_TEST(returns_over_the_same_flow)
{
    g_autoptr(SpanImport) taken = span_import_new();
    assert_chrome(taken,
                  "CALL 10>20 web app 1 ? ? serve ? ?\nRET 40>50 app web 1 ? ? serve ? ?\n"
                  "CALL 20>30 app db 2 ? 1 ? ? ?\nRET 30>40 db app 2 ? 1 ? ? ?\n",
                  NAMES, X(2, 1, 15, 100, "serve"), FLOW("s", 1, 1, 10, 1), FLOW("t", 2, 1, 20, 1),
                  FLOW("t", 3, 1, 30, 1), FLOW("t", 2, 1, 40, 1), FLOW("f", 1, 1, 50, 1), NULL);
    assert_counter(taken, "chrome_returns", 2);
    assert_counter(taken, "chrome_parent_unknown", 1); // web has no slice that sent
}
END_TEST

// The answer is a flow of its own, back to the thread that asked. What came after belongs to
// nobody.
START_TEST(returns_over_another_flow)
{
    g_autoptr(SpanImport) taken = span_import_new();
    assert_chrome(taken,
                  "CALL 10>20 web app 1 1 - serve ? ?\nRET 50>60 app web 1 1 - serve ? ?\n"
                  "MSG 70>80 web db 2 2 - ? ? ?\n",
                  NAMES, X(1, 1, 0, 100, "get"), X(2, 1, 20, 30, "serve"), FLOW("s", 1, 1, 10, 1),
                  FLOW("f", 2, 1, 20, 1), FLOW("s", 2, 1, 50, 2), FLOW("f", 1, 1, 60, 2),
                  FLOW("s", 1, 1, 70, 3), FLOW("f", 3, 1, 80, 3), NULL);
    assert_counter(taken, "chrome_returns", 1);
}
END_TEST

// A slice that waits makes a call; one that ends before does not.
START_TEST(slices_that_wait)
{
    g_autoptr(SpanImport) taken = span_import_new();
    assert_chrome(taken,
                  "CALL 10>20 web app 1 1 - serve ? ?\nRET 50>100 app web 1 1 - serve ? ?\n"
                  "MSG 25>30 app db 2 1 1 later ? ?\n",
                  NAMES, X(1, 1, 0, 100, "get"), X(2, 1, 20, 30, "serve"), FLOW("s", 1, 1, 10, 1),
                  FLOW("f", 2, 1, 20, 1), X(3, 1, 30, 60, "later"), FLOW("s", 2, 1, 25, 2),
                  FLOW("f", 3, 1, 30, 2), NULL);
    assert_counter(taken, "chrome_waited", 1);
}
END_TEST

// One that called twice: when each answer came is not known.
START_TEST(slices_that_call_twice)
{
    g_autoptr(SpanImport) taken = span_import_new();
    assert_chrome(taken,
                  "CALL 10>20 web app 1 1 - a ? ?\nRET 30 app web 1 1 - a ? ?\n"
                  "CALL 40>50 web db 2 2 - b ? ?\nRET 60 db web 2 2 - b ? ?\n",
                  NAMES, X(1, 1, 0, 100, "get"), X(2, 1, 20, 10, "a"), X(3, 1, 50, 10, "b"),
                  FLOW("s", 1, 1, 10, 1), FLOW("f", 2, 1, 20, 1), FLOW("s", 1, 1, 40, 2),
                  FLOW("f", 3, 1, 50, 2), NULL);
}
END_TEST

// Without bp an end is of the next slice; with it of the one around. A slice may be a step itself.
START_TEST(binding)
{
    g_autoptr(SpanImport) taken = span_import_new();
    assert_chrome(taken, "MSG 5>10 web app 1 ? ? next ? ?\n", NAMES, X(2, 1, 0, 20, "old"),
                  X(2, 1, 30, 10, "next"), EVENT("s", 1, 1, 5, ",\"id\":1"),
                  EVENT("f", 2, 1, 10, ",\"id\":1"), NULL);
    g_autoptr(SpanImport) bound = span_import_new();
    assert_chrome(
        bound, "MSG 5>10 web app 1 1 - b ? ?\nMSG 10>15 app db 2 1 1 ? ? ?\n", NAMES,
        EVENT("X", 1, 1, 5, ",\"dur\":9,\"bind_id\":\"0x1\",\"flow_out\":true"),
        EVENT("X", 2, 1, 10,
              ",\"dur\":90,\"name\":\"b\",\"bind_id\":\"0x1\",\"flow_in\":true,\"flow_out\":true"),
        EVENT("X", 3, 1, 15, ",\"dur\":90,\"bind_id\":\"0x1\",\"flow_in\":true"),
        EVENT("X", 3, 1, 500,
              ",\"dur\":9,\"bind_id\":"
              "\"0x2\""),
        EVENT("X", 3, 1, 600,
              ",\""
              "flo"
              "w_"
              "out"
              "\":"
              "tru"
              "e"),
        NULL);
    assert_counter(bound, "chrome_no_end", 1);
}
END_TEST

// The cause is what led last to the slice, or to one around it; also from another thread.
START_TEST(causes)
{
    g_autoptr(SpanImport) taken = span_import_new();
    assert_chrome(taken,
                  "MSG 5>10 web app 1 1 - loop ? ?\nMSG 95>100 web app 2 2 - loop ? ?\n"
                  "MSG 120>130 app db 3 2 2 ? ? ?\n",
                  NAMES, X(2, 1, 0, 1000, "loop"), X(2, 1, 105, 50, "work"), X(1, 1, 0, 9, "a"),
                  X(1, 1, 90, 9, "b"), FLOW("s", 1, 1, 5, 1), FLOW("f", 2, 1, 10, 1),
                  FLOW("s", 1, 1, 95, 2), FLOW("f", 2, 1, 100, 2), FLOW("s", 2, 1, 110, 3),
                  FLOW("f", 2, 2, 115, 3), X(2, 2, 112, 50, "pool"), FLOW("s", 2, 2, 120, 4),
                  FLOW("f", 3, 1, 130, 4), NULL);
    assert_counter(taken, "chrome_inside", 1);
}
END_TEST

START_TEST(flows_of_one_id)
{
    g_autoptr(SpanImport) taken = span_import_new();
    assert_chrome(
        taken,
        "MSG 1>2 web app 1 ? ? ? ? ?\nMSG 3>4 web db 2 ? ? ? ? ?\nMSG 8>9 web app 3 ? ? ? ? ?\n",
        NAMES, FLOW("s", 1, 1, 1, 1), FLOW("f", 2, 1, 2, 1), FLOW("s", 1, 1, 3, 1),
        FLOW("f", 3, 1, 4, 1), EVENT("s", 1, 1, 5, ",\"id\":1,\"cat\":\"d\""),
        EVENT("s", 1, 1, 6, ",\"id2\":{\"local\":1},\"cat\":\"c\""),
        EVENT("f", 2, 1, 7,
              ",\"id2\":{\"local\":1},\"cat\":"
              "\"c\""),
        EVENT("s", 1, 1, 8,
              ",\"id2\":{"
              "\"global\":9},"
              "\"cat\":"
              "\"c\""),
        EVENT("f", 2, 1, 9,
              ",\"id2\":{"
              "\"global\":\"9\"}"
              ",\"cat\":\"c\""),
        EVENT("s", 1, 1, 10, ",\"id\":5,\"name\":\"x\""),
        EVENT("f", 2, 1, 11, ",\"id\":5,\"name\":\"y\""), EVENT("s", 1, 1, 12, ""), NULL);
    assert_counter(taken, "chrome_flows_alone", 5);
    assert_counter(taken, "chrome_no_id", 1);
}
END_TEST

// ---- operations -------------------------------------------------------------------------------

START_TEST(operations)
{
    g_autoptr(SpanImport) taken = span_import_new();
    assert_chrome(taken,
                  "CALL 10>20 web app 1 ? ? ? ? ?\nRET 30>40 app web 1 ? ? ? ? ?\n"
                  "MSG 50>60 web app 2 ? ? ? ? ?\n",
                  NAMES, ASYNC("b", 1, 1, 10, 1), ASYNC("b", 2, 1, 20, 1), ASYNC("e", 2, 1, 30, 1),
                  ASYNC("e", 1, 1, 40, 1), ASYNC("S", 1, 1, 50, 2), ASYNC("T", 2, 1, 60, 2),
                  ASYNC("F", 2, 1, 70, 2), ASYNC("b", 1, 1, 80, 1), NULL);
    assert_counter(taken, "chrome_inside", 2);
    assert_counter(taken, "chrome_flows_alone", 1);
}
END_TEST

// ---- slices -----------------------------------------------------------------------------------

START_TEST(begins_and_ends)
{
    g_autoptr(BbCounters) counters = bb_counters_new();
    g_autoptr(BbChromeSlices) slices = bb_chrome_slices_new(counters);
    bb_chrome_slices_end(slices, 1, 5); // nothing began
    bb_chrome_slices_begin(slices, 1, 11, 10);
    bb_chrome_slices_end(slices, 1, 30);
    bb_chrome_slices_end(slices, 1, 40);
    bb_chrome_slices_begin(slices, 1, 12, 20); // in another order than in time
    bb_chrome_slices_add(slices, 1, 13, 22, 24);
    bb_chrome_slices_begin(slices, 2, 14, 7); // never ends
    bb_chrome_slices_finish(slices);
    ck_assert_uint_eq(bb_counters_get(counters, "chrome_no_begin"), 1);
    ck_assert_uint_eq(bb_counters_get(counters, "chrome_no_end"), 1);
    static const struct {
        guint32 thread;
        gint64 time_ns;
        guint32 at, after; // names; 0 for none
    } wanted[] = {{1, 9, 0, 11},  {1, 10, 11, 11}, {1, 21, 12, 13}, {1, 22, 13, 13},
                  {1, 24, 13, 0}, {1, 25, 12, 0},  {1, 30, 12, 0},  {1, 31, 11, 0},
                  {1, 40, 11, 0}, {1, 41, 0, 0},   {2, 6, 0, 14},   {2, 99999, 14, 0},
                  {0, 10, 0, 0},  {3, 10, 0, 0}};
    for (gsize i = 0; i < G_N_ELEMENTS(wanted); i++) {
        guint32 at = bb_chrome_slices_at(slices, wanted[i].thread, wanted[i].time_ns);
        guint32 after = bb_chrome_slices_after(slices, wanted[i].thread, wanted[i].time_ns);
        ck_assert_uint_eq(at == BB_CHROME_NONE ? 0 : bb_chrome_slice(slices, at)->name,
                          wanted[i].at);
        ck_assert_uint_eq(after == BB_CHROME_NONE ? 0 : bb_chrome_slice(slices, after)->name,
                          wanted[i].after);
    }
}
END_TEST

START_TEST(deep_slices_are_left_out)
{
    g_autoptr(BbCounters) counters = bb_counters_new();
    g_autoptr(BbChromeSlices) slices = bb_chrome_slices_new(counters);
    for (guint32 i = 0; i < BB_CHROME_DEPTH_MAX + 3; i++)
        bb_chrome_slices_add(slices, 1, i + 1, i, 10000 - i);
    bb_chrome_slices_finish(slices);
    ck_assert_uint_eq(bb_counters_get(counters, "chrome_deep"), 3);
    guint32 at = bb_chrome_slices_at(slices, 1, 5000), depth = 0;
    ck_assert_uint_eq(bb_chrome_slice(slices, at)->name, BB_CHROME_DEPTH_MAX);
    for (; at != BB_CHROME_NONE; at = bb_chrome_slice(slices, at)->above)
        depth++;
    ck_assert_uint_eq(depth, BB_CHROME_DEPTH_MAX);
}
END_TEST

// ---- limits -----------------------------------------------------------------------------------

static void take_events(BbChromeTrace *trace, const char *list)
{
    g_autoptr(JsonNode) root = json_from_string(list, NULL);
    ck_assert_ptr_nonnull(root);
    JsonArray *events = json_node_get_array(root);
    for (guint i = 0; i < json_array_get_length(events); i++)
        ck_assert(bb_chrome_trace_take(trace, json_array_get_object_element(events, i), NULL));
}

START_TEST(what_is_left_out_leaves_nothing_behind)
{
    g_autoptr(SpanImport) taken = span_import_new();
    g_auto(BbChromeTrace) trace;
    bb_chrome_trace_init(&trace, &taken->import);
    take_events(&trace, "[{\"ph\": \"s\", \"pid\": 1, \"tid\": 2, \"ts\": 3, \"name\": \"n\"}]");
    assert_counter(taken, "chrome_no_id", 1);
    ck_assert_uint_eq(trace.threads, 0);
    ck_assert_uint_eq(trace.processes->len, 0);
    take_events(&trace, "[" NAME(1, "a") "," NAME(1, "b") "," NAME(1, "b") "," NAME(1, "c") "]");
    ck_assert_uint_eq(trace.kept, 3); // the process, and two names that it had before
}
END_TEST

// Slices, steps and processes count together; what needs no place is still taken.
START_TEST(events_beyond_the_limit_are_left_out)
{
    g_autoptr(SpanImport) taken = span_import_new();
    g_auto(BbChromeTrace) trace;
    bb_chrome_trace_init(&trace, &taken->import);
    take_events(&trace, "[" NAME(1, "web") "," NAME(2, "app") "," X(1, 1, 1, 2, "a") "," FLOW(
                            "s", 1, 1, 2, 1) "]");
    ck_assert_uint_eq(trace.kept, 4);
    trace.kept = BB_CHROME_EVENTS_MAX - 3;
    take_events(&trace, "[" NAME(1, "web") "," NAME(3, "db") "," X(1, 1, 3, 2, "b") "]");
    ck_assert_uint_eq(trace.kept, BB_CHROME_EVENTS_MAX - 1);
    assert_counter(taken, "chrome_left_out", 0);
    take_events(&trace, "[" FLOW("t", 2, 1, 4, 1) "]");
    assert_counter(taken, "chrome_left_out", 0);
    take_events(&trace, "[" FLOW("f", 3, 1, 5, 1) "," X(1, 1, 6, 1, "c") "," NAME(4, "x") "]");
    ck_assert_uint_eq(trace.kept, BB_CHROME_EVENTS_MAX);
    ck_assert_uint_eq(trace.steps->len, 2);
    ck_assert_uint_eq(trace.processes->len, 3);
    assert_counter(taken, "chrome_left_out", 3);
    assert_counter(taken, "chrome_events", 11);
}
END_TEST

// A flow's id of any length is one; of long ones a digest is kept.
START_TEST(long_texts)
{
    g_autofree char *x = g_strnfill(100000, 'x');
    static const char format[] = "{\"ph\":\"%s\",\"pid\":%d,\"tid\":\"%s\",\"ts\":%d,\"id\":"
                                 "\"%s%d\",\"cat\":\"%s\"},";
    g_autoptr(GString) events = g_string_new("[" NAMES ",");
    for (int id = 1; id <= 2; id++) {
        g_string_append_printf(events, format, "s", 1, x, id, x, id, x);
        g_string_append_printf(events, format, "f", 2, x, id + 5, x, id, x);
    }
    g_autoptr(SpanImport) taken = span_import_new();
    g_auto(BbChromeTrace) trace;
    ck_assert_ptr_null(span_import_run(taken, "chrome", events->str));
    ck_assert_str_eq(taken->text->str,
                     "MSG 1>6 web app 1 ? ? ? ? ?\nMSG 2>7 web app 2 ? ? ? ? ?\n");
    bb_chrome_trace_init(&trace, &taken->import);
    events->str[events->len - 1] = ']';
    take_events(&trace, events->str);
    GHashTableIter iter;
    gpointer key = NULL;
    g_hash_table_iter_init(&iter, trace.indices);
    ck_assert_uint_eq(g_hash_table_size(trace.indices), 3 + 2 + 2); // processes, threads, flows
    while (g_hash_table_iter_next(&iter, &key, NULL))
        ck_assert_uint_le(strlen(key), BB_CHROME_KEY_MAX);
}
END_TEST

// Processes are kept apart by all of their number, and named by what a name has room for.
START_TEST(long_numbers_of_processes)
{
    g_autofree char *x = g_strnfill(BB_CHROME_KEY_MAX - 1, 'x');
    static const char format[] = "{\"ph\":\"%s\",\"pid\":\"%s%s\",\"tid\":1,\"ts\":%d,\"id\":1}";
    g_autoptr(GString) events = g_string_new("[");
    g_string_append_printf(events, format, "s", x, "\xc3\xa4", 1);
    g_string_append_c(events, ',');
    g_string_append_printf(events, format, "f", x, "\xc3\xa5", 2);
    g_string_append_c(events, ']');
    g_autoptr(SpanImport) taken = span_import_new();
    ck_assert_ptr_null(span_import_run(taken, "chrome", events->str));
    g_autofree char *node = g_strndup(x, 255 - strlen("process:"));
    g_autofree char *wanted =
        g_strdup_printf("MSG 1>2 process:%s process:%s 1 ? ? ? ? ?\n", node, node);
    ck_assert_str_eq(taken->text->str, wanted);
    assert_counter(taken, "chrome_names_cut", 2);
}
END_TEST

// 255 bytes are whole, one more is cut before the character that does not fit.
START_TEST(long_names_are_cut)
{
    g_autofree char *x = g_strnfill(254, 'x');
    static const char *const ends[][2] = {{"", ""}, {"y", "y"}, {"\xc3\xa4", ""}, {"yz", "y"}};
    for (gsize i = 0; i < G_N_ELEMENTS(ends); i++) {
        g_autofree char *event = g_strdup_printf(
            "{\"ph\":\"X\",\"pid\":2,\"tid\":1,\"ts\":2,\"dur\":2,\"name\":\"%s%s\"}", x,
            ends[i][0]);
        g_autofree char *wanted =
            g_strdup_printf("MSG 1>2 web app 1 ? ? %s%s ? ?\n", x, ends[i][1]);
        g_autoptr(SpanImport) taken = span_import_new();
        assert_chrome(taken, wanted, NAMES, FLOW("s", 1, 1, 1, 1), FLOW("f", 2, 1, 2, 1), event,
                      NULL);
        assert_counter(taken, "chrome_names_cut", i >= 2);
    }
}
END_TEST

// Arguments may be as deep as JSON is read, and no deeper.
START_TEST(deep_arguments)
{
    for (guint depth = 190; depth <= 210; depth += 20) {
        g_autofree char *open = g_strnfill(depth, '['), *shut = g_strnfill(depth, ']');
        g_autofree char *json =
            g_strdup_printf("[" CALL_EVENTS ",{\"ph\":\"i\",\"args\":%s%s}]", open, shut);
        g_autoptr(SpanImport) taken = span_import_new();
        const char *error = span_import_run(taken, "chrome", json);
        ck_assert_msg(!error == (depth < BB_JSON_NESTING_MAX), "%s", error);
        ck_assert_str_eq(taken->text->str, call);
    }
}
END_TEST

START_TEST(many_threads_and_open_slices)
{
    g_autoptr(BbCounters) counters = bb_counters_new();
    g_autoptr(BbChromeSlices) slices = bb_chrome_slices_new(counters);
    const guint32 threads = 100000;
    for (guint32 i = 0; i < threads; i++) // each with one that never ends
        bb_chrome_slices_begin(slices, i, 1 + i, i);
    for (guint32 i = 0; i < threads; i++) // and one thread with as many
        bb_chrome_slices_begin(slices, threads, 1, i);
    for (guint32 i = 0; i < threads; i++)
        bb_chrome_slices_end(slices, threads, threads + i);
    bb_chrome_slices_finish(slices);
    ck_assert_uint_eq(bb_counters_get(counters, "chrome_no_end"), threads);
    ck_assert_uint_eq(bb_counters_get(counters, "chrome_no_begin"), 0);
    ck_assert_uint_eq(bb_counters_get(counters, "chrome_deep"), threads - BB_CHROME_DEPTH_MAX);
    for (guint32 i = 0; i < threads; i += 9999) {
        guint32 at = bb_chrome_slices_at(slices, i, G_MAXINT64 - 1);
        ck_assert_uint_eq(bb_chrome_slice(slices, at)->name, 1 + i);
    }
}
END_TEST

// ---- the rest ---------------------------------------------------------------------------------

// Processes of one name have their numbers behind it; numbers and texts are one.
START_TEST(names)
{
    g_autoptr(SpanImport) taken = span_import_new();
    assert_chrome(taken, "MSG 1>2 tab:1 tab:2 1 ? ? ? ? ?\nMSG 2>3 tab:2 process:x 2 ? 1 ? ? ?\n",
                  NAME(1, "tab"), NAME(2, "tab"), FLOW("s", 1, 1, 1, 1), FLOW("t", 2, 1, 2, 1),
                  EVENT("f", "x", 1, 3, ",\"id\":1,\"cat\":\"c\""), NULL);
}
END_TEST

START_TEST(events_of_no_use)
{
    g_autoptr(SpanImport) taken = span_import_new();
    g_autofree char *x = g_strnfill(300, 'x');
    g_autofree char *events = g_strdup_printf(
        "{\"ph\":\"i\",\"ts\":1},{\"ph\":\"XX\",\"ts\":1},{\"ph\":\"X\",\"ts\":1},"
        "{\"ph\":\"X\",\"pid\":1},{\"ph\":\"X\",\"pid\":1,\"ts\":-1},"
        "{\"ph\":\"X\",\"pid\":1,\"ts\":-0.5},{\"ph\":\"X\",\"pid\":1,\"ts\":1e300},"
        "{\"ph\":\"X\",\"pid\":1,\"ts\":9300000000000000},{\"ph\":\"M\",\"pid\":1},"
        "{\"ph\":\"X\",\"pid\":1,\"ts\":0.5,\"dur\":-1,\"name\":\"%s\"}",
        x);
    assert_chrome(taken, "", events, NULL);
    assert_counter(taken, "chrome_events", 10);
    assert_counter(taken, "chrome_other", 2);
    assert_counter(taken, "chrome_no_process", 1);
    assert_counter(taken, "chrome_no_time", 5);
    assert_counter(taken, "chrome_no_end", 1);
    assert_counter(taken, "chrome_names_cut", 1);
}
END_TEST

// Each file is a trace of its own, but no id is given twice.
START_TEST(several_files)
{
    g_autoptr(SpanImport) taken = span_import_new();
    static const char *const texts[] = {
        "[" NAMES "," FLOW("s", 1, 1, 0, 1) "," FLOW("f", 2, 1, 2, 1) "]",
        "[" FLOW("f", 2, 1, 2, 1) "," FLOW("s", 1, 1, 1.5, 1) "]", NULL};
    ck_assert_ptr_null(span_import_all(taken, "chrome", texts));
    ck_assert_str_eq(taken->text->str, "MSG 0>2 web app 1 ? ? ? ? ?\n"
                                       "MSG 1>2 process:1 process:2 2 ? ? ? ? ?\n");
}
END_TEST

TEST_MAIN("chrome", forms, what_is_cut_is_said, other_forms_are_refused,
          what_is_before_an_error_is_given, sinks_may_fail, returns_over_the_same_flow,
          returns_over_another_flow, slices_that_wait, slices_that_call_twice, binding, causes,
          flows_of_one_id, operations, begins_and_ends, deep_slices_are_left_out,
          what_is_left_out_leaves_nothing_behind, events_beyond_the_limit_are_left_out, long_texts,
          long_numbers_of_processes, long_names_are_cut, deep_arguments,
          many_threads_and_open_slices, names, events_of_no_use, several_files)
