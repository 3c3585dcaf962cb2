// SPDX-License-Identifier: Apache-2.0
// In: addresses and ports. Out: the texts that stand for them in a trace.
#include "capture/endpoints.h"

#include "capture/processes/socket.h"

BbEndpoints bb_endpoints_on_wire(const BbPacket *packet)
{
    return (BbEndpoints){
        .address = {packet->source, packet->target},
        .port = {packet->source_port, packet->target_port},
        .vlan = packet->vlan,
        .vni = packet->vni,
        .has_vni = packet->has_vni,
        .transport = (guint8)packet->transport,
    };
}

BbEndpoints bb_endpoints_of(const BbPacket *packet)
{
    BbEndpoints ends = bb_endpoints_on_wire(packet);
    bool is_source = packet->translated == BB_TRANSLATED_SOURCE;
    if (is_source || packet->translated == BB_TRANSLATED_TARGET) {
        ends.address[!is_source] = packet->hidden;
        ends.port[!is_source] = packet->hidden_port;
    }
    return ends;
}

// "@vlan12", of a stack "@vlan12.34"; "@vni5000".
static void append_network(GString *out, const BbEndpoints *ends)
{
    if (ends->vlan >> 12)
        g_string_append_printf(out, "@vlan%u.%u", ends->vlan >> 12, ends->vlan & 0xfffu);
    else if (ends->vlan)
        g_string_append_printf(out, "@vlan%u", ends->vlan);
    if (ends->has_vni)
        g_string_append_printf(out, "@vni%u", ends->vni);
}

static BbSocketKey socket_key(const BbEndpoints *ends, guint end)
{
    return (BbSocketKey){.local = ends->address[end],
                         .peer = ends->address[!end],
                         .port = ends->port[end],
                         .peer_port = ends->port[!end],
                         .protocol = ends->transport};
}

// Addresses of a VLAN or a virtual network that tell hosts apart are not those of this host.
static bool asks_process(const BbEndpoints *ends)
{
    return ends->transport && !ends->vlan && !ends->has_vni;
}

guint32 bb_endpoints_node(const BbEndpoints *ends, BbNodes *nodes, BbNames *names, guint end,
                          bool is_server)
{
    BbSocketKey key = socket_key(ends, end);
    guint32 process =
        asks_process(ends) ? bb_nodes_name_process(nodes, &key, is_server) : BB_NAME_NONE;
    if (process != BB_NAME_NONE)
        return process;
    guint32 name = bb_nodes_name(nodes, &ends->address[end], ends->port[end], is_server);
    if (!ends->vlan && !ends->has_vni)
        return name;
    g_autoptr(GString) text = g_string_new(bb_names_text(names, name));
    append_network(text, ends);
    return bb_names_intern(names, text->str);
}

guint32 bb_endpoints_find(const BbEndpoints *ends, const BbNodes *nodes, const BbNames *names,
                          guint end, bool is_server)
{
    BbSocketKey key = socket_key(ends, end);
    guint32 process =
        asks_process(ends) ? bb_nodes_find_process(nodes, &key, is_server) : BB_NAME_NONE;
    if (process != BB_NAME_NONE)
        return process;
    guint32 name = bb_nodes_find(nodes, &ends->address[end], ends->port[end], is_server);
    if ((!ends->vlan && !ends->has_vni) || name == BB_NAME_NONE)
        return name;
    g_autoptr(GString) text = g_string_new(bb_names_text(names, name));
    append_network(text, ends);
    return bb_names_find(names, text->str);
}

void bb_endpoints_end(const BbEndpoints *ends, BbNodes *nodes)
{
    for (guint end = 0; end < 2 && asks_process(ends); end++) {
        BbSocketKey key = socket_key(ends, end);
        bb_nodes_end_process(nodes, &key);
    }
}

char *bb_endpoints_conn(const BbEndpoints *ends)
{
    int order = memcmp(&ends->address[0], &ends->address[1], sizeof ends->address[0]);
    guint low = order > 0 || (order == 0 && ends->port[0] > ends->port[1]);
    char end[BB_ADDRESS_TEXT];
    g_autoptr(GString) text = g_string_sized_new(2 * BB_ADDRESS_TEXT);
    for (guint i = 0; i < 2; i++) {
        gsize size = bb_address_format_port(&ends->address[low ^ i], ends->port[low ^ i], end);
        if (i)
            g_string_append_c(text, '-');
        g_string_append_len(text, end, (gssize)size);
    }
    append_network(text, ends);
    return g_strndup(text->str, text->len); // there are very many
}
