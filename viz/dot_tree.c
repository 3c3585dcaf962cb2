// SPDX-License-Identifier: Apache-2.0
// In: a pattern of nesting. Out: its tree (paper, figure 8).
#include "viz/drawing.h"

#include "data/caption.h"
#include "data/quantity.h"
#include "viz/network_note.h"
#include "viz/ranking.h"
#include "viz/summary.h"

#define NAME_COLUMNS 30  // a name or operation is wrapped at about so many characters
#define WAITED_LEAST 0.1 // of the latency: what is waited for longer is marked

static double self_share(const BbPattern *pattern, const BbPatternNode *node)
{
    return bb_quantity_share((gint64)node->self_total_ns, bb_pattern_total_latency(pattern));
}

static double waited_share(const BbPattern *pattern, const BbPatternNode *node)
{
    return bb_quantity_share((gint64)node->critical_total_ns, bb_pattern_total_latency(pattern));
}

// The first of those that are waited for most; NULL if none is.
static const BbPatternNode *find_heaviest(const BbPatternNode *node, const BbPatternNode *best)
{
    if (node->critical_total_ns > (best ? best->critical_total_ns : 0))
        best = node;
    for (guint i = 0; i < node->calls->len; i++)
        best = find_heaviest(g_ptr_array_index(node->calls, i), best);
    return best;
}

// Worth a line and a bold outline.
static bool is_waited_for(const BbPattern *pattern, const BbPatternNode *node)
{
    return waited_share(pattern, node) >= WAITED_LEAST;
}

// "12.3 ms (61 %)" of the pattern's latency
static void append_part(GString *out, const BbPattern *pattern, guint64 total_ns)
{
    bb_quantity_append_duration(out, (gint64)(total_ns / MAX(pattern->count, 1)));
    g_string_append(out, " (");
    bb_quantity_append_share(
        out, bb_quantity_share((gint64)total_ns, bb_pattern_total_latency(pattern)));
    g_string_append_c(out, ')');
}

// What of it is told, with its name: what it was queued, what was on the way.
static void append_parts(GString *out, const BbPattern *pattern, const BbPatternNode *node)
{
    if (bb_ranking_queued(pattern, node) > 0) {
        g_string_append(out, "\nqueued ");
        append_part(out, pattern, bb_pattern_queued(node));
    }
    if (bb_ranking_wire(pattern, node) > 0) {
        g_string_append(out, "\nwire ");
        append_part(out, pattern, node->wire_total_ns);
    }
}

static void label_node(BbDrawing *drawing, Agnode_t *drawn, const BbPatternNode *node)
{
    GString *text = drawing->plain;
    g_string_truncate(text, 0);
    bb_drawing_append_name(text, bb_names_text(drawing->names, node->node), NAME_COLUMNS);
    if (node->op != BB_NAME_NONE) {
        g_string_append_c(text, '\n');
        bb_drawing_append_name(text, bb_names_text(drawing->names, node->op), NAME_COLUMNS);
    }
    g_string_append(text, node->unanswered ? "\nno return in " : "\n");
    bb_quantity_append_duration(text, bb_stats_mean(node->latency));
    if (!node->unanswered) {
        g_string_append(text, ", self ");
        bb_quantity_append_share(text, self_share(drawing->pattern, node));
    }
    if (is_waited_for(drawing->pattern, node)) {
        g_string_append(text, "\nwaited ");
        append_part(text, drawing->pattern, node->critical_total_ns);
    }
    append_parts(text, drawing->pattern, node);
    if (node->errors > 0) {
        g_string_append_c(text, '\n');
        bb_quantity_append_counted(text, node->errors, "error");
    }
    if (node->replicas) {
        g_string_append_c(text, '\n');
        bb_quantity_append_counted(text, node->replicas->len, "replica");
    }
    bb_drawing_set_plain(drawing, drawn, "label");
}

static void explain_wait(GString *text, const BbPatternNode *node)
{
    g_string_append_c(text, '\n');
    bb_quantity_append_counted(text, bb_stats_count(node->latency), "call");
    g_string_append(text, " without return; the caller went on after: ");
    bb_drawing_append_quantiles(text, node->latency);
}

static void explain_latency(const BbDrawing *drawing, GString *text, const BbPatternNode *node)
{
    g_string_append(text, "\nlatency: ");
    bb_drawing_append_quantiles(text, node->latency);
    g_string_append_c(text, '\n');
    bb_quantity_append_counted(text, bb_stats_count(node->latency), "return");
    g_string_append(text, ", ");
    bb_quantity_append_counted(text, node->errors, "error");
    g_string_append(text, "\nself: ");
    bb_quantity_append_duration(text, (gint64)node->self_total_ns);
    g_string_append(text, " in total, ");
    bb_quantity_append_share(text, self_share(drawing->pattern, node));
    g_string_append(text, " of the pattern's latency");
}

