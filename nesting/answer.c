// SPDX-License-Identifier: Apache-2.0
// In: what was learned of a site. Out: the parents of its children, and how sure each is.
#include "nesting/answer.h"

#include <math.h>

#include "nesting/given_up.h"
#include "nesting/lacking.h"
#include "nesting/pool_waits.h"

#define PLAIN_CONFIDENCE 0.97f // nothing speaks against it, and nothing was measured
#define HASTY_CONFIDENCE 0.5f  // its parent was over before it was
#define SHARES 8u              // assignments that confidence is estimated from;
#define SHARES_CROWDED 16u // of which, where many calls are open, the first are like the found one
#define HEAT \
    1.7 // events are less independent than the model has it: measured on traces
        // with known truth, odds are nearer to 1 by this power

// Where the most likely whole has a link that is not likely by itself, it is right a little more
// often all the same, if there are few others to choose from: measured likewise.
static float confidence_of(const BbSite *site, guint32 x, double share)
{
    bool few = site->first[x + 1] - site->first[x] <= BB_SITE_CROWDED;
    return (float)(share < 0.5 && few ? 0.1 + 0.8 * share : share);
}

// An assignment, and how sure it is: of each child of its parent, of each parent that it has all
// its children.
typedef struct {
    const guint32 *parent;
    float *share, *whole;
} Answer;

// Children that may be elsewhere than in the answer: those in doubt, and those that are already.
static GArray *list_watched(const BbSite *site, const BbSearch *search, const guint32 *parent)
{
    guint32 n;
    const guint32 *doubtful = bb_search_list(search, &n);
    GArray *watched = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_array_append_vals(watched, doubtful, n);
    g_autofree bool *is_doubtful = g_new0(bool, site->n_children);
    for (guint32 i = 0; i < n; i++)
        is_doubtful[doubtful[i]] = true;
    for (guint32 x = 0; x < site->n_children; x++)
        if (site->parent[x] != parent[x] && !is_doubtful[x])
            g_array_append_val(watched, x);
    return watched;
}

// Adds what one model says of the answer. Its search has looked at all.
static void add_shares(BbSite *site, BbSearch *search, guint samples, double weight,
                       BbLacking *lacking, Answer *answer)
{
    g_autofree float *share = g_new(float, site->n_children);
    guint32 n;
    for (guint32 x = 0; x < site->n_children; x++) {
        double stays = 1 / (1 + exp((double)bb_search_nearest(search, x) / HEAT));
        share[x] = (float)(site->parent[x] == answer->parent[x] ? stays : 1 - stays);
    }
    bb_search_doubtful(search);
    const guint32 *doubtful = bb_search_list(search, &n);
    for (guint32 i = 0; i < n; i++)
        share[doubtful[i]] = 0;
    g_autoptr(GArray) watched = list_watched(site, search, answer->parent);
    for (guint k = 0; k < samples; k++) {
        bb_search_sample(search, HEAT, answer->parent, share);
        bb_lacking_observe(lacking, (const guint32 *)(const void *)watched->data, watched->len);
    }
    for (guint32 i = 0; i < n; i++)
        share[doubtful[i]] /= (float)samples;
    for (guint32 x = 0; x < site->n_children; x++)
        answer->share[x] += (float)weight * share[x];
}

// What not all guesses find is less sure: a model may be wrong, too. The first is that of the
// search, which has looked at all.
static void find_shares(BbSite *site, const BbLearned *learned, Answer *answer)
{
    const GPtrArray *guesses = learned->guesses;
    g_autoptr(BbLacking) lacking = bb_lacking_new(site, answer->parent);
    double weight = 1.0 / guesses->len;
    bool more = bb_site_is_crowded(site) && site->n_parents <= BB_SITE_LARGE;
    guint shares = more ? SHARES_CROWDED : SHARES;
    guint samples = (shares + guesses->len - 1) / guesses->len;
    add_shares(site, learned->search, samples, weight, lacking, answer);
    for (guint i = 1; i < guesses->len; i++) {
        const BbGuess *guess = g_ptr_array_index(guesses, i);
        bb_site_restore(site, guess->parent);
        g_autoptr(BbSearch) other =
            bb_search_new(site, guess->model, 8 * (guint64)site->number + 3 + i);
        bb_learning_order(other, learned->fifo, guess->model, site);
        bb_search_sweep(other, 0);
        add_shares(site, other, samples, weight, lacking, answer);
    }
    for (guint32 x = 0; x < site->n_children; x++)
        answer->share[x] = confidence_of(site, x, (double)answer->share[x]);
    bb_lacking_finish(lacking, answer->share, answer->whole);
}

// What was given up: that for which no parent was found that outlasts it (suitors.c), and what its
// parent does not outlast, though by the assignment most of its kind return in time.
static void note_given_up(const BbSite *site, const guint32 *parent, bool *given_up)
{
    g_autofree bool *nested = g_new(bool, site->n_children);
    for (guint32 x = 0; x < site->n_children; x++)
        nested[x] = parent[x] != BB_SITE_NONE && site->children[x].e <= site->parents[parent[x]].e;
    g_autofree double *too_long = bb_given_up_least(site, nested);
    for (guint32 x = 0; x < site->n_children; x++) {
        const BbSiteChild *child = &site->children[x];
        bool late = !nested[x] && !child->unanswered && parent[x] != BB_SITE_NONE &&
                    child->s < site->parents[parent[x]].e &&
                    (double)child->trip >= too_long[child->type];
        given_up[child->call] = child->given_up ? parent[x] != BB_SITE_NONE : late;
    }
}

void bb_answer_publish(BbSite *site, const BbLearned *learned, BbPaths *paths, bool *given_up)
{
    bb_search_all(learned->search);
    bb_search_sweep(learned->search, 0);
    g_autofree guint32 *parent = g_memdup2(site->parent, site->n_children * sizeof *parent);
    g_autofree float *share = g_new0(float, site->n_children),
                     *whole = g_new(float, site->n_parents);
    BbPoolWait *waits = g_atomic_pointer_get(&paths->pool_wait);
    if (waits)
        bb_pool_waits_note(site, bb_learned_best(learned)->model, waits);
    find_shares(site, learned, &(Answer){parent, share, whole});
    note_given_up(site, parent, given_up);
    for (guint32 p = 0; p < site->n_parents; p++)
        paths->whole[site->parents[p].call] = whole[p];
    for (guint32 x = 0; x < site->n_children; x++) {
        guint32 call = site->children[x].call;
        paths->confidence[call] = share[x];
        paths->parent[call] =
            parent[x] == BB_SITE_NONE ? BB_CALL_NO_PARENT : site->parents[parent[x]].call;
    }
}

void bb_answer_only(const BbSite *site, BbPaths *paths, bool *given_up)
{
    g_autofree guint32 *parent = g_new(guint32, site->n_children);
    for (guint32 x = 0; x < site->n_children; x++) {
        parent[x] = BB_SITE_NONE;
        if (site->first[x] == site->first[x + 1])
            continue;
        parent[x] = site->list[site->first[x]];
        guint32 call = site->children[x].call;
        const BbSiteParent *only = &site->parents[parent[x]];
        bool hasty = !site->children[x].unanswered && site->children[x].e > only->e;
        paths->parent[call] = only->call;
        paths->confidence[call] = hasty ? HASTY_CONFIDENCE : PLAIN_CONFIDENCE;
    }
    note_given_up(site, parent, given_up);
}
