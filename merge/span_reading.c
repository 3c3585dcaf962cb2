// SPDX-License-Identifier: Apache-2.0
// In: a file of JSON and what its form does with a value. Out: spans.
#include "merge/span_reading.h"

#include "merge/json_values.h"

#include <string.h>

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

// Returns false, with the error set, where reading cannot go on.
static bool take(BbSpanReading *reading, const BbSpanForm *form, const BbJsonValues *values,
                 JsonNode *value, GError **error)
{
    JsonObject *object = JSON_NODE_HOLDS_OBJECT(value) ? json_node_get_object(value) : NULL;
    bool good = object && form->take(reading, object);
    if (reading->failure) {
        g_propagate_error(error, g_steal_pointer(&reading->failure));
        return false;
    }
    if (good)
        return true;
    if (!reading->import->skip_bad) {
        bb_json_values_refuse(values, form->wanted, error);
        return false;
    }
    bb_counters_add(reading->import->counters, "json_bad_values", 1);
    return true;
}

// What is malformed is skipped where that is wanted and the input itself is whole.
static bool pass_bad(const BbSpanReading *reading, const BbJsonValues *values)
{
    if (!reading->import->skip_bad || !bb_json_values_may_go_on(values))
        return false;
    bb_counters_add(reading->import->counters, "json_bad_values", 1);
    return true;
}

bool bb_span_reading_read(BbSpanReading *reading, const BbSpanForm *form, const char *path,
                          GError **error)
{
    g_autoptr(BbJsonValues) values = bb_json_values_open(path, form->lists, error);
    if (!values)
        return false;
    for (;;) {
        g_autoptr(GError) failure = NULL;
        JsonNode *value = bb_json_values_next(values, &failure);
        if (value) {
            if (!take(reading, form, values, value, error))
                return false;
        } else if (!failure) {
            break;
        } else if (!pass_bad(reading, values)) {
            g_propagate_error(error, g_steal_pointer(&failure));
            return false;
        }
    }
    if (bb_json_values_damage(values))
        reading->import->warn(bb_json_values_damage(values));
    return true;
}

bool bb_span_reading_finish(gpointer reading, GError **error)
{
    return bb_spans_finish(((BbSpanReading *)reading)->spans, error);
}
