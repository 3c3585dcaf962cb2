// SPDX-License-Identifier: Apache-2.0
// In: the messages of a trace. Out: the paths that figure 6 of the paper makes of them. Names are
// the paper's: i -> j -> k are nodes, V the messages that came to j, W those of them that went on.
#include "convolution/figure6.h"
#include "convolution/correlator.h"
#include "convolution/pending.h"
#include "convolution/senders.h"
#include "convolution/signal.h"
#include "convolution/spikes.h"
#include "convolution/vertices.h"
#include "data/quantity.h"

#include <stdlib.h>

typedef struct {
    const BbTraffic *traffic;
    BbFigure6Options options;
    guint32 tolerance; // v, as far as it makes a difference
    guint32 depth_max;
    BbSenders *senders;
    guint32 *arrived;         // in which quantum, by message
    BbCorrelator *correlator; // NULL where the trace has but one quantum
    gsize lags;
    BbVertices *vertices;
    BbPending *pending;
    BbFigure6Limits limits;
    // Room for one step.
    guint32 *v;         // quanta in which the messages V arrived
    guint32 *positions; // of followers
    guint32 *w;         // followers, by edge
    guint32 *per_edge;  // how many of them there are on each edge; zeros between two uses
    guint32 *edges;     // that have any
} Run;

BbFigure6Options bb_figure6_options_default(void)
{
    return (BbFigure6Options){
        .spike = 4,
        .valley = 3,
        .tolerance = 1,
        .depth_max = 32,
        .vertices_max = 100000,
    };
}

// ---- size of the signals ------------------------------------------------------------------------

static guint64 span_of(const BbTraffic *traffic, gint64 quantum_ns)
{
    return bb_signal_quantum(traffic->end_ns, traffic->start_ns, quantum_ns) + 1;
}

static guint64 lags_of(const BbFigure6Options *options, guint64 span, gint64 quantum_ns)
{
    if (options->max_delay_ns <= 0)
        return span;
    return MIN(span, (guint64)(options->max_delay_ns / quantum_ns) + 1);
}

static bool fits(const BbTraffic *traffic, const BbFigure6Options *options, gint64 quantum_ns)
{
    guint64 span = span_of(traffic, quantum_ns);
    guint64 most = BB_FIGURE6_SIGNALS / BB_CORRELATOR_BYTES_A_POINT;
    return span <= most && bb_correlator_points(span, lags_of(options, span, quantum_ns)) <= most;
}

// The least quantum that fits, up to two digits.
static gint64 least_quantum(const BbTraffic *traffic, const BbFigure6Options *options)
{
    gint64 low = options->quantum_ns, high = G_MAXINT64;
    while (low < high) {
        gint64 middle = low + (high - low) / 2;
        if (fits(traffic, options, middle))
            high = middle;
        else
            low = middle + 1;
    }
    gint64 unit = 1;
    while (low / unit >= 100)
        unit *= 10;
    return low > G_MAXINT64 - unit ? low : (low + unit - 1) / unit * unit;
}

static void refuse(const Run *run, gint64 enough_ns, GError **error)
{
    g_autoptr(GString) text = g_string_new("The trace has ");
    bb_quantity_append_count(text, span_of(run->traffic, run->options.quantum_ns));
    g_string_append(text, " quanta of ");
    bb_quantity_append_duration(text, run->options.quantum_ns);
    g_string_append(text, ": their signals do not fit into memory. Take a quantum of at least ");
    bb_quantity_append_duration(text, enough_ns);
    g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_NOMEM, text->str);
}

// It should have fitted, but the machine has less: half the signals may.
static bool refuse_memory(const Run *run, GError **error)
{
    gint64 quantum_ns = run->options.quantum_ns;
    refuse(run, quantum_ns > G_MAXINT64 / 2 ? quantum_ns : 2 * quantum_ns, error);
    return false;
}

// ---- vertices -----------------------------------------------------------------------------------

static bool sends(const Run *run, guint32 node)
{
    return bb_senders_sent(run->senders, node).count > 0;
}

// A vertex with its messages W. The effects of W are looked for later.
static void make_vertex(Run *run, const BbPendingVertex *wanted, guint32 before,
                        const BbPatternDelay *delay)
{
    if (run->limits.made >= run->options.vertices_max) {
        run->limits.vertices++;
        return;
    }
    run->limits.made++;
    BbPendingVertex vertex = *wanted;
    vertex.vertex = bb_vertices_add(run->vertices, before, vertex.edge, delay);
    if (!run->correlator || !sends(run, run->traffic->edges[vertex.edge].receiver))
        return;
    if (vertex.depth >= run->depth_max)
        run->limits.deep++;
    else if (!bb_pending_put(run->pending, &vertex))
        run->limits.vertices++;
}

