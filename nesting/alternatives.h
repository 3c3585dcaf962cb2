// SPDX-License-Identifier: Apache-2.0
// Whether a node that calls two others uses the one or the other, or both each time.
#pragma once

#include "data/call.h"

typedef struct BbAlternatives BbAlternatives;

// calls: in order of call_ns; lent. names: all names are below it.
BbAlternatives *bb_alternatives_new(const BbCall *calls, guint32 n_calls, guint32 names);
void bb_alternatives_free(BbAlternatives *alternatives);

// Whether those that call both u and v use them about as often, and as alternatives
// (nesting/alike.h says when). klass: of each name. Cost: their callers, and of those that both
// have 400 calls that each serves; where that does not tell, all that these call.
bool bb_alternatives_are(BbAlternatives *alternatives, guint32 u, guint32 v, const guint32 *klass);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbAlternatives, bb_alternatives_free)
