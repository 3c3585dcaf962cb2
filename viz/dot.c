// SPDX-License-Identifier: Apache-2.0
// In: ranked patterns. Out: a graph with one cluster a pattern, each a tree (paper, figure 8) or a
// chain (figures 9 and 13).
#include "viz/dot.h"

#include "viz/chain.h"
#include "viz/dot_ids.h"
#include "viz/drawing.h"
#include "viz/ranking.h"
#include "viz/summary.h"

#include <stdlib.h>
#include <string.h>

#define FONT "Helvetica"
#define END "}\n" // of a graph

struct BbDot {
    Agraph_t *graph;
    // cgraph keeps pointers to these.
    Agiddisc_t ids;
    Agdisc_t disc;
};

// i: of the patterns shown.
static bool draw_pattern(Agraph_t *graph, const BbView *view, guint i)
{
    g_autoptr(GString) plain = g_string_new(NULL);
    g_autoptr(GString) escaped = g_string_new(NULL);
    BbDrawing drawing = {.names = view->names,
                         .network = view->network,
                         .pattern = view->ranking->shown[i],
                         .ranking = view->ranking,
                         .plain = plain,
                         .escaped = escaped,
                         .rank = view->ranking->rank_shown[i]};
    char name[32];
    g_snprintf(name, sizeof name, "cluster_%u", drawing.rank);
    drawing.cluster = agsubg(graph, name, 1);
    Agnode_t *client = drawing.cluster ? bb_drawing_client(&drawing) : NULL;
    if (!client)
        return false;
    return view->ranking->chains ? bb_drawing_chain(&drawing, client)
                                 : bb_drawing_tree(&drawing, client);
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

// How to read the picture.
static const char legend_of_trees[] =
    "Node: mean latency with its calls; self = what it worked itself, as a share of the pattern's "
    "latency.\\lwaited = how long the client waited for it, not its calls: more than self where "
    "calls run that nobody waits for; bold = most.\\lEdge: mean delay from entry to entry; dashed "
    "= little better than guessed.\\l";
static const char legend_of_chains[] =
    "Edge: messages of all paths that begin alike @ what the node took before it sent them, by "
    "falling number; bold = slowest, dashed = little better than guessed.\\lA delay is learned "
    "from "
    "all messages of both edges, the rare ones of a node together: it is theirs, and need not add "
    "up "
    "to the pattern's time.\\lNode: the deeper its colour, the more of the pattern's time passes "
    "there.\\l";
static const char legend_of_queued[] =
    "queued = the part of waited in which it stood in line, for one of its workers or for a "
    "connection of a pool.\\l";
static const char legend_of_wire[] =
    "wire = how long the client waited for what was on the way to the node, or back.\\l";
static const char legend_of_derived[] =
    "Dashed frame: no causal path; derived from other paths.\\l";

static void label_graph(Agraph_t *graph, const BbView *view)
{
    const BbRanking *ranking = view->ranking;
    g_autoptr(GString) text = g_string_new(NULL), chosen = g_string_new(NULL);
    bb_summary_append_trace(text, view->patterns);
    g_string_append(text, "\\l");
    if (bb_summary_append_chosen(chosen, ranking)) {
        bb_drawing_append_plain(text, chosen->str);
        g_string_append(text, "\\l");
    }
    if (bb_summary_append_unrelated(text, &view->patterns->facts))
        g_string_append(text, "\\l");
    bb_summary_append_shown(text, view->patterns, ranking);
    g_string_append(text, "\\l");
    if (bb_summary_append_left_out(text, ranking))
        g_string_append(text, "\\l");
    if (ranking->n_shown > 0)
        g_string_append(text, ranking->chains ? legend_of_chains : legend_of_trees);
    if (ranking->queued)
        g_string_append(text, legend_of_queued);
    if (ranking->wire)
        g_string_append(text, legend_of_wire);
    if (ranking->derived_shown > 0)
        g_string_append(text, legend_of_derived);
    bb_drawing_set(graph, "label", text->str);
}

// The first of the patterns shown, from 0, and the one behind the last.
static bool draw(BbDot *dot, const BbView *view, guint first, guint end)
{
    for (guint i = 0; i < G_N_ELEMENTS(defaults); i++)
        if (!agattr(dot->graph, defaults[i].kind, (char *)defaults[i].name,
                    (char *)defaults[i].value))
            return false;
    if (view->ranking->chains)
        bb_drawing_set(dot->graph, "ranksep", "0.12"); // on both sides of an edge's label
    label_graph(dot->graph, view);
    for (guint i = end; i-- > first;)
        if (!draw_pattern(dot->graph, view, i))
            return false;
    return true;
}

static BbDot *new_part(const BbView *view, guint first, guint end, GError **error)
{
    g_autoptr(BbDot) dot = g_new0(BbDot, 1);
    dot->ids = bb_dot_ids();
    dot->disc = AgDefaultDisc;
    dot->disc.id = &dot->ids;
    dot->graph = agopen((char *)"bbpaths", Agdirected, &dot->disc);
    if (dot->graph && draw(dot, view, first, end))
        return g_steal_pointer(&dot);
    g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_NOMEM,
                        "cannot build the graph of the patterns: show fewer of them (--top)");
    return NULL;
}

BbDot *bb_dot_new(const BbView *view, GError **error)
{
    return new_part(view, 0, view->ranking->n_shown, error);
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

// The graph with these patterns as text, without the brace that closes it; the caller frees it.
static char *write_part(const BbView *view, guint first, guint end, gsize *length, GError **error)
{
    g_autoptr(BbDot) dot = new_part(view, first, end, error);
    if (!dot)
        return NULL;
    char *text = NULL;
    FILE *memory = open_memstream(&text, length);
    bool written = memory && agwrite(dot->graph, memory) == 0;
    if (memory && fclose(memory) == 0 && written) {
        *length -= strlen(END);
        return text;
    }
    free(text);
    g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
                        "cgraph cannot write the graph of the patterns");
    return NULL;
}

// What agwrite makes of the graph with all patterns, pattern by pattern: it asks of each node and
// edge whether one of all clusters has it, which costs the square of their number. A graph with one
// begins as the graph with none does.
bool bb_dot_write(const BbView *view, FILE *out, GError **error)
{
    gsize head = 0, length = 0;
    char *text = write_part(view, 0, 0, &head, error);
    if (!text)
        return false;
    fwrite(text, 1, head, out);
    free(text);
    for (guint i = view->ranking->n_shown; i-- > 0 && !ferror(out);) {
        text = write_part(view, i, i + 1, &length, error);
        if (!text)
            return false;
        fwrite(text + head, 1, length - head, out);
        free(text);
    }
    fputs(END, out);
    return true;
}
