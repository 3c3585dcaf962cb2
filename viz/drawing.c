// SPDX-License-Identifier: Apache-2.0
// In: texts and figures of a pattern. Out: nodes of a graph, and attributes as Graphviz reads them.
#include "viz/drawing.h"

#include "data/caption.h"
#include "data/quantity.h"

#include <string.h>

#define CLIENT_COLUMNS 20 // a client stands in front of all
#define BACKSLASH "\\\\"  // of a label
#define NAME_LINES 4      // a name is wrapped into at most so many lines; the tooltip has all of it

// "&amp;" and the like, which Graphviz would decode.
static bool is_entity(const char *text)
{
    gsize length = strspn(text + 1, "#0123456789"
                                    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    return length > 0 && text[1 + length] == ';';
}

// Graphviz reads labels and tooltips as escString: "\N" is a node's name, "\n" ends a line. Labels
// are read once, tooltips once or twice (2.43): there no number of backslashes gives one.
static void escape(GString *escaped, const char *plain, const char *backslash)
{
    for (const char *at = plain; *at; at++)
        if (*at == '\\')
            g_string_append(escaped, backslash);
        else if (*at == '\n')
            g_string_append(escaped, "\\n");
        else if (*at == '&' && is_entity(at))
            g_string_append(escaped, "%26");
        else
            g_string_append_c(escaped, *at);
}

void bb_drawing_append_plain(GString *label, const char *text)
{
    escape(label, text, BACKSLASH);
}

// cgraph's functions take char * but change nothing.
void bb_drawing_set(void *object, const char *name, const char *value)
{
    agsafeset(object, (char *)name, (char *)value, (char *)"");
}

void bb_drawing_set_plain(BbDrawing *drawing, void *object, const char *name)
{
    const char *backslash = g_str_has_suffix(name, "tooltip") ? "%5C" : BACKSLASH;
    g_string_truncate(drawing->escaped, 0);
    escape(drawing->escaped, drawing->plain->str, backslash);
    bb_drawing_set(object, name, drawing->escaped->str);
}

void bb_drawing_append_name(GString *out, const char *text, guint columns)
{
    g_autoptr(GString) label = g_string_new(NULL);
    bb_caption_append(label, text, "?");
    bb_caption_wrap(label, columns, NAME_LINES);
    g_string_append(out, label->str);
}

void bb_drawing_fill(Agnode_t *drawn, double share)
{
    static const int full[] = {0xf4, 0x6d, 0x32};
    int rgb[3];
    for (guint i = 0; i < 3; i++)
        rgb[i] = 255 - (int)((255 - full[i]) * CLAMP(share, 0, 1) + 0.5);
    char color[8];
    g_snprintf(color, sizeof color, "#%02x%02x%02x", (guint)rgb[0], (guint)rgb[1], (guint)rgb[2]);
    bb_drawing_set(drawn, "fillcolor", color);
}

void bb_drawing_append_quantiles(GString *out, const BbStats *stats)
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

void bb_drawing_append_replicas(BbDrawing *drawing, const GArray *replicas)
{
    for (guint i = 0; replicas && i < replicas->len; i++) {
        const BbReplica *replica = &g_array_index(replicas, BbReplica, i);
        g_string_append_c(drawing->plain, '\n');
        bb_caption_append(drawing->plain, bb_names_text(drawing->names, replica->node), "?");
        g_string_append(drawing->plain, ": ");
        bb_quantity_append_count(drawing->plain, replica->count);
        g_string_append(drawing->plain, ", mean ");
        bb_quantity_append_duration(drawing->plain, bb_replica_mean_latency(replica));
    }
}

Agnode_t *bb_drawing_new_node(BbDrawing *drawing)
{
    char name[32];
    g_snprintf(name, sizeof name, "p%un%u", drawing->rank, drawing->nodes++);
    return agnode(drawing->cluster, name, 1);
}

Agnode_t *bb_drawing_client(BbDrawing *drawing)
{
    const char *name = bb_names_text(drawing->names, drawing->pattern->client);
    Agnode_t *client = bb_drawing_new_node(drawing);
    if (!client)
        return NULL;
    g_string_truncate(drawing->plain, 0);
    bb_drawing_append_name(drawing->plain, name, CLIENT_COLUMNS);
    bb_drawing_set_plain(drawing, client, "label");
    g_string_truncate(drawing->plain, 0);
    bb_caption_append(drawing->plain, name, "?");
    bb_drawing_append_replicas(drawing, drawing->pattern->clients);
    bb_drawing_set_plain(drawing, client, "tooltip");
    bb_drawing_set(client, "shape", "box");
    return client;
}
