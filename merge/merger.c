// SPDX-License-Identifier: Apache-2.0
// In: trace files. Out: their messages in one order of time.
//
// A survey looks at the beginning of each file. Files that are due are a heap by the time of their
// next message, the others a list by the time of their first.
#include "merge/merger.h"

#include "merge/observers.h"
#include "merge/spill.h"
#include "merge/stream.h"

#include <string.h>

#define SURVEY_MESSAGES 256u // looked at for the time at which a file is due
#define WINDOW_MIN 256u
#define WINDOW_MAX 65536u

typedef struct Source {
    BbMerger *merger;
    char *path;
    guint input;
    guint32 observer;
    bool once;       // a pipe: what was opened for the survey stays open
    bool in_order;   // known from a run that read all of it
    guint32 seen;    // observer of its messages, unless mixed
    bool mixed;      // several clocks: what is in order now may not be so by other ones
    gint64 least_ns; // the earliest time as it was read; G_MAXINT64 before the first message
    bool scanned;    // all of it was read: the three above are known
    gint64 due_ns;
    BbStream *stream; // one of the two, while it is open
    BbSpill *spill;
    const BbMessage *head; // the next message, and its input
    guint head_input;
} Source;

struct BbMerger {
    BbMergerOptions options;
    BbNames *names;
    GPtrArray *sources; // one for each input
    GPtrArray *spills;  // of Source; made in a run, kept to its end
    bool ran;

    // Of a run.
    GPtrArray *pending; // sources that are not due yet, the earliest last
    GPtrArray *heap;    // open sources by head; [0] is the earliest
    guint n_open_spills;
    GPtrArray *complaints; // of char*, by input; NULL where there is none
    GByteArray *failed;    // by input
    BbCounters *counters;
    GPtrArray *networks;        // of BbNetwork, one for each observer
    GHashTable *network_places; // observer -> 1 + place in it
    guint64 messages, late;
    gint64 newest_ns;
    guint done;
};

// ---- sources ------------------------------------------------------------------------------------

static void source_close(Source *source)
{
    g_clear_pointer(&source->stream, bb_stream_free);
    g_clear_pointer(&source->spill, bb_spill_free);
    source->head = NULL;
}

static void source_free(gpointer data)
{
    Source *source = data;
    source_close(source);
    g_free(source->path);
    g_free(source);
}

static void complain(const Source *source, const char *sentence, bool failed)
{
    BbMerger *merger = source->merger;
    char **slot = (char **)&merger->complaints->pdata[source->input];
    char *both = *slot ? g_strconcat(*slot, "; ", sentence, NULL) : g_strdup(sentence);
    g_free(*slot);
    *slot = both;
    merger->failed->data[source->input] |= failed;
}

static void prepare_message(BbMessage *message, gpointer user)
{
    Source *source = user;
    const BbMergerOptions *options = &source->merger->options;
    if (message->observer == BB_NAME_NONE)
        message->observer = source->observer;
    if (source->seen == BB_NAME_NONE)
        source->seen = message->observer;
    source->mixed |= source->seen != message->observer;
    source->least_ns = MIN(source->least_ns, message->time_ns);
    if (options->prepare)
        options->prepare(message, source->input, options->user);
}

static gsize window_of(const BbMerger *merger)
{
    guint open = MIN(merger->sources->len, merger->options.open_max);
    return CLAMP(BB_MERGER_WAITING / MAX(open, 1), WINDOW_MIN, WINDOW_MAX);
}

// Returns false where the file cannot be read, which was noted.
static bool source_open(Source *source, gsize window)
{
    BbMerger *merger = source->merger;
    g_autoptr(GError) error = NULL;
    if (source->stream || source->spill)
        return true;
    source->stream =
        bb_stream_open(source->path, merger->names, window, merger->options.skip_bad_lines, &error);
    if (source->stream)
        bb_stream_prepare_by(source->stream, prepare_message, source);
    else
        complain(source, error->message, true);
    return source->stream;
}

