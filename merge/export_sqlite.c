// SPDX-License-Identifier: Apache-2.0
// In: messages. Out: a SQLite database, in one transaction. The schema is below, and in
// bbtrace-export(5).
#include "merge/exporter.h"

#include "data/status.h"
#include "merge/fields.h"
#include "merge/open_calls.h"
#include "merge/sqlite_file.h"

#include <string.h>

// Numbers of 64 bits without sign have a column without type: SQLite would make them floating point
// where they are too large for its integers.
static const char schema[] = "PRAGMA application_id = " G_STRINGIFY(
    BB_SQLITE_FILE_ID) ";"
                       "PRAGMA user_version = 2;"
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
                       " call INTEGER REFERENCES messages," // that it belongs to: call_of()
                       " error INTEGER NOT NULL,"           // whether status tells of a failure
                       " id TEXT, recv_ns INTEGER, end_ns INTEGER, op TEXT, status TEXT, bytes, "
                       "conn TEXT,"
                       " off, obs TEXT, proto TEXT, file TEXT, frame INTEGER, path TEXT, parent "
                       "TEXT, extra TEXT);"
                       "CREATE TABLE counters ("
                       " name TEXT PRIMARY KEY,"
                       " value NOT NULL);"
                       "CREATE TABLE network (" // the fields of data/network.h, by their names
                       " client INTEGER REFERENCES nodes," // who opened the connections
                       " server INTEGER REFERENCES nodes,"
                       " connections NOT NULL, refused NOT NULL, unanswered NOT NULL, resets NOT "
                       "NULL,"
                       " packets NOT NULL, retransmitted NOT NULL, reordered NOT NULL, "
                       "zero_windows NOT NULL,"
                       " to_server NOT NULL, to_server_sum_ns NOT NULL, to_server_least_ns NOT "
                       "NULL,"
                       " to_server_most_ns NOT NULL, to_client NOT NULL, to_client_sum_ns NOT NULL,"
                       " to_client_least_ns NOT NULL, to_client_most_ns NOT NULL);";

// Made when all is in: faster than to keep them up to date.
static const char indices[] =
    "CREATE INDEX messages_by_time ON messages (time_ns);"
    "CREATE INDEX messages_by_edge ON messages (sender, receiver, time_ns);"
    "CREATE INDEX messages_by_call ON messages (call) WHERE call IS NOT NULL;"
    "CREATE INDEX messages_by_op ON messages (op, time_ns) WHERE op IS NOT NULL;"
    "CREATE VIEW calls AS" // by the caller's clock, whichever sighting came first
    " SELECT call, \"return\", time_ns, return_ns, return_ns - time_ns AS latency_ns, caller,"
    "  callee, proto, op, status, error, id, call_bytes, return_bytes, conn, path, parent FROM"
    "  (SELECT c.message AS call, r.message AS \"return\","
    "   coalesce((SELECT min(time_ns) FROM messages WHERE call = c.message AND kind = 'call' AND"
    "    seen = 'sender'), c.time_ns) AS time_ns,"
    "   coalesce((SELECT min(time_ns) FROM messages WHERE call = c.message AND kind = 'return' AND"
    "    seen = 'receiver'), r.recv_ns, r.time_ns) AS return_ns,"
    "   a.name AS caller, b.name AS callee, coalesce(c.proto, r.proto) AS proto, c.op, r.status,"
    "   coalesce(r.error, 0) AS error, c.id, c.bytes AS call_bytes, r.bytes AS return_bytes,"
    "   c.conn, c.path, c.parent"
    "  FROM messages c"
    "  LEFT JOIN messages r ON r.call = c.message AND r.kind = 'return' AND r.message ="
    "   (SELECT min(message) FROM messages WHERE call = c.message AND kind = 'return')"
    "  LEFT JOIN nodes a ON a.node = c.sender"
    "  LEFT JOIN nodes b ON b.node = c.receiver"
    "  WHERE c.kind = 'call' AND c.call IS NULL);"
    "CREATE VIEW edges AS" // with returns whose calls were not seen: their errors were
    " SELECT caller, callee, proto, sum(called) AS calls, count(\"return\") AS returns,"
    "  sum(error) AS errors, avg(latency_ns) AS mean_latency_ns, max(latency_ns) AS"
    "  max_latency_ns FROM"
    "  (SELECT caller, callee, proto, 1 AS called, \"return\", error, latency_ns FROM calls"
    "   UNION ALL"
    "   SELECT a.name, b.name, r.proto, 0, r.message, r.error, NULL FROM messages r"
    "   LEFT JOIN nodes a ON a.node = r.receiver"
    "   LEFT JOIN nodes b ON b.node = r.sender"
    "   WHERE r.kind = 'return' AND r.call IS NULL)"
    " GROUP BY caller, callee, proto;"
    "COMMIT;";

