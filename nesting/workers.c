// SPDX-License-Identifier: Apache-2.0
// In: the calls to a node. Out: on how many it seems to work at once, and when it began each.
#include "nesting/workers.h"

#include <stdlib.h>

#include "data/tally.h"
#include "nesting/by_node.h"
#include "nesting/lines.h"
#include "nesting/timesort.h"

#define MOST BB_SERVED_WORKERS // that are thought of
#define FEWEST 50u             // replies for which more calls were open than there are workers,
#define RARELY 0.01            // and their share of all
#define OUT_OF_TURN 0.02       // share of the replies that may be none of the first of those open
#define SAMPLED 4096u          // calls that are compared: those of the time in which the most wait
#define GAIN 0.2               // nats a call, by which they last more alike;
#define LINES_GAIN 0.05        // and more so in several lines than in one

typedef struct {
    const BbCall *calls;
    BbServed *served; // in order of arrival
    guint32 n;
    guint32 turn[MOST + 2]; // replies, by how many of those open arrived no later than it, from 1,
    guint32 open[MOST + 2]; // and by how many were open; MOST + 1: so many or more
    bool by_connection;     // they stand in several lines
} Node;

// ---- whose turn it was -------------------------------------------------------------------------

// A Fenwick tree over calls that are open, in order of arrival.
static void tree_add(guint32 *tree, guint32 n, guint32 i, guint32 by)
{
    for (guint64 at = (guint64)i + 1; at <= n; at += at & -at)
        tree[at] += by;
}

// Of calls 0 .. i.
static guint32 tree_sum(const guint32 *tree, guint32 i)
{
    guint32 sum = 0;
    for (guint32 at = i + 1; at > 0; at &= at - 1)
        sum += tree[at];
    return sum;
}

static void count_turns(Node *node)
{
    guint32 n = node->n, arrived = 0;
    g_autofree guint32 *tree = g_new0(guint32, (gsize)n + 1);
    g_autofree BbTimed *reply = g_new(BbTimed, n), *scratch = g_new(BbTimed, n);
    for (guint32 i = 0; i < n; i++)
        reply[i] = (BbTimed){node->served[i].e, i};
    bb_timesort(reply, scratch, n);
    for (guint32 k = 0; k < n; k++) {
        guint32 i = reply[k].index;
        for (; arrived < n && node->served[arrived].s <= reply[k].time_ns; arrived++)
            tree_add(tree, n, arrived, 1);
        node->turn[MIN(tree_sum(tree, i), MOST + 1)]++;
        node->open[MIN(arrived - k, MOST + 1)]++;
        tree_add(tree, n, i, G_MAXUINT32); // one less
    }
}

// The fewest workers by whose number all but a few reply in turn; MOST + 1: there is none.
static guint least_by_turns(const Node *node)
{
    guint32 beyond = 0;
    for (guint turn = MOST + 1; turn > 1; turn--) {
        beyond += node->turn[turn];
        if (beyond > OUT_OF_TURN * node->n)
            return turn;
    }
    return 1;
}

// Whether more calls than workers are open often enough.
static bool is_crowded(const Node *node, guint workers)
{
    guint32 crowded = 0;
    for (guint open = workers + 1; open <= MOST + 1; open++)
        crowded += node->open[open];
    return crowded >= FEWEST && crowded >= RARELY * node->n;
}

// The first of those SAMPLED that wait the most, if so many work.
static guint32 find_busiest(const Node *node, guint workers)
{
    g_autofree gint64 *begun = g_new(gint64, node->n);
    guint32 most = 0, busiest = 0;
    bb_served_begin(node->served, node->n, workers, begun, NULL);
    for (guint32 first = 0; first < node->n; first += SAMPLED) {
        guint32 waited = 0;
        for (guint32 i = first; i < MIN(node->n, first + SAMPLED); i++)
            waited += begun[i] > node->served[i].s;
        busiest = waited > most ? first : busiest;
        most = MAX(most, waited);
    }
    return MIN(busiest, node->n - MIN(node->n, SAMPLED));
}

// The entropy of some calls from their turns on.
static double entropy_by(const BbServed *served, guint32 n, guint workers)
{
    g_autofree gint64 *begun = g_new(gint64, (gsize)n + 1);
    bb_served_begin(served, n, workers, begun, NULL);
    return bb_served_entropy(served, n, begun);
}

// The number of workers that makes calls last the most alike; 0: none does by enough.
static guint find_best(const Node *node, guint least)
{
    guint32 first = find_busiest(node, least), n = MIN(node->n, SAMPLED);
    const BbServed *served = node->served + first;
    double whole = bb_served_entropy(served, n, NULL), most = GAIN * n;
    guint best = 0;
    for (guint workers = least; workers <= MOST && is_crowded(node, workers); workers++) {
        double gain = whole - entropy_by(served, n, workers);
        best = gain > most ? workers : best;
        most = MAX(gain, most);
        if (best > 0 && workers > 2 * best && gain < most / 2)
            break; // it falls from there on
    }
    return best;
}

// ---- all nodes ---------------------------------------------------------------------------------

static int by_arrival(const void *a, const void *b)
{
    const BbServed *x = a, *y = b;
    if (x->s != y->s)
        return x->s < y->s ? -1 : 1;
    return (x->call > y->call) - (x->call < y->call);
}

