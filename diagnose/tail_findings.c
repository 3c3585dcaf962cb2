// SPDX-License-Identifier: Apache-2.0
// In: sums of all requests, records of the slowest. Out: in what the slowest differ.
#include <stdlib.h>
#include <string.h>

#include "diagnose/tail_parts.h"

#define SHARE_LEAST 0.01 // of the excess: what is less is not told, unless calls differ

// A group with its slowest.
typedef struct {
    const BbTail *tail;
    const BbTailGroup *group;
    guint32 n_slow;      // the first ones of group->slowest
    double scale;        // of the slow to all of the group
    double rest;         // the others
    BbRequestSums *slow; // by context
} Comparison;

static gint by_slowness(gconstpointer a, gconstpointer b)
{
    const BbTailRecord *x = *(BbTailRecord *const *)a, *y = *(BbTailRecord *const *)b;
    if (x->latency_ns != y->latency_ns)
        return x->latency_ns > y->latency_ns ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

// Mean of the slow, and of the others: all less the slow, as far as these stand for more.
static BbPair means(const Comparison *c, double slow, double all)
{
    double rest = all - slow * c->scale;
    return (BbPair){slow / c->n_slow, MAX(rest, 0) / c->rest};
}

static void find_means(const Comparison *c, guint32 context, BbContextMeans *slow,
                       BbContextMeans *rest)
{
    const BbRequestSums *few = &c->slow[context];
    const BbRequestSums *all = &g_array_index(c->tail->sums, BbRequestSums, context);
    BbPair present = means(c, (double)few->present, (double)all->present),
           calls = means(c, (double)few->calls, (double)all->calls),
           errors = means(c, (double)few->errors, (double)all->errors);
    *slow = (BbContextMeans){present.one, calls.one, errors.one, {0}};
    *rest = (BbContextMeans){present.other, calls.other, errors.other, {0}};
    for (guint i = 0; i < BB_REQUEST_TIMES; i++) {
        BbPair ns = means(c, (double)few->ns[i], (double)all->ns[i]);
        slow->ns[i] = ns.one;
        rest->ns[i] = ns.other;
    }
}

static gint by_number(gconstpointer a, gconstpointer b)
{
    guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
    return (x > y) - (x < y);
}

static void find_patterns(const Comparison *c, BbTailRoot *root)
{
    g_autoptr(GArray) seen = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 i = 0; i < c->n_slow; i++) {
        const BbTailRecord *record = g_ptr_array_index(c->group->slowest, i);
        if (record->pattern != BB_PATTERN_NONE)
            g_array_append_val(seen, record->pattern);
    }
    g_array_sort(seen, by_number);
    for (guint i = 0, end; i < seen->len; i = end) {
        guint32 pattern = g_array_index(seen, guint32, i);
        for (end = i + 1; end < seen->len && g_array_index(seen, guint32, end) == pattern;)
            end++;
        double all = (double)g_array_index(c->tail->patterns, guint64, pattern);
        BbTailPattern found = {pattern, means(c, end - i, all)};
        if (bb_differences_is_more(found.present, c->n_slow))
            g_array_append_val(root->patterns, found);
    }
}

