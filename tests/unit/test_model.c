// SPDX-License-Identifier: Apache-2.0
// What a model says of parents against its slow twin.
#include "tests/unit/brute_model.h"
#include "tests/unit/sample_sites.h"
#include "tests/unit/test.h"

#include "nesting/durations.h"

typedef struct {
    GRand *rand;
    BbGapScale *scale;
    BbSite *site;
    GPtrArray *seen;
    BbModel *model;
} Scene;

static void scene_clear(Scene *scene)
{
    g_rand_free(scene->rand);
    bb_gap_scale_free(scene->scale);
    bb_site_free(scene->site);
    g_ptr_array_unref(scene->seen);
    bb_model_free(scene->model);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Scene, scene_clear)

static gint32 below(Scene *scene, gint32 n)
{
    return g_rand_int_range(scene->rand, 0, n);
}

static Scene scene_of(GRand *rand, BbSite *site)
{
    Scene scene = {.rand = rand, .scale = bb_gap_scale_new(), .site = site};
    scene.seen = g_ptr_array_new_with_free_func(g_free);
    bb_durations_rank(site, scene.scale);
    scene.model = bb_model_new(site, scene.scale);
    return scene;
}

// Some children are let begin by others' returns, shortly before.
static void free_some(GRand *rand, BbSite *site)
{
    gint32 one_of = g_rand_int_range(rand, 1, 4);
    site->freed = g_new(BbSiteFreed, site->n_children);
    for (guint32 x = 0; x < site->n_children; x++) {
        gint64 at = site->children[x].s - g_rand_int_range(rand, 0, 30);
        bool none = g_rand_int_range(rand, 0, one_of) == 0;
        site->freed[x] =
            (BbSiteFreed){none ? G_MININT64 : at, (float)g_rand_double_range(rand, -8, 0), 0};
    }
}

static BbSite *random_site(GRand *rand)
{
    gint32 span = g_rand_boolean(rand) ? 60 : 5000;
    SiteScale scale = {.n_parents = (guint32)g_rand_int_range(rand, 1, 40),
                       .n_children = (guint32)g_rand_int_range(rand, 0, 100),
                       .np = (guint)g_rand_int_range(rand, 1, 4),
                       .nc = (guint)g_rand_int_range(rand, 1, 5),
                       .span = span,
                       .parent_len = span,
                       .child_len = span / 10,
                       .window = g_rand_boolean(rand) ? span / 4 : 0};
    BbSite *site = site_random(rand, &scale);
    site->is_join = g_rand_int_range(rand, 0, 3) == 0;
    if (g_rand_boolean(rand))
        free_some(rand, site);
    for (guint32 p = 0; p < site->n_parents; p++)
        site->parents[p].ready =
            site->parents[p].s + MAX(0, g_rand_int_range(rand, -span / 4, span / 4));
    return site;
}

// Learns from some assignments; the site keeps the last one.
static void learn(Scene *scene, guint n, double trust)
{
    bb_model_forget(scene->model);
    g_ptr_array_set_size(scene->seen, 0);
    for (guint i = 0; i < n; i++) {
        site_assign(scene->rand, scene->site, 4);
        gsize size = scene->site->n_children * sizeof *scene->site->parent;
        guint32 *copy = g_malloc(size + 1);
        for (guint32 x = 0; x < scene->site->n_children; x++)
            copy[x] = scene->site->parent[x];
        g_ptr_array_add(scene->seen, copy);
        bb_model_observe(scene->model, scene->site, 1.0 / n);
    }
    bb_model_fit(scene->model, scene->site, trust);
}

// Some of the children in order, near the parent or anywhere.
static guint32 draw_kids(Scene *scene, guint32 p, guint32 *kids)
{
    guint32 n = 0;
    gint32 one_of = 1 + below(scene, 12);
    for (guint32 x = 0; x < scene->site->n_children && n < BB_MODEL_NEAR - 1; x++)
        if (below(scene, one_of) == 0 && (bb_site_may(scene->site, x, p) || below(scene, 20) == 0))
            kids[n++] = x;
    return n;
}

