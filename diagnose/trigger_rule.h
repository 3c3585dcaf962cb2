// SPDX-License-Identifier: Apache-2.0
// What a trigger waits for, as text:
//   latency(GLOBS) mean|max|pN > DURATION over DURATION [min N]
//   errors(GLOBS) > N% over DURATION [min N]
//   open(GLOBS) > DURATION
//   silent(GLOBS) > DURATION
// GLOBS are patterns parted by commas (data/globs.h): of operations or of the nodes that are
// called; of silent, of nodes. pN is a quantile, N from 0 to 100 with decimals. A DURATION is a
// number with ns, us, ms, s, min or h.
#pragma once

#include "data/globs.h"

typedef enum {
    BB_TRIGGER_LATENCY, // of calls that returned within the window
    BB_TRIGGER_ERRORS,  // share of their failures (data/status.h)
    BB_TRIGGER_OPEN,    // a call has been open for longer
    BB_TRIGGER_SILENT,  // a node that once sent has sent nothing for longer
} BbTriggerKind;

typedef enum { BB_TRIGGER_MEAN, BB_TRIGGER_MAX, BB_TRIGGER_QUANTILE } BbTriggerFigure;

typedef struct BbTriggerRule {
    BbTriggerKind kind;
    char *text; // as given, less white space at its ends
    BbGlobs *globs;
    BbTriggerFigure figure; // of a latency
    double quantile;        // 0 to 1
    gint64 limit_ns;        // of a latency, open or silent
    double share;           // of errors, 0 to 1
    gint64 window_ns;       // of a latency or errors
    guint64 least;          // calls in the window, for its figure to count
} BbTriggerRule;

// A window or a time without end of a call or silence: 10 ms to 24 h.
#define BB_TRIGGER_TIME_MIN ((gint64)10000000)
#define BB_TRIGGER_TIME_MAX ((gint64)86400000000000)
#define BB_TRIGGER_LEAST 10u // unless the rule says another; 1 for max
#define BB_TRIGGER_TEXT_MAX 1024u

// NULL with an error that names the place in text.
BbTriggerRule *bb_trigger_rule_parse(const char *text, GError **error);
void bb_trigger_rule_free(BbTriggerRule *rule);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTriggerRule, bb_trigger_rule_free)
