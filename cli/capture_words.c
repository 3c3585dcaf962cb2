// SPDX-License-Identifier: Apache-2.0
// What a capture says to people: warnings, progress, the status, and the summary at its end.
#include "cli/capture_job.h"

#include "cli/host_names.h"

void bb_capture_job_clear_screen(BbCaptureJob *job)
{
    bb_progress_end(&job->progress);
    if (job->status)
        bb_capture_status_clear(job->status);
}

void bb_capture_job_say_begin(const BbCaptureJob *job)
{
    if (job->options->interfaces && !job->options->quiet)
        bb_say("listening on %s", bb_source_name(job->source));
}

// Who has one asks it itself.
static void answer_snap(BbCaptureJob *job)
{
    if (job->recorder || !bb_snap_requested())
        return;
    bb_capture_job_clear_screen(job);
    bb_say("warning: SIGUSR2 asks for a snapshot, and there is none without --flight-recorder: the "
           "capture goes on");
}

void bb_capture_job_say_warnings(BbCaptureJob *job)
{
    answer_snap(job);
    if (bb_capture_place_look(job->place)) {
        bb_capture_job_clear_screen(job);
        bb_say(
            "warning: %s was removed, or another file put in its place: what is captured is lost; "
            "begin anew",
            job->options->out);
    }
    for (char *warning = bb_source_take_warning(job->source); warning;
         warning = bb_source_take_warning(job->source)) {
        bb_capture_job_clear_screen(job);
        bb_say("warning: %s", warning);
        g_free(warning);
    }
    char *of_names = job->processes ? bb_processes_take_warning(job->processes) : NULL;
    if (of_names) {
        bb_capture_job_clear_screen(job);
        bb_say("warning: %s", of_names);
        g_free(of_names);
    }
}

void bb_capture_job_say_shedding(BbCaptureJob *job)
{
    while (job->shed) {
        g_autofree char *warning = bb_capture_shed_take_warning(job->shed);
        g_autofree char *note = job->output ? bb_capture_shed_take_note(job->shed) : NULL;
        if (!warning && !note)
            return;
        if (warning && !job->options->quiet) {
            bb_capture_job_clear_screen(job);
            bb_say("warning: %s", warning);
        }
        if (note)
            bb_capture_output_note(job->output, g_steal_pointer(&note));
    }
}

void bb_capture_job_fail(BbCaptureJob *job, GError *error)
{
    bb_capture_job_clear_screen(job);
    bb_say_error("%s", error->message);
    g_error_free(error);
    job->failed = true;
}

void bb_capture_job_show_progress(BbCaptureJob *job)
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

void bb_capture_job_show_status(BbCaptureJob *job)
{
    bb_shards_count(job->shards);
    bb_capture_status_show(job->status, &job->loss);
}

// ---- the end -----------------------------------------------------------------------------------

// Losses; at an interface also what the kernel says of them, were it nothing; all by --verbose.
static bool is_told(const BbCaptureJob *job, BbLossKind kind)
{
    bool kernel =
        kind == BB_KERNEL_RECEIVED || kind == BB_KERNEL_DROPPED || kind == BB_INTERFACE_DROPPED;
    if ((job->options->interfaces && kernel) || (job->follow && kind == BB_NOT_FOLLOWED) ||
        (job->processes && (kind == BB_PROCESSES_UNKNOWN || kind == BB_PROCESSES_INFERRED)))
        return true;
    return job->loss.count[kind] && (bb_loss_is_loss(kind) || job->options->verbose);
}

void bb_capture_job_say_summary(const BbCaptureJob *job)
{
    const guint64 *count = job->loss.count;
    g_autofree char *frames = bb_counted(count[BB_SEEN_FRAMES], "packet");
    g_autofree char *calls = bb_counted(count[BB_CALLS], "call");
    g_autofree char *returns = bb_counted(count[BB_RETURNS], "return");
    g_autofree char *frees = bb_counted(count[BB_FREES], "free message");
    double seconds =
        job->first_ns == BB_TIME_NONE ? 0 : (double)(job->last_ns - job->first_ns) / 1e9;
    bb_say("%s in %.3f s: %s, %s, %s", frames, seconds, calls, returns, frees);
    if (count[BB_CALLS] + count[BB_RETURNS] + count[BB_FREES])
        bb_say_unused_names(job->nodes);
    if (job->follow)
        bb_capture_follow_say(job->follow);
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
    BbProcessesCounts naming = {0};
    if (job->processes)
        naming = bb_processes_counts(job->processes);
    if (naming.waits && job->options->verbose)
        bb_say("%12" G_GUINT64_FORMAT "  times naming waited for a look at sockets, %.3f s in all",
               naming.waits, (double)naming.waited_us / 1e6);
}

void bb_capture_job_say_files(const BbCaptureJob *job)
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
