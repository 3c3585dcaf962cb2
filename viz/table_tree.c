// SPDX-License-Identifier: Apache-2.0
// In: patterns of nesting. Out: their rows in the ranking, and the tree of each.
#include "viz/table_form.h"

#include "data/caption.h"
#include "data/quantity.h"
#include "viz/ranking.h"
#include "viz/summary.h"

#define NAME_LEAST 16         // columns of a name in a deep tree, even if the row gets longer
#define FIRST_CALL_COLUMNS 42 // in the ranking

// The pattern's first call: "client -> lb GET /cart/*".
static void append_first_call(BbTable *table, const BbPattern *pattern)
{
    g_autoptr(GString) callee = g_string_new(NULL);
    bb_caption_append(table->cell, bb_names_text(table->view->names, pattern->client), "?");
    bb_caption_elide(table->cell, BB_TABLE_CLIENT);
    g_string_append(table->cell, " -> ");
    bb_table_append_name(callee, table->view->names, pattern->root->node, pattern->root->op);
    bb_caption_elide(callee, FIRST_CALL_COLUMNS - bb_caption_width(table->cell->str));
    g_string_append(table->cell, callee->str);
}

static double latency_share(const BbTable *table, const BbPattern *pattern)
{
    return bb_quantity_share(bb_pattern_total_latency(pattern), table->view->ranking->latency_ns);
}

static void put_rank(BbTable *table, guint i)
{
    const BbPattern *pattern = table->view->ranking->shown[i];
    const BbStats *latency = pattern->root->latency;
    g_string_append_printf(table->cell, "%u", table->view->ranking->rank_shown[i]);
    bb_table_put_cell(table, 4, true);
    bb_table_put_count(table, pattern->count, 13);
    bb_table_put_duration(table, bb_pattern_total_latency(pattern), 11);
    bb_table_put_duration(table, bb_pattern_mean_latency(pattern), 10);
    bb_table_put_duration(table, bb_stats_quantile(latency, 0.5), 10);
    bb_table_put_duration(table, bb_stats_quantile(latency, 0.9), 10);
    bb_table_put_duration(table, bb_stats_quantile(latency, 0.99), 10);
    bb_table_put_share(table, latency_share(table, pattern), 8);
    g_string_append(table->text, "  ");
    append_first_call(table, pattern);
    bb_table_put_cell(table, 0, false);
    bb_table_end_line(table);
}

static void put_ranking(BbTable *table)
{
    static const char *const heads[] = {"total", "mean", "p50", "p90", "p99"};
    bb_table_put_text(table, "rank", 4);
    bb_table_put_text(table, "count", 13);
    bb_table_put_text(table, heads[0], 11);
    for (guint i = 1; i < G_N_ELEMENTS(heads); i++)
        bb_table_put_text(table, heads[i], 10);
    bb_table_put_text(table, "share", 8);
    g_string_append(table->text, "  first call\n");
    for (guint i = 0; i < table->view->ranking->n_shown; i++)
        put_rank(table, i);
}

// Columns of the widest row of a tree.
static guint tree_width(BbTable *table, const BbPatternNode *node, guint indent)
{
    bb_table_append_name(table->cell, table->view->names, node->node, node->op);
    guint widest = indent + bb_caption_width(table->cell->str);
    g_string_truncate(table->cell, 0);
    for (guint i = 0; i < node->calls->len; i++) {
        guint width = tree_width(table, g_ptr_array_index(node->calls, i), indent + 3);
        widest = MAX(widest, width);
    }
    return widest;
}

static guint width_of(BbTable *table, const BbPattern *pattern)
{
    return tree_width(table, pattern->root, 2);
}

static void put_part(BbTable *table, const char *what, double share)
{
    if (share == 0)
        return;
    g_string_append(table->text, what);
    bb_quantity_append_share(table->text, share);
}

static void put_remarks(BbTable *table, const BbPattern *pattern, const BbPatternNode *node)
{
    put_part(table, "  queued ", bb_ranking_queued(pattern, node));
    put_part(table, "  wire ", bb_ranking_wire(pattern, node));
    g_string_append(table->text, node->unanswered ? "  no return" : "");
    if (node->errors > 0) {
        g_string_append(table->text, "  ");
        bb_quantity_append_counted(table->text, node->errors, "error");
    }
    bb_table_put_toss(table, pattern, node);
}

