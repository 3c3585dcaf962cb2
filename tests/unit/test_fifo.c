// SPDX-License-Identifier: Apache-2.0
// Order in lines: learned where requests are served in turn, not where they are not, and what a
// crossing costs against asking every pair of waits.
#include "nesting/fifo.h"
#include "tests/unit/sample_sites.h"
#include "tests/unit/test.h"

typedef struct {
    BbGapScale *scale;
    BbSite *site;
    BbModel *model;
    BbFifo *fifo;
    bool learned;
} Scene;

static void scene_clear(Scene *scene)
{
    bb_fifo_free(scene->fifo);
    bb_model_free(scene->model);
    bb_site_free(scene->site);
    bb_gap_scale_free(scene->scale);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Scene, scene_clear)

static Scene scene_of(guint32 seed, const StepScale *scale)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    g_autofree guint32 *truth = NULL;
    Scene scene = {.scale = bb_gap_scale_new(), .site = site_of_steps(rand, scale, &truth)};
    bb_site_restore(scene.site, truth);
    scene.model = bb_model_new(scene.site, scene.scale);
    bb_model_forget(scene.model);
    bb_model_observe(scene.model, scene.site, 1);
    bb_model_fit(scene.model, scene.site, 1);
    scene.fifo = bb_fifo_new(scene.site);
    ck_assert_ptr_nonnull(scene.fifo);
    scene.learned = bb_fifo_learn(scene.fifo, scene.model, scene.site);
    return scene;
}

static const StepScale in_turn = {
    .n = 400, .steps = 2, .between = 420, .think = 150, .away = 30, .in_line = true};
static const StepScale at_once = {.n = 400, .steps = 2, .between = 300, .think = 150, .away = 100};

static guint waits_of(const Scene *scene, guint32 p, BbWait *waits)
{
    const BbKids *kids = &scene->site->kids[p];
    return bb_model_waits(scene->model, scene->site, p, kids->at, kids->n, waits);
}

// What two waits cost each other: beta of their line where they cross.
static double cost(const Scene *scene, const BbWait *a, const BbWait *b)
{
    guint32 p = 0; // two parents that are open together
    while (scene->site->parents[p + 1].s > scene->site->parents[p].e)
        p++;
    return bb_fifo_between(scene->fifo, scene->site, p, a, 1, p + 1, b, 1);
}

// beta of a line, from two waits that cross there.
static double beta(const Scene *scene, guint32 slot, bool first)
{
    BbWait outer = {.from = 10, .at = 40, .slot = slot, .first = first};
    BbWait inner = {.from = 20, .at = 30, .slot = slot, .first = first};
    return -cost(scene, &outer, &inner);
}

START_TEST(served_in_turn)
{
    g_auto(Scene) scene = scene_of(test_seed("fifo"), &in_turn);
    ck_assert(scene.learned);
    ck_assert_double_gt(beta(&scene, 0, true), 1); // the first call
    BbWait a = {.from = 10, .at = 20, .slot = 0, .first = true};
    BbWait later = {.from = 15, .at = 25, .slot = 0, .first = true};
    BbWait same_start = {.from = 10, .at = 15, .slot = 0, .first = true};
    BbWait same_end = {.from = 12, .at = 20, .slot = 0, .first = true};
    BbWait inside = {.from = 12, .at = 15, .slot = 0, .first = true};
    BbWait elsewhere = {.from = 12, .at = 15, .slot = 2, .first = false};
    ck_assert_double_eq(cost(&scene, &a, &later), 0);
    ck_assert_double_eq(cost(&scene, &a, &same_start), 0); // ties cross nobody
    ck_assert_double_eq(cost(&scene, &a, &same_end), 0);
    ck_assert_double_eq(cost(&scene, &a, &elsewhere), 0);
    ck_assert_double_lt(cost(&scene, &a, &inside), -1);
    ck_assert_double_eq(cost(&scene, &inside, &a), cost(&scene, &a, &inside));
}
END_TEST

START_TEST(served_at_once)
{
    guint32 seed = test_seed("fifo at once");
    guint learned = 0;
    for (guint i = 0; i < 10; i++) {
        g_auto(Scene) scene = scene_of(seed + i, &at_once);
        learned += scene.learned;
    }
    ck_assert_uint_le(learned, 5);
}
END_TEST

// ---- beta against plain maximum likelihood -----------------------------------------------------

typedef struct {
    double u;
    bool in_order;
} Meeting;

static double log_sigmoid(double x)
{
    return -log(1 + exp(-x));
}

static double likelihood(const GArray *meetings, double b)
{
    double sum = log_sigmoid(b) + log_sigmoid(-b);
    for (guint i = 0; i < meetings->len; i++) {
        const Meeting *meeting = &g_array_index(meetings, Meeting, i);
        sum += log_sigmoid(meeting->in_order ? meeting->u + b : -meeting->u - b);
    }
    return sum;
}

static double best_beta(const GArray *meetings)
{
    double best = 0;
    for (gint i = -8000; i <= 8000; i += 10)
        if (likelihood(meetings, i / 1000.0) > likelihood(meetings, best))
            best = i / 1000.0;
    return best;
}

