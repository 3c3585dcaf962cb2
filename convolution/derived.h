// SPDX-License-Identifier: Apache-2.0
// Which links do others explain? Where A calls B and B calls C, C's answer is what makes B answer
// A; that it follows A's call as well is derived from it.
#pragma once

#include "convolution/fit.h"

// Marks derived links of a fit that has had some rounds, and whose rates are those of what it
// learned; so they are afterwards. Doubtful links cost a few rounds more
// each, and there is a limit to how many are tried: the weakest.
void bb_derived_drop(BbFit *fit);
