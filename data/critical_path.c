// SPDX-License-Identifier: Apache-2.0
// In: a path instance. Out: what of the root call's latency each of its calls is charged with.
//
// Calls are taken from the root down. Each has a window of time on its callee's clock, which is
// charged in full: walking back from the window's end, to the callee itself where none of its calls
// had just returned, else to that call. A call's own window has the length of what it is charged
// with, less the wire, and ends with its return: clocks of two nodes are never compared.
#include "data/critical_path.h"

#include <stdlib.h>

#define FEW 16 // kids sorted by insertion

// A call as its caller sees it, on the caller's clock.
typedef struct {
    gint64 from_ns, to_ns; // from <= to
    guint32 place;         // in the instance
} Kid;

typedef struct {
    gint64 from_ns, to_ns; // what is charged, on the callee's clock; from <= to
    bool given_up;         // its caller did not wait longer: what is open then was waited for
    guint32 parent;        // place in the instance
    guint32 kids_end;      // its kids are those before, up to the end of the place before it
} Place;

struct BbCriticalPath {
    bool last_byte;
    GArray *charges; // of BbCritical, in order of the instance's calls, as the others
    GArray *places;  // of Place
    GArray *kids;    // of Kid, grouped by parent
};

BbCriticalPath *bb_critical_path_new(bool last_byte)
{
    BbCriticalPath *path = g_new(BbCriticalPath, 1);
    *path = (BbCriticalPath){
        .last_byte = last_byte,
        .charges = g_array_new(FALSE, TRUE, sizeof(BbCritical)),
        .places = g_array_new(FALSE, TRUE, sizeof(Place)),
        .kids = g_array_new(FALSE, FALSE, sizeof(Kid)),
    };
    return path;
}

void bb_critical_path_free(BbCriticalPath *path)
{
    if (!path)
        return;
    g_array_unref(path->charges);
    g_array_unref(path->places);
    g_array_unref(path->kids);
    g_free(path);
}

// The window in which the callee worked on the call until late_ns before its end, of which the last
// most_ns count.
static void open_window(const BbCriticalPath *path, const BbCall *call, gint64 late_ns,
                        gint64 most_ns, Place *place)
{
    gint64 end_ns = bb_time_between(late_ns, bb_call_end(call, path->last_byte));
    gint64 latency_ns = bb_time_between(call->arrived_ns, end_ns);
    place->given_up = late_ns > 0 || !bb_call_is_returned(call);
    place->to_ns = end_ns;
    place->from_ns = end_ns - CLAMP(latency_ns, 0, most_ns);
}

static Kid see_kid(const BbCriticalPath *path, const BbCall *call, guint32 place)
{
    gint64 to_ns = bb_call_back(call, path->last_byte);
    return (Kid){MIN(call->call_ns, to_ns), to_ns, place};
}

