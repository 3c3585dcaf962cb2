// SPDX-License-Identifier: Apache-2.0
// bbtrace capture. In: frames of files or an interface. Out: a message trace, and on stderr what
// was seen and what was lost.
#include "cli/capture_confine.h"
#include "cli/capture_follow.h"
#include "cli/capture_nat.h"
#include "cli/capture_output.h"
#include "cli/capture_processes.h"
#include "cli/capture_recorder.h"
#include "cli/capture_shed.h"
#include "cli/capture_status.h"

#include "capture/protocols/tls_keylog.h"
#include "capture/shards.h"
#include "capture/sources/source.h"
#include "cli/host_names.h"

#include <string.h>

// How often files of a series learn what was counted.
#define TELL_NS G_GINT64_CONSTANT(1000000000)
#define TELL_FRAMES 65536u
// Live: how often the clock is looked at while packets come.
#define LOOK_NS G_GINT64_CONSTANT(100000000)
// How often it is looked at whether all can be kept.
#define LOOK_FRAMES 64u
// How long what was received is read when it is to end.
#define REST_US G_USEC_PER_SEC
// Stamps in the past after which the clock was set back.
#define BACK_FRAMES 64u

// Marks (capture/shards.h): several may be set.
#define MARK_TOTALS 1u
#define MARK_SYNC 2u
#define MARK_STATUS 4u
#define MARK_NOTES 8u
#define MARK_NAT_NOTES 16u

// A moment by stamps.
typedef struct Since {
    gint64 ns;
    guint back; // stamps before it that came after it
} Since;

typedef struct Job {
    const BbCaptureArguments *options;
    BbNames *names;
    BbNodes *nodes;
    BbLoss loss;
    BbCounters *counters;
    BbSource *source;
    BbCaptureOutput *output;     // or, where a flight recorder was asked for,
    BbCaptureRecorder *recorder; // that
    BbCaptureStatus *status;
    BbTlsKeylog *keylog;
    BbDisguise *disguise;    // NULL: all is told as it is
    BbCaptureFollow *follow; // NULL: all is read
    bool follow_limited;     // and that was said
    BbCaptureNat *nat;
    BbProcesses *processes; // NULL: nodes go without
    char *processes_note;
    const char *notes[4]; // of the trace; lent, NULL at the end
    BbShards *shards;
    BbCaptureShed *shed; // NULL: nothing is left out
    BbProgress progress;
    guint32 file;             // that is read now, for --keep-frames
    char *file_name;          // its name
    gint64 first_ns, last_ns; // stamps seen
    gint64 read_ns;           // live: stamp of the frame at hand
    gint64 deadline_us;       // live, -G
    gint64 flushed_us;        // live: when the output was last brought up to date
    Since flushed;            // the same, by stamps
    Since told;               // when a series last learnt what was counted
    guint64 told_frames;
    Since looked; // live: when the clock was last looked at
    bool failed;  // something was said; the rest goes on
} Job;

static void job_clear(Job *job)
{
    g_free(job->file_name);
    bb_shards_free(job->shards);
    bb_capture_shed_free(job->shed);
    bb_tls_keylog_free(job->keylog);
    bb_capture_status_free(job->status);
    bb_capture_output_free(job->output);
    bb_capture_recorder_free(job->recorder);
    bb_disguise_free(job->disguise);
    bb_capture_follow_free(job->follow);
    bb_capture_nat_free(job->nat);
    bb_source_free(job->source);
    bb_nodes_free(job->nodes);
    bb_processes_free(job->processes);
    g_free(job->processes_note);
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
    options.interfaces = (const char *const *)o->interfaces;
    options.stamp_type = o->stamp_type;
    options.reopen = o->unconfined; // else it takes a right that was given up
    options.filter = o->filter;
    options.snaplen = o->snaplen;
    options.promiscuous = !o->no_promiscuous;
    if (o->buffer)
        options.buffer_bytes = (int)o->buffer_bytes;
    return bb_source_open(&options, &job->loss, error);
}

static BbCaptureOptions capture_options(const Job *job)
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
    return options;
}

// Before anything else is said.
static void clear_screen(Job *job)
{
    bb_progress_end(&job->progress);
    if (job->status)
        bb_capture_status_clear(job->status);
}

