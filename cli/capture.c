// SPDX-License-Identifier: Apache-2.0
// bbtrace capture. In: frames of files or an interface. Out: a message trace, and on stderr what
// was seen and what was lost.
#include "cli/capture_output.h"

#include "capture/capture.h"
#include "capture/protocols/tls_keylog.h"
#include "capture/sources/source.h"
#include "cli/host_names.h"

#include <string.h>

typedef struct Job {
    const BbCaptureArguments *options;
    BbNames *names;
    BbNodes *nodes;
    BbLoss loss;
    BbCounters *counters;
    BbSource *source;
    BbCaptureOutput *output;
    BbTlsKeylog *keylog;
    BbCapture *capture;
    BbProgress progress;
    guint32 file;             // that is read now, for --keep-frames
    gint64 first_ns, last_ns; // stamps seen
    gint64 deadline_us;       // live, -G
    gint64 flushed_us;        // live: when the output was last brought up to date
    bool failed;              // something was said; the rest goes on
} Job;

static void job_clear(Job *job)
{
    bb_capture_free(job->capture);
    bb_tls_keylog_free(job->keylog);
    bb_capture_output_free(job->output);
    bb_source_free(job->source);
    bb_nodes_free(job->nodes);
    bb_counters_free(job->counters);
    bb_names_free(job->names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Job, job_clear)

static bool drop_message(const BbMessage *message, gpointer user, GError **error)
{
    return true;
}

static BbSource *open_source(Job *job, GError **error)
{
    const BbCaptureArguments *o = job->options;
    BbSourceOptions options = bb_source_options_default();
    options.files = (const char *const *)o->files;
    options.interface = o->interface;
    options.filter = o->filter;
    options.snaplen = o->snaplen;
    options.promiscuous = !o->no_promiscuous;
    if (o->buffer)
        options.buffer_bytes = (int)o->buffer_bytes;
    return bb_source_open(&options, &job->loss, error);
}

static BbCapture *new_capture(Job *job, BbLoss *loss, BbMessageSink sink, gpointer user)
{
    BbCaptureOptions options = bb_capture_options_default();
    options.max_connections = (guint)job->options->max_connections;
    if (job->options->held)
        options.max_held_bytes = job->options->held_bytes;
    const BbDecodings *decodings = &job->options->decodings;
    options.decode_as = (const BbDecodeAs *)(gconstpointer)decodings->protocols->data;
    options.n_decode_as = decodings->protocols->len;
    options.tunnels = (const BbTunnelAt *)(gconstpointer)decodings->tunnels->data;
    options.n_tunnels = decodings->tunnels->len;
    options.keylog = job->keylog;
    options.by_vlan = job->options->vlan;
    options.by_vni = job->options->vni;
    return bb_capture_new(&options, job->names, job->nodes, loss, sink, user);
}

static void say_warnings(Job *job)
{
    for (char *warning = bb_source_take_warning(job->source); warning;
         warning = bb_source_take_warning(job->source)) {
        bb_progress_end(&job->progress);
        bb_say("warning: %s", warning);
        g_free(warning);
    }
}

static void fail(Job *job, GError *error)
{
    bb_progress_end(&job->progress);
    bb_say_error("%s", error->message);
    g_error_free(error);
    job->failed = true;
}

static void show_progress(Job *job)
{
    if (!bb_progress_due(&job->progress))
        return;
    double share = bb_source_progress(job->source);
    g_autofree char *frames = bb_number(job->loss.count[BB_SEEN_FRAMES]);
    g_autofree char *calls = bb_number(job->loss.count[BB_CALLS]);
    g_autofree char *percent =
        share < 0 ? g_strdup("") : g_strdup_printf("%3d %%  ", (int)(share * 100));
    bb_progress_show(&job->progress, "%s  %s%s packets  %s calls", bb_source_name(job->source),
                     percent, frames, calls);
}

// Live output is never more than a second behind.
static bool keep_up_to_date(Job *job, GError **error)
{
    gint64 now_us = g_get_monotonic_time();
    if (!job->options->interface || now_us - job->flushed_us < G_USEC_PER_SEC)
        return true;
    job->flushed_us = now_us;
    return bb_capture_output_sync(job->output, error);
}

static bool is_over(const Job *job)
{
    const BbCaptureArguments *o = job->options;
    if (bb_stop_requested())
        return true;
    if (o->packets && job->loss.count[BB_SEEN_FRAMES] >= (guint64)o->packets)
        return true;
    if (!o->seconds)
        return false;
    if (o->interface)
        return g_get_monotonic_time() >= job->deadline_us;
    return job->first_ns != BB_TIME_NONE &&
           (job->last_ns - job->first_ns) / 1000000000 >= o->seconds;
}

static void note_time(Job *job, gint64 time_ns)
{
    if (job->first_ns == BB_TIME_NONE || time_ns < job->first_ns)
        job->first_ns = time_ns;
    if (job->last_ns == BB_TIME_NONE || time_ns > job->last_ns)
        job->last_ns = time_ns;
}

// Only what --keep-frames asks for goes into the trace.
static void note_file(Job *job, BbFrame *frame)
{
    if (!job->options->keep_frames)
        return;
    const char *name = bb_source_name(job->source);
    if (job->file == BB_NAME_NONE || strcmp(bb_names_text(job->names, job->file), name) != 0)
        job->file = bb_names_intern(job->names, name);
    frame->place.file = job->file;
}

// Reads all there is. Returns false when the output failed.
static bool read_frames(Job *job, GError **error)
{
    BbFrame frame;
    for (guint64 turn = 0; !is_over(job); turn++) {
        g_autoptr(GError) source_error = NULL;
        BbSourceStatus status = bb_source_next(job->source, &frame, &source_error);
        if (status == BB_SOURCE_FRAME) {
            note_time(job, frame.time_ns);
            note_file(job, &frame);
            if (!bb_capture_frame(job->capture, &frame, error))
                return false;
        } else if (status == BB_SOURCE_ERROR) {
            fail(job, g_steal_pointer(&source_error));
        } else if (status == BB_SOURCE_END) {
            break;
        }
        if (status == BB_SOURCE_FRAME && turn % 1024)
            continue;
        show_progress(job);
        say_warnings(job);
        if (!keep_up_to_date(job, error))
            return false;
    }
    bb_source_update_loss(job->source);
    say_warnings(job);
    return true;
}

// ---- names from DNS: files are read once for the names alone -----------------------------------

static bool can_read_twice(const BbCaptureArguments *o)
{
    for (char **file = o->files; file && *file; file++)
        if (strcmp(*file, "-") == 0 || !g_file_test(*file, G_FILE_TEST_IS_REGULAR))
            return false;
    return o->files;
}

static void learn_names(Job *job)
{
    BbLoss ignored = {0};
    BbFrame frame;
    BbSourceStatus status;
    g_autoptr(BbCapture) capture = new_capture(job, &ignored, drop_message, NULL);
    bb_capture_learn_names(capture, true);
    g_autoptr(BbSource) source = open_source(job, NULL);
    if (!source)
        return; // the reading proper will say why
    do {
        g_autoptr(GError) error = NULL; // likewise
        status = bb_source_next(source, &frame, &error);
        if (status == BB_SOURCE_FRAME)
            (void)bb_capture_frame(capture, &frame, NULL);
    } while (status != BB_SOURCE_END && !bb_stop_requested());
    (void)bb_capture_finish(capture, NULL);
    bb_nodes_begin_again(job->nodes);
    job->loss = (BbLoss){0};
}

static bool prepare_names(Job *job, GError **error)
{
    const BbCaptureArguments *o = job->options;
    job->nodes = bb_nodes_new(job->names, o->node && strcmp(o->node, "endpoint") == 0);
    if (!bb_load_host_names(job->nodes, o->names_files, o->by_service, o->quiet, error))
        return false;
    if (o->names_from_dns && can_read_twice(o))
        learn_names(job);
    else if (o->names_from_dns && !o->quiet)
        bb_say("names from DNS count from the moment they are seen: this input is read only once");
    return true;
}

// ---- beginning and end -------------------------------------------------------------------------

static bool prepare(Job *job, GError **error)
{
    const BbCaptureArguments *o = job->options;
    job->names = bb_names_new();
    job->counters = bb_counters_new();
    job->first_ns = job->last_ns = BB_TIME_NONE;
    if (o->keylog_file && !(job->keylog = bb_tls_keylog_open(o->keylog_file, error)))
        return false;
    if (!prepare_names(job, error))
        return false;
    job->source = open_source(job, error);
    if (!job->source)
        return false;
    job->output = bb_capture_output_open(o, job->names, error);
    if (!job->output)
        return false;
    job->capture = new_capture(job, &job->loss, bb_capture_output_push, job->output);
    bb_capture_learn_names(job->capture, o->names_from_dns && !can_read_twice(o));
    job->progress = bb_progress_start(o->quiet || !o->out);
    job->deadline_us = g_get_monotonic_time() + o->seconds * G_USEC_PER_SEC;
    return true;
}

static bool finish(Job *job, GError **error)
{
    if (!bb_capture_finish(job->capture, error) || !bb_capture_output_drain(job->output, error))
        return false;
    job->loss.count[BB_MESSAGES_LATE] += bb_capture_output_late(job->output);
    job->loss.count[BB_NAMES_UNLEARNED] = bb_nodes_unlearned(job->nodes);
    job->loss.count[BB_KEYLOG_LIMIT] = job->keylog ? bb_tls_keylog_forgotten(job->keylog) : 0;
    job->loss.count[BB_NODES_MERGED] = bb_nodes_others(job->nodes);
    bb_loss_publish(&job->loss, job->counters);
    return bb_capture_output_finish(job->output, bb_capture_network(job->capture), job->counters,
                                    error);
}

// Losses; at an interface also what the kernel says of them, were it nothing; all by --verbose.
static bool is_told(const Job *job, BbLossKind kind)
{
    bool kernel =
        kind == BB_KERNEL_RECEIVED || kind == BB_KERNEL_DROPPED || kind == BB_INTERFACE_DROPPED;
    if (job->options->interface && kernel)
        return true;
    return job->loss.count[kind] && (bb_loss_is_loss(kind) || job->options->verbose);
}

static void say_summary(const Job *job)
{
    const guint64 *count = job->loss.count;
    g_autofree char *frames = bb_number(count[BB_SEEN_FRAMES]);
    g_autofree char *calls = bb_number(count[BB_CALLS]);
    g_autofree char *returns = bb_number(count[BB_RETURNS]);
    g_autofree char *frees = bb_number(count[BB_FREES]);
    double seconds =
        job->first_ns == BB_TIME_NONE ? 0 : (double)(job->last_ns - job->first_ns) / 1e9;
    bb_say("%s packets in %.3f s: %s calls, %s returns, %s free messages", frames, seconds, calls,
           returns, frees);
    for (guint kind = 0; kind < BB_LOSS_COUNT; kind++) {
        if (!is_told(job, kind))
            continue;
        g_autofree char *number = bb_number(count[kind]);
        bb_say("%12s  %s (%s)", number, bb_loss_meaning(kind), bb_loss_name(kind));
    }
}

// What was read is written, even where reading or writing went wrong half way.
static int work(const BbCaptureArguments *options)
{
    g_autoptr(GError) error = NULL;
    g_auto(Job) job = {.options = options};
    if (!prepare(&job, &error)) {
        bb_say_error("%s", error->message);
        return BB_EXIT_FAILED;
    }
    bb_stop_install();
    bool wrote = read_frames(&job, &error);
    if (!wrote)
        fail(&job, g_steal_pointer(&error));
    if (!finish(&job, &error) && wrote) // else it is the same failure
        fail(&job, g_steal_pointer(&error));
    bb_progress_end(&job.progress);
    if (!options->quiet)
        say_summary(&job);
    return job.failed ? BB_EXIT_FAILED : BB_EXIT_DONE;
}

static int run(int argc, char **argv)
{
    g_auto(BbCaptureArguments) arguments = {0};
    int status = bb_capture_arguments_parse(&arguments, argc, argv);
    return status >= 0 ? status : work(&arguments);
}

const BbCommand bb_command_capture = {
    .name = "capture",
    .arguments = "[FILTER]",
    .summary = "packets of an interface or of files -> a trace",
    .run = run,
};
