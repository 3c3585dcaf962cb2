// SPDX-License-Identifier: Apache-2.0
// Random numbers that a seed repeats on every machine: xoshiro256** 1.0 (Blackman and Vigna), its
// state filled by splitmix64. Not for secrets.
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct BbRandom {
    guint64 state[4];
    double spare; // the second one of a pair of normal numbers
    bool has_spare;
} BbRandom;

BbRandom bb_random_start(guint64 seed);

guint64 bb_random_bits(BbRandom *random);                 // all 64 of them
double bb_random_unit(BbRandom *random);                  // in [0, 1)
double bb_random_normal(BbRandom *random);                // mean 0, deviation 1
double bb_random_exponential(BbRandom *random);           // mean 1
guint64 bb_random_below(BbRandom *random, guint64 bound); // in [0, bound), bound > 0
bool bb_random_chance(BbRandom *random, double chance);   // takes no number where chance is 0 or 1
