// SPDX-License-Identifier: Apache-2.0
// In: a score. Out: text for a terminal.
#include <math.h>

#include "data/caption.h"
#include "data/quantity.h"
#include "diagnose/score.h"

#define ROWS 12u         // of edges and patterns
#define NAME_COLUMNS 52u // of an edge or node
#define TREE_COLUMNS 92u // of a pattern
#define LABEL_COLUMNS 34u

static const guint omitted_rows[] = {1, 2, 3, 5, 10, 20, 30, 50};

typedef struct {
    GString *text;
    const BbScore *score;
    const BbNames *names;
} Report;

// ---- cells --------------------------------------------------------------------------------------

static void put_left(Report *report, const char *text, guint columns)
{
    guint width = bb_caption_width(text);
    g_string_append_printf(report->text, "%s%*s", text,
                           width < columns ? (int)(columns - width) : 0, "");
}

// In a cell of 10 columns; "-" where there is none.
static void put_percent(Report *report, double share)
{
    if (isnan(share))
        g_string_append_printf(report->text, "%10s", "-");
    else
        g_string_append_printf(report->text, "%8.2f %%", 100 * share);
}

static void put_count(Report *report, guint64 count)
{
    g_autoptr(GString) text = g_string_new(NULL);
    bb_quantity_append_count(text, count);
    g_string_append_printf(report->text, "%13s", text->str);
}

static void put_duration(Report *report, gint64 ns)
{
    g_autoptr(GString) text = g_string_new(NULL);
    bb_quantity_append_duration(text, ns);
    g_string_append_printf(report->text, "%11s", text->str);
}

static void put_head(Report *report, const char *name, const char *columns)
{
    g_string_append_c(report->text, '\n');
    put_left(report, name, LABEL_COLUMNS);
    g_string_append_printf(report->text, "%s\n", columns);
}

static void put_right(Report *report, const char *label, BbRight right)
{
    g_string_append(report->text, "  ");
    put_left(report, label, LABEL_COLUMNS - 2);
    put_percent(report, bb_right_share(right));
    put_count(report, right.right);
    put_count(report, right.all);
    g_string_append_c(report->text, '\n');
}

static void put_share(Report *report, const char *label, double share)
{
    g_string_append(report->text, "  ");
    put_left(report, label, LABEL_COLUMNS - 2);
    put_percent(report, share);
    g_string_append_c(report->text, '\n');
}

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
    put_left(report, text->str, NAME_COLUMNS);
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
    put_head(report, "Exactly right", "     share        right           of");
    put_right(report, "links", score->links);
    put_right(report, "  to a parent", score->children);
    put_right(report, "  roots, without one", score->roots);
    put_right(report, "  parent lost, without one", score->lost);
    put_right(report, "requests, end to end", score->requests);
    put_right(report, "found instances", score->instances);
    put_share(report, "nodes, mean share of steps", score->node_steps);
    put_share(report, "nodes, mean share of links", score->node_links);
}

static void put_errors(Report *report, const char *label, const BbErrors *errors)
{
    g_string_append(report->text, "  ");
    put_left(report, label, LABEL_COLUMNS - 2);
    put_count(report, errors->found);
    put_count(report, errors->false_positives);
    put_percent(report, bb_right_share((BbRight){errors->false_positives, errors->found}));
    put_count(report, errors->real);
    put_count(report, errors->false_negatives);
    put_percent(report, bb_right_share((BbRight){errors->false_negatives, errors->real}));
    g_string_append_c(report->text, '\n');
}

