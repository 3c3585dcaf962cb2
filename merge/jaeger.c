// SPDX-License-Identifier: Apache-2.0
// In: traces as Jaeger's query API and UI give them: {"data": [trace ...]}, an array of traces, one
// trace, or spans as they lie in its Elasticsearch store, one a line. Out: spans.
#include "merge/importer.h"

#include "merge/member.h"
#include "merge/span_reading.h"

#include <string.h>

static void take_tags(BbSpanReading *reading, JsonArray *tags)
{
    guint length = tags ? json_array_get_length(tags) : 0;
    for (guint i = 0; i < length; i++) {
        JsonObject *tag = bb_element_object(tags, i);
        const char *key = bb_member_text(tag, "key");
        JsonNode *value = bb_member_node(tag, "value");
        if (key && value)
            bb_span_tags_add(reading->tags, key, value);
    }
}

// The first reference that a span is a child of, else the first that it follows; of its own trace.
static BbId find_parent(const BbSpanReading *reading, JsonObject *object, BbId trace)
{
    BbNames *names = reading->import->names;
    JsonArray *references = bb_member_array(object, "references");
    guint length = references ? json_array_get_length(references) : 0;
    BbId parent = {.form = BB_ID_ABSENT};
    bool foreign = false;
    for (guint i = 0; i < length; i++) {
        JsonObject *reference = bb_element_object(references, i);
        bool child = g_strcmp0(bb_member_text(reference, "refType"), "CHILD_OF") == 0;
        BbId id = bb_span_id_parse(names, bb_member_text(reference, "spanID"));
        BbId its_trace = bb_span_id_parse(names, bb_member_text(reference, "traceID"));
        if (bb_id_is_known(its_trace) && !bb_id_equal(its_trace, trace)) {
            foreign = true;
            continue;
        }
        if (child && bb_id_is_known(id))
            return id;
        parent = bb_id_is_known(parent) ? parent : id;
    }
    if (bb_id_is_known(parent))
        return parent;
    if (foreign)
        bb_counters_add(reading->import->counters, "spans_foreign_parent", 1);
    return bb_span_id_parse(names, bb_member_text(object, "parentSpanID"));
}

// process: what the trace knows of processes; a span may have its own instead.
static const char *find_service(JsonObject *object, JsonObject *processes)
{
    const char *key = bb_member_text(object, "processID");
    JsonObject *process = bb_member_object(object, "process");
    if (!process && key)
        process = bb_member_object(processes, key);
    return bb_member_text(process, "serviceName");
}

static void take_span(BbSpanReading *reading, JsonObject *object, BbId trace, JsonObject *processes)
{
    BbNames *names = reading->import->names;
    BbSpan span = bb_span_empty();
    span.trace = bb_span_id_parse(names, bb_member_text(object, "traceID"));
    if (!bb_id_is_known(span.trace))
        span.trace = trace;
    span.id = bb_span_id_parse(names, bb_member_text(object, "spanID"));
    span.parent = find_parent(reading, object, span.trace);
    span.service = bb_span_reading_name(reading, find_service(object, processes));
    span.op = bb_span_reading_name(reading, bb_member_text(object, "operationName"));
    bb_span_take_micros(&span, object, "startTime");
    bb_span_reading_begin_span(reading);
    take_tags(reading, bb_member_array(object, "tags"));
    // As the store keeps tags where it was told to make fields of them.
    bb_span_tags_add_members(reading->tags, bb_member_object(object, "tag"), '@');
    span.kind = bb_span_kind_parse(bb_span_tags_kind(reading->tags));
    bb_span_reading_add(reading, &span);
}

static bool take_value(BbSpanReading *reading, JsonObject *value)
{
    JsonArray *spans = bb_member_array(value, "spans");
    BbId trace = bb_span_id_parse(reading->import->names, bb_member_text(value, "traceID"));
    if (!spans && bb_member_text(value, "spanID")) {
        take_span(reading, value, trace, NULL);
        return true;
    }
    guint length = spans ? json_array_get_length(spans) : 0;
    for (guint i = 0; i < length; i++) {
        JsonObject *span = bb_element_object(spans, i);
        if (span)
            take_span(reading, span, trace, bb_member_object(value, "processes"));
    }
    return spans != NULL;
}

static bool jaeger_read(gpointer reading, const char *path, GError **error)
{
    static const char *const lists[] = {"data", NULL};
    static const BbSpanForm form = {
        lists,
        "neither a trace nor a span of Jaeger (spans and processes, or spanID): is it zipkin or "
        "otlp?",
        take_value,
    };
    return bb_span_reading_read(reading, &form, path, error);
}

static const BbImportCount counts[] = {BB_SPAN_READING_COUNTS, {NULL, NULL}};

const BbImporter bb_importer_jaeger = {
    .name = "jaeger",
    .about = "traces of Jaeger as JSON: of its API, UI, or store",
    .counts = counts,
    .begin = bb_span_reading_begin,
    .read = jaeger_read,
    .finish = bb_span_reading_finish,
    .end = bb_span_reading_end,
};
