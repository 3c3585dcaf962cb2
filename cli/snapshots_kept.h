// SPDX-License-Identifier: Apache-2.0
// The files of a flight recorder's folder that are its snapshots, by their names:
// snap-20261120T085431.500Z-CAUSE.bbt. Nothing else is touched.
#pragma once

#include "cli/recorder_options.h"

// Deletes the oldest ones, by the stamps in their names, beyond the limit, never newest. Returns
// how many.
guint bb_snapshots_keep(const char *folder, const BbRecorderOptions *options, const char *newest);

// Deletes what was half written when a former recorder was killed. The caller is the only one that
// records there.
void bb_snapshots_clean(const char *folder);
