// SPDX-License-Identifier: Apache-2.0
// bbpaths tail. In: a trace. Out: how its slowest requests differ from the others.
#include "cli/inference.h"

#include "diagnose/tail.h"
#include "viz/ranking.h"

#include <stdio.h>
#include <string.h>

static const char program[] = "bbpaths tail";
static const char summary[] =
    "Compares the slowest requests with the others that have the same first call: what they call\n"
    "besides, where they wait longer, what fails, and how much of the difference each explains.";
static const char description[] =
    "bbpaths(1) tells more. Exit status: 0 done, 1 failed, 2 wrong usage.\n";

#define TOP_DEFAULT 5u // first calls

typedef struct {
    BbInference inference;
    char *format, *top_text;
    guint top;
    bool json;
    double quantile;
    const char *trace;
    BbNames *names;
    BbCounting *counting; // for the ranks of patterns
    BbTail *tail;
} Run;

static void run_clear(Run *run)
{
    bb_inference_clear(&run->inference);
    g_free(run->format);
    g_free(run->top_text);
    bb_names_free(run->names);
    bb_counting_free(run->counting);
    bb_tail_free(run->tail);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Run, run_clear)

static int check_options(Run *run, int argc, char **argv)
{
    if (argc != 2)
        return bb_say_usage(program, argc < 2 ? "which trace?" : "one trace at a time");
    run->trace = argv[1];
    run->json = run->format && strcmp(run->format, "json") == 0;
    if (run->format && !run->json && strcmp(run->format, "text") != 0)
        return bb_say_usage(program, "--format takes: text, json");
    if (run->top_text && !bb_parse_top(run->top_text, &run->top))
        return bb_say_usage(program, "--top takes a number or 'all', not '%s'", run->top_text);
    if (!(run->quantile >= 0.5 && run->quantile < 1))
        return bb_say_usage(program, "--quantile goes from 0.5 to below 1: 0.99");
    if (run->inference.merge_replicas)
        return bb_say_usage(program, "--merge-replicas is for patterns: tail goes by node");
    return bb_inference_check_calls(&run->inference, program);
}

// Returns an exit status, or -1 to go on.
static int parse_options(Run *run, int argc, char **argv)
{
    const GOptionEntry own[] = {
        {"format", 'f', 0, G_OPTION_ARG_STRING, &run->format,
         "Format of the findings: text (default), json", "FORMAT"},
        {"top", 'n', 0, G_OPTION_ARG_STRING, &run->top_text, "First calls in text (default: 5)",
         "N|all"},
        {"quantile", 0, 0, G_OPTION_ARG_DOUBLE, &run->quantile,
         "Requests slower than this quantile are slow (default: 0.99)", "Q"},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    g_autofree GOptionEntry *entries = bb_inference_join(own, &run->inference);
    int status = BB_EXIT_DONE;
    if (!bb_options_parse(program, "TRACE", summary, description, entries, &argc, &argv, &status))
        return status;
    return check_options(run, argc, argv);
}

static bool take_window(BbPaths *paths, gpointer user, GError **error)
{
    (void)error;
    bb_tail_add(((Run *)user)->tail, paths);
    return true;
}

static int print(const Run *run)
{
    g_autoptr(BbPatterns) patterns = bb_counting_finish(run->counting);
    g_autoptr(BbRanking) ranking =
        bb_ranking_new(patterns, run->names, &BB_VIEW_OPTIONS_DEFAULT, BB_TOP_ALL);
    g_autoptr(BbTailFindings) findings = bb_tail_finish(run->tail);
    BbTailRanks ranks = {ranking->rank, ranking->n_ranks};
    if (run->json)
        bb_tail_write_json(findings, run->names, ranks, stdout);
    else
        bb_tail_write_text(findings, run->names, ranks, run->top, stdout);
    return bb_end_stdout(BB_EXIT_DONE);
}

static int run_tail(int argc, char **argv)
{
    g_auto(Run) run = {.names = bb_names_new(), .top = TOP_DEFAULT, .quantile = 0.99};
    g_autoptr(GError) error = NULL;
    bb_inference_init(&run.inference);
    int status = parse_options(&run, argc, argv);
    if (status >= 0)
        return status;
    BbTailOptions options = {.labels = run.inference.nesting.labels,
                             .last_byte = run.inference.nesting.latency_last_byte,
                             .quantile = run.quantile};
    run.counting = bb_counting_new(&run.inference, run.names);
    run.tail = bb_tail_new(&options, run.names);
    BbInferenceUse use = {.paths = take_window, .user = &run, .counting = run.counting};
    if (bb_inference_run(&run.inference, run.trace, run.names, &use, &error))
        return print(&run);
    bb_say_error("%s", error->message);
    return BB_EXIT_FAILED;
}

const BbCommand bb_command_tail = {"tail", "TRACE", "Say how the slowest requests differ",
                                   run_tail};
