// SPDX-License-Identifier: Apache-2.0
// In: what became of IP fragments. Out: packets of which fragments are missing.
#include "capture/doctor/examination.h"

static const BbLevel level = {.warn = 0.01, .sick = 2, .least = 3};

static void judge(gpointer of, const BbDoctorView *view, GArray *findings)
{
    const guint64 *count = view->loss->count;
    guint64 lost = count[BB_FRAGMENT_LOST];
    BbDoctorFinding finding = {
        .name = "fragments",
        .title = "IP packets of which fragments are missing",
        .unit = "fragmented packets",
        .part = lost,
        .whole = lost + count[BB_FRAGMENT_DONE],
        .sure = BB_SURE_CERTAIN,
        .meaning = "They cannot be put together: the messages in them are missed.",
        .remedy = "A filter by port lets only first fragments through: add \"or ip[6:2] & 0x1fff "
                  "!= 0\". Else fragments take two ways: mirror both.",
    };
    bb_findings_judge(findings, finding, &level);
}

const BbExamination bb_examination_fragments = {.name = "fragments", .judge = judge};
