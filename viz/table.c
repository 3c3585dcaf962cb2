// SPDX-License-Identifier: Apache-2.0
// In: ranked patterns. Out: a table of them, then the tree of each, aligned.
#include "viz/table.h"

#include "data/caption.h"
#include "data/quantity.h"
#include "viz/ranking.h"
#include "viz/summary.h"

#define TREE_COLUMNS 43       // the widest tree; more is elided
#define TREE_NARROW 24        // the narrowest, so that small trees align with each other
#define NAME_LEAST 16         // of a name in a deep tree, even if the row gets longer
#define BAR_COLUMNS 8         // a waited share of 100 %
#define FIRST_CALL_COLUMNS 42 // in the ranking, of which
#define CLIENT_COLUMNS 16     // for the client at most
#define USES_COLUMNS 100      // of a line that lists the uses of replicas

typedef struct Table {
    GString *text;
    const BbView *view;
    guint tree_columns;
    GString *cell;   // scratch
    GString *indent; // what stands left of the calls of the current node
} Table;

// Appends the cell, to the right or left of its columns, and empties it. A figure that fills its
// columns has a blank before it all the same, unless the line begins with it.
static void put_cell(Table *table, guint columns, bool right)
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
    bb_caption_append(out, bb_names_text(names, node), "?");
    if (op == BB_NAME_NONE)
        return;
    g_string_append_c(out, ' ');
    bb_caption_append(out, bb_names_text(names, op), "?");
}

// The pattern's first call: "client -> lb GET /cart/*".
static void append_first_call(Table *table, const BbPattern *pattern)
{
    g_autoptr(GString) callee = g_string_new(NULL);
    bb_caption_append(table->cell, bb_names_text(table->view->names, pattern->client), "?");
    bb_caption_elide(table->cell, CLIENT_COLUMNS);
    g_string_append(table->cell, " -> ");
    append_name(callee, table->view->names, pattern->root->node, pattern->root->op);
    bb_caption_elide(callee, FIRST_CALL_COLUMNS - bb_caption_width(table->cell->str));
    g_string_append(table->cell, callee->str);
}

static double latency_share(const Table *table, const BbPattern *pattern)
{
    return bb_quantity_share(bb_pattern_total_latency(pattern), table->view->ranking->latency_ns);
}

static void put_rank(Table *table, guint rank)
{
    const BbPattern *pattern = table->view->ranking->shown[rank - 1];
    const BbStats *latency = pattern->root->latency;
    g_string_append_printf(table->cell, "%u", rank);
    put_cell(table, 4, true);
    bb_quantity_append_count(table->cell, pattern->count);
    put_cell(table, 13, true);
    put_duration(table, bb_pattern_total_latency(pattern), 11);
    put_duration(table, bb_pattern_mean_latency(pattern), 10);
    put_duration(table, bb_stats_quantile(latency, 0.5), 10);
    put_duration(table, bb_stats_quantile(latency, 0.9), 10);
    put_duration(table, bb_stats_quantile(latency, 0.99), 10);
    put_share(table, latency_share(table, pattern), 8);
    g_string_append(table->text, "  ");
    append_first_call(table, pattern);
    put_cell(table, 0, false);
    end_line(table);
}

static void put_ranking(Table *table)
{
    static const char *const heads[] = {"total", "mean", "p50", "p90", "p99"};
    put_text(table, "rank", 4);
    put_text(table, "count", 13);
    put_text(table, heads[0], 11);
    for (guint i = 1; i < G_N_ELEMENTS(heads); i++)
        put_text(table, heads[i], 10);
    put_text(table, "share", 8);
    g_string_append(table->text, "  first call\n");
    for (guint rank = 1; rank <= table->view->ranking->n_shown; rank++)
        put_rank(table, rank);
}

// Columns of the widest row of a tree.
static guint tree_width(const Table *table, const BbPatternNode *node, guint indent)
{
    append_name(table->cell, table->view->names, node->node, node->op);
    guint widest = indent + bb_caption_width(table->cell->str);
    g_string_truncate(table->cell, 0);
    for (guint i = 0; i < node->calls->len; i++) {
        guint width = tree_width(table, g_ptr_array_index(node->calls, i), indent + 3);
        widest = MAX(widest, width);
    }
    return widest;
}

