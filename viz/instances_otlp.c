// SPDX-License-Identifier: Apache-2.0
// In: path instances. Out: spans as OTLP in JSON (opentelemetry-proto, ExportTraceServiceRequest),
// as OpenTelemetry's collector reads and writes it: a request a line, each small enough to be
// posted as it is.
//
// An instance is a trace. A call is a span of its callee (SERVER; of convolution a message:
// CONSUMER) and, where it was seen at both ends, one of its caller (CLIENT) above. Attributes have
// the names of OpenTelemetry's semantic conventions; what these have none for begins with
// "bbtrace.".
#include "viz/instance_form.h"

#include "data/path.h"
#include "data/status.h"

#include <stdlib.h>
#include <string.h>

#define BATCH 4096u // spans of a request: 2 to 3 MB; receivers take 4 and more

typedef enum { KIND_SERVER = 2, KIND_CLIENT = 3, KIND_CONSUMER = 5 } Kind;
typedef enum { STATUS_UNSET, STATUS_OK, STATUS_ERROR } Status;

#define TRACE_BYTES 16

typedef struct {
    guint8 trace[TRACE_BYTES];
    guint64 id, parent; // no span above: parent 0
    Kind kind;
    guint32 service;
    BbInstanceCall call;
    const char *call_id;
    guint64 instance;
    guint32 rank;
} Span;

typedef struct {
    BbJson *json;
    const BbNames *names; // NULL before the first instance
    GArray *spans;        // of Span, that wait for their request
    GStringChunk *texts;  // of their call_id
    GString *scratch;
} Writing;

static gpointer begin(BbJson *json, gint64 start_ns)
{
    (void)start_ns;
    Writing *writing = g_new(Writing, 1);
    *writing = (Writing){
        .json = json,
        .spans = g_array_new(FALSE, FALSE, sizeof(Span)),
        .texts = g_string_chunk_new(4096),
        .scratch = g_string_new(NULL),
    };
    return writing;
}

// ---- ids ---------------------------------------------------------------------------------------

// What tells an instance from those of all traces; the same in every run. The last bytes are where
// its spans count from.
typedef struct {
    guint8 trace[TRACE_BYTES];
    guint64 spans;
    guint64 rest;
} Identity;

static Identity identify(const BbInstanceView *view, GString *scratch)
{
    Identity identity;
    gsize size = sizeof identity;
    const BbInstanceCall *root = &view->calls[0];
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    bb_instance_set_id(view, 0, scratch);
    g_string_append_printf(scratch, " %" G_GUINT64_FORMAT " %" G_GINT64_FORMAT " %s %s",
                           view->number, root->call_ns, bb_names_text(view->names, root->caller),
                           bb_names_text(view->names, root->callee));
    g_checksum_update(sum, (const guchar *)scratch->str, (gssize)scratch->len);
    g_checksum_get_digest(sum, (guint8 *)&identity, &size);
    identity.spans = GUINT64_FROM_LE(identity.spans);
    return identity;
}

// Of the n-th span of an instance. None is 0, which means that there is none.
static guint64 span_id(const Identity *identity, guint64 n)
{
    guint64 id = identity->spans + n;
    return id ? id : G_MAXUINT64;
}

static void put_hex(Writing *writing, const char *key, const guint8 *bytes, gsize count)
{
    static const char digits[] = "0123456789abcdef";
    g_string_set_size(writing->scratch, 2 * count);
    for (gsize i = 0; i < count; i++) {
        writing->scratch->str[2 * i] = digits[bytes[i] >> 4];
        writing->scratch->str[2 * i + 1] = digits[bytes[i] & 15];
    }
    bb_json_put_string(writing->json, key, writing->scratch->str);
}

static void put_span_id(Writing *writing, const char *key, guint64 id)
{
    guint64 bytes = GUINT64_TO_BE(id);
    put_hex(writing, key, (const guint8 *)&bytes, sizeof bytes);
}

// ---- attributes --------------------------------------------------------------------------------

