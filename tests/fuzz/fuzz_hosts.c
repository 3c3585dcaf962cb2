// SPDX-License-Identifier: Apache-2.0
// In: any bytes as a file of names, and what it learned from the wire. Checks that every name taken
// is one, and that a line understood is understood the same way again.
#include "capture/hosts.h"
#include "capture/nodes.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

static void try_line(const char *text)
{
    g_autofree char *line = g_strdup(text), *reason = NULL;
    BbHost host = {0};
    BbHostsStatus status = bb_hosts_parse(line, &host, &reason);
    g_assert((status == BB_HOSTS_BAD) == (reason != NULL));
    if (status != BB_HOSTS_ENTRY)
        return;
    gsize length = strlen(host.name);
    g_assert(length > 0 && length <= BB_HOSTS_NAME_MAX && host.prefix <= 128);
    BbAddress masked = host.address;
    bb_hosts_mask(&masked, host.prefix);
    g_assert(bb_address_equal(&masked, &host.address));

    char where[BB_ADDRESS_TEXT];
    if (host.port != 0)
        bb_address_format_port(&host.address, host.port, where);
    else
        bb_address_format(&host.address, where);
    if (host.prefix < 128)
        return;
    g_autofree char *again = g_strdup_printf("%s %s", where, host.name), *none = NULL;
    BbHost second = {0};
    g_assert(bb_hosts_parse(again, &second, &none) == BB_HOSTS_ENTRY);
    g_assert(bb_address_equal(&host.address, &second.address) && host.port == second.port);
}

static void try_learning(const char *text)
{
    static const guint8 bytes[4] = {10, 0, 0, 1};
    BbAddress address = bb_address_v4(bytes);
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, true);
    bb_nodes_learn(nodes, &address, text);
    guint32 name = bb_nodes_name(nodes, &address, 80, true);
    for (const char *c = bb_names_text(names, name); *c; c++)
        g_assert(g_ascii_isalnum(*c) || strchr("-_.:", *c));
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autofree char *text = g_strndup((const char *)data, size);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        try_line(*line);
        try_learning(*line);
    }
    return 0;
}
