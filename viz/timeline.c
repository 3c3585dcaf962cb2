// SPDX-License-Identifier: Apache-2.0
// In: a path instance or a pattern. Out: the rows of its timeline, in the order they are drawn.
#include "viz/timeline.h"

#include <stdlib.h>

#include "data/status.h"
#include "viz/timeline_row.h"

static BbTimeline *timeline_new(bool of_pattern, bool of_messages)
{
    BbTimeline *timeline = g_new0(BbTimeline, 1);
    timeline->rows = g_array_new(FALSE, FALSE, sizeof(BbTimelineRow));
    timeline->of_pattern = of_pattern;
    timeline->of_messages = of_messages;
    return timeline;
}

void bb_timeline_free(BbTimeline *timeline)
{
    if (!timeline)
        return;
    g_array_unref(timeline->rows);
    g_free(timeline);
}

// ---- instances ---------------------------------------------------------------------------------

// A call of the instance on its way into the rows.
typedef struct {
    gint64 start_ns;
    guint32 parent, place; // in the instance's calls; the root is its own parent
} Draft;

// Siblings together, in order of time.
static int by_parent_and_start(const void *a, const void *b)
{
    const Draft *x = a, *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static Draft *draft_calls(const BbPaths *paths, const BbInstance *instance)
{
    const guint32 *order = paths->order + instance->first;
    g_autoptr(GHashTable) place = g_hash_table_new(NULL, NULL); // by call
    Draft *drafts = g_new0(Draft, instance->count);
    for (guint32 k = 0; k < instance->count; k++) {
        g_hash_table_insert(place, GUINT_TO_POINTER(order[k]), GUINT_TO_POINTER(k));
        drafts[k].place = k;
        if (k == 0)
            continue;
        guint32 call = paths->parent[order[k]];
        guint32 parent = GPOINTER_TO_UINT(g_hash_table_lookup(place, GUINT_TO_POINTER(call)));
        drafts[k].parent = parent;
        drafts[k].start_ns =
            bb_time_after(drafts[parent].start_ns, bb_time_between(paths->calls[call].arrived_ns,
                                                                   paths->calls[order[k]].call_ns));
    }
    return drafts;
}

typedef struct {
    const BbPaths *paths;
    const guint32 *order;
    const BbCritical *critical; // or NULL
    const BbNames *names;
    const Draft *drafts;
    const guint32 *first; // by place: where its calls begin in drafts; one more than there are
    bool last_byte;
} Listing;

static BbTimelineRow row_of_call(const Listing *listing, const Draft *draft)
{
    guint32 index = listing->order[draft->place];
    const BbCall *call = &listing->paths->calls[index];
    BbTimelineRow row = {.node = call->callee,
                         .op = call->op,
                         .status = call->status,
                         .id = call->id,
                         .start_ns = draft->start_ns,
                         .level = listing->paths->level[index],
                         .sure = listing->paths->confidence[index]};
    gint64 end_ns = bb_call_end(call, listing->last_byte);
    row.returned = end_ns != BB_TIME_NONE;
    row.unanswered = !bb_call_is_returned(call);
    if (row.returned) {
        row.mean_ns = bb_time_between(call->arrived_ns, end_ns);
        row.self_ns = (gint64)MIN(listing->paths->self_ns[index], (guint64)G_MAXINT64);
    }
    if (bb_call_is_returned(call)) {
        gint64 away_ns = bb_time_between(call->call_ns, bb_call_back(call, listing->last_byte));
        row.wire_ns = MAX(bb_time_between(row.mean_ns, away_ns), 0);
    }
    row.turn_ns = bb_paths_turn_ns(listing->paths, index);
    row.pool_ns = bb_paths_pool_ns(listing->paths, index);
    row.on_path = listing->critical && listing->critical[draft->place].on_path;
    row.errors = bb_status_is_error(bb_names_text(listing->names, call->proto),
                                    bb_names_text(listing->names, call->status));
    return row;
}

// Levels are at most BB_PATHS_DEPTH_MAX.
static void list_calls(BbTimeline *timeline, const Listing *listing, guint32 at, bool last)
{
    const Draft *draft = &listing->drafts[at];
    BbTimelineRow row = row_of_call(listing, draft);
    row.last = last;
    g_array_append_val(timeline->rows, row);
    guint32 end = listing->first[draft->place + 1];
    for (guint32 k = listing->first[draft->place]; k < end; k++)
        list_calls(timeline, listing, k, k + 1 == end);
}

BbTimeline *bb_timeline_of_instance(const BbPaths *paths, const BbInstance *instance,
                                    const BbCritical *critical, const BbNames *names,
                                    bool last_byte)
{
    guint32 n = instance->count;
    BbTimeline *timeline = timeline_new(false, paths->mode);
    g_autofree Draft *drafts = draft_calls(paths, instance);
    qsort(drafts + 1, n - 1, sizeof *drafts, by_parent_and_start);
    g_autofree guint32 *first = g_new(guint32, (gsize)n + 1);
    for (guint32 place = 0, at = 1; place <= n; place++) {
        while (at < n && drafts[at].parent < place)
            at++;
        first[place] = at;
    }
    Listing listing = {paths,    paths->order + instance->first, critical, names, drafts, first,
                       last_byte};
    list_calls(timeline, &listing, 0, true);
    return timeline;
}

// ---- patterns ----------------------------------------------------------------------------------

static BbTimelineRow row_of_node(const BbPattern *pattern, const BbPatternNode *node, guint level,
                                 gint64 start_ns)
{
    gint64 total_ns = bb_pattern_total_latency(pattern);
    double count = (double)MAX(bb_stats_count(node->latency), 1);
    BbTimelineRow row = {.node = node->node,
                         .op = node->op,
                         .start_ns = start_ns,
                         .mean_ns = pattern->root->delays ? 0 : bb_stats_mean(node->latency),
                         .p50_ns = bb_stats_quantile(node->latency, 0.5),
                         .p90_ns = bb_stats_quantile(node->latency, 0.9),
                         .self_ns = (gint64)((double)node->self_total_ns / count),
                         .errors = node->errors,
                         .level = (guint16)level,
                         .returned = !pattern->root->delays,
                         .unanswered = node->unanswered || pattern->root->delays,
                         .sure = BB_CONFIDENCE_NONE};
    row.wire_ns = (gint64)((double)node->wire_total_ns / count);
    row.turn_ns = (gint64)((double)node->turn_total_ns / count);
    row.pool_ns = (gint64)((double)node->pool_total_ns / count);
    if (total_ns > 0)
        row.waited = (double)node->critical_total_ns / (double)total_ns;
    if (pattern->right_total >= 0)
        row.sure = (float)bb_pattern_sure(pattern, node);
    return row;
}

// Levels are at most BB_PATHS_DEPTH_MAX.
static void list_nodes(BbTimeline *timeline, const BbPattern *pattern, const BbPatternNode *node,
                       guint level, gint64 start_ns, bool last)
{
    BbTimelineRow row = row_of_node(pattern, node, level, start_ns);
    row.last = last;
    g_array_append_val(timeline->rows, row);
    for (guint i = 0; i < node->calls->len; i++) {
        const BbPatternNode *call = g_ptr_array_index(node->calls, i);
        list_nodes(timeline, pattern, call, level + 1,
                   bb_time_after(start_ns, bb_stats_mean(call->call_delay)),
                   i + 1 == node->calls->len);
    }
}

BbTimeline *bb_timeline_of_pattern(const BbPattern *pattern)
{
    BbTimeline *timeline = timeline_new(true, pattern->root->delays);
    list_nodes(timeline, pattern, pattern->root, 1, 0, true);
    return timeline;
}
