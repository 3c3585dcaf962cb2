// SPDX-License-Identifier: Apache-2.0
// In: records. Out: the name of who owns an end of a connection.
#include "capture/processes/table.h"

#include "data/keys.h"

// Who calls a server.
typedef struct Callers {
    const char *name; // the only one; NULL: there are several
    guint calls;      // connections seen
} Callers;

struct BbProcessTable {
    GHashTable *sockets;   // BbSocketKey -> name, of names
    GHashTable *addresses; // BbAddress -> where it is: HERE, BEYOND, or both
    GHashTable *names;     // text -> itself
    GHashTable *servers;   // BbSocketKey with a peer only -> Callers
};

static guint address_hash(gconstpointer data)
{
    return bb_keys_bytes(data, sizeof(BbAddress));
}

static gboolean address_equal(gconstpointer a, gconstpointer b)
{
    return bb_address_equal(a, b);
}

BbProcessTable *bb_process_table_new(void)
{
    BbProcessTable *table = g_new0(BbProcessTable, 1);
    table->sockets = g_hash_table_new_full(bb_socket_key_hash, bb_socket_key_equal, g_free, NULL);
    table->addresses = g_hash_table_new_full(address_hash, address_equal, g_free, NULL);
    table->names = g_hash_table_new_full(bb_text_key_hash, g_str_equal, g_free, NULL);
    table->servers = g_hash_table_new_full(bb_socket_key_hash, bb_socket_key_equal, g_free, g_free);
    return table;
}

void bb_process_table_free(BbProcessTable *table)
{
    if (!table)
        return;
    g_hash_table_destroy(table->sockets);
    g_hash_table_destroy(table->addresses);
    g_hash_table_destroy(table->servers);
    g_hash_table_destroy(table->names);
    g_free(table);
}

static const char *intern(BbProcessTable *table, const char *text)
{
    char *known = g_hash_table_lookup(table->names, text);
    if (known || g_hash_table_size(table->names) >= BB_PROCESS_TABLE_NAMES)
        return known;
    known = g_strdup(text);
    g_hash_table_add(table->names, known);
    return known;
}

static BbSocketKey server_of(const BbSocketKey *key)
{
    return (BbSocketKey){.peer = key->peer, .peer_port = key->peer_port, .protocol = key->protocol};
}

static void add_caller(BbProcessTable *table, const BbSocketKey *key, const char *name)
{
    BbSocketKey server = server_of(key);
    Callers *callers = g_hash_table_lookup(table->servers, &server);
    if (!callers) {
        if (g_hash_table_size(table->servers) >= BB_PROCESS_TABLE_SERVERS)
            return;
        callers = g_new0(Callers, 1);
        callers->name = name;
        g_hash_table_insert(table->servers, g_memdup2(&server, sizeof server), callers);
    }
    callers->calls++;
    if (callers->name != name)
        callers->name = NULL;
}

static void add_socket(BbProcessTable *table, const BbRecord *record)
{
    const BbSocketKey *key = &record->key;
    bool is_known = g_hash_table_contains(table->sockets, key);
    const char *name = intern(table, record->name);
    if (name && (is_known || g_hash_table_size(table->sockets) < BB_PROCESS_TABLE_SOCKETS))
        g_hash_table_replace(table->sockets, g_memdup2(key, sizeof *key), (gpointer)name);
    if (name && !bb_socket_key_is_bound(key))
        add_caller(table, key, name);
}

// Where an address is; it may be in both.
enum { HERE = 1, BEYOND = 2 };

static guint place_of(const BbProcessTable *table, const BbAddress *address)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(table->addresses, address));
}

static void set_place(BbProcessTable *table, const BbAddress *address, guint place)
{
    if (place)
        g_hash_table_replace(table->addresses, g_memdup2(address, sizeof *address),
                             GUINT_TO_POINTER(place));
    else
        (void)g_hash_table_remove(table->addresses, address);
}

static void add_address(BbProcessTable *table, const BbAddress *address, guint place)
{
    guint known = place_of(table, address);
    if (known || g_hash_table_size(table->addresses) < BB_PROCESS_TABLE_ADDRESSES)
        set_place(table, address, known | place);
}

static void remove_socket(BbProcessTable *table, const BbSocketKey *key)
{
    (void)g_hash_table_remove(table->sockets, key);
}

void bb_process_table_apply(BbProcessTable *table, const BbRecord *record)
{
    switch (record->kind) {
    case BB_RECORD_SOCKET:
        add_socket(table, record);
        break;
    case BB_RECORD_GONE:
        remove_socket(table, &record->key);
        break;
    case BB_RECORD_HERE:
    case BB_RECORD_BEYOND:
        add_address(table, &record->key.local, record->kind == BB_RECORD_HERE ? HERE : BEYOND);
        break;
    case BB_RECORD_LEFT:
        set_place(table, &record->key.local, place_of(table, &record->key.local) & ~(guint)HERE);
        break;
    default:
        break;
    }
}

// ---- questions ----------------------------------------------------------------------------------

static bool is_here(const BbProcessTable *table, const BbAddress *address)
{
    return bb_address_is_loopback(address) || (place_of(table, address) & HERE);
}

bool bb_process_table_is_local(const BbProcessTable *table, const BbAddress *address)
{
    return bb_address_is_loopback(address) || g_hash_table_contains(table->addresses, address);
}

static const char *find_bound(const BbProcessTable *table, const BbSocketKey *key)
{
    return bb_socket_find_bound(table->sockets, key, is_here(table, &key->local));
}

const char *bb_process_table_find(const BbProcessTable *table, const BbSocketKey *key,
                                  bool is_server)
{
    const char *name = is_server ? find_bound(table, key) : NULL;
    if (!name)
        name = g_hash_table_lookup(table->sockets, key);
    return name || is_server ? name : find_bound(table, key);
}

const char *bb_process_table_infer(const BbProcessTable *table, const BbSocketKey *key)
{
    BbSocketKey server = server_of(key);
    const Callers *callers = g_hash_table_lookup(table->servers, &server);
    return callers && callers->calls >= BB_PROCESS_TABLE_CALLS ? callers->name : NULL;
}

guint bb_process_table_sockets(const BbProcessTable *table)
{
    return g_hash_table_size(table->sockets);
}
