// SPDX-License-Identifier: Apache-2.0
// Whole numbers of 192 bits, modulo 2^192, those below zero as their complement: for sums and
// products that 64 bits do not hold. The language has none, and compilers for 32-bit machines have
// none of 128 bits either.
#pragma once

#include <glib.h>
#include <math.h>
#include <stdbool.h>

#define BB_WIDE_WORDS 3

typedef struct {
    guint64 word[BB_WIDE_WORDS]; // the lowest first
} BbWide;

// The low half of the product of a and b; the other goes to *high.
static inline guint64 bb_multiply_by_parts(guint64 a, guint64 b, guint64 *high)
{
    guint64 a_low = (guint32)a, a_high = a >> 32, b_low = (guint32)b, b_high = b >> 32;
    guint64 one = a_high * b_low + (a_low * b_low >> 32); // each sum is below 2^64
    guint64 other = a_low * b_high + (guint32)one;
    *high = a_high * b_high + (one >> 32) + (other >> 32);
    return a * b;
}

// The same.
static inline guint64 bb_multiply(guint64 a, guint64 b, guint64 *high)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 Product;
    Product product = (Product)a * b;
    *high = (guint64)(product >> 64);
    return (guint64)product;
#else
    return bb_multiply_by_parts(a, b, high);
#endif
}

static inline BbWide bb_wide_of(gint64 value)
{
    guint64 sign = value < 0 ? G_MAXUINT64 : 0;
    return (BbWide){{(guint64)value, sign, sign}};
}

static inline bool bb_wide_is_negative(const BbWide *wide)
{
    return wide->word[BB_WIDE_WORDS - 1] >> 63;
}

static inline void bb_wide_add(BbWide *wide, BbWide other)
{
    bool carry = false;
    for (guint i = 0; i < BB_WIDE_WORDS; i++) {
        bool full = __builtin_add_overflow(other.word[i], carry, &other.word[i]);
        carry = full | __builtin_add_overflow(wide->word[i], other.word[i], &wide->word[i]);
    }
}

static inline BbWide bb_wide_negated(BbWide wide)
{
    for (guint i = 0; i < BB_WIDE_WORDS; i++)
        wide.word[i] = ~wide.word[i];
    bb_wide_add(&wide, bb_wide_of(1));
    return wide;
}

static inline BbWide bb_wide_times(BbWide wide, guint64 factor)
{
    guint64 carry = 0;
    for (guint i = 0; i < BB_WIDE_WORDS; i++) {
        guint64 high, low = bb_multiply(wide.word[i], factor, &high);
        carry = high + __builtin_add_overflow(low, carry, &wide.word[i]);
    }
    return wide;
}

// Divides what is not negative; returns the rest.
static inline guint64 bb_wide_divide(BbWide *wide, guint64 divisor)
{
    guint64 rest = 0;
    for (guint i = BB_WIDE_WORDS; i-- > 0;) {
        guint64 word = wide->word[i], quotient = rest ? 0 : word / divisor;
        if (rest == 0)
            rest = word % divisor;
        else
            for (guint bit = 64; bit-- > 0;) {
                bool more = rest >> 63;
                rest = rest << 1 | (word >> bit & 1);
                if (more || rest >= divisor) {
                    rest -= divisor;
                    quotient |= (guint64)1 << bit;
                }
            }
        wide->word[i] = quotient;
    }
    return rest;
}

// Of what is not negative.
static inline long double bb_wide_to_float(const BbWide *wide)
{
    long double sum = 0;
    for (guint i = BB_WIDE_WORDS; i-- > 0;)
        sum = ldexpl(sum, 64) + (long double)wide->word[i];
    return sum;
}
