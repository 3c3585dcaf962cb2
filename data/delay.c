// SPDX-License-Identifier: Apache-2.0
// In: a distribution, random numbers. Out: samples in nanoseconds.
#include "data/delay.h"

#include <math.h>

BbDelayTerm bb_delay_lognormal(double mean, double deviation)
{
    double variance = log1p(deviation / mean * (deviation / mean));
    return (BbDelayTerm){BB_DELAY_LOGNORMAL, log(mean) - variance / 2, sqrt(variance)};
}

static double sample_normal(const BbDelayTerm *term, BbRandom *random)
{
    double x = 0;
    do
        x = term->a + term->b * bb_random_normal(random);
    while (x <= 0);
    return x;
}

static double sample_term(const BbDelayTerm *term, BbRandom *random)
{
    switch (term->kind) {
    case BB_DELAY_CONSTANT:
        return term->a;
    case BB_DELAY_NORMAL:
        return sample_normal(term, random);
    case BB_DELAY_UNIFORM:
        return term->a + (term->b - term->a) * bb_random_unit(random);
    case BB_DELAY_EXPONENTIAL:
        return term->a * bb_random_exponential(random);
    case BB_DELAY_LOGNORMAL:
        return exp(term->a + term->b * bb_random_normal(random));
    default:
        return term->a * pow(1 - bb_random_unit(random), -1 / term->b);
    }
}

gint64 bb_delay_sample(const BbDelay *delay, BbRandom *random)
{
    double sum = 0;
    for (guint i = 0; i < delay->count; i++)
        sum += sample_term(&delay->terms[i], random);
    return sum < (double)BB_DELAY_MAX_NS ? (gint64)(sum + 0.5) : BB_DELAY_MAX_NS;
}
