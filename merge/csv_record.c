// SPDX-License-Identifier: Apache-2.0
// In: lines of a CSV file. Out: records, as texts of fields.
//
// A record goes on behind a line end within quotes. Where it turns out bad, only its first line is:
// what was read behind that is read again, as records of their own.
#include "merge/csv_record.h"

#include <string.h>

struct BbCsv {
    BbLines *lines;
    GString *text; // lines that were read, each with a line feed
    gsize next;    // in text: the line that is taken next; what is behind was read before
    bool bad;      // behind the text stands a bad line that was read, and not told yet
    guint64 line;  // number of the last line taken
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
    csv->text = g_string_new(NULL);
    return csv;
}

void bb_csv_free(BbCsv *csv)
{
    if (!csv)
        return;
    bb_lines_free(csv->lines);
    g_string_free(csv->text, TRUE);
    g_free(csv);
}

// The next line, at *at in the text: one that is read again, or a new one.
static BbLineState take_line(BbCsv *csv, gsize *at, GError **error)
{
    char *line = NULL;
    *at = csv->next;
    if (csv->next == csv->text->len && csv->bad) {
        csv->bad = false;
        csv->line++;
        return BB_LINE_BAD;
    }
    if (csv->next == csv->text->len) {
        BbLineState state = bb_lines_next(csv->lines, &line, error);
        csv->line = bb_lines_number(csv->lines);
        if (state != BB_LINE_GOOD)
            return state;
        g_string_append(csv->text, line);
        g_string_append_c(csv->text, '\n');
    } else {
        csv->line++;
    }
    csv->next = (gsize)(strchr(csv->text->str + *at, '\n') - csv->text->str) + 1;
    return BB_LINE_GOOD;
}

static bool is_end(const char *at)
{
    return *at == '\n' || (at[0] == '\r' && at[1] == '\n');
}

// Looks for what is wrong with a line, up to its line feed. *open: whether it begins within quotes;
// then, whether it ends there.
static const char *check_line(const char *at, bool *open)
{
    for (;; at++) { // behind a comma
        if (!*open && *at != '"') {
            at += strcspn(at, ",\"\n");
            if (*at == '\n')
                return NULL;
            if (*at == '"')
                return "a quote stands within a field that is not quoted";
            continue;
        }
        at += !*open;
        *open = true;
        while (*(at += strcspn(at, "\"\n")) == '"' && at[1] == '"')
            at += 2;
        if (*at++ == '\n')
            return NULL;
        *open = false;
        if (is_end(at))
            return NULL;
        if (*at != ',')
            return "there is text behind a closing quote";
    }
}

static BbLineState read_again(BbCsv *csv, gsize from, const char *reason)
{
    csv->next = from;
    csv->line = csv->number;
    csv->reason = reason;
    return BB_LINE_BAD;
}

// Takes the lines of a record, from *start in the text on.
static BbLineState take_lines(BbCsv *csv, gsize *start, GError **error)
{
    gsize at = 0, second = 0; // where the second line begins; 0 before the first one
    for (bool open = false; !second || open;) {
        BbLineState state = take_line(csv, &at, error);
        csv->reason = bb_lines_reason(csv->lines);
        if (second && state == BB_LINE_BAD)
            csv->bad = true;
        // Where the file breaks off in a line, that one is as it would be without quotes.
        bool whole = second < csv->text->len || !bb_csv_damage(csv);
        if (second && (state == BB_LINE_BAD || (state == BB_LINE_END && whole)))
            return read_again(csv, second, "a quote is not closed");
        if (!second) {
            csv->number = csv->line;
            *start = at;
        }
        if (state != BB_LINE_GOOD)
            return state;
        second = second ? second : csv->next;
        const char *reason = check_line(csv->text->str + at, &open);
        if (!reason && csv->next - 1 - *start > BB_LINE_MAX)
            reason = "the record is longer than 1 MiB (a quote that is not closed?)";
        if (reason)
            return read_again(csv, second, reason);
    }
    return BB_LINE_GOOD;
}

// The next record, without its line end.
static BbLineState read_record(BbCsv *csv, char **record, GError **error)
{
    gsize start = 0;
    if (csv->next > csv->text->len / 2) { // most of it is over
        g_string_erase(csv->text, 0, (gssize)csv->next);
        csv->next = 0;
    }
    BbLineState state = take_lines(csv, &start, error);
    if (state != BB_LINE_GOOD)
        return state;
    gsize end = csv->next - 1;
    if (end > start && csv->text->str[end - 1] == '\r')
        end--;
    csv->text->str[end] = '\0';
    *record = csv->text->str + start;
    return BB_LINE_GOOD;
}

// Takes the field at *at, which begins with a quote, out of its quotes.
static void take_quoted(char **at)
{
    char *from = *at + 1, *to = *at;
    for (; *from != '"' || *++from == '"'; from++)
        *to++ = *from;
    *to = '\0'; // at the closing quote, or before
    *at = from;
}

// Cuts a good record in fields, in place.
static void split(char *at, GPtrArray *fields)
{
    for (;;) {
        g_ptr_array_add(fields, at);
        if (*at == '"')
            take_quoted(&at);
        else
            at += strcspn(at, ",");
        if (*at == '\0')
            return;
        *at++ = '\0';
    }
}

BbLineState bb_csv_next(BbCsv *csv, GPtrArray *fields, GError **error)
{
    BbLineState state = BB_LINE_GOOD;
    char *record = NULL;
    g_ptr_array_set_size(fields, 0);
    do
        state = read_record(csv, &record, error);
    while (state == BB_LINE_GOOD && *record == '\0');
    if (state == BB_LINE_GOOD)
        split(record, fields);
    return state;
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
