// SPDX-License-Identifier: Apache-2.0
// Whether a node that calls two others uses the one or the other, or both each time.
#pragma once

#include "data/call.h"

typedef struct BbAlternatives BbAlternatives;

// calls: in order of call_ns; lent. names: all names are below it.
BbAlternatives *bb_alternatives_new(const BbCall *calls, guint32 n_calls, guint32 names);
void bb_alternatives_free(BbAlternatives *alternatives);

// How often caller calls callee.
guint32 bb_alternatives_uses(const BbAlternatives *alternatives, guint32 caller, guint32 callee);

// Whether u and v are alternatives to those that call both (nesting/alike.h says when). klass: of
// each name.
bool bb_alternatives_are(BbAlternatives *alternatives, guint32 u, guint32 v, const guint32 *klass);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbAlternatives, bb_alternatives_free)