// The latest return first; of equals the earliest call, then the first in the instance.
static int by_return(const void *a, const void *b)
{
    const Kid *x = a, *y = b;
    if (x->to_ns != y->to_ns)
        return x->to_ns > y->to_ns ? -1 : 1;
    if (x->from_ns != y->from_ns)
        return x->from_ns < y->from_ns ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static void sort_kids(Kid *kids, guint32 count)
{
    if (count > FEW) {
        qsort(kids, count, sizeof *kids, by_return);
        return;
    }
    for (guint32 i = 1; i < count; i++) {
        Kid kid = kids[i];
        guint32 at = i;
        for (; at > 0 && by_return(&kid, &kids[at - 1]) < 0; at--)
            kids[at] = kids[at - 1];
        kids[at] = kid;
    }
}

// Finds the parents' places; then places[p].kids_end is where the kids of p begin.
static void find_parents(BbCriticalPath *path, const BbPaths *paths, const BbInstance *instance)
{
    guint32 above[BB_PATHS_DEPTH_MAX + 1]; // the latest place of each level down to this one
    const guint32 *order = paths->order + instance->first;
    Place *places = &g_array_index(path->places, Place, 0);
    for (guint32 p = 0; p < instance->count; p++) {
        guint level = paths->level[order[p]];
        above[level] = p;
        places[p].parent = p > 0 ? above[level - 1] : 0;
        if (p > 0)
            places[places[p].parent].kids_end++;
    }
    guint32 kids = 0;
    for (guint32 p = 0; p < instance->count; p++) {
        guint32 count = places[p].kids_end;
        places[p].kids_end = kids;
        kids += count;
    }
}

static void collect_kids(BbCriticalPath *path, const BbPaths *paths, const BbInstance *instance)
{
    const guint32 *order = paths->order + instance->first;
    Place *places = &g_array_index(path->places, Place, 0);
    Kid *kids = &g_array_index(path->kids, Kid, 0);
    find_parents(path, paths, instance);
    for (guint32 p = 1; p < instance->count; p++)
        kids[places[places[p].parent].kids_end++] = see_kid(path, &paths->calls[order[p]], p);
    for (guint32 p = 0, start = 0; p < instance->count; start = places[p++].kids_end)
        sort_kids(kids + start, places[p].kids_end - start);
}

// How long a call waits for its turn. It does so in the first time in which its callee works that
// is long enough, or in the longest.
typedef struct {
    gint64 ns;
    gint64 held_ns;   // how long that time is, of those seen
    BbCritical *held; // the call after it; NULL: the reply
} Turn;

// The callee's own time before it made the call `next`; NULL: before it replied.
static void note_gap(BbCriticalPath *path, BbCritical *charge, const Kid *next, gint64 gap_ns,
                     Turn *turn)
{
    if (!charge->on_path)
        return;
    BbCritical *before = next ? &g_array_index(path->charges, BbCritical, next->place) : NULL;
    charge->self_ns += gap_ns;
    if (before)
        before->gap_ns = gap_ns;
    if (gap_ns >= MIN(turn->held_ns, turn->ns))
        *turn = (Turn){turn->ns, gap_ns, before};
}

// What came of the return after its first byte, at to_ns, and before the caller went on, at at_ns.
static gint64 rest_of(const BbCriticalPath *path, const BbCall *call, gint64 to_ns, gint64 at_ns)
{
    if (path->last_byte || !bb_call_is_returned(call))
        return 0;
    gint64 rest_ns = bb_time_between(to_ns, bb_call_back(call, true));
    return rest_ns <= bb_time_between(to_ns, at_ns) ? MAX(rest_ns, 0) : 0;
}

// Walks back through the window of place p; its kids get windows and charges.
static void walk(BbCriticalPath *path, const BbPaths *paths, const guint32 *order, guint32 p)
{
    const Place *place = &g_array_index(path->places, Place, p);
    BbCritical *charge = &g_array_index(path->charges, BbCritical, p);
    const Kid *kids = &g_array_index(path->kids, Kid, 0);
    gint64 at_ns = place->to_ns;
    const Kid *waited = NULL; // the latest call walked through
    Turn turn = {.ns = paths->worker_wait ? MAX(paths->worker_wait[order[p]].ns, 0) : 0};
    for (guint32 k = p > 0 ? place[-1].kids_end : 0; k < place->kids_end; k++) {
        const Kid *kid = &kids[k];
        const BbCall *call = &paths->calls[order[kid->place]];
        Place *below = &g_array_index(path->places, Place, kid->place);
        BbCritical *kid_charge = &g_array_index(path->charges, BbCritical, kid->place);
        gint64 to_ns = kid->to_ns;
        if (place->given_up && kid->from_ns < place->to_ns)
            to_ns = MIN(to_ns, place->to_ns);
        if (to_ns > at_ns || to_ns < place->from_ns) {
            open_window(path, call, 0, G_MAXINT64, below);
            if (to_ns > at_ns && waited)
                kid_charge->slack_ns = MAX(waited->to_ns - to_ns, 0);
            continue;
        }
        note_gap(path, charge, waited, at_ns - to_ns, &turn);
        kid_charge->rest_ns = charge->on_path ? rest_of(path, call, to_ns, at_ns) : 0;
        at_ns = MAX(kid->from_ns, place->from_ns);
        open_window(path, call, bb_time_between(to_ns, kid->to_ns), to_ns - at_ns, below);
        kid_charge->on_path = charge->on_path;
        if (charge->on_path)
            kid_charge->wire_ns = to_ns - at_ns - (below->to_ns - below->from_ns);
        waited = kid;
    }
    note_gap(path, charge, waited, at_ns - place->from_ns, &turn);
    charge->turn_ns = MIN(turn.ns, turn.held_ns);
    if (turn.held)
        turn.held->begun_ns = charge->turn_ns;
}

// Who waits makes no call meanwhile: on the path that is, or it is not waited for itself.
static void note_pool(BbCritical *charge, const BbPaths *paths, guint32 call)
{
    if (paths->pool_wait)
        charge->pool_ns = CLAMP(paths->pool_wait[call].ns, 0, charge->gap_ns - charge->begun_ns);
}

const BbCritical *bb_critical_path_find(BbCriticalPath *path, const BbPaths *paths,
                                        const BbInstance *instance)
{
    const guint32 *order = paths->order + instance->first;
    g_assert(bb_call_is_returned(&paths->calls[order[0]]));
    g_array_set_size(path->charges, 0); // what is set to a size after it is zero
    g_array_set_size(path->places, 0);
    g_array_set_size(path->charges, instance->count);
    g_array_set_size(path->places, instance->count);
    g_array_set_size(path->kids, instance->count); // never NULL
    collect_kids(path, paths, instance);
    g_array_index(path->charges, BbCritical, 0).on_path = true;
    open_window(path, &paths->calls[order[0]], 0, G_MAXINT64,
                &g_array_index(path->places, Place, 0));
    for (guint32 p = 0; p < instance->count; p++) {
        walk(path, paths, order, p); // its gap is known by then, from its parent
        note_pool(&g_array_index(path->charges, BbCritical, p), paths, order[p]);
    }
    return &g_array_index(path->charges, BbCritical, 0);
}
