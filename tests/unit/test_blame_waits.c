// SPDX-License-Identifier: Apache-2.0
// What nodes wait for that is no call: turns, pools, connections, data sent again, last bytes.
#include "tests/unit/blame_case.h"

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

START_TEST(waits_for_a_turn_are_told)
{
    g_auto(Case) c = case_new(0);
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

START_TEST(waits_of_keepers_are_told)
{
    g_auto(Case) c = case_new(0);
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

TEST_MAIN("blame_waits", rests_of_returns_are_told, connections_that_were_not_opened_are_told,
          data_that_was_sent_again_is_told, waits_for_a_pool_are_told, waits_for_a_turn_are_told,
          waits_of_an_operation_are_told, waits_by_connection_are_told, waits_of_keepers_are_told,
          waits_on_one_group_are_told, short_waits_for_a_turn_are_not,
          no_pool_is_told_where_there_is_none, no_pool_is_told_that_nobody_waited_for)
