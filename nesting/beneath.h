// SPDX-License-Identifier: Apache-2.0
// Calls that were made for calls that hang (hanging.h): what hangs is found where a chain of them
// ends, and what is slow below one that was given up.
#pragma once

#include "data/path.h"

// Of a node's latest calls that hang, so many are looked at.
#define BB_BENEATH_CANDIDATES 64u

// Gives calls without parent to calls that hang and have one: those to their caller that arrived
// before about as long as such calls are made after their cause usually. Likewise those that no
// other call outlasts (given_up: [call]), which are not given up then. Fills parent and confidence.
// Names are below n_names. hanging: [call], or NULL. Cost: nothing where none hangs,
// else some passes over the calls.
void bb_beneath_find(BbPaths *paths, guint32 n_names, const bool *hanging, bool *given_up);