// Kinds alone, with the last child and without.
static void check_kinds(const Scene *scene, const Brute *brute, guint32 p, const guint32 *kids,
                        guint32 n)
{
    const BbSite *site = scene->site;
    BbBrood brood = bb_model_brood(scene->model, site, p, kids, n - 1);
    double before = brute_kinds_log(brute, p, kids, n - 1);
    double want = brute_kinds_log(brute, p, kids, n) - before;
    guint32 same = 0;
    for (guint32 i = 0; i + 1 < n; i++)
        same += site->children[kids[i]].type == site->children[kids[n - 1]].type;
    double got = bb_model_more(scene->model, site, p, &brood, same, kids[n - 1]);
    ck_assert_double_eq_tol(brood.log, before, 1e-3 + 1e-5 * fabs(before));
    ck_assert_double_eq_tol(got, want, 1e-3 + 1e-5 * fabs(want));
}

static void check_parents(Scene *scene, const Brute *brute)
{
    guint32 kids[BB_MODEL_NEAR];
    for (guint32 p = 0; p < scene->site->n_parents; p++) {
        for (guint k = 0; k < 3; k++) {
            guint32 n = draw_kids(scene, p, kids);
            double got = bb_model_parent(scene->model, scene->site, p, kids, n);
            double want = brute_parent(brute, p, kids, n);
            ck_assert_double_eq_tol(got, want, 2e-3 + 1e-5 * fabs(want));
            if (n > 0)
                check_kinds(scene, brute, p, kids, n);
        }
    }
}

START_TEST(parents)
{
    static const double trusts[] = {1, -0.2, 1, -0.05};
    guint32 seed = test_seed("model");
    for (guint round = 0; round < 60; round++) {
        GRand *rand = g_rand_new_with_seed(seed + round);
        g_auto(Scene) scene = scene_of(rand, random_site(rand));
        double trust = trusts[round % G_N_ELEMENTS(trusts)];
        bool kinds = round % 5 > 0, gaps = round % 5 > 1;
        if (kinds)
            bb_model_leave_out(scene.model, scene.site, gaps);
        learn(&scene, 1 + round % 3, trust);
        g_autoptr(Brute) brute = brute_new(scene.site, scene.scale, scene.seen, trust);
        brute->without_kinds = kinds;
        brute->without_gaps = gaps;
        check_parents(&scene, brute);
    }
}
END_TEST

// A node that does its steps in order, and in which slow requests are slow all along.
static Scene scene_of_steps(guint32 seed, double together, guint32 n)
{
    GRand *rand = g_rand_new_with_seed(seed);
    StepScale scale = {
        .n = n, .steps = 3, .between = 900, .think = 300, .away = 200, .together = together};
    g_autofree guint32 *truth = NULL;
    BbSite *site = site_of_steps(rand, &scale, &truth);
    Scene scene = scene_of(rand, site);
    bb_site_restore(site, truth);
    bb_model_forget(scene.model);
    bb_model_observe(scene.model, site, 1);
    bb_model_fit(scene.model, site, 1);
    g_ptr_array_add(scene.seen, g_steal_pointer(&truth));
    return scene;
}

static double total(const Scene *scene, const BbModel *model)
{
    double sum = 0;
    for (guint32 p = 0; p < scene->site->n_parents; p++)
        sum +=
            bb_model_parent(model, scene->site, p, scene->site->kids[p].at, scene->site->kids[p].n);
    return sum;
}

START_TEST(gaps_that_go_together)
{
    guint32 seed = test_seed("model copula");
    g_auto(Scene) scene = scene_of_steps(seed, 0.8, 45);
    g_autoptr(Brute) brute = brute_new(scene.site, scene.scale, scene.seen, 1);
    check_parents(&scene, brute);
    double sum = 0, apart = 0;
    for (guint32 p = 0; p < scene.site->n_parents; p++)
        sum += brute_parent(brute, p, scene.site->kids[p].at, scene.site->kids[p].n);
    ck_assert_double_eq_tol(total(&scene, scene.model), sum, 0.02);
    for (guint p = 0; p < scene.site->n_parent_types; p++)
        bb_copula_reset(brute->copula[p]);
    for (guint p = 0; p < scene.site->n_parent_types; p++)
        bb_copula_fit(brute->copula[p]);
    for (guint32 p = 0; p < scene.site->n_parents; p++)
        apart += brute_parent(brute, p, scene.site->kids[p].at, scene.site->kids[p].n);
    ck_assert_double_gt(sum, apart + 3); // it plays a part here
}
END_TEST

