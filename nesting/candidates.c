// SPDX-License-Identifier: Apache-2.0
// In: calls. Out: for each child, in order of return, its possible parents.
//
// The sweep. Parents are a list in order of arrival. A child reads it from the front up to the
// first parent that arrived after the child was called; what it finds there either was answered
// before the child's return, and then is out of the list for good since returns only grow, or is a
// candidate. So a node costs its parents, its children and its candidates, and a sort.
#include "nesting/candidates.h"

#include "data/groups.h"
#include "data/large.h"
#include "nesting/knots.h"
#include "nesting/timesort.h"

#define END G_MAXUINT32
#define AHEAD 64
#define MOVES 8 // of an insertion, in the mean; beyond, a sort by radix costs less

struct BbCandidates {
    const BbCall *calls;
    guint32 n_names;
    gint64 window_ns;
    const bool *hanging;
    const gint64 *begun_ns;
    BbGroups to, by; // calls to a node, calls by a node, in order of index
    bool *knotted;   // of names
    bool any_knotted;

    guint32 node; // the current one is node - 1
    BbTimed *timed, *scratch;
    BbParent *parents;
    guint32 *next; // of parents: the sweep's list, END after the last; next[n_parents] is its head
    BbChild *children;
    guint32 n_parents, n_children;

    guint32 child; // the current one is child - 1
    guint32 *list;
    guint32 n_list;
};

// How many calls with return, be it one that the caller did not read, each caller made of each
// callee. The caller frees.
static BbTallyEntry *count_edges(const BbCall *calls, guint32 n_calls, gsize *count)
{
    BbTally edges;
    bb_tally_init(&edges);
    for (guint32 i = 0; i < n_calls; i++)
        if (bb_call_is_returned(&calls[i]) || bb_call_is_late(&calls[i]))
            ++*bb_tally_at(&edges, (BbTallyKey){calls[i].caller, calls[i].callee, 0});
    BbTallyEntry *entries = bb_tally_entries(&edges, count);
    bb_tally_clear(&edges);
    return entries;
}

static void group(BbCandidates *candidates, guint32 n_calls, const BbTallyEntry *edges,
                  gsize n_edges)
{
    const BbCall *calls = candidates->calls;
    BbGroups *to = &candidates->to, *by = &candidates->by;
    *to = bb_groups_begin(candidates->n_names);
    *by = bb_groups_begin(candidates->n_names);
    for (gsize i = 0; i < n_edges; i++) {
        bb_groups_count(by, edges[i].key.a, (guint32)edges[i].count);
        bb_groups_count(to, edges[i].key.b, (guint32)edges[i].count);
    }
    for (guint32 i = 0; candidates->hanging && i < n_calls; i++)
        if (candidates->hanging[i] && !bb_call_is_late(&calls[i]))
            bb_groups_count(by, calls[i].caller, 1);
    bb_groups_open(to);
    bb_groups_open(by);
    for (guint32 i = 0; i < n_calls; i++) {
        bool is_returned = bb_call_is_returned(&calls[i]);
        if (is_returned || bb_call_is_late(&calls[i]))
            bb_groups_put(to, calls[i].callee, i);
        if (is_returned || (candidates->hanging && candidates->hanging[i]))
            bb_groups_put(by, calls[i].caller, i);
    }
}

static bool takes_part(const BbCandidates *candidates, guint32 node)
{
    return bb_groups_size(&candidates->to, node) > 0 && bb_groups_size(&candidates->by, node) > 0;
}

static void make_room(BbCandidates *candidates)
{
    gsize parents = 0, children = 0;
    for (guint32 n = 0; n < candidates->n_names; n++) {
        if (!takes_part(candidates, n))
            continue;
        parents = MAX(parents, bb_groups_size(&candidates->to, n));
        children = MAX(children, bb_groups_size(&candidates->by, n));
    }
    candidates->timed = bb_large_new(BbTimed, MAX(parents, children));
    candidates->scratch = g_new(BbTimed, MAX(parents, children));
    candidates->parents = bb_large_new(BbParent, parents);
    candidates->next = bb_large_new(guint32, parents + 1);
    candidates->list = g_new(guint32, parents);
    candidates->children = bb_large_new(BbChild, children);
}

