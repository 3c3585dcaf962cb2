// SPDX-License-Identifier: Apache-2.0
// In: messages, stamps of frames, signals, requests at a socket. Out: a ring on disk, snapshots.
#include "cli/capture_recorder.h"

#include "cli/control.h"
#include "cli/snapshots_kept.h"
#include "data/message.h"
#include "data/recorder.h"
#include "data/shell_word.h"
#include "diagnose/trigger.h"

#include <errno.h>
#include <string.h>

struct BbCaptureRecorder {
    BbCaptureRecorderSetup setup;
    char *folder, *ring;
    BbRecorder *recorder;
    BbTriggers *triggers;
    BbSnapshots *snapshots; // causes: the triggers, then signal and command
    BbControl *control;
    guint signal, command;
    gint64 now_ns;     // of the messages; BB_TIME_NONE before the first
    gint64 frame_ns;   // the last stamp
    gint64 arrived_us; // when it came, about
    bool fresh;        // a frame came since the clock was last looked at
    bool failed;
};

// ---- beginning and end --------------------------------------------------------------------------

void bb_capture_recorder_free(BbCaptureRecorder *recorder)
{
    if (!recorder)
        return;
    bb_snapshots_free(recorder->snapshots); // its thread answers through control
    bb_control_free(recorder->control);
    bb_triggers_free(recorder->triggers);
    bb_recorder_free(recorder->recorder);
    g_free(recorder->folder);
    g_free(recorder->ring);
    g_free(recorder);
}

static bool make_folder(const char *folder, GError **error)
{
    if (g_mkdir_with_parents(folder, 0777) == 0)
        return true;
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno),
                "%s: cannot make the folder of the flight recorder: %s: give another -w", folder,
                g_strerror(errno));
    return false;
}

// What triggers say goes into snapshots, and is said by who reads them.
static guint32 show_name(gpointer user, guint32 name, bool is_op)
{
    return bb_disguise_name(user, name, is_op);
}

// Of silent, patterns are of nodes in any case.
static void warn_of_labels(const BbCaptureRecorder *recorder, const BbTriggerRule *rule)
{
    const BbDisguise *disguise = recorder->setup.disguise;
    if (disguise && !bb_disguise_has_labels(disguise) && rule->kind != BB_TRIGGER_SILENT &&
        !bb_globs_match(rule->globs, ""))
        bb_say("warning: with --labels=off triggers match nodes alone: '%s' fires only where a "
               "node that is called has such a name",
               rule->text);
}

static bool add_triggers(BbCaptureRecorder *recorder, GError **error)
{
    for (char **text = recorder->setup.options->triggers; text && *text; text++)
        if (!bb_triggers_add(recorder->triggers, *text, error))
            return false;
    for (guint i = 0; i < bb_triggers_count(recorder->triggers); i++) {
        g_autofree char *plain = g_strdup_printf("trigger %u", i + 1);
        const BbTriggerRule *rule = bb_triggers_rule(recorder->triggers, i);
        (void)bb_snapshots_add(recorder->snapshots, recorder->setup.disguise ? plain : rule->text,
                               true);
        warn_of_labels(recorder, rule);
    }
    if (recorder->setup.disguise)
        bb_triggers_show(recorder->triggers, show_name, recorder->setup.disguise);
    recorder->signal = bb_snapshots_add(recorder->snapshots, "SIGUSR2", false);
    recorder->command = bb_snapshots_add(recorder->snapshots, "bbtrace snap", false);
    return true;
}

static void start_snapshots(BbCaptureRecorder *recorder)
{
    const BbCaptureRecorderSetup *setup = &recorder->setup;
    const BbSnapshotsSetup snapshots = {.folder = recorder->folder,
                                        .ring = recorder->ring,
                                        .options = setup->options,
                                        .names = setup->names,
                                        .in_thread = setup->live,
                                        .totals = setup->totals,
                                        .notes = setup->notes,
                                        .user = setup->user};
    recorder->snapshots = bb_snapshots_new(&snapshots);
}

