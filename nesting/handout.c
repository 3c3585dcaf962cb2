// SPDX-License-Identifier: Apache-2.0
// In: the times and connections of a site's children. Out: which of them took the connection that
// was theirs in order.
//
// A pool hands out the connection that was returned last (nginx, Go), or the one that
// was returned first. Whether it has such an order, and which, all calls to a callee show together:
// where there was a choice most go by it. Where one alone was free that was next.
#include "nesting/handout.h"

#define NONE G_MAXUINT32
#define NEWEST 1u
#define OLDEST 2u
#define FEWEST 30u      // calls where there was a choice
#define USUAL_LEAST 0.5 // of the calls that chance does not explain: so many go by the order

typedef struct {
    guint32 older, newer; // of those that are free
    guint32 callee;       // as moments number them
    guint32 open, left;   // calls under way; answered ones that are still to be made
    bool is_free;
} Conn;

typedef struct {
    guint32 newest, oldest;
    guint32 n_free;
    guint32 n_chosen, n_newest, n_oldest; // calls where there was a choice; that took these
    double by_chance;                     // so many would have taken either of them by chance
} Pool;

typedef struct {
    BbMoments *moments;
    guint32 *conn; // of children; NONE
    Conn *conns;
    Pool *pools;   // of callees
    guint8 *order; // of children: whether they took the newest, the oldest
} Handout;

static void handout_clear(Handout *handout)
{
    g_free(handout->conn);
    g_free(handout->conns);
    g_free(handout->order);
    g_free(handout->pools);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Handout, handout_clear)

static Pool *pool_of(const Handout *handout, const Conn *conn)
{
    return &handout->pools[conn->callee];
}

static Handout handout_of(BbMoments *moments, const guint32 *by_conn, guint32 n)
{
    const BbSite *site = moments->site;
    Handout handout = {.moments = moments,
                       .conn = g_new(guint32, site->n_children),
                       .conns = g_new0(Conn, n),
                       .pools = g_new0(Pool, moments->n_callees),
                       .order = g_new0(guint8, site->n_children)};
    for (guint32 i = 0; i < moments->n_callees; i++)
        handout.pools[i].newest = handout.pools[i].oldest = NONE;
    for (guint32 x = 0; x < site->n_children; x++)
        handout.conn[x] = NONE;
    guint32 n_conns = 0;
    for (guint32 i = 0; i < n; i++) {
        const BbSiteChild *child = &site->children[by_conn[i]];
        if (i == 0 || child->conn != site->children[by_conn[i - 1]].conn)
            handout.conns[n_conns++].callee = moments->callee[by_conn[i]];
        handout.conn[by_conn[i]] = n_conns - 1;
        handout.conns[n_conns - 1].left += bb_moments_has(child);
    }
    return handout;
}

static void give_back(Handout *handout, guint32 c)
{
    Conn *conn = &handout->conns[c];
    Pool *pool = pool_of(handout, conn);
    conn->is_free = true;
    conn->older = pool->newest;
    conn->newer = NONE;
    if (pool->newest == NONE)
        pool->oldest = c;
    else
        handout->conns[pool->newest].newer = c;
    pool->newest = c;
    pool->n_free++;
}

static void take(Handout *handout, guint32 c)
{
    Conn *conn = &handout->conns[c];
    Pool *pool = pool_of(handout, conn);
    conn->is_free = false;
    *(conn->newer == NONE ? &pool->newest : &handout->conns[conn->newer].older) = conn->older;
    *(conn->older == NONE ? &pool->oldest : &handout->conns[conn->older].newer) = conn->newer;
    pool->n_free--;
}

// Another replica has connections of its own.
static void take_all(Handout *handout)
{
    for (guint32 i = 0; i < handout->moments->n_callees; i++)
        while (handout->pools[i].newest != NONE)
            take(handout, handout->pools[i].newest);
}

static void begin(Handout *handout, guint32 x)
{
    guint32 c = handout->conn[x];
    Conn *conn = &handout->conns[c];
    Pool *pool = pool_of(handout, conn);
    conn->left--;
    conn->open++;
    if (!conn->is_free)
        return;
    bool newest = pool->newest == c, oldest = pool->oldest == c;
    handout->order[x] = (newest ? NEWEST : 0) | (oldest ? OLDEST : 0);
    if (pool->n_free > 1) {
        pool->n_chosen++;
        pool->by_chance += 1.0 / pool->n_free;
        pool->n_newest += newest;
        pool->n_oldest += oldest;
    }
    take(handout, c);
}

// One that is never used again may be closed.
static void end(Handout *handout, guint32 x)
{
    Conn *conn = &handout->conns[handout->conn[x]];
    if (--conn->open == 0 && conn->left > 0)
        give_back(handout, handout->conn[x]);
}

static void play(Handout *handout)
{
    const BbSite *site = handout->moments->site;
    gint64 replica = 0;
    guint32 x;
    bool calls;
    bb_moments_rewind(handout->moments);
    while (bb_moments_next(handout->moments, &x, &calls)) {
        const BbSiteChild *child = &site->children[x];
        if (site->period > 0 && child->s / site->period != replica) {
            replica = child->s / site->period;
            take_all(handout);
        }
        if (handout->conn[x] == NONE)
            continue;
        if (calls)
            begin(handout, x);
        else
            end(handout, x);
    }
}

// NEWEST or OLDEST; 0: it has no order.
static guint8 order_of(const Pool *pool)
{
    guint32 most = MAX(pool->n_newest, pool->n_oldest);
    double excess = most - pool->by_chance, rest = pool->n_chosen - pool->by_chance;
    if (pool->n_chosen < FEWEST || excess < USUAL_LEAST * rest)
        return 0;
    return pool->n_newest == most ? NEWEST : OLDEST;
}

void bb_handout_find(BbSite *site, BbMoments *moments)
{
    guint32 n;
    g_autofree guint32 *by_conn = bb_site_by_conn(site, &n);
    if (n == 0)
        return;
    g_auto(Handout) handout = handout_of(moments, by_conn, n);
    play(&handout);
    for (guint32 i = 0; i < n; i++) {
        guint32 x = by_conn[i];
        const Pool *pool = pool_of(&handout, &handout.conns[handout.conn[x]]);
        site->children[x].handed = handout.order[x] & order_of(pool);
    }
}