BbCandidates *bb_candidates_new(const BbCall *calls, guint32 n_calls, guint32 n_names,
                                gint64 skew_window_ns, const bool *hanging, const gint64 *begun_ns)
{
    BbCandidates *candidates = g_new0(BbCandidates, 1);
    candidates->calls = calls;
    candidates->n_names = n_names;
    candidates->window_ns = MAX(skew_window_ns, 0);
    candidates->hanging = hanging;
    candidates->begun_ns = begun_ns;
    gsize n_edges;
    g_autofree BbTallyEntry *edges = count_edges(calls, n_calls, &n_edges);
    group(candidates, n_calls, edges, n_edges);
    candidates->knotted = bb_knots_find(edges, n_edges, n_names);
    for (guint32 n = 0; n < n_names; n++)
        candidates->any_knotted |= candidates->knotted[n];
    make_room(candidates);
    return candidates;
}

void bb_candidates_free(BbCandidates *candidates)
{
    if (!candidates)
        return;
    bb_groups_clear(&candidates->to);
    bb_groups_clear(&candidates->by);
    g_free(candidates->knotted);
    g_free(candidates->timed);
    g_free(candidates->scratch);
    g_free(candidates->parents);
    g_free(candidates->next);
    g_free(candidates->list);
    g_free(candidates->children);
    g_free(candidates);
}

// Calls of a node lie apart: those of soon are fetched before they are needed.
static inline void fetch(const BbCandidates *candidates, const guint32 *members, guint32 i,
                         guint32 count)
{
    if (i + AHEAD >= count)
        return;
    const BbCall *call = &candidates->calls[members[i + AHEAD]];
    __builtin_prefetch(call);
    __builtin_prefetch(&call->replied_ns);
}

static BbParent parent_of(const BbCandidates *candidates, guint32 index)
{
    const BbCall *call = &candidates->calls[index];
    gint64 arrived_ns = candidates->begun_ns ? candidates->begun_ns[index] : call->arrived_ns;
    return (BbParent){arrived_ns, call->replied_ns, index, call->caller};
}

static BbChild child_of(const BbCandidates *candidates, guint32 index)
{
    const BbCall *call = &candidates->calls[index];
    return (BbChild){call->call_ns, MAX(call->call_ns, call->return_ns), index, call->callee};
}

static void sort_parents(BbCandidates *candidates)
{
    BbParent *parents = candidates->parents;
    guint32 count = candidates->n_parents;
    for (guint32 i = 0; i < count; i++)
        candidates->timed[i] = (BbTimed){parents[i].arrived_ns, parents[i].call};
    bb_timesort(candidates->timed, candidates->scratch, count);
    for (guint32 i = 0; i < count; i++)
        parents[i] = parent_of(candidates, candidates->timed[i].index);
}

// Members are in order of call_ns, which where clocks agree is that of arrival.
static void load_parents(BbCandidates *candidates, guint32 node)
{
    const guint32 *members = bb_groups_at(&candidates->to, node);
    guint32 count = candidates->n_parents = bb_groups_size(&candidates->to, node);
    BbParent *parents = candidates->parents;
    bool in_order = true;
    for (guint32 i = 0; i < count; i++) {
        fetch(candidates, members, i, count);
        parents[i] = parent_of(candidates, members[i]);
        in_order = in_order && (i == 0 || parents[i - 1].arrived_ns <= parents[i].arrived_ns);
    }
    if (!in_order)
        sort_parents(candidates);
}

// Sorts by insertion, ties as they were; gives up, with some of it done, where that takes long.
static bool settle_children(BbChild *children, guint32 count)
{
    guint64 moves = 0;
    for (guint32 i = 1; i < count && moves <= (guint64)MOVES * count; i++) {
        BbChild child = children[i];
        guint32 at = i;
        for (; at > 0 && children[at - 1].end_ns > child.end_ns; at--)
            children[at] = children[at - 1];
        children[at] = child;
        moves += i - at;
    }
    return moves <= (guint64)MOVES * count;
}

static void sort_children(BbCandidates *candidates)
{
    BbChild *children = candidates->children;
    guint32 count = candidates->n_children;
    for (guint32 i = 0; i < count; i++)
        candidates->timed[i] = (BbTimed){children[i].end_ns, children[i].call};
    bb_timesort(candidates->timed, candidates->scratch, count);
    for (guint32 i = 0; i < count; i++)
        children[i] = child_of(candidates, candidates->timed[i].index);
}

