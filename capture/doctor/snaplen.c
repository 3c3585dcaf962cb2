// SPDX-License-Identifier: Apache-2.0
// In: every frame. Out: frames that were cut, by whoever captured them or by the mirror before.
#include "capture/doctor/examination.h"

#define HEADERS_ONLY 200u // bytes of a frame that hold hardly more than headers

static const BbLevel cut_level = {.warn = 0.001, .sick = 2, .least = 1};
static const BbLevel mirror_level = {.warn = 0.001, .sick = 0.2, .least = 3};

typedef struct State {
    guint64 frames, cut;
    guint32 longest;            // bytes kept of a cut frame
    guint64 packets, truncated; // whole frames of packets that say they are longer
} State;

static void look(gpointer of, const BbSight *sight)
{
    State *state = of;
    const BbFrame *frame = sight->frame;
    const BbPacket *packet = sight->packet;
    bool cut = frame->captured < frame->length;
    state->frames++;
    state->cut += cut;
    if (cut)
        state->longest = MAX(state->longest, frame->captured);
    state->packets += packet != NULL;
    state->truncated += packet && !cut && packet->captured < packet->length;
}

static void judge(gpointer of, const BbDoctorView *view, GArray *findings)
{
    const State *state = of;
    BbDoctorFinding *found = bb_findings_judge(
        findings,
        (BbDoctorFinding){
            .name = "snaplen",
            .title = "frames cut by the snap length of the capture",
            .unit = "frames",
            .part = state->cut,
            .whole = state->frames,
            .sure = BB_SURE_CERTAIN,
            .meaning = "What stands behind the cut is not read: messages without label or "
                       "status, messages that begin there are missed.",
            .remedy = "Capture whole frames: tcpdump -s 0, bbtrace capture without -s."},
        &cut_level);
    if (found) {
        found->detail = g_strdup_printf("at %u bytes", state->longest);
        if (state->longest < HEADERS_ONLY)
            found->severity = BB_FINDING_SICK;
    }
    bb_findings_judge(
        findings,
        (BbDoctorFinding){
            .name = "truncated",
            .title = "packets cut before they came to us: the mirror truncates",
            .unit = "packets",
            .part = state->truncated,
            .whole = state->packets,
            .sure = BB_SURE_LIKELY,
            .meaning = "What stands behind the cut is not read: messages without label or "
                       "status, messages that begin there are missed.",
            .remedy = "Take truncation (mtu-truncate, header only, payload length) out of "
                      "the mirror session; a tunnel needs a larger MTU to the collector."},
        &mirror_level);
}

const BbExamination bb_examination_snaplen = {
    .name = "snaplen",
    .state_size = sizeof(State),
    .look = look,
    .judge = judge,
};
