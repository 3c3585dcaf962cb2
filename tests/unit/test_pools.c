// SPDX-License-Identifier: Apache-2.0
// Connections from pools: which one a call takes, message by message; and what holds in each use of
// them in scenarios with parallel, hedged, lost, late and forwarded calls.
#include "data/pools.h"
#include "tests/unit/scenario_lines.h"

#define MS G_GINT64_CONSTANT(1000000)

// ---- message by message -------------------------------------------------------------------------

typedef struct Scene {
    BbNames *names;
    BbPools *pools;
} Scene;

static Scene scene_start(BbPoolsUse use)
{
    BbNames *names = bb_names_new();
    return (Scene){names, bb_pools_new(use, names)};
}

static void scene_clear(Scene *scene)
{
    bb_pools_free(scene->pools);
    bb_names_free(scene->names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Scene, scene_clear)

static const char *say(Scene *scene, BbKind kind, const char *nodes, BbMessage message)
{
    message.kind = kind;
    message.sender = bb_names_intern(scene->names, (char[]){nodes[0], 0});
    message.receiver = bb_names_intern(scene->names, (char[]){nodes[1], 0});
    bb_pools_connect(scene->pools, &message);
    return message.conn;
}

// parent 0 is a root.
static const char *call(Scene *scene, gint64 ms, const char *nodes, guint64 id, guint64 parent)
{
    BbMessage message = bb_message_empty();
    message.time_ns = ms * MS;
    message.id = bb_id_number(id);
    message.parent = parent ? bb_id_number(parent) : (BbId){.form = BB_ID_DASH};
    return say(scene, BB_CALL, nodes, message);
}

static const char *answer(Scene *scene, gint64 ms, const char *nodes, guint64 id)
{
    BbMessage message = bb_message_empty();
    message.time_ns = ms * MS;
    message.id = bb_id_number(id);
    return say(scene, BB_RETURN, nodes, message);
}

#define GOES(conn, expected) ck_assert_str_eq(conn, expected)

START_TEST(none_have_none)
{
    g_auto(Scene) s = scene_start(BB_POOLS_NONE);
    ck_assert_ptr_null(call(&s, 0, "AB", 1, 0));
    ck_assert_ptr_null(answer(&s, 1, "BA", 1));
}
END_TEST

START_TEST(the_last_one_first)
{
    g_auto(Scene) s = scene_start(BB_POOLS_SHARED);
    GOES(call(&s, 0, "AB", 1, 0), "A:10001-B:80");
    GOES(call(&s, 1, "AB", 2, 0), "A:10002-B:80");
    GOES(call(&s, 2, "AB", 3, 0), "A:10003-B:80");
    GOES(answer(&s, 3, "BA", 2), "A:10002-B:80");
    GOES(answer(&s, 4, "BA", 3), "A:10003-B:80");
    GOES(answer(&s, 5, "BA", 1), "A:10001-B:80");
    GOES(call(&s, 6, "AB", 4, 0), "A:10001-B:80");
    GOES(call(&s, 7, "AB", 5, 0), "A:10003-B:80");
    GOES(call(&s, 8, "AB", 6, 0), "A:10002-B:80");
    GOES(call(&s, 9, "AB", 7, 0), "A:10004-B:80");
}
END_TEST

START_TEST(a_pool_for_each_callee)
{
    g_auto(Scene) s = scene_start(BB_POOLS_SHARED);
    GOES(call(&s, 0, "AB", 1, 0), "A:10001-B:80");
    GOES(answer(&s, 1, "BA", 1), "A:10001-B:80");
    GOES(call(&s, 2, "AC", 2, 0), "A:10002-C:80");
    GOES(call(&s, 3, "BC", 3, 0), "B:10001-C:80");
    GOES(call(&s, 4, "AB", 4, 0), "A:10001-B:80");
}
END_TEST

// Requests of all kinds share the pool.
START_TEST(pools_know_no_requests)
{
    g_auto(Scene) s = scene_start(BB_POOLS_SHARED);
    (void)call(&s, 0, "AB", 1, 0);
    (void)call(&s, 1, "AB", 2, 0);
    GOES(call(&s, 2, "BC", 3, 1), "B:10001-C:80");
    (void)answer(&s, 3, "CB", 3);
    GOES(call(&s, 4, "BC", 4, 2), "B:10001-C:80");
}
END_TEST

// The caller has the return when it arrives, not when it was sent.
START_TEST(a_return_under_way)
{
    g_auto(Scene) s = scene_start(BB_POOLS_SHARED);
    (void)call(&s, 0, "AB", 1, 0);
    (void)call(&s, 0, "AB", 2, 0);
    BbMessage late = bb_message_empty();
    late.time_ns = 10 * MS;
    late.recv_ns = 20 * MS;
    late.id = bb_id_number(1);
    GOES(say(&s, BB_RETURN, "BA", late), "A:10001-B:80");
    GOES(answer(&s, 12, "BA", 2), "A:10002-B:80");
    GOES(call(&s, 13, "AB", 3, 0), "A:10002-B:80");
    GOES(call(&s, 19, "AB", 4, 0), "A:10003-B:80");
    (void)answer(&s, 19, "BA", 3);
    GOES(call(&s, 20, "AB", 5, 0), "A:10001-B:80"); // came at 20, after the other at 19
}
END_TEST

START_TEST(lost_returns)
{
    g_auto(Scene) s = scene_start(BB_POOLS_SHARED);
    GOES(call(&s, 0, "AB", 1, 0), "A:10001-B:80");
    GOES(call(&s, 1, "AB", 2, 0), "A:10002-B:80");
    bb_pools_end(s.pools, bb_id_number(2));
    bb_pools_end(s.pools, bb_id_number(99));
    GOES(call(&s, 2, "AB", 3, 0), "A:10003-B:80");
    (void)answer(&s, 3, "BA", 3);
    ck_assert_ptr_null(answer(&s, 3, "BA", 2));
    for (guint64 id = 4; id < 100; id++) {
        GOES(call(&s, (gint64)id, "AB", id, 0), "A:10003-B:80");
        (void)answer(&s, (gint64)id, "BA", id);
    }
}
END_TEST

START_TEST(others_answer)
{
    for (BbPoolsUse use = BB_POOLS_SHARED; use <= BB_POOLS_THREADS; use++) {
        g_auto(Scene) s = scene_start(use);
        (void)call(&s, 0, "AB", 1, 0);
        GOES(call(&s, 1, "BC", 2, 1), "B:10001-C:80");
        GOES(call(&s, 2, "CD", 3, 2), "C:10001-D:80");
        GOES(answer(&s, 3, "DC", 3), "C:10001-D:80");
        GOES(answer(&s, 4, "CA", 1), "A:10001-B:80");
        bb_pools_end(s.pools, bb_id_number(2));
        GOES(call(&s, 5, "AB", 4, 0), "A:10001-B:80");
        GOES(call(&s, 6, "BC", 5, 4), "B:10002-C:80");
    }
}
END_TEST

START_TEST(what_has_no_connection)
{
    g_auto(Scene) s = scene_start(BB_POOLS_SHARED);
    BbMessage message = bb_message_empty();
    message.time_ns = 0;
    ck_assert_ptr_null(say(&s, BB_CALL, "AB", message));
    ck_assert_ptr_null(say(&s, BB_RETURN, "BA", message));
    message.id = bb_id_number(1);
    ck_assert_ptr_null(say(&s, BB_FREE, "AB", message));
    ck_assert_ptr_null(say(&s, BB_RETURN, "BA", message));
}
END_TEST

// An id that is used again while it is open gives the call before it up.
START_TEST(ids_used_again)
{
    g_auto(Scene) s = scene_start(BB_POOLS_HELD);
    (void)call(&s, 0, "AB", 1, 0);
    GOES(call(&s, 1, "BC", 2, 1), "B:10001-C:80");
    GOES(call(&s, 2, "BC", 2, 1), "B:10002-C:80");
    GOES(answer(&s, 3, "CB", 2), "B:10002-C:80");
    GOES(call(&s, 4, "BC", 1, 1), "B:10002-C:80");
}
END_TEST

START_TEST(held_until_answered)
{
    g_auto(Scene) s = scene_start(BB_POOLS_HELD);
    (void)call(&s, 0, "AB", 1, 0);
    (void)call(&s, 1, "AB", 2, 0);
    GOES(call(&s, 2, "BC", 3, 1), "B:10001-C:80");
    GOES(answer(&s, 3, "CB", 3), "B:10001-C:80");
    GOES(call(&s, 4, "BC", 4, 2), "B:10002-C:80"); // 10001 is idle, and request 1's
    GOES(answer(&s, 5, "CB", 4), "B:10002-C:80");
    GOES(call(&s, 6, "BC", 5, 1), "B:10001-C:80");
    GOES(answer(&s, 7, "CB", 5), "B:10001-C:80");
    GOES(call(&s, 8, "BD", 6, 1), "B:10003-D:80"); // to another callee
    (void)answer(&s, 9, "DB", 6);
    (void)answer(&s, 10, "BA", 1);
    (void)answer(&s, 11, "BA", 2);
    (void)call(&s, 12, "AB", 7, 0);
    GOES(call(&s, 13, "BC", 8, 7), "B:10002-C:80"); // request 2 ended last
}
END_TEST

START_TEST(held_parallel)
{
    g_auto(Scene) s = scene_start(BB_POOLS_HELD);
    (void)call(&s, 0, "AB", 1, 0);
    GOES(call(&s, 1, "BC", 2, 1), "B:10001-C:80");
    GOES(call(&s, 2, "BC", 3, 1), "B:10002-C:80");
    (void)answer(&s, 3, "CB", 2);
    (void)answer(&s, 4, "CB", 3);
    GOES(call(&s, 5, "BC", 4, 1), "B:10001-C:80"); // its first one
    (void)call(&s, 6, "AB", 5, 0);
    GOES(call(&s, 7, "BC", 6, 5), "B:10003-C:80"); // both are held
    (void)answer(&s, 8, "BA", 1);
    GOES(call(&s, 9, "BC", 7, 5), "B:10002-C:80"); // 10001 is busy still
    GOES(answer(&s, 10, "CB", 4), "B:10001-C:80");
    GOES(call(&s, 11, "BC", 8, 5), "B:10001-C:80");
}
END_TEST

START_TEST(held_by_nobody)
{
    g_auto(Scene) s = scene_start(BB_POOLS_HELD);
    GOES(call(&s, 0, "BC", 1, 77), "B:10001-C:80"); // a parent that is no call, or answered
    (void)answer(&s, 1, "CB", 1);
    (void)call(&s, 2, "AB", 2, 0);
    GOES(call(&s, 3, "BC", 3, 2), "B:10001-C:80");
    GOES(call(&s, 4, "XC", 4, 2), "X:10001-C:80"); // B's request is not X's
    (void)answer(&s, 5, "CX", 4);
    GOES(call(&s, 6, "XC", 5, 0), "X:10001-C:80");
}
END_TEST

START_TEST(held_and_lost)
{
    g_auto(Scene) s = scene_start(BB_POOLS_HELD);
    (void)call(&s, 0, "AB", 1, 0);
    GOES(call(&s, 1, "BC", 2, 1), "B:10001-C:80");
    bb_pools_end(s.pools, bb_id_number(2));
    GOES(call(&s, 2, "BC", 3, 1), "B:10002-C:80");
    (void)answer(&s, 3, "CB", 3);
    bb_pools_end(s.pools, bb_id_number(1)); // its request is over, too
    GOES(call(&s, 4, "BC", 4, 0), "B:10002-C:80");
}
END_TEST

START_TEST(threads_have_their_own)
{
    g_auto(Scene) s = scene_start(BB_POOLS_THREADS);
    (void)call(&s, 0, "AB", 1, 0);
    (void)call(&s, 1, "AB", 2, 0);
    GOES(call(&s, 2, "BC", 3, 1), "B:10001-C:80");
    GOES(answer(&s, 3, "CB", 3), "B:10001-C:80");
    GOES(call(&s, 4, "BC", 4, 2), "B:10002-C:80");
    GOES(answer(&s, 5, "CB", 4), "B:10002-C:80");
    GOES(call(&s, 6, "BC", 5, 1), "B:10001-C:80");
    GOES(call(&s, 7, "BC", 6, 1), "B:10003-C:80"); // parallel
    (void)answer(&s, 8, "CB", 6);
    (void)answer(&s, 9, "CB", 5);
    (void)answer(&s, 10, "BA", 2);
    (void)answer(&s, 11, "BA", 1);
    GOES(call(&s, 12, "AB", 7, 0), "A:10001-B:80");
    GOES(call(&s, 13, "BC", 8, 7), "B:10001-C:80"); // the next request on it
    GOES(call(&s, 14, "BD", 9, 7), "B:10004-D:80");
    GOES(call(&s, 15, "AB", 10, 0), "A:10002-B:80");
    GOES(call(&s, 16, "BC", 11, 10), "B:10002-C:80");
}
END_TEST

// What hangs on a connection goes with it, even what is busy still.
START_TEST(threads_that_end)
{
    g_auto(Scene) s = scene_start(BB_POOLS_THREADS);
    (void)call(&s, 0, "AB", 1, 0);
    GOES(call(&s, 1, "BC", 2, 1), "B:10001-C:80");
    GOES(call(&s, 2, "BC", 3, 1), "B:10002-C:80");
    GOES(call(&s, 3, "CD", 4, 3), "C:10001-D:80");
    (void)answer(&s, 4, "CB", 2);
    bb_pools_end(s.pools, bb_id_number(1));
    GOES(answer(&s, 5, "DC", 4), "C:10001-D:80");
    GOES(answer(&s, 6, "CB", 3), "B:10002-C:80");
    GOES(call(&s, 7, "AB", 5, 0), "A:10002-B:80");
    GOES(call(&s, 8, "BC", 6, 5), "B:10003-C:80");
    GOES(call(&s, 9, "BC", 7, 1), "B:10004-C:80"); // 1 is over: nobody's
}
END_TEST

// ---- scenarios ----------------------------------------------------------------------------------

// All that may go wrong, at a load that keeps several requests open.
#define ROUGH                                                                        \
    "duration 6s\nresolution 1us\nnetwork exp 300us\n"                               \
    "calls after exp 2ms\nreturns after exp 2ms\n"                                   \
    "replicas B = B1, B2\nreplicas F = F1..F3\n"                                     \
    "service B { -> C; parallel { -> C; repeat 0..2 -> C; -> D }; 50% -> C; "        \
    "10% { reply; -> C }; ~> E; async -> E }\n"                                      \
    "service C { -> D hedge 4ms; -> F timeout 6ms retry 2 lost 10% }\n"              \
    "service E { -> D; forward -> H { -> D; forward -> I { -> D; 30% fail } } }\n"   \
    "tracelet t { rate 60/s; T -> B }\ntracelet u { clients 3 think 5ms; U -> B }\n" \
    "tracelet s { rate 5/s; script { a: S -> C; after 1ms b: in a -> D; after 1ms return b } }"

typedef struct Run {
    Made made;
    GPtrArray *conns; // of text, by message; NULL for none
} Run;

static bool run_take(const BbMessage *message, gpointer user, GError **error)
{
    Run *run = user;
    g_ptr_array_add(run->conns, g_strdup(message->conn));
    return made_take(message, &run->made, error);
}

static Run run_start(BbPoolsUse use, BbScenarioOptions options)
{
    Run run = {{bb_names_new(), g_array_new(FALSE, FALSE, sizeof(BbMessage))},
               g_ptr_array_new_with_free_func(g_free)};
    g_autoptr(BbPools) pools = bb_pools_new(use, run.made.names);
    g_autoptr(GError) error = NULL;
    g_autofree char *text = g_strdup(ROUGH);
    g_autoptr(BbScenario) scenario =
        bb_scenario_parse(text, strlen(text), "t.scn", NULL, run.made.names, &error);
    ck_assert_msg(scenario, "%s", error ? error->message : "");
    options.pools = pools;
    options.duration_ns = BB_TIME_NONE;
    ck_assert(bb_scenario_run(scenario, &options, run_take, &run, &error));
    ck_assert_uint_gt(run.made.messages->len, 5000);
    return run;
}

static void run_clear(Run *run)
{
    g_array_unref(run->made.messages);
    bb_names_free(run->made.names);
    g_ptr_array_unref(run->conns);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Run, run_clear)

static char *conn_at(const Run *run, guint i)
{
    return g_ptr_array_index(run->conns, i);
}

static bool same_message(const BbMessage *a, const BbMessage *b)
{
    return a->time_ns == b->time_ns && a->recv_ns == b->recv_ns && a->sender == b->sender &&
           a->receiver == b->receiver && a->op == b->op && a->kind == b->kind &&
           a->status == b->status && bb_id_equal(a->id, b->id) && bb_id_equal(a->path, b->path) &&
           bb_id_equal(a->parent, b->parent);
}

// Nothing else of the trace changes, and the same seed gives the same connections.
START_TEST(the_same_again)
{
    g_auto(Run) none = run_start(BB_POOLS_NONE, (BbScenarioOptions){.seed = 3});
    for (BbPoolsUse use = BB_POOLS_SHARED; use <= BB_POOLS_THREADS; use++) {
        g_auto(Run) a = run_start(use, (BbScenarioOptions){.seed = 3});
        g_auto(Run) b = run_start(use, (BbScenarioOptions){.seed = 3});
        ck_assert_uint_eq(a.made.messages->len, none.made.messages->len);
        for (guint i = 0; i < a.made.messages->len; i++) {
            ck_assert(same_message(made_at(&a.made, i), made_at(&none.made, i)));
            ck_assert_ptr_null(conn_at(&none, i));
            ck_assert_str_eq(conn_at(&a, i) ? conn_at(&a, i) : "-",
                             conn_at(&b, i) ? conn_at(&b, i) : "-");
        }
    }
}
END_TEST

// They are chosen before ids and truth are left out.
START_TEST(without_ids_and_truth)
{
    for (BbPoolsUse use = BB_POOLS_SHARED; use <= BB_POOLS_THREADS; use++) {
        g_auto(Run) all = run_start(use, (BbScenarioOptions){.seed = 3});
        g_auto(Run) bare = run_start(
            use, (BbScenarioOptions){.seed = 3, .without_ids = true, .without_truth = true});
        for (guint i = 0; i < all.made.messages->len; i++) {
            const BbMessage *m = made_at(&bare.made, i);
            ck_assert(!bb_id_is_known(m->id) && !bb_id_is_known(m->parent) &&
                      !bb_id_is_known(m->path));
            ck_assert_str_eq(conn_at(&all, i) ? conn_at(&all, i) : "-",
                             conn_at(&bare, i) ? conn_at(&bare, i) : "-");
        }
    }
}
END_TEST

static void check_ends(const Run *run, guint i)
{
    const BbMessage *m = made_at(&run->made, i);
    const char *sender = bb_names_text(run->made.names, m->sender);
    const char *receiver = bb_names_text(run->made.names, m->receiver), *conn = conn_at(run, i);
    if (m->kind == BB_FREE) {
        ck_assert_ptr_null(conn);
        return;
    }
    ck_assert_ptr_nonnull(conn);
    g_autofree char *from = g_strconcat(m->kind == BB_CALL ? sender : receiver, ":", NULL);
    g_autofree char *to = g_strconcat("-", receiver, ":80", NULL);
    ck_assert(g_str_has_prefix(conn, from));
    ck_assert(m->kind == BB_RETURN || g_str_has_suffix(conn, to));
}

// Who uses a connection until when: the last call on it.
typedef struct Use {
    const BbMessage *call;
    gint64 until_ns; // G_MAXINT64 while it is open
} Use;

// A call finds its connection without a call, and its return comes over the same one.
static guint check_one_at_a_time(const Run *run)
{
    g_autoptr(GHashTable) uses = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    for (guint i = 0; i < run->made.messages->len; i++) {
        const BbMessage *m = made_at(&run->made, i);
        Use *use = conn_at(run, i) ? g_hash_table_lookup(uses, conn_at(run, i)) : NULL;
        check_ends(run, i);
        if (m->kind == BB_CALL) {
            ck_assert(!use || use->until_ns <= m->time_ns);
            use = g_new(Use, 1);
            *use = (Use){m, G_MAXINT64};
            g_hash_table_replace(uses, conn_at(run, i), use);
        } else if (m->kind == BB_RETURN) {
            ck_assert(use && bb_id_equal(use->call->id, m->id));
            use->until_ns = m->recv_ns;
        }
    }
    return g_hash_table_size(uses);
}

START_TEST(one_call_at_a_time)
{
    for (BbPoolsUse use = BB_POOLS_SHARED; use <= BB_POOLS_THREADS; use++) {
        g_auto(Run) run = run_start(use, (BbScenarioOptions){.seed = 5});
        guint connections = check_one_at_a_time(&run);
        ck_assert_uint_gt(connections, 20);
        ck_assert_uint_lt(connections, run.made.messages->len / 4);
    }
}
END_TEST

// Index of the call with each id, and of its return; G_MAXUINT if there is none.
typedef struct Span {
    guint call, answer;
} Span;

static GArray *spans_of(const Run *run)
{
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(Span));
    for (guint i = 0; i < run->made.messages->len; i++) {
        const BbMessage *m = made_at(&run->made, i);
        while (m->kind != BB_FREE && spans->len <= m->id.number)
            g_array_append_val(spans, ((Span){G_MAXUINT, G_MAXUINT}));
        if (m->kind == BB_CALL)
            g_array_index(spans, Span, m->id.number).call = i;
        if (m->kind == BB_RETURN)
            g_array_index(spans, Span, m->id.number).answer = i;
    }
    return spans;
}

