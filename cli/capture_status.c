// SPDX-License-Identifier: Apache-2.0
// In: messages, counters, how time goes on, SIGUSR1. Out: a screen, lines on stderr, statistics.
#include "cli/capture_status.h"

#include "cli/command.h"
#include "cli/since.h"
#include "cli/stats_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>

#define INTERVAL_NS G_GINT64_CONSTANT(1000000000)
#define TEXT_EDGES 10u
#define SCREEN_EDGES 5u
#define SCREEN_ROWS 12u // fewer: one line only

// What the thread that reads knows when an interval ends.
typedef struct Moment {
    gint64 time_ns, interval_ns;
    guint64 connections, held_bytes, memory_bytes;
} Moment;

struct BbCaptureStatus {
    BbCaptureStatusSetup setup;
    BbStatsFiles *files;
    int statm;            // of /proc, open for good: opening may be forbidden later
    GAsyncQueue *moments; // of Moment

    // Of the thread that reads.
    BbSince begun; // the interval: monotonic clock, or stamps
    gint64 now_ns; // likewise
    bool terminal;
    guint drawn; // lines on the screen

    // Of the thread of messages.
    BbPulse *pulse; // NULL where nobody wants it
    BbLoss before;
    guint64 stats_lost, stats_unread; // of these, because nobody reads the pipe

    GMutex lock; // of the rest
    BbStatusReport report;
    bool fresh;
    char *warning; // to be said
};

// ---- beginning and end --------------------------------------------------------------------------

BbCaptureStatus *bb_capture_status_open(const BbCaptureStatusSetup *setup, GError **error)
{
    g_autoptr(BbCaptureStatus) status = g_new0(BbCaptureStatus, 1);
    g_mutex_init(&status->lock);
    status->setup = *setup;
    status->moments = g_async_queue_new_full(g_free);
    status->now_ns = status->report.time_ns = BB_TIME_NONE;
    status->begun = bb_since(BB_TIME_NONE);
    status->terminal = setup->screen && bb_can_redraw();
    status->statm = setup->live ? open("/proc/self/statm", O_RDONLY | O_CLOEXEC) : -1;
    if (setup->live || setup->stats)
        status->pulse = bb_pulse_new(setup->names, BB_PULSE_OPEN, BB_PULSE_EDGES);
    if (setup->stats && !(status->files = bb_stats_files_open(setup->stats, setup->names, error)))
        return NULL;
    bb_report_install();
    return g_steal_pointer(&status);
}

void bb_capture_status_free(BbCaptureStatus *status)
{
    if (!status)
        return;
    bb_capture_status_clear(status);
    bb_stats_files_free(status->files);
    if (status->statm >= 0)
        close(status->statm);
    g_async_queue_unref(status->moments);
    bb_pulse_free(status->pulse);
    bb_status_report_clear(&status->report);
    g_mutex_clear(&status->lock);
    g_free(status->warning);
    g_free(status);
}

// ---- intervals ----------------------------------------------------------------------------------

bool bb_capture_status_due(BbCaptureStatus *status, gint64 time_ns)
{
    if (!status->setup.live && !status->files)
        return false;
    status->now_ns = status->setup.live ? g_get_monotonic_time() * 1000 : time_ns;
    return bb_since_passed(&status->begun, status->now_ns, INTERVAL_NS);
}

// proc(5): the second number of statm is resident pages.
static guint64 memory_of(const BbCaptureStatus *status)
{
    char text[128] = "", *end = text;
    ssize_t size = status->statm < 0 ? 0 : pread(status->statm, text, sizeof text - 1, 0);
    if (size <= 0)
        return 0;
    text[size] = '\0';
    (void)g_ascii_strtoull(text, &end, 10);
    return g_ascii_strtoull(end, NULL, 10) * (guint64)sysconf(_SC_PAGESIZE);
}

void bb_capture_status_mark(BbCaptureStatus *status, guint64 connections, guint64 held_bytes)
{
    Moment *moment = g_new(Moment, 1);
    bool live = status->setup.live;
    if (live)
        (void)bb_capture_status_due(status, BB_TIME_NONE);
    *moment = (Moment){.time_ns = live ? g_get_real_time() * 1000 : status->now_ns,
                       .interval_ns = status->now_ns - status->begun.ns,
                       .connections = connections,
                       .held_bytes = held_bytes,
                       .memory_bytes = memory_of(status)};
    status->begun = bb_since(status->now_ns);
    g_async_queue_push(status->moments, moment);
}

void bb_capture_status_push(BbCaptureStatus *status, const BbMessage *message)
{
    if (status->pulse)
        bb_pulse_push(status->pulse, message);
}

