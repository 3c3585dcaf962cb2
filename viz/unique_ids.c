// SPDX-License-Identifier: Apache-2.0
// In: calls whose ids repeat or are absent. Out: one text for each that no other has.
#include "viz/unique_ids.h"

#include "data/tally.h"
#include "viz/id_set.h"

struct BbUniqueIds {
    const BbNames *names;
    BbIdSet *taken;   // ids of the trace, and texts `id~k` that it might have as ids as well
    BbIdSet *again;   // those used twice: with convolution all of a trace of calls and returns
    BbTally uses;     // of ids that were used three times or more, by number and form
    guint64 n_absent; // texts `#1` to `#N` are given away
    BbId hash_stem;   // form of ids `#5` that the trace itself has; absent if there are none
    GString *text;    // scratch
};

static bool is_absent(BbId id)
{
    return id.form == BB_ID_ABSENT;
}

// The id whose text ends in a number, where the trace can hold it at all; else absent.
static BbId find_numbered(const BbNames *names, const char *stem, guint64 number)
{
    guint32 name = bb_names_find(names, stem);
    if (name == BB_NAME_NONE)
        return (BbId){.form = BB_ID_ABSENT};
    return (BbId){.form = BB_ID_STEM + name, .number = number};
}

BbUniqueIds *bb_unique_ids_new(const BbNames *names, guint64 n_absent)
{
    BbUniqueIds *ids = g_new0(BbUniqueIds, 1);
    ids->names = names;
    ids->n_absent = n_absent;
    ids->taken = bb_id_set_new();
    ids->again = bb_id_set_new();
    bb_tally_init(&ids->uses);
    ids->hash_stem = find_numbered(names, "#", 0);
    ids->text = g_string_new(NULL);
    return ids;
}

void bb_unique_ids_free(BbUniqueIds *ids)
{
    if (!ids)
        return;
    bb_id_set_free(ids->taken);
    bb_id_set_free(ids->again);
    bb_tally_clear(&ids->uses);
    g_string_free(ids->text, TRUE);
    g_free(ids);
}

// Whether id is the text `#N` of a call without id.
static bool is_reserved(const BbUniqueIds *ids, BbId id)
{
    return !is_absent(ids->hash_stem) && id.form == ids->hash_stem.form && id.number >= 1 &&
           id.number <= ids->n_absent;
}

// Takes `id~k` if nobody has that text.
static bool take_repeated(BbUniqueIds *ids, BbId id, guint64 k)
{
    g_string_truncate(ids->text, 0);
    bb_id_append(ids->text, ids->names, id);
    g_string_append_c(ids->text, '~');
    BbId repeated = find_numbered(ids->names, ids->text->str, k);
    return is_absent(repeated) || bb_id_set_add(ids->taken, repeated);
}

guint64 bb_unique_ids_use(BbUniqueIds *ids, BbId id)
{
    if (is_absent(id))
        return 1;
    if (bb_id_set_add(ids->taken, id) && !is_reserved(ids, id))
        return 1;
    if (bb_id_set_add(ids->again, id) && take_repeated(ids, id, 2))
        return 2;
    BbTallyKey key = {(guint32)id.number, (guint32)(id.number >> 32), id.form};
    guint64 *uses = bb_tally_at(&ids->uses, key); // after the second
    do
        ++*uses;
    while (!take_repeated(ids, id, *uses + 2));
    return *uses + 2;
}

void bb_unique_ids_append(const BbUniqueIds *ids, BbId id, guint64 use, GString *out)
{
    g_return_if_fail(use > 0);
    if (is_absent(id)) {
        g_string_append_printf(out, "#%" G_GUINT64_FORMAT, id.number);
        return;
    }
    bb_id_append(out, ids->names, id);
    if (use > 1)
        g_string_append_printf(out, "~%" G_GUINT64_FORMAT, use);
}
