// SPDX-License-Identifier: Apache-2.0
// In: Zipkin v2 JSON: an array of spans, an array of such arrays (traces), or spans one a line.
// Out: spans. The client and the server of a call may share one id.
#include "merge/importer.h"

#include "merge/member.h"
#include "merge/span_reading.h"

// What an endpoint is called: its service, else its address.
static const char *endpoint_name(JsonObject *object, const char *member)
{
    JsonObject *endpoint = bb_member_object(object, member);
    const char *name = bb_member_text(endpoint, "serviceName");
    if (!name)
        name = bb_member_text(endpoint, "ipv4");
    return name ? name : bb_member_text(endpoint, "ipv6");
}

// An error may be an empty text: being there is enough.
static void take_error(BbSpanReading *reading, JsonObject *tags)
{
    JsonNode *node = bb_member_node(tags, "error");
    if (node && JSON_NODE_HOLDS_VALUE(node) && !bb_member_text(tags, "error") &&
        json_node_get_value_type(node) == G_TYPE_STRING)
        bb_span_tags_set_failed(reading->tags, true);
}

// Spans of v1 have the same members, but say who and when in annotations.
static bool is_span(JsonObject *value)
{
    return bb_member_text(value, "traceId") && bb_member_text(value, "id") &&
           !bb_member_node(value, "binaryAnnotations");
}

static bool take_value(BbSpanReading *reading, JsonObject *value)
{
    BbNames *names = reading->import->names;
    JsonObject *tags = bb_member_object(value, "tags");
    BbSpan span = bb_span_empty();
    if (!is_span(value))
        return false;
    span.trace = bb_span_id_parse(names, bb_member_text(value, "traceId"));
    span.id = bb_span_id_parse(names, bb_member_text(value, "id"));
    span.parent = bb_span_id_parse(names, bb_member_text(value, "parentId"));
    span.kind = bb_span_kind_parse(bb_member_text(value, "kind"));
    span.service = bb_span_reading_name(reading, endpoint_name(value, "localEndpoint"));
    span.peer = bb_span_reading_name(reading, endpoint_name(value, "remoteEndpoint"));
    span.op = bb_span_reading_name(reading, bb_member_text(value, "name"));
    bb_span_take_micros(&span, value, "timestamp");
    bb_span_reading_begin_span(reading);
    bb_span_tags_add_members(reading->tags, tags, '.');
    take_error(reading, tags);
    bb_span_reading_add(reading, &span);
    return true;
}

static bool zipkin_read(gpointer reading, const char *path, GError **error)
{
    static const char *const lists[] = {NULL};
    static const BbSpanForm form = {
        lists,
        "no span of Zipkin v2 (traceId, id, localEndpoint): is it v1, jaeger or otlp?",
        take_value,
    };
    return bb_span_reading_read(reading, &form, path, error);
}

static const BbImportCount counts[] = {BB_SPAN_READING_COUNTS, {NULL, NULL}};

const BbImporter bb_importer_zipkin = {
    .name = "zipkin",
    .about = "traces of Zipkin as JSON, version 2",
    .counts = counts,
    .begin = bb_span_reading_begin,
    .read = zipkin_read,
    .finish = bb_span_reading_finish,
    .end = bb_span_reading_end,
};
