// SPDX-License-Identifier: Apache-2.0
// The slow twin of figure 6 of the paper: it correlates directly, each message with each, and
// recurs as the figure does. For traffic of some dozen messages.
#pragma once

#include "convolution/figure6.h"
#include "tests/unit/test.h"

#include <math.h>
#include <string.h>

typedef struct {
    const BbTraffic *traffic;
    const BbFigure6Options *options;
    gint64 span, lags;
    GHashTable *vertices; // chain of nodes -> GHashTable of lag -> messages
} Twin;

static gint64 quantum(const Twin *twin, gint64 time_ns)
{
    return (time_ns - twin->traffic->start_ns) / twin->options->quantum_ns;
}

static bool is_sent_by(const Twin *twin, guint32 message, guint32 node)
{
    return twin->traffic->messages[message].caller == node;
}

static double *correlate(const Twin *twin, const GArray *v, guint32 j)
{
    const BbTraffic *traffic = twin->traffic;
    g_autofree double *s1 = g_new0(double, twin->span), *s2 = g_new0(double, twin->span);
    for (guint i = 0; i < v->len; i++)
        s1[quantum(twin, traffic->messages[g_array_index(v, guint32, i)].arrived_ns)]++;
    for (guint32 i = 0; i < traffic->n_messages; i++)
        if (is_sent_by(twin, i, j))
            s2[quantum(twin, traffic->messages[i].call_ns)]++;
    double *c = g_new0(double, twin->lags);
    for (gint64 lag = 0; lag < twin->lags; lag++) {
        for (gint64 t = 0; t + lag < twin->span; t++)
            c[lag] += sqrt(s1[t]) * sqrt(s2[t + lag]);
        c[lag] = rint(c[lag] * 4096) / 4096;
    }
    return c;
}

static void recur(Twin *twin, const char *chain, gint64 lag, const GArray *v, guint depth);

static void follow(Twin *twin, const char *chain, const GArray *v, guint32 j, gint64 d, guint depth)
{
    const BbTraffic *traffic = twin->traffic;
    for (guint32 k = 0; k < bb_names_count(twin->traffic->names); k++) {
        g_autoptr(GArray) w = g_array_new(FALSE, FALSE, sizeof(guint32));
        for (guint32 n = 0; n < traffic->n_messages; n++) {
            bool near = false;
            for (guint i = 0; i < v->len; i++) {
                guint32 m = g_array_index(v, guint32, i);
                gint64 apart = quantum(twin, traffic->messages[n].call_ns) -
                               quantum(twin, traffic->messages[m].arrived_ns);
                near = near || ABS(apart - d) <= twin->options->tolerance;
            }
            if (near && is_sent_by(twin, n, j) && traffic->messages[n].callee == k)
                g_array_append_val(w, n);
        }
        if (w->len == 0)
            continue;
        g_autofree char *longer =
            g_strdup_printf("%s>%s", chain, bb_names_text(twin->traffic->names, k));
        recur(twin, longer, d, w, depth + 1);
    }
}

static void recur(Twin *twin, const char *chain, gint64 lag, const GArray *v, guint depth)
{
    GHashTable *delays = g_hash_table_lookup(twin->vertices, chain);
    if (!delays) {
        delays = g_hash_table_new(NULL, NULL);
        g_hash_table_insert(twin->vertices, g_strdup(chain), delays);
    }
    gpointer key = GINT_TO_POINTER((gint)lag);
    guint count = GPOINTER_TO_UINT(g_hash_table_lookup(delays, key));
    g_hash_table_insert(delays, key, GUINT_TO_POINTER(count + v->len));
    if (depth >= twin->options->depth_max)
        return;
    guint32 j = twin->traffic->messages[g_array_index(v, guint32, 0)].callee;
    g_autofree double *c = correlate(twin, v, j);
    double sum = 0, square = 0, n = (double)twin->lags;
    for (gint64 i = 0; i < twin->lags; i++) {
        sum += c[i];
        square += c[i] * c[i];
    }
    double variance = square / n - sum / n * (sum / n);
    if (variance <= 0)
        return;
    double spike = sum / n + twin->options->spike * sqrt(variance);
    double valley = sum / n + twin->options->valley * sqrt(variance);
    for (gint64 i = 0; i < twin->lags; i++) {
        // The highest, and of equals the first, of its surroundings down to the valleys.
        bool best = c[i] >= spike;
        for (gint64 k = i - 1; best && k >= 0 && c[k] >= valley; k--)
            best = c[k] < c[i];
        for (gint64 k = i + 1; best && k < twin->lags && c[k] >= valley; k++)
            best = c[k] <= c[i];
        if (best)
            follow(twin, chain, v, j, i, depth);
    }
}

