// SPDX-License-Identifier: Apache-2.0
// The search: what it says that a change gains is what the whole gains, and chance is fair.
#include "nesting/search.h"
#include "tests/unit/sample_sites.h"
#include "tests/unit/test.h"

#include <string.h>

typedef struct {
    GRand *rand;
    BbGapScale *scale;
    BbSite *site;
    BbModel *model;
    BbFifo *fifo;
    BbSearch *search;
} Scene;

static void scene_clear(Scene *scene)
{
    bb_search_free(scene->search);
    bb_fifo_free(scene->fifo);
    bb_model_free(scene->model);
    bb_site_free(scene->site);
    bb_gap_scale_free(scene->scale);
    g_rand_free(scene->rand);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Scene, scene_clear)

// A model learned from the site's assignment.
static void learn(Scene *scene, guint64 seed)
{
    scene->model = bb_model_new(scene->site, scene->scale);
    bb_model_forget(scene->model);
    bb_model_observe(scene->model, scene->site, 1);
    bb_model_fit(scene->model, scene->site, 1);
    scene->search = bb_search_new(scene->site, scene->model, seed);
}

static Scene random_scene(guint32 seed)
{
    Scene scene = {.rand = g_rand_new_with_seed(seed), .scale = bb_gap_scale_new()};
    gint32 span = g_rand_boolean(scene.rand) ? 200 : 5000;
    SiteScale scale = {.n_parents = (guint32)g_rand_int_range(scene.rand, 3, 40),
                       .n_children = (guint32)g_rand_int_range(scene.rand, 1, 80),
                       .np = (guint)g_rand_int_range(scene.rand, 1, 4),
                       .nc = (guint)g_rand_int_range(scene.rand, 1, 5),
                       .span = span,
                       .parent_len = span / 3,
                       .child_len = span / 20,
                       .window = g_rand_boolean(scene.rand) ? span / 20 : 0};
    scene.site = site_random(scene.rand, &scale);
    site_assign(scene.rand, scene.site, 4);
    learn(&scene, seed);
    return scene;
}

static Scene scene_of_steps(guint32 seed, const StepScale *scale, bool order)
{
    Scene scene = {.rand = g_rand_new_with_seed(seed), .scale = bb_gap_scale_new()};
    g_autofree guint32 *truth = NULL;
    scene.site = site_of_steps(scene.rand, scale, &truth);
    bb_site_restore(scene.site, truth);
    learn(&scene, seed);
    if (order) {
        scene.fifo = bb_fifo_new(scene.site);
        ck_assert_ptr_nonnull(scene.fifo);
        ck_assert(bb_fifo_learn(scene.fifo, scene.model, scene.site));
        bb_search_order(scene.search, scene.fifo);
    }
    return scene;
}

static guint32 most_kids(const BbSite *site)
{
    guint32 most = 0;
    for (guint32 p = 0; p < site->n_parents; p++)
        most = MAX(most, site->kids[p].n);
    return most;
}

static guint32 moved(const BbSite *site, const guint32 *before)
{
    guint32 n = 0;
    for (guint32 x = 0; x < site->n_children; x++)
        n += site->parent[x] != before[x];
    return n;
}

// Sweeps at several temperatures; returns how many children changed parents.
static guint32 check_sweeps(Scene *scene, guint n)
{
    static const double temperatures[] = {1, 3, 0.3, 0, 10, 0};
    guint32 changes = 0;
    gsize size = scene->site->n_children * sizeof *scene->site->parent;
    for (guint i = 0; i < n && most_kids(scene->site) < BB_MODEL_NEAR; i++) {
        double heat = temperatures[i % G_N_ELEMENTS(temperatures)];
        double before = bb_search_total(scene->search);
        g_autofree guint32 *parent = g_memdup2(scene->site->parent, size);
        double grown = bb_search_sweep(scene->search, heat);
        double after = bb_search_total(scene->search);
        ck_assert(site_is_whole(scene->site));
        if (most_kids(scene->site) >= BB_MODEL_NEAR)
            break; // looked at in part from here on
        changes += moved(scene->site, parent);
        ck_assert_double_eq_tol(after - before, grown, 1e-6 * (1 + fabs(after)));
        if (heat == 0)
            ck_assert_double_ge(after, before - 1e-6);
    }
    return changes;
}

