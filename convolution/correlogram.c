// SPDX-License-Identifier: Apache-2.0
// In: two trains of messages and a range of lags.
// Out: how many pairs are each lag apart, counted one by one; what that costs, and blocks would.
#include "convolution/correlogram.h"

#include "convolution/block_shape.h"

BbLags bb_lags_within(const BbLags *lags, gint64 least, gint64 most)
{
    gint64 first = MAX(lags->first_lag, least);
    // How many are before first; unsigned, since a gint64 does not hold all differences of two.
    guint64 before = (guint64)first - (guint64)lags->first_lag;
    if (first > most || before >= lags->n_lags)
        return (BbLags){.first_lag = least, .n_lags = 0};
    guint64 room = (guint64)most - (guint64)first; // and one more
    guint64 rest = lags->n_lags - before;
    return (BbLags){.first_lag = first, .n_lags = rest - 1 <= room ? rest : room + 1};
}

// Those that any pair of the trains (not empty) has.
static BbLags lags_between(const BbTrain *from, const BbTrain *to, const BbLags *lags)
{
    return bb_lags_within(lags, to->quanta[0] - from->quanta[from->count - 1],
                          to->quanta[to->count - 1] - from->quanta[0]);
}

// Adds times to each count of a message in [first, first + n_lags).
static inline void count_lags(const gint64 *n, const gint64 *end, gint64 first, gint64 n_lags,
                              guint64 times, guint32 *counts)
{
    for (; n < end && *n - first < n_lags; n++) {
        guint64 sum = counts[*n - first] + times;
        counts[*n - first] = (guint32)MIN(sum, G_MAXUINT32);
    }
}

void bb_correlogram_count(const BbTrain *from, const BbTrain *to, const BbLags *lags,
                          guint32 *counts)
{
    if (from->count == 0 || to->count == 0)
        return;
    const BbLags within = lags_between(from, to, lags);
    if (within.n_lags == 0)
        return;
    counts += within.first_lag - lags->first_lag;
    const gint64 *n = to->quanta, *to_end = n + to->count;
    const gint64 *m = from->quanta, *from_end = m + from->count;
    while (m < from_end) {
        const gint64 *same = m;
        while (m < from_end && *m == *same)
            m++;
        const gint64 first = *same + within.first_lag;
        while (n < to_end && *n < first)
            n++;
        count_lags(n, to_end, first, (gint64)within.n_lags, (guint64)(m - same), counts);
    }
}

static gint64 span_of(const BbTrain *train)
{
    return train->quanta[train->count - 1] - train->quanta[0];
}

// Messages are taken as spread evenly over the longer one's span.
BbCorrelogramCost bb_correlogram_cost(const BbTrain *from, const BbTrain *to, const BbLags *lags,
                                      gint64 span)
{
    g_return_val_if_fail(span >= 0 && span < BB_QUANTA_END, ((BbCorrelogramCost){0, 0}));
    const BbLags within = bb_lags_within(lags, -span, span);
    if (from->count == 0 || to->count == 0 || within.n_lags == 0)
        return (BbCorrelogramCost){0, 0};
    const gint64 longer = MAX(span_of(from), span_of(to)),
                 shorter = MIN(span_of(from), span_of(to));
    const double share = MIN(1, (double)within.n_lags / (double)(longer + 1));
    const double messages = (double)from->count + (double)to->count;
    const BbBlockShape shape = bb_block_shape(within.n_lags, span);
    const gint64 blocks = MIN(shorter / shape.step + 1, (gint64)MIN(from->count, to->count));
    return (BbCorrelogramCost){
        .counting = bb_counting_ns((double)from->count * (double)to->count * share, messages),
        .blocks = bb_blocks_ns(&shape, (double)blocks, messages),
    };
}
