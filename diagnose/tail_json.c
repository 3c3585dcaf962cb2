// SPDX-License-Identifier: Apache-2.0
// In: how the slowest requests differ. Out: one JSON object; times in seconds.
#include "diagnose/route.h"
#include "diagnose/tail.h"

static const BbSideWords words = {"slow", "others", .clients = true};

static void write_causes(BbJson *json, const BbTailRoot *root, const BbNames *names)
{
    double excess_ns = root->latency_ns.one - root->latency_ns.other;
    bb_json_key(json, "causes");
    bb_json_begin_array(json);
    for (guint i = 0; i < root->differences.causes->len; i++) {
        const BbDifference *cause = &g_array_index(root->differences.causes, BbDifference, i);
        bb_json_newline(json);
        bb_json_begin_object(json);
        bb_difference_write(json, names, cause, &words);
        bb_json_put_share(json, "share", excess_ns > 0 ? cause->excess_ns / excess_ns : 0);
        bb_json_put_seconds(json, "excess_s", bb_mean_ns(cause->excess_ns));
        bb_difference_write_rest(json, names, cause, &words);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

static void write_patterns(BbJson *json, const BbTailRoot *root, BbTailRanks ranks)
{
    bb_json_key(json, "patterns");
    bb_json_begin_array(json);
    for (guint i = 0; i < root->patterns->len; i++) {
        const BbTailPattern *pattern = &g_array_index(root->patterns, BbTailPattern, i);
        guint32 rank = pattern->pattern < ranks.count ? ranks.rank[pattern->pattern] : 0;
        bb_json_begin_object(json);
        bb_json_key(json, "pattern");
        if (rank > 0)
            bb_json_uint(json, rank);
        else
            bb_json_null(json);
        bb_pair_write(json, "present", pattern->present, &words);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

static void write_slowest(BbJson *json, const BbTailRoot *root)
{
    bb_json_key(json, "slowest");
    bb_json_begin_array(json);
    for (guint i = 0; i < MIN(root->slow, BB_TAIL_NAMED); i++) {
        bb_json_begin_object(json);
        bb_json_put_uint(json, "instance", root->slowest[i].number);
        bb_json_put_seconds(json, "latency_s", root->slowest[i].latency_ns);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

static void write_bursts(BbJson *json, const BbTailRoot *root)
{
    gint64 period_ns = bb_bursts_period(root->bursts);
    if (period_ns > 0)
        bb_json_put_seconds(json, "period_s", period_ns);
    bb_json_key(json, "bursts");
    bb_json_begin_array(json);
    for (guint i = 0; i < root->bursts->len; i++) {
        const BbBurst *burst = &g_array_index(root->bursts, BbBurst, i);
        bb_json_begin_object(json);
        bb_json_put_seconds(json, "start", burst->start_ns);
        bb_json_put_seconds(json, "end", burst->end_ns);
        bb_json_put_uint(json, "slow", burst->marked);
        bb_json_put_uint(json, "requests", burst->events);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

static void write_root(BbJson *json, const BbTailRoot *root, const BbNames *names,
                       BbTailRanks ranks)
{
    bb_json_newline(json);
    bb_json_begin_object(json);
    bb_json_key(json, "client");
    if (root->client == BB_NAME_NONE)
        bb_json_null(json);
    else
        bb_json_string(json, bb_names_text(names, root->client));
    bb_route_write_call(json, names, root->node, root->op);
    bb_json_put_uint(json, "requests", root->instances);
    bb_json_put_uint(json, "slow", root->slow);
    bb_json_put_share(json, "sampled", root->sampled);
    bb_json_put_seconds(json, "slow_from_s", root->least_ns);
    bb_pair_write_ns(json, "mean_latency_s", root->latency_ns, &words);
    bb_pair_write(json, "under_way", root->open, &words);
    write_bursts(json, root);
    write_slowest(json, root);
    write_patterns(json, root, ranks);
    bb_differences_write_errors(json, names, &root->differences, &words);
    write_causes(json, root, names);
    bb_json_end_object(json);
}

void bb_tail_write_json(const BbTailFindings *findings, const BbNames *names, BbTailRanks ranks,
                        FILE *out)
{
    g_autoptr(BbJson) json = bb_json_new(out);
    bb_json_begin_object(json);
    bb_json_put_uint(json, "bbpaths_tail", 1);
    bb_chosen_write(findings->chosen, json);
    bb_json_put_share(json, "quantile", findings->quantile);
    bb_json_put_uint(json, "first_calls", findings->roots);
    bb_json_put_uint(json, "forgotten_first_calls", findings->forgotten);
    bb_json_put_uint(json, "forgotten_requests", findings->forgotten_instances);
    bb_json_newline(json);
    bb_json_key(json, "compared");
    bb_json_begin_array(json);
    for (guint i = 0; i < findings->compared->len; i++)
        write_root(json, g_ptr_array_index(findings->compared, i), names, ranks);
    bb_json_end_array(json);
    bb_json_end_object(json);
    (void)bb_json_finish(json); // the caller looks at ferror
}
