// SPDX-License-Identifier: Apache-2.0
// In: paths of traces. Out: their messages, in order of time.
#include "cli/traces.h"

#include "merge/importer.h"

// Messages out of order by less than so many are put in order.
#define ORDER_WINDOW 1048576u

typedef struct Reading {
    BbTraces *traces;
    BbOrder *order;
    bool broken; // the sink failed
} Reading;

static bool take_message(const BbMessage *message, gpointer user, GError **error)
{
    Reading *reading = user;
    reading->traces->messages++;
    reading->broken = !bb_order_push(reading->order, message, error);
    return !reading->broken;
}

static void warn(const char *sentence)
{
    bb_say("warning: %s", sentence);
}

// Returns false when the sink failed.
static bool read_path(Reading *reading, gpointer text, const char *path, GError **error)
{
    g_autoptr(GError) failure = NULL;
    if (bb_importer_text.read(text, path, &failure))
        return true;
    if (reading->broken) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return false;
    }
    bb_say_error("%s", failure->message);
    reading->traces->failed = true;
    return true;
}

bool bb_traces_read(BbTraces *traces, char **paths, BbMessageSink sink, gpointer user,
                    GError **error)
{
    g_autoptr(BbOrder) order = bb_order_new(ORDER_WINDOW, sink, user);
    Reading reading = {.traces = traces, .order = order};
    BbImport import = {
        .names = traces->names,
        .counters = traces->counters,
        .network = traces->network,
        .sink = take_message,
        .user = &reading,
        .warn = warn,
        .skip_bad = traces->skip_bad_lines,
    };
    gpointer text = bb_importer_text.begin(&import);
    bool good = true;
    for (char **path = paths; good && *path; path++)
        good = read_path(&reading, text, *path, error);
    bb_importer_text.end(text);
    if (!good || !bb_order_drain(order, error))
        return false;
    if (bb_order_late(order))
        bb_say("warning: %" G_GUINT64_FORMAT " messages are more than %u messages out of order and "
               "were written late",
               bb_order_late(order), ORDER_WINDOW);
    return true;
}

int bb_traces_check(const char *program, char **paths, const char *out, const char *other)
{
    if (!*paths)
        return bb_say_usage(program, "which trace?");
    for (; *paths; paths++) {
        if ((out && bb_is_same_file(*paths, out)) || (other && bb_is_same_file(*paths, other)))
            return bb_say_usage(program, "%s would be overwritten: give another file to write",
                                *paths);
    }
    return -1;
}
