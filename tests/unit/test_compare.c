// SPDX-License-Identifier: Apache-2.0
// In: two systems that differ in a planted way. Out: checks that the difference is named, and that
// chance is not.
#include "diagnose/compare.h"

#include <math.h>
#include <string.h>

#include "data/random.h"
#include "tests/unit/sample_instances.h"

#define MS G_GINT64_CONSTANT(1000000)

typedef struct Case {
    Scene *scene;
    BbCompare *compare;
    BbCompareFindings *findings;
    BbRandom random;
    guint64 instances[BB_COMPARE_SIDES];
    gint64 now_ns;
} Case;

static Case case_new(guint contexts)
{
    Case c = {.scene = scene_new(), .random = bb_random_start(5)};
    BbCompareOptions options = {.labels = true, .contexts = contexts};
    c.compare = bb_compare_new(&options, c.scene->names);
    return c;
}

static void case_clear(Case *c)
{
    scene_free(c->scene);
    bb_compare_free(c->compare);
    bb_compare_findings_free(c->findings);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Case, case_clear)

static void add(Case *c, BbCompareSide side)
{
    g_autoptr(BbPaths) paths = scene_paths(c->scene, c->instances[side]);
    c->instances[side] += paths->n_instances;
    bb_compare_add(c->compare, side, paths);
}

static void finish(Case *c)
{
    c->findings = bb_compare_finish(c->compare);
    c->findings->trace[BB_COMPARE_BEFORE] = "old.bbt";
    c->findings->trace[BB_COMPARE_AFTER] = "new.bbt";
}

static guint32 name(const Case *c, const char *text)
{
    return bb_names_find(c->scene->names, text);
}

static const BbCompareRoot *root_at(const Case *c, guint i)
{
    ck_assert_uint_lt(i, c->findings->compared->len);
    return g_ptr_array_index(c->findings->compared, i);
}

static const BbDifference *cause_at(const BbCompareRoot *root, guint i)
{
    ck_assert_uint_lt(i, root->differences.causes->len);
    return &g_array_index(root->differences.causes, BbDifference, i);
}

// About so long, give or take a fifth.
static gint64 some(Case *c, gint64 mean_ns)
{
    return mean_ns * (800 + (gint64)bb_random_below(&c->random, 401)) / 1000;
}

// client -> app -> cache, then so often db, one after the other.
static void add_request(Case *c, const char *client, gint64 cache_ns, guint queries, gint64 db_ns)
{
    gint64 start_ns = c->now_ns, at_ns = start_ns + some(c, MS);
    guint32 app = scene_call(c->scene, SCENE_ROOT, client, "app", start_ns, start_ns + 1000 * MS);
    gint64 back_ns = at_ns + some(c, cache_ns);
    scene_call(c->scene, app, "app", "cache", at_ns, back_ns);
    for (guint i = 0; i < queries; i++) {
        at_ns = back_ns + some(c, MS);
        back_ns = at_ns + some(c, db_ns);
        scene_call(c->scene, app, "app", "db", at_ns, back_ns);
    }
    BbCall *call = &g_array_index(c->scene->calls, BbCall, app);
    call->return_ns = call->return_end_ns = call->replied_ns = back_ns + some(c, MS);
    c->now_ns += 20 * MS;
}

START_TEST(what_is_slower_is_named)
{
    g_auto(Case) c = case_new(0);
    for (guint i = 0; i < 400; i++)
        add_request(&c, "10.0.0.1", 2 * MS, 1, 5 * MS);
    add(&c, BB_COMPARE_BEFORE);
    for (guint i = 0; i < 300; i++)
        add_request(&c, "10.0.0.2", 2 * MS, 1, 9 * MS);
    add(&c, BB_COMPARE_AFTER);
    finish(&c);
    ck_assert_uint_eq(c.findings->rare->len, 0); // another client makes no other request
    const BbCompareRoot *root = root_at(&c, 0);
    ck_assert_uint_eq(root->node, name(&c, "app"));
    ck_assert_uint_eq(root->side[BB_COMPARE_BEFORE].requests, 400);
    ck_assert_uint_eq(root->side[BB_COMPARE_AFTER].requests, 300);
    ck_assert(bb_compare_is_sure(root));
    ck_assert(fabs(root->excess_ns - 4e6) < 3 * root->error_ns && root->error_ns < 2e5);
    ck_assert_uint_eq(root->differences.causes->len, 1);
    const BbDifference *cause = cause_at(root, 0);
    ck_assert_int_eq(cause->kind, BB_DIFFERENCE_OWN);
    ck_assert_uint_eq(cause->node, name(&c, "db"));
    ck_assert(fabs(cause->excess_ns - 4e6) < 3 * cause->error_ns);
}
END_TEST

