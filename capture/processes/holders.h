// SPDX-License-Identifier: Apache-2.0
// Which process holds a socket: inode -> the name of its unit, container or program, by the
// descriptors in /proc/PID/fd (proc_pid_fd(5)). Looks where something was found before, then at all
// processes, the one that began first first. For a process that shares its unit or container with
// this one these tell nothing apart: it goes by its program,
// and an interpreter by what it runs (script.h).
#pragma once

#include "capture/processes/owner.h"
#include "capture/processes/socket.h"

typedef struct BbHolders BbHolders;

// Sockets that a search is made for at once; tries for one that nobody seems to hold.
#define BB_HOLDERS_WANTED 65536u
#define BB_HOLDERS_TRIES 3u

// proc: a descriptor of /proc, lent.
BbHolders *bb_holders_new(int proc);
void bb_holders_free(BbHolders *holders);

// The name of who holds the socket of key; NULL where that is not known: then it is wanted from now
// on. Lent until the next review or forget.
const char *bb_holders_find(BbHolders *holders, guint64 inode, const BbSocketKey *key);
// Whether a search could find something.
bool bb_holders_is_due(const BbHolders *holders);
// Looks for those that are wanted: where something was found before; with thorough everywhere.
// Returns whether some are still wanted.
bool bb_holders_search(BbHolders *holders, bool thorough);
// Looks again at who holds sockets that wait: those that the first process of all had, those that
// nobody seemed to have, those whose process has ended or goes by another name.
void bb_holders_review(BbHolders *holders);
// Forgets what nobody asked for since the last time.
void bb_holders_forget(BbHolders *holders);

// The processes of /proc, as GArray of int in rising order; the caller's.
GArray *bb_holders_list_processes(int proc);

// Whether sockets were not found while some processes could not be looked into.
bool bb_holders_hidden(const BbHolders *holders);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbHolders, bb_holders_free)
