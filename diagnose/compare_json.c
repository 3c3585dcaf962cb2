// SPDX-License-Identifier: Apache-2.0
// In: in what two traces differ. Out: one JSON object; times in seconds.
#include <math.h>

#include "data/message.h"
#include "diagnose/compare.h"
#include "diagnose/route.h"

static const char *const side_names[] = {"before", "after"};

static void write_time(BbJson *json, const char *key, double ns)
{
    bb_json_key(json, key);
    if (isfinite(ns))
        bb_json_seconds(json, bb_mean_ns(ns));
    else
        bb_json_null(json);
}

static void write_times(BbJson *json, const char *key, BbPair ns)
{
    bb_json_key(json, key);
    bb_json_begin_object(json);
    write_time(json, "before", ns.other);
    write_time(json, "after", ns.one);
    bb_json_end_object(json);
}

static void write_shares(BbJson *json, const char *key, BbPair shares)
{
    bb_json_key(json, key);
    bb_json_begin_object(json);
    bb_json_put_share(json, "before", shares.other);
    bb_json_put_share(json, "after", shares.one);
    bb_json_end_object(json);
}

static void write_total(BbJson *json, const BbCompareFindings *findings, BbCompareSide side)
{
    const BbCompareTotal *total = &findings->total[side];
    bb_json_newline(json);
    bb_json_key(json, side_names[side]);
    bb_json_begin_object(json);
    bb_json_key(json, "trace");
    bb_json_string(json, findings->trace[side]);
    bb_chosen_write(findings->chosen[side], json);
    bb_json_put_uint(json, "requests", total->requests);
    bb_json_put_uint(json, "unanswered", total->unanswered);
    bb_json_put_uint(json, "left_out", total->left_out);
    if (total->requests > 0) {
        write_time(json, "mean_latency_s", total->mean_ns);
        write_time(json, "span_s", (double)bb_time_between(total->start_ns, total->end_ns));
    }
    bb_json_end_object(json);
}

static void write_figures(BbJson *json, const BbCompareRoot *root)
{
    for (guint side = 0; side < BB_COMPARE_SIDES; side++) {
        const BbCompareFigures *figures = &root->side[side];
        bb_json_key(json, side_names[side]);
        bb_json_begin_object(json);
        bb_json_put_uint(json, "requests", figures->requests);
        write_time(json, "mean_latency_s", figures->mean_ns);
        write_time(json, "p50_s", (double)figures->p50_ns);
        write_time(json, "p90_s", (double)figures->p90_ns);
        write_time(json, "p99_s", (double)figures->p99_ns);
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
        bb_difference_write(json, names, cause, cause->n_callers - 1); // no client
        write_time(json, "excess_s", cause->excess_ns);
        write_time(json, "error_s", cause->error_ns);
        write_times(json, "critical_s", cause->ns);
        write_shares(json, "present", cause->present);
        write_shares(json, "calls", cause->calls);
        bb_difference_write_most(json, names, cause);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

static void write_errors(BbJson *json, const BbCompareRoot *root, const BbNames *names)
{
    const GArray *errors = root->differences.errors;
    bb_json_key(json, "errors");
    bb_json_begin_array(json);
    for (guint i = 0; i < errors->len; i++) {
        const BbErrorDifference *error = &g_array_index(errors, BbErrorDifference, i);
        bb_json_begin_object(json);
        bb_route_write_call(json, names, error->node, error->op);
        bb_route_write_callers(json, "callers", names, error->callers, error->n_callers - 1);
        write_shares(json, "present", error->present);
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
        write_time(json, "excess_s", root->excess_ns);
        write_time(json, "error_s", root->error_ns);
        bb_json_key(json, "sure");
        bb_json_bool(json, bb_compare_is_sure(root));
        bb_json_put_uint(json, "by_chance", root->by_chance);
        write_errors(json, root, names);
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
    write_total(json, findings, BB_COMPARE_BEFORE);
    write_total(json, findings, BB_COMPARE_AFTER);
    write_roots(json, "compared", findings->compared, names, true);
    write_roots(json, "rare", findings->rare, names, false);
    bb_json_end_object(json);
    (void)bb_json_finish(json); // the caller looks at ferror
}
