// SPDX-License-Identifier: Apache-2.0
// In: the calls to a node. Out: on how many it seems to work at once, and when it began each.
#include "nesting/workers.h"

#include <stdlib.h>

#include "nesting/by_node.h"
#include "nesting/keepers.h"
#include "nesting/lines.h"
#include "nesting/timesort.h"

#define MOST BB_SERVED_WORKERS // that are thought of
#define FEWEST 50u             // replies for which more calls were open than there are workers,
#define RARELY 0.01            // and their share of all
#define OUT_OF_TURN 0.02       // share of the replies that may be none of the first of those open
#define SAMPLED 4096u          // calls that are compared: those of the time in which the most wait
#define GAIN 0.2               // nats a call, by which they last more alike;
#define LINES_GAIN 0.05        // and more so in several lines than in one
#define EACH 0.5               // log likelihood a call, by which what a node does must be likelier;
#define OP_EACH 0.02           // of an operation, which may call before its turn: less is gained
#define BEYOND 0.01            // share of the calls that may begin when that many are worked on
#define OPS 16u                // of a node that are looked at by themselves: those of most calls;
#define OP_GAIN 0.5            // more is asked of these, as they are many, of few calls each

typedef struct {
    const BbCall *calls;
    BbServed *served; // in order of arrival
    guint32 n;
    const guint32 *made; // that it makes, in order of call_ns
    guint32 n_made;
    guint32 turn[MOST + 2]; // replies, by how many of those open arrived no later than it, from 1,
    guint32 open[MOST + 2]; // and by how many were open; MOST + 1: so many or more
    bool by_connection;     // they stand in several lines
    bool keep;              // each worker keeps an outgoing connection
    bool connected;         // on connections that are known
    double gain;            // nats a call, by which they last more alike in one line
    gint64 *begun, *first;  // of served, as in BbWorkers; NULL where no limit was looked for
    BbTallyEntry *ops;      // those with a limit of their own, and that in place of their count
    gsize n_ops;
    guint32 n_of_ops; // their calls
} Node;

static void node_clear(Node *node)
{
    g_free(node->served);
    g_free(node->begun);
    g_free(node->first);
    g_free(node->ops);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Node, node_clear)

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

