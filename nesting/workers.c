// SPDX-License-Identifier: Apache-2.0
// In: the calls to a node. Out: on how many it seems to work at once, and when it began each.
#include "nesting/workers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nesting/by_node.h"
#include "nesting/timesort.h"

#define MOST 64u         // workers that are thought of
#define FEWEST 50u       // replies for which more calls were open than there are workers,
#define RARELY 0.01      // and their share of all
#define OUT_OF_TURN 0.02 // share of the replies that may be none of the first of those open
#define SAMPLED 4096u    // calls that are compared: those of the time in which the most wait
#define GAIN 0.2         // nats a call, by which they last more alike
#define UNIT_NS 1000.0   // times are no finer than that

// A call to the node.
typedef struct {
    gint64 s, e; // arrival, reply
    guint32 call;
} Served;

typedef struct {
    const BbCall *calls;
    bool labels;
    Served *served; // in order of arrival
    guint32 n;
    guint32 turn[MOST + 2]; // replies, by how many of those open arrived no later than it, from 1,
    guint32 open[MOST + 2]; // and by how many were open; MOST + 1: so many or more
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

// The latest times, in order, so many at most.
typedef struct {
    gint64 at[MOST];
    guint n, most;
} Latest;

static void latest_add(Latest *latest, gint64 time)
{
    if (latest->n == latest->most) {
        if (time <= latest->at[0])
            return;
        memmove(latest->at, latest->at + 1, --latest->n * sizeof *latest->at);
    }
    guint at = latest->n++;
    for (; at > 0 && latest->at[at - 1] > time; at--)
        latest->at[at] = latest->at[at - 1];
    latest->at[at] = time;
}

// When each begins: as soon as fewer of those before it are open than there are workers. Who
// replied before that was not in the line. first: the same one turn earlier; or NULL.
static void begin_each(const Served *served, guint32 n, guint workers, gint64 *begun, gint64 *first)
{
    Latest replies = {.most = workers};
    gint64 last = G_MININT64;
    for (guint32 i = 0; i < n; i++) {
        bool all_busy = replies.n == workers && replies.at[0] > served[i].s;
        gint64 turn = all_busy ? replies.at[0] : served[i].s;
        begun[i] = turn <= served[i].e ? turn : served[i].s;
        if (first)
            first[i] = MIN(begun[i], MAX(served[i].s, last));
        last = turn;
        latest_add(&replies, served[i].e);
    }
}

// ---- how much alike calls last -----------------------------------------------------------------

typedef struct {
    guint32 caller, op;
    gint64 ns;
} Lasting;

static int by_kind(const Lasting *x, const Lasting *y)
{
    if (x->caller != y->caller)
        return x->caller < y->caller ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op);
}

static int by_kind_and_time(const void *a, const void *b)
{
    const Lasting *x = a, *y = b;
    int order = by_kind(x, y);
    return order ? order : (x->ns > y->ns) - (x->ns < y->ns);
}

// Of calls of one kind, in order: the entropy of how long they last, times their number, in nats
// (Vasicek, A test for normality based on sample entropy, J. R. Stat. Soc. B 38, 1976).
static double entropy_of_kind(const Lasting *lasting, guint32 n)
{
    guint32 m = MAX(1, (guint32)(sqrt(n) / 2));
    double sum = 0;
    for (guint32 i = 0; n > 1 && i < n; i++) {
        guint32 low = i > m ? i - m : 0, high = MIN(i + m, n - 1);
        sum += log(((double)(lasting[high].ns - lasting[low].ns) + UNIT_NS) / (high - low));
    }
    return sum;
}

// The same of n calls from the first on, given their kinds. begun: NULL: from their arrival.
static double entropy(const Node *node, guint32 first, guint32 n, const gint64 *begun,
                      Lasting *lasting)
{
    double sum = 0;
    for (guint32 i = 0; i < n; i++) {
        const Served *served = &node->served[first + i];
        const BbCall *call = &node->calls[served->call];
        lasting[i] = (Lasting){call->caller, node->labels ? call->op : BB_NAME_NONE,
                               bb_time_between(begun ? begun[i] : served->s, served->e)};
    }
    qsort(lasting, n, sizeof *lasting, by_kind_and_time);
    for (guint32 i = 0, end; i < n; i = end) {
        for (end = i; end < n && by_kind(&lasting[i], &lasting[end]) == 0;)
            end++;
        sum += entropy_of_kind(lasting + i, end - i);
    }
    return sum;
}

