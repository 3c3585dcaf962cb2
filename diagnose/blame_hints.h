// SPDX-License-Identifier: Apache-2.0
// Which nodes work longer for one caller than for another (BbBlameHint).
#pragma once

#include "diagnose/blame.h"

// Of BbBlameRow, with what each owns. The caller unrefs.
GArray *bb_blame_rows_new(void);

// rows: of BbBlameRow. The hints point into it. The caller frees.
GArray *bb_blame_hints(const GArray *rows, gint64 latency_ns, const BbNames *names);
