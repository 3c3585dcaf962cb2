// SPDX-License-Identifier: Apache-2.0
// In: messages. Out: a SQLite database, in one transaction. The schema is below, and in
// bbtrace-export(5).
//
// It is written under another name and takes its own when it is whole. A file of that name is
// replaced only if it is empty or was written by us.
#include "merge/exporter.h"

#include "data/status.h"
#include "merge/fields.h"
#include "merge/open_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

// "bbtr", in the header of the file (application_id), and where there (SQLite's fileformat2, 1.3).
#define APPLICATION_ID 0x62627472
#define APPLICATION_ID_OFFSET 68

// Numbers of 64 bits without sign have a column without type: SQLite would make them floating point
// where they are too large for its integers.
static const char schema[] =
    "PRAGMA application_id = 1650619506;"
    "PRAGMA user_version = 1;"
    "PRAGMA journal_mode = OFF;"
    "PRAGMA synchronous = OFF;"
    "BEGIN;"
    "CREATE TABLE nodes ("
    " node INTEGER PRIMARY KEY,"
    " name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE messages ("
    " message INTEGER PRIMARY KEY," // 1, 2, ... in order of time
    " time_ns INTEGER NOT NULL,"    // since 1970
    " kind TEXT NOT NULL,"          // call, return, message
    " seen TEXT NOT NULL,"          // sender, receiver
    " sender INTEGER REFERENCES nodes,"
    " receiver INTEGER REFERENCES nodes,"
    " call INTEGER REFERENCES messages," // of a return, or a second sighting: the call
    " error INTEGER NOT NULL,"           // whether status tells of a failure
    " id TEXT, recv_ns INTEGER, end_ns INTEGER, op TEXT, status TEXT, bytes, conn TEXT,"
    " off, obs TEXT, proto TEXT, path TEXT, parent TEXT, extra TEXT);"
    "CREATE TABLE counters ("
    " name TEXT PRIMARY KEY,"
    " value NOT NULL);";

// Made when all is in: faster than to keep them up to date.
static const char indices[] =
    "CREATE INDEX messages_by_time ON messages (time_ns);"
    "CREATE INDEX messages_by_edge ON messages (sender, receiver, time_ns);"
    "CREATE INDEX messages_by_call ON messages (call) WHERE call IS NOT NULL;"
    "CREATE INDEX messages_by_op ON messages (op, time_ns) WHERE op IS NOT NULL;"
    "CREATE VIEW calls AS"
    " SELECT c.message AS call, r.message AS \"return\", c.time_ns,"
    "  coalesce(r.recv_ns, r.time_ns) AS return_ns,"
    "  coalesce(r.recv_ns, r.time_ns) - c.time_ns AS latency_ns,"
    "  a.name AS caller, b.name AS callee, coalesce(c.proto, r.proto) AS proto, c.op, r.status,"
    "  coalesce(r.error, 0) AS error, c.id, c.bytes AS call_bytes, r.bytes AS return_bytes,"
    "  c.conn, c.path, c.parent"
    " FROM messages c"
    " LEFT JOIN messages r ON r.call = c.message AND r.kind = 'return' AND r.message ="
    "  (SELECT min(message) FROM messages WHERE call = c.message AND kind = 'return')"
    " LEFT JOIN nodes a ON a.node = c.sender"
    " LEFT JOIN nodes b ON b.node = c.receiver"
    " WHERE c.kind = 'call' AND c.call IS NULL;"
    "CREATE VIEW edges AS"
    " SELECT caller, callee, proto, count(*) AS calls, count(\"return\") AS returns,"
    "  sum(error) AS errors, avg(latency_ns) AS mean_latency_ns, max(latency_ns) AS"
    "  max_latency_ns"
    " FROM calls GROUP BY caller, callee, proto;"
    "COMMIT;";

#define MESSAGE_COLUMNS 21

typedef struct Writing {
    char *path, *part; // the file, and its name while it is written
    sqlite3 *db;
    sqlite3_stmt *add_node, *add_message, *add_counter;
    const BbNames *names;
    GArray *nodes; // name -> node, 0 for not yet
    gint64 nodes_count, messages;
    BbOpenCalls *calls; // values are numbers of messages
    GString *texts[MESSAGE_COLUMNS];
    bool done;
} Writing;

static void sqlite_free(gpointer data)
{
    Writing *writing = data;
    sqlite3_finalize(writing->add_node);
    sqlite3_finalize(writing->add_message);
    sqlite3_finalize(writing->add_counter);
    sqlite3_close(writing->db);
    if (!writing->done && writing->part)
        (void)g_unlink(writing->part);
    for (gsize i = 0; i < MESSAGE_COLUMNS; i++)
        g_string_free(writing->texts[i], TRUE);
    bb_open_calls_free(writing->calls);
    g_array_unref(writing->nodes);
    g_free(writing->path);
    g_free(writing->part);
    g_free(writing);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Writing, sqlite_free)

