// SPDX-License-Identifier: Apache-2.0
// In: addresses of both ends of a connection, the user's names, names learned. Out: names of nodes.
#include "capture/nodes.h"

#include "capture/processes/processes.h"
#include "data/keys.h"

// What has a name. Compared as bytes: nothing in it is left unset.
typedef struct {
    BbAddress address;
    guint16 port;
    guint8 prefix, unused;
} Key;

struct BbNodes {
    BbNames *names; // lent
    bool endpoints;
    guint32 other;
    GHashTable *file;       // Key -> name, from the user's file
    bool has_prefix[129];   // lengths of prefix that file has
    bool has_ports;         // file has entries with a port
    bool used;              // file had a name for a node
    GHashTable *learned;    // Key of an address -> name
    GHashTable *hosts;      // Key of an address -> name it goes by
    GHashTable *with_ports; // host name << 16 | port -> name
    BbProcesses *processes; // lent; or NULL
    guint64 unlearned, others;
};

static guint key_hash(gconstpointer data)
{
    return bb_keys_bytes(data, sizeof(Key));
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(Key)) == 0;
}

static Key key_make(const BbAddress *address, guint8 prefix, guint16 port)
{
    return (Key){.address = *address, .port = port, .prefix = prefix};
}

static guint32 find(GHashTable *table, const Key *key)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(table, key));
}

static void insert(GHashTable *table, const Key *key, guint32 name)
{
    g_hash_table_insert(table, g_memdup2(key, sizeof *key), GUINT_TO_POINTER(name));
}

BbNodes *bb_nodes_new(BbNames *names, bool endpoints)
{
    BbNodes *nodes = g_new0(BbNodes, 1);
    nodes->names = names;
    nodes->endpoints = endpoints;
    nodes->file = g_hash_table_new_full(key_hash, key_equal, g_free, NULL);
    nodes->learned = g_hash_table_new_full(key_hash, key_equal, g_free, NULL);
    nodes->hosts = g_hash_table_new_full(key_hash, key_equal, g_free, NULL);
    nodes->with_ports = g_hash_table_new_full(bb_pair_key_hash, g_int64_equal, g_free, NULL);
    return nodes;
}

void bb_nodes_free(BbNodes *nodes)
{
    if (!nodes)
        return;
    g_hash_table_destroy(nodes->file);
    g_hash_table_destroy(nodes->learned);
    g_hash_table_destroy(nodes->hosts);
    g_hash_table_destroy(nodes->with_ports);
    g_free(nodes);
}

// ---- the user's file ----------------------------------------------------------------------------

void bb_nodes_add(BbNodes *nodes, const BbHost *host)
{
    Key key = key_make(&host->address, host->prefix, host->port);
    if (find(nodes->file, &key) != BB_NAME_NONE)
        return;
    insert(nodes->file, &key, bb_names_intern(nodes->names, host->name));
    nodes->has_prefix[host->prefix] = true;
    nodes->has_ports |= host->port != 0;
}

// ---- names learned ------------------------------------------------------------------------------

// The host name in wire text, in lower case; NULL when it is none (letters, digits, "-", "_" and
// dots: RFC 1123, section 2.1, and what is in use), or poses as an address.
static char *host_name_of(const char *text)
{
    gsize length = strlen(text);
    if (length > 0 && text[length - 1] == '.')
        length--;
    if (length == 0 || length > 253)
        return NULL;
    for (gsize i = 0; i < length; i++)
        if (!g_ascii_isalnum(text[i]) && !strchr("-_.", text[i]))
            return NULL;
    g_autofree char *name = g_ascii_strdown(text, (gssize)length);
    BbAddress posed;
    return bb_address_parse(name, &posed) ? NULL : g_steal_pointer(&name);
}

// Whether others reach the host that the address is of.
static bool is_a_hosts(const BbAddress *address)
{
    return bb_address_is_host(address) && !bb_address_is_loopback(address);
}

void bb_nodes_learn(BbNodes *nodes, const BbAddress *address, const char *text)
{
    Key key = key_make(address, 128, 0);
    if (!is_a_hosts(address) || find(nodes->learned, &key) != BB_NAME_NONE)
        return;
    g_autofree char *name = host_name_of(text);
    if (!name)
        return;
    if (g_hash_table_size(nodes->learned) >= BB_NODES_LEARNED)
        nodes->unlearned++;
    else
        insert(nodes->learned, &key, bb_names_intern(nodes->names, name));
}

void bb_nodes_begin_again(BbNodes *nodes)
{
    g_hash_table_remove_all(nodes->hosts);
    g_hash_table_remove_all(nodes->with_ports);
    nodes->others = 0;
}

// ---- what a node is called ----------------------------------------------------------------------

// Longest prefix of the file that holds address, an address alone being the longest. IPv4 addresses
// are in the IPv4 part (96 bits and more) only: ::/0 is not meant to hold them.
static guint32 find_in_file(const BbNodes *nodes, const BbAddress *address)
{
    guint shortest = bb_address_is_v4(address) ? 96 : 0;
    guint32 name = BB_NAME_NONE;
    for (guint longer = 129; longer > shortest && name == BB_NAME_NONE; longer--) {
        guint8 prefix = (guint8)(longer - 1);
        if (!nodes->has_prefix[prefix])
            continue;
        Key key = key_make(address, prefix, 0);
        bb_address_mask(&key.address, prefix);
        name = find(nodes->file, &key);
    }
    return name;
}