// Numbers the callers, and the operations, if labels, of the calls.
static void set_kinds(const Node *node, bool labels)
{
    BbTally number; // plus one
    guint32 kinds = 0;
    bb_tally_init(&number);
    for (guint32 i = 0; i < node->n; i++) {
        const BbCall *call = &node->calls[node->served[i].call];
        BbTallyKey key = {call->caller, labels ? call->op : BB_NAME_NONE, 0};
        guint64 *kind = bb_tally_at(&number, key);
        if (*kind == 0)
            *kind = ++kinds;
        node->served[i].kind = (guint32)*kind - 1;
    }
    bb_tally_clear(&number);
}

// Calls to a node that it replied to; the caller frees node->served.
static Node node_of(const BbCall *calls, const guint32 *to, guint32 n, bool connections)
{
    Node node = {.calls = calls, .served = g_new(BbServed, (gsize)n + 1)};
    bool in_order = true;
    for (guint32 i = 0; i < n; i++) {
        const BbCall *call = &calls[to[i]];
        if (call->replied_ns == BB_TIME_NONE || call->replied_ns < call->arrived_ns)
            continue;
        in_order &= node.n == 0 || node.served[node.n - 1].s <= call->arrived_ns;
        node.served[node.n++] = (BbServed){.s = call->arrived_ns,
                                           .e = call->replied_ns,
                                           .call = to[i],
                                           .conn = connections ? call->conn : 0};
    }
    if (!in_order)
        qsort(node.served, node.n, sizeof *node.served, by_arrival);
    return node;
}

static BbWorkers *workers_new(const BbCall *calls, guint32 n_calls, guint32 n_names)
{
    BbWorkers *workers = g_new(BbWorkers, 1);
    workers->limit = g_new0(guint32, n_names);
    workers->lines = g_new0(guint32, n_names);
    workers->begun_ns = g_new(gint64, n_calls);
    workers->first_ns = g_new(gint64, n_calls);
    for (guint32 i = 0; i < n_calls; i++)
        workers->begun_ns[i] = workers->first_ns[i] = calls[i].arrived_ns;
    return workers;
}

void bb_workers_free(BbWorkers *workers)
{
    if (!workers)
        return;
    g_free(workers->limit);
    g_free(workers->lines);
    g_free(workers->begun_ns);
    g_free(workers->first_ns);
    g_free(workers);
}

static void note(BbWorkers *workers, const Node *node, guint32 name, guint limit)
{
    g_autofree gint64 *begun = g_new(gint64, node->n), *first = g_new(gint64, node->n);
    guint32 waits[BB_SERVED_LINES] = {0};
    bb_served_begin(node->served, node->n, limit, begun, first);
    for (guint32 i = 0; i < node->n; i++) {
        const BbServed *served = &node->served[i];
        workers->begun_ns[served->call] = begun[i];
        workers->first_ns[served->call] = first[i];
        if (begun[i] > served->s)
            waits[served->line]++;
    }
    workers->limit[name] = limit;
    for (guint line = 0; node->by_connection && line < BB_SERVED_LINES; line++)
        workers->lines[name] += waits[line] >= RARELY * node->n;
}

// Sets the lines of the calls, if these explain them better than one line of so many workers; 0:
// than none. Returns how many workers each has then; else limit.
static guint find_lines(Node *node, guint limit, const BbGapScale *scale)
{
    guint32 first = find_busiest(node, MAX(limit, 1)), n = MIN(node->n, SAMPLED);
    const BbServed *served = node->served + first;
    double one = limit > 0 ? entropy_by(served, n, limit) : G_MAXDOUBLE;
    guint workers = bb_lines_find(node->served, node->n, scale);
    node->by_connection = workers > 0 && entropy_by(served, n, workers) < one - LINES_GAIN * n;
    if (node->by_connection)
        return workers;
    for (guint32 i = 0; i < node->n; i++)
        node->served[i].line = 0;
    return limit;
}

// How many calls a node works on at once, in each line; 0: no limit is known.
static guint find_limit(Node *node, bool labels, const BbGapScale *scale)
{
    if (node->n < FEWEST)
        return 0;
    count_turns(node);
    if (!is_crowded(node, 1)) // most nodes are not
        return 0;
    set_kinds(node, labels);
    guint least = least_by_turns(node);
    guint limit = is_crowded(node, least) ? find_best(node, least) : 0;
    return find_lines(node, limit, scale);
}

BbWorkers *bb_workers_find(const BbCall *calls, guint32 n_calls, guint32 n_names, bool labels,
                           bool connections, const BbGapScale *scale)
{
    BbWorkers *workers = NULL;
    g_auto(BbByNode) to = bb_by_node(calls, n_calls, n_names, true, NULL);
    for (guint32 name = 0; name < n_names; name++) {
        Node node =
            node_of(calls, to.list + to.start[name], bb_by_node_size(&to, name), connections);
        guint limit = find_limit(&node, labels, scale);
        if (limit > 0) {
            workers = workers ? workers : workers_new(calls, n_calls, n_names);
            note(workers, &node, name, limit);
        }
        g_free(node.served);
    }
    return workers;
}
