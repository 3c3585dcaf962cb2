// SPDX-License-Identifier: Apache-2.0
// Timelines: instances and patterns, narrow and wide, with and without letters beyond ASCII, and
// what does not fit.
#include "viz/timeline.h"

#include <string.h>

#include "data/caption.h"
#include "tests/unit/golden.h"
#include "tests/unit/sample_instances.h"

#define MS G_GINT64_CONSTANT(1000000)
#define START (G_GINT64_CONSTANT(1047680084) * 1000 * MS)

static void label(Scene *scene, guint32 call, const char *op, const char *status, const char *id)
{
    scene_at(scene, call)->op = bb_names_intern(scene->names, op);
    scene_at(scene, call)->status = bb_names_intern(scene->names, status);
    scene_at(scene, call)->id = bb_id_parse(scene->names, id);
}

// A cart: two calls of the web server at once, then one that fails and is made again.
static BbPaths *cart(Scene *scene)
{
    gint64 t = START;
    guint32 web = scene_call(scene, SCENE_ROOT, "client", "web", t, t + 80 * MS);
    guint32 app = scene_call(scene, web, "web", "app1", t + MS, t + 79 * MS);
    guint32 auth = scene_call(scene, app, "app1", "auth", t + 2 * MS, t + 12 * MS);
    guint32 cache = scene_call(scene, app, "app1", "redis", t + 2 * MS, t + 4 * MS);
    guint32 failed = scene_call(scene, app, "app1", "pg", t + 15 * MS, t + 30 * MS);
    guint32 again = scene_call(scene, app, "app1", "pg", t + 31 * MS, t + 76 * MS);
    label(scene, web, "GET /cart/*", "200", "id37");
    label(scene, app, "GET /cart/*", "200", "id38");
    label(scene, auth, "check", "ok", "req-00041");
    label(scene, cache, "GET cart:*", "", "");
    label(scene, failed, "SELECT carts", "57014", "id40");
    label(scene, again, "SELECT carts", "00000", "id41");
    BbPaths *paths = scene_paths(scene, 16);
    paths->confidence[auth] = 0.5f;
    paths->confidence[cache] = 0.985f;
    paths->confidence[again] = 0.995f;
    paths->self_ns[web] = 2 * MS;
    paths->self_ns[app] = 8 * MS;
    for (guint32 i = auth; i <= again; i++)
        paths->self_ns[i] =
            (guint64)bb_time_between(paths->calls[i].arrived_ns, paths->calls[i].replied_ns);
    return paths;
}

static char *draw(Scene *scene, const BbPaths *paths, BbTimelineStyle style)
{
    g_autoptr(BbCriticalPath) path = bb_critical_path_new(false);
    const BbInstance *instance = &paths->instances[0];
    const BbCritical *critical = NULL;
    if (bb_call_is_returned(&paths->calls[paths->order[0]]))
        critical = bb_critical_path_find(path, paths, instance);
    g_autoptr(BbTimeline) timeline =
        bb_timeline_of_instance(paths, instance, critical, scene->names, false);
    GString *text = g_string_new(NULL);
    bb_timeline_append(text, timeline, scene->names, &style);
    return g_string_free(text, FALSE);
}

static void check_golden(const char *name, const char *text)
{
    g_autofree char *path = g_strconcat("viz/", name, NULL);
    golden_check(path, text, strlen(text));
}

static guint widest_line(const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    guint widest = 0;
    for (guint i = 0; lines[i]; i++)
        widest = MAX(widest, bb_caption_width(lines[i]));
    return widest;
}

START_TEST(instance_in_a_pipe)
{
    g_autoptr(Scene) scene = scene_new();
    g_autoptr(BbPaths) paths = cart(scene);
    g_autofree char *text = draw(scene, paths, (BbTimelineStyle){BB_TIMELINE_COLUMNS, false});
    check_golden("timeline-80.txt", text);
}
END_TEST

START_TEST(instance_in_a_wide_terminal)
{
    g_autoptr(Scene) scene = scene_new();
    g_autoptr(BbPaths) paths = cart(scene);
    g_autofree char *text = draw(scene, paths, (BbTimelineStyle){132, false});
    ck_assert_uint_le(widest_line(text), 132);
    check_golden("timeline-132.txt", text);
}
END_TEST

START_TEST(instance_in_ascii)
{
    g_autoptr(Scene) scene = scene_new();
    g_autoptr(BbPaths) paths = cart(scene);
    paths->calls[2].op = bb_names_intern(scene->names, "caf\xc3\xa9\x1b[31m");
    g_autofree char *text = draw(scene, paths, (BbTimelineStyle){100, true});
    for (const char *at = text; *at; at++)
        ck_assert(*at == '\n' || (*at >= ' ' && *at <= '~'));
    ck_assert_ptr_nonnull(strstr(text, "caf%C3%A9%1B[31m"));
    check_golden("timeline-ascii.txt", text);
}
END_TEST