static void say_warnings(Job *job)
{
    for (char *warning = bb_source_take_warning(job->source); warning;
         warning = bb_source_take_warning(job->source)) {
        clear_screen(job);
        bb_say("warning: %s", warning);
        g_free(warning);
    }
    char *of_names = job->processes ? bb_processes_take_warning(job->processes) : NULL;
    if (of_names) {
        clear_screen(job);
        bb_say("warning: %s", of_names);
        g_free(of_names);
    }
}

// What shedding has to say; the trace of a flight recorder has it in its counters.
static void say_shedding(Job *job)
{
    while (job->shed) {
        g_autofree char *warning = bb_capture_shed_take_warning(job->shed);
        char *note = bb_capture_shed_take_note(job->shed);
        if (!warning && !note)
            return;
        if (warning && !job->options->quiet) {
            clear_screen(job);
            bb_say("warning: %s", warning);
        }
        if (note && job->output)
            bb_capture_output_note(job->output, note);
        else
            g_free(note);
    }
}

static void fail(Job *job, GError *error)
{
    clear_screen(job);
    bb_say_error("%s", error->message);
    g_error_free(error);
    job->failed = true;
}

static void show_progress(Job *job)
{
    if (!bb_progress_due(&job->progress))
        return;
    double share = bb_source_progress(job->source);
    bb_shards_count(job->shards);
    g_autofree char *frames = bb_number(job->loss.count[BB_SEEN_FRAMES]);
    g_autofree char *calls = bb_number(job->loss.count[BB_CALLS]);
    g_autofree char *percent =
        share < 0 ? g_strdup("") : g_strdup_printf("%3d %%  ", (int)(share * 100));
    bb_progress_show(&job->progress, "%s  %s%s packets  %s calls", bb_source_name(job->source),
                     percent, frames, calls);
}

static void show_status(Job *job)
{
    bb_shards_count(job->shards);
    bb_capture_status_show(job->status, &job->loss);
}

// Under the names that the trace has.
static const BbNetwork *dress_network(const Job *job, const BbNetwork *network)
{
    return job->disguise ? bb_disguise_network(job->disguise, network) : network;
}

static void put_notes(const Job *job, GPtrArray *taken)
{
    g_autoptr(GPtrArray) notes = taken;
    for (guint i = 0; i < notes->len; i++)
        bb_capture_output_keep_note(job->output, g_strdup(notes->pdata[i]));
}

// In the thread that gives messages to the output.
static bool play_mark(guint mark, const BbLoss *loss, const BbNetwork *network, gpointer user,
                      GError **error)
{
    const Job *job = user;
    if (mark & MARK_STATUS)
        bb_capture_status_beat(job->status, loss);
    if (mark & MARK_NOTES)
        put_notes(job, bb_capture_follow_take(job->follow));
    if (mark & MARK_NAT_NOTES)
        put_notes(job, bb_capture_nat_take(job->nat));
    if (mark & MARK_TOTALS) {
        BbCounters *counters = bb_counters_new();
        bb_loss_publish(loss, counters);
        bb_capture_output_tell(job->output, counters, dress_network(job, network));
    }
    return !(mark & MARK_SYNC) || bb_capture_output_sync(job->output, error);
}

// seen is the same for triggers.
static bool tell_message(const Job *job, const BbMessage *message, const BbMessage *seen,
                         GError **error)
{
    bb_capture_status_push(job->status, message);
    if (!job->recorder)
        return bb_capture_output_push(message, job->output, error);
    bb_capture_recorder_push(job->recorder, message, seen);
    return true;
}

// Likewise in that thread.
static bool take_message(const BbMessage *message, gpointer user, GError **error)
{
    const Job *job = user;
    if (!job->disguise)
        return tell_message(job, message, message, error);
    BbMessage told = *message, seen = *message;
    bb_disguise_trim(job->disguise, &seen);
    bb_disguise_apply(job->disguise, &told);
    return tell_message(job, &told, &seen, error);
}

// While the thread that reads waits for others, it asks how much to leave out.
static guint look_while_waiting(gint64 waited_ns, gpointer user)
{
    const Job *job = user;
    return bb_capture_shed_look(job->shed, job->read_ns, waited_ns);
}

// A mark can wait, a full ring cannot.
static bool mark_soon(Job *job, guint mark, GError **error)
{
    return job->shed ? bb_shards_mark_soon(job->shards, mark, error)
                     : bb_shards_mark(job->shards, mark, error);
}

