// SPDX-License-Identifier: Apache-2.0
// In: the times of a site's children. Out: those that began when the return of another let them.
#include "nesting/pool.h"

#include "nesting/density.h"
#include "nesting/timesort.h"

#include <stdlib.h>

#define LEVELS 256u        // calls under way to one callee that are told apart
#define FEWEST 30u         // calls that are made at once when one returns,
#define OFTEN 0.05         // share of all calls that find the pool with one connection left,
#define BEYOND 0.01        // and of those that may be more than the pool has
#define AT_ONCE 0.2        // of the time after which the next one returns: so soon is at once,
#define AT_ONCE_LEAST 0.33 // and so many of those that find one left must be made

// What is known of the calls to one callee.
typedef struct {
    guint32 starts[LEVELS]; // of calls, by how many are under way then, from 1
    guint32 n;
    double lasts;   // all calls together
    guint capacity; // 0: there is no such number
    guint open;     // now
    gint64 freed;   // when the last one returned and left one connection free; G_MININT64: none did
    guint32 number; // of those that are believed
    guint32 full, at_once; // calls that took the last one; those of them that did so at once
    BbDensity *lags;       // of these; NULL: none
} Pool;

// The calls and returns of the answered children, in order of time, returns before calls.
typedef struct {
    const BbSite *site;
    BbTimed *returns; // index: of the child
    guint32 n;        // of these
    guint32 *pool;    // of children
    GArray *pools;    // of Pool
    guint32 x, i;     // the next child and return
} Moments;

static void moments_clear(Moments *moments)
{
    for (guint i = 0; i < moments->pools->len; i++)
        g_free(g_array_index(moments->pools, Pool, i).lags);
    g_array_unref(moments->pools);
    g_free(moments->pool);
    g_free(moments->returns);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Moments, moments_clear)

static bool lasts(const BbSiteChild *child)
{
    return !child->unanswered && child->e > child->s;
}

// One for each callee of so many calls that there may be one; first, one that has none, for all
// others.
static void number_pools(Moments *moments)
{
    const BbSite *site = moments->site;
    g_autoptr(GHashTable) calls = g_hash_table_new(NULL, NULL); // callee -> how many; then its pool
    for (guint32 x = 0; x < site->n_children; x++) {
        gpointer callee = GUINT_TO_POINTER(site->children[x].callee);
        guint n = GPOINTER_TO_UINT(g_hash_table_lookup(calls, callee));
        if (n < FEWEST)
            g_hash_table_insert(calls, callee, GUINT_TO_POINTER(n + 1));
    }
    g_array_set_size(moments->pools, 1);
    for (guint32 x = 0; x < site->n_children; x++) {
        gpointer callee = GUINT_TO_POINTER(site->children[x].callee);
        guint n = GPOINTER_TO_UINT(g_hash_table_lookup(calls, callee));
        if (n == FEWEST) {
            n = FEWEST + moments->pools->len;
            g_hash_table_insert(calls, callee, GUINT_TO_POINTER(n));
            g_array_set_size(moments->pools, moments->pools->len + 1);
        }
        moments->pool[x] = n > FEWEST ? n - FEWEST : 0;
    }
}

static Moments moments_of(const BbSite *site)
{
    guint32 n = site->n_children;
    Moments moments = {.site = site,
                       .returns = g_new(BbTimed, n),
                       .pool = g_new(guint32, n),
                       .pools = g_array_new(FALSE, TRUE, sizeof(Pool))};
    g_autofree BbTimed *scratch = g_new(BbTimed, n);
    for (guint32 x = 0; x < n; x++)
        if (lasts(&site->children[x]))
            moments.returns[moments.n++] = (BbTimed){site->children[x].e, x};
    bb_timesort(moments.returns, scratch, moments.n);
    number_pools(&moments);
    return moments;
}

// The next child that calls or returns, and its pool; false after the last.
static bool next(Moments *moments, guint32 *x, bool *calls, Pool **pool)
{
    const BbSite *site = moments->site;
    while (moments->x < site->n_children && !lasts(&site->children[moments->x]))
        moments->x++;
    bool more = moments->x < site->n_children;
    if (!more && moments->i == moments->n)
        return false;
    const BbTimed *back = &moments->returns[moments->i];
    *calls = more && (moments->i == moments->n || site->children[moments->x].s < back->time_ns);
    *x = *calls ? moments->x++ : moments->returns[moments->i++].index;
    *pool = &g_array_index(moments->pools, Pool, moments->pool[*x]);
    return true;
}

static void count_starts(Moments *moments)
{
    guint32 x;
    bool calls;
    Pool *pool;
    while (next(moments, &x, &calls, &pool)) {
        if (!calls) {
            pool->open--;
            continue;
        }
        const BbSiteChild *child = &moments->site->children[x];
        pool->open++;
        pool->starts[MIN(pool->open, LEVELS) - 1]++;
        pool->n++;
        pool->lasts += (double)(child->e - child->s);
    }
    moments->x = moments->i = 0;
}

