// SPDX-License-Identifier: Apache-2.0
// In: event logs of the form event(id, process, thread, source, act|sig, tag, value). Out: messages
// between processes.
#include "merge/importer.h"

#include "merge/bad_lines.h"
#include "merge/event_log.h"

typedef struct Reading {
    const BbImport *import;
    BbEventLog *log;
} Reading;

static gpointer events_begin(const BbImport *import)
{
    Reading *reading = g_new(Reading, 1);
    *reading = (Reading){import, bb_event_log_new(import, BB_EVENTS_MAX)};
    return reading;
}

static void events_end(gpointer data)
{
    Reading *reading = data;
    bb_event_log_free(reading->log);
    g_free(reading);
}

static const char *take_line(const Reading *reading, char *line)
{
    BbEventLine event;
    const char *reason = bb_event_line_parse(line, &event);
    return reason ? reason : bb_event_log_add(reading->log, &event);
}

static bool events_read(gpointer data, const char *path, GError **error)
{
    const Reading *reading = data;
    const BbImport *import = reading->import;
    g_autoptr(BbLines) lines = bb_lines_open(path, error);
    BbBadLines bad = {0};
    BbLineState state = BB_LINE_FAILED;
    char *line = NULL;
    if (!lines)
        return false;
    while ((state = bb_lines_next(lines, &line, error)) < BB_LINE_END) {
        const char *reason = bb_lines_reason(lines);
        if (state == BB_LINE_GOOD && bb_event_line_is_blank(line))
            continue;
        if (state == BB_LINE_GOOD)
            reason = take_line(reading, line);
        if (!reason)
            bad.good++;
        else if (!bb_bad_lines_add(&bad, import, bb_lines_name(lines), bb_lines_number(lines),
                                   reason, error))
            return false;
    }
    return state == BB_LINE_END &&
           bb_bad_lines_end(&bad, import, bb_lines_name(lines), bb_lines_damage(lines), error);
}

static bool events_finish(gpointer data, GError **error)
{
    return bb_event_log_finish(((Reading *)data)->log, error);
}

static const BbImportCount counts[] = {BB_EVENT_COUNTS, {NULL, NULL}};

const BbImporter bb_importer_events = {
    .name = "events",
    .about = "event logs of seven fields: event(id, process, thread, ...)",
    .counts = counts,
    .begin = events_begin,
    .read = events_read,
    .finish = events_finish,
    .end = events_end,
};