// time_ns: of the frame at hand, BB_TIME_NONE without one.
static void look_at_pressure(Job *job, gint64 time_ns)
{
    job->read_ns = time_ns;
    if (job->shed && bb_capture_shed_is_due(job->shed))
        bb_shards_shed(job->shards,
                       bb_capture_shed_look(job->shed, time_ns, bb_shards_waited(job->shards)));
}

// Totals are told to a series only.
static bool put_mark(Job *job, guint marks, gint64 time_ns, GError **error)
{
    if (bb_capture_output_is_series(job->output)) {
        marks |= MARK_TOTALS;
        job->told = (Since){time_ns, 0};
        job->told_frames = job->loss.count[BB_SEEN_FRAMES];
        bb_source_update_loss(job->source);
    }
    return mark_soon(job, marks, error);
}

// Whether so much time has passed by stamps. A clock that was set back begins anew, but not each
// time where two clocks alternate.
static bool has_passed(Since *since, gint64 time_ns, gint64 least_ns)
{
    if (since->ns == BB_TIME_NONE || (time_ns < since->ns && ++since->back > BACK_FRAMES))
        *since = (Since){time_ns, 0};
    return time_ns - since->ns >= least_ns;
}

static bool bring_up_to_date(Job *job, gint64 time_ns, GError **error)
{
    job->flushed_us = g_get_monotonic_time();
    job->flushed = (Since){time_ns, 0};
    return put_mark(job, MARK_SYNC, time_ns, error);
}

// Ends an interval of the status where that is due.
static bool follow_status(Job *job, gint64 time_ns, GError **error)
{
    if (!bb_capture_status_due(job->status, time_ns) || bb_shards_marks(job->shards) & MARK_STATUS)
        return true;
    bb_source_update_loss(job->source);
    bb_capture_status_mark(job->status, bb_shards_connections(job->shards),
                           bb_shards_held_bytes(job->shards));
    return mark_soon(job, MARK_STATUS, error);
}

// After a frame: by its stamp, so that what is made of files is the same each time.
static bool follow_stamps(Job *job, gint64 time_ns, GError **error)
{
    if (!job->options->interfaces && !follow_status(job, time_ns, error))
        return false;
    if (job->recorder) {
        bb_capture_recorder_frame(job->recorder, time_ns);
        return true;
    }
    gint64 every_ns = job->options->rotation.flush_ns;
    if (every_ns && has_passed(&job->flushed, time_ns, every_ns))
        return bring_up_to_date(job, time_ns, error);
    if (bb_capture_output_is_series(job->output) &&
        (has_passed(&job->told, time_ns, TELL_NS) ||
         job->loss.count[BB_SEEN_FRAMES] - job->told_frames >= TELL_FRAMES))
        return put_mark(job, MARK_TOTALS, time_ns, error);
    return true;
}

// Live: by the clock, where no frame comes.
static bool follow_clock(Job *job, GError **error)
{
    if (job->options->interfaces && !follow_status(job, BB_TIME_NONE, error))
        return false;
    if (job->recorder) {
        bb_capture_recorder_idle(job->recorder);
        return true;
    }
    gint64 every_us = job->options->rotation.flush_ns / 1000;
    if (!job->options->interfaces || g_get_monotonic_time() - job->flushed_us < every_us)
        return true;
    return bring_up_to_date(job, job->flushed.ns, error);
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
    if (o->interfaces)
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
    if (g_strcmp0(job->file_name, name) != 0) {
        g_free(job->file_name);
        job->file_name = g_strdup(name);
        job->file = bb_shards_file(job->shards, name);
    }
    frame->place.file = job->file;
}

// Live: packets may trickle so that it is never idle, and many are long in coming.
static bool is_time_to_look(Job *job, const BbFrame *frame)
{
    if (!job->options->interfaces || !has_passed(&job->looked, frame->time_ns, LOOK_NS))
        return false;
    job->looked = (Since){frame->time_ns, 0};
    return true;
}

