// SPDX-License-Identifier: Apache-2.0
// In: requests of which a few are slow for a planted cause. Out: checks that it is named.
#include "diagnose/tail.h"

#include <math.h>
#include <string.h>

#include "tests/unit/sample_instances.h"

#define US G_GINT64_CONSTANT(1000)
#define MS G_GINT64_CONSTANT(1000000)

typedef struct Case {
    Scene *scene;
    BbTail *tail;
    BbTailFindings *findings;
    guint64 instances;
    gint64 now_ns;
} Case;

static Case case_new(BbTailOptions options)
{
    Case c = {.scene = scene_new()};
    options.labels = true;
    options.quantile = options.quantile > 0 ? options.quantile : 0.99;
    c.tail = bb_tail_new(&options, c.scene->names);
    return c;
}

static void case_clear(Case *c)
{
    scene_free(c->scene);
    bb_tail_free(c->tail);
    bb_tail_findings_free(c->findings);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Case, case_clear)

// The calls of the scene so far; instances with fewer calls than `split` are of pattern 0, others
// of pattern 1.
static void add(Case *c, guint32 split)
{
    g_autoptr(BbPaths) paths = scene_paths(c->scene, c->instances);
    for (guint32 i = 0; i < paths->n_instances; i++)
        paths->instances[i].pattern = paths->instances[i].count >= split;
    c->instances += paths->n_instances;
    bb_tail_add(c->tail, paths);
}

static const BbTailRoot *finish(Case *c)
{
    c->findings = bb_tail_finish(c->tail);
    ck_assert_uint_ge(c->findings->compared->len, 1);
    return g_ptr_array_index(c->findings->compared, 0);
}

static guint32 name(const Case *c, const char *text)
{
    return bb_names_find(c->scene->names, text);
}

static const BbDifference *cause_at(const BbTailRoot *root, guint i)
{
    ck_assert_uint_lt(i, root->differences.causes->len);
    return &g_array_index(root->differences.causes, BbDifference, i);
}

static const BbDifference *find_cause(const Case *c, const BbTailRoot *root, BbDifferenceKind kind,
                                      const char *node)
{
    for (guint i = 0; i < root->differences.causes->len; i++)
        if (cause_at(root, i)->kind == kind && cause_at(root, i)->node == name(c, node))
            return cause_at(root, i);
    ck_abort_msg("%s of %s was not found", bb_difference_kind_text(kind), node);
    return NULL;
}

static void check_near(double found, double expected)
{
    ck_assert_msg(fabs(found - expected) <= 1e-6 * fabs(expected) + 1e-9, "%g, not %g", found,
                  expected);
}

static double excess_of(const BbTailRoot *root)
{
    return root->latency_ns.one - root->latency_ns.other;
}

// client -> app -> cache, and where the cache misses -> db -> disk. A request a millisecond.
static void add_cached(Case *c, bool missed)
{
    gint64 t = c->now_ns, db_ns = missed ? 40 * MS : 0;
    guint32 app = scene_call(c->scene, SCENE_ROOT, "client", "app", t, t + 5 * MS + db_ns);
    scene_call(c->scene, app, "app", "cache", t + MS, t + 2 * MS);
    if (missed) {
        guint32 db = scene_call(c->scene, app, "app", "db", t + 3 * MS, t + 3 * MS + db_ns);
        scene_call(c->scene, db, "db", "disk", t + 4 * MS, t + 34 * MS);
    }
    c->now_ns += MS;
}

