// SPDX-License-Identifier: Apache-2.0
// Slots of few samples know what all of them showed, where such slots are many.
#include "nesting/poor.h"
#include "tests/unit/test.h"

enum { KIDS = 5, SLOTS = KIDS * BB_SLOT_ORDERS, GAP = 1000 };

typedef struct {
    BbGapScale *scale;
    BbPoor *poor;
    BbSlot *slots[SLOTS], *end;
} Scene;

static Scene scene_new(void)
{
    Scene scene = {.scale = bb_gap_scale_new(), .end = bb_slot_new(0, KIDS, false, true)};
    scene.poor = bb_poor_new(KIDS, false, scene.scale);
    return scene;
}

static void scene_clear(Scene *scene)
{
    for (guint i = 0; i < SLOTS; i++)
        bb_slot_free(scene->slots[i]);
    bb_slot_free(scene->end);
    bb_poor_free(scene->poor);
    bb_gap_scale_free(scene->scale);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Scene, scene_clear)

// The slot of a child of a kind that none came before, with n samples of a gap.
static BbSlot *add_slot(Scene *scene, guint kid, guint n, gint64 gap)
{
    BbSlot *slot = scene->slots[kid * BB_SLOT_ORDERS] = bb_slot_new(1, KIDS, false, false);
    for (guint i = 0; i < n; i++)
        for (guint reference = BB_FROM_START; reference <= BB_FROM_EVENT; reference++)
            bb_slot_add(slot, reference, BB_SLOT_ARRIVAL, bb_gap_bin(scene->scale, gap), 1);
    slot->n = n;
    bb_slot_fit(slot, scene->scale);
    return slot;
}

static void share(Scene *scene)
{
    bb_slot_fit(scene->end, scene->scale);
    bb_poor_share(scene->poor, scene->slots, SLOTS, &scene->end, 1);
}

static double log_of(const Scene *scene, const BbSlot *slot, gint64 gap)
{
    return (double)slot->used[BB_SLOT_ARRIVAL]->log[bb_gap_bin(scene->scale, gap)];
}

START_TEST(many_poor_slots_share)
{
    g_auto(Scene) scene = scene_new();
    for (guint kid = 0; kid < KIDS - 2; kid++)
        add_slot(&scene, kid, 6, GAP);
    const BbSlot *odd = add_slot(&scene, KIDS - 2, 2, 50 * GAP); // the last kind was never seen
    double alone = log_of(&scene, odd, GAP);
    share(&scene);
    ck_assert_double_gt(log_of(&scene, odd, GAP), alone + 1);
    const BbSlot *unseen = scene.poor->unseen[0];
    ck_assert_ptr_nonnull(unseen);
    ck_assert_double_gt(log_of(&scene, unseen, GAP), log_of(&scene, unseen, 50 * GAP));
    ck_assert_ptr_null(scene.poor->unseen[1]); // of another order none is known
}
END_TEST

START_TEST(a_few_do_not)
{
    g_auto(Scene) scene = scene_new();
    add_slot(&scene, 0, 200, GAP);
    const BbSlot *odd = add_slot(&scene, 1, 5, 50 * GAP);
    double alone = log_of(&scene, odd, GAP);
    share(&scene);
    ck_assert_double_eq(log_of(&scene, odd, GAP), alone);
    ck_assert_ptr_null(scene.poor->unseen[0]);
}
END_TEST

START_TEST(what_was_shared_is_forgotten)
{
    g_auto(Scene) scene = scene_new();
    add_slot(&scene, 0, 5, GAP);
    share(&scene);
    ck_assert_ptr_nonnull(scene.poor->unseen[0]);
    add_slot(&scene, 1, 200, GAP);
    share(&scene);
    ck_assert_ptr_null(scene.poor->unseen[0]);
}
END_TEST

START_TEST(rich_slots_keep_their_own)
{
    g_auto(Scene) scene = scene_new();
    const BbSlot *rich = add_slot(&scene, 0, (guint)BB_SLOT_FEW, 50 * GAP);
    add_slot(&scene, 1, 10, GAP);
    double alone = log_of(&scene, rich, GAP);
    share(&scene);
    ck_assert_double_eq(log_of(&scene, rich, GAP), alone);
    ck_assert_ptr_nonnull(scene.poor->unseen[0]);
}
END_TEST

TEST_MAIN("poor", many_poor_slots_share, a_few_do_not, what_was_shared_is_forgotten,
          rich_slots_keep_their_own)
