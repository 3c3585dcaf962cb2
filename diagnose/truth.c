// SPDX-License-Identifier: Apache-2.0
// In: the call messages of a trace. Out: what they tell of a call, by who called whom when.
#include "diagnose/truth.h"

#include <string.h>

#define NONE G_MAXUINT32
#define SLOTS_FIRST 256u

typedef struct {
    gint64 time_ns; // at the end that saw it
    BbId id;
    guint32 caller, callee;
    bool at_receiver;
} Key;

typedef struct {
    Key key;
    BbTruthFact fact;
    guint32 next; // in its slot, or among the free ones
} Entry;

// Entries of a slot stand in the order of their pushes.
typedef struct {
    guint32 first, last;
} Slot;

struct BbTruth {
    GArray *entries; // of Entry
    guint32 free;    // first of those that may be used again
    guint32 waiting;
    Slot *slots;
    guint32 mask;
};

static Slot *make_slots(guint32 count)
{
    Slot *slots = g_new(Slot, count);
    memset(slots, 0xff, count * sizeof *slots);
    return slots;
}

BbTruth *bb_truth_new(void)
{
    BbTruth *truth = g_new0(BbTruth, 1);
    truth->entries = g_array_new(FALSE, FALSE, sizeof(Entry));
    truth->free = NONE;
    truth->mask = SLOTS_FIRST - 1;
    truth->slots = make_slots(SLOTS_FIRST);
    return truth;
}

void bb_truth_free(BbTruth *truth)
{
    if (!truth)
        return;
    g_array_unref(truth->entries);
    g_free(truth->slots);
    g_free(truth);
}

static guint64 mix(guint64 hash, guint64 value)
{
    hash = (hash ^ value) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 32);
}

static guint32 hash_of(const Key *key)
{
    guint64 hash = mix((guint64)key->time_ns, key->id.number);
    hash = mix(hash, (guint64)key->id.form << 1 | key->at_receiver);
    return (guint32)mix(hash, (guint64)key->caller << 32 | key->callee);
}

static bool same(const Key *a, const Key *b)
{
    return a->time_ns == b->time_ns && bb_id_equal(a->id, b->id) && a->caller == b->caller &&
           a->callee == b->callee && a->at_receiver == b->at_receiver;
}

static Entry *entry_at(const BbTruth *truth, guint32 index)
{
    return &g_array_index(truth->entries, Entry, index);
}

static void append(BbTruth *truth, Slot *slot, guint32 index)
{
    entry_at(truth, index)->next = NONE;
    if (slot->first == NONE)
        slot->first = index;
    else
        entry_at(truth, slot->last)->next = index;
    slot->last = index;
}

static void grow(BbTruth *truth)
{
    guint32 mask = 2 * truth->mask + 1;
    g_autofree Slot *old = truth->slots;
    truth->slots = make_slots(mask + 1);
    for (guint32 s = 0; s <= truth->mask; s++)
        for (guint32 i = old[s].first, next; i != NONE; i = next) {
            next = entry_at(truth, i)->next;
            append(truth, &truth->slots[hash_of(&entry_at(truth, i)->key) & mask], i);
        }
    truth->mask = mask;
}

static guint32 new_entry(BbTruth *truth)
{
    guint32 index = truth->free;
    if (index == NONE) {
        index = truth->entries->len;
        g_array_set_size(truth->entries, index + 1);
    } else {
        truth->free = entry_at(truth, index)->next;
    }
    return index;
}

void bb_truth_push(BbTruth *truth, const BbMessage *message)
{
    if (message->kind != BB_CALL)
        return;
    if (truth->waiting > truth->mask)
        grow(truth);
    guint32 index = new_entry(truth);
    Entry *entry = entry_at(truth, index);
    entry->key = (Key){message->time_ns, message->id, message->sender, message->receiver,
                       message->at_receiver};
    entry->fact = (BbTruthFact){message->path, message->parent};
    append(truth, &truth->slots[hash_of(&entry->key) & truth->mask], index);
    truth->waiting++;
}

// Takes the first entry with this key out. NONE if there is none.
static guint32 take_out(BbTruth *truth, const Key *key)
{
    Slot *slot = &truth->slots[hash_of(key) & truth->mask];
    guint32 before = NONE, index = slot->first;
    while (index != NONE && !same(&entry_at(truth, index)->key, key)) {
        before = index;
        index = entry_at(truth, index)->next;
    }
    if (index == NONE)
        return NONE;
    Entry *entry = entry_at(truth, index);
    if (before == NONE)
        slot->first = entry->next;
    else
        entry_at(truth, before)->next = entry->next;
    if (slot->last == index)
        slot->last = before;
    entry->next = truth->free;
    truth->free = index;
    truth->waiting--;
    return index;
}

static bool take_side(BbTruth *truth, const BbCall *call, bool at_receiver, BbTruthFact *fact)
{
    Key key = {at_receiver ? call->arrived_ns : call->call_ns, call->id, call->caller, call->callee,
               at_receiver};
    guint32 index = take_out(truth, &key);
    if (index == NONE)
        return false;
    *fact = entry_at(truth, index)->fact;
    return true;
}

// A call that was seen at both ends was pushed twice. The caller's word comes first.
bool bb_truth_take(BbTruth *truth, const BbCall *call, BbTruthFact *fact)
{
    BbTruthFact sent = {{0}, {0}}, received = {{0}, {0}};
    bool was_sent = take_side(truth, call, false, &sent);
    bool was_received = take_side(truth, call, true, &received);
    if (!was_sent && !was_received)
        return false;
    fact->path = bb_id_is_known(sent.path) ? sent.path : received.path;
    fact->parent = bb_id_is_known(sent.parent) ? sent.parent : received.parent;
    return true;
}

guint32 bb_truth_waiting(const BbTruth *truth)
{
    return truth->waiting;
}
