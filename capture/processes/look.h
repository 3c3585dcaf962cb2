// SPDX-License-Identifier: Apache-2.0
// Looks at the sockets of this host again and again, and tells what has changed: who listens and
// who is connected in this network namespace (sock_diag(7), else /proc/self/net), and in those of
// other processes (/proc/PID/net of one process each), and whose they are (holders.h). Runs in a
// process of its own, which sees no packet.
//
// What takes time is paid for: after a look that took t of the processor the next comes no sooner
// than BB_LOOK_SHARE t later (asked for, a third of that), and so for the list of namespaces and
// for reading one of them, each by itself; for the search of all processes it is
// BB_LOOK_SEARCH_SHARE, for looking again at who holds what waits BB_LOOK_REVIEW_SHARE. So it takes
// at most 5 / BB_LOOK_SHARE + 1 / BB_LOOK_SEARCH_SHARE + 1 / BB_LOOK_REVIEW_SHARE of a processor in
// the long run, and 1 / BB_LOOK_SHARE + 1 / BB_LOOK_REVIEW_SHARE where nothing new comes.
#pragma once

#include "capture/processes/record.h"

typedef struct BbLook BbLook;

#define BB_LOOK_SHARE 33
#define BB_LOOK_SEARCH_SHARE 10
#define BB_LOOK_REVIEW_SHARE 100
#define BB_LOOK_LEAST_US 20000    // between two looks
#define BB_LOOK_NUDGED_US 2000    // between two looks that are asked for
#define BB_LOOK_WIDE_US 1000000   // between two lists of namespaces, two looks into one
#define BB_LOOK_REVIEW_US 3000000 // between two reviews of who waits
#define BB_LOOK_KEPT_US 10000000  // a socket that is gone is known for so long
#define BB_LOOK_SOCKETS 65536u  // of a look that wait, and that are connected; others are not seen
#define BB_LOOK_BEYOND 4096u    // likewise of another namespace
#define BB_LOOK_NAMESPACES 256u // likewise, others than this one
#define BB_LOOK_KNOWN 8192u     // addresses that are told, in all; those beyond are never forgotten
#define BB_LOOK_ADDRESSES 64u   // of a namespace

typedef void (*BbLookSink)(const BbRecord *record, gpointer user);

// proc: a descriptor of /proc. netlink: a socket of NETLINK_SOCK_DIAG, or -1. Both are lent.
BbLook *bb_look_new(int proc, int netlink, BbLookSink sink, gpointer user);
void bb_look_free(BbLook *look);

// Looks, and tells sink what is new. now_us: of a clock that only goes on.
void bb_look_run(BbLook *look, gint64 now_us);
// When the next look is due; nudged: where one is asked for.
gint64 bb_look_due_us(const BbLook *look, bool nudged);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbLook, bb_look_free)