// And what is called less often, faster or not.
START_TEST(fewer_calls_are_named)
{
    g_auto(Case) c = case_new(0);
    for (guint i = 0; i < 100; i++)
        add_request(&c, "u", 2 * MS, 8, 5 * MS);
    add(&c, BB_COMPARE_BEFORE);
    for (guint i = 0; i < 100; i++)
        add_request(&c, "u", 2 * MS, 2, 5 * MS);
    add(&c, BB_COMPARE_AFTER);
    finish(&c);
    const BbDifference *cause = cause_at(root_at(&c, 0), 0);
    ck_assert_int_eq(cause->kind, BB_DIFFERENCE_FEWER);
    ck_assert_uint_eq(cause->node, name(&c, "db"));
    ck_assert(cause->calls.other == 8 && cause->calls.one == 2);
    ck_assert(fabs(cause->excess_ns + 36e6) < 2e6); // six of 5 ms, and 1 ms before each
    ck_assert(cause->error_ns > 0 && cause->error_ns < 5e5);
}
END_TEST

// Of the same system nothing is told: of 200 trials one or two may be beyond three standard errors.
START_TEST(chance_is_not_told)
{
    guint sure = 0, causes = 0, left_out = 0;
    for (guint trial = 0; trial < 200; trial++) {
        g_auto(Case) c = case_new(0);
        c.random = bb_random_start(trial);
        for (guint side = 0; side < BB_COMPARE_SIDES; side++) {
            for (guint i = 0; i < 40; i++)
                add_request(&c, "u", 2 * MS, 1, 5 * MS);
            add(&c, side);
        }
        finish(&c);
        sure += bb_compare_is_sure(root_at(&c, 0));
        causes += root_at(&c, 0)->differences.causes->len;
        left_out += root_at(&c, 0)->by_chance;
    }
    ck_assert_uint_le(sure, 4);
    ck_assert_uint_le(causes, 12); // of some four figures each
    ck_assert_uint_ge(left_out, 400);
}
END_TEST

// A call that nobody waits for takes no time of a request; that it is made all the same is told,
// and that it is no more.
START_TEST(calls_off_the_path_are_named)
{
    for (guint turned = 0; turned < 2; turned++) {
        g_auto(Case) c = case_new(0);
        for (guint side = 0; side < BB_COMPARE_SIDES; side++) {
            for (guint i = 0; i < 100; i++) {
                guint32 app = c.scene->calls->len;
                add_request(&c, "u", 2 * MS, 1, 5 * MS);
                gint64 at_ns = scene_at(c.scene, app)->call_ns + 6 * MS;
                if (side != turned)
                    scene_call(c.scene, app, "app", "log", at_ns, at_ns + 1);
            }
            add(&c, side);
        }
        finish(&c);
        ck_assert_uint_eq(root_at(&c, 0)->differences.causes->len, 1);
        const BbDifference *cause = cause_at(root_at(&c, 0), 0);
        ck_assert_int_eq(cause->kind, turned ? BB_DIFFERENCE_MISSING : BB_DIFFERENCE_EXTRA);
        ck_assert_uint_eq(cause->node, name(&c, "log"));
    }
}
END_TEST

// Errors that came, or went, beyond chance.
START_TEST(errors_are_told)
{
    static const struct {
        guint before, after; // of 1000 requests
        bool told;
    } cases[] = {{5, 8, false}, {0, 300, true}, {300, 0, true}, {300, 310, false}, {0, 0, false}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_auto(Case) c = case_new(0);
        guint32 http = bb_names_intern(c.scene->names, "http");
        guint32 bad = bb_names_intern(c.scene->names, "500");
        for (guint side = 0; side < BB_COMPARE_SIDES; side++) {
            guint errors = side == BB_COMPARE_BEFORE ? cases[k].before : cases[k].after;
            for (guint i = 0; i < 1000; i++) {
                guint32 app = c.scene->calls->len;
                add_request(&c, "u", 2 * MS, 0, 5 * MS);
                if (i * 7919 % 1000 >= errors)
                    continue;
                scene_at(c.scene, app)->proto = http;
                scene_at(c.scene, app)->status = bad;
            }
            add(&c, side);
        }
        finish(&c);
        const GArray *errors = root_at(&c, 0)->differences.errors;
        ck_assert_uint_eq(errors->len, cases[k].told);
        if (cases[k].told)
            ck_assert_uint_eq(g_array_index(errors, BbErrorDifference, 0).node, name(&c, "app"));
    }
}
END_TEST

START_TEST(what_is_new_is_told_apart)
{
    g_auto(Case) c = case_new(0);
    for (guint i = 0; i < 30; i++)
        add_request(&c, "u", 2 * MS, 1, 5 * MS);
    add(&c, BB_COMPARE_BEFORE);
    for (guint i = 0; i < 30; i++) {
        add_request(&c, "u", 2 * MS, 1, 5 * MS);
        scene_call(c.scene, SCENE_ROOT, "u", "mail", c.now_ns, c.now_ns + MS);
    }
    scene_unanswered(c.scene, SCENE_ROOT, "u", "app", c.now_ns, BB_TIME_NONE);
    add(&c, BB_COMPARE_AFTER);
    finish(&c);
    ck_assert_uint_eq(c.findings->rare->len, 1);
    const BbCompareRoot *mail = g_ptr_array_index(c.findings->rare, 0);
    ck_assert_uint_eq(mail->node, name(&c, "mail"));
    ck_assert_uint_eq(mail->side[BB_COMPARE_BEFORE].requests, 0);
    ck_assert_uint_eq(mail->side[BB_COMPARE_AFTER].requests, 30);
    ck_assert_uint_eq(c.findings->total[BB_COMPARE_AFTER].requests, 60);
    ck_assert_uint_eq(c.findings->total[BB_COMPARE_AFTER].unanswered, 1);
}
END_TEST

