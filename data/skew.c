// SPDX-License-Identifier: Apache-2.0
// In: messages with right times. Out: the same with the times of wrong clocks.
#include "data/skew.h"

#include "data/random.h"
#include "data/text_hash.h"

#include <math.h>

typedef struct Clock {
    BbSkewClock clock;
    bool known, used;
} Clock;

struct BbSkew {
    BbNames *names;
    BbSkewClock deviation;
    guint64 seed, clipped;
    GArray *clocks; // of Clock, by name
    gint64 first_ns;
    bool begun;
};

BbSkew *bb_skew_new(BbNames *names, BbSkewClock deviation, guint64 seed)
{
    BbSkew *skew = g_new0(BbSkew, 1);
    *skew = (BbSkew){
        .names = names,
        .deviation = deviation,
        .seed = seed,
        .clocks = g_array_new(FALSE, TRUE, sizeof(Clock)),
    };
    return skew;
}

void bb_skew_free(BbSkew *skew)
{
    if (!skew)
        return;
    g_array_unref(skew->clocks);
    g_free(skew);
}

static Clock *clock_at(BbSkew *skew, guint32 node)
{
    if (node >= skew->clocks->len)
        g_array_set_size(skew->clocks, node + 1);
    return &g_array_index(skew->clocks, Clock, node);
}

void bb_skew_set(BbSkew *skew, const char *node, BbSkewClock clock)
{
    *clock_at(skew, bb_names_intern(skew->names, node)) = (Clock){.clock = clock, .known = true};
}

// By name, so that a node has the same clock whenever it is first seen.
static const BbSkewClock *clock_of(BbSkew *skew, guint32 node)
{
    Clock *clock = clock_at(skew, node);
    if (!clock->known) {
        BbRandom random = bb_random_start(
            skew->seed ^ bb_text_hash(BB_TEXT_HASH_START, bb_names_text(skew->names, node)));
        double offset = bb_random_normal(&random) * (double)skew->deviation.offset_ns;
        clock->clock.offset_ns = (gint64)llround(offset);
        clock->clock.drift_ppm = bb_random_normal(&random) * skew->deviation.drift_ppm;
        clock->known = true;
    }
    clock->used = true;
    return &clock->clock;
}

static void move(BbSkew *skew, guint32 node, gint64 *time_ns)
{
    if (*time_ns == BB_TIME_NONE)
        return;
    const BbSkewClock *clock = clock_of(skew, node);
    double drift = clock->drift_ppm * 1e-6 * (double)(*time_ns - skew->first_ns);
    double off = (double)clock->offset_ns + drift;
    gint64 moved_ns = 0;
    if (fabs(off) > 9e18 || __builtin_add_overflow(*time_ns, (gint64)llround(drift), &moved_ns) ||
        __builtin_add_overflow(moved_ns, clock->offset_ns, &moved_ns) || moved_ns < 0) {
        skew->clipped++;
        moved_ns = off < 0 ? 0 : G_MAXINT64;
    }
    *time_ns = moved_ns;
}

void bb_skew_apply(BbSkew *skew, BbMessage *message)
{
    if (!skew->begun) {
        skew->begun = true;
        skew->first_ns = message->time_ns;
    }
    guint32 stamper = message->at_receiver ? message->receiver : message->sender;
    move(skew, stamper, &message->time_ns);
    move(skew, stamper, &message->end_ns);
    move(skew, message->receiver, &message->recv_ns);
}

guint64 bb_skew_clipped(const BbSkew *skew)
{
    return skew->clipped;
}

bool bb_skew_clock(const BbSkew *skew, guint32 node, BbSkewClock *clock)
{
    if (node >= skew->clocks->len || !g_array_index(skew->clocks, Clock, node).used)
        return false;
    *clock = g_array_index(skew->clocks, Clock, node).clock;
    return true;
}
