// SPDX-License-Identifier: Apache-2.0
// In: an assignment, its model, and what let calls begin. Out: how long these waited before.
#include "nesting/pool_waits.h"

#include "nesting/reference.h"

#define WAITED_LEAST (1.0 / 3) // of the calls that a pool let begin
#define LONGEST 0x1p62         // ns

static guint32 pool_of(const BbSite *site, guint32 x)
{
    return site->freed ? site->freed[x].pool : BB_SITE_NONE;
}

static BbPoolWait wait_of(const BbSite *site, const BbModel *model, guint32 x)
{
    BbPoolWait wait = {.limit = site->limit[site->freed[x].pool]};
    guint32 parent = site->parent[x];
    double quanta;
    if (parent == BB_SITE_NONE || !bb_reference_is_freed(site, x))
        return wait;
    const BbKids *kids = &site->kids[parent];
    double share =
        bb_model_pool_wait(model, site, parent, kids->at, bb_kids_before(kids, x), &quanta);
    wait.share = (float)share;
    wait.ns = (gint64)MIN(share * quanta * (double)site->quantum_ns, LONGEST);
    return wait;
}

void bb_pool_waits_note(const BbSite *site, const BbModel *model, BbPoolWait *waits)
{
    g_autofree guint32 *let_begin = g_new0(guint32, site->n_pools);
    g_autofree double *waited = g_new0(double, site->n_pools);
    for (guint32 x = 0; x < site->n_children; x++) {
        guint32 pool = pool_of(site, x);
        BbPoolWait *wait = &waits[site->children[x].call];
        *wait = pool == BB_SITE_NONE ? (BbPoolWait){0} : wait_of(site, model, x);
        if (pool == BB_SITE_NONE)
            continue;
        let_begin[pool] += bb_reference_is_freed(site, x);
        waited[pool] += (double)wait->share;
    }
    for (guint32 x = 0; x < site->n_children; x++) {
        guint32 pool = pool_of(site, x);
        if (pool != BB_SITE_NONE && waited[pool] < WAITED_LEAST * let_begin[pool])
            waits[site->children[x].call] = (BbPoolWait){0};
    }
}