static void explain_node(BbDrawing *drawing, Agnode_t *drawn, const BbPatternNode *node)
{
    GString *text = drawing->plain;
    g_string_truncate(text, 0);
    bb_caption_append(text, bb_names_text(drawing->names, node->node), "?");
    g_string_append_c(text, ' ');
    bb_caption_append(text, bb_names_text(drawing->names, node->op), "");
    if (node->unanswered)
        explain_wait(text, node);
    else
        explain_latency(drawing, text, node);
    g_string_append(text, "\nwaited for: ");
    append_part(text, drawing->pattern, node->critical_total_ns);
    append_parts(text, drawing->pattern, node);
    bb_drawing_append_replicas(drawing, node->replicas);
    bb_drawing_set_plain(drawing, drawn, "tooltip");
}

static Agedge_t *new_edge(BbDrawing *drawing, Agnode_t *from, Agnode_t *to,
                          const BbPatternNode *node)
{
    Agedge_t *edge = agedge(drawing->cluster, from, to, NULL, 1);
    if (!edge)
        return NULL;
    g_autoptr(GString) toss = g_string_new(NULL);
    if (bb_summary_append_toss(toss, drawing->pattern, node)) {
        g_string_append_printf(drawing->plain, "\n%s", toss->str);
        bb_drawing_set(edge, "style", "dashed");
    }
    bb_network_note_append_trouble(drawing->plain, drawing->network, drawing->caller, node->node);
    bb_drawing_set_plain(drawing, edge, "label");
    bool first = node == drawing->pattern->root;
    g_string_assign(drawing->plain, first ? "latency: " : "delay: ");
    bb_drawing_append_quantiles(drawing->plain, first ? node->latency : node->call_delay);
    bb_network_note_append(drawing->plain, drawing->network, drawing->caller, node->node);
    bb_drawing_set_plain(drawing, edge, "edgetooltip");
    bb_drawing_set_plain(drawing, edge, "labeltooltip");
    return edge;
}

static bool draw_calls(BbDrawing *drawing, Agnode_t *drawn, const BbPatternNode *node);

// Draws node and what it calls; the label of the edge to it stands in drawing->plain.
static bool draw_node(BbDrawing *drawing, Agnode_t *parent, const BbPatternNode *node)
{
    Agnode_t *drawn = bb_drawing_new_node(drawing);
    if (!drawn || !new_edge(drawing, parent, drawn, node))
        return false;
    label_node(drawing, drawn, node);
    explain_node(drawing, drawn, node);
    bb_drawing_fill(drawn, waited_share(drawing->pattern, node));
    if (node == drawing->heaviest)
        bb_drawing_set(drawn, "penwidth", "3");
    else if (is_waited_for(drawing->pattern, node))
        bb_drawing_set(drawn, "penwidth", "2");
    if (node->errors > 0 || node->unanswered)
        bb_drawing_set(drawn, "color", "#b3261e");
    if (node->unanswered)
        bb_drawing_set(drawn, "style", "filled,dashed");
    return draw_calls(drawing, drawn, node);
}

static bool draw_calls(BbDrawing *drawing, Agnode_t *drawn, const BbPatternNode *node)
{
    for (guint i = node->calls->len; i-- > 0;) {
        const BbPatternNode *call = g_ptr_array_index(node->calls, i);
        gint64 delay = bb_stats_mean(call->call_delay);
        g_string_assign(drawing->plain, delay < 0 ? "" : "+");
        bb_quantity_append_duration(drawing->plain, delay);
        drawing->caller = node->node;
        if (!draw_node(drawing, drawn, call))
            return false;
    }
    return true;
}

static void title_pattern(BbDrawing *drawing)
{
    GString *text = drawing->plain;
    g_string_printf(text, "#%u   ", drawing->rank);
    bb_summary_append_share(text, drawing->ranking, drawing->pattern);
    g_string_append(text, "   ");
    bb_drawing_append_quantiles(text, drawing->pattern->root->latency);
    bb_summary_append_wrong(text, drawing->pattern);
    bb_drawing_set_plain(drawing, drawing->cluster, "label");
    bb_drawing_set_plain(drawing, drawing->cluster, "tooltip");
}

bool bb_drawing_tree(BbDrawing *drawing, Agnode_t *client)
{
    const BbPattern *pattern = drawing->pattern;
    drawing->heaviest = find_heaviest(pattern->root, NULL);
    title_pattern(drawing);
    g_string_truncate(drawing->plain, 0);
    bb_quantity_append_count(drawing->plain, pattern->count);
    g_string_append(drawing->plain, " x  ");
    bb_quantity_append_duration(drawing->plain, bb_pattern_total_latency(pattern));
    g_string_append(drawing->plain, " total");
    drawing->caller = pattern->client;
    return draw_node(drawing, client, pattern->root);
}