static void put_bar(Table *table, double share)
{
    guint columns = (guint)(CLAMP(share, 0, 1) * BAR_COLUMNS + 0.5);
    for (guint i = 0; i < columns; i++)
        g_string_append_c(table->cell, '#');
    put_cell(table, BAR_COLUMNS, false);
}

static void put_remarks(Table *table, const BbPattern *pattern, const BbPatternNode *node)
{
    if (node->errors > 0) {
        g_string_append(table->text, "  ");
        bb_quantity_append_counted(table->text, node->errors, "error");
    }
    gsize before = table->text->len;
    g_string_append(table->text, "  ");
    if (!bb_summary_append_toss(table->text, pattern, node))
        g_string_truncate(table->text, before);
}

// "  app{1,2,3}: app2 140, app1 138, ...": the most used first, as many as there is room for.
static void put_uses(Table *table, guint32 role, const GArray *replicas)
{
    if (!replicas)
        return;
    g_autoptr(GString) line = g_string_new("  ");
    bb_caption_append(table->cell, bb_names_text(table->view->names, role), "?");
    bb_caption_elide(table->cell, TREE_NARROW);
    g_string_append(line, table->cell->str);
    for (guint i = 0; i < replicas->len; i++) {
        const BbReplica *replica = &g_array_index(replicas, BbReplica, i);
        g_string_assign(table->cell, i ? ", " : ": ");
        bb_caption_append(table->cell, bb_names_text(table->view->names, replica->node), "?");
        bb_caption_elide(table->cell, CLIENT_COLUMNS);
        g_string_append_c(table->cell, ' ');
        bb_quantity_append_count(table->cell, replica->count);
        if (bb_caption_width(line->str) + bb_caption_width(table->cell->str) > USES_COLUMNS) {
            g_string_append(line, ", ...");
            break;
        }
        g_string_append(line, table->cell->str);
    }
    g_string_append_printf(table->text, "%s\n", line->str);
    g_string_truncate(table->cell, 0);
}

static void put_replicas(Table *table, const BbPatternNode *node)
{
    put_uses(table, node->node, node->replicas);
    for (guint i = 0; i < node->calls->len; i++)
        put_replicas(table, g_ptr_array_index(node->calls, i));
}

static void put_delay(Table *table, const BbPatternNode *node)
{
    gint64 delay = bb_stats_mean(node->call_delay);
    g_string_append(table->cell, delay < 0 ? "" : "+");
    put_duration(table, delay, 11);
}

// branch: what joins the row to the one above, "" for the root.
static void put_node(Table *table, const BbPattern *pattern, const BbPatternNode *node,
                     const char *branch)
{
    gint64 total_ns = bb_pattern_total_latency(pattern);
    double waited = bb_quantity_share((gint64)node->critical_total_ns, total_ns);
    g_autoptr(GString) name = g_string_new(NULL);
    append_name(name, table->view->names, node->node, node->op);
    guint indent = bb_caption_width(table->indent->str) + bb_caption_width(branch);
    bb_caption_elide(name, MAX(table->tree_columns - MIN(indent, table->tree_columns), NAME_LEAST));
    g_string_append_printf(table->cell, "%s%s%s", table->indent->str, branch, name->str);
    put_cell(table, table->tree_columns, false);
    put_duration(table, bb_stats_mean(node->latency), 10);
    put_duration(table, bb_stats_quantile(node->latency, 0.99), 10);
    if (*branch)
        put_delay(table, node);
    else
        put_text(table, "", 11);
    put_share(table, bb_quantity_share((gint64)node->self_total_ns, total_ns), 8);
    put_share(table, waited, 8);
    g_string_append(table->text, "  ");
    put_bar(table, waited);
    put_remarks(table, pattern, node);
    end_line(table);
}

static void put_calls(Table *table, const BbPattern *pattern, const BbPatternNode *node)
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

