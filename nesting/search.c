// SPDX-License-Identifier: Apache-2.0
// In: a site, a model and a temperature. Out: the site's assignment, changed for the better or by
// chance.
#include "nesting/search.h"

#include <string.h>

#include "nesting/fill.h"
#include "nesting/look.h"

#define TRIED 12u      // other places of a child looked at by a random change
#define TRIED_LARGE 8u // the same in a large site
#define DOUBT 10.0f    // a child whose best change is worse than that is certain
#define ODD (-1.0)     // kinds of children less likely than those of others (log) by that
#define ODD_LOOKS 8u   // at their parents' children

struct BbSearch {
    BbSite *site;
    const BbModel *model;
    BbRandom random;
    BbScores *scores;
    BbLooks looks; // at the above
    BbFill *fill;  // NULL until it is asked for
    guint32 *list; // children that are looked at
    guint32 n_list;
    float *nearest; // of children: how near the best change came when they were looked at last
};

BbSearch *bb_search_new(BbSite *site, const BbModel *model, guint64 seed)
{
    BbSearch *search = g_new0(BbSearch, 1);
    search->site = site;
    search->model = model;
    search->random = bb_random_start(seed);
    search->scores = bb_scores_new(site, model);
    search->looks = (BbLooks){site, model, search->scores, &search->random,
                              site->n_parents > BB_SITE_LARGE ? TRIED_LARGE : TRIED};
    search->list = g_new(guint32, site->n_children);
    search->nearest = g_new(float, site->n_children);
    bb_search_all(search);
    return search;
}

void bb_search_free(BbSearch *search)
{
    if (!search)
        return;
    bb_fill_free(search->fill);
    bb_scores_free(search->scores);
    g_free(search->list);
    g_free(search->nearest);
    g_free(search);
}

void bb_search_refresh(BbSearch *search)
{
    bb_scores_refresh(search->scores);
}

void bb_search_order(BbSearch *search, BbFifo *fifo)
{
    bb_scores_order(search->scores, fifo);
}

void bb_search_all(BbSearch *search)
{
    const BbSite *site = search->site;
    search->n_list = 0;
    for (guint32 x = 0; x < site->n_children; x++) {
        search->nearest[x] = -G_MAXFLOAT;
        if (site->first[x] < site->first[x + 1])
            search->list[search->n_list++] = x;
    }
}

void bb_search_doubtful(BbSearch *search)
{
    guint32 n = 0;
    for (guint32 i = 0; i < search->n_list; i++)
        if (search->nearest[search->list[i]] > -DOUBT)
            search->list[n++] = search->list[i];
    search->n_list = n;
}

void bb_search_begin(BbSearch *search)
{
    BbSite *site = search->site;
    bb_site_clear(site);
    bb_search_refresh(search);
    for (guint32 x = 0; x < site->n_children; x++) {
        double best = bb_model_lone(search->model, site->children[x].type);
        guint32 parent = BB_SITE_NONE;
        for (guint32 i = site->first[x]; i < site->first[x + 1]; i++) {
            const BbKids *kids = &site->kids[site->list[i]];
            double suits = bb_model_next(search->model, site, site->list[i], kids->at, kids->n, x);
            if (suits > best) {
                best = suits;
                parent = site->list[i];
            }
        }
        if (parent != BB_SITE_NONE)
            bb_site_give(site, x, parent);
    }
}

void bb_search_begin_innermost(BbSearch *search)
{
    BbSite *site = search->site;
    bb_site_clear(site);
    bb_search_refresh(search);
    for (guint32 x = 0; x < site->n_children; x++) {
        guint32 best = site->first[x];
        for (guint32 i = site->first[x]; i < site->first[x + 1]; i++)
            best = site->inner[i] <= site->inner[best] ? i : best;
        if (site->first[x] < site->first[x + 1])
            bb_site_give(site, x, site->list[best]);
    }
}

// One look at a child. Returns by how much the log likelihood grew.
static double look_and_change(BbSearch *search, guint32 x, double temperature)
{
    BbLook look = bb_look_start(temperature);
    bb_look_at(&search->looks, &look, x);
    search->nearest[x] = (float)look.nearest;
    if (look.best.way == BB_CHANGE_STAY)
        return 0;
    search->nearest[x] = 0;
    if (look.best.way == BB_CHANGE_JOIN || look.best.way == BB_CHANGE_PAIR)
        search->nearest[look.best.y] = 0;
    bb_look_carry_out(&search->looks, x, &look.best);
    return look.best.delta;
}

double bb_search_sweep(BbSearch *search, double temperature)
{
    double grown = 0;
    for (guint32 i = 0; i < search->n_list; i++)
        grown += look_and_change(search, search->list[i], temperature);
    return grown;
}

// ---- unusual parents ---------------------------------------------------------------------------

// [type of parent]: mean log likelihood of the kinds of children that it has.
static void find_usual(const BbSearch *search, double *usual)
{
    const BbSite *site = search->site;
    double n[BB_SITE_TYPES] = {0};
    memset(usual, 0, BB_SITE_TYPES * sizeof *usual);
    for (guint32 p = 0; p < site->n_parents; p++) {
        if (bb_scores_is_big(search->scores, p))
            continue;
        usual[site->parents[p].type] += bb_scores_kinds(search->scores, p);
        n[site->parents[p].type]++;
    }
    for (guint t = 0; t < BB_SITE_TYPES; t++)
        usual[t] /= MAX(n[t], 1);
}

static bool is_odd(const BbSearch *search, guint32 x, const double *usual)
{
    guint32 p = search->site->parent[x];
    if (p == BB_SITE_NONE)
        return true;
    return !bb_scores_is_big(search->scores, p) &&
           bb_scores_kinds(search->scores, p) < usual[search->site->parents[p].type] + ODD;
}

void bb_search_odd(BbSearch *search)
{
    guint64 looks = 0;
    for (guint k = 0; k < ODD_LOOKS && looks < search->n_list; k++) {
        double usual[BB_SITE_TYPES];
        find_usual(search, usual);
        for (guint32 i = 0; i < search->n_list; i++) {
            if (!is_odd(search, search->list[i], usual))
                continue;
            look_and_change(search, search->list[i], 1);
            looks++;
        }
    }
}

double bb_search_fill(BbSearch *search)
{
    if (!search->fill)
        search->fill = bb_fill_new(search->site, search->scores);
    return bb_fill_empty(search->fill);
}

// ---- confidence --------------------------------------------------------------------------------

void bb_search_sample(BbSearch *search, double temperature, const guint32 *final, float *share)
{
    for (guint32 i = 0; i < search->n_list; i++) {
        guint32 x = search->list[i];
        BbLook look = bb_look_start(temperature);
        bool is_there = search->site->parent[x] == final[x];
        look.target = final[x];
        look.share = is_there ? 1 : 0;
        bb_look_at(&search->looks, &look, x);
        double known = look.share + (is_there ? 0 : 1); // staying, or going to the target
        share[x] += (float)(look.share / (known + look.each * (look.weight - known)));
        bb_look_carry_out(&search->looks, x, &look.best);
    }
}

const guint32 *bb_search_list(const BbSearch *search, guint32 *count)
{
    *count = search->n_list;
    return search->list;
}

float bb_search_nearest(const BbSearch *search, guint32 x)
{
    return search->nearest[x];
}

double bb_search_total(const BbSearch *search)
{
    return bb_scores_total(search->scores);
}
