// SPDX-License-Identifier: Apache-2.0
// In: path instances with planted costs. Out: checks of whom they are blamed on.
#include "diagnose/blame.h"

#include <string.h>

#include "tests/unit/sample_instances.h"

typedef struct Case {
    Scene *scene;
    BbBlame *blame;
    BbBlameFindings *findings;
    guint64 instances;
} Case;

static Case case_new(guint limit)
{
    Case c = {.scene = scene_new()};
    c.blame = bb_blame_new(&(BbBlameOptions){.labels = true, .limit = limit}, c.scene->names);
    return c;
}

static void case_clear(Case *c)
{
    scene_free(c->scene);
    bb_blame_free(c->blame);
    bb_blame_findings_free(c->findings);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Case, case_clear)

// The calls of the scene so far, with self times as if no call overlapped another.
static BbPaths *take_paths(Case *c)
{
    BbPaths *paths = scene_paths(c->scene, c->instances);
    for (guint32 i = 0; i < paths->n_calls; i++) {
        paths->self_ns[i] += (guint64)(paths->calls[i].replied_ns - paths->calls[i].arrived_ns);
        if (paths->parent[i] != BB_CALL_NO_PARENT)
            paths->self_ns[paths->parent[i]] -=
                (guint64)(paths->calls[i].return_ns - paths->calls[i].call_ns);
    }
    c->instances += paths->n_instances;
    return paths;
}

static void add(Case *c)
{
    g_autoptr(BbPaths) paths = take_paths(c);
    bb_blame_add(c->blame, paths);
}

static void finish(Case *c)
{
    c->findings = bb_blame_finish(c->blame);
}

static guint32 name(const Case *c, const char *text)
{
    return bb_names_find(c->scene->names, text);
}

static const BbBlameRow *row_at(const Case *c, guint i)
{
    ck_assert_uint_lt(i, c->findings->rows->len);
    return &g_array_index(c->findings->rows, BbBlameRow, i);
}

static const BbBlameNode *node_at(const Case *c, guint i)
{
    ck_assert_uint_lt(i, c->findings->nodes->len);
    return &g_array_index(c->findings->nodes, BbBlameNode, i);
}

static char *text_of(const Case *c, guint top)
{
    char *text = NULL;
    gsize size = 0;
    FILE *out = open_memstream(&text, &size);
    bb_blame_write_text(c->findings, c->scene->names, top, out);
    fclose(out);
    return text;
}

static char *json_of(const Case *c)
{
    char *text = NULL;
    gsize size = 0;
    FILE *out = open_memstream(&text, &size);
    bb_blame_write_json(c->findings, c->scene->names, out);
    fclose(out);
    return text;
}

static void check_contains(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "no '%s' in:\n%s", part, text);
}

// client -> lb -> app -> auth, with so much work of auth; all else is 1 us.
static void add_request(Case *c, const char *app, gint64 start_ns, gint64 auth_ns)
{
    guint32 lb =
        scene_call(c->scene, SCENE_ROOT, "client", "lb", start_ns, start_ns + auth_ns + 4000);
    guint32 a = scene_call(c->scene, lb, "lb", app, start_ns + 1000, start_ns + auth_ns + 3000);
    guint32 auth = scene_call(c->scene, a, app, "auth", start_ns + 2000, start_ns + auth_ns + 2000);
    scene_at(c->scene, auth)->op = bb_names_intern(c->scene->names, "GET");
}

START_TEST(every_nanosecond_is_blamed_once)
{
    g_auto(Case) c = case_new(0);
    guint32 a = scene_call(c.scene, SCENE_ROOT, "client", "A", 0, 100);
    guint32 b = scene_call(c.scene, a, "A", "B", 10, 90);
    scene_at(c.scene, b)->arrived_ns = 15; // 5 and 3 on the wire
    scene_at(c.scene, b)->replied_ns = 87;
    scene_call(c.scene, a, "A", "D", 20, 50); // nobody waits for it: 40 of slack
    scene_call(c.scene, b, "B", "D", 30, 40);
    scene_call(c.scene, b, "B", "D", 50, 70);
    add(&c);
    finish(&c);
    ck_assert_uint_eq(c.findings->instances, 1);
    ck_assert_int_eq(c.findings->latency_ns, 100);
    gint64 by_node_ns = 0, by_row_ns = 0;
    for (guint i = 0; i < c.findings->nodes->len; i++)
        by_node_ns += node_at(&c, i)->cost.critical_ns + node_at(&c, i)->cost.wire_ns;
    for (guint i = 0; i < c.findings->rows->len; i++)
        by_row_ns += row_at(&c, i)->cost.critical_ns + row_at(&c, i)->cost.wire_ns;
    ck_assert_int_eq(by_node_ns, 100);
    ck_assert_int_eq(by_row_ns, 100);
    const BbBlameRow *first = row_at(&c, 0); // B: 72 - 30 and 8 of wire
    ck_assert_uint_eq(first->node, name(&c, "B"));
    ck_assert_int_eq(first->cost.critical_ns, 42);
    ck_assert_int_eq(first->cost.wire_ns, 8);
    const BbBlameRow *second = row_at(&c, 1); // two calls of D by B in one request
    ck_assert_uint_eq(second->node, name(&c, "D"));
    ck_assert_uint_eq(second->n_callers, 3);
    ck_assert_uint_eq(second->callers[0], name(&c, "B"));
    ck_assert_uint_eq(second->callers[2], name(&c, "client"));
    ck_assert_uint_eq(second->cost.calls, 2);
    ck_assert_uint_eq(second->cost.instances, 1);
    ck_assert_int_eq(second->cost.critical_ns, 30);
    const BbBlameRow *last = row_at(&c, 3);
    ck_assert_uint_eq(last->node, name(&c, "D"));
    ck_assert_uint_eq(last->n_callers, 2);
    ck_assert_uint_eq(last->cost.off_path, 1);
    ck_assert_int_eq(last->cost.slack_ns, 40);
    ck_assert_uint_eq(node_at(&c, 1)->rows, 2); // D in both contexts
    ck_assert_uint_eq(node_at(&c, 1)->cost.calls, 3);
}
END_TEST

