// SPDX-License-Identifier: Apache-2.0
// In: conn.log and http.log of Zeek. Out: a call and, where there was one, a return a connection;
// where the requests on it are told, those instead.
//
// http.log has no times of responses: what is known is that each came before the next request of
// its connection and before that one's end.
#include "merge/importer.h"

#include "data/stamp.h"
#include "merge/bad_lines.h"
#include "merge/span.h"
#include "merge/zeek_connection.h"
#include "merge/zeek_log.h"

#include <string.h>

// Rows of http.log, and of conn.log with HTTP, that wait for each other; some 100 bytes each.
#define WAITING_MAX (1u << 22)
#define DURATION_MAX_S 1e9

typedef struct Reading {
    const BbImport *import;
    BbZeekWaiting *waiting;
} Reading;

static gpointer zeek_begin(const BbImport *import)
{
    Reading *reading = g_new0(Reading, 1);
    reading->import = import;
    reading->waiting = bb_zeek_waiting_new(WAITING_MAX);
    return reading;
}

static void zeek_end(gpointer data)
{
    Reading *reading = data;
    bb_zeek_waiting_free(reading->waiting);
    g_free(reading);
}

static void count(const Reading *reading, const char *name)
{
    bb_counters_add(reading->import->counters, name, 1);
}

static bool zeek_finish(gpointer data, GError **error)
{
    const Reading *reading = data;
    return bb_zeek_waiting_give(reading->waiting, reading->import, error);
}

// ---- rows -------------------------------------------------------------------------------------

static guint32 name_of(const Reading *reading, const char *text)
{
    if (text && strlen(text) > BB_SPAN_NAME_MAX)
        count(reading, "zeek_names_cut");
    return bb_span_name(reading->import->names, text);
}

// Absent for NULL.
static const char *take_number(const char *text, guint64 *number)
{
    *number = BB_BYTES_NONE;
    if (!text || g_ascii_string_to_unsigned(text, 10, 0, BB_BYTES_NONE - 1, number, NULL))
        return NULL;
    return "a count is no whole number";
}

// Seconds, which JSON may have as 1.2e-05, behind time_ns.
static const char *take_duration(const char *text, gint64 time_ns, gint64 *end_ns)
{
    char *end = NULL;
    *end_ns = BB_TIME_NONE;
    if (!text)
        return NULL;
    double seconds = g_ascii_strtod(text, &end);
    if (*end || !(seconds >= 0 && seconds <= DURATION_MAX_S))
        return "a duration is no number of seconds";
    if (__builtin_add_overflow(time_ns, (gint64)(seconds * 1e9 + 0.5), end_ns))
        return "a connection ends after the year 2262";
    return NULL;
}

// How a connection came out. Only answered ones have a return.
static const struct {
    const char *state;
    bool answered, asked;
    const char *status;
} states[] = {
    {"SF", true, true, "ok"},      {"S1", true, true, "ok"},      {"S2", true, true, "ok"},
    {"S3", true, true, "ok"},      {"OTH", true, true, "ok"},     {"RSTO", true, true, "error"},
    {"RSTR", true, true, "error"}, {"S0", false, true, NULL},     {"REJ", false, true, NULL},
    {"SH", false, true, NULL},     {"RSTOS0", false, true, NULL}, {"SHR", true, false, NULL},
    {"RSTRH", true, false, NULL},
};

// Returns false where nobody is known to have asked.
static bool take_state(const Reading *reading, const char *state, BbZeekConnection *connection)
{
    connection->answered = true;
    for (gsize i = 0; state && i < G_N_ELEMENTS(states); i++) {
        if (strcmp(states[i].state, state) != 0)
            continue;
        connection->answered = states[i].answered;
        connection->status = name_of(reading, states[i].status);
        return states[i].asked;
    }
    return true;
}

