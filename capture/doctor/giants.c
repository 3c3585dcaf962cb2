// SPDX-License-Identifier: Apache-2.0
// In: TCP segments. Out: those that no network carries: merged by the capturing host's card or
// kernel (LRO, GRO), or not cut yet by the sending one's (TSO, GSO).
//
// A segment is a giant when it holds more than its receiver said it takes (MSS). Where that was not
// seen: when it is longer than the largest usual frame, or as long as several usual segments.
#include "capture/doctor/examination.h"

#define JUMBO 9216u // bytes of payload that no usual frame holds

static const BbLevel level = {.warn = 0.005, .sick = 2, .least = 3};

typedef struct State {
    guint64 data, giants; // segments with data
    guint32 longest;
} State;

static bool is_several(guint32 length)
{
    // MTU 1500 less IPv4 or IPv6, TCP, and its time stamps.
    static const guint32 usual[] = {1460, 1448, 1440, 1428};
    for (gsize i = 0; i < G_N_ELEMENTS(usual); i++)
        if (length > usual[i] && length % usual[i] == 0)
            return true;
    return false;
}

static bool is_giant(guint32 length, guint16 mss)
{
    return mss ? length > mss : length > JUMBO || is_several(length);
}

static void look(gpointer of, const BbSight *sight)
{
    State *state = of;
    const BbPacket *packet = sight->packet;
    if (!sight->talk || packet->transport != BB_TRANSPORT_TCP)
        return;
    if (packet->tcp_flags & BB_TCP_SYN && sight->headers)
        sight->talk->side[sight->side].mss = bb_headers_mss(sight->headers);
    if (packet->length == 0)
        return;
    state->data++;
    if (!is_giant(packet->length, sight->talk->side[!sight->side].mss))
        return;
    state->giants++;
    state->longest = MAX(state->longest, packet->length);
}

static void judge(gpointer of, const BbDoctorView *view, GArray *findings)
{
    const State *state = of;
    BbDoctorFinding *found = bb_findings_judge(
        findings,
        (BbDoctorFinding){
            .name = "giants",
            .title = "segments larger than the network carries: merged by offloading",
            .unit = "TCP segments with data",
            .part = state->giants,
            .whole = state->data,
            .sure = BB_SURE_CERTAIN,
            .meaning = "Messages are whole, but times are those of the merged segment: off "
                       "by the time that it took to gather it.",
            .remedy = "ethtool -K IF gro off lro off on the capturing host; where a sender "
                      "is captured on itself, tso off gso off."},
        &level);
    if (found)
        found->detail = g_strdup_printf("up to %u bytes of payload", state->longest);
}

const BbExamination bb_examination_giants = {
    .name = "giants",
    .state_size = sizeof(State),
    .look = look,
    .judge = judge,
};
