// SPDX-License-Identifier: Apache-2.0
// In: ids of prepared statements with the labels of their texts. Out: the label of an id.
#include "capture/protocols/statements.h"

#include "capture/protocols/label.h"
#include "data/keys.h"

#include <string.h>

typedef struct Id {
    guint8 length;
    guint8 bytes[BB_STATEMENT_ID_MAX];
} Id;

typedef struct Statement {
    GList age; // in the queue, oldest at its head
    guint32 label;
    Id id;
} Statement;

typedef struct Asked {
    guint64 call;
    guint32 label;
} Asked;

struct BbStatements {
    GHashTable *by_id; // of Statement, which is also its key's owner
    GQueue ages;
    Asked asked[BB_STATEMENTS_ASKED]; // a ring; call 0: none
    guint next;                       // place of the next one
};

static guint hash_id(gconstpointer key)
{
    const Id *id = key;
    return bb_keys_bytes(id->bytes, id->length);
}

static gboolean same_id(gconstpointer a, gconstpointer b)
{
    const Id *one = a, *other = b;
    return one->length == other->length && memcmp(one->bytes, other->bytes, one->length) == 0;
}

BbStatements *bb_statements_new(void)
{
    BbStatements *statements = g_new0(BbStatements, 1);
    statements->by_id = g_hash_table_new_full(hash_id, same_id, NULL, g_free);
    g_queue_init(&statements->ages);
    return statements;
}

void bb_statements_free(BbStatements *statements)
{
    if (!statements)
        return;
    g_hash_table_destroy(statements->by_id);
    g_free(statements);
}

static Id id_of(const void *bytes, gsize length)
{
    Id id = {.length = (guint8)MIN(length, BB_STATEMENT_ID_MAX)};
    if (id.length)
        memcpy(id.bytes, bytes, id.length);
    return id;
}

static void forget(BbStatements *statements, Statement *statement)
{
    g_queue_unlink(&statements->ages, &statement->age);
    g_hash_table_remove(statements->by_id, &statement->id);
}

void bb_statements_set(BbStatements *statements, const void *bytes, gsize length, guint32 label)
{
    Id id = id_of(bytes, length);
    Statement *statement = g_hash_table_lookup(statements->by_id, &id);
    if (!statement) {
        if (g_queue_get_length(&statements->ages) == BB_STATEMENTS)
            forget(statements, g_queue_peek_head(&statements->ages));
        statement = g_new0(Statement, 1);
        statement->age.data = statement;
        statement->id = id;
        g_hash_table_insert(statements->by_id, &statement->id, statement);
    } else {
        g_queue_unlink(&statements->ages, &statement->age);
    }
    statement->label = label;
    g_queue_push_tail_link(&statements->ages, &statement->age);
}

void bb_statements_remove(BbStatements *statements, const void *bytes, gsize length)
{
    Id id = id_of(bytes, length);
    Statement *statement = g_hash_table_lookup(statements->by_id, &id);
    if (statement)
        forget(statements, statement);
}

guint32 bb_statements_get(const BbStatements *statements, const void *bytes, gsize length)
{
    Id id = id_of(bytes, length);
    const Statement *statement = g_hash_table_lookup(statements->by_id, &id);
    return statement ? statement->label : BB_NAME_NONE;
}

void bb_statements_ask(BbStatements *statements, guint64 call, guint32 label)
{
    statements->asked[statements->next] = (Asked){.call = call, .label = label};
    statements->next = (statements->next + 1) % BB_STATEMENTS_ASKED;
}

guint32 bb_statements_take_asked(BbStatements *statements, guint64 call)
{
    for (guint i = 0; call && i < BB_STATEMENTS_ASKED; i++) {
        Asked *asked = &statements->asked[i];
        if (asked->call != call)
            continue;
        asked->call = 0;
        return asked->label;
    }
    return BB_NAME_NONE;
}

guint bb_statements_count(const BbStatements *statements)
{
    return g_hash_table_size(statements->by_id);
}

gsize bb_statements_held(const BbStatements *statements)
{
    const gsize each = sizeof(Statement) + 4 * sizeof(gpointer); // with its share of the table
    return sizeof *statements + bb_statements_count(statements) * each;
}

// ---- labels -----------------------------------------------------------------------------------

static gsize whole_words(const guint8 *text, gsize length, bool cut)
{
    while (cut && length && (!text[length - 1] || !strchr(" \t\r\n,;()", text[length - 1])))
        length--;
    return length;
}

guint32 bb_statement_label(BbDialog *dialog, const char *prefix, const guint8 *text, gsize length,
                           bool cut)
{
    char out[2 * BB_LABEL_MAX];
    gsize before = prefix ? (gsize)g_snprintf(out, BB_LABEL_MAX, "%s ", prefix) : 0;
    gsize used = bb_label_sql(out + before, text, whole_words(text, length, cut));
    if (!used && !prefix)
        return BB_NAME_NONE;
    if (!used)
        out[before + used++] = '?';
    if (before + used <= BB_LABEL_MAX)
        return bb_dialog_label(dialog, out, before + used);
    gsize end = BB_LABEL_MAX - 1;
    while (end && ((guint8)out[end] & 0xc0) == 0x80) // not within a character
        end--;
    out[end] = '*';
    return bb_dialog_label(dialog, out, end + 1);
}

bool bb_statement_begins(const guint8 *text, gsize length, bool *whole)
{
    static const char words[] =
        " ABORT ALTER ANALYZE APPLY BATCH BEGIN BINLOG CALL CHANGE CHECK CLOSE COMMENT COMMIT "
        "COPY CREATE DEALLOCATE DECLARE DELETE DESC DESCRIBE DISCARD DO DROP END EXECUTE EXPLAIN "
        "FETCH FLUSH GRANT HANDLER IDENTIFY_SYSTEM INSERT KILL LIST LISTEN LOAD LOCK MERGE "
        "NOTIFY OPTIMIZE PREPARE PURGE REFRESH RELEASE RENAME REPAIR REPLACE RESET REVOKE "
        "ROLLBACK SAVEPOINT SELECT SET SHOW START START_REPLICATION STOP TABLE TRUNCATE UNLISTEN "
        "UNLOCK UPDATE USE VACUUM VALUES WITH XA ";
    char label[BB_LABEL_MAX + 1], word[BB_LABEL_MAX + 3];
    gsize used = bb_label_sql(label, text, length);
    gsize verb = strcspn(label, " ");
    *whole = used > 0 && length > used;
    g_snprintf(word, sizeof word, " %.*s ", (int)verb, label);
    return verb && strstr(words, word);
}