static void say_begin(const BbCaptureRecorder *recorder)
{
    g_autofree char *size = bb_number(bb_recorder_size(recorder->recorder) >> 20);
    g_autofree char *folder = bb_shell_file(recorder->folder);
    if (!recorder->setup.quiet)
        bb_say("recording into %s (%s MiB); `bbtrace snap %s` or SIGUSR2 takes a snapshot",
               recorder->ring, size, folder);
}

// The ring first: who has it is alone in the folder.
BbCaptureRecorder *bb_capture_recorder_open(const BbCaptureRecorderSetup *setup, GError **error)
{
    g_autoptr(BbCaptureRecorder) recorder = g_new0(BbCaptureRecorder, 1);
    recorder->setup = *setup;
    recorder->folder = g_strdup(setup->folder);
    recorder->ring = bb_recorder_ring_path(setup->folder);
    recorder->now_ns = recorder->frame_ns = BB_TIME_NONE;
    if (!make_folder(setup->folder, error) ||
        !bb_disguise_claim_ring(setup->disguise, recorder->ring, error))
        return NULL;
    recorder->recorder =
        bb_recorder_open(recorder->ring, setup->options->size, setup->names, error);
    if (!recorder->recorder)
        return NULL;
    bb_snapshots_clean(recorder->folder);
    g_autofree char *socket = bb_recorder_socket_path(setup->folder);
    recorder->control =
        bb_control_open(setup->options->socket ? setup->options->socket : socket, error);
    if (!recorder->control)
        return NULL;
    recorder->triggers = bb_triggers_new(setup->names);
    start_snapshots(recorder);
    if (!add_triggers(recorder, error))
        return NULL;
    bb_snap_install();
    say_begin(recorder);
    return g_steal_pointer(&recorder);
}

// ---- requests and firings -----------------------------------------------------------------------

// Before the first frame there is no time but the clock's.
static gint64 moment(const BbCaptureRecorder *recorder)
{
    return recorder->now_ns != BB_TIME_NONE ? recorder->now_ns : g_get_real_time() * 1000;
}

static void take_firings(BbCaptureRecorder *recorder)
{
    BbTriggerFiring firing;
    while (bb_triggers_next(recorder->triggers, &firing)) {
        (void)bb_snapshots_fire(recorder->snapshots, firing.rule, firing.time_ns, firing.what, 0);
        g_free(firing.what);
    }
}

static void take_requests(BbCaptureRecorder *recorder)
{
    guint ticket = 0;
    char *reason = NULL;
    if (G_UNLIKELY(bb_snap_requested()))
        (void)bb_snapshots_fire(recorder->snapshots, recorder->signal, moment(recorder), NULL, 0);
    while (G_UNLIKELY(bb_control_next(recorder->control, &ticket, &reason))) {
        const char *told = recorder->setup.disguise ? NULL : reason; // names may be in it
        if (!bb_snapshots_fire(recorder->snapshots, recorder->command, moment(recorder), told,
                               ticket))
            bb_control_answer(recorder->control, ticket,
                              "error too many requests: try again later");
        g_free(reason);
    }
}

static void answer(BbCaptureRecorder *recorder, const BbSnapshotResult *result)
{
    g_autofree char *line = result->error ? g_strdup_printf("error %s", result->error)
                                          : g_strdup_printf("done %s", result->path);
    for (guint i = 0; i < result->tickets->len; i++)
        bb_control_answer(recorder->control, g_array_index(result->tickets, guint, i), line);
}

static void say_results(BbCaptureRecorder *recorder)
{
    for (BbSnapshotResult *result = bb_snapshots_next(recorder->snapshots); result;
         result = bb_snapshots_next(recorder->snapshots)) {
        g_autofree char *messages = bb_counted(result->messages, "message");
        answer(recorder, result);
        recorder->setup.clear(recorder->setup.user);
        if (result->error)
            bb_say_error("snapshot for %s: %s", result->what, result->error);
        else if (!recorder->setup.quiet)
            bb_say("snapshot %s: %s: %s", result->path, messages, result->what);
        if (result->damage)
            bb_say("warning: %s", result->damage);
        recorder->failed |= result->error != NULL;
        bb_snapshot_result_free(result);
    }
}

// ---- the flow -----------------------------------------------------------------------------------

