// SPDX-License-Identifier: Apache-2.0
// In: a report a second. Out: lines of JSON, and an OpenMetrics file that is always whole.
#include "cli/stats_files.h"

#include "data/json.h"
#include "data/output.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct BbStatsFiles {
    const BbNames *names;
    char *path, *metrics_path; // for words
    char *metrics, *temporary; // names within folder
    int json, folder;          // descriptors; json -1: of a pipe that nobody reads
    bool pipe;
    GString *rest; // of a line of which a pipe took only the begin
};

void bb_stats_files_free(BbStatsFiles *files)
{
    if (!files)
        return;
    if (files->json >= 0)
        close(files->json);
    if (files->folder >= 0)
        close(files->folder);
    g_free(files->path);
    g_free(files->metrics_path);
    g_free(files->metrics);
    g_free(files->temporary);
    if (files->rest)
        g_string_free(files->rest, TRUE);
    g_free(files);
}

char *bb_stats_files_metrics_path(const char *path)
{
    static const char *const endings[] = {".json", ".jsonl"};
    gsize length = strlen(path);
    for (gsize i = 0; i < G_N_ELEMENTS(endings); i++)
        if (g_str_has_suffix(path, endings[i])) {
            length -= strlen(endings[i]);
            break;
        }
    return g_strdup_printf("%.*s.prom", (int)length, path);
}

GQuark bb_stats_error_quark(void)
{
    return g_quark_from_static_string("bb-stats-error-quark");
}

static void set_error(GError **error, const char *path, const char *what)
{
    int number = errno;
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(number),
                "%s: %s: %s: %s, or give another --stats", path, what, g_strerror(number),
                bb_output_remedy(number));
}

// The end of a named pipe (fifo(7)) is there only while somebody reads; nobody is waited for.
static int open_json(const BbStatsFiles *files)
{
    int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | (files->pipe ? O_NONBLOCK : 0);
    return open(files->path, flags, 0666);
}

BbStatsFiles *bb_stats_files_open(const char *path, const BbNames *names, GError **error)
{
    g_autoptr(BbStatsFiles) files = g_new0(BbStatsFiles, 1);
    files->names = names;
    files->path = g_strdup(path);
    files->metrics_path = bb_stats_files_metrics_path(path);
    files->metrics = g_path_get_basename(files->metrics_path);
    files->temporary = g_strconcat(files->metrics, ".tmp", NULL);
    g_autofree char *folder = g_path_get_dirname(path);
    files->folder = -1;
    files->rest = g_string_new(NULL);
    struct stat status;
    files->pipe = stat(path, &status) == 0 && S_ISFIFO(status.st_mode);
    files->json = open_json(files);
    if (files->json >= 0 || (files->pipe && errno == ENXIO))
        files->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (files->folder >= 0)
        return g_steal_pointer(&files);
    set_error(error, path, "cannot open");
    return NULL;
}

// ---- JSON ---------------------------------------------------------------------------------------

static void put_sum(BbJson *json, const BbPulseSum *sum)
{
    bb_json_put_uint(json, "calls", sum->calls);
    bb_json_put_uint(json, "returns", sum->returns);
    bb_json_put_uint(json, "errors", sum->errors);
    bb_json_key(json, "mean_latency");
    sum->timed ? bb_json_seconds(json, bb_pulse_sum_mean(sum)) : bb_json_null(json);
    bb_json_key(json, "max_latency");
    sum->timed ? bb_json_seconds(json, sum->max_ns) : bb_json_null(json);
}

