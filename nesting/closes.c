// SPDX-License-Identifier: Apache-2.0
// In: closed connections, calls whose returns came after that. Out: calls with the time of it.
#include "nesting/closes.h"

#include "data/status.h"

#include <stdlib.h>
#include <string.h>

static gint compare(guint64 a, guint64 b)
{
    return (a > b) - (a < b);
}

static gint by_call(const BbSighting *a, const BbSighting *b)
{
    gint order = compare(a->id_number, b->id_number);
    order = order ? order : compare(a->id_form, b->id_form);
    order = order ? order : compare(a->caller, b->caller);
    return order ? order : compare(a->callee, b->callee);
}

static int by_call_and_time(const void *a, const void *b)
{
    const BbSighting *x = a, *y = b;
    gint order = by_call(x, y);
    return order ? order : (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

// The first end that is not before key; n if there is none.
static guint find(const BbSighting *ends, guint n, const BbSighting *key)
{
    guint low = 0, high = n;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (by_call_and_time(&ends[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// On the caller's clock; seen at the callee's end it is as much later as the call was there.
static gint64 closed_at(const BbSighting *end, const BbCall *call)
{
    gint64 later_ns = bb_time_between(call->call_ns, call->arrived_ns);
    return end->at_receiver ? end->time_ns : bb_time_between(later_ns, end->time_ns);
}

// What the caller saw counts more.
static void note(const BbSighting *ends, guint n, BbCall *call)
{
    const BbSighting key = {.id_number = call->id.number,
                            .id_form = call->id.form,
                            .caller = call->caller,
                            .callee = call->callee,
                            .time_ns = G_MININT64};
    gint64 closed_ns = BB_TIME_NONE;
    bool seen_there = false;
    for (guint i = find(ends, n, &key); i < n && by_call(&ends[i], &key) == 0; i++) {
        gint64 at_ns = closed_at(&ends[i], call);
        bool counts = closed_ns == BB_TIME_NONE || (ends[i].at_receiver && !seen_there);
        if (!counts || at_ns < call->call_ns || at_ns >= call->return_ns)
            continue;
        closed_ns = at_ns;
        seen_there = ends[i].at_receiver;
    }
    if (closed_ns != BB_TIME_NONE)
        call->return_end_ns = closed_ns;
}

void bb_closes_note(const BbSighting *ends, guint n, BbPaths *paths, const BbNames *names)
{
    guint32 unread = bb_names_find(names, BB_STATUS_UNREAD);
    if (n == 0 || unread == BB_NAME_NONE)
        return;
    g_autofree BbSighting *sorted = g_memdup2(ends, n * sizeof *ends);
    qsort(sorted, n, sizeof *sorted, by_call_and_time);
    for (guint32 i = 0; i < paths->n_calls; i++)
        if (paths->calls[i].status == unread && bb_call_is_returned(&paths->calls[i]))
            note(sorted, n, &paths->calls[i]);
}
