// SPDX-License-Identifier: Apache-2.0
// In: a byte that says which, and any bytes as a datagram of sock_diag, a file of /proc/PID/net, a
// text of control groups, or records. Checks that reading ends within its limits, that sockets have
// a port, that names are fit for nodes, and that records that are read are written as they were.
#include "capture/processes/diag.h"
#include "capture/processes/owner.h"
#include "capture/processes/proc_net.h"
#include "capture/processes/table.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

#define MOST 64u

static void check_sockets(const GArray *sockets)
{
    g_assert(sockets->len <= MOST);
    for (guint i = 0; i < sockets->len; i++) {
        const BbSocketKey *key = &g_array_index(sockets, BbSocket, i).key;
        static const BbAddress none = {0};
        g_assert(key->port != 0);
        g_assert(key->peer_port != 0 || bb_address_equal(&key->peer, &none));
        g_assert(key->protocol == BB_SOCKET_TCP || key->protocol == BB_SOCKET_UDP);
    }
}

static void try_sockets(const guint8 *data, gsize size, guint8 protocol)
{
    g_autoptr(GArray) sockets = g_array_new(FALSE, FALSE, sizeof(BbSocket));
    (void)bb_diag_read(data, size, 0, protocol, sockets, MOST);
    check_sockets(sockets);
    g_array_set_size(sockets, 0);
    bb_proc_net_sockets((const char *)data, size, protocol, sockets, MOST);
    check_sockets(sockets);
}

static void try_addresses(const guint8 *data, gsize size)
{
    g_autoptr(GArray) addresses = g_array_new(FALSE, FALSE, sizeof(BbAddress));
    bb_proc_net_fib_trie((const char *)data, size, addresses, MOST);
    bb_proc_net_if_inet6((const char *)data, size, addresses, MOST);
    g_assert(addresses->len <= MOST);
}

static void check_name(const char *name)
{
    g_assert(*name && strlen(name) < BB_OWNER_NAME && g_utf8_validate(name, -1, NULL));
    for (const char *c = name; *c; c++)
        g_assert((*c & 0x80) || g_ascii_isalnum(*c) || strchr("_-.:@+", *c));
}

static void try_owner(const guint8 *data, gsize size)
{
    char name[BB_OWNER_NAME];
    BbOwner owner = bb_owner_parse((const char *)data, size);
    if (owner.kind != BB_OWNER_NONE)
        check_name(owner.name);
    bb_owner_clean((const char *)data, size, name);
    check_name(name);
}

static void try_records(const guint8 *data, gsize size)
{
    BbCursor cursor = bb_cursor(data, size);
    BbRecord record;
    g_autoptr(BbProcessTable) table = bb_process_table_new();
    for (const guint8 *from = data; bb_record_take(&cursor, &record); from = cursor.at) {
        g_autoptr(GByteArray) again = g_byte_array_new();
        bb_record_append(again, &record);
        g_assert(again->len == (gsize)(cursor.at - from) && again->len <= BB_RECORD_BYTES);
        g_assert(memcmp(again->data, from, 3) == 0 &&
                 memcmp(again->data + 4, from + 4, again->len - 4) == 0);
        bb_process_table_apply(table, &record);
        (void)bb_process_table_find(table, &record.key, record.number & 1);
    }
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    if (size == 0)
        return 0;
    guint8 which = *data++ & 3;
    size--;
    if (which == 0)
        try_sockets(data, size, size & 1 ? BB_SOCKET_TCP : BB_SOCKET_UDP);
    else if (which == 1)
        try_addresses(data, size);
    else if (which == 2)
        try_owner(data, size);
    else
        try_records(data, size);
    return 0;
}
