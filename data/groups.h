// SPDX-License-Identifier: Apache-2.0
// Numbers in groups, in one array: a sort by counting. Each member's group is told twice, once to
// be counted and once to be put there; within a group they stand as they were put. Cost: linear.
//
//     BbGroups groups = bb_groups_begin(n);
//     for each: bb_groups_count(&groups, group, 1);
//     bb_groups_open(&groups);
//     for each: bb_groups_put(&groups, group, member);
#pragma once

#include <glib.h>

typedef struct BbGroups {
    guint32 n;
    guint32 *start; // [group]: its members are list[start[group] .. start[group + 1])
    guint32 *list;  // never NULL once it is open
} BbGroups;

// n groups without members. The caller's to clear.
BbGroups bb_groups_begin(guint32 n);

// All are counted. There are 2^32 - 1 members at most, in all.
void bb_groups_open(BbGroups *groups);
void bb_groups_clear(BbGroups *groups);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BbGroups, bb_groups_clear)

// Members 0 to n_members - 1, group[i] that of i, of n groups; BB_GROUPS_NONE: in none. The
// caller's to clear.
#define BB_GROUPS_NONE G_MAXUINT32
BbGroups bb_groups_of(const guint32 *group, guint32 n_members, guint32 n);

// While they are filled, start[group + 1] is where the next member goes: until they are open, the
// size stands one further on.
static inline void bb_groups_count(BbGroups *groups, guint32 group, guint32 members)
{
    groups->start[(gsize)group + 2] += members;
}

static inline void bb_groups_put(BbGroups *groups, guint32 group, guint32 member)
{
    groups->list[groups->start[(gsize)group + 1]++] = member;
}

static inline guint32 bb_groups_size(const BbGroups *groups, guint32 group)
{
    return groups->start[(gsize)group + 1] - groups->start[group];
}

static inline guint32 *bb_groups_at(const BbGroups *groups, guint32 group)
{
    return groups->list + groups->start[group];
}