static void put_pattern(Table *table, guint rank)
{
    const BbPattern *pattern = table->view->ranking->shown[rank - 1];
    g_string_append_printf(table->text, "\n#%u  ", rank);
    bb_caption_append(table->cell, bb_names_text(table->view->names, pattern->client), "?");
    g_string_append(table->cell, " -> ");
    bb_caption_append(table->cell, bb_names_text(table->view->names, pattern->root->node), "?");
    bb_caption_elide(table->cell, TREE_COLUMNS);
    put_cell(table, 0, false);
    g_string_append(table->text, "   ");
    bb_quantity_append_count(table->text, pattern->count);
    g_string_append(table->text, " x  ");
    bb_quantity_append_duration(table->text, bb_pattern_total_latency(pattern));
    g_string_append(table->text, " total, ");
    bb_quantity_append_share(table->text, latency_share(table, pattern));
    g_string_append(table->text, " of all latency");
    bb_summary_append_wrong(table->text, pattern);
    g_string_append_c(table->text, '\n');
    g_string_assign(table->indent, "  ");
    put_text(table, "", table->tree_columns);
    put_text(table, "mean", 10);
    put_text(table, "p99", 10);
    put_text(table, "delay", 11);
    put_text(table, "self", 8);
    put_text(table, "waited", 8);
    g_string_append_c(table->text, '\n');
    put_node(table, pattern, pattern->root, "");
    put_calls(table, pattern, pattern->root);
    put_uses(table, pattern->client, pattern->clients);
    put_replicas(table, pattern->root);
}

static void put_head(Table *table)
{
    bb_summary_append_trace(table->text, table->view->patterns);
    g_string_append_c(table->text, '\n');
    bb_summary_append_shown(table->text, table->view->patterns, table->view->ranking);
    g_string_append_c(table->text, '\n');
}

// What the rows above do not tell.
static void put_foot(Table *table)
{
    const BbFacts *facts = &table->view->patterns->facts;
    const BbRanking *ranking = table->view->ranking;
    GString *text = table->text;
    g_string_append_c(text, '\n');
    if (bb_summary_append_left_out(text, ranking)) {
        if (ranking->n_patterns - ranking->n_shown > ranking->forgotten)
            g_string_append(text, ranking->options.min_count > 1
                                      ? " (--top all without --min-count shows all)"
                                      : " (--top all shows all)");
        g_string_append_c(text, '\n');
    }
    if (bb_summary_unmatched(facts) > 0) {
        g_string_append(text, "In no pattern: ");
        bb_quantity_append_counted(text, facts->calls_unreturned, "call");
        g_string_append(text, " without return, ");
        bb_quantity_append_counted(text, facts->returns_orphaned, "return");
        g_string_append(text, " without call\n");
    }
    if (facts->deep_calls > 0) {
        g_string_append_printf(text, "Cut at %u levels: ", BB_PATHS_DEPTH_MAX);
        bb_quantity_append_counted(text, facts->deep_calls, "call");
        g_string_append(text, " began a path instead of going on with one\n");
    }
    if (ranking->n_shown > 0)
        g_string_append(
            text,
            "mean, p99: latency of a node with all it calls. delay: from entry into the caller "
            "to entry here (mean).\nself: what the node worked itself, as a share of the "
            "pattern's total latency; more than 100 % in all\nwhere calls run at the same "
            "time. waited, and the bar: what of it the client waited for (critical path).\n");
}

bool bb_table_write(const BbView *view, FILE *out, GError **error)
{
    (void)error; // the caller looks at ferror
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GString) cell = g_string_new(NULL);
    g_autoptr(GString) indent = g_string_new(NULL);
    Table table = {text, view, TREE_NARROW, cell, indent};
    const BbRanking *ranking = view->ranking;
    for (guint i = 0; i < ranking->n_shown; i++) {
        guint width = tree_width(&table, ranking->shown[i]->root, 2);
        table.tree_columns = MAX(table.tree_columns, width);
    }
    table.tree_columns = MIN(table.tree_columns, TREE_COLUMNS);
    put_head(&table);
    if (ranking->n_shown > 0) {
        g_string_append_c(text, '\n');
        put_ranking(&table);
    }
    for (guint rank = 1; rank <= ranking->n_shown; rank++) {
        put_pattern(&table, rank);
        (void)fwrite(text->str, 1, text->len, out);
        g_string_truncate(text, 0);
    }
    put_foot(&table);
    (void)fwrite(text->str, 1, text->len, out);
    return true;
}
