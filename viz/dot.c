// SPDX-License-Identifier: Apache-2.0
// In: ranked patterns. Out: a graph with one cluster a pattern, each a tree (paper, figure 8).
//
// The trees grow from left to right and stand below each other, so that a page is scrolled down, in
// order of rank. With rankdir=LR dot stacks clusters and siblings from the bottom up; that is why
// patterns, and the calls of a node, are created last first.
#include "viz/dot.h"

#include "data/caption.h"
#include "data/quantity.h"
#include "viz/dot_ids.h"
#include "viz/ranking.h"
#include "viz/summary.h"

#include <string.h>

#define NAME_COLUMNS 30   // a name or operation is wrapped at about so many characters,
#define CLIENT_COLUMNS 20 // a client's, which stands in front of all, earlier,
#define NAME_LINES 4      // into at most so many lines; the tooltip has all of it
#define WAITED_LEAST 0.1  // of the latency: what is waited for longer is marked
#define FONT "Helvetica"

struct BbDot {
    Agraph_t *graph;
    // cgraph keeps pointers to these.
    Agiddisc_t ids;
    Agdisc_t disc;
};

// One pattern being drawn.
typedef struct Drawing {
    Agraph_t *cluster;
    const BbNames *names;
    const BbPattern *pattern;
    const BbPatternNode *heaviest; // waited for most
    GString *plain, *escaped;      // scratch
    guint rank, nodes;
} Drawing;

// "&amp;" and the like, which Graphviz would decode.
static bool is_entity(const char *text)
{
    gsize length = strspn(text + 1, "#0123456789"
                                    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    return length > 0 && text[1 + length] == ';';
}

// Graphviz reads labels and tooltips as escString: "\N" is a node's name, "\n" ends a line. Labels
// are read once, tooltips once or twice (2.43): there no number of backslashes gives one.
static char *escape(GString *escaped, const char *plain, const char *backslash)
{
    g_string_truncate(escaped, 0);
    for (const char *at = plain; *at; at++)
        if (*at == '\\')
            g_string_append(escaped, backslash);
        else if (*at == '\n')
            g_string_append(escaped, "\\n");
        else if (*at == '&' && is_entity(at))
            g_string_append(escaped, "%26");
        else
            g_string_append_c(escaped, *at);
    return escaped->str;
}

// cgraph's functions take char * but change nothing.
static void set(void *object, const char *name, const char *value)
{
    agsafeset(object, (char *)name, (char *)value, (char *)"");
}

static void set_plain(Drawing *drawing, void *object, const char *name)
{
    const char *backslash = g_str_has_suffix(name, "tooltip") ? "%5C" : "\\\\";
    set(object, name, escape(drawing->escaped, drawing->plain->str, backslash));
}

static void append_wrapped(GString *out, const char *text, guint columns)
{
    g_autoptr(GString) label = g_string_new(NULL);
    bb_caption_append(label, text, "?");
    bb_caption_wrap(label, columns, NAME_LINES);
    g_string_append(out, label->str);
}

static double self_share(const BbPattern *pattern, const BbPatternNode *node)
{
    return bb_quantity_share((gint64)node->self_total_ns, bb_pattern_total_latency(pattern));
}

static double waited_share(const BbPattern *pattern, const BbPatternNode *node)
{
    return bb_quantity_share((gint64)node->critical_total_ns, bb_pattern_total_latency(pattern));
}

static gint64 waited_ns(const BbPattern *pattern, const BbPatternNode *node)
{
    return (gint64)(node->critical_total_ns / MAX(pattern->count, 1));
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

// White for nothing to a strong orange for everything; black text is legible on all of them.
static void fill(Agnode_t *drawn, double share)
{
    static const int full[] = {0xf4, 0x6d, 0x32};
    int rgb[3];
    for (guint i = 0; i < 3; i++)
        rgb[i] = 255 - (int)((255 - full[i]) * CLAMP(share, 0, 1) + 0.5);
    char color[8];
    g_snprintf(color, sizeof color, "#%02x%02x%02x", (guint)rgb[0], (guint)rgb[1], (guint)rgb[2]);
    set(drawn, "fillcolor", color);
}

static void append_quantiles(GString *out, const BbStats *stats)
{
    static const struct {
        const char *name;
        double q;
    } quantiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}};
    g_string_append(out, "mean ");
    bb_quantity_append_duration(out, bb_stats_mean(stats));
    for (guint i = 0; i < G_N_ELEMENTS(quantiles); i++) {
        g_string_append_printf(out, ", %s ", quantiles[i].name);
        bb_quantity_append_duration(out, bb_stats_quantile(stats, quantiles[i].q));
    }
}

