// SPDX-License-Identifier: Apache-2.0
// Which names of a trace are nodes, or operations and the like, to tell somebody who asks for one
// that is not there.
#pragma once

#include "data/names.h"

typedef struct BbNodeSet BbNodeSet;

// names is lent.
BbNodeSet *bb_node_set_new(const BbNames *names);
// What are no nodes but these: "operation".
BbNodeSet *bb_node_set_new_of(const BbNames *names, const char *noun);
void bb_node_set_free(BbNodeSet *set);

// BB_NAME_NONE is none.
void bb_node_set_add(BbNodeSet *set, guint32 node);

bool bb_node_set_has(const BbNodeSet *set, guint32 node);

// Whether a node matches a pattern (data/glob.h).
bool bb_node_set_matches(const BbNodeSet *set, const char *pattern);

// Where no node matches a pattern (data/glob.h), a sentence that says so, with the nodes whose
// names are near, or else those there are; NULL where one matches. The caller frees.
char *bb_node_set_miss(const BbNodeSet *set, const char *pattern);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbNodeSet, bb_node_set_free)
