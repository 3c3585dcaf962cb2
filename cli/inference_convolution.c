// SPDX-License-Identifier: Apache-2.0
// Convolution that explains messages. In: its options, and messages of any kind. Out: path
// instances in which every message has one cause.
#include "cli/algorithm.h"

#include "convolution/stretches.h"
#include "data/chains.h"
#include "data/quantity.h"

// ---- options -----------------------------------------------------------------------------------

int bb_refuse_messages(const BbInference *inference, const char *program)
{
    const BbGiven options[] = {
        {"--rare", bb_is_said(inference->rare)},
        {"--keep-derived", inference->keep_derived},
    };
    return bb_refuse_given(options, G_N_ELEMENTS(options), program, "is for --explain=messages");
}

int bb_refuse_convolution(const BbInference *inference, const char *program)
{
    const BbGiven options[] = {
        {"--quantum", inference->quantum},
        {"--max-delay", inference->max_delay},
        {"--verbose", inference->verbose},
    };
    int status =
        bb_refuse_given(options, G_N_ELEMENTS(options), program, "is for --algo=convolution");
    if (status < 0)
        status = bb_refuse_messages(inference, program);
    return status >= 0 ? status : bb_refuse_figure6(inference, program);
}

static int check(BbInference *inference, const char *program)
{
    BbConvolutionOptions *convolution = &inference->convolution;
    int status = bb_refuse_nesting(inference, program);
    if (status < 0)
        status = bb_refuse_figure6(inference, program);
    if (status < 0)
        status = bb_check_span(program, "--quantum", inference->quantum, "1ms",
                               &convolution->quantum_ns);
    if (status < 0)
        status = bb_check_span(program, "--max-delay", inference->max_delay, "2s",
                               &convolution->max_delay_ns);
    if (status >= 0)
        return status;
    if (inference->skew && !bb_parse_duration(inference->skew, &convolution->skew_ns))
        return bb_say_usage(program, "--skew-window '%s' is no duration like 30ms%s",
                            inference->skew, bb_duration_excess(inference->skew));
    if (convolution->quantum_ns > 0 &&
        MAX(convolution->max_delay_ns, convolution->skew_ns) / BB_CONVOLUTION_LAGS_MAX >=
            convolution->quantum_ns)
        return bb_say_usage(program,
                            "--max-delay and --skew-window go up to %u times --quantum: give a "
                            "coarser one",
                            BB_CONVOLUTION_LAGS_MAX);
    if (convolution->max_delay_ns > 0 && convolution->max_delay_ns < convolution->quantum_ns)
        return bb_say_usage(program, "--max-delay cannot be shorter than --quantum");
    if (bb_is_said(inference->rare) && inference->rare < 1)
        return bb_say_usage(program, "--rare takes a number from 1 on");
    convolution->rare = (guint)bb_said_or(inference->rare, convolution->rare);
    convolution->derived = inference->keep_derived;
    convolution->root = inference->roots;
    convolution->threads = (guint)inference->threads;
    return -1;
}

// ---- the run -----------------------------------------------------------------------------------

typedef struct {
    const BbInference *inference;
    BbStretches *stretches;
    guint64 windows;  // with messages
    gint64 inferring; // microseconds spent on them
} Run;

static void stop(gpointer data)
{
    Run *run = data;
    if (!run)
        return;
    bb_stretches_free(run->stretches);
    g_free(run);
}

static gpointer start(BbInference *inference, BbNames *names, GError **error)
{
    (void)error;
    Run *run = g_new0(Run, 1);
    run->inference = inference;
    run->stretches = bb_stretches_new(names, &inference->convolution, &inference->windows);
    return run;
}

static bool push(gpointer run, const BbMessage *message)
{
    return bb_stretches_push(((Run *)run)->stretches, message);
}

static void end(gpointer run)
{
    bb_stretches_end(((Run *)run)->stretches);
}

static BbPaths *next(gpointer data, GError **error)
{
    (void)error;
    Run *run = data;
    gint64 begin = g_get_monotonic_time();
    BbPaths *paths = bb_stretches_next(run->stretches);
    run->inferring += g_get_monotonic_time() - begin;
    run->windows += paths && paths->n_calls > 0;
    return paths;
}

static guint64 late(gpointer run)
{
    return bb_stretches_late(((Run *)run)->stretches);
}