static BbNetwork *network_of(BbMerger *merger, guint32 observer)
{
    gpointer key = GUINT_TO_POINTER(observer);
    guint place = GPOINTER_TO_UINT(g_hash_table_lookup(merger->network_places, key));
    if (!place) {
        g_ptr_array_add(merger->networks, bb_network_new());
        place = merger->networks->len;
        g_hash_table_insert(merger->network_places, key, GUINT_TO_POINTER(place));
    }
    return g_ptr_array_index(merger->networks, place - 1);
}

// The two ends of an edge are named as those of a message between them.
static void note_network(const Source *source, const BbNetwork *told)
{
    const BbMergerOptions *options = &source->merger->options;
    for (guint i = 0; i < bb_network_count(told); i++) {
        BbNetworkEdge edge = *bb_network_at(told, i);
        BbMessage message = bb_message_empty();
        message.time_ns = source->least_ns == G_MAXINT64 ? 0 : source->least_ns;
        message.sender = edge.client;
        message.receiver = edge.server;
        message.observer = source->observer;
        if (options->prepare)
            options->prepare(&message, source->input, options->user);
        edge.client = message.sender;
        edge.server = message.receiver;
        bb_network_add(network_of(source->merger, source->observer), &edge);
    }
}

static void note_end(Source *source)
{
    BbMerger *merger = source->merger;
    const BbTraceReader *reader = bb_stream_reader(source->stream);
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
    note_network(source, bb_trace_reader_network(reader));
    source->scanned = true;
    source->in_order = bb_stream_in_order(source->stream) && !source->mixed;
    merger->done++;
}

// Takes the next message as head. At the end the source is closed and head is NULL. Returns false
// when a temporary file fails; of an input that is a complaint, and its end.
static bool source_advance(Source *source, GError **error)
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
    source_close(source);
    return true;
}

// ---- the heap -----------------------------------------------------------------------------------

static bool comes_before(const Source *a, const Source *b)
{
    if (a->head->time_ns != b->head->time_ns)
        return a->head->time_ns < b->head->time_ns;
    return a->head_input < b->head_input;
}

static void sift_down(GPtrArray *heap, guint at)
{
    gpointer *slots = heap->pdata, moved = slots[at];
    for (;;) {
        guint child = 2 * at + 1;
        if (child >= heap->len)
            break;
        if (child + 1 < heap->len && comes_before(slots[child + 1], slots[child]))
            child++;
        if (!comes_before(slots[child], moved))
            break;
        slots[at] = slots[child];
        at = child;
    }
    slots[at] = moved;
}

static void heap_add(GPtrArray *heap, Source *source)
{
    g_ptr_array_add(heap, source);
    gpointer *slots = heap->pdata;
    guint at = heap->len - 1;
    for (; at > 0 && comes_before(source, slots[(at - 1) / 2]); at = (at - 1) / 2)
        slots[at] = slots[(at - 1) / 2];
    slots[at] = source;
}

// Puts the heap right after its first source has taken another head, or none.
static void heap_settle(GPtrArray *heap)
{
    const Source *first = heap->pdata[0];
    if (!first->head) {
        heap->pdata[0] = heap->pdata[heap->len - 1];
        g_ptr_array_set_size(heap, (gint)heap->len - 1);
    }
    if (heap->len > 1)
        sift_down(heap, 0);
}

// Adds an open source with its first message, if it has any.
static bool heap_begin(GPtrArray *heap, Source *source, GError **error)
{
    if (!source_advance(source, error))
        return false;
    if (source->head)
        heap_add(heap, source);
    return true;
}

// Drops a source at its end, or puts it in its new place.
static bool heap_next(GPtrArray *heap, GError **error)
{
    if (!source_advance(heap->pdata[0], error))
        return false;
    heap_settle(heap);
    return true;
}

// ---- temporary files ----------------------------------------------------------------------------

static void pending_insert(GPtrArray *pending, Source *source)
{
    guint at = pending->len;
    while (at > 0 && ((Source *)pending->pdata[at - 1])->due_ns < source->due_ns)
        at--;
    g_ptr_array_insert(pending, (gint)at, source);
}