// Hosts that have joined are told to the kernel, and to the trace.
static bool follow_hosts(Job *job, GError **error)
{
    if (!job->follow)
        return true;
    bb_capture_follow_narrow(job->follow, job->source);
    if (!job->follow_limited && job->loss.count[BB_FOLLOW_LIMIT]) {
        job->follow_limited = true;
        clear_screen(job);
        bb_say("warning: more than %u hosts would have to be followed: calls to further ones are "
               "kept, and nothing else of them; leave some out by --follow-not, or take fewer "
               "--hops",
               BB_FOLLOW_NODES);
    }
    if (!job->output || !bb_capture_follow_has_news(job->follow))
        return true;
    bb_capture_follow_publish(job->follow);
    return bb_shards_mark(job->shards, MARK_NOTES, error);
}

// Likewise services and clients that were found behind a NAT.
static bool tell_nat(Job *job, GError **error)
{
    const BbTranslations *found = bb_shards_translations(job->shards);
    if (!job->output || !bb_capture_nat_has_news(job->nat, found))
        return true;
    bb_capture_nat_publish(job->nat, found);
    return bb_shards_mark(job->shards, MARK_NAT_NOTES, error);
}

static bool take_frame(Job *job, BbFrame *frame, bool looks, GError **error)
{
    note_time(job, frame->time_ns);
    note_file(job, frame);
    if (looks)
        look_at_pressure(job, frame->time_ns);
    return bb_shards_frame(job->shards, frame, error) && follow_hosts(job, error) &&
           tell_nat(job, error) && follow_stamps(job, frame->time_ns, error);
}

// The kernel counts there what is sent and what comes, and one of them is read (source.h).
static bool counts_twice(const Job *job)
{
    for (char **name = job->options->interfaces; *name; name++)
        if (strcmp(*name, "lo") == 0 || strcmp(*name, "any") == 0)
            return true;
    return false;
}

// Live: what was received before the capture was to end is read, too, as far as that is soon done.
static bool read_rest(Job *job, GError **error)
{
    guint64 *count = job->loss.count;
    gint64 until_us = g_get_monotonic_time() + REST_US;
    BbFrame frame;
    if (!job->options->interfaces || job->options->packets)
        return true;
    bb_source_update_loss(job->source);
    guint64 received = count[BB_KERNEL_RECEIVED] - count[BB_KERNEL_DROPPED];
    for (guint64 turn = 0; count[BB_SEEN_FRAMES] < received; turn++) {
        g_autoptr(GError) ignored = NULL; // it ends anyway
        if (turn % LOOK_FRAMES == 0 && g_get_monotonic_time() >= until_us) {
            if (!counts_twice(job))
                count[BB_KERNEL_UNREAD] = received - count[BB_SEEN_FRAMES];
            return true;
        }
        if (bb_source_next(job->source, &frame, &ignored) != BB_SOURCE_FRAME)
            return true;
        if (!take_frame(job, &frame, turn % LOOK_FRAMES == 0, error))
            return false;
    }
    return true;
}

// Reads all there is. Returns false when the output failed.
static bool read_frames(Job *job, GError **error)
{
    BbFrame frame;
    if (!follow_hosts(job, error))
        return false;
    for (guint64 turn = 0; !is_over(job); turn++) {
        g_autoptr(GError) source_error = NULL;
        BbSourceStatus status = bb_source_next(job->source, &frame, &source_error);
        if (status == BB_SOURCE_FRAME) {
            if (!take_frame(job, &frame, turn % LOOK_FRAMES == 0, error))
                return false;
        } else if (status == BB_SOURCE_ERROR) {
            fail(job, g_steal_pointer(&source_error));
        } else if (status == BB_SOURCE_END) {
            break;
        }
        if (status == BB_SOURCE_FRAME && turn % 1024 && !is_time_to_look(job, &frame))
            continue;
        look_at_pressure(job, status == BB_SOURCE_FRAME ? frame.time_ns : BB_TIME_NONE);
        show_progress(job);
        show_status(job);
        say_warnings(job);
        say_shedding(job);
        if (!follow_clock(job, error) || !follow_hosts(job, error))
            return false;
    }
    bool whole = read_rest(job, error);
    bb_source_end(job->source);
    say_warnings(job);
    return whole;
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

static bool prepare_names(Job *job, GError **error)
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
    Job *job = user;
    bb_source_update_loss(job->source);
    bb_loss_publish(&job->loss, counters);
    *network = job->shards ? dress_network(job, bb_shards_network(job->shards)) : NULL;
}

static void give_notes(gpointer user, GPtrArray *notes)
{
    const Job *job = user;
    for (const char *const *note = job->notes; *note; note++)
        g_ptr_array_add(notes, g_strdup(*note));
    if (job->follow)
        bb_capture_follow_notes(job->follow, notes);
}