// Members are in order of call_ns, so a stable sort by the end leaves ties that way; where few
// calls are open at once, that is nearly the order of the ends.
static void load_children(BbCandidates *candidates, guint32 node)
{
    const guint32 *members = bb_groups_at(&candidates->by, node);
    guint32 count = candidates->n_children = bb_groups_size(&candidates->by, node);
    for (guint32 i = 0; i < count; i++) {
        fetch(candidates, members, i, count);
        candidates->children[i] = child_of(candidates, members[i]);
    }
    if (!settle_children(candidates->children, count))
        sort_children(candidates);
}

bool bb_candidates_go(BbCandidates *candidates, guint32 node)
{
    if (!takes_part(candidates, node))
        return false;
    load_parents(candidates, node);
    load_children(candidates, node);
    bb_candidates_rewind(candidates);
    return true;
}

bool bb_candidates_next_node(BbCandidates *candidates)
{
    while (candidates->node < candidates->n_names)
        if (bb_candidates_go(candidates, candidates->node++))
            return true;
    return false;
}

const BbParent *bb_candidates_parents(const BbCandidates *candidates, guint32 *count)
{
    *count = candidates->n_parents;
    return candidates->parents;
}

const BbChild *bb_candidates_children(const BbCandidates *candidates, guint32 *count)
{
    *count = candidates->n_children;
    return candidates->children;
}

bool bb_candidates_is_knotted(const BbCandidates *candidates, guint32 caller, guint32 callee)
{
    return candidates->knotted[caller] && candidates->knotted[callee];
}

void bb_candidates_rewind(BbCandidates *candidates)
{
    candidates->child = 0;
    candidates->n_list = 0;
    guint32 n = candidates->n_parents; // > 0
    for (guint32 i = 0; i < n; i++)
        candidates->next[i] = i + 1;
    candidates->next[n - 1] = END;
    candidates->next[n] = 0;
}

static bool is_knotted(const BbCandidates *candidates, const BbCall *call)
{
    return candidates->knotted[call->caller] && candidates->knotted[call->callee];
}

// Among calls between knotted nodes, where equal intervals or clocks that differ could make two
// calls candidates of each other, a parent lasts longer than its child, or as long and is earlier
// in the order of calls: a strict order. On clocks that agree it excludes nothing else, as what
// contains lasts longer; and unlike an order of stamps it does not depend on their offset.
static bool is_outer(const BbCandidates *candidates, guint32 parent, const BbCall *child,
                     guint32 child_index)
{
    const BbCall *call = &candidates->calls[parent];
    if (!is_knotted(candidates, call))
        return true;
    gint64 outer_ns = bb_time_between(call->call_ns, call->return_ns);
    gint64 inner_ns = bb_time_between(child->call_ns, child->return_ns);
    return outer_ns > inner_ns || (outer_ns == inner_ns && parent < child_index);
}

static void keep_outer(BbCandidates *candidates, const BbChild *child)
{
    const BbCall *call = &candidates->calls[child->call];
    guint32 kept = 0;
    for (guint32 i = 0; i < candidates->n_list; i++) {
        guint32 parent = candidates->list[i];
        if (is_outer(candidates, candidates->parents[parent].call, call, child->call))
            candidates->list[kept++] = parent;
    }
    candidates->n_list = kept;
}

bool bb_candidates_next_child(BbCandidates *candidates)
{
    if (candidates->child == candidates->n_children)
        return false;
    const BbChild *child = &candidates->children[candidates->child++];
    const BbParent *parents = candidates->parents;
    gint64 latest_ns = bb_time_after(child->call_ns, candidates->window_ns);
    gint64 earliest_ns = bb_time_after(child->end_ns, -candidates->window_ns);
    guint32 *next = candidates->next, previous = candidates->n_parents, count = 0;
    for (guint32 p = next[previous]; p != END && parents[p].arrived_ns <= latest_ns; p = next[p]) {
        if (parents[p].replied_ns < earliest_ns) {
            next[previous] = next[p];
            continue;
        }
        candidates->list[count++] = p;
        previous = p;
    }
    candidates->n_list = count;
    if (candidates->any_knotted && is_knotted(candidates, &candidates->calls[child->call]))
        keep_outer(candidates, child);
    return true;
}

guint32 bb_candidates_child(const BbCandidates *candidates)
{
    return candidates->child - 1;
}

const guint32 *bb_candidates_list(const BbCandidates *candidates, guint32 *count)
{
    *count = candidates->n_list;
    return candidates->list;
}
