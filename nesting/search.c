// SPDX-License-Identifier: Apache-2.0
// In: a site, a model and a temperature. Out: the site's assignment, changed for the better or by
// chance.
#include "nesting/search.h"

#include "data/random.h"
#include "nesting/fill.h"
#include "nesting/scores.h"

#include <math.h>
#include <string.h>

#define TRIED 12u       // other places of a child looked at by a random change
#define TRIED_LARGE 8u  // the same in a large site
#define FEW 2u          // candidates that are all looked at closely
#define HOPELESS 20     // a candidate whose gap is less likely than that (log) is not
#define NEIGHBOURS 2u   // of one child among many, on either side, that it may change places with
#define TAILS_MOST 64u  // children of two parents that may exchange tails
#define PAIRS_MOST 8u   // children of a parent of which any two may leave together
#define PAIR_REACH 3u   // of more, those after one that may leave along with it
#define LONE_MOST 8u    // children without parent that may come to one along with another
#define LONE_REACH 256u // of the children after it
#define NEVER -25       // log odds of changes that are not drawn
#define UNLIKELY -16    // of a move by what is soon known of it, that is not looked at closely
#define DOUBT 10.0f     // a child whose best change is worse than that is certain
#define ODD (-1.0)      // kinds of children less likely than those of others (log) by that
#define ODD_LOOKS 8u    // at their parents' children
#define NO_TARGET (BB_SITE_NONE - 1)

typedef enum { STAY, LEAVE, PAIR, MOVE, JOIN, SWAP, TAIL, RUN } Way;

// A change: child x goes to parent `to`; swap: against y; tail: against all of to's children from
// place y on; run: all on x's connection against all on y's (trial.h). Or x leaves its parent;
// pair: with y. join: x and y, which have none, go to it.
typedef struct {
    Way way;
    guint32 to, y;
    double delta;
} Change;

// What a look at a child gathers.
typedef struct {
    Change best;
    double temperature;
    double weight;           // of all changes, staying included
    guint32 n;               // candidates
    double each;             // other places for each that is looked at, but for the target
    double nearest;          // log likelihood ratio of the best change looked at
    guint32 lone[LONE_MOST]; // x has no parent: others after it that have none
    guint32 n_lone;
    guint32 target; // the share of changes that lead to this parent is asked for
    double share;
} Look;

struct BbSearch {
    BbSite *site;
    const BbModel *model;
    BbRandom random;
    BbScores *scores;
    BbFill *fill;  // NULL until it is asked for
    guint32 tried; // TRIED, or TRIED_LARGE
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
    search->tried = site->n_parents > BB_SITE_LARGE ? TRIED_LARGE : TRIED;
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

// ---- changes -----------------------------------------------------------------------------------

static void consider(BbSearch *search, Look *look, const Change *change)
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
    if ((change->way == LEAVE ? BB_SITE_NONE : change->to) == look->target)
        look->share += weight;
    if (weight > 0 && bb_random_unit(&search->random) * look->weight < weight)
        look->best = *change;
}

// Whether a change that makes the assignment likelier by so much at most is none that counts.
static bool is_beyond(const Look *look, double most)
{
    bool never =
        look->temperature <= 0 ? most <= look->best.delta : most / look->temperature < NEVER;
    return never && most <= look->nearest;
}

// x's parent and the one that it goes to would have a and b, or of BB_SITE_NONE nothing. likelier:
// by how much, order apart, which is only asked where that matters.
static void consider_lists(BbSearch *search, Look *look, const Change *change, guint32 p,
                           const BbTrial *a, guint32 q, const BbTrial *b)
{
    if (!search->scores->fifo) { // mostly
        consider(search, look, change);
        return;
    }
    if (is_beyond(look, change->delta + bb_scores_order_most(search->scores, p, q)))
        return;
    Change whole = *change;
    whole.delta += bb_scores_order_gain(search->scores, p, a, q, b);
    consider(search, look, &whole);
}

