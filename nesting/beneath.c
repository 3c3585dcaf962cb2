// SPDX-License-Identifier: Apache-2.0
// In: calls, of which some hang, with parents. Out: parents of calls that were made for those.
//
// In order of time, so that what hangs has its own parent before its calls are looked at.
#include "nesting/beneath.h"

#include <math.h>

#include "nesting/usual.h"

#define SEEN_LEAST 10u // calls of a kind that tell what is usual
#define DEVIATIONS 4.0 // from it, at most
#define SPREAD 0.1     // the least deviation, of a log: of stamps, and by chance
#define ELSEWHERE 0.05 // how likely another cause is, where 1 is a usual delay

// A call that hangs, and has a parent.
typedef struct {
    guint32 call, kids;
} Open;

typedef struct {
    BbPaths *paths;
    const bool *hanging;
    bool *given_up;
    GArray **opens;  // [node]: of Open, by time; NULL where nothing hangs
    guint32 *got;    // [node]: calls with return
    BbUsual *delays; // of calls of such nodes, after the arrival of their parent
} Work;

// ---- what is usual -----------------------------------------------------------------------------

static void find_nodes(Work *work)
{
    const BbPaths *paths = work->paths;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        guint32 node = paths->calls[i].callee;
        work->got[node] += bb_call_is_returned(&paths->calls[i]);
        if (work->hanging[i] && !work->opens[node])
            work->opens[node] = g_array_new(FALSE, FALSE, sizeof(Open));
    }
}

// Whether none is known to have waited for it.
static bool is_free(const Work *work, guint32 call)
{
    return work->paths->parent[call] == BB_CALL_NO_PARENT || work->given_up[call];
}

static void measure(Work *work)
{
    const BbPaths *paths = work->paths;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        const BbCall *call = &paths->calls[i];
        guint32 parent = paths->parent[i];
        if (!is_free(work, i) && work->opens[call->caller])
            bb_usual_add(work->delays, bb_usual_kind(call),
                         bb_time_between(paths->calls[parent].arrived_ns, call->call_ns));
    }
}

// ---- choosing ----------------------------------------------------------------------------------

// How likely a call was made for one that arrived so long before; 1 where that is what is usual.
static double likelihood(const BbUsualTimes *delays, gint64 delay_ns)
{
    double off = bb_usual_off(delays, delay_ns, SPREAD);
    return delay_ns < 0 || fabs(off) > DEVIATIONS ? 0 : exp(-0.5 * off * off);
}

// What hangs is given about twice as many calls of a kind as others of its node have, or one.
static guint32 kids_most(const BbUsualTimes *delays, guint32 got)
{
    return (guint32)MAX(1, ceil(2 * (double)delays->count / (double)MAX(got, 1)) - 1);
}

// Where nodes call each other, what hangs may have been made for this very call. Of chains that are
// cut anyway it is not asked, and nothing goes beneath them.
static bool may_be_above(const BbPaths *paths, guint32 call, guint32 below)
{
    guint steps = 0;
    while (below != call && paths->parent[below] != BB_CALL_NO_PARENT &&
           steps++ < BB_PATHS_DEPTH_MAX)
        below = paths->parent[below];
    return below == call || steps > BB_PATHS_DEPTH_MAX;
}

// delays: of calls of its kind.
static void choose(Work *work, guint32 call, const BbUsualTimes *delays)
{
    BbPaths *paths = work->paths;
    guint32 node = paths->calls[call].caller, room = kids_most(delays, work->got[node]);
    GArray *opens = work->opens[node];
    double most = 0, sum = ELSEWHERE;
    Open *best = NULL;
    for (guint k = opens->len - MIN(opens->len, BB_BENEATH_CANDIDATES); k < opens->len; k++) {
        Open *open = &g_array_index(opens, Open, k);
        if (open->kids >= room)
            continue;
        gint64 arrived_ns = paths->calls[open->call].arrived_ns;
        double likely = likelihood(delays, bb_time_between(arrived_ns, paths->calls[call].call_ns));
        sum += likely;
        if (likely > most) {
            most = likely;
            best = open;
        }
    }
    if (!best || most / sum < 0.5 || may_be_above(paths, call, best->call))
        return;
    best->kids++;
    work->given_up[call] = false;
    paths->parent[call] = best->call;
    paths->confidence[call] = (float)(most / sum);
}

static void choose_all(Work *work)
{
    const BbPaths *paths = work->paths;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        const BbCall *call = &paths->calls[i];
        if (is_free(work, i) && work->opens[call->caller]) {
            const BbUsualTimes *delays = bb_usual_find(work->delays, bb_usual_kind(call));
            if (delays && delays->count >= SEEN_LEAST)
                choose(work, i, delays);
        }
        if (!work->hanging[i] || paths->parent[i] == BB_CALL_NO_PARENT)
            continue;
        Open open = {.call = i};
        g_array_append_val(work->opens[call->callee], open);
    }
}

void bb_beneath_find(BbPaths *paths, guint32 n_names, const bool *hanging, bool *given_up)
{
    if (!hanging)
        return;
    g_autofree GArray **opens = g_new0(GArray *, n_names);
    g_autofree guint32 *got = g_new0(guint32, n_names);
    g_autoptr(BbUsual) delays = bb_usual_new();
    Work work = {paths, hanging, given_up, opens, got, delays};
    find_nodes(&work);
    measure(&work);
    choose_all(&work);
    for (guint32 node = 0; node < n_names; node++)
        g_clear_pointer(&opens[node], g_array_unref);
}
