// SPDX-License-Identifier: Apache-2.0
// bbtrace capture. In: frames of files or an interface. Out: a message trace, and on stderr what
// was seen and what was lost.
#include "cli/capture_confine.h"
#include "cli/capture_job.h"

#include "capture/endpoints.h"
#include "cli/host_names.h"

#include <string.h>

// How often connections tell of the network where the trace is in several files.
#define NETWORK_NS G_GINT64_CONSTANT(1000000000)

static void job_clear(BbCaptureJob *job)
{
    g_free(job->file_name);
    bb_shards_free(job->shards);
    bb_capture_shed_free(job->shed);
    bb_tls_keylog_free(job->keylog);
    bb_capture_status_free(job->status);
    bb_capture_place_free(job->place);
    bb_capture_output_free(job->output);
    bb_capture_recorder_free(job->recorder);
    bb_disguise_free(job->disguise);
    bb_capture_follow_free(job->follow);
    bb_capture_nat_free(job->nat);
    g_clear_pointer(&job->handed, g_async_queue_unref);
    bb_source_free(job->source);
    bb_nodes_free(job->nodes);
    bb_processes_free(job->processes);
    g_free(job->processes_note);
    bb_counters_free(job->counters);
    bb_names_free(job->names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BbCaptureJob, job_clear)

static bool drop_message(const BbMessage *message, gpointer user, GError **error)
{
    return true;
}

static BbSource *open_source(BbCaptureJob *job, GError **error)
{
    const BbCaptureArguments *o = job->options;
    BbSourceOptions options = bb_source_options_default();
    options.files = (const char *const *)o->files;
    options.interfaces = (const char *const *)o->interfaces;
    options.stamp_type = o->stamp_type;
    options.reopen = o->unconfined; // else it takes a right that was given up
    options.filter = o->filter;
    options.snaplen = o->snaplen;
    options.promiscuous = !o->no_promiscuous;
    options.tunnels = (const BbTunnelAt *)(gconstpointer)o->decodings.tunnels->data;
    options.n_tunnels = o->decodings.tunnels->len;
    if (o->buffer)
        options.buffer_bytes = (int)o->buffer_bytes;
    return bb_source_open(&options, &job->loss, error);
}

static BbCaptureOptions capture_options(const BbCaptureJob *job)
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
    options.translation = job->options->nat;
    options.follow = job->follow ? bb_capture_follow_set(job->follow) : NULL;
    if (job->recorder || (job->output && bb_capture_output_is_series(job->output)))
        options.network_ns =
            NETWORK_NS; // each file has what was seen in its time (of files: with --flush)
    return options;
}

// Under the names that the trace has.
static const BbNetwork *dress_network(const BbCaptureJob *job, const BbNetwork *network)
{
    return job->disguise ? bb_disguise_network(job->disguise, network) : network;
}

// Live, one mark may be for several lots (bb_shards_mark_soon), or its own has been taken.
static void keep_notes(const BbCaptureJob *job)
{
    do {
        char **notes = g_async_queue_try_pop(job->handed);
        for (char **note = notes; note && *note; note++)
            bb_capture_output_keep_note(job->output, *note);
        g_free(notes);
    } while (job->shed && g_async_queue_length(job->handed) > 0);
}

// In the thread that gives messages to the output.
static bool play_mark(guint mark, const BbLoss *loss, const BbNetwork *network, gpointer user,
                      GError **error)
{
    const BbCaptureJob *job = user;
    if (mark & BB_MARK_STATUS)
        bb_capture_status_beat(job->status, loss);
    if (mark & BB_MARK_NOTE)
        keep_notes(job);
    if (mark & BB_MARK_TOTALS) {
        BbCounters *counters = bb_counters_new();
        bb_loss_publish(loss, counters);
        bb_capture_output_tell(job->output, counters, dress_network(job, network));
    }
    return !(mark & BB_MARK_SYNC) || bb_capture_output_sync(job->output, error);
}

// Likewise in that thread.
static bool take_message(const BbMessage *message, gpointer user, GError **error)
{
    const BbCaptureJob *job = user;
    const BbMessage *told = message;
    BbMessage disguised;
    if (job->disguise) {
        disguised = *message;
        bb_disguise_apply(job->disguise, &disguised);
        told = &disguised;
    }
    bb_capture_status_push(job->status, told);
    if (!job->recorder)
        return bb_capture_output_push(told, job->output, error);
    bb_capture_recorder_push(job->recorder, told, message);
    return true;
}

