// SPDX-License-Identifier: Apache-2.0
// In: patterns of convolution. Out: their rows in the ranking, and each as a list of its messages.
#include "viz/table_form.h"

#include "data/caption.h"
#include "data/quantity.h"
#include "viz/chain.h"
#include "viz/ranking.h"
#include "viz/summary.h"

#define PATH_COLUMNS 53 // in the ranking
#define NAME_COLUMNS 14 // there, of a name in a path that is longer
#define DELAYS_SHOWN 4  // of a message

static void append_elided(GString *out, const char *text, guint columns)
{
    g_autoptr(GString) name = g_string_new(NULL);
    bb_caption_append(name, text, "?");
    bb_caption_elide(name, columns);
    g_string_append(out, name->str);
}

// "C > WS > AP > +3 > C": the first ones, how many are left out, and the last one. columns: of a
// name.
static void append_path(GString *out, const BbNames *names, const BbPattern *pattern, guint columns,
                        guint first)
{
    guint at = 0, last = bb_pattern_size(pattern);
    g_string_assign(out, pattern->derived ? "derived: " : "");
    append_elided(out, bb_names_text(names, pattern->client), columns);
    for (const BbPatternNode *node = pattern->root; node; node = bb_chain_next(node)) {
        if (++at > first && at < last) {
            if (at == first + 1)
                g_string_append_printf(out, " > +%u", last - at);
            continue;
        }
        g_string_append(out, " > ");
        append_elided(out, bb_names_text(names, node->node), columns);
    }
}

// Elides long names before it leaves nodes out.
static void put_path(BbTable *table, const BbPattern *pattern)
{
    const BbNames *names = table->view->names;
    guint first = MIN(bb_pattern_size(pattern), PATH_COLUMNS / 4); // a node has 4 columns or more
    append_path(table->cell, names, pattern, PATH_COLUMNS, first);
    while (bb_caption_width(table->cell->str) > PATH_COLUMNS && first > 0)
        append_path(table->cell, names, pattern, NAME_COLUMNS, first--);
    bb_table_put_cell(table, 0, false);
}

static void put_rank(BbTable *table, guint i)
{
    static const double quantiles[] = {0.5, 0.9, 0.99};
    const BbRanking *ranking = table->view->ranking;
    const BbPattern *pattern = ranking->shown[i];
    const BbStats *latency = pattern->root->latency;
    bool timed = bb_chain_is_timed(pattern);
    bb_table_put_count(table, ranking->rank_shown[i], 4);
    bb_table_put_count(table, pattern->count, 13);
    if (pattern->derived)
        bb_table_put_text(table, "-", 8);
    else
        bb_table_put_share(table, bb_ranking_share(ranking, pattern), 8);
    if (timed)
        bb_table_put_duration(table, bb_stats_mean(latency), 10);
    for (guint q = 0; q < G_N_ELEMENTS(quantiles) && timed; q++)
        bb_table_put_duration(table, bb_stats_quantile(latency, quantiles[q]), 10);
    for (guint q = 0; q <= G_N_ELEMENTS(quantiles) && !timed; q++)
        bb_table_put_text(table, "-", 10);
    g_string_append(table->text, "  ");
    put_path(table, pattern);
    bb_table_end_line(table);
}

static void put_ranking(BbTable *table)
{
    static const char *const heads[] = {"mean", "p50", "p90", "p99"};
    bb_table_put_text(table, "rank", 4);
    bb_table_put_text(table, "count", 13);
    bb_table_put_text(table, "share", 8);
    for (guint i = 0; i < G_N_ELEMENTS(heads); i++)
        bb_table_put_text(table, heads[i], 10);
    g_string_append(table->text, "  path\n");
    for (guint i = 0; i < table->view->ranking->n_shown; i++)
        put_rank(table, i);
}

// What stands left of a name: "* -> ".
#define MARK_COLUMNS 5

static guint width_of(BbTable *table, const BbPattern *pattern)
{
    guint widest = 0;
    for (const BbPatternNode *node = pattern->root; node; node = bb_chain_next(node)) {
        bb_table_append_name(table->cell, table->view->names, node->node, node->op);
        widest = MAX(widest, bb_caption_width(table->cell->str));
        g_string_truncate(table->cell, 0);
    }
    return MARK_COLUMNS + widest;
}

