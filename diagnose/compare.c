// SPDX-License-Identifier: Apache-2.0
// In: path instances of two traces. Out: in what the requests of each first call differ.
#include "diagnose/compare.h"

#include <math.h>
#include <string.h>

#include "data/stats.h"
#include "data/tally.h"
#include "diagnose/batches.h"
#include "diagnose/requests.h"

#define SHARE_LEAST 0.01 // of the excess: what is less is not told, unless calls differ;
#define MEAN_LEAST 0.001 // of the latency, if that is more

// Figures of the batches of a group: its latency, and of each of its contexts the times
// (BbRequestTime), whether and how often it was called, and whether it failed.
enum { LATENCY, FIRST };
enum { PRESENT = BB_REQUEST_TIMES, CALLS, ERRORS, EACH };

typedef struct {
    BbBatches *batches;
    BbStats *latency;
} Half;

// The requests of one first call.
typedef struct {
    GArray *contexts; // of guint32: each after the one above it, the first call's first
    Half half[BB_COMPARE_SIDES];
} Group;

struct BbCompare {
    BbCompareOptions options;
    const BbNames *names;
    BbContexts *contexts;
    BbRequests *requests[BB_COMPARE_SIDES];
    GPtrArray *groups;
    BbTally group_index; // context -> group + 1
    GArray *place; // of guint32, [context]: where in its group, and one more; 0: not there yet
    guint32 n_placed;
    BbCompareTotal total[BB_COMPARE_SIDES];
    double latency_ns[BB_COMPARE_SIDES]; // sums
};

static void free_group(gpointer data)
{
    Group *group = data;
    for (guint side = 0; side < BB_COMPARE_SIDES; side++) {
        bb_batches_free(group->half[side].batches);
        bb_stats_free(group->half[side].latency);
    }
    g_array_unref(group->contexts);
    g_free(group);
}

static Group *group_new(void)
{
    Group *group = g_new(Group, 1);
    group->contexts = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint side = 0; side < BB_COMPARE_SIDES; side++)
        group->half[side] = (Half){bb_batches_new(), bb_stats_new()};
    return group;
}

BbCompare *bb_compare_new(const BbCompareOptions *options, const BbNames *names)
{
    BbCompare *compare = g_new0(BbCompare, 1);
    compare->options = *options;
    if (options->contexts == 0)
        compare->options.contexts = BB_COMPARE_CONTEXTS;
    compare->names = names;
    compare->contexts = bb_contexts_new();
    for (guint side = 0; side < BB_COMPARE_SIDES; side++) {
        BbRequestsOptions each = {options->labels, options->last_byte, .any_client = true};
        compare->requests[side] = bb_requests_new(&each, compare->contexts, names);
        compare->total[side] = (BbCompareTotal){.start_ns = BB_TIME_NONE, .end_ns = BB_TIME_NONE};
    }
    compare->groups = g_ptr_array_new_with_free_func(free_group);
    compare->place = g_array_new(FALSE, TRUE, sizeof(guint32));
    bb_tally_init(&compare->group_index);
    return compare;
}

void bb_compare_free(BbCompare *compare)
{
    if (!compare)
        return;
    for (guint side = 0; side < BB_COMPARE_SIDES; side++)
        bb_requests_free(compare->requests[side]);
    bb_contexts_free(compare->contexts);
    g_ptr_array_unref(compare->groups);
    g_array_unref(compare->place);
    bb_tally_clear(&compare->group_index);
    g_free(compare);
}

// ---- one request -------------------------------------------------------------------------------

static guint32 *place_of(const BbCompare *compare, guint32 context)
{
    if (context >= compare->place->len)
        g_array_set_size(compare->place, context + 1);
    return &g_array_index(compare->place, guint32, context);
}

// Whether there is room for all that a request does.
static bool has_room(const BbCompare *compare, const BbRequestEntry *entries, guint n)
{
    guint32 added = 0;
    for (guint i = 0; i < n; i++)
        added += *place_of(compare, entries[i].context) == 0;
    return added <= compare->options.contexts - compare->n_placed;
}

static Group *group_of(BbCompare *compare, guint32 context)
{
    guint64 *number = bb_tally_at(&compare->group_index, (BbTallyKey){context, 0, 0});
    if (*number == 0) {
        g_ptr_array_add(compare->groups, group_new());
        *number = compare->groups->len;
    }
    return g_ptr_array_index(compare->groups, *number - 1);
}

static guint figure_of(guint32 place, guint which)
{
    return FIRST + EACH * place + which;
}

