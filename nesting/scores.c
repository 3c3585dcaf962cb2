// SPDX-License-Identifier: Apache-2.0
// In: a site, a model, and the order of things. Out: how likely they find its parents.
#include "nesting/scores.h"

#include <math.h>
#include <string.h>

#define MANY 8u // children of a parent of which the terms are remembered

BbScores *bb_scores_new(const BbSite *site, const BbModel *model)
{
    BbScores *scores = g_new0(BbScores, 1);
    scores->site = site;
    scores->model = model;
    scores->known = g_new0(BbKnown, site->n_parents);
    bb_scores_refresh(scores);
    return scores;
}

void bb_scores_free(BbScores *scores)
{
    if (!scores)
        return;
    for (guint32 p = 0; p < scores->site->n_parents; p++)
        bb_terms_free(scores->known[p].terms);
    g_free(scores->known);
    g_free(scores);
}

static void forget(BbScores *scores, guint32 p)
{
    scores->known[p].score = scores->known[p].brood.log = (double)NAN;
}

void bb_scores_refresh(BbScores *scores)
{
    scores->order.p = BB_SITE_NONE;
    for (guint32 p = 0; p < scores->site->n_parents; p++)
        forget(scores, p);
}

static double with_terms(const BbScores *scores, guint32 p)
{
    BbKnown *known = &scores->known[p];
    if (!known->terms)
        known->terms = g_new0(BbTerms, 1);
    return bb_model_terms(scores->model, scores->site, p, known->terms);
}

double bb_scores_of(const BbScores *scores, guint32 p)
{
    const BbKids *kids = &scores->site->kids[p];
    double *score = &scores->known[p].score;
    if (isnan(*score))
        *score = kids->n >= MANY
                     ? with_terms(scores, p)
                     : bb_model_parent(scores->model, scores->site, p, kids->at, kids->n);
    return *score;
}

static const BbBrood *brood_of(BbScores *scores, guint32 p)
{
    const BbKids *kids = &scores->site->kids[p];
    BbBrood *brood = &scores->known[p].brood;
    if (isnan(brood->log))
        *brood = bb_model_brood(scores->model, scores->site, p, kids->at, kids->n);
    return brood;
}

double bb_scores_kinds(BbScores *scores, guint32 p)
{
    return brood_of(scores, p)->log;
}

bool bb_scores_may(BbScores *scores, guint32 p, guint32 x, double least)
{
    const BbSite *site = scores->site;
    const BbKids *kids = &site->kids[p];
    const BbBrood *brood = brood_of(scores, p);
    if (-brood->log <= least) // were it certain to have them, with x
        return false;
    guint32 same = 0;
    for (guint32 k = 0; k < kids->n; k++)
        same += site->children[kids->at[k]].type == site->children[x].type;
    return bb_model_more(scores->model, site, p, brood, same, x) > least;
}

double bb_scores_trial(const BbScores *scores, guint32 p, const BbTrial *trial)
{
    if (scores->site->kids[p].n < MANY)
        return bb_model_parent(scores->model, scores->site, p, trial->at, trial->n);
    (void)bb_scores_of(scores, p);
    const BbTerms *terms = scores->known[p].terms;
    return bb_model_trial(scores->model, scores->site, p, trial->at, trial->n, terms);
}

// ---- order -------------------------------------------------------------------------------------

static guint waits_of(const BbScores *scores, guint32 p, const BbTrial *trial, BbWait *waits)
{
    guint n = bb_model_waits(scores->model, scores->site, p, trial->at, trial->n, waits);
    return bb_fifo_keep(scores->fifo, waits, n);
}

// What parents p and q (BB_SITE_NONE: p alone) would pay for the order of things.
static double order_of(const BbScores *scores, guint32 p, const BbTrial *a, guint32 q,
                       const BbTrial *b)
{
    BbWait of_p[BB_MODEL_NEAR + 2], of_q[BB_MODEL_NEAR + 2];
    guint n_p = waits_of(scores, p, a, of_p), n_q;
    double sum = bb_fifo_log(scores->fifo, p, of_p, n_p, q);
    if (q == BB_SITE_NONE)
        return sum;
    n_q = waits_of(scores, q, b, of_q);
    return sum + bb_fifo_log(scores->fifo, q, of_q, n_q, p) +
           bb_fifo_between(scores->fifo, scores->site, p, of_p, n_p, q, of_q, n_q);
}