START_TEST(a_cache_miss_is_named)
{
    g_auto(Case) c = case_new((BbTailOptions){0});
    for (guint i = 0; i < 3000; i++) {
        add_cached(&c, i % 100 == 7);
        if (i % 1000 == 999)
            add(&c, 4);
    }
    const BbTailRoot *root = finish(&c);
    ck_assert_uint_eq(c.findings->roots, 1);
    ck_assert_uint_eq(root->client, name(&c, "client"));
    ck_assert_uint_eq(root->node, name(&c, "app"));
    ck_assert_uint_eq(root->instances, 3000);
    ck_assert_uint_eq(root->slow, 30);
    ck_assert_int_eq(root->least_ns, 45 * MS);
    ck_assert_uint_eq(root->slowest[0].number, 8);
    ck_assert_int_eq(root->slowest[0].latency_ns, 45 * MS);
    check_near(root->latency_ns.other, 5 * MS);
    check_near(root->sampled, 1);
    const BbDifference *cause = cause_at(root, 0);
    ck_assert_int_eq(cause->kind, BB_DIFFERENCE_EXTRA);
    ck_assert_uint_eq(cause->node, name(&c, "db"));
    ck_assert_uint_eq(cause->n_callers, 2);
    ck_assert_uint_eq(cause->callers[0], name(&c, "app"));
    check_near(cause->present.one, 1);
    check_near(cause->present.other, 0);
    check_near(cause->excess_ns, 41 * MS); // with the disk, and 1 ms of the app before it
    ck_assert_int_eq(cause->most_kind, BB_DIFFERENCE_OWN);
    ck_assert_uint_eq(cause->most_node, name(&c, "disk"));
    check_near(cause->most_ns, 30 * MS);
    double sum_ns = 0;
    for (guint i = 0; i < root->differences.causes->len; i++)
        sum_ns += cause_at(root, i)->excess_ns;
    check_near(sum_ns, excess_of(root));
    ck_assert_uint_eq(root->patterns->len, 1);
    const BbTailPattern *pattern = &g_array_index(root->patterns, BbTailPattern, 0);
    ck_assert_uint_eq(pattern->pattern, 1);
    check_near(pattern->present.one, 1);
    check_near(pattern->present.other, 0);
    ck_assert_uint_eq(root->differences.errors->len, 0);
}
END_TEST

// client -> lb -> app1 or app2 -> auth, which answers app2 late, and now and then still later.
static void add_balanced(Case *c, const char *app, gint64 auth_ns)
{
    gint64 t = c->now_ns;
    guint32 lb = scene_call(c->scene, SCENE_ROOT, "client", "lb", t, t + 4 * MS + auth_ns);
    guint32 at = scene_call(c->scene, lb, "lb", app, t + MS, t + 3 * MS + auth_ns);
    scene_call(c->scene, at, app, "auth", t + 2 * MS, t + 2 * MS + auth_ns);
    c->now_ns += MS;
}

// Of two replicas each has half of the requests; a few more or less must not make another finding.
START_TEST(one_of_two_replicas_is_slow)
{
    for (guint i = 0; i < 2; i++) {
        g_auto(Case) c = case_new((BbTailOptions){0});
        for (guint n = 0; n < 1000; n++) {
            bool slow = i ? n % 50 < 26 : n % 50 < 24;
            add_balanced(&c, slow ? "app2" : "app1", slow ? 50 * MS + (n % 50 == 0) * US : 0);
        }
        add(&c, 3);
        const BbTailRoot *root = finish(&c);
        ck_assert_uint_eq(root->slow, 20);
        const BbDifference *cause = cause_at(root, 0);
        ck_assert_int_eq(cause->kind, BB_DIFFERENCE_EXTRA);
        ck_assert_uint_eq(cause->node, name(&c, "app2"));
        ck_assert_int_eq(cause->most_kind, BB_DIFFERENCE_OWN);
        ck_assert_uint_eq(cause->most_node, name(&c, "auth"));
        find_cause(&c, root, BB_DIFFERENCE_MISSING, "app1");
        ck_assert_uint_eq(root->differences.causes->len, 2);
    }
}
END_TEST

// Text, then JSON.
static char *say(const Case *c)
{
    guint32 rank[] = {1, 2};
    char *text = NULL;
    gsize size = 0;
    FILE *out = open_memstream(&text, &size);
    bb_tail_write_text(c->findings, c->scene->names, (BbTailRanks){rank, 2}, 0, out);
    bb_tail_write_json(c->findings, c->scene->names, (BbTailRanks){rank, 1}, out);
    fclose(out);
    return text;
}

