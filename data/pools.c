// SPDX-License-Identifier: Apache-2.0
// In: messages in order of time, with ids and true parents. Out: the connections that calls and
// their returns go over.
#include "data/pools.h"

#include "data/keys.h"
#include "data/pool.h"

#define FIRST_PORT 10001u
#define SERVER_PORT 80u

typedef struct Call Call;

// The connections of one owner to one callee. Its owner is a node, or, of threads, the connection
// that comes in.
typedef struct Idle {
    GPtrArray *waiting; // of Connection, the last one given back at the end
    guint out;          // connections that are not among them
    bool orphaned;      // the owner is gone: this goes when the last one out does
} Idle;

typedef struct Connection {
    char *name;
    Idle *home;         // lent
    Call *holder;       // the request that keeps it, NULL if none does. Lent
    GHashTable *served; // pools of who serves it: callee -> Idle; NULL if it has none
    gint64 idle_ns;     // when the caller had the last return, or its holder was answered
    guint32 callee;
    bool busy; // a call is open on it
} Connection;

struct Call {
    BbId id;
    Connection *connection; // yours; NULL once it was given back
    GPtrArray *held;        // of Connection, the first one taken first; NULL if none. Lent
};

typedef struct Node {
    guint32 ports;      // used so far
    GHashTable *shared; // callee -> Idle
} Node;

struct BbPools {
    BbPoolsUse use;
    const BbNames *names;
    GHashTable *nodes; // name -> Node
    GHashTable *open;  // id -> Call
    BbPool calls;      // their memory
    GString *name;     // of the connection of the last message
    gint64 now_ns;     // time of the last message
};

// ---- connections that are idle ------------------------------------------------------------------

static void connection_free(gpointer data)
{
    Connection *connection = data;
    g_clear_pointer(&connection->served, g_hash_table_destroy);
    g_free(connection->name);
    g_free(connection);
}

static void idle_free_if_empty(Idle *idle)
{
    if (!idle->orphaned || idle->out > 0)
        return;
    g_ptr_array_unref(idle->waiting);
    g_free(idle);
}

// Its owner goes.
static void idle_orphan(gpointer data)
{
    Idle *idle = data;
    g_ptr_array_set_size(idle->waiting, 0);
    idle->orphaned = true;
    idle_free_if_empty(idle);
}

static GHashTable *idle_table_new(void)
{
    return g_hash_table_new_full(NULL, NULL, NULL, idle_orphan);
}

static Idle *idle_of(GHashTable *owner, guint32 callee)
{
    Idle *idle = g_hash_table_lookup(owner, GUINT_TO_POINTER(callee));
    if (idle)
        return idle;
    idle = g_new0(Idle, 1);
    idle->waiting = g_ptr_array_new_with_free_func(connection_free);
    g_hash_table_insert(owner, GUINT_TO_POINTER(callee), idle);
    return idle;
}

// A return that is still under way frees nothing. NULL if none is idle.
static Connection *idle_take(Idle *idle, gint64 now_ns)
{
    for (guint i = idle->waiting->len; i-- > 0;) {
        const Connection *connection = g_ptr_array_index(idle->waiting, i);
        if (connection->idle_ns <= now_ns) {
            idle->out++;
            return g_ptr_array_steal_index(idle->waiting, i);
        }
    }
    return NULL;
}

// In order of idle_ns, which is nearly that in which they come.
static void idle_give(Connection *connection)
{
    Idle *idle = connection->home;
    guint at = idle->waiting->len;
    idle->out--;
    if (idle->orphaned) {
        connection_free(connection);
        idle_free_if_empty(idle);
        return;
    }
    while (at > 0 && ((const Connection *)g_ptr_array_index(idle->waiting, at - 1))->idle_ns >
                         connection->idle_ns)
        at--;
    g_ptr_array_insert(idle->waiting, (gint)at, connection);
}

// ---- requests that hold connections -------------------------------------------------------------

static void hold(Call *request, Connection *connection)
{
    if (!request->held)
        request->held = g_ptr_array_new();
    g_ptr_array_add(request->held, connection);
    connection->holder = request;
}

static Connection *held_to(const Call *request, guint32 callee, gint64 now_ns)
{
    for (guint i = 0; request->held && i < request->held->len; i++) {
        Connection *connection = g_ptr_array_index(request->held, i);
        if (connection->callee == callee && !connection->busy && connection->idle_ns <= now_ns)
            return connection;
    }
    return NULL;
}

// What is busy still goes back with its return.
static void release(Call *request, gint64 now_ns)
{
    for (guint i = 0; request->held && i < request->held->len; i++) {
        Connection *connection = g_ptr_array_index(request->held, i);
        connection->holder = NULL;
        if (connection->busy)
            continue;
        connection->idle_ns = MAX(connection->idle_ns, now_ns);
        idle_give(connection);
    }
    g_clear_pointer(&request->held, g_ptr_array_unref);
}

// ---- calls --------------------------------------------------------------------------------------

// Nobody takes the connection again.
static void close_connection(Connection *connection)
{
    Idle *home = connection->home;
    home->out--;
    if (connection->holder)
        g_ptr_array_remove(connection->holder->held, connection);
    connection_free(connection);
    idle_free_if_empty(home);
}