static void put_edges(BbJson *json, const BbPulseBeat *beat, const BbNames *names)
{
    BbPulseSum other = beat->other;
    bb_json_key(json, "edges");
    bb_json_begin_array(json);
    for (guint i = 0; i < beat->edges->len; i++) {
        const BbPulseEdge *edge = &g_array_index(beat->edges, BbPulseEdge, i);
        if (edge->now.calls + edge->now.returns == 0)
            continue;
        if (i >= BB_STATS_EDGES) {
            bb_pulse_sum_add(&other, &edge->now);
            continue;
        }
        bb_json_begin_object(json);
        bb_json_put_string(json, "caller", bb_names_text(names, edge->caller));
        bb_json_put_string(json, "callee", bb_names_text(names, edge->callee));
        bb_json_put_string(json, "proto", bb_names_text(names, edge->proto));
        put_sum(json, &edge->now);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
    bb_json_key(json, "other");
    bb_json_begin_object(json);
    put_sum(json, &other);
    bb_json_end_object(json);
}

static void put_interval(BbJson *json, const BbStatusReport *report)
{
    const guint64 *now = report->now.count;
    bb_json_put_uint(json, "packets", now[BB_SEEN_FRAMES]);
    bb_json_put_uint(json, "bytes", now[BB_SEEN_BYTES]);
    bb_json_put_uint(json, "messages", now[BB_CALLS] + now[BB_RETURNS] + now[BB_FREES]);
    bb_json_put_uint(json, "calls", now[BB_CALLS]);
    bb_json_put_uint(json, "returns", now[BB_RETURNS]);
    bb_json_put_uint(json, "errors", report->beat.now.errors);
    bb_json_put_uint(json, "gaps", now[BB_TCP_GAPS]);
    bb_json_put_uint(json, "interface_dropped", now[BB_INTERFACE_DROPPED]);
    bb_json_put_uint(json, "kernel_dropped", now[BB_KERNEL_DROPPED]);
}

// Counters that are not zero.
static void put_totals(BbJson *json, const BbLoss *total)
{
    bb_json_key(json, "totals");
    bb_json_begin_object(json);
    for (guint kind = 0; kind < BB_LOSS_COUNT; kind++)
        if (total->count[kind])
            bb_json_put_uint(json, bb_loss_name(kind), total->count[kind]);
    bb_json_end_object(json);
}

static void put_report(BbJson *json, const BbStatusReport *report, const BbNames *names)
{
    bb_json_begin_object(json);
    bb_json_key(json, "time");
    report->time_ns == BB_TIME_NONE ? bb_json_null(json) : bb_json_seconds(json, report->time_ns);
    bb_json_put_seconds(json, "seconds", report->interval_ns);
    put_interval(json, report);
    bb_json_put_uint(json, "open_calls", report->beat.open);
    if (report->live) {
        bb_json_put_uint(json, "connections", report->connections);
        bb_json_put_uint(json, "held_bytes", report->held_bytes);
        bb_json_put_uint(json, "memory_bytes", report->memory_bytes);
    }
    put_edges(json, &report->beat, names);
    put_totals(json, &report->total);
    bb_json_end_object(json);
}

static void append_json(const BbStatusReport *report, const BbNames *names, GString *out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        g_error("no memory for a line of statistics");
    BbJson *json = bb_json_new(memory);
    put_report(json, report, names);
    (void)bb_json_finish(json);
    bb_json_free(json);
    (void)fclose(memory);
    g_string_append_len(out, text, (gssize)size);
    free(text);
}

// ---- OpenMetrics --------------------------------------------------------------------------------

static void append_family(GString *out, const char *name, const char *type, const char *help)
{
    g_string_append_printf(out, "# TYPE bbtrace_%s %s\n", name, type);
    if (g_str_has_suffix(name, "_seconds") || g_str_has_suffix(name, "_bytes"))
        g_string_append_printf(out, "# UNIT bbtrace_%s %s\n", name, strrchr(name, '_') + 1);
    g_string_append_printf(out, "# HELP bbtrace_%s %s\n", name, help);
}

static void append_gauge(GString *out, const char *name, const char *help, guint64 value)
{
    append_family(out, name, "gauge", help);
    g_string_append_printf(out, "bbtrace_%s %" G_GUINT64_FORMAT "\n", name, value);
}

static void append_label(GString *out, const char *key, const char *text)
{
    g_string_append_printf(out, "%s=\"", key);
    for (const char *c = text; *c;) {
        gunichar letter = g_utf8_get_char_validated(c, -1);
        if (letter == (gunichar)-1 || letter == (gunichar)-2 || letter == '%')
            g_string_append_printf(out, "%%%02X", (guint8)*c++);
        else if (*c == '\n')
            g_string_append(out, "\\n"), c++;
        else if (*c == '"' || *c == '\\')
            g_string_append_c(out, '\\'), g_string_append_c(out, *c++);
        else
            g_string_append_unichar(out, letter), c = g_utf8_next_char(c);
    }
    g_string_append_c(out, '"');
}

static void append_labels(GString *out, const BbPulseEdge *edge, const BbNames *names)
{
    append_label(out, "{caller", bb_names_text(names, edge->caller));
    append_label(out, ",callee", bb_names_text(names, edge->callee));
    append_label(out, ",proto", bb_names_text(names, edge->proto));
    g_string_append(out, "} ");
}

static guint64 edge_calls(const BbPulseSum *sum)
{
    return sum->calls;
}

static guint64 edge_returns(const BbPulseSum *sum)
{
    return sum->returns;
}

static guint64 edge_errors(const BbPulseSum *sum)
{
    return sum->errors;
}

static const struct {
    const char *name, *help;
    guint64 (*value)(const BbPulseSum *sum);
} edge_counters[] = {
    {"calls", "Calls", edge_calls},
    {"returns", "Returns", edge_returns},
    {"errors", "Returns that tell of a failure", edge_errors},
};

static void append_seconds(GString *out, gint64 ns)
{
    g_string_append_printf(out, "%" G_GINT64_FORMAT ".%09d\n", ns / 1000000000,
                           (int)(ns % 1000000000));
}

static void append_edge_counters(GString *out, const BbPulseBeat *beat, const BbNames *names)
{
    for (gsize i = 0; i < G_N_ELEMENTS(edge_counters); i++) {
        g_autofree char *name = g_strconcat("edge_", edge_counters[i].name, NULL);
        g_autofree char *other = g_strconcat("other_edge_", edge_counters[i].name, NULL);
        g_autofree char *help = g_strconcat(edge_counters[i].help, " of an edge", NULL);
        g_autofree char *rest =
            g_strconcat(edge_counters[i].help, " of edges beyond the limit, and forgotten", NULL);
        append_family(out, name, "counter", help);
        for (guint j = 0; j < beat->edges->len; j++) {
            const BbPulseEdge *edge = &g_array_index(beat->edges, BbPulseEdge, j);
            g_string_append_printf(out, "bbtrace_%s_total", name);
            append_labels(out, edge, names);
            g_string_append_printf(out, "%" G_GUINT64_FORMAT "\n",
                                   edge_counters[i].value(&edge->total));
        }
        append_family(out, other, "counter", rest);
        g_string_append_printf(out, "bbtrace_%s_total %" G_GUINT64_FORMAT "\n", other,
                               edge_counters[i].value(&beat->other_total));
    }
}

static void append_edge_latencies(GString *out, const BbPulseBeat *beat, const BbNames *names)
{
    static const char name[] = "edge_latency_seconds";
    append_family(out, name, "summary", "Latency of an edge, first byte to first byte");
    for (guint i = 0; i < beat->edges->len; i++) {
        const BbPulseEdge *edge = &g_array_index(beat->edges, BbPulseEdge, i);
        g_string_append_printf(out, "bbtrace_%s_sum", name);
        append_labels(out, edge, names);
        append_seconds(out, edge->total.latency_ns);
        g_string_append_printf(out, "bbtrace_%s_count", name);
        append_labels(out, edge, names);
        g_string_append_printf(out, "%" G_GUINT64_FORMAT "\n", edge->total.timed);
    }
}

// Times in seconds, the unit of OpenMetrics for them.
static void append_time(GString *out, const char *name, guint64 ms)
{
    g_autofree char *seconds =
        g_strdup_printf("%.*s_seconds", (int)(strlen(name) - strlen("_ms")), name);
    g_autofree char *help = g_strdup_printf("time: see %s of --stats", name);
    append_family(out, seconds, "counter", help);
    g_string_append_printf(out, "bbtrace_%s_total ", seconds);
    append_seconds(out, (gint64)ms * 1000000);
}

static void append_counters(GString *out, const BbLoss *total)
{
    for (guint kind = 0; kind < BB_LOSS_COUNT; kind++) {
        const char *name = bb_loss_name(kind);
        if (g_str_has_suffix(name, "_ms")) {
            append_time(out, name, total->count[kind]);
            continue;
        }
        append_family(out, name, "counter", bb_loss_meaning(kind));
        g_string_append_printf(out, "bbtrace_%s_total %" G_GUINT64_FORMAT "\n", name,
                               total->count[kind]);
    }
}

static void append_metrics(const BbStatusReport *report, const BbNames *names, GString *out)
{
    append_counters(out, &report->total);
    append_gauge(out, "open_calls", "Calls that wait for their return", report->beat.open);
    if (report->live) {
        append_gauge(out, "open_connections", "Connections remembered", report->connections);
        append_gauge(out, "held_bytes", "Bytes that wait for reassembly", report->held_bytes);
        append_gauge(out, "resident_memory_bytes", "Resident memory", report->memory_bytes);
    }
    append_edge_counters(out, &report->beat, names);
    append_edge_latencies(out, &report->beat, names);
    g_string_append(out, "# EOF\n");
}

// ---- writing ------------------------------------------------------------------------------------

static bool write_all(int file, const GString *text)
{
    for (gsize done = 0; done < text->len;) {
        ssize_t wrote = write(file, text->str + done, text->len - done);
        if (wrote < 0 && errno != EINTR)
            return false;
        if (wrote == 0) {
            errno = ENOSPC;
            return false;
        }
        done += wrote > 0 ? (gsize)wrote : 0;
    }
    return true;
}

// write(2) without the signal that a pipe without reader sends: it would end the process.
static ssize_t write_unbroken(int file, const GString *text)
{
    const struct timespec now = {0};
    sigset_t pipe, before, waiting;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&waiting);
    (void)pthread_sigmask(SIG_BLOCK, &pipe, &before);
    ssize_t wrote = write(file, text->str, text->len);
    int reason = errno;
    if (wrote < 0 && reason == EPIPE && !sigismember(&waiting, SIGPIPE))
        (void)sigtimedwait(&pipe, NULL, &now);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return wrote;
}

