// SPDX-License-Identifier: Apache-2.0
// In: traces of our own, text or .bbt. Out: their messages and counters, as they are.
#include "merge/importer.h"

#include "data/input.h"
#include "data/trace.h"

static gpointer text_begin(const BbImport *import)
{
    return g_memdup2(import, sizeof *import);
}

static void tell_damage(const BbImport *import, const BbTraceReader *reader)
{
    guint64 bad = bb_trace_reader_bad_lines(reader);
    if (bb_trace_reader_damage(reader))
        import->warn(bb_trace_reader_damage(reader));
    if (bad) {
        g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT " malformed line%s skipped",
                                                bad, bad == 1 ? " was" : "s were");
        import->warn(text);
    }
}

static bool text_read(gpointer reading, const char *path, GError **error)
{
    const BbImport *import = reading;
    g_autoptr(BbTraceReader) reader = bb_trace_reader_open(path, import->names, error);
    g_autoptr(GError) failure = NULL;
    BbMessage message;
    if (!reader)
        return false;
    if (bb_trace_reader_is_empty(reader) && !import->may_be_empty) {
        g_set_error(error, BB_TRACE_ERROR, BB_TRACE_ERROR_FORM,
                    "%s: there is nothing in it; see what was to write it", bb_input_name_of(path));
        return false;
    }
    bb_trace_reader_skip_bad_lines(reader, import->skip_bad);
    while (bb_trace_reader_next(reader, &message, &failure))
        if (!import->sink(&message, import->user, error))
            return false;
    bb_counters_merge(import->counters, bb_trace_reader_counters(reader));
    bb_network_merge(import->network, bb_trace_reader_network(reader));
    for (guint i = 0; import->notes && i < bb_trace_reader_notes(reader); i++)
        g_ptr_array_add(import->notes, g_strdup(bb_trace_reader_note(reader, i)));
    tell_damage(import, reader);
    if (!failure)
        return true;
    g_propagate_error(error, g_steal_pointer(&failure));
    return false;
}

static bool text_finish(gpointer reading, GError **error)
{
    return true;
}

const BbImporter bb_importer_text = {
    .name = "text",
    .about = "traces in text form (bbtrace-text(5)), or .bbt",
    .begin = text_begin,
    .read = text_read,
    .finish = text_finish,
    .end = g_free,
};
