// SPDX-License-Identifier: Apache-2.0
// JSON of Jaeger as messages: its wrappings, references, processes, tags; what is odd.
#include "tests/unit/span_import.h"

#define TRACE "\"traceID\":\"0c1d\""
#define FRONT                                                                        \
    "{" TRACE ",\"spanID\":\"a1\",\"operationName\":\"get\",\"references\":[],"      \
    "\"startTime\":1000,\"duration\":90,\"processID\":\"p1\",\"logs\":[],\"tags\":[" \
    "{\"key\":\"span.kind\",\"type\":\"string\",\"value\":\"client\"},"              \
    "{\"key\":\"http.status_code\",\"type\":\"int64\",\"value\":200}]}"
#define BACK                                                                   \
    "{" TRACE ",\"spanID\":\"00000000000000a2\",\"operationName\":\"GET /\","  \
    "\"references\":[{\"refType\":\"CHILD_OF\"," TRACE ",\"spanID\":\"a1\"}]," \
    "\"startTime\":1010,\"duration\":70,\"processID\":\"p2\",\"tags\":["       \
    "{\"key\":\"span.kind\",\"type\":\"string\",\"value\":\"server\"},"        \
    "{\"key\":\"error\",\"type\":\"bool\",\"value\":true}]}"
#define PROCESSES                                                                                  \
    "\"processes\":{\"p1\":{\"serviceName\":\"web\",\"tags\":[]},\"p2\":{\"serviceName\":\"app\"}" \
    "}"
#define WHOLE "{" TRACE ",\"spans\":[" FRONT "," BACK "]," PROCESSES ",\"warnings\":null}"

static const char wanted[] =
    "CALL 1000>1010 web app 00000000000000a1 0000000000000c1d - GET / ? http\n"
    "RET 1080>1090 app web 00000000000000a1 0000000000000c1d - GET / error http\n";

START_TEST(wrappings)
{
    assert_spans("jaeger", "{\"data\":[" WHOLE "],\"total\":0,\"errors\":null}", wanted);
    assert_spans("jaeger", "{\"total\":0,\"data\":[" WHOLE "]}", wanted);
    assert_spans("jaeger", "[" WHOLE "]", wanted);
    assert_spans("jaeger", WHOLE, wanted);
    assert_spans("jaeger", "{\"data\":[]}", "");
    assert_spans("jaeger", " ", "");
}
END_TEST

// As in the store: each span with its process, one a line.
START_TEST(spans_alone)
{
    assert_spans("jaeger",
                 "{" TRACE ",\"spanID\":\"a1\",\"operationName\":\"x\",\"startTime\":1000,"
                 "\"startTimeMillis\":1,\"duration\":90,\"process\":{\"serviceName\":\"web\"},"
                 "\"tags\":[{\"key\":\"span.kind\",\"value\":\"client\"},"
                 "{\"key\":\"peer.service\",\"value\":\"db\"}]}\n"
                 "{" TRACE ",\"spanID\":\"a2\",\"parentSpanID\":\"a1\",\"operationName\":\"y\","
                 "\"startTime\":1010,\"duration\":70,\"process\":{\"serviceName\":\"app\"},"
                 "\"tags\":[{\"key\":\"span.kind\",\"value\":\"server\"}]}\n",
                 "CALL 1000>1010 web app 00000000000000a1 0000000000000c1d - y ? ?\n"
                 "RET 1080>1090 app web 00000000000000a1 0000000000000c1d - y ? ?\n");
}
END_TEST

// A store may keep tags, or some of them, as fields; no scalar, no tag.
START_TEST(tags_as_fields)
{
    assert_spans("jaeger",
                 "{" TRACE ",\"spanID\":\"a1\",\"startTime\":1000,\"duration\":90,"
                 "\"process\":{\"serviceName\":\"web\",\"tag\":{\"span@kind\":\"x\"}},\"tags\":[],"
                 "\"tag\":{\"span@kind\":\"client\",\"peer@service\":\"db\",\"x\":[{}],\"y\":null,"
                 "\"http@status_code\":\"503\",\"error\":true}}\n"
                 "{" TRACE ",\"spanID\":\"a3\",\"startTime\":2000,\"duration\":9,"
                 "\"process\":{\"serviceName\":\"app\"},"
                 "\"tags\":[{\"key\":\"span.kind\",\"value\":\"client\"}],"
                 "\"tag\":{\"peer@service\":\"cache\",\"db@system\":\"redis\"}}\n"
                 "{" TRACE ",\"spanID\":\"a4\",\"startTime\":3000,\"tag\":5}\n",
                 "CALL 1000 web db 00000000000000a1 0000000000000c1d - ? ? http\n"
                 "RET 1090R db web 00000000000000a1 0000000000000c1d - ? 503 http\n"
                 "CALL 2000 app cache 00000000000000a3 0000000000000c1d - ? ? redis\n"
                 "RET 2009R cache app 00000000000000a3 0000000000000c1d - ? ? redis\n");
}
END_TEST

