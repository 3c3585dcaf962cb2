// SPDX-License-Identifier: Apache-2.0
// Connections for calls that have none, as nodes of real systems use them: those that are open and
// idle wait in pools, a call takes one of them or a new one, and gives it back when its caller has
// the return. (Memory that is used again is data/pool.h.)
//
//     g_autoptr(BbPools) pools = bb_pools_new(BB_POOLS_HELD, names);
//     bb_pools_connect(pools, &message); // of each message, in order of time
#pragma once

#include "data/message.h"

typedef enum {
    BB_POOLS_NONE,    // no connections
    BB_POOLS_SHARED,  // one pool for all calls of a node to a callee: the last one given back is
                      // the first one taken
    BB_POOLS_HELD,    // likewise, but a request keeps its connection to a callee until it is
                      // answered itself (a transaction), and another for calls at the same time
    BB_POOLS_THREADS, // who serves an incoming connection (a process, a thread) has pools of its
                      // own, which no call of another incoming connection takes from
} BbPoolsUse;

typedef struct BbPools BbPools;

// names is lent until the end. Memory: what is open, and connections that are idle: as many as were
// ever open at once. A call without return is open for good, unless bb_pools_end tells of it.
BbPools *bb_pools_new(BbPoolsUse use, const BbNames *names);
void bb_pools_free(BbPools *pools);

// Sets the connection of a call, and of a return that of its call, from whichever node it comes:
// `caller:PORT-callee:80`, lent until this is called again. PORT is another one for each connection
// of a caller. Reads the id and the parent of the message: a call whose parent is no call that is
// open at its sender is nobody's, and takes from the pool that all of its node share. Messages
// without id, free ones, and returns of unknown calls are left as they are.
void bb_pools_connect(BbPools *pools, BbMessage *message);

// This call gets no return: its connection is closed, and its request over. Nothing if it is over.
void bb_pools_end(BbPools *pools, BbId call);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbPools, bb_pools_free)
