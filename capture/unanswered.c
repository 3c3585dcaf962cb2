// SPDX-License-Identifier: Apache-2.0
// In: calls that are opened and answered. Out: which are open, in order, by handle and by key.
#include "capture/unanswered.h"

#include "data/mix.h"

#define NOWHERE G_MAXUINT32

// A list of entries by their places, in order.
typedef struct BbOpenBucket {
    guint32 oldest, youngest;
} BbOpenBucket;

// Half as many as there are places.
static guint32 n_buckets(const BbDialog *dialog)
{
    return dialog->open_capacity / 2;
}

guint bb_unanswered_count(const BbDialog *dialog)
{
    return dialog->n_open - dialog->n_over;
}

// ---- by key -----------------------------------------------------------------------------------

static BbOpenBucket *bucket_of(const BbDialog *dialog, BbDirection direction, guint64 key)
{
    guint64 hash = bb_mix(bb_mix(dialog->context->seed, key), direction);
    return &dialog->buckets[(hash >> 32) & (n_buckets(dialog) - 1)];
}

static guint32 place_of(const BbDialog *dialog, const BbOpenEntry *entry)
{
    return (guint32)(entry - dialog->entries);
}

static void link_entry(BbDialog *dialog, BbOpenEntry *entry)
{
    if (!dialog->buckets)
        return;
    BbOpenBucket *bucket = bucket_of(dialog, entry->request.direction, entry->open.key);
    guint32 place = place_of(dialog, entry);
    entry->older = bucket->youngest;
    entry->newer = NOWHERE;
    if (bucket->youngest == NOWHERE)
        bucket->oldest = place;
    else
        dialog->entries[bucket->youngest].newer = place;
    bucket->youngest = place;
}

static void unlink_entry(BbDialog *dialog, const BbOpenEntry *entry)
{
    if (!dialog->buckets)
        return;
    BbOpenBucket *bucket = bucket_of(dialog, entry->request.direction, entry->open.key);
    *(entry->older == NOWHERE ? &bucket->oldest : &dialog->entries[entry->older].newer) =
        entry->newer;
    *(entry->newer == NOWHERE ? &bucket->youngest : &dialog->entries[entry->newer].older) =
        entry->older;
}

static void link_all(BbDialog *dialog)
{
    if (dialog->open_capacity <= BB_DIALOG_KEPT_CALLS)
        return;
    dialog->buckets = g_renew(BbOpenBucket, dialog->buckets, n_buckets(dialog));
    memset(dialog->buckets, 0xff, n_buckets(dialog) * sizeof *dialog->buckets); // NOWHERE
    for (guint32 i = 0; i < dialog->n_open; i++)
        link_entry(dialog, &dialog->open[i]);
}

static BbOpenEntry *next_in_bucket(const BbDialog *dialog, const BbOpenEntry *entry)
{
    if (!dialog->buckets)
        return bb_unanswered_next(dialog, entry);
    return entry->newer == NOWHERE ? NULL : &dialog->entries[entry->newer];
}

// This one, or the next one of the same key and direction behind it.
static BbOpenEntry *same_key(const BbDialog *dialog, BbOpenEntry *entry, BbDirection direction,
                             guint64 key)
{
    while (entry && (entry->open.key != key || entry->request.direction != direction))
        entry = next_in_bucket(dialog, entry);
    return entry;
}

BbOpenEntry *bb_unanswered_first_of(const BbDialog *dialog, BbDirection direction, guint64 key)
{
    BbOpenEntry *first = bb_unanswered_first(dialog);
    if (first && dialog->buckets) {
        guint32 oldest = bucket_of(dialog, direction, key)->oldest;
        first = oldest == NOWHERE ? NULL : &dialog->entries[oldest];
    }
    return same_key(dialog, first, direction, key);
}

BbOpenEntry *bb_unanswered_next_of(const BbDialog *dialog, const BbOpenEntry *entry)
{
    BbOpenEntry *next = next_in_bucket(dialog, entry);
    return same_key(dialog, next, entry->request.direction, entry->open.key);
}

// ---- in order ---------------------------------------------------------------------------------

BbOpenEntry *bb_unanswered_first(const BbDialog *dialog)
{
    return dialog->n_open ? dialog->open : NULL;
}