// Worth a line and a bold outline.
static bool is_waited_for(const BbPattern *pattern, const BbPatternNode *node)
{
    return waited_share(pattern, node) >= WAITED_LEAST;
}

// "12.3 ms (61 %)"
static void append_waited(GString *out, const BbPattern *pattern, const BbPatternNode *node)
{
    bb_quantity_append_duration(out, waited_ns(pattern, node));
    g_string_append(out, " (");
    bb_quantity_append_share(out, waited_share(pattern, node));
    g_string_append_c(out, ')');
}

static void label_node(Drawing *drawing, Agnode_t *drawn, const BbPatternNode *node)
{
    GString *text = drawing->plain;
    g_string_truncate(text, 0);
    append_wrapped(text, bb_names_text(drawing->names, node->node), NAME_COLUMNS);
    if (node->op != BB_NAME_NONE) {
        g_string_append_c(text, '\n');
        append_wrapped(text, bb_names_text(drawing->names, node->op), NAME_COLUMNS);
    }
    g_string_append_c(text, '\n');
    if (bb_stats_count(node->latency) > 0)
        bb_quantity_append_duration(text, bb_stats_mean(node->latency));
    else
        g_string_append(text, "no return");
    g_string_append(text, ", self ");
    bb_quantity_append_share(text, self_share(drawing->pattern, node));
    if (is_waited_for(drawing->pattern, node)) {
        g_string_append(text, "\nwaited ");
        append_waited(text, drawing->pattern, node);
    }
    if (node->errors > 0) {
        g_string_append_c(text, '\n');
        bb_quantity_append_counted(text, node->errors, "error");
    }
    if (node->replicas) {
        g_string_append_c(text, '\n');
        bb_quantity_append_counted(text, node->replicas->len, "replica");
    }
    set_plain(drawing, drawn, "label");
}

// How often each was used.
static void explain_replicas(Drawing *drawing, const GArray *replicas)
{
    for (guint i = 0; replicas && i < replicas->len; i++) {
        const BbReplica *replica = &g_array_index(replicas, BbReplica, i);
        g_string_append_c(drawing->plain, '\n');
        bb_caption_append(drawing->plain, bb_names_text(drawing->names, replica->node), "?");
        g_string_append(drawing->plain, ": ");
        bb_quantity_append_count(drawing->plain, replica->count);
    }
}

static void explain_node(Drawing *drawing, Agnode_t *drawn, const BbPatternNode *node)
{
    GString *text = drawing->plain;
    g_string_truncate(text, 0);
    bb_caption_append(text, bb_names_text(drawing->names, node->node), "?");
    g_string_append_c(text, ' ');
    bb_caption_append(text, bb_names_text(drawing->names, node->op), "");
    g_string_append(text, "\nlatency: ");
    append_quantiles(text, node->latency);
    g_string_append_c(text, '\n');
    bb_quantity_append_counted(text, bb_stats_count(node->latency), "return");
    g_string_append(text, ", ");
    bb_quantity_append_counted(text, node->errors, "error");
    g_string_append(text, "\nself: ");
    bb_quantity_append_duration(text, (gint64)node->self_total_ns);
    g_string_append(text, " in total, ");
    bb_quantity_append_share(text, self_share(drawing->pattern, node));
    g_string_append(text, " of the pattern's latency\nwaited for: ");
    append_waited(text, drawing->pattern, node);
    explain_replicas(drawing, node->replicas);
    set_plain(drawing, drawn, "tooltip");
}

static Agnode_t *new_node(Drawing *drawing)
{
    char name[32];
    g_snprintf(name, sizeof name, "p%un%u", drawing->rank, drawing->nodes++);
    return agnode(drawing->cluster, name, 1);
}

