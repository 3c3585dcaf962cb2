// SPDX-License-Identifier: Apache-2.0
// In: ranked patterns. Out: a table of them, then the tree of each, aligned.
#include "viz/table.h"

#include "viz/label.h"
#include "viz/quantity.h"
#include "viz/ranking.h"
#include "viz/summary.h"

#define TREE_COLUMNS 58 // the widest tree; more is elided
#define TREE_NARROW 24  // the narrowest, so that small trees align with each other
#define BAR_COLUMNS 12  // a self share of 100 %

typedef struct Table {
    GString *text;
    const BbView *view;
    guint tree_columns;
    GString *cell;   // scratch
    GString *indent; // what stands left of the calls of the current node
} Table;

// Appends the cell, to the right or left of its columns, and empties it.
static void put_cell(Table *table, guint columns, bool right)
{
    guint width = bb_label_width(table->cell->str);
    guint blanks = width < columns ? columns - width : 0;
    g_string_append_printf(table->text, "%*s%s%*s", right ? (int)blanks : 0, "", table->cell->str,
                           right ? 0 : (int)blanks, "");
    g_string_truncate(table->cell, 0);
}

static void put_text(Table *table, const char *text, guint columns)
{
    g_string_assign(table->cell, text);
    put_cell(table, columns, true);
}

static void put_duration(Table *table, gint64 ns, guint columns)
{
    bb_quantity_append_duration(table->cell, ns);
    put_cell(table, columns, true);
}

static void put_share(Table *table, double share, guint columns)
{
    bb_quantity_append_share(table->cell, share);
    put_cell(table, columns, true);
}

static void end_line(Table *table)
{
    GString *text = table->text;
    while (text->len > 0 && text->str[text->len - 1] == ' ')
        g_string_truncate(text, text->len - 1);
    g_string_append_c(text, '\n');
}

static void append_name(GString *out, const BbNames *names, guint32 node, guint32 op)
{
    bb_label_append(out, bb_names_text(names, node), "?");
    if (op == BB_NAME_NONE)
        return;
    g_string_append_c(out, ' ');
    bb_label_append(out, bb_names_text(names, op), "?");
}
