// SPDX-License-Identifier: Apache-2.0
// In: the ring of a flight recorder. Out: a trace.
#include "cli/snapshot.h"

#include "cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define PARTS_MAX 1000u // names that are tried

static bool write_network(const BbSnapshot *snapshot, BbTraceWriter *writer, BbNames *names,
                          GError **error)
{
    g_autoptr(BbNetwork) renamed = bb_network_new();
    for (guint i = 0; i < bb_network_count(snapshot->network); i++) {
        BbNetworkEdge edge = *bb_network_at(snapshot->network, i);
        edge.client = bb_names_intern(names, bb_names_text(snapshot->network_names, edge.client));
        edge.server = bb_names_intern(names, bb_names_text(snapshot->network_names, edge.server));
        bb_network_add(renamed, &edge);
    }
    return bb_trace_writer_network(writer, renamed, error);
}

static bool copy(const BbSnapshot *snapshot, BbTraceReader *reader, BbTraceWriter *writer,
                 BbNames *names, GError **error)
{
    BbMessage message;
    GError *failure = NULL;
    for (const char *const *note = snapshot->notes; note && *note; note++)
        if (!bb_trace_writer_note(writer, *note, error))
            return false;
    while (bb_trace_reader_next(reader, &message, &failure))
        if ((snapshot->stops && !bb_stop_check(error)) ||
            !bb_trace_writer_push(writer, &message, error))
            return false;
    if (failure) {
        g_propagate_error(error, failure);
        return false;
    }
    g_autoptr(BbCounters) counters = bb_counters_new(); // the reader's: what damage took
    bb_counters_merge(counters, bb_trace_reader_counters(reader));
    if (snapshot->counters)
        bb_counters_merge(counters, snapshot->counters);
    const char *damage = bb_trace_reader_damage(reader);
    return (!damage || bb_trace_writer_note(writer, damage, error)) &&
           (!snapshot->network || write_network(snapshot, writer, names, error)) &&
           bb_trace_writer_finish(writer, counters, error);
}

static bool put_in_place(const char *part, const char *out, GError **error)
{
    if (rename(part, out) == 0)
        return true;
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno),
                "%s: cannot give the trace this name: %s: give rights to its folder", out,
                g_strerror(errno));
    return false;
}

// A file of its own beside out: FILE.part, or with a number where one is there. What is there may
// be the ring, or a link to something else: it is not touched.
static BbTraceWriter *open_part(const char *out, const BbNames *names, char **part, GError **error)
{
    const BbTraceWriterOptions options = {.form = BB_TRACE_BBT, .output.fresh = true};
    for (guint i = 1;; i++) {
        g_autoptr(GError) failure = NULL;
        *part = i == 1 ? g_strconcat(out, ".part", NULL) : g_strdup_printf("%s.%u.part", out, i);
        BbTraceWriter *writer = bb_trace_writer_open_with(*part, &options, names, &failure);
        if (writer)
            return writer;
        g_clear_pointer(part, g_free);
        if (i < PARTS_MAX && g_error_matches(failure, G_FILE_ERROR, G_FILE_ERROR_EXIST))
            continue;
        g_propagate_error(error, g_steal_pointer(&failure));
        return NULL;
    }
}

bool bb_snapshot_write(const BbSnapshot *snapshot, guint64 *messages, char **damage, GError **error)
{
    g_autofree char *part = NULL;
    g_autoptr(BbNames) names = bb_names_new();
    *messages = 0;
    *damage = NULL;
    g_autoptr(BbTraceReader) reader = bb_trace_reader_open(snapshot->ring, names, error);
    if (!reader)
        return false;
    BbTraceWriter *writer = open_part(snapshot->out, names, &part, error);
    if (!writer)
        return false;
    bool good = copy(snapshot, reader, writer, names, error);
    bb_trace_writer_free(writer);
    if (!good || !put_in_place(part, snapshot->out, error)) {
        (void)unlink(part);
        return false;
    }
    *messages = bb_trace_reader_messages(reader);
    *damage = g_strdup(bb_trace_reader_damage(reader));
    return true;
}
