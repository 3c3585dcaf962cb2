// SPDX-License-Identifier: Apache-2.0
// In: what kernel and interface say that they dropped. Out: losses on the capturing host.
#include "capture/doctor/examination.h"

static const BbLevel level = {.warn = 0, .sick = 0.01, .least = 1};

static void judge(gpointer of, const BbDoctorView *view, GArray *findings)
{
    const guint64 *count = view->loss->count;
    guint64 received =
        MAX(count[BB_KERNEL_RECEIVED], count[BB_SEEN_FRAMES] + count[BB_KERNEL_DROPPED]);
    bb_findings_judge(
        findings,
        (BbDoctorFinding){.name = "kernel_drops",
                          .title = "packets dropped by the kernel for want of buffer",
                          .unit = "packets",
                          .part = count[BB_KERNEL_DROPPED],
                          .whole = received,
                          .sure = BB_SURE_CERTAIN,
                          .meaning = "They came to this host and are lost: holes in streams, calls "
                                     "without returns.",
                          .remedy =
                              "A larger buffer (bbtrace capture -B), a filter that leaves out what "
                              "is not wanted, a host with less other work."},
        &level);
    bb_findings_judge(
        findings,
        (BbDoctorFinding){.name = "interface_drops",
                          .title = "packets dropped by the interface",
                          .unit = "packets",
                          .part = count[BB_INTERFACE_DROPPED],
                          .whole = received + count[BB_INTERFACE_DROPPED],
                          .sure = BB_SURE_CERTAIN,
                          .meaning = "They came to the card and are lost: holes in streams, calls "
                                     "without returns.",
                          .remedy = "More receive descriptors (ethtool -G IF rx N), a faster card; "
                                    "ethtool -S IF tells the reason."},
        &level);
}

const BbExamination bb_examination_drops = {.name = "drops", .judge = judge};