static guint32 other(BbNodes *nodes)
{
    nodes->others++;
    if (nodes->other == BB_NAME_NONE)
        nodes->other = bb_names_intern(nodes->names, BB_NODES_OTHER);
    return nodes->other;
}

static guint32 host_name(BbNodes *nodes, const BbAddress *address)
{
    Key key = key_make(address, 128, 0);
    guint32 name = find(nodes->hosts, &key);
    if (name != BB_NAME_NONE)
        return name;
    bool is_full = g_hash_table_size(nodes->hosts) >= BB_NODES_NAMED;
    name = find_in_file(nodes, address);
    nodes->used |= name != BB_NAME_NONE;
    if (name == BB_NAME_NONE)
        name = find(nodes->learned, &key);
    if (name == BB_NAME_NONE) {
        if (is_full)
            return other(nodes);
        char text[BB_ADDRESS_TEXT];
        bb_address_format(address, text);
        name = bb_names_intern(nodes->names, text);
    }
    if (!is_full)
        insert(nodes->hosts, &key, name);
    return name;
}

static guint32 name_with_port(BbNodes *nodes, const BbAddress *address, guint32 host, guint16 port)
{
    gint64 key = ((gint64)host << 16) | port;
    guint32 name = GPOINTER_TO_UINT(g_hash_table_lookup(nodes->with_ports, &key));
    if (name != BB_NAME_NONE)
        return name;
    if (host == nodes->other || g_hash_table_size(nodes->with_ports) >= BB_NODES_NAMED)
        return other(nodes);
    char bare[BB_ADDRESS_TEXT];
    bb_address_format(address, bare);
    const char *text = bb_names_text(nodes->names, host);
    g_autofree char *full = NULL;
    if (strcmp(text, bare) == 0) {
        bb_address_format_port(address, port, bare);
        full = g_strdup(bare);
    } else {
        full = g_strdup_printf("%s:%u", text, port);
    }
    name = bb_names_intern(nodes->names, full);
    g_hash_table_insert(nodes->with_ports, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(name));
    return name;
}

static guint32 find_with_port(const BbNodes *nodes, const BbAddress *address, guint16 port)
{
    if (!nodes->has_ports || port == 0)
        return BB_NAME_NONE;
    Key key = key_make(address, 128, port);
    return find(nodes->file, &key);
}

guint32 bb_nodes_name(BbNodes *nodes, const BbAddress *address, guint16 port, bool server)
{
    guint32 name = find_with_port(nodes, address, port);
    nodes->used |= name != BB_NAME_NONE;
    if (name != BB_NAME_NONE)
        return name;
    guint32 host = host_name(nodes, address);
    return nodes->endpoints && server ? name_with_port(nodes, address, host, port) : host;
}

guint32 bb_nodes_find(const BbNodes *nodes, const BbAddress *address, guint16 port, bool server)
{
    guint32 name = find_with_port(nodes, address, port);
    if (name != BB_NAME_NONE)
        return name;
    Key key = key_make(address, 128, 0);
    guint32 host = find(nodes->hosts, &key);
    gint64 with_port = ((gint64)host << 16) | port;
    return nodes->endpoints && server
               ? GPOINTER_TO_UINT(g_hash_table_lookup(nodes->with_ports, &with_port))
               : host;
}

// ---- processes ----------------------------------------------------------------------------------

void bb_nodes_set_processes(BbNodes *nodes, BbProcesses *processes)
{
    nodes->processes = processes;
}

#define PROCESS_TEXT (BB_PROCESSES_NAME + sizeof ":65535")
typedef bool (*AskProcess)(BbProcesses *, const BbSocketKey *, bool, char name[BB_PROCESSES_NAME]);

// What a node of that process is called; false where it is none, or has a name of its own.
static bool process_text(const BbNodes *nodes, const BbSocketKey *key, bool server, AskProcess ask,
                         char text[PROCESS_TEXT])
{
    if (!nodes->processes || find_with_port(nodes, &key->local, key->port) != BB_NAME_NONE ||
        !ask(nodes->processes, key, server, text))
        return false;
    gsize length = strlen(text);
    if (nodes->endpoints && server)
        (void)g_snprintf(text + length, PROCESS_TEXT - length, ":%u", key->port);
    return true;
}

guint32 bb_nodes_name_process(BbNodes *nodes, const BbSocketKey *key, bool server)
{
    char text[PROCESS_TEXT];
    bool named = process_text(nodes, key, server, bb_processes_name, text);
    return named ? bb_names_intern(nodes->names, text) : BB_NAME_NONE;
}

guint32 bb_nodes_find_process(const BbNodes *nodes, const BbSocketKey *key, bool server)
{
    char text[PROCESS_TEXT];
    bool named = process_text(nodes, key, server, bb_processes_find, text);
    return named ? bb_names_find(nodes->names, text) : BB_NAME_NONE;
}

bool bb_nodes_tell_roles(const BbNodes *nodes)
{
    return nodes->endpoints || nodes->processes;
}

void bb_nodes_end_process(BbNodes *nodes, const BbSocketKey *key)
{
    if (nodes->processes)
        bb_processes_end(nodes->processes, key);
}

guint bb_nodes_unused(const BbNodes *nodes)
{
    return nodes->used ? 0 : g_hash_table_size(nodes->file);
}

guint64 bb_nodes_learned(const BbNodes *nodes)
{
    return g_hash_table_size(nodes->learned);
}

guint64 bb_nodes_unlearned(const BbNodes *nodes)
{
    return nodes->unlearned;
}

guint64 bb_nodes_others(const BbNodes *nodes)
{
    return nodes->others;
}