START_TEST(gains_are_what_they_say)
{
    guint32 seed = test_seed("search"), changes = 0;
    for (guint round = 0; round < 150; round++) {
        g_auto(Scene) scene = random_scene(seed + round);
        changes += check_sweeps(&scene, 12);
    }
    ck_assert_uint_gt(changes, 1000);
}
END_TEST

static const StepScale in_turn = {
    .n = 150, .steps = 2, .between = 420, .think = 150, .away = 30, .in_line = true};

START_TEST(gains_with_order)
{
    guint32 seed = test_seed("search order"), changes = 0;
    for (guint round = 0; round < 5; round++) {
        g_auto(Scene) scene = scene_of_steps(seed + round, &in_turn, true);
        changes += check_sweeps(&scene, 12);
    }
    ck_assert_uint_gt(changes, 200);
}
END_TEST

// Children that outlast their parents, or come after their returns, stand in lines too.
START_TEST(gains_with_order_and_late_children)
{
    guint32 seed = test_seed("search late"), changes = 0;
    for (guint round = 0; round < 5; round++) {
        g_auto(Scene) scene = scene_of_steps(seed + round, &in_turn, true);
        g_clear_pointer(&scene.site->list, g_free);
        site_find_candidates(scene.site, 400);
        for (guint32 x = 0; x < scene.site->n_children; x++)
            if (scene.site->parent[x] != BB_SITE_NONE &&
                !bb_site_may(scene.site, x, scene.site->parent[x]))
                bb_site_take(scene.site, x);
        ck_assert(bb_fifo_learn(scene.fifo, scene.model, scene.site));
        bb_search_refresh(scene.search);
        changes += check_sweeps(&scene, 12);
    }
    ck_assert_uint_gt(changes, 200);
}
END_TEST

// From the model alone to an assignment about as good as the truth, but for one scene in eight.
START_TEST(finds_the_truth)
{
    StepScale steps = {.n = 200, .steps = 3, .between = 900, .think = 60, .away = 300};
    guint32 seed = test_seed("search truth"), found = 0;
    for (guint round = 0; round < 16; round++) {
        g_auto(Scene) scene = scene_of_steps(seed + round, &steps, false);
        g_autofree guint32 *truth =
            g_memdup2(scene.site->parent, scene.site->n_children * sizeof *truth);
        double right = bb_search_total(scene.search);
        bb_search_begin(scene.search);
        ck_assert_double_lt(bb_search_total(scene.search), right);
        for (guint i = 0; i < 10; i++)
            bb_search_sweep(scene.search, 1 - 0.1 * i);
        for (guint i = 0; i < 10; i++)
            bb_search_sweep(scene.search, 0);
        found += bb_search_total(scene.search) > right - 60 && moved(scene.site, truth) < 60;
    }
    ck_assert_uint_ge(found, 8); // fewer by chance: once in 20,000 seeds
}
END_TEST

START_TEST(begins_one_by_one)
{
    guint32 seed = test_seed("search begin");
    for (guint round = 0; round < 20; round++) {
        g_auto(Scene) scene = random_scene(seed + round), plain = random_scene(seed + round);
        bb_search_begin(scene.search);
        bb_site_clear(plain.site);
        for (guint32 x = 0; x < plain.site->n_children; x++) {
            double best = bb_model_lone(plain.model, plain.site->children[x].type);
            guint32 to = BB_SITE_NONE;
            for (guint32 p = 0; p < plain.site->n_parents; p++) {
                const BbKids *kids = &plain.site->kids[p];
                double suits = bb_site_may(plain.site, x, p)
                                   ? bb_model_next(plain.model, plain.site, p, kids->at, kids->n, x)
                                   : -G_MAXDOUBLE;
                to = suits > best ? p : to;
                best = MAX(best, suits);
            }
            if (to != BB_SITE_NONE)
                bb_site_give(plain.site, x, to);
        }
        ck_assert_uint_eq(moved(scene.site, plain.site->parent), 0);
        ck_assert(site_is_whole(scene.site));
    }
}
END_TEST

