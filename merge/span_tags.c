// SPDX-License-Identifier: Apache-2.0
// In: tags of a span. Out: its peer, status and protocol.
//
// A tag may have many names over the years; each name has a place in a table, and of those that
// mean one thing the first in the table counts.
#include "merge/span_tags.h"

#include "data/status.h"
#include "merge/member.h"

#include <string.h>

// What the other side is called. server.address and its like are the far end of a client's span,
// but the span's own end at the server.
typedef enum { FAR_ANY, FAR_CALLEE, FAR_CALLER } Far;

static const struct {
    const char *key;
    Far far;
} peer_keys[] = {
    {"peer.service", FAR_ANY},       {"service.peer.name", FAR_ANY},
    {"server.address", FAR_CALLEE},  {"client.address", FAR_CALLER},
    {"net.peer.name", FAR_ANY},      {"peer.hostname", FAR_ANY},
    {"net.sock.peer.name", FAR_ANY}, {"network.peer.address", FAR_ANY},
    {"net.peer.ip", FAR_ANY},        {"net.sock.peer.addr", FAR_ANY},
    {"peer.address", FAR_ANY},       {"peer.ipv4", FAR_ANY},
    {"peer.ipv6", FAR_ANY},          {"http.host", FAR_CALLEE},
    {"http.client_ip", FAR_CALLER},
};

static const char *const status_keys[] = {
    "http.response.status_code", "http.status_code",         "rpc.grpc.status_code",
    "grpc.status_code",          "rpc.response.status_code", "rpc.jsonrpc.error_code",
    "db.response.status_code",
};

// The protocol that a tag means: that of its value, or (proto) by being there.
static const struct {
    const char *key, *proto;
} proto_keys[] = {
    {"rpc.system", NULL},
    {"rpc.system.name", NULL},
    {"rpc.grpc.status_code", "grpc"},
    {"grpc.status_code", "grpc"},
    {"db.system", NULL},
    {"db.system.name", NULL},
    {"db.type", NULL},
    {"messaging.protocol", NULL},
    {"messaging.system", NULL},
    {"dns.question.name", "dns"},
    {"http.request.method", "http"},
    {"http.method", "http"},
    {"http.response.status_code", "http"},
    {"http.status_code", "http"},
    {"http.url", "http"},
    {"network.protocol.name", NULL},
    {"net.protocol.name", NULL},
    {"component", NULL},
};

// Names that proto= has, but for tcp and udp, which are what is below.
static const char *const protos[] = {
    "http",  "http2",     "grpc",    "websocket", "tls",     "dns",      "postgresql", "mysql",
    "redis", "memcached", "mongodb", "cassandra", "kafka",   "amqp",     "mqtt",       "nats",
    "stomp", "oncrpc",    "thrift",  "ldap",      "smb2",    "dcerpc",   "fastcgi",    "ajp",
    "uwsgi", "scgi",      "smtp",    "sip",       "radius",  "diameter", "snmp",       "ntp",
    "rmi",   "giop",      "dubbo",   "zookeeper", "jsonrpc", "afsrx",
};

// What others call them: values of OpenTelemetry's db.system, messaging.system and rpc.system, and
// of OpenTracing's component. A product that is spoken to in the protocol of another has that
// one's; those that are spoken to in several (activemq, servicebus, jms) are none.
static const struct {
    const char *name, *proto;
} aliases[] = {
    {"apache_dubbo", "dubbo"},
    {"aws.redshift", "postgresql"},
    {"cockroachdb", "postgresql"},
    {"corba", "giop"},
    {"edb", "postgresql"},
    {"iiop", "giop"},
    {"java-kafka", "kafka"},
    {"java-redis", "redis"},
    {"java_rmi", "rmi"},
    {"ldaps", "ldap"},
    {"mariadb", "mysql"},
    {"memcache", "memcached"},
    {"mongo", "mongodb"},
    {"net/http", "http"},
    {"nfs", "oncrpc"},
    {"onc_rpc", "oncrpc"},
    {"postgres", "postgresql"},
    {"rabbitmq", "amqp"},
    {"redshift", "postgresql"},
    {"smb", "smb2"},
    {"ws", "websocket"},
    {"wss", "websocket"},
};

static const char *const version_keys[] = {"network.protocol.version", "http.flavor",
                                           "net.protocol.version"};

#define NOT_FOUND G_MAXUINT

struct BbSpanTags {
    char *peers[FAR_CALLER + 1]; // by whom they name
    guint peer_ranks[FAR_CALLER + 1];
    char *status;
    guint status_rank;
    const char *proto;
    guint proto_rank;
    char *kind;
    bool http2, failed, good;
};

BbSpanTags *bb_span_tags_new(void)
{
    BbSpanTags *tags = g_new0(BbSpanTags, 1);
    bb_span_tags_clear(tags);
    return tags;
}

void bb_span_tags_clear(BbSpanTags *tags)
{
    for (guint far = 0; far < G_N_ELEMENTS(tags->peers); far++)
        g_free(tags->peers[far]);
    g_free(tags->status);
    g_free(tags->kind);
    *tags = (BbSpanTags){
        .peer_ranks = {NOT_FOUND, NOT_FOUND, NOT_FOUND},
        .status_rank = NOT_FOUND,
        .proto_rank = NOT_FOUND,
    };
}

void bb_span_tags_free(BbSpanTags *tags)
{
    if (!tags)
        return;
    bb_span_tags_clear(tags);
    g_free(tags);
}

void bb_span_tags_set_failed(BbSpanTags *tags, bool failed)
{
    tags->failed |= failed;
    tags->good |= !failed;
}

const char *bb_span_tags_kind(const BbSpanTags *tags)
{
    return tags->kind;
}