static Agedge_t *new_edge(Drawing *drawing, Agnode_t *from, Agnode_t *to, const BbPatternNode *node)
{
    Agedge_t *edge = agedge(drawing->cluster, from, to, NULL, 1);
    if (!edge)
        return NULL;
    g_autoptr(GString) toss = g_string_new(NULL);
    if (bb_summary_append_toss(toss, drawing->pattern, node)) {
        g_string_append_printf(drawing->plain, "\n%s", toss->str);
        set(edge, "style", "dashed");
    }
    set_plain(drawing, edge, "label");
    bool first = node == drawing->pattern->root;
    g_string_assign(drawing->plain, first ? "latency: " : "delay: ");
    append_quantiles(drawing->plain, first ? node->latency : node->call_delay);
    set_plain(drawing, edge, "edgetooltip");
    set_plain(drawing, edge, "labeltooltip");
    return edge;
}

static bool draw_calls(Drawing *drawing, Agnode_t *drawn, const BbPatternNode *node);

// Draws node and what it calls; the label of the edge to it stands in drawing->plain.
static bool draw_node(Drawing *drawing, Agnode_t *parent, const BbPatternNode *node)
{
    Agnode_t *drawn = new_node(drawing);
    if (!drawn || !new_edge(drawing, parent, drawn, node))
        return false;
    label_node(drawing, drawn, node);
    explain_node(drawing, drawn, node);
    fill(drawn, waited_share(drawing->pattern, node));
    if (node == drawing->heaviest)
        set(drawn, "penwidth", "3");
    else if (is_waited_for(drawing->pattern, node))
        set(drawn, "penwidth", "2");
    if (node->errors > 0)
        set(drawn, "color", "#b3261e");
    return draw_calls(drawing, drawn, node);
}

static bool draw_calls(Drawing *drawing, Agnode_t *drawn, const BbPatternNode *node)
{
    for (guint i = node->calls->len; i-- > 0;) {
        const BbPatternNode *call = g_ptr_array_index(node->calls, i);
        gint64 delay = bb_stats_mean(call->call_delay);
        g_string_assign(drawing->plain, delay < 0 ? "" : "+");
        bb_quantity_append_duration(drawing->plain, delay);
        if (!draw_node(drawing, drawn, call))
            return false;
    }
    return true;
}

static void title_pattern(Drawing *drawing, const BbRanking *ranking)
{
    GString *text = drawing->plain;
    gint64 total = bb_pattern_total_latency(drawing->pattern);
    g_string_printf(text, "#%u   ", drawing->rank);
    bb_quantity_append_share(text, bb_quantity_share(total, ranking->latency_ns));
    g_string_append(text, " of all latency   ");
    append_quantiles(text, drawing->pattern->root->latency);
    bb_summary_append_wrong(text, drawing->pattern);
    set_plain(drawing, drawing->cluster, "label");
    set_plain(drawing, drawing->cluster, "tooltip");
}

static Agnode_t *draw_client(Drawing *drawing)
{
    const char *name = bb_names_text(drawing->names, drawing->pattern->client);
    Agnode_t *client = new_node(drawing);
    if (!client)
        return NULL;
    g_string_truncate(drawing->plain, 0);
    append_wrapped(drawing->plain, name, CLIENT_COLUMNS);
    set_plain(drawing, client, "label");
    g_string_truncate(drawing->plain, 0);
    bb_caption_append(drawing->plain, name, "?");
    explain_replicas(drawing, drawing->pattern->clients);
    set_plain(drawing, client, "tooltip");
    set(client, "shape", "box");
    return client;
}

static bool draw_pattern(Agraph_t *graph, const BbView *view, guint rank)
{
    const BbPattern *pattern = view->ranking->shown[rank - 1];
    g_autoptr(GString) plain = g_string_new(NULL);
    g_autoptr(GString) escaped = g_string_new(NULL);
    Drawing drawing = {
        .names = view->names, .pattern = pattern, .plain = plain, .escaped = escaped, .rank = rank};
    drawing.heaviest = find_heaviest(pattern->root, NULL);
    char name[32];
    g_snprintf(name, sizeof name, "cluster_%u", rank);
    drawing.cluster = agsubg(graph, name, 1);
    if (!drawing.cluster)
        return false;
    title_pattern(&drawing, view->ranking);
    Agnode_t *client = draw_client(&drawing);
    if (!client)
        return false;
    g_string_truncate(plain, 0);
    bb_quantity_append_count(plain, pattern->count);
    g_string_append(plain, " x  ");
    bb_quantity_append_duration(plain, bb_pattern_total_latency(pattern));
    g_string_append(plain, " total");
    return draw_node(&drawing, client, pattern->root);
}