START_TEST(same_seed_same_result)
{
    guint32 seed = test_seed("search seed"), differ = 0;
    for (guint round = 0; round < 10; round++) {
        g_auto(Scene) a = random_scene(seed + round), b = random_scene(seed + round),
                      other = random_scene(seed + round);
        bb_search_free(other.search);
        other.search = bb_search_new(other.site, other.model, seed + round + 1);
        for (guint i = 0; i < 5; i++) {
            ck_assert_double_eq(bb_search_sweep(a.search, 1), bb_search_sweep(b.search, 1));
            bb_search_sweep(other.search, 1);
        }
        ck_assert_uint_eq(moved(a.site, b.site->parent), 0);
        differ += moved(a.site, other.site->parent) > 0;
    }
    ck_assert_uint_gt(differ, 5);
}
END_TEST

// ---- chance ------------------------------------------------------------------------------------

// Requests without other children, around one child: all it can do is to move.
static Scene scene_of_one(guint32 seed, guint32 n_parents)
{
    Scene scene = {.rand = g_rand_new_with_seed(seed), .scale = bb_gap_scale_new()};
    SiteScale scale = {n_parents + 30, 60, 1, 2, 3000, 300, 20, 0};
    scene.site = site_random(scene.rand, &scale); // to learn from
    site_assign(scene.rand, scene.site, 3);
    learn(&scene, seed);
    bb_search_free(scene.search);
    bb_site_free(scene.site);
    scene.site = bb_site_new(n_parents, 1);
    scene.site->n_parent_types = 1;
    scene.site->n_child_types = 2;
    scene.site->span = 3000;
    for (guint32 p = 0; p < n_parents; p++)
        scene.site->parents[p] =
            (BbSiteParent){.s = 180 * p / MAX(n_parents, 9), .e = 200 + 30 * p};
    scene.site->children[0] = (BbSiteChild){.s = 190, .e = 195, .type = 1};
    site_find_candidates(scene.site, 0);
    scene.search = bb_search_new(scene.site, scene.model, seed);
    return scene;
}

// P(parent) at a temperature, by trying them all; the last one is for none.
static void plain_shares(Scene *scene, double heat, double *share)
{
    BbSite *site = scene->site;
    double sum = 0, best = -G_MAXDOUBLE;
    guint32 n = site->n_parents;
    if (site->parent[0] != BB_SITE_NONE)
        bb_site_take(site, 0);
    for (guint32 p = 0; p <= n; p++) {
        if (p < n)
            bb_site_give(site, 0, p);
        share[p] = bb_search_total(scene->search);
        best = MAX(best, share[p]);
        if (p < n)
            bb_site_take(site, 0);
    }
    for (guint32 p = 0; p <= n; p++)
        sum += share[p] = exp((share[p] - best) / heat);
    for (guint32 p = 0; p <= n; p++)
        share[p] /= sum;
    bb_search_refresh(scene->search);
}

START_TEST(shares_are_probabilities)
{
    guint32 seed = test_seed("search shares");
    for (guint round = 0; round < 20; round++) {
        guint32 n = 1 + round % 9;
        g_auto(Scene) scene = scene_of_one(seed + round, n);
        double want[10], heat = 0.7 + 0.3 * (round % 4), sum = 0;
        plain_shares(&scene, heat, want);
        for (guint32 p = 0; p <= n; p++) {
            guint32 final = p < n ? p : BB_SITE_NONE;
            float share = 0;
            bb_search_sample(scene.search, heat, &final, &share);
            ck_assert_double_eq_tol((double)share, want[p], 1e-5);
            sum += (double)share;
        }
        ck_assert_double_eq_tol(sum, 1, 1e-4);
    }
}
END_TEST

START_TEST(draws_are_fair)
{
    enum { N = 5, DRAWS = 4000 };
    guint32 seed = test_seed("search draws");
    for (guint round = 0; round < 4; round++) {
        g_auto(Scene) scene = scene_of_one(seed + round, N);
        double want[N + 1];
        guint seen[N + 1] = {0};
        plain_shares(&scene, 1.5, want);
        for (guint i = 0; i < DRAWS; i++) {
            bb_search_sweep(scene.search, 1.5);
            seen[MIN(scene.site->parent[0], N)]++;
        }
        for (guint p = 0; p <= N; p++) // five standard deviations
            ck_assert_double_le(fabs(seen[p] - want[p] * DRAWS),
                                5 * sqrt(want[p] * (1 - want[p]) * DRAWS) + 2);
    }
}
END_TEST

