// SPDX-License-Identifier: Apache-2.0
// In: calls with parents. Out: trees in canonical order, so that equal ones have equal lists.
#include "nesting/trees.h"

#include <stdlib.h>

#include "data/groups.h"
#include "data/large.h"
#include "data/self_time.h"
#include "nesting/patience.h"

#define FEW 16   // kids sorted by insertion
#define AHEAD 32 // calls of a level lie apart: the next ones are fetched before they are needed

// Levels of all calls; cuts what is too deep. Parents may stand after their children in the array
// (clocks differ), hence the walk up and down again.
static void find_levels(BbPaths *paths)
{
    guint16 *level = paths->level = bb_large_new0(guint16, paths->n_calls); // 0: not known yet
    g_autofree guint32 *walk = g_new(guint32, paths->n_calls);
    for (guint32 i = 0; i < paths->n_calls; i++) {
        guint32 call = i, walked = 0;
        while (call != BB_CALL_NO_PARENT && level[call] == 0) {
            walk[walked++] = call;
            call = paths->parent[call];
        }
        guint16 above = call == BB_CALL_NO_PARENT ? 0 : level[call];
        while (walked > 0) {
            call = walk[--walked];
            if (above == BB_PATHS_DEPTH_MAX) {
                paths->parent[call] = BB_CALL_NO_PARENT;
                paths->facts.deep_calls++;
                above = 0;
            }
            level[call] = ++above;
        }
    }
}

// kids are in order of time.
static guint64 self_time(const BbCall *calls, guint32 index, const guint32 *kids, guint32 n_kids,
                         bool last_byte)
{
    BbSelfTime time = bb_self_time_start(&calls[index], last_byte);
    for (guint32 k = 0; k < n_kids; k++)
        bb_self_time_add(&time, &calls[kids[k]]);
    return bb_self_time_end(&time);
}

static int by_number(const void *a, const void *b)
{
    guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
    return (x > y) - (x < y);
}

