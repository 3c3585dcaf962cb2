// SPDX-License-Identifier: Apache-2.0
// In: path instances. Out: what each node costs, by operation and chain of callers.
#include "diagnose/blame.h"

#include <stdlib.h>
#include <string.h>

#include "data/critical_path.h"
#include "data/failures.h"
#include "data/tally.h"
#include "diagnose/blame_hints.h"
#include "diagnose/blame_replicas.h"
#include "diagnose/contexts.h"

typedef struct {
    guint32 chain, op; // the node and those above it
    guint64 instance;  // the latest that it was in; 0 for none
    BbBlameCost cost;
    BbStats *self;
} Row;

typedef struct {
    BbBlameCost cost;
    guint64 instance;
} Node;

// What calls waited for: a pool of their caller's, their turn at the callee, or as callers for the
// last byte of a return.
enum { POOL, TURN, REST, KINDS };

typedef struct {
    BbTally index; // (caller, callee, operation) -> waits + 1
    GArray *list;  // of BbBlameWaits
} Waits;

struct BbBlame {
    BbBlameOptions options;
    const BbNames *names;
    BbFailures failures;
    BbCriticalPath *path;
    BbContexts *chains; // of nodes; operations are all BB_NAME_NONE
    BbTally index;      // (chain, op) -> row + 1
    GArray *rows;       // of Row
    GArray *nodes;      // of Node, by name
    Waits waits[KINDS];
    BbChanges *changes;
    BbBlameReplicas *replicas; // NULL: each node counts as itself
    guint64 instances, left_out;
    gint64 latency_ns, left_out_ns;
    double right; // expected number of instances without a wrong link; < 0: not estimated
};

static void clear_row(gpointer row)
{
    bb_stats_free(((Row *)row)->self);
}

BbBlame *bb_blame_new(const BbBlameOptions *options, const BbNames *names)
{
    BbBlame *blame = g_new0(BbBlame, 1);
    blame->options = *options;
    if (blame->options.limit == 0)
        blame->options.limit = BB_BLAME_LIMIT;
    blame->names = names;
    bb_failures_init(&blame->failures, names);
    blame->path = bb_critical_path_new(options->last_byte);
    blame->chains = bb_contexts_new();
    blame->rows = g_array_new(FALSE, FALSE, sizeof(Row));
    blame->nodes = g_array_new(FALSE, TRUE, sizeof(Node));
    for (guint kind = 0; kind < KINDS; kind++) {
        blame->waits[kind].list = g_array_new(FALSE, FALSE, sizeof(BbBlameWaits));
        bb_tally_init(&blame->waits[kind].index);
    }
    blame->changes = bb_changes_new(names);
    bb_tally_init(&blame->index);
    g_array_set_clear_func(blame->rows, clear_row);
    return blame;
}

void bb_blame_free(BbBlame *blame)
{
    if (!blame)
        return;
    bb_failures_clear(&blame->failures);
    bb_critical_path_free(blame->path);
    bb_contexts_free(blame->chains);
    g_array_unref(blame->rows);
    g_array_unref(blame->nodes);
    for (guint kind = 0; kind < KINDS; kind++) {
        g_array_unref(blame->waits[kind].list);
        bb_tally_clear(&blame->waits[kind].index);
    }
    bb_blame_replicas_free(blame->replicas);
    bb_changes_free(blame->changes);
    bb_tally_clear(&blame->index);
    g_free(blame);
}

static gint64 cost_on_path(const BbBlameCost *cost)
{
    return bb_time_after(cost->critical_ns, cost->wire_ns);
}

static bool is_full(const BbBlame *blame)
{
    return blame->options.any_client && blame->rows->len >= blame->options.limit;
}

// BB_CONTEXT_NONE where there is no room for one that is new.
static guint32 chain_of(BbBlame *blame, BbContext chain)
{
    return is_full(blame) ? bb_contexts_find(blame->chains, chain)
                          : bb_contexts_intern(blame->chains, chain);
}

