// SPDX-License-Identifier: Apache-2.0
// Convolution as the paper prints it (section 5.2, figure 6). In: its options, and messages of any
// kind. Out: patterns of the whole trace; there are no path instances.
#include "cli/algorithm.h"

// ---- options -----------------------------------------------------------------------------------

int bb_refuse_figure6(const BbInference *inference, const char *program)
{
    const BbGiven options[] = {
        {"--spike", bb_is_said(inference->spike)},
        {"--valley", bb_is_said(inference->valley)},
        {"--tolerance", bb_is_said(inference->tolerance)},
        {"--max-depth", bb_is_said(inference->max_depth)},
        {"--max-vertices", bb_is_said(inference->max_vertices)},
        {"--all-roots", inference->all_roots},
    };
    return bb_refuse_given(options, G_N_ELEMENTS(options), program,
                           "is for --algo=convolution --explain=paper");
}

// What there is no place for where patterns come of the whole trace, and instances not at all.
static int refuse_instances(const BbInference *inference, const char *program)
{
    const BbGiven options[] = {
        {"--window", inference->window},      {"--step", inference->step},
        {"--through", inference->through},    {"--op", inference->ops},
        {"--slower-than", inference->slower}, {"--errors", inference->errors},
        {"--from", inference->from},          {"--to", inference->to},
        {"--skew-window", inference->skew},   {"--threads", inference->threads != 0},
    };
    return bb_refuse_given(options, G_N_ELEMENTS(options), program,
                           "is not for --explain=paper: it takes the whole trace at once, finds "
                           "patterns without instances, on one processor");
}

static int check_scale(BbInference *inference, const char *program)
{
    BbFigure6Options *figure6 = &inference->figure6;
    if (!inference->quantum)
        return bb_say_usage(program, "--explain=paper needs --quantum, the width of the time steps "
                                     "it counts messages in: --quantum=10ms");
    int status =
        bb_check_span(program, "--quantum", inference->quantum, "10ms", &figure6->quantum_ns);
    if (status < 0)
        status = bb_check_span(program, "--max-delay", inference->max_delay, "2s",
                               &figure6->max_delay_ns);
    if (status < 0 && figure6->max_delay_ns > 0 && figure6->max_delay_ns < figure6->quantum_ns)
        return bb_say_usage(program, "--max-delay cannot be shorter than --quantum");
    return status;
}

static int check(BbInference *inference, const char *program)
{
    BbFigure6Options *figure6 = &inference->figure6;
    int status = bb_refuse_nesting(inference, program);
    if (status < 0)
        status = bb_refuse_messages(inference, program);
    if (status < 0)
        status = refuse_instances(inference, program);
    if (status < 0)
        status = check_scale(inference, program);
    if (status >= 0)
        return status;
    double spike = bb_said_or(inference->spike, figure6->spike);
    double valley = bb_said_or(inference->valley, figure6->valley);
    double tolerance = bb_said_or(inference->tolerance, (double)figure6->tolerance);
    double depth = bb_said_or(inference->max_depth, figure6->depth_max);
    double vertices = bb_said_or(inference->max_vertices, figure6->vertices_max);
    if (!(valley >= 0 && spike >= valley && spike <= 1e6))
        return bb_say_usage(program, "--spike and --valley are standard deviations: 0 <= valley <= "
                                     "spike");
    if (tolerance < 0 || depth < 1 || depth > BB_PATHS_DEPTH_MAX || vertices < 1)
        return bb_say_usage(program,
                            "--tolerance goes from 0, --max-vertices from 1, --max-depth from 1 to "
                            "%u",
                            BB_PATHS_DEPTH_MAX);
    figure6->spike = spike;
    figure6->valley = valley;
    figure6->tolerance = (gint64)tolerance;
    figure6->depth_max = (guint)depth;
    figure6->vertices_max = (guint)vertices;
    figure6->root = inference->roots;
    figure6->all_roots = inference->all_roots;
    return -1;
}

// ---- the run -----------------------------------------------------------------------------------

typedef struct {
    const BbFigure6Options *options; // lent
    BbTraffic *traffic;
    BbFigure6Limits limits;
    gint64 inferring; // microseconds
    bool full;
} Run;

