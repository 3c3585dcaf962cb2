// SPDX-License-Identifier: Apache-2.0
// In: trace files. Out: their messages in one order of time.
//
// A survey looks at the beginning of each file. Files that are due are a heap by the time of their
// next message, the others a list by the time of their first.
#include "merge/merger.h"

#include "merge/merger_state.h"
#include "merge/observers.h"

#include <string.h>

#define SURVEY_MESSAGES 256u // looked at for the time at which a file is due

// ---- opening ------------------------------------------------------------------------------------

// A quarter of the files that may be open are temporary ones, a quarter is for making them.
static bool open_next(BbMerger *merger, GError **error)
{
    guint quarter = merger->options.open_max / 4;
    BbMergerSource *next = merger->pending->pdata[merger->pending->len - 1];
    guint files = merger->heap->len - MIN(merger->heap->len, merger->n_open_spills);
    if (!next->spill && !next->stream && files >= merger->options.open_max - 2 * quarter) {
        if (merger->n_open_spills >= MAX(quarter, 1) && !bb_merger_spill_spills(merger, error))
            return false;
        return bb_merger_spill_pending(merger, MAX(quarter, 2), error);
    }
    g_ptr_array_set_size(merger->pending, (gint)merger->pending->len - 1);
    return !bb_merger_source_open(next, next->in_order ? 0 : bb_merger_source_window(merger)) ||
           bb_merger_heap_begin(merger->heap, next, error);
}

// Opens what is due before the earliest message that is known.
static bool open_due(BbMerger *merger, GError **error)
{
    GPtrArray *pending = merger->pending, *heap = merger->heap;
    while (pending->len) {
        const BbMergerSource *next = pending->pdata[pending->len - 1];
        if (heap->len && next->due_ns > ((BbMergerSource *)heap->pdata[0])->head->time_ns)
            return true;
        if (!open_next(merger, error))
            return false;
    }
    return true;
}

// ---- the survey ---------------------------------------------------------------------------------

// The time of the earliest message of a file that was scanned: in one part, clocks never run
// backwards.
static gint64 scanned_time(const BbMergerSource *source)
{
    bool empty = source->least_ns == G_MAXINT64;
    return empty ? G_MAXINT64 : bb_merger_source_time(source, source->least_ns, G_MININT64);
}

// The time of the earliest of a file's first messages; G_MININT64 where there is none: the file is
// opened at once, and what is wrong with it is found then.
static gint64 survey_time(BbMergerSource *source)
{
    g_autoptr(BbStream) stream = bb_merger_source_stream(source, 0, NULL);
    gint64 due_ns = G_MAXINT64;
    if (!stream)
        return G_MININT64;
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
    const BbMergerSource *x = *(BbMergerSource *const *)a, *y = *(BbMergerSource *const *)b;
    if (x->due_ns != y->due_ns)
        return x->due_ns > y->due_ns ? -1 : 1;
    if (x->input != y->input)
        return x->input > y->input ? -1 : 1;
    return x->part > y->part ? -1 : x->part < y->part;
}

// Adds the parts of a file that was read before; a file is its own first part.
static void add_parts(BbMerger *merger, BbMergerSource *source)
{
    const BbMergerPreparer *preparer = &merger->options.preparer;
    source->parts = 1;
    if (preparer->parts && source->scanned)
        source->parts =
            preparer->parts(source->mixed ? BB_NAME_NONE : source->seen, preparer->user);
    source->parts = CLAMP(source->parts, 1, BB_MERGER_PARTS);
    for (guint i = 1; i < source->parts; i++) {
        BbMergerSource *part = g_new(BbMergerSource, 1);
        *part = *source;
        part->path = g_strdup(source->path);
        part->part = i;
        g_ptr_array_add(merger->parts, part);
    }
}

static void survey_source(BbMerger *merger, BbMergerSource *source)
{
    if (source->once)
        source->due_ns = G_MININT64;
    else if (source->scanned && !source->mixed && source->parts == 1)
        source->due_ns = scanned_time(source);
    else
        source->due_ns = survey_time(source);
    g_ptr_array_add(merger->pending, source);
}

// Where a file ended, as times are now, by way of all that may have been a step back.
static gint64 end_of(const BbMergerSource *source)
{
    gint64 at_ns = bb_merger_source_time(source, source->head_ns, source->start_ns);
    for (guint i = 0; i < source->n_turns; i++) {
        at_ns = bb_merger_source_time(source, source->turns[i][0], at_ns);
        at_ns = bb_merger_source_time(source, source->turns[i][1], at_ns);
    }
    return bb_merger_source_time(source, source->tail_ns, at_ns);
}

// A file of an observer goes on where the one before it ended: what a clock showed twice, as it
// stepped back between them, is told apart so.
static void find_starts(BbMerger *merger)
{
    g_autoptr(GHashTable) ended = g_hash_table_new(NULL, NULL); // observer -> source
    for (guint i = 0; i < merger->sources->len; i++) {
        BbMergerSource *source = merger->sources->pdata[i];
        gpointer observer = GUINT_TO_POINTER(source->seen);
        const BbMergerSource *before = g_hash_table_lookup(ended, observer);
        source->start_ns = G_MININT64;
        if (!merger->options.preparer.parts || !source->scanned || source->mixed ||
            source->least_ns == G_MAXINT64)
            continue;
        if (before)
            source->start_ns = end_of(before);
        g_hash_table_insert(ended, observer, source);
    }
}

