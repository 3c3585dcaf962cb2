// SPDX-License-Identifier: Apache-2.0
// In: the calls of a team's nodes. Out: the parents and children of its site, on one long time.
#include "nesting/sites_parts.h"

#include <stdlib.h>

#include "nesting/timesort.h"
#include "nesting/types.h"

// Where calls are told apart by their place only joins have a part.
bool bb_crew_has(const BbSites *sites, guint32 node)
{
    if (!bb_candidates_has(sites->candidates, node))
        return false;
    const guint32 *calls = bb_groups_at(&sites->candidates->to, node);
    bool has = !sites->place;
    for (guint32 i = 0; !has && i < bb_groups_size(&sites->candidates->to, node); i++)
        has = sites->place[calls[i]] != 0;
    return has;
}

BbCrew bb_crew_gather(const BbSites *sites, guint32 team)
{
    BbCrew crew = {.sites = sites,
                   .sweep = bb_sweep_new(sites->candidates),
                   .parents = g_array_new(FALSE, FALSE, sizeof(BbParent)),
                   .children = g_array_new(FALSE, FALSE, sizeof(BbChild)),
                   .members = g_array_new(FALSE, FALSE, sizeof(BbMember)),
                   .team = team};
    const guint32 *nodes = bb_groups_at(&sites->teams->nodes, team);
    for (guint32 i = 0; i < bb_groups_size(&sites->teams->nodes, team); i++) {
        if (!bb_crew_has(sites, nodes[i]))
            continue;
        bb_sweep_go(crew.sweep, nodes[i]);
        BbMember member = {nodes[i], crew.parents->len, crew.children->len,
                           crew.members->len * sites->teams->period[team]};
        guint32 n;
        const BbParent *parents = bb_sweep_parents(crew.sweep, &n);
        g_array_append_vals(crew.parents, parents, n);
        const BbChild *children = bb_sweep_children(crew.sweep, &n);
        g_array_append_vals(crew.children, children, n);
        g_array_append_val(crew.members, member);
    }
    return crew;
}

void bb_crew_clear(BbCrew *crew)
{
    g_clear_pointer(&crew->sweep, bb_sweep_free);
    g_clear_pointer(&crew->parents, g_array_unref);
    g_clear_pointer(&crew->children, g_array_unref);
    g_clear_pointer(&crew->members, g_array_unref);
    g_clear_pointer(&crew->place, g_free);
}

// What tells the kinds of a site's parents, or of its children, apart.
static BbTallyKey key_of(const BbSites *sites, guint32 index, bool parent)
{
    const BbCall *call = &sites->calls[index];
    if (parent && sites->place)
        return (BbTallyKey){0, 0, sites->place[index]};
    guint32 node = parent ? call->caller : call->callee;
    return (BbTallyKey){sites->teams->role[node], sites->labels ? call->op : BB_NAME_NONE, 0};
}

// The skew window in quanta; one that is longer than all times tells no more than that.
static gint64 window_of(const BbCrew *crew)
{
    const BbSites *sites = crew->sites;
    gint64 window = bb_axis_length(sites->axis, MAX(sites->window_ns, 0));
    return MIN(window, sites->teams->period[crew->team] / 4);
}

// A time of one of the crew's nodes, moved to its place.
static gint64 time_of(const BbSites *sites, const BbMember *member, gint64 time_ns)
{
    return member->shift + bb_axis_at(sites->axis, member->node, time_ns);
}

// When all that a call of a join may wait for was there, or its turn came, on its node's clock.
static gint64 ready_of(const BbSites *sites, const BbMember *member, guint32 call, gint64 arrival)
{
    gint64 ready_ns = sites->ready_ns ? sites->ready_ns[call] : G_MININT64;
    const BbWorkers *workers = sites->workers;
    if (workers && workers->begun_ns[call] > workers->first_ns[call])
        ready_ns = workers->begun_ns[call];
    return ready_ns == G_MININT64 ? arrival : MAX(arrival, time_of(sites, member, ready_ns));
}

static guint32 conn_of(const BbSites *sites, guint32 call)
{
    return sites->connections ? sites->calls[call].conn : 0;
}