static BbTrial current(const BbScores *scores, guint32 p)
{
    BbTrial trial;
    const BbKids *kids = &scores->site->kids[p];
    trial.n = MIN(kids->n, BB_MODEL_NEAR);
    if (trial.n > 0)
        memcpy(trial.at, kids->at, trial.n * sizeof *kids->at);
    return trial;
}

// The same as they are: often asked of the same two in a row.
static double order_now(BbScores *scores, guint32 p, guint32 q)
{
    if (scores->order.p == p && scores->order.q == q)
        return scores->order.log;
    BbTrial of_p = current(scores, p), of_q;
    if (q != BB_SITE_NONE)
        of_q = current(scores, q);
    scores->order.p = p;
    scores->order.q = q;
    scores->order.log = order_of(scores, p, &of_p, q, &of_q);
    return scores->order.log;
}

double bb_scores_order_gain(BbScores *scores, guint32 p, const BbTrial *a, guint32 q,
                            const BbTrial *b)
{
    if (!scores->fifo)
        return 0;
    return order_of(scores, p, a, q, b) - order_now(scores, p, q);
}

double bb_scores_order_most(BbScores *scores, guint32 p, guint32 q)
{
    if (!scores->fifo)
        return 0;
    return bb_fifo_rewards(scores->fifo) ? (double)INFINITY : -order_now(scores, p, q);
}

static void know_order(BbScores *scores, guint32 p)
{
    BbWait waits[BB_MODEL_NEAR + 2];
    if (!scores->fifo)
        return;
    BbTrial trial = current(scores, p);
    bb_fifo_know(scores->fifo, p, waits,
                 bb_scores_is_big(scores, p) ? 0 : waits_of(scores, p, &trial, waits));
}

void bb_scores_order(BbScores *scores, BbFifo *fifo)
{
    scores->fifo = fifo;
    scores->order.p = BB_SITE_NONE;
}

void bb_scores_changed(BbScores *scores, guint32 p)
{
    forget(scores, p);
    scores->order.p = BB_SITE_NONE;
    know_order(scores, p);
}

// ---- pieces ------------------------------------------------------------------------------------

double bb_scores_gain_of_big(const BbScores *scores, guint32 p, guint32 x)
{
    const BbSite *site = scores->site;
    const BbKids *kids = &site->kids[p];
    guint32 place = bb_kids_before(kids, x), half = BB_MODEL_NEAR / 2 - 1;
    guint32 from = place > half ? place - half : 0, to = MIN(kids->n, place + half + 1);
    to =
        from + bb_model_beside(scores->model, site, p, kids->at + from, place - from, to - from, x);
    BbTrial in = {.n = 0}, out = {.n = 0};
    for (guint32 k = from; k < to; k++) {
        in.at[in.n++] = kids->at[k];
        if (kids->at[k] != x)
            out.at[out.n++] = kids->at[k];
    }
    if (in.n == out.n)
        bb_trial_insert(&in, x);
    bool to_end = to == kids->n;
    return bb_model_part(scores->model, site, p, in.at, place - from, in.n, to_end) -
           bb_model_part(scores->model, site, p, out.at, place - from, out.n, to_end);
}

// ---- all of them -------------------------------------------------------------------------------

double bb_scores_total(const BbScores *scores)
{
    const BbSite *site = scores->site;
    double total = 0;
    for (guint32 p = 0; p < site->n_parents; p++) {
        const BbKids *kids = &site->kids[p];
        if (kids->n <= BB_MODEL_NEAR)
            total += bb_model_parent(scores->model, site, p, kids->at, kids->n);
        for (guint32 k = 0; kids->n > BB_MODEL_NEAR && k < kids->n; k += BB_MODEL_NEAR)
            total += bb_model_part(scores->model, site, p, kids->at + k, 0,
                                   MIN(BB_MODEL_NEAR, kids->n - k), k + BB_MODEL_NEAR >= kids->n);
    }
    for (guint32 p = 0; scores->fifo && p < site->n_parents; p++) {
        BbTrial trial = current(scores, p);
        BbWait waits[BB_MODEL_NEAR + 2];
        if (!bb_scores_is_big(scores, p))
            total += 0.5 * bb_fifo_log(scores->fifo, p, waits, waits_of(scores, p, &trial, waits),
                                       BB_SITE_NONE);
    }
    for (guint32 x = 0; x < site->n_children; x++)
        if (site->parent[x] == BB_SITE_NONE)
            total += bb_model_lone(scores->model, site->children[x].type);
    return total;
}
