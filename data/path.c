// SPDX-License-Identifier: Apache-2.0
// In: nothing. Out: an empty result of an inference, to be filled by its stage.
#include "data/path.h"

BbPaths *bb_paths_new(void)
{
    BbPaths *paths = g_new0(BbPaths, 1);
    paths->facts = BB_FACTS_EMPTY;
    paths->from_ns = paths->to_ns = BB_TIME_NONE;
    return paths;
}

void bb_paths_free(BbPaths *paths)
{
    if (!paths)
        return;
    g_free(paths->calls);
    g_free(paths->parent);
    g_free(paths->confidence);
    g_free(paths->whole);
    g_free(paths->pool_wait);
    g_free(paths->worker_wait);
    g_clear_pointer(&paths->late, g_array_unref);
    g_clear_pointer(&paths->tosses, g_array_unref);
    g_free(paths->level);
    g_free(paths->shape);
    g_free(paths->self_ns);
    g_free(paths->order);
    g_free(paths->instances);
    g_free(paths->mode);
    g_free(paths->onward);
    g_free(paths->modes);
    g_clear_pointer(&paths->derived, g_array_unref);
    g_free(paths);
}

void bb_paths_note_late(BbPaths *paths, BbLate late)
{
    if (!paths->late)
        paths->late = g_array_new(FALSE, FALSE, sizeof(BbLate));
    g_array_append_val(paths->late, late);
    paths->facts.calls_late++;
}

static gint64 last_arrival(const BbPaths *paths, const BbInstance *instance)
{
    const guint32 *order = paths->order + instance->first;
    gint64 last_ns = paths->calls[order[0]].arrived_ns;
    for (guint32 k = 1; k < instance->count; k++)
        last_ns = MAX(last_ns, paths->calls[order[k]].arrived_ns);
    return last_ns;
}

gint64 bb_instance_latency(const BbPaths *paths, const BbInstance *instance, bool last_byte)
{
    const BbCall *root = &paths->calls[paths->order[instance->first]];
    if (paths->mode)
        return bb_time_between(root->call_ns, last_arrival(paths, instance));
    return bb_call_is_returned(root)
               ? bb_time_between(root->arrived_ns, bb_call_end(root, last_byte))
               : BB_TIME_NONE;
}

double bb_instance_right(const BbPaths *paths, const BbInstance *instance)
{
    const guint32 *order = paths->order + instance->first;
    double right = 1;
    for (guint32 k = 0; k < instance->count; k++) {
        double confidence = (double)paths->confidence[order[k]];
        if (confidence < 0)
            return (double)BB_CONFIDENCE_NONE;
        right *= paths->whole ? confidence * (double)paths->whole[order[k]] : confidence;
    }
    return right;
}

// ---- taking out --------------------------------------------------------------------------------

// Closes the gaps that the calls leave which go; returns the new indices, which the caller frees.
static guint32 *compact_calls(BbPaths *paths, const guint8 *gone)
{
    guint32 *place = g_new(guint32, paths->n_calls);
    guint32 kept = 0;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        if (gone[i])
            continue;
        place[i] = kept;
        paths->calls[kept] = paths->calls[i];
        paths->parent[kept] = paths->parent[i];
        paths->confidence[kept] = paths->confidence[i];
        if (paths->whole)
            paths->whole[kept] = paths->whole[i];
        if (paths->pool_wait)
            paths->pool_wait[kept] = paths->pool_wait[i];
        if (paths->worker_wait)
            paths->worker_wait[kept] = paths->worker_wait[i];
        paths->level[kept] = paths->level[i];
        if (paths->shape)
            paths->shape[kept] = paths->shape[i];
        if (paths->self_ns)
            paths->self_ns[kept] = paths->self_ns[i];
        if (paths->mode)
            paths->mode[kept] = paths->mode[i];
        if (paths->onward)
            paths->onward[kept] = paths->onward[i];
        kept++;
    }
    paths->n_calls = kept;
    for (guint32 i = 0; i < kept; i++)
        if (paths->parent[i] != BB_CALL_NO_PARENT)
            paths->parent[i] = place[paths->parent[i]];
    return place;
}

void bb_paths_take_out(BbPaths *paths, const guint8 *gone)
{
    guint32 listed = 0, kept = 0;
    g_clear_pointer(&paths->late, g_array_unref);
    g_autofree guint32 *root = g_new(guint32, paths->n_instances);
    for (guint32 i = 0; i < paths->n_instances; i++)
        root[i] = paths->order[paths->instances[i].first];
    g_autofree guint32 *place = compact_calls(paths, gone);
    for (guint32 i = 0; i < paths->n_instances; i++) {
        BbInstance instance = paths->instances[i];
        if (gone[root[i]])
            continue;
        for (guint32 k = 0; k < instance.count; k++)
            paths->order[listed + k] = place[paths->order[instance.first + k]];
        instance.first = listed;
        instance.place = kept;
        paths->instances[kept++] = instance;
        listed += instance.count;
    }
    paths->n_instances = kept;
}

guint32 bb_paths_count_unknown(const BbPaths *paths)
{
    guint32 n = 0;
    for (guint32 i = 0; i < paths->n_calls; i++)
        n += paths->confidence[i] == BB_CONFIDENCE_NONE;
    return n;
}
