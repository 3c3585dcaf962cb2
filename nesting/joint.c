// SPDX-License-Identifier: Apache-2.0
// In: calls. Out: their parents, and how sure each is.
//
// Node by node: a model is learned on the node's calls, or on a sample of them where they are many
// and few are open at once, from one to three beginnings, and all of its calls are assigned under
// the likeliest; where there are more, the others say how sure that is. Nodes that prove to be
// joins are done again, with the place of a call in its tree in place of its caller.
#include "nesting/joint.h"

#include <math.h>
#include <string.h>

#include "data/large.h"
#include "nesting/caused.h"
#include "nesting/durations.h"
#include "nesting/given_up.h"
#include "nesting/joins.h"
#include "nesting/lacking.h"
#include "nesting/pool_waits.h"
#include "nesting/search.h"
#include "nesting/sites.h"

#define ALL_PARENTS 6000u      // of a site that is learned from as a whole, if it is not crowded
#define SAMPLE_PARENTS 1500u   // that a model of a greater one is learned from
#define SAMPLE_LEAST 100u      // but so many at least, however many children each has
#define ROUNDS_PARENTS 40000u  // that models are refined with, over all rounds; but 3 to 6
#define EACH 6u                // children; a parent that has more on the mean counts for several
#define STRETCHES 4u           // of time they come from
#define WARM 3u                // sweeps under what is expected
#define ITERATIONS 10u         // of learning
#define CROWDED 3u             // times as many at most where many calls are open; not if large
#define FEWEST 8u              // iterations, of however many
#define GROUPED 2u             // of these, after which kinds of parents are grouped
#define OBSERVED 8u            // assignments that the last one learns from; fewer of large sites
#define OWN_GAPS 100000u       // of a site: of more, one is next to nothing to a model (10 MB each)
#define COOLING 4u             // sweeps from chance to certainty
#define SETTLING 8u            // sweeps at most
#define BETTER 20.0            // by which another look at a site must exceed the likelihood of the
#define BETTER_EACH 0.01       // first, and for each parent: it has more freedom;
#define WORKERS_EACH 0.5       // and again, where calls are said to wait for a worker
#define PLAIN 30u              // children: fewer, each with one candidate, need no model
#define PLAIN_CONFIDENCE 0.97f // nothing speaks against it, and nothing was measured
#define HASTY_CONFIDENCE 0.5f  // its parent was over before it was
#define SETTLED 0.001 // gain of a sweep, for each child in doubt, that is not worth another
#define SHARES 8u     // assignments that confidence is estimated from
#define HEAT \
    1.7 // events are less independent than the model has it: measured on traces
        // with known truth, odds are nearer to 1 by this power

struct BbJoint {
    BbNestingOptions options;
    const BbNames *names;
    BbGapScale *scale;
};

BbJoint *bb_joint_new(const BbNestingOptions *options, const BbNames *names)
{
    BbJoint *joint = g_new0(BbJoint, 1);
    joint->options = *options;
    joint->names = names;
    joint->scale = bb_gap_scale_new();
    return joint;
}

void bb_joint_free(BbJoint *joint)
{
    if (!joint)
        return;
    bb_gap_scale_free(joint->scale);
    g_free(joint);
}

// ---- one site ----------------------------------------------------------------------------------

// Whether gaps are so few that each counts in what is learned from them.
static bool has_few(const BbSite *site)
{
    return !bb_site_is_crowded(site) && site->n_children <= OWN_GAPS;
}

static void settle(BbSearch *search, bool crowded)
{
    guint cooling = crowded ? COOLING / 2 : COOLING, settling = crowded ? SETTLING / 2 : SETTLING;
    bb_search_all(search);
    if (!crowded) { // else nearly all are in doubt
        bb_search_sweep(search, 0);
        bb_search_doubtful(search);
    }
    guint32 n;
    bb_search_list(search, &n);
    for (guint i = cooling; i > 0; i--)
        bb_search_sweep(search, (double)i / (cooling + 1));
    for (guint i = 0; i < settling; i++)
        if (bb_search_sweep(search, 0) < SETTLED * n)
            break;
}

