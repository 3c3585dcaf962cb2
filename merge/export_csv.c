// SPDX-License-Identifier: Apache-2.0
// In: messages. Out: CSV (RFC 4180): a header line, then a line a message with the columns of
// merge/fields.h. What a message has not is empty. Lines end with CR LF, bytes are as they are.
#include "merge/exporter.h"

#include "data/outfile.h"
#include "merge/csv_text.h"
#include "merge/fields.h"

typedef struct Writing {
    BbOutfile *file;
    const BbNames *names;
    GString *line, *text;
} Writing;

static bool put_line(Writing *writing, GError **error)
{
    g_string_append(writing->line, "\r\n");
    return bb_outfile_put(writing->file, writing->line->str, writing->line->len, error);
}

static bool put_header(Writing *writing, GError **error)
{
    const BbField *field = NULL;
    for (gsize i = 0; (field = bb_field_at(i)); i++)
        g_string_append_printf(writing->line, "%s%s", i ? "," : "", field->column);
    return put_line(writing, error);
}

static void csv_free(gpointer data)
{
    Writing *writing = data;
    bb_outfile_free(writing->file);
    g_string_free(writing->line, TRUE);
    g_string_free(writing->text, TRUE);
    g_free(writing);
}

static gpointer csv_open(const char *path, const BbNames *names, GError **error)
{
    g_autoptr(BbOutfile) file = bb_outfile_open(path, error);
    if (!file)
        return NULL;
    Writing *writing = g_new0(Writing, 1);
    writing->file = g_steal_pointer(&file);
    writing->names = names;
    writing->line = g_string_new(NULL);
    writing->text = g_string_new(NULL);
    if (put_header(writing, error))
        return writing;
    csv_free(writing);
    return NULL;
}

static bool csv_push(gpointer data, const BbMessage *message, GError **error)
{
    Writing *writing = data;
    const BbField *field = NULL;
    g_string_truncate(writing->line, 0);
    for (gsize i = 0; (field = bb_field_at(i)); i++) {
        if (i)
            g_string_append_c(writing->line, ',');
        g_string_truncate(writing->text, 0);
        (void)bb_field_append(field, message, writing->names, writing->text);
        bb_csv_append_text(writing->line, writing->text->str, writing->text->len);
    }
    return put_line(writing, error);
}

static bool csv_finish(gpointer data, const BbCounters *counters, GError **error)
{
    return bb_outfile_close(((Writing *)data)->file, error);
}

const BbExporter bb_exporter_csv = {
    .name = "csv",
    .about = "CSV (RFC 4180), a line a message",
    .endings = {"csv"},
    .without_counters = true,
    .open = csv_open,
    .push = csv_push,
    .finish = csv_finish,
    .free = csv_free,
};
