// SPDX-License-Identifier: Apache-2.0
// In: a child and two parents. Out: what these might give to each other.
#include "nesting/look_parts.h"

#define NEIGHBOURS 2u  // of one child among many, on either side, that it may change places with
#define TAILS_MOST 64u // children of two parents that may exchange tails

// Two parents exchange some children: they would have a and b. before: their scores.
static void consider_exchange(BbLooks *looks, BbLook *look, BbChange change, guint32 from,
                              const BbTrial *a, const BbTrial *b, double before)
{
    change.delta = bb_scores_trial(looks->scores, from, a) +
                   bb_scores_trial(looks->scores, change.to, b) - before;
    bb_look_consider(looks, look, &change, from, a, change.to, b);
}

static void consider_tails(BbLooks *looks, BbLook *look, guint32 x, guint32 to, double before)
{
    const BbSite *site = looks->site;
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
        consider_exchange(looks, look, (BbChange){BB_CHANGE_TAIL, to, y, 0}, from, &a, &b, before);
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

static void consider_run(BbLooks *looks, BbLook *look, guint32 x, guint32 to, guint32 y,
                         double before)
{
    BbTrial a, b;
    const BbSite *site = looks->site;
    guint32 from = site->parent[x];
    if (is_tail(site, x, to, y == BB_SITE_NONE ? 0 : site->children[y].conn) ||
        !bb_trial_runs(&a, &b, site, x, to, y))
        return;
    consider_exchange(looks, look, (BbChange){BB_CHANGE_RUN, to, y, 0}, from, &a, &b, before);
}

// Where requests hold connections: all that x's parent called on that of x goes to another one, for
// what that one called on one of its own to the same callee, or for nothing.
static void consider_runs(BbLooks *looks, BbLook *look, guint32 x, guint32 to, double before)
{
    const BbSite *site = looks->site;
    const BbSiteChild *child = &site->children[x];
    const BbKids *of = &site->kids[site->parent[x]], *others = &site->kids[to];
    if (child->conn == 0 || !bb_model_holds(looks->model) ||
        count_run(site, of, 0, of->n, child->conn) < 2)
        return;
    for (guint32 k = 0; k < others->n; k++) {
        const BbSiteChild *y = &site->children[others->at[k]];
        if (y->callee == child->callee && y->conn != 0 && y->conn != child->conn &&
            count_run(site, others, 0, k, y->conn) == 0)
            consider_run(looks, look, x, to, others->at[k], before);
    }
    consider_run(looks, look, x, to, BB_SITE_NONE, before);
}

static void consider_swaps(BbLooks *looks, BbLook *look, guint32 x, guint32 to, const BbTrial *rest,
                           double before)
{
    const BbSite *site = looks->site;
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
        consider_exchange(looks, look, (BbChange){BB_CHANGE_SWAP, to, y, 0}, from, &a, &b, before);
    }
}

void bb_exchange_consider(BbLooks *looks, BbLook *look, guint32 x, guint32 to, const BbTrial *rest,
                          double before)
{
    const BbSite *site = looks->site;
    consider_swaps(looks, look, x, to, rest, before);
    consider_runs(looks, look, x, to, before);
    if (site->kids[site->parent[x]].n + site->kids[to].n > TAILS_MOST)
        return;
    if (look->temperature <= 0 || look->n <= looks->tried / 2 ||
        bb_random_below(looks->random, 4) == 0)
        consider_tails(looks, look, x, to, before);
}

bool bb_exchange_trials(const BbSite *site, guint32 x, const BbChange *change, BbTrial *a,
                        BbTrial *b)
{
    if (change->way == BB_CHANGE_TAIL)
        return bb_trial_tails(a, b, site, x, change->to, change->y);
    if (change->way == BB_CHANGE_RUN)
        return bb_trial_runs(a, b, site, x, change->to, change->y);
    bb_trial_without(a, &site->kids[site->parent[x]], x);
    bb_trial_insert(a, change->y);
    bb_trial_without(b, &site->kids[change->to], change->y);
    bb_trial_insert(b, x);
    return true;
}
