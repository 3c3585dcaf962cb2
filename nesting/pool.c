// SPDX-License-Identifier: Apache-2.0
// In: the times of a site's children. Out: those that began when the return of another let them.
#include "nesting/pool.h"

#include "nesting/density.h"
#include "nesting/times.h"

#include <math.h>
#include <stdlib.h>

#define LEVELS 256u        // calls under way to one callee that are told apart
#define FEWEST 30u         // calls that are made at once when one returns,
#define OFTEN 0.05         // share of all calls that find the pool with one connection left,
#define BEYOND 0.01        // and of those that may be more than the pool has
#define STEPS 5u           // tenths of the time after which the next one returns: that is at once
#define STEP 0.1           // within which the most calls are made, against
#define AT_ONCE_LEAST 0.15 // chance; so much more, of those that find one left, it must be

// What is known of the calls to one callee.
typedef struct {
    guint32 starts[LEVELS]; // of calls, by how many are under way then, from 1
    guint32 n;
    double lasts;   // all calls together
    guint capacity; // 0: there is no such number
    guint open;     // now
    gint64 freed; // when the last one returned and left one connection free that somebody may wait
                  // for; G_MININT64: none did
    guint32 number;      // of those that are believed
    guint32 full;        // calls that took the last one,
    guint32 soon[STEPS]; // those of them that did so within so many steps
    guint at_once;       // so many steps are
    BbDensity *lags;     // of these; NULL: none
} Pool;

typedef struct {
    BbMoments *moments;
    guint32 *pool; // of callees
    GArray *pools; // of Pool
} Pools;

static void pools_clear(Pools *pools)
{
    for (guint i = 0; i < pools->pools->len; i++)
        g_free(g_array_index(pools->pools, Pool, i).lags);
    g_array_unref(pools->pools);
    g_free(pools->pool);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Pools, pools_clear)

// One for each callee of so many calls that there may be one; first, one that has none, for all
// others.
static Pools pools_of(BbMoments *moments)
{
    guint32 n = moments->site->n_children;
    Pools pools = {.moments = moments,
                   .pool = g_new0(guint32, moments->n_callees),
                   .pools = g_array_new(FALSE, TRUE, sizeof(Pool))};
    for (guint32 x = 0; x < n; x++)
        pools.pool[moments->callee[x]]++;
    g_array_set_size(pools.pools, 1);
    for (guint32 i = 0; i < moments->n_callees; i++) {
        bool many = pools.pool[i] >= FEWEST;
        pools.pool[i] = many ? pools.pools->len : 0;
        g_array_set_size(pools.pools, pools.pools->len + many);
    }
    return pools;
}

static Pool *pool_of(const Pools *pools, guint32 x)
{
    return &g_array_index(pools->pools, Pool, pools->pool[pools->moments->callee[x]]);
}

static bool next(Pools *pools, guint32 *x, bool *calls, Pool **pool)
{
    if (!bb_moments_next(pools->moments, x, calls))
        return false;
    *pool = pool_of(pools, *x);
    return true;
}

static void count_starts(Pools *pools)
{
    guint32 x;
    bool calls;
    Pool *pool;
    bb_moments_rewind(pools->moments);
    while (next(pools, &x, &calls, &pool)) {
        if (!calls) {
            pool->open--;
            continue;
        }
        const BbSiteChild *child = &pools->moments->site->children[x];
        pool->open++;
        pool->starts[MIN(pool->open, LEVELS) - 1]++;
        pool->n++;
        pool->lasts += (double)(child->e - child->s);
    }
}

// One alone is no pool: a node that does one thing after the other makes calls likewise.
static guint capacity_of(const Pool *pool)
{
    guint32 above = 0;
    for (guint level = LEVELS; level > 0; level--) {
        guint32 with = above + pool->starts[level - 1];
        if (with >= FEWEST && with >= OFTEN * pool->n)
            return level > 1 && level < LEVELS && above <= BEYOND * pool->n ? level : 0;
        above = with;
    }
    return 0;
}

// After a return, in quanta: the time of a step.
static double step_of(const Pool *pool)
{
    return STEP * pool->lasts / pool->n / pool->capacity;
}

// How many parents are open, as time goes on.
typedef struct {
    gint64 *begins, *ends; // each in order
    guint32 n, begun, ended;
} Parents;

static Parents parents_of(const BbSite *site)
{
    guint32 n = site->n_parents;
    Parents parents = {.begins = g_new(gint64, n + 1), .ends = g_new(gint64, n + 1), .n = n};
    for (guint32 p = 0; p < n; p++) {
        parents.begins[p] = bb_site_begun(site, &site->parents[p]);
        parents.ends[p] = MAX(parents.begins[p], site->parents[p].e);
    }
    qsort(parents.begins, n, sizeof *parents.begins, bb_times_compare);
    qsort(parents.ends, n, sizeof *parents.ends, bb_times_compare);
    return parents;
}

// time: no earlier than that of the last call.
static guint32 open_at(Parents *parents, gint64 time)
{
    while (parents->begun < parents->n && parents->begins[parents->begun] <= time)
        parents->begun++;
    while (parents->ended < parents->n && parents->ends[parents->ended] < time)
        parents->ended++;
    return parents->begun - parents->ended;
}

