// SPDX-License-Identifier: Apache-2.0
// bbpaths report. In: a trace. Out: one page of HTML with what the other commands tell: patterns,
// who costs most, what the slowest requests have that others have not.
#include "cli/inference.h"

#include "data/outfile.h"
#include "diagnose/blame.h"
#include "diagnose/tail.h"
#include "viz/page.h"
#include "viz/ranking.h"
#include "viz/summary.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLAME_ROWS 30u
#define TAIL_ROOTS 5u
#define PICTURE_MOST 3000u // calls; Graphviz takes some seconds for these, and hours for ten times
#define TAIL_QUANTILE 0.99

static const char program[] = "bbpaths report";
static const char summary[] =
    "Writes one page of HTML that can be handed on: the costliest paths, drawn and in figures;\n"
    "which node costs most, called by whom; how the slowest requests differ from the others.";
static const char description[] =
    "bbpaths(1) tells more. Exit status: 0 done, 1 failed, 2 wrong usage.\n";

typedef struct {
    BbInference inference;
    char *out, *top_text, *title;
    guint top;
    const char *trace;
    BbNames *names;
    BbCounting *counting;
    BbBlame *blame; // NULL where paths are not of calls with returns, as tail
    BbTail *tail;
    BbNetwork *network;
    BbChosen chosen;
} Run;

