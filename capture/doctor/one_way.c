// SPDX-License-Identifier: Apache-2.0
// In: conversations. Out: those of which one direction is missing: half a mirror.
//
// TCP: a side that acknowledges has heard the other one; where we heard nothing of it, we miss it.
// UDP: only of protocols in which each request is answered. What is too short may be the tail of
// something, and is not judged.
#include "capture/doctor/examination.h"

#define PACKETS_MIN 3u // of a conversation that is judged
#define FEW 3u         // conversations that may be odd by themselves

static const BbLevel level = {.warn = 0.05, .sick = 0.2, .least = 1};

// Ports of UDP at which everything is answered: DNS, NTP, SNMP, RADIUS.
static bool is_answered(guint16 port)
{
    return port == 53 || port == 123 || port == 161 || port == 1812 || port == 1813;
}

static bool is_judged(const BbTalk *talk)
{
    const BbTalkSide *a = &talk->side[0], *b = &talk->side[1];
    if (talk->transport == BB_TRANSPORT_TCP)
        return a->acks + b->acks >= PACKETS_MIN;
    return !bb_address_is_group(&talk->address[1]) &&
           (is_answered(talk->port[0]) || is_answered(talk->port[1])) &&
           a->packets + b->packets >= PACKETS_MIN;
}

static void judge(gpointer of, const BbDoctorView *view, GArray *findings)
{
    g_autoptr(BbPlaces) places = bb_places_new();
    BbDoctorFinding finding = {
        .name = "one_way",
        .title = "half a mirror: conversations of which only one direction was seen",
        .unit = "conversations",
        .meaning = "Calls have no returns, or returns no calls: latencies cannot be told, and "
                   "paths break off there.",
        .remedy = "Mirror both directions (rx and tx) of the port; of a tap, capture both legs; "
                  "where answers take another way (two links, a balancer), mirror that one too.",
    };
    for (guint i = 0; i < bb_talks_count(view->talks); i++) {
        const BbTalk *talk = bb_talks_at(view->talks, i);
        bool one_way = !talk->side[0].packets || !talk->side[1].packets;
        if (!is_judged(talk))
            continue;
        finding.whole++;
        finding.part += one_way;
        if (!one_way)
            continue;
        char silent[BB_ADDRESS_TEXT];
        bb_address_format(&talk->address[talk->side[0].packets ? 1 : 0], silent);
        bb_places_add(places, g_strdup_printf("nothing from %s", silent), 1);
    }
    finding.sure = finding.part < FEW                  ? BB_SURE_POSSIBLE
                   : finding.part * 2 >= finding.whole ? BB_SURE_CERTAIN
                                                       : BB_SURE_LIKELY;
    bb_places_name(places, &finding);
    bb_findings_judge(findings, finding, &level);
}

const BbExamination bb_examination_one_way = {.name = "one_way", .judge = judge};
