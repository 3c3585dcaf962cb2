// SPDX-License-Identifier: Apache-2.0
// The kinds of a site's calls, as small numbers.
#pragma once

#include "data/tally.h"

// Numbers the kinds of n calls, each told by its key, the commonest first; what is rarer than the
// first BB_SITE_TYPES - 1 shares a number. Returns how many numbers there are.
guint bb_types_number(const BbTallyKey *keys, guint32 n, guint16 *number);
