// SPDX-License-Identifier: Apache-2.0
// Products, sums and quotients are what the compiler's own 128 bits say, where it has them; beyond,
// multiplication and division undo each other.
#include "data/wide.h"
#include "tests/unit/test.h"

#define ROUNDS 100000

// As many bits as any other number: 0 to 64.
static guint64 random_word(GRand *random)
{
    guint64 word = (guint64)g_rand_int(random) << 32 | g_rand_int(random);
    guint bits = (guint)g_rand_int_range(random, 0, 65);
    return bits == 0                ? 0
           : g_rand_boolean(random) ? word >> (64 - bits)
                                    : G_MAXUINT64 << (64 - bits);
}

static guint64 random_divisor(GRand *random)
{
    guint64 word = random_word(random);
    return MAX(word, 1);
}

static BbWide random_wide(GRand *random, guint words)
{
    BbWide wide = {0};
    for (guint i = 0; i < words; i++)
        wide.word[i] = random_word(random);
    return wide;
}

START_TEST(products)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(test_seed("wide"));
    for (guint round = 0; round < ROUNDS; round++) {
        guint64 a = random_word(random), b = random_word(random), high, other;
        guint64 low = bb_multiply(a, b, &high);
        ck_assert_uint_eq(low, bb_multiply_by_parts(a, b, &other));
        ck_assert_uint_eq(high, other);
    }
    guint64 high;
    ck_assert_uint_eq(bb_multiply_by_parts(G_MAXUINT64, G_MAXUINT64, &high), 1);
    ck_assert_uint_eq(high, G_MAXUINT64 - 1);
}
END_TEST

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 Twin;

static Twin twin_of(const BbWide *wide)
{
    return (Twin)wide->word[1] << 64 | wide->word[0];
}

START_TEST(like_the_compilers)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(test_seed("wide"));
    for (guint round = 0; round < ROUNDS; round++) {
        BbWide a = random_wide(random, 2), b = random_wide(random, 2), sum = a, quotient = a;
        BbWide product = bb_wide_times(a, b.word[0]), negated = bb_wide_negated(a);
        guint64 divisor = random_divisor(random);
        bb_wide_add(&sum, b);
        ck_assert(twin_of(&sum) == twin_of(&a) + twin_of(&b));
        ck_assert_uint_eq(sum.word[2], twin_of(&sum) < twin_of(&a)); // the carry
        ck_assert(twin_of(&product) == twin_of(&a) * b.word[0]);
        ck_assert(twin_of(&negated) == -twin_of(&a));
        ck_assert_uint_eq(bb_wide_divide(&quotient, divisor), twin_of(&a) % divisor);
        ck_assert(twin_of(&quotient) == twin_of(&a) / divisor);
        ck_assert(fabsl(bb_wide_to_float(&a) - twin_of(&a)) <= 0x1p-50L * twin_of(&a));
    }
}
END_TEST
#endif

START_TEST(division_undoes_multiplication)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(test_seed("wide"));
    for (guint round = 0; round < ROUNDS; round++) {
        BbWide a = random_wide(random, 2);
        guint64 factor = random_divisor(random), rest = random_word(random) % factor;
        BbWide b = bb_wide_times(a, factor);
        bb_wide_add(&b, (BbWide){{rest}});
        if (bb_wide_is_negative(&b))
            continue;
        ck_assert_uint_eq(bb_wide_divide(&b, factor), rest);
        ck_assert_mem_eq(&b, &a, sizeof a);
    }
}
END_TEST

START_TEST(signs)
{
    static const gint64 values[] = {0, 1, -1, 5, -5, G_MAXINT64, G_MININT64};
    for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
        BbWide wide = bb_wide_of(values[i]), sum = bb_wide_negated(wide);
        ck_assert_int_eq(bb_wide_is_negative(&wide), values[i] < 0);
        ck_assert_int_eq(bb_wide_is_negative(&sum), values[i] > 0);
        bb_wide_add(&sum, wide);
        ck_assert_mem_eq(&sum, &(BbWide){0}, sizeof sum);
    }
}
END_TEST

#ifdef __SIZEOF_INT128__
TEST_MAIN("wide", products, like_the_compilers, division_undoes_multiplication, signs)
#else
TEST_MAIN("wide", products, division_undoes_multiplication, signs)
#endif