// Where conventions have names of their own for what a protocol has.
static const struct {
    const char *proto;
    const char *status; // attribute of its status
    bool number;        // which is a number there
    const char *system; // attribute of the protocol besides network.protocol.name
} conventions[] = {
    {"http", "http.response.status_code", true, NULL},
    {"http2", "http.response.status_code", true, NULL},
    {"grpc", "rpc.grpc.status_code", true, "rpc.system"},
    {"cassandra", "db.response.status_code", false, "db.system.name"},
    {"memcached", "db.response.status_code", false, "db.system.name"},
    {"mongodb", "db.response.status_code", false, "db.system.name"},
    {"mysql", "db.response.status_code", false, "db.system.name"},
    {"postgresql", "db.response.status_code", false, "db.system.name"},
    {"redis", "db.response.status_code", false, "db.system.name"},
};

static void begin_attribute(BbJson *json, const char *key)
{
    bb_json_begin_object(json);
    bb_json_put_string(json, "key", key);
    bb_json_key(json, "value");
    bb_json_begin_object(json);
}

static void end_attribute(BbJson *json)
{
    bb_json_end_object(json);
    bb_json_end_object(json);
}

static void put_text(BbJson *json, const char *key, const char *text)
{
    begin_attribute(json, key);
    bb_json_put_string(json, "stringValue", text);
    end_attribute(json);
}

// 64-bit integers are strings in JSON of protocol buffers.
static void put_number(BbJson *json, const char *key, guint64 number)
{
    char text[24];
    g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT, number);
    begin_attribute(json, key);
    bb_json_put_string(json, "intValue", text);
    end_attribute(json);
}

static bool is_number(const char *text)
{
    return *text && strlen(text) < 10 && strspn(text, "0123456789") == strlen(text);
}

static bool is_plain_status(const char *status)
{
    return !*status || strcmp(status, "ok") == 0 || strcmp(status, "error") == 0;
}

static void put_protocol(BbJson *json, const char *proto, const char *status)
{
    const char *attribute = "rpc.response.status_code", *system = NULL;
    bool number = false;
    for (gsize i = 0; i < G_N_ELEMENTS(conventions); i++) {
        if (strcmp(conventions[i].proto, proto) != 0)
            continue;
        attribute = conventions[i].status;
        number = conventions[i].number;
        system = conventions[i].system;
    }
    bool is_http2 = strcmp(proto, "http2") == 0; // a version of http there
    if (*proto)
        put_text(json, "network.protocol.name", is_http2 ? "http" : proto);
    if (is_http2)
        put_text(json, "network.protocol.version", "2");
    if (system)
        put_text(json, system, proto);
    if (number && is_number(status))
        put_number(json, attribute, strtoull(status, NULL, 10));
    else if (!is_plain_status(status))
        put_text(json, number ? "rpc.response.status_code" : attribute, status);
}

static bool is_http(const char *proto)
{
    return strcmp(proto, "http") == 0 || strcmp(proto, "http2") == 0;
}

// Codes that are the server's fault: UNKNOWN, DEADLINE_EXCEEDED, UNIMPLEMENTED, INTERNAL,
// UNAVAILABLE, DATA_LOSS (semantic conventions for gRPC).
static bool is_grpc_server_error(const char *status)
{
    static const char *const codes[] = {"2", "4", "12", "13", "14", "15", NULL};
    return g_strv_contains(codes, status);
}

static bool waits_in_vain(const Span *span)
{
    return span->kind != KIND_CONSUMER && span->call.return_ns == BB_TIME_NONE;
}

// What a client did wrong (HTTP's 4xx) is an error of its span, and none of the server's.
static bool is_error(const Writing *writing, const Span *span)
{
    const char *proto = bb_names_text(writing->names, span->call.proto);
    const char *status = bb_names_text(writing->names, span->call.status);
    if (waits_in_vain(span))
        return true;
    if (span->kind == KIND_SERVER && is_http(proto) && is_number(status))
        return strtoull(status, NULL, 10) >= 500;
    if (span->kind == KIND_SERVER && strcmp(proto, "grpc") == 0 && is_number(status))
        return is_grpc_server_error(status);
    return bb_status_is_error(proto, status);
}

