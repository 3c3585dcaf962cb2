// SPDX-License-Identifier: Apache-2.0
// In: names of prepared statements with the labels of their texts. Out: the label of a name.
#include "capture/protocols/postgres_statements.h"

#include <string.h>

typedef struct Statement {
    GList age; // in the queue, oldest at its head
    guint32 label;
    char name[BB_POSTGRES_NAME_MAX + 1];
} Statement;

struct BbPostgresStatements {
    GHashTable *by_name; // of Statement, which is also its key's owner
    GQueue ages;
};

BbPostgresStatements *bb_postgres_statements_new(void)
{
    BbPostgresStatements *statements = g_new0(BbPostgresStatements, 1);
    statements->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    g_queue_init(&statements->ages);
    return statements;
}

void bb_postgres_statements_free(BbPostgresStatements *statements)
{
    if (!statements)
        return;
    g_hash_table_destroy(statements->by_name);
    g_free(statements);
}

static void copy_name(char *out, const char *name, gsize length)
{
    gsize kept = MIN(length, BB_POSTGRES_NAME_MAX);
    if (kept)
        memcpy(out, name, kept);
    out[kept] = '\0';
}

static Statement *find(const BbPostgresStatements *statements, const char *name, gsize length)
{
    char key[BB_POSTGRES_NAME_MAX + 1];
    copy_name(key, name, length);
    return g_hash_table_lookup(statements->by_name, key);
}

static void forget(BbPostgresStatements *statements, Statement *statement)
{
    g_queue_unlink(&statements->ages, &statement->age);
    g_hash_table_remove(statements->by_name, statement->name);
}

void bb_postgres_statements_set(BbPostgresStatements *statements, const char *name, gsize length,
                                guint32 label)
{
    Statement *statement = find(statements, name, length);
    if (!statement) {
        if (g_queue_get_length(&statements->ages) == BB_POSTGRES_STATEMENTS)
            forget(statements, g_queue_peek_head(&statements->ages));
        statement = g_new0(Statement, 1);
        statement->age.data = statement;
        copy_name(statement->name, name, length);
        g_hash_table_insert(statements->by_name, statement->name, statement);
    } else {
        g_queue_unlink(&statements->ages, &statement->age);
    }
    statement->label = label;
    g_queue_push_tail_link(&statements->ages, &statement->age);
}

void bb_postgres_statements_remove(BbPostgresStatements *statements, const char *name, gsize length)
{
    Statement *statement = find(statements, name, length);
    if (statement)
        forget(statements, statement);
}

guint32 bb_postgres_statements_get(const BbPostgresStatements *statements, const char *name,
                                   gsize length)
{
    const Statement *statement = find(statements, name, length);
    return statement ? statement->label : BB_NAME_NONE;
}

guint bb_postgres_statements_count(const BbPostgresStatements *statements)
{
    return g_hash_table_size(statements->by_name);
}

gsize bb_postgres_statements_held(const BbPostgresStatements *statements)
{
    const gsize each = sizeof(Statement) + 4 * sizeof(gpointer); // with its share of the table
    return sizeof *statements + bb_postgres_statements_count(statements) * each;
}