static void run_clear(Run *run)
{
    bb_inference_clear(&run->inference);
    g_free(run->out);
    g_free(run->top_text);
    g_free(run->title);
    bb_counting_free(run->counting);
    bb_blame_free(run->blame);
    bb_tail_free(run->tail);
    bb_network_free(run->network);
    bb_names_free(run->names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Run, run_clear)

// ---- options -----------------------------------------------------------------------------------

static int check(Run *run)
{
    int status = bb_inference_check(&run->inference, program);
    if (status >= 0)
        return status;
    if (run->top_text && !bb_parse_top(run->top_text, &run->top))
        return bb_say_usage(program, "--top takes a number or 'all', not '%s'", run->top_text);
    if (bb_is_stdout(run->out) && isatty(STDOUT_FILENO))
        return bb_say_usage(program, "a page is not for a terminal: give -o FILE");
    return bb_inference_check_output(&run->inference, program, run->trace, run->out);
}

// Returns an exit status, or -1 to go on.
static int parse_options(Run *run, int argc, char **argv)
{
    const GOptionEntry own[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &run->out, "Write the page here", "FILE"},
        {"top", 'n', 0, G_OPTION_ARG_STRING, &run->top_text, "Patterns to show (default: 10)",
         "N|all"},
        {"title", 0, 0, G_OPTION_ARG_STRING, &run->title,
         "Title of the page (default: the name of the trace)", "TEXT"},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = BB_EXIT_DONE;
    g_autofree GOptionEntry *entries = bb_inference_join(own, &run->inference);
    if (!bb_options_parse(program, "TRACE", summary, description, entries, &argc, &argv, &status))
        return status;
    if (argc != 2)
        return bb_say_one_trace(program, argc < 2);
    run->trace = argv[1];
    return check(run);
}

// ---- the page ----------------------------------------------------------------------------------

typedef struct {
    const Run *run;
    const BbPatterns *patterns;
    BbPage *page;
} Report;

// What was written to the stream of a text, as a string of the caller's.
typedef struct {
    FILE *stream;
    char *text;
    size_t length;
} Text;

static void text_begin(Text *text)
{
    *text = (Text){0};
    text->stream = open_memstream(&text->text, &text->length);
    if (!text->stream)
        g_error("no memory for a page");
}

static const char *text_end(Text *text)
{
    fclose(text->stream);
    text->stream = NULL;
    return text->text;
}

static void text_clear(Text *text)
{
    if (text->stream)
        fclose(text->stream);
    free(text->text);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Text, text_clear)

static void put_blame(const Report *report)
{
    const Run *run = report->run;
    g_autoptr(BbBlameFindings) findings = bb_blame_finish(run->blame);
    g_auto(Text) text = {0};
    findings->chosen = &run->chosen;
    findings->network = run->network;
    text_begin(&text);
    bb_blame_write_text(findings, run->names, BLAME_ROWS, text.stream);
    bb_page_heading(report->page, "Which node costs most, called by whom");
    bb_page_sentence(report->page,
                     "Waited: how long clients waited for the own work of a node, summed over all "
                     "requests (critical path). \"bbpaths blame\" tells what is left out here.");
    bb_page_table(report->page, text_end(&text));
}

static void put_tail(const Report *report)
{
    const Run *run = report->run;
    g_autoptr(BbTailFindings) findings = bb_tail_finish(run->tail);
    g_autoptr(BbRanking) ranking =
        bb_ranking_new(report->patterns, run->names, &BB_VIEW_OPTIONS_DEFAULT, BB_TOP_ALL);
    BbTailRanks ranks = {ranking->rank, ranking->n_ranks};
    g_auto(Text) text = {0};
    findings->chosen = &run->chosen;
    text_begin(&text);
    bb_tail_write_text(findings, run->names, ranks, TAIL_ROOTS, text.stream);
    bb_page_heading(report->page, "How the slowest requests differ from the others");
    bb_page_sentence(
        report->page,
        "A number like i17 is that of one request: \"bbpaths show i17\", with the same "
        "trace and options, tells what happened in it.");
    bb_page_table(report->page, text_end(&text));
}

static bool put_view(const Report *report, const char *format,
                     void (*put)(BbPage *page, const char *text), GError **error)
{
    const Run *run = report->run;
    BbViewOptions options = BB_VIEW_OPTIONS_DEFAULT;
    BbProgress progress = bb_progress_start(run->inference.quiet);
    g_auto(Text) text = {0};
    options.top = run->top;
    options.network = run->network;
    options.chosen = &run->chosen;
    options.laying = bb_say_layout;
    options.user = &progress;
    text_begin(&text);
    bool written = bb_view_write(bb_view_format_find(format), report->patterns, run->names,
                                 &options, text.stream, error);
    bb_progress_end(&progress);
    if (!written)
        return false;
    put(report->page, text_end(&text));
    return true;
}

// Calls of the patterns that the picture would show.
static guint64 picture_size(const Report *report)
{
    BbViewOptions options = BB_VIEW_OPTIONS_DEFAULT;
    options.top = report->run->top;
    g_autoptr(BbRanking) ranking = bb_ranking_new(report->patterns, report->run->names, &options,
                                                  bb_view_format_find("svg")->top);
    guint64 size = 0;
    for (guint i = 0; i < ranking->n_shown; i++)
        size += bb_pattern_size(ranking->shown[i]);
    return size;
}

static void say_no_picture(const Report *report, guint64 size)
{
    g_autofree char *calls = bb_number(size);
    g_autofree char *text =
        g_strdup_printf("There is no picture: of the %s calls that these patterns have, little "
                        "could be read in one. Fewer patterns may be shown (--top).",
                        calls);
    bb_page_sentence(report->page, text);
}

static bool put_patterns(const Report *report, GError **error)
{
    guint64 size = picture_size(report);
    bb_page_heading(report->page, "The paths that cost most");
    if (size > PICTURE_MOST) {
        say_no_picture(report, size);
    } else if (size > 0) {
        bb_page_sentence(report->page,
                         "A box is who asked, an ellipse a node on the way with all it calls; the "
                         "darker, the longer was waited for it. Details show where the mouse is.");
        if (!put_view(report, "svg", bb_page_picture, error))
            return false;
    }
    return put_view(report, "text", bb_page_table, error);
}

static bool put_page(const Run *run, const BbPatterns *patterns, FILE *out, GError **error)
{
    bool is_stdin = strcmp(run->trace, "-") == 0;
    g_autofree char *name = is_stdin ? g_strdup("standard input") : g_path_get_basename(run->trace);
    g_autoptr(BbPage) page = bb_page_new(out, run->title ? run->title : name);
    g_autoptr(GString) text = g_string_new(NULL);
    const Report report = {run, patterns, page};
    bb_summary_append_trace(text, patterns);
    bb_page_sentence(page, text->str);
    if (run->blame && patterns->patterns->len > 0) {
        put_blame(&report);
        put_tail(&report);
    }
    bool good = put_patterns(&report, error);
    bb_page_sentence(page,
                     "Made by bbpaths " BB_VERSION
                     " from messages alone: causes are inferred, and how sure they are is said "
                     "above. \"bbtrace info\" tells how far the trace itself is to be trusted.");
    return good;
}

// ---- the work ----------------------------------------------------------------------------------

static bool take_window(BbPaths *paths, gpointer user, GError **error)
{
    Run *run = user;
    (void)error;
    if (run->blame) {
        bb_blame_add(run->blame, paths);
        bb_tail_add(run->tail, paths);
    }
    return true;
}

static void start(Run *run)
{
    const BbInference *inference = &run->inference;
    bool labels = inference->nesting.labels, last_byte = inference->nesting.latency_last_byte;
    run->counting = bb_counting_new(inference, run->names);
    run->network = bb_network_new();
    if (!bb_inference_has_calls(inference))
        return;
    run->blame =
        bb_blame_new(&(BbBlameOptions){.labels = labels, .last_byte = last_byte}, run->names);
    run->tail = bb_tail_new(
        &(BbTailOptions){.labels = labels, .last_byte = last_byte, .quantile = TAIL_QUANTILE},
        run->names);
}

static bool infer(Run *run, GError **error)
{
    BbInferenceUse use = {.paths = take_window,
                          .user = run,
                          .counting = run->counting,
                          .network = run->network,
                          .chosen = &run->chosen};
    return bb_inference_run(&run->inference, run->trace, run->names, &use, error);
}

static bool write_page(Run *run, GError **error)
{
    g_autoptr(BbPatterns) patterns = bb_counting_finish(run->counting);
    g_autoptr(BbOutfile) file = bb_outfile_open(bb_is_stdout(run->out) ? "-" : run->out, error);
    return file && put_page(run, patterns, bb_outfile_stream(file), error) &&
           bb_outfile_close(file, error);
}

static int run_report(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_auto(Run) run = {.top = BB_TOP_OF_FORMAT, .names = bb_names_new()};
    bb_inference_init(&run.inference);
    int status = parse_options(&run, argc, argv);
    if (status >= 0)
        return status;
    start(&run);
    if (infer(&run, &error) && write_page(&run, &error))
        return BB_EXIT_DONE;
    bb_say_error("%s", error->message);
    return BB_EXIT_FAILED;
}

const BbCommand bb_command_report = {"report", "TRACE", "Write all of it as one page of HTML",
                                     run_report};