// "GET" of "GET /item/*"
static void put_method(BbJson *json, const char *op)
{
    g_autofree char *method = g_strndup(op, strcspn(op, " "));
    if (*method && strspn(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == strlen(method))
        put_text(json, "http.request.method", method);
}

static void put_error(const Writing *writing, const Span *span)
{
    const char *status = bb_names_text(writing->names, span->call.status);
    if (is_error(writing, span))
        put_text(writing->json, "error.type",
                 waits_in_vain(span)       ? "timeout"
                 : is_plain_status(status) ? "_OTHER"
                                           : status);
}

static void put_attributes(Writing *writing, const Span *span)
{
    BbJson *json = writing->json;
    const BbInstanceCall *call = &span->call;
    bool at_caller = span->kind == KIND_CLIENT;
    bb_json_key(json, "attributes");
    bb_json_begin_array(json);
    put_text(json, at_caller ? "server.address" : "client.address",
             bb_instance_node(writing->names, at_caller ? call->callee : call->caller));
    put_protocol(json, bb_names_text(writing->names, call->proto),
                 bb_names_text(writing->names, call->status));
    if (is_http(bb_names_text(writing->names, call->proto)))
        put_method(json, bb_names_text(writing->names, call->op));
    put_error(writing, span);
    put_text(json, "bbtrace.call_id", span->call_id);
    if (call->confidence >= 0) {
        begin_attribute(json, "bbtrace.confidence");
        bb_json_put_share(json, "doubleValue", (double)call->confidence);
        end_attribute(json);
    }
    if (!at_caller && call->turn_ns > 0)
        put_number(json, "bbtrace.waited_for_turn_ns", (guint64)call->turn_ns);
    if (!at_caller && call->pool_ns > 0)
        put_number(json, "bbtrace.waited_for_pool_ns", (guint64)call->pool_ns);
    if (span->parent == 0) {
        put_number(json, "bbtrace.instance", span->instance);
        if (span->rank > 0)
            put_number(json, "bbtrace.pattern", span->rank);
    }
    bb_json_end_array(json);
}

// ---- spans -------------------------------------------------------------------------------------

static void put_time(BbJson *json, const char *key, gint64 ns)
{
    char text[24];
    g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, MAX(ns, 0));
    bb_json_put_string(json, key, text);
}

static void put_status(Writing *writing, const Span *span)
{
    const char *status = bb_names_text(writing->names, span->call.status);
    Status code = is_error(writing, span)     ? STATUS_ERROR
                  : strcmp(status, "ok") == 0 ? STATUS_OK
                                              : STATUS_UNSET;
    if (code == STATUS_UNSET)
        return;
    bb_json_key(writing->json, "status");
    bb_json_begin_object(writing->json);
    bb_json_put_uint(writing->json, "code", code);
    if (waits_in_vain(span))
        bb_json_put_string(writing->json, "message", "no return");
    bb_json_end_object(writing->json);
}

static void put_span(Writing *writing, const Span *span)
{
    BbJson *json = writing->json;
    const BbInstanceCall *call = &span->call;
    bool at_caller = span->kind == KIND_CLIENT;
    bb_json_begin_object(json);
    put_hex(writing, "traceId", span->trace, sizeof span->trace);
    put_span_id(writing, "spanId", span->id);
    if (span->parent)
        put_span_id(writing, "parentSpanId", span->parent);
    bb_json_put_string(json, "name", bb_instance_title(writing->names, call));
    bb_json_put_uint(json, "kind", span->kind);
    put_time(json, "startTimeUnixNano", at_caller ? call->call_ns : call->arrived_ns);
    put_time(json, "endTimeUnixNano", at_caller ? call->back_ns : call->left_ns);
    put_attributes(writing, span);
    put_status(writing, span);
    bb_json_end_object(json);
}

// ---- requests ----------------------------------------------------------------------------------

static gint compare_services(gconstpointer left, gconstpointer right)
{
    guint32 a = ((const Span *)left)->service, b = ((const Span *)right)->service;
    return (a > b) - (a < b);
}

