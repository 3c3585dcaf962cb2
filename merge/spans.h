// SPDX-License-Identifier: Apache-2.0
// Spans that wait for the others of their traces, from any number of inputs. What waits is bounded:
// when there are too many, the trace that has got no span for the longest time goes out as it is
// (counted as spans_traces_early); spans of it that come later find none of those before.
#pragma once

#include "merge/importer.h"
#include "merge/span.h"

// Spans that wait; 88 bytes each, up to twice that while a trace grows.
#define BB_SPANS_MAX (1u << 20)

// Rows of BbImporter.counts for what comes of spans.
#define BB_SPAN_COUNTS                                                                      \
    {"spans", "spans"},                                                                     \
        {"spans_no_id", "spans without an id of their own or of their trace: left out"},    \
        {"spans_no_service", "spans that name no service"},                                 \
        {"spans_no_time", "spans without a time at which they began"},                      \
        {"spans_backwards", "spans that end before they begin: their times are not used"},  \
        {"spans_names_cut", "names of operations or services of more than 255 bytes: cut"}, \
        {"spans_traces_early", "traces that were ended because too many spans waited"},     \
        {"spans_joined", "pairs of spans that tell of one message from both ends"},         \
        {"spans_internal", "spans of work within a service: no message"},                   \
        {"spans_kind_guessed",                                                              \
         "spans without kind below another service's, taken for a server's"},               \
        {"spans_again", "spans that tell of a message once more, in the same service"},     \
        {"spans_parts", "spans that came in several parts: those that another takes in"},   \
        {"spans_duplicate", "spans with the id and kind of another: left out"},             \
        {"spans_unusable", "messages without any time or service: left out"},               \
        {"spans_peer_unknown", "messages whose other end is named by no span and no tag"},  \
        {"spans_parent_unknown", "messages whose cause is not among the spans"},            \
        {"spans_foreign_parent", "references to spans of other traces: not followed"},      \
        {"spans_circular", "spans that are below themselves"},                              \
    {                                                                                       \
        "spans_without_end", "calls without a known end: no return"                         \
    }

typedef struct BbSpans BbSpans;

// import is lent, and outlives the spans. most: of spans that wait; at least 1.
BbSpans *bb_spans_new(const BbImport *import, guint32 most);
void bb_spans_free(BbSpans *spans);

// Takes a span; names and ids are of import->names. Fails when the sink does.
bool bb_spans_add(BbSpans *spans, const BbSpan *span, GError **error);

// Gives what waits, in order of the traces' last spans. Fails when the sink does.
bool bb_spans_finish(BbSpans *spans, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSpans, bb_spans_free)
