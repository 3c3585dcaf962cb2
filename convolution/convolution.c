// SPDX-License-Identifier: Apache-2.0
// In: the messages of a window. Out: what caused each, as path instances.
#include "convolution/convolution.h"

#include "convolution/evidence.h"
#include "convolution/forest.h"
#include "convolution/labels.h"
#include "convolution/load.h"
#include "convolution/scale.h"
#include "convolution/veto.h"

#include <string.h>

#define MESSAGES_LEAST 2             // of an edge that shows anything, and of a link
#define FALSE_ALARMS 1e-3            // links expected in traffic in which nothing causes anything
#define FALSE_SHARE 0.05             // of the links that are found: expected to be there by chance
#define BINS_LEAST 64                // of lags: fewer do not tell what chance brings
#define QUANTA_LEAST 16              // in a longest delay that is given, where the quantum is found
#define LENGTH_MAX ((gint64)1 << 58) // ns of a quantum or a delay: nine years
#define QUANTA_MAX ((guint64)1 << 50) // in the trace: of finer ones there would be too many
#define VETO_ROUNDS 5
#define RECENT 4      // windows whose scales count
#define FFT_WORTH 5e6 // ns that FFTs must save: to plan them takes time too

struct BbConvolution {
    BbConvolutionOptions options;
    const BbNames *names;
    gint64 quantum_ns, max_delay_ns; // known; 0: not yet
    BbScale recent[RECENT];          // found in the last windows that showed any
    guint n_found;                   // so many windows did
    BbConvolutionWork work;
};

BbConvolutionOptions bb_convolution_options_default(void)
{
    return (BbConvolutionOptions){.rare = 30};
}

BbConvolution *bb_convolution_new(const BbNames *names, const BbConvolutionOptions *options)
{
    BbConvolution *convolution = g_new0(BbConvolution, 1);
    convolution->options = *options;
    convolution->names = names;
    convolution->quantum_ns = MIN(options->quantum_ns, LENGTH_MAX);
    convolution->max_delay_ns = MIN(options->max_delay_ns, LENGTH_MAX);
    return convolution;
}

void bb_convolution_free(BbConvolution *convolution)
{
    g_free(convolution);
}

bool bb_convolution_has_scale(const BbConvolution *convolution)
{
    return convolution->quantum_ns > 0 && convolution->max_delay_ns > 0;
}

gint64 bb_convolution_quantum(const BbConvolution *convolution)
{
    return convolution->quantum_ns;
}

gint64 bb_convolution_max_delay(const BbConvolution *convolution)
{
    return convolution->max_delay_ns;
}

BbConvolutionWork bb_convolution_work(const BbConvolution *convolution)
{
    return convolution->work;
}

// Adds the time since then, and goes on from now.
static void lap(gint64 *since_us, double *seconds)
{
    gint64 now = g_get_monotonic_time();
    *seconds += (double)(now - *since_us) / 1e6;
    *since_us = now;
}

// ---- what is tried -----------------------------------------------------------------------------

static gint64 round_up(gint64 time_ns, gint64 quantum_ns)
{
    return time_ns / quantum_ns + (time_ns % quantum_ns != 0);
}

// A single bin of any length where there is no scale.
static BbLagGrid make_grid(const BbConvolution *convolution, const BbTraffic *traffic)
{
    if (!bb_convolution_has_scale(convolution))
        return (BbLagGrid){.quantum_ns = 1, .bins = 1};
    guint64 span = (guint64)traffic->end_ns - (guint64)traffic->start_ns;
    gint64 quantum = MAX(convolution->quantum_ns, (gint64)(span / QUANTA_MAX) + 1);
    gint64 before = round_up(MIN(convolution->options.skew_ns, LENGTH_MAX), quantum);
    gint64 after = round_up(convolution->max_delay_ns, quantum);
    before = CLAMP(before, 0, BB_CONVOLUTION_LAGS_MAX);
    after = CLAMP(after, 1, BB_CONVOLUTION_LAGS_MAX);
    guint32 bins = (guint32)(before + after), beyond = BINS_LEAST - MIN(BINS_LEAST, bins);
    beyond = (guint32)MIN(beyond, LENGTH_MAX / quantum);
    return (BbLagGrid){quantum, (guint32)before, bins + beyond, beyond};
}

// ---- explaining, by several threads ------------------------------------------------------------

typedef struct {
    const BbTrains *trains;
    const BbConvolution *convolution;
    BbExplanation **explanations;
    guint32 *batches; // first streams out of each, and one more
    guint32 n_batches;
    GArray **suspects; // of BbSuspect, by batch
    guint64 *pairs;    // looked at, by batch
    double chance;     // of a suspect that counts
    gint next;         // batch
} Job;