// spans[from .. end) are of one service.
static void put_resource(Writing *writing, guint from, guint end)
{
    BbJson *json = writing->json;
    guint32 service = g_array_index(writing->spans, Span, from).service;
    bb_json_begin_object(json);
    bb_json_key(json, "resource");
    bb_json_begin_object(json);
    bb_json_key(json, "attributes");
    bb_json_begin_array(json);
    put_text(json, "service.name", bb_instance_node(writing->names, service));
    bb_json_end_array(json);
    bb_json_end_object(json);
    bb_json_key(json, "scopeSpans");
    bb_json_begin_array(json);
    bb_json_begin_object(json);
    bb_json_key(json, "scope");
    bb_json_begin_object(json);
    bb_json_put_string(json, "name", "bbtrace");
    bb_json_put_string(json, "version", BB_VERSION);
    bb_json_end_object(json);
    bb_json_key(json, "spans");
    bb_json_begin_array(json);
    for (guint i = from; i < end; i++)
        put_span(writing, &g_array_index(writing->spans, Span, i));
    bb_json_end_array(json);
    bb_json_end_object(json);
    bb_json_end_array(json);
    bb_json_end_object(json);
}

// g_array_sort keeps the order of equals.
static void put_request(Writing *writing)
{
    BbJson *json = writing->json;
    GArray *spans = writing->spans;
    g_array_sort(spans, compare_services);
    bb_json_begin_object(json);
    bb_json_key(json, "resourceSpans");
    bb_json_begin_array(json);
    for (guint from = 0, end; from < spans->len; from = end) {
        const Span *first = &g_array_index(spans, Span, from);
        for (end = from + 1; end < spans->len; end++)
            if (g_array_index(spans, Span, end).service != first->service)
                break;
        put_resource(writing, from, end);
    }
    bb_json_end_array(json);
    bb_json_end_object(json);
    g_array_set_size(spans, 0);
    g_string_chunk_clear(writing->texts);
}

// Whether the caller's end was seen apart from the callee's.
static bool is_seen_twice(const BbInstanceCall *call)
{
    return call->arrived_ns != call->call_ns ||
           (call->return_ns != BB_TIME_NONE && call->left_ns != call->back_ns);
}

static void add_span(Writing *writing, Span *span, guint64 id, Kind kind, guint32 service)
{
    span->id = id;
    span->kind = kind;
    span->service = service;
    g_array_append_val(writing->spans, *span);
    span->parent = id;
}

// The callee's span of the k-th call is the 2 k-th of the instance, that of its caller the next.
static void write_instance(gpointer state, const BbInstanceView *view)
{
    Writing *writing = state;
    Identity identity = identify(view, writing->scratch);
    writing->names = view->names;
    if (writing->spans->len > 0 && writing->spans->len + 2 * view->count > BATCH)
        put_request(writing);
    for (guint k = 0; k < view->count; k++) {
        const BbInstanceCall *call = &view->calls[k];
        Span span = {.call = *call, .instance = view->number, .rank = view->rank};
        memcpy(span.trace, identity.trace, sizeof span.trace);
        bb_instance_set_id(view, k, writing->scratch);
        span.call_id = g_string_chunk_insert(writing->texts, writing->scratch->str);
        if (call->parent != BB_CALL_NO_PARENT)
            span.parent = span_id(&identity, 2 * (guint64)call->parent);
        if (!view->messages && is_seen_twice(call))
            add_span(writing, &span, span_id(&identity, 2 * (guint64)k + 1), KIND_CLIENT,
                     call->caller);
        add_span(writing, &span, span_id(&identity, 2 * (guint64)k),
                 view->messages ? KIND_CONSUMER : KIND_SERVER, call->callee);
    }
}

static void end(gpointer state)
{
    Writing *writing = state;
    if (writing->spans->len > 0)
        put_request(writing);
    g_array_unref(writing->spans);
    g_string_chunk_free(writing->texts);
    g_string_free(writing->scratch, TRUE);
    g_free(writing);
}

const BbInstanceForm bb_instance_form_otlp = {
    .name = "otlp",
    .about = "spans of OpenTelemetry (OTLP as JSON): Jaeger, Tempo, collectors",
    .kept = BB_INSTANCE_CALL_WHOLE,
    .begin = begin,
    .write = write_instance,
    .end = end,
};