// What is told of two clients and three apps, of which one is slow at times; or of one of either,
// called as their roles.
static char *told_of_apps(bool merged)
{
    g_auto(Case) c = case_new((BbTailOptions){0});
    g_autoptr(BbRoles) roles = scene_roles(c.scene, "app app?\nclient client?\nlb lb?\n");
    for (guint n = 0; n < 1500; n++) {
        g_autofree char *app = g_strdup_printf(merged ? "app%u" : "app", n % 3);
        add_balanced(&c, app, n % 60 == 2 ? 50 * MS : MS);
        BbCall *root = scene_at(c.scene, 3 * n);
        if (merged && n % 2) {
            root->caller = bb_names_intern(c.scene->names, "client2");
            root->callee = bb_names_intern(c.scene->names, "lb2");
        }
    }
    g_autoptr(BbPaths) paths = scene_paths(c.scene, 0);
    paths->roles = merged ? roles : NULL;
    bb_tail_add(c.tail, paths);
    finish(&c);
    return say(&c);
}

START_TEST(replicas_count_as_one_node)
{
    g_autofree char *merged = told_of_apps(true), *renamed = told_of_apps(false);
    ck_assert_str_eq(merged, renamed);
    ck_assert_ptr_nonnull(strstr(merged, "\nclient -> lb   1,500 requests, "));
    ck_assert_ptr_nonnull(strstr(merged, "own work: lb -> app -> auth\n"));
}
END_TEST

static void check_parts(const char *text, const char *const *parts, guint n)
{
    for (guint i = 0; i < n; i++)
        ck_assert_msg(strstr(text, parts[i]) != NULL, "no '%s' in:\n%s", parts[i], text);
}

START_TEST(what_it_says)
{
    g_auto(Case) c = case_new((BbTailOptions){0});
    for (guint i = 0; i < 3000; i++)
        add_cached(&c, i % 100 == 7);
    add(&c, 4);
    finish(&c);
    g_autofree char *text = say(&c);
    static const char *const parts[] = {
        "bbpaths tail, the slowest 1.0 %, at least 20, against the others with the same first "
        "call\n"
        "1 of 1 first call can be compared: with 40 requests or more\n",
        "\nclient -> app   3,000 requests, of them the slowest 30, from 45.0 ms on\n"
        "  mean 45.0 ms, others 5.00 ms: 40.0 ms longer. Under way when they began: ",
        "extra call: app -> db, mostly own work: disk\n",
        "  pattern p2: 100 % of the slow, 0 % of the others\n",
        "  when: at any time, as far as chance lets us see\n",
        "\"bursts\": [], ",
        "  slowest: i8 (45.0 ms), i108 (45.0 ms), i208 (45.0 ms), ",
        "{\"what\": \"extra_call\", \"node\": \"db\", \"op\": null, \"callers\": [\"client\", "
        "\"app\"], ",
        "\"patterns\": [{\"pattern\": null, \"present\": {\"slow\": 1.0000, \"others\": 0.0000}}]",
    };
    check_parts(text, parts, G_N_ELEMENTS(parts));
}
END_TEST

