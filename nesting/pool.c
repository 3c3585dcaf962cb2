// SPDX-License-Identifier: Apache-2.0
// In: the times of a site's children. Out: those that began when the return of another let them.
#include "nesting/pool.h"

#include "nesting/density.h"
#include "nesting/timesort.h"

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

static void number_pools(Moments *moments)
{
    g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL); // callee -> 1 + its pool
    for (guint32 x = 0; x < moments->site->n_children; x++) {
        gpointer callee = GUINT_TO_POINTER(moments->site->children[x].callee);
        guint number = GPOINTER_TO_UINT(g_hash_table_lookup(known, callee));
        if (number == 0) {
            number = moments->pools->len + 1;
            g_array_set_size(moments->pools, number);
            g_hash_table_insert(known, callee, GUINT_TO_POINTER(number));
        }
        moments->pool[x] = number - 1;
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

static void find_freed(Moments *moments, const BbGapScale *scale, BbSiteFreed *freed)
{
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
        if (++pool->open == pool->capacity && pool->freed != G_MININT64)
            take_last(pool, child, scale, &freed[x]);
        pool->freed = G_MININT64;
    }
}

// Forgets what shows no pool. False: that is all.
static bool believe(const Moments *moments, const BbGapScale *scale, BbSiteFreed *freed)
{
    bool any = false;
    for (guint i = 0; i < moments->pools->len; i++) {
        Pool *pool = &g_array_index(moments->pools, Pool, i);
        if (pool->at_once < FEWEST || pool->at_once < AT_ONCE_LEAST * pool->full)
            g_clear_pointer(&pool->lags, g_free);
        else
            bb_density_fit(pool->lags, scale);
        any |= pool->lags != NULL;
    }
    for (guint32 x = 0; any && x < moments->site->n_children; x++) {
        const Pool *pool = &g_array_index(moments->pools, Pool, moments->pool[x]);
        if (!pool->lags)
            freed[x].at = G_MININT64;
        else if (freed[x].at != G_MININT64)
            freed[x].log =
                pool->lags->log[bb_gap_bin(scale, moments->site->children[x].s - freed[x].at)];
    }
    return any;
}

BbSiteFreed *bb_pool_find(const BbSite *site, const BbGapScale *scale)
{
    bool any = false;
    g_auto(Moments) moments = moments_of(site);
    count_starts(&moments);
    for (guint i = 0; i < moments.pools->len; i++) {
        Pool *pool = &g_array_index(moments.pools, Pool, i);
        pool->capacity = capacity_of(pool);
        pool->freed = G_MININT64;
        any |= pool->capacity > 0;
    }
    if (!any)
        return NULL;
    g_autofree BbSiteFreed *freed = g_new(BbSiteFreed, site->n_children);
    for (guint32 x = 0; x < site->n_children; x++)
        freed[x] = (BbSiteFreed){G_MININT64, 0};
    find_freed(&moments, scale, freed);
    return believe(&moments, scale, freed) ? g_steal_pointer(&freed) : NULL;
}
