// SPDX-License-Identifier: Apache-2.0
// In: the calls of a path instance, and their trace once more. Out: connection, offset and capture
// file of each message.
#include "cli/frames.h"

#include <stdlib.h>

#include "data/caption.h"
#include "data/trace.h"

typedef struct {
    gint64 time_ns; // as the trace has it
    BbId id;
    guint32 from, to; // of a return only the receiver counts: another node may have answered
    bool is_return;
    bool found, closes; // in place of a return the connection was closed, by the caller
    char *conn;         // NULL if the trace has none
    guint64 offset;
    guint32 file, number; // of its first packet
} Frame;

struct BbFrames {
    GArray *frames; // of Frame, in order of time
};

static void clear_frame(gpointer frame)
{
    g_free(((Frame *)frame)->conn);
}

static void want(BbFrames *frames, const BbCall *call, bool is_return, gint64 time_ns)
{
    Frame frame = {.time_ns = time_ns,
                   .id = call->id,
                   .from = is_return ? call->callee : call->caller,
                   .to = is_return ? call->caller : call->callee,
                   .is_return = is_return};
    g_array_append_val(frames->frames, frame);
}

static int by_time(const void *a, const void *b)
{
    const Frame *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return x->is_return - y->is_return;
}

// A message that was seen at its receiver only has the receiver's time.
BbFrames *bb_frames_new(const BbPaths *paths, const BbInstance *instance)
{
    BbFrames *frames = g_new(BbFrames, 1);
    frames->frames = g_array_new(FALSE, FALSE, sizeof(Frame));
    g_array_set_clear_func(frames->frames, clear_frame);
    for (guint32 k = 0; k < instance->count; k++) {
        const BbCall *call = &paths->calls[paths->order[instance->first + k]];
        want(frames, call, false, call->call_ns);
        if (call->replied_ns != BB_TIME_NONE)
            want(frames, call, true, call->replied_ns);
    }
    g_array_sort(frames->frames, by_time);
    return frames;
}

void bb_frames_free(BbFrames *frames)
{
    if (!frames)
        return;
    g_array_unref(frames->frames);
    g_free(frames);
}

// The first that is not before time_ns.
static guint first_at(const BbFrames *frames, gint64 time_ns)
{
    guint from = 0, to = frames->frames->len;
    while (from < to) {
        guint middle = from + (to - from) / 2;
        if (g_array_index(frames->frames, Frame, middle).time_ns < time_ns)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static bool is_frame(const Frame *frame, const BbMessage *message)
{
    if (frame->found || !bb_id_equal(frame->id, message->id))
        return false;
    if (message->kind == BB_FREE)
        return frame->is_return && frame->to == message->sender && frame->from == message->receiver;
    return message->kind == (frame->is_return ? BB_RETURN : BB_CALL) &&
           frame->to == message->receiver && (frame->is_return || frame->from == message->sender);
}

static void take(BbFrames *frames, const BbMessage *message)
{
    if (!message->conn && message->file == BB_NAME_NONE)
        return;
    for (guint i = first_at(frames, message->time_ns); i < frames->frames->len; i++) {
        Frame *frame = &g_array_index(frames->frames, Frame, i);
        if (frame->time_ns != message->time_ns)
            return;
        if (!is_frame(frame, message))
            continue;
        frame->found = true;
        frame->conn = g_strdup(message->conn);
        frame->file = message->file;
        frame->number = message->frame;
        frame->offset = message->offset;
        frame->closes = message->kind == BB_FREE;
        frame->from = message->sender;
        frame->to = message->receiver;
        return;
    }
}

bool bb_frames_read(BbFrames *frames, const char *trace, bool skip_bad_lines, BbNames *names,
                    GError **error)
{
    BbMessage message;
    GError *failure = NULL;
    g_autoptr(BbTraceReader) reader = bb_trace_reader_open(trace, names, error);
    if (!reader)
        return false;
    bb_trace_reader_skip_bad_lines(reader, skip_bad_lines);
    while (bb_trace_reader_next(reader, &message, &failure))
        take(frames, &message);
    if (failure)
        g_propagate_error(error, failure);
    return !failure;
}

static void append_frame(GString *out, const Frame *frame, const BbNames *names, gint64 start_ns,
                         const BbTimelineStyle *style)
{
    gint64 after_us = bb_time_between(start_ns, frame->time_ns) / 1000;
    g_string_append_printf(out, "%12" G_GINT64_FORMAT ".%03d ms  ", after_us / 1000,
                           (int)ABS(after_us % 1000));
    g_string_append(out, frame->closes ? "close   " : frame->is_return ? "return  " : "call    ");
    bb_timeline_append_name(out, names, frame->from, style);
    g_string_append(out, " -> ");
    bb_timeline_append_name(out, names, frame->to, style);
    if (frame->conn) {
        g_string_append(out, "  conn=");
        bb_caption_append(out, frame->conn, "-");
    }
    if (frame->offset != BB_OFFSET_NONE)
        g_string_append_printf(out, " off=%" G_GUINT64_FORMAT, frame->offset);
    if (frame->file != BB_NAME_NONE) {
        g_string_append(out, "  ");
        bb_caption_append(out, bb_names_text(names, frame->file), "-");
        g_string_append_printf(out, " frame %u", frame->number);
    }
    g_string_append_c(out, '\n');
}

void bb_frames_append(GString *out, const BbFrames *frames, const BbNames *names,
                      const BbTimelineStyle *style)
{
    guint found = 0;
    g_string_append(out, "\nMessages in the capture:\n");
    for (guint i = 0; i < frames->frames->len; i++) {
        const Frame *frame = &g_array_index(frames->frames, Frame, i);
        if (!frame->found)
            continue;
        append_frame(out, frame, names, g_array_index(frames->frames, Frame, 0).time_ns, style);
        found++;
    }
    if (found < frames->frames->len)
        g_string_append_printf(out, "  and %u of which the trace does not say where\n",
                               frames->frames->len - found);
}
