// SPDX-License-Identifier: Apache-2.0
// The request that a PostgreSQL client is sending: one message (Query, FunctionCall, a packet of
// the startup) or several up to a Sync, its label, and the prepared statements that give labels.
// That of a COPY waits for the data that the server may ask for: they belong to it.
#pragma once

#include "capture/cursor.h"
#include "capture/protocols/statements.h"

// How much a label is worth: the statement's text, unless it only begins a transaction, which
// drivers send before the first statement; a command without a text. The first of the best stays.
typedef enum {
    BB_POSTGRES_UNNAMED,
    BB_POSTGRES_COMMAND,
    BB_POSTGRES_OPENING,
    BB_POSTGRES_STATEMENT,
} BbPostgresRank;

// Zeroed: nothing is being sent. Cleared by bb_postgres_request_clear.
typedef struct BbPostgresRequest {
    BbPart part;
    BbPart data;  // waits: the COPY data behind it
    guint64 call; // once it is opened, else 0
    guint32 label;
    guint32 unnamed;    // label of the unnamed statement
    guint32 opening[2]; // labels of BEGIN and START, once they were seen
    guint8 rank;
    bool copies; // its first word is COPY
    bool waits;  // all of it was sent, but for data that may follow; its call is not written
    BbStatements *statements; // NULL until there are any
} BbPostgresRequest;

void bb_postgres_request_clear(BbPostgresRequest *request);

// Reads the beginning of a message's body for its label. whole: it is the whole body; else it is
// cut by a gap or holds at least BB_POSTGRES_TEXT_MAX bytes.
void bb_postgres_request_read(BbPostgresRequest *request, BbDialog *dialog, guint8 type,
                              BbCursor body, bool whole);
// Names the request by a command that has no statement.
void bb_postgres_request_command(BbPostgresRequest *request, BbDialog *dialog, const char *command);

// Opens its call; part has its first byte.
void bb_postgres_request_open(BbPostgresRequest *request, BbDialog *dialog, guint32 tag);
// All of it was sent but COPY data: its call is opened if that was not done. False: none can
// follow.
bool bb_postgres_request_wait(BbPostgresRequest *request, BbDialog *dialog, guint32 tag);
// All of it was sent: its call is opened if that was not done, and written.
void bb_postgres_request_end(BbPostgresRequest *request, BbDialog *dialog, guint32 tag);