// The request that message i, a call, is part of while that is not answered; NULL for none. Those
// that are handed on, which others answer, are left out.
static const Span *request_of(const Run *run, const GArray *spans, guint i)
{
    const BbMessage *m = made_at(&run->made, i);
    if (m->kind != BB_CALL || m->parent.form == BB_ID_DASH || m->parent.number >= spans->len)
        return NULL;
    const Span *span = &g_array_index(spans, Span, m->parent.number);
    bool open = span->call != G_MAXUINT && span->answer != G_MAXUINT && span->answer > i;
    return open ? span : NULL;
}

START_TEST(threads_share_nothing)
{
    g_auto(Run) run = run_start(BB_POOLS_THREADS, (BbScenarioOptions){.seed = 7});
    g_autoptr(GArray) spans = spans_of(&run);
    g_autoptr(GHashTable) incoming = g_hash_table_new(g_str_hash, g_str_equal);
    guint again = 0;
    for (guint i = 0; i < run.made.messages->len; i++) {
        const Span *request = request_of(&run, spans, i);
        if (!request)
            continue;
        const char *in = conn_at(&run, request->call);
        const char *before = g_hash_table_lookup(incoming, conn_at(&run, i));
        ck_assert(!before || strcmp(before, in) == 0);
        again += before != NULL;
        g_hash_table_insert(incoming, conn_at(&run, i), (gpointer)in);
    }
    ck_assert_uint_gt(again, 1500);
}
END_TEST

