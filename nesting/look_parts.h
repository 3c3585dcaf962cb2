// SPDX-License-Identifier: Apache-2.0
// Parts of a look at a child: look.c has those in which one parent gives, exchange.c those in which
// two parents give something to each other.
#pragma once

#include "nesting/look.h"

// x's parent p and the one that it goes to, q, would have a and b, or of BB_SITE_NONE nothing. By
// how much that is likelier, order apart, is in the change: order is only asked where that matters.
void bb_look_consider(BbLooks *looks, BbLook *look, const BbChange *change, guint32 p,
                      const BbTrial *a, guint32 q, const BbTrial *b);

// Exchanges of x, which has a parent, with `to`; rest: that parent's children without x; before:
// the scores of both.
void bb_exchange_consider(BbLooks *looks, BbLook *look, guint32 x, guint32 to, const BbTrial *rest,
                          double before);

// What x's parent and the other one have after such a change; false where it is none.
bool bb_exchange_trials(const BbSite *site, guint32 x, const BbChange *change, BbTrial *a,
                        BbTrial *b);
