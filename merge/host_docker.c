// SPDX-License-Identifier: Apache-2.0
// In: containers as docker inspect prints them. Out: their addresses in each network, and the ports
// of the host that lead to them.
//
// A container is called by its name, by service by that of its service in compose or swarm.
#include "merge/host_form.h"
#include "merge/member.h"

static bool is_container(JsonObject *object)
{
    return bb_member_object(object, "NetworkSettings");
}

static const char *name_of(const BbHostReading *reading, JsonObject *container)
{
    static const char *const services[] = {"com.docker.swarm.service.name",
                                           "com.docker.compose.service"};
    JsonObject *labels = bb_member_object(bb_member_object(container, "Config"), "Labels");
    for (gsize i = 0; reading->options->by_service && i < G_N_ELEMENTS(services); i++)
        if (bb_member_text(labels, services[i]))
            return bb_member_text(labels, services[i]);
    const char *name = bb_member_text(container, "Name");
    if (!name)
        name = bb_member_text(container, "Id");
    return name && name[0] == '/' ? name + 1 : name;
}

// Addresses of a network, or of the settings as a whole, where the first network's stand again.
static void name_addresses(BbHostReading *reading, JsonObject *network, const char *name)
{
    (void)bb_host_reading_name(reading, bb_member_text(network, "IPAddress"), 0, name);
    (void)bb_host_reading_name(reading, bb_member_text(network, "GlobalIPv6Address"), 0, name);
}

// "80/tcp": [{"HostIp": "192.0.2.1", "HostPort": "8080"}]; 0.0.0.0 is every address of the host,
// and none is known.
static void name_published(BbHostReading *reading, JsonArray *bindings, const char *name)
{
    for (guint i = 0; bindings && i < json_array_get_length(bindings); i++) {
        JsonObject *binding = bb_element_object(bindings, i);
        const char *address = bb_member_text(binding, "HostIp");
        gint64 port = 0;
        if (!bb_member_integer(binding, "HostPort", &port) || port <= 0 || port > G_MAXUINT16 ||
            !address || strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0)
            continue;
        (void)bb_host_reading_name(reading, address, (guint16)port, name);
    }
}

static void take_container(BbHostReading *reading, JsonObject *container)
{
    JsonObject *settings = bb_member_object(container, "NetworkSettings");
    JsonObject *networks = bb_member_object(settings, "Networks");
    JsonObject *ports = bb_member_object(settings, "Ports");
    const char *name = name_of(reading, container), *member = NULL;
    JsonObjectIter iter;
    JsonNode *node = NULL;
    if (networks) {
        json_object_iter_init_ordered(&iter, networks);
        while (json_object_iter_next_ordered(&iter, &member, &node))
            if (JSON_NODE_HOLDS_OBJECT(node))
                name_addresses(reading, json_node_get_object(node), name);
    }
    if (!networks || json_object_get_size(networks) == 0)
        name_addresses(reading, settings, name);
    if (!ports)
        return;
    json_object_iter_init_ordered(&iter, ports);
    while (json_object_iter_next_ordered(&iter, &member, &node))
        if (JSON_NODE_HOLDS_ARRAY(node))
            name_published(reading, json_node_get_array(node), name);
}

const BbHostJsonForm bb_host_form_docker = {
    .wanted = "that of docker inspect",
    .is_one = is_container,
    .take = take_container,
};
