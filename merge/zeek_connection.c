// SPDX-License-Identifier: Apache-2.0
// In: what the logs of Zeek tell of a connection. Out: its calls and returns.
#include "merge/zeek_connection.h"

#include "data/keys.h"

struct BbZeekWaiting {
    GPtrArray *connections; // of BbZeekConnection, owned, in the order of their first rows
    GHashTable *by_uid;     // of those
    guint32 rows, rows_max;
};

static void connection_free(gpointer data)
{
    BbZeekConnection *connection = data;
    if (connection->requests)
        g_array_unref(connection->requests);
    g_free(connection);
}

static void count(const BbImport *import, const char *name)
{
    bb_counters_add(import->counters, name, 1);
}

static bool give(const BbImport *import, const BbMessage *message, GError **error)
{
    return import->sink(message, import->user, error);
}

// What calls and returns of a connection have in common. uid is its text.
static BbMessage message_of(const BbZeekConnection *connection, const char *uid)
{
    BbMessage message = bb_message_empty();
    message.kind = BB_CALL;
    message.sender = connection->caller;
    message.receiver = connection->callee;
    message.conn = uid;
    return message;
}

static void turn_round(BbMessage *message)
{
    guint32 sender = message->sender;
    message->kind = BB_RETURN;
    message->sender = message->receiver;
    message->receiver = sender;
}

static bool give_connection(const BbImport *import, const BbZeekConnection *connection,
                            const char *uid, GError **error)
{
    BbMessage message = message_of(connection, uid);
    message.id = connection->uid;
    message.time_ns = connection->time_ns;
    message.bytes = connection->bytes;
    message.op = connection->op;
    message.proto = connection->proto;
    if (!give(import, &message, error))
        return false;
    if (!connection->answered || connection->end_ns == BB_TIME_NONE) {
        count(import, connection->answered ? "zeek_no_duration" : "zeek_no_answer");
        return true;
    }
    turn_round(&message);
    message.time_ns = connection->end_ns;
    message.bytes = connection->answer_bytes;
    message.status = connection->status;
    return give(import, &message, error);
}

static gint compare_requests(gconstpointer a, gconstpointer b)
{
    const BbZeekRequest *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return x->depth < y->depth ? -1 : x->depth > y->depth;
}

// The latest that the answer of a request can have come; BB_TIME_NONE if not known.
static gint64 bound_of(const BbZeekConnection *connection, guint index)
{
    const GArray *requests = connection->requests;
    gint64 time_ns = g_array_index(requests, BbZeekRequest, index).time_ns;
    if (index + 1 < requests->len)
        return g_array_index(requests, BbZeekRequest, index + 1).time_ns;
    return connection->told && connection->end_ns >= time_ns ? connection->end_ns : BB_TIME_NONE;
}

static bool give_request(const BbImport *import, const BbZeekConnection *connection,
                         const char *uid, guint index, GError **error)
{
    const BbZeekRequest *request = &g_array_index(connection->requests, BbZeekRequest, index);
    gint64 end_ns = bound_of(connection, index);
    BbMessage message = message_of(connection, uid);
    g_autofree char *id = g_strdup_printf("%s.%u", uid, index + 1);
    message.id = bb_id_parse(import->names, id);
    message.time_ns = request->time_ns;
    message.op = request->op;
    message.proto = bb_names_intern(import->names, "http");
    if (!give(import, &message, error))
        return false;
    if (request->status == BB_NAME_NONE || end_ns == BB_TIME_NONE) {
        count(import, request->status == BB_NAME_NONE ? "zeek_no_answer" : "zeek_no_end");
        return true;
    }
    count(import, "zeek_bounded");
    turn_round(&message);
    message.time_ns = end_ns;
    message.status = request->status;
    return give(import, &message, error);
}

bool bb_zeek_connection_give(const BbZeekConnection *connection, const BbImport *import,
                             GError **error)
{
    g_autoptr(GString) uid = g_string_new(NULL);
    bb_id_append(uid, import->names, connection->uid);
    if (!connection->requests)
        return give_connection(import, connection, uid->str, error);
    if (connection->told)
        count(import, "zeek_conn_http");
    g_array_sort(connection->requests, compare_requests);
    for (guint i = 0; i < connection->requests->len; i++)
        if (!give_request(import, connection, uid->str, i, error))
            return false;
    return true;
}

// ---- what waits -------------------------------------------------------------------------------

BbZeekWaiting *bb_zeek_waiting_new(guint32 rows_max)
{
    BbZeekWaiting *waiting = g_new0(BbZeekWaiting, 1);
    waiting->connections = g_ptr_array_new_with_free_func(connection_free);
    waiting->by_uid = g_hash_table_new(bb_id_key_hash, bb_id_key_equal);
    waiting->rows_max = rows_max;
    return waiting;
}

void bb_zeek_waiting_free(BbZeekWaiting *waiting)
{
    if (!waiting)
        return;
    g_hash_table_unref(waiting->by_uid);
    g_ptr_array_unref(waiting->connections);
    g_free(waiting);
}

BbZeekConnection *bb_zeek_waiting_find(const BbZeekWaiting *waiting, BbId uid)
{
    return g_hash_table_lookup(waiting->by_uid, &uid);
}

BbZeekConnection *bb_zeek_waiting_add(BbZeekWaiting *waiting, const BbZeekConnection *like)
{
    BbZeekConnection *connection = bb_zeek_waiting_find(waiting, like->uid);
    if (waiting->rows == waiting->rows_max)
        return NULL;
    waiting->rows++;
    if (connection)
        return connection;
    connection = g_memdup2(like, sizeof *like);
    g_ptr_array_add(waiting->connections, connection);
    g_hash_table_insert(waiting->by_uid, &connection->uid, connection);
    return connection;
}

bool bb_zeek_waiting_give(const BbZeekWaiting *waiting, const BbImport *import, GError **error)
{
    for (guint i = 0; i < waiting->connections->len; i++)
        if (!bb_zeek_connection_give(waiting->connections->pdata[i], import, error))
            return false;
    return true;
}
