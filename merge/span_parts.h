// SPDX-License-Identifier: Apache-2.0
// Spans that come in parts: a tracer may tell of one span twice, when it begins and when it ends,
// or what it learns late.
//
//   A part has the id of another span, its service (or names none), and its side (or no kind). It
//   becomes one with the first such span where it has something that this one lacks; nothing that
//   is there is changed. What has nothing new stays what it is, a duplicate.
#pragma once

#include "data/counters.h"
#include "merge/span.h"

// Joins the parts among spans, all of one trace. Returns how many spans are left, in the order that
// they had. Counter: spans_parts.
guint32 bb_span_parts_join(BbSpan *spans, guint32 count, BbCounters *counters);