START_TEST(a_node_slow_for_one_caller_is_named)
{
    g_auto(Case) c = case_new(0);
    for (gint64 i = 0; i < 100; i++) {
        add_request(&c, "app1", i * 1000000, 10000 + i);
        add_request(&c, "app2", i * 1000000, 31000 + i % 7);
        add_request(&c, "app3", i * 1000000, 9000 + i % 5);
        if (i % 10 == 0)
            add(&c);
    }
    add(&c);
    finish(&c);
    ck_assert_uint_eq(row_at(&c, 0)->node, name(&c, "auth"));
    ck_assert_uint_eq(row_at(&c, 0)->callers[0], name(&c, "app2"));
    ck_assert_uint_eq(row_at(&c, 0)->cost.instances, 100);
    ck_assert_uint_eq(c.findings->hints->len, 1);
    const BbBlameHint *hint = &g_array_index(c.findings->hints, BbBlameHint, 0);
    ck_assert_uint_eq(hint->node, name(&c, "auth"));
    ck_assert_uint_eq(hint->n_callers, 1);
    ck_assert_uint_eq(hint->slow[0], name(&c, "app2"));
    ck_assert_uint_eq(hint->fast[0], name(&c, "app3"));
    ck_assert_uint_eq(hint->slow_calls, 100);
    ck_assert_int_eq(hint->slow_ns, 31003);
    ck_assert_int_eq(hint->fast_ns, 9002);
    ck_assert_int_eq(hint->excess_ns, 100 * (31003 - 9002));
    g_autofree char *text = text_of(&c, 0);
    check_contains(text, "auth GET is 3.4 times slower when called from app2 (31.0 us, 100 calls) "
                         "than from app3 (9.00 us, 100 calls): 2.20 ms, ");
    check_contains(text, "auth GET  <-  client -> lb -> app2\n");
    check_contains(text, "auth (3 contexts)\n");
    g_autofree char *json = json_of(&c);
    check_contains(
        json, "\"slow_callers\": [\"app2\"], \"slow_calls\": 100, \"slow_self_s\": 0.000031003");
    check_contains(json, "\"callers\": [\"client\", \"lb\", \"app2\"], \"requests\": 100, ");
}
END_TEST

// Both have the same direct caller; who calls that one makes the difference.
START_TEST(the_shortest_chain_that_tells_it_is_named)
{
    g_auto(Case) c = case_new(0);
    for (gint64 i = 0; i < 40; i++) {
        for (guint slow = 0; slow < 2; slow++) {
            const char *lb = slow ? "lb2" : "lb1";
            gint64 end_ns = slow ? 900 + i : 90 + i;
            guint32 root = scene_call(c.scene, SCENE_ROOT, "client", lb, 0, end_ns);
            guint32 app = scene_call(c.scene, root, lb, "app", 0, end_ns);
            scene_call(c.scene, app, "app", "auth", 0, end_ns);
        }
    }
    add(&c);
    finish(&c);
    ck_assert_uint_eq(c.findings->hints->len, 1);
    const BbBlameHint *hint = &g_array_index(c.findings->hints, BbBlameHint, 0);
    ck_assert_uint_eq(hint->n_callers, 2);
    ck_assert_uint_eq(hint->slow[1], name(&c, "lb2"));
    g_autofree char *text = text_of(&c, 0);
    check_contains(text, "when called from lb2 -> app (");
}
END_TEST

// Each of the conditions fails once.
START_TEST(no_hint_without_evidence)
{
    static const struct {
        gint64 calls, slow_ns, swing_ns;
    } cases[] = {{29, 90000, 0}, {100, 19900, 0}, {100, 40000, 39000}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_auto(Case) c = case_new(0);
        for (gint64 k = 0; k < 100; k++)
            add_request(&c, "app1", 0, 10000);
        for (gint64 k = 0; k < cases[i].calls; k++)
            add_request(&c, "app2", 0,
                        k % 10 ? cases[i].slow_ns - cases[i].swing_ns
                               : cases[i].slow_ns + 9 * cases[i].swing_ns);
        add(&c);
        finish(&c);
        ck_assert_msg(c.findings->hints->len == 0, "case %u", i);
    }
    g_auto(Case) c = case_new(0); // a difference that is not worth a word
    guint32 root = scene_call(c.scene, SCENE_ROOT, "client", "batch", 0, 1000000000);
    (void)root;
    for (gint64 k = 0; k < 100; k++) {
        add_request(&c, "app1", 0, 10000);
        add_request(&c, "app2", 0, 50000);
    }
    add(&c);
    finish(&c);
    ck_assert_uint_eq(c.findings->hints->len, 0);
}
END_TEST

