// SPDX-License-Identifier: Apache-2.0
// In: the calls to a node and by it. Out: for each child, in order of return, its possible parents.
//
// Parents are a list in order of arrival. A child reads it from the front up to the first parent
// that arrived after the child was called; what it finds there either was answered before the
// child's return, and then is out of the list for good since returns only grow, or is a candidate.
// So a node costs its parents, its children and its candidates, and a sort.
#include "nesting/sweep.h"

#include "data/large.h"
#include "nesting/timesort.h"

#define END G_MAXUINT32
#define AHEAD 64
#define MOVES 8 // of an insertion, in the mean; beyond, a sort by radix costs less

struct BbSweep {
    const BbCandidates *candidates;
    BbTimed *timed, *scratch;
    BbParent *parents;
    guint32 *next; // of parents: the list, END after the last; next[n_parents] is its head
    BbChild *children;
    guint32 n_parents, n_children;
    guint32 parents_room, children_room, timed_room;

    guint32 child; // the current one is child - 1
    guint32 *list;
    guint32 n_list;
};

BbSweep *bb_sweep_new(const BbCandidates *candidates)
{
    BbSweep *sweep = g_new0(BbSweep, 1);
    sweep->candidates = candidates;
    return sweep;
}

void bb_sweep_free(BbSweep *sweep)
{
    if (!sweep)
        return;
    g_free(sweep->timed);
    g_free(sweep->scratch);
    g_free(sweep->parents);
    g_free(sweep->next);
    g_free(sweep->list);
    g_free(sweep->children);
    g_free(sweep);
}

// Calls of a node lie apart: those of soon are fetched before they are needed.
static inline void fetch(const BbSweep *sweep, const guint32 *members, guint32 i, guint32 count)
{
    if (i + AHEAD >= count)
        return;
    const BbCall *call = &sweep->candidates->calls[members[i + AHEAD]];
    __builtin_prefetch(call);
    __builtin_prefetch(&call->replied_ns);
}

static BbParent parent_of(const BbSweep *sweep, guint32 index)
{
    const BbCall *call = &sweep->candidates->calls[index];
    gint64 arrived_ns =
        sweep->candidates->begun_ns ? sweep->candidates->begun_ns[index] : call->arrived_ns;
    return (BbParent){arrived_ns, call->replied_ns, index, call->caller};
}

static BbChild child_of(const BbSweep *sweep, guint32 index)
{
    const BbCall *call = &sweep->candidates->calls[index];
    return (BbChild){call->call_ns, MAX(call->call_ns, call->return_ns), index, call->callee};
}

static void sort_parents(BbSweep *sweep)
{
    BbParent *parents = sweep->parents;
    guint32 count = sweep->n_parents;
    for (guint32 i = 0; i < count; i++)
        sweep->timed[i] = (BbTimed){parents[i].arrived_ns, parents[i].call};
    bb_timesort(sweep->timed, sweep->scratch, count);
    for (guint32 i = 0; i < count; i++)
        parents[i] = parent_of(sweep, sweep->timed[i].index);
}