// Two parents exchange some children: they would have a and b. before: their scores.
static void consider_exchange(BbSearch *search, Look *look, Change change, guint32 from,
                              const BbTrial *a, const BbTrial *b, double before)
{
    change.delta = bb_scores_trial(search->scores, from, a) +
                   bb_scores_trial(search->scores, change.to, b) - before;
    consider_lists(search, look, &change, from, a, change.to, b);
}

static void consider_tails(BbSearch *search, Look *look, guint32 x, guint32 to, double before)
{
    const BbSite *site = search->site;
    guint32 from = site->parent[x];
    const BbKids *of = &site->kids[from], *others = &site->kids[to];
    guint32 y = 0, rest = 0;
    while (y < others->n && others->at[y] < x)
        y++;
    while (of->at[of->n - 1 - rest] != x)
        rest++;
    guint tries = y > 0 ? 2 : 1;
    for (guint t = 0; t < tries; t++, y--) {
        guint tail = others->n - y;
        if (rest == 0 && (tail == 0 || (tail == 1 && site->children[others->at[y]].type ==
                                                         site->children[x].type)))
            continue; // a move, or a swap
        BbTrial a, b;
        if (!bb_trial_tails(&a, &b, site, x, to, y))
            continue;
        consider_exchange(search, look, (Change){TAIL, to, y, 0}, from, &a, &b, before);
    }
}

// How many of a parent's children, from one place to another, go out on a connection.
static guint32 count_run(const BbSite *site, const BbKids *kids, guint32 from, guint32 to,
                         guint32 conn)
{
    guint32 n = 0;
    for (guint32 k = from; k < to; k++)
        n += site->children[kids->at[k]].conn == conn;
    return n;
}

// Whether that is what exchanging tails does: both runs are all that comes last, and the other one
// begins where it would there.
static bool is_tail(const BbSite *site, guint32 x, guint32 to, guint32 conn)
{
    const BbKids *of = &site->kids[site->parent[x]], *others = &site->kids[to];
    guint32 at = bb_kids_before(of, x), before = bb_kids_before(others, x);
    guint32 own = site->children[x].conn, run = count_run(site, of, 0, of->n, own);
    guint32 other = conn == 0 ? 0 : count_run(site, others, 0, others->n, conn);
    guint32 place = others->n - other;
    return run == of->n - at && run == count_run(site, of, at, of->n, own) &&
           other == count_run(site, others, place, others->n, conn) && place <= before &&
           place + 1 >= before;
}

static void consider_run(BbSearch *search, Look *look, guint32 x, guint32 to, guint32 y,
                         double before)
{
    BbTrial a, b;
    const BbSite *site = search->site;
    guint32 from = site->parent[x];
    if (is_tail(site, x, to, y == BB_SITE_NONE ? 0 : site->children[y].conn) ||
        !bb_trial_runs(&a, &b, site, x, to, y))
        return;
    consider_exchange(search, look, (Change){RUN, to, y, 0}, from, &a, &b, before);
}

// Where requests hold connections: all that x's parent called on that of x goes to another one, for
// what that one called on one of its own to the same callee, or for nothing.
static void consider_runs(BbSearch *search, Look *look, guint32 x, guint32 to, double before)
{
    const BbSite *site = search->site;
    const BbSiteChild *child = &site->children[x];
    const BbKids *of = &site->kids[site->parent[x]], *others = &site->kids[to];
    if (child->conn == 0 || !bb_model_holds(search->model) ||
        count_run(site, of, 0, of->n, child->conn) < 2)
        return;
    for (guint32 k = 0; k < others->n; k++) {
        const BbSiteChild *y = &site->children[others->at[k]];
        if (y->callee == child->callee && y->conn != 0 && y->conn != child->conn &&
            count_run(site, others, 0, k, y->conn) == 0)
            consider_run(search, look, x, to, others->at[k], before);
    }
    consider_run(search, look, x, to, BB_SITE_NONE, before);
}