// db fails in three of its four calls by web, which come of one request, and never for admin.
START_TEST(failures_are_counted)
{
    g_auto(Case) c = case_new(0);
    guint32 web = scene_call(c.scene, SCENE_ROOT, "client", "web", 0, 1000);
    for (guint i = 0; i < 4; i++) {
        guint32 db = scene_call(c.scene, web, "web", "db", 100 + 200 * i, 200 + 200 * i);
        scene_at(c.scene, db)->status = bb_names_intern(c.scene->names, i < 3 ? "error" : "ok");
    }
    guint32 admin = scene_call(c.scene, SCENE_ROOT, "client", "admin", 0, 500);
    scene_call(c.scene, admin, "admin", "db", 100, 400);
    add(&c);
    finish(&c);
    for (guint i = 0; i < c.findings->rows->len; i++) {
        const BbBlameRow *row = row_at(&c, i);
        bool fails = row->node == name(&c, "db") && row->callers[0] == name(&c, "web");
        ck_assert_uint_eq(row->cost.errors, fails ? 3 : 0);
    }
    g_autofree char *text = text_of(&c, 0), *json = json_of(&c);
    check_contains(text, "2      5    60 %  db (2 contexts)\n");
    check_contains(json, "\"node\": \"db\", \"contexts\": 2, \"requests\": 2, \"calls\": 5, "
                         "\"errors\": 3, ");
}
END_TEST

// app's reply trickles: who waits for it is web.
START_TEST(rests_of_returns_are_told)
{
    g_auto(Case) c = case_new(0);
    for (guint i = 0; i < 3; i++) {
        gint64 at = i * 10000000;
        guint32 web = scene_call(c.scene, SCENE_ROOT, "client", "web", at, at + 5000000);
        guint32 app = scene_call(c.scene, web, "web", "app", at + 100000, at + 600000);
        scene_at(c.scene, app)->return_end_ns = at + 4600000;
    }
    add(&c);
    finish(&c);
    ck_assert_uint_eq(c.findings->rests->len, 1);
    g_autofree char *text = text_of(&c, 0), *json = json_of(&c);
    check_contains(text, "  web -> app: 12.0 ms, 80 % of all latency, from the first to the last "
                         "byte of 3 returns\n");
    check_contains(json, "\"waited_for_last_byte\": [\n{\"client\": \"web\", \"server\": \"app\", "
                         "\"calls\": 3, \"waited_total_s\": 0.012000000}]");
}
END_TEST

START_TEST(labels_may_be_off)
{
    g_autoptr(Scene) scene = scene_new();
    guint32 a = scene_call(scene, SCENE_ROOT, "client", "A", 0, 10);
    scene_at(scene, a)->op = bb_names_intern(scene->names, "GET");
    scene_call(scene, SCENE_ROOT, "client", "A", 20, 30);
    g_autoptr(BbPaths) paths = scene_paths(scene, 0);
    for (guint labels = 0; labels < 2; labels++) {
        g_autoptr(BbBlame) blame = bb_blame_new(&(BbBlameOptions){.labels = labels}, scene->names);
        bb_blame_add(blame, paths);
        g_autoptr(BbBlameFindings) findings = bb_blame_finish(blame);
        ck_assert_uint_eq(findings->rows->len, 1 + labels);
    }
}
END_TEST

// They stand apart, and that app2 waits longer in vain than app1 is no hint.
START_TEST(waits_in_vain_have_rows_of_their_own)
{
    g_auto(Case) c = case_new(0);
    for (guint i = 0; i < 80; i++) {
        const char *app = i % 2 ? "app1" : "app2";
        gint64 start_ns = i * 10000000, wait_ns = i % 2 ? 100000 : 5000000;
        guint32 a =
            scene_call(c.scene, SCENE_ROOT, "client", app, start_ns, start_ns + wait_ns + 3000);
        scene_unanswered(c.scene, a, app, "auth", start_ns + 1000, start_ns + 1000 + wait_ns);
        scene_call(c.scene, a, app, "auth", start_ns + 1000 + wait_ns, start_ns + 2000 + wait_ns);
    }
    g_autoptr(BbPaths) paths = scene_paths(c.scene, 0);
    bb_blame_add(c.blame, paths);
    finish(&c);
    ck_assert_uint_eq(c.findings->rows->len, 6);
    ck_assert(row_at(&c, 0)->unanswered);
    ck_assert_uint_eq(row_at(&c, 0)->callers[0], name(&c, "app2"));
    ck_assert_int_eq(row_at(&c, 0)->cost.critical_ns, 40 * 5000000);
    ck_assert(row_at(&c, 1)->unanswered);
    ck_assert_int_eq(node_at(&c, 0)->cost.critical_ns, 40 * (5000000 + 100000) + 80 * 1000);
    ck_assert_uint_eq(node_at(&c, 0)->rows, 4);
    ck_assert_uint_eq(c.findings->hints->len, 0);
    g_autofree char *text = text_of(&c, 0), *json = json_of(&c);
    check_contains(text, "auth (no return)  <-  client -> app2\n");
    check_contains(text, "auth  <-  client -> app2\n");
    check_contains(
        json, "\"node\": \"auth\", \"op\": null, \"unanswered\": true, \"callers\": [\"client\", "
              "\"app2\"]");
}
END_TEST

