// SPDX-License-Identifier: Apache-2.0
// In: path instances with planted costs. Out: checks of whom they are blamed on.
#include "tests/unit/blame_case.h"

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

// Of two requests one has a call that is another one's by half, and lacks one by a fifth.
START_TEST(how_many_are_wrong_is_told)
{
    g_auto(Case) c = case_new(0);
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

TEST_MAIN("blame", every_nanosecond_is_blamed_once, a_node_slow_for_one_caller_is_named,
          the_shortest_chain_that_tells_it_is_named, no_hint_without_evidence, failures_are_counted,
          labels_may_be_off, waits_in_vain_have_rows_of_their_own, how_many_are_wrong_is_told,
          calls_without_return_are_passed_over, contexts_are_limited,
          a_long_request_is_not_many_clients, many_clients_are_one, times_stop_at_the_end)