// The first of those SAMPLED that wait the most, if so many work.
static guint32 find_busiest(const Node *node, guint workers)
{
    g_autofree gint64 *begun = g_new(gint64, node->n);
    guint32 most = 0, busiest = 0;
    begin_each(node->served, node->n, workers, begun, NULL);
    for (guint32 first = 0; first < node->n; first += SAMPLED) {
        guint32 waited = 0;
        for (guint32 i = first; i < MIN(node->n, first + SAMPLED); i++)
            waited += begun[i] > node->served[i].s;
        busiest = waited > most ? first : busiest;
        most = MAX(most, waited);
    }
    return MIN(busiest, node->n - MIN(node->n, SAMPLED));
}

// The number of workers that makes calls last the most alike; 0: none does by enough.
static guint find_best(const Node *node, guint least)
{
    guint32 first = find_busiest(node, least), n = MIN(node->n, SAMPLED);
    g_autofree Lasting *lasting = g_new(Lasting, n);
    g_autofree gint64 *begun = g_new(gint64, n);
    double whole = entropy(node, first, n, NULL, lasting), most = GAIN * n;
    guint best = 0;
    for (guint workers = least; workers <= MOST && is_crowded(node, workers); workers++) {
        begin_each(node->served + first, n, workers, begun, NULL);
        double gain = whole - entropy(node, first, n, begun, lasting);
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
    const Served *x = a, *y = b;
    if (x->s != y->s)
        return x->s < y->s ? -1 : 1;
    return (x->call > y->call) - (x->call < y->call);
}

// Calls to a node that it replied to; the caller frees node->served.
static Node node_of(const BbCall *calls, const guint32 *to, guint32 n, bool labels)
{
    Node node = {.calls = calls, .labels = labels, .served = g_new(Served, (gsize)n + 1)};
    bool in_order = true;
    for (guint32 i = 0; i < n; i++) {
        const BbCall *call = &calls[to[i]];
        if (call->replied_ns == BB_TIME_NONE || call->replied_ns < call->arrived_ns)
            continue;
        in_order &= node.n == 0 || node.served[node.n - 1].s <= call->arrived_ns;
        node.served[node.n++] = (Served){call->arrived_ns, call->replied_ns, to[i]};
    }
    if (!in_order)
        qsort(node.served, node.n, sizeof *node.served, by_arrival);
    return node;
}

static BbWorkers *workers_new(const BbCall *calls, guint32 n_calls, guint32 n_names)
{
    BbWorkers *workers = g_new(BbWorkers, 1);
    workers->limit = g_new0(guint32, n_names);
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
    g_free(workers->begun_ns);
    g_free(workers->first_ns);
    g_free(workers);
}

static void note(BbWorkers *workers, const Node *node, guint32 name, guint limit)
{
    g_autofree gint64 *begun = g_new(gint64, node->n), *first = g_new(gint64, node->n);
    begin_each(node->served, node->n, limit, begun, first);
    for (guint32 i = 0; i < node->n; i++) {
        workers->begun_ns[node->served[i].call] = begun[i];
        workers->first_ns[node->served[i].call] = first[i];
    }
    workers->limit[name] = limit;
}

// How many calls a node works on at once; 0: no limit is known.
static guint find_limit(Node *node)
{
    if (node->n < FEWEST)
        return 0;
    count_turns(node);
    guint least = least_by_turns(node);
    return is_crowded(node, least) ? find_best(node, least) : 0; // most nodes are not
}

BbWorkers *bb_workers_find(const BbCall *calls, guint32 n_calls, guint32 n_names, bool labels)
{
    BbWorkers *workers = NULL;
    g_auto(BbByNode) to = bb_by_node(calls, n_calls, n_names, true, NULL);
    for (guint32 name = 0; name < n_names; name++) {
        Node node = node_of(calls, to.list + to.start[name], bb_by_node_size(&to, name), labels);
        guint limit = find_limit(&node);
        if (limit > 0) {
            workers = workers ? workers : workers_new(calls, n_calls, n_names);
            note(workers, &node, name, limit);
        }
        g_free(node.served);
    }
    return workers;
}