static void put_mismatch(Report *report)
{
    put_head(report, "By pattern",
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
    put_head(report, "Missing of the true top N", "by count            by latency");
    put_left(report, "  tolerance", LABEL_COLUMNS);
    g_string_append(report->text, " 0 %   2 %   6 %     0 %   2 %   6 %\n");
    for (gsize i = 0; i < G_N_ELEMENTS(omitted_rows); i++) {
        guint n = omitted_rows[i];
        if (n > omitted[0].n)
            break;
        g_string_append_printf(report->text, "  %-*u", (int)LABEL_COLUMNS - 2, n);
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
    put_left(report, label, LABEL_COLUMNS - 2);
    put_percent(report, deviation->mean);
    put_percent(report, deviation->largest);
    put_count(report, deviation->compared);
    g_string_append_c(report->text, '\n');
}

static void put_calibration(Report *report, const char *label, const BbCalibration *calibration)
{
    put_head(report, label, "  stated     right         of");
    for (guint i = 0; i < BB_CALIBRATION_BINS; i++) {
        const BbCalibrationBin *bin = &calibration->bins[i];
        if (bin->count == 0)
            continue;
        g_autofree char *range =
            g_strdup_printf("%.2f to %.2f", bb_calibration_bound(i), bb_calibration_bound(i + 1));
        g_string_append(report->text, "  ");
        put_left(report, range, LABEL_COLUMNS - 2);
        put_percent(report, bin->sum / (double)bin->count);
        put_percent(report, (double)bin->right / (double)bin->count);
        put_count(report, bin->count);
        g_string_append_c(report->text, '\n');
    }
    put_share(report, "expected calibration error", bb_calibration_error(calibration));
    if (calibration->not_stated == 0)
        return;
    g_string_append(report->text, "  ");
    put_left(report, "not stated", LABEL_COLUMNS + 18);
    put_count(report, calibration->not_stated);
    g_string_append_c(report->text, '\n');
}

static void put_confidence(Report *report)
{
    const BbScore *score = report->score;
    if (score->link_confidence.stated == 0) {
        g_string_append(report->text, "\nConfidence: not stated\n");
        return;
    }
    put_calibration(report, "Confidence of links", &score->link_confidence);
    put_calibration(report, "Confidence of instances", &score->instance_confidence);
    put_head(report, "Wrong instances of patterns", "  stated    actual  mean gap");
    put_left(report, "  all", LABEL_COLUMNS);
    put_percent(report, score->stated_wrong);
    put_percent(report, score->actual_wrong);
    put_percent(report, score->pattern_gap);
    g_string_append_c(report->text, '\n');
}

static void put_edges(Report *report)
{
    const GArray *edges = report->score->edges;
    g_string_append_c(report->text, '\n');
    put_left(report, "Edges, most wrong links first", NAME_COLUMNS);
    g_string_append(report->text, "     right        wrong           of\n");
    for (guint i = 0; i < MIN(edges->len, ROWS); i++) {
        const BbScoreEdge *edge = &g_array_index(edges, BbScoreEdge, i);
        put_name(report, "  ", edge->caller, " -> ", edge->callee);
        put_percent(report, bb_right_share(edge->links));
        put_count(report, edge->links.all - edge->links.right);
        put_count(report, edge->links.all);
        g_string_append_c(report->text, '\n');
    }
    if (edges->len > ROWS)
        g_string_append_printf(report->text, "  and %u more\n", edges->len - ROWS);
}

static void put_nodes(Report *report)
{
    const GArray *nodes = report->score->nodes;
    g_string_append_c(report->text, '\n');
    put_left(report, "Nodes", NAME_COLUMNS);
    g_string_append(report->text, "     steps     links        calls       self  true self\n");
    for (guint i = 0; i < nodes->len; i++) {
        const BbScoreNode *node = &g_array_index(nodes, BbScoreNode, i);
        put_name(report, "  ", node->node, NULL, BB_NAME_NONE);
        put_percent(report, bb_right_share(node->steps));
        put_percent(report, bb_right_share(node->links));
        put_count(report, node->steps.all);
        put_duration(report, node->found_self_ns);
        put_duration(report, node->real_self_ns);
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
        put_count(report, pair->found);
        put_count(report, pair->real);
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
    put_head(&report, "Error of mean latencies", "      mean   largest           of");
    put_deviation(&report, "patterns, end to end", &score->pattern_latency);
    put_deviation(&report, "nodes, self", &score->node_self);
    put_confidence(&report);
    put_edges(&report);
    put_nodes(&report);
    put_patterns(&report);
    (void)fwrite(text->str, 1, text->len, out);
}