// Draws assignments by the model as it was fitted, and only then learns from them; where many calls
// are open, after a look at parents that are unusual. Exact signatures do not count while it draws:
// wrong ones would keep each other alive. But the scores that are known still have them: who has
// what is usual gives it up less easily, until it changes for the first time. That keeps counts of
// patterns right where single links are guesses.
static void learn(BbModel *model, BbSite *site, BbSearch *search, guint samples, bool regroup)
{
    gsize size = site->n_children;
    g_autofree guint32 *parent = g_new(guint32, samples * size + 1);
    bb_search_all(search);
    if (bb_site_is_crowded(site)) {
        bb_search_odd(search);
        bb_search_fill(search);
    }
    bb_search_sweep(search, 1);
    bb_search_doubtful(search);
    bb_model_trust(model, 0);
    for (guint i = 0; i < samples; i++) {
        bb_search_sweep(search, 1);
        if (size > 0)
            memcpy(parent + i * size, site->parent, size * sizeof *parent);
    }
    if (regroup)
        bb_model_regroup(model, site);
    else
        bb_model_forget(model);
    for (guint i = 0; i < samples; i++) {
        if (samples > 1) // else it is the one at hand
            bb_site_restore(site, parent + i * size);
        bb_model_observe(model, site, 1.0 / samples);
    }
}

// Exact signatures count little while assignments are still guesses.
static double trust_after(guint iteration)
{
    return iteration < 4 ? -0.2 / (1 << iteration) : 1;
}

// The assignment that a model suggests which knows only what is expected. It is smooth, and a
// search goes far under it.
static void begin(BbSearch *search)
{
    bb_search_begin(search);
    for (guint i = 0; i < WARM; i++)
        bb_search_sweep(search, i + 1 < WARM ? 1 : 0.5);
}

// From here on the order in which parents wait counts, if it plays a part. fifo: NULL where it is
// not known, as in a site of too many open calls.
static void learn_order(BbSearch *search, BbFifo *fifo, const BbModel *model, const BbSite *site)
{
    bb_search_order(search, fifo && bb_fifo_learn(fifo, model, site) ? fifo : NULL);
}

// Fits the model to what was observed; the search goes on under it.
static void fit(BbModel *model, const BbSite *site, BbSearch *search, BbFifo *fifo, double trust)
{
    bb_model_fit(model, site, trust);
    bb_search_refresh(search);
    learn_order(search, fifo, model, site);
}

static guint crowded_iterations(const BbSite *site)
{
    guint64 most = (guint64)CROWDED * ITERATIONS;
    return (guint)CLAMP(most * BB_SITE_LARGE / site->n_parents, FEWEST, most);
}

// Learns a model of the site from one beginning, and leaves the site's assignment under it.
// Connections are heard in the last rounds, or all (early). Returns its log likelihood.
static double learn_from(BbSite *site, BbModel *model, BbFifo *fifo, const BbOnset *onset,
                         guint beginning, bool early)
{
    bool crowded = bb_site_is_crowded(site);
    guint iterations = crowded ? crowded_iterations(site) : ITERATIONS;
    guint observed = OBSERVED;
    if (site->n_parents > ALL_PARENTS)
        observed = site->n_parents > BB_SITE_LARGE ? OBSERVED / 4 : OBSERVED / 2;
    bb_model_begin(model, site, onset, beginning == 1);
    g_autoptr(BbSearch) search = bb_search_new(site, model, 8 * (guint64)site->number + beginning);
    begin(search);
    bb_search_sweep(search, 0);
    // Where many calls are open at once the first guess shows nothing of what sets kinds apart.
    if (crowded)
        bb_model_take_as_one(model);
    else
        bb_model_regroup(model, site);
    bb_model_observe(model, site, 1);
    for (guint i = 0;; i++) {
        bb_model_hear_connections(model, early || i >= iterations / 2);
        fit(model, site, search, i >= 2 ? fifo : NULL, trust_after(i));
        if (i == iterations)
            break;
        learn(model, site, search, i + 1 == iterations ? observed : 1, i + 1 == GROUPED);
    }
    settle(search, crowded);
    return bb_search_total(search);
}

// What was learned from one beginning: a model, and the likeliest assignment under it.
typedef struct {
    guint beginning;
    BbModel *model;
    guint32 *parent; // of children
    double likelihood;
} Guess;

static void guess_free(gpointer data)
{
    Guess *guess = data;
    bb_model_free(guess->model);
    g_free(guess->parent);
    g_free(guess);
}

static Guess *guess(const BbJoint *joint, BbSite *site, BbFifo *fifo, const BbOnset *onset,
                    guint beginning, bool early)
{
    Guess *guess = g_new(Guess, 1);
    guess->beginning = beginning;
    guess->model = bb_model_new(site, joint->scale);
    bb_model_leave_out(guess->model, site, has_few(site));
    guess->likelihood = learn_from(site, guess->model, fifo, onset, beginning, early);
    guess->parent = g_memdup2(site->parent, site->n_children * sizeof *guess->parent);
    return guess;
}

