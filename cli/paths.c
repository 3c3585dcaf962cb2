// SPDX-License-Identifier: Apache-2.0
// The main work of bbpaths. In: a message trace. Out: the causal path patterns in it, as a picture,
// a table or data; its path instances.
#include "cli/paths.h"

#include "cli/inference.h"
#include "data/node_set.h"
#include "data/outfile.h"
#include "viz/instances.h"
#include "viz/phases.h"
#include "viz/view.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char program[] = "bbpaths";
static const char summary[] =
    "Infers which message caused which from nothing but who sent what to whom when, and shows the\n"
    "causal path patterns that cost the most time, with the delay of every node.";

typedef struct Options {
    BbInference inference;
    char *format_name, *out, *instances, *form_name, *phases, *top, *sort, *min_share;
    gint64 min_count;
    BbViewOptions view;
    const BbViewFormat *format;
    const BbInstanceForm *form; // of instances
    const char *trace;
} Options;

static void options_clear(Options *o)
{
    char *owned[] = {o->format_name, o->out, o->instances, o->form_name,
                     o->phases,      o->top, o->sort,      o->min_share};
    for (gsize i = 0; i < G_N_ELEMENTS(owned); i++)
        g_free(owned[i]);
    bb_inference_clear(&o->inference);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

// ---- options -----------------------------------------------------------------------------------

static char *format_names(void)
{
    gsize count = 0;
    const BbViewFormat *formats = bb_view_formats(&count);
    GString *names = g_string_new(NULL);
    for (gsize i = 0; i < count; i++)
        g_string_append_printf(names, "%s%s", i ? ", " : "", formats[i].name);
    return g_string_free(names, FALSE);
}

static char *describe(void)
{
    gsize count = 0;
    const BbViewFormat *formats = bb_view_formats(&count);
    GString *text = g_string_new("Formats (-o takes them from the ending of FILE too):\n");
    for (gsize i = 0; i < count; i++)
        g_string_append_printf(text, "  %-6s %s\n", formats[i].name, formats[i].about);
    g_string_append(text, "\nForms of path instances:\n");
    for (gsize i = 0; bb_instance_forms[i]; i++)
        g_string_append_printf(text, "  %-6s %s\n", bb_instance_forms[i]->name,
                               bb_instance_forms[i]->about);
    if (bb_paths_commands[0])
        g_string_append(text, "\nOther commands (bbpaths COMMAND --help):\n");
    for (gsize i = 0; bb_paths_commands[i]; i++)
        g_string_append_printf(text, "  %-6s  %s\n", bb_paths_commands[i]->name,
                               bb_paths_commands[i]->summary);
    g_string_append(text,
                    "\nbbpaths(1) tells more. Exit status: 0 done, 1 failed, 2 wrong usage.\n");
    return g_string_free(text, FALSE);
}

static int choose_format(Options *o)
{
    o->format = bb_view_formats(&(gsize){0});
    if (o->out && !o->format_name && strcmp(o->out, "-") != 0)
        o->format = bb_view_format_of_file(o->out);
    if (o->format_name)
        o->format = bb_view_format_find(o->format_name);
    if (o->format)
        return -1;
    g_autofree char *names = format_names();
    if (o->format_name)
        return bb_say_usage(program, "there is no format '%s': %s", o->format_name, names);
    return bb_say_usage(program, "the ending of '%s' names no format: give --format (%s)", o->out,
                        names);
}

static int choose_form(Options *o)
{
    o->form = bb_instance_forms[0];
    if (!o->form_name)
        return -1;
    o->form = bb_instance_form_find(o->form_name);
    if (!o->instances)
        return bb_say_usage(program, "--instances-format needs --instances=FILE");
    if (o->form)
        return -1;
    g_autoptr(GString) names = g_string_new(NULL);
    for (gsize i = 0; bb_instance_forms[i]; i++)
        g_string_append_printf(names, "%s%s", i ? ", " : "", bb_instance_forms[i]->name);
    return bb_say_usage(program, "--instances-format takes: %s", names->str);
}

// No output goes where another one does, or over the trace or the roles.
static int check_outputs(const Options *o)
{
    const struct {
        const char *what, *path;
    } outputs[] = {
        {"patterns", o->out ? o->out : "-"}, {"instances", o->instances}, {"phases", o->phases}};
    for (gsize i = 0; i < G_N_ELEMENTS(outputs); i++) {
        const char *path = outputs[i].path;
        int status = bb_inference_check_output(&o->inference, program, o->trace, path);
        if (status >= 0)
            return status;
        for (gsize j = 0; j < i && path; j++)
            if (outputs[j].path && bb_is_same_output(path, outputs[j].path))
                return bb_say_usage(program, "%s and %s cannot both go to %s", outputs[j].what,
                                    outputs[i].what,
                                    bb_is_stdout(path) ? "standard output: give -o FILE" : path);
    }
    return -1;
}

// "0.01" or "1%".
static bool parse_share(const char *text, double *share)
{
    char *end = NULL;
    double value = g_ascii_strtod(text, &end);
    if (strcmp(end, "%") == 0)
        value /= 100;
    *share = value;
    return end != text && (*end == '\0' || strcmp(end, "%") == 0) && value >= 0 && value <= 1;
}

static int check_view(Options *o)
{
    if (o->top && !bb_parse_top(o->top, &o->view.top))
        return bb_say_usage(program, "--top takes a number or 'all', not '%s'", o->top);
    if (o->sort && !bb_sort_key_find(o->sort, &o->view.sort))
        return bb_say_usage(program, "--sort takes: " BB_SORT_KEYS);
    if (o->min_count < 0)
        return bb_say_usage(program, "--min-count takes a number that is not negative");
    if (o->min_share && !parse_share(o->min_share, &o->view.min_share))
        return bb_say_usage(program, "--min-share '%s' is no share from 0 to 1, like 0.01 or 1%%",
                            o->min_share);
    if ((o->instances || o->phases) && !bb_inference_has_instances(&o->inference))
        return bb_say_usage(program,
                            "--explain=paper finds no instances to write: leave %s out, "
                            "or use --explain=messages",
                            o->instances ? "--instances" : "--phases");
    o->view.min_count = (guint64)o->min_count;
    int status = check_outputs(o);
    if (status < 0)
        status = choose_format(o);
    if (status < 0)
        status = choose_form(o);
    if (status >= 0)
        return status;
    if (bb_is_stdout(o->out) && o->format->binary && isatty(STDOUT_FILENO))
        return bb_say_usage(program, "%s is not for a terminal: give -o FILE", o->format->name);
    return -1;
}

// "no command matches 'sho': near that is show". The result is yours; NULL where that can be said
// of no word like this.
static char *name_command(const char *word)
{
    if (strpbrk(word, "*?[,"))
        return NULL;
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodeSet) set = bb_node_set_new_of(names, "command");
    for (gsize i = 0; bb_paths_commands[i]; i++)
        bb_node_set_add(set, bb_names_intern(names, bb_paths_commands[i]->name));
    return bb_node_set_miss(set, word);
}

