// SPDX-License-Identifier: Apache-2.0
// bbpaths blame. In: a trace. Out: which node costs the system most, doing what, called by whom.
#include "cli/finding.h"

#include "diagnose/blame.h"

#include <stdio.h>

static const BbFindingAbout about = {
    .program = "bbpaths blame",
    .summary = "Says which node costs the system most: the own work of nodes that requests wait\n"
               "for, summed over all of them by node, operation and chain of callers.",
    .format_about = "Format of the tables: text (default), json",
    .top_about = "Rows of each table in text (default: 15)",
    .top = 15,
};

typedef struct {
    BbFinding finding;
    BbBlame *blame;
    BbNetwork *network;
    gboolean any_client;
} Run;

static void run_clear(Run *run)
{
    bb_finding_clear(&run->finding);
    bb_blame_free(run->blame);
    bb_network_free(run->network);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Run, run_clear)

static bool take_window(BbPaths *paths, gpointer user, GError **error)
{
    (void)error;
    bb_blame_add(((Run *)user)->blame, paths);
    return true;
}

static int print(const Run *run)
{
    const BbFinding *finding = &run->finding;
    g_autoptr(BbBlameFindings) findings = bb_blame_finish(run->blame);
    findings->chosen = &finding->chosen;
    findings->network = run->network;
    if (finding->json)
        bb_blame_write_json(findings, finding->names, stdout);
    else
        bb_blame_write_text(findings, finding->names, finding->top, stdout);
    if (!finding->json && findings->instances == 0)
        bb_finding_print_none(finding);
    return bb_end_stdout(BB_EXIT_DONE);
}

static int run_blame(int argc, char **argv)
{
    g_auto(Run) run = {0};
    BbFinding *finding = &run.finding;
    const GOptionEntry own[] = {
        {"any-client", 0, 0, G_OPTION_ARG_NONE, &run.any_client, BB_FINDING_ANY_CLIENT, NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    bb_finding_init(finding);
    int status = bb_finding_parse(finding, &about, own, argc, argv);
    if (status >= 0)
        return status;
    BbBlameOptions options = {.labels = finding->inference.nesting.labels,
                              .last_byte = finding->inference.nesting.latency_last_byte,
                              .any_client = run.any_client};
    run.blame = bb_blame_new(&options, finding->names);
    run.network = bb_network_new();
    BbInferenceUse use = {.paths = take_window, .user = &run, .network = run.network};
    status = bb_finding_run(finding, 0, &use);
    return status >= 0 ? status : print(&run);
}

const BbCommand bb_command_blame = {"blame", "TRACE", "Say which node costs most, called by whom",
                                    run_blame};
