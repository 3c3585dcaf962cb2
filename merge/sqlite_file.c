// SPDX-License-Identifier: Apache-2.0
// In: a path, statements. Out: a database under that path once it is whole.
#include "merge/sqlite_file.h"

#include "data/draft.h"
#include "data/output.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#define APPLICATION_ID_OFFSET 68 // in the header of the file (SQLite's fileformat2, 1.3)

struct BbSqliteFile {
    char *path;
    BbDraft *draft;
    sqlite3 *db;
    GPtrArray *statements; // of sqlite3_stmt
};

static void finalize(gpointer statement)
{
    (void)sqlite3_finalize(statement);
}

void bb_sqlite_file_free(BbSqliteFile *file)
{
    if (!file)
        return;
    g_ptr_array_unref(file->statements);
    sqlite3_close(file->db);
    bb_draft_free(file->draft);
    g_free(file->path);
    g_free(file);
}

bool bb_sqlite_file_fail(const BbSqliteFile *file, gint64 messages, GError **error)
{
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
                "%s: cannot write: %s (after %" G_GINT64_FORMAT
                " messages): free space or rights there, or write to another place",
                file->path, sqlite3_errmsg(file->db), messages);
    return false;
}

// ---- the file -----------------------------------------------------------------------------------

// Whether path may be replaced: it is not there, is empty, or was written by us.
static bool is_ours(const char *path)
{
    guint8 head[APPLICATION_ID_OFFSET + 4] = {0};
    GStatBuf found;
    if (g_stat(path, &found) != 0)
        return true; // what is wrong with it is told when it is opened
    if (!S_ISREG(found.st_mode))
        return false;
    FILE *file = fopen(path, "rbe");
    gsize size = file ? fread(head, 1, sizeof head, file) : 0;
    guint32 id = 0;
    if (file)
        (void)fclose(file);
    for (gsize i = 0; i < 4; i++)
        id = id << 8 | head[APPLICATION_ID_OFFSET + i];
    return found.st_size == 0 || (size == sizeof head && memcmp(head, "SQLite format 3", 16) == 0 &&
                                  id == BB_SQLITE_FILE_ID);
}

static bool open_draft(BbSqliteFile *file, GError **error)
{
    file->draft = bb_draft_new(file->path, true);
    if (file->draft)
        return true;
    int reason = errno;
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(reason),
                "%s: cannot write beside it: %s: %s, or write to another place", file->path,
                g_strerror(reason), bb_output_remedy(reason));
    return false;
}

BbSqliteFile *bb_sqlite_file_open(const char *path, const char *schema, GError **error)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    if (!is_ours(path)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                    "%s: is there, and is no database that `bbtrace export` made: remove it, or "
                    "write to another file",
                    path);
        return NULL;
    }
    g_autoptr(BbSqliteFile) file = g_new0(BbSqliteFile, 1);
    file->path = g_strdup(path);
    file->statements = g_ptr_array_new_with_free_func(finalize);
    if (!open_draft(file, error))
        return NULL;
    if (sqlite3_open_v2(bb_draft_name(file->draft), &file->db, flags, NULL) != SQLITE_OK ||
        sqlite3_exec(file->db, schema, NULL, NULL, NULL) != SQLITE_OK) {
        (void)bb_sqlite_file_fail(file, 0, error);
        return NULL;
    }
    return g_steal_pointer(&file);
}

sqlite3_stmt *bb_sqlite_file_prepare(BbSqliteFile *file, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v3(file->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) !=
        SQLITE_OK)
        return NULL;
    g_ptr_array_add(file->statements, statement);
    return statement;
}

bool bb_sqlite_file_close(BbSqliteFile *file, const char *sql, gint64 messages, GError **error)
{
    if (sqlite3_exec(file->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return bb_sqlite_file_fail(file, messages, error);
    g_ptr_array_set_size(file->statements, 0);
    if (sqlite3_close(g_steal_pointer(&file->db)) != SQLITE_OK || !bb_draft_publish(file->draft)) {
        int reason = errno;
        g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(reason),
                    "%s: cannot rename %s to it: %s: free rights there, or write to another place",
                    file->path, bb_draft_name(file->draft), g_strerror(reason));
        return false;
    }
    return true;
}

// ---- values -------------------------------------------------------------------------------------

int bb_sqlite_bind_text(sqlite3_stmt *statement, int column, const char *text, gsize length)
{
    return g_utf8_validate(text, (gssize)length, NULL)
               ? sqlite3_bind_text64(statement, column, text, length, SQLITE_STATIC, SQLITE_UTF8)
               : sqlite3_bind_blob64(statement, column, text, length, SQLITE_STATIC);
}

int bb_sqlite_bind_digits(sqlite3_stmt *statement, int column, const char *digits, gsize length)
{
    gint64 value = 0;
    return g_ascii_string_to_signed(digits, 10, G_MININT64, G_MAXINT64, &value, NULL)
               ? sqlite3_bind_int64(statement, column, value)
               : bb_sqlite_bind_text(statement, column, digits, length);
}

int bb_sqlite_bind_count(sqlite3_stmt *statement, int column, guint64 count)
{
    if (count <= G_MAXINT64)
        return sqlite3_bind_int64(statement, column, (gint64)count);
    g_autofree char *digits = g_strdup_printf("%" G_GUINT64_FORMAT, count);
    return sqlite3_bind_text(statement, column, digits, -1, SQLITE_TRANSIENT);
}

bool bb_sqlite_run(sqlite3_stmt *statement)
{
    bool good = sqlite3_step(statement) == SQLITE_DONE;
    return sqlite3_reset(statement) == SQLITE_OK && good;
}