// While the thread that reads waits for others, it asks how much to leave out.
static BbShedding look_while_waiting(gint64 waited_ns, gpointer user)
{
    const BbCaptureJob *job = user;
    return bb_capture_shed_look(job->shed, job->read_ns, waited_ns);
}

// Who sends what is left out is not silent. Nobody knows whether it is a server.
static void hear(const BbPacket *packet, gpointer user)
{
    const BbCaptureJob *job = user;
    const BbEndpoints ends = bb_endpoints_of(packet);
    guint roles = bb_nodes_tell_roles(job->nodes) ? 2 : 1;
    for (guint is_server = 0; is_server < roles; is_server++)
        bb_capture_recorder_hear(job->recorder,
                                 bb_endpoints_find(&ends, job->nodes, job->names, 0, is_server),
                                 packet->time_ns);
}

// ---- names from DNS: files are read once for the names alone -----------------------------------

static bool can_read_twice(const BbCaptureArguments *o)
{
    for (char **file = o->files; file && *file; file++)
        if (strcmp(*file, "-") == 0 || !g_file_test(*file, G_FILE_TEST_IS_REGULAR))
            return false;
    return o->files;
}

static void learn_names(BbCaptureJob *job)
{
    BbLoss ignored = {0};
    BbFrame frame;
    BbSourceStatus status;
    const BbCaptureOptions options = capture_options(job);
    g_autoptr(BbCapture) capture =
        bb_capture_new(&options, job->names, job->nodes, &ignored, drop_message, NULL);
    bb_capture_learn_names(capture, true);
    g_autoptr(GError) failure = NULL;
    g_autoptr(BbSource) source = open_source(job, &failure);
    if (!source) {
        if (job->source) // else the reading proper will say why
            bb_say("warning: no names from DNS: %s", failure->message);
        return;
    }
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

static bool prepare_names(BbCaptureJob *job, GError **error)
{
    const BbCaptureArguments *o = job->options;
    job->nodes = bb_nodes_new(job->names, o->node && strcmp(o->node, "endpoint") == 0);
    bb_nodes_set_processes(job->nodes, job->processes);
    if (!bb_load_host_names(job->nodes, o->names_files, o->by_service, o->quiet, error))
        return false;
    if (o->names_from_dns && can_read_twice(o))
        learn_names(job);
    else if (o->names_from_dns && !o->quiet)
        bb_say("names from DNS count from the moment they are seen: this input is read only once");
    return true;
}

// ---- beginning and end -------------------------------------------------------------------------

// What was counted so far, for a snapshot.
static void give_totals(gpointer user, BbCounters *counters, const BbNetwork **network)
{
    BbCaptureJob *job = user;
    bb_source_update_loss(job->source);
    bb_loss_publish(&job->loss, counters);
    *network = job->shards ? dress_network(job, bb_shards_network(job->shards)) : NULL;
}

static void give_notes(gpointer user, GPtrArray *notes)
{
    const BbCaptureJob *job = user;
    for (const char *const *note = job->notes; *note; note++)
        g_ptr_array_add(notes, g_strdup(*note));
    if (job->follow)
        bb_capture_follow_notes(job->follow, notes);
    if (job->shards)
        bb_capture_nat_notes(job->nat, bb_shards_translations(job->shards), notes);
    if (job->shed)
        bb_capture_shed_notes(job->shed, notes);
}

static void clear_for_words(gpointer user)
{
    bb_capture_job_clear_screen(user);
}

static BbCaptureRecorder *open_recorder(BbCaptureJob *job, GError **error)
{
    const BbCaptureArguments *o = job->options;
    const BbCaptureRecorderSetup setup = {.options = &o->recorder,
                                          .folder = o->out,
                                          .names = job->names,
                                          .disguise = job->disguise,
                                          .live = o->interfaces != NULL,
                                          .quiet = o->quiet,
                                          .totals = give_totals,
                                          .notes = give_notes,
                                          .clear = clear_for_words,
                                          .user = job};
    return bb_capture_recorder_open(&setup, error);
}

static bool open_status(BbCaptureJob *job, GError **error)
{
    const BbCaptureArguments *o = job->options;
    const BbCaptureStatusSetup setup = {.source =
                                            o->interfaces ? bb_source_name(job->source) : "files",
                                        .stats = o->stats,
                                        .names = job->names,
                                        .live = o->interfaces != NULL,
                                        .screen = !o->quiet && o->out};
    job->status = bb_capture_status_open(&setup, error);
    return job->status;
}

// The last interval: what the end of the capture has counted.
static void finish_status(BbCaptureJob *job)
{
    bb_capture_job_clear_screen(job);
    bb_capture_status_mark(job->status, bb_shards_connections(job->shards),
                           bb_shards_held_bytes(job->shards));
    job->failed |= !bb_capture_status_finish(job->status, &job->loss);
}

static BbCaptureShed *open_shed(BbCaptureJob *job)
{
    const BbCaptureArguments *o = job->options;
    const BbCaptureShedSetup setup = {
        .source = job->source,
        .loss = &job->loss,
        .can_trim = o->threads > 1,
        .host_clock = !o->stamp_type || strcmp(o->stamp_type, "host") == 0,
        .ring_bytes = o->buffer ? (int)o->buffer_bytes : BB_SOURCE_BUFFER};
    return bb_capture_shed_new(&setup);
}

static void start_shards(BbCaptureJob *job)
{
    const BbCaptureArguments *o = job->options;
    const BbCaptureOptions options = capture_options(job);
    bool learn = o->names_from_dns && !can_read_twice(o);
    if (o->interfaces && !o->no_shed)
        job->shed = open_shed(job);
    bool listens = job->recorder && bb_capture_recorder_listens(job->recorder);
    const BbShardsOutput output = {take_message, play_mark, job,
                                   job->shed ? look_while_waiting : NULL, listens ? hear : NULL};
    job->shards = bb_shards_new(&options, (guint)o->threads, learn, job->names, job->nodes,
                                &job->loss, output);
}

// What is read of files is written sooner than anybody removes it.
static void watch_place(BbCaptureJob *job)
{
    const BbCaptureArguments *o = job->options;
    g_autofree char *ring = job->recorder ? bb_recorder_ring_path(o->out) : NULL;
    if (o->interfaces && o->out && (ring || !bb_capture_output_is_series(job->output)))
        job->place = bb_capture_place_new(ring ? ring : o->out);
}

// Interfaces and secrets take rights to open, and a filter may have names that the DNS is asked
// for; what strangers wrote is read without rights.
static bool open_input(BbCaptureJob *job, GError **error)
{
    const BbCaptureArguments *o = job->options;
    int sockets = -1; // who looks at them never has anything else open
    if (o->processes && (sockets = bb_capture_processes_start(o, error)) < 0)
        return false;
    if ((o->interfaces || o->filter) && !(job->source = open_source(job, error)))
        return false;
    if (o->keylog_file && !(job->keylog = bb_tls_keylog_open(o->keylog_file, error)))
        return false;
    if (o->disguise.worn && !(job->disguise = bb_disguise_open(&o->disguise, job->names, error)))
        return false;
    if (!bb_capture_confine(o, job->source, error))
        return false;
    if (o->processes)
        job->processes = bb_capture_processes_open(sockets);
    return prepare_names(job, error) && (job->source || (job->source = open_source(job, error)));
}

// Who makes the stamps is told with the names of interfaces.
static void collect_notes(BbCaptureJob *job)
{
    const char *stamps = bb_source_stamps(job->source);
    guint count = 0;
    if (stamps && (!job->disguise || bb_disguise_takes_notes(job->disguise)))
        job->notes[count++] = stamps;
    if (job->processes && (!job->disguise || bb_disguise_takes_notes(job->disguise)))
        job->notes[count++] = job->processes_note = bb_capture_processes_note();
    if (job->disguise)
        job->notes[count++] = bb_disguise_note(job->disguise);
}

static void start_following(BbCaptureJob *job)
{
    const BbCaptureArguments *o = job->options;
    bool no_names = job->disguise && !bb_disguise_takes_notes(job->disguise);
    job->nat = bb_capture_nat_new(o->nat, no_names);
    if (o->follow.entrances)
        job->follow = bb_capture_follow_new(&o->follow, no_names, &job->loss);
}

static bool prepare(BbCaptureJob *job, GError **error)
{
    const BbCaptureArguments *o = job->options;
    job->names = bb_names_new();
    job->counters = bb_counters_new();
    job->handed = g_async_queue_new_full((GDestroyNotify)g_strfreev);
    job->first_ns = job->last_ns = BB_TIME_NONE;
    job->flushed = job->told = job->looked = bb_since(BB_TIME_NONE);
    if (!open_input(job, error))
        return false;
    collect_notes(job);
    start_following(job);
    if (o->recorder.size)
        job->recorder = open_recorder(job, error);
    else
        job->output = bb_capture_output_open(o, job->notes, job->names, error);
    if (!job->output && !job->recorder)
        return false;
    watch_place(job);
    if (!open_status(job, error))
        return false;
    start_shards(job);
    job->progress = bb_progress_start(o->quiet || !o->out || o->interfaces);
    job->deadline_us = g_get_monotonic_time() + o->seconds * G_USEC_PER_SEC;
    return true;
}

// What was counted aside.
static void count_rest(BbCaptureJob *job)
{
    if (job->output)
        job->loss.count[BB_MESSAGES_LATE] += bb_capture_output_late(job->output);
    job->loss.count[BB_NAMES_UNLEARNED] = bb_nodes_unlearned(job->nodes);
    job->loss.count[BB_KEYLOG_LIMIT] = job->keylog ? bb_tls_keylog_forgotten(job->keylog) : 0;
    job->loss.count[BB_KEYLOG_ODD] = job->keylog ? bb_tls_keylog_odd(job->keylog) : 0;
    job->loss.count[BB_NODES_MERGED] = bb_nodes_others(job->nodes);
    if (job->processes) {
        const BbProcessesCounts counts = bb_processes_counts(job->processes);
        job->loss.count[BB_PROCESSES_UNKNOWN] = counts.unknown;
        job->loss.count[BB_PROCESSES_INFERRED] = counts.inferred;
    }
}

// Writing has failed: what is whole is ended in order, where that is possible. why: what will be
// said of it; where it fails for the same reason again, that is not said twice.
static void salvage(BbCaptureJob *job, const GError *why)
{
    GError *error = NULL;
    g_autoptr(BbCounters) counters = bb_counters_new();
    const guint64 *count = job->loss.count;
    guint64 found = count[BB_CALLS] + count[BB_RETURNS] + count[BB_FREES];
    job->loss.count[BB_MESSAGES_UNWRITTEN] = bb_capture_output_unwritten(job->output, found);
    bb_loss_publish(&job->loss, counters);
    if (bb_capture_output_salvage(job->output, counters, &error))
        return;
    if (why && strcmp(why->message, error->message) == 0)
        g_error_free(error);
    else
        bb_capture_job_fail(job, error);
}

static bool finish_recorder(BbCaptureJob *job, GError **error)
{
    bool whole = bb_shards_finish(job->shards, error);
    count_rest(job);
    job->failed |= !bb_capture_recorder_finish(job->recorder); // it has said why
    return whole;
}

static bool finish(BbCaptureJob *job, GError **error)
{
    if (job->recorder)
        return finish_recorder(job, error);
    bool whole = bb_shards_finish(job->shards, error);
    whole = bb_capture_output_drain(job->output, whole ? error : NULL) && whole;
    count_rest(job);
    bb_loss_publish(&job->loss, job->counters);
    char *of_nat = bb_capture_nat_rest(job->nat, bb_shards_translations(job->shards));
    if (of_nat)
        bb_capture_output_keep_note(job->output, of_nat);
    char *rest = job->follow ? bb_capture_follow_rest(job->follow) : NULL;
    if (rest)
        bb_capture_output_keep_note(job->output, rest);
    if (whole &&
        bb_capture_output_finish(job->output, dress_network(job, bb_shards_network(job->shards)),
                                 job->counters, error))
        return true;
    salvage(job, *error);
    return false;
}

// What was read is written, even where reading or writing went wrong half way.
static int work(const BbCaptureArguments *options)
{
    g_autoptr(GError) error = NULL;
    g_auto(BbCaptureJob) job = {.options = options};
    if (!prepare(&job, &error)) {
        g_autofree char *remedy = bb_capture_confine_remedy(options, error);
        bb_say_error("%s%s", error->message, remedy ? remedy : "");
        return BB_EXIT_FAILED;
    }
    bb_stop_install();
    bb_snap_install(); // without a recorder it is answered, too
    bool wrote = bb_capture_job_read(&job, &error);
    if (job.shed)
        bb_capture_shed_finish(job.shed);
    bb_capture_job_say_shedding(&job);
    if (!wrote)
        bb_capture_job_fail(&job, g_steal_pointer(&error));
    if (!finish(&job, &error) && wrote) // else it is the same failure
        bb_capture_job_fail(&job, g_steal_pointer(&error));
    finish_status(&job);
    if (bb_capture_place_is_lost(job.place)) {
        bb_say_error("%s was removed while it was written: what was captured is lost",
                     options->out);
        job.failed = true;
    }
    if (!options->quiet)
        bb_capture_job_say_summary(&job);
    bb_capture_job_say_files(&job);
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
