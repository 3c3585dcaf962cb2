// SPDX-License-Identifier: Apache-2.0
// In: an assignment, a model and a child. Out: a change for the better, or one by chance.
#include "nesting/look_parts.h"

#include <math.h>
#include <string.h>

#define FEW 2u          // candidates that are all looked at closely
#define HOPELESS 20     // a candidate whose gap is less likely than that (log) is not
#define PAIRS_MOST 8u   // children of a parent of which any two may leave together
#define PAIR_REACH 3u   // of more, those after one that may leave along with it
#define LONE_REACH 256u // of the children after it
#define NEVER -25       // log odds of changes that are not drawn
#define UNLIKELY -16    // of a move by what is soon known of it, that is not looked at closely

BbLook bb_look_start(double temperature)
{
    return (BbLook){.temperature = temperature,
                    .weight = 1,
                    .each = 1,
                    .nearest = -G_MAXDOUBLE,
                    .target = BB_LOOK_NO_TARGET,
                    .best = {.way = BB_CHANGE_STAY, .delta = temperature <= 0 ? 1e-9 : 0}};
}

static void consider(BbLooks *looks, BbLook *look, const BbChange *change)
{
    look->nearest = MAX(look->nearest, change->delta);
    if (look->temperature <= 0) {
        if (change->delta > look->best.delta)
            look->best = *change;
        return;
    }
    double heated = change->delta / look->temperature;
    if (heated < NEVER)
        return;
    double weight = exp(MIN(heated, 600));
    look->weight += weight;
    if ((change->way == BB_CHANGE_LEAVE ? BB_SITE_NONE : change->to) == look->target)
        look->share += weight;
    if (weight > 0 && bb_random_unit(looks->random) * look->weight < weight)
        look->best = *change;
}

// Whether a change that makes the assignment likelier by so much at most is none that counts.
static bool is_beyond(const BbLook *look, double most)
{
    bool never =
        look->temperature <= 0 ? most <= look->best.delta : most / look->temperature < NEVER;
    return never && most <= look->nearest;
}

void bb_look_consider(BbLooks *looks, BbLook *look, const BbChange *change, guint32 p,
                      const BbTrial *a, guint32 q, const BbTrial *b)
{
    if (!looks->scores->fifo) { // mostly
        consider(looks, look, change);
        return;
    }
    if (is_beyond(look, change->delta + bb_scores_order_most(looks->scores, p, q)))
        return;
    BbChange whole = *change;
    whole.delta += bb_scores_order_gain(looks->scores, p, a, q, b);
    consider(looks, look, &whole);
}

// Children after x that have no parent either, but might.
static void find_lone(const BbLooks *looks, BbLook *look, guint32 x)
{
    const BbSite *site = looks->site;
    guint32 end = MIN(site->n_children, x + LONE_REACH);
    for (guint32 y = x + 1; y < end && look->n_lone < BB_LOOK_LONE; y++)
        if (site->parent[y] == BB_SITE_NONE && site->first[y] < site->first[y + 1])
            look->lone[look->n_lone++] = y;
}

// x comes to a parent along with another child: the way back of consider_pairs. Only to one that
// was open all the while: late children are made one by one.
static void consider_joining(BbLooks *looks, BbLook *look, guint32 x, guint32 to, double loss)
{
    const BbSite *site = looks->site;
    gint64 end = site->parents[to].e;
    if (site->kids[to].n + 2 > BB_MODEL_NEAR || site->children[x].e > end)
        return;
    for (guint32 i = 0; i < look->n_lone; i++) {
        guint32 y = look->lone[i];
        if (!bb_site_may(site, y, to) || site->children[y].e > end)
            continue;
        BbTrial both;
        bb_trial_with(&both, &site->kids[to], x);
        bb_trial_insert(&both, y);
        double delta = loss + bb_scores_trial(looks->scores, to, &both) -
                       bb_scores_of(looks->scores, to) -
                       bb_model_lone(looks->model, site->children[y].type);
        bb_look_consider(looks, look, &(BbChange){BB_CHANGE_JOIN, to, y, delta}, to, &both,
                         BB_SITE_NONE, NULL);
    }
}