static gint compare_numbers(gconstpointer left, gconstpointer right)
{
    guint32 a = *(const guint32 *)left, b = *(const guint32 *)right;
    return a < b ? -1 : a > b;
}

// Sorts run->positions[0 .. count) of a node's messages by edge into run->w, as messages; within an
// edge their order stays. Returns how many edges there are, in run->edges by number, with
// run->per_edge telling where each one's messages end.
static guint32 group_by_edge(Run *run, guint32 node, gsize count)
{
    const guint32 *sent = run->senders->messages + run->senders->first[node];
    guint32 n_edges = 0;
    for (gsize i = 0; i < count; i++) {
        guint32 edge = run->traffic->edge[sent[run->positions[i]]];
        if (run->per_edge[edge]++ == 0)
            run->edges[n_edges++] = edge;
    }
    qsort(run->edges, n_edges, sizeof *run->edges, compare_numbers);
    guint32 first = 0;
    for (guint32 e = 0; e < n_edges; e++) {
        guint32 here = run->per_edge[run->edges[e]];
        run->per_edge[run->edges[e]] = first;
        first += here;
    }
    for (gsize i = 0; i < count; i++) {
        guint32 message = sent[run->positions[i]];
        run->w[run->per_edge[run->traffic->edge[message]]++] = message;
    }
    return n_edges;
}

// For each destination of the messages at a spike a vertex.
static void follow_spike(Run *run, const BbPendingVertex *before, BbQuanta causes,
                         const BbSpike *spike)
{
    guint32 node = run->traffic->edges[before->edge].receiver;
    gsize count = bb_senders_follow(causes, bb_senders_sent(run->senders, node),
                                    (guint32)spike->lag, run->tolerance, run->positions);
    guint32 n_edges = group_by_edge(run, node, count), first = 0;
    double quantum = (double)run->options.quantum_ns;
    for (guint32 e = 0; e < n_edges; e++) {
        guint32 edge = run->edges[e], end = run->per_edge[edge];
        BbPatternDelay delay = {
            .delay_ns = (gint64)spike->lag * run->options.quantum_ns,
            .spread_ns = (gint64)(spike->spread * quantum + 0.5),
            .count = end - first,
        };
        BbPendingVertex vertex = {
            .messages = run->w + first,
            .count = end - first,
            .edge = edge,
            .depth = before->depth + 1,
        };
        make_vertex(run, &vertex, before->vertex, &delay);
        run->per_edge[edge] = 0;
        first = end;
    }
}

// The quanta in which V arrived, in order: the clocks of two nodes may not agree on the order.
static BbQuanta arrivals(Run *run, const BbPendingVertex *vertex)
{
    bool sorted = true;
    for (guint32 i = 0; i < vertex->count; i++) {
        run->v[i] = run->arrived[vertex->messages[i]];
        sorted = sorted && (i == 0 || run->v[i - 1] <= run->v[i]);
    }
    if (!sorted)
        qsort(run->v, vertex->count, sizeof *run->v, compare_numbers);
    return (BbQuanta){run->v, vertex->count};
}

// ProcessNode(j, V). Returns false where there is no memory.
static bool process_node(Run *run, const BbPendingVertex *vertex)
{
    guint32 node = run->traffic->edges[vertex->edge].receiver;
    BbQuanta causes = arrivals(run, vertex);
    const double *correlation =
        bb_correlator_run(run->correlator, causes, bb_senders_sent(run->senders, node), node);
    if (!correlation)
        return false;
    BbSpikeRule rule = {run->options.spike, run->options.valley};
    g_autoptr(GArray) spikes = bb_spikes_find(correlation, run->lags, &rule);
    for (guint i = 0; i < spikes->len; i++)
        follow_spike(run, vertex, causes, &g_array_index(spikes, BbSpike, i));
    return true;
}

// ---- roots --------------------------------------------------------------------------------------

// By name: whether anybody sends to it.
static bool *find_receivers(const BbTraffic *traffic)
{
    bool *receives = g_new0(bool, bb_names_count(traffic->names));
    for (guint32 e = 0; e < traffic->n_edges; e++)
        receives[traffic->edges[e].receiver] = true;
    return receives;
}

static gint by_falling_count(gconstpointer left, gconstpointer right, gpointer edges)
{
    guint32 a = *(const guint32 *)left, b = *(const guint32 *)right;
    const BbEdge *x = (const BbEdge *)edges + a, *y = (const BbEdge *)edges + b;
    return x->count != y->count ? (x->count > y->count ? -1 : 1) : (a < b ? -1 : a > b);
}

