// SPDX-License-Identifier: Apache-2.0
// In: instances of patterns with their latencies. Out: a few that stand for each pattern.
#include "data/exemplars.h"

typedef struct {
    BbExemplar fastest, slowest;
    guint64 seen;
    GArray *sample; // of BbExemplar
} Entry;

struct BbExemplars {
    GPtrArray *entries; // of Entry, by pattern; NULL where none was seen
};

static void entry_free(gpointer data)
{
    Entry *entry = data;
    if (!entry)
        return;
    g_array_unref(entry->sample);
    g_free(entry);
}

BbExemplars *bb_exemplars_new(void)
{
    BbExemplars *exemplars = g_new(BbExemplars, 1);
    exemplars->entries = g_ptr_array_new_with_free_func(entry_free);
    return exemplars;
}

void bb_exemplars_free(BbExemplars *exemplars)
{
    if (!exemplars)
        return;
    g_ptr_array_unref(exemplars->entries);
    g_free(exemplars);
}

static Entry *entry_at(const BbExemplars *exemplars, guint32 pattern)
{
    return pattern < exemplars->entries->len ? g_ptr_array_index(exemplars->entries, pattern)
                                             : NULL;
}

static Entry *entry_make(BbExemplars *exemplars, guint32 pattern, BbExemplar first)
{
    if (pattern >= exemplars->entries->len)
        g_ptr_array_set_size(exemplars->entries, (gint)pattern + 1);
    Entry *entry = g_new(Entry, 1);
    *entry = (Entry){first, first, 0, g_array_new(FALSE, FALSE, sizeof(BbExemplar))};
    g_ptr_array_index(exemplars->entries, pattern) = entry;
    return entry;
}

// The same on every run (mixing after Steele, Lea and Flood: Fast splittable pseudorandom number
// generators, OOPSLA 2014).
static guint64 scatter(guint64 x)
{
    x = (x ^ x >> 30) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
    return x ^ x >> 31;
}

// Vitter: Random sampling with a reservoir (algorithm R), ACM TOMS 1985.
static void sample(Entry *entry, BbExemplar instance)
{
    entry->seen++;
    if (entry->sample->len < BB_EXEMPLARS_SAMPLE) {
        g_array_append_val(entry->sample, instance);
        return;
    }
    guint64 at = scatter(instance.number + entry->seen * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)) %
                 entry->seen;
    if (at < BB_EXEMPLARS_SAMPLE)
        g_array_index(entry->sample, BbExemplar, at) = instance;
}

void bb_exemplars_note(BbExemplars *exemplars, guint32 pattern, BbExemplar instance)
{
    g_return_if_fail(pattern <= G_MAXINT32 - 1);
    Entry *entry = entry_at(exemplars, pattern);
    if (!entry)
        entry = entry_make(exemplars, pattern, instance);
    if (instance.latency_ns < entry->fastest.latency_ns)
        entry->fastest = instance;
    if (instance.latency_ns > entry->slowest.latency_ns)
        entry->slowest = instance;
    sample(entry, instance);
}

bool bb_exemplars_extremes(const BbExemplars *exemplars, guint32 pattern, BbExemplar *fastest,
                           BbExemplar *slowest)
{
    const Entry *entry = entry_at(exemplars, pattern);
    if (!entry)
        return false;
    *fastest = entry->fastest;
    *slowest = entry->slowest;
    return true;
}

static int by_latency(gconstpointer a, gconstpointer b)
{
    const BbExemplar *x = a, *y = b;
    if (x->latency_ns != y->latency_ns)
        return x->latency_ns < y->latency_ns ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

bool bb_exemplars_median(const BbExemplars *exemplars, guint32 pattern, BbExemplar *median,
                         bool *exact)
{
    const Entry *entry = entry_at(exemplars, pattern);
    if (!entry)
        return false;
    g_autoptr(GArray) sorted = g_array_copy(entry->sample);
    g_array_sort(sorted, by_latency);
    *median = g_array_index(sorted, BbExemplar, (sorted->len - 1) / 2);
    *exact = entry->seen <= BB_EXEMPLARS_SAMPLE;
    return true;
}

guint32 bb_exemplars_patterns(const BbExemplars *exemplars)
{
    return exemplars->entries->len;
}

void bb_exemplars_drop(BbExemplars *exemplars, guint32 pattern)
{
    Entry *entry = entry_at(exemplars, pattern);
    if (!entry)
        return;
    g_ptr_array_index(exemplars->entries, pattern) = NULL;
    entry_free(entry);
}