static void consider_move(BbLooks *looks, BbLook *look, guint32 x, guint32 to, const BbTrial *rest,
                          double loss)
{
    guint32 from = looks->site->parent[x];
    BbScores *scores = looks->scores;
    BbChange move = {BB_CHANGE_MOVE, to, 0, loss};
    if (bb_scores_is_big(scores, to)) {
        move.delta += bb_scores_gain_of_big(scores, to, x);
        consider(looks, look, &move);
        return;
    }
    BbTrial more;
    bb_trial_with(&more, &looks->site->kids[to], x);
    move.delta += bb_scores_trial(scores, to, &more) - bb_scores_of(scores, to);
    if (from == BB_SITE_NONE)
        bb_look_consider(looks, look, &move, to, &more, BB_SITE_NONE, NULL);
    else if (!bb_scores_is_big(scores, from))
        bb_look_consider(looks, look, &move, to, &more, from, rest);
    else
        consider(looks, look, &move);
}

// Whether a parent may take x: by the other terms (log) and by the kinds of children that it would
// have then, at the heat of the sweep. Most have all that they should.
static bool may_move(BbLooks *looks, const BbLook *look, guint32 x, guint32 to, double log)
{
    return bb_scores_may(looks->scores, to, x, UNLIKELY * MAX(look->temperature, 1) - log);
}

// gap: log density of x's gap there.
static void consider_candidate(BbLooks *looks, BbLook *look, guint32 x, guint32 to,
                               const BbTrial *rest, double loss, double gap)
{
    guint32 from = looks->site->parent[x];
    bool big = bb_scores_is_big(looks->scores, to);
    if (big || may_move(looks, look, x, to, loss + gap))
        consider_move(looks, look, x, to, rest, loss);
    // By chance only where places are many: two calls whose own parent was lost would find another.
    if (from == BB_SITE_NONE && !big && (look->temperature <= 0 || look->n >= looks->tried))
        consider_joining(looks, look, x, to, loss);
    if (from == BB_SITE_NONE || big || bb_scores_is_big(looks->scores, from))
        return;
    double before = bb_scores_of(looks->scores, from) + bb_scores_of(looks->scores, to);
    bb_exchange_consider(looks, look, x, to, rest, before);
}

// Where a child has many candidates, a random change looks at some of the n places where it is
// not: its candidates, and none. Each is as likely to be looked at; but the one whose share is
// asked for always is.
static bool looks_at_some(const BbLooks *looks, const BbLook *look, guint32 n)
{
    return look->temperature > 0 && n > looks->tried;
}

// Whether having no parent is looked at, for a child that has one. Were it always, children would
// leave their parents more often than they come back, and the model would learn that they have
// none.
static bool may_leave(BbLooks *looks, const BbLook *look, guint32 x)
{
    const BbSite *site = looks->site;
    guint32 n = site->first[x + 1] - site->first[x];
    if (!looks_at_some(looks, look, n) || look->target == BB_SITE_NONE)
        return true;
    guint32 kept = look->target != BB_LOOK_NO_TARGET && look->target != site->parent[x];
    return bb_random_below(looks->random, n - kept) < looks->tried - kept;
}

// Puts a parent in front, if it is there; returns how many stand there then.
static guint32 put_first(guint32 *list, guint32 n, guint32 parent)
{
    for (guint32 i = 0; i < n; i++) {
        if (list[i] == parent) {
            list[i] = list[0];
            list[0] = parent;
            return 1;
        }
    }
    return 0;
}

// Candidates of x in list; some by chance where there are too many for a random change. leaves:
// having no parent is looked at as well.
static guint32 candidates_of(BbLooks *looks, BbLook *look, guint32 x, bool leaves, guint32 *list)
{
    const BbSite *site = looks->site;
    guint32 n = site->first[x + 1] - site->first[x], from = site->parent[x];
    memcpy(list, site->list + site->first[x], n * sizeof *list);
    if (!looks_at_some(looks, look, n))
        return n;
    guint32 rest = n - put_first(list, n, from), tried = looks->tried - leaves;
    if (rest < n)
        list[0] = list[rest];
    guint32 first = put_first(list, rest, look->target);
    for (guint32 i = first; i < tried; i++) {
        guint32 j = i + (guint32)bb_random_below(looks->random, rest - i), other = list[j];
        list[j] = list[i];
        list[i] = other;
    }
    guint32 kept = first + (look->target == BB_SITE_NONE && leaves);
    look->each = (double)(n - kept) / (looks->tried - kept);
    return tried;
}