// NULL where there is no room for a new one. chain: BB_CONTEXT_NONE likewise.
static Row *row_of(BbBlame *blame, guint32 chain, guint32 op)
{
    BbTallyKey key = {chain, op, 0};
    if (chain == BB_CONTEXT_NONE || (is_full(blame) && bb_tally_get(&blame->index, key) == 0))
        return NULL;
    guint64 *number = bb_tally_at(&blame->index, key);
    if (*number == 0) {
        Row row = {.chain = chain, .op = op, .self = bb_stats_new()};
        g_array_append_val(blame->rows, row);
        *number = blame->rows->len;
    }
    return &g_array_index(blame->rows, Row, *number - 1);
}

static Node *node_of(BbBlame *blame, guint32 name)
{
    if (name >= blame->nodes->len)
        g_array_set_size(blame->nodes, bb_names_count(blame->names));
    return &g_array_index(blame->nodes, Node, name);
}

static void add_cost(BbBlameCost *cost, const BbCritical *charge, bool failed, guint64 *latest,
                     guint64 instance)
{
    cost->instances += *latest != instance;
    *latest = instance;
    cost->calls++;
    cost->errors += failed;
    cost->critical_ns = bb_time_after(cost->critical_ns, charge->self_ns);
    cost->wire_ns = bb_time_after(cost->wire_ns, charge->wire_ns);
    cost->slack_ns = bb_time_after(cost->slack_ns, charge->slack_ns);
    cost->off_path += !charge->on_path;
}

static void add_wait(Waits *all, BbBlameWaits wait)
{
    guint64 *number = bb_tally_at(&all->index, (BbTallyKey){wait.caller, wait.callee, wait.op});
    if (*number == 0) {
        g_array_append_val(all->list, wait);
        *number = all->list->len;
        return;
    }
    BbBlameWaits *waits = &g_array_index(all->list, BbBlameWaits, *number - 1);
    if ((guint64)wait.limit * MAX(wait.lines, 1) > (guint64)waits->limit * MAX(waits->lines, 1)) {
        waits->limit = wait.limit;
        waits->lines = wait.lines;
    }
    waits->keep &= wait.keep;
    waits->replicas |= wait.replicas;
    waits->calls++;
    waits->waited += wait.waited;
    waits->waited_ns = bb_time_after(waits->waited_ns, wait.waited_ns);
}

static void add_waits(BbBlame *blame, const BbPaths *paths, guint32 index, const BbCritical *charge)
{
    const BbCall *call = &paths->calls[index];
    guint32 caller = bb_paths_node(paths, call->caller);
    guint32 callee = bb_paths_node(paths, call->callee);
    bool replicas = bb_paths_is_role(paths, callee);
    const BbPoolWait *pool = paths->pool_wait ? &paths->pool_wait[index] : NULL;
    const BbWorkerWait *turn = paths->worker_wait ? &paths->worker_wait[index] : NULL;
    if (charge->rest_ns > 0)
        add_wait(&blame->waits[REST], (BbBlameWaits){.caller = caller,
                                                     .callee = callee,
                                                     .op = BB_NAME_NONE,
                                                     .calls = 1,
                                                     .waited = 1,
                                                     .waited_ns = charge->rest_ns});
    if (pool && pool->limit > 0)
        add_wait(&blame->waits[POOL],
                 (BbBlameWaits){.caller = caller,
                                .callee = callee,
                                .op = BB_NAME_NONE,
                                .limit = pool->limit,
                                .replicas = replicas || bb_paths_is_role(paths, caller),
                                .calls = 1,
                                .waited = (double)pool->share,
                                .waited_ns = charge->pool_ns});
    if (turn && turn->limit > 0)
        add_wait(&blame->waits[TURN], (BbBlameWaits){.caller = BB_NAME_NONE,
                                                     .callee = callee,
                                                     .op = turn->by_op ? call->op : BB_NAME_NONE,
                                                     .limit = turn->limit,
                                                     .lines = turn->lines,
                                                     .keep = turn->keep,
                                                     .replicas = replicas,
                                                     .calls = 1,
                                                     .waited = turn->ns > 0,
                                                     .waited_ns = charge->turn_ns});
}

