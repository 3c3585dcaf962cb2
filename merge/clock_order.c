// SPDX-License-Identifier: Apache-2.0
// In: what two observers saw of messages. Out: which one each passed first.
#include "merge/clock_order.h"

#include <math.h>
#include <stdlib.h>

// So many neighbours of opposite direction must be compared.
#define COMPARED_MIN 8
// The difference must be this many times its spread.
#define CLEAR 1.0

typedef struct Group {
    BbClockMatch *matches; // between two nodes, in order of a's clock
    gsize count;
    guint32 lesser;
} Group;

static guint32 lesser(const BbClockMatch *match)
{
    return MIN(match->sender, match->receiver);
}

static guint32 greater(const BbClockMatch *match)
{
    return MAX(match->sender, match->receiver);
}

static int compare_matches(gconstpointer a, gconstpointer b)
{
    const BbClockMatch *p = a, *q = b;
    if (lesser(p) != lesser(q))
        return lesser(p) < lesser(q) ? -1 : 1;
    if (greater(p) != greater(q))
        return greater(p) < greater(q) ? -1 : 1;
    if (p->a_ns != q->a_ns)
        return p->a_ns < q->a_ns ? -1 : 1;
    if (p->b_ns != q->b_ns)
        return p->b_ns < q->b_ns ? -1 : 1;
    return p->sender < q->sender ? -1 : p->sender > q->sender;
}

// ---- by the stamps -----------------------------------------------------------------------------

// Two neighbours in time, one each way: how much greater the difference of the one from the lesser
// node is.
typedef struct Step {
    double run_ns, rise_ns;
} Step;

static int compare_runs(gconstpointer a, gconstpointer b)
{
    const Step *p = a, *q = b;
    if (p->run_ns != q->run_ns)
        return p->run_ns < q->run_ns ? -1 : 1;
    return p->rise_ns < q->rise_ns ? -1 : p->rise_ns > q->rise_ns;
}

static int compare_rises(gconstpointer a, gconstpointer b)
{
    const Step *p = a, *q = b;
    return p->rise_ns < q->rise_ns ? -1 : p->rise_ns > q->rise_ns;
}

// Wraps where it is beyond any clock.
static double difference(gint64 a, gint64 b)
{
    return (double)(gint64)((guint64)a - (guint64)b);
}

static GArray *list_steps(const Group *group)
{
    GArray *steps = g_array_new(FALSE, FALSE, sizeof(Step));
    for (gsize i = 1; i < group->count; i++) {
        const BbClockMatch *p = &group->matches[i - 1], *q = &group->matches[i];
        if (p->sender == q->sender)
            continue;
        double run = difference(q->a_ns, p->a_ns), rise = difference(q->b_ns, p->b_ns) - run;
        const Step step = {run, q->sender == group->lesser ? rise : -rise};
        g_array_append_val(steps, step);
    }
    return steps;
}

// The half with the shortest runs: clocks drift apart least there.
static double median_rise(GArray *steps, double *spread)
{
    Step *step = &g_array_index(steps, Step, 0);
    qsort(step, steps->len, sizeof *step, compare_runs);
    guint count = MAX(steps->len / 2, COMPARED_MIN);
    qsort(step, count, sizeof *step, compare_rises);
    *spread = (step[count * 3 / 4].rise_ns - step[count / 4].rise_ns) / 2;
    return step[count / 2].rise_ns;
}

static BbClockOrder order_by_stamps(const Group *group)
{
    g_autoptr(GArray) steps = list_steps(group);
    double spread = 0;
    if (steps->len < COMPARED_MIN)
        return BB_CLOCK_ORDER_UNKNOWN;
    double rise = median_rise(steps, &spread);
    if (fabs(rise) <= CLEAR * spread || rise == 0)
        return BB_CLOCK_ORDER_UNKNOWN;
    return rise > 0 ? BB_CLOCK_ORDER_A_FIRST : BB_CLOCK_ORDER_B_FIRST;
}

// ---- by the places -----------------------------------------------------------------------------

