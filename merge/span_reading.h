// SPDX-License-Identifier: Apache-2.0
// What the importers of spans share: JSON in, value by value; spans handed on to those that wait.
#pragma once

#include "merge/json_reading.h"
#include "merge/span_tags.h"
#include "merge/spans.h"

typedef struct BbSpanReading {
    const BbImport *import; // lent
    BbSpans *spans;
    BbSpanTags *tags; // of the span in hand
    GError *failure;  // of the sink; what comes after it is dropped
} BbSpanReading;

typedef struct BbSpanForm {
    const char *const *lists; // see bb_json_values_open
    const char *wanted;       // a sentence for values that are not of the form
    // Hands the spans of value on. Returns false where it is not of the form.
    bool (*take)(BbSpanReading *reading, JsonObject *value);
} BbSpanForm;

// Rows for BbImporter.counts.
#define BB_SPAN_READING_COUNTS BB_SPAN_COUNTS, BB_JSON_READING_COUNTS

// For BbImporter's begin, read, finish and end.
gpointer bb_span_reading_begin(const BbImport *import);
bool bb_span_reading_read(BbSpanReading *reading, const BbSpanForm *form, const char *path,
                          GError **error);
bool bb_span_reading_finish(gpointer reading, GError **error);
void bb_span_reading_end(gpointer reading);

// The name of this text, counted where it is cut; see bb_span_name.
guint32 bb_span_reading_name(const BbSpanReading *reading, const char *text);

// Start and end, of the members with the start and the duration, in microseconds.
void bb_span_take_micros(BbSpan *span, JsonObject *object, const char *start_name);

// Begins a span: tags cleared. Ends it: settles them by its kind, hands it on.
void bb_span_reading_begin_span(BbSpanReading *reading);
void bb_span_reading_add(BbSpanReading *reading, BbSpan *span);
