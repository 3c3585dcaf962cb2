// SPDX-License-Identifier: Apache-2.0
// A call and those that led to it, as people and programs read them.
#pragma once

#include "data/json.h"
#include "data/names.h"

// In text, names longer than 48 columns have dots in their middle.

// "auth GET"; only the node where there is no operation.
void bb_route_append_call(GString *out, const BbNames *names, guint32 node, guint32 op);

// " (no return)", if so
void bb_route_append_unanswered(GString *out, bool unanswered);

// "client -> lb -> app2", "(any client) -> lb" where it is BB_NAME_NONE; callers: nodes, the direct
// one first.
void bb_route_append_callers(GString *out, const BbNames *names, const guint32 *callers,
                             guint count);

// "node": TEXT, "op": TEXT or null
void bb_route_write_call(BbJson *json, const BbNames *names, guint32 node, guint32 op);

// "unanswered": true, if so
void bb_route_write_unanswered(BbJson *json, bool unanswered);

// key: [TEXT, ...], the farthest caller first; null for any client
void bb_route_write_callers(BbJson *json, const char *key, const BbNames *names,
                            const guint32 *callers, guint count);