// Nothing of what was learned before is left, whatever it was.
START_TEST(forgets)
{
    guint32 seed = test_seed("model forgets");
    g_auto(Scene) scene = scene_of_steps(seed, 0.8, 300);
    g_autoptr(BbOnset) onset = bb_onset_new(scene.site, scene.scale);
    BbModel *models[2];
    for (guint m = 0; m < 2; m++) {
        models[m] = bb_model_new(scene.site, scene.scale);
        bb_model_begin(models[m], scene.site, onset, false);
        for (guint i = 0; i < 3 && m == 1; i++) { // this one has seen other things first
            site_assign(scene.rand, scene.site, 3);
            bb_model_forget(models[m]);
            bb_model_observe(models[m], scene.site, 1);
            bb_model_fit(models[m], scene.site, 1);
        }
        bb_site_restore(scene.site, g_ptr_array_index(scene.seen, 0));
        bb_model_forget(models[m]);
        bb_model_observe(models[m], scene.site, 1);
        bb_model_fit(models[m], scene.site, 1);
    }
    guint32 kids[BB_MODEL_NEAR];
    double apart = 0;
    for (guint32 p = 0; p < scene.site->n_parents; p++) {
        for (guint k = 0; k < 10; k++) {
            guint32 n = draw_kids(&scene, p, kids);
            apart = MAX(apart, fabs(bb_model_parent(models[0], scene.site, p, kids, n) -
                                    bb_model_parent(models[1], scene.site, p, kids, n)));
        }
    }
    ck_assert_double_le(apart, 1e-9);
    bb_model_free(models[0]);
    bb_model_free(models[1]);
}
END_TEST

// A node that does the same for callers 0 and 1, and only the first step for caller 2.
static Scene scene_of_callers(guint32 seed, bool named)
{
    Scene scene = scene_of_steps(seed, 0, 600);
    bb_model_free(scene.model);
    for (guint32 p = 0; p < scene.site->n_parents; p++) {
        const BbKids *kids = &scene.site->kids[p];
        guint16 caller = (guint16)(p % 3);
        while (caller == 2 && kids->n > 1)
            bb_site_take(scene.site, kids->at[kids->n - 1]);
        scene.site->parents[p].type = caller == 1 && !named ? 0 : caller;
    }
    scene.site->n_parent_types = 3;
    scene.model = bb_model_new(scene.site, scene.scale);
    return scene;
}

static void learn_again(Scene *scene)
{
    bb_model_observe(scene->model, scene->site, 1);
    bb_model_fit(scene->model, scene->site, 1);
}

// Callers for whom a node does the same are as one that is not told apart; by chance they may
// seem to differ.
START_TEST(callers_that_are_one)
{
    guint32 seed = test_seed("model callers"), found = 0;
    for (guint round = 0; round < 5; round++) {
        g_auto(Scene) named = scene_of_callers(seed + round, true);
        g_auto(Scene) plain = scene_of_callers(seed + round, false);
        bb_model_forget(plain.model);
        learn_again(&plain);
        learn_again(&named);
        double want = total(&plain, plain.model), apart = fabs(total(&named, named.model) - want);
        bb_model_regroup(named.model, named.site);
        learn_again(&named);
        found += apart > 0.1 && fabs(total(&named, named.model) - want) < 1e-9;
        bb_model_take_as_one(named.model); // and caller 2, which is another one
        learn_again(&named);
        ck_assert_double_lt(total(&named, named.model), want - 100);
    }
    ck_assert_uint_ge(found, 3);
}
END_TEST

// Sequences are timed from the last return, not from the start: the right assignment is the
// likelier, and so is each right link.
START_TEST(likes_the_truth)
{
    guint32 seed = test_seed("model truth");
    g_auto(Scene) scene = scene_of_steps(seed, 0, 400);
    double right = total(&scene, scene.model);
    site_assign(scene.rand, scene.site, 1000000);
    ck_assert_double_gt(right, total(&scene, scene.model) + 300);
}
END_TEST

