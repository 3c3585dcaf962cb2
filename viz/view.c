// SPDX-License-Identifier: Apache-2.0
// In: an inference, what was asked for, and a format. Out: that view of its patterns.
#include "viz/view.h"

#include "data/output.h"
#include "viz/chain.h"
#include "viz/dot.h"
#include "viz/folded.h"
#include "viz/patterns_json.h"
#include "viz/ranking.h"
#include "viz/render.h"
#include "viz/table.h"

#include <errno.h>
#include <string.h>

#define TOP_FOR_PEOPLE 10

static const BbViewFormat formats[] = {
    {"dot", {"dot", "gv"}, "graph for Graphviz", false, TOP_FOR_PEOPLE, bb_dot_write},
    {"json", {"json"}, "all figures, for programs", false, BB_TOP_ALL, bb_patterns_json_write},
    {"folded",
     {"folded"},
     "stacks for flame graphs, by how long was waited",
     false,
     BB_TOP_ALL,
     bb_folded_write},
    {"text", {"txt", "text"}, "table and trees", false, TOP_FOR_PEOPLE, bb_table_write},
    {"svg",
     {"svg"},
     "picture for a browser, details in tooltips",
     false,
     TOP_FOR_PEOPLE,
     bb_render_svg},
    {"png", {"png"}, "picture", true, TOP_FOR_PEOPLE, bb_render_png},
    {"pdf", {"pdf"}, "picture for print", true, TOP_FOR_PEOPLE, bb_render_pdf},
};

bool bb_sort_key_find(const char *name, BbSortKey *key)
{
    static const char *const names[] = {
        [BB_SORT_TOTAL] = "total", [BB_SORT_COUNT] = "count", [BB_SORT_MEAN] = "mean"};
    for (guint i = BB_SORT_TOTAL; i < G_N_ELEMENTS(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            *key = i;
            return true;
        }
    }
    return false;
}

const BbViewFormat *bb_view_formats(gsize *count)
{
    *count = G_N_ELEMENTS(formats);
    return formats;
}

const BbViewFormat *bb_view_format_find(const char *name)
{
    for (gsize i = 0; i < G_N_ELEMENTS(formats); i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

static bool has_ending(const BbViewFormat *format, const char *ending)
{
    for (gsize i = 0; i < G_N_ELEMENTS(format->endings); i++)
        if (format->endings[i] && g_ascii_strcasecmp(format->endings[i], ending) == 0)
            return true;
    return false;
}

const BbViewFormat *bb_view_format_of_file(const char *path)
{
    g_autofree char *name = g_path_get_basename(path);
    const char *dot = strrchr(name, '.');
    for (gsize i = 0; dot && i < G_N_ELEMENTS(formats); i++)
        if (has_ending(&formats[i], dot + 1))
            return &formats[i];
    return NULL;
}

// What is rare among the paths of convolution is mostly chance.
static double share_of_format(const BbViewFormat *format, const BbPatterns *patterns,
                              const BbViewOptions *options)
{
    bool for_people = format->top != BB_TOP_ALL;
    bool asked = options->top == BB_TOP_ALL || options->min_count > 0;
    return for_people && !asked && bb_chain_is_form_of(patterns) ? BB_SHARE_OF_NOISE : 0;
}

bool bb_view_write(const BbViewFormat *format, const BbPatterns *patterns, const BbNames *names,
                   const BbViewOptions *options, FILE *out, GError **error)
{
    BbViewOptions resolved = *options;
    if (options->min_share < 0)
        resolved.min_share = share_of_format(format, patterns, options);
    g_autoptr(BbRanking) ranking = bb_ranking_new(patterns, names, &resolved, format->top);
    if (options->min_share < 0 && ranking->n_shown == 0 && ranking->rare > 0) {
        // What nobody asked for may hide noise, but not all there is.
        resolved.min_share = 0;
        bb_ranking_free(ranking);
        ranking = bb_ranking_new(patterns, names, &resolved, format->top);
    }
    BbView view = {patterns, names, ranking, options->network};
    errno = 0;
    if (!format->write(&view, out, error))
        return false;
    if (!ferror(out) && fflush(out) == 0)
        return true;
    int code = errno ? errno : EIO;
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(code),
                "cannot write the patterns as %s: %s: %s, or write to another place", format->name,
                g_strerror(code), bb_output_remedy(code));
    return false;
}
