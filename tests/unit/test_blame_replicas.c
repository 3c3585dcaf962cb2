// SPDX-License-Identifier: Apache-2.0
// Replicas that count as one node: what is told of them, and which of them is slower.
#include "tests/unit/blame_case.h"

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

TEST_MAIN("blame_replicas", replicas_count_as_one_node, a_slow_replica_is_named,
          replicas_are_limited)
