// SPDX-License-Identifier: Apache-2.0
// bbpaths. In: a message trace. Out: the causal path patterns in it, as a picture, a table or data.
#include "cli/command.h"

#include "data/trace.h"
#include "nesting/nesting.h"
#include "viz/view.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char program[] = "bbpaths";
static const char summary[] =
    "Infers which message caused which from nothing but who sent what to whom when, and shows the\n"
    "causal path patterns that cost the most time, with the delay of every node.";

typedef struct Options {
    char *algo, *assign, *format_name, *out, *instances, *top, *sort, *floor, *window, *latency;
    gint64 min_count;
    double overlap, same, any, smoothing;
    gboolean no_labels, skip_bad_lines, quiet;
    BbNestingOptions nesting;
    BbViewOptions view;
    const BbViewFormat *format;
    const char *trace;
} Options;

static void options_clear(Options *o)
{
    char *owned[] = {o->algo, o->assign, o->format_name, o->out,    o->instances,
                     o->top,  o->sort,   o->floor,       o->window, o->latency};
    for (gsize i = 0; i < G_N_ELEMENTS(owned); i++)
        g_free(owned[i]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

// ---- options -----------------------------------------------------------------------------------

// "30ms", "1us", "0.5s", "250ns" as nanoseconds.
static bool parse_duration(const char *text, gint64 *ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *end = NULL;
    double value = g_ascii_strtod(text, &end);
    if (end == text || !isfinite(value) || value < 0)
        return false;
    for (gsize i = 0; i < G_N_ELEMENTS(units); i++) {
        if (strcmp(end, units[i].unit) == 0 && value * units[i].ns < 1e18) {
            *ns = (gint64)llround(value * units[i].ns);
            return true;
        }
    }
    return strcmp(text, "0") == 0 && (*ns = 0, true);
}

static bool parse_sort(const char *text, BbSortKey *sort)
{
    static const char *const keys[] = {
        [BB_SORT_TOTAL] = "total", [BB_SORT_COUNT] = "count", [BB_SORT_MEAN] = "mean"};
    for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
        if (strcmp(text, keys[i]) == 0) {
            *sort = i;
            return true;
        }
    }
    return false;
}

static bool parse_top(const char *text, guint *top)
{
    char *end = NULL;
    if (strcmp(text, "all") == 0) {
        *top = BB_TOP_ALL;
        return true;
    }
    guint64 value = g_ascii_isdigit(text[0]) ? g_ascii_strtoull(text, &end, 10) : 0;
    if (!value || *end || value >= BB_TOP_OF_FORMAT)
        return false;
    *top = (guint)value;
    return true;
}

static char *format_names(void)
{
    gsize count = 0;
    const BbViewFormat *formats = bb_view_formats(&count);
    GString *names = g_string_new(NULL);
    for (gsize i = 0; i < count; i++)
        g_string_append_printf(names, "%s%s", i ? ", " : "", formats[i].name);
    return g_string_free(names, FALSE);
}

static char *describe_formats(void)
{
    gsize count = 0;
    const BbViewFormat *formats = bb_view_formats(&count);
    GString *text = g_string_new("Formats (-o takes them from the ending of FILE too):\n");
    for (gsize i = 0; i < count; i++)
        g_string_append_printf(text, "  %-6s %s\n", formats[i].name, formats[i].about);
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

static int check_nesting(Options *o)
{
    if (o->algo && strcmp(o->algo, "nesting") != 0)
        return bb_say_usage(program, "--algo takes: nesting");
    if (o->assign && strcmp(o->assign, "paper") != 0)
        return bb_say_usage(program, "--assign takes: paper");
    if (o->latency && strcmp(o->latency, "first-byte") != 0 && strcmp(o->latency, "last-byte") != 0)
        return bb_say_usage(program, "--latency takes: first-byte, last-byte");
    if (o->floor &&
        (!parse_duration(o->floor, &o->nesting.bin_floor_ns) || o->nesting.bin_floor_ns <= 0))
        return bb_say_usage(program, "--bin-floor '%s' is no duration: 1ms, 50us", o->floor);
    if (o->window && !parse_duration(o->window, &o->nesting.skew_window_ns))
        return bb_say_usage(program, "--skew-window '%s' is no duration: 30ms", o->window);
    if (!(o->overlap >= 0 && o->same >= 0 && o->any >= 0 && o->smoothing >= 0 &&
          o->overlap + o->same + o->any <= 1000 && o->smoothing <= 100))
        return bb_say_usage(program,
                            "penalties go from 0 to 1000 in all, --smoothing from 0 to 100");
    o->nesting.overlap_penalty = o->overlap;
    o->nesting.same_penalty = o->same;
    o->nesting.any_penalty = o->any;
    o->nesting.smoothing = o->smoothing;
    o->nesting.labels = !o->no_labels;
    o->nesting.latency_last_byte = o->latency && strcmp(o->latency, "last-byte") == 0;
    return -1;
}

static int check_view(Options *o)
{
    if (o->top && !parse_top(o->top, &o->view.top))
        return bb_say_usage(program, "--top takes a number or 'all', not '%s'", o->top);
    if (o->sort && !parse_sort(o->sort, &o->view.sort))
        return bb_say_usage(program, "--sort takes: total, count, mean");
    if (o->min_count < 0)
        return bb_say_usage(program, "--min-count takes a number that is not negative");
    o->view.min_count = (guint64)o->min_count;
    bool to_stdout = !o->out || strcmp(o->out, "-") == 0;
    if (to_stdout && o->instances && strcmp(o->instances, "-") == 0)
        return bb_say_usage(program,
                            "patterns and instances cannot both go to standard output: give "
                            "-o FILE");
    if (o->out && o->instances && !to_stdout &&
        (strcmp(o->out, o->instances) == 0 || bb_is_same_file(o->out, o->instances)))
        return bb_say_usage(program, "patterns and instances cannot both go to %s", o->out);
    const char *const outputs[] = {o->out, o->instances};
    for (gsize i = 0; i < G_N_ELEMENTS(outputs); i++)
        if (outputs[i] && bb_is_same_file(outputs[i], o->trace))
            return bb_say_usage(
                program, "%s would be overwritten: give another file for the output", o->trace);
    int status = choose_format(o);
    if (status >= 0)
        return status;
    if (to_stdout && o->format->binary && isatty(STDOUT_FILENO))
        return bb_say_usage(program, "%s is not for a terminal: give -o FILE", o->format->name);
    return -1;
}

// Returns an exit status, or -1 to go on.
static int parse_options(Options *o, int argc, char **argv)
{
    gboolean version = FALSE;
    const GOptionEntry entries[] = {
        {"algo", 0, 0, G_OPTION_ARG_STRING, &o->algo, "nesting (default)", "ALGORITHM"},
        {"assign", 0, 0, G_OPTION_ARG_STRING, &o->assign,
         "How a call gets its parent: paper (default; SOSP'03, section 5.1)", "METHOD"},
        {"format", 'f', 0, G_OPTION_ARG_STRING, &o->format_name, "Format of the patterns",
         "FORMAT"},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &o->out, "Write the patterns here", "FILE"},
        {"instances", 0, 0, G_OPTION_ARG_FILENAME, &o->instances,
         "Write every path instance here, as JSON Lines", "FILE"},
        {"top", 'n', 0, G_OPTION_ARG_STRING, &o->top,
         "Patterns to show (default: 10 in pictures and text, all in data)", "N|all"},
        {"sort", 0, 0, G_OPTION_ARG_STRING, &o->sort,
         "Order of patterns by: total (latency, default), count, mean (latency)", "KEY"},
        {"min-count", 0, 0, G_OPTION_ARG_INT64, &o->min_count,
         "Leave out patterns with fewer instances", "N"},
        {"no-labels", 0, 0, G_OPTION_ARG_NONE, &o->no_labels,
         "Operations do not tell patterns apart: strictly black boxes", NULL},
        {"latency", 0, 0, G_OPTION_ARG_STRING, &o->latency,
         "A call lasts until its return's first-byte (default) or last-byte", "WHICH"},
        {"overlap-penalty", 0, 0, G_OPTION_ARG_DOUBLE, &o->overlap,
         "Exponent against parents with overlapping children (default: 2)", "X"},
        {"same-penalty", 0, 0, G_OPTION_ARG_DOUBLE, &o->same,
         "Exponent against parents with children at the same callee (default: 0)", "Y"},
        {"any-penalty", 0, 0, G_OPTION_ARG_DOUBLE, &o->any,
         "Exponent against parents with children (default: 0)", "Z"},
        {"bin-floor", 0, 0, G_OPTION_ARG_STRING, &o->floor,
         "Delays below it share one bin of the scoreboard (default: 1ms)", "DURATION"},
        {"smoothing", 0, 0, G_OPTION_ARG_DOUBLE, &o->smoothing,
         "Gaussian smoothing of the scoreboard, in bins (default: 0, none)", "BINS"},
        {"skew-window", 0, 0, G_OPTION_ARG_STRING, &o->window,
         "How far a call may stick out of its parent (default: 0)", "DURATION"},
        {"skip-bad-lines", 0, 0, G_OPTION_ARG_NONE, &o->skip_bad_lines,
         "Count malformed lines of a text trace instead of stopping at them", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &o->quiet, "No progress", NULL},
        {"version", 0, 0, G_OPTION_ARG_NONE, &version, "Print the version", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = BB_EXIT_DONE;
    g_autofree char *description = describe_formats();
    if (!bb_options_parse(program, "TRACE", summary, description, entries, &argc, &argv, &status))
        return status;
    if (version) {
        puts("bbpaths " BB_VERSION);
        return BB_EXIT_DONE;
    }
    if (argc != 2)
        return bb_say_usage(program, argc < 2 ? "which trace?" : "one trace at a time");
    o->trace = argv[1];
    status = check_nesting(o);
    return status >= 0 ? status : check_view(o);
}

// ---- the work ----------------------------------------------------------------------------------

static bool read_trace(const Options *o, BbNames *names, BbPairs *pairs, GError **error)
{
    BbMessage message;
    g_autoptr(BbTraceReader) reader = bb_trace_reader_open(o->trace, names, error);
    if (!reader)
        return false;
    BbProgress progress = bb_progress_start(o->quiet);
    GError *failure = NULL;
    bb_trace_reader_skip_bad_lines(reader, o->skip_bad_lines);
    while (bb_trace_reader_next(reader, &message, &failure)) {
        if (!bb_pairs_push(pairs, &message)) {
            bb_progress_end(&progress);
            g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOMEM,
                        "%s: more calls than one run can hold: cut the trace into pieces",
                        o->trace);
            return false;
        }
        if (bb_trace_reader_messages(reader) % 65536 == 0 && bb_progress_due(&progress)) {
            g_autofree char *count = bb_number(bb_trace_reader_messages(reader));
            bb_progress_show(&progress, "%s  %s messages", o->trace, count);
        }
    }
    bb_progress_end(&progress);
    bb_say_trace_damage(reader);
    if (failure)
        g_propagate_error(error, failure);
    return !failure;
}

// Opens where results go.
static FILE *open_output(const char *path, GError **error)
{
    if (!path || strcmp(path, "-") == 0)
        return stdout;
    FILE *out = fopen(path, "w");
    if (!out)
        g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno),
                    "%s: cannot write: %s", path, g_strerror(errno));
    return out;
}