static void meet(const Scene *scene, const BbWait *a, const BbWait *b, GArray *meetings)
{
    const BbWait *x = a->from <= b->from ? a : b, *y = x == a ? b : a; // x came first
    const BbWait *first = x->at <= y->at ? x : y, *last = first == x ? y : x;
    if (y->from > first->at)
        return; // y came when x was gone
    bool crossed = x->from < y->from && y->at < x->at;
    double in_order =
        bb_model_wait_log(scene->model, x, first) + bb_model_wait_log(scene->model, y, last);
    double other =
        bb_model_wait_log(scene->model, x, last) + bb_model_wait_log(scene->model, y, first);
    g_array_append_val(meetings, ((Meeting){in_order - other, !crossed}));
}

// All pairs of parents that are open together, in one slot; G_MAXUINT32: what each does first.
static GArray *meet_all(const Scene *scene, guint32 slot)
{
    const BbSite *site = scene->site;
    GArray *meetings = g_array_new(FALSE, FALSE, sizeof(Meeting));
    for (guint32 p = 0; p < site->n_parents; p++) {
        for (guint32 q = p + 1; q < site->n_parents; q++) {
            BbWait a[BB_MODEL_NEAR + 1], b[BB_MODEL_NEAR + 1];
            if (site->parents[q].s > site->parents[p].e)
                break;
            guint n_a = waits_of(scene, p, a), n_b = waits_of(scene, q, b);
            for (guint i = 0; i < n_a; i++)
                for (guint j = 0; j < n_b; j++)
                    if (slot == G_MAXUINT32 ? i == 0 && j == 0
                                            : a[i].slot == slot && b[j].slot == slot)
                        meet(scene, &a[i], &b[j], meetings);
        }
    }
    return meetings;
}

START_TEST(beta_is_the_likeliest)
{
    guint32 seed = test_seed("fifo beta");
    for (guint i = 0; i < 3; i++) {
        g_auto(Scene) scene = scene_of(seed + i, &in_turn);
        guint32 slots[] = {0, 3, 6}; // call of 0, call of 1, the end
        for (guint k = 0; k < G_N_ELEMENTS(slots); k++) {
            g_autoptr(GArray) meetings = meet_all(&scene, slots[k]);
            double want = best_beta(meetings), got = beta(&scene, slots[k], false);
            double gain = likelihood(meetings, want) - likelihood(meetings, 0);
            if (got != 0)
                ck_assert_double_eq_tol(got, want, 0.02);
            else
                ck_assert_double_lt(gain, 3.1 + 0.011 * meetings->len);
            if (fabs(want) > 0.35 && gain > 3.1 + 0.011 * meetings->len)
                ck_assert_double_ne(got, 0);
        }
    }
}
END_TEST

// What all pay, from the tables of waits and from asking every pair.
static void check_sums(const Scene *scene)
{
    const BbSite *site = scene->site;
    double got = 0, want = 0;
    BbWait a[BB_MODEL_NEAR + 1], b[BB_MODEL_NEAR + 1];
    for (guint32 p = 0; p < site->n_parents; p++) {
        guint n = waits_of(scene, p, a);
        bb_fifo_know(scene->fifo, p, a, n);
    }
    for (guint32 p = 0; p < site->n_parents; p++) {
        guint n_a = waits_of(scene, p, a);
        got += 0.5 * bb_fifo_log(scene->fifo, p, a, n_a, BB_SITE_NONE);
        for (guint32 q = p + 1; q < site->n_parents; q++) {
            guint n_b = waits_of(scene, q, b);
            for (guint i = 0; i < n_a; i++)
                for (guint j = 0; j < n_b; j++)
                    want += cost(scene, &a[i], &b[j]);
        }
    }
    ck_assert_double_lt(want, 0);
    ck_assert_double_eq_tol(got, want, 1e-6 * fabs(want) + 1e-6);
}

// All but one, and that one.
static void check_pairs(const Scene *scene)
{
    BbWait a[BB_MODEL_NEAR + 1], b[BB_MODEL_NEAR + 1];
    for (guint32 p = 0; p + 1 < scene->site->n_parents; p++) {
        guint n_a = waits_of(scene, p, a), n_b = waits_of(scene, p + 1, b);
        double all = bb_fifo_log(scene->fifo, p, a, n_a, BB_SITE_NONE);
        double but = bb_fifo_log(scene->fifo, p, a, n_a, p + 1);
        double one = bb_fifo_between(scene->fifo, scene->site, p, a, n_a, p + 1, b, n_b);
        ck_assert_double_eq_tol(all, but + one, 1e-6 * (1 + fabs(all)));
        guint kept = bb_fifo_keep(scene->fifo, a, n_a); // the others cost nothing
        ck_assert_uint_le(kept, n_a);
        ck_assert_double_eq_tol(bb_fifo_log(scene->fifo, p, a, kept, BB_SITE_NONE), all, 1e-9);
    }
}

