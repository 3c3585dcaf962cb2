// SPDX-License-Identifier: Apache-2.0
// In: frames of a source, clocks. Out: frames for those that decode, and marks among them: when the
// output is brought up to date, the status told, the kernel's filter changed, flows left out.
#include "cli/capture_job.h"

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

// A mark can wait, a full ring cannot.
static bool mark_soon(BbCaptureJob *job, guint mark, GError **error)
{
    return job->shed ? bb_shards_mark_soon(job->shards, mark, error)
                     : bb_shards_mark(job->shards, mark, error);
}

// time_ns: of the frame at hand, BB_TIME_NONE without one: then next to nothing waits.
static void look_at_pressure(BbCaptureJob *job, gint64 time_ns)
{
    job->read_ns = time_ns == BB_TIME_NONE ? g_get_real_time() * 1000 : time_ns;
    if (!job->shed || !bb_capture_shed_is_due(job->shed))
        return;
    const BbShedding shedding =
        bb_capture_shed_look(job->shed, time_ns, bb_shards_waited(job->shards));
    bb_shards_shed(job->shards, &shedding);
}

// Totals are told to a series only.
static bool put_mark(BbCaptureJob *job, guint marks, gint64 time_ns, GError **error)
{
    if (bb_capture_output_is_series(job->output)) {
        marks |= BB_MARK_TOTALS;
        job->told = bb_since(time_ns);
        job->told_frames = job->loss.count[BB_SEEN_FRAMES];
        bb_source_update_loss(job->source);
    }
    return mark_soon(job, marks, error);
}

static bool bring_up_to_date(BbCaptureJob *job, gint64 time_ns, GError **error)
{
    job->flushed_us = g_get_monotonic_time();
    job->flushed = bb_since(time_ns);
    return put_mark(job, BB_MARK_SYNC, time_ns, error);
}

// Ends an interval of the status where that is due.
static bool follow_status(BbCaptureJob *job, gint64 time_ns, GError **error)
{
    if (!bb_capture_status_due(job->status, time_ns) ||
        bb_shards_marks(job->shards) & BB_MARK_STATUS)
        return true;
    bb_source_update_loss(job->source);
    bb_capture_status_mark(job->status, bb_shards_connections(job->shards),
                           bb_shards_held_bytes(job->shards));
    return mark_soon(job, BB_MARK_STATUS, error);
}

// After a frame: by its stamp, so that what is made of files is the same each time.
static bool follow_stamps(BbCaptureJob *job, gint64 time_ns, GError **error)
{
    if (!job->options->interfaces && !follow_status(job, time_ns, error))
        return false;
    if (job->recorder) {
        bb_capture_recorder_frame(job->recorder, time_ns);
        return true;
    }
    gint64 every_ns = job->options->rotation.flush_ns;
    if (every_ns && bb_since_passed(&job->flushed, time_ns, every_ns))
        return bring_up_to_date(job, time_ns, error);
    if (bb_capture_output_is_series(job->output) &&
        (bb_since_passed(&job->told, time_ns, TELL_NS) ||
         job->loss.count[BB_SEEN_FRAMES] - job->told_frames >= TELL_FRAMES))
        return put_mark(job, BB_MARK_TOTALS, time_ns, error);
    return true;
}

// Live: by the clock, where no frame comes.
static bool follow_clock(BbCaptureJob *job, GError **error)
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

static bool is_over(const BbCaptureJob *job)
{
    const BbCaptureArguments *o = job->options;
    if (bb_stop_requested()) {
        bb_source_stop(job->source); // what waits in files is still given, then the end
        if (o->interfaces)
            return true;
    }
    if (o->packets && job->loss.count[BB_SEEN_FRAMES] >= (guint64)o->packets)
        return true;
    return o->interfaces && o->seconds && g_get_monotonic_time() >= job->deadline_us;
}

// Of files: whether a frame of this time is beyond the seconds that were asked for.
static bool is_beyond(const BbCaptureJob *job, gint64 time_ns)
{
    const BbCaptureArguments *o = job->options;
    if (o->interfaces || !o->seconds || job->first_ns == BB_TIME_NONE)
        return false;
    gint64 span_ns = MAX(job->last_ns, time_ns) - MIN(job->first_ns, time_ns);
    return span_ns / 1000000000 >= o->seconds;
}

static void note_time(BbCaptureJob *job, gint64 time_ns)
{
    if (job->first_ns == BB_TIME_NONE || time_ns < job->first_ns)
        job->first_ns = time_ns;
    if (job->last_ns == BB_TIME_NONE || time_ns > job->last_ns)
        job->last_ns = time_ns;
}

