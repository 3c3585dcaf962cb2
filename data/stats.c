// SPDX-License-Identifier: Apache-2.0
// In: durations, one by one or as the statistics of a part.
// Out: count, mean, deviation, extremes and quantiles of them all.
#include "data/stats.h"

#include "data/wide.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    BbWide sum;
    BbWide squares; // the sum of 2^64 squares of 63-bit values fits
    gint64 min, max;
} Moments;

// Up to so many values, moments are made where they are asked for.
#define FEW 64

// What more than FEW values become.
typedef struct {
    Moments moments;
    gint64 *exact; // all values, as few has them; NULL where there are more than BB_STATS_EXACT
    guint64 *bucket;
    gint32 lowest; // bucket[i] counts the values of bucket number lowest + i
    guint32 length;
} Many;

// The count says which member holds: 1, 2 to FEW, more. Most statistics of a large trace are of
// patterns seen once, hence the care for the smallest.
struct BbStats {
    guint64 count;
    union {
        gint64 one;
        gint64 *few; // capacity: capacity_for(count)
        Many *many;
    };
};

// Buckets: magnitudes below 128 have one each; above, an octave has 64 of equal width, so that the
// middle of a bucket is within 1/128 of every value in it. Negative values have negative numbers.
#define SUB_BITS 6
#define SUB (1u << SUB_BITS)
#define SLACK 32 // buckets added beyond need when the range grows

static guint64 magnitude(gint64 value)
{
    return value < 0 ? -(guint64)value : (guint64)value;
}

static gint32 bucket_of(gint64 value)
{
    guint64 size = magnitude(value);
    guint shift = size < 2 * SUB ? 0 : (guint)(63 - SUB_BITS - __builtin_clzll(size));
    gint32 number = (gint32)(shift * SUB + (guint32)(size >> shift));
    return value < 0 ? -number : number;
}

static gint64 bucket_middle(gint32 number)
{
    guint32 index = (guint32)abs(number);
    guint shift = index < 2 * SUB ? 0 : index / SUB - 1;
    guint64 size = ((guint64)(index - shift * SUB) << shift) + (((guint64)1 << shift) >> 1);
    size = MIN(size, (guint64)G_MAXINT64);
    return number < 0 ? -(gint64)size : (gint64)size;
}

static void moments_push(Moments *moments, gint64 value)
{
    guint64 size = magnitude(value);
    BbWide square = {0};
    square.word[0] = bb_multiply(size, size, &square.word[1]);
    bb_wide_add(&moments->sum, bb_wide_of(value));
    bb_wide_add(&moments->squares, square);
    moments->min = MIN(moments->min, value);
    moments->max = MAX(moments->max, value);
}

static const Moments no_moments = {.min = G_MAXINT64, .max = G_MININT64};

static void many_reach(Many *many, gint32 number)
{
    gint32 end = many->lowest + (gint32)many->length;
    if (many->length > 0 && number >= many->lowest && number < end)
        return;
    gint32 lowest = many->length == 0 || number < many->lowest ? number - SLACK : many->lowest;
    gint32 highest = many->length == 0 || number >= end ? number + SLACK + 1 : end;
    guint64 *bucket = g_new0(guint64, (gsize)(highest - lowest));
    if (many->length > 0)
        memcpy(bucket + (many->lowest - lowest), many->bucket, many->length * sizeof *bucket);
    g_free(many->bucket);
    many->bucket = bucket;
    many->lowest = lowest;
    many->length = (guint32)(highest - lowest);
}

static void count_in_bucket(Many *many, gint64 value)
{
    gint32 number = bucket_of(value);
    many_reach(many, number);
    many->bucket[number - many->lowest]++;
}

// Leaves the exact form.
static void become_buckets(Many *many, guint64 count)
{
    for (guint64 i = 0; i < count; i++)
        count_in_bucket(many, many->exact[i]);
    g_clear_pointer(&many->exact, g_free);
}

// A power of two, at least 4.
static guint64 capacity_for(guint64 count)
{
    return count <= 4 ? 4 : (guint64)1 << (64 - __builtin_clzll(count - 1));
}