// Where many calls are open connections may have to be heard before the times alone lead astray. Or
// they lead astray themselves; then what they make likely is less so by the times.
static void guess_early(const BbJoint *joint, BbSite *site, BbFifo *fifo, const BbOnset *onset,
                        GPtrArray *guesses)
{
    const Guess *late = g_ptr_array_index(guesses, 0);
    g_assert(guesses->len == 1); // so that it is what the site holds
    double told = bb_model_connections(late->model, site);
    if (site->owner || told == 0)
        return;
    Guess *early = guess(joint, site, fifo, onset, late->beginning, true);
    double told_early = bb_model_connections(early->model, site);
    bool better = early->likelihood - told_early > late->likelihood - told;
    g_ptr_array_add(guesses, early);
    g_ptr_array_remove_index(guesses, better ? 0 : 1);
}

// One guess from each beginning, the likeliest first. The site holds its assignment.
static GPtrArray *guess_all(const BbJoint *joint, BbSite *site, const BbOnset *onset,
                            guint beginnings)
{
    GPtrArray *guesses = g_ptr_array_new_with_free_func(guess_free);
    g_autoptr(BbFifo) fifo = bb_fifo_new(site);
    bool crowded = bb_site_is_crowded(site);
    double most = -G_MAXDOUBLE;
    for (guint i = crowded ? 1 : 0; i < beginnings; i++) {
        Guess *other = guess(joint, site, fifo, onset, i, !crowded);
        bool better = guesses->len == 0 || other->likelihood > most;
        g_ptr_array_insert(guesses, better ? 0 : -1, other);
        most = better ? other->likelihood : most;
    }
    if (crowded)
        guess_early(joint, site, fifo, onset, guesses);
    const Guess *first = g_ptr_array_index(guesses, 0);
    bb_site_restore(site, first->parent);
    return guesses;
}

