// SPDX-License-Identifier: Apache-2.0
// Path instances with planted costs, for tests of blame.
#pragma once

#include "diagnose/blame.h"

#include <string.h>

#include "tests/unit/sample_instances.h"

typedef struct Case {
    Scene *scene;
    BbBlame *blame;
    BbBlameFindings *findings;
    guint64 instances;
} Case;

static inline Case case_new(guint limit)
{
    Case c = {.scene = scene_new()};
    c.blame = bb_blame_new(&(BbBlameOptions){.labels = true, .limit = limit}, c.scene->names);
    return c;
}

static inline void case_clear(Case *c)
{
    scene_free(c->scene);
    bb_blame_free(c->blame);
    bb_blame_findings_free(c->findings);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Case, case_clear)

// The calls of the scene so far, with self times as if no call overlapped another.
static inline BbPaths *take_paths(Case *c)
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

static inline void add(Case *c)
{
    g_autoptr(BbPaths) paths = take_paths(c);
    bb_blame_add(c->blame, paths);
}

static inline void finish(Case *c)
{
    c->findings = bb_blame_finish(c->blame);
}

static inline guint32 name(const Case *c, const char *text)
{
    return bb_names_find(c->scene->names, text);
}

static inline const BbBlameRow *row_at(const Case *c, guint i)
{
    ck_assert_uint_lt(i, c->findings->rows->len);
    return &g_array_index(c->findings->rows, BbBlameRow, i);
}

static inline const BbBlameNode *node_at(const Case *c, guint i)
{
    ck_assert_uint_lt(i, c->findings->nodes->len);
    return &g_array_index(c->findings->nodes, BbBlameNode, i);
}

static inline char *text_of(const Case *c, guint top)
{
    char *text = NULL;
    gsize size = 0;
    FILE *out = open_memstream(&text, &size);
    bb_blame_write_text(c->findings, c->scene->names, top, out);
    fclose(out);
    return text;
}

static inline char *json_of(const Case *c)
{
    char *text = NULL;
    gsize size = 0;
    FILE *out = open_memstream(&text, &size);
    bb_blame_write_json(c->findings, c->scene->names, out);
    fclose(out);
    return text;
}

static inline void check_contains(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "no '%s' in:\n%s", part, text);
}

// client -> lb -> app -> auth, with so much work of auth; all else is 1 us.
static inline void add_request(Case *c, const char *app, gint64 start_ns, gint64 auth_ns)
{
    guint32 lb =
        scene_call(c->scene, SCENE_ROOT, "client", "lb", start_ns, start_ns + auth_ns + 4000);
    guint32 a = scene_call(c->scene, lb, "lb", app, start_ns + 1000, start_ns + auth_ns + 3000);
    guint32 auth = scene_call(c->scene, a, app, "auth", start_ns + 2000, start_ns + auth_ns + 2000);
    scene_at(c->scene, auth)->op = bb_names_intern(c->scene->names, "GET");
}

// Two calls of one request to db, 20 ns of work of web before each.
static inline void add_pool_request(Case *c, gint64 start_ns)
{
    guint32 web = scene_call(c->scene, SCENE_ROOT, "client", "web", start_ns, start_ns + 100);
    scene_call(c->scene, web, "web", "db", start_ns + 20, start_ns + 40);
    scene_call(c->scene, web, "web", "db", start_ns + 60, start_ns + 80);
}

// The same, and web has its turn after 15 of its 60 ns of work.
static inline BbPaths *paths_with_turns(Case *c)
{
    add_pool_request(c, 0);
    BbPaths *paths = scene_paths(c->scene, 0);
    for (guint32 i = 0; i < paths->n_calls; i++)
        paths->self_ns[i] = 20;
    paths->worker_wait = g_new0(BbWorkerWait, paths->n_calls);
    paths->worker_wait[0] = (BbWorkerWait){.limit = 4, .ns = 15};
    return paths;
}
