// SPDX-License-Identifier: Apache-2.0
// The trees that messages form when each knows its cause: what convolution publishes.
#pragma once

#include "convolution/assignment.h"
#include "data/path.h"

// Cuts the least sure link of each cycle: where stamps may be earlier than their cause, messages
// can seem to cause each other.
void bb_forest_untangle(BbAssignment *assignment);

// explanations: by stream out. Messages and facts are taken from traffic. derived: list links that
// others explain. The caller frees the result.
BbPaths *bb_forest_publish(BbTraffic *traffic, const BbStreams *streams,
                           BbExplanation *const *explanations, const BbAssignment *assignment,
                           bool derived);
