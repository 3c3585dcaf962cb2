// SPDX-License-Identifier: Apache-2.0
// In: calls. Out: sites with the candidate parents of each child.
#include "nesting/sites.h"

#include "data/tally.h"
#include "nesting/axis.h"
#include "nesting/caused.h"
#include "nesting/given_up.h"
#include "nesting/handout.h"
#include "nesting/owners.h"
#include "nesting/pool.h"
#include "nesting/timesort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOOKED_AT_MOST 1024u // candidates of a child that are compared
#define SCANNED_MOST 256u    // parents before a call that may outlast them
#define LATE_FEWEST 20u      // calls of a kind that are not nested in any,
#define LATE_LEAST 0.05 // their share of the kind, and how many of them must follow calls to the
#define DUE_LEAST 0.15  // node by more than chance, for all of the kind to be looked at as late
#define OUTLASTS 0.25   // of its own time, that a call nested in none may last longer than a parent
#define OWNED \
    1000.0 // log likelihood: candidates on the connection that a child's serves come first

// A node of a site: its stretch of parents, and by how much its times are moved. Replicas come one
// after the other in one long time, so that they share statistics and nothing else.
typedef struct {
    guint32 node, first_parent;
    gint64 shift;
} Member;

// The calls of a site's nodes, one node after the other.
typedef struct {
    GArray *parents, *children; // of BbParent, BbChild
    GArray *members;            // of Member
    guint32 team;
    guint32 at; // the node at which the candidates stand: maybe one that has no part
} Crew;

struct BbSites {
    const BbCall *calls;
    guint32 n_calls, n_names;
    gint64 window_ns;
    const bool *hanging; // or NULL
    BbAxis *axis;
    double busy; // of the trace, in quanta
    bool labels, connections;
    BbRoles *roles;
    const BbGapScale *scale;
    const guint8 *place; // NULL: callers tell parents apart
    const gint64 *ready_ns;
    const BbWorkers *workers; // or NULL
    BbCandidates *candidates;
    guint32 *nodes, *team; // nodes in order of their team; team of each node: equal for replicas
    guint32 next;          // in nodes
    gint64 *period;        // [team], in quanta: times of one node never come near those of the next
    guint32 n_sites;
};

// As long as a node has to itself where the times of several follow one another.
static gint64 period_of(const BbSites *sites, guint32 node)
{
    return 4 * bb_axis_spread(sites->axis, node);
}

// Each node's team: the first one of its role. Without roles each is a team of its own, and so it
// is where the moved times would not fit.
static void find_teams(BbSites *sites, guint32 *team)
{
    guint32 n = sites->n_names;
    g_autoptr(GHashTable) first = g_hash_table_new(NULL, NULL); // role -> first node + 1
    g_autofree guint32 *members = g_new0(guint32, n);
    for (guint32 i = 0; i < n; i++) {
        guint32 role = sites->roles ? bb_roles_of(sites->roles, i) : i;
        guint32 known = GPOINTER_TO_UINT(g_hash_table_lookup(first, GUINT_TO_POINTER(role)));
        if (known == 0)
            g_hash_table_insert(first, GUINT_TO_POINTER(role), GUINT_TO_POINTER(i + 1));
        team[i] = known > 0 ? known - 1 : i;
        sites->period[team[i]] = MAX(sites->period[team[i]], period_of(sites, i));
        members[team[i]]++;
    }
    for (guint32 i = 0; i < n; i++) {
        if (sites->period[team[i]] <= BB_AXIS_MAX / members[team[i]])
            continue;
        team[i] = i;
        sites->period[i] = period_of(sites, i);
    }
}

// Puts the nodes in order of their teams.
static void make_teams(BbSites *sites)
{
    guint32 n = sites->n_names;
    sites->nodes = g_new(guint32, n);
    sites->team = g_new(guint32, n);
    sites->period = g_new0(gint64, n);
    g_autofree BbTimed *order = g_new(BbTimed, n), *scratch = g_new(BbTimed, n);
    find_teams(sites, sites->team);
    for (guint32 i = 0; i < n; i++)
        order[i] = (BbTimed){sites->team[i], i};
    bb_timesort(order, scratch, n);
    for (guint32 i = 0; i < n; i++)
        sites->nodes[i] = order[i].index;
}

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
                       .roles = roles,
                       .scale = scale};
    sites->busy = bb_axis_busy(sites->axis);
    make_teams(sites);
    return sites;
}