static void take_last(Pool *pool, const BbSiteChild *child, BbSiteFreed *freed)
{
    double steps = (double)(child->s - pool->freed) / step_of(pool);
    pool->full++;
    for (guint i = 0; i < STEPS; i++)
        pool->soon[i] += steps <= i + 1;
    if (steps <= STEPS)
        freed->at = pool->freed;
}

// Somebody waits for the last one only where more parents are open than there are connections.
static void find_freed(Pools *pools, BbSiteFreed *freed)
{
    Parents parents = parents_of(pools->moments->site);
    guint32 x;
    bool calls;
    Pool *pool;
    bb_moments_rewind(pools->moments);
    while (next(pools, &x, &calls, &pool)) {
        const BbSiteChild *child = &pools->moments->site->children[x];
        if (pool->capacity == 0)
            continue;
        if (!calls) {
            bool waited_for =
                pool->open-- == pool->capacity && open_at(&parents, child->e) > pool->capacity;
            pool->freed = waited_for ? child->e : G_MININT64;
            continue;
        }
        if (++pool->open == pool->capacity && pool->freed != G_MININT64)
            take_last(pool, child, &freed[x]);
        pool->freed = G_MININT64;
    }
    g_free(parents.begins);
    g_free(parents.ends);
}

// So many steps after a return are at once; 0: no more calls are made then than by chance.
static guint find_at_once(const Pool *pool)
{
    guint steps = 0;
    double most = AT_ONCE_LEAST;
    for (guint i = 0; i < STEPS && pool->full > 0; i++) {
        double excess = (double)pool->soon[i] / pool->full - (1 - exp(-STEP * (i + 1)));
        if (pool->soon[i] < FEWEST || excess < most)
            continue;
        steps = i + 1;
        most = excess;
    }
    return steps;
}

// Forgets what shows no pool. Returns how many there are.
static guint32 believe(const Pools *pools, const BbGapScale *scale, BbSiteFreed *freed)
{
    const BbSite *site = pools->moments->site;
    guint32 n = 0;
    for (guint i = 0; i < pools->pools->len; i++) {
        Pool *pool = &g_array_index(pools->pools, Pool, i);
        pool->at_once = find_at_once(pool);
        pool->number = pool->at_once > 0 ? n++ : BB_SITE_NONE;
        pool->lags = pool->at_once > 0 ? bb_density_new() : NULL;
    }
    for (guint32 x = 0; n > 0 && x < site->n_children; x++) {
        const Pool *pool = pool_of(pools, x);
        freed[x].pool = pool->number;
        if (freed[x].at == G_MININT64)
            continue;
        gint64 lag = site->children[x].s - freed[x].at;
        if (pool->at_once > 0 && (double)lag <= pool->at_once * step_of(pool))
            bb_density_add(pool->lags, bb_gap_bin(scale, lag), 1);
        else
            freed[x].at = G_MININT64;
    }
    return n;
}

static void fit_lags(const Pools *pools, const BbGapScale *scale, BbSiteFreed *freed)
{
    const BbSite *site = pools->moments->site;
    for (guint i = 0; i < pools->pools->len; i++)
        if (g_array_index(pools->pools, Pool, i).lags)
            bb_density_fit(g_array_index(pools->pools, Pool, i).lags, scale);
    for (guint32 x = 0; x < site->n_children; x++) {
        const Pool *pool = pool_of(pools, x);
        if (freed[x].at != G_MININT64)
            freed[x].log = pool->lags->log[bb_gap_bin(scale, site->children[x].s - freed[x].at)];
    }
}

static guint32 *limits_of(const Pools *pools, guint32 n)
{
    guint32 *limits = g_new(guint32, n);
    for (guint i = 0; i < pools->pools->len; i++) {
        const Pool *pool = &g_array_index(pools->pools, Pool, i);
        if (pool->lags)
            limits[pool->number] = pool->capacity;
    }
    return limits;
}

void bb_pool_find(BbSite *site, BbMoments *moments, const BbGapScale *scale)
{
    bool any = false;
    g_auto(Pools) pools = pools_of(moments);
    count_starts(&pools);
    for (guint i = 0; i < pools.pools->len; i++) {
        Pool *pool = &g_array_index(pools.pools, Pool, i);
        pool->capacity = i > 0 ? capacity_of(pool) : 0;
        pool->freed = G_MININT64;
        any |= pool->capacity > 0;
    }
    if (!any)
        return;
    g_autofree BbSiteFreed *freed = g_new(BbSiteFreed, site->n_children);
    for (guint32 x = 0; x < site->n_children; x++)
        freed[x] = (BbSiteFreed){.at = G_MININT64, .pool = BB_SITE_NONE};
    find_freed(&pools, freed);
    site->n_pools = believe(&pools, scale, freed);
    if (site->n_pools == 0)
        return;
    fit_lags(&pools, scale, freed);
    site->freed = g_steal_pointer(&freed);
    site->limit = limits_of(&pools, site->n_pools);
}