#define MESSAGE_COLUMNS 23
#define NETWORK_COLUMNS (2 + BB_NETWORK_FIELDS)

typedef struct Writing {
    BbSqliteFile *file;
    sqlite3_stmt *add_node, *add_message, *add_counter, *add_edge, *set_call;
    const BbNames *names;
    GArray *nodes; // name -> node, 0 for not yet
    gint64 nodes_count, messages;
    BbOpenCalls *calls; // values are numbers of messages
    bool failed;        // to tell of an early return
    GString *texts[MESSAGE_COLUMNS];
} Writing;

static void sqlite_free(gpointer data)
{
    Writing *writing = data;
    bb_sqlite_file_free(writing->file);
    for (gsize i = 0; i < MESSAGE_COLUMNS; i++)
        g_string_free(writing->texts[i], TRUE);
    bb_open_calls_free(writing->calls);
    g_array_unref(writing->nodes);
    g_free(writing);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Writing, sqlite_free)

static bool fail(const Writing *writing, GError **error)
{
    return bb_sqlite_file_fail(writing->file, writing->messages, error);
}

// "INSERT INTO table VALUES (?, ?, ...)"
static sqlite3_stmt *prepare_insert(Writing *writing, const char *table, guint columns)
{
    g_autoptr(GString) sql = g_string_new("INSERT INTO ");
    g_string_append_printf(sql, "%s VALUES (?", table);
    for (guint i = 1; i < columns; i++)
        g_string_append(sql, ", ?");
    g_string_append_c(sql, ')');
    return bb_sqlite_file_prepare(writing->file, sql->str);
}

static bool prepare_all(Writing *writing, GError **error)
{
    return ((writing->add_node = prepare_insert(writing, "nodes", 2)) &&
            (writing->add_message = prepare_insert(writing, "messages", MESSAGE_COLUMNS)) &&
            (writing->add_counter = prepare_insert(writing, "counters", 2)) &&
            (writing->add_edge = prepare_insert(writing, "network", NETWORK_COLUMNS)) &&
            (writing->set_call = bb_sqlite_file_prepare(
                 writing->file, "UPDATE messages SET call = ? WHERE message = ?"))) ||
           fail(writing, error);
}

// A return is in the table already, without its call, where it is stamped before that one.
static void adopt_return(gpointer call, gpointer early, gpointer user)
{
    Writing *writing = user;
    sqlite3_stmt *statement = writing->set_call;
    writing->failed |=
        sqlite3_bind_int64(statement, 1, (gint64)GPOINTER_TO_SIZE(call)) != SQLITE_OK ||
        sqlite3_bind_int64(statement, 2, (gint64)GPOINTER_TO_SIZE(early)) != SQLITE_OK ||
        !bb_sqlite_run(statement);
}

static gpointer sqlite_open(const char *path, const BbNames *names, GError **error)
{
    BbSqliteFile *file = bb_sqlite_file_open(path, schema, error);
    if (!file)
        return NULL;
    g_autoptr(Writing) writing = g_new0(Writing, 1);
    writing->file = file;
    writing->names = names;
    writing->nodes = g_array_new(FALSE, TRUE, sizeof(gint64));
    const BbOpenCallsValues numbers = {.adopt = adopt_return, .user = writing};
    writing->calls = bb_open_calls_new(BB_OPEN_CALLS_MAX, &numbers);
    for (gsize i = 0; i < MESSAGE_COLUMNS; i++)
        writing->texts[i] = g_string_new(NULL);
    return prepare_all(writing, error) ? g_steal_pointer(&writing) : NULL;
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
        bb_sqlite_bind_text(writing->add_node, 2, text, strlen(text)) != SQLITE_OK ||
        !bb_sqlite_run(writing->add_node))
        return 0;
    *node = ++writing->nodes_count;
    return *node;
}

static bool bind_node(Writing *writing, sqlite3_stmt *statement, int column, guint32 name)
{
    gint64 node = name == BB_NAME_NONE ? 0 : node_of(writing, name);
    if (name == BB_NAME_NONE)
        return sqlite3_bind_null(statement, column) == SQLITE_OK;
    return node && sqlite3_bind_int64(statement, column, node) == SQLITE_OK;
}

