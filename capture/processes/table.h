// SPDX-License-Identifier: Apache-2.0
// Who owns which socket of this host, as told by records.
#pragma once

#include "capture/processes/record.h"

typedef struct BbProcessTable BbProcessTable;

// Sockets and addresses remembered; names there have ever been. What is beyond is not taken.
#define BB_PROCESS_TABLE_SOCKETS 131072u
#define BB_PROCESS_TABLE_ADDRESSES 4096u
#define BB_PROCESS_TABLE_NAMES 16384u
#define BB_PROCESS_TABLE_SERVERS 65536u // that are called

#define BB_PROCESS_TABLE_CALLS 3u

BbProcessTable *bb_process_table_new(void);
void bb_process_table_free(BbProcessTable *table);

// Takes what a record says of addresses and sockets.
void bb_process_table_apply(BbProcessTable *table, const BbRecord *record);

// The name of who owns the end `local` of a connection; NULL where it is not known. Lent for the
// life of the table. A server is who waits at the address and port, or at the port and any address;
// a client who has the connection, or else the port. What waits at any address is looked for only
// where the address is one of this network namespace.
const char *bb_process_table_find(const BbProcessTable *table, const BbSocketKey *key,
                                  bool is_server);
// Who has most likely had the connection, though nobody saw it: the only one on this host that was
// seen to call the server at key->peer, BB_PROCESS_TABLE_CALLS times or more. NULL where there is
// no such, or another one was ever seen to call it. Lent likewise.
const char *bb_process_table_infer(const BbProcessTable *table, const BbSocketKey *key);
// Whether the address is of this host.
bool bb_process_table_is_local(const BbProcessTable *table, const BbAddress *address);

guint bb_process_table_sockets(const BbProcessTable *table);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbProcessTable, bb_process_table_free)