static const char *find_proto(const char *text)
{
    for (gsize i = 0; i < G_N_ELEMENTS(protos); i++)
        if (g_ascii_strcasecmp(text, protos[i]) == 0)
            return protos[i];
    for (gsize i = 0; i < G_N_ELEMENTS(aliases); i++)
        if (g_ascii_strcasecmp(text, aliases[i].name) == 0)
            return aliases[i].proto;
    return NULL;
}

// Without the port, which some put behind it; brackets too. A number is an IPv4 address.
static char *host_of(const char *key, const char *text)
{
    const char *colon = strchr(text, ':');
    gint64 number = 0;
    if (strcmp(key, "peer.ipv4") == 0 &&
        g_ascii_string_to_signed(text, 10, G_MININT32, G_MAXUINT32, &number, NULL))
        return g_strdup_printf("%u.%u.%u.%u", (guint)(number >> 24) & 255,
                               (guint)(number >> 16) & 255, (guint)(number >> 8) & 255,
                               (guint)number & 255);
    const char *close = text[0] == '[' ? strchr(text, ']') : NULL;
    if (close)
        return g_strndup(text + 1, (gsize)(close - text) - 1);
    if (colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1))
        return g_strndup(text, (gsize)(colon - text));
    return g_strdup(text);
}

static void add_peer(BbSpanTags *tags, const char *key, const char *text)
{
    for (guint i = 0; i < G_N_ELEMENTS(peer_keys); i++) {
        Far far = peer_keys[i].far;
        if (strcmp(peer_keys[i].key, key) != 0 || i >= tags->peer_ranks[far])
            continue;
        g_autofree char *host = host_of(key, text);
        if (host[0] == '\0')
            return;
        g_free(tags->peers[far]);
        tags->peers[far] = g_steal_pointer(&host);
        tags->peer_ranks[far] = i;
    }
}

static void add_status(BbSpanTags *tags, const char *key, const char *text)
{
    for (guint i = 0; i < G_N_ELEMENTS(status_keys); i++) {
        if (strcmp(status_keys[i], key) != 0 || i >= tags->status_rank)
            continue;
        g_free(tags->status);
        tags->status = g_strdup(text);
        tags->status_rank = i;
    }
}

static void add_proto(BbSpanTags *tags, const char *key, const char *text)
{
    for (guint i = 0; i < G_N_ELEMENTS(proto_keys); i++) {
        if (strcmp(proto_keys[i].key, key) != 0 || i >= tags->proto_rank)
            continue;
        const char *proto = proto_keys[i].proto ? proto_keys[i].proto : find_proto(text);
        if (!proto)
            continue;
        tags->proto = proto;
        tags->proto_rank = i;
    }
}

static bool is_one_of(const char *const *keys, gsize count, const char *key)
{
    for (gsize i = 0; i < count; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

// A tag error is true or false; in Zipkin what went wrong, whatever it says.
static void add_outcome(BbSpanTags *tags, const char *key, const char *text)
{
    if (strcmp(key, "error") == 0 && g_ascii_strcasecmp(text, "false") != 0)
        tags->failed = true;
    else if (strcmp(key, "error.type") == 0)
        tags->failed = true;
    else if (strcmp(key, "otel.status_code") == 0 && g_ascii_strcasecmp(text, "UNSET") != 0)
        bb_span_tags_set_failed(tags, g_ascii_strcasecmp(text, "ERROR") == 0);
    else if (strcmp(key, "span.kind") == 0) {
        g_free(tags->kind);
        tags->kind = g_strdup(text);
    }
}

void bb_span_tags_add(BbSpanTags *tags, const char *key, JsonNode *value)
{
    g_autofree char *text = bb_node_text(value);
    if (!text || !text[0])
        return;
    add_peer(tags, key, text);
    add_status(tags, key, text);
    add_proto(tags, key, text);
    add_outcome(tags, key, text);
    if (is_one_of(version_keys, G_N_ELEMENTS(version_keys), key) &&
        (text[0] == '2' || g_ascii_strcasecmp(text, "HTTP/2") == 0))
        tags->http2 = true;
}

void bb_span_tags_add_members(BbSpanTags *tags, JsonObject *members, char dot)
{
    JsonObjectIter iter;
    const char *name = NULL;
    JsonNode *value = NULL;
    if (!members)
        return;
    json_object_iter_init_ordered(&iter, members);
    while (json_object_iter_next_ordered(&iter, &name, &value)) {
        g_autofree char *dotted = NULL;
        if (dot != '.' && strchr(name, dot))
            dotted = g_strdelimit(g_strdup(name), (const char[]){dot, '\0'}, '.');
        bb_span_tags_add(tags, dotted ? dotted : name, value);
    }
}

static const char *peer_of(const BbSpanTags *tags, BbSpanKind kind)
{
    Far far = bb_span_kind_sends(kind) ? FAR_CALLEE : FAR_CALLER;
    if (tags->peer_ranks[FAR_ANY] < tags->peer_ranks[far])
        return tags->peers[FAR_ANY];
    return tags->peers[far];
}

// The protocol's code, unless it hides a failure.
static const char *status_of(const BbSpanTags *tags, const char *proto)
{
    if (tags->status && (!tags->failed || bb_status_is_error(proto, tags->status)))
        return tags->status;
    return tags->failed ? "error" : tags->good ? "ok" : NULL;
}

void bb_span_tags_settle(const BbSpanTags *tags, BbNames *names, BbSpan *span)
{
    const char *proto = tags->proto;
    if (proto && tags->http2 && strcmp(proto, "http") == 0)
        proto = "http2";
    if (span->peer == BB_NAME_NONE)
        span->peer = bb_span_name(names, peer_of(tags, span->kind));
    span->proto = bb_span_name(names, proto);
    span->status = bb_span_name(names, status_of(tags, proto));
}
