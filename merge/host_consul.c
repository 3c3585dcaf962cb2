// SPDX-License-Identifier: Apache-2.0
// In: entries of a Consul catalogue (/v1/catalog/service/NAME, /v1/catalog/nodes). Out: the
// addresses of nodes, and the addresses or ports of services.
//
// A service is NODE/ID, by service its name. One that has no address of its own is a port of its
// node.
#include "merge/host_form.h"
#include "merge/member.h"

static bool is_entry(JsonObject *object)
{
    return bb_member_text(object, "Node") && bb_member_text(object, "Address");
}

static void name_node(BbHostReading *reading, JsonObject *entry, const char *node)
{
    JsonObject *tagged = bb_member_object(entry, "TaggedAddresses");
    JsonObjectIter iter;
    const char *tag = NULL;
    JsonNode *address = NULL;
    (void)bb_host_reading_name(reading, bb_member_text(entry, "Address"), 0, node);
    if (!tagged)
        return;
    json_object_iter_init_ordered(&iter, tagged); // lan, lan_ipv6, wan, ...
    while (json_object_iter_next_ordered(&iter, &tag, &address)) {
        g_autofree char *text = bb_node_text(address);
        if (g_strcmp0(text, bb_member_text(entry, "Address")) != 0)
            (void)bb_host_reading_name(reading, text, 0, node);
    }
}

static void name_service(BbHostReading *reading, JsonObject *entry, const char *name)
{
    const char *node = bb_member_text(entry, "Address");
    const char *own = bb_member_text(entry, "ServiceAddress");
    gint64 port = 0;
    if (own && strcmp(own, node) != 0)
        (void)bb_host_reading_name(reading, own, 0, name);
    else if (bb_member_integer(entry, "ServicePort", &port) && port > 0 && port <= G_MAXUINT16)
        (void)bb_host_reading_name(reading, node, (guint16)port, name);
}

static void take_entry(BbHostReading *reading, JsonObject *entry)
{
    const char *node = bb_member_text(entry, "Node");
    const char *service = bb_member_text(entry, "ServiceName");
    const char *id = bb_member_text(entry, "ServiceID");
    if (service) {
        g_autofree char *one = g_strdup_printf("%s/%s", node, id ? id : service);
        name_service(reading, entry, reading->options->by_service ? service : one);
    }
    name_node(reading, entry, node);
}

const BbHostJsonForm bb_host_form_consul = {
    .wanted = "that of Consul's /v1/catalog/service/NAME or /v1/catalog/nodes",
    .is_one = is_entry,
    .take = take_entry,
};