START_TEST(parts)
{
    guint32 seed = test_seed("model parts"), kids[BB_MODEL_NEAR];
    for (guint round = 0; round < 30; round++) {
        GRand *rand = g_rand_new_with_seed(seed + round);
        g_auto(Scene) scene = scene_of(rand, random_site(rand));
        if (round % 2)
            bb_model_leave_out(scene.model, scene.site, true);
        learn(&scene, 1, 1);
        g_autoptr(Brute) brute = brute_new(scene.site, scene.scale, scene.seen, 1);
        brute->without_gaps = round % 2;
        for (guint32 p = 0; p < scene.site->n_parents; p++) {
            guint32 n = draw_kids(&scene, p, kids);
            BruteGap gaps[BB_MODEL_NEAR + 1];
            double kids_sum = 0;
            brute_gaps(brute, p, kids, n, gaps);
            for (guint32 i = 0; i < n; i++)
                kids_sum += brute_gap_log(brute, &gaps[i], p, kids[i]) +
                            brute_late_log(brute, p, gaps[i].slot, kids[i]);
            double end = brute_gap_log(brute, &gaps[n], p, BB_SITE_NONE);
            ck_assert_double_eq_tol(bb_model_part(scene.model, scene.site, p, kids, 0, n, false),
                                    kids_sum, 1e-3 + 1e-5 * fabs(kids_sum));
            ck_assert_double_eq_tol(bb_model_part(scene.model, scene.site, p, kids, 0, n, true),
                                    kids_sum + end, 1e-3 + 1e-5 * fabs(kids_sum + end));
        }
    }
}
END_TEST

// What a child is worth, of all that stand beside it, and of those that may count from it only.
START_TEST(beside_a_child)
{
    guint32 seed = test_seed("model beside"), fewer = 0;
    for (guint round = 0; round < 40; round++) {
        GRand *rand = g_rand_new_with_seed(seed + round);
        g_auto(Scene) scene = scene_of(rand, random_site(rand));
        guint32 kids[BB_MODEL_NEAR], out[BB_MODEL_NEAR];
        learn(&scene, 1, 1);
        for (guint32 p = 0; p < scene.site->n_parents; p++) {
            guint32 n = draw_kids(&scene, p, kids);
            for (guint32 i = 0; i < n; i++) {
                memcpy(out, kids, i * sizeof *kids);
                memcpy(out + i, kids + i + 1, (n - i - 1) * sizeof *kids);
                double whole = bb_model_part(scene.model, scene.site, p, kids, 0, n, true) -
                               bb_model_part(scene.model, scene.site, p, out, 0, n - 1, true);
                guint32 to = bb_model_beside(scene.model, scene.site, p, kids, i, n, kids[i]);
                ck_assert(to > i && to <= n);
                double part = bb_model_part(scene.model, scene.site, p, kids, i, to, to == n) -
                              bb_model_part(scene.model, scene.site, p, out, i, to - 1, to == n);
                ck_assert_double_eq_tol(part, whole, 1e-4 + 1e-6 * fabs(whole));
                fewer += to < n;
            }
        }
    }
    ck_assert_uint_gt(fewer, 0);
}
END_TEST

// log P(more than k | k or more), k the number of x's type that came before.
static double brute_more(const Brute *brute, guint type, guint c, guint k)
{
    double beyond = 0, here;
    if (k >= BRUTE_COUNTS - 1)
        return 0;
    here = exp(brute_count_log(brute, type, c, k));
    for (guint i = k + 1; i < BRUTE_COUNTS; i++)
        beyond += exp(brute_count_log(brute, type, c, i));
    return log(beyond / (beyond + here));
}

START_TEST(one_more)
{
    guint32 seed = test_seed("model next"), kids[BB_MODEL_NEAR];
    for (guint round = 0; round < 30; round++) {
        GRand *rand = g_rand_new_with_seed(seed + round);
        g_auto(Scene) scene = scene_of(rand, random_site(rand));
        if (round % 2)
            bb_model_leave_out(scene.model, scene.site, true);
        learn(&scene, 1, 1);
        g_autoptr(Brute) brute = brute_new(scene.site, scene.scale, scene.seen, 1);
        brute->without_gaps = round % 2;
        for (guint32 p = 0; p < scene.site->n_parents; p++) {
            guint32 n = draw_kids(&scene, p, kids);
            if (n == 0)
                continue;
            guint type = scene.site->parents[p].type, each[BRUTE_TYPES];
            guint c = scene.site->children[kids[n - 1]].type;
            BruteGap gaps[BB_MODEL_NEAR + 1];
            brute_gaps(brute, p, kids, n, gaps);
            brute_census(scene.site, kids, n - 1, each);
            double want = brute_gap_log(brute, &gaps[n - 1], p, kids[n - 1]) +
                          brute_late_log(brute, p, gaps[n - 1].slot, kids[n - 1]);
            double got = bb_model_gap(scene.model, scene.site, p, kids, n - 1, kids[n - 1]);
            ck_assert_double_eq_tol(got, want, 1e-3 + 1e-5 * fabs(want));
            want += brute_more(brute, type, c, each[c]);
            got = bb_model_next(scene.model, scene.site, p, kids, n - 1, kids[n - 1]);
            ck_assert_double_eq_tol(got, want, 1e-3 + 1e-5 * fabs(want));
        }
    }
}
END_TEST

