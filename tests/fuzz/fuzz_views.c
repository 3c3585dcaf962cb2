// SPDX-License-Identifier: Apache-2.0
// Names of any bytes in every text view, of trees and of chains: the first three lines of the input
// are the client, a node and its operation; the bytes after them are delays of chains, 24 each. DOT
// reads back as the same graph with plain labels; text and JSON are UTF-8 without control bytes.
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

// Any counts, any times.
static GArray *make_delays(const char *bytes, gsize size)
{
    GArray *delays = g_array_new(FALSE, FALSE, sizeof(BbPatternDelay));
    for (; size >= sizeof(BbPatternDelay);
         size -= sizeof(BbPatternDelay), bytes += sizeof(BbPatternDelay)) {
        BbPatternDelay delay;
        memcpy(&delay, bytes, sizeof delay);
        g_array_append_val(delays, delay);
    }
    return delays;
}

// A causal chain, a derived one, and a forgotten one.
static BbPatterns *make_chains(const guint32 name[3], const char *bytes, gsize size)
{
    BbPatterns *patterns = bb_patterns_new("convolution");
    g_ptr_array_add(patterns->patterns, NULL);
    for (guint i = 0; i < 2; i++) {
        BbPatternNode *root = bb_pattern_node_new(name[1], name[2]);
        BbPatternNode *node = bb_pattern_node_new(name[2], name[0]);
        root->delays = g_array_new(FALSE, FALSE, sizeof(BbPatternDelay));
        node->delays = make_delays(bytes, size);
        g_ptr_array_add(root->calls, node);
        BbPattern *pattern = bb_pattern_new(name[0], root);
        pattern->count = 1 + size;
        pattern->derived = i > 0;
        g_ptr_array_add(patterns->patterns, pattern);
    }
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

static void check_dot(char *text, int n_patterns)
{
    Agraph_t *graph = agmemread(text);
    g_assert(graph && agnnodes(graph) == 3 * n_patterns && agnedges(graph) == 2 * n_patterns);
    for (Agnode_t *node = agfstnode(graph); node; node = agnxtnode(graph, node)) {
        char *label = agget(node, (char *)"label");
        g_assert(!aghtmlstr(label) && g_utf8_validate(label, -1, NULL));
    }
    agclose(graph);
    free(text);
}

static void check_views(const BbPatterns *patterns, const BbNames *names, int n_patterns)
{
    check_text(write_view("text", patterns, names));
    check_text(write_view("json", patterns, names));
    check_dot(write_view("dot", patterns, names), n_patterns);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(BbNames) names = bb_names_new();
    guint32 name[3] = {BB_NAME_NONE, BB_NAME_NONE, BB_NAME_NONE};
    const char *at = (const char *)data, *end = at + size;
    for (guint i = 0; i < G_N_ELEMENTS(name) && at < end; i++) {
        const char *line_end = memchr(at, '\n', (gsize)(end - at));
        g_autofree char *line = g_strndup(at, (gsize)((line_end ? line_end : end) - at));
        name[i] = bb_names_intern(names, line);
        at = line_end ? line_end + 1 : end;
    }
    g_autoptr(BbPatterns) trees = make_patterns(name);
    check_views(trees, names, 1);
    g_autoptr(BbPatterns) chains = make_chains(name, at, (gsize)(end - at));
    check_views(chains, names, 2);
    return 0;
}