#define SPAN(references)                                                                     \
    "{" TRACE ",\"spans\":[{\"spanID\":\"b1\",\"startTime\":5,\"duration\":4,"               \
    "\"processID\":\"p1\",\"tags\":[{\"key\":\"span.kind\",\"value\":\"server\"},"           \
    "{\"key\":\"peer.service\",\"value\":\"w\"}]},{\"spanID\":\"b2\",\"startTime\":6,"       \
    "\"duration\":2,\"processID\":\"p1\",\"references\":[" references "],\"tags\":["         \
    "{\"key\":\"span.kind\",\"value\":\"client\"},"                                          \
    "{\"key\":\"peer.service\",\"value\":\"db\"}]}],\"processes\":{\"p1\":{\"serviceName\":" \
    "\"s\"}}}"

static void assert_parent(const char *json, const char *parent, guint foreign)
{
    g_autoptr(SpanImport) taken = span_import_new();
    g_autofree char *text =
        g_strdup_printf("CALL 5R w s 00000000000000b1 0000000000000c1d - ? ? ?\n"
                        "RET 9 s w 00000000000000b1 0000000000000c1d - ? ? ?\n"
                        "CALL 6 s db 00000000000000b2 0000000000000c1d %s ? ? ?\n"
                        "RET 8R db s 00000000000000b2 0000000000000c1d %s ? ? ?\n",
                        parent, parent);
    ck_assert_ptr_null(span_import_run(taken, "jaeger", json));
    ck_assert_str_eq(taken->text->str, text);
    ck_assert_uint_eq(span_import_counter(taken, "spans_foreign_parent"), foreign);
}

#define CHILD(id) "{\"refType\":\"CHILD_OF\",\"spanID\":\"" id "\"}"
#define FOLLOWER(id) "{\"refType\":\"FOLLOWS_FROM\"," TRACE ",\"spanID\":\"" id "\"}"
#define FOREIGN "{\"refType\":\"CHILD_OF\",\"traceID\":\"99\",\"spanID\":\"b1\"}"

START_TEST(references)
{
    assert_parent(SPAN(CHILD("b1")), "00000000000000b1", 0);
    assert_parent(SPAN(FOLLOWER("b1")), "00000000000000b1", 0);
    assert_parent(SPAN(FOLLOWER("77") "," CHILD("b1")), "00000000000000b1", 0);
    assert_parent(SPAN(FOREIGN "," FOLLOWER("b1")), "00000000000000b1", 0);
    assert_parent(SPAN(FOREIGN), "-", 1);
    assert_parent(SPAN(CHILD("77")), "?", 0);
    assert_parent(SPAN(""), "-", 0);
    assert_parent(SPAN("5,null,{}"), "-", 0);
}
END_TEST