// Where the most likely whole has a link that is not likely by itself, it is right about half the
// time all the same, if there are few others to choose from.
static float confidence_of(const BbSite *site, guint32 x, double share)
{
    bool few = site->first[x + 1] - site->first[x] <= BB_SITE_CROWDED;
    return (float)(share < 0.5 && few ? 0.44 + 0.12 * share : share);
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
static void find_shares(BbSite *site, BbSearch *search, BbFifo *fifo, const GPtrArray *guesses,
                        Answer *answer)
{
    g_autoptr(BbLacking) lacking = bb_lacking_new(site, answer->parent);
    double weight = 1.0 / guesses->len;
    guint samples =
        bb_site_is_crowded(site) ? SHARES / 2 : (SHARES + guesses->len - 1) / guesses->len;
    add_shares(site, search, samples, weight, lacking, answer);
    for (guint i = 1; i < guesses->len; i++) {
        const Guess *guess = g_ptr_array_index(guesses, i);
        bb_site_restore(site, guess->parent);
        g_autoptr(BbSearch) other =
            bb_search_new(site, guess->model, 8 * (guint64)site->number + 3 + i);
        learn_order(other, fifo, guess->model, site);
        bb_search_sweep(other, 0);
        add_shares(site, other, samples, weight, lacking, answer);
    }
    for (guint32 x = 0; x < site->n_children; x++)
        answer->share[x] = confidence_of(site, x, (double)answer->share[x]);
    bb_lacking_finish(lacking, answer->share, answer->whole);
}

// What was given up: that for which no parent was found that outlasts it (sites.c), and what its
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

static void publish(BbSite *site, BbSearch *search, BbFifo *fifo, const GPtrArray *guesses,
                    BbPaths *paths, bool *given_up)
{
    bb_search_all(search);
    bb_search_sweep(search, 0);
    g_autofree guint32 *parent = g_memdup2(site->parent, site->n_children * sizeof *parent);
    g_autofree float *share = g_new0(float, site->n_children),
                     *whole = g_new(float, site->n_parents);
    BbPoolWait *waits = g_atomic_pointer_get(&paths->pool_wait);
    if (waits)
        bb_pool_waits_note(site, ((Guess *)g_ptr_array_index(guesses, 0))->model, waits);
    find_shares(site, search, fifo, guesses, &(Answer){parent, share, whole});
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

// In parents with as many children as most have. A sweep costs what its children do, and of parents
// with thirty children each a few hundred show as much.
static guint32 size_of(const BbSite *site)
{
    return MAX(site->n_parents, site->n_children / EACH);
}

// Enough of a large site to learn from.
static BbSite *sample_of(const BbSite *site)
{
    guint32 parents = (guint32)((guint64)SAMPLE_PARENTS * site->n_parents / size_of(site));
    parents = MAX(parents, SAMPLE_LEAST);
    // The more calls are open at once, the more of them are cut by the ends of a stretch.
    return bb_site_sample(site, parents, bb_site_candidates(site) > 4 ? 1 : STRETCHES);
}

// Whether there is nothing to learn from, and nothing to choose: few children, each with one
// candidate at most.
static bool is_plain(const BbSite *site)
{
    bool plain = site->n_children < PLAIN;
    for (guint32 x = 0; plain && x < site->n_children; x++)
        plain = site->first[x + 1] - site->first[x] <= 1;
    return plain;
}

static void take_only(const BbSite *site, BbPaths *paths, bool *given_up)
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

// A site of which a sample was learned from begins as the sample did. Under what was learned a
// search that begins with nothing is soon in a corner: what it would have to pass to leave it is
// too unlikely.
static void begin_whole(const BbJoint *joint, BbSite *site, const BbOnset *onset, Guess *guess)
{
    g_autoptr(BbModel) smooth = bb_model_new(site, joint->scale);
    bb_model_begin(smooth, site, onset, guess->beginning == 1);
    g_autoptr(BbSearch) search = bb_search_new(site, smooth, 8 * (guint64)site->number + 4);
    begin(search);
    bb_model_meet(guess->model, site, onset);
}

// Returns the log likelihood.
static double refine(BbSite *site, BbModel *model, BbSearch *search, BbFifo *fifo)
{
    guint rounds = CLAMP(ROUNDS_PARENTS / size_of(site), 3, 6);
    for (guint i = 1; i <= rounds; i++) {
        learn(model, site, search, i < rounds ? 1 : OBSERVED / 2, i == 1);
        fit(model, site, search, fifo, 1);
    }
    settle(search, false);
    return bb_search_total(search);
}

// What is known of a site from earlier looks at it.
typedef struct {
    bool looked, taken; // ever; since it was last set to false
    double each;        // log likelihood for each parent that the next look must exceed
} Look;

// Learns a site, and writes the parents of its children if that explains the site better than an
// earlier look, by so much for each parent.
static void solve(const BbJoint *joint, BbSite *site, const BbOnset *onset, BbPaths *paths,
                  bool *given_up, Look *look, double margin)
{
    bool first = !look->looked;
    look->looked = true;
    if (is_plain(site)) {
        if (first)
            take_only(site, paths, given_up);
        return;
    }
    bb_durations_rank(site, joint->scale);
    bool crowded = bb_site_is_crowded(site);
    // Where many calls are open what was learned of a sample is no way to begin: gaps and counts
    // grow sharp together with the assignment, or it stays where it is.
    bool all = crowded || size_of(site) <= ALL_PARENTS || site->n_parents <= SAMPLE_LEAST;
    guint beginnings = all && !crowded ? 3 : 2;
    g_autoptr(BbSite) part = all ? NULL : sample_of(site);
    g_autoptr(GPtrArray) guesses = guess_all(joint, all ? site : part, onset, beginnings);
    Guess *best = g_ptr_array_index(guesses, 0);
    g_autoptr(BbFifo) fifo = bb_fifo_new(site);
    if (!all) {
        g_ptr_array_set_size(guesses, 1); // the others know the sample only
        begin_whole(joint, site, onset, best);
    }
    g_autoptr(BbSearch) search = bb_search_new(site, best->model, site->number);
    if (all)
        learn_order(search, fifo, best->model, site);
    else
        best->likelihood = refine(site, best->model, search, fifo);
    if (best->likelihood / site->n_parents <= look->each + margin)
        return;
    look->taken = true;
    look->each = (best->likelihood + BETTER) / site->n_parents + BETTER_EACH;
    publish(site, search, fifo, guesses, paths, given_up);
}

// ---- all sites ---------------------------------------------------------------------------------

typedef struct {
    const BbJoint *joint;
    BbPaths *paths;
    bool *given_up;
    BbSites *sites;
    guint n_sites, next; // of this look
    Look *looks;         // of nodes
    double margin;
    GMutex mutex; // of what follows, and of whether there is a pool_wait
    guint64 children, candidates;
} Work;

static void note_facts(Work *work, const BbMade *made)
{
    g_mutex_lock(&work->mutex);
    work->children += made->children;
    work->candidates += made->candidates;
    if (made->site->freed && !work->paths->pool_wait)
        g_atomic_pointer_set(&work->paths->pool_wait,
                             bb_large_new0(BbPoolWait, work->paths->n_calls));
    g_mutex_unlock(&work->mutex);
}

// Each site is made and solved by one thread, and writes to calls that no other writes to.
static gpointer work(gpointer data)
{
    Work *work = data;
    guint index;
    while ((index = (guint)g_atomic_int_add(&work->next, 1)) < work->n_sites) {
        g_auto(BbMade) made = bb_sites_make(work->sites, index);
        note_facts(work, &made);
        if (bb_site_is_crowded(made.site))
            bb_caused_find(made.site, work->joint->scale, made.onset->is_caused);
        solve(work->joint, made.site, made.onset, work->paths, work->given_up,
              &work->looks[made.site->team], work->margin);
    }
    return NULL;
}

// A look at each of the sites (bb_sites_look), which takes what explains it better by this margin.
static void look_at(Work *all, const guint8 *place, const gint64 *ready_ns,
                    const BbWorkers *workers, double margin)
{
    all->n_sites = bb_sites_look(all->sites, place, ready_ns, workers);
    all->next = 0;
    all->margin = margin;
    all->children = all->candidates = 0;
    guint n = all->joint->options.threads;
    n = CLAMP(all->n_sites, 1, n > 0 ? n : g_get_num_processors());
    g_autofree GThread **threads = g_new(GThread *, n);
    for (guint i = 1; i < n; i++)
        threads[i] = g_thread_new("nesting", work, all);
    work(all);
    for (guint i = 1; i < n; i++)
        g_thread_join(threads[i]);
}

static void note_worker_waits(BbPaths *paths, const BbWorkers *workers)
{
    for (guint32 i = 0; i < paths->n_calls; i++) {
        const BbCall *call = &paths->calls[i];
        guint32 limit = workers->limit[call->callee];
        if (limit == 0)
            continue;
        if (!paths->worker_wait)
            paths->worker_wait = bb_large_new0(BbWorkerWait, paths->n_calls);
        paths->worker_wait[i] =
            (BbWorkerWait){.limit = limit,
                           .lines = workers->lines[call->callee],
                           .keep = workers->keep[call->callee],
                           .ns = bb_time_between(call->arrived_ns, workers->begun_ns[i])};
    }
}

// Another look at nodes that have so many workers, as the times of the calls to them would have it.
// What does not explain what they do better is forgotten; of those that call nobody there is
// nothing to compare.
static void look_at_workers(Work *all, guint32 n_names)
{
    const BbJoint *joint = all->joint;
    BbPaths *paths = all->paths;
    g_autoptr(BbWorkers) workers =
        bb_workers_find(paths->calls, paths->n_calls, n_names, joint->options.labels,
                        joint->options.connections, joint->scale);
    if (!workers)
        return;
    const guint32 *team = bb_sites_teams(all->sites);
    for (guint32 n = 0; n < n_names; n++)
        all->looks[n].taken = false;
    look_at(all, NULL, NULL, workers, WORKERS_EACH);
    for (guint32 n = 0; n < n_names; n++)
        if (all->looks[team[n]].looked && !all->looks[team[n]].taken)
            workers->limit[n] = 0;
    note_worker_waits(paths, workers);
}

static void look_at_joins(Work *all)
{
    g_autofree gint64 *ready_ns = NULL;
    g_autofree guint8 *place = bb_joins_find(all->paths, &ready_ns);
    if (place)
        look_at(all, place, ready_ns, NULL, 0);
}

void bb_joint_run(BbJoint *joint, BbPaths *paths, const bool *hanging, bool *given_up)
{
    guint32 n_names = bb_names_count(joint->names);
    g_autofree Look *looks = g_new(Look, n_names);
    g_autoptr(BbSites) sites = bb_sites_new(
        paths->calls, paths->n_calls, n_names, joint->options.skew_window_ns, joint->options.labels,
        joint->options.connections, joint->options.roles, joint->scale, hanging);
    for (guint32 n = 0; n < n_names; n++)
        looks[n] = (Look){.each = -G_MAXDOUBLE};
    for (guint32 i = 0; i < paths->n_calls; i++)
        paths->confidence[i] = paths->whole[i] = 1;
    Work all = {
        .joint = joint, .paths = paths, .given_up = given_up, .sites = sites, .looks = looks};
    g_mutex_init(&all.mutex);
    look_at(&all, NULL, NULL, NULL, 0);
    paths->facts.children = all.children;
    paths->facts.candidates = all.candidates;
    look_at_workers(&all, n_names);
    look_at_joins(&all);
    g_mutex_clear(&all.mutex);
}
