// SPDX-License-Identifier: Apache-2.0
// In: conversations. Out: those of which one direction has a VLAN tag or a tunnel and the other has
// none, and those whose tags differ.
#include "capture/doctor/examination.h"

#define PACKETS_MIN 2u // of each side of a conversation that is judged

static const BbLevel level = {.warn = 0.01, .sick = 2, .least = 1};

typedef enum { NONE, ALL, SOME } Amount;

static Amount amount(guint64 part, guint64 whole)
{
    return part == 0 ? NONE : part == whole ? ALL : SOME;
}

static bool is_half_tunnelled(const BbTalk *talk)
{
    const BbTalkSide *a = &talk->side[0], *b = &talk->side[1];
    return amount(a->tunnelled, a->packets) != amount(b->tunnelled, b->packets);
}

static bool is_half_tagged(const BbTalk *talk)
{
    const BbTalkSide *a = &talk->side[0], *b = &talk->side[1];
    Amount x = amount(a->tagged, a->packets), y = amount(b->tagged, b->packets);
    return x + y == ALL; // NONE and ALL, in any order
}

static bool is_mixed(const BbTalk *talk)
{
    const BbTalkSide *a = &talk->side[0], *b = &talk->side[1];
    Amount x = amount(a->tagged, a->packets), y = amount(b->tagged, b->packets);
    return x == SOME || y == SOME || (x == ALL && y == ALL && a->vlan != b->vlan);
}

static void judge_by(const BbTalks *talks, bool (*is_such)(const BbTalk *), BbDoctorFinding finding,
                     GArray *findings)
{
    g_autoptr(BbPlaces) places = bb_places_new();
    finding.unit = "conversations";
    finding.sure = BB_SURE_CERTAIN;
    for (guint i = 0; i < bb_talks_count(talks); i++) {
        const BbTalk *talk = bb_talks_at(talks, i);
        if (MIN(talk->side[0].packets, talk->side[1].packets) < PACKETS_MIN)
            continue;
        finding.whole++;
        if (!is_such(talk))
            continue;
        finding.part++;
        bb_places_add(places, bb_talk_edge(talk), 1);
    }
    bb_places_name(places, &finding);
    bb_findings_judge(findings, finding, &level);
}

static void judge(gpointer of, const BbDoctorView *view, GArray *findings)
{
    judge_by(
        view->talks, is_half_tagged,
        (BbDoctorFinding){.name = "vlan_one_way",
                          .title = "VLAN tags in one direction only: the other one's are stripped",
                          .meaning = "With --vlan a conversation falls in two halves; without it a "
                                     "trace does not suffer.",
                          .remedy = "Keep tags in both directions (encapsulation replicate, trunk "
                                    "destination); at this host ethtool -K IF rxvlan off."},
        findings);
    judge_by(view->talks, is_mixed,
             (BbDoctorFinding){
                 .name = "vlan_mixed",
                 .title = "VLAN tags that differ within a conversation",
                 .meaning = "With --vlan a conversation falls in parts; without it a trace "
                            "does not suffer.",
                 .remedy = "Mirror at one place of the way only; keep the tags of the "
                           "frames as they are."},
             findings);
    judge_by(
        view->talks, is_half_tunnelled,
        (BbDoctorFinding){.name = "tunnel_one_way",
                          .title = "one direction comes in a tunnel, the other one does not",
                          .meaning = "The two directions were seen at different places: times of "
                                     "calls and returns are not comparable by the way between.",
                          .remedy = "Mirror both directions at the same place: both before the "
                                    "tunnel, or both in it."},
        findings);
}

const BbExamination bb_examination_lopsided = {.name = "lopsided", .judge = judge};