static const char *line_of(const char *text, guint number)
{
    for (; number > 0; number--) {
        text = strchr(text, '\n');
        ck_assert_ptr_nonnull(text);
        text++;
    }
    return text;
}

// How many letters of a kind follow; *bar goes on behind them.
static guint letters(const char **bar, const char *letter)
{
    guint n = (guint)strspn(*bar, letter);
    *bar += n;
    return n;
}

// web waits 80 of its 100 ms for pg, which works 10 of them; so does the mean of one.
START_TEST(on_the_way)
{
    g_autoptr(Scene) scene = scene_new();
    gint64 t = START;
    guint32 web = scene_call(scene, SCENE_ROOT, "client", "web", t, t + 100 * MS);
    scene_call(scene, web, "web", "pg", t + 10 * MS, t + 90 * MS);
    g_autoptr(BbPaths) paths = scene_paths(scene, 0);
    paths->calls[1].arrived_ns = t + 50 * MS;
    paths->calls[1].replied_ns = t + 60 * MS;
    paths->self_ns[0] = 20 * MS;
    g_autofree char *text = draw(scene, paths, (BbTimelineStyle){132, true});
    const char *bar = strstr(line_of(text, 1), "#");
    guint before = letters(&bar, "#"), waits = letters(&bar, "-"), after = letters(&bar, "#");
    guint cells = before + waits + after;
    ck_assert_uint_gt(cells, 40);
    ck_assert_uint_ge(waits + 2, 8 * cells / 10);
    ck_assert_uint_le(waits, 8 * cells / 10);
    ck_assert_uint_le(MAX(before, after), cells / 10 + 2);
}
END_TEST

// app1 waits 40 of its 100 ms for its turn; for its first call to pg likely 20 ms for a pool, for
// the second one hardly.
START_TEST(who_stands_in_line)
{
    g_autoptr(Scene) scene = scene_new();
    gint64 t = START;
    guint32 web = scene_call(scene, SCENE_ROOT, "client", "web", t, t + 100 * MS);
    guint32 app = scene_call(scene, web, "web", "app1", t, t + 100 * MS);
    scene_call(scene, app, "app1", "pg", t + 70 * MS, t + 80 * MS);
    scene_call(scene, app, "app1", "pg", t + 90 * MS, t + 95 * MS);
    g_autoptr(BbPaths) paths = scene_paths(scene, 0);
    BbTimelineStyle style = {132, true};
    g_autofree char *before = draw(scene, paths, style);
    ck_assert_ptr_null(strstr(before, ".."));
    paths->worker_wait = g_new0(BbWorkerWait, paths->n_calls);
    paths->pool_wait = g_new0(BbPoolWait, paths->n_calls);
    paths->worker_wait[app] = (BbWorkerWait){.limit = 4, .ns = 40 * MS};
    paths->pool_wait[2] = (BbPoolWait){.limit = 2, .share = 0.9F, .ns = 20 * MS};
    paths->pool_wait[3] = (BbPoolWait){.limit = 2, .share = 0.2F, .ns = 10 * MS};
    g_autofree char *text = draw(scene, paths, style);
    const char *bar = strstr(text, "..");
    ck_assert(bar > line_of(text, 2) && bar < line_of(text, 3));
    guint cells = (guint)strcspn(bar, " \n");
    guint turn = letters(&bar, "."), work = letters(&bar, "#"), pool = letters(&bar, ".");
    ck_assert_uint_eq(turn, 4 * cells / 10);
    ck_assert_uint_ge(work, 1);
    ck_assert_uint_le(work, cells / 10 + 1);
    ck_assert_uint_ge(pool + 1, 2 * cells / 10);
    ck_assert_uint_le(pool, 2 * cells / 10 + 1);
    ck_assert_ptr_null(strstr(bar, ".."));
}
END_TEST

START_TEST(call_without_return)
{
    g_autoptr(Scene) scene = scene_new();
    scene_call(scene, SCENE_ROOT, "a", "b", START, BB_TIME_NONE);
    g_autoptr(BbPaths) paths = scene_paths(scene, 0);
    g_autofree char *text = draw(scene, paths, (BbTimelineStyle){60, true});
    ck_assert(g_str_has_prefix(line_of(text, 1), "  b"));
    ck_assert_ptr_nonnull(strstr(text, "no return"));
    ck_assert_ptr_nonnull(strstr(text, ">"));
    ck_assert_ptr_null(strstr(text, "#"));
}
END_TEST

