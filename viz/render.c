// SPDX-License-Identifier: Apache-2.0
// In: ranked patterns. Out: a picture of them.
#include "viz/render.h"

#include "viz/dot.h"
#include "viz/ranking.h"

#include <graphviz/gvc.h>
#include <math.h>
#include <string.h>

#define PIXELS_MOST 32767.0 // pixels on a side that cairo draws
#define PNG_DPI 96.0
#define POINTS_AN_INCH 72.0
#define MARGIN 16.0 // points around a picture, and to be safe

static bool fail(GError **error, const char *what, const char *format)
{
    const char *why = aglasterr();
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
                "Graphviz cannot %s as %s%s%s; try fewer patterns (--top), or --format dot", what,
                format, why ? ": " : "", why ? why : "");
    return false;
}

// cairo stamps a PDF with the time of day; the same patterns shall be the same bytes.
static void reset_date(char *data, gsize length)
{
    static const char key[] = "/CreationDate (D:";
    static const char epoch[] = "19700101000000";
    for (char *at = data; (at = memmem(at, length - (gsize)(at - data), key, sizeof key - 1));) {
        at += sizeof key - 1;
        gsize left = length - (gsize)(at - data);
        if (left >= sizeof epoch && strspn(at, "0123456789") == sizeof epoch - 1)
            memcpy(at, epoch, sizeof epoch - 1);
    }
}

// Graphviz shrinks what is too large for it, too, but says so in its own words.
static void shrink(Agraph_t *graph, double *shrunk)
{
    boxf box = GD_bb(graph);
    double side = fmax(box.UR.x - box.LL.x, box.UR.y - box.LL.y) + MARGIN;
    double pixels = side * PNG_DPI / POINTS_AN_INCH;
    if (pixels <= PIXELS_MOST)
        return;
    GD_drawing(graph)->dpi = PNG_DPI * PIXELS_MOST / pixels;
    if (shrunk)
        *shrunk = PIXELS_MOST / pixels;
}

// Into memory first: Graphviz ends the program when its own writing to a FILE fails.
static bool draw(GVC_t *context, Agraph_t *graph, const char *format, FILE *out, double *shrunk,
                 GError **error)
{
    char *data = NULL;
    unsigned int length = 0;
    if (gvLayout(context, graph, "dot") != 0)
        return fail(error, "lay the patterns out", format);
    if (strcmp(format, "png") == 0)
        shrink(graph, shrunk);
    bool drawn = gvRenderData(context, graph, format, &data, &length) == 0 && data;
    if (drawn) {
        reset_date(data, length);
        (void)fwrite(data, 1, length, out); // the caller looks at ferror
    } else {
        fail(error, "draw the patterns", format);
    }
    if (data)
        gvFreeRenderData(data);
    gvFreeLayout(context, graph);
    return drawn;
}

// By Graphviz, about: 3 s for 3,000 nodes, and twice as many in four times as long.
static double layout_seconds(guint nodes)
{
    return 3 * (nodes / 3000.0) * (nodes / 3000.0);
}

static bool render(const BbView *view, const char *format, FILE *out, GError **error)
{
    g_autoptr(BbDot) dot = bb_dot_new(view, error);
    if (!dot)
        return false;
    const BbViewOptions *options = &view->ranking->options;
    guint nodes = (guint)agnnodes(bb_dot_graph(dot));
    if (options->laying)
        options->laying(nodes, layout_seconds(nodes), options->user);
    agseterr(AGMAX); // no words on stderr: the error is ours to tell
    GVC_t *context = gvContext();
    bool drawn = draw(context, bb_dot_graph(dot), format, out, options->shrunk, error);
    // The context stays: the pango plugin of Graphviz 2.43 keeps a pointer to the name of the last
    // font, which the context owns, and compares with it in the next picture.
    return drawn;
}

bool bb_render_svg(const BbView *view, FILE *out, GError **error)
{
    return render(view, "svg", out, error);
}

bool bb_render_png(const BbView *view, FILE *out, GError **error)
{
    return render(view, "png", out, error);
}

bool bb_render_pdf(const BbView *view, FILE *out, GError **error)
{
    return render(view, "pdf", out, error);
}
