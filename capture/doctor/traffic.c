// SPDX-License-Identifier: Apache-2.0
// In: every frame. Out: is there anything at all, is it a mirror, can it be read, is there IP in
// it.
#include "capture/doctor/examination.h"
#include "capture/layers/layer.h"

#include <pcap/pcap.h>

#define ENOUGH 100u       // frames from which on the absence of something is no chance
#define TO_ONE_SHARE 0.01 // of a switch port without mirror, at most
#define FEW 20u           // frames without IP that say nothing yet
static const BbLevel unreadable = {.warn = 0.001, .sick = 0.2, .least = 1};
static const BbLevel senseless = {.warn = 0.01, .sick = 0.2, .least = 3};

typedef struct State {
    guint64 frames, to_one;
    guint64 unknown;  // frames of a link type that cannot be read
    int unknown_link; // of the first
} State;

static void look(gpointer of, const BbSight *sight)
{
    State *state = of;
    state->frames++;
    state->to_one += !sight->to_many;
    if (!bb_layers_knows_link(sight->frame->link_type) && state->unknown++ == 0)
        state->unknown_link = sight->frame->link_type;
}

static void judge_silence(const BbDoctorView *view, GArray *findings)
{
    bb_findings_add(findings,
                    (BbDoctorFinding){
                        .name = "silent",
                        .title = view->live ? "no frame came" : "there is no frame",
                        .unit = "frames",
                        .severity = BB_FINDING_SICK,
                        .sure = BB_SURE_CERTAIN,
                        .meaning = "There is nothing to make a trace of.",
                        .remedy = view->live
                                      ? "Is this the interface that the mirror port is cabled to, "
                                        "is it up, is the mirror session active, does the filter "
                                        "let anything through? Watch longer with -G."
                                      : "Capture anew; look at the filter of the capture.",
                    });
}

static void judge_link(const State *state, GArray *findings)
{
    BbDoctorFinding *found = bb_findings_judge(
        findings,
        (BbDoctorFinding){.name = "link_type",
                          .title = "frames of a link type that cannot be read",
                          .unit = "frames",
                          .part = state->unknown,
                          .whole = state->frames,
                          .sure = BB_SURE_CERTAIN,
                          .meaning = "They are skipped; no message in them is seen.",
                          .remedy = "Capture on the Ethernet interface itself, or with -i any."},
        &unreadable);
    if (!found)
        return;
    const char *name = pcap_datalink_val_to_name(state->unknown_link);
    found->detail = g_strdup_printf("link type %d (%s)", state->unknown_link, name ? name : "?");
}

// A port that mirrors nothing gets what goes to everybody, and a little that is for it alone.
static bool judge_mirror(const State *state, GArray *findings)
{
    if ((double)state->to_one > TO_ONE_SHARE * (double)state->frames)
        return false;
    bb_findings_add(
        findings,
        (BbDoctorFinding){
            .name = "no_mirror",
            .title = "no mirror at all: nearly all frames are broadcast or multicast",
            .unit = "frames",
            .part = state->frames - state->to_one,
            .whole = state->frames,
            .severity = BB_FINDING_SICK,
            .sure = state->frames >= ENOUGH ? BB_SURE_CERTAIN : BB_SURE_LIKELY,
            .meaning = "This is what any port of a switch sees. The conversations of the "
                       "system are not in it.",
            .remedy = "Set up the mirror session (SPAN, port mirroring) with this port as "
                      "its destination, check that it is active and has sources."});
    return true;
}

static void judge_ip(const State *state, const BbLoss *loss, GArray *findings)
{
    const guint64 *count = loss->count;
    guint64 others = count[BB_SKIP_NOT_IP], foreign = count[BB_SKIP_PROTOCOL];
    guint64 packets = count[BB_SEEN_TCP] + count[BB_SEEN_UDP] + count[BB_FRAGMENTS];
    if (packets || others + foreign < FEW || others + foreign < state->frames / 2)
        return;
    BbDoctorFinding finding = {.unit = "frames",
                               .whole = state->frames,
                               .severity = BB_FINDING_SICK,
                               .sure = state->frames >= ENOUGH ? BB_SURE_CERTAIN : BB_SURE_LIKELY};
    if (foreign == 0) {
        finding.name = "no_ip";
        finding.title = "no frame carries IP";
        finding.part = others;
        finding.meaning = "There is nothing to make a trace of.";
        finding.remedy = "Mirror the ports or VLANs of the servers. If they are mirrored, the "
                         "encapsulation of the mirror is not known: see what tcpdump -e shows.";
    } else {
        finding.name = "no_transport";
        finding.title = "IP, but neither TCP nor UDP";
        finding.part = foreign;
        finding.meaning = "There is nothing to make a trace of: ICMP, routing, or traffic that is "
                          "encrypted as a whole (IPsec).";
        finding.remedy = "Mirror where the traffic is not encrypted: between servers and gateway.";
    }
    bb_findings_add(findings, finding);
}

static void judge_sense(const State *state, const BbLoss *loss, GArray *findings)
{
    bb_findings_judge(
        findings,
        (BbDoctorFinding){.name = "bad_headers",
                          .title = "frames whose headers make no sense",
                          .unit = "frames",
                          .part = loss->count[BB_BAD_FRAME] + loss->count[BB_DEEP_FRAME],
                          .whole = state->frames,
                          .sure = BB_SURE_LIKELY,
                          .meaning =
                              "They are skipped. Either they were damaged, or the mirror wraps "
                              "them in a way that is not known.",
                          .remedy = "Look at some with tcpdump -e -vv; check cable, optics and the "
                                    "encapsulation of the mirror."},
        &senseless);
}

static void judge(gpointer of, const BbDoctorView *view, GArray *findings)
{
    const State *state = of;
    if (state->frames == 0) {
        judge_silence(view, findings);
        return;
    }
    judge_link(state, findings);
    if (state->unknown < state->frames && judge_mirror(state, findings))
        return;
    judge_ip(state, view->loss, findings);
    judge_sense(state, view->loss, findings);
}

const BbExamination bb_examination_traffic = {
    .name = "traffic",
    .state_size = sizeof(State),
    .look = look,
    .judge = judge,
};