// There is not one trace; a command may stand behind options.
static int refuse_arguments(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        for (gsize k = 0; bb_paths_commands[k]; k++)
            if (strcmp(argv[i], bb_paths_commands[k]->name) == 0)
                return bb_say_usage(program, "a command comes before its options: bbpaths %s ...",
                                    argv[i]);
    if (argc > 2 && strcmp(argv[1], "-") != 0 && !g_file_test(argv[1], G_FILE_TEST_EXISTS)) {
        g_autofree char *miss = name_command(argv[1]);
        if (miss)
            return bb_say_usage(program, "there is no trace '%s', and %s", argv[1], miss);
    }
    return bb_say_one_trace(program, argc < 2);
}

// Returns an exit status, or -1 to go on.
static int parse_options(Options *o, int argc, char **argv)
{
    gboolean version = FALSE;
    const GOptionEntry own[] = {
        {"format", 'f', 0, G_OPTION_ARG_STRING, &o->format_name, "Format of the patterns",
         "FORMAT"},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &o->out, "Write the patterns here", "FILE"},
        {"instances", 0, 0, G_OPTION_ARG_FILENAME, &o->instances, "Write every path instance here",
         "FILE"},
        {"instances-format", 0, 0, G_OPTION_ARG_STRING, &o->form_name,
         "Form of path instances (default: jsonl)", "FORM"},
        {"phases", 0, 0, G_OPTION_ARG_FILENAME, &o->phases,
         "Write how much there was of each pattern in each window here", "FILE"},
        {"top", 'n', 0, G_OPTION_ARG_STRING, &o->top,
         "Patterns to show (default: 10 in pictures and text, all in data)", "N|all"},
        {"sort", 0, 0, G_OPTION_ARG_STRING, &o->sort,
         "Order of patterns by: total (latency, default of nesting), count (of convolution), mean "
         "(latency)",
         "KEY"},
        {"min-count", 0, 0, G_OPTION_ARG_INT64, &o->min_count,
         "Leave out patterns with fewer instances", "N"},
        {"min-share", 0, 0, G_OPTION_ARG_STRING, &o->min_share,
         "Leave out patterns with a smaller share of all instances (default: 0.5% of convolution "
         "in pictures and text)",
         "SHARE"},
        {"version", 0, 0, G_OPTION_ARG_NONE, &version, "Print the version", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = BB_EXIT_DONE;
    g_autofree GOptionEntry *entries = bb_inference_join(own, &o->inference);
    g_autofree char *description = describe();
    if (!bb_options_parse(program, "TRACE", summary, description, entries, &argc, &argv, &status))
        return status;
    if (version) {
        puts("bbpaths " BB_VERSION);
        return bb_end_stdout(BB_EXIT_DONE);
    }
    if (argc != 2)
        return refuse_arguments(argc, argv);
    o->trace = argv[1];
    status = bb_inference_check(&o->inference, program);
    return status >= 0 ? status : check_view(o);
}

// ---- the work ----------------------------------------------------------------------------------

typedef struct {
    BbCounting *counting;
    BbInstances *instances; // NULL where nobody asked for them
    BbPhases *phases;       // likewise
} Work;

static void work_clear(Work *work)
{
    bb_counting_free(work->counting);
    bb_instances_free(work->instances);
    bb_phases_free(work->phases);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Work, work_clear)

static bool take_paths(BbPaths *paths, gpointer user, GError **error)
{
    Work *work = user;
    return (!work->instances || bb_instances_add(work->instances, paths, error)) &&
           (!work->phases || bb_phases_add(work->phases, paths, error));
}

// The end of a run: what is written, and into what.
typedef struct {
    const Options *options;
    const Work *work;
    const BbNames *names;
    const BbPatterns *patterns;
    const BbNetwork *network;
    const BbChosen *chosen;
} Results;

static bool write_patterns(const Results *results, FILE *out, GError **error)
{
    const Options *o = results->options;
    BbViewOptions view = o->view;
    double shrunk = 1;
    BbProgress progress = bb_progress_start(o->inference.quiet);
    view.network = results->network;
    view.chosen = results->chosen;
    view.shrunk = &shrunk;
    view.laying = bb_say_layout;
    view.user = &progress;
    bool written = bb_view_write(o->format, results->patterns, results->names, &view, out, error);
    bb_progress_end(&progress);
    if (shrunk < 1)
        bb_say("warning: the picture is too large for %s and drawn at %.0f %% of its size: use "
               "--format svg, or show fewer patterns (--top)",
               o->format->name, 100 * shrunk);
    return written;
}

static bool write_instances(const Results *results, FILE *out, GError **error)
{
    return bb_instances_write(results->work->instances, results->patterns, &results->options->view,
                              out, error);
}

static bool write_phases(const Results *results, FILE *out, GError **error)
{
    return bb_phases_write(results->work->phases, results->patterns, results->names,
                           &results->options->view, out, error);
}

static bool write_file(const char *path, bool (*write)(const Results *, FILE *, GError **),
                       const Results *results, GError **error)
{
    g_autoptr(BbOutfile) file = bb_outfile_open(bb_is_stdout(path) ? "-" : path, error);
    if (!file)
        return false;
    if (write(results, bb_outfile_stream(file), error))
        return bb_outfile_close(file, error);
    g_prefix_error(error, "%s: ", bb_outfile_name(file));
    return false;
}

static bool write_results(const Results *results, GError **error)
{
    const Options *o = results->options;
    return (!o->instances || write_file(o->instances, write_instances, results, error)) &&
           (!o->phases || write_file(o->phases, write_phases, results, error)) &&
           write_file(o->out, write_patterns, results, error);
}

static int infer(Options *o)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(BbNames) names = bb_names_new();
    g_auto(Work) work = {
        .counting = bb_counting_new(&o->inference, names),
        .instances =
            o->instances ? bb_instances_new(o->form, names, o->inference.census.last_byte) : NULL,
        .phases = o->phases ? bb_phases_new(o->inference.census.last_byte) : NULL,
    };
    g_autoptr(BbNetwork) network = bb_network_new();
    BbChosen chosen = {0};
    BbInferenceUse use = {.paths = take_paths,
                          .user = &work,
                          .counting = work.counting,
                          .network = network,
                          .chosen = &chosen};
    if (bb_inference_run(&o->inference, o->trace, names, &use, &error)) {
        g_autoptr(BbPatterns) patterns = bb_counting_finish(work.counting);
        Results results = {o, &work, names, patterns, network, &chosen};
        if (write_results(&results, &error))
            return BB_EXIT_DONE;
    }
    bb_say_error("%s", error->message);
    return BB_EXIT_FAILED;
}

int bb_paths_run(int argc, char **argv)
{
    g_auto(Options) options = {.view = BB_VIEW_OPTIONS_DEFAULT};
    bb_inference_init(&options.inference);
    int status = parse_options(&options, argc, argv);
    return status >= 0 ? status : infer(&options);
}