// Calls that are new each time: what has a place stays, the rest is counted.
START_TEST(too_many_contexts_are_left_out)
{
    g_auto(Case) c = case_new(8);
    for (guint i = 0; i < 100; i++) {
        g_autofree char *node = g_strdup_printf("n%u", i);
        add_request(&c, "u", 2 * MS, 1, 5 * MS);
        scene_call(c.scene, SCENE_ROOT, "u", node, c.now_ns, c.now_ns + MS);
    }
    add(&c, BB_COMPARE_BEFORE);
    for (guint i = 0; i < 100; i++)
        add_request(&c, "u", 2 * MS, 1, 9 * MS);
    add(&c, BB_COMPARE_AFTER);
    finish(&c);
    ck_assert_uint_eq(c.findings->total[BB_COMPARE_BEFORE].requests, 200);
    ck_assert_uint_eq(c.findings->total[BB_COMPARE_BEFORE].left_out, 95); // 3 of 8 are app's
    ck_assert_uint_eq(c.findings->total[BB_COMPARE_AFTER].left_out, 0);
    const BbCompareRoot *root = root_at(&c, 0);
    ck_assert_uint_eq(root->side[BB_COMPARE_BEFORE].requests, 100);
    ck_assert_uint_eq(cause_at(root, 0)->node, name(&c, "db"));
    ck_assert_uint_eq(c.findings->rare->len, 5);
}
END_TEST

// Text, then JSON.
static char *say(const Case *c)
{
    char *text = NULL;
    gsize size;
    FILE *out = open_memstream(&text, &size);
    bb_compare_write_text(c->findings, c->scene->names, 5, out);
    bb_compare_write_json(c->findings, c->scene->names, out);
    fclose(out);
    return text;
}

// Of requests to app1, app2, ... on the one side, to others on the other; or to app on both.
static char *told_of_apps(bool merged)
{
    g_auto(Case) c = case_new(0);
    g_autoptr(BbRoles) roles = scene_roles(c.scene, "app app*\n");
    for (guint side = 0; side < BB_COMPARE_SIDES; side++) {
        for (guint i = 0; i < 300; i++)
            add_request(&c, "u", 2 * MS, 1, side ? 9 * MS : 5 * MS);
        for (guint32 k = 0; merged && k < c.scene->calls->len; k += 3) { // app, cache, db
            g_autofree char *app = g_strdup_printf("app%u", k % 2 + 2 * side);
            guint32 node = bb_names_intern(c.scene->names, app);
            scene_at(c.scene, k)->callee = node;
            scene_at(c.scene, k + 1)->caller = scene_at(c.scene, k + 2)->caller = node;
        }
        g_autoptr(BbPaths) paths = scene_paths(c.scene, 0);
        paths->roles = merged ? roles : NULL;
        bb_compare_add(c.compare, side, paths);
    }
    finish(&c);
    return say(&c);
}

START_TEST(replicas_count_as_one_node)
{
    g_autofree char *merged = told_of_apps(true), *renamed = told_of_apps(false);
    ck_assert_str_eq(merged, renamed);
    ck_assert_ptr_nonnull(strstr(merged, "own work: app -> db\n"));
}
END_TEST

START_TEST(it_is_written)
{
    g_auto(Case) c = case_new(0);
    for (guint i = 0; i < 50; i++)
        add_request(&c, "u", 2 * MS, 1, 5 * MS);
    add(&c, BB_COMPARE_BEFORE);
    for (guint i = 0; i < 50; i++)
        add_request(&c, "u", 2 * MS, 1, 10 * MS);
    add(&c, BB_COMPARE_AFTER);
    finish(&c);
    g_autofree char *text = say(&c);
    ck_assert_ptr_nonnull(strstr(text, "bbpaths compare, new.bbt against old.bbt\n"));
    ck_assert_ptr_nonnull(strstr(text, " ms longer (+- "));
    ck_assert_ptr_nonnull(strstr(text, "own work: app -> db\n"));
    ck_assert_ptr_nonnull(strstr(text, "\"bbpaths_compare\": 1"));
    ck_assert_ptr_nonnull(strstr(text, "\"what\": \"own_work\", \"node\": \"db\""));
    ck_assert_ptr_nonnull(strstr(text, "\"callers\": [\"app\"]"));
}
END_TEST

TEST_MAIN("compare", what_is_slower_is_named, fewer_calls_are_named, chance_is_not_told,
          calls_off_the_path_are_named, errors_are_told, what_is_new_is_told_apart,
          too_many_contexts_are_left_out, replicas_count_as_one_node, it_is_written)
