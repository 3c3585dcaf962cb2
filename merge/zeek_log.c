// SPDX-License-Identifier: Apache-2.0
// In: a log of Zeek. Out: the columns of its rows that tell of messages.
#include "merge/zeek_log.h"

#include "data/trace.h"
#include "merge/json_line.h"

#include <string.h>

static const char *const names[BB_ZEEK_FIELDS] = {
    [BB_ZEEK_TS] = "ts",
    [BB_ZEEK_UID] = "uid",
    [BB_ZEEK_ORIG_HOST] = "id.orig_h",
    [BB_ZEEK_RESP_HOST] = "id.resp_h",
    [BB_ZEEK_RESP_PORT] = "id.resp_p",
    [BB_ZEEK_PROTO] = "proto",
    [BB_ZEEK_SERVICE] = "service",
    [BB_ZEEK_DURATION] = "duration",
    [BB_ZEEK_ORIG_BYTES] = "orig_bytes",
    [BB_ZEEK_RESP_BYTES] = "resp_bytes",
    [BB_ZEEK_STATE] = "conn_state",
    [BB_ZEEK_DEPTH] = "trans_depth",
    [BB_ZEEK_METHOD] = "method",
    [BB_ZEEK_URI] = "uri",
    [BB_ZEEK_STATUS] = "status_code",
};

#define NO_FIELD BB_ZEEK_FIELDS

struct BbZeekLog {
    BbLines *lines;
    GArray *members; // of BbJsonMember
    GArray *columns; // of BbZeekField: those of the header; NO_FIELD for one of no use
    char separator;
    char *unset, *empty;
    char *path; // that of the header, NULL without
    BbZeekKind kind;
    bool has_header;
    const char *reason;
};

BbZeekLog *bb_zeek_log_open(const char *path, GError **error)
{
    g_autoptr(BbLines) lines = bb_lines_open(path, error);
    if (!lines)
        return NULL;
    BbZeekLog *log = g_new0(BbZeekLog, 1);
    log->lines = g_steal_pointer(&lines);
    log->members = g_array_new(FALSE, FALSE, sizeof(BbJsonMember));
    log->columns = g_array_new(FALSE, FALSE, sizeof(BbZeekField));
    log->separator = '\t';
    log->unset = g_strdup("-");
    log->empty = g_strdup("(empty)");
    return log;
}

void bb_zeek_log_free(BbZeekLog *log)
{
    if (!log)
        return;
    bb_lines_free(log->lines);
    g_array_unref(log->members);
    g_array_unref(log->columns);
    g_free(log->unset);
    g_free(log->empty);
    g_free(log->path);
    g_free(log);
}

const char *bb_zeek_log_reason(const BbZeekLog *log)
{
    return log->reason;
}

guint64 bb_zeek_log_number(const BbZeekLog *log)
{
    return bb_lines_number(log->lines);
}

const char *bb_zeek_log_name(const BbZeekLog *log)
{
    return bb_lines_name(log->lines);
}

const char *bb_zeek_log_damage(const BbZeekLog *log)
{
    return bb_lines_damage(log->lines);
}

