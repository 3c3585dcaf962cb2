// SPDX-License-Identifier: Apache-2.0
// In: the cause of each message. Out: path instances, with the delay of each message.
#include "convolution/forest.h"

#include <math.h>
#include <stdlib.h>

// ---- cycles ------------------------------------------------------------------------------------

static void cut_cycle(BbAssignment *assignment, guint32 at)
{
    guint32 least = at;
    for (guint32 i = assignment->cause[at]; i != at; i = assignment->cause[i])
        if (assignment->chance[i] < assignment->chance[least] ||
            (assignment->chance[i] == assignment->chance[least] && i < least))
            least = i;
    assignment->cause[least] = BB_CALL_NO_PARENT;
}

void bb_forest_untangle(BbAssignment *assignment)
{
    g_autofree guint32 *walk = g_new0(guint32, MAX(1, assignment->n)); // in which it was seen
    for (guint32 i = 0; i < assignment->n; i++) {
        guint32 at = i;
        while (at != BB_CALL_NO_PARENT && walk[at] == 0) {
            walk[at] = i + 1;
            at = assignment->cause[at];
        }
        if (at != BB_CALL_NO_PARENT && walk[at] == i + 1)
            cut_cycle(assignment, at);
    }
}

// ---- delays ------------------------------------------------------------------------------------

// Numbers the delays of all links: base[link of an explanation] is the first of its cores.
static void list_modes(BbPaths *paths, BbExplanation *const *explanations, guint32 n,
                       guint32 **bases)
{
    g_autoptr(GArray) modes = g_array_new(FALSE, FALSE, sizeof(BbMode));
    for (guint32 f = 0; f < n; f++) {
        const GPtrArray *links = explanations[f]->links;
        bases[f] = g_new(guint32, MAX(1, links->len));
        for (guint l = 0; l < links->len; l++) {
            const BbLink *link = g_ptr_array_index(links, l);
            bases[f][l] = modes->len;
            for (guint c = 0; c < link->cores->len; c++)
                g_array_append_val(modes, g_array_index(link->cores, BbCore, c).mode);
        }
    }
    paths->n_modes = modes->len;
    paths->modes = (BbMode *)(gpointer)g_array_steal(modes, NULL);
}

static guint32 mode_of(const BbPaths *paths, const BbExplanation *explanation, guint32 l,
                       guint32 base, guint32 effect, guint32 cause)
{
    const BbLink *link = g_ptr_array_index(explanation->links, l);
    if (link->cores->len == 0) // learning to tell the delays left it none
        return BB_MODE_NONE;
    const BbLagGrid *grid = &explanation->grid;
    gint64 lag = bb_time_between(paths->calls[cause].arrived_ns, paths->calls[effect].call_ns);
    double bin = (double)lag / (double)grid->quantum_ns + grid->before;
    return base + bb_link_core_of(link, (guint32)CLAMP(bin, 0, grid->bins - 1.0));
}

static void find_modes(BbPaths *paths, BbExplanation *const *explanations, guint32 n,
                       const BbAssignment *assignment)
{
    g_autofree guint32 **bases = g_new0(guint32 *, MAX(1, n));
    list_modes(paths, explanations, n, bases);
    for (guint32 f = 0; f < n; f++) {
        const BbStream *out = explanations[f]->out;
        for (guint32 k = 0; k < out->count; k++) {
            guint32 effect = out->message[k], cause = assignment->cause[effect];
            if (cause == BB_CALL_NO_PARENT)
                continue;
            guint32 l =
                g_array_index(explanations[f]->causes, BbCause, assignment->choice[effect]).link;
            paths->mode[effect] = mode_of(paths, explanations[f], l, bases[f][l], effect, cause);
        }
        g_free(bases[f]);
    }
}