START_TEST(odd_spans)
{
    g_autoptr(SpanImport) taken = span_import_new();
    ck_assert_ptr_null(span_import_run(
        taken, "jaeger",
        "{" TRACE ",\"spans\":[7,null,{},"
        "{\"spanID\":\"1\",\"startTime\":5,\"duration\":-3,\"processID\":\"p1\"},"
        "{\"spanID\":\"2\",\"startTime\":\"x\",\"duration\":1,\"processID\":\"p1\"},"
        "{\"spanID\":\"3\",\"startTime\":5,\"duration\":9223372036854775807,\"processID\":\"p9\"},"
        "{\"spanID\":\"4\",\"startTime\":5.0,\"duration\":\"2\",\"processID\":\"p1\",\"tags\":"
        "[{\"key\":\"span.kind\",\"value\":\"server\"},{\"key\":5},{\"value\":1},{}]}"
        "],\"processes\":{\"p1\":{\"serviceName\":\"s\"}}}"));
    ck_assert_str_eq(taken->text->str,
                     "CALL 5R unknown-caller-of-s s 0000000000000004 0000000000000c1d - ? ? ?\n"
                     "RET 7 s unknown-caller-of-s 0000000000000004 0000000000000c1d - ? ? ?\n");
    ck_assert_uint_eq(span_import_counter(taken, "spans"), 5);
    ck_assert_uint_eq(span_import_counter(taken, "spans_no_id"), 1);
    ck_assert_uint_eq(span_import_counter(taken, "spans_backwards"), 1);
    ck_assert_uint_eq(span_import_counter(taken, "spans_no_time"), 1);
    ck_assert_uint_eq(span_import_counter(taken, "spans_no_service"), 1);
    ck_assert_uint_eq(span_import_counter(taken, "spans_internal"), 3);
    ck_assert_uint_eq(span_import_counter(taken, "spans_peer_unknown"), 1);
}
END_TEST

START_TEST(long_names_are_cut)
{
    g_autoptr(SpanImport) taken = span_import_new();
    g_autofree char *name = g_strnfill(300, 'n');
    g_autofree char *json = g_strdup_printf(
        "{" TRACE ",\"spanID\":\"1\",\"operationName\":\"%s\",\"startTime\":5,\"tags\":["
        "{\"key\":\"span.kind\",\"value\":\"client\"}],\"process\":{\"serviceName\":\"s\"}}",
        name);
    ck_assert_ptr_null(span_import_run(taken, "jaeger", json));
    ck_assert_uint_eq(span_import_counter(taken, "spans_names_cut"), 1);
    ck_assert_ptr_nonnull(strstr(taken->text->str, " nnn"));
    ck_assert_uint_lt(taken->text->len, 350);
}
END_TEST

START_TEST(other_forms_are_refused)
{
    static const char *const texts[] = {"{}",
                                        "[[5]]",
                                        "{\"spans\":5}",
                                        "{\"data\":{}}",
                                        "[{\"traceId\":\"1\",\"id\":\"2\"}]",
                                        "{\"resourceSpans\":[]}"};
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(SpanImport) taken = span_import_new();
        const char *error = span_import_run(taken, "jaeger", texts[i]);
        ck_assert_ptr_nonnull(error);
        ck_assert(g_str_has_prefix(error, ":1: n"));
        taken->import.skip_bad = true;
        ck_assert_ptr_null(span_import_run(taken, "jaeger", texts[i]));
        ck_assert_uint_ge(span_import_counter(taken, "json_bad_values"), 1);
    }
}
END_TEST

START_TEST(a_full_output)
{
    g_autoptr(SpanImport) taken = span_import_new();
    taken->left = 1;
    ck_assert_str_eq(taken->text->str, "");
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(GError) error = NULL;
    const BbImporter *importer = bb_importer_find("jaeger");
    gpointer reading = importer->begin(&taken->import);
    const char *path = scratch_file(scratch, "x", WHOLE, strlen(WHOLE));
    ck_assert(importer->read(reading, path, NULL));
    ck_assert(!importer->finish(reading, &error));
    ck_assert_str_eq(error->message, "full");
    importer->end(reading);
}
END_TEST

START_TEST(a_cut_file)
{
    g_autoptr(SpanImport) taken = span_import_new();
    ck_assert_ptr_null(span_import_run(taken, "jaeger", "{\"data\":[" WHOLE ",{\"spans\":[{"));
    ck_assert_str_eq(taken->text->str, wanted);
    ck_assert_ptr_nonnull(strstr(taken->warnings->str, "ends in the value that begins in line 1"));
}
END_TEST

START_TEST(counters_have_their_sentences)
{
    const BbImporter *importer = bb_importer_find("jaeger");
    for (const BbImportCount *count = importer->counts; count->name; count++)
        ck_assert_str_eq(bb_importer_meaning(count->name), count->meaning);
    ck_assert_ptr_nonnull(bb_importer_meaning("json_bad_values"));
    ck_assert_ptr_nonnull(bb_importer_meaning("spans_circular"));
}
END_TEST

TEST_MAIN("jaeger", wrappings, spans_alone, tags_as_fields, references, odd_spans,
          long_names_are_cut, other_forms_are_refused, a_full_output, a_cut_file,
          counters_have_their_sentences)