// Where some of many candidates are looked at by chance, no place is looked at more often than
// others.
START_TEST(draws_from_many_are_fair)
{
    enum { N = BB_SITE_CANDIDATES, DRAWS = 20000, ROUNDS = 6 };
    guint32 seed = test_seed("search draws from many");
    double lone = 0, lone_wanted = 0;
    for (guint round = 0; round < ROUNDS; round++) {
        g_auto(Scene) scene = scene_of_one(seed + round, N);
        double want[N + 1], share = 0;
        guint32 final = round % 2 ? BB_SITE_NONE : 2 * round;
        float sampled = 0;
        guint seen[N + 1] = {0};
        plain_shares(&scene, 2.5, want);
        for (guint i = 0; i < DRAWS; i++) {
            bb_search_sweep(scene.search, 2.5);
            seen[MIN(scene.site->parent[0], N)]++;
        }
        for (guint i = 0; i < DRAWS; i++)
            bb_search_sample(scene.search, 2.5, &final, &sampled);
        for (guint p = 0; p <= N; p++)
            ck_assert_double_eq_tol(seen[p] / (double)DRAWS, want[p], 0.02);
        share = (double)sampled / DRAWS;
        ck_assert_double_eq_tol(share, want[MIN(final, N)], 0.02);
        lone += seen[N] / (double)DRAWS;
        lone_wanted += want[N];
    }
    ck_assert_double_eq_tol(lone / lone_wanted, 1, 0.1);
}
END_TEST

#define BETWEEN 6u // two calls of a request: others, which another request may have made

// A request that made two calls, the first and the last of the site, which have no parent yet, in a
// system where requests make two, or none that has a parent.
static Scene scene_of_two(guint32 seed)
{
    StepScale steps = {.n = 200, .steps = 2, .between = 100, .think = 60, .away = 60};
    Scene scene = {.rand = g_rand_new_with_seed(seed), .scale = bb_gap_scale_new()};
    g_autofree guint32 *truth = NULL;
    BbSite *all = site_of_steps(scene.rand, &steps, &truth), *site = bb_site_new(2, BETWEEN + 2);
    for (guint32 x = 0; x < all->n_children; x++)
        truth[x] = truth[x] % 4 == 3 ? BB_SITE_NONE : truth[x];
    bb_site_restore(all, truth);
    site->n_parent_types = all->n_parent_types;
    site->n_child_types = all->n_child_types;
    site->span = all->span;
    site->parents[0] = all->parents[8];
    for (guint32 x = 0; x < BETWEEN + 2; x++) {
        site->children[x] = all->children[all->kids[8].at[x > BETWEEN]];
        if (x == 0 || x > BETWEEN)
            continue;
        site->children[x].s += 1 + x;
        site->children[x].e = site->children[x].s;
    }
    site->parents[1] = site->parents[0];
    site->parents[1].s = site->children[1].s;
    site->parents[1].e = site->children[BETWEEN].e;
    scene.site = all;
    learn(&scene, seed);
    bb_search_free(scene.search);
    bb_site_free(all);
    scene.site = site;
    site_find_candidates(site, 0);
    scene.search = bb_search_new(site, scene.model, seed);
    return scene;
}

// Likelihood of the two with parents where the bits of `which` say so.
static double total_with(Scene *scene, guint which)
{
    bb_site_clear(scene->site);
    for (guint32 x = 0; x < 2; x++)
        if (which & 1u << x)
            bb_site_give(scene->site, x * (BETWEEN + 1), 0);
    bb_search_refresh(scene->search);
    return bb_search_total(scene->search);
}