START_TEST(penalties)
{
    guint32 seed = test_seed("fifo penalties");
    g_auto(Scene) scene = scene_of(seed, &in_turn);
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    for (guint i = 0; i < 3; i++) {
        site_assign(rand, scene.site, 10); // much crosses then
        check_sums(&scene);
        check_pairs(&scene);
    }
}
END_TEST

// Requests of one kind that do this first or that, all in the same line: one line for both.
START_TEST(one_line_for_what_comes_first)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("fifo pooled"));
    enum { N = 240, KINDS = 12 };
    Scene scene = {.scale = bb_gap_scale_new(), .site = bb_site_new(N, N)};
    BbSite *site = scene.site;
    double clock = 0, free_at = 0;
    // Each waits its turn, and calls one of many. Busier, chance makes lines too long to be
    // learned.
    for (guint32 p = 0; p < N; p++) {
        clock += -log(1 - g_rand_double(rand)) * 200;
        free_at = MAX(clock, free_at) - log(1 - g_rand_double(rand)) * 120;
        site->parents[p] = (BbSiteParent){.s = (gint64)clock, .e = (gint64)free_at + 50};
        site->children[p] = (BbSiteChild){.s = (gint64)free_at, .e = (gint64)free_at + 20};
        site->children[p].type = (guint16)g_rand_int_range(rand, 0, KINDS);
    }
    site->n_parent_types = 1;
    site->n_child_types = KINDS;
    site->span = clock;
    site_find_candidates(site, 0);
    for (guint32 p = 0; p < N; p++)
        bb_site_give(site, p, p);
    scene.model = bb_model_new(site, scene.scale);
    bb_model_forget(scene.model);
    bb_model_observe(scene.model, site, 1);
    bb_model_fit(scene.model, site, 1);
    scene.fifo = bb_fifo_new(site);
    ck_assert_ptr_nonnull(scene.fifo);
    ck_assert(bb_fifo_learn(scene.fifo, scene.model, site));
    BbWait outer = {.from = 10, .at = 40, .slot = 0, .first = true};
    BbWait inner = {.from = 20, .at = 30, .slot = 3, .first = true};
    ck_assert_double_lt(cost(&scene, &outer, &inner), -0.5); // they stand in one line
    inner.first = false;
    ck_assert_double_eq(cost(&scene, &outer, &inner), 0);
    g_autoptr(GArray) meetings = meet_all(&scene, G_MAXUINT32);
    ck_assert_double_eq_tol(beta(&scene, 5, true), best_beta(meetings), 0.02);
    scene_clear(&scene);
}
END_TEST

// Where too many are open together order is left alone; where nobody is, there is none.
// Calls that stay open all the time (streams, long polls) stand in no line: others stay in theirs,
// and what a look at one costs does not grow with the site.
START_TEST(long_calls_stand_apart)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("fifo long"));
    g_autofree guint32 *truth = NULL;
    g_autoptr(BbSite) site = site_of_steps(rand, &in_turn, &truth);
    gint64 end = site->parents[site->n_parents - 1].e;
    for (guint32 p = 0; p < 20; p++)
        site->parents[p].e = end;
    bb_site_restore(site, truth);
    g_auto(Scene) scene = {.scale = bb_gap_scale_new(), .site = g_steal_pointer(&site)};
    scene.model = bb_model_new(scene.site, scene.scale);
    bb_model_forget(scene.model);
    bb_model_observe(scene.model, scene.site, 1);
    bb_model_fit(scene.model, scene.site, 1);
    scene.fifo = bb_fifo_new(scene.site);
    ck_assert_ptr_nonnull(scene.fifo); // 20 more for each would be too many
    ck_assert(bb_fifo_learn(scene.fifo, scene.model, scene.site));
    BbWait early = {.from = 10, .at = 40, .slot = 0, .first = true};
    BbWait late = {.from = 20, .at = 30, .slot = 0, .first = true};
    ck_assert_double_eq(bb_fifo_between(scene.fifo, scene.site, 0, &early, 1, 1, &late, 1), 0);
}
END_TEST

START_TEST(limits)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    SiteScale crowd = {200, 10, 1, 1, 10, 1000, 5, 0};
    g_autoptr(BbSite) crowded = site_random(rand, &crowd);
    ck_assert_ptr_null(bb_fifo_new(crowded));
    StepScale apart = {.n = 50, .steps = 1, .between = 100000, .think = 10, .away = 10};
    g_auto(Scene) scene = scene_of(2, &apart);
    ck_assert(!scene.learned);
    BbWait waits[BB_MODEL_NEAR + 1];
    guint n = waits_of(&scene, 0, waits);
    ck_assert_uint_eq(bb_fifo_keep(scene.fifo, waits, n), 0);
    ck_assert_double_eq(bb_fifo_log(scene.fifo, 0, waits, n, BB_SITE_NONE), 0);
}
END_TEST

TEST_MAIN("fifo", served_in_turn, served_at_once, beta_is_the_likeliest, penalties,
          one_line_for_what_comes_first, long_calls_stand_apart, limits)
