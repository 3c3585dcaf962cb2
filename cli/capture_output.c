// SPDX-License-Identifier: Apache-2.0
// In: messages as the capture finds them. Out: a trace in order of time.
#include "cli/capture_output.h"

#include "data/call.h"
#include "data/order.h"
#include "data/relay.h"

// Messages that wait to be put in order of time (data/order.h).
#define ORDER_WINDOW 65536u

// Messages later than others by more are of a clock that was set back.
#define LATE_NS G_GINT64_CONSTANT(1000000000)

// What was counted before a message, or is to be noted.
typedef struct Totals {
    guint64 pushed; // messages before it
    BbCounters *counters;
    BbNetwork *network;
    char *note; // or NULL; then the others are there
} Totals;

struct BbCaptureOutput {
    BbRelay *relay; // order and files work in its thread
    BbOrder *order;
    BbTraceFiles *files;
    bool live;
    guint64 pushed;
    GAsyncQueue *totals; // of Totals, for the thread
    GAsyncQueue *notes;  // of char *, likewise

    // Of the thread.
    guint64 received;
    Totals *next;      // the first of totals
    gint64 message_ns; // time of the message received last
    guint64 heard;     // of received, when that was last compared
    gint64 ahead_ns;   // of the clock of the stamps to one that nobody sets, at least
};

static void totals_free(gpointer data)
{
    Totals *totals = data;
    if (!totals)
        return;
    bb_counters_free(totals->counters);
    bb_network_free(totals->network);
    g_free(totals->note);
    g_free(totals);
}

static bool write_message(const BbMessage *message, gpointer user, GError **error)
{
    const BbCaptureOutput *output = user;
    return bb_trace_files_push(output->files, message, error);
}

// Passes on what was counted and noted before so many messages had been pushed.
static bool take_totals(BbCaptureOutput *output, guint64 pushed, GError **error)
{
    while (output->next || (output->next = g_async_queue_try_pop(output->totals))) {
        Totals *totals = output->next;
        if (totals->pushed >= pushed)
            return true;
        if (!totals->note)
            bb_trace_files_tell(output->files, g_steal_pointer(&totals->counters),
                                g_steal_pointer(&totals->network));
        else if (!bb_trace_files_keep_note(output->files, totals->note, error))
            return false;
        g_clear_pointer(&output->next, totals_free);
    }
    return true;
}

static bool order_message(const BbMessage *message, gpointer user, GError **error)
{
    BbCaptureOutput *output = user;
    output->received++;
    output->message_ns = message->time_ns;
    return take_totals(output, output->received, error) &&
           bb_order_push(output->order, message, error);
}

static bool write_notes(BbCaptureOutput *output, GError **error)
{
    bool good = true;
    for (char *note; good && (note = g_async_queue_try_pop(output->notes)); g_free(note))
        good = bb_trace_files_note(output->files, note, error);
    return good;
}

// Live: what time it is by the clock that makes the stamps, which may be an adapter's own. Messages
// come late, so that who came soonest tells it best; much later is a clock that was set back.
static gint64 time_by_stamps(BbCaptureOutput *output)
{
    gint64 clock_ns = g_get_monotonic_time() * 1000;
    if (!output->live || !output->received)
        return BB_TIME_NONE;
    gint64 ahead_ns = bb_time_between(clock_ns, output->message_ns);
    if (output->heard != output->received &&
        (!output->heard || ahead_ns > output->ahead_ns || ahead_ns < output->ahead_ns - LATE_NS))
        output->ahead_ns = ahead_ns;
    output->heard = output->received;
    return output->ahead_ns <= G_MAXINT64 - clock_ns ? clock_ns + output->ahead_ns : G_MAXINT64;
}

// What is known by now is shown, even if something older may still come.
static bool bring_up_to_date(gpointer user, GError **error)
{
    BbCaptureOutput *output = user;
    gint64 now_ns = time_by_stamps(output);
    if (!bb_order_drain(output->order, error))
        return false;
    if (!take_totals(output, output->received + 1, error)) // or they would pile up
        return false;
    if (bb_trace_files_is_open(output->files) && !write_notes(output, error))
        return false;
    return bb_trace_files_flush(output->files, now_ns, error);
}