// How sure it is that a message which was given no cause has none: by its own chance, and as usual
// as that is in its stream. Where nearly all have one, what seems to have none is more likely to
// have one that the kernels do not reach.
static void doubt_roots(BbPaths *paths, const BbExplanation *explanation)
{
    const BbStream *out = explanation->out;
    guint32 roots = 0;
    for (guint32 k = 0; k < out->count; k++)
        roots += paths->parent[out->message[k]] == BB_CALL_NO_PARENT;
    float usual = (float)roots / (float)MAX(1, out->count);
    for (guint32 k = 0; k < out->count; k++) {
        guint32 message = out->message[k];
        if (paths->parent[message] != BB_CALL_NO_PARENT)
            continue;
        if (explanation->unknown)
            paths->confidence[message] = BB_CONFIDENCE_NONE;
        else
            paths->confidence[message] *= usual;
    }
}

static void add_onward(BbPaths *paths, const BbStreams *streams, const BbExplanation *explanation)
{
    for (guint l = 0; l < explanation->links->len; l++) {
        const BbLink *link = g_ptr_array_index(explanation->links, l);
        const BbStream *in = &streams->in[link->in];
        for (guint32 m = 0; m < in->count && !link->derived; m++)
            paths->onward[in->message[m]] += link->effects[m];
    }
}

// ---- trees -------------------------------------------------------------------------------------

// Lists the kids of each message, in order of time: kids[first[i] .. first[i + 1]).
static guint32 *list_kids(const BbPaths *paths, guint32 *first)
{
    guint32 *kids = g_new(guint32, MAX(1, paths->n_calls));
    for (guint32 i = 0; i < paths->n_calls; i++)
        if (paths->parent[i] != BB_CALL_NO_PARENT)
            first[paths->parent[i] + 1]++;
    for (guint32 i = 0; i < paths->n_calls; i++)
        first[i + 1] += first[i];
    g_autofree guint32 *next = g_memdup2(first, (paths->n_calls + 1) * sizeof *first);
    for (guint32 i = 0; i < paths->n_calls; i++)
        if (paths->parent[i] != BB_CALL_NO_PARENT)
            kids[next[paths->parent[i]]++] = i;
    return kids;
}

// Puts the tree of a root into order, each message before those it caused; cuts it where it is too
// deep: what is below begins a tree of its own, and is left to the caller.
static guint32 list_tree(BbPaths *paths, guint32 root, const guint32 *kids, const guint32 *first,
                         guint32 at, GArray *cut)
{
    guint32 end = at;
    paths->order[end++] = root;
    paths->level[root] = 1;
    for (; at < end; at++) {
        guint32 message = paths->order[at];
        for (guint32 k = first[message]; k < first[message + 1]; k++) {
            guint32 kid = kids[k];
            if (paths->level[message] == BB_PATHS_DEPTH_MAX) {
                paths->parent[kid] = BB_CALL_NO_PARENT;
                paths->mode[kid] = BB_MODE_NONE;
                paths->facts.deep_calls++;
                g_array_append_val(cut, kid);
                continue;
            }
            paths->level[kid] = (guint16)(paths->level[message] + 1);
            paths->order[end++] = kid;
        }
    }
    return end;
}

static gint compare_roots(gconstpointer left, gconstpointer right, gpointer order)
{
    const BbInstance *a = left, *b = right;
    guint32 root_a = ((const guint32 *)order)[a->first],
            root_b = ((const guint32 *)order)[b->first];
    return root_a < root_b ? -1 : root_a > root_b;
}

