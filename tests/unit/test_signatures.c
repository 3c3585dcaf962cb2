// SPDX-License-Identifier: Apache-2.0
// Multisets of children against a plain list of them.
#include "nesting/signatures.h"
#include "tests/unit/test.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define KINDS 6u
#define TYPES 3u

typedef struct {
    guint type;
    guint kids[KINDS]; // how many of each
    double n;
} Plain;

static guint64 number(const Plain *plain)
{
    guint64 signature = bb_signature_start(plain->type);
    for (guint c = 0; c < KINDS; c++)
        for (guint k = 0; k < plain->kids[c]; k++)
            signature = bb_signature_with(signature, c);
    return signature;
}

static Plain *plain_at(GArray *all, const Plain *key)
{
    for (guint i = 0; i < all->len; i++) {
        Plain *plain = &g_array_index(all, Plain, i);
        if (plain->type == key->type && memcmp(plain->kids, key->kids, sizeof key->kids) == 0)
            return plain;
    }
    return NULL;
}

static Plain draw(GRand *rand)
{
    Plain plain = {.type = (guint)g_rand_int_range(rand, 0, TYPES)};
    guint n = (guint)g_rand_int_range(rand, 0, 5);
    for (guint i = 0; i < n; i++)
        plain.kids[g_rand_int_range(rand, 0, KINDS)]++;
    return plain;
}

static void count_some(GRand *rand, BbSignatures *signatures, GArray *all, double *n, double trust)
{
    bb_signatures_reset(signatures, TYPES);
    g_array_set_size(all, 0);
    memset(n, 0, TYPES * sizeof *n);
    for (guint i = (guint)g_rand_int_range(rand, 0, 3000); i > 0; i--) {
        Plain plain = draw(rand), *there = plain_at(all, &plain);
        double weight = 0.125 * g_rand_int_range(rand, 1, 9);
        if (!there) {
            g_array_append_val(all, plain);
            there = &g_array_index(all, Plain, all->len - 1);
        }
        there->n += weight;
        n[plain.type] += weight;
        bb_signatures_count(signatures, plain.type, number(&plain), weight);
    }
    bb_signatures_trust(signatures, trust);
}

// How many of a type's parents have what no other one has.
static double single(const GArray *all, guint type)
{
    double n = 0;
    for (guint i = 0; i < all->len; i++) {
        const Plain *plain = &g_array_index(all, Plain, i);
        if (plain->type == type && plain->n <= 1)
            n += plain->n;
    }
    return n;
}

START_TEST(like_a_plain_list)
{
    static const double trusts[] = {1, 4, 0.5, -0.2, -0.025};
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("signatures"));
    g_autoptr(BbSignatures) signatures = bb_signatures_new();
    g_autoptr(GArray) all = g_array_new(FALSE, TRUE, sizeof(Plain));
    double n[TYPES];
    for (guint round = 0; round < 30; round++) {
        double trust = trusts[round % G_N_ELEMENTS(trusts)];
        count_some(rand, signatures, all, n, trust);
        for (guint i = 0; i < 500; i++) {
            Plain plain = draw(rand);
            const Plain *there = plain_at(all, &plain);
            double alone = single(all, plain.type);
            double alpha = trust < 0
                               ? 1 - trust * n[plain.type]
                               : MAX(trust, alone * n[plain.type] / (n[plain.type] - alone + 1));
            double apart = -g_rand_double_range(rand, 0.5, 30), seen = there ? there->n : 0;
            double out = i % 2 ? MIN(n[plain.type], 1) : 0, same = i % 4 == 1 ? MIN(seen, out) : 0;
            double rest = MAX(n[plain.type] - out, 0) + alpha;
            double want = log((seen - same + alpha * exp(apart)) / rest);
            double got =
                bb_signatures_log(signatures, plain.type, number(&plain), apart, out, same);
            // where many were seen, neither imagined ones nor one of them counts: 1 in 50 at most
            ck_assert_double_eq_tol(got, want, trust > 0 && seen >= 50 * (1 + alpha) ? 0.03 : 1e-9);
        }
    }
}
END_TEST

START_TEST(before_any_count)
{
    g_autoptr(BbSignatures) signatures = bb_signatures_new();
    bb_signatures_reset(signatures, 2);
    ck_assert_double_eq(bb_signatures_log(signatures, 1, bb_signature_start(1), -3.5, 0, 0), -3.5);
    bb_signatures_trust(signatures, 1);
    ck_assert_double_eq_tol(bb_signatures_log(signatures, 1, bb_signature_start(1), -3.5, 0, 0),
                            -3.5, 1e-12);
    bb_signatures_count(signatures, 1, bb_signature_start(1), 9);
    bb_signatures_trust(signatures, 1);
    ck_assert_double_eq_tol(bb_signatures_log(signatures, 1, bb_signature_start(1), -50, 0, 0),
                            log(0.9), 1e-9);
    bb_signatures_reset(signatures, 2);
    ck_assert_double_eq(bb_signatures_log(signatures, 1, bb_signature_start(1), -3.5, 0, 0), -3.5);
}
END_TEST

