// SPDX-License-Identifier: Apache-2.0
// In: the ring of a flight recorder (bbtrace-ring(5)). Out: its messages in order of time, and what
// is missing. Memory: a window of messages (data/order.h), and those that it has let go at once.
#include "data/order.h"
#include "data/recorder.h"
#include "data/trace_form.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define ORDER_WINDOW 65536u // as bbtrace capture has

typedef struct {
    BbTraceReader base;
    BbRecorderReader *recorder;
    BbOrder *order;
    GArray *ready; // of BbMessage, whose conn is ours
    guint next;    // of ready
    bool drained;
} RingReader;

static bool make_ready(const BbMessage *message, gpointer user, GError **error)
{
    RingReader *reader = user;
    BbMessage copy = *message;
    copy.conn = g_strdup(message->conn);
    g_array_append_val(reader->ready, copy);
    return true;
}

static void clear_message(gpointer data)
{
    const BbMessage *message = data;
    g_free((char *)message->conn);
}

// Places in the file matter: what comes unpacked on the way has none.
static bool is_plain(BbInput *input)
{
    char magic[BB_TRACE_RING_MAGIC_SIZE];
    return pread(bb_input_descriptor(input), magic, sizeof magic, 0) == sizeof magic &&
           memcmp(magic, BB_TRACE_RING_MAGIC, sizeof magic) == 0;
}

static BbTraceReader *ring_open(BbInput *input, GError **error)
{
    if (!is_plain(input)) {
        g_set_error(error, BB_TRACE_ERROR, BB_TRACE_ERROR_FORM,
                    "%s: a ring is read from a plain file only: unpack or copy it to one first",
                    bb_input_name(input));
        return NULL;
    }
    int fd = fcntl(bb_input_descriptor(input), F_DUPFD_CLOEXEC, 0);
    BbRecorderReader *recorder = bb_recorder_reader_open(fd, bb_input_name(input), error);
    if (!recorder)
        return NULL;
    RingReader *reader = g_new0(RingReader, 1);
    reader->recorder = recorder;
    reader->order = bb_order_new(ORDER_WINDOW, make_ready, reader);
    reader->ready = g_array_new(FALSE, FALSE, sizeof(BbMessage));
    g_array_set_clear_func(reader->ready, clear_message);
    return &reader->base;
}

static void ring_free(BbTraceReader *base)
{
    RingReader *reader = (RingReader *)base;
    bb_recorder_reader_free(reader->recorder);
    bb_order_free(reader->order);
    g_array_unref(reader->ready);
    g_free(reader);
}

static void note_end(RingReader *reader)
{
    BbTraceReader *base = &reader->base;
    BbRecorderFindings found = bb_recorder_reader_findings(reader->recorder);
    if (found.lost + found.damaged + found.overwritten == 0 && !found.headless)
        return;
    bb_trace_reader_add_damage(base, "%" G_GUINT64_FORMAT " messages recovered", base->messages);
    if (found.lost) {
        bb_counters_add(base->counters, BB_TRACE_LOST, found.lost);
        bb_trace_reader_add_damage(base, "%" G_GUINT64_FORMAT " known to be lost", found.lost);
    }
    if (found.headless)
        bb_trace_reader_add_damage(base, "the head of the ring is damaged");
    if (found.damaged)
        bb_trace_reader_add_damage(base, "%" G_GUINT64_FORMAT " damaged sub-buffers",
                                   found.damaged);
    if (found.overwritten)
        bb_trace_reader_add_damage(
            base, "%" G_GUINT64_FORMAT " sub-buffers were recorded over while they were read",
            found.overwritten);
}

// Returns false at the end, or when reading failed.
static bool fill(RingReader *reader, GError **error)
{
    BbMessage message;
    GError *failure = NULL;
    g_array_set_size(reader->ready, 0);
    reader->next = 0;
    while (reader->ready->len == 0 && !reader->drained) {
        if (bb_recorder_read(reader->recorder, reader->base.names, &message, &failure)) {
            (void)bb_order_push(reader->order, &message, NULL);
            continue;
        }
        if (failure) {
            g_propagate_error(error, failure);
            return false;
        }
        reader->drained = bb_order_drain(reader->order, NULL);
    }
    return reader->ready->len > 0;
}

static bool ring_next(BbTraceReader *base, BbMessage *message, GError **error)
{
    RingReader *reader = (RingReader *)base;
    GError *failure = NULL;
    if (reader->next == reader->ready->len && !fill(reader, &failure)) {
        if (failure)
            g_propagate_error(error, failure);
        else
            note_end(reader);
        return false;
    }
    *message = g_array_index(reader->ready, BbMessage, reader->next++);
    return true;
}

const BbTraceReaderForm bb_trace_ring_reader = {
    .form = BB_TRACE_RING,
    .open = ring_open,
    .next = ring_next,
    .free = ring_free,
};
