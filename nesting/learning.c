// SPDX-License-Identifier: Apache-2.0
// In: a site. Out: models of it, and its assignment under the likeliest.
#include "nesting/learning.h"

#include <string.h>

#define ALL_PARENTS 6000u     // of a site that is learned from as a whole, if it is not crowded
#define SAMPLE_PARENTS 1500u  // that a model of a greater one is learned from
#define SAMPLE_LEAST 100u     // but so many at least, however many children each has
#define ROUNDS_PARENTS 40000u // that models are refined with, over all rounds; but 3 to 6
#define EACH 6u               // children; a parent that has more on the mean counts for several
#define STRETCHES 4u          // of time they come from
#define WARM 3u               // sweeps under what is expected
#define ITERATIONS 10u        // of learning
#define CROWDED 3u            // times as many at most where many calls are open; not if large
#define FEWEST 8u             // iterations, of however many
#define INNERMOST 3u          // the beginning of calls that go in circles
#define GROUPED 2u            // of these, after which kinds of parents are grouped
#define OBSERVED 8u           // assignments that the last one learns from; fewer of large sites
#define OWN_GAPS 100000u      // of a site: of more, one is next to nothing to a model (10 MB each)
#define COOLING 4u            // sweeps from chance to certainty
#define SETTLING 8u           // sweeps at most
#define SETTLED 0.001         // gain of a sweep, for each child in doubt, that is not worth another

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

void bb_learning_order(BbSearch *search, BbFifo *fifo, const BbModel *model, const BbSite *site)
{
    bb_search_order(search, fifo && bb_fifo_learn(fifo, model, site) ? fifo : NULL);
}

// Fits the model to what was observed; the search goes on under it.
static void fit(BbModel *model, const BbSite *site, BbSearch *search, BbFifo *fifo, double trust)
{
    bb_model_fit(model, site, trust);
    bb_search_refresh(search);
    bb_learning_order(search, fifo, model, site);
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
    if (beginning == INNERMOST) {
        bb_search_begin_innermost(search);
    } else {
        begin(search);
        bb_search_sweep(search, 0);
    }
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

static void guess_free(gpointer data)
{
    BbGuess *guess = data;
    bb_model_free(guess->model);
    g_free(guess->parent);
    g_free(guess);
}

static BbGuess *guess(const BbGapScale *scale, BbSite *site, BbFifo *fifo, const BbOnset *onset,
                      guint beginning, bool early)
{
    BbGuess *guess = g_new(BbGuess, 1);
    guess->beginning = beginning;
    guess->model = bb_model_new(site, scale);
    bb_model_leave_out(guess->model, site, has_few(site));
    guess->likelihood = learn_from(site, guess->model, fifo, onset, beginning, early);
    guess->parent = g_memdup2(site->parent, site->n_children * sizeof *guess->parent);
    return guess;
}

// Where many calls are open connections may have to be heard before the times alone lead astray. Or
// they lead astray themselves; then what they make likely is less so by the times.
static void guess_early(const BbGapScale *scale, BbSite *site, BbFifo *fifo, const BbOnset *onset,
                        GPtrArray *guesses)
{
    const BbGuess *late = g_ptr_array_index(guesses, 0);
    g_assert(guesses->len == 1); // so that it is what the site holds
    double told = bb_model_connections(late->model, site);
    if (site->owner || told == 0)
        return;
    BbGuess *early = guess(scale, site, fifo, onset, late->beginning, true);
    double told_early = bb_model_connections(early->model, site);
    bool better = early->likelihood - told_early > late->likelihood - told;
    g_ptr_array_add(guesses, early);
    g_ptr_array_remove_index(guesses, better ? 0 : 1);
}

// One guess from each beginning, the likeliest first. The site holds its assignment.
static GPtrArray *guess_all(const BbGapScale *scale, BbSite *site, BbFifo *fifo,
                            const BbOnset *onset, guint beginnings)
{
    GPtrArray *guesses = g_ptr_array_new_with_free_func(guess_free);
    bool crowded = bb_site_is_crowded(site);
    double most = -G_MAXDOUBLE;
    bool in_circles = site->inner && !crowded;
    for (guint i = crowded ? 1 : 0; i < beginnings + in_circles; i++) {
        BbGuess *other = guess(scale, site, fifo, onset, i < beginnings ? i : INNERMOST, !crowded);
        bool better = guesses->len == 0 || other->likelihood > most;
        g_ptr_array_insert(guesses, better ? 0 : -1, other);
        most = better ? other->likelihood : most;
    }
    if (crowded)
        guess_early(scale, site, fifo, onset, guesses);
    const BbGuess *first = g_ptr_array_index(guesses, 0);
    bb_site_restore(site, first->parent);
    return guesses;
}

// ---- many calls --------------------------------------------------------------------------------

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

// A site of which a sample was learned from begins as the sample did. Under what was learned a
// search that begins with nothing is soon in a corner: what it would have to pass to leave it is
// too unlikely.
static void begin_whole(const BbGapScale *scale, BbSite *site, const BbOnset *onset, BbGuess *guess)
{
    g_autoptr(BbModel) smooth = bb_model_new(site, scale);
    bb_model_begin(smooth, site, onset, guess->beginning == 1);
    g_autoptr(BbSearch) search = bb_search_new(site, smooth, 8 * (guint64)site->number + 4);
    if (guess->beginning == INNERMOST)
        bb_search_begin_innermost(search);
    else
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

BbLearned bb_learning_run(BbSite *site, const BbOnset *onset, const BbGapScale *scale)
{
    bool crowded = bb_site_is_crowded(site);
    // Where many calls are open what was learned of a sample is no way to begin: gaps and counts
    // grow sharp together with the assignment, or it stays where it is.
    bool all = crowded || size_of(site) <= ALL_PARENTS || site->n_parents <= SAMPLE_LEAST;
    guint beginnings = all && !crowded ? 3 : 2;
    g_autoptr(BbSite) part = all ? NULL : sample_of(site);
    g_autoptr(BbFifo) of_part = all ? NULL : bb_fifo_new(part);
    BbLearned learned = {.fifo = bb_fifo_new(site)};
    learned.guesses =
        guess_all(scale, all ? site : part, all ? learned.fifo : of_part, onset, beginnings);
    BbGuess *best = g_ptr_array_index(learned.guesses, 0);
    if (!all) {
        g_ptr_array_set_size(learned.guesses, 1); // the others know the sample only
        begin_whole(scale, site, onset, best);
    }
    learned.search = bb_search_new(site, best->model, site->number);
    if (all)
        bb_learning_order(learned.search, learned.fifo, best->model, site);
    else
        best->likelihood = refine(site, best->model, learned.search, learned.fifo);
    return learned;
}

void bb_learned_clear(BbLearned *learned)
{
    g_clear_pointer(&learned->search, bb_search_free);
    g_clear_pointer(&learned->fifo, bb_fifo_free);
    g_clear_pointer(&learned->guesses, g_ptr_array_unref);
}