static const struct {
    int kind;
    const char *name, *value;
} defaults[] = {
    {AGRAPH, "rankdir", "LR"},    {AGRAPH, "nodesep", "0.15"},     {AGRAPH, "ranksep", "0.35"},
    {AGRAPH, "labelloc", "t"},    {AGRAPH, "labeljust", "l"},      {AGRAPH, "fontname", FONT},
    {AGRAPH, "fontsize", "12"},   {AGRAPH, "color", "#b0b0b0"},    {AGRAPH, "bgcolor", "white"},
    {AGRAPH, "linelength", "0"}, // of the text: cgraph breaks no string over lines
    {AGNODE, "shape", "ellipse"}, {AGNODE, "style", "filled"},     {AGNODE, "fillcolor", "white"},
    {AGNODE, "color", "#404040"}, {AGNODE, "penwidth", "1"},       {AGNODE, "fontname", FONT},
    {AGNODE, "fontsize", "12"},   {AGNODE, "margin", "0.04,0.02"}, {AGEDGE, "color", "#606060"},
    {AGEDGE, "arrowsize", "0.7"}, {AGEDGE, "fontname", FONT},      {AGEDGE, "fontsize", "10"},
};

static void label_graph(Agraph_t *graph, const BbView *view)
{
    g_autoptr(GString) text = g_string_new(NULL);
    bb_summary_append_trace(text, view->patterns);
    g_string_append(text, "\\l");
    bb_summary_append_shown(text, view->patterns, view->ranking);
    g_string_append(text, "\\l");
    if (bb_summary_append_left_out(text, view->ranking))
        g_string_append(text, "\\l");
    if (view->ranking->n_shown > 0)
        g_string_append(text,
                        "Node: mean latency with its calls; self = what it worked itself, as a "
                        "share of the pattern's latency; waited = what of it the client waited "
                        "for; bold = most.\\lEdge: mean delay from entry to entry; dashed = "
                        "little better than guessed.\\l");
    set(graph, "label", text->str);
}

static bool draw(BbDot *dot, const BbView *view)
{
    for (guint i = 0; i < G_N_ELEMENTS(defaults); i++)
        if (!agattr(dot->graph, defaults[i].kind, (char *)defaults[i].name,
                    (char *)defaults[i].value))
            return false;
    label_graph(dot->graph, view);
    for (guint rank = view->ranking->n_shown; rank > 0; rank--)
        if (!draw_pattern(dot->graph, view, rank))
            return false;
    return true;
}

BbDot *bb_dot_new(const BbView *view, GError **error)
{
    g_autoptr(BbDot) dot = g_new0(BbDot, 1);
    dot->ids = bb_dot_ids();
    dot->disc = AgDefaultDisc;
    dot->disc.id = &dot->ids;
    dot->graph = agopen((char *)"bbpaths", Agdirected, &dot->disc);
    if (dot->graph && draw(dot, view))
        return g_steal_pointer(&dot);
    g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_NOMEM,
                        "cannot build the graph of the patterns: show fewer of them (--top)");
    return NULL;
}

void bb_dot_free(BbDot *dot)
{
    if (!dot)
        return;
    if (dot->graph)
        agclose(dot->graph);
    g_free(dot);
}

Agraph_t *bb_dot_graph(const BbDot *dot)
{
    return dot->graph;
}

bool bb_dot_write(const BbView *view, FILE *out, GError **error)
{
    g_autoptr(BbDot) dot = bb_dot_new(view, error);
    if (!dot)
        return false;
    if (agwrite(dot->graph, out) != 0 && !ferror(out)) {
        g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
                            "cgraph cannot write the graph of the patterns");
        return false;
    }
    return true;
}
