// SPDX-License-Identifier: Apache-2.0
// bbpaths tail. In: a trace. Out: how its slowest requests differ from the others.
#include "cli/finding.h"

#include "diagnose/tail.h"
#include "viz/ranking.h"

#include <stdio.h>

static const BbFindingAbout about = {
    .program = "bbpaths tail",
    .summary = "Compares the slowest requests with the others that have the same first call:\n"
               "what they call besides, where they wait longer, what fails, and how much of the\n"
               "difference each explains.",
    .format_about = "Format of the findings: text (default), json",
    .top_about = "First calls in text (default: 5)",
    .top = 5,
};

typedef struct {
    BbFinding finding;
    double quantile;
    gboolean any_client;
    BbCounting *counting; // for the ranks of patterns
    BbTail *tail;
} Run;

static void run_clear(Run *run)
{
    bb_finding_clear(&run->finding);
    bb_counting_free(run->counting);
    bb_tail_free(run->tail);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Run, run_clear)

// Returns an exit status, or -1 to go on.
static int parse_options(Run *run, int argc, char **argv)
{
    const GOptionEntry own[] = {
        {"quantile", 0, 0, G_OPTION_ARG_DOUBLE, &run->quantile,
         "Requests slower than this quantile are slow (default: 0.99)", "Q"},
        {"any-client", 0, 0, G_OPTION_ARG_NONE, &run->any_client, BB_FINDING_ANY_CLIENT, NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = bb_finding_parse(&run->finding, &about, own, argc, argv);
    if (status < 0 && !(run->quantile >= 0.5 && run->quantile < 1))
        return bb_say_usage(about.program, "--quantile goes from 0.5 to below 1: 0.99");
    return status;
}

static bool take_window(BbPaths *paths, gpointer user, GError **error)
{
    (void)error;
    bb_tail_add(((Run *)user)->tail, paths);
    return true;
}

static int print(const Run *run)
{
    const BbFinding *finding = &run->finding;
    g_autoptr(BbPatterns) patterns = bb_counting_finish(run->counting);
    g_autoptr(BbRanking) ranking =
        bb_ranking_new(patterns, finding->names, &BB_VIEW_OPTIONS_DEFAULT, BB_TOP_ALL);
    g_autoptr(BbTailFindings) findings = bb_tail_finish(run->tail);
    findings->chosen = &finding->chosen;
    BbTailRanks ranks = {ranking->rank, ranking->n_ranks};
    if (finding->json)
        bb_tail_write_json(findings, finding->names, ranks, stdout);
    else
        bb_tail_write_text(findings, finding->names, ranks, finding->top, stdout);
    if (!finding->json && findings->roots == 0)
        bb_finding_print_none(finding);
    return bb_end_stdout(BB_EXIT_DONE);
}

static int run_tail(int argc, char **argv)
{
    g_auto(Run) run = {.quantile = 0.99};
    BbFinding *finding = &run.finding;
    bb_finding_init(finding);
    int status = parse_options(&run, argc, argv);
    if (status >= 0)
        return status;
    BbTailOptions options = {.labels = finding->inference.nesting.labels,
                             .last_byte = finding->inference.nesting.latency_last_byte,
                             .any_client = run.any_client,
                             .quantile = run.quantile};
    run.counting = bb_counting_new(&finding->inference, finding->names);
    run.tail = bb_tail_new(&options, finding->names);
    BbInferenceUse use = {.paths = take_window, .user = &run, .counting = run.counting};
    status = bb_finding_run(finding, 0, &use);
    return status >= 0 ? status : print(&run);
}

const BbCommand bb_command_tail = {"tail", "TRACE", "Say how the slowest requests differ",
                                   run_tail};
