// SPDX-License-Identifier: Apache-2.0
// In: a seed. Out: uniform, normal and exponential random numbers.
#include "data/random.h"

#include <math.h>

static guint64 splitmix64(guint64 *state)
{
    guint64 z = *state += G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
    return z ^ z >> 31;
}

BbRandom bb_random_start(guint64 seed)
{
    BbRandom random = {0};
    for (guint i = 0; i < G_N_ELEMENTS(random.state); i++)
        random.state[i] = splitmix64(&seed);
    return random;
}

static guint64 rotate_left(guint64 x, guint k)
{
    return x << k | x >> (64 - k);
}

guint64 bb_random_bits(BbRandom *random)
{
    guint64 *s = random->state;
    guint64 result = rotate_left(s[1] * 5, 7) * 9;
    guint64 t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double bb_random_unit(BbRandom *random)
{
    return (double)(bb_random_bits(random) >> 11) * 0x1p-53;
}

// Marsaglia's polar method: two at a time.
double bb_random_normal(BbRandom *random)
{
    if (random->has_spare) {
        random->has_spare = false;
        return random->spare;
    }
    double x = 0, y = 0, square = 0;
    do {
        x = 2 * bb_random_unit(random) - 1;
        y = 2 * bb_random_unit(random) - 1;
        square = x * x + y * y;
    } while (square >= 1 || square == 0);
    double factor = sqrt(-2 * log(square) / square);
    random->spare = y * factor;
    random->has_spare = true;
    return x * factor;
}

double bb_random_exponential(BbRandom *random)
{
    return -log1p(-bb_random_unit(random));
}

// Its bias is below 2^-40 for the bounds of a scenario.
guint64 bb_random_below(BbRandom *random, guint64 bound)
{
    return bb_random_bits(random) % bound;
}

bool bb_random_chance(BbRandom *random, double chance)
{
    return chance >= 1 || (chance > 0 && bb_random_unit(random) < chance);
}
