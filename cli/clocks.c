// SPDX-License-Identifier: Apache-2.0
// bbtrace clocks. In: traces of several observers. Out: how far each one's clock is off.
#include "cli/clocks_report.h"
#include "cli/command.h"
#include "data/outfile.h"
#include "merge/observers.h"

#include <string.h>

static const char program[] = "bbtrace clocks";

typedef void (*Writer)(const BbClocks *clocks, const BbNames *names, FILE *out);

static const struct {
    const char *name, *ending;
    Writer write;
} formats[] = {
    {"text", "txt", bb_clocks_write_text},
    {"json", "json", bb_clocks_write_json},
    {"svg", "svg", bb_clocks_write_svg},
};

typedef struct Run {
    char *format, *out;
    char **paths; // lent
    gint64 samples;
    gboolean per_node, skip_bad_lines, quiet;
    Writer write;
    BbNames *names;
    BbClocks *clocks;
    BbProgress progress;
    guint64 messages;
    bool failed; // an input
} Run;

static void run_clear(Run *run)
{
    g_free(run->format);
    g_free(run->out);
    bb_clocks_free(run->clocks);
    bb_names_free(run->names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Run, run_clear)

// ---- options -----------------------------------------------------------------------------------

// By --format, else by the ending of -o, text where it has none; NULL where there is no such.
static Writer choose_writer(const Run *run)
{
    g_autofree char *name = run->out ? g_path_get_basename(run->out) : NULL;
    const char *ending = name ? strrchr(name, '.') : NULL;
    if (!run->format && !ending)
        return bb_clocks_write_text;
    for (gsize i = 0; i < G_N_ELEMENTS(formats); i++)
        if (run->format ? strcmp(formats[i].name, run->format) == 0
                        : g_ascii_strcasecmp(formats[i].ending, ending + 1) == 0)
            return formats[i].write;
    return NULL;
}

static int check_options(Run *run)
{
    run->write = choose_writer(run);
    if (!run->write && run->format)
        return bb_say_usage(program, "--format takes: text, json, svg");
    if (!run->write)
        return bb_say_usage(program,
                            "the ending of '%s' names no format: give --format (text, json, svg)",
                            run->out);
    if (run->samples < 2 || run->samples > G_MAXINT32)
        return bb_say_usage(program, "--samples takes a number of sightings above 1");
    if (!*run->paths)
        return bb_say_usage(program, "which traces?");
    for (char **path = run->paths; run->out && *path; path++)
        if (bb_is_same_file(*path, run->out))
            return bb_say_usage(program, "-o would overwrite %s: give another file", *path);
    return -1;
}

// Returns an exit status, or -1 to go on.
static int parse_options(Run *run, int argc, char **argv)
{
    const GOptionEntry entries[] = {
        {"format", 'f', 0, G_OPTION_ARG_STRING, &run->format,
         "Format: text (default, unless -o ends otherwise), json, svg (a plot)", "FORMAT"},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &run->out,
         "Write to this file (default: standard output)", "FILE"},
        {"per-node", 0, 0, G_OPTION_ARG_NONE, &run->per_node,
         "The clocks of nodes, from traces with the times of both ends", NULL},
        {"samples", 0, 0, G_OPTION_ARG_INT64, &run->samples,
         "Sightings remembered, 40 bytes each (default: 1048576)", "N"},
        {"skip-bad-lines", 0, 0, G_OPTION_ARG_NONE, &run->skip_bad_lines,
         "Count malformed lines of a text trace instead of stopping at them", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &run->quiet, "No progress", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = BB_EXIT_DONE;
    if (!bb_options_parse(program, "TRACE...",
                          "Tells how far the clock of each observer is off and drifts, against the "
                          "first one's.",
                          "bbtrace(1) tells more. Exit status: 0 done, 1 failed, 2 wrong usage.\n",
                          entries, &argc, &argv, &status))
        return status;
    run->paths = argv + 1;
    return check_options(run);
}

// ---- reading -----------------------------------------------------------------------------------

static void take(Run *run, BbMessage *message, const char *observer)
{
    if (run->per_node) {
        bb_clocks_add_nodes(run->clocks, message);
    } else {
        if (message->observer == BB_NAME_NONE)
            message->observer = bb_names_intern(run->names, observer);
        bb_clocks_add(run->clocks, message);
    }
    run->messages++;
    if (bb_progress_due(&run->progress)) {
        g_autofree char *number = bb_number(run->messages);
        bb_progress_show(&run->progress, "%s messages", number);
    }
}

// What was read before a failure counts.
static void read_path(Run *run, const char *path, const char *observer)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(BbTraceReader) reader = bb_trace_reader_open(path, run->names, &error);
    BbMessage message;
    if (reader) {
        bb_trace_reader_skip_bad_lines(reader, run->skip_bad_lines);
        while (bb_trace_reader_next(reader, &message, &error))
            take(run, &message, observer);
        bb_progress_end(&run->progress);
        bb_say_trace_damage(reader);
    }
    if (error) {
        bb_say_error("%s", error->message);
        run->failed = true;
    }
}

static void read_paths(Run *run)
{
    g_autoptr(GPtrArray) observers = bb_observers_name((const char *const *)run->paths, false);
    for (guint i = 0; run->paths[i]; i++)
        read_path(run, run->paths[i], g_ptr_array_index(observers, i));
}

// ---- results -----------------------------------------------------------------------------------

// Chains and another comparison of the same two clocks should agree.
static void warn_of_residuals(const Run *run)
{
    for (guint i = 0; i < bb_clocks_relations(run->clocks); i++) {
        const BbClockRelation *r = bb_clocks_relation(run->clocks, i);
        if (r->used || r->fit.state != BB_CLOCK_FIT_LINES || !bb_clocks_at(run->clocks, r->a)->map)
            continue;
        const BbClock *a = bb_clocks_at(run->clocks, r->a), *b = bb_clocks_at(run->clocks, r->b);
        double expected = a->error_ns + b->error_ns + bb_clock_map_error_ns(r->fit.map);
        double off = (double)r->residual_ns;
        if (off > expected || -off > expected)
            bb_say("warning: %s and %s disagree by %.6f s with what other observers say of their "
                   "clocks",
                   bb_names_text(run->names, a->name), bb_names_text(run->names, b->name),
                   (off < 0 ? -off : off) / 1e9);
    }
}

static void warn_of_unknown(const Run *run)
{
    guint unknown = 0;
    for (guint i = 0; i < bb_clocks_count(run->clocks); i++)
        unknown += !bb_clocks_at(run->clocks, i)->map;
    if (unknown)
        bb_say("warning: of %u of %u clocks it cannot be known how far they are off: that takes "
               "messages in both directions that two observers saw",
               unknown, bb_clocks_count(run->clocks));
}

// What some of the traces say is not put in the place of what all of them said.
static int write_result(const Run *run)
{
    g_autoptr(GError) error = NULL;
    bool is_file = !bb_is_stdout(run->out);
    if (is_file && run->failed) {
        bb_say_error("%s: not written, since not all traces could be read", run->out);
        return BB_EXIT_FAILED;
    }
    g_autoptr(BbOutfile) file = bb_outfile_open(is_file ? run->out : "-", &error);
    if (file)
        run->write(run->clocks, run->names, bb_outfile_stream(file));
    if (file && bb_outfile_close(file, &error))
        return BB_EXIT_DONE;
    bb_say_error("%s", error->message);
    return BB_EXIT_FAILED;
}

static int run_clocks(int argc, char **argv)
{
    g_auto(Run) run = {.samples = BB_SIGHTINGS_MAX};
    int status = parse_options(&run, argc, argv);
    if (status >= 0)
        return status;
    run.names = bb_names_new();
    run.clocks = bb_clocks_new(run.names, (gsize)run.samples);
    run.progress = bb_progress_start(run.quiet);
    read_paths(&run);
    bb_clocks_solve(run.clocks);
    warn_of_unknown(&run);
    warn_of_residuals(&run);
    status = write_result(&run);
    return run.failed ? BB_EXIT_FAILED : status;
}

const BbCommand bb_command_clocks = {
    .name = "clocks",
    .arguments = "TRACE...",
    .summary = "how far the clocks of several observers are off",
    .run = run_clocks,
};