static void add_sums(BbBatches *batches, guint32 place, const BbRequestSums *sums)
{
    for (guint time = 0; time < BB_REQUEST_TIMES; time++)
        bb_batches_add(batches, figure_of(place, time), sums->ns[time]);
    bb_batches_add(batches, figure_of(place, PRESENT), (gint64)sums->present);
    bb_batches_add(batches, figure_of(place, CALLS), (gint64)sums->calls);
    bb_batches_add(batches, figure_of(place, ERRORS), (gint64)sums->errors);
}

static void add_entry(BbCompare *compare, Group *group, BbBatches *batches,
                      const BbRequestEntry *entry)
{
    guint32 *place = place_of(compare, entry->context);
    if (*place == 0) {
        g_array_append_val(group->contexts, entry->context);
        *place = group->contexts->len;
        compare->n_placed++;
    }
    add_sums(batches, *place - 1, &entry->sums);
}

// What the contexts are called that have a place, now that the others were forgotten.
static void renumber(BbCompare *compare, const guint32 *number, guint32 count)
{
    for (guint32 i = 0; i < count; i++)
        if (number[i] != BB_CONTEXT_NONE && i < compare->place->len)
            *place_of(compare, number[i]) = *place_of(compare, i);
    g_array_set_size(compare->place,
                     MIN(compare->place->len, bb_contexts_count(compare->contexts)));
    bb_tally_reset(&compare->group_index);
    for (guint k = 0; k < compare->groups->len; k++) {
        const Group *group = g_ptr_array_index(compare->groups, k);
        guint32 *contexts = (guint32 *)(void *)group->contexts->data;
        for (guint i = 0; i < group->contexts->len; i++)
            contexts[i] = number[contexts[i]];
        *bb_tally_at(&compare->group_index, (BbTallyKey){contexts[0], 0, 0}) = k + 1;
    }
    for (guint side = 0; side < BB_COMPARE_SIDES; side++)
        bb_requests_renumbered(compare->requests[side]);
}

// Forgets the contexts of requests for which there was no room, when these are many.
static void forget(BbCompare *compare)
{
    guint32 count = bb_contexts_count(compare->contexts);
    if (count <= 2 * (guint64)compare->options.contexts)
        return;
    g_autofree bool *keep = g_new(bool, count);
    for (guint32 i = 0; i < count; i++)
        keep[i] = *place_of(compare, i) > 0;
    g_autofree guint32 *number = bb_contexts_keep(compare->contexts, keep);
    renumber(compare, number, count);
}

static void note_times(BbCompareTotal *total, const BbCall *root, gint64 end_ns)
{
    if (total->start_ns == BB_TIME_NONE || root->call_ns < total->start_ns)
        total->start_ns = root->call_ns;
    if (total->end_ns == BB_TIME_NONE || end_ns > total->end_ns)
        total->end_ns = end_ns;
}

static void add_instance(BbCompare *compare, BbCompareSide side, const BbPaths *paths,
                         const BbInstance *instance)
{
    const BbRequestEntry *entries;
    guint n;
    gint64 latency_ns = bb_requests_sum(compare->requests[side], paths, instance, &entries, &n);
    const BbCall *root = &paths->calls[paths->order[instance->first]];
    compare->total[side].requests++;
    compare->latency_ns[side] += (double)latency_ns;
    note_times(&compare->total[side], root, bb_call_back(root, compare->options.last_byte));
    if (!has_room(compare, entries, n)) {
        compare->total[side].left_out++;
        forget(compare);
        return;
    }
    Group *group = group_of(compare, entries[0].context);
    Half *half = &group->half[side];
    bb_stats_push(half->latency, latency_ns);
    bb_batches_begin(half->batches);
    bb_batches_add(half->batches, LATENCY, latency_ns);
    for (guint i = 0; i < n; i++)
        add_entry(compare, group, half->batches, &entries[i]);
}

static void add_root(BbCompare *compare, BbCompareSide side, const BbPaths *paths,
                     const BbInstance *instance)
{
    if (bb_call_is_returned(&paths->calls[paths->order[instance->first]]))
        add_instance(compare, side, paths, instance);
    else
        compare->total[side].unanswered++;
}

void bb_compare_add(BbCompare *compare, BbCompareSide side, const BbPaths *paths)
{
    for (guint32 i = 0; i < paths->n_instances; i++)
        add_root(compare, side, paths, &paths->instances[i]);
}

void bb_compare_add_at(BbCompare *compare, gint64 at_ns, const BbPaths *paths)
{
    for (guint32 i = 0; i < paths->n_instances; i++) {
        const BbInstance *instance = &paths->instances[i];
        gint64 start_ns = paths->calls[paths->order[instance->first]].call_ns;
        add_root(compare, start_ns < at_ns ? BB_COMPARE_BEFORE : BB_COMPARE_AFTER, paths, instance);
    }
}

// ---- one first call ----------------------------------------------------------------------------

