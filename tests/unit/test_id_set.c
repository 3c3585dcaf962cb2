// SPDX-License-Identifier: Apache-2.0
// A set of ids beside a hash table of their texts; what it takes for ids that count up.
#include "viz/id_set.h"

#include "tests/unit/test.h"

#include <stdio.h>

static BbId random_id(GRand *rand, guint kind)
{
    guint64 number = (guint64)g_rand_int(rand) << 32 | g_rand_int(rand);
    switch (kind) {
    case 0:
        return (BbId){number % 5000, BB_ID_STEM};
    case 1:
        return (BbId){number % 300, BB_ID_STEM + number / 1000 % 40};
    case 2:
        return (BbId){G_MAXUINT64 - number % 200, BB_ID_HEX16};
    default:
        return (BbId){number % 2 ? number : number % 64 * 64, BB_ID_HEX16};
    }
}

START_TEST(as_a_hash_table)
{
    guint32 seed = test_seed("id_set");
    for (guint turn = 0; turn < 30; turn++) {
        g_autoptr(GRand) rand = g_rand_new_with_seed(seed + turn);
        g_autoptr(BbIdSet) set = bb_id_set_new();
        g_autoptr(GHashTable) twin = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        for (guint i = 0; i < 20000; i++) {
            BbId id = random_id(rand, (guint)g_rand_int_range(rand, 0, 4));
            char *text = g_strdup_printf("%u %" G_GUINT64_FORMAT, id.form, id.number);
            bool known = g_hash_table_contains(twin, text);
            ck_assert(bb_id_set_has(set, id) == known);
            ck_assert(bb_id_set_add(set, id) == !known);
            ck_assert(bb_id_set_has(set, id));
            g_hash_table_add(twin, text);
        }
    }
}
END_TEST

// Upwards, downwards, and by turns from both ends: a few ranges hold all, and no entry is left.
START_TEST(ids_that_count_up_take_nothing)
{
    for (guint way = 0; way < 3; way++) {
        g_autoptr(BbIdSet) set = bb_id_set_new();
        const guint64 count = 64 * 1000;
        for (guint64 i = 0; i < count; i++) {
            guint64 number = way == 0            ? i
                             : way == 1 || i % 2 ? count - 1 - i / (way == 1 ? 1 : 2)
                                                 : i / 2;
            ck_assert(bb_id_set_add(set, (BbId){number, BB_ID_STEM}));
            ck_assert_uint_le(bb_id_set_entries(set), 2);
        }
        ck_assert_uint_eq(bb_id_set_entries(set), 0);
        for (guint64 i = 0; i < count; i++)
            ck_assert(!bb_id_set_add(set, (BbId){i, BB_ID_STEM}));
        ck_assert(!bb_id_set_has(set, (BbId){count, BB_ID_STEM}));
        ck_assert(!bb_id_set_has(set, (BbId){5, BB_ID_HEX16}));
    }
}
END_TEST

// Every other block full: more runs than there is room for. Then the gaps are filled.
START_TEST(too_many_ranges_stay_entries)
{
    g_autoptr(BbIdSet) set = bb_id_set_new();
    const guint64 blocks = 4 * BB_ID_SET_RANGES;
    for (guint64 odd = 0; odd < 2; odd++)
        for (guint64 block = odd; block < blocks; block += 2)
            for (guint64 i = 0; i < 64; i++)
                ck_assert(bb_id_set_add(set, (BbId){64 * block + i, BB_ID_STEM}));
    ck_assert_uint_le(bb_id_set_entries(set), blocks);
    for (guint64 i = 0; i < 64 * blocks; i++)
        ck_assert(!bb_id_set_add(set, (BbId){i, BB_ID_STEM}));
}
END_TEST

TEST_MAIN("id_set", as_a_hash_table, ids_that_count_up_take_nothing, too_many_ranges_stay_entries)