// Those of a chain as append_pattern writes them.
static void append_delays(GString *out, GHashTable *delays)
{
    g_autoptr(GHashTable) left = g_hash_table_new(NULL, NULL);
    GHashTableIter iter;
    gpointer lag, count;
    g_hash_table_iter_init(&iter, delays);
    while (g_hash_table_iter_next(&iter, &lag, &count))
        g_hash_table_insert(left, lag, count);
    for (bool first = true; g_hash_table_size(left) > 0; first = false) {
        gint best = -1;
        guint most = 0;
        g_hash_table_iter_init(&iter, left);
        while (g_hash_table_iter_next(&iter, &lag, &count))
            if (best < 0 || GPOINTER_TO_UINT(count) > most ||
                (GPOINTER_TO_UINT(count) == most && GPOINTER_TO_INT(lag) < best)) {
                best = GPOINTER_TO_INT(lag);
                most = GPOINTER_TO_UINT(count);
            }
        g_string_append_printf(out, "%s%d:%u", first ? " (" : " ", best, most);
        g_hash_table_remove(left, GINT_TO_POINTER(best));
    }
    g_string_append_c(out, ')');
}

// Nothing follows this chain.
static bool is_leaf(const Twin *twin, const char *chain)
{
    g_autofree char *start = g_strconcat(chain, ">", NULL);
    GHashTableIter iter;
    gpointer other;
    g_hash_table_iter_init(&iter, twin->vertices);
    while (g_hash_table_iter_next(&iter, &other, NULL))
        if (g_str_has_prefix(other, start))
            return false;
    return true;
}

static char *leaf_line(const Twin *twin, const char *chain, GHashTable *delays)
{
    guint total = 0;
    GHashTableIter iter;
    gpointer count;
    g_hash_table_iter_init(&iter, delays);
    while (g_hash_table_iter_next(&iter, NULL, &count))
        total += GPOINTER_TO_UINT(count);
    GString *line = g_string_new(NULL);
    g_string_append_printf(line, "%s %u", chain, total);
    g_autofree char *part = g_strdup(chain);
    guint hops = 0;
    for (gsize i = 0; chain[i]; i++)
        hops += chain[i] == '>';
    for (guint hop = 2; hop <= hops; hop++) {
        gsize end = 0;
        for (guint seen = 0; chain[end] && seen <= hop; end++)
            seen += chain[end] == '>';
        if (chain[end])
            end--;
        part[0] = 0;
        strncat(part, chain, end);
        append_delays(line, g_hash_table_lookup(twin->vertices, part));
    }
    g_string_append_c(line, '\n');
    return g_string_free(line, FALSE);
}

static gint by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *sorted_lines(GPtrArray *lines)
{
    g_ptr_array_sort(lines, by_text);
    g_ptr_array_add(lines, NULL);
    return g_strjoinv("", (char **)lines->pdata);
}

static char *twin_run(const BbTraffic *traffic, const BbFigure6Options *options)
{
    Twin twin = {.traffic = traffic, .options = options};
    twin.span = quantum(&twin, traffic->end_ns) + 1;
    twin.lags = twin.span;
    if (options->max_delay_ns)
        twin.lags = MIN(twin.span, options->max_delay_ns / options->quantum_ns + 1);
    twin.vertices =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_hash_table_unref);
    for (guint32 e = 0; e < traffic->n_edges; e++) {
        const BbEdge *edge = &traffic->edges[e];
        g_autoptr(GArray) v = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_array_append_vals(v, traffic->by_edge + edge->first, edge->count);
        g_autofree char *chain =
            g_strdup_printf("%s>%s", bb_names_text(traffic->names, edge->sender),
                            bb_names_text(traffic->names, edge->receiver));
        recur(&twin, chain, 0, v, 1);
    }
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    GHashTableIter iter;
    gpointer chain, delays;
    g_hash_table_iter_init(&iter, twin.vertices);
    while (g_hash_table_iter_next(&iter, &chain, &delays))
        if (is_leaf(&twin, chain))
            g_ptr_array_add(lines, leaf_line(&twin, chain, delays));
    char *text = sorted_lines(lines);
    g_hash_table_unref(twin.vertices);
    return text;
}
