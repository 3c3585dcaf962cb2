// SPDX-License-Identifier: Apache-2.0
// In: clocks of observers. Out: an SVG with a panel for each comparison in use.
#include "cli/clocks_report.h"

#include <math.h>
#include <stdlib.h>

#define WIDTH 860.0
#define PANEL 220.0 // height, titles and axis included
#define LEFT 90.0
#define RIGHT 840.0
#define TOP 30.0
#define BOTTOM 190.0
// The share of the points, from the lowest and the highest, that may lie outside of the panel.
#define OUTSIDE 0.02

// A panel shows b's clock minus a's, less the line of the first piece: steps and delays are seen,
// offset and drift stand in the title.
typedef struct Panel {
    const BbClockRelation *relation;
    const BbClockPiece *first;
    gint64 from_ns, to_ns;
    double low_ns, high_ns;
    double top; // of the panel in the picture
} Panel;

static void put_text(const char *text, FILE *out)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_autofree char *escaped = g_markup_escape_text(valid, -1);
    for (char *at = escaped; *at; at++)
        fputc((guchar)*at < 0x20 ? ' ' : *at, out); // XML has no control characters
}

static double difference(gint64 a, gint64 b)
{
    return (double)a - (double)b;
}

// b minus a at a's time, less the first line.
static double height(const Panel *panel, gint64 a_ns, gint64 b_ns)
{
    gint64 off_ns = 0;
    if (__builtin_sub_overflow(b_ns, a_ns, &off_ns) ||
        __builtin_sub_overflow(off_ns, panel->first->offset_ns, &off_ns))
        return 0;
    return (double)off_ns - panel->first->drift * difference(a_ns, panel->first->anchor_ns);
}

static double x_of(const Panel *panel, gint64 a_ns)
{
    double span = fmax(difference(panel->to_ns, panel->from_ns), 1);
    return LEFT + (RIGHT - LEFT) * difference(a_ns, panel->from_ns) / span;
}

static double y_of(const Panel *panel, double ns)
{
    double share = (ns - panel->low_ns) / (panel->high_ns - panel->low_ns);
    return panel->top + BOTTOM - (BOTTOM - TOP) * CLAMP(share, 0, 1);
}

static int compare_doubles(gconstpointer a, gconstpointer b)
{
    double p = *(const double *)a, q = *(const double *)b;
    return p < q ? -1 : p > q;
}

static void set_range(Panel *panel)
{
    const GArray *shown = panel->relation->shown;
    g_autofree double *heights = g_new(double, shown->len);
    for (guint i = 0; i < shown->len; i++) {
        const BbClockPoint *point = &g_array_index(shown, BbClockPoint, i);
        heights[i] = height(panel, point->a_ns, point->b_ns);
    }
    qsort(heights, shown->len, sizeof(double), compare_doubles);
    guint outside = (guint)(OUTSIDE * shown->len);
    double low = fmin(heights[outside], 0), high = fmax(heights[shown->len - 1 - outside], 0);
    double margin = fmax((high - low) / 20, 1);
    panel->low_ns = low - margin;
    panel->high_ns = high + margin;
    panel->from_ns = g_array_index(shown, BbClockPoint, 0).a_ns;
    panel->to_ns = g_array_index(shown, BbClockPoint, shown->len - 1).a_ns;
}

static void put_title(const Panel *panel, const BbClocks *clocks, const BbNames *names, FILE *out)
{
    const BbClockRelation *relation = panel->relation;
    fprintf(out, "<text x=\"%.0f\" y=\"%.1f\" class=\"title\">", LEFT, panel->top + 18);
    put_text(bb_names_text(names, bb_clocks_at(clocks, relation->b)->name), out);
    fputs(" minus ", out);
    put_text(bb_names_text(names, bb_clocks_at(clocks, relation->a)->name), out);
    fprintf(out, ": %.6f s, %.3f ppm, &#177; %.1f &#181;s</text>\n",
            (double)panel->first->offset_ns / 1e9, panel->first->drift * 1e6,
            bb_clock_map_error_ns(relation->fit.map) / 1e3);
}

