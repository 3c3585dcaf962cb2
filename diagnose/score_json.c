// SPDX-License-Identifier: Apache-2.0
// In: a score. Out: one JSON object, as bbpaths(1) documents it.
#include <math.h>

#include "diagnose/fields.h"

// ---- parts --------------------------------------------------------------------------------------

static void write_scope(BbJson *json, const BbScore *score)
{
    bb_json_put_uint(json, "calls", score->calls);
    bb_field_object(json, "left_out");
    bb_json_put_uint(json, "unreturned", score->unreturned);
    bb_json_put_uint(json, "without_truth", score->untold - score->circular);
    bb_json_put_uint(json, "circular_truth", score->circular);
    bb_json_end_object(json);
}

static void write_links(BbJson *json, const BbScore *score)
{
    bb_json_newline(json);
    bb_field_object(json, "links");
    bb_field_right(json, "all", score->links);
    bb_field_right(json, "children", score->children);
    bb_field_right(json, "roots", score->roots);
    bb_field_right(json, "parent_lost", score->lost);
    bb_json_end_object(json);
    bb_field_right(json, "unanswered", score->unanswered);
    bb_json_put_share(json, "unanswered_confidence_mean", score->unanswered_stated);
    bb_field_right(json, "beneath", score->beneath);
    bb_json_newline(json);
    bb_field_right(json, "requests", score->requests);
    bb_field_right(json, "instances", score->instances);
    bb_json_put_share(json, "node_steps_mean", score->node_steps);
    bb_json_put_share(json, "node_links_mean", score->node_links);
}

static void write_errors(BbJson *json, const char *key, const BbErrors *errors)
{
    bb_field_object(json, key);
    bb_json_put_uint(json, "found", errors->found);
    bb_json_put_uint(json, "false_positives", errors->false_positives);
    bb_json_put_uint(json, "true", errors->real);
    bb_json_put_uint(json, "false_negatives", errors->false_negatives);
    bb_json_end_object(json);
}

static void write_mismatch(BbJson *json, const BbMismatch *mismatch)
{
    bb_json_newline(json);
    bb_field_object(json, "by_pattern");
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
    bb_field_object(json, "omitted");
    bb_json_key(json, "tolerances");
    bb_json_begin_array(json);
    for (guint t = 0; t < BB_TOLERANCES; t++)
        bb_json_share(json, bb_tolerances[t]);
    bb_json_end_array(json);
    bb_field_array(json, "top");
    for (guint n = 1; n <= omitted[BB_OMITTED_BY_COUNT].n; n++) {
        bb_json_newline(json);
        bb_json_begin_object(json);
        bb_json_put_uint(json, "n", n);
        write_missing(json, "by_count", omitted[BB_OMITTED_BY_COUNT].missing[n - 1]);
        write_missing(json, "by_latency", omitted[BB_OMITTED_BY_LATENCY].missing[n - 1]);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
    bb_json_end_object(json);
}

static void write_deviation(BbJson *json, const char *key, const BbDeviation *deviation)
{
    bb_field_object(json, key);
    bb_json_put_share(json, "mean", deviation->mean);
    bb_json_put_share(json, "largest", deviation->largest);
    bb_json_put_uint(json, "compared", deviation->compared);
    bb_json_end_object(json);
}

static void write_confidence(BbJson *json, const BbScore *score)
{
    bb_field_calibration(json, "link_confidence", &score->link_confidence);
    bb_field_calibration(json, "instance_confidence", &score->instance_confidence);
    bb_json_newline(json);
    bb_field_object(json, "wrong_instances");
    bb_json_put_share(json, "stated", score->stated_wrong);
    bb_json_put_share(json, "actual", score->actual_wrong);
    bb_json_put_share(json, "pattern_gap", score->pattern_gap);
    bb_json_end_object(json);
}

static void write_edges(BbJson *json, const BbScore *score, const BbNames *names)
{
    bb_field_array(json, "edges");
    for (guint i = 0; i < score->edges->len; i++) {
        const BbScoreEdge *edge = &g_array_index(score->edges, BbScoreEdge, i);
        bb_json_newline(json);
        bb_json_begin_object(json);
        bb_field_name(json, "from", names, edge->caller);
        bb_field_name(json, "to", names, edge->callee);
        bb_field_right(json, "links", edge->links);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

static void write_nodes(BbJson *json, const BbScore *score, const BbNames *names)
{
    bb_field_array(json, "nodes");
    for (guint i = 0; i < score->nodes->len; i++) {
        const BbScoreNode *node = &g_array_index(score->nodes, BbScoreNode, i);
        bb_json_newline(json);
        bb_json_begin_object(json);
        bb_field_name(json, "node", names, node->node);
        bb_field_right(json, "steps", node->steps);
        bb_field_right(json, "links", node->links);
        bb_json_put_seconds(json, "self_mean_s", node->found_self_ns);
        bb_json_put_seconds(json, "true_self_mean_s", node->real_self_ns);
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
    bb_field_array(json, "patterns");
    for (guint i = 0; i < score->pairs->len; i++) {
        const BbPatternPair *pair = &g_array_index(score->pairs, BbPatternPair, i);
        double found = pair->found ? (double)pair->found : (double)NAN;
        bb_json_newline(json);
        bb_json_begin_object(json);
        bb_json_key(json, "pattern");
        bb_json_string(json, score->captions[i]);
        bb_json_put_uint(json, "size", pair->size);
        bb_json_put_uint(json, "found", pair->found);
        bb_json_put_uint(json, "true", pair->real);
        bb_json_put_seconds(json, "mean_latency_s", mean(pair->found_ns, pair->found));
        bb_json_put_seconds(json, "true_mean_latency_s", mean(pair->real_ns, pair->real));
        bb_json_put_share(json, "stated_wrong", 1 - pair->stated_right / found);
        bb_json_put_share(json, "actual_wrong", (double)pair->wrong / found);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

void bb_score_write_json(const BbScore *score, const BbNames *names, FILE *out)
{
    g_autoptr(BbJson) json = bb_json_new(out);
    bb_json_begin_object(json);
    bb_json_put_uint(json, "bbpaths_score", 1);
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