static bool fail(const Writing *writing, GError **error)
{
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
                "%s: cannot write: %s (after %" G_GINT64_FORMAT
                " messages): free space or rights there, or write to another place",
                writing->path, sqlite3_errmsg(writing->db), writing->messages);
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
                                  id == APPLICATION_ID);
}

static bool prepare(Writing *writing, const char *sql, sqlite3_stmt **statement)
{
    return sqlite3_prepare_v3(writing->db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL) ==
           SQLITE_OK;
}

// Makes an empty file beside the one that is to be, under a name that no other has.
static bool open_part(Writing *writing, GError **error)
{
    g_autofree char *part = g_strconcat(writing->path, ".XXXXXX", NULL);
    int fd = g_mkstemp_full(part, O_RDWR | O_CLOEXEC, 0666);
    if (fd < 0) {
        int reason = errno;
        g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(reason),
                    "%s: cannot write beside it: %s: free space or rights there, or write to "
                    "another place",
                    writing->path, g_strerror(reason));
        return false;
    }
    close(fd);
    writing->part = g_steal_pointer(&part);
    return true;
}

static bool open_database(Writing *writing, GError **error)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    return (sqlite3_open_v2(writing->part, &writing->db, flags, NULL) == SQLITE_OK &&
            sqlite3_exec(writing->db, schema, NULL, NULL, NULL) == SQLITE_OK &&
            prepare(writing, "INSERT INTO nodes VALUES (?, ?)", &writing->add_node) &&
            prepare(writing,
                    "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                    "?, ?, ?, ?, ?)",
                    &writing->add_message) &&
            prepare(writing, "INSERT INTO counters VALUES (?, ?)", &writing->add_counter)) ||
           fail(writing, error);
}

static gpointer sqlite_open(const char *path, const BbNames *names, GError **error)
{
    static const BbOpenCallsValues numbers = {NULL, NULL, NULL};
    if (!is_ours(path)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                    "%s: is there, and is no database that `bbtrace export` made: remove it, or "
                    "write to another file",
                    path);
        return NULL;
    }
    g_autoptr(Writing) writing = g_new0(Writing, 1);
    writing->path = g_strdup(path);
    writing->names = names;
    writing->nodes = g_array_new(FALSE, TRUE, sizeof(gint64));
    writing->calls = bb_open_calls_new(BB_OPEN_CALLS_MAX, &numbers);
    for (gsize i = 0; i < MESSAGE_COLUMNS; i++)
        writing->texts[i] = g_string_new(NULL);
    return open_part(writing, error) && open_database(writing, error) ? g_steal_pointer(&writing)
                                                                      : NULL;
}

// ---- values -------------------------------------------------------------------------------------

// Text that is not UTF-8 is a blob. What is bound is kept by the caller until the statement ran.
static int bind_text(sqlite3_stmt *statement, int column, const char *text, gsize length)
{
    return g_utf8_validate(text, (gssize)length, NULL)
               ? sqlite3_bind_text64(statement, column, text, length, SQLITE_STATIC, SQLITE_UTF8)
               : sqlite3_bind_blob64(statement, column, text, length, SQLITE_STATIC);
}

// SQLite's integers have a sign: what is beyond them is text.
static int bind_number(sqlite3_stmt *statement, int column, const char *digits, gsize length)
{
    gint64 value = 0;
    return g_ascii_string_to_signed(digits, 10, G_MININT64, G_MAXINT64, &value, NULL)
               ? sqlite3_bind_int64(statement, column, value)
               : bind_text(statement, column, digits, length);
}

static bool run(sqlite3_stmt *statement)
{
    bool good = sqlite3_step(statement) == SQLITE_DONE;
    return sqlite3_reset(statement) == SQLITE_OK && good;
}

// The number of a node, which is added when it is new; 0 on failure.
static gint64 node_of(Writing *writing, guint32 name)
{
    const char *text = bb_names_text(writing->names, name);
    if (name >= writing->nodes->len)
        g_array_set_size(writing->nodes, name + 1);
    gint64 *node = &g_array_index(writing->nodes, gint64, name);
    if (*node)
        return *node;
    if (sqlite3_bind_int64(writing->add_node, 1, writing->nodes_count + 1) != SQLITE_OK ||
        bind_text(writing->add_node, 2, text, strlen(text)) != SQLITE_OK || !run(writing->add_node))
        return 0;
    *node = ++writing->nodes_count;
    return *node;
}

static bool bind_node(Writing *writing, int column, guint32 name)
{
    gint64 node = name == BB_NAME_NONE ? 0 : node_of(writing, name);
    if (name == BB_NAME_NONE)
        return sqlite3_bind_null(writing->add_message, column) == SQLITE_OK;
    return node && sqlite3_bind_int64(writing->add_message, column, node) == SQLITE_OK;
}