static void add_left_out(BbBlame *blame, const BbCritical *charge)
{
    blame->left_out++;
    blame->left_out_ns =
        bb_time_after(blame->left_out_ns, bb_time_after(charge->self_ns, charge->wire_ns));
}

// The call is below the context `above`. Returns that of what it calls itself: all of it has one
// above it, whether the call returned or not.
static guint32 add_call(BbBlame *blame, const BbPaths *paths, guint32 index, guint32 above,
                        const BbCritical *charge, guint64 number)
{
    const BbCall *call = &paths->calls[index];
    guint32 callee = bb_paths_node(paths, call->callee);
    guint32 op = blame->options.labels ? call->op : BB_NAME_NONE;
    BbContext context = {above, callee, BB_NAME_NONE, false};
    guint32 below = above == BB_CONTEXT_NONE ? above : chain_of(blame, context), own = below;
    context.unanswered = !bb_call_is_returned(call);
    if (context.unanswered && below != BB_CONTEXT_NONE)
        own = chain_of(blame, context);
    Row *row = row_of(blame, own, op);
    Node *node = node_of(blame, callee);
    bool failed = bb_failures_has(&blame->failures, call);
    if (row) {
        add_cost(&row->cost, charge, failed, &row->instance, number);
        bb_stats_push(row->self, (gint64)MIN(paths->self_ns[index], (guint64)G_MAXINT64));
    } else {
        add_left_out(blame, charge);
    }
    add_cost(&node->cost, charge, failed, &node->instance, number);
    add_waits(blame, paths, index, charge);
    if (blame->replicas)
        bb_blame_replicas_add(blame->replicas, paths, index, op);
    return below;
}

static void add_instance(BbBlame *blame, const BbPaths *paths, const BbInstance *instance)
{
    const guint32 *order = paths->order + instance->first;
    const BbCritical *charges = bb_critical_path_find(blame->path, paths, instance);
    const BbCall *root = &paths->calls[order[0]];
    guint64 number = bb_instance_number(paths, instance);
    guint32 above[BB_PATHS_DEPTH_MAX + 1]; // the latest chain of each level
    guint32 client = bb_paths_node(paths, root->caller);
    if (blame->options.any_client)
        client = BB_NAME_NONE;
    above[0] = chain_of(blame, (BbContext){BB_CONTEXT_NONE, client, BB_NAME_NONE, false});
    for (guint32 k = 0; k < instance->count; k++) {
        guint level = paths->level[order[k]];
        above[level] = add_call(blame, paths, order[k], above[level - 1], &charges[k], number);
        blame->latency_ns =
            bb_time_after(blame->latency_ns, charges[k].self_ns + charges[k].wire_ns);
    }
    bb_changes_add(blame->changes, bb_paths_node(paths, root->callee),
                   blame->options.labels ? root->op : BB_NAME_NONE, root->call_ns,
                   bb_time_between(root->call_ns, bb_call_back(root, blame->options.last_byte)));
    blame->right = bb_confidence_add(blame->right, bb_instance_right(paths, instance));
    blame->instances++;
}

// ---- the limit ---------------------------------------------------------------------------------

static void merge_cost(BbBlameCost *sum, const BbBlameCost *part)
{
    sum->instances += part->instances; // of another client: another one
    sum->calls += part->calls;
    sum->errors += part->errors;
    sum->critical_ns = bb_time_after(sum->critical_ns, part->critical_ns);
    sum->wire_ns = bb_time_after(sum->wire_ns, part->wire_ns);
    sum->slack_ns = bb_time_after(sum->slack_ns, part->slack_ns);
    sum->off_path += part->off_path;
}