static BbCompareFigures figures_of(const Half *half)
{
    return (BbCompareFigures){.requests = bb_batches_requests(half->batches),
                              .mean_ns = bb_batches_mean(half->batches, LATENCY),
                              .p50_ns = bb_stats_quantile(half->latency, 0.5),
                              .p90_ns = bb_stats_quantile(half->latency, 0.9),
                              .p99_ns = bb_stats_quantile(half->latency, 0.99)};
}

// Of the difference of two means.
static double error_of(const Group *group, const guint *figures, guint n)
{
    return hypot(bb_batches_error(group->half[BB_COMPARE_BEFORE].batches, figures, n),
                 bb_batches_error(group->half[BB_COMPARE_AFTER].batches, figures, n));
}

static BbContextMeans means_of(const BbBatches *batches, guint32 place)
{
    BbContextMeans means = {
        .present = bb_batches_mean(batches, figure_of(place, PRESENT)),
        .calls = bb_batches_mean(batches, figure_of(place, CALLS)),
        .errors = bb_batches_mean(batches, figure_of(place, ERRORS)),
    };
    for (guint time = 0; time < BB_REQUEST_TIMES; time++)
        means.ns[time] = bb_batches_mean(batches, figure_of(place, time));
    return means;
}

// Appends the times that a difference is made of: one, or all of all calls that one leads to.
static void list_times(const BbCompare *compare, const Group *group, const BbDifference *difference,
                       GArray *figures)
{
    guint32 at = *place_of(compare, difference->context) - 1;
    g_array_set_size(figures, 0);
    if (difference->kind >= BB_DIFFERENCE_TIMES) {
        guint figure = figure_of(at, difference->kind - BB_DIFFERENCE_TIMES);
        g_array_append_val(figures, figure);
        return;
    }
    g_autofree bool *is_under = g_new0(bool, group->contexts->len);
    for (guint32 i = at; i < group->contexts->len; i++) {
        guint32 context = g_array_index(group->contexts, guint32, i);
        guint32 above = bb_contexts_at(compare->contexts, context)->above;
        guint32 place = i == at ? 0 : *place_of(compare, above);
        is_under[i] = i == at || (place > 0 && is_under[place - 1]);
        for (guint time = 0; is_under[i] && time < BB_REQUEST_TIMES; time++) {
            guint figure = figure_of(i, time);
            g_array_append_val(figures, figure);
        }
    }
}

// Whether a figure of a context differs by more than chance.
static bool differs(const Group *group, guint32 place, guint which)
{
    guint figure = figure_of(place, which);
    double excess = bb_batches_mean(group->half[BB_COMPARE_AFTER].batches, figure) -
                    bb_batches_mean(group->half[BB_COMPARE_BEFORE].batches, figure);
    return fabs(excess) > BB_COMPARE_ERRORS * error_of(group, &figure, 1);
}

// Calls that differ as such need not take longer.
static bool is_sure(const BbCompare *compare, const Group *group, const BbDifference *difference)
{
    guint32 place = *place_of(compare, difference->context) - 1;
    return fabs(difference->excess_ns) > BB_COMPARE_ERRORS * difference->error_ns ||
           (difference->kind < BB_DIFFERENCE_TIMES && differs(group, place, CALLS));
}

// Takes out the differences that may be chance.
static void keep_sure(const BbCompare *compare, const Group *group, BbCompareRoot *root)
{
    GArray *causes = root->differences.causes, *errors = root->differences.errors;
    g_autoptr(GArray) figures = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = causes->len; i-- > 0;) {
        BbDifference *difference = &g_array_index(causes, BbDifference, i);
        list_times(compare, group, difference, figures);
        difference->error_ns =
            error_of(group, (const guint *)(const void *)figures->data, figures->len);
        if (is_sure(compare, group, difference))
            continue;
        g_array_remove_index(causes, i);
        root->by_chance++;
    }
    for (guint i = errors->len; i-- > 0;) {
        guint32 context = g_array_index(errors, BbErrorDifference, i).context;
        if (!differs(group, *place_of(compare, context) - 1, ERRORS))
            g_array_remove_index(errors, i);
    }
}

static void find_differences(const BbCompare *compare, const Group *group, BbCompareRoot *root)
{
    const BbCompareFigures *before = &root->side[BB_COMPARE_BEFORE],
                           *after = &root->side[BB_COMPARE_AFTER];
    guint32 n = group->contexts->len;
    g_autofree BbContextMeans *one = g_new(BbContextMeans, n), *other = g_new(BbContextMeans, n);
    for (guint32 i = 0; i < n; i++) {
        one[i] = means_of(group->half[BB_COMPARE_AFTER].batches, i);
        other[i] = means_of(group->half[BB_COMPARE_BEFORE].batches, i);
    }
    double least_ns =
        MAX(SHARE_LEAST * fabs(root->excess_ns), MEAN_LEAST * MAX(before->mean_ns, after->mean_ns));
    root->differences =
        bb_differences_find(&(BbSides){.contexts = compare->contexts,
                                       .names = compare->names,
                                       .list = (const guint32 *)(const void *)group->contexts->data,
                                       .n = n,
                                       .one = one,
                                       .other = other,
                                       .requests = (double)MIN(before->requests, after->requests),
                                       .fewer_errors = true,
                                       .least_ns = least_ns});
    keep_sure(compare, group, root);
}