static gint by_place(gconstpointer a, gconstpointer b)
{
    const BbBurstEvent *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

static gint64 latency_at(const Comparison *c, guint32 i)
{
    return ((const BbTailRecord *)g_ptr_array_index(c->group->slowest, i))->latency_ns;
}

// Of equals the first are slow: where not all of them are, these would be a burst.
static guint32 without_ties(const Comparison *c)
{
    guint32 n = c->n_slow;
    while (n > 0 && c->n_slow < c->group->slowest->len &&
           latency_at(c, n - 1) == latency_at(c, c->n_slow))
        n--;
    return n;
}

static GArray *find_bursts(const Comparison *c)
{
    guint32 n = without_ties(c);
    g_autofree BbBurstEvent *slow = g_new(BbBurstEvent, (gsize)n + 1);
    for (guint32 i = 0; i < n; i++) {
        const BbTailRecord *record = g_ptr_array_index(c->group->slowest, i);
        slow[i] = (BbBurstEvent){record->place, record->start_ns};
    }
    qsort(slow, n, sizeof *slow, by_place);
    return bb_bursts_find(slow, n, c->group->instances);
}

// ---- order -------------------------------------------------------------------------------------

static gint by_gain(gconstpointer a, gconstpointer b)
{
    const BbTailPattern *x = a, *y = b;
    gint order = bb_compare_falling(bb_pair_gain(x->present), bb_pair_gain(y->present));
    return order ? order : (x->pattern > y->pattern) - (x->pattern < y->pattern);
}

static double cost(const BbTailRoot *root)
{
    return bb_pair_gain(root->latency_ns) * (double)root->slow / root->sampled;
}

static gint by_cost(gconstpointer a, gconstpointer b, gpointer names)
{
    const BbTailRoot *x = *(BbTailRoot *const *)a, *y = *(BbTailRoot *const *)b;
    gint order = bb_compare_falling(cost(x), cost(y));
    order = order ? order : bb_names_compare(names, x->client, y->client);
    order = order ? order : bb_names_compare(names, x->node, y->node);
    return order ? order : bb_names_compare(names, x->op, y->op);
}

// ---- findings ----------------------------------------------------------------------------------

static void free_root(gpointer data)
{
    BbTailRoot *root = data;
    bb_differences_clear(&root->differences);
    g_array_unref(root->patterns);
    g_array_unref(root->bursts);
    g_free(root);
}

// The slowest first; sums up those that are slow.
static void sum_slow(Comparison *c, BbTailRoot *root)
{
    double latency_ns = 0, open = 0;
    memcpy(root->slowest, c->group->named, sizeof root->slowest);
    g_ptr_array_sort(c->group->slowest, by_slowness);
    for (guint32 r = 0; r < c->n_slow; r++) {
        const BbTailRecord *record = g_ptr_array_index(c->group->slowest, r);
        latency_ns += (double)record->latency_ns;
        open += record->open;
        root->least_ns = record->latency_ns;
        for (guint32 i = 0; i < record->n_entries; i++)
            bb_request_sums_add(&c->slow[record->entries[i].context], &record->entries[i].sums);
    }
    root->latency_ns = means(c, latency_ns, c->group->latency_ns);
    root->open = means(c, open, c->group->open);
}

static void find_differences(const Comparison *c, BbTailRoot *root, const guint32 *contexts,
                             guint32 n_contexts)
{
    g_autofree BbContextMeans *slow = g_new(BbContextMeans, (gsize)n_contexts + 1),
                              *rest = g_new(BbContextMeans, (gsize)n_contexts + 1);
    for (guint32 i = 0; i < n_contexts; i++)
        find_means(c, contexts[i], &slow[i], &rest[i]);
    root->differences =
        bb_differences_find(&(BbSides){.contexts = c->tail->contexts,
                                       .names = c->tail->names,
                                       .list = contexts,
                                       .n = n_contexts,
                                       .one = slow,
                                       .other = rest,
                                       .requests = c->n_slow,
                                       .least_ns = SHARE_LEAST * bb_pair_gain(root->latency_ns)});
}

static BbTailRoot *compare(Comparison *c, const guint32 *contexts, guint32 n_contexts)
{
    const BbContext *first = bb_contexts_at(c->tail->contexts, c->group->context);
    BbTailRoot *root = g_new0(BbTailRoot, 1);
    root->client = bb_contexts_at(c->tail->contexts, first->above)->node;
    root->node = first->node;
    root->op = first->op;
    root->instances = c->group->instances;
    root->slow = c->n_slow;
    root->sampled = 1 / c->scale;
    root->patterns = g_array_new(FALSE, FALSE, sizeof(BbTailPattern));
    sum_slow(c, root);
    find_differences(c, root, contexts, n_contexts);
    find_patterns(c, root);
    g_array_sort(root->patterns, by_gain);
    root->bursts = find_bursts(c);
    return root;
}

static void compare_groups(const BbTail *tail, BbTailFindings *findings)
{
    guint32 count = bb_contexts_count(tail->contexts);
    g_auto(BbGroups) under = bb_tail_by_first_call(tail);
    g_autofree BbRequestSums *slow = g_new0(BbRequestSums, (gsize)count + 1);
    for (guint i = 0; i < tail->groups->len; i++) {
        const BbTailGroup *group = g_ptr_array_index(tail->groups, i);
        guint64 n_slow = MIN(bb_tail_slow(tail, group->taken), group->slowest->len);
        if (group->taken < 2 * n_slow || n_slow < BB_TAIL_LEAST)
            continue;
        double scale = (double)group->instances / (double)group->taken;
        Comparison c = {
            tail, group, (guint32)n_slow, scale, (double)group->instances - (double)n_slow * scale,
            slow};
        g_ptr_array_add(findings->compared, compare(&c, bb_groups_at(&under, group->context),
                                                    bb_groups_size(&under, group->context)));
    }
    g_ptr_array_sort_with_data(findings->compared, by_cost, (gpointer)tail->names);
}

BbTailFindings *bb_tail_finish(BbTail *tail)
{
    BbTailFindings *findings = g_new0(BbTailFindings, 1);
    findings->any_client = tail->options.any_client;
    findings->quantile = tail->options.quantile;
    findings->roots = tail->groups->len;
    findings->forgotten = tail->forgotten;
    findings->forgotten_instances = tail->forgotten_instances;
    findings->compared = g_ptr_array_new_with_free_func(free_root);
    compare_groups(tail, findings);
    return findings;
}

void bb_tail_findings_free(BbTailFindings *findings)
{
    if (!findings)
        return;
    g_ptr_array_unref(findings->compared);
    g_free(findings);
}