// Merges what is in the heap into spill. Leaves the heap empty.
static bool pour(GPtrArray *heap, BbSpill *spill, GError **error)
{
    while (heap->len) {
        const Source *first = heap->pdata[0];
        if (!bb_spill_push(spill, first->head, first->head_input, error) || !heap_next(heap, error))
            return false;
    }
    return bb_spill_turn(spill, error);
}

// Takes over the spill.
static void add_spill(BbMerger *merger, BbSpill *spill, gint64 due_ns)
{
    Source *source = g_new0(Source, 1);
    source->merger = merger;
    source->spill = spill;
    source->due_ns = due_ns;
    g_ptr_array_add(merger->spills, source);
    pending_insert(merger->pending, source);
    merger->n_open_spills++;
}

// Makes one temporary file of the next files that are pending.
static bool spill_pending(BbMerger *merger, guint batch, GError **error)
{
    g_autoptr(GPtrArray) heap = g_ptr_array_new();
    g_autoptr(BbSpill) spill = bb_spill_new(merger->names, error);
    gint64 due_ns = ((Source *)merger->pending->pdata[merger->pending->len - 1])->due_ns;
    if (!spill)
        return false;
    while (merger->pending->len && heap->len < batch) {
        Source *source = g_ptr_array_steal_index(merger->pending, merger->pending->len - 1);
        if (source_open(source, source->in_order ? 0 : window_of(merger)) &&
            !heap_begin(heap, source, error))
            return false;
    }
    if (!pour(heap, spill, error))
        return false;
    add_spill(merger, g_steal_pointer(&spill), due_ns);
    return true;
}

// Makes one temporary file of all those that are open.
static bool spill_spills(BbMerger *merger, GError **error)
{
    g_autoptr(GPtrArray) heap = g_ptr_array_new();
    g_autoptr(GPtrArray) kept = g_ptr_array_new();
    g_autoptr(BbSpill) spill = bb_spill_new(merger->names, error);
    if (!spill)
        return false;
    for (guint i = 0; i < merger->heap->len; i++) {
        Source *source = merger->heap->pdata[i];
        if (source->spill)
            heap_add(heap, source);
        else
            heap_add(kept, source);
    }
    gint64 due_ns = heap->len ? ((Source *)heap->pdata[0])->head->time_ns : G_MININT64;
    g_ptr_array_set_size(merger->heap, 0);
    for (guint i = 0; i < kept->len; i++)
        heap_add(merger->heap, kept->pdata[i]);
    if (!pour(heap, spill, error))
        return false;
    add_spill(merger, g_steal_pointer(&spill), due_ns);
    return true;
}

// ---- opening ------------------------------------------------------------------------------------

// A quarter of the files that may be open are temporary ones, a quarter is for making them.
static bool open_next(BbMerger *merger, GError **error)
{
    guint quarter = merger->options.open_max / 4;
    Source *next = merger->pending->pdata[merger->pending->len - 1];
    guint files = merger->heap->len - MIN(merger->heap->len, merger->n_open_spills);
    if (!next->spill && !next->stream && files >= merger->options.open_max - 2 * quarter) {
        if (merger->n_open_spills >= MAX(quarter, 1) && !spill_spills(merger, error))
            return false;
        return spill_pending(merger, MAX(quarter, 2), error);
    }
    g_ptr_array_set_size(merger->pending, (gint)merger->pending->len - 1);
    return !source_open(next, next->in_order ? 0 : window_of(merger)) ||
           heap_begin(merger->heap, next, error);
}

// Opens what is due before the earliest message that is known.
static bool open_due(BbMerger *merger, GError **error)
{
    GPtrArray *pending = merger->pending, *heap = merger->heap;
    while (pending->len) {
        const Source *next = pending->pdata[pending->len - 1];
        if (heap->len && next->due_ns > ((Source *)heap->pdata[0])->head->time_ns)
            return true;
        if (!open_next(merger, error))
            return false;
    }
    return true;
}

// ---- the survey ---------------------------------------------------------------------------------

