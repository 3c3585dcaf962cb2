// SPDX-License-Identifier: Apache-2.0
// A SQLite database that is written in one transaction under another name, and takes its own when
// it is whole. A file of that name is replaced only if it is empty or was written so.
#pragma once

#include <glib.h>
#include <sqlite3.h>
#include <stdbool.h>

// "bbtr", in the header of the file (application_id).
#define BB_SQLITE_FILE_ID 0x62627472

typedef struct BbSqliteFile BbSqliteFile;

// Makes an empty database, and runs the statements of schema in it, which begin the transaction.
// NULL with an error where path may not be replaced or cannot be written.
BbSqliteFile *bb_sqlite_file_open(const char *path, const char *schema, GError **error);
// Without close, nothing of it is left and nothing is changed.
void bb_sqlite_file_free(BbSqliteFile *file);

// A statement, lent until the file is closed; NULL where it cannot be made.
sqlite3_stmt *bb_sqlite_file_prepare(BbSqliteFile *file, const char *sql);

// Sets the error to the last failure, after so many messages. Always returns false.
bool bb_sqlite_file_fail(const BbSqliteFile *file, gint64 messages, GError **error);

// Runs the statements of sql, which end the transaction, and gives the file its name. After it,
// only free.
bool bb_sqlite_file_close(BbSqliteFile *file, const char *sql, gint64 messages, GError **error);

// ---- values: both return an SQLite result

// Text that is not UTF-8 is a blob. text is lent until the statement ran.
int bb_sqlite_bind_text(sqlite3_stmt *statement, int column, const char *text, gsize length);
// SQLite's integers have a sign: what is beyond them is text. digits are decimal, and lent
// likewise.
int bb_sqlite_bind_digits(sqlite3_stmt *statement, int column, const char *digits, gsize length);
int bb_sqlite_bind_count(sqlite3_stmt *statement, int column, guint64 count);
// Runs it, and makes it ready for other values.
bool bb_sqlite_run(sqlite3_stmt *statement);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSqliteFile, bb_sqlite_file_free)
