// SPDX-License-Identifier: Apache-2.0
// In: an assignment under a model. Out: the same, with two children for parents that lack them.
#include "nesting/fill.h"

#include <math.h>

#include "data/groups.h"

#define DEAR (-8.0) // what two parents may lose (log) by what they give
#define NEAREST 24u // children of a parent that go with the least loss: two of these are looked for

struct BbFill {
    BbSite *site;
    BbScores *scores;
    BbGroups children; // that parent p may have
    double *loss;      // [child]: log likelihood that goes with it; NAN: not known
};

// Two of a parent's possible children, and by how much the whole is likelier with them there.
typedef struct {
    guint32 x, y;
    double gain;
} Two;

static void find_children(BbFill *fill)
{
    const BbSite *site = fill->site;
    guint32 n = site->first[site->n_children];
    fill->children = bb_groups_begin(site->n_parents);
    for (guint32 i = 0; i < n; i++)
        bb_groups_count(&fill->children, site->list[i], 1);
    bb_groups_open(&fill->children);
    for (guint32 x = 0; x < site->n_children; x++)
        for (guint32 i = site->first[x]; i < site->first[x + 1]; i++)
            bb_groups_put(&fill->children, site->list[i], x);
}

BbFill *bb_fill_new(BbSite *site, BbScores *scores)
{
    BbFill *fill = g_new0(BbFill, 1);
    fill->site = site;
    fill->scores = scores;
    fill->loss = g_new(double, site->n_children);
    find_children(fill);
    return fill;
}

void bb_fill_free(BbFill *fill)
{
    if (!fill)
        return;
    bb_groups_clear(&fill->children);
    g_free(fill->loss);
    g_free(fill);
}

// What is lost where x is taken from, and y, if it is of the same parent; y: BB_SITE_NONE for none.
static double loss_of(const BbFill *fill, guint32 x, guint32 y)
{
    const BbSite *site = fill->site;
    guint32 from = site->parent[x];
    if (from == BB_SITE_NONE)
        return -bb_model_lone(fill->scores->model, site->children[x].type);
    if (bb_scores_is_big(fill->scores, from))
        return -G_MAXDOUBLE;
    const BbKids *kids = &site->kids[from];
    BbTrial rest = {.n = 0};
    for (guint32 k = 0; k < kids->n; k++)
        if (kids->at[k] != x && kids->at[k] != y)
            rest.at[rest.n++] = kids->at[k];
    return bb_scores_trial(fill->scores, from, &rest) - bb_scores_of(fill->scores, from);
}

static double loss_of_one(BbFill *fill, guint32 x)
{
    if (isnan(fill->loss[x]))
        fill->loss[x] = loss_of(fill, x, BB_SITE_NONE);
    return fill->loss[x];
}

static double loss_of_two(BbFill *fill, guint32 x, guint32 y)
{
    guint32 from = fill->site->parent[x];
    if (from != BB_SITE_NONE && from == fill->site->parent[y])
        return loss_of(fill, x, y);
    return loss_of_one(fill, x) + loss_of_one(fill, y);
}

// Those of a parent's possible children that go with the least loss, the least first; of late ones
// none, which are made one by one. near: NEAREST of them. Returns how many.
static guint list_nearest(BbFill *fill, guint32 p, guint32 *near)
{
    guint n = 0;
    const guint32 *children = bb_groups_at(&fill->children, p);
    for (guint32 i = 0; i < bb_groups_size(&fill->children, p); i++) {
        guint32 x = children[i];
        if (fill->site->children[x].e > fill->site->parents[p].e)
            continue;
        double loss = loss_of_one(fill, x);
        if (n == NEAREST && loss <= fill->loss[near[n - 1]])
            continue;
        guint k = n < NEAREST ? n++ : n - 1;
        for (; k > 0 && fill->loss[near[k - 1]] < loss; k--)
            near[k] = near[k - 1];
        near[k] = x;
    }
    return n;
}

static Two best_for(BbFill *fill, guint32 p)
{
    Two best = {.gain = 1e-6};
    guint32 near[NEAREST];
    guint n = list_nearest(fill, p, near);
    for (guint i = 0; i < n; i++) {
        for (guint j = i + 1; j < n; j++) {
            guint32 x = MIN(near[i], near[j]), y = MAX(near[i], near[j]);
            double loss = loss_of_two(fill, x, y);
            if (loss < DEAR)
                continue;
            BbTrial two = {.at = {x, y}, .n = 2};
            double gain =
                loss + bb_scores_trial(fill->scores, p, &two) - bb_scores_of(fill->scores, p);
            if (gain > best.gain)
                best = (Two){x, y, gain};
        }
    }
    return best;
}

static void changed(BbFill *fill, guint32 p)
{
    const BbKids *kids = &fill->site->kids[p];
    bb_scores_changed(fill->scores, p);
    for (guint32 k = 0; k < kids->n; k++)
        fill->loss[kids->at[k]] = (double)NAN;
}

static void give(BbFill *fill, guint32 x, guint32 p)
{
    guint32 from = fill->site->parent[x];
    if (from != BB_SITE_NONE) {
        bb_site_take(fill->site, x);
        changed(fill, from);
    }
    bb_site_give(fill->site, x, p);
}

double bb_fill_empty(BbFill *fill)
{
    const BbSite *site = fill->site;
    double grown = 0;
    for (guint32 x = 0; x < site->n_children; x++)
        fill->loss[x] = (double)NAN;
    for (guint32 p = 0; p < site->n_parents; p++) {
        if (site->kids[p].n > 0)
            continue;
        Two two = best_for(fill, p);
        if (two.x == two.y)
            continue;
        give(fill, two.x, p);
        give(fill, two.y, p);
        changed(fill, p);
        grown += two.gain;
    }
    return grown;
}