static void sort_few(guint64 *keys, guint32 count)
{
    for (guint32 i = 1; i < count; i++) {
        guint64 key = keys[i];
        guint32 at = i;
        for (; at > 0 && keys[at - 1] > key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

// Puts the kids in order of (shape, index) and leaves their shapes in shapes; key is scratch.
static void sort_kids(const BbPaths *paths, guint32 *kids, guint32 n_kids, guint64 *key,
                      guint32 *shapes)
{
    for (guint32 k = 0; k < n_kids; k++)
        key[k] = (guint64)paths->shape[kids[k]] << 32 | kids[k];
    if (n_kids <= FEW)
        sort_few(key, n_kids);
    else
        qsort(key, n_kids, sizeof *key, by_number);
    for (guint32 k = 0; k < n_kids; k++) {
        kids[k] = (guint32)key[k];
        shapes[k] = (guint32)(key[k] >> 32);
    }
}

// The calls by level, deepest first: each comes after its kids. The caller frees.
static guint32 *deepest_first(const BbPaths *paths)
{
    g_auto(BbGroups) by_level = bb_groups_begin(BB_PATHS_DEPTH_MAX); // levels begin at 1
    for (guint32 i = 0; i < paths->n_calls; i++)
        bb_groups_count(&by_level, BB_PATHS_DEPTH_MAX - paths->level[i], 1);
    bb_groups_open(&by_level);
    for (guint32 i = 0; i < paths->n_calls; i++)
        bb_groups_put(&by_level, BB_PATHS_DEPTH_MAX - paths->level[i], i);
    return g_steal_pointer(&by_level.list);
}

// While kids are in order of time.
static void find_self_times(BbPaths *paths, const BbGroups *kids_of, bool last_byte)
{
    paths->self_ns = bb_large_new(guint64, paths->n_calls);
    for (guint32 i = 0; i < paths->n_calls; i++) {
        const guint32 *kids = bb_groups_at(kids_of, i);
        guint32 n_kids = bb_groups_size(kids_of, i);
        bool has_end = bb_call_end(&paths->calls[i], last_byte) != BB_TIME_NONE;
        paths->self_ns[i] = has_end ? self_time(paths->calls, i, kids, n_kids, last_byte) : 0;
    }
}

static void find_shapes(BbPaths *paths, const BbGroups *kids_of, const guint32 *order,
                        BbShapes *shapes, bool labels)
{
    guint32 most = 0; // kids of one call
    for (guint32 i = 0; i < paths->n_calls; i++)
        most = MAX(most, bb_groups_size(kids_of, i));
    g_autofree guint64 *keys = g_new(guint64, most);
    g_autofree guint32 *kid_shapes = g_new(guint32, (gsize)most + 1);
    paths->shape = bb_large_new0(guint32, paths->n_calls);
    for (guint32 i = 0; i < paths->n_calls; i++) {
        guint32 index = order[i];
        if (i + AHEAD < paths->n_calls) {
            __builtin_prefetch(&paths->calls[order[i + AHEAD]].return_ns);
            __builtin_prefetch(&paths->calls[order[i + AHEAD]].op);
        }
        const BbCall *call = &paths->calls[index];
        guint32 *kids = bb_groups_at(kids_of, index);
        guint32 n_kids = bb_groups_size(kids_of, index);
        if (!bb_call_is_returned(call) && paths->parent[index] == BB_CALL_NO_PARENT)
            continue;
        sort_kids(paths, kids, n_kids, keys, kid_shapes);
        if (!bb_call_is_returned(call))
            kid_shapes[n_kids++] = BB_SHAPES_NO_RETURN;
        paths->shape[index] = bb_shapes_intern(
            shapes, call->callee, labels ? call->op : BB_NAME_NONE, kid_shapes, n_kids);
    }
}

// Returns how many are listed then. stack: room for all calls.
static guint32 list_one(BbPaths *paths, const BbGroups *kids_of, guint32 root, guint32 listed,
                        guint32 *stack)
{
    guint32 waiting = 0;
    stack[waiting++] = root;
    while (waiting > 0) {
        guint32 call = stack[--waiting];
        paths->order[listed++] = call;
        const guint32 *kids = bb_groups_at(kids_of, call);
        for (guint32 k = bb_groups_size(kids_of, call); k > 0; k--)
            stack[waiting++] = kids[k - 1];
    }
    return listed;
}

static void list_instances(BbPaths *paths, const BbGroups *kids_of)
{
    for (guint32 i = 0; i < paths->n_calls; i++)
        paths->n_instances += paths->parent[i] == BB_CALL_NO_PARENT;
    paths->order = bb_large_new(guint32, paths->n_calls);
    paths->instances = bb_large_new(BbInstance, paths->n_instances);
    g_autofree guint32 *stack = g_new(guint32, paths->n_calls);
    guint32 listed = 0, place = 0;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        if (paths->parent[i] != BB_CALL_NO_PARENT)
            continue;
        BbInstance *instance = &paths->instances[place];
        *instance = (BbInstance){.first = listed, .pattern = BB_PATTERN_NONE, .place = place++};
        listed = list_one(paths, kids_of, i, listed, stack);
        instance->count = listed - instance->first;
    }
}

void bb_trees_grow(BbPaths *paths, BbShapes *shapes, bool labels, bool last_byte)
{
    find_levels(paths);
    // in order of index, which is that of time on their common caller's clock, until the shapes are
    // known; then by shape, and by time among equal shapes
    g_auto(BbGroups) kids = bb_groups_of(paths->parent, paths->n_calls, paths->n_calls);
    g_autofree guint32 *order = deepest_first(paths);
    bb_patience_find_ends(paths, &kids, order);
    find_self_times(paths, &kids, last_byte);
    find_shapes(paths, &kids, order, shapes, labels);
    list_instances(paths, &kids);
}
