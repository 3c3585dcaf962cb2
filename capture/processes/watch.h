// SPDX-License-Identifier: Apache-2.0
// What the process does that looks at the sockets of this host: looks again and again, and sends
// records to the one that captures; a byte from there asks for a look at once.
#pragma once

#include "capture/processes/look.h"

// fd: a socket of SOCK_SEQPACKET. Returns when the other end is closed. proc, netlink: as in
// look.h; all are lent.
void bb_watch_run(int fd, int proc, int netlink);