static void consider_swaps(BbSearch *search, Look *look, guint32 x, guint32 to, const BbTrial *rest,
                           double before)
{
    const BbSite *site = search->site;
    guint32 from = site->parent[x];
    const BbKids *others = &site->kids[to];
    guint32 first = 0, end = others->n;
    if (others->n > 2 * NEIGHBOURS) { // many: those next to x in time
        guint32 at = bb_kids_before(others, x);
        first = at > NEIGHBOURS ? at - NEIGHBOURS : 0;
        end = MIN(others->n, at + NEIGHBOURS);
    }
    for (guint32 k = first; k < end; k++) {
        guint32 y = others->at[k];
        if (site->children[y].type != site->children[x].type || !bb_site_may(site, y, from))
            continue;
        BbTrial a, b;
        bb_trial_copy(&a, rest);
        bb_trial_insert(&a, y);
        bb_trial_without(&b, others, y);
        bb_trial_insert(&b, x);
        consider_exchange(search, look, (Change){SWAP, to, y, 0}, from, &a, &b, before);
    }
}

// Children after x that have no parent either, but might.
static void find_lone(const BbSearch *search, Look *look, guint32 x)
{
    const BbSite *site = search->site;
    guint32 end = MIN(site->n_children, x + LONE_REACH);
    for (guint32 y = x + 1; y < end && look->n_lone < LONE_MOST; y++)
        if (site->parent[y] == BB_SITE_NONE && site->first[y] < site->first[y + 1])
            look->lone[look->n_lone++] = y;
}

// x comes to a parent along with another child: the way back of consider_pairs. Only to one that
// was open all the while: late children are made one by one.
static void consider_joining(BbSearch *search, Look *look, guint32 x, guint32 to, double loss)
{
    const BbSite *site = search->site;
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
        double delta = loss + bb_scores_trial(search->scores, to, &both) -
                       bb_scores_of(search->scores, to) -
                       bb_model_lone(search->model, site->children[y].type);
        consider_lists(search, look, &(Change){JOIN, to, y, delta}, to, &both, BB_SITE_NONE, NULL);
    }
}

static void consider_move(BbSearch *search, Look *look, guint32 x, guint32 to, const BbTrial *rest,
                          double loss)
{
    guint32 from = search->site->parent[x];
    BbScores *scores = search->scores;
    Change move = {MOVE, to, 0, loss};
    if (bb_scores_is_big(scores, to)) {
        move.delta += bb_scores_gain_of_big(scores, to, x);
        consider(search, look, &move);
        return;
    }
    BbTrial more;
    bb_trial_with(&more, &search->site->kids[to], x);
    move.delta += bb_scores_trial(scores, to, &more) - bb_scores_of(scores, to);
    if (from == BB_SITE_NONE)
        consider_lists(search, look, &move, to, &more, BB_SITE_NONE, NULL);
    else if (!bb_scores_is_big(scores, from))
        consider_lists(search, look, &move, to, &more, from, rest);
    else
        consider(search, look, &move);
}

// Whether a parent may take x: by the other terms (log) and by the kinds of children that it would
// have then, at the heat of the sweep. Most have all that they should.
static bool may_move(BbSearch *search, const Look *look, guint32 x, guint32 to, double log)
{
    return bb_scores_may(search->scores, to, x, UNLIKELY * MAX(look->temperature, 1) - log);
}

// gap: log density of x's gap there.
static void consider_candidate(BbSearch *search, Look *look, guint32 x, guint32 to,
                               const BbTrial *rest, double loss, double gap)
{
    guint32 from = search->site->parent[x];
    bool big = bb_scores_is_big(search->scores, to);
    if (big || may_move(search, look, x, to, loss + gap))
        consider_move(search, look, x, to, rest, loss);
    // By chance only where places are many: two calls whose own parent was lost would find another.
    if (from == BB_SITE_NONE && !big && (look->temperature <= 0 || look->n >= search->tried))
        consider_joining(search, look, x, to, loss);
    if (from == BB_SITE_NONE || big || bb_scores_is_big(search->scores, from))
        return;
    double before = bb_scores_of(search->scores, from) + bb_scores_of(search->scores, to);
    consider_swaps(search, look, x, to, rest, before);
    consider_runs(search, look, x, to, before);
    if (search->site->kids[from].n + search->site->kids[to].n > TAILS_MOST)
        return;
    if (look->temperature <= 0 || look->n <= search->tried / 2 ||
        bb_random_below(&search->random, 4) == 0)
        consider_tails(search, look, x, to, before);
}