BbOpenEntry *bb_unanswered_next(const BbDialog *dialog, const BbOpenEntry *entry)
{
    for (guint32 i = (guint32)(entry - dialog->open) + 1; i < dialog->n_open; i++)
        if (!dialog->open[i].over)
            return &dialog->open[i];
    return NULL;
}

// Of the first one with this handle or a higher one, over or not, in open; n_open: there is none.
static guint32 find_from(const BbDialog *dialog, guint64 call)
{
    guint32 low = 0, high = dialog->n_open;
    while (low < high) {
        guint32 middle = (low + high) / 2;
        if (dialog->open[middle].open.call < call)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

BbOpenEntry *bb_unanswered_from(const BbDialog *dialog, guint64 call)
{
    guint32 at = find_from(dialog, call);
    if (at == dialog->n_open)
        return NULL;
    return dialog->open[at].over ? bb_unanswered_next(dialog, &dialog->open[at])
                                 : &dialog->open[at];
}

BbOpenEntry *bb_unanswered_find(const BbDialog *dialog, guint64 call)
{
    guint32 at = find_from(dialog, call);
    BbOpenEntry *found = at < dialog->n_open ? &dialog->open[at] : NULL;
    return found && found->open.call == call && !found->over ? found : NULL;
}

// ---- room -------------------------------------------------------------------------------------

// All to the front, those that are over left out.
static void close_up(BbDialog *dialog)
{
    guint32 kept = 0;
    for (guint32 i = 0; i < dialog->n_open; i++)
        if (!dialog->open[i].over)
            dialog->entries[kept++] = dialog->open[i];
    dialog->open = dialog->entries;
    dialog->n_open = kept;
    dialog->n_over = 0;
}

// Makes a place behind the youngest entry. Where a quarter of the room is idle, that is used: so
// each entry is moved a few times at most.
static void make_room(BbDialog *dialog)
{
    guint32 before = dialog->entries ? (guint32)(dialog->open - dialog->entries) : 0;
    if (dialog->n_open + before < dialog->open_capacity)
        return;
    if (before + dialog->n_over < (dialog->open_capacity + 3) / 4 || !dialog->entries) {
        dialog->open_capacity = MAX(1, dialog->open_capacity * 2);
        dialog->entries = g_renew(BbOpenEntry, dialog->entries, dialog->open_capacity);
        dialog->open = dialog->entries + before;
    }
    close_up(dialog);
    link_all(dialog);
}

BbOpenEntry *bb_unanswered_add(BbDialog *dialog, const BbOpenEntry *entry)
{
    make_room(dialog);
    BbOpenEntry *added = &dialog->open[dialog->n_open++];
    *added = *entry;
    link_entry(dialog, added);
    dialog->n_in_order[added->request.direction] += bb_dialog_in_order(added);
    dialog->n_reused += added->use == BB_KEY_REUSED;
    return added;
}

void bb_unanswered_remove(BbDialog *dialog, BbOpenEntry *entry)
{
    unlink_entry(dialog, entry);
    dialog->n_in_order[entry->request.direction] -= bb_dialog_in_order(entry);
    dialog->n_reused -= entry->use == BB_KEY_REUSED;
    entry->over = true;
    dialog->n_over++;
    for (; dialog->n_open && dialog->open[0].over; dialog->open++, dialog->n_open--)
        dialog->n_over--;
    for (; dialog->n_open && dialog->open[dialog->n_open - 1].over; dialog->n_open--)
        dialog->n_over--;
    if (!dialog->n_open && dialog->open_capacity > BB_DIALOG_KEPT_CALLS)
        bb_unanswered_free(dialog);
}

void bb_unanswered_free(BbDialog *dialog)
{
    g_clear_pointer(&dialog->entries, g_free);
    g_clear_pointer(&dialog->buckets, g_free);
    dialog->open = NULL;
    dialog->n_open = dialog->n_over = dialog->open_capacity = 0;
}

guint32 bb_unanswered_held(const BbDialog *dialog)
{
    if (dialog->open_capacity <= BB_DIALOG_FEW_CALLS)
        return 0;
    gsize entries = dialog->open_capacity * sizeof *dialog->entries;
    gsize buckets = dialog->buckets ? n_buckets(dialog) * sizeof *dialog->buckets : 0;
    return (guint32)(entries + buckets + dialog->n_replies * sizeof *dialog->entries->reply);
}
