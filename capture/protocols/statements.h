// SPDX-License-Identifier: Apache-2.0
// The prepared statements of a connection: what label each id (or name) stands for. At most
// BB_STATEMENTS; beyond it the oldest is forgotten, and its executions are labelled without text.
#pragma once

#include "capture/dialog.h"

#define BB_STATEMENTS 1024u
#define BB_STATEMENT_ID_MAX 63u // bytes of an id that are told apart (PostgreSQL: NAMEDATALEN - 1)
#define BB_STATEMENTS_ASKED 64u // being prepared; beyond it the oldest is forgotten

typedef struct BbStatements BbStatements;

BbStatements *bb_statements_new(void);
void bb_statements_free(BbStatements *statements);

// An id is any bytes.
void bb_statements_set(BbStatements *statements, const void *id, gsize length, guint32 label);
void bb_statements_remove(BbStatements *statements, const void *id, gsize length);
// Its label, BB_NAME_NONE if the id is not known.
guint32 bb_statements_get(const BbStatements *statements, const void *id, gsize length);

// Where the server's reply gives the id: call asks for a statement of this label. And what call
// asked for, once; BB_NAME_NONE if that is not known.
void bb_statements_ask(BbStatements *statements, guint64 call, guint32 label);
guint32 bb_statements_take_asked(BbStatements *statements, guint64 call);

// The label of a statement's text, behind prefix unless that is NULL; without a verb in it
// "<prefix> ?", or BB_NAME_NONE. cut: more of the text was sent, but is not known, so that it may
// break off in a word; a label from half a word would be a lie.
guint32 bb_statement_label(BbDialog *dialog, const char *prefix, const guint8 *text, gsize length,
                           bool cut);

// Whether text begins with a word that statements of SQL or CQL begin with, behind comments and the
// like. *whole: the word is there to its end.
bool bb_statement_begins(const guint8 *text, gsize length, bool *whole);

guint bb_statements_count(const BbStatements *statements);
// Bytes that they take.
gsize bb_statements_held(const BbStatements *statements);