// Of 1,000 requests the slow ones lack the cache, and wait for a lock before they call db.
START_TEST(a_missing_call_and_a_gap_are_named)
{
    g_auto(Case) c = case_new((BbTailOptions){0});
    for (guint i = 0; i < 2000; i++) {
        bool slow = i % 100 == 50;
        gint64 t = c.now_ns, lock_ns = slow ? 20 * MS : 0;
        guint32 app = scene_call(c.scene, SCENE_ROOT, "client", "app", t, t + 5 * MS + lock_ns);
        if (!slow)
            scene_call(c.scene, app, "app", "cache", t + MS, t + 2 * MS);
        scene_call(c.scene, app, "app", "db", t + 3 * MS + lock_ns, t + 4 * MS + lock_ns);
        c.now_ns += 100 * MS;
    }
    add(&c, 3);
    const BbTailRoot *root = finish(&c);
    ck_assert_int_eq(cause_at(root, 0)->kind, BB_DIFFERENCE_GAP);
    ck_assert_uint_eq(cause_at(root, 0)->node, name(&c, "db"));
    check_near(cause_at(root, 0)->ns.one, 23 * MS);
    check_near(cause_at(root, 0)->ns.other, 1 * MS);
    const BbDifference *missing = find_cause(&c, root, BB_DIFFERENCE_MISSING, "cache");
    check_near(missing->excess_ns, -2 * MS); // with the work before it
    check_near(missing->present.one, 0);
    check_near(missing->present.other, 1);
    check_near(root->open.one, 0);
}
END_TEST

// Of two replicas the slow ones call one less often; but where they do, it is what it calls.
START_TEST(what_is_called_less_is_not_slow_for_that)
{
    g_auto(Case) c = case_new((BbTailOptions){0});
    for (guint n = 0; n < 1000; n++) {
        bool slow = n % 50 == 0;
        const char *app = slow ? n % 200 ? "app1" : "app2" : n % 2 ? "app1" : "app2";
        add_balanced(&c, app, slow ? 50 * MS : MS);
    }
    add(&c, 3);
    const BbTailRoot *root = finish(&c);
    ck_assert_uint_eq(root->slow, 20);
    ck_assert_uint_eq(root->differences.causes->len, 2);
    for (guint i = 0; i < 2; i++) {
        ck_assert_int_eq(cause_at(root, i)->kind, BB_DIFFERENCE_OWN);
        ck_assert_uint_eq(cause_at(root, i)->node, name(&c, "auth"));
        ck_assert_double_gt(cause_at(root, i)->excess_ns, 0);
    }
}
END_TEST

// And what it calls may be more: app2 is called less often by the slow ones, but calls db then.
START_TEST(below_what_is_called_less)
{
    g_auto(Case) c = case_new((BbTailOptions){0});
    for (guint n = 0; n < 1000; n++) {
        bool slow = n % 50 == 0, second = slow ? n % 200 == 0 : n % 2 == 0;
        gint64 t = c.now_ns, db_ns = slow ? 50 * MS : 0;
        const char *app = second ? "app2" : "app1";
        guint32 lb = scene_call(c.scene, SCENE_ROOT, "client", "lb", t, t + 4 * MS + db_ns);
        guint32 at = scene_call(c.scene, lb, "lb", app, t + MS, t + 3 * MS + db_ns);
        if (slow)
            scene_call(c.scene, at, app, "db", t + 2 * MS, t + 2 * MS + db_ns);
        c.now_ns += MS;
    }
    add(&c, 4);
    const BbTailRoot *root = finish(&c);
    ck_assert_uint_eq(root->slow, 20);
    guint extra = 0;
    for (guint i = 0; i < root->differences.causes->len; i++) {
        const BbDifference *cause = cause_at(root, i);
        ck_assert_int_ne(cause->kind, BB_DIFFERENCE_MISSING);
        extra += cause->kind == BB_DIFFERENCE_EXTRA && cause->callers[0] == name(&c, "app2");
    }
    ck_assert_uint_eq(extra, 1);
}
END_TEST

