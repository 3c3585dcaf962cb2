// SPDX-License-Identifier: Apache-2.0
// Sites for tests of connections: a node of several workers, each with an incoming connection, that
// asks an authenticator once and a database three times for each request.
#pragma once

#include "nesting/site.h"
#include "tests/unit/sample_sites.h"

enum { WORKER_CLIENT = 7, WORKER_AUTH, WORKER_DB }; // names
enum { WORKER_CALLS = 4 };                          // of a request

typedef enum {
    WORKER_THREADS, // each has connections of its own
    WORKER_HELD,    // a request takes a connection to the database at random for its time
    WORKER_POOL,    // each call takes one at random
    WORKER_FRESH,   // each call opens its own
} WorkerWay;

static inline guint32 worker_conn(GRand *rand, WorkerWay way, guint workers, guint worker,
                                  guint32 held, guint callee, guint32 call)
{
    if (way == WORKER_FRESH)
        return 1000000 + call;
    guint number = way == WORKER_THREADS ? worker
                   : way == WORKER_HELD && callee == WORKER_DB
                       ? held
                       : (guint)g_rand_int_range(rand, 0, (gint32)workers);
    return 1000 * callee + number;
}

// Each worker is busy for a share of the time. A child's `call` is that of its true parent.
static inline BbSite *site_of_workers(GRand *rand, WorkerWay way, guint workers, guint each,
                                      double busy)
{
    BbSite *site = bb_site_new(workers * each, workers * each * WORKER_CALLS);
    site->n_parent_types = 1;
    site->n_child_types = 2;
    guint32 p = 0, x = 0;
    for (guint w = 0; w < workers; w++) {
        gint64 clock = g_rand_int_range(rand, 0, 5000);
        for (guint i = 0; i < each; i++, p++) {
            gint64 at = clock;
            guint32 held = (guint32)g_rand_int_range(rand, 0, (gint32)workers);
            for (guint k = 0; k < WORKER_CALLS; k++, x++) {
                guint callee = k == 0 ? WORKER_AUTH : WORKER_DB;
                gint64 s = at + g_rand_int_range(rand, 50, 500);
                at = s + g_rand_int_range(rand, 200, 1000);
                site->children[x] = (BbSiteChild){
                    .s = s,
                    .e = at,
                    .trip = at - s,
                    .call = p,
                    .callee = callee,
                    .conn = worker_conn(rand, way, workers, w, held, callee, x),
                    .type = k == 0 ? 0 : 1,
                };
            }
            gint64 e = at + g_rand_int_range(rand, 50, 500);
            site->parents[p] = (BbSiteParent){
                .s = clock, .e = e, .call = p, .caller = WORKER_CLIENT, .conn = 1 + w};
            clock = e +
                    (gint64)((double)(e - clock) * (1 / busy - 1) *
                             g_rand_double_range(rand, 0.2, 1.8)) +
                    1;
            site->span = MAX(site->span, (double)clock);
        }
    }
    qsort(site->parents, site->n_parents, sizeof *site->parents, site_parent_order);
    qsort(site->children, site->n_children, sizeof *site->children, site_child_order);
    site_find_candidates(site, 0);
    return site;
}

// Gives every child its true parent, if that is among its candidates, or, of a share of them, any
// candidate.
static inline void worker_assign(GRand *rand, BbSite *site, double wrong)
{
    g_autofree guint32 *place = g_new(guint32, site->n_parents);
    for (guint32 p = 0; p < site->n_parents; p++)
        place[site->parents[p].call] = p;
    bb_site_clear(site);
    for (guint32 x = 0; x < site->n_children; x++) {
        guint32 parent = place[site->children[x].call], n = site->first[x + 1] - site->first[x];
        if (n > 0 && g_rand_double(rand) < wrong)
            parent = site->list[site->first[x] + (guint32)g_rand_int_range(rand, 0, (gint32)n)];
        if (bb_site_may(site, x, parent))
            bb_site_give(site, x, parent);
    }
}
