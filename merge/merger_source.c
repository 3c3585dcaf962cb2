// SPDX-License-Identifier: Apache-2.0
// In: one file of a merger, or a temporary one. Out: its messages, and what is wrong with it.
#include "merge/merger_state.h"

#include "data/call.h"
#include "merge/clock_map.h"

#include <string.h>

#define WINDOW_MIN 256u
#define WINDOW_MAX 65536u

void bb_merger_source_close(BbMergerSource *source)
{
    g_clear_pointer(&source->stream, bb_stream_free);
    g_clear_pointer(&source->spill, bb_spill_free);
    source->head = NULL;
}

void bb_merger_source_free(gpointer data)
{
    BbMergerSource *source = data;
    bb_merger_source_close(source);
    g_free(source->path);
    g_free(source);
}

static void complain(const BbMergerSource *source, const char *sentence, bool failed)
{
    BbMerger *merger = source->merger;
    if (source->part) // the first one has said it
        return;
    char **slot = (char **)&merger->complaints->pdata[source->input];
    char *both = *slot ? g_strconcat(*slot, "; ", sentence, NULL) : g_strdup(sentence);
    g_free(*slot);
    *slot = both;
    merger->failed->data[source->input] |= failed;
}

void bb_merger_source_prepare(const BbMergerSource *source, BbMessage *message, gint64 last_ns)
{
    const BbMergerPreparer *preparer = &source->merger->options.preparer;
    BbMergerPlace place = {.input = source->input, .last_ns = last_ns};
    if (preparer->prepare)
        preparer->prepare(message, &place, preparer->user);
}

gint64 bb_merger_source_time(const BbMergerSource *source, gint64 time_ns, gint64 last_ns)
{
    BbMessage message = bb_message_empty();
    message.time_ns = time_ns;
    message.observer = source->seen;
    bb_merger_source_prepare(source, &message, last_ns);
    return message.time_ns;
}

// Notes where a clock may have been set back.
static void note_turn(BbMergerSource *source, gint64 time_ns)
{
    bool falls = bb_time_between(time_ns, source->peak_ns) > BB_CLOCK_DISORDER_NS;
    if (falls && source->n_turns < BB_MERGER_TURNS) {
        source->turns[source->n_turns][0] = source->peak_ns;
        source->turns[source->n_turns++][1] = time_ns;
    }
    source->peak_ns = falls ? time_ns : MAX(source->peak_ns, time_ns);
}

// Returns whether it is in this part of the file.
static bool take(BbMessage *message, gpointer user)
{
    BbMergerSource *source = user;
    const BbMergerPreparer *preparer = &source->merger->options.preparer;
    if (message->observer == BB_NAME_NONE)
        message->observer = source->observer;
    if (source->seen == BB_NAME_NONE)
        source->seen = message->observer;
    source->mixed |= source->seen != message->observer;
    if (source->least_ns == G_MAXINT64)
        source->head_ns = source->peak_ns = message->time_ns;
    if (!source->scanned)
        note_turn(source, message->time_ns);
    source->tail_ns = message->time_ns;
    source->least_ns = MIN(source->least_ns, message->time_ns);
    if (preparer->prepare)
        preparer->prepare(message, &source->place, preparer->user);
    if (MIN(source->place.part, source->parts - 1) != source->part)
        return false;
    source->from_ns = MIN(source->from_ns, message->time_ns);
    source->to_ns = MAX(source->to_ns, message->time_ns);
    return true;
}

BbStream *bb_merger_source_stream(BbMergerSource *source, gsize window, GError **error)
{
    const BbMerger *merger = source->merger;
    BbStream *stream =
        bb_stream_open(source->path, merger->names, window, merger->options.skip_bad_lines, error);
    source->place = (BbMergerPlace){.input = source->input, .last_ns = source->start_ns};
    if (stream)
        bb_stream_prepare_by(stream, take, source);
    return stream;
}

gsize bb_merger_source_window(const BbMerger *merger)
{
    guint open = MIN(merger->sources->len, merger->options.open_max);
    return CLAMP(BB_MERGER_WAITING / MAX(open, 1), WINDOW_MIN, WINDOW_MAX);
}

// Returns false where the file cannot be read, which was noted.
bool bb_merger_source_open(BbMergerSource *source, gsize window)
{
    g_autoptr(GError) error = NULL;
    if (source->stream || source->spill)
        return true;
    source->stream = bb_merger_source_stream(source, window, &error);
    if (!source->stream)
        complain(source, error->message, true);
    return source->stream;
}

// The two ends of an edge are named as those of a message between them.
static void note_network(const BbMergerSource *source, const BbNetwork *told)
{
    bb_witnesses_watched(source->merger->witnesses, source->observer, source->from_ns,
                         source->to_ns);
    for (guint i = 0; source->part == 0 && i < bb_network_count(told); i++) {
        BbNetworkEdge edge = *bb_network_at(told, i);
        BbMessage message = bb_message_empty();
        message.time_ns = source->least_ns == G_MAXINT64 ? 0 : source->least_ns;
        message.sender = edge.client;
        message.receiver = edge.server;
        message.observer = source->observer;
        bb_merger_source_prepare(source, &message, G_MININT64);
        edge.client = message.sender;
        edge.server = message.receiver;
        bb_witnesses_saw(source->merger->witnesses, source->observer, &edge);
    }
}

// The pieces of one capture say the same.
static void take_notes(BbMerger *merger, const BbTraceReader *reader)
{
    for (guint i = 0; i < bb_trace_reader_notes(reader); i++) {
        const char *text = bb_trace_reader_note(reader, i);
        if (merger->notes->len < BB_TRACE_NOTES &&
            !g_ptr_array_find_with_equal_func(merger->notes, text, g_str_equal, NULL))
            g_ptr_array_add(merger->notes, g_strdup(text));
    }
}

static void note_file(const BbMergerSource *source, const BbTraceReader *reader)
{
    BbMerger *merger = source->merger;
    guint64 bad = bb_trace_reader_bad_lines(reader);
    if (bb_trace_reader_damage(reader))
        complain(source, bb_trace_reader_damage(reader), false);
    if (bad) {
        g_autofree char *text =
            g_strdup_printf("%s: %" G_GUINT64_FORMAT " malformed line%s skipped", source->path, bad,
                            bad == 1 ? " was" : "s were");
        complain(source, text, false);
    }
    bb_counters_merge(merger->counters, bb_trace_reader_counters(reader));
    take_notes(merger, reader);
    merger->done++;
}

static void note_end(BbMergerSource *source)
{
    const BbTraceReader *reader = bb_stream_reader(source->stream);
    if (source->part == 0)
        note_file(source, reader);
    note_network(source, bb_trace_reader_network(reader));
    if (source->parts > 1) // what is known of the whole file was found before
        return;
    source->scanned = true;
    source->in_order = bb_stream_in_order(source->stream) && !source->mixed;
}

// Takes the next message as head. At the end the source is closed and head is NULL. Returns false
// when a temporary file fails; of an input that is a complaint, and its end.
bool bb_merger_source_advance(BbMergerSource *source, GError **error)
{
    g_autoptr(GError) failure = NULL;
    source->head_input = source->input;
    if (source->spill)
        source->head = bb_spill_next(source->spill, &source->head_input, &failure);
    else
        source->head = bb_stream_next(source->stream, &failure);
    if (source->head)
        return true;
    if (source->spill && failure) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return false;
    }
    if (failure)
        complain(source, failure->message, true);
    if (source->stream)
        note_end(source);
    else
        source->merger->n_open_spills--;
    bb_merger_source_close(source);
    return true;
}