// A retry, a failure of the first try; own work and wire that are longer.
START_TEST(retries_errors_work_and_wire_are_named)
{
    g_auto(Case) c = case_new((BbTailOptions){0});
    guint32 op = bb_names_intern(c.scene->names, "GET");
    for (guint i = 0; i < 2000; i++) {
        bool slow = i % 100 == 50;
        gint64 t = c.now_ns, retry_ns = slow ? 10 * MS : 0, work_ns = slow ? 3 * MS : MS;
        gint64 end = t + 6 * MS + retry_ns + work_ns + (slow ? 2 * MS : 0);
        guint32 app = scene_call(c.scene, SCENE_ROOT, "client", "app", t, end);
        scene_at(c.scene, app)->op = op;
        if (slow) {
            guint32 first = scene_call(c.scene, app, "app", "db", t + MS, t + MS + retry_ns);
            scene_at(c.scene, first)->status = bb_names_intern(c.scene->names, "error");
        }
        scene_call(c.scene, app, "app", "db", t + MS + retry_ns, t + 3 * MS + retry_ns);
        guint32 pay = scene_call(c.scene, app, "app", "pay", t + 4 * MS + retry_ns, end - MS);
        scene_at(c.scene, pay)->replied_ns -= slow ? 2 * MS : 0;
        c.now_ns += 100 * MS;
    }
    add(&c, 4);
    const BbTailRoot *root = finish(&c);
    ck_assert_uint_eq(root->op, op);
    const BbDifference *retry = cause_at(root, 0);
    ck_assert_int_eq(retry->kind, BB_DIFFERENCE_REPEATED);
    ck_assert_uint_eq(retry->node, name(&c, "db"));
    check_near(retry->calls.one, 2);
    check_near(retry->calls.other, 1);
    check_near(retry->excess_ns, 10 * MS);
    check_near(find_cause(&c, root, BB_DIFFERENCE_OWN, "pay")->excess_ns, 2 * MS);
    check_near(find_cause(&c, root, BB_DIFFERENCE_WIRE, "pay")->excess_ns, 2 * MS);
    ck_assert_uint_eq(root->differences.causes->len, 3);
    ck_assert_uint_eq(root->differences.errors->len, 1);
    const BbErrorDifference *errors =
        &g_array_index(root->differences.errors, BbErrorDifference, 0);
    ck_assert_uint_eq(errors->node, name(&c, "db"));
    check_near(errors->present.one, 1);
    check_near(errors->present.other, 0);
}
END_TEST

START_TEST(requests_under_way_are_counted)
{
    g_auto(Case) c = case_new((BbTailOptions){0});
    for (guint i = 0; i < 2000; i++) { // in bursts of 10: the last is the slowest
        gint64 t = i / 10 * 1000 * MS + i % 10;
        gint64 length_ns = 10 * MS + (i % 100 == 99 ? 5 * MS : 0);
        scene_call(c.scene, SCENE_ROOT, "client", "app", t, t + length_ns);
    }
    add(&c, 1);
    const BbTailRoot *root = finish(&c);
    check_near(root->open.one, 9);
    check_near(root->open.other, (4.5 * 2000 - 9 * 20) / 1980);
    check_near(cause_at(root, 0)->excess_ns, 5 * MS);
    ck_assert_int_eq(cause_at(root, 0)->kind, BB_DIFFERENCE_OWN);
}
END_TEST

// Replies that take 50 ms to send: a request is under way until its last byte.
START_TEST(requests_are_under_way_until_the_last_byte)
{
    g_auto(Case) c = case_new((BbTailOptions){.last_byte = true});
    for (guint i = 0; i < 100;
         i++) { // of each two the second begins between the bytes of the first
        gint64 t = i / 2 * 1000 * MS + i % 2 * 20 * MS, end_ns = t + 60 * MS + i % 2 * MS;
        guint32 app = scene_call(c.scene, SCENE_ROOT, "client", "app", t, t + 10 * MS);
        scene_at(c.scene, app)->return_end_ns = end_ns;
    }
    add(&c, 1);
    const BbTailRoot *root = finish(&c);
    check_near(root->open.one, 1);
    check_near(root->open.other, 30 / 80.0);
}
END_TEST

