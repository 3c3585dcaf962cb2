// SPDX-License-Identifier: Apache-2.0
// The front of a capture: frames in, packets out, without those that a mirror shows twice.
#pragma once

#include "capture/capture.h"
#include "capture/translation.h"

typedef struct BbIntake BbIntake;

// loss is lent, and so is what options lends, while the intake lives.
BbIntake *bb_intake_new(const BbCaptureOptions *options, BbLoss *loss);
void bb_intake_free(BbIntake *intake);

// Finds the packet in frame (capture/layers/layer.h). Returns false where there is none.
bool bb_intake_frame(BbIntake *intake, const BbFrame *frame, BbPacket *packet);
// Whether packet is no second sighting, and belongs to what is followed where that was asked for;
// counted otherwise.
bool bb_intake_is_new(BbIntake *intake, BbPacket *packet);
// Connections on several sides of a NAT; lent.
const BbTranslations *bb_intake_translations(const BbIntake *intake);
// Who has answered a SYN, for who decodes the packets; lent.
struct BbServers *bb_intake_servers(BbIntake *intake);
// No frame comes any more: packets that still want fragments are counted as lost.
void bb_intake_finish(BbIntake *intake);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbIntake, bb_intake_free)
