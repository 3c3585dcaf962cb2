// SPDX-License-Identifier: Apache-2.0
// bbtrace cat and bbtrace import. In: traces. Out: one trace, in the text form or as .bbt.
#include "cli/command.h"

#include "data/order.h"
#include "data/trace.h"

#include <stdio.h>
#include <string.h>

// Lines out of order by less than so many messages are put in order.
#define ORDER_WINDOW 1048576u

typedef struct Copy {
    BbNames *names;
    BbCounters *counters;
    BbTraceWriter *writer;
    BbOrder *order;
    bool skip_bad_lines, failed;
} Copy;

static void copy_clear(Copy *copy)
{
    bb_order_free(copy->order);
    bb_trace_writer_free(copy->writer);
    bb_counters_free(copy->counters);
    bb_names_free(copy->names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Copy, copy_clear)

static bool write_message(const BbMessage *message, gpointer user, GError **error)
{
    return bb_trace_writer_push(user, message, error);
}

static bool open_copy(Copy *copy, const char *out, BbTraceForm form, GError **error)
{
    copy->names = bb_names_new();
    copy->counters = bb_counters_new();
    copy->writer = bb_trace_writer_open(out, form, copy->names, error);
    if (!copy->writer)
        return false;
    copy->order = bb_order_new(ORDER_WINDOW, write_message, copy->writer);
    return true;
}

// Returns false when the output failed; an input that fails is said, and leaves copy->failed.
static bool add_input(Copy *copy, const char *path, GError **error)
{
    g_autoptr(GError) input_error = NULL;
    g_autoptr(BbTraceReader) reader = bb_trace_reader_open(path, copy->names, &input_error);
    BbMessage message;
    if (reader) {
        bb_trace_reader_skip_bad_lines(reader, copy->skip_bad_lines);
        while (bb_trace_reader_next(reader, &message, &input_error))
            if (!bb_order_push(copy->order, &message, error))
                return false;
        bb_counters_merge(copy->counters, bb_trace_reader_counters(reader));
        bb_say_trace_damage(reader);
    }
    if (input_error) {
        bb_say_error("%s", input_error->message);
        copy->failed = true;
    }
    return true;
}

static int finish_copy(Copy *copy, GError **error)
{
    if (!bb_order_drain(copy->order, error) ||
        !bb_trace_writer_finish(copy->writer, copy->counters, error)) {
        bb_say_error("%s", (*error)->message);
        return BB_EXIT_FAILED;
    }
    if (bb_order_late(copy->order))
        bb_say("warning: %" G_GUINT64_FORMAT " messages are more than %u messages out of order and "
               "were written late",
               bb_order_late(copy->order), ORDER_WINDOW);
    return copy->failed ? BB_EXIT_FAILED : BB_EXIT_DONE;
}

static int copy_traces(Copy *copy, char **paths, const char *out, BbTraceForm form)
{
    g_autoptr(GError) error = NULL;
    if (!open_copy(copy, out, form, &error)) {
        bb_say_error("%s", error->message);
        return BB_EXIT_FAILED;
    }
    bool good = true;
    for (char **path = paths; *path && good; path++)
        good = add_input(copy, *path, &error);
    if (!good) {
        bb_say_error("%s", error->message);
        return BB_EXIT_FAILED;
    }
    return finish_copy(copy, &error);
}

static int run_cat(int argc, char **argv)
{
    gboolean skip = FALSE;
    const GOptionEntry entries[] = {
        {"skip-bad-lines", 0, 0, G_OPTION_ARG_NONE, &skip,
         "Count malformed lines of a text trace instead of stopping at them", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = BB_EXIT_DONE;
    if (!bb_options_parse("bbtrace cat", "TRACE...",
                          "Writes traces as one text trace, in order of time, on standard output.",
                          NULL, entries, &argc, &argv, &status))
        return status;
    if (argc < 2)
        return bb_say_usage("bbtrace cat", "which trace?");
    g_auto(Copy) copy = {.skip_bad_lines = skip};
    return copy_traces(&copy, argv + 1, "-", BB_TRACE_TEXT);
}

static int run_import(int argc, char **argv)
{
    gboolean skip = FALSE;
    g_autofree char *from = NULL, *out = NULL;
    const GOptionEntry entries[] = {
        {"from", 0, 0, G_OPTION_ARG_STRING, &from, "What the input is: text", "FORMAT"},
        {"write", 'w', 0, G_OPTION_ARG_FILENAME, &out, "Write the trace here, as .bbt", "FILE"},
        {"skip-bad-lines", 0, 0, G_OPTION_ARG_NONE, &skip,
         "Count malformed lines instead of stopping at them", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = BB_EXIT_DONE;
    if (!bb_options_parse("bbtrace import", "FILE...",
                          "Turns foreign traces into one .bbt trace. - is standard input.", NULL,
                          entries, &argc, &argv, &status))
        return status;
    if (!from || strcmp(from, "text") != 0)
        return bb_say_usage("bbtrace import", "--from takes: text");
    if (!out)
        return bb_say_usage("bbtrace import", "where to? Give -w FILE");
    if (argc < 2)
        return bb_say_usage("bbtrace import", "which file?");
    for (char **path = argv + 1; *path; path++)
        if (bb_is_same_file(*path, out))
            return bb_say_usage("bbtrace import", "-w would overwrite %s: give another file",
                                *path);
    g_auto(Copy) copy = {.skip_bad_lines = skip};
    return copy_traces(&copy, argv + 1, out, BB_TRACE_BBT);
}

const BbCommand bb_command_cat = {
    .name = "cat",
    .arguments = "TRACE...",
    .summary = "a trace as text",
    .run = run_cat,
};

const BbCommand bb_command_import = {
    .name = "import",
    .arguments = "FILE...",
    .summary = "foreign traces -> a trace",
    .run = run_import,
};
