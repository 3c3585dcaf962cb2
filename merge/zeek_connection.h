// SPDX-License-Identifier: Apache-2.0
// A connection as the logs of Zeek tell of it: by a row of conn.log, and the requests of http.log.
#pragma once

#include "merge/importer.h"

typedef struct BbZeekRequest {
    gint64 time_ns;
    guint64 depth;
    guint32 op, status; // names
} BbZeekRequest;

typedef struct BbZeekConnection {
    BbId uid;
    guint32 caller, callee, proto, op, status; // names
    gint64 time_ns, end_ns;                    // BB_TIME_NONE if not known
    guint64 bytes, answer_bytes;
    bool told;        // by a row of conn.log
    bool answered;    // the callee took part
    GArray *requests; // of BbZeekRequest, owned; NULL for none
} BbZeekConnection;

// Hands over its messages: a call and, where there was one, a return; where requests are told,
// those, which it puts in order. What is left out is counted. Fails when the sink does.
bool bb_zeek_connection_give(const BbZeekConnection *connection, const BbImport *import,
                             GError **error);

// ---- those whose rows wait for rows of other logs

typedef struct BbZeekWaiting BbZeekWaiting;

// For no more than so many rows.
BbZeekWaiting *bb_zeek_waiting_new(guint32 rows_max);
void bb_zeek_waiting_free(BbZeekWaiting *waiting);

// The connection of that uid, lent; NULL if none waits.
BbZeekConnection *bb_zeek_waiting_find(const BbZeekWaiting *waiting, BbId uid);
// A row more: of the connection with the uid of like, which is copied where none waits. NULL where
// too many rows do. Lent.
BbZeekConnection *bb_zeek_waiting_add(BbZeekWaiting *waiting, const BbZeekConnection *like);
// Hands over all their messages, in the order of their first rows.
bool bb_zeek_waiting_give(const BbZeekWaiting *waiting, const BbImport *import, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbZeekWaiting, bb_zeek_waiting_free)