START_TEST(groups_are_compared_when_they_are_large_enough)
{
    g_auto(Case) c = case_new((BbTailOptions){0});
    for (gint64 i = 0; i < 60; i++) {
        if (i < 39)
            scene_call(c.scene, SCENE_ROOT, "client", "few", i * MS, i * MS + 100 * MS + i);
        if (i < 40)
            scene_call(c.scene, SCENE_ROOT, "client", "enough", i * MS, i * MS + 10 * MS + i * US);
        scene_call(c.scene, SCENE_ROOT, "other", "enough", i * MS, i * MS + 10 * MS + i * MS);
    }
    add(&c, 1);
    const BbTailRoot *root = finish(&c);
    ck_assert_uint_eq(c.findings->roots, 3);
    ck_assert_uint_eq(c.findings->compared->len, 2);
    ck_assert_uint_eq(root->client, name(&c, "other")); // more excess
    ck_assert_uint_eq(root->slow, BB_TAIL_LEAST);
    ck_assert_int_eq(root->least_ns, 50 * MS);
    check_near(root->latency_ns.one, 59.5 * MS);
    check_near(root->latency_ns.other, 29.5 * MS);
    root = g_ptr_array_index(c.findings->compared, 1);
    check_near(excess_of(root), 20 * US);
}
END_TEST

// More slow ones than there are places for: those of a sample stand for them.
START_TEST(a_sample_stands_for_many)
{
    g_auto(Case) c = case_new((BbTailOptions){.quantile = 0.9, .kept = 256});
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("tail"));
    double sum_ns = 0, slow_ns = 0;
    for (guint i = 0; i < 20000; i++) {
        bool slow = i % 10 == 3;
        gint64 length_ns = 10 * MS + g_rand_int_range(rand, 0, 1000000) + (slow ? 50 * MS : 0);
        sum_ns += (double)length_ns;
        slow_ns += slow ? (double)length_ns : 0;
        guint32 app = scene_call(c.scene, SCENE_ROOT, "client", "app", i * MS, i * MS + length_ns);
        if (slow)
            scene_call(c.scene, app, "app", "db", i * MS + MS, i * MS + 51 * MS);
        if (i % 2000 == 1999)
            add(&c, 2);
    }
    const BbTailRoot *root = finish(&c);
    ck_assert_uint_eq(root->instances, 20000);
    ck_assert_uint_ge(root->slow, 64); // a quarter of the places or more
    ck_assert_uint_le(root->slow, 128);
    ck_assert(root->sampled > 0.02 && root->sampled < 0.1);
    // By chance the sample has a little more or less than its tenth of slow ones.
    ck_assert(fabs(root->latency_ns.one - slow_ns / 2000) < 15 * MS);
    ck_assert(fabs(root->latency_ns.other - (sum_ns - slow_ns) / 18000) < 1 * MS);
    ck_assert_int_eq(cause_at(root, 0)->kind, BB_DIFFERENCE_EXTRA);
    ck_assert(cause_at(root, 0)->present.one > 0.7);
    ck_assert(cause_at(root, 0)->present.other < 0.02);
}
END_TEST

START_TEST(contexts_are_limited)
{
    g_auto(Case) c = case_new((BbTailOptions){.contexts = 20});
    for (gint64 round = 0; round < 50; round++) {
        for (gint64 i = 0; i < 30; i++) {
            g_autofree char *node = g_strdup_printf("n%d", (int)i);
            if (i < 3 || i == round % 30)
                scene_call(c.scene, SCENE_ROOT, "client", node, round * MS, round * MS + MS + i);
        }
        add(&c, 1);
    }
    finish(&c);
    ck_assert_uint_eq(c.findings->compared->len, 3);
    ck_assert_uint_gt(c.findings->forgotten, 0);
    ck_assert_uint_eq(c.findings->forgotten, c.findings->forgotten_instances);
    guint64 instances = c.findings->forgotten_instances;
    for (guint i = 0; i < 3; i++) {
        const BbTailRoot *root = g_ptr_array_index(c.findings->compared, i);
        ck_assert_uint_eq(root->instances, 50);
        instances += root->instances;
        check_near(root->latency_ns.other, root->latency_ns.one); // numbers moved, sums did not
    }
    ck_assert_uint_le(instances, c.instances);
    ck_assert_uint_ge(instances + 20, c.instances);
}
END_TEST