// Of packets that are read again, files of an earlier run would be double.
static bool check_earlier(const BbCaptureArguments *arguments, GError **error)
{
    g_autofree char *earlier = arguments->interfaces ? NULL : bb_trace_files_find(arguments->out);
    if (!earlier)
        return true;
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                "%s: files of an earlier run are there, and both together would have messages "
                "twice: delete them, or give another -w",
                earlier);
    return false;
}

BbCaptureOutput *bb_capture_output_open(const BbCaptureArguments *arguments,
                                        const char *const *notes, const BbNames *names,
                                        GError **error)
{
    BbTraceFilesOptions options = bb_rotation_options(&arguments->rotation, arguments->out);
    options.notes = notes;
    BbTraceFiles *files = bb_trace_files_open(&options, names, error);
    if (!files)
        return NULL;
    if (bb_trace_files_is_series(files) && !check_earlier(arguments, error)) {
        bb_trace_files_free(files);
        return NULL;
    }
    BbCaptureOutput *output = g_new0(BbCaptureOutput, 1);
    output->files = files;
    output->live = arguments->interfaces;
    output->totals = g_async_queue_new_full(totals_free);
    output->notes = g_async_queue_new_full(g_free);
    output->order = bb_order_new(ORDER_WINDOW, write_message, output);
    output->relay = bb_relay_new(order_message, bring_up_to_date, output);
    return output;
}

void bb_capture_output_free(BbCaptureOutput *output)
{
    if (!output)
        return;
    bb_relay_free(output->relay);
    bb_order_free(output->order);
    bb_trace_files_free(output->files);
    totals_free(output->next);
    g_async_queue_unref(output->totals);
    g_async_queue_unref(output->notes);
    g_free(output);
}

bool bb_capture_output_push(const BbMessage *message, gpointer user, GError **error)
{
    BbCaptureOutput *output = user;
    output->pushed++;
    return bb_relay_push(output->relay, message, error);
}

bool bb_capture_output_is_series(const BbCaptureOutput *output)
{
    return bb_trace_files_is_series(output->files);
}

void bb_capture_output_tell(BbCaptureOutput *output, BbCounters *counters, const BbNetwork *network)
{
    Totals *totals = g_new(Totals, 1);
    *totals = (Totals){.pushed = output->pushed, .counters = counters, .network = bb_network_new()};
    bb_network_merge(totals->network, network);
    g_async_queue_push(output->totals, totals);
}

void bb_capture_output_keep_note(BbCaptureOutput *output, char *text)
{
    Totals *totals = g_new(Totals, 1);
    *totals = (Totals){.pushed = output->pushed, .note = text};
    g_async_queue_push(output->totals, totals);
}

bool bb_capture_output_sync(BbCaptureOutput *output, GError **error)
{
    return bb_relay_sync(output->relay, error);
}

void bb_capture_output_note(BbCaptureOutput *output, char *text)
{
    g_async_queue_push(output->notes, text);
}

bool bb_capture_output_drain(BbCaptureOutput *output, GError **error)
{
    return bb_relay_finish(output->relay, error) && bb_order_drain(output->order, error);
}

guint64 bb_capture_output_late(const BbCaptureOutput *output)
{
    return bb_order_late(output->order);
}

bool bb_capture_output_finish(BbCaptureOutput *output, const BbNetwork *network,
                              const BbCounters *counters, GError **error)
{
    return take_totals(output, G_MAXUINT64, error) && write_notes(output, error) &&
           bb_trace_files_finish(output->files, counters, network, error);
}

bool bb_capture_output_salvage(BbCaptureOutput *output, const BbCounters *counters, GError **error)
{
    return bb_trace_files_salvage(output->files, counters, error);
}

guint64 bb_capture_output_unwritten(const BbCaptureOutput *output, guint64 found)
{
    return MAX(output->pushed, found) - bb_trace_files_kept(output->files);
}

const BbTraceFiles *bb_capture_output_files(const BbCaptureOutput *output)
{
    return output->files;
}
