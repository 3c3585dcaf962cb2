// SPDX-License-Identifier: Apache-2.0
// In: lines of a CSV file. Out: records, as texts of fields.
//
// A field with a quote must be quoted, and its quotes doubled: so a record goes on behind a line
// end if there was an odd number of quotes before.
#include "merge/csv_record.h"

#include <string.h>

struct BbCsv {
    BbLines *lines;
    GString *record;
    guint64 number;
    const char *reason;
};

BbCsv *bb_csv_open(const char *path, GError **error)
{
    BbLines *lines = bb_lines_open(path, error);
    if (!lines)
        return NULL;
    BbCsv *csv = g_new0(BbCsv, 1);
    csv->lines = lines;
    csv->record = g_string_new(NULL);
    return csv;
}

void bb_csv_free(BbCsv *csv)
{
    if (!csv)
        return;
    bb_lines_free(csv->lines);
    g_string_free(csv->record, TRUE);
    g_free(csv);
}

static bool has_open_quote(const char *line, bool open)
{
    for (; (line = strchr(line, '"')); line++)
        open = !open;
    return open;
}

// Puts the lines of a record together.
static BbLineState read_record(BbCsv *csv, GError **error)
{
    bool open = false;
    g_string_truncate(csv->record, 0);
    do {
        char *line = NULL;
        BbLineState state = bb_lines_next(csv->lines, &line, error);
        csv->reason = bb_lines_reason(csv->lines);
        if (!open)
            csv->number = bb_lines_number(csv->lines);
        if (open && state == BB_LINE_END && !bb_csv_damage(csv)) {
            csv->reason = "a quote is not closed";
            return BB_LINE_BAD;
        }
        if (state != BB_LINE_GOOD)
            return state;
        if (open)
            g_string_append_c(csv->record, '\n');
        g_string_append(csv->record, line);
        open = has_open_quote(line, open);
        csv->reason = "the record is longer than 1 MiB (a quote that is not closed?)";
        if (csv->record->len > BB_LINE_MAX)
            return BB_LINE_BAD;
    } while (open);
    csv->reason = NULL;
    if (g_str_has_suffix(csv->record->str, "\r"))
        g_string_truncate(csv->record, csv->record->len - 1);
    return BB_LINE_GOOD;
}

// Takes the field at *at, which begins with a quote, out of its quotes.
static const char *take_quoted(char **at)
{
    char *from = *at + 1, *to = *at;
    for (;; from++) {
        if (*from == '\0')
            return "a quote is not closed";
        if (*from == '"' && *++from != '"')
            break;
        *to++ = *from;
    }
    if (*from != ',' && *from != '\0')
        return "there is text behind a closing quote";
    *to = '\0'; // at the closing quote, or before
    *at = from;
    return NULL;
}

static const char *take_bare(char **at)
{
    char *end = *at + strcspn(*at, ",\"");
    if (*end == '"')
        return "a quote stands within a field that is not quoted";
    *at = end;
    return NULL;
}

// Cuts the record in fields, in place.
static const char *split(char *at, GPtrArray *fields)
{
    for (;;) {
        g_ptr_array_add(fields, at);
        const char *reason = *at == '"' ? take_quoted(&at) : take_bare(&at);
        if (reason || *at == '\0')
            return reason;
        *at++ = '\0';
    }
}

BbLineState bb_csv_next(BbCsv *csv, GPtrArray *fields, GError **error)
{
    BbLineState state = BB_LINE_GOOD;
    g_ptr_array_set_size(fields, 0);
    do
        state = read_record(csv, error);
    while (state == BB_LINE_GOOD && csv->record->len == 0);
    if (state != BB_LINE_GOOD)
        return state;
    csv->reason = split(csv->record->str, fields);
    return csv->reason ? BB_LINE_BAD : BB_LINE_GOOD;
}

const char *bb_csv_reason(const BbCsv *csv)
{
    return csv->reason;
}

guint64 bb_csv_number(const BbCsv *csv)
{
    return csv->number;
}

const char *bb_csv_name(const BbCsv *csv)
{
    return bb_lines_name(csv->lines);
}

const char *bb_csv_damage(const BbCsv *csv)
{
    return bb_lines_damage(csv->lines);
}
