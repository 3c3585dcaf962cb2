// SPDX-License-Identifier: Apache-2.0
// In: a file of JSON and what its form does with a value. Out: spans.
#include "merge/span_reading.h"

#include <string.h>

#include "merge/member.h"

#define MICROSECOND 1000

gpointer bb_span_reading_begin(const BbImport *import)
{
    BbSpanReading *reading = g_new0(BbSpanReading, 1);
    reading->import = import;
    reading->spans = bb_spans_new(import, BB_SPANS_MAX);
    reading->tags = bb_span_tags_new();
    return reading;
}

void bb_span_reading_end(gpointer data)
{
    BbSpanReading *reading = data;
    bb_spans_free(reading->spans);
    bb_span_tags_free(reading->tags);
    g_clear_error(&reading->failure);
    g_free(reading);
}

guint32 bb_span_reading_name(const BbSpanReading *reading, const char *text)
{
    if (text && strlen(text) > BB_SPAN_NAME_MAX)
        bb_counters_add(reading->import->counters, "spans_names_cut", 1);
    return bb_span_name(reading->import->names, text);
}

void bb_span_take_micros(BbSpan *span, JsonObject *object, const char *start_name)
{
    gint64 start = 0, duration = 0, end = 0;
    (void)bb_member_integer(object, start_name, &start);
    span->start_ns = bb_span_time(start, MICROSECOND);
    if (bb_member_integer(object, "duration", &duration) &&
        !__builtin_add_overflow(start, duration, &end))
        span->end_ns = bb_span_time(end, MICROSECOND);
}

void bb_span_reading_begin_span(BbSpanReading *reading)
{
    bb_span_tags_clear(reading->tags);
}

void bb_span_reading_add(BbSpanReading *reading, BbSpan *span)
{
    bb_span_tags_settle(reading->tags, reading->import->names, span);
    if (!reading->failure)
        (void)bb_spans_add(reading->spans, span, &reading->failure);
}

typedef struct Taking {
    BbSpanReading *reading;
    const BbSpanForm *form;
} Taking;

static bool take(gpointer user, JsonObject *value, GError **error)
{
    const Taking *taking = user;
    bool good = taking->form->take(taking->reading, value);
    if (!taking->reading->failure)
        return good;
    g_propagate_error(error, g_steal_pointer(&taking->reading->failure));
    return false;
}

bool bb_span_reading_read(BbSpanReading *reading, const BbSpanForm *form, const char *path,
                          GError **error)
{
    Taking taking = {reading, form};
    const BbJsonForm json = {.lists = form->lists, .wanted = form->wanted, .take = take};
    return bb_json_reading_run(reading->import, &json, &taking, path, error);
}

bool bb_span_reading_finish(gpointer reading, GError **error)
{
    return bb_spans_finish(((BbSpanReading *)reading)->spans, error);
}