static BbZeekField find_field(const char *name)
{
    for (BbZeekField i = 0; i < BB_ZEEK_FIELDS; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return NO_FIELD;
}

static bool refuse(const BbZeekLog *log, const char *why, const char *what, GError **error)
{
    g_set_error(error, BB_TRACE_ERROR, BB_TRACE_ERROR_FORM, "%s:%" G_GUINT64_FORMAT ": %s%s%s",
                bb_zeek_log_name(log), bb_zeek_log_number(log), why, what ? ": " : "",
                what ? what : "");
    return false;
}

// ---- the header -------------------------------------------------------------------------------

// \xHH stands for a byte, in place. A NUL, which no text can hold, stays as it is written.
static void unescape(char *text)
{
    char *to = text;
    while (*text) {
        gint high = text[0] == '\\' && text[1] == 'x' ? g_ascii_xdigit_value(text[2]) : -1;
        gint low = high < 0 ? -1 : g_ascii_xdigit_value(text[3]);
        if (low < 0 || high + low == 0) {
            *to++ = *text++;
            continue;
        }
        *to++ = (char)(high << 4 | low);
        text += 4;
    }
    *to = '\0';
}

// Cuts the next value out of *rest, which is NULL behind the last one.
static char *take_value(char separator, char **rest)
{
    char *start = *rest, *end = strchr(start, separator);
    *rest = end ? end + 1 : NULL;
    if (end)
        *end = '\0';
    return start;
}

static void set_columns(BbZeekLog *log, char *rest)
{
    g_array_set_size(log->columns, 0);
    while (rest) {
        BbZeekField field = find_field(take_value(log->separator, &rest));
        g_array_append_val(log->columns, field);
    }
}

static bool has_column(const BbZeekLog *log, BbZeekField wanted)
{
    for (guint i = 0; i < log->columns->len; i++)
        if (g_array_index(log->columns, BbZeekField, i) == wanted)
            return true;
    return false;
}

// What the log is: as its path says, else as its columns do. Returns false for any other.
static bool set_kind(BbZeekLog *log, const char *path, bool looks_http, bool looks_conn)
{
    bool is_conn = path ? strcmp(path, "conn") == 0 : looks_conn;
    bool is_http = path ? strcmp(path, "http") == 0 : looks_http;
    log->kind = is_http ? BB_ZEEK_HTTP : BB_ZEEK_CONN;
    return is_conn || is_http;
}

static bool check_columns(BbZeekLog *log, GError **error)
{
    static const BbZeekField needed[] = {BB_ZEEK_TS, BB_ZEEK_UID, BB_ZEEK_ORIG_HOST,
                                         BB_ZEEK_RESP_HOST};
    for (gsize i = 0; i < G_N_ELEMENTS(needed); i++)
        if (!has_column(log, needed[i]))
            return refuse(log, "#fields lacks a column that is needed", names[needed[i]], error);
    log->has_header = true;
    return set_kind(log, log->path,
                    has_column(log, BB_ZEEK_METHOD) || has_column(log, BB_ZEEK_STATUS),
                    has_column(log, BB_ZEEK_PROTO) || has_column(log, BB_ZEEK_STATE)) ||
           refuse(log, "only conn.log and http.log of Zeek are read", log->path, error);
}

static void set_text(char **text, const char *value)
{
    g_free(*text);
    *text = g_strdup(value);
}

// The separator of the header's own lines is a blank for #separator, and what that says after it.
static bool take_header(BbZeekLog *log, char *line, GError **error)
{
    static const char separator[] = "#separator ";
    if (g_str_has_prefix(line, separator)) {
        unescape(line + strlen(separator));
        log->separator = line[strlen(separator)];
        g_clear_pointer(&log->path, g_free);
        log->has_header = false;
        return log->separator || refuse(log, "#separator is empty", NULL, error);
    }
    char *rest = line;
    const char *key = take_value(log->separator, &rest);
    if (!rest)
        return true;
    if (strcmp(key, "#unset_field") == 0)
        set_text(&log->unset, rest);
    else if (strcmp(key, "#empty_field") == 0)
        set_text(&log->empty, rest);
    else if (strcmp(key, "#path") == 0)
        set_text(&log->path, rest);
    else if (strcmp(key, "#fields") == 0) {
        set_columns(log, rest);
        return check_columns(log, error);
    }
    return true;
}

// ---- rows -------------------------------------------------------------------------------------

static const char *take_row(const BbZeekLog *log, char *line, BbZeekRow *row)
{
    char *rest = line;
    *row = (BbZeekRow){.kind = log->kind};
    for (guint i = 0; i < log->columns->len; i++) {
        BbZeekField field = g_array_index(log->columns, BbZeekField, i);
        if (!rest)
            return "the row has fewer columns than #fields";
        char *value = take_value(log->separator, &rest);
        if (field == NO_FIELD || !*value || strcmp(value, log->unset) == 0 ||
            strcmp(value, log->empty) == 0)
            continue;
        unescape(value);
        row->fields[field] = value;
    }
    return rest ? "the row has more columns than #fields" : NULL;
}

static const char *member_text(const BbJsonMember *member)
{
    bool scalar = member->kind == BB_JSON_STRING || member->kind == BB_JSON_NUMBER;
    return scalar && member->text[0] ? member->text : NULL;
}

static const char *take_object(BbZeekLog *log, BbZeekRow *row)
{
    const char *path = NULL;
    *row = (BbZeekRow){0};
    for (guint i = 0; i < log->members->len; i++) {
        const BbJsonMember *member = &g_array_index(log->members, BbJsonMember, i);
        BbZeekField field = find_field(member->key);
        if (field != NO_FIELD)
            row->fields[field] = member_text(member);
        else if (strcmp(member->key, "_path") == 0)
            path = member_text(member);
    }
    bool is_ours = set_kind(log, path,
                            row->fields[BB_ZEEK_METHOD] || row->fields[BB_ZEEK_STATUS] ||
                                row->fields[BB_ZEEK_DEPTH],
                            row->fields[BB_ZEEK_PROTO] || row->fields[BB_ZEEK_STATE]);
    row->kind = log->kind;
    return is_ours ? NULL : "the object is of neither conn.log nor http.log";
}

// Returns BB_LINE_BAD with a reason, or BB_LINE_FAILED with the error set.
static BbLineState take_line(BbZeekLog *log, char *line, BbZeekRow *row, GError **error)
{
    if (line[strspn(line, " ")] == '{') {
        log->reason = bb_json_line_parse(line, log->members);
        if (!log->reason)
            log->reason = take_object(log, row);
    } else if (log->has_header) {
        log->reason = take_row(log, line, row);
    } else {
        (void)refuse(log, "not a log of Zeek: neither JSON nor a header with #fields is before it",
                     NULL, error);
        return BB_LINE_FAILED;
    }
    return log->reason ? BB_LINE_BAD : BB_LINE_GOOD;
}

BbLineState bb_zeek_log_next(BbZeekLog *log, BbZeekRow *row, GError **error)
{
    for (;;) {
        char *line = NULL;
        BbLineState state = bb_lines_next(log->lines, &line, error);
        log->reason = bb_lines_reason(log->lines);
        if (state != BB_LINE_GOOD)
            return state;
        if (g_str_has_suffix(line, "\r"))
            line[strlen(line) - 1] = '\0';
        if (line[0] == '#') {
            if (!take_header(log, line, error))
                return BB_LINE_FAILED;
        } else if (line[0]) {
            return take_line(log, line, row, error);
        }
    }
}
