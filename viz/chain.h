// SPDX-License-Identifier: Apache-2.0
// Figures of a convolution pattern: a chain in which each node has at most one call, with delays in
// place of latencies (data/chains.h).
#pragma once

#include "data/census.h"

// Whether the patterns are chains.
bool bb_chain_is_form_of(const BbPatterns *patterns);

// The message that follows in the chain; NULL at its end.
const BbPatternNode *bb_chain_next(const BbPatternNode *node);

// How many delays are known of the message to node; 0 of the first one.
guint bb_chain_delays(const BbPatternNode *node);
const BbPatternDelay *bb_chain_delay(const BbPatternNode *node, guint i); // by falling count

// Messages of all paths that begin like this one, up to node; where nobody counted them, those with
// a delay, and of the first one as many as there are paths.
guint64 bb_chain_messages(const BbPattern *pattern, const BbPatternNode *node);

// Mean over the delays of the message to node, in ns; 0 of the first one.
gint64 bb_chain_mean_delay(const BbPatternNode *node);

// The message with the greatest mean delay; of equals the first. NULL if none is delayed.
const BbPatternNode *bb_chain_slowest(const BbPattern *pattern);

// Sum of the mean delays of the chain, but for those less than 0, in ns.
gint64 bb_chain_sum(const BbPattern *pattern);

// Whether it is known how long a path takes from end to end. Of a single message it is not, unless
// it was seen at both ends.
bool bb_chain_is_timed(const BbPattern *pattern);
