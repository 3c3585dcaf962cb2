// SPDX-License-Identifier: Apache-2.0
// Kinds of parents are one where they do the same, and only there.
#include "nesting/counts.h"
#include "nesting/kin.h"
#include "tests/unit/test.h"

#include <math.h>
#include <string.h>

enum { MOST = 6 };

typedef struct {
    GRand *rand;
    BbGapScale *scale;
    BbKin kin;
    BbKnownKind kinds[MOST];
    BbSlot *slots[MOST][2];
    double seen[MOST][BB_COUNTS_EACH];
    guint16 group[MOST];
} Scene;

static void scene_clear(Scene *scene)
{
    for (guint i = 0; i < MOST; i++)
        for (guint k = 0; k < 2; k++)
            bb_slot_free(scene->slots[i][k]);
    bb_gap_scale_free(scene->scale);
    g_rand_free(scene->rand);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Scene, scene_clear)

static Scene scene_new(guint32 seed)
{
    Scene scene = {.rand = g_rand_new_with_seed(seed), .scale = bb_gap_scale_new()};
    scene.kin = (BbKin){2, BB_COUNTS_EACH, scene.scale};
    memset(scene.group, 0xff, sizeof scene.group);
    return scene;
}

// What one kind does: n parents, so many of which have a child, after a gap of about so much, and
// answer after another; so many of the children are late.
typedef struct {
    guint n;
    double children, gap, answer, late;
} Habit;

static void add_gap(Scene *scene, BbSlot *slot, guint event, double mean)
{
    double u = 0;
    for (guint k = 0; k < 12; k++)
        u += g_rand_double(scene->rand) - 0.5;
    guint bin = bb_gap_bin(scene->scale, (gint64)(mean * exp(0.2 * u)));
    bb_slot_add(slot, BB_FROM_START, event, bin, 1);
    bb_slot_add(slot, BB_FROM_LATEST, event, bin, 1);
    if (!slot->is_end)
        bb_slot_add(slot, BB_FROM_EVENT, event, bin, 1);
    slot->n++;
}

static void add_kind(Scene *scene, guint kind, const Habit *habit)
{
    BbSlot **slots = scene->slots[kind];
    slots[0] = bb_slot_new((guint16)(1 + kind), 1, false, false);
    slots[1] = bb_slot_new((guint16)(1 + MOST + kind), 1, false, true);
    for (guint i = 0; i < habit->n; i++) {
        bool has = g_rand_double(scene->rand) < habit->children;
        scene->seen[kind][has ? 1 : 0]++;
        if (has) {
            add_gap(scene, slots[0], 0, habit->gap);
            slots[0]->late += g_rand_double(scene->rand) < habit->late;
        }
        add_gap(scene, slots[1], has ? 1 : 0, habit->answer);
    }
    for (guint k = 0; k < 2; k++)
        bb_slot_fit(slots[k], scene->scale);
    scene->kinds[kind] = (BbKnownKind){habit->n, slots, scene->seen[kind]};
}

// How many scenes of kinds with such habits are grouped so.
static guint grouped(const Habit *habits, guint n, const guint16 *want, guint scenes)
{
    guint32 seed = test_seed("kin");
    guint right = 0;
    for (guint round = 0; round < scenes; round++) {
        g_auto(Scene) scene = scene_new(seed + round);
        for (guint i = 0; i < n; i++)
            add_kind(&scene, i, &habits[i]);
        bb_kin_find(&scene.kin, scene.kinds, n, scene.group);
        right += memcmp(scene.group, want, n * sizeof *want) == 0;
    }
    return right;
}

START_TEST(those_that_do_the_same)
{
    static const Habit habits[] = {{300, 0.7, 5000, 900, 0},
                                   {100, 0.7, 5000, 900, 0},
                                   {30, 0.7, 5000, 900, 0},
                                   {4, 0.7, 5000, 900, 0}};
    static const guint16 one[] = {0, 0, 0, 0};
    ck_assert_uint_ge(grouped(habits, 4, one, 100), 75);
}
END_TEST

START_TEST(those_that_do_not)
{
    static const Habit usual = {100, 0.7, 5000, 900, 0};
    static const Habit others[] = {{100, 0.2, 5000, 900, 0},
                                   {100, 0.7, 7500, 900, 0},
                                   {100, 0.7, 5000, 1500, 0},
                                   {100, 0.7, 5000, 900, 0.5}};
    static const guint16 apart[] = {0, 1};
    for (guint i = 0; i < G_N_ELEMENTS(others); i++)
        ck_assert_uint_ge(grouped((Habit[]){usual, others[i]}, 2, apart, 50), 48);
}
END_TEST

// The most frequent kind stands for its group; what was never seen is taken for the most frequent.
START_TEST(groups)
{
    static const Habit a = {100, 0.7, 5000, 900, 0}, more_of_a = {400, 0.7, 5000, 900, 0};
    static const Habit b = {200, 0.7, 9000, 900, 0}, none = {0, 0.5, 1, 1, 0};
    static const guint16 want[] = {2, 1, 2, 2, 1, 2};
    ck_assert_uint_ge(grouped((Habit[]){a, b, more_of_a, none, b, a}, 6, want, 50), 40);
}
END_TEST

START_TEST(nothing_known)
{
    static const Habit none = {0, 0.5, 1, 1, 0};
    static const guint16 want[] = {0, 0, 0};
    ck_assert_uint_eq(grouped((Habit[]){none, none, none}, 3, want, 1), 1);
}
END_TEST

// Two kinds that are one are one kind that did both.
START_TEST(both_are_one_that_did_both)
{
    guint32 seed = test_seed("kin all");
    for (guint round = 0; round < 20; round++) {
        static const Habit habit = {50, 0.6, 4000, 700, 0.1};
        g_auto(Scene) scene = scene_new(seed + round), whole = scene_new(seed + round);
        for (guint i = 0; i < 2; i++)
            add_kind(&scene, i, &habit);
        add_kind(&whole, 0, &(Habit){100, 0.6, 4000, 700, 0.1}); // draws the same
        for (guint k = 0; k < 2; k++) {
            g_autoptr(BbSlot) both =
                bb_slot_new(1, 1, scene.slots[0][k]->is_join, scene.slots[0][k]->is_end);
            bb_slot_pour(both, scene.slots[0][k]);
            bb_slot_pour(both, scene.slots[1][k]);
            bb_slot_fit(both, scene.scale);
            ck_assert_double_eq(both->n, whole.slots[0][k]->n);
            ck_assert_double_eq(both->late, whole.slots[0][k]->late);
            ck_assert_uint_eq(both->reference, whole.slots[0][k]->reference);
            ck_assert_double_eq_tol(bb_slot_foretold(both), bb_slot_foretold(whole.slots[0][k]),
                                    1e-6);
        }
    }
}
END_TEST

TEST_MAIN("kin", those_that_do_the_same, those_that_do_not, groups, nothing_known,
          both_are_one_that_did_both)