// The contexts as they would be if all clients were one. Returns the new number of each.
static guint32 *merge_chains(BbBlame *blame)
{
    guint32 count = bb_contexts_count(blame->chains);
    guint32 *number = g_new(guint32, (gsize)count + 1);
    BbContexts *merged = bb_contexts_new();
    for (guint32 i = 0; i < count; i++) {
        BbContext context = *bb_contexts_at(blame->chains, i);
        if (context.above == BB_CONTEXT_NONE)
            context.node = BB_NAME_NONE;
        else
            context.above = number[context.above];
        number[i] = bb_contexts_intern(merged, context);
    }
    bb_contexts_free(blame->chains);
    blame->chains = merged;
    return number;
}

// Where clients are many, who calls whom for each of them is next to nothing and says nothing.
static void merge_clients(BbBlame *blame)
{
    g_autofree guint32 *number = merge_chains(blame);
    g_autoptr(GArray) rows = blame->rows;
    blame->rows = g_array_new(FALSE, FALSE, sizeof(Row));
    g_array_set_clear_func(blame->rows, clear_row);
    bb_tally_reset(&blame->index);
    for (guint i = 0; i < rows->len; i++) {
        const Row *part = &g_array_index(rows, Row, i);
        Row *row = row_of(blame, number[part->chain], part->op);
        row->instance = MAX(row->instance, part->instance);
        merge_cost(&row->cost, &part->cost);
        bb_stats_merge(row->self, part->self);
    }
    blame->options.any_client = true;
}

void bb_blame_add(BbBlame *blame, const BbPaths *paths)
{
    if (paths->roles && !blame->replicas)
        blame->replicas = bb_blame_replicas_new(blame->options.limit);
    for (guint32 i = 0; i < paths->n_instances; i++) {
        const BbInstance *instance = &paths->instances[i];
        if (!bb_call_is_returned(&paths->calls[paths->order[instance->first]]))
            continue;
        add_instance(blame, paths, instance);
        if (!blame->options.any_client && blame->rows->len > blame->options.limit)
            merge_clients(blame);
    }
}

// ---- findings ----------------------------------------------------------------------------------

static gint compare_cost(const BbBlameCost *a, const BbBlameCost *b)
{
    gint64 a_ns = cost_on_path(a), b_ns = cost_on_path(b);
    return a_ns == b_ns ? 0 : a_ns > b_ns ? -1 : 1;
}

static gint by_node_cost(gconstpointer a, gconstpointer b, gpointer names)
{
    const BbBlameNode *x = a, *y = b;
    gint order = compare_cost(&x->cost, &y->cost);
    return order ? order : bb_names_compare(names, x->node, y->node);
}

static gint by_row_cost(gconstpointer a, gconstpointer b, gpointer names)
{
    const BbBlameRow *x = a, *y = b;
    gint order = compare_cost(&x->cost, &y->cost);
    order = order ? order : bb_names_compare(names, x->node, y->node);
    order = order ? order : bb_names_compare(names, x->op, y->op);
    for (guint i = 0; !order && i < MIN(x->n_callers, y->n_callers); i++)
        order = bb_names_compare(names, x->callers[i], y->callers[i]);
    order = order ? order : (x->n_callers > y->n_callers) - (x->n_callers < y->n_callers);
    return order ? order : x->unanswered - y->unanswered;
}

static void publish_rows(BbBlame *blame, BbBlameFindings *findings)
{
    for (guint32 i = 0; i < blame->rows->len; i++) {
        Row *from = &g_array_index(blame->rows, Row, i);
        const BbContext *chain = bb_contexts_at(blame->chains, from->chain);
        g_autoptr(GArray) callers = g_array_new(FALSE, FALSE, sizeof(guint32));
        BbBlameRow row = {.node = chain->node,
                          .op = from->op,
                          .unanswered = chain->unanswered,
                          .cost = from->cost};
        while (chain->above != BB_CONTEXT_NONE) {
            chain = bb_contexts_at(blame->chains, chain->above);
            g_array_append_val(callers, chain->node);
        }
        row.n_callers = callers->len;
        row.callers = g_memdup2(callers->data, callers->len * sizeof(guint32));
        row.self = g_steal_pointer(&from->self);
        g_array_append_val(findings->rows, row);
    }
    g_array_sort_with_data(findings->rows, by_row_cost, (gpointer)blame->names);
}

