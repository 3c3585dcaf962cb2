// SPDX-License-Identifier: Apache-2.0
// Tags of spans: which of many names counts, for which side; protocols; how it ended.
#include "merge/span_tags.h"
#include "tests/unit/test.h"

#include <string.h>

// Settles tags, given as a JSON object, for a span of that kind: "peer status proto".
static void assert_tags(BbSpanKind kind, const char *json, const char *wanted)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbSpanTags) tags = bb_span_tags_new();
    g_autoptr(JsonNode) node = json_from_string(json, NULL);
    JsonObjectIter iter;
    const char *key = NULL;
    JsonNode *value = NULL;
    BbSpan span = bb_span_empty();
    span.kind = kind;
    json_object_iter_init_ordered(&iter, json_node_get_object(node));
    while (json_object_iter_next_ordered(&iter, &key, &value))
        bb_span_tags_add(tags, key, value);
    bb_span_tags_settle(tags, names, &span);
    g_autofree char *text =
        g_strdup_printf("%s %s %s", bb_names_text(names, span.peer),
                        bb_names_text(names, span.status), bb_names_text(names, span.proto));
    ck_assert_str_eq(text, wanted);
}

START_TEST(peers)
{
    const char *both = "{\"http.host\":\"c\",\"server.address\":\"b\",\"client.address\":\"a\"}";
    assert_tags(BB_SPAN_CLIENT, both, "b  ");
    assert_tags(BB_SPAN_SERVER, both, "a  ");
    assert_tags(BB_SPAN_PRODUCER, both, "b  ");
    assert_tags(BB_SPAN_CONSUMER, both, "a  ");
    assert_tags(BB_SPAN_CLIENT, "{\"peer.service\":\"x\",\"server.address\":\"b\"}", "x  ");
    assert_tags(BB_SPAN_CLIENT, "{\"server.address\":\"b\",\"net.peer.name\":\"x\"}", "b  ");
    assert_tags(BB_SPAN_CLIENT, "{\"net.peer.ip\":\"1.2.3.4\",\"net.peer.name\":\"x\"}", "x  ");
    assert_tags(BB_SPAN_SERVER, "{\"server.address\":\"b\"}", "  ");
    assert_tags(BB_SPAN_CLIENT, "{}", "  ");
}
END_TEST

START_TEST(peers_are_hosts)
{
    assert_tags(BB_SPAN_CLIENT, "{\"http.host\":\"shop:8080\"}", "shop  ");
    assert_tags(BB_SPAN_CLIENT, "{\"peer.address\":\"10.0.0.1:80\"}", "10.0.0.1  ");
    assert_tags(BB_SPAN_CLIENT, "{\"peer.address\":\"[fe80::1]:80\"}", "fe80::1  ");
    assert_tags(BB_SPAN_CLIENT, "{\"peer.ipv6\":\"fe80::1\"}", "fe80::1  ");
    assert_tags(BB_SPAN_CLIENT, "{\"peer.ipv4\":167772161}", "10.0.0.1  ");
    assert_tags(BB_SPAN_CLIENT, "{\"peer.ipv4\":-1062731775}", "192.168.0.1  ");
    assert_tags(BB_SPAN_CLIENT, "{\"peer.ipv4\":\"10.0.0.1\"}", "10.0.0.1  ");
    assert_tags(BB_SPAN_CLIENT, "{\"peer.address\":\":80\"}", "  ");
    assert_tags(BB_SPAN_CLIENT, "{\"peer.address\":\"db:\"}", "db:  ");
}
END_TEST

START_TEST(a_known_peer_stays)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbSpanTags) tags = bb_span_tags_new();
    g_autoptr(JsonNode) value = json_from_string("\"x\"", NULL);
    BbSpan span = bb_span_empty();
    span.kind = BB_SPAN_CLIENT;
    span.peer = bb_names_intern(names, "known");
    bb_span_tags_add(tags, "peer.service", value);
    bb_span_tags_settle(tags, names, &span);
    ck_assert_str_eq(bb_names_text(names, span.peer), "known");
    span.peer = BB_NAME_NONE;
    bb_span_tags_clear(tags);
    bb_span_tags_settle(tags, names, &span);
    ck_assert_uint_eq(span.peer, BB_NAME_NONE);
}
END_TEST

