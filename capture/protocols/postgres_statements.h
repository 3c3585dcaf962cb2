// SPDX-License-Identifier: Apache-2.0
// The prepared statements of a connection: what label each name stands for. At most
// BB_POSTGRES_STATEMENTS; beyond it the oldest is forgotten (its executions are labelled EXECUTE).
#pragma once

#include "capture/dialog.h"

#define BB_POSTGRES_STATEMENTS 1024u
#define BB_POSTGRES_NAME_MAX 63u // bytes of a name that the server tells apart (NAMEDATALEN - 1)

typedef struct BbPostgresStatements BbPostgresStatements;

BbPostgresStatements *bb_postgres_statements_new(void);
void bb_postgres_statements_free(BbPostgresStatements *statements);

// A name is any bytes without NUL; the empty one is the unnamed statement.
void bb_postgres_statements_set(BbPostgresStatements *statements, const char *name, gsize length,
                                guint32 label);
void bb_postgres_statements_remove(BbPostgresStatements *statements, const char *name,
                                   gsize length);
// Its label, BB_NAME_NONE if the name is not known.
guint32 bb_postgres_statements_get(const BbPostgresStatements *statements, const char *name,
                                   gsize length);
guint bb_postgres_statements_count(const BbPostgresStatements *statements);
// Bytes that they take.
gsize bb_postgres_statements_held(const BbPostgresStatements *statements);
