// SPDX-License-Identifier: Apache-2.0
// bbtrace export. In: traces. Out: one file in a form of the table of merge/exporter.h.
#include "cli/traces.h"

#include "merge/exporter.h"

typedef struct Job {
    const BbExporter *exporter;
    const char *out;
    gpointer writing; // from the first message on
    BbTraces traces;
} Job;

static void job_clear(Job *job)
{
    if (job->writing)
        job->exporter->free(job->writing);
    bb_traces_clear(&job->traces);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Job, job_clear)

static bool open_output(Job *job, GError **error)
{
    if (!job->writing)
        job->writing = job->exporter->open(job->out, job->traces.names, error);
    return job->writing != NULL;
}

static bool write_message(const BbMessage *message, gpointer user, GError **error)
{
    Job *job = user;
    return open_output(job, error) && job->exporter->push(job->writing, message, error);
}

static bool write_notes(const Job *job, GError **error)
{
    const GPtrArray *notes = job->traces.notes;
    for (guint i = 0; job->exporter->note && i < notes->len; i++)
        if (!job->exporter->note(job->writing, notes->pdata[i], error))
            return false;
    return true;
}

// Where nothing could be read for failures, what is there stays.
static bool export_traces(Job *job, char **paths, GError **error)
{
    const BbExporter *exporter = job->exporter;
    if (!bb_traces_read(&job->traces, paths, write_message, job, error))
        return false;
    if (!job->writing && job->traces.failed)
        return true;
    return open_output(job, error) &&
           (!exporter->network || exporter->network(job->writing, job->traces.network, error)) &&
           write_notes(job, error) && exporter->finish(job->writing, job->traces.counters, error);
}

// What the form has no place for.
static void say_left_out(const Job *job)
{
    const BbExporter *exporter = job->exporter;
    guint counters = exporter->without_counters ? bb_counters_count(job->traces.counters) : 0;
    guint edges = exporter->network ? 0 : bb_network_count(job->traces.network);
    guint notes = exporter->note ? 0 : job->traces.notes->len;
    if (counters + edges + notes == 0)
        return;
    g_autoptr(GString) text = g_string_new(NULL);
    if (counters)
        g_string_append_printf(
            text, counters == 1 ? "the %u counter of the trace" : "the %u counters of the trace",
            counters);
    if (edges)
        g_string_append_printf(text, "%sthe facts on the network of %u edge%s",
                               counters ? " and " : "", edges, edges == 1 ? "" : "s");
    if (notes)
        g_string_append_printf(text, "%s%u note%s", counters + edges ? " and " : "", notes,
                               notes == 1 ? "" : "s");
    bb_say("warning: %s has no place for %s", exporter->name, text->str);
}

static int export_files(const BbExporter *exporter, char **paths, const char *out, bool skip_bad)
{
    g_autoptr(GError) error = NULL;
    g_auto(Job) job = {.exporter = exporter, .out = out};
    bb_traces_init(&job.traces, skip_bad);
    if (!export_traces(&job, paths, &error)) {
        bb_say_error("%s", error->message);
        return BB_EXIT_FAILED;
    }
    if (job.writing)
        say_left_out(&job);
    return job.traces.failed ? BB_EXIT_FAILED : BB_EXIT_DONE;
}

// The forms as a list of words, or (lines) as a table for --help.
static char *list_forms(bool lines)
{
    GString *text = g_string_new(lines ? "Formats:" : NULL);
    const BbExporter *exporter = NULL;
    for (gsize i = 0; (exporter = bb_exporter_at(i)); i++) {
        if (lines)
            g_string_append_printf(text, "\n  %-9s %s", exporter->name, exporter->about);
        else
            g_string_append_printf(text, "%s%s", i ? ", " : "", exporter->name);
    }
    return g_string_free(text, FALSE);
}

static int run_export(int argc, char **argv)
{
    gboolean skip = FALSE;
    g_autofree char *to = NULL, *out = NULL, *forms = list_forms(true), *words = list_forms(false);
    const GOptionEntry entries[] = {
        {"to", 't', 0, G_OPTION_ARG_STRING, &to, "What to write, unless the ending of -o tells",
         "FORMAT"},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &out,
         "Write to this file (default: standard output)", "FILE"},
        {"skip-bad-lines", 0, 0, G_OPTION_ARG_NONE, &skip,
         "Count malformed lines of a text trace instead of stopping at them", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = BB_EXIT_DONE;
    if (!bb_options_parse("bbtrace export", "TRACE...",
                          "Writes traces, in order of time, in a form that other programs read.",
                          forms, entries, &argc, &argv, &status))
        return status;
    bool ending = !to && !bb_is_stdout(out);
    const BbExporter *exporter = to       ? bb_exporter_find(to)
                                 : ending ? bb_exporter_of_file(out)
                                          : NULL;
    if (!exporter && ending)
        return bb_say_usage("bbtrace export", "the ending of '%s' names no format: give --to (%s)",
                            out, words);
    if (!exporter)
        return bb_say_usage("bbtrace export", "--to takes: %s", words);
    status = bb_traces_check("bbtrace export", argv + 1, out, NULL);
    if (status >= 0)
        return status;
    if (exporter->file_only && bb_is_stdout(out))
        return bb_say_usage("bbtrace export", "%s cannot go to standard output: give -o FILE",
                            exporter->name);
    return export_files(exporter, argv + 1, out ? out : "-", skip);
}

const BbCommand bb_command_export = {
    .name = "export",
    .arguments = "TRACE...",
    .summary = "a trace as JSON Lines, CSV or SQLite",
    .run = run_export,
};