typedef struct Worker Worker;
struct Worker {
    Job *job;
    BbEvidence *evidence;
    void (*take)(Worker *worker, guint32 batch);
};

static bool is_root(const BbConvolution *convolution, guint32 node)
{
    const BbGlobs *root = convolution->options.root;
    return root && bb_globs_match(root, bb_names_text(convolution->names, node));
}

// Whether messages into the node may cause what it sends.
static bool may_have_causes(const BbConvolution *convolution, const BbStreams *streams,
                            guint32 node)
{
    guint32 first;
    return !is_root(convolution, node) && bb_streams_into(streams, node, &first) > 0;
}

static guint32 node_of(const Job *job, guint32 batch)
{
    return job->trains->streams->out[job->batches[batch]].node;
}

static void survey_batch(Worker *worker, guint32 batch)
{
    Job *job = worker->job;
    guint32 first = job->batches[batch], n = job->batches[batch + 1] - first;
    job->suspects[batch] = g_array_new(FALSE, FALSE, sizeof(BbSuspect));
    if (!is_root(job->convolution, node_of(job, batch)))
        job->pairs[batch] = bb_evidence_survey(worker->evidence, first, n, job->suspects[batch]);
}

static void explain_batch(Worker *worker, guint32 batch)
{
    Job *job = worker->job;
    const BbTrains *trains = job->trains;
    guint32 first = job->batches[batch], n = job->batches[batch + 1] - first;
    const BbStream *out = &trains->streams->out[first];
    bool may = may_have_causes(job->convolution, trains->streams, node_of(job, batch));
    g_autofree GPtrArray **links = g_new0(GPtrArray *, n);
    bb_evidence_find(worker->evidence, first, n, job->suspects[batch], job->chance, links);
    for (guint32 i = 0; i < n; i++) {
        BbExplanation *explanation =
            bb_explain(trains->streams, &out[i], links[i], &trains->grid, &trains->options);
        explanation->unknown = may && !bb_explanation_explains(explanation);
        job->explanations[first + i] = explanation;
    }
}

static gpointer work(gpointer data)
{
    Worker *worker = data;
    for (;;) {
        guint32 batch = (guint32)g_atomic_int_add(&worker->job->next, 1);
        if (batch >= worker->job->n_batches)
            return NULL;
        worker->take(worker, batch);
    }
}

static void run_workers(Job *job, Worker *workers, guint threads,
                        void (*take)(Worker *worker, guint32 batch))
{
    g_autofree GThread **handles = g_new0(GThread *, threads);
    job->next = 0;
    for (guint i = 0; i < threads; i++)
        workers[i].take = take;
    for (guint i = 1; i < threads; i++)
        handles[i] = g_thread_new("explain", work, &workers[i]);
    work(&workers[0]);
    for (guint i = 1; i < threads; i++)
        g_thread_join(handles[i]);
}

