// SPDX-License-Identifier: Apache-2.0
// In: ranked patterns. Out: a table of them, then the tree or chain of each, aligned.
#include "viz/table.h"

#include "data/caption.h"
#include "data/quantity.h"
#include "viz/ranking.h"
#include "viz/summary.h"
#include "viz/table_form.h"

#define EDGES_MOST 5u // of calls without return
#define NAME_MOST 40u // columns of a name there

static void put_head(BbTable *table)
{
    bb_summary_append_trace(table->text, table->view->patterns);
    g_string_append_c(table->text, '\n');
    if (bb_summary_append_chosen(table->text, table->view->ranking))
        g_string_append_c(table->text, '\n');
    if (bb_summary_append_unrelated(table->text, &table->view->patterns->facts))
        g_string_append_c(table->text, '\n');
    bb_summary_append_shown(table->text, table->view->patterns, table->view->ranking);
    g_string_append_c(table->text, '\n');
}

static void put_left_out(BbTable *table)
{
    const BbRanking *ranking = table->view->ranking;
    GString *text = table->text;
    if (!bb_summary_append_left_out(text, ranking))
        return;
    if (ranking->n_patterns - ranking->n_shown > ranking->forgotten) {
        bool few = ranking->options.min_count > 1, rare = ranking->rare > 0;
        g_string_append_printf(text, " (--top all%s%s%s shows all)", few || rare ? " without " : "",
                               few ? "--min-count" : "",
                               rare ? few ? " and --min-share" : "--min-share" : "");
    }
    g_string_append_c(text, '\n');
}

static void put_elided(BbTable *table, guint32 node)
{
    bb_table_append_name(table->cell, table->view->names, node, BB_NAME_NONE);
    bb_caption_elide(table->cell, NAME_MOST);
    bb_table_put_cell(table, 0, false);
}

// "  without return: 300 client -> web, 300 web -> db, and 2 of 1 other edge"
static void put_unreturned(BbTable *table)
{
    const GArray *edges = table->view->patterns->unreturned;
    const BbChosen *chosen = table->view->ranking->options.chosen;
    guint64 others = 0;
    if (edges->len > 0)
        g_string_append_printf(
            table->text, "  without return%s: ", chosen && chosen->by ? ", of the chosen" : "");
    for (guint i = 0; i < edges->len; i++) {
        const BbUnreturned *edge = &g_array_index(edges, BbUnreturned, i);
        if (i >= EDGES_MOST) {
            others += edge->count;
            continue;
        }
        g_string_append(table->text, i > 0 ? ", " : "");
        bb_quantity_append_count(table->text, edge->count);
        g_string_append_c(table->text, ' ');
        put_elided(table, edge->caller);
        g_string_append(table->text, " -> ");
        put_elided(table, edge->callee);
    }
    if (others > 0) {
        g_string_append(table->text, ", and ");
        bb_quantity_append_count(table->text, others);
        g_string_append(table->text, " of ");
        bb_quantity_append_counted(table->text, edges->len - EDGES_MOST, "other edge");
    }
    g_string_append(table->text, edges->len > 0 ? "\n" : "");
}

static guint64 count_unanswered(const BbPatternNode *node)
{
    guint64 calls = node->unanswered ? bb_stats_count(node->latency) : 0;
    for (guint i = 0; i < node->calls->len; i++)
        calls += count_unanswered(g_ptr_array_index(node->calls, i));
    return calls;
}

// Those of all patterns, shown or not. The facts are of the whole trace, patterns of what was
// chosen of it.
static void put_unanswered(BbTable *table)
{
    const GPtrArray *patterns = table->view->patterns->patterns;
    guint64 calls = 0;
    for (guint i = 0; i < patterns->len; i++) {
        const BbPattern *pattern = g_ptr_array_index(patterns, i);
        calls += pattern ? count_unanswered(pattern->root) : 0;
    }
    if (calls == 0)
        return;
    g_string_append(table->text, "In patterns, without return in time: ");
    bb_quantity_append_counted(table->text, calls, "call");
    g_string_append(table->text, " whose callers went on without one\n");
}

// What the rows above do not tell.
static void put_foot(BbTable *table, const BbTableForm *form)
{
    const BbFacts *facts = &table->view->patterns->facts;
    const BbRanking *ranking = table->view->ranking;
    GString *text = table->text;
    g_string_append_c(text, '\n');
    put_left_out(table);
    put_unanswered(table);
    if (!ranking->chains && bb_summary_unmatched(facts) > facts->calls_unanswered) {
        g_string_append(text, "In no pattern: ");
        guint64 alone = facts->calls_unreturned - facts->calls_unanswered;
        bb_quantity_append_counted(text, alone, "call");
        g_string_append(text, " without return, ");
        bb_quantity_append_counted(text, facts->returns_orphaned, "return");
        g_string_append(text, " without call\n");
        put_unreturned(table);
    }
    if (facts->deep_calls > 0) {
        g_string_append_printf(text, "Cut at %u levels: ", BB_PATHS_DEPTH_MAX);
        bb_quantity_append_counted(text, facts->deep_calls, ranking->chains ? "message" : "call");
        g_string_append(text, " began a path instead of going on with one\n");
    }
    if (ranking->n_shown > 0)
        g_string_append(text, form->legend);
    if (ranking->queued)
        g_string_append(
            text,
            "queued: the part of waited in which it stood in line, for one of its workers or for a "
            "connection of a pool.\n");
    if (ranking->wire)
        g_string_append(text, "wire: how long the client waited for what was on the way to the "
                              "node, or back.\n");
}

static guint widest(BbTable *table, const BbTableForm *form)
{
    guint columns = BB_TABLE_NARROW;
    for (guint i = 0; i < table->view->ranking->n_shown; i++)
        columns = MAX(columns, form->width(table, table->view->ranking->shown[i]));
    return MIN(columns, BB_TABLE_TREE);
}

bool bb_table_write(const BbView *view, FILE *out, GError **error)
{
    (void)error; // the caller looks at ferror
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GString) cell = g_string_new(NULL);
    g_autoptr(GString) indent = g_string_new(NULL);
    const BbTableForm *form = view->ranking->chains ? &bb_table_chains : &bb_table_trees;
    BbTable table = {text, view, 0, cell, indent};
    table.tree_columns = widest(&table, form);
    put_head(&table);
    if (view->ranking->n_shown > 0) {
        g_string_append_c(text, '\n');
        form->put_ranking(&table);
    }
    for (guint i = 0; i < view->ranking->n_shown; i++) {
        form->put_pattern(&table, i);
        (void)fwrite(text->str, 1, text->len, out);
        g_string_truncate(text, 0);
    }
    put_foot(&table, form);
    (void)fwrite(text->str, 1, text->len, out);
    return true;
}