// The time of the earliest message of a file that was scanned: clocks never run backwards.
static gint64 scanned_time(const Source *source)
{
    const BbMergerOptions *options = &source->merger->options;
    BbMessage message = bb_message_empty();
    message.time_ns = source->least_ns;
    message.observer = source->seen;
    if (options->prepare && source->least_ns != G_MAXINT64)
        options->prepare(&message, source->input, options->user);
    return message.time_ns;
}

// The time of the earliest of a file's first messages; G_MININT64 where there is none: the file is
// opened at once, and what is wrong with it is found then.
static gint64 survey_time(Source *source)
{
    const BbMerger *merger = source->merger;
    g_autoptr(BbStream) stream =
        bb_stream_open(source->path, merger->names, 0, merger->options.skip_bad_lines, NULL);
    gint64 due_ns = G_MAXINT64;
    if (!stream)
        return G_MININT64;
    bb_stream_prepare_by(stream, prepare_message, source);
    for (guint i = 0; i < SURVEY_MESSAGES; i++) {
        const BbMessage *message = bb_stream_next(stream, NULL);
        if (!message)
            break;
        due_ns = MIN(due_ns, message->time_ns);
    }
    return due_ns == G_MAXINT64 ? G_MININT64 : due_ns;
}

static int latest_first(gconstpointer a, gconstpointer b)
{
    const Source *x = *(Source *const *)a, *y = *(Source *const *)b;
    if (x->due_ns != y->due_ns)
        return x->due_ns > y->due_ns ? -1 : 1;
    return x->input > y->input ? -1 : 1;
}

static void survey(BbMerger *merger)
{
    for (guint i = 0; i < merger->sources->len; i++) {
        Source *source = merger->sources->pdata[i];
        if (source->once)
            source->due_ns = G_MININT64;
        else
            source->due_ns =
                source->scanned && !source->mixed ? scanned_time(source) : survey_time(source);
        g_ptr_array_add(merger->pending, source);
    }
    g_ptr_array_sort(merger->pending, latest_first);
}

// ---- the whole ----------------------------------------------------------------------------------

static bool is_once(const char *path)
{
    bool there = g_file_test(path, G_FILE_TEST_EXISTS);
    return strcmp(path, "-") == 0 || (there && !g_file_test(path, G_FILE_TEST_IS_REGULAR));
}

BbMerger *bb_merger_new(const BbMergerOptions *options, BbNames *names, const char *const *paths)
{
    BbMerger *merger = g_new0(BbMerger, 1);
    merger->options = *options;
    if (!options->open_max)
        merger->options.open_max = BB_MERGER_OPEN;
    merger->options.open_max = MAX(merger->options.open_max, BB_MERGER_OPEN_MIN);
    merger->names = names;
    merger->sources = g_ptr_array_new_with_free_func(source_free);
    merger->spills = g_ptr_array_new_with_free_func(source_free);
    merger->pending = g_ptr_array_new();
    merger->heap = g_ptr_array_new();
    merger->complaints = g_ptr_array_new_with_free_func(g_free);
    merger->failed = g_byte_array_new();
    merger->counters = bb_counters_new();
    merger->networks = g_ptr_array_new_with_free_func((GDestroyNotify)bb_network_free);
    merger->network_places = g_hash_table_new(NULL, NULL);
    g_autoptr(GPtrArray) observers = bb_observers_name(paths, options->by_folder);
    for (guint i = 0; paths[i]; i++) {
        Source *source = g_new0(Source, 1);
        source->merger = merger;
        source->path = g_strdup(paths[i]);
        source->input = i;
        source->observer = bb_names_intern(names, observers->pdata[i]);
        source->least_ns = G_MAXINT64;
        source->once = is_once(paths[i]);
        g_ptr_array_add(merger->sources, source);
    }
    return merger;
}

void bb_merger_free(BbMerger *merger)
{
    if (!merger)
        return;
    g_ptr_array_unref(merger->sources);
    g_ptr_array_unref(merger->spills);
    g_ptr_array_unref(merger->pending);
    g_ptr_array_unref(merger->heap);
    g_ptr_array_unref(merger->complaints);
    g_byte_array_unref(merger->failed);
    bb_counters_free(merger->counters);
    g_ptr_array_unref(merger->networks);
    g_hash_table_unref(merger->network_places);
    g_free(merger);
}