// "exactly one of the two": single counts cannot say it.
START_TEST(one_of_two)
{
    g_autoptr(BbSignatures) signatures = bb_signatures_new();
    bb_signatures_reset(signatures, 1);
    guint64 none = bb_signature_start(0), a = bb_signature_with(none, 0),
            b = bb_signature_with(none, 1), both = bb_signature_with(a, 1);
    for (guint i = 0; i < 40; i++)
        bb_signatures_count(signatures, 0, i % 2 ? a : b, 1);
    bb_signatures_trust(signatures, 1);
    double apart = log(0.25); // of each of the four, by single counts
    ck_assert_double_gt(bb_signatures_log(signatures, 0, a, apart, 0, 0), log(0.45));
    ck_assert_double_lt(bb_signatures_log(signatures, 0, both, apart, 0, 0), log(0.01));
    ck_assert_double_lt(bb_signatures_log(signatures, 0, none, apart, 0, 0), log(0.01));
}
END_TEST

// Five of twenty: hardly two parents have the same, and the next one will have what none had. That
// is hardly less likely than single counts say; nor are four, which are fewer sets, likelier.
START_TEST(some_of_many)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("some of many"));
    g_autoptr(BbSignatures) signatures = bb_signatures_new();
    bb_signatures_reset(signatures, 1);
    for (guint i = 0; i < 2000; i++) {
        guint64 five = bb_signature_start(0);
        for (guint left = 5, c = 0; left > 0; c++) {
            bool has = g_rand_int_range(rand, 0, (gint32)(20 - c)) < (gint32)left;
            five = has ? bb_signature_with(five, c) : five;
            left -= has;
        }
        bb_signatures_count(signatures, 0, five, 1);
    }
    bb_signatures_trust(signatures, 1);
    guint64 never = bb_signature_with(bb_signature_start(0), 77),
            four = bb_signature_with(bb_signature_start(0), 78);
    bb_signatures_count(signatures, 0, four, 2);
    bb_signatures_trust(signatures, 1);
    double five = bb_signatures_log(signatures, 0, never, -11, 1, 0);
    ck_assert_double_gt(five, -11 - log(2));
    ck_assert_double_lt(bb_signatures_log(signatures, 0, four, -10, 1, 0) - five, 5);
}
END_TEST

// The number of a multiset: not of its order; nor do small ones collide.
START_TEST(numbers_of_multisets)
{
    guint64 start = bb_signature_start(7);
    ck_assert_uint_eq(bb_signature_with(bb_signature_with(start, 3), 60),
                      bb_signature_with(bb_signature_with(start, 60), 3));
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    guint made = 0;
    for (guint type = 0; type < 8; type++) {
        for (guint a = 0; a < 65; a++) {
            for (guint b = a; b < 65; b++) {
                for (guint c = b; c < 65; c++, made++) {
                    guint64 signature = bb_signature_start(type);
                    signature = a < 64 ? bb_signature_with(signature, a) : signature;
                    signature = b < 64 ? bb_signature_with(signature, b) : signature;
                    signature = c < 64 ? bb_signature_with(signature, c) : signature;
                    signature |= 1; // as kept
                    g_hash_table_add(seen, g_memdup2(&signature, sizeof signature));
                }
            }
        }
    }
    ck_assert_uint_eq(g_hash_table_size(seen), made);
}
END_TEST

// More kinds of multisets than a first table holds, and types that come later.
START_TEST(many)
{
    g_autoptr(BbSignatures) signatures = bb_signatures_new();
    bb_signatures_reset(signatures, 1);
    bb_signatures_count(signatures, 0, bb_signature_start(0), 1);
    bb_signatures_reset(signatures, 64);
    for (guint i = 0; i < 20000; i++)
        bb_signatures_count(signatures, i % 64, bb_signature_with(bb_signature_start(i % 64), i),
                            1 + i % 3);
    bb_signatures_trust(signatures, 1);
    double n[64] = {0}, once[64] = {0};
    for (guint i = 0; i < 20000; i++) {
        n[i % 64] += 1 + i % 3;
        once[i % 64] += i % 3 == 0;
    }
    for (guint i = 0; i < 20000; i++) {
        guint64 signature = bb_signature_with(bb_signature_start(i % 64), i);
        double all = n[i % 64], alpha = once[i % 64] * all / (all - once[i % 64] + 1);
        ck_assert_double_eq_tol(bb_signatures_log(signatures, i % 64, signature, -900, 0, 0),
                                log((1 + i % 3) / (all + alpha)), 1e-9);
    }
}
END_TEST

TEST_MAIN("signatures", like_a_plain_list, before_any_count, one_of_two, some_of_many,
          numbers_of_multisets, many)
