// SPDX-License-Identifier: Apache-2.0
// bbpaths compare. In: two traces of one system. Out: what takes longer in the second one, and why.
#include "cli/finding.h"

#include "data/quantity.h"
#include "diagnose/compare.h"

#include <stdio.h>

static const BbFindingAbout about = {
    .program = "bbpaths compare",
    .summary = "Compares the requests of two traces of a system, as before and after a change,\n"
               "or of one trace before and after a time (--at),\n"
               "first call by first call: what takes longer, what is called that was not, what\n"
               "fails, and how much of the difference each explains. What may be chance is left\n"
               "out.",
    .format_about = "Format of the findings: text (default), json",
    .top_about = "First calls in text (default: 5)",
    .top = 5,
    .two = true,
};

typedef struct {
    BbFinding finding;
    BbCompare *compare;
    BbCompareSide side;
    BbChosen chosen[BB_COMPARE_SIDES];
} Run;

static void run_clear(Run *run)
{
    bb_finding_clear(&run->finding);
    bb_compare_free(run->compare);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Run, run_clear)

static bool take_window(BbPaths *paths, gpointer user, GError **error)
{
    Run *run = user;
    (void)error;
    if (run->finding.at_ns != BB_TIME_NONE)
        bb_compare_add_at(run->compare, run->finding.at_ns, paths);
    else
        bb_compare_add(run->compare, run->side, paths);
    return true;
}

static int read_trace(Run *run, BbCompareSide side)
{
    BbInferenceUse use = {.paths = take_window, .user = run};
    run->side = side;
    int status = bb_finding_run(&run->finding, side, &use);
    run->chosen[side] = run->finding.chosen;
    return status;
}

// A trace that is parted is the first one.
static int read_all(Run *run)
{
    int status = read_trace(run, BB_COMPARE_BEFORE);
    return status >= 0 || !run->finding.trace[BB_COMPARE_AFTER] ? status
                                                                : read_trace(run, BB_COMPARE_AFTER);
}

// A time of another year or zone parts nothing.
static void warn_of_empty_side(const BbCompareFindings *findings)
{
    for (guint side = 0; side < BB_COMPARE_SIDES; side++) {
        const BbCompareTotal *rest = &findings->total[BB_COMPARE_SIDES - 1 - side];
        if (findings->total[side].requests > 0 || rest->requests == 0)
            continue;
        g_autoptr(GString) text = g_string_new(NULL);
        bb_quantity_append_time(text, rest->start_ns);
        g_string_append(text, " to ");
        bb_quantity_append_time(text, rest->end_ns);
        bb_say("warning: all requests begin %s that time: they are of %s",
               side == BB_COMPARE_BEFORE ? "at or after" : "before", text->str);
    }
}

static int print(const Run *run)
{
    const BbFinding *finding = &run->finding;
    g_autoptr(BbCompareFindings) findings = bb_compare_finish(run->compare);
    bool one = finding->at_ns != BB_TIME_NONE;
    findings->at_ns = finding->at_ns;
    for (guint side = 0; side < BB_COMPARE_SIDES; side++) {
        guint from = one ? BB_COMPARE_BEFORE : side;
        findings->trace[side] = finding->trace[from];
        findings->chosen[side] = &run->chosen[from];
    }
    if (one)
        warn_of_empty_side(findings);
    if (finding->json)
        bb_compare_write_json(findings, finding->names, stdout);
    else
        bb_compare_write_text(findings, finding->names, finding->top, stdout);
    return bb_end_stdout(BB_EXIT_DONE);
}

static int run_compare(int argc, char **argv)
{
    g_auto(Run) run = {0};
    BbFinding *finding = &run.finding;
    const GOptionEntry own[] = {
        {"at", 0, 0, G_OPTION_ARG_STRING, &finding->at_text,
         "Compare requests of one trace from this time on with those before it", "TIME"},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    bb_finding_init(finding);
    int status = bb_finding_parse(finding, &about, own, argc, argv);
    if (status >= 0)
        return status;
    BbCompareOptions options = {.labels = finding->inference.nesting.labels,
                                .last_byte = finding->inference.nesting.latency_last_byte};
    run.compare = bb_compare_new(&options, finding->names);
    status = read_all(&run);
    return status >= 0 ? status : print(&run);
}

const BbCommand bb_command_compare = {"compare", "BEFORE AFTER",
                                      "Say what differs between two traces", run_compare};
