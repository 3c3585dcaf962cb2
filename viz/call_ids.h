// SPDX-License-Identifier: Apache-2.0
// Identifiers of calls that are unique within one output: the trace's own, the second and later use
// of one as `id~2`, `id~3`, ...; `#N` where the trace has none, N counting such calls in order of
// time.
#pragma once

#include "data/path.h"

typedef struct BbCallIds BbCallIds;

// Everything is lent. Memory: 20 bytes a call.
BbCallIds *bb_call_ids_new(const BbPaths *paths, const BbNames *names);
void bb_call_ids_free(BbCallIds *ids);

// Gives the call its identifier: once for each call, in the order of the output.
void bb_call_ids_assign(BbCallIds *ids, guint32 call);

// Appends the identifier that was assigned to the call.
void bb_call_ids_append(const BbCallIds *ids, guint32 call, GString *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCallIds, bb_call_ids_free)
