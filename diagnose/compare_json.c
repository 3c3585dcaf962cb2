// SPDX-License-Identifier: Apache-2.0
// In: in what two traces differ. Out: one JSON object; times in seconds.
#include "data/message.h"
#include "diagnose/compare.h"
#include "diagnose/route.h"

static const BbSideWords words = {"after", "before", .other_first = true};

static void write_total(BbJson *json, const BbCompareFindings *findings, BbCompareSide side)
{
    const BbCompareTotal *total = &findings->total[side];
    bb_json_newline(json);
    bb_json_key(json, bb_compare_side_word(side));
    bb_json_begin_object(json);
    bb_json_key(json, "trace");
    bb_json_string(json, findings->trace[side]);
    bb_chosen_write(findings->chosen[side], json);
    bb_json_put_uint(json, "requests", total->requests);
    bb_json_put_uint(json, "unanswered", total->unanswered);
    bb_json_put_uint(json, "left_out", total->left_out);
    if (total->requests > 0) {
        bb_json_put_seconds(json, "mean_latency_s", bb_mean_ns(total->mean_ns));
        bb_json_put_seconds(json, "span_s", bb_time_between(total->start_ns, total->end_ns));
    }
    bb_json_end_object(json);
}

static void write_figures(BbJson *json, const BbCompareRoot *root)
{
    for (guint side = 0; side < BB_COMPARE_SIDES; side++) {
        const BbCompareFigures *figures = &root->side[side];
        bb_json_key(json, bb_compare_side_word(side));
        bb_json_begin_object(json);
        bb_json_put_uint(json, "requests", figures->requests);
        bb_json_put_seconds(json, "mean_latency_s", bb_mean_ns(figures->mean_ns));
        bb_json_put_seconds(json, "p50_s", figures->p50_ns);
        bb_json_put_seconds(json, "p90_s", figures->p90_ns);
        bb_json_put_seconds(json, "p99_s", figures->p99_ns);
        bb_json_end_object(json);
    }
}

static void write_causes(BbJson *json, const BbCompareRoot *root, const BbNames *names)
{
    const GArray *causes = root->differences.causes;
    bb_json_key(json, "causes");
    bb_json_begin_array(json);
    for (guint i = 0; i < causes->len; i++) {
        const BbDifference *cause = &g_array_index(causes, BbDifference, i);
        bb_json_newline(json);
        bb_json_begin_object(json);
        bb_difference_write(json, names, cause, &words);
        bb_json_put_seconds(json, "excess_s", bb_mean_ns(cause->excess_ns));
        bb_json_put_seconds(json, "error_s", bb_mean_ns(cause->error_ns));
        bb_difference_write_rest(json, names, cause, &words);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

static void write_root(BbJson *json, const BbCompareRoot *root, const BbNames *names, bool compared)
{
    bb_json_newline(json);
    bb_json_begin_object(json);
    bb_route_write_call(json, names, root->node, root->op);
    write_figures(json, root);
    if (compared) {
        bb_json_put_seconds(json, "excess_s", bb_mean_ns(root->excess_ns));
        bb_json_put_seconds(json, "error_s", bb_mean_ns(root->error_ns));
        bb_json_key(json, "sure");
        bb_json_bool(json, bb_compare_is_sure(root));
        bb_json_put_uint(json, "by_chance", root->by_chance);
        bb_differences_write_errors(json, names, &root->differences, &words);
        write_causes(json, root, names);
    }
    bb_json_end_object(json);
}

static void write_roots(BbJson *json, const char *key, const GPtrArray *roots, const BbNames *names,
                        bool compared)
{
    bb_json_newline(json);
    bb_json_key(json, key);
    bb_json_begin_array(json);
    for (guint i = 0; i < roots->len; i++)
        write_root(json, g_ptr_array_index(roots, i), names, compared);
    bb_json_end_array(json);
}

void bb_compare_write_json(const BbCompareFindings *findings, const BbNames *names, FILE *out)
{
    g_autoptr(BbJson) json = bb_json_new(out);
    bb_json_begin_object(json);
    bb_json_put_uint(json, "bbpaths_compare", 1);
    if (findings->at_ns != BB_TIME_NONE)
        bb_json_put_seconds(json, "at", findings->at_ns);
    write_total(json, findings, BB_COMPARE_BEFORE);
    write_total(json, findings, BB_COMPARE_AFTER);
    write_roots(json, "compared", findings->compared, names, true);
    write_roots(json, "rare", findings->rare, names, false);
    bb_json_end_object(json);
    (void)bb_json_finish(json); // the caller looks at ferror
}