static void stop(gpointer data)
{
    Run *run = data;
    if (!run)
        return;
    bb_traffic_free(run->traffic);
    g_free(run);
}

static gpointer start(BbInference *inference, BbNames *names, GError **error)
{
    (void)error;
    Run *run = g_new0(Run, 1);
    run->options = &inference->figure6;
    run->traffic = bb_traffic_new(names);
    return run;
}

static bool push(gpointer data, const BbMessage *message)
{
    Run *run = data;
    run->full = !bb_traffic_push(run->traffic, message);
    return !run->full;
}

static void end(gpointer run)
{
    bb_traffic_finish(((Run *)run)->traffic);
}

static BbPaths *next(gpointer run, GError **error)
{
    if (((Run *)run)->full)
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOSPC,
                    "the trace has more messages than --explain=paper can take at once: give a "
                    "part of it, or use --explain=messages");
    return NULL;
}

static guint64 late(gpointer run)
{
    (void)run;
    return 0;
}

static BbPatterns *patterns(gpointer data, GError **error)
{
    Run *run = data;
    gint64 begin = g_get_monotonic_time();
    BbPatterns *found = bb_figure6_run(run->traffic, run->options, &run->limits, error);
    run->inferring = g_get_monotonic_time() - begin;
    return found;
}

// Whether some node that matches receives messages, and none that does sends any.
static bool only_receive(const BbTraffic *traffic, const BbGlobs *nodes)
{
    bool receives = false;
    for (guint32 e = 0; e < traffic->n_edges; e++) {
        const BbEdge *edge = &traffic->edges[e];
        if (bb_globs_match(nodes, bb_names_text(traffic->names, edge->sender)))
            return false;
        receives = receives || bb_globs_match(nodes, bb_names_text(traffic->names, edge->receiver));
    }
    return receives;
}

// Whether some node sends that nobody sends to.
static bool has_sources(const BbTraffic *traffic)
{
    g_autofree guint8 *receives = g_new0(guint8, bb_names_count(traffic->names));
    for (guint32 e = 0; e < traffic->n_edges; e++)
        receives[traffic->edges[e].receiver] = 1;
    for (guint32 e = 0; e < traffic->n_edges; e++)
        if (!receives[traffic->edges[e].sender])
            return true;
    return false;
}

// Why there are no paths at all.
static void tell_roots(const Run *run)
{
    const BbTraffic *traffic = run->traffic;
    const BbGlobs *root = run->options->root;
    if (root && only_receive(traffic, root))
        bb_say("warning: no path begins: what --root names receives messages, but sends none");
    else if (!root && !run->options->all_roots && traffic->n_edges > 0 && !has_sources(traffic))
        bb_say("warning: every node that sends is also sent to, so no path begins anywhere: name "
               "where by --root, or give --all-roots");
}

static void tell(gpointer data, bool verbose)
{
    const Run *run = data;
    const BbFigure6Limits *limits = &run->limits;
    g_autofree char *deep = bb_counted(limits->deep, "path"), *lost = bb_number(limits->vertices);
    tell_roots(run);
    if (limits->deep > 0)
        bb_say("warning: %s not followed further: --max-depth is %u", deep,
               run->options->depth_max);
    if (limits->vertices > 0)
        bb_say("warning: %s vertices were not made or not followed: --max-vertices is %u, memory "
               "is limited too; a higher --spike makes fewer",
               lost, run->options->vertices_max);
    if (!verbose)
        return;
    g_autofree char *made = bb_number(limits->made), *ffts = bb_number(limits->ffts);
    bb_say("%s vertices, %s FFTs; %.2f s, of which %.2f s in FFTs", made, ffts,
           (double)run->inferring / 1e6, limits->fft_s);
}

const BbAlgorithm bb_algorithm_figure6 = {
    .algo = "convolution",
    .explain = "paper",
    .check = check,
    .start = start,
    .stop = stop,
    .push = push,
    .end = end,
    .next = next,
    .late = late,
    .patterns = patterns,
    .tell = tell,
};
