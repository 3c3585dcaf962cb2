// SPDX-License-Identifier: Apache-2.0
// In: calls with parents. Out: trees in canonical order, so that equal ones have equal lists.
#include "nesting/trees.h"

#include <stdlib.h>

#define FEW 16 // kids sorted by insertion

// kids[start[i] .. start[i + 1]): the calls whose parent is call i, in order of time until the
// shapes are known, then by shape, and by time among equal shapes.
typedef struct {
    guint32 *start, *kids;
} Kids;

// Levels of all calls; cuts what is too deep. Parents may stand after their children in the array
// (clocks differ), hence the walk up and down again.
static void find_levels(BbPaths *paths)
{
    guint16 *level = paths->level = g_new0(guint16, paths->n_calls); // 0: not known yet
    g_autoptr(GArray) walk = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 i = 0; i < paths->n_calls; i++) {
        guint32 call = i;
        while (call != BB_CALL_NO_PARENT && level[call] == 0) {
            g_array_append_val(walk, call);
            call = paths->parent[call];
        }
        guint16 above = call == BB_CALL_NO_PARENT ? 0 : level[call];
        for (; walk->len > 0; g_array_set_size(walk, walk->len - 1)) {
            call = g_array_index(walk, guint32, walk->len - 1);
            if (above == BB_PATHS_DEPTH_MAX) {
                paths->parent[call] = BB_CALL_NO_PARENT;
                paths->facts.deep_calls++;
                above = 0;
            }
            level[call] = ++above;
        }
    }
}

// Kids in order of their index, which is that of time on their common caller's clock.
static Kids collect_kids(const BbPaths *paths)
{
    gsize n = paths->n_calls;
    guint32 *start = g_new0(guint32, n + 2);
    for (gsize i = 0; i < n; i++)
        if (paths->parent[i] != BB_CALL_NO_PARENT)
            start[paths->parent[i] + 2]++;
    for (gsize i = 2; i <= n + 1; i++)
        start[i] += start[i - 1];
    guint32 *kids = g_new(guint32, (gsize)start[n + 1] + 1); // never NULL
    for (gsize i = 0; i < n; i++)
        if (paths->parent[i] != BB_CALL_NO_PARENT)
            kids[start[paths->parent[i] + 1]++] = (guint32)i;
    return (Kids){start, kids};
}

// What of the callee's time is not covered by the union of its calls. kids are in order of time.
static guint64 self_time(const BbCall *calls, guint32 index, const guint32 *kids, guint32 n_kids,
                         bool last_byte)
{
    gint64 reach_ns = calls[index].arrived_ns, end_ns = bb_call_end(&calls[index], last_byte);
    guint64 self_ns = 0;
    for (guint32 k = 0; k < n_kids && reach_ns < end_ns; k++) {
        gint64 call_ns = MIN(calls[kids[k]].call_ns, end_ns);
        if (call_ns > reach_ns)
            self_ns += (guint64)call_ns - (guint64)reach_ns;
        reach_ns = MAX(reach_ns, MAX(call_ns, calls[kids[k]].return_ns));
    }
    return reach_ns < end_ns ? self_ns + (guint64)end_ns - (guint64)reach_ns : self_ns;
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

// Puts the kids in order of (shape, index) and leaves their shapes in shapes.
static void sort_kids(const BbPaths *paths, guint32 *kids, guint32 n_kids, GArray *keys,
                      GArray *shapes)
{
    g_array_set_size(keys, n_kids);
    g_array_set_size(shapes, n_kids);
    guint64 *key = &g_array_index(keys, guint64, 0);
    for (guint32 k = 0; k < n_kids; k++)
        key[k] = (guint64)paths->shape[kids[k]] << 32 | kids[k];
    if (n_kids <= FEW)
        sort_few(key, n_kids);
    else
        qsort(key, n_kids, sizeof *key, by_number);
    for (guint32 k = 0; k < n_kids; k++) {
        kids[k] = (guint32)key[k];
        g_array_index(shapes, guint32, k) = (guint32)(key[k] >> 32);
    }
}

// The calls by level, deepest first: each comes after its kids. The caller frees.
static guint32 *deepest_first(const BbPaths *paths)
{
    guint32 start[BB_PATHS_DEPTH_MAX + 1] = {0}; // of level BB_PATHS_DEPTH_MAX - index
    for (guint32 i = 0; i < paths->n_calls; i++)
        start[BB_PATHS_DEPTH_MAX - paths->level[i] + 1]++;
    for (guint32 i = 1; i <= BB_PATHS_DEPTH_MAX; i++)
        start[i] += start[i - 1];
    guint32 *order = g_new(guint32, paths->n_calls);
    for (guint32 i = 0; i < paths->n_calls; i++)
        order[start[BB_PATHS_DEPTH_MAX - paths->level[i]]++] = i;
    return order;
}

static void find_shapes(BbPaths *paths, const Kids *all, BbShapes *shapes, bool labels,
                        bool last_byte)
{
    g_autoptr(GArray) keys = g_array_new(FALSE, FALSE, sizeof(guint64));
    g_autoptr(GArray) kid_shapes = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autofree guint32 *order = deepest_first(paths);
    paths->shape = g_new0(guint32, paths->n_calls);
    paths->self_ns = g_new0(guint64, paths->n_calls);
    for (guint32 i = 0; i < paths->n_calls; i++) {
        guint32 index = order[i];
        const BbCall *call = &paths->calls[index];
        guint32 *kids = all->kids + all->start[index];
        guint32 n_kids = all->start[index + 1] - all->start[index];
        if (!bb_call_is_returned(call))
            continue;
        paths->self_ns[index] = self_time(paths->calls, index, kids, n_kids, last_byte);
        if (n_kids > 0)
            sort_kids(paths, kids, n_kids, keys, kid_shapes);
        paths->shape[index] =
            bb_shapes_intern(shapes, call->callee, labels ? call->op : BB_NAME_NONE,
                             (const guint32 *)(const void *)kid_shapes->data, n_kids);
    }
}

static void list_one(BbPaths *paths, const Kids *all, guint32 root, guint32 *listed, GArray *stack)
{
    g_array_append_val(stack, root);
    while (stack->len > 0) {
        guint32 call = g_array_index(stack, guint32, stack->len - 1);
        g_array_set_size(stack, stack->len - 1);
        paths->order[(*listed)++] = call;
        for (guint32 k = all->start[call + 1]; k > all->start[call]; k--)
            g_array_append_val(stack, all->kids[k - 1]);
    }
}

static void list_instances(BbPaths *paths, const Kids *all)
{
    for (guint32 i = 0; i < paths->n_calls; i++)
        paths->n_instances += paths->parent[i] == BB_CALL_NO_PARENT;
    paths->order = g_new(guint32, paths->n_calls);
    paths->instances = g_new(BbInstance, paths->n_instances);
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(guint32));
    guint32 listed = 0, place = 0;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        if (paths->parent[i] != BB_CALL_NO_PARENT)
            continue;
        BbInstance *instance = &paths->instances[place];
        *instance = (BbInstance){.first = listed, .pattern = BB_PATTERN_NONE, .place = place++};
        list_one(paths, all, i, &listed, stack);
        instance->count = listed - instance->first;
    }
}

void bb_trees_grow(BbPaths *paths, BbShapes *shapes, bool labels, bool last_byte)
{
    find_levels(paths);
    Kids kids = collect_kids(paths);
    find_shapes(paths, &kids, shapes, labels, last_byte);
    list_instances(paths, &kids);
    g_free(kids.start);
    g_free(kids.kids);
}
