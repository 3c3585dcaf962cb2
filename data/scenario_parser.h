// SPDX-License-Identifier: Apache-2.0
// What the parts of a scenario's parser share. Inside data/ only.
#pragma once

#include "data/scenario_form.h"
#include "data/scenario_lexer.h"

// What a node does that is called by this name (and with this label, unless it is empty).
typedef struct BbService {
    guint32 name, op;
    BbStep *steps;
} BbService;

typedef struct BbParser {
    const BbToken *token; // the next one
    const BbToken *first; // of all
    BbScenario *scenario;
    GHashTable *targets;           // name -> BbTarget of the scenario
    GHashTable *services;          // BbService -> itself
    GArray *labels;                // of the script being read
    BbDelay calls, returns, sends; // before each, where nothing else is said
    guint nesting;
    bool in_tracelet; // its own steps: those of no node, so that messages say from where
    GError **error;
} BbParser;

// Sets the error, with the line of the word taken last, or of the next one. Returns false.
bool bb_parser_refuse(BbParser *parser, const char *format, ...) G_GNUC_PRINTF(2, 3);
bool bb_parser_refuse_next(BbParser *parser, const char *format, ...) G_GNUC_PRINTF(2, 3);
// "file:line: expected WHAT, not the next word".
bool bb_parser_expect(BbParser *parser, const char *what);

// Each looks at the next word and takes it where it is the one asked for.
bool bb_parser_word(BbParser *parser, const char *name);
bool bb_parser_mark(BbParser *parser, const char *mark);
bool bb_parser_is_mark(const BbParser *parser, const char *mark);
bool bb_parser_is_unit(const BbParser *parser, const char *unit);

// Each takes what must come now, or refuses.
bool bb_parser_need_mark(BbParser *parser, const char *mark);
bool bb_parser_need_end(BbParser *parser); // of a step or statement: ; or } or another line
bool bb_parser_need_time(BbParser *parser, gint64 *time_ns);
bool bb_parser_need_share(BbParser *parser, double *share); // of a percentage up to 100 %
bool bb_parser_need_count(BbParser *parser, guint64 most, guint64 *count);
bool bb_parser_need_counts(BbParser *parser, guint64 most, guint64 *from, guint64 *to);
bool bb_parser_need_delay(BbParser *parser, BbDelay *delay);
bool bb_parser_need_node(BbParser *parser, guint32 *name);
bool bb_parser_need_target(BbParser *parser, BbTarget **target);
// A label in quotes, where there is one; else leaves *name.
void bb_parser_label(BbParser *parser, guint32 *name);

BbTarget *bb_parser_target(BbParser *parser, guint32 name);

// Steps up to the closing brace, which is taken. The result may be NULL for none.
bool bb_parser_need_block(BbParser *parser, BbStep **first);
// A step of a tracelet or of a block.
bool bb_parser_need_step(BbParser *parser, BbStep **step);
BbStep *bb_parser_new_step(BbParser *parser, BbStepKind kind);
// The list is whole: its ends go on to `after`, and the branches of choices with them.
void bb_step_link(BbStep *first, BbStep *after);
// What stands behind `workers`, and `pool`.
bool bb_parser_need_workers(BbParser *parser);
bool bb_parser_need_pool(BbParser *parser);
// What stands behind `tracelet`.
bool bb_parser_need_tracelet(BbParser *parser);
// The messages of `script {`, as a list of steps.
bool bb_parser_need_script(BbParser *parser, BbTracelet *tracelet, BbStep **first);
// A body with its return at the end.
BbStep *bb_parser_end_body(BbParser *parser, BbStep *first);