START_TEST(protocols)
{
    static const struct {
        const char *json, *proto;
    } cases[] = {
        {"{\"http.method\":\"GET\"}", "http"},
        {"{\"http.request.method\":\"GET\",\"network.protocol.version\":\"2\"}", "http2"},
        {"{\"http.method\":\"GET\",\"http.flavor\":\"1.1\"}", "http"},
        {"{\"http.method\":\"POST\",\"rpc.system\":\"grpc\",\"http.flavor\":\"2.0\"}", "grpc"},
        {"{\"db.system\":\"postgresql\"}", "postgresql"},
        {"{\"db.system\":\"mariadb\",\"component\":\"http\"}", "mysql"},
        {"{\"db.system\":\"oracle\"}", ""},
        {"{\"db.system\":\"elasticsearch\",\"http.method\":\"GET\"}", "http"},
        {"{\"messaging.system\":\"rabbitmq\"}", "amqp"},
        {"{\"messaging.system\":\"kafka\"}", "kafka"},
        {"{\"rpc.system\":\"java_rmi\"}", "rmi"},
        {"{\"network.protocol.name\":\"HTTP\"}", "http"},
        {"{\"component\":\"net/http\"}", "http"},
        {"{\"dns.question.name\":\"a\"}", "dns"},
        {"{\"component\":\"mylib\"}", ""},
        {"{\"db.system\":\"cockroachdb\"}", "postgresql"},
        {"{\"db.system.name\":\"aws.redshift\"}", "postgresql"},
        {"{\"db.system\":\"h2\"}", ""},
        {"{\"messaging.system\":\"activemq\"}", ""},
        {"{\"messaging.system\":\"activemq\",\"messaging.protocol\":\"STOMP\"}", "stomp"},
        {"{\"messaging.protocol\":\"MQTT\",\"messaging.system\":\"rabbitmq\"}", "mqtt"},
        {"{\"rpc.system\":\"onc_rpc\"}", "oncrpc"},
        {"{\"rpc.system.name\":\"dubbo\"}", "dubbo"},
        {"{\"rpc.system\":\"connect_rpc\",\"http.request.method\":\"POST\"}", "http"},
        {"{\"network.protocol.name\":\"WSS\"}", "websocket"},
        {"{\"network.protocol.name\":\"tcp\"}", ""},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *wanted = g_strconcat("  ", cases[i].proto, NULL);
        assert_tags(BB_SPAN_CLIENT, cases[i].json, wanted);
    }
}
END_TEST

// Each name that a text trace can have (bbtrace-text(5)) is known, in any case of letters.
START_TEST(all_protocols)
{
    static const char names[] = "http http2 grpc websocket tls dns postgresql mysql redis "
                                "memcached mongodb cassandra kafka "
                                "amqp mqtt nats stomp oncrpc thrift ldap smb2 dcerpc fastcgi ajp "
                                "uwsgi scgi smtp sip radius "
                                "diameter snmp ntp rmi giop dubbo zookeeper jsonrpc afsrx";
    g_auto(GStrv) list = g_strsplit(names, " ", -1);
    for (char **name = list; *name; name++) {
        g_autofree char *upper = g_ascii_strup(*name, -1);
        g_autofree char *json = g_strdup_printf("{\"network.protocol.name\":\"%s\"}", upper);
        g_autofree char *wanted = g_strconcat("  ", *name, NULL);
        assert_tags(BB_SPAN_CLIENT, json, wanted);
    }
}
END_TEST

START_TEST(outcomes)
{
    assert_tags(BB_SPAN_SERVER, "{\"http.status_code\":404}", " 404 http");
    assert_tags(BB_SPAN_SERVER, "{\"http.status_code\":\"200\"}", " 200 http");
    assert_tags(BB_SPAN_SERVER, "{\"http.status_code\":200,\"error\":true}", " error http");
    assert_tags(BB_SPAN_SERVER, "{\"http.status_code\":500,\"error\":true}", " 500 http");
    assert_tags(BB_SPAN_SERVER, "{\"http.status_code\":200,\"error\":false}", " 200 http");
    assert_tags(BB_SPAN_SERVER, "{\"http.status_code\":0,\"http.response.status_code\":201}",
                " 201 http");
    assert_tags(BB_SPAN_SERVER, "{\"rpc.grpc.status_code\":14}", " 14 grpc");
    assert_tags(BB_SPAN_SERVER, "{\"error\":\"timed out\"}", " error ");
    assert_tags(BB_SPAN_SERVER, "{\"error\":\"False\"}", "  ");
    assert_tags(BB_SPAN_SERVER, "{\"error.type\":\"timeout\"}", " error ");
    assert_tags(BB_SPAN_SERVER, "{\"otel.status_code\":\"ERROR\"}", " error ");
    assert_tags(BB_SPAN_SERVER, "{\"otel.status_code\":\"OK\"}", " ok ");
    assert_tags(BB_SPAN_SERVER, "{\"otel.status_code\":\"UNSET\"}", "  ");
    assert_tags(BB_SPAN_SERVER, "{\"http.status_code\":[200],\"error\":{}}", "  ");
}
END_TEST

START_TEST(the_kind_is_a_tag)
{
    g_autoptr(BbSpanTags) tags = bb_span_tags_new();
    g_autoptr(JsonNode) value = json_from_string("\"client\"", NULL);
    ck_assert_ptr_null(bb_span_tags_kind(tags));
    bb_span_tags_add(tags, "span.kind", value);
    ck_assert_str_eq(bb_span_tags_kind(tags), "client");
    bb_span_tags_clear(tags);
    ck_assert_ptr_null(bb_span_tags_kind(tags));
}
END_TEST

TEST_MAIN("span_tags", peers, peers_are_hosts, a_known_peer_stays, protocols, all_protocols,
          outcomes, the_kind_is_a_tag)