// Where one of two calls alone fits nobody, they still find the parent that made both, whatever
// others without parent stand between them.
START_TEST(pairs_find_their_parent)
{
    guint32 seed = test_seed("search pairs"), alone = 0;
    for (guint round = 0; round < 20; round++) {
        g_auto(Scene) scene = scene_of_two(seed + round);
        double both = total_with(&scene, 3),
               best = MAX(total_with(&scene, 1), total_with(&scene, 2));
        double none = total_with(&scene, 0);
        alone += both > none && best < none;
        bb_search_sweep(scene.search, 0);
        ck_assert_double_ge(bb_search_total(scene.search), MAX(both, none) - 1e-6);
    }
    ck_assert_uint_gt(alone, 10);
}
END_TEST

START_TEST(shares_of_many)
{
    guint32 seed = test_seed("search shares of many");
    for (guint round = 0; round < 30; round++) {
        g_auto(Scene) scene = random_scene(seed + round);
        guint32 n = scene.site->n_children;
        g_autofree guint32 *final = g_memdup2(scene.site->parent, n * sizeof *final);
        g_autofree float *share = g_new0(float, n);
        for (guint i = 1; i <= 4; i++) {
            bb_search_sample(scene.search, 1.7, final, share);
            for (guint32 x = 0; x < n; x++)
                ck_assert(share[x] >= 0 && share[x] <= (float)i + 1e-4f);
            ck_assert(site_is_whole(scene.site));
        }
    }
}
END_TEST

// ---- unusual parents ---------------------------------------------------------------------------

#define UNUSUAL 3u // parents of one scene

// Takes every fourth request's calls out of the site.
static void leave_out_some(BbSite *site, guint32 *truth)
{
    guint32 n = 0;
    for (guint32 x = 0; x < site->n_children; x++) {
        if (truth[x] % 4 == 3)
            continue;
        site->children[n] = site->children[x];
        truth[n++] = truth[x];
    }
    site->n_children = n;
    g_free(site->list);
    site_find_candidates(site, 0);
    for (guint32 x = 0; x < n; x++)
        truth[x] = bb_site_may(site, x, truth[x]) ? truth[x] : BB_SITE_NONE;
}

// The parent's first child goes to another one that has two; returns whether there is one.
static bool give_away(BbSite *site, guint32 parent)
{
    guint32 x = site->kids[parent].at[0];
    for (guint32 p = 0; p < site->n_parents; p++) {
        if (p == parent || site->kids[p].n != 2 || !bb_site_may(site, x, p))
            continue;
        bb_site_take(site, x);
        bb_site_give(site, x, p);
        return true;
    }
    return false;
}

// Requests that make two calls, or none, many of them open at once, under a model that knows that.
// Some have lost all of theirs but so many to others, which have three now. *threes: how many.
static Scene scene_of_threes(guint32 seed, guint32 left, guint32 *threes)
{
    StepScale steps = {.n = 300, .steps = 2, .between = 25, .think = 60, .away = 60};
    Scene scene = {.rand = g_rand_new_with_seed(seed), .scale = bb_gap_scale_new()};
    g_autofree guint32 *truth = NULL;
    scene.site = site_of_steps(scene.rand, &steps, &truth);
    leave_out_some(scene.site, truth);
    bb_site_restore(scene.site, truth);
    learn(&scene, seed);
    for (guint32 p = 60; p < 60 + 60 * UNUSUAL; p += 60) {
        while (scene.site->kids[p].n > left && give_away(scene.site, p))
            ++*threes;
    }
    bb_search_refresh(scene.search);
    return scene;
}

static guint32 count_threes(const BbSite *site)
{
    guint32 n = 0;
    for (guint32 p = 0; p < site->n_parents; p++)
        n += site->kids[p].n == 3;
    return n;
}

START_TEST(fills_empty_parents)
{
    guint32 seed = test_seed("search fill"), before = 0, after = 0;
    for (guint round = 0; round < 20; round++) {
        g_auto(Scene) scene = scene_of_threes(seed + round, 0, &before);
        double total = bb_search_total(scene.search), grown = bb_search_fill(scene.search);
        ck_assert(site_is_whole(scene.site));
        ck_assert_double_ge(grown, 0);
        ck_assert_double_eq_tol(bb_search_total(scene.search) - total, grown, 1e-6 * fabs(total));
        after += count_threes(scene.site);
    }
    ck_assert_uint_gt(before, 60);
    ck_assert_uint_lt(after, before / 4);
}
END_TEST