static void put_axes(const Panel *panel, FILE *out)
{
    fprintf(out,
            "<rect x=\"%.0f\" y=\"%.1f\" width=\"%.0f\" height=\"%.0f\" class=\"frame\"/>\n"
            "<text x=\"%.0f\" y=\"%.1f\" class=\"left\">%.1f &#181;s</text>\n"
            "<text x=\"%.0f\" y=\"%.1f\" class=\"left\">%.1f &#181;s</text>\n"
            "<text x=\"%.0f\" y=\"%.1f\" class=\"left\">0</text>\n"
            "<text x=\"%.0f\" y=\"%.1f\">0 s</text>\n"
            "<text x=\"%.0f\" y=\"%.1f\" class=\"left\">%.1f s</text>\n",
            LEFT, panel->top + TOP, RIGHT - LEFT, BOTTOM - TOP, LEFT - 6, panel->top + TOP + 8,
            panel->high_ns / 1e3, LEFT - 6, panel->top + BOTTOM, panel->low_ns / 1e3, LEFT - 6,
            y_of(panel, 0) + 4, LEFT, panel->top + BOTTOM + 16, RIGHT, panel->top + BOTTOM + 16,
            difference(panel->to_ns, panel->from_ns) / 1e9);
}

static void put_points(const Panel *panel, bool a_first, FILE *out)
{
    const GArray *shown = panel->relation->shown;
    fprintf(out, "<path class=\"%s\" d=\"", a_first ? "there" : "back");
    for (guint i = 0; i < shown->len; i++) {
        const BbClockPoint *point = &g_array_index(shown, BbClockPoint, i);
        if (point->a_first == a_first)
            fprintf(out, "M%.1f %.1fh0", x_of(panel, point->a_ns),
                    y_of(panel, height(panel, point->a_ns, point->b_ns)));
    }
    fputs("\"/>\n", out);
}

static void put_pieces(const Panel *panel, FILE *out)
{
    const BbClockMap *map = panel->relation->fit.map;
    for (guint i = 0; i < bb_clock_map_count(map); i++) {
        const BbClockPiece *piece = bb_clock_map_at(map, i);
        gint64 ends_ns[2] = {piece->from_ns, piece->to_ns};
        double y[2];
        for (guint end = 0; end < 2; end++)
            y[end] =
                y_of(panel, height(panel, ends_ns[end], bb_clock_piece_apply(piece, ends_ns[end])));
        fprintf(out, "<path class=\"line\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", x_of(panel, ends_ns[0]),
                y[0], x_of(panel, ends_ns[1]), y[1]);
    }
}

static void put_panel(Panel *panel, const BbClocks *clocks, const BbNames *names, FILE *out)
{
    panel->first = bb_clock_map_at(panel->relation->fit.map, 0);
    set_range(panel);
    put_title(panel, clocks, names, out);
    put_axes(panel, out);
    put_points(panel, true, out);
    put_points(panel, false, out);
    put_pieces(panel, out);
}

static guint count_panels(const BbClocks *clocks)
{
    guint panels = 0;
    for (guint i = 0; i < bb_clocks_relations(clocks); i++)
        panels += bb_clocks_relation(clocks, i)->used;
    return panels;
}

void bb_clocks_write_svg(const BbClocks *clocks, const BbNames *names, FILE *out)
{
    double total = fmax(PANEL * count_panels(clocks), 40);
    Panel panel = {0};
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\">\n"
            "<style>text{font:12px sans-serif;fill:#222}.title{font-weight:bold}"
            ".left{text-anchor:end}.frame{fill:none;stroke:#999}path{fill:none}"
            ".there,.back{stroke-width:2.5;stroke-linecap:round;opacity:.6}"
            ".there{stroke:#c60}.back{stroke:#06c}.line{stroke:#000;stroke-width:1.5}</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            WIDTH, total, WIDTH, total);
    if (!count_panels(clocks))
        fprintf(out, "<text x=\"%.0f\" y=\"24\">No two clocks can be compared.</text>\n", LEFT);
    for (guint i = 0; i < bb_clocks_relations(clocks); i++) {
        panel.relation = bb_clocks_relation(clocks, i);
        if (!panel.relation->used)
            continue;
        put_panel(&panel, clocks, names, out);
        panel.top += PANEL;
    }
    fputs("</svg>\n", out);
}
