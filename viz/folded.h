// SPDX-License-Identifier: Apache-2.0
// The patterns as folded stacks, the form that flame graphs are drawn from: a stack a line, frames
// parted by ';', the client's the lowest, and nanoseconds behind it; in order of names. The time is
// how long clients waited for the own work of the last node of the stack (critical path), so that
// all lines together make the latency of all paths that are shown, but for the way between two
// clocks. Of convolution: how long that node took in the mean before it sent what follows, times
// the number of paths; derived patterns take no part.
#pragma once

#include "viz/view.h"

// A BbViewFormat's write. Calls itself as deep as a pattern; memory: a word for each call that is
// on the way.
bool bb_folded_write(const BbView *view, FILE *out, GError **error);
