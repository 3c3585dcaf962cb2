// SPDX-License-Identifier: Apache-2.0
// Which nodes work longer for one caller than for another (BbBlameHint).
#pragma once

#include "diagnose/blame.h"

// rows: of BbBlameRow. The hints point into it. The caller frees.
GArray *bb_blame_hints(const GArray *rows, gint64 latency_ns, const BbNames *names);