START_TEST(fills_as_it_says)
{
    guint32 seed = test_seed("search fill any"), filled = 0;
    for (guint round = 0; round < 150; round++) {
        g_auto(Scene) scene = random_scene(seed + round);
        if (most_kids(scene.site) >= BB_MODEL_NEAR)
            continue;
        double total = bb_search_total(scene.search), grown = bb_search_fill(scene.search);
        ck_assert(site_is_whole(scene.site));
        ck_assert_double_eq_tol(bb_search_total(scene.search) - total, grown,
                                1e-6 * (1 + fabs(total)));
        filled += grown > 0;
    }
    ck_assert_uint_gt(filled, 10);
}
END_TEST

// What one has too much comes to the one that lacks it, and hardly anything else moves.
START_TEST(unusual_parents_become_usual)
{
    guint32 seed = test_seed("search odd"), before = 0, after = 0, touched = 0, all = 0;
    for (guint round = 0; round < 20; round++) {
        g_auto(Scene) scene = scene_of_threes(seed + round, 1, &before);
        guint32 n = scene.site->n_children;
        g_autofree guint32 *parent = g_memdup2(scene.site->parent, n * sizeof *parent);
        bb_search_odd(scene.search);
        ck_assert(site_is_whole(scene.site));
        after += count_threes(scene.site);
        touched += moved(scene.site, parent);
        all += n;
    }
    ck_assert_uint_gt(before, 30);
    ck_assert_uint_lt(after, before / 2);
    ck_assert_uint_lt(touched, all / 4);
}
END_TEST

// ---- what is looked at -------------------------------------------------------------------------

START_TEST(doubtful_ones)
{
    guint32 seed = test_seed("search doubt"), fewer = 0;
    for (guint round = 0; round < 200; round++) {
        g_auto(Scene) scene = random_scene(seed + round);
        guint32 all, n, with = 0;
        for (guint32 x = 0; x < scene.site->n_children; x++)
            with += scene.site->first[x] < scene.site->first[x + 1];
        bb_search_all(scene.search);
        bb_search_list(scene.search, &all);
        ck_assert_uint_eq(all, with);
        bb_search_sweep(scene.search, 0);
        bb_search_doubtful(scene.search);
        const guint32 *list = bb_search_list(scene.search, &n);
        ck_assert_uint_le(n, all);
        fewer += n < all;
        for (guint32 i = 0; i < n; i++)
            ck_assert_float_gt(bb_search_nearest(scene.search, list[i]), -10);
        bb_search_all(scene.search);
        bb_search_list(scene.search, &n);
        ck_assert_uint_eq(n, all);
    }
    ck_assert_uint_gt(fewer, 0);
}
END_TEST

// A parent with hundreds of children is looked at in part; all stays whole and ends.
START_TEST(hundreds_of_children)
{
    guint32 seed = test_seed("search big");
    Scene scene = {.rand = g_rand_new_with_seed(seed), .scale = bb_gap_scale_new()};
    SiteScale scale = {3, 500, 1, 2, 1000, 0, 3, 1000};
    scene.site = site_random(scene.rand, &scale);
    site_assign(scene.rand, scene.site, 5);
    learn(&scene, seed);
    ck_assert_uint_ge(most_kids(scene.site), 2 * BB_MODEL_NEAR);
    for (guint i = 0; i < 6; i++) {
        ck_assert(isfinite(bb_search_sweep(scene.search, i < 3 ? 1 : 0)));
        ck_assert(site_is_whole(scene.site));
        ck_assert(isfinite(bb_search_total(scene.search)));
    }
    scene_clear(&scene);
}
END_TEST

TEST_MAIN("search", gains_are_what_they_say, gains_with_order, gains_with_order_and_late_children,
          finds_the_truth, begins_one_by_one, same_seed_same_result, shares_are_probabilities,
          draws_are_fair, draws_from_many_are_fair, pairs_find_their_parent, shares_of_many,
          fills_empty_parents, fills_as_it_says, unusual_parents_become_usual, doubtful_ones,
          hundreds_of_children)
