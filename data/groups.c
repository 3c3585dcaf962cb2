// SPDX-License-Identifier: Apache-2.0
// In: sizes of groups. Out: where each begins, and room for all.
#include "data/groups.h"

#include "data/large.h"

BbGroups bb_groups_begin(guint32 n)
{
    return (BbGroups){n, bb_large_new0(guint32, (gsize)n + 2), NULL};
}

void bb_groups_open(BbGroups *groups)
{
    guint32 *start = groups->start;
    for (gsize group = 2; group <= (gsize)groups->n + 1; group++)
        start[group] += start[group - 1];
    groups->list = bb_large_new(guint32, (gsize)start[groups->n + 1] + 1);
}

BbGroups bb_groups_of(const guint32 *group, guint32 n_members, guint32 n)
{
    BbGroups groups = bb_groups_begin(n);
    for (guint32 i = 0; i < n_members; i++)
        if (group[i] != BB_GROUPS_NONE)
            bb_groups_count(&groups, group[i], 1);
    bb_groups_open(&groups);
    for (guint32 i = 0; i < n_members; i++)
        if (group[i] != BB_GROUPS_NONE)
            bb_groups_put(&groups, group[i], i);
    return groups;
}

void bb_groups_clear(BbGroups *groups)
{
    g_clear_pointer(&groups->start, g_free);
    g_clear_pointer(&groups->list, g_free);
}
