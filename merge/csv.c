// SPDX-License-Identifier: Apache-2.0
// In: CSV (RFC 4180) with a header line. Out: a message a record.
#include "merge/importer.h"

#include "data/trace.h"
#include "merge/bad_lines.h"
#include "merge/columns.h"
#include "merge/csv_record.h"

#include <string.h>

typedef struct Reading {
    const BbImport *import;
    BbColumns *columns;
    GPtrArray *fields; // of a record, lent
    GArray *header;    // of BbColumn; without field where the column is of no use
    GHashTable *seen;  // the fields of the header
} Reading;

static gpointer csv_begin(const BbImport *import)
{
    g_autofree char *problem = NULL;
    Reading *reading = g_new0(Reading, 1);
    reading->import = import;
    reading->columns = bb_columns_new(bb_import_setting(import, BB_COLUMNS_SETTING), &problem);
    reading->fields = g_ptr_array_new();
    reading->header = g_array_new(FALSE, FALSE, sizeof(BbColumn));
    reading->seen = g_hash_table_new(NULL, NULL);
    g_assert(reading->columns); // the settings were checked
    return reading;
}

static void csv_end(gpointer data)
{
    Reading *reading = data;
    bb_columns_free(reading->columns);
    g_ptr_array_unref(reading->fields);
    g_array_unref(reading->header);
    g_hash_table_unref(reading->seen);
    g_free(reading);
}

// A column whose field was there before counts for nothing.
static void take_header(Reading *reading)
{
    g_array_set_size(reading->header, 0);
    g_hash_table_remove_all(reading->seen);
    for (guint i = 0; i < reading->fields->len; i++) {
        const char *name = g_ptr_array_index(reading->fields, i);
        BbColumn column = {0};
        if (bb_columns_find(reading->columns, name, &column) &&
            !g_hash_table_add(reading->seen, (gpointer)column.field))
            column.field = NULL;
        g_array_append_val(reading->header, column);
    }
}

static bool refuse_header(const BbCsv *csv, const char *reason, GError **error)
{
    g_set_error(error, BB_TRACE_ERROR, BB_TRACE_ERROR_FORM,
                "%s:1: %s: the first line must name the columns; say what they are with "
                "--columns, as time=ts:ms,from=src,to=dst",
                bb_csv_name(csv), reason);
    return false;
}

// Returns false where there is no header that names what a message must have.
static bool read_header(Reading *reading, BbCsv *csv, GError **error)
{
    static const char *const needed[] = {"time", "from", "to"};
    BbLineState state = bb_csv_next(csv, reading->fields, error);
    if (state == BB_LINE_FAILED)
        return false;
    if (state == BB_LINE_END && bb_csv_damage(csv))
        return refuse_header(csv, bb_csv_damage(csv), error);
    if (state == BB_LINE_END)
        return refuse_header(csv, "there is nothing in it", error);
    if (state == BB_LINE_BAD)
        return refuse_header(csv, bb_csv_reason(csv), error);
    take_header(reading);
    for (gsize i = 0; i < G_N_ELEMENTS(needed); i++) {
        const BbField *field = bb_field_find(needed[i]);
        if (g_hash_table_contains(reading->seen, field))
            continue;
        const char *mapped = bb_columns_mapped(reading->columns, field);
        g_autofree char *reason =
            mapped ? g_strdup_printf("there is no column `%s`, which is to be the field `%s`%s",
                                     mapped, needed[i],
                                     strchr(mapped, ':') ? " (units are s, ms, us, ns, iso)" : "")
                   : g_strdup_printf("no column is the field `%s`", needed[i]);
        return refuse_header(csv, reason, error);
    }
    return true;
}

static const char *take_record(const Reading *reading, BbMessage *message)
{
    *message = bb_message_empty();
    if (reading->fields->len != reading->header->len)
        return "the record has not as many fields as the first line";
    for (guint i = 0; i < reading->fields->len; i++) {
        const BbColumn *column = &g_array_index(reading->header, BbColumn, i);
        const char *text = g_ptr_array_index(reading->fields, i);
        const char *reason = column->field ? bb_field_take(column->field, text, column->unit,
                                                           reading->import->names, message)
                                           : NULL;
        if (reason)
            return reason;
    }
    return message->time_ns == BB_TIME_NONE ? "a message has no time" : NULL;
}

static bool read_records(Reading *reading, BbCsv *csv, GError **error)
{
    const BbImport *import = reading->import;
    BbBadLines bad = {0};
    BbLineState state = BB_LINE_FAILED;
    while ((state = bb_csv_next(csv, reading->fields, error)) < BB_LINE_END) {
        BbMessage message;
        const char *reason =
            state == BB_LINE_BAD ? bb_csv_reason(csv) : take_record(reading, &message);
        if (reason) {
            if (!bb_bad_lines_add(&bad, import, bb_csv_name(csv), bb_csv_number(csv), reason,
                                  error))
                return false;
        } else if (!import->sink(&message, import->user, error)) {
            return false;
        } else {
            bad.good++;
        }
    }
    return state == BB_LINE_END &&
           bb_bad_lines_end(&bad, import, bb_csv_name(csv), bb_csv_damage(csv), error);
}

static bool csv_read(gpointer data, const char *path, GError **error)
{
    Reading *reading = data;
    g_autoptr(BbCsv) csv = bb_csv_open(path, error);
    return csv && read_header(reading, csv, error) && read_records(reading, csv, error);
}

static bool csv_finish(gpointer data, GError **error)
{
    return true;
}

static const char *const settings[] = {BB_COLUMNS_SETTING, NULL};

const BbImporter bb_importer_csv = {
    .name = "csv",
    .about = "CSV (RFC 4180) with named columns",
    .settings = settings,
    .check = bb_columns_check,
    .begin = csv_begin,
    .read = csv_read,
    .finish = csv_finish,
    .end = csv_end,
};
