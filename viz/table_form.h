// SPDX-License-Identifier: Apache-2.0
// A text table being written: cells, and what table_tree.c and table_chain.c put into it.
#pragma once

#include "viz/view.h"

#define BB_TABLE_TREE 43   // columns of the widest tree or chain; more is elided
#define BB_TABLE_NARROW 24 // of the narrowest, so that small ones align with each other
#define BB_TABLE_CLIENT 16 // of a client's name before others

typedef struct BbTable {
    GString *text;
    const BbView *view;
    guint tree_columns;
    GString *cell;   // scratch
    GString *indent; // what stands left of the calls of the current node
} BbTable;

// How the patterns of an algorithm are written.
typedef struct BbTableForm {
    guint (*width)(BbTable *table, const BbPattern *pattern); // columns of its tree
    void (*put_ranking)(BbTable *table);
    void (*put_pattern)(BbTable *table, guint i); // of those shown
    const char *legend;
} BbTableForm;

extern const BbTableForm bb_table_trees, bb_table_chains;

// Appends the cell, to the right or left of its columns, and empties it. A figure that fills its
// columns has a blank before it all the same, unless the line begins with it.
void bb_table_put_cell(BbTable *table, guint columns, bool right);
void bb_table_put_text(BbTable *table, const char *text, guint columns);
void bb_table_put_count(BbTable *table, guint64 count, guint columns);
void bb_table_put_duration(BbTable *table, gint64 ns, guint columns);
void bb_table_put_share(BbTable *table, double share, guint columns);
void bb_table_put_bar(BbTable *table, double share);
void bb_table_end_line(BbTable *table); // takes blanks off

// Node and operation.
void bb_table_append_name(GString *out, const BbNames *names, guint32 node, guint32 op);

// "  app{1,2,3}: app2 140 (5.53 ms), app1 138 (5.58 ms), ...", with the mean latency: the most used
// first, as many as there is room for on a few lines.
// Nothing where replicas is NULL.
void bb_table_put_uses(BbTable *table, guint32 role, const GArray *replicas);

// "client -> lb", elided.
void bb_table_put_title(BbTable *table, const BbPattern *pattern);

// "  52 % sure", where that is little.
void bb_table_put_toss(BbTable *table, const BbPattern *pattern, const BbPatternNode *node);