// x leaves with another child that came after it, one of the next few. Two calls of a request whose
// own call was not seen leave the parent that took them in together or not at all: one of them
// alone fits nobody.
static void consider_pairs(BbLooks *looks, BbLook *look, guint32 x, const BbTrial *rest)
{
    const BbSite *site = looks->site;
    guint32 from = site->parent[x];
    double lone = bb_model_lone(looks->model, site->children[x].type);
    guint32 first = 0, end = rest->n;
    while (first < rest->n && rest->at[first] < x)
        first++;
    if (rest->n > PAIRS_MOST) // many: those next to x in time
        end = MIN(end, first + PAIR_REACH);
    for (guint32 k = first; k < end; k++) {
        guint32 y = rest->at[k];
        BbTrial others;
        bb_trial_copy(&others, rest);
        others.n--;
        for (guint32 i = k; i < others.n; i++)
            others.at[i] = rest->at[i + 1];
        double delta = bb_scores_trial(looks->scores, from, &others) -
                       bb_scores_of(looks->scores, from) + lone +
                       bb_model_lone(looks->model, site->children[y].type);
        bb_look_consider(looks, look, &(BbChange){BB_CHANGE_PAIR, BB_SITE_NONE, y, delta}, from,
                         &others, BB_SITE_NONE, NULL);
    }
}

// big: its parent has many children, and rest says nothing.
static void consider_leaving(BbLooks *looks, BbLook *look, guint32 x, const BbTrial *rest,
                             double loss, bool big)
{
    const BbSite *site = looks->site;
    guint32 from = site->parent[x];
    double lone = bb_model_lone(looks->model, site->children[x].type);
    BbChange leave = {BB_CHANGE_LEAVE, BB_SITE_NONE, 0, loss + lone};
    if (big) {
        consider(looks, look, &leave);
        return;
    }
    bb_look_consider(looks, look, &leave, from, rest, BB_SITE_NONE, NULL);
    consider_pairs(looks, look, x, rest);
}

void bb_look_at(BbLooks *looks, BbLook *look, guint32 x)
{
    const BbSite *site = looks->site;
    guint32 from = site->parent[x], list[BB_SITE_CANDIDATES];
    double lone = bb_model_lone(looks->model, site->children[x].type), loss = -lone;
    bool leaves = false;
    BbTrial rest;
    rest.n = 0;
    if (from != BB_SITE_NONE) {
        bool big = bb_scores_is_big(looks->scores, from);
        if (big) {
            loss = -bb_scores_gain_of_big(looks->scores, from, x);
        } else {
            bb_trial_without(&rest, &site->kids[from], x);
            loss = bb_scores_trial(looks->scores, from, &rest) - bb_scores_of(looks->scores, from);
        }
        leaves = may_leave(looks, look, x);
        if (leaves)
            consider_leaving(looks, look, x, &rest, loss, big);
    } else {
        find_lone(looks, look, x);
    }
    guint32 n = candidates_of(looks, look, x, leaves, list);
    look->n = n;
    double hopeless =
        (from == BB_SITE_NONE ? lone : bb_scores_gap(looks->scores, from, x)) - HOPELESS;
    for (guint32 i = 0; i < n; i++) {
        if (list[i] == from)
            continue;
        double gap = bb_scores_gap(looks->scores, list[i], x);
        if (n <= FEW || gap > hopeless)
            consider_candidate(looks, look, x, list[i], &rest, loss, gap);
    }
}

// ---- changes -----------------------------------------------------------------------------------

static void put(BbLooks *looks, guint32 parent, const BbTrial *trial)
{
    bb_site_put(looks->site, parent, trial->at, trial->n);
    bb_scores_changed(looks->scores, parent);
}

void bb_look_carry_out(BbLooks *looks, guint32 x, const BbChange *change)
{
    BbSite *site = looks->site;
    guint32 from = site->parent[x];
    BbTrial a, b;
    if (change->way == BB_CHANGE_STAY)
        return;
    if (change->way == BB_CHANGE_LEAVE || change->way == BB_CHANGE_PAIR ||
        change->way == BB_CHANGE_MOVE || change->way == BB_CHANGE_JOIN) {
        if (from != BB_SITE_NONE)
            bb_site_take(site, x);
        if (change->way == BB_CHANGE_PAIR)
            bb_site_take(site, change->y);
        if (from != BB_SITE_NONE)
            bb_scores_changed(looks->scores, from);
        if (change->way == BB_CHANGE_LEAVE || change->way == BB_CHANGE_PAIR)
            return;
        bb_site_give(site, x, change->to);
        if (change->way == BB_CHANGE_JOIN)
            bb_site_give(site, change->y, change->to);
        bb_scores_changed(looks->scores, change->to);
        return;
    }
    if (!bb_exchange_trials(site, x, change, &a, &b))
        return;
    put(looks, from, &a);
    put(looks, change->to, &b);
}
