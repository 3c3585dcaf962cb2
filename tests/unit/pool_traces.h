// SPDX-License-Identifier: Apache-2.0
// Traces of a node that waits for a pool of connections, and what is told of that.
#pragma once

#include "tests/unit/planted_traces.h"

#include <stdio.h>

// A node whose requests each make some calls, one after the other, on a pool of connections that
// gives what returns to who waits longest.
typedef struct {
    guint requests, calls;
    guint pool;         // connections
    double between;     // mean time between arrivals, us,
    double think, away; // before each call and the reply; of a call
} Load;

typedef struct {
    guint64 id;
    double wish; // when it wants to make its next call, or to reply
    double arrived;
    guint left; // calls
} Request;

// The one with a call to make that wished so first; NULL: none.
static inline Request *first_of(Request *requests, guint n)
{
    Request *first = NULL;
    for (guint i = 0; i < n; i++)
        if (requests[i].left > 0 && (!first || requests[i].wish < first->wish))
            first = &requests[i];
    return first;
}

static inline double think(Trace *trace, const Load *load)
{
    return load->think * (0.5 + bb_random_unit(&trace->random));
}

// Returns the share of the calls that waited; *wait_us: for how long in all.
static inline double play_waits(Trace *trace, const Load *load, double *wait_us)
{
    g_autofree Request *requests = g_new(Request, load->requests);
    g_autofree double *free_at = g_new0(double, load->pool);
    double at = 1000 * MS;
    guint waited = 0;
    *wait_us = 0;
    for (guint i = 0; i < load->requests; i++) {
        at += load->between * bb_random_exponential(&trace->random);
        requests[i] = (Request){begin(trace, 0), at + think(trace, load), at, load->calls};
    }
    for (Request *next; (next = first_of(requests, load->requests));) {
        guint line = 0;
        for (guint l = 1; l < load->pool; l++)
            line = free_at[l] < free_at[line] ? l : line;
        bool waits = free_at[line] > next->wish;
        double start = waits ? free_at[line] + about(trace, 100) : next->wish;
        *wait_us += start - next->wish;
        free_at[line] = leaf(trace, A, B, next->id, start, load->away);
        next->wish = free_at[line] + think(trace, load);
        next->left--;
        waited += waits;
        if (next->left == 0)
            both(trace, CLIENT, A, next->id, next->arrived, next->wish);
    }
    return share(waited, load->requests * load->calls);
}

static inline double play(Trace *trace, const Load *load)
{
    double wait_us;
    return play_waits(trace, load, &wait_us);
}

// Told is about what there was, or less, as a wait is known by what makes it end.
static inline void check_waits(guint pool, double between)
{
    g_auto(Trace) trace = trace_new(90 + pool);
    double wait_us, told_us = 0, waited = 0;
    Load load = {600, 2, pool, between, 3 * MS, 6 * MS};
    guint limited = 0, calls = load.requests * load.calls;
    double truth = play_waits(&trace, &load, &wait_us);
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    ck_assert_ptr_nonnull(paths->pool_wait);
    for (guint32 i = 0; i < paths->n_calls; i++) {
        const BbPoolWait *wait = &paths->pool_wait[i];
        ck_assert(wait->limit == (paths->calls[i].caller == A ? pool : 0));
        ck_assert_int_ge(wait->ns, 0);
        limited += wait->limit > 0;
        waited += (double)wait->share;
        told_us += (double)wait->ns / 1000;
    }
    printf("pool of %u: waited %.2f for %.1f s, told %.2f for %.1f s\n", pool, truth, wait_us / 1e6,
           waited / calls, told_us / 1e6);
    ck_assert_uint_eq(limited, calls);
    ck_assert_double_ge(waited / calls, 0.6 * truth);
    ck_assert_double_le(waited / calls, 1.1 * truth);
    ck_assert_double_ge(told_us, 0.5 * wait_us);
    ck_assert_double_le(told_us, 1.1 * wait_us);
}