static void give_back(Call *call, const BbMessage *answer)
{
    Connection *connection = g_steal_pointer(&call->connection);
    connection->busy = false;
    connection->idle_ns = answer->recv_ns == BB_TIME_NONE ? answer->time_ns : answer->recv_ns;
    if (!connection->holder)
        idle_give(connection);
}

static Call *call_open(BbPools *pools, BbId id, Connection *connection)
{
    Call *call = bb_pool_take(&pools->calls);
    *call = (Call){.id = id, .connection = connection};
    connection->busy = true;
    g_hash_table_insert(pools->open, &call->id, call);
    return call;
}

static void call_end(BbPools *pools, Call *call)
{
    g_hash_table_remove(pools->open, &call->id);
    release(call, pools->now_ns);
    g_clear_pointer(&call->connection, close_connection);
    bb_pool_give(&pools->calls, call);
}

// ---- nodes --------------------------------------------------------------------------------------

static void node_free(gpointer data)
{
    Node *node = data;
    g_hash_table_destroy(node->shared);
    g_free(node);
}

static Node *node_of(BbPools *pools, guint32 name)
{
    Node *node = g_hash_table_lookup(pools->nodes, GUINT_TO_POINTER(name));
    if (node)
        return node;
    node = g_new(Node, 1);
    *node = (Node){.shared = idle_table_new()};
    g_hash_table_insert(pools->nodes, GUINT_TO_POINTER(name), node);
    return node;
}

static Connection *connect_anew(BbPools *pools, Idle *home, const BbMessage *call)
{
    Connection *connection = g_new(Connection, 1);
    guint32 port = FIRST_PORT + node_of(pools, call->sender)->ports++;
    *connection = (Connection){
        .name = g_strdup_printf("%s:%u-%s:%u", bb_names_text(pools->names, call->sender), port,
                                bb_names_text(pools->names, call->receiver), SERVER_PORT),
        .home = home,
        .callee = call->receiver,
    };
    home->out++;
    return connection;
}

// ---- messages -----------------------------------------------------------------------------------

// The open call that the sender serves with this one; NULL for a root, and where it is answered.
static Call *request_of(const BbPools *pools, const BbMessage *call)
{
    Call *request = g_hash_table_lookup(pools->open, &call->parent);
    return request && request->connection->callee == call->sender ? request : NULL;
}

// Where calls of this request, or of nobody's, find what is idle.
static Idle *pool_for(BbPools *pools, Call *request, const BbMessage *call)
{
    if (pools->use != BB_POOLS_THREADS || !request)
        return idle_of(node_of(pools, call->sender)->shared, call->receiver);
    Connection *incoming = request->connection;
    if (!incoming->served)
        incoming->served = idle_table_new();
    return idle_of(incoming->served, call->receiver);
}

static Connection *choose(BbPools *pools, const BbMessage *call)
{
    Call *request = request_of(pools, call);
    bool holds = request && pools->use == BB_POOLS_HELD;
    Connection *connection = holds ? held_to(request, call->receiver, call->time_ns) : NULL;
    if (connection)
        return connection;
    Idle *idle = pool_for(pools, request, call);
    connection = idle_take(idle, call->time_ns);
    if (!connection)
        connection = connect_anew(pools, idle, call);
    if (holds)
        hold(request, connection);
    return connection;
}

static void set_connection(BbPools *pools, BbMessage *message, const Call *call)
{
    g_string_assign(pools->name, call->connection->name);
    message->conn = pools->name->str;
}

void bb_pools_connect(BbPools *pools, BbMessage *message)
{
    if (pools->use == BB_POOLS_NONE || message->kind == BB_FREE || !bb_id_is_known(message->id))
        return;
    pools->now_ns = message->time_ns;
    if (message->kind == BB_CALL) {
        bb_pools_end(pools, message->id); // an id that is used again
        set_connection(pools, message, call_open(pools, message->id, choose(pools, message)));
        return;
    }
    Call *call = g_hash_table_lookup(pools->open, &message->id);
    if (!call)
        return;
    set_connection(pools, message, call);
    give_back(call, message);
    call_end(pools, call);
}

void bb_pools_end(BbPools *pools, BbId id)
{
    Call *call = g_hash_table_lookup(pools->open, &id);
    if (call)
        call_end(pools, call);
}

// ---- all of them --------------------------------------------------------------------------------

BbPools *bb_pools_new(BbPoolsUse use, const BbNames *names)
{
    BbPools *pools = g_new(BbPools, 1);
    *pools = (BbPools){
        .use = use,
        .names = names,
        .nodes = g_hash_table_new_full(NULL, NULL, NULL, node_free),
        .open = g_hash_table_new(bb_id_key_hash, bb_id_key_equal),
        .name = g_string_new(NULL),
    };
    bb_pool_init(&pools->calls, sizeof(Call));
    return pools;
}

void bb_pools_free(BbPools *pools)
{
    if (!pools)
        return;
    g_autoptr(GList) calls = g_hash_table_get_values(pools->open);
    for (GList *call = calls; call; call = call->next)
        call_end(pools, call->data);
    g_hash_table_destroy(pools->open);
    g_hash_table_destroy(pools->nodes);
    bb_pool_clear(&pools->calls);
    g_string_free(pools->name, TRUE);
    g_free(pools);
}
