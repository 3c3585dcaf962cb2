// SPDX-License-Identifier: Apache-2.0
// In: a score. Out: one JSON object, as bbpaths(1) documents it.
#include <math.h>

#include "data/json.h"
#include "diagnose/score.h"

static void write_uint(BbJson *json, const char *key, guint64 value)
{
    bb_json_key(json, key);
    bb_json_uint(json, value);
}

static void write_share(BbJson *json, const char *key, double share)
{
    bb_json_key(json, key);
    bb_json_share(json, share);
}

static void write_seconds(BbJson *json, const char *key, gint64 ns)
{
    bb_json_key(json, key);
    bb_json_seconds(json, ns);
}

static void write_name(BbJson *json, const char *key, const BbNames *names, guint32 name)
{
    bb_json_key(json, key);
    bb_json_string(json, bb_names_text(names, name));
}

static void begin_object(BbJson *json, const char *key)
{
    bb_json_key(json, key);
    bb_json_begin_object(json);
}

static void begin_array(BbJson *json, const char *key)
{
    bb_json_newline(json);
    bb_json_key(json, key);
    bb_json_begin_array(json);
}

static void write_right(BbJson *json, const char *key, BbRight right)
{
    begin_object(json, key);
    write_uint(json, "right", right.right);
    write_uint(json, "of", right.all);
    write_share(json, "share", bb_right_share(right));
    bb_json_end_object(json);
}

// ---- parts --------------------------------------------------------------------------------------

static void write_scope(BbJson *json, const BbScore *score)
{
    write_uint(json, "calls", score->calls);
    begin_object(json, "left_out");
    write_uint(json, "unreturned", score->unreturned);
    write_uint(json, "without_truth", score->untold - score->circular);
    write_uint(json, "circular_truth", score->circular);
    bb_json_end_object(json);
}

static void write_links(BbJson *json, const BbScore *score)
{
    bb_json_newline(json);
    begin_object(json, "links");
    write_right(json, "all", score->links);
    write_right(json, "children", score->children);
    write_right(json, "roots", score->roots);
    write_right(json, "parent_lost", score->lost);
    bb_json_end_object(json);
    bb_json_newline(json);
    write_right(json, "requests", score->requests);
    write_right(json, "instances", score->instances);
    write_share(json, "node_steps_mean", score->node_steps);
    write_share(json, "node_links_mean", score->node_links);
}

static void write_errors(BbJson *json, const char *key, const BbErrors *errors)
{
    begin_object(json, key);
    write_uint(json, "found", errors->found);
    write_uint(json, "false_positives", errors->false_positives);
    write_uint(json, "true", errors->real);
    write_uint(json, "false_negatives", errors->false_negatives);
    bb_json_end_object(json);
}

static void write_mismatch(BbJson *json, const BbMismatch *mismatch)
{
    bb_json_newline(json);
    begin_object(json, "by_pattern");
    write_errors(json, "patterns", &mismatch->patterns);
    write_errors(json, "instances", &mismatch->instances);
    write_errors(json, "calls", &mismatch->calls);
    bb_json_end_object(json);
}

static void write_missing(BbJson *json, const char *key, const guint32 *missing)
{
    bb_json_key(json, key);
    bb_json_begin_array(json);
    for (guint t = 0; t < BB_TOLERANCES; t++)
        bb_json_uint(json, missing[t]);
    bb_json_end_array(json);
}

