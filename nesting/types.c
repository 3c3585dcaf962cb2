// SPDX-License-Identifier: Apache-2.0
// In: what tells the calls of a site apart. Out: the number of each one's kind.
#include "nesting/types.h"

#include <stdlib.h>

#include "nesting/site.h"

static int by_number(const void *a, const void *b)
{
    const BbTallyEntry *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    if (x->key.a != y->key.a)
        return x->key.a < y->key.a ? -1 : 1;
    if (x->key.b != y->key.b)
        return x->key.b < y->key.b ? -1 : 1;
    return (x->key.c > y->key.c) - (x->key.c < y->key.c);
}

guint bb_types_number(const BbTallyKey *keys, guint32 n, guint16 *number)
{
    BbTally tally;
    bb_tally_init(&tally);
    for (guint32 i = 0; i < n; i++)
        ++*bb_tally_at(&tally, keys[i]);
    gsize count;
    g_autofree BbTallyEntry *kinds = bb_tally_entries(&tally, &count);
    qsort(kinds, count, sizeof *kinds, by_number);
    for (gsize k = 0; k < count; k++)
        *bb_tally_at(&tally, kinds[k].key) = MIN(k, BB_SITE_TYPES - 1);
    for (guint32 i = 0; i < n; i++)
        number[i] = (guint16)bb_tally_get(&tally, keys[i]);
    bb_tally_clear(&tally);
    return (guint)MIN(count, BB_SITE_TYPES);
}