static BbStatusReport make_report(BbCaptureStatus *status, const BbLoss *loss)
{
    g_autofree Moment *moment = g_async_queue_pop(status->moments);
    BbStatusReport report = {.time_ns = moment->time_ns,
                             .interval_ns = moment->interval_ns,
                             .live = status->setup.live,
                             .connections = moment->connections,
                             .held_bytes = moment->held_bytes,
                             .memory_bytes = moment->memory_bytes,
                             .total = *loss,
                             .stats_lost = status->stats_lost};
    for (guint kind = 0; kind < BB_LOSS_COUNT; kind++)
        report.now.count[kind] = loss->count[kind] - status->before.count[kind];
    status->before = *loss;
    if (status->pulse)
        report.beat = bb_pulse_take(status->pulse);
    return report;
}

void bb_capture_status_beat(BbCaptureStatus *status, const BbLoss *loss)
{
    g_autoptr(GError) error = NULL;
    BbStatusReport report = make_report(status, loss);
    if (status->files && !bb_stats_files_write(status->files, &report, &error))
        report.stats_lost = ++status->stats_lost;
    status->stats_unread += g_error_matches(error, BB_STATS_ERROR, BB_STATS_ERROR_UNREAD);
    g_mutex_lock(&status->lock);
    if (error && status->stats_lost == 1)
        status->warning = g_strdup(error->message);
    bb_status_report_clear(&status->report);
    status->report = report;
    status->fresh = true;
    g_mutex_unlock(&status->lock);
}

// ---- the screen ---------------------------------------------------------------------------------

// The cursor stands behind the last line.
void bb_capture_status_clear(BbCaptureStatus *status)
{
    if (!status->drawn)
        return;
    if (status->drawn > 1)
        fprintf(stderr, "\033[%uA", status->drawn - 1);
    fputs("\r\033[J", stderr);
    fflush(stderr);
    status->drawn = 0;
}

// A line as far as the terminal is wide, so that it never takes two.
static void draw_line(BbCaptureStatus *status, const GString *line, guint columns)
{
    const char *c = line->str;
    for (guint column = 0; *c; c = g_utf8_next_char(c)) {
        gunichar letter = g_utf8_get_char(c);
        column += g_unichar_iszerowidth(letter) ? 0 : g_unichar_iswide(letter) ? 2 : 1;
        if (column >= columns)
            break;
    }
    fprintf(stderr, "%s%.*s", status->drawn ? "\n" : "", (int)(c - line->str), line->str);
    status->drawn++;
}

static void draw(BbCaptureStatus *status)
{
    struct winsize size = {0};
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col;
    guint columns = known ? size.ws_col : 80;
    guint edges = known && size.ws_row >= SCREEN_ROWS ? SCREEN_EDGES : 0;
    const BbStatusReport *report = &status->report;
    g_autoptr(GString) line = g_string_new(NULL);
    bb_capture_status_clear(status);
    bb_status_report_append_line(report, status->setup.source, line);
    draw_line(status, line, columns);
    for (guint i = 0; report->beat.edges && i < MIN(edges, report->beat.edges->len); i++) {
        const BbPulseEdge *edge = &g_array_index(report->beat.edges, BbPulseEdge, i);
        if (edge->now.calls == 0)
            break;
        g_string_truncate(line, 0);
        bb_status_report_append_edge(report, edge, status->setup.names, line);
        draw_line(status, line, columns);
    }
    fflush(stderr);
}

// ---- words --------------------------------------------------------------------------------------

static void say_text(BbCaptureStatus *status, const BbLoss *total)
{
    g_autoptr(GString) text = g_string_new(NULL);
    BbStatusReport report = status->report;
    report.total = *total;
    bb_status_report_append_text(&report, status->setup.source, status->setup.names, TEXT_EDGES,
                                 text);
    g_strchomp(text->str);
    g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
    bb_capture_status_clear(status);
    for (char **line = lines; *line; line++)
        bb_say("%s", *line);
}

static void say_warning(BbCaptureStatus *status)
{
    g_autofree char *warning = g_steal_pointer(&status->warning);
    if (!warning)
        return;
    bb_capture_status_clear(status);
    bb_say("warning: %s", warning);
}

void bb_capture_status_show(BbCaptureStatus *status, const BbLoss *total)
{
    g_mutex_lock(&status->lock);
    say_warning(status);
    if (bb_report_requested())
        say_text(status, total);
    if (status->fresh && status->terminal)
        draw(status);
    status->fresh = false;
    g_mutex_unlock(&status->lock);
}

bool bb_capture_status_finish(BbCaptureStatus *status, const BbLoss *loss)
{
    bb_capture_status_clear(status);
    if (status->files)
        bb_capture_status_beat(status, loss);
    say_warning(status);
    guint64 lost = status->stats_lost - status->stats_unread;
    if (status->stats_unread)
        bb_say("warning: %s: %" G_GUINT64_FORMAT " line%s of statistics had no reader",
               status->setup.stats, status->stats_unread, status->stats_unread == 1 ? "" : "s");
    if (lost)
        bb_say_error("%s: %" G_GUINT64_FORMAT " line%s or file%s of statistics %s not written: "
                     "free space or rights there",
                     status->setup.stats, lost, lost == 1 ? "" : "s", lost == 1 ? "" : "s",
                     lost == 1 ? "was" : "were");
    return lost == 0;
}
