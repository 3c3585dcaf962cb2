// SPDX-License-Identifier: Apache-2.0
// In: calls. Out: sites with the candidate parents of each child.
#include "nesting/sites.h"

#include <stdlib.h>

#include "nesting/handout.h"
#include "nesting/owners.h"
#include "nesting/pool.h"
#include "nesting/sites_parts.h"

// A site that is to be made.
typedef struct {
    guint32 team, number; // numbers are in order of teams
    guint64 calls;
} Job;

BbSites *bb_sites_new(const BbCall *calls, guint32 n_calls, guint32 n_names, gint64 skew_window_ns,
                      bool labels, bool connections, BbRoles *roles, const BbGapScale *scale,
                      const bool *hanging)
{
    BbSites *sites = g_new0(BbSites, 1);
    *sites = (BbSites){.calls = calls,
                       .n_calls = n_calls,
                       .n_names = n_names,
                       .window_ns = skew_window_ns,
                       .hanging = hanging,
                       .axis = bb_axis_new(calls, n_calls, n_names),
                       .labels = labels,
                       .connections = connections,
                       .scale = scale,
                       .jobs = g_array_new(FALSE, FALSE, sizeof(Job))};
    sites->busy = bb_axis_busy(sites->axis);
    sites->teams = bb_teams_new(roles, sites->axis, n_names);
    return sites;
}

void bb_sites_free(BbSites *sites)
{
    if (!sites)
        return;
    bb_candidates_free(sites->candidates);
    bb_axis_free(sites->axis);
    bb_teams_free(sites->teams);
    g_array_unref(sites->jobs);
    g_free(sites);
}

const guint32 *bb_sites_teams(const BbSites *sites)
{
    return sites->teams->of;
}

// ---- which there are ---------------------------------------------------------------------------

double bb_sites_margin(const BbSites *sites, guint32 team)
{
    const guint32 *nodes = bb_groups_at(&sites->teams->nodes, team);
    double margin = 0;
    for (guint32 i = 0; sites->workers && i < bb_groups_size(&sites->teams->nodes, team); i++)
        margin = MAX(margin, sites->workers->margin[nodes[i]]);
    return margin;
}

static bool is_looked_at(const BbSites *sites, guint32 team)
{
    return !sites->workers || bb_sites_margin(sites, team) > 0;
}

static guint64 count_calls(const BbSites *sites, guint32 team)
{
    const guint32 *nodes = bb_groups_at(&sites->teams->nodes, team);
    guint64 calls = 0;
    for (guint32 i = 0; i < bb_groups_size(&sites->teams->nodes, team); i++)
        if (bb_crew_has(sites, nodes[i]))
            calls += bb_groups_size(&sites->candidates->to, nodes[i]) +
                     bb_groups_size(&sites->candidates->by, nodes[i]);
    return calls;
}

static int by_calls(const void *a, const void *b)
{
    const Job *x = a, *y = b;
    if (x->calls != y->calls)
        return x->calls > y->calls ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

guint bb_sites_look(BbSites *sites, const guint8 *place, const gint64 *ready_ns,
                    const BbWorkers *workers)
{
    bb_candidates_free(sites->candidates);
    sites->workers = workers;
    sites->place = place;
    sites->ready_ns = ready_ns;
    sites->candidates =
        bb_candidates_new(sites->calls, sites->n_calls, sites->n_names, sites->window_ns,
                          sites->hanging, workers ? workers->first_ns : NULL);
    g_array_set_size(sites->jobs, 0);
    for (guint32 team = 0; team < sites->n_names; team++) {
        guint64 calls = is_looked_at(sites, team) ? count_calls(sites, team) : 0;
        if (calls > 0)
            g_array_append_val(sites->jobs, ((Job){team, sites->jobs->len, calls}));
    }
    g_array_sort(sites->jobs, by_calls);
    return sites->jobs->len;
}

// ---- one of them -------------------------------------------------------------------------------

BbMade bb_sites_make(const BbSites *sites, guint index)
{
    const Job *job = &g_array_index(sites->jobs, Job, index);
    g_auto(BbCrew) crew = bb_crew_gather(sites, job->team);
    guint members = crew.members->len;
    BbSite *site = bb_site_new(crew.parents->len, crew.children->len);
    site->number = job->number;
    site->team = job->team;
    site->quantum_ns = bb_axis_quantum_ns(sites->axis);
    bb_crew_load(&crew, site);
    site->span = sites->busy * members;
    site->period = members > 1 ? sites->teams->period[job->team] : 0;
    g_auto(BbMoments) moments = bb_moments_of(site);
    bb_pool_find(site, &moments, sites->scale);
    bb_handout_find(site, &moments);
    site->owner = bb_owners_find(site);
    BbMade made = {.site = site,
                   .onset = bb_onset_new(site, sites->scale),
                   .in_quantum = site->n_children / site->span};
    bb_suitors_find(&crew, site, made.onset, &made.children, &made.candidates);
    return made;
}

void bb_made_clear(BbMade *made)
{
    g_clear_pointer(&made->site, bb_site_free);
    g_clear_pointer(&made->onset, bb_onset_free);
}
