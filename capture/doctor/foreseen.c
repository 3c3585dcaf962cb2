// SPDX-License-Identifier: Apache-2.0
// In: conversations whose frames came by several interfaces. Out: interfaces whose clocks disagree:
// bytes that were acknowledged on one before they came by the other. Files of several interfaces
// are read by their stamps (capture/sources/stamp_order.h), so that only what one frame says of
// another tells which of them was first.
//
// What the mirror lost, and the network sent again, comes long after it was acknowledged, if at
// all.
#include "capture/doctor/examination.h"

#include "capture/sequence.h"

#define FORESEEN_NS G_GINT64_CONSTANT(1000000)           // so much later: queues of a card do less
#define FORGOTTEN_NS (1000 * G_GINT64_CONSTANT(1000000)) // sent again, if it comes later

static const BbLevel level = {.warn = 0.01, .sick = 2, .least = 3};

typedef struct State {
    guint64 data;     // frames with data
    guint64 foreseen; // of these, acknowledged before by another interface
    gint64 most_ns;
} State;

static void look_at_ack(const BbSight *sight)
{
    BbTalkSide *other = &sight->talk->side[!sight->side];
    guint32 ack = sight->packet->ack;
    if (other->foreseen.known ||
        (other->holes.started && bb_sequence_distance((guint32)other->holes.top, ack) <= 0))
        return;
    other->foreseen = (BbForeseen){
        .known = true,
        .ack = ack,
        .interface = sight->frame->interface,
        .time_ns = sight->packet->time_ns,
    };
}

static void look_at_data(State *state, const BbSight *sight)
{
    BbForeseen *foreseen = &sight->talk->side[sight->side].foreseen;
    const BbPacket *packet = sight->packet;
    gint64 late_ns;
    state->data++;
    if (!foreseen->known)
        return;
    bool is_behind = bb_sequence_distance(packet->seq, foreseen->ack) > 0;
    bool is_done = bb_sequence_distance(packet->seq + packet->length, foreseen->ack) <= 0;
    bool is_far = __builtin_sub_overflow(packet->time_ns, foreseen->time_ns, &late_ns) ||
                  late_ns > FORGOTTEN_NS;
    if (is_behind && !is_far && late_ns > FORESEEN_NS &&
        foreseen->interface != sight->frame->interface) {
        state->foreseen++;
        state->most_ns = MAX(state->most_ns, late_ns);
    }
    foreseen->known = is_behind && !is_far && !is_done;
}

static void look(gpointer of, const BbSight *sight)
{
    State *state = of;
    const BbPacket *packet = sight->packet;
    if (!sight->talk || packet->transport != BB_TRANSPORT_TCP || packet->tcp_flags & BB_TCP_RST)
        return;
    if (packet->length > 0)
        look_at_data(state, sight);
    if (packet->tcp_flags & BB_TCP_ACK)
        look_at_ack(sight);
}

static void judge(gpointer of, const BbDoctorView *view, GArray *findings)
{
    const State *state = of;
    BbDoctorFinding *found = bb_findings_judge(
        findings,
        (BbDoctorFinding){.name = "interface_clocks",
                          .title = "interfaces whose clocks disagree: data that another one had "
                                   "acknowledged before",
                          .unit = "frames with data",
                          .part = state->foreseen,
                          .whole = state->data,
                          .sure = BB_SURE_LIKELY,
                          .meaning = "Replies seem to come sooner than they do, or before their "
                                     "requests: latencies are wrong, calls lack their returns.",
                          .remedy =
                              "Stamp all interfaces by one clock: those of one host without "
                              "stamps of the card, or cards that are synchronised (phc2sys)."},
        &level);
    if (found)
        found->detail = bb_finding_by_up_to(state->most_ns);
}

const BbExamination bb_examination_foreseen = {
    .name = "foreseen",
    .state_size = sizeof(State),
    .look = look,
    .judge = judge,
};
