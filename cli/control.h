// SPDX-License-Identifier: Apache-2.0
// The control socket of a running capture: a Unix stream socket, of mode 0600, served by a thread
// of its own, so that no client can make the capture wait. A client sends one line, `snap` or `snap
// REASON`, and gets one: `done PATH` when the snapshot is written, or `error WHY`.
//
// Limits: BB_CONTROL_CLIENTS connections at once, others wait in the kernel's queue; a line of
// BB_CONTROL_LINE bytes within BB_CONTROL_PATIENCE_US. What is no command is answered and hung up
// on. A client that does not read loses its answer.
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct BbControl BbControl;

#define BB_CONTROL_CLIENTS 8u
#define BB_CONTROL_LINE 256u
#define BB_CONTROL_PATIENCE_US (5 * G_USEC_PER_SEC)

// Replaces a socket that is there; fails where something else is, or another capture listens: that
// is known by a lock of the file PATH.lock, which is there as long as the socket is.
BbControl *bb_control_open(const char *path, GError **error);
// Waits for the thread; clients that still wait are told, and the socket is removed.
void bb_control_free(BbControl *control);

// The next request, if there is one: its ticket, and the reason given (NULL for none), printable
// and yours. Costs a load of an integer where there is none.
bool bb_control_next(BbControl *control, guint *ticket, char **reason);

// Answers the client of that ticket, if it is still there. From any thread.
void bb_control_answer(BbControl *control, guint ticket, const char *line);

// Takes a line apart: true for `snap`, with what follows as the reason (NULL for nothing).
bool bb_control_parse(const char *line, char **reason);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbControl, bb_control_free)