static gint compare_chances(gconstpointer left, gconstpointer right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

// The greatest chance of a suspect that counts, such that a share of FALSE_SHARE of those that
// count is expected to be there by chance (Benjamini and Hochberg, 1995), and in traffic where
// nothing causes anything FALSE_ALARMS of them in all.
static double choose_chance(const Job *job)
{
    g_autoptr(GArray) chances = g_array_new(FALSE, FALSE, sizeof(double));
    double pairs = 0, chosen = 0;
    for (guint32 batch = 0; batch < job->n_batches; batch++) {
        pairs += (double)job->pairs[batch];
        for (guint i = 0; i < job->suspects[batch]->len; i++)
            g_array_append_val(chances, g_array_index(job->suspects[batch], BbSuspect, i).chance);
    }
    g_array_sort(chances, compare_chances);
    for (guint k = 0; k < chances->len; k++) {
        double least = (FALSE_ALARMS + FALSE_SHARE * k) / pairs;
        if (g_array_index(chances, double, k) <= least)
            chosen = least;
    }
    return MIN(chosen, BB_SUSPECT_MOST);
}

static void list_batches(Job *job, double *saved_by_ffts)
{
    const BbStreams *streams = job->trains->streams;
    job->batches = g_new(guint32, (gsize)streams->n_out + 1);
    for (guint32 first = 0; first < streams->n_out;) {
        guint32 n = bb_trains_batch(job->trains, first);
        *saved_by_ffts += MAX(0, bb_trains_saved(job->trains, first, n));
        job->batches[job->n_batches++] = first;
        first += n;
    }
    job->batches[job->n_batches] = streams->n_out;
    job->suspects = g_new0(GArray *, MAX(1, job->n_batches));
    job->pairs = g_new0(guint64, MAX(1, job->n_batches));
}

static void note_work(BbConvolutionWork *work, const Job *job, const Worker *workers, guint threads)
{
    work->threads = MAX(work->threads, threads);
    for (guint i = 0; i < threads; i++) {
        BbEvidenceWork evidence = bb_evidence_work(workers[i].evidence);
        work->counted += evidence.counted;
        work->transformed += evidence.transformed;
    }
    for (guint32 batch = 0; batch < job->n_batches; batch++)
        work->pairs += job->pairs[batch];
    for (guint32 f = 0; f < job->trains->streams->n_out; f++) {
        const GPtrArray *links = job->explanations[f]->links;
        work->found += links->len;
        for (guint l = 0; l < links->len; l++)
            work->derived += ((const BbLink *)g_ptr_array_index(links, l))->derived;
    }
}

static BbExplanation **explain(BbConvolution *convolution, const BbStreams *streams,
                               const BbLagGrid *grid, const BbLinkOptions *options)
{
    double saved = 0;
    gint64 since_us = g_get_monotonic_time();
    g_autoptr(BbTrains) trains = bb_trains_new(streams, grid, options);
    Job job = {
        .trains = trains,
        .convolution = convolution,
        .explanations = g_new0(BbExplanation *, MAX(1, streams->n_out)),
    };
    list_batches(&job, &saved);
    guint threads =
        convolution->options.threads ? convolution->options.threads : (guint)g_get_num_processors();
    threads = CLAMP(threads, 1, MAX(1, job.n_batches));
    g_autofree Worker *workers = g_new0(Worker, threads);
    for (guint i = 0; i < threads; i++)
        workers[i] = (Worker){&job, bb_evidence_new(trains, saved > FFT_WORTH), NULL};
    run_workers(&job, workers, threads, survey_batch);
    job.chance = choose_chance(&job);
    lap(&since_us, &convolution->work.survey_s);
    run_workers(&job, workers, threads, explain_batch);
    lap(&since_us, &convolution->work.explain_s);
    note_work(&convolution->work, &job, workers, threads);
    for (guint i = 0; i < threads; i++)
        bb_evidence_free(workers[i].evidence);
    for (guint32 batch = 0; batch < job.n_batches; batch++)
        g_array_unref(job.suspects[batch]);
    g_free(job.suspects);
    g_free(job.pairs);
    g_free(job.batches);
    return job.explanations;
}

// Where no scale shows, nobody has looked for causes.
static BbExplanation **explain_nothing(const BbConvolution *convolution, const BbStreams *streams,
                                       const BbLagGrid *grid, const BbLinkOptions *options)
{
    BbExplanation **explanations = g_new(BbExplanation *, MAX(1, streams->n_out));
    for (guint32 f = 0; f < streams->n_out; f++) {
        const BbStream *out = &streams->out[f];
        explanations[f] = bb_explain(streams, out, g_ptr_array_new(), grid, options);
        explanations[f]->unknown = may_have_causes(convolution, streams, out->node);
    }
    return explanations;
}

// ---- assigning ---------------------------------------------------------------------------------

// The weights of the causes of a stream by the labels that their effects would get; NULL where no
// label is held back.
static float *weigh(const BbTraffic *traffic, const BbExplanation *explanation,
                    const BbLabels *labels)
{
    guint32 n = explanation->causes->len;
    const BbCause *causes = (const BbCause *)(gpointer)explanation->causes->data;
    float *weights = g_new(float, MAX(1, n));
    bool any = false;
    for (guint32 i = 0; i < n; i++) {
        guint32 label =
            bb_labels_find(labels, labels->of[causes[i].cause], traffic->edge[causes[i].effect]);
        weights[i] = label == BB_LABEL_NONE ? 1 : bb_label(labels, label)->weight;
        any = any || weights[i] < 1;
    }
    if (!any)
        g_clear_pointer(&weights, g_free);
    return weights;
}

static BbAssignment *assign(const BbTraffic *traffic, BbExplanation *const *explanations, guint32 n,
                            const BbLagGrid *grid)
{
    BbAssignment *assignment = bb_assignment_new(traffic->n_messages);
    for (guint32 f = 0; f < n; f++)
        bb_assignment_make(assignment, explanations[f], NULL);
    bb_forest_untangle(assignment);
    g_autoptr(BbLabels) labels = bb_labels_new(traffic->n_messages);
    double span_ns = (double)traffic->end_ns - (double)traffic->start_ns;
    double calm_ns = bb_load_calm_ns(grid->bins * (double)grid->quantum_ns, span_ns);
    g_autoptr(BbVeto) veto = bb_veto_new(traffic, assignment->cause, calm_ns);
    for (guint round = 0; round < VETO_ROUNDS; round++) {
        bb_labels_give(labels, traffic, assignment->cause);
        if (!bb_veto_apply(veto, labels))
            break;
        for (guint32 f = 0; f < n; f++) {
            g_autofree float *weights = weigh(traffic, explanations[f], labels);
            if (weights)
                bb_assignment_make(assignment, explanations[f], weights);
        }
        bb_forest_untangle(assignment);
    }
    return assignment;
}

// ---- the scale ---------------------------------------------------------------------------------

// The longest delay that was found, as far as there are quanta of the one that was given.
static gint64 reach_within(const BbConvolution *convolution, gint64 max_delay_ns)
{
    gint64 quantum_ns = convolution->options.quantum_ns;
    if (quantum_ns == 0 || max_delay_ns / BB_CONVOLUTION_LAGS_MAX < quantum_ns)
        return max_delay_ns;
    return quantum_ns * BB_CONVOLUTION_LAGS_MAX;
}

// The quantum that was found, as fine or as coarse as the longest delay that the traffic can have
// needs it; 0 where none was.
static gint64 quantum_for(const BbConvolution *convolution, const BbScale *scale,
                          const BbTraffic *traffic)
{
    if (scale->quantum_ns == 0)
        return 0;
    gint64 longest = MAX(convolution->max_delay_ns, MIN(convolution->options.skew_ns, LENGTH_MAX));
    longest = MIN(longest, traffic->end_ns - traffic->start_ns);
    gint64 finest = MAX(1, round_up(longest, BB_CONVOLUTION_LAGS_MAX));
    gint64 coarsest = MAX(1, convolution->max_delay_ns / QUANTA_LEAST);
    gint64 quantum = MAX(MIN(scale->quantum_ns, coarsest), finest);
    return round_up(quantum, scale->step_ns) * scale->step_ns;
}

// What is not given is found in each window, so that a system that becomes slower is seen to; and
// not for less than the last few showed, as a window may have little of what is slow.
static void find_scale(BbConvolution *convolution, const BbStreams *streams,
                       const BbTraffic *traffic)
{
    const BbConvolutionOptions *options = &convolution->options;
    if (options->quantum_ns > 0 && options->max_delay_ns > 0)
        return;
    BbScale found = bb_scale_guess(streams, traffic->start_ns, traffic->end_ns);
    g_debug("scale: quantum %.6f ms, longest delay %.3f ms", (double)found.quantum_ns / 1e6,
            (double)found.max_delay_ns / 1e6);
    if (found.quantum_ns > 0)
        convolution->recent[convolution->n_found++ % RECENT] = found;
    BbScale scale = bb_scale_widest(convolution->recent, MIN(convolution->n_found, RECENT));
    if (options->max_delay_ns == 0)
        convolution->max_delay_ns = reach_within(convolution, scale.max_delay_ns);
    if (options->quantum_ns == 0)
        convolution->quantum_ns = quantum_for(convolution, &scale, traffic);
}

// ---- the run -----------------------------------------------------------------------------------

BbPaths *bb_convolution_run(BbConvolution *convolution, BbTraffic *traffic)
{
    gint64 since_us = g_get_monotonic_time();
    g_autoptr(BbStreams) streams = bb_streams_new(traffic, convolution->options.rare);
    find_scale(convolution, streams, traffic);
    lap(&since_us, &convolution->work.scale_s);
    BbLagGrid grid = make_grid(convolution, traffic);
    BbLinkOptions options = {traffic->start_ns, traffic->end_ns, 0, MESSAGES_LEAST};
    g_autofree BbExplanation **explanations =
        bb_convolution_has_scale(convolution)
            ? explain(convolution, streams, &grid, &options)
            : explain_nothing(convolution, streams, &grid, &options);
    since_us = g_get_monotonic_time(); // explain() took its own time
    g_autoptr(BbAssignment) assignment = assign(traffic, explanations, streams->n_out, &grid);
    lap(&since_us, &convolution->work.assign_s);
    BbPaths *paths =
        bb_forest_publish(traffic, streams, explanations, assignment, convolution->options.derived);
    lap(&since_us, &convolution->work.publish_s);
    for (guint32 f = 0; f < streams->n_out; f++)
        bb_explanation_free(explanations[f]);
    return paths;
}
