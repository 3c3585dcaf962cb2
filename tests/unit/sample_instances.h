// SPDX-License-Identifier: Apache-2.0
// Path instances made by hand, call by call, without any algorithm. One sighting a message.
#pragma once

#include <string.h>

#include "data/census.h"
#include "tests/unit/test.h"

typedef struct Scene {
    BbNames *names;
    GArray *calls, *parents; // of BbCall, of guint32
} Scene;

static inline Scene *scene_new(void)
{
    Scene *scene = g_new(Scene, 1);
    *scene = (Scene){bb_names_new(), g_array_new(FALSE, FALSE, sizeof(BbCall)),
                     g_array_new(FALSE, FALSE, sizeof(guint32))};
    return scene;
}

static inline void scene_free(Scene *scene)
{
    bb_names_free(scene->names);
    g_array_unref(scene->calls);
    g_array_unref(scene->parents);
    g_free(scene);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Scene, scene_free)

#define SCENE_ROOT BB_CALL_NO_PARENT

// A call; returns its index. Parents come before their calls.
static inline guint32 scene_call(Scene *scene, guint32 parent, const char *caller,
                                 const char *callee, gint64 from_ns, gint64 to_ns)
{
    BbCall call = {.call_ns = from_ns,
                   .arrived_ns = from_ns,
                   .replied_ns = to_ns,
                   .return_ns = to_ns,
                   .return_end_ns = BB_TIME_NONE,
                   .caller = bb_names_intern(scene->names, caller),
                   .callee = bb_names_intern(scene->names, callee)};
    g_array_append_val(scene->calls, call);
    g_array_append_val(scene->parents, parent);
    return scene->calls->len - 1;
}

static inline BbCall *scene_at(Scene *scene, guint32 index)
{
    return &g_array_index(scene->calls, BbCall, index);
}

// One that gets no return, for which its caller waits until to_ns.
static inline guint32 scene_unanswered(Scene *scene, guint32 parent, const char *caller,
                                       const char *callee, gint64 from_ns, gint64 to_ns)
{
    guint32 index = scene_call(scene, parent, caller, callee, from_ns, BB_TIME_NONE);
    scene_at(scene, index)->return_end_ns = to_ns;
    return index;
}

static inline void scene_list(BbPaths *paths, guint32 call, guint16 level, guint32 *listed)
{
    paths->level[call] = level;
    paths->order[(*listed)++] = call;
    for (guint32 i = call + 1; i < paths->n_calls; i++)
        if (paths->parent[i] == call)
            scene_list(paths, i, level + 1, listed);
}

// The calls so far as the paths of one window. The scene goes on with the next one; names stay.
static inline BbPaths *scene_paths(Scene *scene, guint64 instances_before)
{
    BbPaths *paths = bb_paths_new();
    guint32 n = scene->calls->len, listed = 0;
    paths->calls = g_memdup2(scene->calls->data, n * sizeof(BbCall));
    paths->parent = g_memdup2(scene->parents->data, n * sizeof(guint32));
    paths->confidence = g_new(float, n + 1);
    paths->level = g_new0(guint16, n + 1);
    paths->shape = g_new0(guint32, n + 1);
    paths->self_ns = g_new0(guint64, n + 1);
    paths->order = g_new0(guint32, n + 1);
    paths->instances = g_new0(BbInstance, n + 1);
    paths->n_calls = n;
    paths->instances_before = instances_before;
    for (guint32 i = 0; i < n; i++) {
        paths->confidence[i] = BB_CONFIDENCE_NONE;
        if (paths->parent[i] != BB_CALL_NO_PARENT)
            continue;
        BbInstance *instance = &paths->instances[paths->n_instances];
        *instance = (BbInstance){
            .first = listed, .pattern = BB_PATTERN_NONE, .place = paths->n_instances++};
        scene_list(paths, i, 1, &listed);
        instance->count = listed - instance->first;
    }
    g_array_set_size(scene->calls, 0);
    g_array_set_size(scene->parents, 0);
    return paths;
}

// The roles of a file with that text.
static inline BbRoles *scene_roles(const Scene *scene, const char *text)
{
    BbRoles *roles = bb_roles_parse(text, strlen(text), "roles", scene->names, NULL);
    ck_assert_ptr_nonnull(roles);
    return roles;
}