static BbCompareRoot *root_of(const BbCompare *compare, const Group *group)
{
    BbCompareRoot *root = g_new0(BbCompareRoot, 1);
    const BbContext *first =
        bb_contexts_at(compare->contexts, g_array_index(group->contexts, guint32, 0));
    root->node = first->node;
    root->op = first->op;
    for (guint side = 0; side < BB_COMPARE_SIDES; side++)
        root->side[side] = figures_of(&group->half[side]);
    root->excess_ns = root->side[BB_COMPARE_AFTER].mean_ns - root->side[BB_COMPARE_BEFORE].mean_ns;
    root->error_ns = error_of(group, (const guint[]){LATENCY}, 1);
    return root;
}

static void free_root(gpointer data)
{
    bb_differences_clear(&((BbCompareRoot *)data)->differences);
    g_free(data);
}

const char *bb_compare_side_word(BbCompareSide side)
{
    return side == BB_COMPARE_BEFORE ? "before" : "after";
}

bool bb_compare_is_sure(const BbCompareRoot *root)
{
    return fabs(root->excess_ns) > BB_COMPARE_ERRORS * root->error_ns;
}

// ---- findings ----------------------------------------------------------------------------------

static gint by_names(const BbCompareRoot *x, const BbCompareRoot *y, const BbNames *names)
{
    gint order = bb_names_compare(names, x->node, y->node);
    return order ? order : bb_names_compare(names, x->op, y->op);
}

// What the requests after cost, or save, by more than chance; less where it is less sure.
static double cost(const BbCompareRoot *root)
{
    double sure_ns = fabs(root->excess_ns) - BB_COMPARE_ERRORS * root->error_ns;
    return sure_ns * (double)root->side[BB_COMPARE_AFTER].requests;
}

static gint by_cost(gconstpointer a, gconstpointer b, gpointer names)
{
    const BbCompareRoot *x = *(BbCompareRoot *const *)a, *y = *(BbCompareRoot *const *)b;
    double mine = cost(x), other = cost(y);
    gint order = bb_compare_falling(mine, other);
    return order ? order : by_names(x, y, names);
}

static guint64 requests_of(const BbCompareRoot *root)
{
    return root->side[BB_COMPARE_BEFORE].requests + root->side[BB_COMPARE_AFTER].requests;
}

static gint by_requests(gconstpointer a, gconstpointer b, gpointer names)
{
    const BbCompareRoot *x = *(BbCompareRoot *const *)a, *y = *(BbCompareRoot *const *)b;
    guint64 mine = requests_of(x), other = requests_of(y);
    return mine != other ? (mine > other ? -1 : 1) : by_names(x, y, names);
}

BbCompareFindings *bb_compare_finish(BbCompare *compare)
{
    BbCompareFindings *findings = g_new0(BbCompareFindings, 1);
    findings->compared = g_ptr_array_new_with_free_func(free_root);
    findings->rare = g_ptr_array_new_with_free_func(free_root);
    findings->at_ns = BB_TIME_NONE;
    for (guint side = 0; side < BB_COMPARE_SIDES; side++) {
        BbCompareTotal *total = &findings->total[side];
        *total = compare->total[side];
        if (total->requests > 0)
            total->mean_ns = compare->latency_ns[side] / (double)total->requests;
    }
    for (guint i = 0; i < compare->groups->len; i++) {
        const Group *group = g_ptr_array_index(compare->groups, i);
        BbCompareRoot *root = root_of(compare, group);
        bool is_rare = root->side[BB_COMPARE_BEFORE].requests < BB_COMPARE_LEAST ||
                       root->side[BB_COMPARE_AFTER].requests < BB_COMPARE_LEAST;
        if (!is_rare)
            find_differences(compare, group, root);
        g_ptr_array_add(is_rare ? findings->rare : findings->compared, root);
    }
    g_ptr_array_sort_with_data(findings->compared, by_cost, (gpointer)compare->names);
    g_ptr_array_sort_with_data(findings->rare, by_requests, (gpointer)compare->names);
    return findings;
}

void bb_compare_findings_free(BbCompareFindings *findings)
{
    if (!findings)
        return;
    g_ptr_array_unref(findings->compared);
    g_ptr_array_unref(findings->rare);
    g_free(findings);
}
