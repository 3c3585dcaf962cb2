// SPDX-License-Identifier: Apache-2.0
// bbtrace import. In: foreign records of messages, by the table of merge/importer.h. Out: one
// trace.
#include "cli/import.h"

#include "capture/protocols/label.h"

#include <stdio.h>
#include <string.h>

G_STATIC_ASSERT(BB_LABEL_MAX == BB_IMPORT_LABEL_MAX);

// Messages out of order by less than so many are put in order.
#define ORDER_WINDOW 1048576u

typedef struct Job {
    const BbImportJob *wanted;
    BbProgress progress;
    const char *path; // that is read
    BbNames *names;
    BbCounters *counters;
    BbNetwork *network;
    GPtrArray *notes;      // of char *
    BbTraceWriter *writer; // from the first message on
    BbOrder *order;
    const BbImporter *importer;
    BbImport import;
    gpointer reading; // of importer
    guint64 messages;
    bool broken; // the output failed, or a signal came
    bool failed; // an input failed
} Job;

static void job_clear(Job *job)
{
    if (job->reading)
        job->importer->end(job->reading);
    bb_order_free(job->order);
    bb_trace_writer_free(job->writer);
    bb_counters_free(job->counters);
    bb_network_free(job->network);
    g_ptr_array_unref(job->notes);
    bb_names_free(job->names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Job, job_clear)

static bool open_writer(Job *job, GError **error)
{
    if (!job->writer)
        job->writer = bb_trace_writer_open(job->wanted->out, job->wanted->form, job->names, error);
    return job->writer != NULL;
}

static bool write_message(const BbMessage *message, gpointer user, GError **error)
{
    const Job *job = user;
    return bb_stop_check(error) && bb_trace_writer_push(job->writer, message, error);
}

static void show_progress(Job *job)
{
    if (job->messages % 4096 || !bb_progress_due(&job->progress))
        return;
    g_autofree char *messages = bb_number(job->messages);
    bb_progress_show(&job->progress, "%s  %s messages", job->path, messages);
}

static bool take_message(const BbMessage *message, gpointer user, GError **error)
{
    Job *job = user;
    job->messages++;
    show_progress(job);
    job->broken = !bb_stop_check(error) || !open_writer(job, error) ||
                  !bb_order_push(job->order, message, error);
    return !job->broken;
}

// The line that tells how far the work is, if there is one, makes room.
static void warn(const char *sentence)
{
    BbProgress line = bb_progress_start(false);
    line.drawn = line.on;
    bb_progress_end(&line);
    bb_say("warning: %s", sentence);
}

static void job_begin(Job *job)
{
    const BbImportJob *wanted = job->wanted;
    job->importer = wanted->importer;
    job->names = bb_names_new();
    job->counters = bb_counters_new();
    job->network = bb_network_new();
    job->notes = g_ptr_array_new_with_free_func(g_free);
    job->order = bb_order_new(ORDER_WINDOW, write_message, job);
    job->import.names = job->names;
    job->import.counters = job->counters;
    job->import.network = job->network;
    job->import.notes = job->notes;
    job->import.sink = take_message;
    job->import.user = job;
    job->import.warn = warn;
    job->import.label_http = bb_label_http;
    job->import.skip_bad = wanted->skip_bad;
    job->import.may_be_empty = wanted->may_be_empty;
    job->import.settings = wanted->settings;
    job->progress = bb_progress_start(wanted->quiet);
    job->reading = job->importer->begin(&job->import);
}

// Most often what tells which spans are of calls is not where it is looked for.
static void warn_of_nothing(const Job *job)
{
    g_autofree char *spans = bb_counted(bb_counters_get(job->counters, "spans"), "span");
    if (job->messages == 0 && bb_counters_get(job->counters, "spans"))
        bb_say("warning: no message came of %s: only those of kind client, server, producer or "
               "consumer tell of messages; do these have kinds, ids, times and services?",
               spans);
}

// Returns false when the output failed.
static bool read_inputs(Job *job, GError **error)
{
    for (char **path = job->wanted->paths; *path; path++) {
        g_autoptr(GError) failure = NULL;
        job->path = *path;
        if (job->importer->read(job->reading, *path, &failure))
            continue;
        if (job->broken) {
            g_propagate_error(error, g_steal_pointer(&failure));
            return false;
        }
        bb_progress_end(&job->progress);
        bb_say_error("%s", failure->message);
        job->failed = true;
    }
    job->path = "all inputs";
    return job->importer->finish(job->reading, error);
}

// Where nothing could be read for failures, what is there stays.
static bool job_finish(Job *job, GError **error)
{
    if (!job->writer && job->failed)
        return true;
    if (!open_writer(job, error) || !bb_order_drain(job->order, error) ||
        !bb_trace_writer_network(job->writer, job->network, error) ||
        !bb_trace_writer_notes(job->writer, job->notes, error) ||
        !bb_trace_writer_finish(job->writer, job->counters, error))
        return false;
    g_autofree char *late = bb_counted(bb_order_late(job->order), "message");
    if (bb_order_late(job->order))
        bb_say("warning: %s written late: out of order by more than %u messages", late,
               ORDER_WINDOW);
    return true;
}

// And what the format has of its own to tell.
static void say_counts(const Job *job)
{
    const BbImportCount *count = job->importer->counts;
    g_autofree char *messages = bb_counted(job->messages, "message");
    bb_say("%s", messages);
    for (; count && count->name; count++) {
        guint64 value = bb_counters_get(job->counters, count->name);
        g_autofree char *number = bb_number(value);
        if (value)
            bb_say("%12s  %s (%s)", number, count->meaning, count->name);
    }
}

int bb_import_run(const BbImportJob *wanted)
{
    g_autoptr(GError) error = NULL;
    g_auto(Job) job = {.wanted = wanted};
    bb_stop_install();
    job_begin(&job);
    bool good = read_inputs(&job, &error) && job_finish(&job, &error);
    bb_progress_end(&job.progress);
    if (!good) {
        bb_say_error("%s", error->message);
        return BB_EXIT_FAILED;
    }
    if (!wanted->quiet && job.writer)
        say_counts(&job);
    warn_of_nothing(&job);
    return job.failed ? BB_EXIT_FAILED : BB_EXIT_DONE;
}

// The formats as a list of words, or (lines) as a table for --help.
static char *list_formats(bool lines)
{
    GString *text = g_string_new(lines ? "Formats:" : NULL);
    const BbImporter *importer = NULL;
    for (gsize i = 0; (importer = bb_importer_at(i)); i++) {
        if (lines)
            g_string_append_printf(text, "\n  %-9s %s", importer->name, importer->about);
        else
            g_string_append_printf(text, "%s%s", i ? ", " : "", importer->name);
    }
    return g_string_free(text, FALSE);
}

// Returns an exit status where the words are of no use, else -1.
static int check_words(const BbImporter *importer, const char *out, char **paths)
{
    g_autofree char *formats = list_formats(false);
    if (!importer)
        return bb_say_usage("bbtrace import", "--from takes: %s", formats);
    if (!out)
        return bb_say_usage("bbtrace import", "where to? Give -w FILE");
    int status = bb_check_paths("bbtrace import", "file", paths);
    if (status >= 0)
        return status;
    for (char **path = paths; *path; path++)
        if (bb_is_same_file(*path, out))
            return bb_say_usage("bbtrace import", "-w would overwrite %s: give another file",
                                *path);
    return -1;
}

// The settings that were given, as "name=value"; end with NULL. Returns an exit status where the
// importer cannot use them, else -1.
static int check_settings(const BbImporter *importer, const char *const *settings)
{
    BbImport import = {.settings = settings};
    for (; settings[0]; settings++) {
        g_autofree char *name = g_strndup(settings[0], strcspn(settings[0], "="));
        if (!bb_importer_has_setting(importer, name))
            return bb_say_usage("bbtrace import", "--%s is of no use for --from %s", name,
                                importer->name);
    }
    g_autofree char *problem = importer->check ? importer->check(&import) : NULL;
    return problem ? bb_say_usage("bbtrace import", "%s", problem) : -1;
}

static int run_import(int argc, char **argv)
{
    gboolean skip = FALSE, quiet = FALSE;
    g_autofree char *from = NULL, *out = NULL, *columns = NULL, *formats = list_formats(true);
    const GOptionEntry entries[] = {
        {"from", 0, 0, G_OPTION_ARG_STRING, &from, "What the input is", "FORMAT"},
        {"write", 'w', 0, G_OPTION_ARG_FILENAME, &out, "Write the trace here, as .bbt", "FILE"},
        {"skip-bad-lines", 0, 0, G_OPTION_ARG_NONE, &skip,
         "Count malformed lines instead of stopping at them", NULL},
        {"columns", 0, 0, G_OPTION_ARG_STRING, &columns,
         "For csv and jsonl: which column is which field, as time=ts:ms,from=src", "MAP"},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet, "No progress and no summary", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = BB_EXIT_DONE;
    if (!bb_options_parse("bbtrace import", "FILE...",
                          "Turns foreign traces into one .bbt trace. - is standard input.", formats,
                          entries, &argc, &argv, &status))
        return status;
    const BbImporter *importer = from ? bb_importer_find(from) : NULL;
    status = check_words(importer, out, argv + 1);
    if (status >= 0)
        return status;
    g_autofree char *setting = columns ? g_strconcat("columns=", columns, NULL) : NULL;
    const char *const settings[] = {setting, NULL};
    status = check_settings(importer, settings);
    if (status >= 0)
        return status;
    const BbImportJob job = {.importer = importer,
                             .paths = argv + 1,
                             .out = out,
                             .form = BB_TRACE_BBT,
                             .settings = settings,
                             .skip_bad = skip,
                             .quiet = quiet};
    return bb_import_run(&job);
}

const BbCommand bb_command_import = {
    .name = "import",
    .arguments = "FILE...",
    .summary = "foreign traces -> a trace",
    .run = run_import,
};