void bb_sites_free(BbSites *sites)
{
    if (!sites)
        return;
    bb_candidates_free(sites->candidates);
    bb_axis_free(sites->axis);
    g_free(sites->nodes);
    g_free(sites->team);
    g_free(sites->period);
    g_free(sites);
}

void bb_sites_rewind(BbSites *sites, const guint8 *place, const gint64 *ready_ns,
                     const BbWorkers *workers)
{
    bb_candidates_free(sites->candidates);
    sites->workers = workers;
    sites->place = place;
    sites->ready_ns = ready_ns;
    sites->n_sites = 0;
    sites->next = 0;
    sites->candidates =
        bb_candidates_new(sites->calls, sites->n_calls, sites->n_names, sites->window_ns,
                          sites->hanging, workers ? workers->first_ns : NULL);
}

const guint32 *bb_sites_teams(const BbSites *sites)
{
    return sites->team;
}

// ---- kinds -------------------------------------------------------------------------------------

typedef struct {
    BbTallyKey key; // name, operation, kind
    guint64 n;
} Kind;

static int by_number(const void *a, const void *b)
{
    const Kind *x = a, *y = b;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    if (x->key.a != y->key.a)
        return x->key.a < y->key.a ? -1 : 1;
    if (x->key.b != y->key.b)
        return x->key.b < y->key.b ? -1 : 1;
    return (x->key.c > y->key.c) - (x->key.c < y->key.c);
}

static BbTallyKey key_of(const BbSites *sites, guint32 index, bool parent)
{
    const BbCall *call = &sites->calls[index];
    if (parent && sites->place)
        return (BbTallyKey){0, 0, sites->place[index]};
    guint32 node = parent ? call->caller : call->callee;
    return (BbTallyKey){sites->roles ? bb_roles_of(sites->roles, node) : node,
                        sites->labels ? call->op : BB_NAME_NONE, 0};
}

// Numbers the kinds of n calls, the commonest first; what is rarer than the first
// BB_SITE_TYPES - 1 shares a number. Returns how many numbers there are.
static guint number_kinds(const BbSites *sites, const guint32 *calls, guint32 n, bool parent,
                          guint16 *number)
{
    BbTally tally;
    bb_tally_init(&tally);
    g_autoptr(GArray) kinds = g_array_new(FALSE, FALSE, sizeof(Kind));
    for (guint32 i = 0; i < n; i++) {
        BbTallyKey key = key_of(sites, calls[i], parent);
        if (++*bb_tally_at(&tally, key) == 1)
            g_array_append_val(kinds, ((Kind){key, 0}));
    }
    for (guint k = 0; k < kinds->len; k++)
        g_array_index(kinds, Kind, k).n = bb_tally_get(&tally, g_array_index(kinds, Kind, k).key);
    qsort(kinds->data, kinds->len, sizeof(Kind), by_number);
    for (guint k = 0; k < kinds->len; k++)
        *bb_tally_at(&tally, g_array_index(kinds, Kind, k).key) = MIN(k, BB_SITE_TYPES - 1);
    for (guint32 i = 0; i < n; i++)
        number[i] = (guint16)bb_tally_get(&tally, key_of(sites, calls[i], parent));
    bb_tally_clear(&tally);
    return MIN(kinds->len, BB_SITE_TYPES);
}

// ---- calls -------------------------------------------------------------------------------------

// Where the team of the next node ends among the nodes; *limited: whether some of its nodes have
// workers.
static guint32 end_of_team(const BbSites *sites, bool *limited)
{
    guint32 i = sites->next, team = sites->team[sites->nodes[i]];
    *limited = false;
    for (; i < sites->n_names && sites->team[sites->nodes[i]] == team; i++)
        *limited |= sites->workers && sites->workers->limit[sites->nodes[i]] > 0;
    return i;
}

