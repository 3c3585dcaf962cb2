// SPDX-License-Identifier: Apache-2.0
// In: calls whose ids repeat or are absent. Out: one text for each that no other has.
#include "viz/call_ids.h"

#include <string.h>

#define LINE 8 // slots in a cache line

// An entry of the table of texts in use: open addressing, linear probing.
typedef struct Slot {
    guint32 owner; // + 1: a call, or beyond the calls one of `given`; 0 = free
    guint32 uses;
} Slot;

struct BbCallIds {
    const BbPaths *paths;
    const BbNames *names;
    guint32 *number; // by call: N of `#N`, k of `id~k`, 1 for the id as it is; 0 = not assigned
    guint32 n_absent;
    BbId hash_stem; // form of ids `#5` that the trace itself has; absent if there are none
    Slot *slots;    // twice as many as there can be entries
    guint64 n_slots;
    GArray *given; // BbId of texts `id~k` that the trace might have as well
    GString *text; // scratch
};

static bool is_absent(BbId id)
{
    return id.form == BB_ID_ABSENT || id.form == BB_ID_DASH;
}

// The id whose text ends in a number, where the trace can hold it at all; else absent.
static BbId find_numbered(const BbNames *names, const char *stem, guint64 number)
{
    guint32 name = bb_names_find(names, stem);
    if (name == BB_NAME_NONE)
        return (BbId){.form = BB_ID_ABSENT};
    return (BbId){.form = BB_ID_STEM + name, .number = number};
}

BbCallIds *bb_call_ids_new(const BbPaths *paths, const BbNames *names)
{
    BbCallIds *ids = g_new0(BbCallIds, 1);
    ids->paths = paths;
    ids->names = names;
    ids->number = g_new0(guint32, paths->n_calls);
    for (guint32 i = 0; i < paths->n_calls; i++)
        if (is_absent(paths->calls[i].id))
            ids->number[i] = ++ids->n_absent;
    ids->hash_stem = find_numbered(names, "#", 0);
    ids->n_slots = ((guint64)paths->n_calls - ids->n_absent) / LINE * 2 * LINE + 2 * LINE;
    ids->slots = g_new0(Slot, ids->n_slots);
    ids->given = g_array_new(FALSE, FALSE, sizeof(BbId));
    ids->text = g_string_new(NULL);
    return ids;
}

void bb_call_ids_free(BbCallIds *ids)
{
    if (!ids)
        return;
    g_free(ids->number);
    g_free(ids->slots);
    g_array_unref(ids->given);
    g_string_free(ids->text, TRUE);
    g_free(ids);
}

// Where the search for id begins: any run of LINE slots, and in there by the last bits, so that ids
// that count up meet the same cache line (mixing after Steele, Lea and Flood: Fast splittable
// pseudorandom number generators, OOPSLA 2014).
static guint64 first_slot(const BbCallIds *ids, BbId id)
{
    guint64 x = id.number / LINE + id.form * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
    x ^= x >> 31;
    return ((x >> 32) * (ids->n_slots / LINE) >> 32) * LINE + id.number % LINE;
}

static BbId owner_id(const BbCallIds *ids, guint32 owner)
{
    guint32 index = owner - 1;
    return index < ids->paths->n_calls
               ? ids->paths->calls[index].id
               : g_array_index(ids->given, BbId, index - ids->paths->n_calls);
}

// The entry of id, or the free slot where it belongs.
static Slot *find_slot(BbCallIds *ids, BbId id)
{
    guint64 at = first_slot(ids, id);
    while (ids->slots[at].owner != 0 && !bb_id_equal(owner_id(ids, ids->slots[at].owner), id))
        at = at + 1 < ids->n_slots ? at + 1 : 0;
    return &ids->slots[at];
}

// Whether id is the text `#N` of a call without id.
static bool is_reserved(const BbCallIds *ids, BbId id)
{
    return is_absent(ids->hash_stem) == false && id.form == ids->hash_stem.form && id.number >= 1 &&
           id.number <= ids->n_absent;
}

// Takes `id~k` if nobody has that text.
static bool take_repeated(BbCallIds *ids, BbId id, guint32 k)
{
    g_string_truncate(ids->text, 0);
    bb_id_append(ids->text, ids->names, id);
    g_string_append_c(ids->text, '~');
    BbId repeated = find_numbered(ids->names, ids->text->str, k);
    if (is_absent(repeated))
        return true;
    Slot *slot = find_slot(ids, repeated);
    if (slot->owner != 0)
        return false;
    g_array_append_val(ids->given, repeated);
    *slot = (Slot){.owner = ids->paths->n_calls + ids->given->len, .uses = 1};
    return true;
}

void bb_call_ids_assign(BbCallIds *ids, guint32 call)
{
    BbId id = ids->paths->calls[call].id;
    if (is_absent(id))
        return;
    Slot *slot = find_slot(ids, id);
    if (slot->owner == 0)
        *slot = (Slot){.owner = call + 1, .uses = is_reserved(ids, id) ? 1 : 0};
    do
        slot->uses++;
    while (slot->uses > 1 && !take_repeated(ids, id, slot->uses));
    ids->number[call] = slot->uses;
}

void bb_call_ids_append(const BbCallIds *ids, guint32 call, GString *out)
{
    BbId id = ids->paths->calls[call].id;
    g_return_if_fail(ids->number[call] > 0);
    if (is_absent(id)) {
        g_string_append_printf(out, "#%u", ids->number[call]);
        return;
    }
    bb_id_append(out, ids->names, id);
    if (ids->number[call] > 1)
        g_string_append_printf(out, "~%u", ids->number[call]);
}
