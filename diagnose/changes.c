// SPDX-License-Identifier: Apache-2.0
// In: latencies of requests, in order of time. Out: when they changed for good.
#include "diagnose/changes.h"

#include <math.h>

#include "data/tally.h"
#include "diagnose/differences.h"

#define BATCHES 256u // of one length; half as many, twice as long, when they are full
#define JOINED 8u    // batches that are one where it is asked whether there is a change
#define JOINED_MAX (BATCHES / JOINED)
#define JOINED_MIN 12u
#define PART_LEAST 2u // joined batches on either side
#define CHANCE 1e-3   // of one change or more in a series that has none, at most

typedef struct {
    gint64 start_ns; // of its first request
    double logs, ns; // sums
} Batch;

// The requests of one first call.
typedef struct {
    guint32 node, op;
    guint32 n;       // batches that are full
    guint64 length;  // requests of a batch
    guint64 in_last; // of the one that is not full
    Batch batch[BATCHES];
} Series;

struct BbChanges {
    const BbNames *names;
    GPtrArray *series;
    BbTally index; // (node, op) -> series + 1
};

BbChanges *bb_changes_new(const BbNames *names)
{
    BbChanges *changes = g_new(BbChanges, 1);
    changes->names = names;
    changes->series = g_ptr_array_new_with_free_func(g_free);
    bb_tally_init(&changes->index);
    return changes;
}

void bb_changes_free(BbChanges *changes)
{
    if (!changes)
        return;
    g_ptr_array_unref(changes->series);
    bb_tally_clear(&changes->index);
    g_free(changes);
}

// ---- one request -------------------------------------------------------------------------------

static Batch sum_of(const Batch *batches, guint n)
{
    Batch sum = batches[0];
    for (guint i = 1; i < n; i++) {
        sum.logs += batches[i].logs;
        sum.ns += batches[i].ns;
    }
    return sum;
}

static void join_pairs(Series *series)
{
    for (guint i = 0; i < BATCHES / 2; i++)
        series->batch[i] = sum_of(&series->batch[2 * i], 2);
    series->n = BATCHES / 2;
    series->length *= 2;
}

static guint64 requests_of(const Series *series)
{
    return series->n * series->length + series->in_last;
}

static gint by_requests(gconstpointer a, gconstpointer b)
{
    guint64 x = requests_of(*(Series *const *)a), y = requests_of(*(Series *const *)b);
    return (x < y) - (x > y);
}

static void forget(BbChanges *changes)
{
    g_ptr_array_sort(changes->series, by_requests); // stable: of equals the first ones stay
    g_ptr_array_set_size(changes->series, BB_CHANGES_SERIES / 2);
    bb_tally_reset(&changes->index);
    for (guint i = 0; i < changes->series->len; i++) {
        const Series *series = g_ptr_array_index(changes->series, i);
        *bb_tally_at(&changes->index, (BbTallyKey){series->node, series->op, 0}) = i + 1;
    }
}

static Series *series_of(BbChanges *changes, guint32 node, guint32 op)
{
    guint64 known = bb_tally_get(&changes->index, (BbTallyKey){node, op, 0});
    if (known > 0)
        return g_ptr_array_index(changes->series, known - 1);
    if (changes->series->len == BB_CHANGES_SERIES)
        forget(changes);
    Series *series = g_new0(Series, 1);
    series->node = node;
    series->op = op;
    series->length = 1;
    g_ptr_array_add(changes->series, series);
    *bb_tally_at(&changes->index, (BbTallyKey){node, op, 0}) = changes->series->len;
    return series;
}

void bb_changes_add(BbChanges *changes, guint32 node, guint32 op, gint64 start_ns,
                    gint64 latency_ns)
{
    Series *series = series_of(changes, node, op);
    if (series->n == BATCHES)
        join_pairs(series);
    Batch *last = &series->batch[series->n];
    if (series->in_last == 0)
        *last = (Batch){.start_ns = start_ns};
    last->logs += log((double)MAX(latency_ns, 1));
    last->ns += (double)latency_ns;
    if (++series->in_last == series->length) {
        series->n++;
        series->in_last = 0;
    }
}

