// SPDX-License-Identifier: Apache-2.0
// In: a pattern of convolution. Out: its messages as one line of vertices (paper, figures 9 and
// 13).
#include "viz/drawing.h"

#include "data/caption.h"
#include "data/quantity.h"
#include "viz/chain.h"
#include "viz/network_note.h"
#include "viz/ranking.h"
#include "viz/summary.h"

#define NAME_COLUMNS 16 // a name is wrapped at about so many characters: lines get long
#define DELAYS_SHOWN 4  // on an edge; its tooltip has all of them

// "1,200 @ 50.1 ms"
static void append_delay(GString *out, const BbPatternDelay *delay)
{
    bb_quantity_append_count(out, delay->count);
    g_string_append(out, " @ ");
    bb_quantity_append_duration(out, delay->delay_ns);
}

// The messages, and their delays if that says more.
static void label_edge(BbDrawing *drawing, Agedge_t *edge, const BbPatternNode *node)
{
    GString *text = drawing->plain;
    guint n_delays = bb_chain_delays(node), n_shown = MIN(n_delays, DELAYS_SHOWN);
    g_string_truncate(text, 0);
    if (n_delays != 1) {
        bb_quantity_append_count(text, bb_chain_messages(drawing->pattern, node));
        g_string_append(text, " x");
    }
    for (guint i = 0; i < n_shown; i++) {
        if (text->len > 0)
            g_string_append_c(text, '\n');
        append_delay(text, bb_chain_delay(node, i));
    }
    if (n_delays > n_shown)
        g_string_append(text, "\n...");
    gsize before = text->len;
    g_string_append_c(text, '\n');
    if (bb_summary_append_toss(text, drawing->pattern, node))
        bb_drawing_set(edge, "style", "dashed");
    else
        g_string_truncate(text, before);
    bb_network_note_append_trouble(text, drawing->network, drawing->caller, node->node);
    bb_drawing_set_plain(drawing, edge, "label");
}

static void explain_edge(BbDrawing *drawing, Agedge_t *edge, const BbPatternNode *node)
{
    GString *text = drawing->plain;
    g_string_truncate(text, 0);
    bb_quantity_append_counted(text, bb_chain_messages(drawing->pattern, node), "message");
    if (bb_chain_delays(node) > 0) {
        g_string_append(text, ", mean delay ");
        bb_quantity_append_duration(text, bb_chain_mean_delay(node));
    }
    for (guint i = 0; i < bb_chain_delays(node); i++) {
        g_string_append_c(text, '\n');
        append_delay(text, bb_chain_delay(node, i));
        g_string_append(text, ", spread ");
        bb_quantity_append_duration(text, bb_chain_delay(node, i)->spread_ns);
    }
    bb_network_note_append(text, drawing->network, drawing->caller, node->node);
    bb_drawing_set_plain(drawing, edge, "edgetooltip");
    bb_drawing_set_plain(drawing, edge, "labeltooltip");
}

static Agedge_t *draw_edge(BbDrawing *drawing, Agnode_t *from, Agnode_t *to,
                           const BbPatternNode *node)
{
    Agedge_t *edge = agedge(drawing->cluster, from, to, NULL, 1);
    if (!edge)
        return NULL;
    label_edge(drawing, edge, node);
    explain_edge(drawing, edge, node);
    if (node == drawing->heaviest) {
        bb_drawing_set(edge, "penwidth", "2");
        bb_drawing_set(edge, "color", "black");
        bb_drawing_set(edge, "fontname", "Helvetica-Bold");
    }
    return edge;
}

// What passes at a node until it sends the next message, as a share of the whole chain.
static double share_of(const BbDrawing *drawing, const BbPatternNode *next)
{
    return next ? bb_quantity_share(MAX(bb_chain_mean_delay(next), 0),
                                    bb_chain_sum(drawing->pattern))
                : 0;
}

static void label_node(BbDrawing *drawing, Agnode_t *drawn, const BbPatternNode *node)
{
    GString *text = drawing->plain;
    const char *name = bb_names_text(drawing->names, node->node);
    const char *op = bb_names_text(drawing->names, node->op);
    g_string_truncate(text, 0);
    bb_drawing_append_name(text, name, NAME_COLUMNS);
    if (node->op != BB_NAME_NONE) {
        g_string_append_c(text, '\n');
        bb_drawing_append_name(text, op, NAME_COLUMNS);
    }
    bb_drawing_set_plain(drawing, drawn, "label");
    g_string_truncate(text, 0);
    bb_caption_append(text, name, "?");
    g_string_append_c(text, ' ');
    bb_caption_append(text, op, "");
    bb_drawing_append_replicas(drawing, node->replicas);
    bb_drawing_set_plain(drawing, drawn, "tooltip");
}

static void title_pattern(BbDrawing *drawing)
{
    GString *text = drawing->plain;
    const BbPattern *pattern = drawing->pattern;
    g_string_printf(text, "#%u   ", drawing->rank);
    bb_quantity_append_count(text, pattern->count);
    g_string_append(text, " x   ");
    if (pattern->derived) {
        bb_summary_append_derived(text, pattern);
        bb_drawing_set(drawing->cluster, "style", "dashed");
    } else {
        bb_summary_append_share(text, drawing->ranking, pattern);
    }
    if (bb_chain_is_timed(pattern)) {
        g_string_append(text, "   end to end: ");
        bb_drawing_append_quantiles(text, pattern->root->latency);
    }
    bb_summary_append_wrong(text, pattern);
    bb_drawing_set_plain(drawing, drawing->cluster, "label");
    bb_drawing_set_plain(drawing, drawing->cluster, "tooltip");
}

bool bb_drawing_chain(BbDrawing *drawing, Agnode_t *client)
{
    const BbPatternNode *node = drawing->pattern->root;
    drawing->heaviest = bb_chain_slowest(drawing->pattern);
    title_pattern(drawing);
    drawing->caller = drawing->pattern->client;
    for (Agnode_t *from = client; node; node = bb_chain_next(node)) {
        Agnode_t *drawn = bb_drawing_new_node(drawing);
        if (!drawn || !draw_edge(drawing, from, drawn, node))
            return false;
        label_node(drawing, drawn, node);
        bb_drawing_set(drawn, "shape", "box"); // rounded: an ellipse around a long name is wide
        bb_drawing_set(drawn, "style", "rounded,filled");
        bb_drawing_set(drawn, "margin", "0.1,0.05");
        bb_drawing_fill(drawn, share_of(drawing, bb_chain_next(node)));
        from = drawn;
        drawing->caller = node->node;
    }
    return true;
}