// ---- messages -----------------------------------------------------------------------------------

// The call that a return or a second sighting belongs to, by its number; 0 for none.
static gint64 call_of(Writing *writing, const BbMessage *message)
{
    gpointer number = bb_open_calls_find(writing->calls, message);
    if (!number && message->kind == BB_CALL)
        bb_open_calls_push(writing->calls, message, GSIZE_TO_POINTER((gsize)writing->messages));
    return (gint64)GPOINTER_TO_SIZE(number);
}

static bool is_error(const Writing *writing, const BbMessage *message)
{
    return message->kind != BB_CALL &&
           bb_status_is_error(bb_names_text(writing->names, message->proto),
                              bb_names_text(writing->names, message->status));
}

// Columns 9 and up are fields by their own names.
static bool bind_fields(Writing *writing, const BbMessage *message)
{
    static const char *const names[] = {"id",  "recv", "end",   "op",   "status", "bytes", "conn",
                                        "off", "obs",  "proto", "path", "parent", "extra"};
    G_STATIC_ASSERT(8 + G_N_ELEMENTS(names) == MESSAGE_COLUMNS);
    int result = SQLITE_OK;
    for (gsize i = 0; result == SQLITE_OK && i < G_N_ELEMENTS(names); i++) {
        const BbField *field = bb_field_find(names[i]);
        GString *text = writing->texts[i];
        int column = 9 + (int)i;
        g_string_truncate(text, 0);
        if (!bb_field_append(field, message, writing->names, text))
            result = sqlite3_bind_null(writing->add_message, column);
        else if (field->form == BB_FIELD_TIME || field->form == BB_FIELD_NUMBER)
            result = bind_number(writing->add_message, column, text->str, text->len);
        else
            result = bind_text(writing->add_message, column, text->str, text->len);
    }
    return result == SQLITE_OK;
}

static bool sqlite_push(gpointer data, const BbMessage *message, GError **error)
{
    static const char *const kinds[] = {
        [BB_CALL] = "call", [BB_RETURN] = "return", [BB_FREE] = "message"};
    Writing *writing = data;
    sqlite3_stmt *statement = writing->add_message;
    const char *seen = message->at_receiver ? "receiver" : "sender";
    writing->messages++;
    gint64 call = call_of(writing, message);
    if (sqlite3_bind_int64(statement, 1, writing->messages) == SQLITE_OK &&
        sqlite3_bind_int64(statement, 2, message->time_ns) == SQLITE_OK &&
        bind_text(statement, 3, kinds[message->kind], strlen(kinds[message->kind])) == SQLITE_OK &&
        bind_text(statement, 4, seen, strlen(seen)) == SQLITE_OK &&
        bind_node(writing, 5, message->sender) && bind_node(writing, 6, message->receiver) &&
        (call ? sqlite3_bind_int64(statement, 7, call) : sqlite3_bind_null(statement, 7)) ==
            SQLITE_OK &&
        sqlite3_bind_int(statement, 8, is_error(writing, message)) == SQLITE_OK &&
        bind_fields(writing, message) && run(statement))
        return true;
    return fail(writing, error);
}

static bool add_counters(Writing *writing, const BbCounters *counters)
{
    for (guint i = 0; i < bb_counters_count(counters); i++) {
        const char *name = bb_counters_name(counters, i);
        g_autofree char *value =
            g_strdup_printf("%" G_GUINT64_FORMAT, bb_counters_value(counters, i));
        if (bind_text(writing->add_counter, 1, name, strlen(name)) != SQLITE_OK ||
            bind_number(writing->add_counter, 2, value, strlen(value)) != SQLITE_OK ||
            !run(writing->add_counter))
            return false;
    }
    return true;
}

static bool sqlite_finish(gpointer data, const BbCounters *counters, GError **error)
{
    Writing *writing = data;
    if (!add_counters(writing, counters) ||
        sqlite3_exec(writing->db, indices, NULL, NULL, NULL) != SQLITE_OK)
        return fail(writing, error);
    g_clear_pointer(&writing->add_node, sqlite3_finalize);
    g_clear_pointer(&writing->add_message, sqlite3_finalize);
    g_clear_pointer(&writing->add_counter, sqlite3_finalize);
    if (sqlite3_close(g_steal_pointer(&writing->db)) != SQLITE_OK ||
        g_rename(writing->part, writing->path) != 0) {
        int reason = errno;
        g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(reason),
                    "%s: cannot rename %s to it: %s: free rights there, or write to another place",
                    writing->path, writing->part, g_strerror(reason));
        return false;
    }
    writing->done = true;
    return true;
}

const BbExporter bb_exporter_sqlite = {
    .name = "sqlite",
    .about = "a SQLite database with messages, nodes, counters, calls and edges",
    .file_only = true,
    .open = sqlite_open,
    .push = sqlite_push,
    .finish = sqlite_finish,
    .free = sqlite_free,
};
