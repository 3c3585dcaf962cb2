// SPDX-License-Identifier: Apache-2.0
// Whether a mirror is good: frames in, findings out. Frames go the way of a capture (capture.h),
// whose messages are dropped, and past the examinations of capture/doctor/. Memory is bounded: by
// the limits of the capture, and by BB_TALKS conversations that are watched.
#pragma once

#include "capture/doctor/finding.h"
#include "capture/loss.h"
#include "capture/packet.h"

typedef struct BbDoctor BbDoctor;

typedef enum {
    BB_VERDICT_HEALTHY, // nothing was found, but for notes
    BB_VERDICT_USABLE,  // with the losses that the warnings tell of
    BB_VERDICT_SICK,
} BbVerdict;

typedef struct BbDoctorSummary {
    guint64 frames, bytes;     // on the wire
    gint64 first_ns, last_ns;  // earliest and latest stamp; 0 without frames
    guint64 tcp, udp;          // packets, second sightings included
    guint64 talks, both_ways;  // conversations watched, those with packets of both sides
    guint64 unwatched_packets; // of conversations beyond the limit
    guint64 calls, returns;
} BbDoctorSummary;

// live: what is looked at is an interface, where also nothing at all is a finding of its own kind.
BbDoctor *bb_doctor_new(bool live);
void bb_doctor_free(BbDoctor *doctor);

// Counters of the capture; whoever reads the frames adds to them what the kernel dropped. Lent.
BbLoss *bb_doctor_loss(BbDoctor *doctor);

void bb_doctor_frame(BbDoctor *doctor, const BbFrame *frame);

// The end: judges. Findings are BbDoctorFinding, worst first, lent while the doctor lives.
const GArray *bb_doctor_finish(BbDoctor *doctor);

// After finish.
BbVerdict bb_doctor_verdict(const BbDoctor *doctor);
const char *bb_verdict_name(BbVerdict verdict); // healthy, usable, sick
BbDoctorSummary bb_doctor_summary(const BbDoctor *doctor);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbDoctor, bb_doctor_free)
