// SPDX-License-Identifier: Apache-2.0
// In: keys of calls. Out: what is under way with that key.
#include "nesting/openings.h"

#include "data/mix.h"

#include <string.h>

static gsize hash(const BbOpenings *openings, const BbOpeningKey *key)
{
    guint64 mixed = bb_mix(bb_mix(openings->seed, key->id.number), key->id.form);
    return (gsize)bb_mix(mixed, ((guint64)key->caller << 32) | key->callee);
}

static bool same(const BbOpeningKey *a, const BbOpeningKey *b)
{
    return a->caller == b->caller && a->callee == b->callee && bb_id_equal(a->id, b->id);
}

static BbOpening *slot_of(const BbOpenings *openings, const BbOpeningKey *key)
{
    gsize at = hash(openings, key) & openings->mask;
    while (!bb_opening_is_empty(&openings->slots[at]) && !same(&openings->slots[at].key, key))
        at = (at + 1) & openings->mask;
    return &openings->slots[at];
}

// BB_OPENING_NONE everywhere: what was in a slot before tells nothing.
static void set_free(BbOpening *slots, gsize n)
{
    memset(slots, 0xff, n * sizeof *slots);
}

static void allocate(BbOpenings *openings, gsize slots)
{
    openings->mask = slots - 1;
    openings->slots = g_new(BbOpening, slots);
    set_free(openings->slots, slots);
}

void bb_openings_init(BbOpenings *openings)
{
    openings->used = 0;
    openings->seed = bb_mix_seed();
    allocate(openings, 256);
}

void bb_openings_clear(BbOpenings *openings)
{
    g_clear_pointer(&openings->slots, g_free);
}

BbOpening *bb_openings_find(const BbOpenings *openings, const BbOpeningKey *key)
{
    BbOpening *slot = slot_of(openings, key);
    return bb_opening_is_empty(slot) ? NULL : slot;
}

static void grow(BbOpenings *openings)
{
    BbOpening *old = openings->slots;
    gsize old_slots = openings->mask + 1;
    allocate(openings, 2 * old_slots);
    for (gsize i = 0; i < old_slots; i++)
        if (!bb_opening_is_empty(&old[i]))
            *slot_of(openings, &old[i].key) = old[i];
    g_free(old);
}

BbOpening *bb_openings_add(BbOpenings *openings, const BbOpeningKey *key)
{
    BbOpening *slot = slot_of(openings, key);
    if (!bb_opening_is_empty(slot))
        return slot;
    if (2 * openings->used > openings->mask) {
        grow(openings);
        slot = slot_of(openings, key);
    }
    openings->used++;
    slot->key = *key;
    slot->answered = 0;
    return slot;
}

// Knuth, 6.4, algorithm R: entries behind the hole move up unless that would put them before the
// slot their hash asks for.
void bb_openings_drop_empty(BbOpenings *openings, BbOpening *entry)
{
    if (!bb_opening_is_empty(entry))
        return;
    openings->used--;
    gsize hole = (gsize)(entry - openings->slots), at = hole;
    for (;;) {
        at = (at + 1) & openings->mask;
        if (bb_opening_is_empty(&openings->slots[at]))
            break;
        gsize home = hash(openings, &openings->slots[at].key) & openings->mask;
        if (((at - home) & openings->mask) < ((at - hole) & openings->mask))
            continue;
        openings->slots[hole] = openings->slots[at];
        hole = at;
    }
    set_free(&openings->slots[hole], 1);
}
