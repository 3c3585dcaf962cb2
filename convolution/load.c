// SPDX-License-Identifier: Apache-2.0
// In: two streams. Out: how many pairs chance makes of them, block of time by block of time.
#include "convolution/load.h"

#include <math.h>

// Since the start: exact where times since 1970 are too large for a double. No message is earlier.
static double since(const BbStream *stream, guint32 i, gint64 start_ns)
{
    return (double)((guint64)stream->ns[i] - (guint64)start_ns);
}

#define CALM_BLOCKS 10 // longest lags
#define CALM_PARTS 200 // of the trace

double bb_load_calm_ns(double longest_lag_ns, double trace_ns)
{
    return MAX(CALM_BLOCKS * longest_lag_ns, trace_ns / CALM_PARTS);
}

static guint32 count_until(const BbStream *stream, guint32 *next, gint64 start_ns, double until_ns)
{
    guint32 first = *next;
    while (*next < stream->count && since(stream, *next, start_ns) < until_ns)
        ++*next;
    return *next - first;
}

BbTrafficLoad bb_load_measure(const BbStream *in, const BbStream *out, gint64 start_ns,
                              double block_ns)
{
    double products = 0, crowd = 0;
    guint32 a = 0, b = 0;
    while (a < in->count && b < out->count) {
        // The next block that has messages of both; it has that one even where it is too short for
        // a double to tell.
        double later = MAX(since(in, a, start_ns), since(out, b, start_ns));
        double begin = floor(later / block_ns) * block_ns;
        double end = MAX(begin + block_ns, nextafter(later, INFINITY));
        count_until(in, &a, start_ns, begin);
        count_until(out, &b, start_ns, begin);
        double n = count_until(in, &a, start_ns, end), m = count_until(out, &b, start_ns, end);
        products += n * m;
        crowd += n * m * MAX(0, n + m - 2);
    }
    return (BbTrafficLoad){products / block_ns, products > 0 ? crowd / products / block_ns : 0};
}