// Only what --keep-frames asks for goes into the trace.
static void note_file(BbCaptureJob *job, BbFrame *frame)
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
static bool is_time_to_look(BbCaptureJob *job, const BbFrame *frame)
{
    if (!job->options->interfaces || !bb_since_passed(&job->looked, frame->time_ns, LOOK_NS))
        return false;
    job->looked = bb_since(frame->time_ns);
    return true;
}

// notes: NULL before the first one, which is taken over as all are.
static void add_note(GPtrArray **notes, char *note)
{
    if (!*notes)
        *notes = g_ptr_array_new();
    g_ptr_array_add(*notes, note);
}

// Those, taken over, for the trace from here on.
static bool hand_over(BbCaptureJob *job, GPtrArray *notes, GError **error)
{
    if (!notes)
        return true;
    g_ptr_array_add(notes, NULL);
    g_async_queue_push(job->handed, g_ptr_array_free(notes, FALSE));
    return mark_soon(job, BB_MARK_NOTE, error);
}

// Hosts that have joined are told to the kernel, and to the trace.
static bool follow_hosts(BbCaptureJob *job, GError **error)
{
    if (!job->follow)
        return true;
    bb_capture_follow_narrow(job->follow, job->source);
    if (!job->follow_limited && job->loss.count[BB_FOLLOW_LIMIT]) {
        job->follow_limited = true;
        bb_capture_job_clear_screen(job);
        bb_say("warning: more than %u hosts would have to be followed: calls to further ones are "
               "kept, and nothing else of them; leave some out by --follow-not, or take fewer "
               "--hops",
               BB_FOLLOW_NODES);
    }
    GPtrArray *notes = NULL;
    for (char *note; job->output && (note = bb_capture_follow_next(job->follow));)
        add_note(&notes, note);
    return hand_over(job, notes, error);
}

// Likewise services and clients that were found behind a NAT.
static bool tell_nat(BbCaptureJob *job, GError **error)
{
    const BbTranslations *found = bb_shards_translations(job->shards);
    GPtrArray *notes = NULL;
    for (char *note; job->output && (note = bb_capture_nat_next(job->nat, found));)
        add_note(&notes, note);
    return hand_over(job, notes, error);
}

static bool take_frame(BbCaptureJob *job, BbFrame *frame, bool looks, GError **error)
{
    note_time(job, frame->time_ns);
    note_file(job, frame);
    if (looks)
        look_at_pressure(job, frame->time_ns);
    return bb_shards_frame(job->shards, frame, error) && follow_hosts(job, error) &&
           (!looks || tell_nat(job, error)) && follow_stamps(job, frame->time_ns, error);
}

// The kernel counts there what is sent and what comes, and one of them is read (source.h).
static bool counts_twice(const BbCaptureJob *job)
{
    for (char **name = job->options->interfaces; *name; name++)
        if (strcmp(*name, "lo") == 0 || strcmp(*name, "any") == 0)
            return true;
    return false;
}

// Live: what was received before the capture was to end is read, too, as far as that is soon done.
static bool read_rest(BbCaptureJob *job, GError **error)
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
bool bb_capture_job_read(BbCaptureJob *job, GError **error)
{
    BbFrame frame;
    if (!follow_hosts(job, error))
        return false;
    bb_capture_job_say_begin(job);
    for (guint64 turn = 0; !is_over(job); turn++) {
        g_autoptr(GError) source_error = NULL;
        BbSourceStatus status = bb_source_next(job->source, &frame, &source_error);
        if (status == BB_SOURCE_FRAME) {
            if (is_beyond(job, frame.time_ns))
                break;
            if (!take_frame(job, &frame, turn % LOOK_FRAMES == 0, error))
                return false;
        } else if (status == BB_SOURCE_ERROR) {
            bb_capture_job_fail(job, g_steal_pointer(&source_error));
        } else if (status == BB_SOURCE_END) {
            break;
        }
        if (status == BB_SOURCE_FRAME && turn % 1024 && !is_time_to_look(job, &frame))
            continue;
        look_at_pressure(job, status == BB_SOURCE_FRAME ? frame.time_ns : BB_TIME_NONE);
        bb_capture_job_show_progress(job);
        bb_capture_job_show_status(job);
        bb_capture_job_say_warnings(job);
        bb_capture_job_say_shedding(job);
        if (!follow_clock(job, error) || !follow_hosts(job, error))
            return false;
    }
    bool whole = read_rest(job, error);
    bb_source_end(job->source);
    bb_capture_job_say_warnings(job);
    return whole && tell_nat(job, error);
}
