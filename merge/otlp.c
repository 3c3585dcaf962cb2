// SPDX-License-Identifier: Apache-2.0
// In: OpenTelemetry's OTLP as JSON: one document, or one export request a line, as the collector's
// file exporter writes; or what query APIs wrap it in. Out: spans.
//
// Protocol buffers as JSON allow names in camelCase and in snake_case, 64-bit integers as numbers
// and as strings, enumerations as numbers and as names, bytes as base64; OTLP has ids in hex. All
// are taken.
#include "merge/importer.h"

#include "merge/member.h"
#include "merge/span_reading.h"

// A member's two names.
typedef struct Field {
    const char *camel, *snake;
} Field;

#define FIELD(camel, snake) ((Field){camel, snake})

static JsonNode *node_of(JsonObject *object, Field field)
{
    JsonNode *node = bb_member_node(object, field.camel);
    return node ? node : bb_member_node(object, field.snake);
}

static const char *text_of(JsonObject *object, Field field)
{
    const char *text = bb_member_text(object, field.camel);
    return text ? text : bb_member_text(object, field.snake);
}

static JsonArray *array_of(JsonObject *object, Field field)
{
    JsonArray *array = bb_member_array(object, field.camel);
    return array ? array : bb_member_array(object, field.snake);
}

static guint length_of(JsonArray *array)
{
    return array ? json_array_get_length(array) : 0;
}

// The scalar in an AnyValue, NULL for lists and bytes.
static JsonNode *any_value(JsonObject *value)
{
    static const Field fields[] = {
        {"stringValue", "string_value"},
        {"intValue", "int_value"},
        {"boolValue", "bool_value"},
        {"doubleValue", "double_value"},
    };
    JsonNode *node = NULL;
    for (gsize i = 0; i < G_N_ELEMENTS(fields) && !node; i++)
        node = node_of(value, fields[i]);
    return node;
}

static void take_attributes(BbSpanReading *reading, JsonArray *attributes)
{
    for (guint i = 0; i < length_of(attributes); i++) {
        JsonObject *attribute = bb_element_object(attributes, i);
        const char *key = bb_member_text(attribute, "key");
        JsonNode *value = any_value(bb_member_object(attribute, "value"));
        if (key && value)
            bb_span_tags_add(reading->tags, key, value);
    }
}

static const char *find_service(JsonObject *resource)
{
    JsonArray *attributes = bb_member_array(resource, "attributes");
    for (guint i = 0; i < length_of(attributes); i++) {
        JsonObject *attribute = bb_element_object(attributes, i);
        JsonObject *value = bb_member_object(attribute, "value");
        if (g_strcmp0(bb_member_text(attribute, "key"), "service.name") == 0)
            return text_of(value, FIELD("stringValue", "string_value"));
    }
    return NULL;
}

static BbSpanKind find_kind(JsonObject *object)
{
    static const BbSpanKind kinds[] = {BB_SPAN_UNSET,  BB_SPAN_INTERNAL, BB_SPAN_SERVER,
                                       BB_SPAN_CLIENT, BB_SPAN_PRODUCER, BB_SPAN_CONSUMER};
    gint64 number = 0;
    if (bb_member_integer(object, "kind", &number))
        return number > 0 && number < (gint64)G_N_ELEMENTS(kinds) ? kinds[number] : BB_SPAN_UNSET;
    return bb_span_kind_parse(bb_member_text(object, "kind"));
}

static gint64 find_time(JsonObject *object, Field field)
{
    gint64 value = 0;
    return bb_node_integer(node_of(object, field), &value) ? bb_span_time(value, 1) : BB_TIME_NONE;
}

static void take_status(BbSpanReading *reading, JsonObject *object)
{
    JsonObject *status = bb_member_object(object, "status");
    const char *name = bb_member_text(status, "code");
    gint64 code = 0;
    if (!bb_member_integer(status, "code", &code) && name)
        code = g_str_has_suffix(name, "_ERROR") ? 2 : g_str_has_suffix(name, "_OK") ? 1 : 0;
    if (code == 1 || code == 2)
        bb_span_tags_set_failed(reading->tags, code == 2);
}

// A span that nothing is above may be linked to what sent the message it is about.
static BbId find_linked(const BbSpanReading *reading, JsonObject *object, BbId trace)
{
    JsonArray *links = bb_member_array(object, "links");
    BbNames *names = reading->import->names;
    for (guint i = 0; i < length_of(links); i++) {
        JsonObject *link = bb_element_object(links, i);
        const char *its_trace = text_of(link, FIELD("traceId", "trace_id"));
        const char *id = text_of(link, FIELD("spanId", "span_id"));
        if (bb_id_equal(bb_span_id_parse_bytes(names, its_trace, BB_SPAN_TRACE_LENGTH), trace))
            return bb_span_id_parse_bytes(names, id, BB_SPAN_ID_LENGTH);
        bb_counters_add(reading->import->counters, "spans_foreign_parent", 1);
    }
    return (BbId){.form = BB_ID_ABSENT};
}