// ---- the likeliest split -----------------------------------------------------------------------

// Values around one mean up to a split, and around another from there on.
typedef struct {
    guint at;
    double left, right;     // means
    double squares, around; // of what is left, with the split; and around one mean
} Split;

static double mean_of(const double *values, guint n)
{
    double sum = 0;
    for (guint i = 0; i < n; i++)
        sum += values[i];
    return sum / n;
}

static double squares_around(const double *values, guint n, double mean)
{
    double sum = 0;
    for (guint i = 0; i < n; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return sum;
}

// With `least` values or more on either side.
static Split best_split(const double *values, guint n, guint least)
{
    Split best = {.squares = INFINITY};
    for (guint at = least; at + least <= n; at++) {
        Split split = {
            .at = at, .left = mean_of(values, at), .right = mean_of(values + at, n - at)};
        split.squares = squares_around(values, at, split.left) +
                        squares_around(values + at, n - at, split.right);
        if (split.squares < best.squares)
            best = split;
    }
    best.around = squares_around(values, n, mean_of(values, n));
    return best;
}

// Of what is left with the split, from one value to the next: 0 to 1.
static double resemblance(const double *values, guint n, const Split *split)
{
    double products = 0, last = 0;
    for (guint i = 0; i < n; i++) {
        double left = values[i] - (i < split->at ? split->left : split->right);
        products += left * last;
        last = left;
    }
    return split->squares > 0 ? CLAMP(products / split->squares, 0, 1) : 0;
}

// Whether chance makes such a split in one of a thousand at most.
static bool is_sure(const double *values, guint n, const Split *split)
{
    double alike = resemblance(values, n, split);
    double effective = n * (1 - alike) / (1 + alike);
    return effective / 2 * log(split->around / split->squares) > log(n / CHANCE);
}

// ---- findings ----------------------------------------------------------------------------------

static bool has_changed(const Series *series)
{
    double joined[JOINED_MAX];
    guint n = series->n / JOINED;
    for (guint i = 0; i < n; i++)
        joined[i] = sum_of(&series->batch[JOINED * i], JOINED).logs;
    if (n < JOINED_MIN)
        return false;
    Split split = best_split(joined, n, PART_LEAST);
    return split.around > 0 && is_sure(joined, n, &split);
}

static BbChange change_of(const Series *series)
{
    double logs[BATCHES];
    for (guint i = 0; i < series->n; i++)
        logs[i] = series->batch[i].logs;
    guint at = best_split(logs, series->n, PART_LEAST * JOINED).at;
    guint64 before = at * series->length, after = (series->n - at) * series->length;
    return (BbChange){
        .node = series->node,
        .op = series->op,
        .at_ns = series->batch[at].start_ns,
        .before = before,
        .after = after,
        .before_ns = bb_mean_ns(sum_of(series->batch, at).ns / (double)before),
        .after_ns = bb_mean_ns(sum_of(series->batch + at, series->n - at).ns / (double)after)};
}

static double excess_of(const BbChange *change)
{
    return fabs((double)change->after_ns - (double)change->before_ns);
}

static gint by_excess(gconstpointer a, gconstpointer b, gpointer names)
{
    const BbChange *x = a, *y = b;
    gint order =
        bb_compare_falling(excess_of(x) * (double)x->after, excess_of(y) * (double)y->after);
    order = order ? order : bb_names_compare(names, x->node, y->node);
    return order ? order : bb_names_compare(names, x->op, y->op);
}

GArray *bb_changes_find(const BbChanges *changes)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(BbChange));
    for (guint i = 0; i < changes->series->len; i++) {
        const Series *series = g_ptr_array_index(changes->series, i);
        if (!has_changed(series))
            continue;
        BbChange change = change_of(series);
        if (excess_of(&change) >= BB_CHANGES_LEAST * (double)MAX(change.before_ns, change.after_ns))
            g_array_append_val(found, change);
    }
    g_array_sort_with_data(found, by_excess, (gpointer)changes->names);
    return found;
}