// What the application was, else the port.
static guint32 label_of(const Reading *reading, const BbZeekRow *row)
{
    const char *proto = row->fields[BB_ZEEK_PROTO], *port = row->fields[BB_ZEEK_RESP_PORT];
    if (row->fields[BB_ZEEK_SERVICE])
        return name_of(reading, row->fields[BB_ZEEK_SERVICE]);
    g_autofree char *label = proto && port ? g_strconcat(proto, "/", port, NULL) : g_strdup(proto);
    return name_of(reading, label);
}

// The part that both logs have. Returns what is wrong with it.
static const char *take_common(const Reading *reading, const BbZeekRow *row, gint64 *time_ns,
                               BbZeekConnection *connection)
{
    const char *uid = row->fields[BB_ZEEK_UID];
    if (!row->fields[BB_ZEEK_TS] || !uid || !row->fields[BB_ZEEK_ORIG_HOST] ||
        !row->fields[BB_ZEEK_RESP_HOST])
        return "a row has no ts, uid, id.orig_h or id.resp_h";
    if (strlen(uid) > BB_SPAN_ID_TEXT_MAX)
        return "a uid is longer than 64 bytes";
    connection->uid = bb_id_parse(reading->import->names, uid);
    connection->caller = name_of(reading, row->fields[BB_ZEEK_ORIG_HOST]);
    connection->callee = name_of(reading, row->fields[BB_ZEEK_RESP_HOST]);
    connection->time_ns = connection->end_ns = BB_TIME_NONE;
    return bb_stamp_parse(row->fields[BB_ZEEK_TS], BB_STAMP_ANY, time_ns);
}

// The connection to which a row more belongs; NULL where too many rows wait.
static BbZeekConnection *wait_for(Reading *reading, const BbZeekConnection *like)
{
    BbZeekConnection *connection = bb_zeek_waiting_add(reading->waiting, like);
    if (!connection)
        count(reading, "zeek_left_out");
    return connection;
}

static const char *take_conn(const Reading *reading, const BbZeekRow *row,
                             BbZeekConnection *connection, bool *asked)
{
    const char *reason = take_common(reading, row, &connection->time_ns, connection);
    if (!reason)
        reason =
            take_duration(row->fields[BB_ZEEK_DURATION], connection->time_ns, &connection->end_ns);
    if (!reason)
        reason = take_number(row->fields[BB_ZEEK_ORIG_BYTES], &connection->bytes);
    if (!reason)
        reason = take_number(row->fields[BB_ZEEK_RESP_BYTES], &connection->answer_bytes);
    connection->told = true;
    connection->op = label_of(reading, row);
    connection->proto = name_of(reading, row->fields[BB_ZEEK_PROTO]);
    *asked = take_state(reading, row->fields[BB_ZEEK_STATE], connection);
    return reason;
}

static bool has_http(const BbZeekRow *row)
{
    return row->fields[BB_ZEEK_SERVICE] && strstr(row->fields[BB_ZEEK_SERVICE], "http");
}

// Takes over all but the requests, which came before.
static void fill(BbZeekConnection *connection, const BbZeekConnection *told)
{
    GArray *requests = connection->requests;
    *connection = *told;
    connection->requests = requests;
}

// Sets *reason where the row is none. Returns false when the sink fails.
static bool add_conn(Reading *reading, const BbZeekRow *row, const char **reason, GError **error)
{
    BbZeekConnection told = {0};
    bool asked = true;
    *reason = take_conn(reading, row, &told, &asked);
    if (*reason)
        return true;
    count(reading, "zeek_conns");
    if (!asked) {
        count(reading, "zeek_only_answers");
        return true;
    }
    BbZeekConnection *waiting = bb_zeek_waiting_find(reading->waiting, told.uid);
    if (waiting ? waiting->told : !has_http(row)) // told twice, where logs are
        return bb_zeek_connection_give(&told, reading->import, error);
    waiting = wait_for(reading, &told);
    if (waiting)
        fill(waiting, &told);
    return true;
}

