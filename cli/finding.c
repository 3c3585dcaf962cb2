// SPDX-License-Identifier: Apache-2.0
// In: argv of a command that tells findings. Out: its options, and the paths of the trace.
#include "cli/finding.h"

#include "viz/summary.h"

#include <stdio.h>
#include <string.h>

static const char description[] =
    "bbpaths(1) tells more. Exit status: 0 done, 1 failed, 2 wrong usage.\n";

void bb_finding_init(BbFinding *finding)
{
    *finding = (BbFinding){.names = bb_names_new()};
    bb_inference_init(&finding->inference);
}

void bb_finding_clear(BbFinding *finding)
{
    bb_inference_clear(&finding->inference);
    g_free(finding->format);
    g_free(finding->top_text);
    g_free(finding->at_text);
    bb_names_free(finding->names);
}

static int check_traces(BbFinding *finding, const BbFindingAbout *about, int argc, char **argv)
{
    bool two = about->two && !finding->at_text;
    if (two && argc != 3)
        return bb_say_usage(about->program, "which two traces? First the one before; or one, and "
                                            "--at=TIME, which parts it");
    if (two && strcmp(argv[1], "-") == 0 && strcmp(argv[2], "-") == 0)
        return bb_say_usage(about->program, "one of the traces may be standard input, not both");
    if (about->two && !two && argc > 2)
        return bb_say_usage(about->program, "--at parts one trace, and there are %d", argc - 1);
    if (!two && argc != 2)
        return bb_say_one_trace(about->program, argc < 2);
    finding->at_ns = BB_TIME_NONE;
    if (finding->at_text && !bb_parse_time(finding->at_text, &finding->at_ns))
        return bb_say_usage(about->program,
                            "--at takes a time such as 2026-11-20T08:54:30.5 or seconds since "
                            "1970, not '%s'",
                            finding->at_text);
    return -1;
}

static int check(BbFinding *finding, const BbFindingAbout *about, int argc, char **argv)
{
    int status = check_traces(finding, about, argc, argv);
    if (status >= 0)
        return status;
    for (int i = 1; i < argc; i++)
        finding->trace[i - 1] = argv[i];
    finding->json = finding->format && strcmp(finding->format, "json") == 0;
    finding->top = about->top;
    if (finding->format && !finding->json && strcmp(finding->format, "text") != 0)
        return bb_say_usage(about->program, "--format takes: text, json");
    if (finding->top_text && !bb_parse_top(finding->top_text, &finding->top))
        return bb_say_usage(about->program, "--top takes a number or 'all', not '%s'",
                            finding->top_text);
    return bb_inference_check_calls(&finding->inference, about->program);
}

// own and inference's, after those that all findings have. The caller frees the array.
static GOptionEntry *join_entries(BbFinding *finding, const BbFindingAbout *about,
                                  const GOptionEntry *own)
{
    const GOptionEntry common[] = {
        {"format", 'f', 0, G_OPTION_ARG_STRING, &finding->format, about->format_about, "FORMAT"},
        {"top", 'n', 0, G_OPTION_ARG_STRING, &finding->top_text, about->top_about, "N|all"},
    };
    g_autoptr(GArray) entries = g_array_new(TRUE, FALSE, sizeof(GOptionEntry));
    g_array_append_vals(entries, common, G_N_ELEMENTS(common));
    for (; own->long_name; own++)
        g_array_append_val(entries, *own);
    return bb_inference_join((const GOptionEntry *)(gconstpointer)entries->data,
                             &finding->inference);
}

int bb_finding_parse(BbFinding *finding, const BbFindingAbout *about, const GOptionEntry *own,
                     int argc, char **argv)
{
    int status = BB_EXIT_DONE;
    g_autofree GOptionEntry *entries = join_entries(finding, about, own);
    bool go_on = bb_options_parse(about->program, about->two ? "BEFORE AFTER" : "TRACE",
                                  about->summary, description, entries, &argc, &argv, &status);
    return go_on ? check(finding, about, argc, argv) : status;
}

int bb_finding_run(BbFinding *finding, guint trace, BbInferenceUse *use)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *subject = g_strdup_printf("%s: ", finding->trace[trace]);
    use->chosen = &finding->chosen;
    use->facts = &finding->facts;
    bb_say_of(finding->trace[1] ? subject : NULL);
    bool done =
        bb_inference_run(&finding->inference, finding->trace[trace], finding->names, use, &error);
    bb_say_of(NULL);
    if (done)
        return -1;
    bb_say_error("%s", error->message);
    return BB_EXIT_FAILED;
}

void bb_finding_print_none(const BbFinding *finding)
{
    printf("No requests: %s\n", bb_summary_none(&finding->facts, false));
}