static void publish_nodes(const BbBlame *blame, BbBlameFindings *findings)
{
    g_autofree guint *rows = g_new0(guint, (gsize)blame->nodes->len + 1);
    for (guint i = 0; i < findings->rows->len; i++)
        rows[g_array_index(findings->rows, BbBlameRow, i).node]++;
    for (guint32 name = 0; name < blame->nodes->len; name++) {
        BbBlameNode node = {name, rows[name], g_array_index(blame->nodes, Node, name).cost};
        if (node.cost.calls > 0)
            g_array_append_val(findings->nodes, node);
    }
    g_array_sort_with_data(findings->nodes, by_node_cost, (gpointer)blame->names);
}

static gint by_wait(gconstpointer a, gconstpointer b, gpointer names)
{
    const BbBlameWaits *x = a, *y = b;
    if (x->waited_ns != y->waited_ns)
        return x->waited_ns > y->waited_ns ? -1 : 1;
    gint order = bb_names_compare(names, x->caller, y->caller);
    order = order ? order : bb_names_compare(names, x->callee, y->callee);
    return order ? order : bb_names_compare(names, x->op, y->op);
}

// Of a kind; without those that none of these calls waited for, or for less time.
static GArray *publish_waits(const BbBlame *blame, guint kind, double least_ns)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(BbBlameWaits));
    for (guint i = 0; i < blame->waits[kind].list->len; i++) {
        BbBlameWaits waits = g_array_index(blame->waits[kind].list, BbBlameWaits, i);
        if (waits.waited >= 0.5 && (double)waits.waited_ns >= least_ns)
            g_array_append_val(all, waits);
    }
    g_array_sort_with_data(all, by_wait, (gpointer)blame->names);
    return all;
}

BbBlameFindings *bb_blame_finish(BbBlame *blame)
{
    BbBlameFindings *findings = g_new0(BbBlameFindings, 1);
    findings->instances = blame->instances;
    findings->latency_ns = blame->latency_ns;
    findings->wrong = bb_confidence_wrong(blame->right, blame->instances);
    findings->any_client = blame->options.any_client;
    findings->left_out = blame->left_out;
    findings->left_out_ns = blame->left_out_ns;
    findings->nodes = g_array_new(FALSE, FALSE, sizeof(BbBlameNode));
    findings->rows = bb_blame_rows_new();
    publish_rows(blame, findings);
    publish_nodes(blame, findings);
    double least_ns = BB_BLAME_SHARE * (double)blame->latency_ns;
    findings->pools = publish_waits(blame, POOL, 0);
    findings->turns = publish_waits(blame, TURN, least_ns);
    findings->rests = publish_waits(blame, REST, least_ns);
    findings->changes = bb_changes_find(blame->changes);
    findings->hints = bb_blame_hints(findings->rows, findings->latency_ns, blame->names);
    if (blame->replicas) {
        findings->replicas = bb_blame_replicas_take(blame->replicas);
        findings->replica_hints =
            bb_blame_hints(findings->replicas, findings->latency_ns, blame->names);
    }
    return findings;
}

void bb_blame_findings_free(BbBlameFindings *findings)
{
    if (!findings)
        return;
    g_array_unref(findings->nodes);
    g_array_unref(findings->rows);
    g_array_unref(findings->hints);
    g_clear_pointer(&findings->replicas, g_array_unref);
    g_clear_pointer(&findings->replica_hints, g_array_unref);
    g_array_unref(findings->pools);
    g_array_unref(findings->turns);
    g_array_unref(findings->changes);
    g_array_unref(findings->rests);
    g_free(findings);
}