// Messages are in order of time, so the roots' indices are too.
static void make_trees(BbPaths *paths)
{
    guint32 n = paths->n_calls, listed = 0;
    g_autofree guint32 *first = g_new0(guint32, (gsize)n + 1);
    g_autofree guint32 *kids = list_kids(paths, first);
    g_autoptr(GArray) roots = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autoptr(GArray) trees = g_array_new(FALSE, FALSE, sizeof(BbInstance));
    for (guint32 i = 0; i < n; i++)
        if (paths->parent[i] == BB_CALL_NO_PARENT)
            g_array_append_val(roots, i);
    for (guint r = 0; r < roots->len; r++) {
        BbInstance tree = {.first = listed, .pattern = BB_PATTERN_NONE};
        listed = list_tree(paths, g_array_index(roots, guint32, r), kids, first, listed, roots);
        tree.count = listed - tree.first;
        g_array_append_val(trees, tree);
    }
    g_array_sort_with_data(trees, compare_roots, paths->order);
    for (guint i = 0; i < trees->len; i++)
        g_array_index(trees, BbInstance, i).place = i;
    paths->n_instances = trees->len;
    paths->instances = (BbInstance *)(gpointer)g_array_steal(trees, NULL);
}

// ---- what correlates, but is explained ---------------------------------------------------------

static gint compare_derived(gconstpointer left, gconstpointer right)
{
    const BbDerived *a = left, *b = right;
    return a->count > b->count ? -1 : a->count < b->count;
}

static void list_derived(BbPaths *paths, const BbStreams *streams,
                         BbExplanation *const *explanations)
{
    for (guint32 f = 0; f < streams->n_out; f++)
        for (guint l = 0; l < explanations[f]->links->len; l++) {
            const BbLink *link = g_ptr_array_index(explanations[f]->links, l);
            const BbStream *in = &streams->in[link->in], *out = &streams->out[f];
            const BbPeak *best = NULL;
            for (guint i = 0; i < link->peaks->len; i++) {
                const BbPeak *peak = &g_array_index(link->peaks, BbPeak, i);
                best = !best || peak->excess > best->excess ? peak : best;
            }
            if (!link->derived || in->pooled || out->pooled || link->excess < 1)
                continue;
            const BbLagGrid *grid = &explanations[f]->grid;
            double centre = (best->low + best->high) / 2.0 - grid->before;
            double width = best->high - best->low;
            BbDerived derived = {
                .from = paths->calls[in->message[0]].caller,
                .via = in->node,
                .to = paths->calls[out->message[0]].callee,
                .count = (guint64)link->excess,
                .delay_ns = (gint64)(centre * (double)grid->quantum_ns),
                .spread_ns = (gint64)(width / sqrt(12) * (double)grid->quantum_ns),
            };
            g_array_append_val(paths->derived, derived);
        }
    g_array_sort(paths->derived, compare_derived);
}

// ---- the whole ---------------------------------------------------------------------------------

BbPaths *bb_forest_publish(BbTraffic *traffic, const BbStreams *streams,
                           BbExplanation *const *explanations, const BbAssignment *assignment,
                           bool derived)
{
    BbPaths *paths = bb_paths_new();
    gsize n = MAX(1, traffic->n_messages);
    paths->n_calls = traffic->n_messages;
    paths->calls = g_steal_pointer(&traffic->messages);
    paths->facts = traffic->facts;
    paths->from_ns = traffic->facts.start_ns;
    paths->to_ns = traffic->facts.end_ns;
    paths->parent = g_memdup2(assignment->cause, n * sizeof(guint32));
    paths->confidence = g_memdup2(assignment->chance, n * sizeof(float));
    paths->level = g_new0(guint16, n);
    paths->shape = g_new0(guint32, n);
    paths->self_ns = g_new0(guint64, n);
    paths->order = g_new0(guint32, n);
    paths->mode = g_new(guint32, n);
    paths->onward = g_new0(float, n);
    paths->derived = g_array_new(FALSE, FALSE, sizeof(BbDerived));
    for (guint32 i = 0; i < paths->n_calls; i++)
        paths->mode[i] = BB_MODE_NONE;
    find_modes(paths, explanations, streams->n_out, assignment);
    for (guint32 f = 0; f < streams->n_out; f++) {
        doubt_roots(paths, explanations[f]);
        add_onward(paths, streams, explanations[f]);
    }
    paths->facts.unrelated = bb_paths_count_unknown(paths);
    make_trees(paths);
    if (derived)
        list_derived(paths, streams, explanations);
    return paths;
}
