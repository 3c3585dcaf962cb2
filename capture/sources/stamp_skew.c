// SPDX-License-Identifier: Apache-2.0
// In: interfaces and stamps, in the order of the file. Out: whether their clocks disagree.
#include "capture/sources/stamp_skew.h"

#include <stdlib.h>

#define PLACES 16u
#define LEAST_NS G_GINT64_CONSTANT(1000000) // clocks that disagree by less agree
#define LASTS_NS G_GINT64_CONSTANT(500000000)
#define ENOUGH 8u
#define FAR_NS (G_MAXINT64 / 4) // steps count as no longer; none was seen

typedef struct {
    bool known, ran_before;
    gint64 last_ns;
    gint64 before_ns; // last stamp of the run of frames before this one
    guint64 trial;    // in which first_ns was seen
    gint64 first_ns;
} Leg;

struct BbStampSkew {
    Leg legs[PLACES];
    gint64 shortest[PLACES][PLACES]; // step from one to the other in this trial
    guint64 trial;                   // one distance of the clocks explains all in it
    bool lasted;
    guint beyond; // frames of it that are older than a batch can be
    guint32 interface;
    bool begun;
    BbSkewVerdict skew;
    gint64 apart_ns;
};

static void begin_trial(BbStampSkew *skew)
{
    skew->trial++;
    skew->lasted = false;
    skew->beyond = 0;
    for (guint from = 0; from < PLACES; from++)
        for (guint to = 0; to < PLACES; to++)
            skew->shortest[from][to] = FAR_NS;
}

BbStampSkew *bb_stamp_skew_new(void)
{
    BbStampSkew *skew = g_new0(BbStampSkew, 1);
    begin_trial(skew);
    return skew;
}

void bb_stamp_skew_free(BbStampSkew *skew)
{
    g_free(skew);
}

static bool is_sure(const BbStampSkew *skew)
{
    return skew->lasted && skew->beyond >= ENOUGH;
}

static gint64 step_between(gint64 from_ns, gint64 to_ns)
{
    gint64 step_ns;
    if (__builtin_sub_overflow(to_ns, from_ns, &step_ns))
        return to_ns < from_ns ? -FAR_NS : FAR_NS;
    return CLAMP(step_ns, -FAR_NS, FAR_NS);
}

// Whether one distance explains the steps between the two.
static bool is_explained(const BbStampSkew *skew, guint from, guint to)
{
    gint64 there = skew->shortest[from][to], back = skew->shortest[to][from];
    return there + back >= -MAX(LEAST_NS, -MIN(there, back) / 8);
}

static void look_at_change(BbStampSkew *skew, guint from, guint to, gint64 time_ns)
{
    const Leg *left = &skew->legs[from];
    gint64 step_ns = step_between(left->last_ns, time_ns);
    gint64 *shortest = &skew->shortest[from][to];
    *shortest = MIN(*shortest, step_ns);
    if (!is_explained(skew, from, to)) {
        if (!is_sure(skew))
            skew->skew = BB_SKEW_NONE;
        begin_trial(skew);
        *shortest = step_ns;
    } else if (left->ran_before && step_between(left->before_ns, time_ns) < -LEAST_NS) {
        skew->beyond++;
    }
}

// How far its clock has come in this trial.
static void look_at_own(BbStampSkew *skew, Leg *leg, gint64 time_ns)
{
    if (leg->trial != skew->trial) {
        leg->trial = skew->trial;
        leg->first_ns = time_ns;
    }
    skew->lasted |= step_between(leg->first_ns, time_ns) >= LASTS_NS;
    leg->last_ns = time_ns;
    leg->known = true;
}

// Between the shortest steps there and back the distance is in the middle, about, or where only
// one of them was seen, that. Of who speaks seldom that says little.
static gint64 measure(const BbStampSkew *skew)
{
    gint64 most_ns = 0;
    for (guint from = 0; from < PLACES; from++)
        for (guint to = 0; to < from; to++) {
            gint64 there = skew->shortest[from][to], back = skew->shortest[to][from];
            gint64 apart_ns = MAX(there, back) < FAR_NS ? ABS(there - back) / 2 : -MIN(there, back);
            if (MIN(there, back) < -LEAST_NS)
                most_ns = MAX(most_ns, apart_ns);
        }
    return most_ns;
}

void bb_stamp_skew_look(BbStampSkew *skew, guint32 interface, gint64 time_ns)
{
    guint place = interface % PLACES;
    Leg *leg = &skew->legs[place];
    if (skew->begun && interface != skew->interface) {
        look_at_change(skew, skew->interface % PLACES, place, time_ns);
        leg->ran_before = leg->known;
        leg->before_ns = leg->last_ns;
    }
    skew->begun = true;
    skew->interface = interface;
    look_at_own(skew, leg, time_ns);
    if (is_sure(skew) && skew->skew != BB_SKEW_CLOCKS) {
        skew->skew = BB_SKEW_CLOCKS;
        skew->apart_ns = measure(skew);
    } else if (skew->lasted && skew->skew == BB_SKEW_UNKNOWN) {
        skew->skew = BB_SKEW_NONE;
    }
}

BbSkewVerdict bb_stamp_skew_tell(const BbStampSkew *skew)
{
    return skew->skew;
}

gint64 bb_stamp_skew_apart(const BbStampSkew *skew)
{
    return skew->skew == BB_SKEW_CLOCKS ? skew->apart_ns : 0;
}
