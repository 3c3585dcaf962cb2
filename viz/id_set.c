// SPDX-License-Identifier: Apache-2.0
// In: ids. Out: whether they were there already.
#include "viz/id_set.h"

#include <string.h>

// Ids of one form whose numbers differ in the last 6 bits only.
typedef struct {
    guint64 block; // number / 64
    guint64 bits;  // by number % 64; 0: a free slot
    guint32 form;
} Entry;

// Blocks [from, to) of a form, all of whose ids are in the set.
typedef struct {
    guint64 from, to;
    guint32 form;
} Range;

struct BbIdSet {
    Entry *entries; // open addressing, linear probing
    gsize mask, used;
    Range ranges[BB_ID_SET_RANGES]; // in order of form, then from; they do not touch
    guint n_ranges;
};

BbIdSet *bb_id_set_new(void)
{
    BbIdSet *set = g_new0(BbIdSet, 1);
    set->mask = 255;
    set->entries = g_new0(Entry, set->mask + 1);
    return set;
}

void bb_id_set_free(BbIdSet *set)
{
    if (!set)
        return;
    g_free(set->entries);
    g_free(set);
}

gsize bb_id_set_entries(const BbIdSet *set)
{
    return set->used;
}

// Mixing after Steele, Lea and Flood: Fast splittable pseudorandom number generators, OOPSLA 2014.
static gsize home_of(const BbIdSet *set, guint64 block, guint32 form)
{
    guint64 x = block + form * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
    return (gsize)(x ^ x >> 31) & set->mask;
}

// The entry of the block, or the free slot where it belongs.
static Entry *find_entry(const BbIdSet *set, guint64 block, guint32 form)
{
    gsize at = home_of(set, block, form);
    while (set->entries[at].bits != 0 &&
           (set->entries[at].block != block || set->entries[at].form != form))
        at = (at + 1) & set->mask;
    return &set->entries[at];
}

static void grow(BbIdSet *set)
{
    Entry *old = set->entries;
    gsize count = set->mask + 1;
    set->mask = 2 * set->mask + 1;
    set->entries = g_new0(Entry, set->mask + 1);
    for (gsize i = 0; i < count; i++)
        if (old[i].bits != 0)
            *find_entry(set, old[i].block, old[i].form) = old[i];
    g_free(old);
}

// Knuth, 6.4, algorithm R: entries behind the hole move up unless that would put them before the
// slot their hash asks for.
static void remove_entry(BbIdSet *set, Entry *entry)
{
    gsize hole = (gsize)(entry - set->entries), at = hole;
    set->used--;
    for (;;) {
        at = (at + 1) & set->mask;
        const Entry *other = &set->entries[at];
        if (other->bits == 0)
            break;
        gsize home = home_of(set, other->block, other->form);
        if (((at - home) & set->mask) < ((at - hole) & set->mask))
            continue;
        set->entries[hole] = *other;
        hole = at;
    }
    set->entries[hole].bits = 0;
}

// The first range that ends after the block.
static guint find_range(const BbIdSet *set, guint64 block, guint32 form)
{
    guint low = 0, high = set->n_ranges;
    while (low < high) {
        guint middle = (low + high) / 2;
        const Range *range = &set->ranges[middle];
        if (range->form < form || (range->form == form && range->to <= block))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool in_range(const BbIdSet *set, guint64 block, guint32 form)
{
    guint at = find_range(set, block, form);
    return at < set->n_ranges && set->ranges[at].form == form && set->ranges[at].from <= block;
}

static void remove_range(BbIdSet *set, guint at)
{
    set->n_ranges--;
    memmove(&set->ranges[at], &set->ranges[at + 1], (set->n_ranges - at) * sizeof(Range));
}

// Makes a full block part of a range. Returns false when there is no room for a new one.
static bool put_into_range(BbIdSet *set, guint64 block, guint32 form)
{
    guint at = find_range(set, block, form);
    Range *after = at < set->n_ranges ? &set->ranges[at] : NULL;
    Range *before = at > 0 ? &set->ranges[at - 1] : NULL;
    bool joins_after = after && after->form == form && after->from == block + 1;
    if (before && before->form == form && before->to == block) {
        before->to = joins_after ? after->to : block + 1;
        if (joins_after)
            remove_range(set, at);
        return true;
    }
    if (joins_after) {
        after->from = block;
        return true;
    }
    if (set->n_ranges == BB_ID_SET_RANGES)
        return false;
    memmove(&set->ranges[at + 1], &set->ranges[at], (set->n_ranges - at) * sizeof(Range));
    set->ranges[at] = (Range){block, block + 1, form};
    set->n_ranges++;
    return true;
}

bool bb_id_set_has(const BbIdSet *set, BbId id)
{
    guint64 block = id.number / 64, bit = G_GUINT64_CONSTANT(1) << id.number % 64;
    return (find_entry(set, block, id.form)->bits & bit) != 0 || in_range(set, block, id.form);
}

bool bb_id_set_add(BbIdSet *set, BbId id)
{
    guint64 block = id.number / 64, bit = G_GUINT64_CONSTANT(1) << id.number % 64;
    Entry *entry = find_entry(set, block, id.form);
    if (entry->bits == 0) {
        if (in_range(set, block, id.form))
            return false;
        if (4 * set->used > 3 * set->mask) {
            grow(set);
            entry = find_entry(set, block, id.form);
        }
        *entry = (Entry){block, 0, id.form};
        set->used++;
    }
    if ((entry->bits & bit) != 0)
        return false;
    entry->bits |= bit;
    if (entry->bits == G_MAXUINT64 && put_into_range(set, block, id.form))
        remove_entry(set, entry);
    return true;
}
