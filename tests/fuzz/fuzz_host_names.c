// SPDX-License-Identifier: Apache-2.0
// In: any bytes as a file of names, and as names from the wire. Checks that reading ends, that all
// it gives is a name for an address, that a line which it makes of that says the same, and that a
// name learned is one.
#include "capture/nodes.h"
#include "merge/host_names.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

typedef struct Taken {
    guint64 names;
    GString *lines; // what has no prefix, as lines of hosts(5)
    BbNames *interned;
    BbNodes *nodes;
} Taken;

static void take(const BbHost *host, gpointer user)
{
    Taken *taken = user;
    gsize length = strlen(host->name);
    BbAddress masked = host->address;
    bb_address_mask(&masked, host->prefix);
    g_assert(length > 0 && length <= BB_HOST_NAME_MAX && host->prefix <= 128);
    g_assert(bb_address_equal(&masked, &host->address));
    g_assert(!host->port || host->prefix == 128);
    taken->names++;
    if (!taken->nodes)
        return;
    char where[BB_ADDRESS_TEXT];
    if (host->port)
        bb_address_format_port(&host->address, host->port, where);
    else
        bb_address_format(&host->address, where);
    bb_nodes_add(taken->nodes, host);
    if (host->prefix == 128 && !strpbrk(host->name, " \t\r\n\v\f#"))
        g_string_append_printf(taken->lines, "%s %s\n", where, host->name);
}

static bool read_file(const char *path, bool by_service, Taken *taken)
{
    const BbHostNamesOptions options = {.by_service = by_service};
    BbHostNamesCounts counts;
    g_autoptr(GError) error = NULL;
    bool good = bb_host_names_read(path, &options, take, taken, &counts, &error);
    g_assert(good == (error == NULL));
    g_assert(taken->names == counts.names);
    return good;
}

static int put(const void *bytes, gsize size)
{
    int fd = memfd_create("names", MFD_CLOEXEC);
    g_assert(fd >= 0 && write(fd, bytes, size) == (gssize)size);
    return fd;
}

static void read_bytes(const void *bytes, gsize size, bool by_service, Taken *taken, bool good)
{
    int fd = put(bytes, size);
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
    g_assert(read_file(path, by_service, taken) || !good);
    close(fd);
}

static void try_file(const guint8 *data, gsize size)
{
    Taken taken = {.lines = g_string_new(NULL), .interned = bb_names_new()};
    taken.nodes = bb_nodes_new(taken.interned, true);
    read_bytes(data, size, false, &taken, false);
    Taken again = {0};
    read_bytes(taken.lines->str, taken.lines->len, false, &again, true);
    Taken services = {0};
    read_bytes(data, size, true, &services, false);
    bb_nodes_free(taken.nodes);
    bb_names_free(taken.interned);
    g_string_free(taken.lines, TRUE);
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
    g_auto(GStrv) lines = g_strsplit(text, "\n", 16);
    try_file(data, size);
    for (char **line = lines; *line; line++)
        try_learning(*line);
    return 0;
}
