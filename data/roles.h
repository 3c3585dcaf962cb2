// SPDX-License-Identifier: Apache-2.0
// Which nodes are replicas of each other: the same role, played by one or the other.
#pragma once

#include "data/names.h"

// Members of one role that are listed in its name.
#define BB_ROLES_LISTED 6u

typedef struct BbRoles BbRoles;

// Every node has its own role. names is lent and must outlive the roles.
BbRoles *bb_roles_new(BbNames *names);
void bb_roles_free(BbRoles *roles);

// Reads a file of lines `role node node ...`; a node is a name, or a pattern with * and ?; words
// are percent-encoded as in a text trace; empty lines and those that begin with # are skipped. A
// node belongs to the first role that names it, also when it turns up later. A file that cannot be
// read or used is an error that names the line.
BbRoles *bb_roles_read(const char *path, BbNames *names, GError **error);

// The same from memory; path is named in errors.
BbRoles *bb_roles_parse(const char *bytes, gsize size, const char *path, BbNames *names,
                        GError **error);

// Makes the nodes replicas of each other: their role is named after them. At least two; none of
// them has a role yet.
void bb_roles_join(BbRoles *roles, const guint32 *nodes, guint count);

// The role of a node, a name of the table too: that of the node itself where it is alone.
guint32 bb_roles_of(BbRoles *roles, guint32 node);

// Whether this is the name of a role with several nodes, or of a file. A node may have it too.
bool bb_roles_is_role(const BbRoles *roles, guint32 name);

// The name of the role by index, below bb_roles_count; and whether a file lists a node of that name
// among it: else such a node would be taken for one of it. Cost of this: all words of the file.
guint32 bb_roles_name(const BbRoles *roles, guint index);
bool bb_roles_lists_itself(const BbRoles *roles, guint32 role);

// What a file said of nodes, in its order: names and patterns; NULL after the last. Lent.
const char *bb_roles_pattern(const BbRoles *roles, guint index);

// Roles with several nodes, or that a file named.
guint bb_roles_count(const BbRoles *roles);

// What nodes have in common and in which they differ: "app{1,2,3}", "{auth,db}", and of more than
// BB_ROLES_LISTED nodes "app{1..64}" where they count up, else "n{1,3,5,7,9,...,64}". The caller
// frees.
char *bb_roles_text(const BbNames *names, const guint32 *nodes, guint count);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbRoles, bb_roles_free)
