// SPDX-License-Identifier: Apache-2.0
// In: time stamps in the order of the frames. Out: a clock that was set back, frames that come
// late, interfaces whose frames do not come in the order of time.
//
// A frame is late when its stamp lies behind the newest of its interface. Late ones followed by one
// in time were disorder; where so many in a row are late that no queue holds them, the clock was
// set back, or files were given in the wrong order.
#include "capture/doctor/examination.h"

#define INTERFACES 64u // told apart; further ones count as the last
#define LATE_NS (100 * G_GINT64_CONSTANT(1000))
#define CROSSED_NS G_GINT64_CONSTANT(1000000) // behind another interface
#define STEP_FRAMES 64u                       // late in a row

static const BbLevel step_level = {.warn = 0, .sick = 2, .least = 1};
static const BbLevel late_level = {.warn = 0.001, .sick = 2, .least = 3};
static const BbLevel crossed_level = {.warn = 0.01, .sick = 2, .least = 3};

typedef struct Clock {
    bool known;
    gint64 newest_ns;
    guint behind;                         // late frames in a row
    gint64 behind_newest_ns, behind_most; // newest stamp among them, most ns that one was late
    gint64 first_behind;                  // ns that the first one was late
} Clock;

typedef struct State {
    Clock clock[INTERFACES];
    guint64 frames, late, steps, crossed;
    gint64 late_most, step_most, crossed_most; // ns
    gint64 newest_ns;                          // of all interfaces
    guint newest_of;                           // the interface it is of
} State;

static void end_late(State *state, Clock *clock)
{
    if (clock->behind) {
        state->late += clock->behind;
        state->late_most = MAX(state->late_most, clock->behind_most);
    }
    clock->behind = 0;
}

static void note_step(State *state, Clock *clock)
{
    state->steps++;
    state->step_most = MAX(state->step_most, clock->first_behind);
    clock->newest_ns = state->newest_ns = clock->behind_newest_ns;
    clock->behind = 0;
}

static gint64 behind(gint64 newest_ns, gint64 time_ns)
{
    gint64 ns;
    return __builtin_sub_overflow(newest_ns, time_ns, &ns) ? G_MAXINT64 : ns;
}

// Returns whether the frame comes in the order of its own interface.
static bool look_at_own(State *state, Clock *clock, gint64 time_ns)
{
    gint64 late = clock->known ? behind(clock->newest_ns, time_ns) : 0;
    if (late <= LATE_NS) {
        end_late(state, clock);
        clock->newest_ns = clock->known ? MAX(clock->newest_ns, time_ns) : time_ns;
        clock->known = true;
        return true;
    }
    if (clock->behind++ == 0) {
        clock->first_behind = clock->behind_most = late;
        clock->behind_newest_ns = time_ns;
    }
    clock->behind_most = MAX(clock->behind_most, late);
    clock->behind_newest_ns = MAX(clock->behind_newest_ns, time_ns);
    if (clock->behind == STEP_FRAMES)
        note_step(state, clock);
    return false;
}

static void look_at_all(State *state, guint interface, gint64 time_ns)
{
    gint64 late = state->frames ? behind(state->newest_ns, time_ns) : 0;
    if (late > CROSSED_NS && interface != state->newest_of) {
        state->crossed++;
        state->crossed_most = MAX(state->crossed_most, late);
    }
    if (state->frames && late > 0)
        return;
    state->newest_ns = time_ns;
    state->newest_of = interface;
}

static void look(gpointer of, const BbSight *sight)
{
    State *state = of;
    guint interface = MIN(sight->frame->interface, INTERFACES - 1);
    gint64 time_ns = sight->frame->time_ns;
    if (look_at_own(state, &state->clock[interface], time_ns))
        look_at_all(state, interface, time_ns);
    state->frames++;
}

static void judge_steps(const State *state, GArray *findings)
{
    BbDoctorFinding *found = bb_findings_judge(
        findings,
        (BbDoctorFinding){
            .name = "clock_back",
            .title = "the clock of the capture was set back, or files overlap",
            .unit = "frames before which it happened",
            .part = state->steps,
            .whole = state->frames,
            .sure = BB_SURE_LIKELY,
            .meaning = "Times before and after do not compare: messages stand in the wrong "
                       "order, latencies across the step are wrong.",
            .remedy = "Let ntpd or chronyd slew the clock of this host, not step it; make a "
                      "trace of each place, and one of all with bbtrace merge."},
        &step_level);
    if (!found)
        return;
    found->severity = BB_FINDING_SICK;
    found->detail = bb_finding_by_up_to(state->step_most);
}

static void judge(gpointer of, const BbDoctorView *view, GArray *findings)
{
    State *state = of;
    for (guint i = 0; i < INTERFACES; i++)
        end_late(state, &state->clock[i]);
    judge_steps(state, findings);
    BbDoctorFinding *late = bb_findings_judge(
        findings,
        (BbDoctorFinding){
            .name = "late_frames",
            .title = "frames out of the order of their time stamps",
            .unit = "frames",
            .part = state->late,
            .whole = state->frames,
            .sure = BB_SURE_CERTAIN,
            .meaning = "bbtrace puts messages in order again, within limits; a reply that "
                       "comes before its request may be taken for an orphan.",
            .remedy = "One receive queue (ethtool -L IF combined 1), or stamps of the "
                      "card; sort files with reordercap."},
        &late_level);
    if (late)
        late->detail = bb_finding_by_up_to(state->late_most);
    BbDoctorFinding *crossed = bb_findings_judge(
        findings,
        (BbDoctorFinding){
            .name = "interface_disorder",
            .title = "interfaces whose frames are not in order of time with each other's",
            .unit = "frames",
            .part = state->crossed,
            .whole = state->frames,
            .sure = BB_SURE_LIKELY,
            .meaning = "Requests and replies that came by two interfaces may change places: "
                       "returns before their calls.",
            .remedy = "Stamp all interfaces by one clock; merge files with mergecap, which "
                      "sorts by time."},
        &crossed_level);
    if (crossed)
        crossed->detail = bb_finding_by_up_to(state->crossed_most);
}

const BbExamination bb_examination_clock = {
    .name = "clock",
    .state_size = sizeof(State),
    .look = look,
    .judge = judge,
};