// client calls web; db1 and db2 are names.
static Case case_of_one_call(void)
{
    Case c = case_new(0);
    scene_call(c.scene, SCENE_ROOT, "client", "web", 0, 1000);
    bb_names_intern(c.scene->names, "db1");
    bb_names_intern(c.scene->names, "db2");
    g_autoptr(BbPaths) paths = scene_paths(c.scene, 0);
    bb_blame_add(c.blame, paths);
    finish(&c);
    return c;
}

// web tries db1, waits for it, and goes on with db2: there is no call of db1 to be charged with it.
START_TEST(connections_that_were_not_opened_are_told)
{
    g_auto(Case) c = case_of_one_call();
    g_autofree char *silent = text_of(&c, 0), *silent_json = json_of(&c);
    ck_assert_ptr_null(strstr(silent, "not opened"));
    ck_assert_ptr_null(strstr(silent_json, "not_opened"));
    guint32 web = name(&c, "web"), db1 = name(&c, "db1"), db2 = name(&c, "db2");
    g_autoptr(BbNetwork) network = bb_network_new();
    BbNetworkEdge good = {.client = name(&c, "client"), .server = web, .connections = 9};
    BbNetworkEdge few = {.client = web, .server = db2, .connections = 50, .refused = 2};
    BbNetworkEdge bad = {.client = web, .server = db1, .connections = 24, .unanswered = 24};
    bb_network_add(network, &good);
    bb_network_add(network, &few);
    bb_network_add(network, &bad);
    c.findings->network = network;
    g_autofree char *text = text_of(&c, 0), *json = json_of(&c);
    check_contains(text, "not opened (no calls: who waits for one seems to work)\n"
                         "  web -> db1: 24 without answer, 0 refused, of 24\n"
                         "  web -> db2: 0 without answer, 2 refused, of 50\n\n");
    check_contains(json, "{\"client\": \"web\", \"server\": \"db1\", \"connections\": 24, "
                         "\"unanswered\": 24, \"refused\": 0}");
    ck_assert_ptr_null(strstr(json, "\"server\": \"web\""));
}
END_TEST

// From 1 % of the packets on, as in pictures.
START_TEST(data_that_was_sent_again_is_told)
{
    g_auto(Case) c = case_of_one_call();
    guint32 web = name(&c, "web"), db1 = name(&c, "db1"), db2 = name(&c, "db2");
    g_autoptr(BbNetwork) network = bb_network_new();
    BbNetworkEdge none = {.client = web, .server = web};
    BbNetworkEdge good = {
        .client = name(&c, "client"), .server = web, .packets = 199, .retransmitted = 1};
    BbNetworkEdge few = {.client = web, .server = db2, .packets = 200, .retransmitted = 2};
    BbNetworkEdge bad = {.client = web, .server = db1, .packets = 200, .retransmitted = 6};
    bb_network_add(network, &none);
    bb_network_add(network, &good);
    bb_network_add(network, &few);
    bb_network_add(network, &bad);
    c.findings->network = network;
    g_autofree char *text = text_of(&c, 0), *json = json_of(&c);
    check_contains(text, "sent again (no calls: who waits for it seems to work)\n"
                         "  web -> db1: 6 of 200 packets, 3.0 %\n"
                         "  web -> db2: 2 of 200 packets, 1.0 %\n\n");
    check_contains(json, "\"sent_again\": [\n"
                         "{\"client\": \"web\", \"server\": \"db2\", \"packets\": 200, "
                         "\"retransmitted\": 2}");
    ck_assert_ptr_null(strstr(json, "\"server\": \"web\""));
}
END_TEST

// Two calls of one request to db, 20 ns of work of web before each.
static void add_pool_request(Case *c, gint64 start_ns)
{
    guint32 web = scene_call(c->scene, SCENE_ROOT, "client", "web", start_ns, start_ns + 100);
    scene_call(c->scene, web, "web", "db", start_ns + 20, start_ns + 40);
    scene_call(c->scene, web, "web", "db", start_ns + 60, start_ns + 80);
}

START_TEST(waits_for_a_pool_are_told)
{
    g_auto(Case) c = case_new(0);
    add_pool_request(&c, 0);
    g_autoptr(BbPaths) paths = scene_paths(c.scene, 0);
    for (guint32 i = 0; i < paths->n_calls; i++)
        paths->self_ns[i] = 20;
    bb_blame_add(c.blame, paths);
    paths->pool_wait = g_new0(BbPoolWait, paths->n_calls);
    paths->pool_wait[1] = (BbPoolWait){.limit = 2, .share = 0.9F, .ns = 10};
    paths->pool_wait[2] = (BbPoolWait){.limit = 2, .share = 0.8F, .ns = 1000}; // but worked for 20
    bb_blame_add(c.blame, paths);
    paths->pool_wait[1] = (BbPoolWait){.limit = 3};
    paths->pool_wait[2] = (BbPoolWait){0};
    bb_blame_add(c.blame, paths);
    finish(&c);
    ck_assert_uint_eq(c.findings->pools->len, 1);
    g_autofree char *text = text_of(&c, 0), *json = json_of(&c);
    check_contains(text, "Calls that waited for a pool (their callers seem to work meanwhile)\n"
                         "  web -> db: some 2 of 3 calls, hardly ever more than 3 at once: 30 ns, "
                         "10 % of all latency\n");
    check_contains(json, "\"waited_for_pool\": [\n{\"client\": \"web\", \"server\": \"db\", "
                         "\"at_once\": 3, \"calls\": 3, \"calls_waited\": 2, "
                         "\"waited_total_s\": 0.00000003");
}
END_TEST

