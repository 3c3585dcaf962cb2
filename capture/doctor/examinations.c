// SPDX-License-Identifier: Apache-2.0
// The table of examinations: one kind, one line.
#include "capture/doctor/examination.h"

const BbExamination *const bb_examinations[] = {
    &bb_examination_traffic, // first: what is seen at all
    &bb_examination_one_way,
    &bb_examination_drops,
    &bb_examination_unseen,
    &bb_examination_snaplen,
    &bb_examination_checksums,
    &bb_examination_clock,
    &bb_examination_foreseen,
    &bb_examination_stamps,
    &bb_examination_doubled,
    &bb_examination_lopsided,
    &bb_examination_giants,
    &bb_examination_fragments,
    NULL,
};

G_STATIC_ASSERT(G_N_ELEMENTS(bb_examinations) <= BB_EXAMINATIONS_MAX);
