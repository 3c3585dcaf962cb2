// SPDX-License-Identifier: Apache-2.0
// In: path instances. Out: sums of all of them, and records of the slowest of each group.
#include "diagnose/tail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/tail_parts.h"

static void free_group(gpointer group)
{
    g_ptr_array_unref(((BbTailGroup *)group)->slowest);
    g_free(group);
}

BbTail *bb_tail_new(const BbTailOptions *options, const BbNames *names)
{
    BbTail *tail = g_new0(BbTail, 1);
    tail->options = *options;
    tail->options.kept = options->kept ? options->kept : BB_TAIL_KEPT;
    tail->options.contexts = options->contexts ? options->contexts : BB_TAIL_CONTEXTS;
    tail->options.entries = options->entries ? options->entries : BB_TAIL_ENTRIES;
    tail->names = names;
    tail->contexts = bb_contexts_new();
    tail->requests = bb_requests_new(&(BbRequestsOptions){.labels = options->labels,
                                                          .last_byte = options->last_byte,
                                                          .any_client = options->any_client},
                                     tail->contexts, names);
    tail->sums = g_array_new(FALSE, TRUE, sizeof(BbRequestSums));
    tail->groups = g_ptr_array_new_with_free_func(free_group);
    tail->patterns = g_array_new(FALSE, TRUE, sizeof(guint64));
    tail->ends = g_array_new(FALSE, FALSE, sizeof(gint64));
    bb_tally_init(&tail->group_index);
    return tail;
}

void bb_tail_free(BbTail *tail)
{
    if (!tail)
        return;
    bb_requests_free(tail->requests);
    bb_contexts_free(tail->contexts);
    g_array_unref(tail->sums);
    g_ptr_array_unref(tail->groups);
    g_array_unref(tail->patterns);
    g_array_unref(tail->ends);
    bb_tally_clear(&tail->group_index);
    g_free(tail);
}

// ---- requests under way ------------------------------------------------------------------------

static void sink_end(GArray *ends, guint at)
{
    gint64 *end = &g_array_index(ends, gint64, 0);
    for (guint kid = 2 * at + 1; kid < ends->len; at = kid, kid = 2 * at + 1) {
        if (kid + 1 < ends->len && end[kid + 1] < end[kid])
            kid++;
        if (end[at] <= end[kid])
            return;
        gint64 moved = end[at];
        end[at] = end[kid];
        end[kid] = moved;
    }
}

static void push_end(GArray *ends, gint64 end_ns)
{
    g_array_append_val(ends, end_ns);
    gint64 *end = &g_array_index(ends, gint64, 0);
    for (guint at = ends->len - 1; at > 0 && end[at] < end[(at - 1) / 2]; at = (at - 1) / 2) {
        gint64 moved = end[at];
        end[at] = end[(at - 1) / 2];
        end[(at - 1) / 2] = moved;
    }
}

// How many earlier requests are still under way when this one begins, on the clients' clock.
static guint32 count_open(BbTail *tail, const BbCall *root)
{
    GArray *ends = tail->ends;
    while (ends->len > 0 && g_array_index(ends, gint64, 0) <= root->call_ns) {
        g_array_index(ends, gint64, 0) = g_array_index(ends, gint64, ends->len - 1);
        g_array_set_size(ends, ends->len - 1);
        sink_end(ends, 0);
    }
    guint32 open = ends->len;
    if (open < BB_TAIL_OPEN)
        push_end(ends, bb_call_back(root, tail->options.last_byte));
    return open;
}

// ---- the slowest -------------------------------------------------------------------------------

guint64 bb_tail_slow(const BbTail *tail, guint64 taken)
{
    double slow = ceil((1 - tail->options.quantile) * (double)taken * (1 - 1e-12));
    return MAX((guint64)slow, BB_TAIL_LEAST);
}

// Any mixing will do that is the same everywhere (the end of MurmurHash3, by A. Appleby).
static guint zeros_of(guint64 number)
{
    number ^= number >> 33;
    number *= G_GUINT64_CONSTANT(0xff51afd7ed558ccd);
    number ^= number >> 33;
    number *= G_GUINT64_CONSTANT(0xc4ceb9fe1a85ec53);
    number ^= number >> 33;
    return number ? (guint)__builtin_ctzll(number) : 64;
}

static bool is_slower(const BbTailRecord *a, const BbTailRecord *b)
{
    return a->latency_ns != b->latency_ns ? a->latency_ns > b->latency_ns : a->number < b->number;
}

static void swap_records(GPtrArray *heap, guint a, guint b)
{
    gpointer moved = heap->pdata[a];
    heap->pdata[a] = heap->pdata[b];
    heap->pdata[b] = moved;
}

