// SPDX-License-Identifier: Apache-2.0
// In: records, or bytes of them. Out: the other.
#include "capture/processes/record.h"

// kind, protocol, size of the name, 0; port, peer's port, number; addresses; name. Both ends are of
// one machine.
typedef struct Head {
    guint8 kind, protocol, name_size, unused;
    guint16 port, peer_port;
    guint32 number;
    BbAddress local, peer;
} Head;

void bb_record_append(GByteArray *out, const BbRecord *record)
{
    const BbSocketKey *key = &record->key;
    gsize size = strlen(record->name);
    const Head head = {(guint8)record->kind, key->protocol,  (guint8)size, 0,        key->port,
                       key->peer_port,       record->number, key->local,   key->peer};
    G_STATIC_ASSERT(sizeof head + BB_RECORD_NAME == BB_RECORD_BYTES);
    g_byte_array_append(out, (const guint8 *)&head, sizeof head);
    g_byte_array_append(out, (const guint8 *)record->name, (guint)size);
}

static bool is_name(const guint8 *bytes, gsize size)
{
    for (gsize i = 0; i < size; i++)
        if (bytes[i] < 0x21 || bytes[i] == 0x7f || bytes[i] == '/')
            return false;
    return g_utf8_validate((const char *)bytes, (gssize)size, NULL);
}

bool bb_record_take(BbCursor *cursor, BbRecord *record)
{
    Head head;
    if (!cursor->left)
        return false;
    const guint8 *bytes = bb_cursor_take(cursor, sizeof head);
    if (!bytes)
        return false;
    memcpy(&head, bytes, sizeof head);
    const guint8 *name = bb_cursor_take(cursor, head.name_size);
    if (!name || head.kind >= BB_RECORD_KINDS || head.name_size > BB_RECORD_NAME ||
        !is_name(name, head.name_size) || (head.kind == BB_RECORD_SOCKET && !head.name_size)) {
        cursor->broken = true;
        cursor->left = 0;
        return false;
    }
    *record = (BbRecord){.kind = head.kind,
                         .key = {.local = head.local,
                                 .peer = head.peer,
                                 .port = head.port,
                                 .peer_port = head.peer_port,
                                 .protocol = head.protocol},
                         .number = head.number};
    memcpy(record->name, name, head.name_size);
    return true;
}