void bb_capture_recorder_push(BbCaptureRecorder *recorder, const BbMessage *message,
                              const BbMessage *seen)
{
    bb_recorder_push(recorder->recorder, message);
    if (bb_triggers_count(recorder->triggers) == 0)
        return;
    BbMessage kept = *seen;
    if (recorder->setup.disguise)
        bb_disguise_trim(recorder->setup.disguise, &kept);
    bb_triggers_push(recorder->triggers, &kept);
    take_firings(recorder);
}

bool bb_capture_recorder_listens(const BbCaptureRecorder *recorder)
{
    return bb_triggers_have_silence(recorder->triggers);
}

void bb_capture_recorder_hear(BbCaptureRecorder *recorder, guint32 node, gint64 time_ns)
{
    bb_triggers_hear(recorder->triggers, node, time_ns);
}

static void go_on(BbCaptureRecorder *recorder, gint64 now_ns)
{
    recorder->now_ns = now_ns;
    bb_triggers_tick(recorder->triggers, now_ns);
    take_firings(recorder);
    take_requests(recorder);
    bb_snapshots_tick(recorder->snapshots, now_ns);
}

void bb_capture_recorder_frame(BbCaptureRecorder *recorder, gint64 time_ns)
{
    recorder->frame_ns = time_ns;
    recorder->fresh = true;
    go_on(recorder, time_ns);
}

void bb_capture_recorder_idle(BbCaptureRecorder *recorder)
{
    gint64 now_us = g_get_monotonic_time();
    if (recorder->fresh || recorder->arrived_us == 0)
        recorder->arrived_us = now_us;
    bool quiet = recorder->setup.live && !recorder->fresh;
    recorder->fresh = false;
    if (quiet) {
        if (recorder->frame_ns == BB_TIME_NONE)
            recorder->frame_ns = g_get_real_time() * 1000;
        go_on(recorder, recorder->frame_ns + (now_us - recorder->arrived_us) * 1000);
    } else {
        take_requests(recorder);
    }
    say_results(recorder);
}

// A name that is spelt wrong waits for ever. Where nothing came at all, that is said already.
static void warn_of_unmet(const BbCaptureRecorder *recorder)
{
    guint count = bb_triggers_count(recorder->triggers);
    for (guint i = 0; i < count && bb_recorder_messages(recorder->recorder) > 0; i++)
        if (!bb_triggers_have_met(recorder->triggers, i))
            bb_say("warning: nothing came that trigger '%s' is about: `bbtrace cat` of the ring "
                   "has the operations and nodes that there were",
                   bb_triggers_rule(recorder->triggers, i)->text);
}

bool bb_capture_recorder_finish(BbCaptureRecorder *recorder)
{
    take_firings(recorder);
    take_requests(recorder);
    bb_snapshots_finish(recorder->snapshots);
    say_results(recorder);
    warn_of_unmet(recorder);
    return !recorder->failed;
}

void bb_capture_recorder_say(const BbCaptureRecorder *recorder)
{
    g_autofree char *messages = bb_counted(bb_recorder_messages(recorder->recorder), "message");
    g_autofree char *taken = bb_counted(bb_snapshots_taken(recorder->snapshots), "snapshot");
    g_autofree char *suppressed = bb_number(bb_snapshots_suppressed(recorder->snapshots));
    guint64 left_out = bb_recorder_left_out(recorder->recorder);
    BbTriggersCounts counts = bb_triggers_counts(recorder->triggers);
    bb_say("%s recorded; %s taken, %s suppressed, %u deleted beyond the limit", messages, taken,
           suppressed, bb_snapshots_deleted(recorder->snapshots));
    const struct {
        guint64 count;
        const char *what;
    } lines[] = {
        {left_out, "messages not recorded: before 1970, or with a text of more than 4 KiB"},
        {counts.late, "returns that came too late for a trigger's window"},
        {counts.forgotten, "open calls that the triggers forgot beyond their limit"},
        {counts.unwatched, "nodes beyond those that are watched for silence"},
        {counts.back, "times that the clock was set back: triggers began anew"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(lines); i++) {
        g_autofree char *number = bb_number(lines[i].count);
        if (lines[i].count)
            bb_say("%12s  %s", number, lines[i].what);
    }
}
