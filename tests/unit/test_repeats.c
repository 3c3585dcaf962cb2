// SPDX-License-Identifier: Apache-2.0
// Observers that come from several inputs by other clocks: who, by how much, how many messages; and
// what tells nothing of it.
#include "merge/repeats.h"

#include "tests/unit/test.h"

#define S G_GINT64_CONSTANT(1000000000)
#define T0 (1700000000 * S)

typedef struct World {
    BbNames *names;
    BbRepeats *repeats;
} World;

static void world_init(World *world)
{
    *world = (World){.names = bb_names_new(), .repeats = bb_repeats_new()};
}

static void world_clear(World *world)
{
    bb_repeats_free(world->repeats);
    bb_names_free(world->names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(World, world_clear)

// Messages [from .. to) of an observer, by its clock in this input.
static void tell(World *world, const char *observer, guint input, guint from, guint to,
                 gint64 clock_ns)
{
    for (guint i = from; i < to; i++) {
        BbMessage message = bb_message_empty();
        message.kind = i % 2 ? BB_RETURN : BB_CALL;
        message.observer = bb_names_intern(world->names, observer);
        message.sender = bb_names_intern(world->names, i % 2 ? "b" : "a");
        message.receiver = bb_names_intern(world->names, i % 2 ? "a" : "b");
        message.conn = "10.0.0.1:5-10.0.0.2:80";
        message.offset = BB_OFFSET_RELATIVE + (guint64)i * 100;
        message.time_ns = T0 + i * S / 100 + clock_ns;
        BbSightingKey key = bb_sighting_key(&message, world->names);
        bb_repeats_add(world->repeats, &message, &key, input);
    }
}

static guint listed(const World *world)
{
    g_autoptr(GArray) list = bb_repeats_list(world->repeats, world->names);
    return list->len;
}

START_TEST(two_clocks_of_one_observer_are_told)
{
    g_auto(World) world;
    world_init(&world);
    tell(&world, "raw", 0, 0, 10000, 0);
    tell(&world, "raw", 1, 0, 10000, 3600 * S);
    tell(&world, "half", 0, 0, 10000, 0);
    tell(&world, "half", 2, 5000, 10000, -S);
    tell(&world, "fine", 3, 0, 10000, S);
    g_autoptr(GArray) list = bb_repeats_list(world.repeats, world.names);
    ck_assert_uint_eq(list->len, 2);
    const BbRepeat *raw = &g_array_index(list, BbRepeat, 0), *half = raw + 1;
    ck_assert_str_eq(bb_names_text(world.names, raw->observer), "raw");
    ck_assert_uint_eq(raw->input, 0);
    ck_assert_uint_eq(raw->other, 1);
    ck_assert_int_eq(raw->apart_ns, 3600 * S);
    ck_assert_uint_eq(raw->twice, 10000);
    ck_assert_str_eq(bb_names_text(world.names, half->observer), "half");
    ck_assert_int_eq(half->apart_ns, -S);
    ck_assert_uint_ge(half->twice, 3500); // of 5,000, from a sample of 64
    ck_assert_uint_le(half->twice, 6500);
}
END_TEST

START_TEST(one_clock_is_no_matter)
{
    g_auto(World) world;
    world_init(&world);
    tell(&world, "a", 0, 0, 1000, 0);
    tell(&world, "a", 1, 500, 1500, 0); // overlap
    tell(&world, "a", 2, 1500, 2000, S);
    tell(&world, "b", 3, 0, 1000, S); // somebody else's
    tell(&world, "c", 4, 0, 1000, 0);
    tell(&world, "c", 4, 0, 1000, S); // one input: used again
    tell(&world, "d", 0, 0, BB_REPEATS_LEAST - 1, 0);
    tell(&world, "d", 1, 0, BB_REPEATS_LEAST - 1, S);
    ck_assert_uint_eq(listed(&world), 0);
}
END_TEST

START_TEST(ids_and_datagrams_say_nothing)
{
    g_auto(World) world;
    world_init(&world);
    for (guint i = 0; i < 200; i++) {
        BbMessage message = bb_message_empty();
        message.kind = BB_CALL;
        message.sender = message.receiver = bb_names_intern(world.names, "a");
        message.observer = bb_names_intern(world.names, "o");
        message.id = bb_id_number(i / 4);
        message.conn = i % 2 ? "x" : NULL;
        message.offset = BB_OFFSET_PRINT | i / 4;
        message.time_ns = T0 + i;
        BbSightingKey key = bb_sighting_key(&message, world.names);
        bb_repeats_add(world.repeats, &message, &key, i / 2 % 2);
    }
    ck_assert_uint_eq(listed(&world), 0);
}
END_TEST

START_TEST(more_observers_than_are_looked_at)
{
    g_auto(World) world;
    world_init(&world);
    for (guint i = 0; i < BB_REPEATS_OBSERVERS + 10; i++) {
        g_autofree char *name = g_strdup_printf("o%u", i);
        tell(&world, name, 0, 0, 8, 0);
        tell(&world, name, 1, 0, 8, S);
    }
    ck_assert_uint_eq(listed(&world), BB_REPEATS_OBSERVERS);
}
END_TEST

TEST_MAIN("repeats", two_clocks_of_one_observer_are_told, one_clock_is_no_matter,
          ids_and_datagrams_say_nothing, more_observers_than_are_looked_at)
