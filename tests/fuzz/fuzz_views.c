// SPDX-License-Identifier: Apache-2.0
// Names of any bytes in every text view: the first three lines of the input are the client, a node
// and its operation. DOT reads back as the same graph with plain labels; text and JSON are UTF-8
// without control bytes.
#include "viz/view.h"

#include <graphviz/cgraph.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

static BbPatternNode *make_node(guint32 node, guint32 op)
{
    BbPatternNode *self = bb_pattern_node_new(node, op);
    bb_stats_push(self->call_delay, 1000);
    bb_stats_push(self->latency, 5000000);
    return self;
}

static BbPatterns *make_patterns(const guint32 name[3])
{
    BbPatterns *patterns = bb_patterns_new("nesting");
    BbPatternNode *root = make_node(name[1], name[2]);
    g_ptr_array_add(root->calls, make_node(name[2], name[0]));
    BbPattern *pattern = bb_pattern_new(name[0], root);
    pattern->count = 1;
    g_ptr_array_add(patterns->patterns, pattern);
    return patterns;
}

static char *write_view(const char *format, const BbPatterns *patterns, const BbNames *names)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    BbViewOptions options = BB_VIEW_OPTIONS_DEFAULT;
    g_assert(bb_view_write(bb_view_format_find(format), patterns, names, &options, out, NULL));
    fclose(out);
    g_assert(strlen(text) == length);
    return text;
}

static void check_text(char *text)
{
    g_assert(g_utf8_validate(text, -1, NULL));
    for (const char *at = text; *at; at++)
        g_assert(*at == '\n' || (guchar)*at >= 0x20);
    free(text);
}

static void check_dot(char *text)
{
    Agraph_t *graph = agmemread(text);
    g_assert(graph && agnnodes(graph) == 3 && agnedges(graph) == 2);
    for (Agnode_t *node = agfstnode(graph); node; node = agnxtnode(graph, node)) {
        char *label = agget(node, (char *)"label");
        g_assert(!aghtmlstr(label) && g_utf8_validate(label, -1, NULL));
    }
    agclose(graph);
    free(text);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(BbNames) names = bb_names_new();
    guint32 name[3] = {BB_NAME_NONE, BB_NAME_NONE, BB_NAME_NONE};
    g_autofree char *input = g_strndup((const char *)data, size);
    g_auto(GStrv) lines = g_strsplit(input, "\n", 3);
    for (guint i = 0; lines[i]; i++)
        name[i] = bb_names_intern(names, lines[i]);
    g_autoptr(BbPatterns) patterns = make_patterns(name);
    check_text(write_view("text", patterns, names));
    check_text(write_view("json", patterns, names));
    check_dot(write_view("dot", patterns, names));
    return 0;
}
