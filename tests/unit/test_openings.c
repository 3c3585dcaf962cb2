// SPDX-License-Identifier: Apache-2.0
// The table of what is under way beside a hash table: entries that were never made before know
// nothing, whatever stood in their slots.
#include "nesting/openings.h"

#include "tests/unit/test.h"

#include <stdio.h>

static BbOpeningKey key_of(guint32 number)
{
    return (BbOpeningKey){{number % 97, BB_ID_STEM}, number / 97 % 3, number / 291};
}

// All that the owner may write into an entry.
static void fill(BbOpening *entry, guint32 number)
{
    entry->first = entry->last = entry->early = entry->early_call = number;
    entry->answered = 1;
    for (guint way = 0; way < BB_OPENING_WAYS; way++)
        entry->lacking[way] = number;
}

static void check_blank(const BbOpening *entry)
{
    ck_assert(bb_opening_is_empty(entry));
    ck_assert_uint_eq(entry->last, BB_OPENING_NONE);
    ck_assert_uint_eq(entry->early_call, BB_OPENING_NONE);
    ck_assert_uint_eq(entry->answered, 0);
    for (guint way = 0; way < BB_OPENING_WAYS; way++)
        ck_assert_uint_eq(entry->lacking[way], BB_OPENING_NONE);
}

static void drop(BbOpenings *openings, BbOpening *entry)
{
    entry->first = entry->early = BB_OPENING_NONE;
    bb_openings_drop_empty(openings, entry);
}

// Half full, so that many keys collide, whatever the seed of the hash.
START_TEST(as_a_hash_table)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("openings"));
    g_autoptr(GHashTable) twin = g_hash_table_new(NULL, NULL);
    BbOpenings openings;
    bb_openings_init(&openings);
    for (guint i = 0; i < 200000; i++) {
        guint32 number = (guint32)g_rand_int_range(rand, 1, 250);
        BbOpeningKey key = key_of(number);
        BbOpening *entry = bb_openings_find(&openings, &key);
        bool known = g_hash_table_remove(twin, GUINT_TO_POINTER(number));
        ck_assert(!entry == !known);
        if (known) {
            ck_assert_uint_eq(entry->last, number);
            drop(&openings, entry);
            continue;
        }
        entry = bb_openings_add(&openings, &key);
        check_blank(entry);
        fill(entry, number);
        g_hash_table_add(twin, GUINT_TO_POINTER(number));
    }
    ck_assert_uint_eq(openings.used, g_hash_table_size(twin));
    bb_openings_clear(&openings);
}
END_TEST

TEST_MAIN("openings", as_a_hash_table)
