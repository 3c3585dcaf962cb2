// SPDX-License-Identifier: Apache-2.0
// Identifiers of calls that are unique within one output: the trace's own, the second and later use
// of one as `id~2`, `id~3`, ...; `#N` where the trace has none, N counting such calls in order of
// time. Memory: that of two BbIdSets, one of the ids that are used twice, and 24 to 48 bytes for
// each id that is used three times.
#pragma once

#include "data/message.h"

typedef struct BbUniqueIds BbUniqueIds;

// The id of a call that has none, as it goes into this value: the number-th of them, from 1.
static inline BbId bb_unique_ids_absent(guint64 number)
{
    return (BbId){.number = number, .form = BB_ID_ABSENT};
}

// names is lent. n_absent: calls without id there are in all.
BbUniqueIds *bb_unique_ids_new(const BbNames *names, guint64 n_absent);
void bb_unique_ids_free(BbUniqueIds *ids);

// Uses an id once more, in the order of the output. Returns which use of it that is: 1 for the id
// as it is, k for `id~k`.
guint64 bb_unique_ids_use(BbUniqueIds *ids, BbId id);

// Appends the identifier of that use of an id.
void bb_unique_ids_append(const BbUniqueIds *ids, BbId id, guint64 use, GString *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbUniqueIds, bb_unique_ids_free)
