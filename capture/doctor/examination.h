// SPDX-License-Identifier: Apache-2.0
// What an examination is: a line in the table of capture/doctor/examinations.c and one file. It
// sees every frame, counts what it needs, and judges at the end.
#pragma once

#include "capture/doctor/finding.h"
#include "capture/doctor/headers.h"
#include "capture/doctor/talks.h"
#include "capture/loss.h"

// All that is known of a frame; lent while it is looked at.
typedef struct BbSight {
    const BbFrame *frame;
    const BbPacket *packet;   // NULL: no TCP, no UDP, or a fragment
    const BbHeaders *headers; // of packet; NULL where they could not be found
    guint64 tunnels;          // headers of tunnels that were passed
    bool echoed;              // seen a moment ago
    bool to_many;             // broadcast or multicast
    BbTalk *talk;             // NULL where packet is, where it is echoed, and at the limit
    guint side;               // of talk, who sent it
} BbSight;

// What is known at the end.
typedef struct BbDoctorView {
    const BbLoss *loss;
    const BbTalks *talks;
    bool live; // an interface, no file
} BbDoctorView;

typedef struct BbExamination {
    const char *name;
    gsize state_size;                                   // of zeros at first; 0: none
    void (*look)(gpointer state, const BbSight *sight); // may be NULL
    void (*judge)(gpointer state, const BbDoctorView *view, GArray *findings);
} BbExamination;

extern const BbExamination bb_examination_traffic;   // is it a mirror at all, can it be read
extern const BbExamination bb_examination_one_way;   // half a mirror
extern const BbExamination bb_examination_drops;     // by the kernel, by the interface
extern const BbExamination bb_examination_unseen;    // acknowledged, never seen
extern const BbExamination bb_examination_snaplen;   // cut frames
extern const BbExamination bb_examination_checksums; // offload, damage
extern const BbExamination bb_examination_clock;     // steps back, disorder
extern const BbExamination bb_examination_foreseen;  // clocks of interfaces that disagree
extern const BbExamination bb_examination_stamps;    // coarse, in batches
extern const BbExamination bb_examination_doubled;   // frames seen twice
extern const BbExamination bb_examination_lopsided;  // VLAN or tunnel in one direction only
extern const BbExamination bb_examination_giants;    // merged segments
extern const BbExamination bb_examination_fragments; // fragments that are missing

// Terminated by NULL; findings of one severity stand in this order.
extern const BbExamination *const bb_examinations[];

#define BB_EXAMINATIONS_MAX 16u
