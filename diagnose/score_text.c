// SPDX-License-Identifier: Apache-2.0
// In: a score. Out: text for a terminal.
#include <math.h>

#include "data/caption.h"
#include "data/quantity.h"
#include "diagnose/cells.h"

#define ROWS 12u         // of edges and patterns
#define NAME_COLUMNS 52u // of an edge or node
#define TREE_COLUMNS 92u // of a pattern

static const guint omitted_rows[] = {1, 2, 3, 5, 10, 20, 30, 50};

typedef struct {
    GString *text;
    const BbScore *score;
    const BbNames *names;
} Report;

// ---- cells --------------------------------------------------------------------------------------

// A name of a row, elided.
static void put_name(Report *report, const char *before, guint32 name, const char *between,
                     guint32 second)
{
    g_autoptr(GString) text = g_string_new(before);
    bb_caption_append(text, bb_names_text(report->names, name), "?");
    if (between) {
        g_string_append(text, between);
        bb_caption_append(text, bb_names_text(report->names, second), "?");
    }
    bb_caption_elide(text, NAME_COLUMNS);
    bb_cell_left(report->text, text->str, NAME_COLUMNS);
}

// ---- sections -----------------------------------------------------------------------------------

static void put_scope(Report *report)
{
    const BbScore *score = report->score;
    GString *text = report->text;
    bb_quantity_append_counted(text, score->calls, "call");
    g_string_append(text, " scored");
    const struct {
        guint64 count;
        const char *what;
    } out[] = {
        {score->unreturned, " without return"},
        {score->untold - score->circular, " without ground truth"},
        {score->circular, " whose ground truth goes round in a circle"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(out); i++) {
        if (out[i].count == 0)
            continue;
        g_string_append(text, "; left out: ");
        bb_quantity_append_counted(text, out[i].count, "call");
        g_string_append(text, out[i].what);
    }
    g_string_append_c(text, '\n');
}

static void put_links(Report *report)
{
    const BbScore *score = report->score;
    bb_cell_head(report->text, "Exactly right", "     share        right           of");
    bb_cell_right(report->text, "links", score->links);
    bb_cell_right(report->text, "  to a parent", score->children);
    bb_cell_right(report->text, "  roots, without one", score->roots);
    bb_cell_right(report->text, "  parent lost, without one", score->lost);
    if (score->unanswered.all > 0)
        bb_cell_right(report->text, "calls without return", score->unanswered);
    if (score->beneath.all > 0)
        bb_cell_right(report->text, "  calls given to them", score->beneath);
    bb_cell_right(report->text, "requests, end to end", score->requests);
    bb_cell_right(report->text, "found instances", score->instances);
    bb_cell_share(report->text, "nodes, mean share of steps", score->node_steps);
    bb_cell_share(report->text, "nodes, mean share of links", score->node_links);
}

static void put_errors(Report *report, const char *label, const BbErrors *errors)
{
    g_string_append(report->text, "  ");
    bb_cell_left(report->text, label, BB_CELL_LABEL - 2);
    bb_cell_count(report->text, errors->found);
    bb_cell_count(report->text, errors->false_positives);
    bb_cell_percent(report->text,
                    bb_right_share((BbRight){errors->false_positives, errors->found}));
    bb_cell_count(report->text, errors->real);
    bb_cell_count(report->text, errors->false_negatives);
    bb_cell_percent(report->text, bb_right_share((BbRight){errors->false_negatives, errors->real}));
    g_string_append_c(report->text, '\n');
}

static void put_mismatch(Report *report)
{
    bb_cell_head(report->text, "By pattern",
                 "        found        false    of them         true       missed    of them");
    put_errors(report, "patterns", &report->score->mismatch.patterns);
    put_errors(report, "instances", &report->score->mismatch.instances);
    put_errors(report, "calls of instances", &report->score->mismatch.calls);
}

static void put_omitted(Report *report)
{
    const BbOmitted *omitted = report->score->omitted;
    if (omitted[0].n == 0)
        return;
    bb_cell_head(report->text, "Missing of the true top N", "by count            by latency");
    bb_cell_left(report->text, "  tolerance", BB_CELL_LABEL);
    g_string_append(report->text, " 0 %   2 %   6 %     0 %   2 %   6 %\n");
    for (gsize i = 0; i < G_N_ELEMENTS(omitted_rows); i++) {
        guint n = omitted_rows[i];
        if (n > omitted[0].n)
            break;
        g_string_append_printf(report->text, "  %-*u", (int)BB_CELL_LABEL - 2, n);
        for (guint key = 0; key < 2; key++) {
            for (guint t = 0; t < BB_TOLERANCES; t++)
                g_string_append_printf(report->text, "%4u  ", omitted[key].missing[n - 1][t]);
            g_string_append(report->text, key == 0 ? "  " : "");
        }
        g_string_truncate(report->text, report->text->len - 2);
        g_string_append_c(report->text, '\n');
    }
}

static void put_deviation(Report *report, const char *label, const BbDeviation *deviation)
{
    g_string_append(report->text, "  ");
    bb_cell_left(report->text, label, BB_CELL_LABEL - 2);
    bb_cell_percent(report->text, deviation->mean);
    bb_cell_percent(report->text, deviation->largest);
    bb_cell_count(report->text, deviation->compared);
    g_string_append_c(report->text, '\n');
}

static void put_confidence(Report *report)
{
    const BbScore *score = report->score;
    if (score->link_confidence.stated == 0) {
        g_string_append(report->text, "\nConfidence: not stated\n");
        return;
    }
    bb_cell_calibration(report->text, "Confidence of links", &score->link_confidence);
    bb_cell_calibration(report->text, "Confidence of instances", &score->instance_confidence);
    bb_cell_head(report->text, "Wrong instances of patterns", "  stated    actual  mean gap");
    bb_cell_left(report->text, "  all", BB_CELL_LABEL);
    bb_cell_percent(report->text, score->stated_wrong);
    bb_cell_percent(report->text, score->actual_wrong);
    bb_cell_percent(report->text, score->pattern_gap);
    g_string_append_c(report->text, '\n');
}

static void put_edges(Report *report)
{
    const GArray *edges = report->score->edges;
    g_string_append_c(report->text, '\n');
    bb_cell_left(report->text, "Edges, most wrong links first", NAME_COLUMNS);
    g_string_append(report->text, "     right        wrong           of\n");
    for (guint i = 0; i < MIN(edges->len, ROWS); i++) {
        const BbScoreEdge *edge = &g_array_index(edges, BbScoreEdge, i);
        put_name(report, "  ", edge->caller, " -> ", edge->callee);
        bb_cell_percent(report->text, bb_right_share(edge->links));
        bb_cell_count(report->text, edge->links.all - edge->links.right);
        bb_cell_count(report->text, edge->links.all);
        g_string_append_c(report->text, '\n');
    }
    if (edges->len > ROWS)
        g_string_append_printf(report->text, "  and %u more\n", edges->len - ROWS);
}

static void put_nodes(Report *report)
{
    const GArray *nodes = report->score->nodes;
    g_string_append_c(report->text, '\n');
    bb_cell_left(report->text, "Nodes", NAME_COLUMNS);
    g_string_append(report->text, "     steps     links        calls       self  true self\n");
    for (guint i = 0; i < nodes->len; i++) {
        const BbScoreNode *node = &g_array_index(nodes, BbScoreNode, i);
        put_name(report, "  ", node->node, NULL, BB_NAME_NONE);
        bb_cell_percent(report->text, bb_right_share(node->steps));
        bb_cell_percent(report->text, bb_right_share(node->links));
        bb_cell_count(report->text, node->steps.all);
        bb_cell_duration(report->text, node->found_self_ns);
        bb_cell_duration(report->text, node->real_self_ns);
        g_string_append_c(report->text, '\n');
    }
}

static void put_patterns(Report *report)
{
    const GArray *pairs = report->score->pairs;
    g_string_append(report->text, "\n        found         true  pattern, numbers farthest apart "
                                  "first\n");
    for (guint i = 0; i < MIN(pairs->len, ROWS); i++) {
        const BbPatternPair *pair = &g_array_index(pairs, BbPatternPair, i);
        bb_cell_count(report->text, pair->found);
        bb_cell_count(report->text, pair->real);
        g_autoptr(GString) caption = g_string_new(report->score->captions[i]);
        bb_caption_elide(caption, TREE_COLUMNS);
        g_string_append_printf(report->text, "  %s\n", caption->str);
    }
}

void bb_score_write_text(const BbScore *score, const BbNames *names, FILE *out)
{
    g_autoptr(GString) text = g_string_new(NULL);
    Report report = {text, score, names};
    put_scope(&report);
    put_links(&report);
    put_mismatch(&report);
    put_omitted(&report);
    bb_cell_head(text, "Error of mean latencies", "      mean   largest           of");
    put_deviation(&report, "patterns, end to end", &score->pattern_latency);
    put_deviation(&report, "nodes, self", &score->node_self);
    put_confidence(&report);
    put_edges(&report);
    put_nodes(&report);
    put_patterns(&report);
    (void)fwrite(text->str, 1, text->len, out);
}
