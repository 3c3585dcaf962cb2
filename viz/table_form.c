// SPDX-License-Identifier: Apache-2.0
// In: texts and figures. Out: cells of a table, aligned.
#include "viz/table_form.h"

#include "data/caption.h"
#include "data/quantity.h"
#include "viz/summary.h"

#define BAR_COLUMNS 8    // a share of 100 %
#define USES_COLUMNS 100 // of a line that lists the uses of replicas,
#define USES_LINES 3u    // and so many of them

void bb_table_put_cell(BbTable *table, guint columns, bool right)
{
    guint width = bb_caption_width(table->cell->str);
    guint blanks = width < columns ? columns - width : 0;
    const GString *text = table->text;
    if (right && blanks == 0 && text->len > 0 && text->str[text->len - 1] != '\n')
        blanks = 1;
    g_string_append_printf(table->text, "%*s%s%*s", right ? (int)blanks : 0, "", table->cell->str,
                           right ? 0 : (int)blanks, "");
    g_string_truncate(table->cell, 0);
}

void bb_table_put_text(BbTable *table, const char *text, guint columns)
{
    g_string_assign(table->cell, text);
    bb_table_put_cell(table, columns, true);
}

void bb_table_put_count(BbTable *table, guint64 count, guint columns)
{
    bb_quantity_append_count(table->cell, count);
    bb_table_put_cell(table, columns, true);
}

void bb_table_put_duration(BbTable *table, gint64 ns, guint columns)
{
    bb_quantity_append_duration(table->cell, ns);
    bb_table_put_cell(table, columns, true);
}

void bb_table_put_share(BbTable *table, double share, guint columns)
{
    bb_quantity_append_share(table->cell, share);
    bb_table_put_cell(table, columns, true);
}

void bb_table_end_line(BbTable *table)
{
    GString *text = table->text;
    while (text->len > 0 && text->str[text->len - 1] == ' ')
        g_string_truncate(text, text->len - 1);
    g_string_append_c(text, '\n');
}

void bb_table_append_name(GString *out, const BbNames *names, guint32 node, guint32 op)
{
    bb_caption_append(out, bb_names_text(names, node), "?");
    if (op == BB_NAME_NONE)
        return;
    g_string_append_c(out, ' ');
    bb_caption_append(out, bb_names_text(names, op), "?");
}

void bb_table_put_bar(BbTable *table, double share)
{
    guint columns = (guint)(CLAMP(share, 0, 1) * BAR_COLUMNS + 0.5);
    for (guint i = 0; i < columns; i++)
        g_string_append_c(table->cell, '#');
    bb_table_put_cell(table, BAR_COLUMNS, false);
}

// "app2 140 (5.53 ms)"
static void append_use(BbTable *table, const BbReplica *replica)
{
    bb_caption_append(table->cell, bb_names_text(table->view->names, replica->node), "?");
    bb_caption_elide(table->cell, BB_TABLE_CLIENT);
    g_string_append_c(table->cell, ' ');
    bb_quantity_append_count(table->cell, replica->count);
    g_string_append(table->cell, " (");
    bb_quantity_append_duration(table->cell, bb_replica_mean_latency(replica));
    g_string_append_c(table->cell, ')');
}

void bb_table_put_uses(BbTable *table, guint32 role, const GArray *replicas)
{
    if (!replicas)
        return;
    guint lines = 1;
    g_autoptr(GString) line = g_string_new("  ");
    bb_caption_append(table->cell, bb_names_text(table->view->names, role), "?");
    bb_caption_elide(table->cell, BB_TABLE_NARROW);
    g_string_append(line, table->cell->str);
    for (guint i = 0; i < replicas->len; i++) {
        g_string_assign(table->cell, i ? ", " : ": ");
        append_use(table, &g_array_index(replicas, BbReplica, i));
        bool is_full =
            bb_caption_width(line->str) + bb_caption_width(table->cell->str) > USES_COLUMNS;
        if (is_full && lines++ == USES_LINES) {
            g_string_append(line, ", ...");
            break;
        }
        if (is_full && i > 0) {
            g_string_append_printf(table->text, "%s,\n", line->str);
            g_string_assign(line, "    ");
            g_string_erase(table->cell, 0, 2); // the comma
        }
        g_string_append(line, table->cell->str);
    }
    g_string_append_printf(table->text, "%s\n", line->str);
    g_string_truncate(table->cell, 0);
}

void bb_table_put_title(BbTable *table, const BbPattern *pattern)
{
    bb_caption_append(table->cell, bb_names_text(table->view->names, pattern->client), "?");
    g_string_append(table->cell, " -> ");
    bb_caption_append(table->cell, bb_names_text(table->view->names, pattern->root->node), "?");
    bb_caption_elide(table->cell, BB_TABLE_TREE);
    bb_table_put_cell(table, 0, false);
}

void bb_table_put_toss(BbTable *table, const BbPattern *pattern, const BbPatternNode *node)
{
    gsize before = table->text->len;
    g_string_append(table->text, "  ");
    if (!bb_summary_append_toss(table->text, pattern, node))
        g_string_truncate(table->text, before);
}