static bool close_output(FILE *out, const char *path, GError **error)
{
    bool good = fflush(out) == 0 && !ferror(out);
    if (out != stdout)
        good = fclose(out) == 0 && good;
    if (!good && error && !*error)
        g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno),
                    "%s: cannot write: %s", path ? path : "standard output", g_strerror(errno));
    return good;
}

static bool write_patterns(const Options *o, const BbPaths *paths, const BbNames *names,
                           GError **error)
{
    FILE *out = open_output(o->out, error);
    if (!out)
        return false;
    bool good = bb_view_write(o->format, paths, names, &o->view, out, error);
    if (!good)
        g_prefix_error(error, "%s: ", o->out ? o->out : "standard output");
    return close_output(out, o->out, good ? error : NULL) && good;
}

static bool write_instances(const Options *o, const BbPaths *paths, const BbNames *names,
                            GError **error)
{
    if (!o->instances)
        return true;
    FILE *out = open_output(o->instances, error);
    if (!out)
        return false;
    bool good = bb_instances_write(paths, names, &o->view, out, error);
    if (!good)
        g_prefix_error(error, "%s: ", o->instances);
    return close_output(out, o->instances, good ? error : NULL) && good;
}

static int work(const Options *o)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPairs) pairs = bb_pairs_new(names);
    if (read_trace(o, names, pairs, &error)) {
        g_autoptr(BbPaths) paths = bb_nesting_run(pairs, &o->nesting);
        if (write_instances(o, paths, names, &error) && write_patterns(o, paths, names, &error))
            return BB_EXIT_DONE;
    }
    bb_say_error("%s", error->message);
    return BB_EXIT_FAILED;
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "");
    g_auto(Options) options = {
        .nesting = bb_nesting_options_default(),
        .view = BB_VIEW_OPTIONS_DEFAULT,
    };
    options.overlap = options.nesting.overlap_penalty;
    options.same = options.nesting.same_penalty;
    options.any = options.nesting.any_penalty;
    options.smoothing = options.nesting.smoothing;
    int status = parse_options(&options, argc, argv);
    return status >= 0 ? status : work(&options);
}
