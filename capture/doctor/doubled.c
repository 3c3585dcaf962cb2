// SPDX-License-Identifier: Apache-2.0
// In: what the capture recognised as second sightings (capture/echo.h). Out: a mirror that shows
// packets twice.
#include "capture/doctor/examination.h"

static const BbLevel level = {.warn = 0.01, .sick = 2, .least = 10};

static void judge(gpointer of, const BbDoctorView *view, GArray *findings)
{
    const guint64 *count = view->loss->count;
    BbDoctorFinding finding = {
        .name = "doubled",
        .title = "frames seen twice",
        .unit = "packets",
        .part = count[BB_TCP_ECHOED] + count[BB_DATAGRAM_ECHOED],
        .whole = count[BB_SEEN_TCP] + count[BB_SEEN_UDP],
        .sure = BB_SURE_CERTAIN,
        .meaning = "bbtrace leaves out the second sighting, so a trace is whole; but the mirror "
                   "port carries up to twice the load, and drops sooner.",
        .remedy = "Mirror one direction only (rx) of each port or VLAN, not both at two ports "
                  "between which the traffic goes; or one side only of a router.",
    };
    bb_findings_judge(findings, finding, &level);
}

const BbExamination bb_examination_doubled = {.name = "doubled", .judge = judge};