// 2,000 requests with two calls each, and places for 400 calls: 200 requests at most.
START_TEST(records_are_limited)
{
    g_auto(Case) c = case_new((BbTailOptions){.entries = 400});
    for (gint64 i = 0; i < 2000; i++) {
        guint32 app = scene_call(c.scene, SCENE_ROOT, "client", "app", i * MS, i * MS + 9 * MS + i);
        scene_call(c.scene, app, "app", "db", i * MS + MS, i * MS + 2 * MS);
    }
    add(&c, 1);
    const BbTailRoot *root = finish(&c);
    ck_assert_uint_eq(root->instances, 2000);
    ck_assert(root->sampled > 0.04 && root->sampled < 0.11);
    ck_assert_uint_eq(root->slow, BB_TAIL_LEAST);
    check_near(find_cause(&c, root, BB_DIFFERENCE_OWN, "app")->excess_ns, excess_of(root));
    ck_assert(fabs(excess_of(root) - 1000) < 300); // the slowest 20 of some 150: 1,870, others 870
    for (guint i = 0; i < BB_TAIL_NAMED; i++) {    // no sample: the last ones are the slowest
        ck_assert_uint_eq(root->slowest[i].number, 2000 - i);
        ck_assert_int_eq(root->slowest[i].latency_ns, 9 * MS + 1999 - i);
    }
}
END_TEST

// The slow wait for their turn at app, and then for a pool before they call db.
START_TEST(waits_are_told_apart_from_work)
{
    g_auto(Case) c = case_new((BbTailOptions){0});
    for (guint i = 0; i < 1000; i++) {
        gint64 t = 100 * i * MS, turn_ns = i % 50 == 9 ? 20 * MS : 0, pool_ns = turn_ns / 2;
        gint64 cache = t + MS + turn_ns, db = cache + 2 * MS + pool_ns;
        guint32 app = scene_call(c.scene, SCENE_ROOT, "client", "app", t, db + 5 * MS);
        scene_call(c.scene, app, "app", "cache", cache, cache + MS);
        scene_call(c.scene, app, "app", "db", db, db + 4 * MS);
    }
    g_autoptr(BbPaths) paths = scene_paths(c.scene, 0);
    paths->worker_wait = g_new0(BbWorkerWait, paths->n_calls);
    paths->pool_wait = g_new0(BbPoolWait, paths->n_calls);
    for (guint32 i = 0; i < paths->n_calls; i += 3) {
        bool slow = i / 3 % 50 == 9;
        paths->worker_wait[i].ns = slow ? 20 * MS : 0;
        paths->pool_wait[i + 2].ns = slow ? 10 * MS : 0;
    }
    bb_tail_add(c.tail, paths);
    const BbTailRoot *root = finish(&c);
    ck_assert_uint_eq(root->differences.causes->len, 2);
    ck_assert_int_eq(cause_at(root, 0)->kind, BB_DIFFERENCE_TURN);
    ck_assert_uint_eq(cause_at(root, 0)->node, name(&c, "app"));
    check_near(cause_at(root, 0)->excess_ns, 20 * MS);
    ck_assert_int_eq(cause_at(root, 1)->kind, BB_DIFFERENCE_POOL);
    ck_assert_uint_eq(cause_at(root, 1)->node, name(&c, "db"));
    check_near(cause_at(root, 1)->excess_ns, 10 * MS);
    g_autofree char *text = say(&c);
    static const char *const parts[] = {
        "waiting for its turn: app\n", "waiting for a pool before: app -> db\n",
        "\"what\": \"waited_for_turn\"", "\"what\": \"waited_for_pool\""};
    check_parts(text, parts, G_N_ELEMENTS(parts));
}
END_TEST