// Members are in order of call_ns, which where clocks agree is that of arrival.
static void load_parents(BbSweep *sweep, guint32 node)
{
    const guint32 *members = bb_groups_at(&sweep->candidates->to, node);
    guint32 count = sweep->n_parents = bb_groups_size(&sweep->candidates->to, node);
    BbParent *parents = sweep->parents;
    bool in_order = true;
    for (guint32 i = 0; i < count; i++) {
        fetch(sweep, members, i, count);
        parents[i] = parent_of(sweep, members[i]);
        in_order = in_order && (i == 0 || parents[i - 1].arrived_ns <= parents[i].arrived_ns);
    }
    if (!in_order)
        sort_parents(sweep);
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

static void sort_children(BbSweep *sweep)
{
    BbChild *children = sweep->children;
    guint32 count = sweep->n_children;
    for (guint32 i = 0; i < count; i++)
        sweep->timed[i] = (BbTimed){children[i].end_ns, children[i].call};
    bb_timesort(sweep->timed, sweep->scratch, count);
    for (guint32 i = 0; i < count; i++)
        children[i] = child_of(sweep, sweep->timed[i].index);
}

// Members are in order of call_ns, so a stable sort by the end leaves ties that way; where few
// calls are open at once, that is nearly the order of the ends.
static void load_children(BbSweep *sweep, guint32 node)
{
    const guint32 *members = bb_groups_at(&sweep->candidates->by, node);
    guint32 count = sweep->n_children = bb_groups_size(&sweep->candidates->by, node);
    for (guint32 i = 0; i < count; i++) {
        fetch(sweep, members, i, count);
        sweep->children[i] = child_of(sweep, members[i]);
    }
    if (!settle_children(sweep->children, count))
        sort_children(sweep);
}

static void make_room(BbSweep *sweep, guint32 n_parents, guint32 n_children)
{
    if (n_parents > sweep->parents_room) {
        g_free(sweep->parents);
        g_free(sweep->next);
        g_free(sweep->list);
        sweep->parents = bb_large_new(BbParent, n_parents);
        sweep->next = bb_large_new(guint32, (gsize)n_parents + 1);
        sweep->list = g_new(guint32, n_parents);
        sweep->parents_room = n_parents;
    }
    if (n_children > sweep->children_room) {
        g_free(sweep->children);
        sweep->children = bb_large_new(BbChild, n_children);
        sweep->children_room = n_children;
    }
    if (MAX(n_parents, n_children) > sweep->timed_room) {
        g_free(sweep->timed);
        g_free(sweep->scratch);
        sweep->timed_room = MAX(n_parents, n_children);
        sweep->timed = bb_large_new(BbTimed, sweep->timed_room);
        sweep->scratch = g_new(BbTimed, sweep->timed_room);
    }
}

bool bb_sweep_go(BbSweep *sweep, guint32 node)
{
    const BbCandidates *candidates = sweep->candidates;
    if (!bb_candidates_has(candidates, node))
        return false;
    make_room(sweep, bb_groups_size(&sweep->candidates->to, node),
              bb_groups_size(&sweep->candidates->by, node));
    load_parents(sweep, node);
    load_children(sweep, node);
    bb_sweep_rewind(sweep);
    return true;
}

const BbParent *bb_sweep_parents(const BbSweep *sweep, guint32 *count)
{
    *count = sweep->n_parents;
    return sweep->parents;
}

const BbChild *bb_sweep_children(const BbSweep *sweep, guint32 *count)
{
    *count = sweep->n_children;
    return sweep->children;
}

void bb_sweep_rewind(BbSweep *sweep)
{
    sweep->child = 0;
    sweep->n_list = 0;
    guint32 n = sweep->n_parents; // > 0
    for (guint32 i = 0; i < n; i++)
        sweep->next[i] = i + 1;
    sweep->next[n - 1] = END;
    sweep->next[n] = 0;
}

// Among calls between knotted nodes, where equal intervals or clocks that differ could make two
// calls candidates of each other, a parent lasts longer than its child, or as long and is earlier
// in the order of calls: a strict order. On clocks that agree it excludes nothing else, as what
// contains lasts longer; and unlike an order of stamps it does not depend on their offset.
static bool is_outer(const BbSweep *sweep, guint32 parent, const BbCall *child, guint32 child_index)
{
    const BbCall *call = &sweep->candidates->calls[parent];
    if (!bb_candidates_is_knotted(sweep->candidates, call))
        return true;
    gint64 outer_ns = bb_time_between(call->call_ns, call->return_ns);
    gint64 inner_ns = bb_time_between(child->call_ns, child->return_ns);
    return outer_ns > inner_ns || (outer_ns == inner_ns && parent < child_index);
}

static void keep_outer(BbSweep *sweep, const BbChild *child)
{
    const BbCall *call = &sweep->candidates->calls[child->call];
    guint32 kept = 0;
    for (guint32 i = 0; i < sweep->n_list; i++) {
        guint32 parent = sweep->list[i];
        if (is_outer(sweep, sweep->parents[parent].call, call, child->call))
            sweep->list[kept++] = parent;
    }
    sweep->n_list = kept;
}

bool bb_sweep_next(BbSweep *sweep)
{
    if (sweep->child == sweep->n_children)
        return false;
    const BbChild *child = &sweep->children[sweep->child++];
    const BbParent *parents = sweep->parents;
    gint64 latest_ns = bb_time_after(child->call_ns, sweep->candidates->window_ns);
    gint64 earliest_ns = bb_time_after(child->end_ns, -sweep->candidates->window_ns);
    guint32 *next = sweep->next, previous = sweep->n_parents, count = 0;
    for (guint32 p = next[previous]; p != END && parents[p].arrived_ns <= latest_ns; p = next[p]) {
        if (parents[p].replied_ns < earliest_ns) {
            next[previous] = next[p];
            continue;
        }
        sweep->list[count++] = p;
        previous = p;
    }
    sweep->n_list = count;
    if (sweep->candidates->any_knotted &&
        bb_candidates_is_knotted(sweep->candidates, &sweep->candidates->calls[child->call]))
        keep_outer(sweep, child);
    return true;
}

guint32 bb_sweep_child(const BbSweep *sweep)
{
    return sweep->child - 1;
}

const guint32 *bb_sweep_list(const BbSweep *sweep, guint32 *count)
{
    *count = sweep->n_list;
    return sweep->list;
}