// values, count of them, with one more.
static gint64 *append_value(gint64 *values, guint64 count, gint64 value)
{
    if (capacity_for(count + 1) != capacity_for(count))
        values = g_renew(gint64, values, capacity_for(count + 1));
    values[count] = value;
    return values;
}

static void many_push(Many *many, guint64 count, gint64 value)
{
    moments_push(&many->moments, value);
    if (count < BB_STATS_EXACT) {
        many->exact = append_value(many->exact, count, value);
        return;
    }
    if (count == BB_STATS_EXACT)
        become_buckets(many, count);
    count_in_bucket(many, value);
}

// Both are in buckets.
static void many_merge(Many *many, const Many *other)
{
    for (guint32 i = 0; i < other->length; i++) {
        if (other->bucket[i] == 0)
            continue;
        gint32 number = other->lowest + (gint32)i;
        many_reach(many, number);
        many->bucket[number - many->lowest] += other->bucket[i];
    }
    bb_wide_add(&many->moments.sum, other->moments.sum);
    bb_wide_add(&many->moments.squares, other->moments.squares);
    many->moments.min = MIN(many->moments.min, other->moments.min);
    many->moments.max = MAX(many->moments.max, other->moments.max);
}

// Of no more than BB_STATS_EXACT.
static const gint64 *exact_values(const BbStats *stats)
{
    return stats->count == 1 ? &stats->one : stats->count <= FEW ? stats->few : stats->many->exact;
}

static Moments moments_of(const BbStats *stats)
{
    if (stats->count > FEW)
        return stats->many->moments;
    Moments moments = no_moments;
    const gint64 *values = exact_values(stats);
    for (guint64 i = 0; i < stats->count; i++)
        moments_push(&moments, values[i]);
    return moments;
}

// From one value, or none, to a few; count stays.
static void become_few(BbStats *stats)
{
    gint64 *few = g_new(gint64, capacity_for(1));
    few[0] = stats->one;
    stats->few = few;
}

// From fewer to many, which keeps the values; count stays.
static void become_many(BbStats *stats)
{
    Many *many = g_new0(Many, 1);
    many->moments = moments_of(stats);
    if (stats->count <= 1)
        become_few(stats);
    many->exact = stats->few;
    stats->many = many;
}

BbStats *bb_stats_new(void)
{
    return g_new0(BbStats, 1);
}

void bb_stats_free(BbStats *stats)
{
    if (!stats)
        return;
    if (stats->count > FEW) {
        g_free(stats->many->exact);
        g_free(stats->many->bucket);
        g_free(stats->many);
    } else if (stats->count > 1) {
        g_free(stats->few);
    }
    g_free(stats);
}

static void few_push(BbStats *stats, gint64 value)
{
    if (stats->count == 1)
        become_few(stats);
    stats->few = append_value(stats->few, stats->count, value);
}

void bb_stats_push(BbStats *stats, gint64 value_ns)
{
    if (stats->count == FEW)
        become_many(stats);
    if (stats->count >= FEW)
        many_push(stats->many, stats->count, value_ns);
    else if (stats->count == 0)
        stats->one = value_ns;
    else
        few_push(stats, value_ns);
    stats->count++;
}

void bb_stats_fetch(const BbStats *stats)
{
    if (stats->count <= FEW)
        return;
    __builtin_prefetch(&stats->many->moments);
    __builtin_prefetch(&stats->many->bucket);
}

// No more than BB_STATS_EXACT. They may be those of stats itself.
static void push_values(BbStats *stats, const BbStats *other)
{
    guint64 count = other->count;
    g_autofree gint64 *values = g_memdup2(exact_values(other), count * sizeof *values);
    for (guint64 i = 0; i < count; i++)
        bb_stats_push(stats, values[i]);
}

void bb_stats_merge(BbStats *stats, const BbStats *other)
{
    if (other->count == 0)
        return;
    if (other->count <= BB_STATS_EXACT) {
        push_values(stats, other);
        return;
    }
    if (stats->count <= FEW)
        become_many(stats);
    if (stats->count <= BB_STATS_EXACT)
        become_buckets(stats->many, stats->count);
    many_merge(stats->many, other->many);
    stats->count += other->count;
}

guint64 bb_stats_count(const BbStats *stats)
{
    return stats->count;
}

