// SPDX-License-Identifier: Apache-2.0
// In: marked events of a series. Out: the stretches where they come together, and their period.
#include "diagnose/bursts.h"

#include <math.h>
#include <stdbool.h>

#include "data/call.h"

#define BURSTS_OF_A_PERIOD 4u
#define PERIODS_MISSED 4 // bursts, in a row
#define PERIOD_OFF 0.05  // of a period

// Marked events [from .. to) of a stretch of the series.
typedef struct {
    const BbBurstEvent *marked;
    guint32 from, to;
    guint64 begin, end; // places
} Stretch;

static double x_log_ratio(double x, double expected)
{
    return x > 0 ? x * log(x / expected) : 0;
}

// How much likelier it is that events [i .. j] of a stretch are marked at a rate of their own.
static double gain(const Stretch *in, guint32 i, guint32 j)
{
    double n = in->to - in->from, inside = j - i + 1;
    double share =
        (double)(in->marked[j].place - in->marked[i].place + 1) / (double)(in->end - in->begin);
    if (inside <= n * share)
        return 0;
    return x_log_ratio(inside, n * share) + x_log_ratio(n - inside, n * (1 - share));
}

// The stretch inside of which chance would make so many least often. False where that may be
// chance.
static bool find_best(const Stretch *in, guint32 *first, guint32 *last)
{
    double n = in->to - in->from;
    double most = log(MAX(n * n / 2, 1) / BB_BURSTS_CHANCE); // so many are looked at
    bool found = false;
    for (guint32 i = in->from; i < in->to; i++)
        for (guint32 j = i + BB_BURSTS_LEAST - 1; j < in->to; j++) {
            double here = gain(in, i, j);
            if (here <= most)
                continue;
            most = here;
            *first = i;
            *last = j;
            found = true;
        }
    return found;
}

static void append_burst(GArray *bursts, const BbBurstEvent *marked, guint32 first, guint32 last)
{
    BbBurst burst = {.events = marked[last].place - marked[first].place + 1,
                     .marked = last - first + 1,
                     .start_ns = marked[first].start_ns,
                     .end_ns = marked[first].start_ns};
    for (guint32 i = first; i <= last; i++) {
        burst.start_ns = MIN(burst.start_ns, marked[i].start_ns);
        burst.end_ns = MAX(burst.end_ns, marked[i].start_ns);
    }
    g_array_append_val(bursts, burst);
}

// Depth: each step needs BB_BURSTS_LEAST events of its own, of the few that are marked.
static void find_in(GArray *bursts, const Stretch *in)
{
    guint32 first = 0, last = 0;
    if (!find_best(in, &first, &last))
        return;
    const BbBurstEvent *marked = in->marked;
    find_in(bursts, &(Stretch){marked, in->from, first, in->begin, marked[first].place});
    append_burst(bursts, marked, first, last);
    find_in(bursts, &(Stretch){marked, last + 1, in->to, marked[last].place + 1, in->end});
}

GArray *bb_bursts_find(const BbBurstEvent *marked, guint32 n, guint64 total)
{
    GArray *bursts = g_array_new(FALSE, FALSE, sizeof(BbBurst));
    find_in(bursts, &(Stretch){marked, 0, n, 0, total});
    return bursts;
}

static gint by_length(gconstpointer a, gconstpointer b)
{
    gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return (x > y) - (x < y);
}

static gint64 start_of(const GArray *bursts, guint i)
{
    return g_array_index(bursts, BbBurst, i).start_ns;
}

static double median_distance(const GArray *bursts)
{
    g_autoptr(GArray) distances = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint i = 1; i < bursts->len; i++) {
        gint64 distance = bb_time_between(start_of(bursts, i - 1), start_of(bursts, i));
        g_array_append_val(distances, distance);
    }
    g_array_sort(distances, by_length);
    return (double)g_array_index(distances, gint64, distances->len / 2);
}

gint64 bb_bursts_period(const GArray *bursts)
{
    double periods = 0;
    if (bursts->len < BURSTS_OF_A_PERIOD)
        return 0;
    double usual = median_distance(bursts);
    for (guint i = 1; i < bursts->len && usual > 0; i++) {
        double times =
            (double)bb_time_between(start_of(bursts, i - 1), start_of(bursts, i)) / usual;
        double whole = round(times);
        if (whole < 1 || whole > 1 + PERIODS_MISSED || fabs(times - whole) > PERIOD_OFF)
            return 0;
        periods += whole;
    }
    gint64 span = bb_time_between(start_of(bursts, 0), start_of(bursts, bursts->len - 1));
    return periods > 0 ? llround((double)span / periods) : 0;
}