// With a skew window whatever comes from another node (calls that arrive, returns of children)
// counts as that much earlier. Gaps stay gaps: what they are longer by is learned with them. How
// long a child lasts is not cut by it: its return is not before its call for being early.
static void load_parents(const BbCrew *crew, BbSite *site)
{
    const BbSites *sites = crew->sites;
    guint32 n = site->n_parents, m = 0;
    g_autofree BbTallyKey *keys = g_new(BbTallyKey, n);
    g_autofree guint16 *number = g_new(guint16, n);
    const BbParent *parents = (const BbParent *)(const void *)crew->parents->data;
    gint64 early = window_of(crew);
    for (guint32 i = 0; i < n; i++)
        keys[i] = key_of(sites, parents[i].call, true);
    site->n_parent_types = bb_types_number(keys, n, number);
    for (guint32 i = 0; i < n; i++) {
        while (m + 1 < crew->members->len &&
               g_array_index(crew->members, BbMember, m + 1).first_parent <= i)
            m++;
        const BbMember *member = &g_array_index(crew->members, BbMember, m);
        gint64 s = time_of(sites, member, parents[i].arrived_ns) - early;
        site->is_join |= sites->ready_ns && sites->ready_ns[parents[i].call] != G_MININT64;
        site->parents[i] = (BbSiteParent){.s = s,
                                          .ready = ready_of(sites, member, parents[i].call, s),
                                          .e = time_of(sites, member, parents[i].replied_ns),
                                          .call = parents[i].call,
                                          .caller = parents[i].caller,
                                          .conn = conn_of(sites, parents[i].call),
                                          .type = number[i]};
    }
}

static int by_node(const void *a, const void *b)
{
    guint32 x = ((const BbMember *)a)->node, y = ((const BbMember *)b)->node;
    return (x > y) - (x < y);
}

// Whose call it is.
static const BbMember *caller_of(const BbCrew *crew, const BbChild *child)
{
    BbMember key = {.node = crew->sites->calls[child->call].caller};
    return bsearch(&key, crew->members->data, crew->members->len, sizeof key, by_node);
}

// Where its connection was closed a child is over for its caller (unread.h), as with a return. It
// may be of any call that was open when it was made: whoever closed may have replied before.
static gint64 back_of(const BbSites *sites, const BbChild *child)
{
    const BbCall *call = &sites->calls[child->call];
    return bb_call_is_late(call) ? MAX(call->return_end_ns, call->call_ns) : child->end_ns;
}

static void load_children(BbCrew *crew, BbSite *site)
{
    const BbSites *sites = crew->sites;
    guint32 n = site->n_children;
    g_autofree BbTallyKey *keys = g_new(BbTallyKey, n);
    g_autofree guint16 *number = g_new(guint16, n);
    const BbChild *children = (const BbChild *)(const void *)crew->children->data;
    gint64 early = window_of(crew);
    for (guint32 i = 0; i < n; i++)
        keys[i] = key_of(sites, children[i].call, false);
    site->n_child_types = bb_types_number(keys, n, number);
    crew->place = g_new(guint32, n);
    g_autofree BbTimed *order = g_new(BbTimed, n), *scratch = g_new(BbTimed, n);
    for (guint32 i = 0; i < n; i++) // stable: those that start together stay in order of calls
        order[i] = (BbTimed){children[i].call, i};
    bb_timesort(order, scratch, n);
    for (guint32 i = 0; i < n; i++) {
        const BbChild *child = &children[order[i].index];
        order[i].time_ns = time_of(sites, caller_of(crew, child), child->call_ns);
    }
    bb_timesort(order, scratch, n);
    for (guint32 i = 0; i < n; i++) {
        const BbChild *child = &children[order[i].index];
        crew->place[order[i].index] = i;
        gint64 end = time_of(sites, caller_of(crew, child), back_of(sites, child));
        site->children[i] =
            (BbSiteChild){.s = order[i].time_ns,
                          .e = MAX(order[i].time_ns, end - early),
                          .trip = end - order[i].time_ns,
                          .call = child->call,
                          .callee = child->callee,
                          .conn = conn_of(sites, child->call),
                          .type = number[order[i].index],
                          .unanswered = !bb_call_is_returned(&sites->calls[child->call])};
    }
}

void bb_crew_load(BbCrew *crew, BbSite *site)
{
    load_parents(crew, site);
    load_children(crew, site);
}