// b waits for c from 2 ms until it goes on at 8 ms.
START_TEST(a_call_that_was_waited_for_in_vain)
{
    g_autoptr(Scene) scene = scene_new();
    guint32 root = scene_call(scene, SCENE_ROOT, "a", "b", START, START + 10 * MS);
    guint32 kid = scene_unanswered(scene, root, "b", "c", START + 2 * MS, START + 8 * MS);
    g_autoptr(BbPaths) paths = scene_paths(scene, 0);
    paths->self_ns[root] = 4 * MS;
    paths->self_ns[kid] = 6 * MS;
    g_autofree char *text = draw(scene, paths, (BbTimelineStyle){80, true});
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    ck_assert_ptr_nonnull(strstr(lines[1], "4.00 ms")); // its own work
    ck_assert_ptr_nonnull(strstr(lines[1], "#"));
    ck_assert(g_str_has_prefix(lines[2], "* `- c"));
    const char *took = strstr(lines[2], "6.00 ms");
    ck_assert_ptr_nonnull(took);
    ck_assert_ptr_null(strstr(took + strlen("6.00 ms"), " ms")); // no work of c is known
    ck_assert_ptr_nonnull(strstr(lines[2], ">>>"));
    ck_assert_ptr_nonnull(strstr(lines[2], "no return"));
}
END_TEST

// c answers 200 when b has gone on: that is no status that b knew of.
START_TEST(a_return_that_comes_too_late_has_no_status)
{
    g_autoptr(Scene) scene = scene_new();
    guint32 root = scene_call(scene, SCENE_ROOT, "a", "b", START, START + 10 * MS);
    guint32 kid = scene_unanswered(scene, root, "b", "c", START + 2 * MS, START + 8 * MS);
    g_autoptr(BbPaths) paths = scene_paths(scene, 0);
    paths->calls[kid].replied_ns = START + 30 * MS;
    paths->calls[kid].status = bb_names_intern(scene->names, "200");
    g_autofree char *text = draw(scene, paths, (BbTimelineStyle){80, true});
    ck_assert_ptr_nonnull(strstr(text, "no return"));
    ck_assert_ptr_null(strstr(text, "200"));
}
END_TEST

// A call that is made after its parent's return, and one before its parent's entry (skewed clocks).
START_TEST(calls_that_stick_out)
{
    g_autoptr(Scene) scene = scene_new();
    guint32 root = scene_call(scene, SCENE_ROOT, "a", "b", START, START + 10 * MS);
    scene_call(scene, root, "b", "c", START - 10 * MS, START - 5 * MS);
    scene_call(scene, root, "b", "d", START + 20 * MS, START + 30 * MS);
    g_autoptr(BbPaths) paths = scene_paths(scene, 0);
    g_autofree char *text = draw(scene, paths, (BbTimelineStyle){80, true});
    const char *b = line_of(text, 1), *c = line_of(text, 2), *d = line_of(text, 3);
    ck_assert_ptr_nonnull(strstr(c, "-10.0 ms"));
    // Bars begin in the order c, b, d and do not overlap but in a cell.
    ck_assert_int_lt(strchr(c, '#') - c, strchr(b, '#') - b);
    ck_assert_int_lt(strchr(b, '#') - b, strchr(d, '#') - d);
    ck_assert(strncmp(line_of(text, 3), "  `- d", 6) == 0);
}
END_TEST

START_TEST(skewed_clocks_do_not_show)
{
    g_autoptr(Scene) scene = scene_new();
    guint32 root = scene_call(scene, SCENE_ROOT, "a", "b", START, START + 10 * MS);
    scene_call(scene, root, "b", "c", START + 2 * MS, START + 5 * MS);
    g_autoptr(BbPaths) paths = scene_paths(scene, 0);
    g_autofree char *straight = draw(scene, paths, (BbTimelineStyle){80, true});
    paths->calls[1].arrived_ns += 1000 * MS; // c's clock is a second ahead
    paths->calls[1].replied_ns += 1000 * MS;
    g_autofree char *skewed = draw(scene, paths, (BbTimelineStyle){80, true});
    ck_assert_str_eq(straight, skewed);
}
END_TEST

START_TEST(times_at_the_ends_of_time)
{
    g_autoptr(Scene) scene = scene_new();
    guint32 root = scene_call(scene, SCENE_ROOT, "a", "b", G_MININT64 + 1, G_MAXINT64);
    guint32 kid = scene_call(scene, root, "b", "c", G_MAXINT64, G_MININT64 + 1);
    scene_call(scene, kid, "c", "d", G_MAXINT64, G_MAXINT64);
    g_autoptr(BbPaths) paths = scene_paths(scene, 0);
    for (guint columns = 0; columns < 300; columns += 100) {
        g_autofree char *text = draw(scene, paths, (BbTimelineStyle){columns, false});
        ck_assert_ptr_nonnull(line_of(text, 3));
    }
}
END_TEST