// ---- messages -----------------------------------------------------------------------------------

// The call that a return or a second sighting belongs to, by its number; of a second sighting of a
// return without call, that of the first. 0 for none.
static gint64 call_of(Writing *writing, const BbMessage *message)
{
    gpointer number = bb_open_calls_find(writing->calls, message);
    gpointer own = GSIZE_TO_POINTER((gsize)writing->messages);
    if (!number && message->kind == BB_CALL)
        bb_open_calls_push(writing->calls, message, own);
    else if (!number && message->kind == BB_RETURN)
        number = bb_open_calls_push_early(writing->calls, message, own);
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
    static const char *const names[] = {"id",    "recv",  "end",  "op",     "status",
                                        "bytes", "conn",  "off",  "obs",    "proto",
                                        "file",  "frame", "path", "parent", "extra"};
    G_STATIC_ASSERT(8 + G_N_ELEMENTS(names) == MESSAGE_COLUMNS);
    int result = SQLITE_OK;
    for (gsize i = 0; result == SQLITE_OK && i < G_N_ELEMENTS(names); i++) {
        const BbField *field = bb_field_find(names[i]);
        GString *text = writing->texts[i];
        int column = 9 + (int)i;
        g_string_truncate(text, 0);
        if (!bb_field_append(field, message, writing->names, text))
            result = sqlite3_bind_null(writing->add_message, column);
        else if (bb_field_is_number(field))
            result = bb_sqlite_bind_digits(writing->add_message, column, text->str, text->len);
        else
            result = bb_sqlite_bind_text(writing->add_message, column, text->str, text->len);
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
        bb_sqlite_bind_text(statement, 3, kinds[message->kind], strlen(kinds[message->kind])) ==
            SQLITE_OK &&
        bb_sqlite_bind_text(statement, 4, seen, strlen(seen)) == SQLITE_OK &&
        bind_node(writing, statement, 5, message->sender) &&
        bind_node(writing, statement, 6, message->receiver) &&
        (call ? sqlite3_bind_int64(statement, 7, call) : sqlite3_bind_null(statement, 7)) ==
            SQLITE_OK &&
        sqlite3_bind_int(statement, 8, is_error(writing, message)) == SQLITE_OK &&
        bind_fields(writing, message) && bb_sqlite_run(statement))
        return true;
    return fail(writing, error);
}

// ---- what is told at the end --------------------------------------------------------------------

static bool add_edge(Writing *writing, const BbNetworkEdge *edge)
{
    sqlite3_stmt *statement = writing->add_edge;
    if (!bind_node(writing, statement, 1, edge->client) ||
        !bind_node(writing, statement, 2, edge->server))
        return false;
    for (guint field = 0; field < BB_NETWORK_FIELDS; field++)
        if (bb_sqlite_bind_count(statement, 3 + (int)field, bb_network_field(edge, field)) !=
            SQLITE_OK)
            return false;
    return bb_sqlite_run(statement);
}

static bool sqlite_network(gpointer data, const BbNetwork *network, GError **error)
{
    Writing *writing = data;
    for (guint i = 0; i < bb_network_count(network); i++)
        if (!add_edge(writing, bb_network_at(network, i)))
            return fail(writing, error);
    return true;
}

static bool add_counters(const Writing *writing, const BbCounters *counters)
{
    sqlite3_stmt *statement = writing->add_counter;
    for (guint i = 0; i < bb_counters_count(counters); i++) {
        const char *name = bb_counters_name(counters, i);
        if (bb_sqlite_bind_text(statement, 1, name, strlen(name)) != SQLITE_OK ||
            bb_sqlite_bind_count(statement, 2, bb_counters_value(counters, i)) != SQLITE_OK ||
            !bb_sqlite_run(statement))
            return false;
    }
    return true;
}

static bool sqlite_finish(gpointer data, const BbCounters *counters, GError **error)
{
    Writing *writing = data;
    bb_open_calls_finish(writing->calls);
    if (writing->failed || !add_counters(writing, counters))
        return fail(writing, error);
    return bb_sqlite_file_close(writing->file, indices, writing->messages, error);
}

const BbExporter bb_exporter_sqlite = {
    .name = "sqlite",
    .about = "a SQLite database with messages, nodes, counters, calls and edges",
    .endings = {"sqlite", "sqlite3", "db"},
    .file_only = true,
    .open = sqlite_open,
    .push = sqlite_push,
    .network = sqlite_network,
    .finish = sqlite_finish,
    .free = sqlite_free,
};
