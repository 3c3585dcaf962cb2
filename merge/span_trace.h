// SPDX-License-Identifier: Apache-2.0
// The spans of one trace as messages.
//
//   A client's span with the server's span that it caused (a child, or one of the same id) is a
//   call with both of its times, and a return; either alone is a call and a return seen at one end.
//   A producer's span with each consumer's span that it caused is a free message; either alone,
//   too. All other spans only tell what caused what. So do spans that tell of a message once more:
//   a server's right below one of the same service and caller, a client's right above one with the
//   same peer. A span without kind, below one of another service that is not a client's, is a
//   server's: it got a call from there.
//
//   A span that comes in parts is one: see merge/span_parts.h.
//
//   A call's id is the client's span, where that is known, else the server's. Its parent is the
//   nearest call or message above by which its sender was reached; a root has no span above that.
#pragma once

#include "merge/importer.h"
#include "merge/span.h"

// Gives the messages of spans, all of one trace, to import's sink. Fails when the sink does. Spans
// are changed: parts joined, kinds guessed. Counters: spans_joined and what follows it in
// BB_SPAN_COUNTS (merge/spans.h).
bool bb_span_trace_give(const BbImport *import, BbSpan *spans, guint32 count, GError **error);