static void clear_for_words(gpointer user)
{
    clear_screen(user);
}

static BbCaptureRecorder *open_recorder(Job *job, GError **error)
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

static bool open_status(Job *job, GError **error)
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
static void finish_status(Job *job)
{
    clear_screen(job);
    bb_capture_status_mark(job->status, bb_shards_connections(job->shards),
                           bb_shards_held_bytes(job->shards));
    job->failed |= !bb_capture_status_finish(job->status, &job->loss);
}

static BbCaptureShed *open_shed(Job *job)
{
    const char *type = job->options->stamp_type;
    const BbCaptureShedSetup setup = {.source = job->source,
                                      .loss = &job->loss,
                                      .can_trim = job->options->threads > 1,
                                      .host_clock = !type || strcmp(type, "host") == 0};
    return bb_capture_shed_new(&setup);
}

static void start_shards(Job *job)
{
    const BbCaptureArguments *o = job->options;
    const BbCaptureOptions options = capture_options(job);
    bool learn = o->names_from_dns && !can_read_twice(o);
    if (o->interfaces && !o->no_shed)
        job->shed = open_shed(job);
    const BbShardsOutput output = {take_message, play_mark, job,
                                   job->shed ? look_while_waiting : NULL};
    job->shards = bb_shards_new(&options, (guint)o->threads, learn, job->names, job->nodes,
                                &job->loss, output);
}

// Interfaces and secrets take rights to open, and a filter may have names that the DNS is asked
// for; what strangers wrote is read without rights.
static bool open_input(Job *job, GError **error)
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
static void collect_notes(Job *job)
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

static void start_following(Job *job)
{
    const BbCaptureArguments *o = job->options;
    bool no_names = job->disguise && !bb_disguise_takes_notes(job->disguise);
    job->nat = bb_capture_nat_new(o->nat, no_names);
    const BbCaptureFollowSetup setup = {
        .choice = &o->follow,
        .tunnels = (const BbTunnelAt *)(gconstpointer)o->decodings.tunnels->data,
        .n_tunnels = o->decodings.tunnels->len,
        .no_names = no_names,
    };
    if (o->follow.entrances)
        job->follow = bb_capture_follow_new(&setup, &job->loss);
}

static bool prepare(Job *job, GError **error)
{
    const BbCaptureArguments *o = job->options;
    job->names = bb_names_new();
    job->counters = bb_counters_new();
    job->first_ns = job->last_ns = BB_TIME_NONE;
    job->flushed = job->told = job->looked = (Since){BB_TIME_NONE, 0};
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
    if (!open_status(job, error))
        return false;
    start_shards(job);
    job->progress = bb_progress_start(o->quiet || !o->out || o->interfaces);
    job->deadline_us = g_get_monotonic_time() + o->seconds * G_USEC_PER_SEC;
    return true;
}

// What was counted aside.
static void count_rest(Job *job)
{
    if (job->output)
        job->loss.count[BB_MESSAGES_LATE] += bb_capture_output_late(job->output);
    job->loss.count[BB_NAMES_UNLEARNED] = bb_nodes_unlearned(job->nodes);
    job->loss.count[BB_KEYLOG_LIMIT] = job->keylog ? bb_tls_keylog_forgotten(job->keylog) : 0;
    job->loss.count[BB_NODES_MERGED] = bb_nodes_others(job->nodes);
    if (job->processes) {
        job->loss.count[BB_PROCESSES_UNKNOWN] = bb_processes_unknown(job->processes);
        job->loss.count[BB_PROCESSES_INFERRED] = bb_processes_inferred(job->processes);
    }
}

// Writing has failed: what is whole is ended in order, where that is possible.
static void salvage(Job *job)
{
    GError *error = NULL;
    g_autoptr(BbCounters) counters = bb_counters_new();
    const guint64 *count = job->loss.count;
    guint64 found = count[BB_CALLS] + count[BB_RETURNS] + count[BB_FREES];
    job->loss.count[BB_MESSAGES_UNWRITTEN] = bb_capture_output_unwritten(job->output, found);
    bb_loss_publish(&job->loss, counters);
    if (!bb_capture_output_salvage(job->output, counters, &error))
        fail(job, error);
}

