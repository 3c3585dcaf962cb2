// SPDX-License-Identifier: Apache-2.0
// How nodes are named: by what the user says, by the process that owns the socket, by names learned
// from DNS answers, or by their address. The most specific name wins: the user's for address and
// port, the process, the user's for the address, for the longest prefix, the learned one, the
// address.
#pragma once

#include "data/host.h"
#include "data/names.h"

typedef struct BbNodes BbNodes;

// Names learned; further ones are ignored and counted.
#define BB_NODES_LEARNED 65536u
// Nodes that go by their bare address, and again names with a port: of nodes beyond it all go by
// the one name BB_NODES_OTHER, and are counted, so that a scan of the net cannot eat the memory.
#define BB_NODES_NAMED 262144u
#define BB_NODES_OTHER "*"

// names is lent. With endpoints a server that has no name of its own (an address with port in the
// file) is `host:port`, so that servers on one host are nodes of their own; clients stay hosts.
BbNodes *bb_nodes_new(BbNames *names, bool endpoints);
void bb_nodes_free(BbNodes *nodes);

// Takes a name from the user. Call it before the first bb_nodes_name. Of several names for one
// thing the first stays. There is no limit: what the user's files hold is known beforehand.
void bb_nodes_add(BbNodes *nodes, const BbHost *host);

// Learns that address is called name (from the wire: not trusted). Ignored where it is no host name
// of at most 253 bytes, or the address is no single host's (loopback, multicast, unspecified). The
// first name learned stays; nodes named before keep their name.
void bb_nodes_learn(BbNodes *nodes, const BbAddress *address, const char *name);

// From now on ends of connections at this host are named by who owns them. processes is lent.
struct BbProcesses;
void bb_nodes_set_processes(BbNodes *nodes, struct BbProcesses *processes);
// The name by process of the end key->local of a connection; NONE where the user has named that
// address with its port, or no process is known.
struct BbSocketKey;
guint32 bb_nodes_name_process(BbNodes *nodes, const struct BbSocketKey *key, bool server);
// The connection is over.
void bb_nodes_end_process(BbNodes *nodes, const struct BbSocketKey *key);

// Forgets which node goes by which name, but not the names learned: what was named before it was
// learned can be named anew. For input that is read a second time.
void bb_nodes_begin_again(BbNodes *nodes);

// The name of the node at address. server: it is the one that is called, at this port. Meant to be
// asked once a connection.
guint32 bb_nodes_name(BbNodes *nodes, const BbAddress *address, guint16 port, bool server);

// The name that it goes by already, and that of a process; NONE where it has none yet. Nothing is
// asked for, and nothing decided.
guint32 bb_nodes_find(const BbNodes *nodes, const BbAddress *address, guint16 port, bool server);
guint32 bb_nodes_find_process(const BbNodes *nodes, const struct BbSocketKey *key, bool server);
// Whether one that serves may have another name than as a client.
bool bb_nodes_tell_roles(const BbNodes *nodes);

// The number of the user's names if none of them was any node's, else 0.
guint bb_nodes_unused(const BbNodes *nodes);
guint64 bb_nodes_learned(const BbNodes *nodes);   // names learned
guint64 bb_nodes_unlearned(const BbNodes *nodes); // names ignored at the limit
guint64 bb_nodes_others(const BbNodes *nodes);    // answers that were BB_NODES_OTHER

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbNodes, bb_nodes_free)