static BbClockOrder other(BbClockOrder order)
{
    if (order == BB_CLOCK_ORDER_UNKNOWN)
        return order;
    return order == BB_CLOCK_ORDER_A_FIRST ? BB_CLOCK_ORDER_B_FIRST : BB_CLOCK_ORDER_A_FIRST;
}

// An observer at the sender is the first, one at the receiver the last that a message passes.
static BbClockOrder order_by_places(const BbClockMatch *match, guint32 a_at, guint32 b_at)
{
    if (a_at == b_at || match->sender == match->receiver)
        return BB_CLOCK_ORDER_UNKNOWN;
    if (a_at == match->sender || b_at == match->receiver)
        return BB_CLOCK_ORDER_A_FIRST;
    if (b_at == match->sender || a_at == match->receiver)
        return BB_CLOCK_ORDER_B_FIRST;
    return BB_CLOCK_ORDER_UNKNOWN;
}

static void order_group(Group *group, guint32 a_at, guint32 b_at)
{
    group->lesser = lesser(&group->matches[0]);
    BbClockOrder from_lesser = order_by_stamps(group);
    for (gsize i = 0; i < group->count; i++) {
        BbClockMatch *match = &group->matches[i];
        if (match->order == BB_CLOCK_ORDER_UNKNOWN)
            match->order = match->sender == group->lesser ? from_lesser : other(from_lesser);
        if (match->order == BB_CLOCK_ORDER_UNKNOWN)
            match->order = order_by_places(match, a_at, b_at);
    }
}

// ---- where nothing tells -----------------------------------------------------------------------

static bool is_any_known(const BbClockMatch *matches, gsize count)
{
    for (gsize i = 0; i < count; i++)
        if (matches[i].order != BB_CLOCK_ORDER_UNKNOWN)
            return true;
    return false;
}

static bool is_both_ways(const Group *group)
{
    for (gsize i = 1; i < group->count; i++)
        if (group->matches[i].sender != group->matches[0].sender)
            return true;
    return false;
}

static void take_lesser_for_first(Group *group)
{
    if (!is_both_ways(group))
        return;
    for (gsize i = 0; i < group->count; i++) {
        BbClockMatch *match = &group->matches[i];
        bool from_lesser = match->sender == lesser(match);
        match->order = from_lesser ? BB_CLOCK_ORDER_A_FIRST : BB_CLOCK_ORDER_B_FIRST;
    }
}

// ---- groups ------------------------------------------------------------------------------------

// The group that begins at begin; of no matches at the end.
static Group group_at(BbClockMatch *matches, gsize count, gsize begin)
{
    gsize end = begin;
    while (end < count && lesser(&matches[end]) == lesser(&matches[begin]) &&
           greater(&matches[end]) == greater(&matches[begin]))
        end++;
    return (Group){.matches = &matches[begin], .count = end - begin};
}

// Of few nobody can tell the scatter.
static bool are_many_both_ways(BbClockMatch *matches, gsize count)
{
    gsize ways[2] = {0, 0};
    Group group;
    for (gsize at = 0; (group = group_at(matches, count, at)).count; at += group.count) {
        gsize counted = is_both_ways(&group) ? group.count : 0;
        for (gsize i = 0; i < counted; i++)
            ways[group.matches[i].sender == lesser(&group.matches[i])]++;
    }
    return MIN(ways[0], ways[1]) >= COMPARED_MIN;
}

void bb_clock_order_find(BbClockMatch *matches, gsize count, guint32 a_at, guint32 b_at)
{
    if (!count)
        return;
    qsort(matches, count, sizeof *matches, compare_matches);
    Group group;
    for (gsize at = 0; (group = group_at(matches, count, at)).count; at += group.count)
        order_group(&group, a_at, b_at);
    if (is_any_known(matches, count) || !are_many_both_ways(matches, count))
        return;
    for (gsize at = 0; (group = group_at(matches, count, at)).count; at += group.count)
        take_lesser_for_first(&group);
}