static bool finish_recorder(Job *job, GError **error)
{
    bool whole = bb_shards_finish(job->shards, error);
    count_rest(job);
    job->failed |= !bb_capture_recorder_finish(job->recorder); // it has said why
    return whole;
}

static bool finish(Job *job, GError **error)
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
    salvage(job);
    return false;
}

// Losses; at an interface also what the kernel says of them, were it nothing; all by --verbose.
static bool is_told(const Job *job, BbLossKind kind)
{
    bool kernel =
        kind == BB_KERNEL_RECEIVED || kind == BB_KERNEL_DROPPED || kind == BB_INTERFACE_DROPPED;
    if ((job->options->interfaces && kernel) || (job->follow && kind == BB_NOT_FOLLOWED) ||
        (job->processes && (kind == BB_PROCESSES_UNKNOWN || kind == BB_PROCESSES_INFERRED)))
        return true;
    return job->loss.count[kind] && (bb_loss_is_loss(kind) || job->options->verbose);
}

static void say_summary(const Job *job)
{
    const guint64 *count = job->loss.count;
    g_autofree char *frames = bb_counted(count[BB_SEEN_FRAMES], "packet");
    g_autofree char *calls = bb_counted(count[BB_CALLS], "call");
    g_autofree char *returns = bb_counted(count[BB_RETURNS], "return");
    g_autofree char *frees = bb_counted(count[BB_FREES], "free message");
    double seconds =
        job->first_ns == BB_TIME_NONE ? 0 : (double)(job->last_ns - job->first_ns) / 1e9;
    bb_say("%s in %.3f s: %s, %s, %s", frames, seconds, calls, returns, frees);
    if (job->follow) {
        g_autofree char *hosts = bb_number(bb_follow_count(bb_capture_follow_set(job->follow)));
        bb_say("%12s  hosts followed", hosts);
    }
    bb_capture_nat_say(bb_shards_translations(job->shards), job->options->nat, &job->loss);
    for (guint kind = 0; kind < BB_LOSS_COUNT; kind++) {
        if (!is_told(job, kind))
            continue;
        g_autofree char *number = bb_number(count[kind]);
        bb_say("%12s  %s (%s)", number, bb_loss_meaning(kind), bb_loss_name(kind));
    }
    if (count[BB_SHED_PACKETS])
        bb_say("whole flows were left out since packets came too fast: give a narrower FILTER or "
               "--follow, more --threads, or a larger -B");
    guint64 waits = bb_shards_waits(job->shards);
    if (waits && job->options->verbose)
        bb_say("%12" G_GUINT64_FORMAT "  times reading waited for decoding", waits);
    gint64 waited_us = 0;
    guint64 asked = job->processes ? bb_processes_waits(job->processes, &waited_us) : 0;
    if (asked && job->options->verbose)
        bb_say("%12" G_GUINT64_FORMAT "  times naming waited for a look at sockets, %.3f s in all",
               asked, (double)waited_us / 1e6);
}

static void say_files(const Job *job)
{
    if (job->recorder && !job->options->quiet)
        bb_capture_recorder_say(job->recorder);
    if (!job->output)
        return;
    const BbTraceFiles *files = bb_capture_output_files(job->output);
    guint early = bb_trace_files_early(files), undeleted = bb_trace_files_undeleted(files);
    if (!bb_trace_files_is_series(files))
        return;
    g_autofree char *made = bb_counted(bb_trace_files_made(files), "file");
    g_autofree char *forced = bb_counted(early, "file"), *left = bb_counted(undeleted, "file");
    if (!job->options->quiet)
        bb_say("%s, %u of them deleted by the ring", made, bb_trace_files_deleted(files));
    if (early)
        bb_say("warning: the disk was full, and the ring deleted %s early: make the ring smaller, "
               "or room on the disk",
               forced);
    if (undeleted)
        bb_say("warning: the ring could not delete %s: give rights to the folder, and delete what "
               "is too old",
               left);
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
    if (job.shed)
        bb_capture_shed_finish(job.shed);
    say_shedding(&job);
    if (!wrote)
        fail(&job, g_steal_pointer(&error));
    if (!finish(&job, &error) && wrote) // else it is the same failure
        fail(&job, g_steal_pointer(&error));
    finish_status(&job);
    if (!options->quiet)
        say_summary(&job);
    say_files(&job);
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