// "1 ms (found)"
static void append_scale(GString *text, gint64 scale_ns, bool given)
{
    bb_quantity_append_duration(text, scale_ns);
    g_string_append(text, given ? " (given)" : " (found)");
}

static void tell_links(const BbConvolutionWork *work)
{
    g_autoptr(GString) text = g_string_new(NULL);
    bb_quantity_append_counted(text, work->pairs, "pair");
    g_string_append(text, " of streams, ");
    bb_quantity_append_counted(text, work->found, "link");
    g_string_append(text, " found, ");
    bb_quantity_append_count(text, work->derived);
    g_string_append(text, " derived, ");
    bb_quantity_append_count(text, work->found - work->derived);
    g_string_append(text, " kept; correlograms: ");
    bb_quantity_append_count(text, work->counted);
    g_string_append(text, " counted, ");
    bb_quantity_append_count(text, work->transformed);
    g_string_append(text, " by FFTs");
    bb_say("%s", text->str);
}

static void tell_time(const BbConvolutionWork *work)
{
    bb_say("scale %.2f s, pairs %.2f s, explaining %.2f s, causes %.2f s, paths %.2f s; %u "
           "thread%s",
           work->scale_s, work->survey_s, work->explain_s, work->assign_s, work->publish_s,
           work->threads, work->threads == 1 ? "" : "s");
}

// "quantum 1 ms (found), longest delay 2 s (given)"
static void append_scales(GString *text, const Run *run)
{
    const BbConvolution *convolution = bb_stretches_convolution(run->stretches);
    g_string_append(text, "quantum ");
    append_scale(text, bb_convolution_quantum(convolution), run->inference->quantum);
    g_string_append(text, ", longest delay ");
    append_scale(text, bb_convolution_max_delay(convolution), run->inference->max_delay);
}

static void warn_of_scales(const Run *run)
{
    const BbConvolution *convolution = bb_stretches_convolution(run->stretches);
    BbConvolutionWork work = bb_convolution_work(convolution);
    g_autoptr(GString) text = g_string_new(NULL);
    append_scales(text, run);
    if (run->windows == 0)
        return;
    if (work.found == work.derived)
        bb_say("warning: nothing correlates, so every message is a path of its own: %s; leave out "
               "what was given, or give other ones",
               text->str);
    else if (bb_convolution_quantum(convolution) > bb_convolution_max_delay(convolution))
        bb_say("warning: the quantum is longer than the longest delay, so delays are not told "
               "apart: %s; leave out --quantum, or give a shorter one",
               text->str);
}

static void tell(gpointer data, bool verbose)
{
    const Run *run = data;
    const BbConvolution *convolution = bb_stretches_convolution(run->stretches);
    if (!bb_convolution_has_scale(convolution)) {
        if (verbose || run->windows > 0)
            bb_say("warning: nothing correlates, so every message is a path of its own: no quantum "
                   "and no longest delay were found; if you know them, give --quantum and "
                   "--max-delay");
        return;
    }
    warn_of_scales(run);
    if (!verbose)
        return;
    g_autoptr(GString) text = g_string_new(NULL);
    append_scales(text, run);
    g_string_append(text, "; ");
    bb_quantity_append_counted(text, run->windows, "window");
    g_string_append_printf(text, ", %.2f s", (double)run->inferring / 1e6);
    bb_say("%s", text->str);
    BbConvolutionWork work = bb_convolution_work(convolution);
    tell_links(&work);
    tell_time(&work);
}

// ---- patterns ----------------------------------------------------------------------------------

static gpointer count_new(const BbInference *inference, const BbNames *names)
{
    return bb_chains_new(names, inference->census.limit);
}

static void count_free(gpointer chains)
{
    bb_chains_free(chains);
}

static void count_add(gpointer chains, BbPaths *paths)
{
    bb_chains_add(chains, paths);
}

static bool count_is_kept(gpointer chains, guint32 pattern)
{
    return bb_chains_is_kept(chains, pattern);
}

static BbPatterns *count_finish(gpointer chains)
{
    return bb_chains_finish(chains);
}

const BbAlgorithm bb_algorithm_convolution = {
    .algo = "convolution",
    .explain = "messages",
    .check = check,
    .start = start,
    .stop = stop,
    .push = push,
    .end = end,
    .next = next,
    .late = late,
    .count_new = count_new,
    .count_free = count_free,
    .count_add = count_add,
    .count_is_kept = count_is_kept,
    .count_finish = count_finish,
    .tell = tell,
};