static guint capacity_of(const Pool *pool)
{
    guint32 above = 0;
    for (guint level = LEVELS; level > 0; level--) {
        guint32 with = above + pool->starts[level - 1];
        if (with >= FEWEST && with >= OFTEN * pool->n)
            return level < LEVELS && above <= BEYOND * pool->n ? level : 0;
        above = with;
    }
    return 0;
}

// So soon after a return a call follows at once.
static gint64 at_once(const Pool *pool)
{
    return (gint64)(AT_ONCE * pool->lasts / pool->n / pool->capacity);
}

// How many parents are open, as time goes on.
typedef struct {
    const BbSite *site;
    gint64 *ends; // in order
    guint32 begun, ended;
} Parents;

static int by_time(const void *a, const void *b)
{
    gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return (x > y) - (x < y);
}

static Parents parents_of(const BbSite *site)
{
    Parents parents = {.site = site, .ends = g_new(gint64, site->n_parents + 1)};
    for (guint32 p = 0; p < site->n_parents; p++)
        parents.ends[p] = site->parents[p].e;
    qsort(parents.ends, site->n_parents, sizeof *parents.ends, by_time);
    return parents;
}

static guint32 open_at(Parents *parents, gint64 time)
{
    const BbSite *site = parents->site;
    while (parents->begun < site->n_parents && site->parents[parents->begun].s <= time)
        parents->begun++;
    while (parents->ended < site->n_parents && parents->ends[parents->ended] < time)
        parents->ended++;
    return parents->begun - parents->ended;
}

static void take_last(Pool *pool, const BbSiteChild *child, const BbGapScale *scale,
                      BbSiteFreed *freed)
{
    gint64 lag = child->s - pool->freed;
    pool->full++;
    if (lag > at_once(pool))
        return;
    pool->at_once++;
    freed->at = pool->freed;
    if (!pool->lags)
        pool->lags = bb_density_new();
    bb_density_add(pool->lags, bb_gap_bin(scale, lag), 1);
}

// Somebody waits for the last one only where more parents are open than there are connections.
static void find_freed(Moments *moments, const BbGapScale *scale, BbSiteFreed *freed)
{
    Parents parents = parents_of(moments->site);
    guint32 x;
    bool calls;
    Pool *pool;
    while (next(moments, &x, &calls, &pool)) {
        const BbSiteChild *child = &moments->site->children[x];
        if (pool->capacity == 0)
            continue;
        if (!calls) {
            pool->freed = pool->open-- == pool->capacity ? child->e : G_MININT64;
            continue;
        }
        if (++pool->open == pool->capacity && pool->freed != G_MININT64 &&
            open_at(&parents, pool->freed) > pool->capacity)
            take_last(pool, child, scale, &freed[x]);
        pool->freed = G_MININT64;
    }
    g_free(parents.ends);
}

// Forgets what shows no pool. Returns how many there are.
static guint32 believe(const Moments *moments, const BbGapScale *scale, BbSiteFreed *freed)
{
    guint32 n = 0;
    for (guint i = 0; i < moments->pools->len; i++) {
        Pool *pool = &g_array_index(moments->pools, Pool, i);
        pool->number = n;
        if (pool->at_once < FEWEST || pool->at_once < AT_ONCE_LEAST * pool->full)
            g_clear_pointer(&pool->lags, g_free);
        else
            bb_density_fit(pool->lags, scale);
        n += pool->lags != NULL;
    }
    for (guint32 x = 0; n > 0 && x < moments->site->n_children; x++) {
        const Pool *pool = &g_array_index(moments->pools, Pool, moments->pool[x]);
        if (!pool->lags)
            freed[x].at = G_MININT64;
        if (freed[x].at == G_MININT64)
            continue;
        gint64 lag = moments->site->children[x].s - freed[x].at;
        freed[x].log = pool->lags->log[bb_gap_bin(scale, lag)];
        freed[x].pool = pool->number;
    }
    return n;
}

void bb_pool_find(BbSite *site, const BbGapScale *scale)
{
    bool any = false;
    g_auto(Moments) moments = moments_of(site);
    count_starts(&moments);
    for (guint i = 0; i < moments.pools->len; i++) {
        Pool *pool = &g_array_index(moments.pools, Pool, i);
        pool->capacity = i > 0 ? capacity_of(pool) : 0;
        pool->freed = G_MININT64;
        any |= pool->capacity > 0;
    }
    if (!any)
        return;
    g_autofree BbSiteFreed *freed = g_new(BbSiteFreed, site->n_children);
    for (guint32 x = 0; x < site->n_children; x++)
        freed[x] = (BbSiteFreed){.at = G_MININT64};
    find_freed(&moments, scale, freed);
    site->n_pools = believe(&moments, scale, freed);
    if (site->n_pools > 0)
        site->freed = g_steal_pointer(&freed);
}