// Writes of rest what the pipe takes now. Returns whether that was all.
static bool push_rest(BbStatsFiles *files)
{
    while (files->rest->len > 0) {
        ssize_t wrote = write_unbroken(files->json, files->rest);
        if (wrote > 0)
            g_string_erase(files->rest, 0, wrote);
        else if (wrote == 0 || errno != EINTR)
            return false;
    }
    return true;
}

// A line that a pipe has begun to take is given to it whole, be it with the next ones. Where its
// reader has gone, or takes nothing more, lines are lost until that changes.
static bool write_to_pipe(BbStatsFiles *files, const GString *text, GError **error)
{
    if (files->json < 0)
        files->json = open_json(files);
    bool ready = files->json >= 0 && push_rest(files);
    gsize before = text->len;
    if (ready) {
        g_string_append_len(files->rest, text->str, (gssize)text->len);
        if (push_rest(files) || (errno == EAGAIN && files->rest->len < before))
            return true;
    }
    int reason = errno;
    if (reason == EPIPE && files->json >= 0) {
        close(files->json);
        files->json = -1;
    }
    if (ready || reason == EPIPE)
        g_string_truncate(files->rest, 0);
    g_set_error(error, BB_STATS_ERROR, BB_STATS_ERROR_UNREAD,
                "%s: nobody reads this pipe, or not fast enough: lines of statistics are lost "
                "until somebody does",
                files->path);
    return false;
}