// Edges on which paths begin, those with the most messages first.
static GArray *root_edges(const Run *run)
{
    const BbTraffic *traffic = run->traffic;
    const BbGlobs *root = run->options.root;
    g_autofree bool *receives = find_receivers(traffic);
    GArray *roots = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 e = 0; e < traffic->n_edges; e++) {
        guint32 sender = traffic->edges[e].sender;
        if (root ? bb_globs_match(root, bb_names_text(traffic->names, sender))
                 : run->options.all_roots || !receives[sender])
            g_array_append_val(roots, e);
    }
    g_array_sort_with_data(roots, by_falling_count, traffic->edges);
    return roots;
}

static void make_root(Run *run, guint32 edge)
{
    const BbEdge *messages = &run->traffic->edges[edge];
    BbPendingVertex vertex = {
        .messages = run->traffic->by_edge + messages->first,
        .count = messages->count,
        .edge = edge,
        .depth = 1,
    };
    BbPatternDelay delay = {.count = messages->count};
    make_vertex(run, &vertex, BB_VERTEX_NONE, &delay);
}

// ---- the run ------------------------------------------------------------------------------------

static void take_room(Run *run)
{
    const BbTraffic *traffic = run->traffic;
    guint32 n = traffic->n_messages;
    run->senders = bb_senders_new(traffic, run->options.quantum_ns);
    run->arrived = g_new(guint32, n);
    for (guint32 i = 0; i < n; i++)
        run->arrived[i] =
            (guint32)bb_signal_quantum(bb_traffic_hold(traffic, traffic->messages[i].arrived_ns),
                                       traffic->start_ns, run->options.quantum_ns);
    run->v = g_new(guint32, n);
    run->positions = g_new(guint32, n);
    run->w = g_new(guint32, n);
    run->per_edge = g_new0(guint32, traffic->n_edges);
    run->edges = g_new(guint32, traffic->n_edges);
    run->pending = bb_pending_new(BB_FIGURE6_PENDING);
}

static bool begin(Run *run, GError **error)
{
    gint64 quantum_ns = run->options.quantum_ns;
    if (!fits(run->traffic, &run->options, quantum_ns)) {
        refuse(run, least_quantum(run->traffic, &run->options), error);
        return false;
    }
    guint64 span = span_of(run->traffic, quantum_ns);
    run->lags = lags_of(&run->options, span, quantum_ns);
    run->tolerance = (guint32)CLAMP(run->options.tolerance, 0, (gint64)span);
    run->depth_max = MIN(run->options.depth_max, BB_PATHS_DEPTH_MAX);
    if (span > 1) {
        run->correlator = bb_correlator_new(span, run->lags, BB_FIGURE6_SPECTRA);
        if (!run->correlator)
            return refuse_memory(run, error);
    }
    take_room(run);
    return true;
}

// Roots wait with all others for their turn by number of messages, but are made at it.
static bool make_all(Run *run, GError **error)
{
    g_autoptr(GArray) roots = root_edges(run);
    for (guint root = 0;;) {
        guint32 edge = root < roots->len ? g_array_index(roots, guint32, root) : 0;
        guint32 count = root < roots->len ? run->traffic->edges[edge].count : 0;
        if (run->limits.made >= run->options.vertices_max) {
            run->limits.vertices += bb_pending_count(run->pending) + roots->len - root;
            return true;
        }
        BbPendingVertex vertex;
        if (count > 0 && count >= bb_pending_most(run->pending)) {
            make_root(run, edge);
            root++;
            continue;
        }
        if (!bb_pending_take(run->pending, &vertex))
            return true;
        bool done = process_node(run, &vertex);
        g_free(vertex.messages);
        if (!done)
            return refuse_memory(run, error);
    }
}

static void clear(Run *run)
{
    if (run->correlator) {
        run->limits.ffts = bb_correlator_ffts(run->correlator);
        run->limits.fft_s = bb_correlator_fft_seconds(run->correlator);
    }
    bb_correlator_free(run->correlator);
    bb_senders_free(run->senders);
    bb_pending_free(run->pending);
    bb_vertices_free(run->vertices);
    g_free(run->arrived);
    g_free(run->v);
    g_free(run->positions);
    g_free(run->w);
    g_free(run->per_edge);
    g_free(run->edges);
}

BbPatterns *bb_figure6_run(const BbTraffic *traffic, const BbFigure6Options *options,
                           BbFigure6Limits *limits, GError **error)
{
    g_return_val_if_fail(options->quantum_ns > 0, NULL);
    Run run = {.traffic = traffic, .options = *options, .vertices = bb_vertices_new(traffic)};
    bool done = true;
    if (traffic->n_messages > 0)
        done = begin(&run, error) && make_all(&run, error);
    BbPatterns *patterns = done ? bb_vertices_patterns(run.vertices) : NULL;
    clear(&run);
    if (limits)
        *limits = run.limits;
    return patterns;
}