static void begin_run(BbMerger *merger)
{
    guint count = merger->sources->len;
    for (guint i = 0; i < count && merger->ran; i++)
        source_close(merger->sources->pdata[i]);
    g_ptr_array_set_size(merger->spills, 0);
    g_ptr_array_set_size(merger->pending, 0);
    g_ptr_array_set_size(merger->heap, 0);
    g_ptr_array_set_size(merger->complaints, 0);
    g_ptr_array_set_size(merger->complaints, (gint)count);
    g_byte_array_set_size(merger->failed, count);
    memset(merger->failed->data, 0, count);
    g_ptr_array_set_size(merger->networks, 0);
    g_hash_table_remove_all(merger->network_places);
    bb_counters_free(merger->counters);
    merger->counters = bb_counters_new();
    merger->messages = merger->late = 0;
    merger->n_open_spills = merger->done = 0;
    merger->newest_ns = G_MININT64;
    merger->ran = true;
}

bool bb_merger_scan(BbMerger *merger, BbMergerSink sink, gpointer user, GError **error)
{
    begin_run(merger);
    for (guint i = 0; i < merger->sources->len; i++) {
        Source *source = merger->sources->pdata[i];
        if (!source_open(source, 0))
            continue;
        do {
            if (!source_advance(source, error) ||
                (source->head && !sink(source->head, i, user, error)))
                return false;
            merger->messages += source->head != NULL;
        } while (source->head);
    }
    return true;
}

bool bb_merger_run(BbMerger *merger, BbMergerSink sink, gpointer user, GError **error)
{
    begin_run(merger);
    survey(merger);
    for (;;) {
        if (!open_due(merger, error))
            return false;
        if (!merger->heap->len)
            return true;
        const Source *first = merger->heap->pdata[0];
        merger->messages++;
        merger->late += first->head->time_ns < merger->newest_ns;
        merger->newest_ns = MAX(merger->newest_ns, first->head->time_ns);
        if (!sink(first->head, first->head_input, user, error) || !heap_next(merger->heap, error))
            return false;
    }
}

void bb_merger_prepare_by(BbMerger *merger, void (*prepare)(BbMessage *, guint, gpointer),
                          gpointer user)
{
    merger->options.prepare = prepare;
    merger->options.user = user;
}

// ---- queries ------------------------------------------------------------------------------------

guint bb_merger_inputs(const BbMerger *merger)
{
    return merger->sources->len;
}

guint32 bb_merger_observer(const BbMerger *merger, guint input)
{
    return ((Source *)merger->sources->pdata[input])->observer;
}

bool bb_merger_can_repeat(const BbMerger *merger)
{
    for (guint i = 0; i < merger->sources->len; i++)
        if (((Source *)merger->sources->pdata[i])->once)
            return false;
    return true;
}

const char *bb_merger_complaint(const BbMerger *merger, guint index, bool *failed)
{
    for (guint i = 0; i < merger->complaints->len; i++) {
        if (!merger->complaints->pdata[i] || index--)
            continue;
        *failed = merger->failed->data[i];
        return merger->complaints->pdata[i];
    }
    return NULL;
}

guint64 bb_merger_messages(const BbMerger *merger)
{
    return merger->messages;
}

guint bb_merger_inputs_done(const BbMerger *merger)
{
    return merger->done;
}

guint64 bb_merger_late(const BbMerger *merger)
{
    return merger->late;
}

void bb_merger_tell_network(const BbMerger *merger, BbNetwork *network)
{
    for (guint i = 0; i < merger->networks->len; i++) {
        const BbNetwork *told = g_ptr_array_index(merger->networks, i);
        for (guint k = 0; k < bb_network_count(told); k++)
            bb_network_better(network, bb_network_at(told, k));
    }
}

const BbCounters *bb_merger_counters(const BbMerger *merger)
{
    return merger->counters;
}