static void survey(BbMerger *merger)
{
    find_starts(merger);
    for (guint i = 0; i < merger->sources->len; i++)
        add_parts(merger, merger->sources->pdata[i]);
    for (guint i = 0; i < merger->sources->len; i++)
        survey_source(merger, merger->sources->pdata[i]);
    for (guint i = 0; i < merger->parts->len; i++)
        survey_source(merger, merger->parts->pdata[i]);
    g_ptr_array_sort(merger->pending, latest_first);
}

// ---- the whole ----------------------------------------------------------------------------------

static bool is_once(const char *path)
{
    // What is no trace, as a folder, is refused when it is opened.
    bool read_again = !g_file_test(path, G_FILE_TEST_EXISTS) ||
                      g_file_test(path, G_FILE_TEST_IS_REGULAR | G_FILE_TEST_IS_DIR);
    return strcmp(path, "-") == 0 || !read_again;
}

BbMerger *bb_merger_new(const BbMergerOptions *options, BbNames *names, const char *const *paths)
{
    BbMerger *merger = g_new0(BbMerger, 1);
    merger->options = *options;
    if (!options->open_max)
        merger->options.open_max = BB_MERGER_OPEN;
    merger->options.open_max = MAX(merger->options.open_max, BB_MERGER_OPEN_MIN);
    merger->names = names;
    merger->sources = g_ptr_array_new_with_free_func(bb_merger_source_free);
    merger->parts = g_ptr_array_new_with_free_func(bb_merger_source_free);
    merger->spills = g_ptr_array_new_with_free_func(bb_merger_source_free);
    merger->pending = g_ptr_array_new();
    merger->heap = g_ptr_array_new();
    merger->complaints = g_ptr_array_new_with_free_func(g_free);
    merger->failed = g_byte_array_new();
    merger->counters = bb_counters_new();
    merger->notes = g_ptr_array_new_with_free_func(g_free);
    merger->witnesses = bb_witnesses_new();
    g_autoptr(GPtrArray) observers = bb_observers_name(paths, options->by_folder);
    for (guint i = 0; paths[i]; i++) {
        BbMergerSource *source = g_new0(BbMergerSource, 1);
        source->merger = merger;
        source->path = g_strdup(paths[i]);
        source->input = i;
        source->parts = 1;
        source->observer = bb_names_intern(names, observers->pdata[i]);
        source->least_ns = G_MAXINT64;
        source->start_ns = G_MININT64;
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
    g_ptr_array_unref(merger->parts);
    g_ptr_array_unref(merger->spills);
    g_ptr_array_unref(merger->pending);
    g_ptr_array_unref(merger->heap);
    g_ptr_array_unref(merger->complaints);
    g_byte_array_unref(merger->failed);
    bb_counters_free(merger->counters);
    g_ptr_array_unref(merger->notes);
    bb_witnesses_free(merger->witnesses);
    g_free(merger);
}

static void begin_run(BbMerger *merger)
{
    guint count = merger->sources->len;
    for (guint i = 0; i < count; i++) {
        BbMergerSource *source = merger->sources->pdata[i];
        if (merger->ran)
            bb_merger_source_close(source);
        source->parts = 1;
        source->from_ns = G_MAXINT64;
        source->to_ns = G_MININT64;
    }
    g_ptr_array_set_size(merger->parts, 0);
    g_ptr_array_set_size(merger->spills, 0);
    g_ptr_array_set_size(merger->pending, 0);
    g_ptr_array_set_size(merger->heap, 0);
    g_ptr_array_set_size(merger->complaints, 0);
    g_ptr_array_set_size(merger->complaints, (gint)count);
    g_byte_array_set_size(merger->failed, count);
    memset(merger->failed->data, 0, count);
    bb_witnesses_free(merger->witnesses);
    bb_counters_free(merger->counters);
    g_ptr_array_unref(merger->notes);
    merger->witnesses = bb_witnesses_new();
    merger->counters = bb_counters_new();
    merger->notes = g_ptr_array_new_with_free_func(g_free);
    merger->messages = merger->late = 0;
    merger->n_open_spills = merger->done = 0;
    merger->newest_ns = G_MININT64;
    merger->ran = true;
}

bool bb_merger_scan(BbMerger *merger, BbMergerSink sink, gpointer user, GError **error)
{
    begin_run(merger);
    for (guint i = 0; i < merger->sources->len; i++) {
        BbMergerSource *source = merger->sources->pdata[i];
        if (!bb_merger_source_open(source, 0))
            continue;
        do {
            if (!bb_merger_source_advance(source, error) ||
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
        const BbMergerSource *first = merger->heap->pdata[0];
        merger->messages++;
        merger->late += first->head->time_ns < merger->newest_ns;
        merger->newest_ns = MAX(merger->newest_ns, first->head->time_ns);
        if (!sink(first->head, first->head_input, user, error) ||
            !bb_merger_heap_next(merger->heap, error))
            return false;
    }
}

void bb_merger_prepare_by(BbMerger *merger, const BbMergerPreparer *preparer)
{
    merger->options.preparer = *preparer;
}

// ---- queries ------------------------------------------------------------------------------------

guint bb_merger_inputs(const BbMerger *merger)
{
    return merger->sources->len;
}

guint32 bb_merger_observer(const BbMerger *merger, guint input)
{
    return ((BbMergerSource *)merger->sources->pdata[input])->observer;
}

bool bb_merger_can_repeat(const BbMerger *merger)
{
    for (guint i = 0; i < merger->sources->len; i++)
        if (((BbMergerSource *)merger->sources->pdata[i])->once)
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
    bb_witnesses_tell(merger->witnesses, network);
}

const GPtrArray *bb_merger_notes(const BbMerger *merger)
{
    return merger->notes;
}

const BbCounters *bb_merger_counters(const BbMerger *merger)
{
    return merger->counters;
}
