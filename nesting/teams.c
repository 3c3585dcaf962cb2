// SPDX-License-Identifier: Apache-2.0
// In: roles of nodes. Out: teams of nodes, and how long each node's time is among theirs.
#include "nesting/teams.h"

// As long as a node has to itself where the times of several follow one another.
static gint64 period_of(const BbAxis *axis, guint32 node)
{
    return 4 * bb_axis_spread(axis, node);
}

// Each node's team: the first one of its role.
static void find_teams(BbTeams *teams, const BbAxis *axis, guint32 n)
{
    g_autofree guint32 *first = g_new(guint32, n), *members = g_new0(guint32, n); // [role], [team]
    for (guint32 i = 0; i < n; i++)
        first[i] = BB_NAME_NONE;
    for (guint32 i = 0; i < n; i++) {
        guint32 role = teams->role[i];
        if (first[role] == BB_NAME_NONE)
            first[role] = i;
        guint32 team = teams->of[i] = first[role];
        teams->period[team] = MAX(teams->period[team], period_of(axis, i));
        members[team]++;
    }
    g_autofree bool *fits = g_new(bool, n); // [team]
    for (guint32 i = 0; i < n; i++)
        fits[i] = members[i] == 0 || teams->period[i] <= BB_AXIS_MAX / members[i];
    for (guint32 i = 0; i < n; i++) {
        if (fits[teams->of[i]])
            continue;
        teams->of[i] = i;
        teams->period[i] = period_of(axis, i);
    }
}

BbTeams *bb_teams_new(BbRoles *roles, const BbAxis *axis, guint32 n_names)
{
    BbTeams *teams = g_new0(BbTeams, 1);
    teams->role = g_new(guint32, n_names);
    teams->of = g_new(guint32, n_names);
    teams->period = g_new0(gint64, n_names);
    for (guint32 i = 0; i < n_names; i++)
        teams->role[i] = roles ? bb_roles_of(roles, i) : i;
    find_teams(teams, axis, n_names);
    teams->nodes = bb_groups_of(teams->of, n_names, n_names);
    return teams;
}

void bb_teams_free(BbTeams *teams)
{
    if (!teams)
        return;
    bb_groups_clear(&teams->nodes);
    g_free(teams->of);
    g_free(teams->role);
    g_free(teams->period);
    g_free(teams);
}