static guint32 request_label(const Reading *reading, const char *method, const char *uri)
{
    char label[BB_IMPORT_LABEL_MAX + 1];
    if (!uri)
        uri = "";
    if (reading->import->label_http) {
        gsize length = reading->import->label_http(label, (const guint8 *)method, strlen(method),
                                                   (const guint8 *)uri, strlen(uri));
        return bb_names_intern_len(reading->import->names, label, length);
    }
    g_autofree char *path = g_strndup(uri, strcspn(uri, "?#"));
    g_autofree char *text = g_strconcat(method, " ", path, NULL);
    return name_of(reading, text);
}

// The sizes in http.log are those of bodies, not of messages.
static const char *take_request(const Reading *reading, const BbZeekRow *row,
                                BbZeekRequest *request, BbZeekConnection *connection)
{
    const char *reason = take_common(reading, row, &request->time_ns, connection);
    return reason ? reason : take_number(row->fields[BB_ZEEK_DEPTH], &request->depth);
}

static const char *add_request(Reading *reading, const BbZeekRow *row)
{
    BbZeekRequest request = {0};
    BbZeekConnection connection = {0};
    const char *method = row->fields[BB_ZEEK_METHOD];
    const char *reason = take_request(reading, row, &request, &connection);
    if (reason)
        return reason;
    count(reading, "zeek_requests");
    if (!method) {
        count(reading, "zeek_no_request");
        return NULL;
    }
    BbZeekConnection *waiting = wait_for(reading, &connection);
    if (!waiting)
        return NULL;
    request.op = request_label(reading, method, row->fields[BB_ZEEK_URI]);
    request.status = name_of(reading, row->fields[BB_ZEEK_STATUS]);
    if (!waiting->requests)
        waiting->requests = g_array_new(FALSE, FALSE, sizeof(BbZeekRequest));
    g_array_append_val(waiting->requests, request);
    return NULL;
}

static bool take_row(Reading *reading, const BbZeekRow *row, const char **reason, GError **error)
{
    if (row->kind == BB_ZEEK_CONN)
        return add_conn(reading, row, reason, error);
    *reason = add_request(reading, row);
    return true;
}

static bool zeek_read(gpointer data, const char *path, GError **error)
{
    Reading *reading = data;
    const BbImport *import = reading->import;
    g_autoptr(BbZeekLog) log = bb_zeek_log_open(path, error);
    BbBadLines bad = {0};
    BbZeekRow row;
    BbLineState state = BB_LINE_FAILED;
    if (!log)
        return false;
    while ((state = bb_zeek_log_next(log, &row, error)) < BB_LINE_END) {
        const char *reason = bb_zeek_log_reason(log);
        if (state == BB_LINE_GOOD && !take_row(reading, &row, &reason, error))
            return false;
        if (!reason)
            bad.good++;
        else if (!bb_bad_lines_add(&bad, import, bb_zeek_log_name(log), bb_zeek_log_number(log),
                                   reason, error))
            return false;
    }
    return state == BB_LINE_END &&
           bb_bad_lines_end(&bad, import, bb_zeek_log_name(log), bb_zeek_log_damage(log), error);
}

static const BbImportCount counts[] = {
    {"zeek_conns", "connections of conn.log"},
    {"zeek_requests", "requests of http.log"},
    {"zeek_conn_http", "connections whose requests are told: not told as connections"},
    {"zeek_bounded", "returns of HTTP at the latest time that they can have had"},
    {"zeek_no_answer", "calls that were not answered: no return"},
    {"zeek_no_duration", "connections without a duration: no return"},
    {"zeek_no_end", "requests that nothing bounds the answer of: no return"},
    {"zeek_no_request", "answers of HTTP whose request is not told: left out"},
    {"zeek_only_answers", "connections of which only the answering side was seen: left out"},
    {"zeek_names_cut", "names of more than 255 bytes: cut"},
    {"zeek_left_out", "rows beyond the 4194304 that wait for other logs: left out"},
    {NULL, NULL},
};

const BbImporter bb_importer_zeek = {
    .name = "zeek",
    .about = "conn.log and http.log of Zeek, tab-separated or JSON",
    .counts = counts,
    .begin = zeek_begin,
    .read = zeek_read,
    .finish = zeek_finish,
    .end = zeek_end,
};