static BbId find_id(const BbSpanReading *reading, JsonObject *object, Field field, gsize length)
{
    return bb_span_id_parse_bytes(reading->import->names, text_of(object, field), length);
}

static void take_span(BbSpanReading *reading, JsonObject *object, guint32 service)
{
    BbSpan span = bb_span_empty();
    span.trace = find_id(reading, object, FIELD("traceId", "trace_id"), BB_SPAN_TRACE_LENGTH);
    span.id = find_id(reading, object, FIELD("spanId", "span_id"), BB_SPAN_ID_LENGTH);
    span.parent =
        find_id(reading, object, FIELD("parentSpanId", "parent_span_id"), BB_SPAN_ID_LENGTH);
    span.kind = find_kind(object);
    if (!bb_id_is_known(span.parent) && span.kind == BB_SPAN_CONSUMER)
        span.parent = find_linked(reading, object, span.trace);
    span.service = service;
    span.op = bb_span_reading_name(reading, bb_member_text(object, "name"));
    span.start_ns = find_time(object, FIELD("startTimeUnixNano", "start_time_unix_nano"));
    span.end_ns = find_time(object, FIELD("endTimeUnixNano", "end_time_unix_nano"));
    bb_span_reading_begin_span(reading);
    take_attributes(reading, bb_member_array(object, "attributes"));
    take_status(reading, object);
    bb_span_reading_add(reading, &span);
}

static void take_scope(BbSpanReading *reading, JsonObject *scope, guint32 service)
{
    JsonArray *spans = bb_member_array(scope, "spans");
    for (guint i = 0; i < length_of(spans); i++) {
        JsonObject *span = bb_element_object(spans, i);
        if (span)
            take_span(reading, span, service);
    }
}

// The spans of one resource. Before 2022 scopes were called instrumentation libraries.
static bool take_resource(BbSpanReading *reading, JsonObject *value)
{
    static const Field lists[] = {
        {"scopeSpans", "scope_spans"},
        {"instrumentationLibrarySpans", "instrumentation_library_spans"},
    };
    const char *name = find_service(bb_member_object(value, "resource"));
    guint32 service = bb_span_reading_name(reading, name);
    bool found = bb_member_node(value, "resource") != NULL;
    for (gsize list = 0; list < G_N_ELEMENTS(lists); list++) {
        JsonArray *scopes = array_of(value, lists[list]);
        found |= scopes != NULL;
        for (guint i = 0; i < length_of(scopes); i++)
            take_scope(reading, bb_element_object(scopes, i), service);
    }
    return found;
}

// What Tempo's API (trace) and Jaeger's (result) put around a request.
static JsonObject *unwrap(JsonObject *value)
{
    JsonObject *inner = bb_member_object(value, "trace");
    inner = inner ? inner : bb_member_object(value, "result");
    return inner ? inner : value;
}

// The resources of a request; Tempo calls them batches.
static JsonArray *resources_of(JsonObject *request)
{
    JsonArray *resources = array_of(request, FIELD("resourceSpans", "resource_spans"));
    return resources ? resources : bb_member_array(request, "batches");
}

// A resource, as they come out of a list that was taken apart, or a request, as it stands in an
// array of such or in a wrapping.
static bool take_value(BbSpanReading *reading, JsonObject *value)
{
    JsonArray *resources = resources_of(unwrap(value));
    if (!resources)
        return take_resource(reading, value);
    for (guint i = 0; i < length_of(resources); i++) {
        JsonObject *resource = bb_element_object(resources, i);
        if (!resource || !take_resource(reading, resource))
            return false;
    }
    return true;
}

static bool otlp_read(gpointer reading, const char *path, GError **error)
{
    static const char *const lists[] = {"resourceSpans", "resource_spans", "batches", NULL};
    static const BbSpanForm form = {
        lists,
        "no export request of OTLP (resourceSpans, scopeSpans): is it jaeger or zipkin?",
        take_value,
    };
    return bb_span_reading_read(reading, &form, path, error);
}

static const BbImportCount counts[] = {BB_SPAN_READING_COUNTS, {NULL, NULL}};

const BbImporter bb_importer_otlp = {
    .name = "otlp",
    .about = "traces of OpenTelemetry as JSON, a document or a request a line",
    .counts = counts,
    .begin = bb_span_reading_begin,
    .read = otlp_read,
    .finish = bb_span_reading_finish,
    .end = bb_span_reading_end,
};
