// SPDX-License-Identifier: Apache-2.0
// Rules by which a host that has several names or addresses becomes one node. A line of a file:
//     web: 10.0.0.7 web-*.example.com 192.168.7.0/24     # comment
// names a node, and what else it is called: names, addresses (IPv4 and IPv6), prefixes of
// addresses, and patterns as in a shell. White space and % in a name are percent-encoded, as in a
// text trace. The first rule that fits counts; what it gives is not looked up again.
#pragma once

#include "data/names.h"

typedef struct BbNodeRules BbNodeRules;

// names is lent.
BbNodeRules *bb_node_rules_new(BbNames *names);
void bb_node_rules_free(BbNodeRules *rules);

// Adds the rules of a file behind those that there are. A malformed line is an error with file,
// line and reason.
bool bb_node_rules_load(BbNodeRules *rules, const char *path, GError **error);

// The node that goes by this name; the same integer where no rule fits. Costs a look into an array
// from the second time on.
guint32 bb_node_rules_apply(BbNodeRules *rules, guint32 name);

// What the next rule from *at on that fitted no name so far says, as decoded; NULL where there is
// none. Begin with *at = 0.
const char *bb_node_rules_next_unused(const BbNodeRules *rules, guint *at);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbNodeRules, bb_node_rules_free)
