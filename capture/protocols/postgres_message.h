// SPDX-License-Identifier: Apache-2.0
// One message of PostgreSQL's protocol 3 (Frontend/Backend Protocol, Message Formats): a type byte,
// a length that counts itself, a body. What can be told from it without knowing the session.
#pragma once

#include "capture/decoder.h"

#define BB_POSTGRES_HEAD 5u        // type and length
#define BB_POSTGRES_SQLSTATE 5u    // letters and digits of an error code
#define BB_POSTGRES_TEXT_MAX 4096u // bytes of a statement that are looked at

// The packets before the first message have no type byte. Codes of their second word.
#define BB_POSTGRES_STARTUP_HEAD 8u
#define BB_POSTGRES_STARTUP_MAX 10000u
#define BB_POSTGRES_VERSION_3 0x0003u // high half; the low one is the minor version
#define BB_POSTGRES_CANCEL 80877102u
#define BB_POSTGRES_SSL 80877103u
#define BB_POSTGRES_GSS 80877104u

// Whether head (BB_POSTGRES_HEAD bytes) can begin a message of that direction. total: its bytes.
bool bb_postgres_head(BbDirection direction, const guint8 *head, gsize *total);

typedef struct BbPostgresChain {
    guint complete;     // messages that are there whole
    guint8 first, last; // types of the first one and of the last whole one
    bool broken;        // something is no message
    bool exact;         // the last one ends where the bytes end
    bool shown;         // enough of the first one is there to tell it from other bytes
} BbPostgresChain;

// Reads messages of direction from the front of data and checks their bodies, too.
BbPostgresChain bb_postgres_chain(BbDirection direction, const guint8 *data, gsize length);

// The code of an ErrorResponse from the beginning of its body, NULL if it is not there.
const char *bb_postgres_sqlstate(const guint8 *body, gsize length);

BbMatch bb_postgres_probe(const guint8 *data, gsize length);