// A file that was moved away or removed, as by logrotate(8), is left to whoever did so. Where no
// new one can be made, lines go on into the old one.
static void follow_name(BbStatsFiles *files)
{
    struct stat ours, named;
    if (fstat(files->json, &ours) != 0 || !S_ISREG(ours.st_mode))
        return;
    bool there = stat(files->path, &named) == 0;
    if (there ? named.st_dev == ours.st_dev && named.st_ino == ours.st_ino : errno != ENOENT)
        return;
    int json = open_json(files);
    if (json < 0)
        return;
    close(files->json);
    files->json = json;
}

// A line that found no room for its end is taken away again.
static bool write_line(BbStatsFiles *files, const GString *text, GError **error)
{
    struct stat before;
    follow_name(files);
    bool regular = fstat(files->json, &before) == 0 && S_ISREG(before.st_mode);
    if (write_all(files->json, text))
        return true;
    set_error(error, files->path, "cannot write");
    if (regular && ftruncate(files->json, before.st_size) != 0)
        g_prefix_error(error, "with a broken last line: ");
    return false;
}

static bool replace_metrics(const BbStatsFiles *files, const GString *text, GError **error)
{
    int file = openat(files->folder, files->temporary,
                      O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    bool whole = file >= 0 && write_all(file, text);
    if (file >= 0 && close(file) != 0) // says what a server of files could not keep
        whole = false;
    if (!whole) {
        set_error(error, files->metrics_path, "cannot write");
        (void)unlinkat(files->folder, files->temporary, 0);
        return false;
    }
    if (renameat(files->folder, files->temporary, files->folder, files->metrics) == 0)
        return true;
    set_error(error, files->metrics_path, "cannot replace");
    return false;
}

bool bb_stats_files_write(BbStatsFiles *files, const BbStatusReport *report, GError **error)
{
    g_autoptr(GString) line = g_string_new(NULL);
    g_autoptr(GString) metrics = g_string_new(NULL);
    append_json(report, files->names, line);
    append_metrics(report, files->names, metrics);
    GError *unwritten = NULL, *unplaced = NULL;
    bool wrote =
        files->pipe ? write_to_pipe(files, line, &unwritten) : write_line(files, line, &unwritten);
    bool placed = replace_metrics(files, metrics, &unplaced);
    if (!wrote && (placed || !files->pipe)) // whose error says more
        g_propagate_error(error, g_steal_pointer(&unwritten));
    else if (!placed)
        g_propagate_error(error, g_steal_pointer(&unplaced));
    g_clear_error(&unwritten);
    g_clear_error(&unplaced);
    return wrote && placed;
}