// Where a child has many candidates, a random change looks at some of the n places where it is
// not: its candidates, and none. Each is as likely to be looked at; but the one whose share is
// asked for always is.
static bool looks_at_some(const BbSearch *search, const Look *look, guint32 n)
{
    return look->temperature > 0 && n > search->tried;
}

// Whether having no parent is looked at, for a child that has one. Were it always, children would
// leave their parents more often than they come back, and the model would learn that they have
// none.
static bool may_leave(BbSearch *search, const Look *look, guint32 x)
{
    const BbSite *site = search->site;
    guint32 n = site->first[x + 1] - site->first[x];
    if (!looks_at_some(search, look, n) || look->target == BB_SITE_NONE)
        return true;
    guint32 kept = look->target != NO_TARGET && look->target != site->parent[x];
    return bb_random_below(&search->random, n - kept) < search->tried - kept;
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
static guint32 candidates_of(BbSearch *search, Look *look, guint32 x, bool leaves, guint32 *list)
{
    const BbSite *site = search->site;
    guint32 n = site->first[x + 1] - site->first[x], from = site->parent[x];
    memcpy(list, site->list + site->first[x], n * sizeof *list);
    if (!looks_at_some(search, look, n))
        return n;
    guint32 rest = n - put_first(list, n, from), tried = search->tried - leaves;
    if (rest < n)
        list[0] = list[rest];
    guint32 first = put_first(list, rest, look->target);
    for (guint32 i = first; i < tried; i++) {
        guint32 j = i + (guint32)bb_random_below(&search->random, rest - i), other = list[j];
        list[j] = list[i];
        list[i] = other;
    }
    guint32 kept = first + (look->target == BB_SITE_NONE && leaves);
    look->each = (double)(n - kept) / (search->tried - kept);
    return tried;
}

// x leaves with another child that came after it, one of the next few. Two calls of a request whose
// own call was not seen leave the parent that took them in together or not at all: one of them
// alone fits nobody.
static void consider_pairs(BbSearch *search, Look *look, guint32 x, const BbTrial *rest)
{
    const BbSite *site = search->site;
    guint32 from = site->parent[x];
    double lone = bb_model_lone(search->model, site->children[x].type);
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
        double delta = bb_scores_trial(search->scores, from, &others) -
                       bb_scores_of(search->scores, from) + lone +
                       bb_model_lone(search->model, site->children[y].type);
        consider_lists(search, look, &(Change){PAIR, BB_SITE_NONE, y, delta}, from, &others,
                       BB_SITE_NONE, NULL);
    }
}

// big: its parent has many children, and rest says nothing.
static void consider_leaving(BbSearch *search, Look *look, guint32 x, const BbTrial *rest,
                             double loss, bool big)
{
    const BbSite *site = search->site;
    guint32 from = site->parent[x];
    double lone = bb_model_lone(search->model, site->children[x].type);
    Change leave = {LEAVE, BB_SITE_NONE, 0, loss + lone};
    if (big) {
        consider(search, look, &leave);
        return;
    }
    consider_lists(search, look, &leave, from, rest, BB_SITE_NONE, NULL);
    consider_pairs(search, look, x, rest);
}