// The least number, from 1 to top, that no more than so many are beyond. count: [number].
static guint least_but(const guint32 *count, guint top, double beyond)
{
    guint32 n = 0;
    for (; top > 1; top--) {
        n += count[top];
        if (n > beyond)
            break;
    }
    return top;
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
static guint find_best(Node *node, guint least, double enough)
{
    guint32 first = find_busiest(node, least), n = MIN(node->n, SAMPLED);
    const BbServed *served = node->served + first;
    double whole = bb_served_entropy(served, n, NULL), most = enough * n;
    guint best = 0;
    for (guint workers = least; workers <= MOST && is_crowded(node, workers); workers++) {
        double gain = whole - entropy_by(served, n, workers);
        best = gain > most ? workers : best;
        most = MAX(gain, most);
        if (best > 0 && workers > 2 * best && gain < most / 2)
            break; // it falls from there on
    }
    node->gain = best > 0 ? most / n : 0;
    return best;
}

// How many are worked on at once, if all stand in one line; 0: no limit is known.
static guint find_one_line(Node *node, double enough)
{
    // By whose number all but a few reply in turn; MOST + 1: there is none.
    guint least = least_but(node->turn, MOST + 1, OUT_OF_TURN * node->n);
    return is_crowded(node, least) ? find_best(node, least, enough) : 0;
}

// ---- all nodes ---------------------------------------------------------------------------------

static int by_arrival(const void *a, const void *b)
{
    const BbServed *x = a, *y = b;
    if (x->s != y->s)
        return x->s < y->s ? -1 : 1;
    return (x->call > y->call) - (x->call < y->call);
}

// Calls to a node that it replied to.
static Node node_of(const BbCall *calls, const guint32 *to, guint32 n, bool connections)
{
    Node node = {.calls = calls, .served = g_new(BbServed, (gsize)n + 1)};
    bool in_order = true;
    for (guint32 i = 0; i < n; i++) {
        const BbCall *call = &calls[to[i]];
        if (call->replied_ns == BB_TIME_NONE || call->replied_ns < call->arrived_ns)
            continue;
        node.connected |= connections && call->conn != 0;
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
    workers->keep = g_new0(bool, n_names);
    workers->margin = g_new0(double, n_names);
    bb_tally_init(&workers->of_ops);
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
    g_free(workers->keep);
    g_free(workers->margin);
    bb_tally_clear(&workers->of_ops);
    g_free(workers->begun_ns);
    g_free(workers->first_ns);
    g_free(workers);
}

guint32 bb_workers_limit(const BbWorkers *workers, const BbCall *call)
{
    guint32 name = call->callee;
    if (workers->margin[name] <= 0)
        return 0;
    if (workers->limit[name] > 0)
        return workers->limit[name];
    return (guint32)bb_tally_get(&workers->of_ops, (BbTallyKey){name, call->op, 0});
}

static void note(BbWorkers *workers, const Node *node, guint32 name, guint limit)
{
    guint32 waits[BB_SERVED_LINES] = {0};
    for (guint32 i = 0; i < node->n; i++) {
        const BbServed *served = &node->served[i];
        workers->begun_ns[served->call] = node->begun[i];
        workers->first_ns[served->call] = node->first[i];
        if (node->by_connection && node->begun[i] > served->s)
            waits[served->line]++;
    }
    for (gsize k = 0; k < node->n_ops; k++)
        *bb_tally_at(&workers->of_ops, (BbTallyKey){name, node->ops[k].key.a, 0}) =
            node->ops[k].count;
    workers->margin[name] = limit > 0 ? EACH : OP_EACH * node->n_of_ops / node->n;
    workers->limit[name] = limit;
    workers->keep[name] = node->keep;
    for (guint line = 0; node->by_connection && line < BB_SERVED_LINES; line++)
        workers->lines[name] += waits[line] >= RARELY * node->n;
}

// Sets the lines of the calls, if these explain them better than one line of so many workers; 0:
// than none. Returns how many workers each has then; else limit.
static guint find_lines(Node *node, guint limit, guint32 busiest, const BbGapScale *scale)
{
    guint32 n = MIN(node->n, SAMPLED);
    const BbServed *served = node->served + busiest;
    double one = limit > 0 ? entropy_by(served, n, limit) : G_MAXDOUBLE;
    guint workers = bb_lines_find(node->served, node->n, scale);
    node->by_connection = workers > 0 && entropy_by(served, n, workers) < one - LINES_GAIN * n;
    if (node->by_connection)
        return workers;
    for (guint32 i = 0; i < node->n; i++)
        node->served[i].line = 0;
    return limit;
}

// How many are worked on at once of those whose beginning is known, hardly ever more.
static guint at_once(const BbServed *served, guint32 n, const gint64 *begun)
{
    g_autofree BbTimed *first = g_new(BbTimed, n), *last = g_new(BbTimed, n);
    g_autofree BbTimed *scratch = g_new(BbTimed, n);
    guint32 times[MOST + 1] = {0}, known = 0, ended = 0; // so many at once
    for (guint32 i = 0; i < n; i++) {
        if (begun[i] == G_MININT64)
            continue;
        first[known] = (BbTimed){begun[i], i};
        last[known++] = (BbTimed){served[i].e, i};
    }
    bb_timesort(first, scratch, known);
    bb_timesort(last, scratch, known);
    for (guint32 i = 0; i < known; i++) {
        while (ended < i && last[ended].time_ns <= first[i].time_ns)
            ended++;
        times[MIN(i + 1 - ended, MOST)]++;
    }
    return least_but(times, MOST, BEYOND * known);
}

// Who is not known to have waited begins when it arrives.
static void begin_others(const BbServed *served, guint32 n, gint64 *begun)
{
    for (guint32 i = 0; i < n; i++)
        begun[i] = begun[i] == G_MININT64 ? served[i].s : begun[i];
}

// Sets when calls began by the outgoing connections of workers that each keep one, if that explains
// them better than what was found before: a limit, in each line, or none (0). Returns how many are
// at work then; else limit.
static guint find_keepers(Node *node, guint limit, guint32 busiest, const BbGapScale *scale)
{
    guint32 n = MIN(node->n, SAMPLED);
    const BbServed *served = node->served + busiest;
    g_autoptr(BbKeepers) keepers =
        bb_keepers_learn(served, n, node->calls, node->made, node->n_made, scale);
    if (!keepers)
        return limit;
    bb_keepers_begin(keepers, served, n, node->calls, node->made, node->n_made, node->begun);
    begin_others(served, n, node->begun);
    double before = limit > 0 ? entropy_by(served, n, limit) : bb_served_entropy(served, n, NULL);
    if (bb_served_entropy(served, n, node->begun) > before - GAIN * n)
        return limit;
    bb_keepers_begin(keepers, node->served, node->n, node->calls, node->made, node->n_made,
                     node->begun);
    limit = at_once(node->served, node->n, node->begun);
    begin_others(node->served, node->n, node->begun);
    for (guint32 i = 0; i < node->n; i++)
        node->first[i] = node->served[i].s; // now and then a request is taken for another one
    node->keep = true;
    node->by_connection = false;
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
    bb_served_set_kinds(node->served, node->n, node->calls, labels);
    guint limit = find_one_line(node, GAIN);
    guint32 busiest = find_busiest(node, MAX(limit, 1));
    if (node->connected)
        limit = find_lines(node, limit, busiest, scale);
    node->begun = g_new(gint64, node->n);
    node->first = g_new(gint64, node->n);
    if (node->n_made > 0)
        limit = find_keepers(node, limit, busiest, scale);
    if (limit > 0 && !node->keep)
        bb_served_begin(node->served, node->n, limit, node->begun, node->first);
    return limit;
}

// ---- operations --------------------------------------------------------------------------------

static int by_count(const void *a, const void *b)
{
    const BbTallyEntry *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return (x->key.a > y->key.a) - (x->key.a < y->key.a);
}

// How many calls each operation has, the most first. The caller frees.
static BbTallyEntry *count_ops(const Node *node, gsize *n)
{
    BbTally count;
    bb_tally_init(&count);
    for (guint32 i = 0; i < node->n; i++)
        ++*bb_tally_at(&count, (BbTallyKey){node->calls[node->served[i].call].op, 0, 0});
    BbTallyEntry *ops = bb_tally_entries(&count, n);
    bb_tally_clear(&count);
    qsort(ops, *n, sizeof *ops, by_count);
    return ops;
}

// How many calls of an operation are worked on at once, whatever the node does besides; 0: no limit
// is known. Sets when they began, and by how much they last more alike, in all.
static guint find_op_limit(const Node *node, guint32 op, gint64 *begun, double *gain)
{
    g_auto(Node) part = {.served = g_new(BbServed, node->n)};
    g_autofree guint32 *at = g_new(guint32, node->n);
    for (guint32 i = 0; i < node->n; i++) {
        if (node->calls[node->served[i].call].op != op)
            continue;
        at[part.n] = i;
        part.served[part.n++] = node->served[i];
    }
    count_turns(&part);
    guint limit = find_one_line(&part, OP_GAIN);
    if (limit == 0)
        return 0;
    part.begun = g_new(gint64, part.n);
    bb_served_begin(part.served, part.n, limit, part.begun, NULL);
    for (guint32 k = 0; k < part.n; k++)
        begun[at[k]] = part.begun[k];
    *gain += part.gain * part.n;
    return limit;
}

// Sets when calls began by limits of single operations, if these explain them better than one of
// all calls in one line; 0: than none. Returns 0 then; else limit. What a request does first it may
// do before it waits.
static guint find_ops(Node *node, guint limit)
{
    if (!is_crowded(node, 1))
        return limit;
    gsize n;
    double gain = 0;
    g_autofree gint64 *begun = g_new(gint64, node->n);
    for (guint32 i = 0; i < node->n; i++)
        begun[i] = node->served[i].s;
    node->ops = count_ops(node, &n);
    for (gsize k = 0; n > 1 && k < MIN(n, OPS) && node->ops[k].count >= FEWEST; k++) {
        BbTallyEntry op = node->ops[k];
        guint of_op = op.key.a != BB_NAME_NONE ? find_op_limit(node, op.key.a, begun, &gain) : 0;
        if (of_op == 0)
            continue;
        node->n_of_ops += (guint32)op.count;
        op.count = of_op;
        node->ops[node->n_ops++] = op;
    }
    if (node->n_ops == 0 || (limit > 0 && gain < (node->gain + LINES_GAIN) * node->n)) {
        node->n_ops = 0;
        return limit;
    }
    for (guint32 i = 0; i < node->n; i++)
        node->first[i] = node->served[i].s;
    g_free(node->begun);
    node->begun = g_steal_pointer(&begun);
    return 0;
}

// ---- all of it ---------------------------------------------------------------------------------

static bool is_any_known(const BbCall *calls, guint32 n)
{
    for (guint32 i = 0; i < n; i++)
        if (calls[i].conn != 0)
            return true;
    return false;
}

BbWorkers *bb_workers_find(const BbCall *calls, guint32 n_calls, guint32 n_names, bool labels,
                           bool connections, const BbGapScale *scale)
{
    BbWorkers *workers = NULL;
    g_auto(BbGroups) to = bb_by_node(calls, n_calls, n_names, true, NULL);
    g_auto(BbGroups) from = {0}; // where connections may tell something
    if (connections && is_any_known(calls, n_calls))
        from = bb_by_node(calls, n_calls, n_names, false, NULL);
    for (guint32 name = 0; name < n_names; name++) {
        g_auto(Node) node =
            node_of(calls, bb_groups_at(&to, name), bb_groups_size(&to, name), connections);
        if (from.list) {
            node.made = bb_groups_at(&from, name);
            node.n_made = bb_groups_size(&from, name);
        }
        guint limit = find_limit(&node, labels, scale);
        if (labels && !node.by_connection && !node.keep)
            limit = find_ops(&node, limit);
        if (limit > 0 || node.n_ops > 0) {
            workers = workers ? workers : workers_new(calls, n_calls, n_names);
            note(workers, &node, name, limit);
        }
    }
    return workers;
}