gint64 bb_stats_sum(const BbStats *stats)
{
    BbWide sum = moments_of(stats).sum, low = bb_wide_of((gint64)sum.word[0]);
    if (memcmp(&sum, &low, sizeof sum) == 0)
        return (gint64)sum.word[0];
    return bb_wide_is_negative(&sum) ? G_MININT64 : G_MAXINT64;
}

// Without its sign.
static BbWide size_of_sum(const Moments *moments)
{
    return bb_wide_is_negative(&moments->sum) ? bb_wide_negated(moments->sum) : moments->sum;
}

gint64 bb_stats_mean(const BbStats *stats)
{
    if (stats->count == 0)
        return 0;
    Moments moments = moments_of(stats);
    BbWide mean = size_of_sum(&moments);
    bb_wide_add(&mean, bb_wide_of((gint64)(stats->count / 2)));
    (void)bb_wide_divide(&mean, stats->count);
    return (gint64)(bb_wide_is_negative(&moments.sum) ? -mean.word[0] : mean.word[0]);
}

// With sum = n m + r: the squared deviations from the mean are squares - m (n m + 2 r) - r^2 / n.
// The first difference is an integer, taken exactly modulo 2^192 with m's sign folded away, so
// nothing cancels however far the values are from zero.
gint64 bb_stats_stddev(const BbStats *stats)
{
    if (stats->count < 2)
        return 0;
    Moments moments = moments_of(stats);
    BbWide sum = size_of_sum(&moments), mean = sum, around = moments.squares;
    guint64 rest = bb_wide_divide(&mean, stats->count);
    bb_wide_add(&sum, (BbWide){{rest}});
    bb_wide_add(&around, bb_wide_negated(bb_wide_times(sum, mean.word[0])));
    long double squared = bb_wide_to_float(&around);
    squared -= (long double)rest * rest / (long double)stats->count;
    long double deviation = sqrtl(MAX(squared, 0) / (long double)(stats->count - 1));
    return deviation >= 0x1p63L ? G_MAXINT64 : (gint64)llroundl(deviation);
}

gint64 bb_stats_min(const BbStats *stats)
{
    return stats->count == 0 ? 0 : moments_of(stats).min;
}

gint64 bb_stats_max(const BbStats *stats)
{
    return stats->count == 0 ? 0 : moments_of(stats).max;
}

// Rank from 1; the tiny factor keeps 0.07 * 100 at rank 7.
static guint64 nearest_rank(guint64 count, double q)
{
    double rank = ceil(q * (double)count * (1 - 1e-15));
    if (!(rank > 1))
        return 1;
    return rank >= (double)count ? count : (guint64)rank;
}

// Puts the value of rank place + 1 there: parts the values again and again, the smaller ones first
// (Hoare: FIND, CACM 1961). Linear, but for values that were ordered to make it slow; these are
// BB_STATS_EXACT at most.
static gint64 select_value(gint64 *values, gint64 count, gint64 place)
{
    gint64 first = 0, last = count - 1;
    while (first < last) {
        gint64 middle = values[first + (last - first) / 2], i = first, j = last;
        while (i <= j) {
            while (values[i] < middle)
                i++;
            while (values[j] > middle)
                j--;
            if (i > j)
                break;
            gint64 swapped = values[i];
            values[i++] = values[j];
            values[j--] = swapped;
        }
        if (place > j)
            first = i;
        if (place < i)
            last = j;
    }
    return values[place];
}

static gint64 exact_quantile(const BbStats *stats, guint64 rank)
{
    g_autofree gint64 *values = g_memdup2(exact_values(stats), stats->count * sizeof *values);
    return select_value(values, (gint64)stats->count, (gint64)rank - 1);
}

gint64 bb_stats_quantile(const BbStats *stats, double q)
{
    if (stats->count == 0)
        return 0;
    guint64 rank = nearest_rank(stats->count, q);
    if (stats->count <= BB_STATS_EXACT)
        return exact_quantile(stats, rank);
    const Many *many = stats->many;
    if (rank == stats->count)
        return many->moments.max;
    guint32 i = 0;
    for (guint64 below = many->bucket[0]; below < rank; below += many->bucket[i])
        i++;
    gint64 middle = bucket_middle(many->lowest + (gint32)i);
    return CLAMP(middle, many->moments.min, many->moments.max);
}