START_TEST(deep_trees_keep_names_readable)
{
    g_autoptr(Scene) scene = scene_new();
    guint32 call = SCENE_ROOT;
    for (guint i = 0; i < BB_PATHS_DEPTH_MAX; i++)
        call = scene_call(scene, call, "n", "node-of-a-chain", START + i, START + 2000 - i);
    g_autoptr(BbPaths) paths = scene_paths(scene, 0);
    g_autofree char *text = draw(scene, paths, (BbTimelineStyle){80, true});
    const char *last = line_of(text, BB_PATHS_DEPTH_MAX);
    ck_assert_ptr_nonnull(strstr(last, "`- node-...hain"));
}
END_TEST

static BbPatternNode *node(Scene *scene, const char *name, const char *op, gint64 delay_ns,
                           gint64 latency_ns, guint64 self_ns)
{
    BbPatternNode *made =
        bb_pattern_node_new(bb_names_intern(scene->names, name), bb_names_intern(scene->names, op));
    for (gint64 i = 0; i < 10; i++) {
        bb_stats_push(made->call_delay, delay_ns);
        bb_stats_push(made->latency, latency_ns + (i - 5) * MS / 10);
    }
    made->self_total_ns = 10 * self_ns;
    made->critical_total_ns = 9 * self_ns;
    made->sure_total = 10;
    return made;
}

START_TEST(a_pattern_that_waits_in_vain)
{
    g_autoptr(Scene) scene = scene_new();
    BbPatternNode *web = node(scene, "web", "", 0, 40 * MS, 12 * MS);
    BbPatternNode *db = node(scene, "db", "", 5 * MS, 28 * MS, 28 * MS);
    db->unanswered = true;
    g_ptr_array_add(web->calls, db);
    g_autoptr(BbPattern) whole = bb_pattern_new(bb_names_intern(scene->names, "client"), web);
    whole->count = 10;
    g_autoptr(BbTimeline) timeline = bb_timeline_of_pattern(whole);
    g_autoptr(GString) text = g_string_new(NULL);
    BbTimelineStyle style = {100, true};
    bb_timeline_append(text, timeline, scene->names, &style);
    ck_assert_ptr_null(strstr(line_of(text->str, 2), "#"));
    ck_assert_ptr_nonnull(strstr(line_of(text->str, 2), ">>>"));
    ck_assert_ptr_nonnull(strstr(text->str, "no return"));
}
END_TEST

START_TEST(pattern)
{
    g_autoptr(Scene) scene = scene_new();
    BbPatternNode *web = node(scene, "web", "GET /", 0, 40 * MS, 12 * MS);
    BbPatternNode *app = node(scene, "app", "", 4 * MS, 20 * MS, 10 * MS);
    BbPatternNode *db = node(scene, "db", "SELECT", 5 * MS, 10 * MS, 10 * MS);
    BbPatternNode *log = node(scene, "log", "", 30 * MS, 8 * MS, 8 * MS);
    g_ptr_array_add(app->calls, db);
    g_ptr_array_add(web->calls, app);
    g_ptr_array_add(web->calls, log);
    db->sure_total = 9.5;
    db->errors = 3;
    g_autoptr(BbPattern) whole = bb_pattern_new(bb_names_intern(scene->names, "client"), web);
    whole->count = 10;
    whole->right_total = 9.5;
    g_autoptr(BbTimeline) timeline = bb_timeline_of_pattern(whole);
    g_autoptr(GString) text = g_string_new(NULL);
    BbTimelineStyle style = {100, false};
    ck_assert(!bb_timeline_append(text, timeline, scene->names, &style));
    check_golden("timeline-pattern.txt", text->str);
    ck_assert_ptr_nonnull(strstr(text->str, "0.95"));
    app->turn_total_ns = 10 * 5 * MS;
    g_autoptr(BbTimeline) queued = bb_timeline_of_pattern(whole);
    g_string_truncate(text, 0);
    ck_assert(bb_timeline_append(text, queued, scene->names, &style));
    ck_assert_ptr_nonnull(strstr(line_of(text->str, 2), "·"));
    whole->right_total = (double)BB_CONFIDENCE_NONE;
    g_autoptr(BbTimeline) unsure = bb_timeline_of_pattern(whole);
    g_string_truncate(text, 0);
    bb_timeline_append(text, unsure, scene->names, &style);
    ck_assert_ptr_null(strstr(text->str, "sure"));
}
END_TEST

TEST_MAIN("timeline", instance_in_a_pipe, instance_in_a_wide_terminal, instance_in_ascii,
          on_the_way, who_stands_in_line, call_without_return, a_call_that_was_waited_for_in_vain,
          a_return_that_comes_too_late_has_no_status, calls_that_stick_out,
          skewed_clocks_do_not_show, times_at_the_ends_of_time, deep_trees_keep_names_readable,
          a_pattern_that_waits_in_vain, pattern)