static void look_at(BbSearch *search, Look *look, guint32 x)
{
    const BbSite *site = search->site;
    guint32 from = site->parent[x], list[BB_SITE_CANDIDATES];
    double lone = bb_model_lone(search->model, site->children[x].type), loss = -lone;
    bool leaves = false;
    BbTrial rest;
    rest.n = 0;
    if (from != BB_SITE_NONE) {
        bool big = bb_scores_is_big(search->scores, from);
        if (big) {
            loss = -bb_scores_gain_of_big(search->scores, from, x);
        } else {
            bb_trial_without(&rest, &site->kids[from], x);
            loss =
                bb_scores_trial(search->scores, from, &rest) - bb_scores_of(search->scores, from);
        }
        leaves = may_leave(search, look, x);
        if (leaves)
            consider_leaving(search, look, x, &rest, loss, big);
    } else {
        find_lone(search, look, x);
    }
    guint32 n = candidates_of(search, look, x, leaves, list);
    look->n = n;
    double hopeless =
        (from == BB_SITE_NONE ? lone : bb_scores_gap(search->scores, from, x)) - HOPELESS;
    for (guint32 i = 0; i < n; i++) {
        if (list[i] == from)
            continue;
        double gap = bb_scores_gap(search->scores, list[i], x);
        if (n <= FEW || gap > hopeless)
            consider_candidate(search, look, x, list[i], &rest, loss, gap);
    }
}

static void put(BbSearch *search, guint32 parent, const BbTrial *trial)
{
    bb_site_put(search->site, parent, trial->at, trial->n);
    bb_scores_changed(search->scores, parent);
}

// What x's parent and the other one have after a change in which both give something.
static bool exchange(const BbSite *site, guint32 x, const Change *change, BbTrial *a, BbTrial *b)
{
    if (change->way == TAIL)
        return bb_trial_tails(a, b, site, x, change->to, change->y);
    if (change->way == RUN)
        return bb_trial_runs(a, b, site, x, change->to, change->y);
    bb_trial_without(a, &site->kids[site->parent[x]], x);
    bb_trial_insert(a, change->y);
    bb_trial_without(b, &site->kids[change->to], change->y);
    bb_trial_insert(b, x);
    return true;
}

static void carry_out(BbSearch *search, guint32 x, const Change *change)
{
    BbSite *site = search->site;
    guint32 from = site->parent[x];
    BbTrial a, b;
    if (change->way == STAY)
        return;
    if (change->way == LEAVE || change->way == PAIR || change->way == MOVE || change->way == JOIN) {
        if (from != BB_SITE_NONE)
            bb_site_take(site, x);
        if (change->way == PAIR)
            bb_site_take(site, change->y);
        if (from != BB_SITE_NONE)
            bb_scores_changed(search->scores, from);
        if (change->way == LEAVE || change->way == PAIR)
            return;
        bb_site_give(site, x, change->to);
        if (change->way == JOIN)
            bb_site_give(site, change->y, change->to);
        bb_scores_changed(search->scores, change->to);
        return;
    }
    if (!exchange(site, x, change, &a, &b))
        return;
    put(search, from, &a);
    put(search, change->to, &b);
}

static Look look_start(double temperature)
{
    return (Look){.temperature = temperature,
                  .weight = 1,
                  .each = 1,
                  .nearest = -G_MAXDOUBLE,
                  .target = NO_TARGET,
                  .best = {.way = STAY, .delta = temperature <= 0 ? 1e-9 : 0}};
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

// One look at a child. Returns by how much the log likelihood grew.
static double look_and_change(BbSearch *search, guint32 x, double temperature)
{
    Look look = look_start(temperature);
    look_at(search, &look, x);
    search->nearest[x] = (float)look.nearest;
    if (look.best.way == STAY)
        return 0;
    search->nearest[x] = 0;
    if (look.best.way == JOIN || look.best.way == PAIR)
        search->nearest[look.best.y] = 0;
    carry_out(search, x, &look.best);
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
        Look look = look_start(temperature);
        bool is_there = search->site->parent[x] == final[x];
        look.target = final[x];
        look.share = is_there ? 1 : 0;
        look_at(search, &look, x);
        double known = look.share + (is_there ? 0 : 1); // staying, or going to the target
        share[x] += (float)(look.share / (known + look.each * (look.weight - known)));
        carry_out(search, x, &look.best);
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
