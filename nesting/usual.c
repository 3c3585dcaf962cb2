// SPDX-License-Identifier: Apache-2.0
// In: times by kind. Out: what is usual.
#include "nesting/usual.h"

#include <math.h>

struct BbUsual {
    BbTally index; // kind -> place in times + 1
    GArray *times; // of BbUsualTimes
};

BbUsual *bb_usual_new(void)
{
    BbUsual *usual = g_new(BbUsual, 1);
    bb_tally_init(&usual->index);
    usual->times = g_array_new(FALSE, TRUE, sizeof(BbUsualTimes));
    return usual;
}

void bb_usual_free(BbUsual *usual)
{
    if (!usual)
        return;
    bb_tally_clear(&usual->index);
    g_array_unref(usual->times);
    g_free(usual);
}

void bb_usual_add(BbUsual *usual, BbTallyKey kind, gint64 ns)
{
    guint64 *place = bb_tally_at(&usual->index, kind);
    if (*place == 0) {
        g_array_set_size(usual->times, usual->times->len + 1);
        *place = usual->times->len;
    }
    BbUsualTimes *times = &g_array_index(usual->times, BbUsualTimes, *place - 1);
    double log = bb_usual_log(ns);
    times->count++;
    times->sum += log;
    times->squares += log * log;
}

const BbUsualTimes *bb_usual_find(const BbUsual *usual, BbTallyKey kind)
{
    guint64 place = bb_tally_get(&usual->index, kind);
    return place > 0 ? &g_array_index(usual->times, BbUsualTimes, place - 1) : NULL;
}

double bb_usual_log(gint64 ns)
{
    return log((double)MAX(ns, 1));
}

gint64 bb_usual_middle(const BbUsualTimes *times)
{
    return (gint64)MIN(exp(times->sum / (double)times->count), 0x1p62);
}

double bb_usual_off(const BbUsualTimes *times, gint64 ns, double least)
{
    double mean = times->sum / (double)times->count;
    double variance = times->squares / (double)times->count - mean * mean;
    return (bb_usual_log(ns) - mean) / MAX(sqrt(MAX(variance, 0)), least);
}