// web has its turn after 15 of its 60 ns of work.
static BbPaths *paths_with_turns(const Case *c)
{
    BbPaths *paths = scene_paths(c->scene, 0);
    for (guint32 i = 0; i < paths->n_calls; i++)
        paths->self_ns[i] = 20;
    paths->worker_wait = g_new0(BbWorkerWait, paths->n_calls);
    paths->worker_wait[0] = (BbWorkerWait){.limit = 4, .ns = 15};
    return paths;
}

START_TEST(waits_for_a_turn_are_told)
{
    g_auto(Case) c = case_new(0);
    add_pool_request(&c, 0);
    g_autoptr(BbPaths) paths = paths_with_turns(&c);
    bb_blame_add(c.blame, paths);
    paths->worker_wait[0] =
        (BbWorkerWait){.limit = 3, .ns = 1000}; // but it worked 20 at once, at most
    bb_blame_add(c.blame, paths);
    paths->worker_wait[0].ns = 0;
    bb_blame_add(c.blame, paths);
    finish(&c);
    g_autofree char *text = text_of(&c, 0), *json = json_of(&c);
    check_contains(text, "Calls that waited for their turn (the node seems to work meanwhile)\n"
                         "  web: 2 of 3 calls, hardly ever more than 4 at once: 35 ns, "
                         "12 % of all latency\n");
    check_contains(json, "\"waited_for_turn\": [\n{\"node\": \"web\", \"at_once\": 4, "
                         "\"calls\": 3, \"calls_waited\": 2, \"waited_total_s\": 0.000000035");
}
END_TEST

// Of an operation that has a lock by that; of the node's others there may be another line.
START_TEST(waits_of_an_operation_are_told)
{
    g_auto(Case) c = case_new(0);
    add_pool_request(&c, 0);
    g_autoptr(BbPaths) paths = paths_with_turns(&c);
    guint32 page = bb_names_intern(c.scene->names, "GET /page");
    paths->calls[0].op = page;
    paths->worker_wait[0] = (BbWorkerWait){.limit = 1, .by_op = true, .ns = 15};
    bb_blame_add(c.blame, paths);
    bb_blame_add(c.blame, paths);
    paths->calls[0].op = bb_names_intern(c.scene->names, "GET /other");
    paths->worker_wait[0].limit = 2;
    bb_blame_add(c.blame, paths);
    finish(&c);
    ck_assert_uint_eq(c.findings->turns->len, 2);
    g_autofree char *text = text_of(&c, 0), *json = json_of(&c);
    check_contains(text, "  web GET /page: 2 of 2 calls, hardly ever more than 1 at once: 30 ns, "
                         "10 % of all latency\n"
                         "  web GET /other: 1 of 1 call, hardly ever more than 2 at once: 15 ns, ");
    check_contains(json, "{\"node\": \"web\", \"op\": \"GET /page\", \"at_once\": 1, "
                         "\"calls\": 2, \"calls_waited\": 2, \"waited_total_s\": 0.00000003");
}
END_TEST

// As many on each of several groups of connections; of windows that differ the one with more.
START_TEST(waits_by_connection_are_told)
{
    g_auto(Case) c = case_new(0);
    add_pool_request(&c, 0);
    g_autoptr(BbPaths) paths = paths_with_turns(&c);
    bb_blame_add(c.blame, paths);
    paths->worker_wait[0] = (BbWorkerWait){.limit = 2, .lines = 3, .ns = 15};
    bb_blame_add(c.blame, paths);
    finish(&c);
    g_autofree char *text = text_of(&c, 0), *json = json_of(&c);
    check_contains(text,
                   "  web: 2 of 2 calls, hardly ever more than 2 at once on each of 3 groups of "
                   "connections: 30 ns, ");
    check_contains(json, "{\"node\": \"web\", \"at_once\": 2, \"groups\": 3, \"calls\": 2, ");
}
END_TEST

// Of two requests one has a call that is another one's by half, and lacks one by a fifth.
START_TEST(how_many_are_wrong_is_told)
{
    g_auto(Case) c = case_new(0);
    add_pool_request(&c, 0);
    g_autoptr(BbPaths) paths = paths_with_turns(&c);
    paths->whole = g_new(float, paths->n_calls);
    for (guint32 i = 0; i < paths->n_calls; i++)
        paths->confidence[i] = paths->whole[i] = 1;
    bb_blame_add(c.blame, paths);
    paths->confidence[1] = 0.5F;
    paths->whole[0] = 0.8F;
    bb_blame_add(c.blame, paths);
    finish(&c);
    ck_assert_double_eq_tol(c.findings->wrong, 0.3, 1e-6);
    g_autofree char *text = text_of(&c, 0), *json = json_of(&c);
    check_contains(text, "; about 30 % of the requests have a wrong call, or lack one\n");
    check_contains(json, "\"wrong_share\": 0.3000, ");
}
END_TEST

