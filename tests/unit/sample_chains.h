// SPDX-License-Identifier: Apache-2.0
// Explained messages made by hand: instances as convolution has them, without any algorithm.
#pragma once

#include "tests/unit/sample_instances.h"

#define CHAIN_MS G_GINT64_CONSTANT(1000000)

// What convolution says of the messages of a scene, besides who caused them.
typedef struct Chains {
    Scene *scene;
    GArray *mode, *onward, *confidence; // of guint32, float, float; by message
    GArray *modes;                      // of BbMode
} Chains;

static inline Chains chains_scene(void)
{
    return (Chains){scene_new(), g_array_new(FALSE, FALSE, sizeof(guint32)),
                    g_array_new(FALSE, FALSE, sizeof(float)),
                    g_array_new(FALSE, FALSE, sizeof(float)),
                    g_array_new(FALSE, FALSE, sizeof(BbMode))};
}

static inline void chains_scene_clear(Chains *chains)
{
    scene_free(chains->scene);
    g_array_unref(chains->mode);
    g_array_unref(chains->onward);
    g_array_unref(chains->confidence);
    g_array_unref(chains->modes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Chains, chains_scene_clear)

static inline guint32 chains_mode(Chains *chains, gint64 delay_ns, gint64 spread_ns)
{
    BbMode mode = {delay_ns, spread_ns};
    g_array_append_val(chains->modes, mode);
    return chains->modes->len - 1;
}

// A message that mode tells the delay of; returns its index. What it causes is expected to be what
// is said of onward.
static inline guint32 chains_message(Chains *chains, guint32 parent, const char *from,
                                     const char *to, gint64 at_ns, guint32 mode, double onward)
{
    float expected = (float)onward, sure = 0.5f;
    g_array_append_val(chains->mode, mode);
    g_array_append_val(chains->onward, expected);
    g_array_append_val(chains->confidence, sure);
    return scene_call(chains->scene, parent, from, to, at_ns, BB_TIME_NONE);
}

// The messages so far as the paths of one window; modes stay.
static inline BbPaths *chains_paths(Chains *chains, guint64 instances_before)
{
    BbPaths *paths = scene_paths(chains->scene, instances_before);
    guint32 n = paths->n_calls;
    paths->mode = g_memdup2(chains->mode->data, n * sizeof(guint32));
    paths->onward = g_memdup2(chains->onward->data, n * sizeof(float));
    for (guint32 i = 0; i < n; i++)
        paths->confidence[i] = g_array_index(chains->confidence, float, i);
    paths->n_modes = chains->modes->len;
    paths->modes = g_memdup2(chains->modes->data, paths->n_modes * sizeof(BbMode));
    paths->derived = g_array_new(FALSE, FALSE, sizeof(BbDerived));
    paths->facts.messages = n;
    g_array_set_size(chains->mode, 0);
    g_array_set_size(chains->onward, 0);
    g_array_set_size(chains->confidence, 0);
    return paths;
}