START_TEST(waits)
{
    guint32 seed = test_seed("model waits"), kids[BB_MODEL_NEAR];
    for (guint round = 0; round < 30; round++) {
        GRand *rand = g_rand_new_with_seed(seed + round);
        g_auto(Scene) scene = scene_of(rand, random_site(rand));
        if (round % 2)
            bb_model_leave_out(scene.model, scene.site, true);
        learn(&scene, 1, 1);
        g_autoptr(Brute) brute = brute_new(scene.site, scene.scale, scene.seen, 1);
        brute->without_gaps = round % 2;
        guint per_type = scene.site->n_child_types * BRUTE_ORDERS + 1;
        ck_assert_uint_eq(bb_model_slots(scene.site), per_type * scene.site->n_parent_types);
        for (guint32 p = 0; p < scene.site->n_parents; p++) {
            guint32 n = draw_kids(&scene, p, kids);
            guint type = scene.site->parents[p].type;
            BruteGap gaps[BB_MODEL_NEAR + 1];
            BbWait got[BB_MODEL_NEAR + 1];
            brute_gaps(brute, p, kids, n, gaps);
            ck_assert_uint_eq(bb_model_waits(scene.model, scene.site, p, kids, n, got), n + 1);
            for (guint32 i = 0; i <= n; i++) {
                ck_assert_int_eq(got[i].from, gaps[i].from.at);
                ck_assert_int_eq(got[i].at, gaps[i].at);
                ck_assert_uint_eq(got[i].slot, type * per_type + gaps[i].slot);
                ck_assert(got[i].first == (i == 0));
                bool for_pool = got[i].for_pool;
                ck_assert(for_pool == gaps[i].waits);
                BbWait end = got[i];
                end.at = gaps[i].at += below(&scene, 50);
                guint32 x = i < n ? kids[i] : BB_SITE_NONE;
                double want = for_pool ? brute_gap_log(brute, &gaps[i], p, x)
                                       : brute_known_log(brute, &gaps[i], p, x);
                ck_assert_double_eq_tol(bb_model_wait_log(scene.model, &got[i], &end), want, 1e-3);
            }
        }
    }
}
END_TEST

START_TEST(without_parent)
{
    guint32 seed = test_seed("model lone");
    GRand *rand = g_rand_new_with_seed(seed);
    g_auto(Scene) scene = scene_of(rand, random_site(rand));
    learn(&scene, 2, 1);
    for (guint c = 0; c < scene.site->n_child_types; c++) {
        double alone = 0;
        for (guint k = 0; k < 2; k++)
            for (guint32 x = 0; x < scene.site->n_children; x++)
                if (scene.site->children[x].type == c)
                    alone +=
                        ((guint32 *)g_ptr_array_index(scene.seen, k))[x] == BB_SITE_NONE ? 0.5 : 0;
        ck_assert_double_eq_tol(bb_model_lone(scene.model, c),
                                log((alone + 0.5) / scene.site->span), 1e-4);
    }
}
END_TEST

