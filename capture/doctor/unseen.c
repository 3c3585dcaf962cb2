// SPDX-License-Identifier: Apache-2.0
// In: conversations. Out: bytes that their receivers acknowledged and that we never saw: lost
// between the wire and us. What the network itself loses is sent again, and is not counted.
// Conversations of which one side is missing altogether are half a mirror's, not of this.
#include "capture/doctor/examination.h"

static const BbLevel level = {.warn = 0.0001, .sick = 0.01, .least = 1};

static void judge(gpointer of, const BbDoctorView *view, GArray *findings)
{
    g_autoptr(BbPlaces) places = bb_places_new();
    guint64 talks = 0;
    BbDoctorFinding finding = {
        .name = "unseen",
        .title = "acknowledged data that was never seen: lost before it came to us",
        .unit = "bytes",
        .sure = BB_SURE_CERTAIN,
        .meaning = "Messages are missing in the trace that were sent: calls without returns, "
                   "returns without calls.",
        .remedy = "The mirror carries more than its port can: mirror fewer ports or VLANs, to a "
                  "faster port, or filter at the switch. Then see to drops on this host.",
    };
    for (guint i = 0; i < bb_talks_count(view->talks); i++) {
        const BbTalk *talk = bb_talks_at(view->talks, i);
        const BbTalkSide *a = &talk->side[0], *b = &talk->side[1];
        if (!a->packets || !b->packets)
            continue;
        guint64 unseen = a->holes.unseen + b->holes.unseen;
        finding.part += unseen;
        finding.whole += unseen + a->holes.seen + b->holes.seen;
        talks += unseen > 0;
        if (unseen)
            bb_places_add(places, bb_talk_edge(talk), unseen);
    }
    finding.detail =
        g_strdup_printf("in %" G_GUINT64_FORMAT " TCP connection%s", talks, talks == 1 ? "" : "s");
    bb_places_name(places, &finding);
    bb_findings_judge(findings, finding, &level);
}

const BbExamination bb_examination_unseen = {.name = "unseen", .judge = judge};
