// SPDX-License-Identifier: Apache-2.0
// In: packets. Out: checksums that are not filled in yet, of senders captured on their own host;
// and wrong ones, of packets that were damaged or rewritten.
#include "capture/doctor/examination.h"

#define ENOUGH 3u // packets of a side that say something

static const BbLevel damage_level = {.warn = 0.001, .sick = 0.05, .least = 3};
static const BbLevel rewritten_level = {.warn = 0.001, .sick = 2, .least = 3};

static void look(gpointer of, const BbSight *sight)
{
    if (!sight->talk || !sight->headers)
        return;
    BbChecksum found = bb_headers_checksum(sight->headers, sight->packet);
    BbTalkSide *side = &sight->talk->side[sight->side];
    side->checked += found != BB_CHECKSUM_NONE;
    side->unfilled += found == BB_CHECKSUM_UNFILLED;
    side->wrong += found == BB_CHECKSUM_WRONG;
}

// Whether damage can be told from rewriting: who never gets it right does not suffer from damage.
typedef enum { SHORT, SOMETIMES, ALWAYS, KINDS } Kind;

static Kind kind_of(const BbTalkSide *side)
{
    if (side->checked < ENOUGH)
        return SHORT;
    return side->wrong == side->checked ? ALWAYS : SOMETIMES;
}

typedef struct Sums {
    guint64 checked, unfilled;
    guint64 wrong[KINDS], of[KINDS]; // by kind of the side; how many of them were checked
} Sums;

static Sums sum_up(const BbTalks *talks)
{
    Sums sums = {0};
    for (guint i = 0; i < 2 * bb_talks_count(talks); i++) {
        const BbTalkSide *side = &bb_talks_at(talks, i / 2)->side[i % 2];
        sums.checked += side->checked;
        sums.unfilled += side->unfilled;
        sums.wrong[kind_of(side)] += side->wrong;
        sums.of[kind_of(side)] += side->checked;
    }
    return sums;
}

// What short sides suffer from: what most of the others do.
static bool is_short_rewritten(const Sums *sums)
{
    if (sums->wrong[ALWAYS] + sums->wrong[SOMETIMES])
        return sums->wrong[ALWAYS] > sums->wrong[SOMETIMES];
    return !sums->of[SOMETIMES] && sums->wrong[SHORT] == sums->of[SHORT];
}

static guint64 damaged(const BbTalkSide *side, const Sums *sums)
{
    Kind kind = kind_of(side);
    return kind == SOMETIMES || (kind == SHORT && !is_short_rewritten(sums)) ? side->wrong : 0;
}

static guint64 rewritten(const BbTalkSide *side, const Sums *sums)
{
    return side->wrong - damaged(side, sums);
}

static guint64 unfilled(const BbTalkSide *side, const Sums *sums)
{
    return side->unfilled;
}

// Counts what of the sides is such, by sender.
static BbDoctorFinding count(const BbTalks *talks, const Sums *sums,
                             guint64 (*such)(const BbTalkSide *, const Sums *),
                             BbDoctorFinding finding)
{
    g_autoptr(BbPlaces) places = bb_places_new();
    finding.unit = "packets";
    finding.whole = sums->checked;
    for (guint i = 0; i < 2 * bb_talks_count(talks); i++) {
        const BbTalk *talk = bb_talks_at(talks, i / 2);
        guint64 part = such(&talk->side[i % 2], sums);
        if (!part)
            continue;
        char text[BB_ADDRESS_TEXT];
        bb_address_format(&talk->address[i % 2], text);
        bb_places_add(places, g_strdup_printf("from %s", text), part);
        finding.part += part;
    }
    bb_places_name(places, &finding);
    return finding;
}

static void judge_wrong(const BbTalks *talks, const Sums *sums, GArray *findings)
{
    BbDoctorFinding finding =
        count(talks, sums, damaged,
              (BbDoctorFinding){
                  .name = "damaged",
                  .title = "wrong checksums here and there: packets were damaged",
                  .sure = BB_SURE_LIKELY,
                  .meaning = "Their receivers dropped them, if the damage is on the wire; if it "
                             "is on the way to us, messages are read wrong.",
                  .remedy = "Check cable, optics and the error counters of the mirror port and "
                            "of the card (ethtool -S IF)."});
    bb_findings_judge(findings, finding, &damage_level);
    finding =
        count(talks, sums, rewritten,
              (BbDoctorFinding){
                  .name = "rewritten",
                  .title = "checksums that are always wrong: packets were rewritten",
                  .sure = BB_SURE_LIKELY,
                  .meaning = "Something between sender and us changed addresses, ports or "
                             "content without mending the checksums, as anonymizers of captures "
                             "do. Names may not be the real ones.",
                  .remedy = "Mirror before that device, or take the names for what they are."});
    bb_findings_judge(findings, finding, &rewritten_level);
}

static void judge_unfilled(const BbTalks *talks, const Sums *sums, GArray *findings)
{
    BbDoctorFinding finding = {
        .name = "checksum_offload",
        .title = "checksums not filled in yet: captured on the sending host, before its card",
        .severity = BB_FINDING_NOTE,
        .sure = BB_SURE_CERTAIN,
        .meaning = "A trace does not suffer: bbtrace does not verify checksums. Times are those of "
                   "the host, not of the wire.",
        .remedy = "None needed; ethtool -K IF tx off at the sender would fill them in.",
    };
    if (sums->unfilled)
        bb_findings_add(findings, count(talks, sums, unfilled, finding));
}

static void judge(gpointer of, const BbDoctorView *view, GArray *findings)
{
    Sums sums = sum_up(view->talks);
    judge_wrong(view->talks, &sums, findings);
    judge_unfilled(view->talks, &sums, findings);
}

const BbExamination bb_examination_checksums = {.name = "checksums", .look = look, .judge = judge};