// "1,200 @  50.1 ms, spread 9.90 ms"
static void put_delay(BbTable *table, const BbPatternDelay *delay)
{
    bb_table_put_count(table, delay->count, 13);
    g_string_append(table->text, " @");
    bb_table_put_duration(table, delay->delay_ns, 9);
    g_string_append(table->text, " \302\261"); // plus-minus
    bb_quantity_append_duration(table->cell, delay->spread_ns);
    bb_table_put_cell(table, 0, false);
}

// The delays but the first: each on a line of its own.
static void put_delays(BbTable *table, const BbPatternNode *node)
{
    guint n_delays = bb_chain_delays(node);
    for (guint i = 1; i < MIN(n_delays, DELAYS_SHOWN); i++) {
        bb_table_put_text(table, "", table->tree_columns + 33);
        put_delay(table, bb_chain_delay(node, i));
        bb_table_end_line(table);
    }
    if (n_delays <= DELAYS_SHOWN)
        return;
    bb_table_put_text(table, "", table->tree_columns + 33);
    bb_table_put_text(table, "...", 13);
    g_string_append_printf(table->text, " %u more\n", n_delays - DELAYS_SHOWN);
}

static void put_message(BbTable *table, const BbPattern *pattern, const BbPatternNode *node)
{
    g_autoptr(GString) name = g_string_new(NULL);
    bb_table_append_name(name, table->view->names, node->node, node->op);
    bb_caption_elide(name, table->tree_columns - MARK_COLUMNS);
    g_string_append_printf(table->cell, "%s -> %s", node == bb_chain_slowest(pattern) ? "*" : " ",
                           name->str);
    bb_table_put_cell(table, table->tree_columns, false);
    bb_table_put_count(table, bb_chain_messages(pattern, node), 12);
    if (bb_chain_delays(node) > 0) {
        gint64 mean_ns = bb_chain_mean_delay(node);
        bb_table_put_duration(table, mean_ns, 11);
        g_string_append(table->text, "  ");
        bb_table_put_bar(table, bb_quantity_share(mean_ns, bb_chain_sum(pattern)));
        put_delay(table, bb_chain_delay(node, 0));
    }
    bb_table_put_toss(table, pattern, node);
    bb_table_end_line(table);
    put_delays(table, node);
}

static void append_title(BbTable *table, const BbPattern *pattern)
{
    const BbStats *latency = pattern->root->latency;
    GString *text = table->text;
    bb_quantity_append_count(text, pattern->count);
    g_string_append(text, " x, ");
    bb_summary_append_derived(text, pattern);
    if (!pattern->derived)
        bb_summary_append_share(text, table->view->ranking, pattern);
    bb_summary_append_wrong(text, pattern);
    if (bb_chain_is_timed(pattern)) {
        g_string_append(text, "   end to end: mean ");
        bb_quantity_append_duration(text, bb_stats_mean(latency));
        g_string_append(text, ", p99 ");
        bb_quantity_append_duration(text, bb_stats_quantile(latency, 0.99));
    }
    g_string_append_c(text, '\n');
}

static void put_pattern(BbTable *table, guint i)
{
    const BbPattern *pattern = table->view->ranking->shown[i];
    g_string_append_printf(table->text, "\n#%u  ", table->view->ranking->rank_shown[i]);
    bb_table_put_title(table, pattern);
    g_string_append(table->text, "   ");
    append_title(table, pattern);
    bb_table_put_text(table, "", table->tree_columns);
    bb_table_put_text(table, "messages", 12);
    bb_table_put_text(table, "mean delay", 11);
    g_string_append(table->text, "               each delay\n");
    for (const BbPatternNode *node = pattern->root; node; node = bb_chain_next(node))
        put_message(table, pattern, node);
    bb_table_put_uses(table, pattern->client, pattern->clients);
    for (const BbPatternNode *node = pattern->root; node; node = bb_chain_next(node))
        bb_table_put_uses(table, node->node, node->replicas);
}

const BbTableForm bb_table_chains = {
    .width = width_of,
    .put_ranking = put_ranking,
    .put_pattern = put_pattern,
    .legend =
        "messages: of all paths that begin like this one, up to there. delay: what the node before "
        "took until it sent the\nmessage; with the number of messages and the standard deviation "
        "of "
        "each of its delays, the most frequent first.\nA delay is learned from all messages of "
        "both edges, the rare ones of a node together (--rare): it is\ntheirs, and need not add up "
        "to the time of this pattern.\n*, and the bar: where the time of the "
        "pattern "
        "goes.\n",
};
