// SPDX-License-Identifier: Apache-2.0
// Tags (attributes) of a span: who is at the other side, which protocol, how it ended. Knows the
// names of OpenTracing, OpenCensus, Zipkin, and the older and newer ones of OpenTelemetry.
#pragma once

#include "merge/span.h"

#include <json-glib/json-glib.h>

typedef struct BbSpanTags BbSpanTags;

BbSpanTags *bb_span_tags_new(void);
void bb_span_tags_free(BbSpanTags *tags);
void bb_span_tags_clear(BbSpanTags *tags); // for the next span

// Takes a tag; value is a scalar. Most mean nothing here.
void bb_span_tags_add(BbSpanTags *tags, const char *key, JsonNode *value);
// The members of an object, which may be NULL. dot: what stands for a dot in their names.
void bb_span_tags_add_members(BbSpanTags *tags, JsonObject *members, char dot);

// Says that the span failed, or that it is known to be good.
void bb_span_tags_set_failed(BbSpanTags *tags, bool failed);

// The value of a tag span.kind, NULL without. Lent.
const char *bb_span_tags_kind(const BbSpanTags *tags);

// Fills peer (unless it is known), status and proto of a span, by its kind.
void bb_span_tags_settle(const BbSpanTags *tags, BbNames *names, BbSpan *span);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSpanTags, bb_span_tags_free)
