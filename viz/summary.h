// SPDX-License-Identifier: Apache-2.0
// The sentences that stand with every view: what was measured, what is shown, what was left out.
#pragma once

#include "viz/view.h"

// "bbpaths nesting, 2003-03-14 ... UTC, 50.0 s, 20 messages, 10 calls, 0.1 % unmatched"
void bb_summary_append_trace(GString *out, const BbPatterns *patterns);

// "Chosen by --root=web1: 12 of 3,456 requests"; false where all instances are shown.
bool bb_summary_append_chosen(GString *out, const BbRanking *ranking);

// "Top 10 of 57 patterns by total latency, with 5 instances or more"; of convolution "Top 10 of 57
// patterns by number of paths, with 0.5 % of all paths or more"
void bb_summary_append_shown(GString *out, const BbPatterns *patterns, const BbRanking *ranking);

// Why there are no patterns, or no instances: "the trace has no calls".
const char *bb_summary_none(const BbFacts *facts, bool chains);

// "Left out: 47 patterns, 4,321 instances, 8.3 % of all latency"; of convolution "Left out:
// 47 patterns (40 for being rare), 4,321 paths, 8.3 % of all paths"; false where nothing was.
bool bb_summary_append_left_out(GString *out, const BbRanking *ranking);

// "400 messages with which nothing correlates that their senders got: each begins a path, rightly
// or not"; false where there are none.
bool bb_summary_append_unrelated(GString *out, const BbFacts *facts);

// "35 % of all latency", "35 % of the chosen latency"; of convolution "35 % of all paths" likewise.
void bb_summary_append_share(GString *out, const BbRanking *ranking, const BbPattern *pattern);

// ", about 3 % of them wrong"; nothing where it is not known.
void bb_summary_append_wrong(GString *out, const BbPattern *pattern);

// "derived: other paths explain it"; nothing for a causal pattern.
void bb_summary_append_derived(GString *out, const BbPattern *pattern);

// "52 % sure", for a call whose cause is a toss of a coin; false, and nothing, for any other.
bool bb_summary_append_toss(GString *out, const BbPattern *pattern, const BbPatternNode *node);

// Calls without return and returns without call: what the algorithms count as unmatched.
guint64 bb_summary_unmatched(const BbFacts *facts);

// From the first time seen to the last, in ns; 0 for an empty trace.
gint64 bb_summary_duration(const BbFacts *facts);