static void sink_record(GPtrArray *heap, guint at)
{
    for (guint kid = 2 * at + 1; kid < heap->len; at = kid, kid = 2 * at + 1) {
        if (kid + 1 < heap->len && is_slower(heap->pdata[kid], heap->pdata[kid + 1]))
            kid++;
        if (!is_slower(heap->pdata[at], heap->pdata[kid]))
            return;
        swap_records(heap, at, kid);
    }
}

static void push_record(GPtrArray *heap, BbTailRecord *record)
{
    g_ptr_array_add(heap, record);
    for (guint at = heap->len - 1; at > 0 && is_slower(heap->pdata[(at - 1) / 2], heap->pdata[at]);
         at = (at - 1) / 2)
        swap_records(heap, at, (at - 1) / 2);
}

// From now on only half as many instances are taken.
static void thin_out(BbTail *tail, BbTailGroup *group)
{
    GPtrArray *heap = group->slowest;
    group->taken -= group->by_zeros[group->level++];
    for (guint i = heap->len; i-- > 0;) {
        const BbTailRecord *record = heap->pdata[i];
        if (zeros_of(record->number) >= group->level)
            continue;
        tail->n_entries -= record->n_entries;
        g_ptr_array_remove_index_fast(heap, i);
    }
    for (guint i = heap->len / 2; i-- > 0;)
        sink_record(heap, i);
}

static BbTailGroup *group_of(BbTail *tail, guint32 context)
{
    guint64 *number = bb_tally_at(&tail->group_index, (BbTallyKey){context, 0, 0});
    if (*number == 0) {
        BbTailGroup *group = g_new0(BbTailGroup, 1);
        group->context = context;
        group->slowest = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(tail->groups, group);
        *number = tail->groups->len;
    }
    return g_ptr_array_index(tail->groups, *number - 1);
}

static BbTailRecord *make_record(BbTail *tail, const BbTailRecord *head,
                                 const BbRequestEntry *entries)
{
    gsize size = head->n_entries * sizeof *entries;
    BbTailRecord *record = g_malloc(sizeof *record + size);
    *record = *head;
    tail->n_entries += record->n_entries;
    memcpy(record->entries, entries, size);
    return record;
}

// Keeps an instance if it is among the slowest so far.
static void offer(BbTail *tail, BbTailGroup *group, const BbTailRecord *head,
                  const BbRequestEntry *entries)
{
    GPtrArray *heap = group->slowest;
    guint zeros = zeros_of(head->number);
    group->by_zeros[zeros]++;
    if (zeros < group->level)
        return;
    group->taken++;
    bool full = heap->len >= tail->options.kept;
    if (full && !is_slower(head, heap->pdata[0]))
        return;
    if (full) {
        tail->n_entries -= ((BbTailRecord *)heap->pdata[0])->n_entries;
        g_free(heap->pdata[0]);
        heap->pdata[0] = make_record(tail, head, entries);
        sink_record(heap, 0);
    } else {
        push_record(heap, make_record(tail, head, entries));
    }
    while (bb_tail_slow(tail, group->taken) > MAX(tail->options.kept / 2, BB_TAIL_LEAST) &&
           group->level < 64)
        thin_out(tail, group);
}

// Of equals the first one stays before. Before the instance is counted.
static void name_slowest(BbTailGroup *group, const BbTailRecord *head)
{
    BbTailInstance *named = group->named;
    guint at = (guint)MIN(group->instances, BB_TAIL_NAMED);
    for (; at > 0 && head->latency_ns > named[at - 1].latency_ns; at--)
        if (at < BB_TAIL_NAMED)
            named[at] = named[at - 1];
    if (at < BB_TAIL_NAMED)
        named[at] = (BbTailInstance){head->number, head->latency_ns};
}

static void add_instance(BbTail *tail, const BbPaths *paths, const BbInstance *instance)
{
    const BbCall *root = &paths->calls[paths->order[instance->first]];
    const BbRequestEntry *entries;
    guint n_entries;
    BbTailRecord head = {.number = bb_instance_number(paths, instance),
                         .latency_ns =
                             bb_requests_sum(tail->requests, paths, instance, &entries, &n_entries),
                         .start_ns = root->call_ns,
                         .pattern = instance->pattern,
                         .open = count_open(tail, root),
                         .n_entries = n_entries};
    if (bb_contexts_count(tail->contexts) > tail->sums->len)
        g_array_set_size(tail->sums, bb_contexts_count(tail->contexts));
    for (guint i = 0; i < n_entries; i++)
        bb_request_sums_add(&g_array_index(tail->sums, BbRequestSums, entries[i].context),
                            &entries[i].sums);
    if (head.pattern != BB_PATTERN_NONE) {
        if (head.pattern >= tail->patterns->len)
            g_array_set_size(tail->patterns, head.pattern + 1);
        g_array_index(tail->patterns, guint64, head.pattern)++;
    }
    BbTailGroup *group = group_of(tail, entries[0].context);
    name_slowest(group, &head);
    head.place = group->instances++;
    group->latency_ns += (double)head.latency_ns;
    group->open += head.open;
    offer(tail, group, &head, entries);
}

