// SPDX-License-Identifier: Apache-2.0
// In: path instances, window after window, and a selection of patterns. Out: JSON Lines, one window
// a line.
#include "viz/phases.h"

#include "data/json.h"
#include "data/output.h"
#include "viz/ranking.h"
#include "viz/spool.h"

#include <errno.h>

// What is put aside: of each window a head, then its patterns.
typedef struct {
    gint64 from_ns, to_ns;
    guint32 n_instances, n_shares;
} Head;

typedef struct {
    guint64 count;
    gint64 mean_ns, p90_ns;
    guint32 pattern;
} Share;

struct BbPhases {
    BbSpool *spool;
    bool last_byte;
};

BbPhases *bb_phases_new(bool last_byte)
{
    BbPhases *phases = g_new(BbPhases, 1);
    *phases = (BbPhases){bb_spool_new(), last_byte};
    return phases;
}

void bb_phases_free(BbPhases *phases)
{
    if (!phases)
        return;
    bb_spool_free(phases->spool);
    g_free(phases);
}

// ---- putting aside -----------------------------------------------------------------------------

// Latencies of the roots, by pattern.
static GHashTable *collect(const BbPhases *phases, const BbPaths *paths)
{
    GHashTable *by_pattern = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)bb_stats_free);
    for (guint32 i = 0; i < paths->n_instances; i++) {
        const BbInstance *instance = &paths->instances[i];
        if (instance->pattern == BB_PATTERN_NONE)
            continue;
        BbStats *stats = g_hash_table_lookup(by_pattern, GUINT_TO_POINTER(instance->pattern));
        if (!stats) {
            stats = bb_stats_new();
            g_hash_table_insert(by_pattern, GUINT_TO_POINTER(instance->pattern), stats);
        }
        bb_stats_push(stats, bb_instance_latency(paths, instance, phases->last_byte));
    }
    return by_pattern;
}

bool bb_phases_add(BbPhases *phases, const BbPaths *paths, GError **error)
{
    if (paths->from_ns == BB_TIME_NONE)
        return true;
    g_autoptr(GHashTable) by_pattern = collect(phases, paths);
    Head head = {paths->from_ns, paths->to_ns, paths->n_instances, g_hash_table_size(by_pattern)};
    if (!bb_spool_push(phases->spool, &head, sizeof head, error))
        return false;
    GHashTableIter iter;
    gpointer pattern, stats;
    g_hash_table_iter_init(&iter, by_pattern);
    while (g_hash_table_iter_next(&iter, &pattern, &stats)) { // in no order: sorted by rank later
        Share share = {bb_stats_count(stats), bb_stats_mean(stats), bb_stats_quantile(stats, 0.9),
                       GPOINTER_TO_UINT(pattern)};
        if (!bb_spool_push(phases->spool, &share, sizeof share, error))
            return false;
    }
    return true;
}

// ---- writing -----------------------------------------------------------------------------------

static gint by_rank(gconstpointer a, gconstpointer b, gpointer ranks)
{
    const guint32 *rank = ranks;
    guint32 x = rank[((const Share *)a)->pattern], y = rank[((const Share *)b)->pattern];
    return (x > y) - (x < y);
}

static void write_share(BbJson *json, const Share *share, guint32 rank)
{
    bb_json_begin_object(json);
    bb_json_key(json, "rank");
    bb_json_uint(json, rank);
    bb_json_key(json, "count");
    bb_json_uint(json, share->count);
    bb_json_key(json, "mean_latency_s");
    bb_json_seconds(json, share->mean_ns);
    bb_json_key(json, "p90_latency_s");
    bb_json_seconds(json, share->p90_ns);
    bb_json_end_object(json);
}

static void write_window(BbJson *json, const Head *head, const GArray *shares,
                         const BbRanking *ranking)
{
    bb_json_begin_object(json);
    bb_json_key(json, "from");
    bb_json_seconds(json, head->from_ns);
    bb_json_key(json, "to");
    bb_json_seconds(json, head->to_ns);
    bb_json_key(json, "instances");
    bb_json_uint(json, head->n_instances);
    bb_json_key(json, "patterns");
    bb_json_begin_array(json);
    for (guint i = 0; i < shares->len; i++) {
        const Share *share = &g_array_index(shares, Share, i);
        if (ranking->rank[share->pattern] > 0)
            write_share(json, share, ranking->rank[share->pattern]);
    }
    bb_json_end_array(json);
    bb_json_end_object(json);
}

static bool write_all(BbPhases *phases, const BbRanking *ranking, BbJson *json, GError **error)
{
    Head head;
    GError *failure = NULL;
    g_autoptr(GArray) shares = g_array_new(FALSE, FALSE, sizeof(Share));
    while (!failure && bb_spool_next(phases->spool, &head, sizeof head, &failure)) {
        g_array_set_size(shares, head.n_shares);
        for (guint i = 0; i < shares->len && !failure; i++)
            bb_spool_next(phases->spool, &g_array_index(shares, Share, i), sizeof(Share), &failure);
        if (failure)
            break;
        g_array_sort_with_data(shares, by_rank, ranking->rank);
        write_window(json, &head, shares, ranking);
    }
    if (failure)
        g_propagate_error(error, failure);
    return !failure;
}

bool bb_phases_write(BbPhases *phases, const BbPatterns *patterns, const BbNames *names,
                     const BbViewOptions *options, FILE *out, GError **error)
{
    g_autoptr(BbRanking) ranking = bb_ranking_new(patterns, names, options, BB_TOP_ALL);
    g_autoptr(BbJson) json = bb_json_new(out);
    if (!bb_spool_rewind(phases->spool, error))
        return false;
    bool good = write_all(phases, ranking, json, error);
    if (bb_json_finish(json) || !good)
        return good;
    int code = errno;
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(code),
                "cannot write the phases: %s: %s, or write to another place", g_strerror(code),
                bb_output_remedy(code));
    return false;
}