static void write_omitted(BbJson *json, const BbOmitted *omitted)
{
    bb_json_newline(json);
    begin_object(json, "omitted");
    bb_json_key(json, "tolerances");
    bb_json_begin_array(json);
    for (guint t = 0; t < BB_TOLERANCES; t++)
        bb_json_share(json, bb_tolerances[t]);
    bb_json_end_array(json);
    begin_array(json, "top");
    for (guint n = 1; n <= omitted[BB_OMITTED_BY_COUNT].n; n++) {
        bb_json_newline(json);
        bb_json_begin_object(json);
        write_uint(json, "n", n);
        write_missing(json, "by_count", omitted[BB_OMITTED_BY_COUNT].missing[n - 1]);
        write_missing(json, "by_latency", omitted[BB_OMITTED_BY_LATENCY].missing[n - 1]);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
    bb_json_end_object(json);
}

static void write_deviation(BbJson *json, const char *key, const BbDeviation *deviation)
{
    begin_object(json, key);
    write_share(json, "mean", deviation->mean);
    write_share(json, "largest", deviation->largest);
    write_uint(json, "compared", deviation->compared);
    bb_json_end_object(json);
}

static void write_calibration(BbJson *json, const char *key, const BbCalibration *calibration)
{
    bb_json_newline(json);
    begin_object(json, key);
    write_uint(json, "stated", calibration->stated);
    write_uint(json, "not_stated", calibration->not_stated);
    write_share(json, "calibration_error", bb_calibration_error(calibration));
    begin_array(json, "bins");
    for (guint i = 0; i < BB_CALIBRATION_BINS; i++) {
        const BbCalibrationBin *bin = &calibration->bins[i];
        double count = bin->count ? (double)bin->count : (double)NAN;
        bb_json_newline(json);
        bb_json_begin_object(json);
        write_share(json, "from", bb_calibration_bound(i));
        write_share(json, "to", bb_calibration_bound(i + 1));
        write_uint(json, "count", bin->count);
        write_share(json, "stated", bin->sum / count);
        write_share(json, "right", (double)bin->right / count);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
    bb_json_end_object(json);
}

static void write_confidence(BbJson *json, const BbScore *score)
{
    write_calibration(json, "link_confidence", &score->link_confidence);
    write_calibration(json, "instance_confidence", &score->instance_confidence);
    bb_json_newline(json);
    begin_object(json, "wrong_instances");
    write_share(json, "stated", score->stated_wrong);
    write_share(json, "actual", score->actual_wrong);
    write_share(json, "pattern_gap", score->pattern_gap);
    bb_json_end_object(json);
}

static void write_edges(BbJson *json, const BbScore *score, const BbNames *names)
{
    begin_array(json, "edges");
    for (guint i = 0; i < score->edges->len; i++) {
        const BbScoreEdge *edge = &g_array_index(score->edges, BbScoreEdge, i);
        bb_json_newline(json);
        bb_json_begin_object(json);
        write_name(json, "from", names, edge->caller);
        write_name(json, "to", names, edge->callee);
        write_right(json, "links", edge->links);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

static void write_nodes(BbJson *json, const BbScore *score, const BbNames *names)
{
    begin_array(json, "nodes");
    for (guint i = 0; i < score->nodes->len; i++) {
        const BbScoreNode *node = &g_array_index(score->nodes, BbScoreNode, i);
        bb_json_newline(json);
        bb_json_begin_object(json);
        write_name(json, "node", names, node->node);
        write_right(json, "steps", node->steps);
        write_right(json, "links", node->links);
        write_seconds(json, "self_mean_s", node->found_self_ns);
        write_seconds(json, "true_self_mean_s", node->real_self_ns);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

static gint64 mean(gint64 sum_ns, guint64 count)
{
    return count ? sum_ns / (gint64)count : 0;
}

static void write_pairs(BbJson *json, const BbScore *score)
{
    begin_array(json, "patterns");
    for (guint i = 0; i < score->pairs->len; i++) {
        const BbPatternPair *pair = &g_array_index(score->pairs, BbPatternPair, i);
        double found = pair->found ? (double)pair->found : (double)NAN;
        bb_json_newline(json);
        bb_json_begin_object(json);
        bb_json_key(json, "pattern");
        bb_json_string(json, score->captions[i]);
        write_uint(json, "size", pair->size);
        write_uint(json, "found", pair->found);
        write_uint(json, "true", pair->real);
        write_seconds(json, "mean_latency_s", mean(pair->found_ns, pair->found));
        write_seconds(json, "true_mean_latency_s", mean(pair->real_ns, pair->real));
        write_share(json, "stated_wrong", 1 - pair->stated_right / found);
        write_share(json, "actual_wrong", (double)pair->wrong / found);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

void bb_score_write_json(const BbScore *score, const BbNames *names, FILE *out)
{
    g_autoptr(BbJson) json = bb_json_new(out);
    bb_json_begin_object(json);
    write_uint(json, "bbpaths_score", 1);
    write_scope(json, score);
    write_links(json, score);
    write_mismatch(json, &score->mismatch);
    write_omitted(json, score->omitted);
    bb_json_newline(json);
    write_deviation(json, "pattern_latency_error", &score->pattern_latency);
    write_deviation(json, "node_self_error", &score->node_self);
    write_confidence(json, score);
    write_edges(json, score, names);
    write_nodes(json, score, names);
    write_pairs(json, score);
    bb_json_end_object(json);
    (void)bb_json_finish(json); // the caller looks at ferror
}
