// SPDX-License-Identifier: Apache-2.0
// bbpaths blame. In: a trace. Out: which node costs the system most, doing what, called by whom.
#include "cli/inference.h"

#include "diagnose/blame.h"

#include <stdio.h>
#include <string.h>

static const char program[] = "bbpaths blame";
static const char summary[] =
    "Says which node costs the system most: the own work of nodes that requests wait for, summed\n"
    "over all of them by node, operation and chain of callers.";
static const char description[] =
    "bbpaths(1) tells more. Exit status: 0 done, 1 failed, 2 wrong usage.\n";

#define TOP_DEFAULT 15u // rows of each table

typedef struct {
    BbInference inference;
    char *format, *top_text;
    guint top;
    bool json;
    const char *trace;
    BbNames *names;
    BbBlame *blame;
} Run;

static void run_clear(Run *run)
{
    bb_inference_clear(&run->inference);
    g_free(run->format);
    g_free(run->top_text);
    bb_names_free(run->names);
    bb_blame_free(run->blame);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Run, run_clear)

// Returns an exit status, or -1 to go on.
static int parse_options(Run *run, int argc, char **argv)
{
    const GOptionEntry own[] = {
        {"format", 'f', 0, G_OPTION_ARG_STRING, &run->format,
         "Format of the tables: text (default), json", "FORMAT"},
        {"top", 'n', 0, G_OPTION_ARG_STRING, &run->top_text,
         "Rows of each table in text (default: 15)", "N|all"},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    g_autofree GOptionEntry *entries = bb_inference_join(own, &run->inference);
    int status = BB_EXIT_DONE;
    if (!bb_options_parse(program, "TRACE", summary, description, entries, &argc, &argv, &status))
        return status;
    if (argc != 2)
        return bb_say_usage(program, argc < 2 ? "which trace?" : "one trace at a time");
    run->trace = argv[1];
    run->json = run->format && strcmp(run->format, "json") == 0;
    if (run->format && !run->json && strcmp(run->format, "text") != 0)
        return bb_say_usage(program, "--format takes: text, json");
    if (run->top_text && !bb_parse_top(run->top_text, &run->top))
        return bb_say_usage(program, "--top takes a number or 'all', not '%s'", run->top_text);
    if (run->inference.merge_replicas)
        return bb_say_usage(program, "--merge-replicas is for patterns: blame goes by node");
    return bb_inference_check_calls(&run->inference, program);
}

static bool take_window(BbPaths *paths, gpointer user, GError **error)
{
    (void)error;
    bb_blame_add(((Run *)user)->blame, paths);
    return true;
}

static int print(const Run *run)
{
    g_autoptr(BbBlameFindings) findings = bb_blame_finish(run->blame);
    if (run->json)
        bb_blame_write_json(findings, run->names, stdout);
    else
        bb_blame_write_text(findings, run->names, run->top, stdout);
    return bb_end_stdout(BB_EXIT_DONE);
}

static int run_blame(int argc, char **argv)
{
    g_auto(Run) run = {.names = bb_names_new(), .top = TOP_DEFAULT};
    g_autoptr(GError) error = NULL;
    bb_inference_init(&run.inference);
    int status = parse_options(&run, argc, argv);
    if (status >= 0)
        return status;
    BbBlameOptions options = {.labels = run.inference.nesting.labels,
                              .last_byte = run.inference.nesting.latency_last_byte};
    run.blame = bb_blame_new(&options, run.names);
    BbInferenceUse use = {.paths = take_window, .user = &run};
    if (bb_inference_run(&run.inference, run.trace, run.names, &use, &error))
        return print(&run);
    bb_say_error("%s", error->message);
    return BB_EXIT_FAILED;
}

const BbCommand bb_command_blame = {"blame", "TRACE", "Say which node costs most, called by whom",
                                    run_blame};