// Of 4,000 requests, one each 1 ms, ten come while the app pauses, each second.
START_TEST(pauses_are_bursts)
{
    g_auto(Case) c = case_new((BbTailOptions){0});
    for (guint i = 0; i < 4000; i++) {
        guint of_second = i % 1000;
        gint64 t = i * MS,
               pause_ns = of_second >= 500 && of_second < 510 ? (510 - of_second) * MS : 0;
        scene_call(c.scene, SCENE_ROOT, "client", "app", t, t + MS / 2 + pause_ns);
    }
    add(&c, 2);
    const BbTailRoot *root = finish(&c);
    ck_assert_uint_eq(root->slow, 40);
    ck_assert_uint_eq(root->bursts->len, 4);
    for (guint i = 0; i < 4; i++) {
        const BbBurst *burst = &g_array_index(root->bursts, BbBurst, i);
        ck_assert_uint_eq(burst->marked, 10);
        ck_assert_uint_eq(burst->events, 10);
        ck_assert_int_eq(burst->start_ns, (1000 * i + 500) * MS);
        ck_assert_int_eq(burst->end_ns, (1000 * i + 509) * MS);
    }
    g_autofree char *text = say(&c);
    static const char *const parts[] = {
        "  when: 40 of them in 4 bursts, one every 1.00 s\n"
        "    1970-01-01 00:00:00.500 UTC for 9.00 ms: 10 of 10 requests\n",
        "\"period_s\": 1.000000000, \"bursts\": [{\"start\": 0.500000000, \"end\": "
        "0.509000000, \"slow\": 10, \"requests\": 10}, ",
    };
    check_parts(text, parts, G_N_ELEMENTS(parts));
}
END_TEST

// A tenth take the same time, evenly spread: of these the first ones count as slow, and are no
// burst.
START_TEST(equal_latencies_are_no_burst)
{
    g_auto(Case) c = case_new((BbTailOptions){0});
    for (guint i = 0; i < 4000; i++) {
        gint64 t = i * MS;
        scene_call(c.scene, SCENE_ROOT, "client", "app", t, t + (i % 10 == 3 ? 3 * MS : MS));
    }
    add(&c, 2);
    const BbTailRoot *root = finish(&c);
    ck_assert_uint_eq(root->slow, 40);
    ck_assert_uint_eq(root->bursts->len, 0);
}
END_TEST

START_TEST(nothing_comes_of_nothing)
{
    g_auto(Case) c = case_new((BbTailOptions){0});
    guint32 a = scene_call(c.scene, SCENE_ROOT, "client", "A", 0, 10);
    scene_at(c.scene, a)->return_ns = scene_at(c.scene, a)->replied_ns = BB_TIME_NONE;
    add(&c, 1);
    c.findings = bb_tail_finish(c.tail);
    ck_assert_uint_eq(c.findings->roots, 0);
    ck_assert_uint_eq(c.findings->compared->len, 0);
    char *text = NULL;
    gsize size = 0;
    FILE *out = open_memstream(&text, &size);
    bb_tail_write_text(c.findings, c.scene->names, (BbTailRanks){NULL, 0}, 5, out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "0 of 0 first calls can be compared"));
    free(text);
}
END_TEST

TEST_MAIN("tail", a_cache_miss_is_named, one_of_two_replicas_is_slow, what_it_says,
          a_missing_call_and_a_gap_are_named, what_is_called_less_is_not_slow_for_that,
          below_what_is_called_less, retries_errors_work_and_wire_are_named,
          requests_under_way_are_counted, requests_are_under_way_until_the_last_byte,
          groups_are_compared_when_they_are_large_enough, a_sample_stands_for_many,
          contexts_are_limited, records_are_limited, waits_are_told_apart_from_work,
          pauses_are_bursts, equal_latencies_are_no_burst, nothing_comes_of_nothing,
          replicas_count_as_one_node)