START_TEST(waits_of_keepers_are_told)
{
    g_auto(Case) c = case_new(0);
    add_pool_request(&c, 0);
    g_autoptr(BbPaths) paths = paths_with_turns(&c);
    paths->worker_wait[0].keep = true;
    bb_blame_add(c.blame, paths);
    finish(&c);
    g_autofree char *text = text_of(&c, 0), *json = json_of(&c);
    check_contains(text, "more than 4 at once, each with a connection of its own: 15 ns, ");
    check_contains(json, "\"at_once\": 4, \"own_connections\": true, \"calls\": ");
}
END_TEST

START_TEST(waits_on_one_group_are_told)
{
    g_auto(Case) c = case_new(0);
    add_pool_request(&c, 0);
    g_autoptr(BbPaths) paths = paths_with_turns(&c);
    paths->worker_wait[0].lines = 1;
    bb_blame_add(c.blame, paths);
    finish(&c);
    g_autofree char *text = text_of(&c, 0);
    check_contains(text, "more than 4 at once on one group of connections: 15 ns, ");
}
END_TEST

// What makes less than a hundredth of all latency is none of the reader's business.
START_TEST(short_waits_for_a_turn_are_not)
{
    g_auto(Case) c = case_new(0);
    add_pool_request(&c, 0);
    g_autoptr(BbPaths) paths = paths_with_turns(&c);
    paths->worker_wait[0].ns = 1;
    bb_blame_add(c.blame, paths);
    paths->worker_wait[0].ns = 0;
    bb_blame_add(c.blame, paths);
    finish(&c);
    ck_assert_uint_eq(c.findings->turns->len, 0);
    g_autofree char *text = text_of(&c, 0), *json = json_of(&c);
    ck_assert_ptr_null(strstr(text, "turn ("));
    ck_assert_ptr_null(strstr(json, "turn"));
}
END_TEST

START_TEST(no_pool_is_told_where_there_is_none)
{
    g_auto(Case) c = case_of_one_call();
    g_autofree char *text = text_of(&c, 0), *json = json_of(&c);
    ck_assert_ptr_null(strstr(text, "pool"));
    ck_assert_ptr_null(strstr(json, "pool"));
}
END_TEST

// There is one, but of these calls none waited.
START_TEST(no_pool_is_told_that_nobody_waited_for)
{
    g_auto(Case) c = case_new(0);
    add_pool_request(&c, 0);
    g_autoptr(BbPaths) paths = scene_paths(c.scene, 0);
    paths->pool_wait = g_new0(BbPoolWait, paths->n_calls);
    paths->pool_wait[1].limit = paths->pool_wait[2].limit = 2;
    bb_blame_add(c.blame, paths);
    finish(&c);
    ck_assert_uint_eq(c.findings->pools->len, 0);
}
END_TEST

START_TEST(calls_without_return_are_passed_over)
{
    g_auto(Case) c = case_new(0);
    guint32 a = scene_call(c.scene, SCENE_ROOT, "client", "A", 0, 10);
    scene_at(c.scene, a)->return_ns = scene_at(c.scene, a)->replied_ns = BB_TIME_NONE;
    g_autoptr(BbPaths) paths = scene_paths(c.scene, 0);
    bb_blame_add(c.blame, paths);
    finish(&c);
    ck_assert_uint_eq(c.findings->instances, 0);
    ck_assert_uint_eq(c.findings->rows->len, 0);
    g_autofree char *text = text_of(&c, 0);
    ck_assert_str_eq(text, "bbpaths blame, 0 requests, 0 s of latency\n");
}
END_TEST

// 40 contexts for 10 places: those that come first stay, whole, with those of the request that was
// one too many; nothing is lost unsaid.
START_TEST(contexts_are_limited)
{
    g_auto(Case) c = case_new(10);
    for (gint64 round = 0; round < 3; round++) {
        for (gint64 i = 0; i < 20; i++) {
            g_autofree char *node = g_strdup_printf("n%d", (int)i);
            guint32 a = scene_call(c.scene, SCENE_ROOT, "client", node, 0, 1000 * (i + 1));
            scene_call(c.scene, a, node, "db", 0, 1);
        }
        add(&c);
    }
    finish(&c);
    ck_assert_uint_eq(c.findings->rows->len, 12);
    ck_assert_uint_eq(c.findings->left_out, 3 * 28);
    gint64 sum_ns = c.findings->left_out_ns;
    for (guint i = 0; i < c.findings->rows->len; i++) {
        sum_ns += row_at(&c, i)->cost.critical_ns;
        ck_assert_uint_eq(row_at(&c, i)->cost.calls, 3);
        ck_assert_uint_eq(row_at(&c, i)->cost.instances, 3);
    }
    ck_assert_int_eq(sum_ns, c.findings->latency_ns);
    ck_assert_int_eq(sum_ns, 3 * 1000 * 210);
    gint64 by_node_ns = 0; // nodes are all kept
    for (guint i = 0; i < c.findings->nodes->len; i++)
        by_node_ns += node_at(&c, i)->cost.critical_ns;
    ck_assert_int_eq(by_node_ns, c.findings->latency_ns);
    ck_assert_uint_eq(node_at(&c, 0)->node, name(&c, "n19"));
    g_autofree char *text = text_of(&c, 2);
    check_contains(text, "In no context, for there were too many: 84 calls with ");
    check_contains(text, "Left out: 19 nodes, ");
}
END_TEST

