// SPDX-License-Identifier: Apache-2.0
// Which calls went out on the connection that a pool shared by all requests would have handed out,
// where it hands them out in an order: whose they are, that does not tell.
#pragma once

#include "nesting/moments.h"

// Finds children[].handed. moments: the site's. A connection is taken for one to the callee of its
// first call. Cost: linear, and a sort by connection.
void bb_handout_find(BbSite *site, BbMoments *moments);
