// SPDX-License-Identifier: Apache-2.0
// In: calls, of which some hang, with parents. Out: parents of calls that were made for those.
//
// In order of time, so that what hangs has its own parent before its calls are looked at.
#include "nesting/beneath.h"

#include <math.h>

#include "data/tally.h"

#define SEEN_LEAST 10u   // calls of a kind that tell what is usual
#define DEVIATIONS 4.0   // from it, at most
#define SPREAD 0.1       // the least deviation, of a log: of stamps, and by chance
#define ELSEWHERE 0.05   // how likely another cause is, where 1 is a usual delay
#define NOTHING_LESS 1e3 // ns: shorter delays are as good as this

// Of calls of a kind with a parent: how long after its arrival they are made, as logs; and how many
// calls their caller got.
typedef struct {
    guint64 count, parents;
    double sum, squares;
} Usual;

// A call that hangs, and has a parent.
typedef struct {
    guint32 call, kids;
} Open;

typedef struct {
    BbPaths *paths;
    BbTally kinds;     // (caller, callee, op) -> index into usual + 1: of calls without parent
    GArray *usual;     // of Usual
    GHashTable *opens; // node -> GArray of Open, by time
} Work;

// ---- what is usual -----------------------------------------------------------------------------

static BbTallyKey key_of(const BbCall *call)
{
    return (BbTallyKey){call->caller, call->callee, call->op};
}

static Usual *usual_of(const Work *work, const BbCall *call)
{
    guint64 number = bb_tally_get(&work->kinds, key_of(call));
    return number > 0 ? &g_array_index(work->usual, Usual, number - 1) : NULL;
}

static GArray *opens_of(const Work *work, guint32 node)
{
    return g_hash_table_lookup(work->opens, GUINT_TO_POINTER(node));
}

// The nodes that got calls that hang, and the kinds of calls that they make for nobody.
static void find_kinds(Work *work, const bool *hanging)
{
    const BbPaths *paths = work->paths;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        gpointer node = GUINT_TO_POINTER(paths->calls[i].callee);
        if (hanging[i] && !g_hash_table_contains(work->opens, node))
            g_hash_table_insert(work->opens, node, g_array_new(FALSE, FALSE, sizeof(Open)));
    }
    for (guint32 i = 0; i < paths->n_calls; i++) {
        const BbCall *call = &paths->calls[i];
        if (paths->parent[i] != BB_CALL_NO_PARENT || !opens_of(work, call->caller))
            continue;
        guint64 *number = bb_tally_at(&work->kinds, key_of(call));
        if (*number > 0)
            continue;
        g_array_set_size(work->usual, work->usual->len + 1);
        *number = work->usual->len;
    }
}

static double log_of(gint64 ns)
{
    return log(MAX((double)ns, NOTHING_LESS));
}

static void measure(Work *work)
{
    const BbPaths *paths = work->paths;
    g_autoptr(GHashTable) got = g_hash_table_new(NULL, NULL); // node -> calls with return
    for (guint32 i = 0; i < paths->n_calls; i++) {
        const BbCall *call = &paths->calls[i];
        gpointer node = GUINT_TO_POINTER(call->callee);
        if (bb_call_is_returned(call) && opens_of(work, call->callee))
            g_hash_table_insert(
                got, node, GUINT_TO_POINTER(GPOINTER_TO_UINT(g_hash_table_lookup(got, node)) + 1));
    }
    for (guint32 i = 0; i < paths->n_calls; i++) {
        const BbCall *call = &paths->calls[i];
        Usual *usual = usual_of(work, call);
        if (!usual || paths->parent[i] == BB_CALL_NO_PARENT)
            continue;
        double log =
            log_of(bb_time_between(paths->calls[paths->parent[i]].arrived_ns, call->call_ns));
        usual->count++;
        usual->sum += log;
        usual->squares += log * log;
        usual->parents = GPOINTER_TO_UINT(g_hash_table_lookup(got, GUINT_TO_POINTER(call->caller)));
    }
}

// ---- choosing ----------------------------------------------------------------------------------

// How likely a call was made for one that arrived so long before; 1 where that is what is usual.
static double likelihood(const Usual *usual, gint64 delay_ns)
{
    double mean = usual->sum / (double)usual->count;
    double variance = usual->squares / (double)usual->count - mean * mean;
    double off = (log_of(delay_ns) - mean) / MAX(sqrt(MAX(variance, 0)), SPREAD);
    return delay_ns < 0 || fabs(off) > DEVIATIONS ? 0 : exp(-0.5 * off * off);
}

// No call of the node that hangs is given more than twice as many as others have, or one.
static guint32 kids_most(const Usual *usual)
{
    return (guint32)MAX(1, ceil(2 * (double)usual->count / (double)MAX(usual->parents, 1)) - 1);
}

// Where nodes call each other, what hangs may have been made for this very call.
static bool is_above(const BbPaths *paths, guint32 call, guint32 below)
{
    while (below != call && paths->parent[below] != BB_CALL_NO_PARENT)
        below = paths->parent[below];
    return below == call;
}

static void choose(Work *work, guint32 call, const Usual *usual, GArray *opens)
{
    BbPaths *paths = work->paths;
    double most = 0, sum = ELSEWHERE;
    Open *best = NULL;
    guint from = opens->len - MIN(opens->len, BB_BENEATH_CANDIDATES);
    for (guint k = from; k < opens->len; k++) {
        Open *open = &g_array_index(opens, Open, k);
        gint64 arrived_ns = paths->calls[open->call].arrived_ns;
        double likely = likelihood(usual, bb_time_between(arrived_ns, paths->calls[call].call_ns));
        if (open->kids >= kids_most(usual))
            continue;
        sum += likely;
        if (likely > most) {
            most = likely;
            best = open;
        }
    }
    if (!best || most / sum < 0.5 || is_above(paths, call, best->call))
        return;
    best->kids++;
    paths->parent[call] = best->call;
    paths->confidence[call] = (float)(most / sum);
}

static void choose_all(Work *work, const bool *hanging)
{
    BbPaths *paths = work->paths;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        const BbCall *call = &paths->calls[i];
        const Usual *usual = usual_of(work, call);
        GArray *opens = opens_of(work, call->caller);
        if (paths->parent[i] == BB_CALL_NO_PARENT && opens && usual && usual->count >= SEEN_LEAST)
            choose(work, i, usual, opens);
        if (!hanging[i] || paths->parent[i] == BB_CALL_NO_PARENT)
            continue;
        Open open = {.call = i};
        g_array_append_val(opens_of(work, call->callee), open);
    }
}

void bb_beneath_find(BbPaths *paths, const bool *hanging)
{
    if (!hanging)
        return;
    Work work = {.paths = paths,
                 .usual = g_array_new(FALSE, TRUE, sizeof(Usual)),
                 .opens = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref)};
    bb_tally_init(&work.kinds);
    find_kinds(&work, hanging);
    measure(&work);
    choose_all(&work, hanging);
    bb_tally_clear(&work.kinds);
    g_array_unref(work.usual);
    g_hash_table_unref(work.opens);
}