// Many calls of one request are one context.
START_TEST(a_long_request_is_not_many_clients)
{
    g_auto(Case) c = case_new(10);
    for (gint64 i = 0; i < 3; i++) {
        g_autofree char *client = g_strdup_printf("c%d", (int)i);
        guint32 a = scene_call(c.scene, SCENE_ROOT, client, "web", 0, 1000);
        for (gint64 k = 0; k < 40; k++)
            scene_call(c.scene, a, "web", "db", 10 * k, 10 * k + 5);
    }
    add(&c);
    finish(&c);
    ck_assert(!c.findings->any_client);
    ck_assert_uint_eq(c.findings->rows->len, 6);
    ck_assert_uint_eq(c.findings->left_out, 0);
}
END_TEST

// Clients are many, what they ask is not: it is told whole, whoever asked.
START_TEST(many_clients_are_one)
{
    g_auto(Case) c = case_new(40);
    for (gint64 round = 0; round < 3; round++) {
        for (gint64 i = 0; i < 50; i++) {
            g_autofree char *client = g_strdup_printf("c%d", (int)i);
            const char *web = i % 2 ? "fast" : "slow";
            gint64 took_ns = i % 2 ? 1000 : 5000;
            guint32 a = scene_call(c.scene, SCENE_ROOT, client, web, 0, took_ns + 10);
            scene_call(c.scene, a, web, "db", 5, 5 + took_ns);
        }
        add(&c);
    }
    finish(&c);
    ck_assert(c.findings->any_client);
    ck_assert_uint_eq(c.findings->left_out, 0);
    ck_assert_uint_eq(c.findings->rows->len, 4);
    const BbBlameRow *row = row_at(&c, 0);
    ck_assert_uint_eq(row->node, name(&c, "db"));
    ck_assert_uint_eq(row->callers[0], name(&c, "slow"));
    ck_assert_uint_eq(row->callers[1], BB_NAME_NONE);
    ck_assert_uint_eq(row->cost.calls, 75);
    ck_assert_uint_eq(row->cost.instances, 75);
    ck_assert_int_eq(row->cost.critical_ns, 75 * 5000);
    ck_assert_uint_eq(bb_stats_count(row->self), 75);
    ck_assert_int_eq(bb_stats_mean(row->self), 5000);
    const BbBlameHint *hint = &g_array_index(c.findings->hints, BbBlameHint, 0);
    ck_assert_uint_eq(hint->slow_calls, 75);
    ck_assert_uint_eq(hint->fast_calls, 75);
    g_autofree char *text = text_of(&c, 0);
    check_contains(text, "db  <-  (any client) -> slow\n");
    check_contains(text, "All clients are one");
}
END_TEST

START_TEST(times_stop_at_the_end)
{
    g_auto(Case) c = case_new(0);
    for (guint i = 0; i < 3; i++)
        scene_call(c.scene, SCENE_ROOT, "client", "A", 0, G_MAXINT64 - 1);
    add(&c);
    finish(&c);
    ck_assert_int_eq(c.findings->latency_ns, G_MAXINT64);
    ck_assert_int_eq(row_at(&c, 0)->cost.critical_ns, G_MAXINT64);
}
END_TEST

// ---- replicas ----------------------------------------------------------------------------------

// Takes what is between two words out, as often as it is there.
static void take_out(GString *text, const char *from, const char *to)
{
    for (const char *at; (at = strstr(text->str, from));) {
        const char *end = strstr(at, to);
        ck_assert_ptr_nonnull(end);
        g_string_erase(text, at - text->str, end + strlen(to) - at);
    }
}

// Of a request: client and first node.
static void rename_first(Case *c, guint32 root)
{
    scene_at(c->scene, root)->caller = bb_names_intern(c->scene->names, "client2");
    scene_at(c->scene, root)->callee = scene_at(c->scene, root + 1)->caller =
        bb_names_intern(c->scene->names, "lb2");
}

// What is told, in JSON, of requests of two clients by two balancers to three apps, which have
// workers, and a pool before them: of those of the roles, or, where there are none, of one of each.
static GString *told_of_apps(const char *roles_text)
{
    g_auto(Case) c = case_new(0);
    g_autoptr(BbRoles) roles = roles_text ? scene_roles(c.scene, roles_text) : NULL;
    for (gint64 i = 0; i < 300; i++) {
        g_autofree char *app = g_strdup_printf(roles ? "app%d" : "app", (int)(i % 3));
        add_request(&c, app, i * 1000000, 10000 + 20000 * (i >= 150));
        if (roles && i % 2)
            rename_first(&c, 3 * (guint32)i);
    }
    g_autoptr(BbPaths) paths = take_paths(&c);
    paths->roles = roles;
    paths->pool_wait = g_new0(BbPoolWait, paths->n_calls);
    paths->worker_wait = g_new0(BbWorkerWait, paths->n_calls);
    for (guint32 i = 1; i < paths->n_calls; i += 3) {
        paths->pool_wait[i] = (BbPoolWait){.limit = 2 + i % 2, .share = 0.9F, .ns = 500};
        paths->worker_wait[i] = (BbWorkerWait){.limit = 4, .lines = 1 + i % 2, .ns = 700};
    }
    bb_blame_add(c.blame, paths);
    finish(&c);
    ck_assert_uint_eq(c.findings->pools->len, 1);
    ck_assert_uint_eq(c.findings->turns->len, 1);
    ck_assert_uint_eq(c.findings->changes->len, 1);
    ck_assert_uint_eq(c.findings->rows->len, 3);
    ck_assert(!c.findings->replicas == !roles);
    g_autofree char *json = json_of(&c);
    return g_string_new(json);
}

