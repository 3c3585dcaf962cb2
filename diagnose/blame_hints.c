// SPDX-License-Identifier: Apache-2.0
// In: costs by node, operation and callers. Out: whose work depends on who calls.
//
// The direct callers are compared first, then the callers of these, and so on: the shortest chain
// that tells a difference is the best explanation of it.
#include "diagnose/blame_hints.h"

#include <math.h>
#include <string.h>

// Rows of one node and operation that share their first callers.
typedef struct {
    const BbBlameRow *row; // the first of them
    BbStats *self;
} Group;

typedef struct {
    GArray *hints;
    const BbNames *names;
    gint64 latency_ns;
} Search;

static void clear_row(gpointer row)
{
    bb_stats_free(((BbBlameRow *)row)->self);
    g_free(((BbBlameRow *)row)->callers);
}

GArray *bb_blame_rows_new(void)
{
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(BbBlameRow));
    g_array_set_clear_func(rows, clear_row);
    return rows;
}

static gint by_callers(gconstpointer a, gconstpointer b)
{
    const BbBlameRow *x = *(const BbBlameRow *const *)a, *y = *(const BbBlameRow *const *)b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    for (guint i = 0; i < MIN(x->n_callers, y->n_callers); i++)
        if (x->callers[i] != y->callers[i])
            return x->callers[i] < y->callers[i] ? -1 : 1;
    return (x->n_callers > y->n_callers) - (x->n_callers < y->n_callers);
}

static void clear_group(gpointer group)
{
    bb_stats_free(((Group *)group)->self);
}

static bool same_callers(const BbBlameRow *a, const BbBlameRow *b, guint n_callers)
{
    return memcmp(a->callers, b->callers, n_callers * sizeof *a->callers) == 0;
}

// rows are in order, so that those of a group stand together.
static GArray *group_rows(const BbBlameRow *const *rows, guint n_rows, guint n_callers)
{
    GArray *groups = g_array_new(FALSE, FALSE, sizeof(Group));
    g_array_set_clear_func(groups, clear_group);
    for (guint i = 0; i < n_rows; i++) {
        if (rows[i]->n_callers < n_callers)
            continue;
        Group *last = groups->len ? &g_array_index(groups, Group, groups->len - 1) : NULL;
        if (!last || !same_callers(last->row, rows[i], n_callers)) {
            Group group = {rows[i], bb_stats_new()};
            g_array_append_val(groups, group);
            last = &g_array_index(groups, Group, groups->len - 1);
        }
        bb_stats_merge(last->self, rows[i]->self);
    }
    return groups;
}

static const Group *find_fastest(const GArray *groups)
{
    const Group *fastest = NULL;
    for (guint i = 0; i < groups->len; i++) {
        const Group *group = &g_array_index(groups, Group, i);
        if (bb_stats_count(group->self) >= BB_BLAME_CALLS &&
            (!fastest || bb_stats_mean(group->self) < bb_stats_mean(fastest->self)))
            fastest = group;
    }
    return fastest;
}

static double squared_error(const BbStats *stats)
{
    double deviation = (double)bb_stats_stddev(stats);
    return deviation * deviation / (double)bb_stats_count(stats);
}

static bool differs(const Search *search, const BbStats *slow, const BbStats *fast)
{
    double slow_ns = (double)bb_stats_mean(slow), fast_ns = (double)bb_stats_mean(fast);
    double difference = slow_ns - fast_ns;
    return bb_stats_count(slow) >= BB_BLAME_CALLS && slow_ns > BB_BLAME_RATIO * fast_ns &&
           difference > BB_BLAME_ERRORS * sqrt(squared_error(slow) + squared_error(fast)) &&
           difference * (double)bb_stats_count(slow) >= BB_BLAME_SHARE * (double)search->latency_ns;
}

static BbBlameHint make_hint(const Group *slow, const Group *fast, guint n_callers)
{
    BbBlameHint hint = {
        .node = slow->row->node,
        .op = slow->row->op,
        .slow = slow->row->callers,
        .fast = fast->row->callers,
        .n_callers = n_callers,
        .slow_calls = bb_stats_count(slow->self),
        .fast_calls = bb_stats_count(fast->self),
        .slow_ns = bb_stats_mean(slow->self),
        .fast_ns = bb_stats_mean(fast->self),
    };
    double excess_ns = (double)(hint.slow_ns - hint.fast_ns) * (double)hint.slow_calls;
    hint.excess_ns = excess_ns < 0x1p63 ? (gint64)excess_ns : G_MAXINT64;
    return hint;
}

// All rows of one node and operation.
static void compare_callers(Search *search, const BbBlameRow *const *rows, guint n_rows)
{
    guint before = search->hints->len;
    for (guint k = 1; k <= BB_BLAME_CALLERS && search->hints->len == before; k++) {
        g_autoptr(GArray) groups = group_rows(rows, n_rows, k);
        const Group *fastest = find_fastest(groups);
        for (guint i = 0; fastest && i < groups->len; i++) {
            const Group *group = &g_array_index(groups, Group, i);
            if (!differs(search, group->self, fastest->self))
                continue;
            BbBlameHint hint = make_hint(group, fastest, k);
            g_array_append_val(search->hints, hint);
        }
    }
}

static gint by_excess(gconstpointer a, gconstpointer b, gpointer names)
{
    const BbBlameHint *x = a, *y = b;
    if (x->excess_ns != y->excess_ns)
        return x->excess_ns > y->excess_ns ? -1 : 1;
    gint order = strcmp(bb_names_text(names, x->node), bb_names_text(names, y->node));
    order = order ? order : strcmp(bb_names_text(names, x->op), bb_names_text(names, y->op));
    for (guint i = 0; !order && i < MIN(x->n_callers, y->n_callers); i++)
        order = strcmp(bb_names_text(names, x->slow[i]), bb_names_text(names, y->slow[i]));
    return order;
}

GArray *bb_blame_hints(const GArray *rows, gint64 latency_ns, const BbNames *names)
{
    Search search = {g_array_new(FALSE, FALSE, sizeof(BbBlameHint)), names, latency_ns};
    g_autoptr(GPtrArray) sorted = g_ptr_array_new();
    for (guint i = 0; i < rows->len; i++) // how long is waited in vain is up to the callers
        if (!g_array_index(rows, BbBlameRow, i).unanswered)
            g_ptr_array_add(sorted, &g_array_index(rows, BbBlameRow, i));
    g_ptr_array_sort(sorted, by_callers);
    const BbBlameRow *const *row = (const BbBlameRow *const *)sorted->pdata;
    for (guint i = 0, end; i < sorted->len; i = end) {
        for (end = i + 1; end < sorted->len; end++)
            if (row[end]->node != row[i]->node || row[end]->op != row[i]->op)
                break;
        compare_callers(&search, row + i, end - i);
    }
    g_array_sort_with_data(search.hints, by_excess, (gpointer)names);
    return search.hints;
}
