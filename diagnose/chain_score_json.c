// SPDX-License-Identifier: Apache-2.0
// In: a score of chains. Out: one JSON object, as bbpaths(1) documents it.
#include "diagnose/chain_score.h"
#include "diagnose/fields.h"

static void write_scope(BbJson *json, const BbChainScore *score)
{
    bb_json_put_uint(json, "messages", score->messages);
    bb_json_put_uint(json, "true_roots", score->true_roots);
    bb_field_object(json, "left_out");
    bb_json_put_uint(json, "without_truth", score->untold - score->circular);
    bb_json_put_uint(json, "circular_truth", score->circular);
    bb_json_end_object(json);
}

static void write_causes(BbJson *json, const BbChainScore *score)
{
    bb_json_newline(json);
    if (!score->has_causes) {
        bb_json_key(json, "causes");
        bb_json_null(json);
        return;
    }
    bb_field_object(json, "causes");
    bb_field_right(json, "caused", score->caused);
    bb_field_right(json, "roots", score->roots);
    bb_field_right(json, "cause_lost", score->lost);
    bb_field_right(json, "found_causes", score->found_causes);
    bb_field_right(json, "found_roots", score->found_roots);
    bb_json_end_object(json);
}

static void write_tier(BbJson *json, const BbTier *tier, const BbFidelity *fidelity)
{
    bb_json_newline(json);
    bb_field_object(json, tier->key);
    bb_json_put_uint(json, "found", fidelity->found.all);
    bb_json_put_uint(json, "found_right", fidelity->found.right);
    bb_json_put_share(json, "precision", bb_right_share(fidelity->found));
    bb_json_put_uint(json, "true", fidelity->real.all);
    bb_json_put_uint(json, "true_found", fidelity->real.right);
    bb_json_put_share(json, "recall", bb_right_share(fidelity->real));
    bb_json_end_object(json);
}

static void write_fidelity(BbJson *json, const BbChainScore *score)
{
    static const char *const keys[BB_CHAIN_KINDS] = {
        [BB_CHAIN_PAIRS] = "by_pair",
        [BB_CHAIN_VERTICES] = "by_vertex",
        [BB_CHAIN_DEEP] = "by_deep_vertex",
        [BB_CHAIN_PATHS] = "by_path",
    };
    for (guint kind = 0; kind < BB_CHAIN_KINDS; kind++) {
        bb_json_newline(json);
        bb_field_object(json, keys[kind]);
        for (guint t = 0; t < BB_TIERS; t++)
            write_tier(json, &bb_tiers[t], &score->fidelity[kind][t]);
        bb_json_end_object(json);
    }
}

static void write_excess(BbJson *json, const char *key, BbExcess excess)
{
    bb_field_object(json, key);
    bb_json_put_uint(json, "too_many", excess.too_many);
    bb_json_put_uint(json, "found", excess.found);
    bb_json_put_share(json, "share", bb_right_share((BbRight){excess.too_many, excess.found}));
    bb_json_end_object(json);
}

static void write_delay_error(BbJson *json, const char *key, const BbDelayError *error)
{
    bb_field_object(json, key);
    bb_json_put_seconds(json, "mean_s", error->mean_ns);
    bb_json_put_seconds(json, "largest_s", error->largest_ns);
    bb_json_put_share(json, "largest", error->largest);
    bb_json_put_uint(json, "compared", error->compared);
    bb_json_end_object(json);
}

static void write_time(BbJson *json, const char *key, gint64 ns)
{
    bb_json_key(json, key);
    if (ns == BB_TIME_NONE)
        bb_json_null(json);
    else
        bb_json_seconds(json, ns);
}

static void write_pairs(BbJson *json, const BbChainScore *score, const BbNames *names)
{
    bb_field_array(json, "pairs");
    for (guint i = 0; i < score->pairs->len; i++) {
        const BbChainPair *pair = &g_array_index(score->pairs, BbChainPair, i);
        bb_json_newline(json);
        bb_json_begin_object(json);
        bb_field_name(json, "from", names, pair->from);
        bb_field_name(json, "via", names, pair->via);
        bb_field_name(json, "to", names, pair->to);
        bb_json_put_uint(json, "found", pair->found);
        bb_json_put_uint(json, "true", pair->real);
        write_time(json, "stated_mean_s", pair->stated_mean_ns);
        write_time(json, "true_mean_s", pair->real_mean_ns);
        write_time(json, "p50_s", pair->found_p50_ns);
        write_time(json, "true_p50_s", pair->real_p50_ns);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

static void write_paths(BbJson *json, const BbChainScore *score)
{
    bb_field_array(json, "paths");
    for (guint i = 0; i < score->paths->len; i++) {
        const BbChainPath *path = &g_array_index(score->paths, BbChainPath, i);
        bb_json_newline(json);
        bb_json_begin_object(json);
        bb_json_key(json, "path");
        bb_json_string(json, path->caption);
        bb_json_put_uint(json, "found", path->found);
        bb_json_put_uint(json, "true", path->real);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

void bb_chain_score_write_json(const BbChainScore *score, const BbNames *names, FILE *out)
{
    g_autoptr(BbJson) json = bb_json_new(out);
    bb_json_begin_object(json);
    bb_json_put_uint(json, "bbpaths_score", 1);
    write_scope(json, score);
    write_causes(json, score);
    write_fidelity(json, score);
    bb_json_newline(json);
    bb_field_object(json, "counted_too_often");
    write_excess(json, "deep_vertices", score->deep_excess);
    write_excess(json, "paths", score->path_excess);
    bb_json_end_object(json);
    bb_json_newline(json);
    bb_field_object(json, "delay_error");
    write_delay_error(json, "stated_mean", &score->mean_delay);
    write_delay_error(json, "median", &score->median_delay);
    bb_json_end_object(json);
    bb_field_calibration(json, "confidence", &score->confidence);
    write_pairs(json, score, names);
    write_paths(json, score);
    bb_json_end_object(json);
    (void)bb_json_finish(json); // the caller looks at ferror
}