// Gathers the calls of the next team that has a part; false after the last.
static bool next_crew(BbSites *sites, Crew *crew)
{
    while (crew->members->len == 0 && sites->next < sites->n_names) {
        bool limited;
        guint32 end = end_of_team(sites, &limited);
        guint32 team = crew->team = sites->team[sites->nodes[sites->next]];
        if (sites->workers && !limited)
            sites->next = end;
        for (; sites->next < end; sites->next++) {
            guint32 node = sites->nodes[sites->next], n;
            if (!bb_candidates_go(sites->candidates, node))
                continue;
            crew->at = node;
            Member member = {node, crew->parents->len, crew->members->len * sites->period[team]};
            const BbParent *parents = bb_candidates_parents(sites->candidates, &n);
            if (sites->place && sites->place[parents[0].call] == 0)
                continue;
            g_array_append_vals(crew->parents, parents, n);
            const BbChild *children = bb_candidates_children(sites->candidates, &n);
            g_array_append_vals(crew->children, children, n);
            g_array_append_val(crew->members, member);
        }
    }
    return crew->members->len > 0;
}

// The skew window in quanta; one that is longer than all times tells no more than that.
static gint64 window_of(const BbSites *sites, const Crew *crew)
{
    gint64 window = bb_axis_length(sites->axis, MAX(sites->window_ns, 0));
    return MIN(window, sites->period[crew->team] / 4);
}

// A time of one of the crew's nodes, moved to its place.
static gint64 time_of(const BbSites *sites, const Member *member, gint64 time_ns)
{
    return member->shift + bb_axis_at(sites->axis, member->node, time_ns);
}