// ---- the limit ---------------------------------------------------------------------------------

static int by_instances(const void *a, const void *b)
{
    const BbTailGroup *x = *(BbTailGroup *const *)a, *y = *(BbTailGroup *const *)b;
    if (x->instances != y->instances)
        return x->instances > y->instances ? -1 : 1;
    return (x->context > y->context) - (x->context < y->context);
}

BbGroups bb_tail_by_first_call(const BbTail *tail)
{
    guint32 count = bb_contexts_count(tail->contexts);
    g_autofree guint32 *first = g_new(guint32, (gsize)count + 1);
    for (guint32 i = 0; i < count; i++) {
        guint32 above = bb_contexts_at(tail->contexts, i)->above;
        first[i] = above == BB_CONTEXT_NONE          ? BB_CONTEXT_NONE
                   : first[above] == BB_CONTEXT_NONE ? i
                                                     : first[above];
    }
    return bb_groups_of(first, count, count);
}

static void renumber(BbTail *tail, const guint32 *number, guint32 count)
{
    for (guint32 i = 0; i < count; i++)
        if (number[i] != BB_CONTEXT_NONE && i < tail->sums->len)
            g_array_index(tail->sums, BbRequestSums, number[i]) =
                g_array_index(tail->sums, BbRequestSums, i);
    g_array_set_size(tail->sums, MIN(bb_contexts_count(tail->contexts), tail->sums->len));
    bb_requests_renumbered(tail->requests);
    bb_tally_reset(&tail->group_index);
    for (guint k = 0; k < tail->groups->len; k++) {
        BbTailGroup *group = g_ptr_array_index(tail->groups, k);
        group->context = number[group->context];
        *bb_tally_at(&tail->group_index, (BbTallyKey){group->context, 0, 0}) = k + 1;
        for (guint r = 0; r < group->slowest->len; r++) {
            BbTailRecord *record = g_ptr_array_index(group->slowest, r);
            for (guint32 i = 0; i < record->n_entries; i++)
                record->entries[i].context = number[record->entries[i].context];
        }
    }
}

static void count_forgotten(BbTail *tail, const BbTailGroup *group)
{
    tail->forgotten++;
    tail->forgotten_instances += group->instances;
    for (guint i = 0; i < group->slowest->len; i++)
        tail->n_entries -= ((BbTailRecord *)g_ptr_array_index(group->slowest, i))->n_entries;
}

static void forget(BbTail *tail)
{
    guint32 count = bb_contexts_count(tail->contexts), left = tail->options.contexts / 2;
    g_auto(BbGroups) under = bb_tail_by_first_call(tail);
    g_autofree bool *keep = g_new0(bool, count);
    qsort(tail->groups->pdata, tail->groups->len, sizeof(gpointer), by_instances);
    guint k = 0;
    for (; k < tail->groups->len; k++) {
        guint32 context = ((BbTailGroup *)g_ptr_array_index(tail->groups, k))->context;
        guint32 size = bb_groups_size(&under, context);
        if (size > left)
            break;
        left -= size;
        for (guint32 i = 0; i < size; i++)
            keep[bb_groups_at(&under, context)[i]] = true;
    }
    for (guint i = k; i < tail->groups->len; i++)
        count_forgotten(tail, g_ptr_array_index(tail->groups, i));
    g_ptr_array_set_size(tail->groups, (gint)k);
    g_autofree guint32 *number = bb_contexts_keep(tail->contexts, keep);
    renumber(tail, number, count);
}

static void thin_out_all(BbTail *tail)
{
    for (guint i = 0; i < tail->groups->len; i++) {
        BbTailGroup *group = g_ptr_array_index(tail->groups, i);
        if (group->level < 64)
            thin_out(tail, group);
    }
}

void bb_tail_add(BbTail *tail, const BbPaths *paths)
{
    for (guint32 i = 0; i < paths->n_instances; i++) {
        const BbInstance *instance = &paths->instances[i];
        if (!bb_call_is_returned(&paths->calls[paths->order[instance->first]]))
            continue;
        add_instance(tail, paths, instance);
        if (bb_contexts_count(tail->contexts) > tail->options.contexts)
            forget(tail);
        if (tail->n_entries > tail->options.entries)
            thin_out_all(tail);
    }
}