START_TEST(replicas_count_as_one_node)
{
    g_autoptr(GString) merged = told_of_apps("app app*\nclient client*\nlb lb*\n");
    g_autoptr(GString) renamed = told_of_apps(NULL);
    check_contains(merged->str, "\"waited_for_pool\": [\n{\"client\": \"lb\", \"server\": \"app\", "
                                "\"at_once\": 3, \"a_replica\": true, \"calls\": 300, ");
    ck_assert_ptr_null(strstr(renamed->str, "replica"));
    take_out(merged, "\n\"depends_on_replica\": ", "],");
    take_out(merged, " \"a_replica\": ", ",");
    ck_assert_str_eq(merged->str, renamed->str);
}
END_TEST

// client -> app, which works for so long.
static void add_work(Case *c, const char *app, gint64 self_ns)
{
    guint32 call = scene_call(c->scene, SCENE_ROOT, "client", app, 0, self_ns);
    scene_at(c->scene, call)->op = bb_names_intern(c->scene->names, "GET");
}

static void add_merged(Case *c, BbRoles *roles)
{
    g_autoptr(BbPaths) paths = take_paths(c);
    paths->roles = roles;
    bb_blame_add(c->blame, paths);
}

START_TEST(a_slow_replica_is_named)
{
    g_auto(Case) c = case_new(0);
    g_autoptr(BbRoles) roles = scene_roles(c.scene, "app app*\n");
    for (gint64 i = 0; i < 100; i++) {
        add_work(&c, "app1", 10000 + i % 5);
        add_work(&c, "app2", 11000);
        add_work(&c, "app3", 45000);
        add_work(&c, "other1", 10000); // no replicas
        add_work(&c, "other2", 45000);
        scene_unanswered(c.scene, scene_call(c.scene, SCENE_ROOT, "client", "app1", 0, 10), "app1",
                         "app2", 0, 90000);
        if (i % 10 == 9)
            add_merged(&c, roles);
    }
    finish(&c);
    ck_assert_uint_eq(c.findings->replica_hints->len, 1);
    const BbBlameHint *hint = &g_array_index(c.findings->replica_hints, BbBlameHint, 0);
    ck_assert_uint_eq(hint->node, name(&c, "app"));
    ck_assert_uint_eq(*hint->slow, name(&c, "app3"));
    ck_assert_uint_eq(*hint->fast, name(&c, "app1"));
    g_autofree char *text = text_of(&c, 0), *json = json_of(&c);
    check_contains(text, "\nIt depends on the replica\n"
                         "  app GET is 4.5 times slower on app3 (45.0 us, 100 calls) than on app1 "
                         "(10.0 us, 100 calls): 3.50 ms, ");
    ck_assert_ptr_null(strstr(text, "app3 GET"));
    check_contains(json, "\"depends_on_replica\": [\n{\"node\": \"app\", \"op\": \"GET\", "
                         "\"slow_replica\": \"app3\", \"slow_calls\": 100, ");
    check_contains(json, "\"fast_replica\": \"app1\", \"fast_calls\": 100, ");
}
END_TEST

// Those that come first are compared.
START_TEST(replicas_are_limited)
{
    g_auto(Case) c = case_new(2);
    g_autoptr(BbRoles) roles = scene_roles(c.scene, "app app*\n");
    for (gint64 i = 0; i < 50; i++)
        for (gint64 k = 1; k <= 4; k++) {
            g_autofree char *app = g_strdup_printf("app%d", (int)k);
            add_work(&c, app, 10000 * k * k);
        }
    add_merged(&c, roles);
    finish(&c);
    ck_assert_uint_eq(c.findings->replicas->len, 2);
    const BbBlameHint *hint = &g_array_index(c.findings->replica_hints, BbBlameHint, 0);
    ck_assert_uint_eq(c.findings->replica_hints->len, 1);
    ck_assert_uint_eq(*hint->slow, name(&c, "app2"));
}
END_TEST

TEST_MAIN("blame", every_nanosecond_is_blamed_once, a_node_slow_for_one_caller_is_named,
          the_shortest_chain_that_tells_it_is_named, no_hint_without_evidence, failures_are_counted,
          rests_of_returns_are_told, labels_may_be_off, waits_in_vain_have_rows_of_their_own,
          connections_that_were_not_opened_are_told, data_that_was_sent_again_is_told,
          waits_for_a_pool_are_told, waits_for_a_turn_are_told, waits_of_an_operation_are_told,
          waits_by_connection_are_told, how_many_are_wrong_is_told, waits_of_keepers_are_told,
          waits_on_one_group_are_told, short_waits_for_a_turn_are_not,
          no_pool_is_told_where_there_is_none, no_pool_is_told_that_nobody_waited_for,
          calls_without_return_are_passed_over, contexts_are_limited, many_clients_are_one,
          a_long_request_is_not_many_clients, times_stop_at_the_end, replicas_count_as_one_node,
          a_slow_replica_is_named, replicas_are_limited)
