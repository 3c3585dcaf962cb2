// SPDX-License-Identifier: Apache-2.0
// In: the children that two parents have. Out: those that they would have after a change.
#include "nesting/trial.h"

void bb_trial_insert(BbTrial *trial, guint32 x)
{
    guint32 k = trial->n++;
    for (; k > 0 && trial->at[k - 1] > x; k--)
        trial->at[k] = trial->at[k - 1];
    trial->at[k] = x;
}

void bb_trial_without(BbTrial *trial, const BbKids *kids, guint32 x)
{
    trial->n = 0;
    for (guint32 k = 0; k < kids->n; k++)
        if (kids->at[k] != x)
            trial->at[trial->n++] = kids->at[k];
}

void bb_trial_with(BbTrial *trial, const BbKids *kids, guint32 x)
{
    guint32 k = 0, n = 0;
    for (; k < kids->n && kids->at[k] < x; k++)
        trial->at[n++] = kids->at[k];
    trial->at[n++] = x;
    for (; k < kids->n; k++)
        trial->at[n++] = kids->at[k];
    trial->n = n;
}

bool bb_trial_tails(BbTrial *a, BbTrial *b, const BbSite *site, guint32 x, guint32 to, guint32 y)
{
    guint32 from = site->parent[x];
    const BbKids *of = &site->kids[from], *others = &site->kids[to];
    guint32 at = bb_kids_before(of, x);
    if (of->n - at + y > BB_MODEL_NEAR || at + others->n - y > BB_MODEL_NEAR)
        return false;
    for (guint32 k = at; k < of->n; k++)
        if (!bb_site_may(site, of->at[k], to))
            return false;
    for (guint32 k = y; k < others->n; k++)
        if (!bb_site_may(site, others->at[k], from))
            return false;
    a->n = b->n = 0;
    for (guint32 k = 0; k < at; k++)
        a->at[a->n++] = of->at[k];
    for (guint32 k = 0; k < y; k++)
        b->at[b->n++] = others->at[k];
    for (guint32 k = at; k < of->n; k++)
        bb_trial_insert(b, of->at[k]);
    for (guint32 k = y; k < others->n; k++)
        bb_trial_insert(a, others->at[k]);
    return true;
}

// Deals a parent's children out: those on a connection (0: none) to `other`, which may be asked to
// take them, the rest to itself.
static bool deal(const BbSite *site, const BbKids *kids, guint32 conn, guint32 other, BbTrial *stay,
                 BbTrial *go)
{
    for (guint32 k = 0; k < kids->n; k++) {
        bool goes = conn != 0 && site->children[kids->at[k]].conn == conn;
        if (goes && !bb_site_may(site, kids->at[k], other))
            return false;
        bb_trial_insert(goes ? go : stay, kids->at[k]);
    }
    return true;
}

bool bb_trial_runs(BbTrial *a, BbTrial *b, const BbSite *site, guint32 x, guint32 to, guint32 y)
{
    guint32 from = site->parent[x], back = y == BB_SITE_NONE ? 0 : site->children[y].conn;
    const BbKids *of = &site->kids[from], *others = &site->kids[to];
    a->n = b->n = 0;
    return of->n + others->n <= BB_MODEL_NEAR && deal(site, of, site->children[x].conn, to, a, b) &&
           deal(site, others, back, from, b, a);
}
