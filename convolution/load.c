// SPDX-License-Identifier: Apache-2.0
// In: two streams. Out: how many pairs chance makes of them, block of time by block of time.
#include "convolution/load.h"

#include <math.h>

static guint32 count_until(const BbStream *stream, guint32 *next, double until_ns)
{
    guint32 first = *next;
    while (*next < stream->count && (double)stream->ns[*next] < until_ns)
        ++*next;
    return *next - first;
}

BbLoad bb_load_measure(const BbStream *in, const BbStream *out, gint64 start_ns, double block_ns)
{
    double products = 0, crowd = 0, start = (double)start_ns;
    guint32 a = 0, b = 0;
    while (a < in->count && b < out->count) {
        // The next block that has messages of both.
        double later = MAX((double)in->ns[a], (double)out->ns[b]);
        double begin = start + floor((later - start) / block_ns) * block_ns;
        count_until(in, &a, begin);
        count_until(out, &b, begin);
        double n = count_until(in, &a, begin + block_ns),
               m = count_until(out, &b, begin + block_ns);
        products += n * m;
        crowd += n * m * MAX(0, n + m - 2);
    }
    return (BbLoad){products / block_ns, products > 0 ? crowd / products / block_ns : 0};
}