START_TEST(held_ones_are_one_requests)
{
    g_auto(Run) run = run_start(BB_POOLS_HELD, (BbScenarioOptions){.seed = 7});
    g_autoptr(GArray) spans = spans_of(&run);
    g_autoptr(GHashTable) holders = g_hash_table_new(g_str_hash, g_str_equal);
    guint again = 0, others = 0;
    for (guint i = 0; i < run.made.messages->len; i++) {
        if (made_at(&run.made, i)->kind != BB_CALL)
            continue;
        const Span *request = request_of(&run, spans, i);
        const Span *before = g_hash_table_lookup(holders, conn_at(&run, i));
        ck_assert(!before || before == request || before->answer < i);
        again += before && before == request;
        others += before && before != request;
        g_hash_table_insert(holders, conn_at(&run, i), (gpointer)request);
    }
    ck_assert_uint_gt(again, 200);
    ck_assert_uint_gt(others, 300);
}
END_TEST

TEST_MAIN("pools", none_have_none, the_last_one_first, a_pool_for_each_callee,
          pools_know_no_requests, a_return_under_way, lost_returns, others_answer,
          what_has_no_connection, ids_used_again, held_until_answered, held_parallel,
          held_by_nobody, held_and_lost, threads_have_their_own, threads_that_end, the_same_again,
          without_ids_and_truth, one_call_at_a_time, threads_share_nothing,
          held_ones_are_one_requests)
