// SPDX-License-Identifier: Apache-2.0
// A trace of any length in bounded memory: the messages go through windows of time, each of which
// is learned and inferred by itself.
//
// data/schedule.h tells when a window ends and what is published of it. What is not goes on to the
// next window: paths that began in the overlap, and calls still open. A call without return goes on
// once, then it is published as it is; of more than a quarter of a window of messages the oldest do
// not, and one that has a parent goes where that does. A return without call is dropped with its
// window.
#pragma once

#include "data/schedule.h"
#include "nesting/nesting.h"

// Calls and returns of a window that nobody gave a length: the bound on memory, at the peak some 80
// bytes each with the paper's choice, 100 with the joint one, 150 where they are not in order.
#define BB_WINDOW_MESSAGES 4000000u

typedef struct BbWindows BbWindows;

// names is lent and must outlive the value.
BbWindows *bb_windows_new(const BbNames *names, const BbNestingOptions *nesting,
                          const BbWindowOptions *options);
void bb_windows_free(BbWindows *windows);

// Takes a message; nothing of it is kept by reference. Returns false, and takes nothing, when a
// window is due: call bb_windows_next, then push it again. Within a window messages may come in any
// order; one that is older than what was published already is used as if it came now, and counted.
bool bb_windows_push(BbWindows *windows, const BbMessage *message);

// The trace has ended: what is left is due.
void bb_windows_end(BbWindows *windows);

// The paths of the window that is due; NULL when none is, and after the last. The caller frees.
BbPaths *bb_windows_next(BbWindows *windows);

guint64 bb_windows_late(const BbWindows *windows); // messages that came after their window

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbWindows, bb_windows_free)