// When all that a call of a join may wait for was there, or its turn came, on its node's clock.
static gint64 ready_of(const BbSites *sites, const Member *member, guint32 call, gint64 arrival)
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
static void load_parents(const BbSites *sites, BbSite *site, const Crew *crew)
{
    guint32 n = site->n_parents, m = 0;
    g_autofree guint32 *calls = g_new(guint32, n);
    g_autofree guint16 *number = g_new(guint16, n);
    const BbParent *parents = (const BbParent *)(const void *)crew->parents->data;
    gint64 early = window_of(sites, crew);
    for (guint32 i = 0; i < n; i++)
        calls[i] = parents[i].call;
    site->n_parent_types = number_kinds(sites, calls, n, true, number);
    for (guint32 i = 0; i < n; i++) {
        while (m + 1 < crew->members->len &&
               g_array_index(crew->members, Member, m + 1).first_parent <= i)
            m++;
        const Member *member = &g_array_index(crew->members, Member, m);
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
    guint32 x = ((const Member *)a)->node, y = ((const Member *)b)->node;
    return (x > y) - (x < y);
}

// Whose call it is. members are in order of nodes.
static const Member *caller_of(const BbSites *sites, const Crew *crew, const BbChild *child)
{
    Member key = {.node = sites->calls[child->call].caller};
    return bsearch(&key, crew->members->data, crew->members->len, sizeof key, by_node);
}

// Where its connection was closed a child is over for its caller (unread.h), as with a return. It
// may be of any call that was open when it was made: whoever closed may have replied before.
static gint64 back_of(const BbSites *sites, const BbChild *child)
{
    const BbCall *call = &sites->calls[child->call];
    return bb_call_is_late(call) ? MAX(call->return_end_ns, call->call_ns) : child->end_ns;
}

static void load_children(const BbSites *sites, BbSite *site, const Crew *crew)
{
    guint32 n = site->n_children;
    g_autofree guint32 *calls = g_new(guint32, n);
    g_autofree guint16 *number = g_new(guint16, n);
    const BbChild *children = (const BbChild *)(const void *)crew->children->data;
    gint64 early = window_of(sites, crew);
    for (guint32 i = 0; i < n; i++)
        calls[i] = children[i].call;
    site->n_child_types = number_kinds(sites, calls, n, false, number);
    g_autofree BbTimed *order = g_new(BbTimed, n), *scratch = g_new(BbTimed, n);
    for (guint32 i = 0; i < n; i++) // stable: those that start together stay in order of calls
        order[i] = (BbTimed){children[i].call, i};
    bb_timesort(order, scratch, n);
    for (guint32 i = 0; i < n; i++) {
        const BbChild *child = &children[order[i].index];
        order[i].time_ns = time_of(sites, caller_of(sites, crew, child), child->call_ns);
    }
    bb_timesort(order, scratch, n);
    for (guint32 i = 0; i < n; i++) {
        const BbChild *child = &children[order[i].index];
        gint64 end = time_of(sites, caller_of(sites, crew, child), back_of(sites, child));
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

// ---- candidates --------------------------------------------------------------------------------

typedef struct {
    double suits;
    guint32 parent;
    bool owned; // on the connection that the child's serves: these come first
} Suitor;

static int by_suit(const void *a, const void *b)
{
    const Suitor *x = a, *y = b;
    if (x->owned != y->owned)
        return x->owned ? -1 : 1;
    if (x->suits != y->suits)
        return x->suits > y->suits ? -1 : 1;
    return (x->parent > y->parent) - (x->parent < y->parent);
}

static int by_index(const void *a, const void *b)
{
    guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
    return (x > y) - (x < y);
}

// Share of the suitors' likelihood that the kept ones have; the best stand first.
static double kept_of(const Suitor *suitor, guint32 n)
{
    double all = 0, kept = 0, most = -G_MAXDOUBLE;
    for (guint32 i = 0; i < n; i++)
        most = MAX(most, suitor[i].suits);
    for (guint32 i = 0; i < n; i++) {
        all += exp(suitor[i].suits - most);
        if (i + 1 == BB_SITE_CANDIDATES)
            kept = all;
    }
    return kept / all;
}

// Puts the likeliest candidates of a child first in list, and these in order. Returns their share
// of the likelihood.
static double prune(const BbSites *sites, const BbSite *site, const BbOnset *onset, guint32 child,
                    guint32 *list, guint32 n, GArray *suitors)
{
    g_array_set_size(suitors, n);
    Suitor *suitor = &g_array_index(suitors, Suitor, 0);
    guint32 owner = site->owner ? site->owner[child].conn : 0;
    for (guint32 i = 0; i < n; i++) {
        const BbSiteParent *parent = &site->parents[list[i]];
        double suits = bb_onset_log(onset, site, sites->scale, parent, &site->children[child]);
        bool owned = owner != 0 && parent->conn == owner;
        suitor[i] = (Suitor){owned ? suits + OWNED : suits, list[i], owned};
    }
    qsort(suitor, n, sizeof *suitor, by_suit);
    for (guint32 i = 0; i < BB_SITE_CANDIDATES; i++)
        list[i] = suitor[i].parent;
    qsort(list, BB_SITE_CANDIDATES, sizeof *list, by_index);
    return kept_of(suitor, n);
}

static void note_mean(const BbSite *site, BbOnset *onset, guint32 child, const guint32 *list,
                      guint32 n)
{
    for (guint32 i = 0; i < n; i++)
        onset->mean[site->parents[list[i]].type * site->n_child_types +
                    site->children[child].type] += 1.0 / n;
}

// Candidates of children, as they are found: those of child x are all[start[x] .. + size[x]).
typedef struct {
    guint32 *start, *size;
    GArray *all, *suitors;
    guint64 n_children, n_candidates; // nested
    guint32 list[SCANNED_MOST];
} Found;

// The candidates of child x, the likeliest where there are many.
static void note(const BbSites *sites, BbSite *site, BbOnset *onset, Found *found, guint32 x,
                 guint32 *list, guint32 n)
{
    double looked_at = n > LOOKED_AT_MOST ? (double)LOOKED_AT_MOST / n : 1;
    site->kept[x] = 1;        // of what an earlier call found nothing stays
    if (n > LOOKED_AT_MOST) { // the latest arrivals
        list += n - LOOKED_AT_MOST;
        n = LOOKED_AT_MOST;
    }
    if (n > BB_SITE_CANDIDATES)
        site->kept[x] = (float)(looked_at * prune(sites, site, onset, x, list, n, found->suitors));
    found->start[x] = found->all->len;
    found->size[x] = MIN(n, BB_SITE_CANDIDATES);
    g_array_append_vals(found->all, list, found->size[x]);
}

// Calls that their node made while a call to it was open and that returned before it was answered.
// The candidates stand at a node; place[call] is the child's index in the site.
static void find_nested(BbSites *sites, BbSite *site, BbOnset *onset, Found *found,
                        const Member *member, const guint32 *place, GArray *scratch)
{
    guint32 n_children, n;
    const BbChild *by_end = bb_candidates_children(sites->candidates, &n_children);
    while (bb_candidates_next_child(sites->candidates)) {
        guint32 x = place[by_end[bb_candidates_child(sites->candidates)].call];
        const guint32 *list = bb_candidates_list(sites->candidates, &n);
        g_array_set_size(scratch, n);
        guint32 *own = (guint32 *)(void *)scratch->data;
        for (guint32 i = 0; i < n; i++)
            own[i] = member->first_parent + list[i];
        found->n_children += n > 0;
        found->n_candidates += n;
        note_mean(site, onset, x, own, n);
        note(sites, site, onset, found, x, own, n);
    }
}

static void find_all_nested(BbSites *sites, BbSite *site, BbOnset *onset, Found *found,
                            const Crew *crew)
{
    g_autofree guint32 *place = g_new(guint32, sites->n_calls); // of a call among the children
    g_autoptr(GArray) scratch = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 x = 0; x < site->n_children; x++)
        place[site->children[x].call] = x;
    for (guint m = 0; m < crew->members->len; m++) {
        const Member *member = &g_array_index(crew->members, Member, m);
        if (crew->members->len > 1 || crew->at != member->node)
            bb_candidates_go(sites->candidates, member->node);
        find_nested(sites, site, onset, found, member, place, scratch);
    }
}

// Calls that are not nested in any, if many of a kind follow calls to the node all the same: they
// outlast their parent, or are made after its return.
static bool is_late_kind(const BbSites *sites, const BbSite *site, const bool *nested, guint type)
{
    guint32 n = 0, lone = 0;
    for (guint32 x = 0; x < site->n_children; x++) {
        if (site->children[x].type != type)
            continue;
        const BbCall *call = &sites->calls[site->children[x].call];
        if (bb_candidates_is_knotted(sites->candidates, call->caller, call->callee))
            return false;
        n++;
        lone += !nested[x];
    }
    return lone >= LATE_FEWEST && lone >= LATE_LEAST * n &&
           bb_caused_share(site, sites->scale, type, nested) >= DUE_LEAST;
}

// The candidates in found->list, latest first, of child x.
static void note_backwards(const BbSites *sites, BbSite *site, BbOnset *onset, Found *found,
                           guint32 x, guint32 n)
{
    for (guint32 i = 0; i < n / 2; i++) {
        guint32 other = found->list[i];
        found->list[i] = found->list[n - 1 - i];
        found->list[n - 1 - i] = other;
    }
    note_mean(site, onset, x, found->list, n);
    note(sites, site, onset, found, x, found->list, n);
}

// Adds, for the children of a late kind, the parents that arrived before them.
static void find_late(const BbSites *sites, BbSite *site, BbOnset *onset, Found *found, guint type)
{
    guint32 next = 0;
    gint64 reach = 2 * bb_lags_longest(site);
    bb_onset_add_late(onset, site, sites->scale, type);
    for (guint32 x = 0; x < site->n_children; x++) {
        const BbSiteChild *child = &site->children[x];
        guint32 n = 0;
        while (next < site->n_parents && site->parents[next].s <= child->s)
            next++;
        if (child->type != type)
            continue;
        for (guint32 p = next; p > 0 && n < SCANNED_MOST; p--) {
            if (site->parents[p - 1].s < child->s - reach)
                break;
            found->list[n++] = p - 1;
        }
        note_backwards(sites, site, onset, found, x, n);
    }
}

// Adds, for a child that has no candidate, the parents that were open when it was called and until
// least. Parents behind `next` arrived after it.
static void find_open(const BbSites *sites, BbSite *site, BbOnset *onset, Found *found, guint32 x,
                      guint32 next, gint64 least)
{
    guint32 n = 0;
    for (guint32 p = next; p > 0 && next - p < SCANNED_MOST; p--)
        if (site->parents[p - 1].e >= least)
            found->list[n++] = p - 1;
    note_backwards(sites, site, onset, found, x, n);
}

// Of children that no parent outlasts: stamps of one node may be taken a moment late; and a parent
// may have given up what took very long (given_up.h).
static void find_outlasting(const BbSites *sites, BbSite *site, BbOnset *onset, Found *found,
                            const bool *nested)
{
    g_autofree double *too_long = bb_given_up_least(site, nested);
    guint32 next = 0;
    for (guint32 x = 0; x < site->n_children; x++) {
        BbSiteChild *child = &site->children[x];
        const BbCall *call = &sites->calls[child->call];
        while (next < site->n_parents && site->parents[next].s <= child->s)
            next++;
        if (found->size[x] > 0 ||
            bb_candidates_is_knotted(sites->candidates, call->caller, call->callee))
            continue;
        gint64 least = child->e - (gint64)(OUTLASTS * (double)(child->e - child->s));
        find_open(sites, site, onset, found, x, next, least);
        if (found->size[x] > 0 || (double)child->trip < too_long[child->type])
            continue;
        find_open(sites, site, onset, found, x, next, child->s + 1);
        child->given_up = found->size[x] > 0;
    }
}

static void find_candidates(BbSites *sites, BbSite *site, BbOnset *onset, const Crew *crew,
                            guint64 *children, guint64 *candidates)
{
    guint32 n = site->n_children;
    g_autofree guint32 *start = g_new0(guint32, n), *size = g_new0(guint32, n);
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autoptr(GArray) suitors = g_array_new(FALSE, FALSE, sizeof(Suitor));
    Found found = {.start = start, .size = size, .all = all, .suitors = suitors};
    find_all_nested(sites, site, onset, &found, crew);
    g_autofree bool *nested = g_new(bool, n);
    for (guint32 x = 0; x < n; x++)
        nested[x] = size[x] > 0;
    for (guint t = 0; t < site->n_child_types; t++)
        if (is_late_kind(sites, site, nested, t))
            find_late(sites, site, onset, &found, t);
    find_outlasting(sites, site, onset, &found, nested);
    for (guint32 x = 0; x < n; x++)
        site->first[x + 1] = site->first[x] + size[x];
    site->list = g_new(guint32, site->first[n] + 1);
    for (guint32 x = 0; x < n; x++)
        for (guint32 i = 0; i < size[x]; i++)
            site->list[site->first[x] + i] = g_array_index(all, guint32, start[x] + i);
    *children += found.n_children;
    *candidates += found.n_candidates;
}

// Sums over children become means over parents.
static void end_means(const BbSite *site, BbOnset *onset)
{
    g_autofree double *n = g_new0(double, site->n_parent_types);
    for (guint32 i = 0; i < site->n_parents; i++)
        n[site->parents[i].type]++;
    for (guint p = 0; p < site->n_parent_types; p++)
        for (guint c = 0; c < site->n_child_types; c++)
            onset->mean[p * site->n_child_types + c] /= n[p];
}

BbSite *bb_sites_next(BbSites *sites, BbOnset **onset, guint64 *children, guint64 *candidates)
{
    g_autoptr(GArray) parents = g_array_new(FALSE, FALSE, sizeof(BbParent));
    g_autoptr(GArray) kids = g_array_new(FALSE, FALSE, sizeof(BbChild));
    g_autoptr(GArray) members = g_array_new(FALSE, FALSE, sizeof(Member));
    Crew crew = {parents, kids, members, 0, 0};
    if (!next_crew(sites, &crew))
        return NULL;
    BbSite *site = bb_site_new(parents->len, kids->len);
    site->number = sites->n_sites++;
    site->team = crew.team;
    site->quantum_ns = bb_axis_quantum_ns(sites->axis);
    load_parents(sites, site, &crew);
    load_children(sites, site, &crew);
    site->span = sites->busy * members->len;
    site->period = members->len > 1 ? sites->period[crew.team] : 0;
    g_auto(BbMoments) moments = bb_moments_of(site);
    bb_pool_find(site, &moments, sites->scale);
    bb_handout_find(site, &moments);
    site->owner = bb_owners_find(site);
    *onset = bb_onset_new(site, sites->scale);
    find_candidates(sites, site, *onset, &crew, children, candidates);
    end_means(site, *onset);
    return site;
}