static void put_replicas(BbTable *table, const BbPatternNode *node)
{
    bb_table_put_uses(table, node->node, node->replicas);
    for (guint i = 0; i < node->calls->len; i++)
        put_replicas(table, g_ptr_array_index(node->calls, i));
}

static void put_delay(BbTable *table, const BbPatternNode *node)
{
    gint64 delay = bb_stats_mean(node->call_delay);
    g_string_append(table->cell, delay < 0 ? "" : "+");
    bb_table_put_duration(table, delay, 11);
}

// branch: what joins the row to the one above, "" for the root.
static void put_node(BbTable *table, const BbPattern *pattern, const BbPatternNode *node,
                     const char *branch)
{
    gint64 total_ns = bb_pattern_total_latency(pattern);
    double waited = bb_quantity_share((gint64)node->critical_total_ns, total_ns);
    g_autoptr(GString) name = g_string_new(NULL);
    bb_table_append_name(name, table->view->names, node->node, node->op);
    guint indent = bb_caption_width(table->indent->str) + bb_caption_width(branch);
    bb_caption_elide(name, MAX(table->tree_columns - MIN(indent, table->tree_columns), NAME_LEAST));
    g_string_append_printf(table->cell, "%s%s%s", table->indent->str, branch, name->str);
    bb_table_put_cell(table, table->tree_columns, false);
    bb_table_put_duration(table, bb_stats_mean(node->latency), 10);
    bb_table_put_duration(table, bb_stats_quantile(node->latency, 0.99), 10);
    if (*branch)
        put_delay(table, node);
    else
        bb_table_put_text(table, "", 11);
    bb_table_put_share(table, bb_quantity_share((gint64)node->self_total_ns, total_ns), 8);
    bb_table_put_share(table, waited, 8);
    g_string_append(table->text, "  ");
    bb_table_put_bar(table, waited);
    put_remarks(table, pattern, node);
    bb_table_end_line(table);
}

static void put_calls(BbTable *table, const BbPattern *pattern, const BbPatternNode *node)
{
    gsize indent = table->indent->len;
    for (guint i = 0; i < node->calls->len; i++) {
        const BbPatternNode *call = g_ptr_array_index(node->calls, i);
        bool last = i + 1 == node->calls->len;
        put_node(table, pattern, call, last ? "└─ " : "├─ ");
        g_string_append(table->indent, last ? "   " : "│  ");
        put_calls(table, pattern, call);
        g_string_truncate(table->indent, indent);
    }
}

static void put_pattern(BbTable *table, guint i)
{
    const BbPattern *pattern = table->view->ranking->shown[i];
    g_string_append_printf(table->text, "\n#%u  ", table->view->ranking->rank_shown[i]);
    bb_table_put_title(table, pattern);
    g_string_append(table->text, "   ");
    bb_quantity_append_count(table->text, pattern->count);
    g_string_append(table->text, " x  ");
    bb_quantity_append_duration(table->text, bb_pattern_total_latency(pattern));
    g_string_append(table->text, " total, ");
    bb_summary_append_share(table->text, table->view->ranking, pattern);
    bb_summary_append_wrong(table->text, pattern);
    g_string_append_c(table->text, '\n');
    g_string_assign(table->indent, "  ");
    bb_table_put_text(table, "", table->tree_columns);
    bb_table_put_text(table, "mean", 10);
    bb_table_put_text(table, "p99", 10);
    bb_table_put_text(table, "delay", 11);
    bb_table_put_text(table, "self", 8);
    bb_table_put_text(table, "waited", 8);
    g_string_append_c(table->text, '\n');
    put_node(table, pattern, pattern->root, "");
    put_calls(table, pattern, pattern->root);
    bb_table_put_uses(table, pattern->client, pattern->clients);
    put_replicas(table, pattern->root);
}

const BbTableForm bb_table_trees = {
    .width = width_of,
    .put_ranking = put_ranking,
    .put_pattern = put_pattern,
    .legend = "mean, p99: latency of a node with all it calls. delay: from entry into the caller "
              "to entry here (mean).\nself: what the node worked itself, as a share of the "
              "pattern's total latency; more than 100 % in all\nwhere calls run at the same "
              "time. waited, and the bar: how long the client waited for the node, not its calls\n"
              "(critical path); more than self where calls run that nobody waits for.\n",
};
