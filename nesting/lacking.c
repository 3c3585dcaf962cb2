// SPDX-License-Identifier: Apache-2.0
// In: assignments drawn by their likelihood, and how much of each child's candidates was looked at.
// Out: how likely each parent lacks a child, and shares that know of the candidates left out.
//
// Of two kinds of lacking children: those that other draws give to the parent (they are counted),
// and those whose true parent may not be among the candidates that were kept. What such a child's
// share loses goes to the parents of its time that have no child of its kind.
#include "nesting/lacking.h"

#include <math.h>

// Of a parent, over all draws.
typedef struct {
    guint32 gained_at, broken_at; // the last draw that gave it a child more, took one of its own
    guint32 broken;               // draws that took one of its own
    guint32 gained;               // draws that gave it more, and took none
} Fate;

struct BbLacking {
    const BbSite *site;
    const guint32 *parent;
    Fate *fates;
    guint32 draws;
};

BbLacking *bb_lacking_new(const BbSite *site, const guint32 *parent)
{
    BbLacking *lacking = g_new0(BbLacking, 1);
    lacking->site = site;
    lacking->parent = parent;
    lacking->fates = g_new0(Fate, site->n_parents);
    return lacking;
}

void bb_lacking_free(BbLacking *lacking)
{
    if (!lacking)
        return;
    g_free(lacking->fates);
    g_free(lacking);
}

// ---- draws -------------------------------------------------------------------------------------

void bb_lacking_observe(BbLacking *lacking, const guint32 *children, guint32 n)
{
    guint32 draw = ++lacking->draws;
    for (guint32 i = 0; i < n; i++) {
        guint32 own = lacking->parent[children[i]], now = lacking->site->parent[children[i]];
        if (own == now || own == BB_SITE_NONE || lacking->fates[own].broken_at == draw)
            continue;
        lacking->fates[own].broken_at = draw;
        lacking->fates[own].broken++;
    }
    for (guint32 i = 0; i < n; i++) {
        guint32 own = lacking->parent[children[i]], now = lacking->site->parent[children[i]];
        if (own == now || now == BB_SITE_NONE)
            continue;
        Fate *fate = &lacking->fates[now];
        fate->gained += fate->broken_at != draw && fate->gained_at != draw;
        fate->gained_at = draw;
    }
}

// ---- candidates that were left out -------------------------------------------------------------

// Of the children of a kind: how many have candidates, how many of these have no parent, and the
// sum of their kept shares.
typedef struct {
    double n, lone, kept;
} Kind;

static Kind look_at(const BbLacking *lacking, guint kind)
{
    const BbSite *site = lacking->site;
    Kind all = {0, 0, 0};
    for (guint32 x = 0; x < site->n_children; x++) {
        if (site->children[x].type != kind || site->first[x] == site->first[x + 1])
            continue;
        all.n++;
        all.lone += lacking->parent[x] == BB_SITE_NONE;
        all.kept += (double)site->kept[x];
    }
    return all;
}

// A child whose parent was left out looks as if it had none. Share of those without parent that are
// more than that explains.
static double truly_lone(const Kind *kind)
{
    double kept = kind->kept / kind->n, lone = kind->lone / kind->n;
    return lone > 0 ? CLAMP((lone - (1 - kept)) / (kept * lone), 0, 1) : 1;
}

// How many children of a kind each parent may lack, relatively: as many as those of its kind have
// in the mean, none where it has one. sums[p]: of the parents before p.
static void sum_weights(const BbLacking *lacking, guint kind, double *weight, double *sums)
{
    const BbSite *site = lacking->site;
    g_autofree double *n = g_new0(double, site->n_parent_types),
                      *kids = g_new0(double, site->n_parent_types);
    for (guint32 p = 0; p < site->n_parents; p++) {
        n[site->parents[p].type]++;
        weight[p] = 1;
    }
    for (guint32 x = 0; x < site->n_children; x++) {
        guint32 p = lacking->parent[x];
        if (p == BB_SITE_NONE || site->children[x].type != kind)
            continue;
        kids[site->parents[p].type]++;
        weight[p] = 0;
    }
    sums[0] = 0;
    for (guint32 p = 0; p < site->n_parents; p++) {
        guint type = site->parents[p].type;
        weight[p] *= kids[type] / n[type];
        sums[p + 1] = sums[p] + weight[p];
    }
}

// Lessens the shares of a kind, and adds to lost[p] how many of its children p is expected to lack.
static void look_beyond(const BbLacking *lacking, guint kind, float *share, double *lost)
{
    const BbSite *site = lacking->site;
    Kind all = look_at(lacking, kind);
    if (all.kept >= all.n)
        return;
    g_autofree double *weight = g_new(double, site->n_parents),
                      *sums = g_new(double, (gsize)site->n_parents + 1),
                      *steps = g_new0(double, (gsize)site->n_parents + 1);
    sum_weights(lacking, kind, weight, sums);
    double lone = truly_lone(&all);
    for (guint32 x = 0; x < site->n_children; x++) {
        if (site->children[x].type != kind || site->kept[x] >= 1)
            continue;
        guint32 from = site->list[site->first[x]], to = site->list[site->first[x + 1] - 1] + 1;
        double left = lacking->parent[x] == BB_SITE_NONE ? lone : (double)site->kept[x];
        double among = sums[to] - sums[from], gone = (double)share[x] * (1 - left);
        share[x] = (float)((double)share[x] * left);
        if (among > 0) {
            steps[from] += gone / among;
            steps[to] -= gone / among;
        }
    }
    double level = 0;
    for (guint32 p = 0; p < site->n_parents; p++) {
        level += steps[p];
        lost[p] += MAX(level, 0) * weight[p];
    }
}

void bb_lacking_finish(const BbLacking *lacking, float *share, float *whole)
{
    const BbSite *site = lacking->site;
    g_autofree double *lost = g_new0(double, site->n_parents);
    for (guint kind = 0; kind < site->n_child_types; kind++)
        look_beyond(lacking, kind, share, lost);
    for (guint32 p = 0; p < site->n_parents; p++) {
        const Fate *fate = &lacking->fates[p];
        guint32 intact = lacking->draws - fate->broken;
        double gained = intact > 0 ? (double)fate->gained / intact : 0;
        whole[p] = (float)((1 - gained) * exp(-lost[p]));
    }
}
