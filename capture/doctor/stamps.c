// SPDX-License-Identifier: Apache-2.0
// In: time stamps. Out: how fine they are: multiples of a millisecond, ticks of a slow clock, many
// frames with one stamp.
#include "capture/doctor/examination.h"

#include "data/quantity.h"

#define ENOUGH 20u      // frames that are judged
#define MULTIPLES 0.999 // share of stamps that are multiples of a step
#define COARSE_NS (100 * G_GINT64_CONSTANT(1000))
#define USELESS_NS (10 * G_GINT64_CONSTANT(1000000))
#define TICKING 0.25 // share of stamps equal to the one before, of a slow clock
#define BATCHED 0.5  // the same, of frames stamped in batches
#define FAR_APART_NS (10 * G_GINT64_CONSTANT(1000)) // frames on the mean, that need not be equal

static const gint64 steps_ns[] = {1000000000, 100000000, 10000000, 1000000, 100000};
#define STEPS G_N_ELEMENTS(steps_ns)

typedef struct State {
    guint64 frames, multiples[STEPS];
    guint64 equal; // to the stamp before
    gint64 least;  // difference of two in a row that is not 0
    gint64 last_ns, first_ns, newest_ns;
} State;

static void note_difference(State *state, gint64 time_ns)
{
    gint64 difference;
    if (__builtin_sub_overflow(time_ns, state->last_ns, &difference) || difference == G_MININT64)
        difference = G_MAXINT64;
    difference = ABS(difference);
    state->equal += difference == 0;
    if (difference && (state->least == 0 || difference < state->least))
        state->least = difference;
}

// Second sightings come in the same moment: they say nothing of the clock.
static void look(gpointer of, const BbSight *sight)
{
    State *state = of;
    gint64 time_ns = sight->frame->time_ns;
    if (sight->echoed)
        return;
    if (state->frames++)
        note_difference(state, time_ns);
    else
        state->first_ns = state->newest_ns = time_ns;
    for (gsize i = 0; i < STEPS; i++)
        state->multiples[i] += time_ns % steps_ns[i] == 0;
    state->first_ns = MIN(state->first_ns, time_ns);
    state->newest_ns = MAX(state->newest_ns, time_ns);
    state->last_ns = time_ns;
}

// The granularity of a clock that is coarse, 0 of one that is not.
static gint64 granularity(const State *state)
{
    double frames = (double)state->frames;
    for (gsize i = 0; i < STEPS; i++)
        if ((double)state->multiples[i] >= MULTIPLES * frames)
            return steps_ns[i];
    bool ticks = (double)state->equal >= TICKING * frames && state->least >= COARSE_NS;
    return ticks ? state->least : 0;
}

static void judge_coarse(const State *state, gint64 step_ns, GArray *findings)
{
    g_autoptr(GString) detail = g_string_new("steps of ");
    bb_quantity_append_duration(detail, step_ns);
    bb_findings_add(
        findings,
        (BbDoctorFinding){.name = "coarse_stamps",
                          .title = "coarse time stamps",
                          .unit = "frames with the stamp of the one before",
                          .part = state->equal,
                          .whole = state->frames - 1,
                          .severity = step_ns >= USELESS_NS ? BB_FINDING_SICK : BB_FINDING_WARNING,
                          .sure = BB_SURE_CERTAIN,
                          .detail = g_strdup(detail->str),
                          .meaning = "Latencies below that step cannot be told, and the order of "
                                     "messages within it is chance.",
                          .remedy =
                              "Stamps of the capturing host's clock in nanoseconds or microseconds "
                              "(tcpdump -j host, --time-stamp-precision); capture before the "
                              "device that rounds."});
}

static void judge(gpointer of, const BbDoctorView *view, GArray *findings)
{
    const State *state = of;
    if (state->frames < ENOUGH)
        return;
    gint64 step_ns = granularity(state), span_ns;
    if (step_ns) {
        judge_coarse(state, step_ns, findings);
        return;
    }
    bool long_ago = __builtin_sub_overflow(state->newest_ns, state->first_ns, &span_ns);
    if (!long_ago && span_ns / (gint64)state->frames < FAR_APART_NS)
        return;
    static const BbLevel level = {.warn = BATCHED, .sick = 2, .least = ENOUGH / 2};
    bb_findings_judge(
        findings,
        (BbDoctorFinding){
            .name = "batched_stamps",
            .title = "many frames have the stamp of the one before: stamped in batches",
            .unit = "frames",
            .part = state->equal,
            .whole = state->frames - 1,
            .sure = BB_SURE_LIKELY,
            .meaning = "Latencies are rounded to the batches, and the order of messages "
                       "within one is chance.",
            .remedy = "Shorter interrupt coalescing (ethtool -C IF rx-usecs 0), stamps of "
                      "the card (tcpdump -j adapter_unsynced)."},
        &level);
}

const BbExamination bb_examination_stamps = {
    .name = "stamps",
    .state_size = sizeof(State),
    .look = look,
    .judge = judge,
};