// Before any assignment: onset's densities, all timed from the latest return, and guessed counts.
START_TEST(beginning)
{
    g_auto(Scene) scene = scene_of_steps(test_seed("model begin"), 0, 200);
    const BbSite *site = scene.site;
    g_autoptr(BbOnset) onset = bb_onset_new(site, scene.scale);
    for (guint c = 0; c < 3; c++)
        onset->mean[c] = 0.7 + c;
    for (guint poisson = 0; poisson < 2; poisson++) {
        g_autoptr(BbModel) model = bb_model_new(site, scene.scale);
        bb_model_begin(model, site, onset, poisson);
        ck_assert_double_eq_tol(bb_model_lone(model, 1), log(0.5 / site->span), 1e-4);
        double counts = 0;
        for (guint c = 0; c < 3; c++) { // one child of each
            double m = onset->mean[c], chance = m * exp(-m);
            double near = c == 0 ? 0.7 : c == 1 ? 0.3 : 0; // 1 of 0.7, 1.7, 2.7
            counts += log(poisson ? chance : 0.5 * near + 0.5 * chance);
        }
        for (guint32 p = 0; p < site->n_parents; p++) {
            const guint32 *kids = site->kids[p].at;
            const BbSiteParent *parent = &site->parents[p];
            ck_assert_uint_eq(site->kids[p].n, 3);
            double want = counts;
            gint64 from = parent->s;
            for (guint k = 0; k < 3; k++) {
                const BbSiteChild *x = &site->children[kids[k]];
                const BbDensity *density = k == 0 ? onset->start[0] : onset->next[(k - 1) * 3 + k];
                want += (double)density->log[bb_gap_bin(scene.scale, x->s - from)];
                from = x->e;
            }
            want += (double)onset->end[2]->log[bb_gap_bin(scene.scale, parent->e - from)];
            ck_assert_double_eq_tol(bb_model_parent(model, site, p, kids, 3), want,
                                    1e-3 + 1e-5 * fabs(want));
        }
    }
}
END_TEST

// ---- trials ------------------------------------------------------------------------------------

// The parent's children with some of them gone and others come, at one place or anywhere: what a
// search asks.
static guint32 change_kids(Scene *scene, const BbKids *now, guint32 *kids)
{
    guint32 n = 0, n_children = scene->site->n_children, from = 0, to = n_children;
    gint32 leave = 1 + below(scene, 6), come = 1 + below(scene, 40);
    if (below(scene, 2)) {
        from = (guint32)below(scene, (gint32)n_children);
        to = MIN(n_children, from + 1 + (guint32)below(scene, 10));
    }
    for (guint32 x = 0, k = 0; x < n_children; x++) {
        bool is_there = k < now->n && now->at[k] == x;
        k += is_there;
        bool changes = x >= from && x < to && below(scene, is_there ? leave : come) == 0;
        if (is_there != changes && n < BB_MODEL_NEAR)
            kids[n++] = x;
    }
    return n;
}

static guint check_trials(Scene *scene)
{
    BbSite *site = scene->site;
    BbTerms *terms = g_new0(BbTerms, 1);
    guint32 kids[BB_MODEL_NEAR];
    guint tried = 0;
    for (guint32 p = 0; p < site->n_parents; p++) {
        bb_site_clear(site);
        guint32 n = draw_kids(scene, p, kids);
        bb_site_put(site, p, kids, n);
        double now = bb_model_terms(scene->model, site, p, terms);
        ck_assert_double_eq(now, bb_model_parent(scene->model, site, p, kids, n));
        for (guint k = 0; k < 8; k++) {
            n = change_kids(scene, &site->kids[p], kids);
            double got = bb_model_trial(scene->model, site, p, kids, n, terms);
            double want = bb_model_parent(scene->model, site, p, kids, n);
            ck_assert_double_eq_tol(got, want, 1e-4 + 1e-6 * fabs(want));
            tried += n > 0 && site->kids[p].n > 0;
        }
    }
    bb_terms_free(terms);
    return tried;
}

START_TEST(trials)
{
    guint32 seed = test_seed("model trials");
    guint tried = 0;
    for (guint round = 0; round < 60; round++) {
        GRand *rand = g_rand_new_with_seed(seed + round);
        g_auto(Scene) scene = scene_of(rand, random_site(rand));
        if (round % 3 > 0)
            bb_model_leave_out(scene.model, scene.site, round % 3 > 1);
        learn(&scene, 1 + round % 3, 1);
        if (scene.site->n_children > 0)
            tried += check_trials(&scene);
    }
    ck_assert_uint_gt(tried, 1000);
}
END_TEST

TEST_MAIN("model", parents, gaps_that_go_together, forgets, callers_that_are_one, likes_the_truth,
          parts, beside_a_child, one_more, waits, without_parent, beginning, trials)
